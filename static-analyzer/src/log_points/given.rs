//! Constants that callers give for a printed parameter: they say which caller
//! printed a text.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use super::wrapper::callers_of;
use crate::ir::{Const, Op, ValueId};
use crate::limits;
use crate::program::{MethodId, Name};
use crate::strings::facts::Facts;

/// Different constants that are told apart: it is only asked for more than one.
const TOLD_APART: usize = 2;

/// A method with the parameters that are asked for, and the steps left above it.
type Asked = (MethodId, Vec<u16>, u32);

/// What the callers of one wrapper give.
pub(super) struct Given<'f, 'p> {
    facts: &'f Facts<'p>,
    /// PERF: chains of calls share their upper ends; followed one by one they
    /// took the number of callers to the power of their length.
    known: FxHashMap<Asked, BTreeSet<Name>>,
}

impl<'f, 'p> Given<'f, 'p> {
    /// Nothing is known yet.
    pub(super) fn new(facts: &'f Facts<'p>) -> Self {
        Self { facts, known: FxHashMap::default() }
    }

    /// Whether most callers give a constant for one of the parameters that are
    /// printed, and not all the same, so that the text says which caller printed
    /// it. A caller that passes its own parameter on gives what its callers give.
    pub(super) fn differ(&mut self, callers: &[(MethodId, ValueId)], printed: &[u16]) -> bool {
        self.constants(callers, printed, limits::WRAPPER_DEPTH_MAX).len() >= TOLD_APART
    }

    fn constants(&mut self, callers: &[(MethodId, ValueId)], printed: &[u16], depth: u32) -> BTreeSet<Name> {
        let mut constants = BTreeSet::new();
        let mut n_constant = 0;
        for &(caller, call) in callers {
            let Some(body) = &self.facts.program.methods[caller.index()].body else { continue };
            let Op::Invoke { args, .. } = body.op(call) else { continue };
            let (mut passed, mut given) = (Vec::new(), BTreeSet::new());
            for value in printed.iter().filter_map(|&i| args.get(usize::from(i))) {
                match body.op(*value) {
                    Op::Const(Const::Text(text)) => {
                        given.insert(*text);
                    }
                    Op::Param(j) => passed.push(*j),
                    _ => {}
                }
            }
            if given.is_empty() && !passed.is_empty() && depth > 1 {
                given = self.above((caller, passed, depth - 1));
            }
            n_constant += usize::from(!given.is_empty());
            constants.append(&mut given);
            while constants.len() > TOLD_APART {
                constants.pop_last();
            }
        }
        if 2 * n_constant > callers.len() { constants } else { BTreeSet::new() }
    }

    /// What the callers of a method give for its parameters.
    fn above(&mut self, asked: Asked) -> BTreeSet<Name> {
        if let Some(known) = self.known.get(&asked) {
            return known.clone();
        }
        let callers = callers_of(self.facts, asked.0);
        let few = callers.len() <= limits::WRAPPER_CALLERS_MAX;
        let given = if few { self.constants(callers, &asked.1, asked.2) } else { BTreeSet::new() };
        self.known.insert(asked, given.clone());
        given
    }
}

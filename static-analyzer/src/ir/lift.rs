//! Bytecode to [`Body`]: reachable blocks ([`graph`]), symbolic execution of
//! locals and operand stack with a phi wherever blocks meet ([`translate`]),
//! calls that Groovy decides at run time ([`groovy`]), removal of superfluous phis ([`phis`]), handlers and loops ([`loops`]).
//!
//! Code that no verifier accepts is refused with a reason; nothing here
//! recurses, and a budget bounds the steps.

use crate::ir::{BlockId, Body, BootstrapArg};
use crate::limits;
use crate::program::load::raw::{RawCode, RawMethod};
use crate::program::{MethodRef, access};

mod graph;
mod groovy;
mod loops;
mod phis;
mod translate;

/// Bootstrap methods of a class with their static arguments.
pub(crate) type Bootstraps = [(MethodRef, Vec<BootstrapArg>)];

/// Lifts one method.
pub(crate) fn lift(method: &RawMethod, code: &RawCode, bootstraps: &Bootstraps) -> Result<Body, String> {
    let mut budget = Budget(limits::METHOD_STEPS_MAX);
    let widths = parameter_widths(&method.descriptor)
        .ok_or_else(|| format!("bad descriptor `{}`", method.descriptor))?;
    let graph = graph::discover(code, &mut budget)?;
    let is_static = method.access & access::STATIC != 0;
    let draft = translate::translate(code, &graph, &widths, is_static, bootstraps, &mut budget)?;
    let mut body = phis::finish(draft, &graph, &mut budget)?;
    loops::mark(&mut body, &mut budget)?;
    debug_assert_eq!(body.check(), Ok(()), "{}.{}", method.name, method.descriptor);
    Ok(body)
}

/// Steps left for one method.
struct Budget(u64);

impl Budget {
    fn spend(&mut self, steps: usize) -> Result<(), String> {
        match self.0.checked_sub(steps as u64) {
            Some(left) => self.0 = left,
            None => return Err(format!("more than {} steps to lift", limits::METHOD_STEPS_MAX)),
        }
        Ok(())
    }
}

/// For each parameter whether it takes two slots; none if it is no method
/// descriptor.
pub(crate) fn parameter_widths(descriptor: &str) -> Option<Vec<bool>> {
    let (parameters, result) = descriptor.strip_prefix('(')?.split_once(')')?;
    let mut widths = Vec::new();
    let mut rest = parameters;
    while !rest.is_empty() {
        let (wide, tail) = split_type(rest)?;
        widths.push(wide);
        rest = tail;
    }
    (result == "V" || split_type(result)?.1.is_empty()).then_some(widths)
}

/// Whether the first type of `types` takes two slots, and what follows it.
fn split_type(types: &str) -> Option<(bool, &str)> {
    let element = types.trim_start_matches('[');
    let is_array = element.len() < types.len();
    let tail = match element.as_bytes().first()? {
        b'B' | b'C' | b'D' | b'F' | b'I' | b'J' | b'S' | b'Z' => &element[1..],
        b'L' => &element[element.find(';')? + 1..],
        _ => return None,
    };
    Some((!is_array && matches!(element.as_bytes()[0], b'J' | b'D'), tail))
}

/// Width of the result of a descriptor that [`parameter_widths`] accepted;
/// none for `void`.
fn result_width(descriptor: &str) -> Option<bool> {
    match descriptor.rsplit(')').next()? {
        "V" => None,
        "J" | "D" => Some(true),
        _ => Some(false),
    }
}

impl Body {
    /// Checks what the definition of the form promises: operands are defined
    /// where they are used, terminators end blocks, edges match.
    pub(crate) fn check(&self) -> Result<(), String> {
        let idom = loops::dominators(self);
        let in_blocks = self.blocks.iter().flat_map(|block| &block.insts);
        if !in_blocks.copied().eq((0..self.insts.len()).map(crate::ir::ValueId::new)) {
            return Err("instructions are not numbered in the order of the blocks".to_owned());
        }
        for (i, block) in self.blocks.iter().enumerate() {
            let id = BlockId::new(i);
            let targets = block.successors.iter().chain(block.handlers.iter().map(|h| &h.block));
            for target in targets {
                if !self.block(*target).predecessors.contains(&id) {
                    return Err(format!("edge b{i} -> b{} is not in its predecessors", target.index()));
                }
            }
            for (n, &value) in block.insts.iter().enumerate() {
                let inst = self.insts.get(value.index()).ok_or("instruction out of range")?;
                if inst.block != id || inst.op.is_terminator() != (n + 1 == block.insts.len()) {
                    return Err(format!("v{} is misplaced in b{i}", value.index()));
                }
                self.check_operands(&idom, id, value)?;
            }
        }
        Ok(())
    }

    fn check_operands(
        &self,
        idom: &[usize],
        block: BlockId,
        value: crate::ir::ValueId,
    ) -> Result<(), String> {
        let dominates = |a: BlockId, mut b: usize| loop {
            if a.index() == b {
                return true;
            }
            if b == 0 {
                return false;
            }
            b = idom[b];
        };
        let mut result = Ok(());
        let mut require = |used: crate::ir::ValueId, at: BlockId| {
            let defined = self.insts.get(used.index()).is_some_and(|inst| {
                dominates(inst.block, at.index()) && (at != block || inst.block != block || used < value)
            });
            if !defined {
                result = Err(format!("v{} is not defined where v{} uses it", used.index(), value.index()));
            }
        };
        match self.op(value) {
            crate::ir::Op::Phi(operands) => {
                for &(from, used) in operands {
                    let defined =
                        self.insts.get(used.index()).is_some_and(|i| dominates(i.block, from.index()));
                    if !defined {
                        return Err(format!(
                            "v{} is not defined where v{} joins it",
                            used.index(),
                            value.index()
                        ));
                    }
                }
            }
            op => op.for_each_operand(|used| require(used, block)),
        }
        result
    }
}

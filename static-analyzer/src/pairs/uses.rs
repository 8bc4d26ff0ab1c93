//! Uses: which calls of a method work on a value that was taken in it.
//!
//! A dispatcher takes messages of several types and calls a handler for each:
//! the handler of one message is the one that is called with it, or with what
//! was made from it. Where the message is not handed over (it is kept in a
//! field), it is one that can be called after the message was taken and before
//! the next one is.

use rustc_hash::FxHashSet;

use super::Context;
use crate::ir::{Body, InvokeKind, Op, ValueId};
use crate::program::MethodId;

/// A value of one method: where it is taken, and what it is, if known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Taken {
    /// The method.
    pub(super) method: MethodId,
    /// The instruction after which it is there.
    pub(super) site: ValueId,
    /// The value.
    pub(super) value: Option<ValueId>,
}

/// The calls that work on what was taken, best guess first: those that are given
/// it, and those that can follow within the same round.
pub(super) fn users(context: Context<'_>, taken: Taken) -> [FxHashSet<ValueId>; 2] {
    let Some(body) = &context.program.methods[taken.method.index()].body else {
        return [FxHashSet::default(), FxHashSet::default()];
    };
    let given = taken.value.map(|value| given(body, value, taken.site)).unwrap_or_default();
    [given, following(body, taken.site)]
}

/// Calls with an argument that is `value` or computed from it.
fn given(body: &Body, value: ValueId, site: ValueId) -> FxHashSet<ValueId> {
    let mut derived: FxHashSet<ValueId> = FxHashSet::from_iter([value]);
    let mut calls = FxHashSet::default();
    // Phis of loops can come before what they join.
    loop {
        let before = derived.len();
        for (v, inst) in body.iter() {
            let is = |operand: &ValueId| derived.contains(operand);
            match &inst.op {
                Op::Invoke { kind, args, .. } if args.iter().any(is) => {
                    // What is constructed from it holds it.
                    let made = args.first().filter(|_| *kind == InvokeKind::Special).copied();
                    let given = made.filter(|&made| matches!(body.op(made), Op::New(_)));
                    derived.insert(v);
                    derived.extend(given);
                    calls.insert(v);
                }
                Op::InvokeDynamic { args, .. } if args.iter().any(is) => {
                    derived.insert(v);
                }
                Op::GetField(_, Some(from)) | Op::Cast(_, from) | Op::Convert(_, from) if is(from) => {
                    derived.insert(v);
                }
                Op::ArrayLoad(array, _) if is(array) => {
                    derived.insert(v);
                }
                Op::Phi(operands) if operands.iter().any(|(_, operand)| is(operand)) => {
                    derived.insert(v);
                }
                _ => {}
            }
        }
        if derived.len() == before {
            break;
        }
    }
    calls.remove(&site);
    calls
}

/// Calls that can run after `site` without going round a loop (blocks are in
/// reverse postorder: only edges back go to smaller numbers).
fn following(body: &Body, site: ValueId) -> FxHashSet<ValueId> {
    let start = body.inst(site).block;
    let mut reached = vec![false; body.blocks.len()];
    let mut todo = vec![start];
    let mut calls = FxHashSet::default();
    while let Some(block) = todo.pop() {
        let mut passed = block != start;
        for &v in &body.block(block).insts {
            if passed && matches!(body.op(v), Op::Invoke { .. }) {
                calls.insert(v);
            }
            passed |= v == site;
        }
        for &next in &body.block(block).successors {
            if next > block && !std::mem::replace(&mut reached[next.index()], true) {
                todo.push(next);
            }
        }
    }
    calls
}

//! Turns: a line that says that something came out of its turn.
//!
//! Who is handed things in a row, each numbered one more than the last, keeps the
//! number of the last and complains if the next is not the one due: `if (n != last + 1)
//! warn(n, last + 1); last = n`. What it says is about the row, and the row is of who
//! keeps the number, however much of the thing's own it prints: a reader that has just
//! joined complains of the first thing it sees, which has nothing to do with that.

use crate::ir::{Arithmetic, Body, Comparison, Const, Op, ValueId};

/// Blocks looked at above the call.
const TURN_BLOCKS_MAX: usize = 8;

/// Whether `value` (a call that prints) runs only if a number is not the one due.
pub(crate) fn is_out_of_turn(body: &Body, value: ValueId) -> bool {
    let mut block = body.inst(value).block;
    for _ in 0..TURN_BLOCKS_MAX {
        let node = body.block(block);
        let [above] = *node.predecessors else { return false };
        let before = body.block(above);
        let Some(&last) = before.insts.last() else { return false };
        if let Op::If(comparison, a, b) = *body.op(last) {
            let differs = match comparison {
                Comparison::Ne => before.successors.first() == Some(&block),
                Comparison::Eq => before.successors.first() != Some(&block),
                _ => false,
            };
            return differs
                && compared(body, a, b).is_some_and(|(a, b)| is_turn(body, a, b) || is_turn(body, b, a));
        }
        block = above;
    }
    false
}

/// The two numbers that a branch compares: longs are compared before it.
fn compared(body: &Body, a: ValueId, b: Option<ValueId>) -> Option<(ValueId, ValueId)> {
    match (body.op(a), b) {
        (_, Some(b)) => Some((a, b)),
        (Op::Binary(Arithmetic::Other, a, b), None) => Some((*a, *b)),
        _ => None,
    }
}

/// Whether `due` is one more than what `body` keeps, and it keeps `number` next.
fn is_turn(body: &Body, due: ValueId, number: ValueId) -> bool {
    let Op::Binary(Arithmetic::Add, last, one) = body.op(due) else { return false };
    let is_one = matches!(body.op(*one), Op::Const(Const::Int(1) | Const::Long(1)));
    is_one
        && match body.op(*last) {
            Op::GetField(field, Some(this)) if *body.op(*this) == Op::Param(0) => {
                body.iter().any(|(_, inst)| match &inst.op {
                    Op::PutField(put, Some(object), value) => {
                        put == field && *body.op(*object) == Op::Param(0) && is_same(body, *value, number)
                    }
                    _ => false,
                })
            }
            Op::Phi(operands) => operands.iter().any(|&(_, value)| is_same(body, value, number)),
            _ => false,
        }
}

/// Whether `a` and `b` are one value, or ask one object for the same.
fn is_same(body: &Body, a: ValueId, b: ValueId) -> bool {
    a == b
        || match (body.op(a), body.op(b)) {
            (Op::Invoke { method: m, args: x, .. }, Op::Invoke { method: n, args: y, .. }) => {
                x.len() == 1 && m == n && x == y
            }
            (Op::GetField(f, Some(x)), Op::GetField(g, Some(y))) => f == g && x == y,
            _ => false,
        }
}

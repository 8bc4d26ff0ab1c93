//! Guards: `if (LOG.isDebugEnabled())` around a logging call.

use schema::Level;

use super::apis;
use crate::ir::{BlockId, Body, Comparison, Const, Op, ValueId};

/// Blocks looked at above the call.
const GUARD_BLOCKS_MAX: usize = 64;

/// The level of the nearest guard that encloses `value`. Looks up through blocks
/// with one predecessor and through joins of branches that start below one.
pub(crate) fn guard_of(body: &Body, value: ValueId) -> Option<Level> {
    let mut block = body.inst(value).block;
    for _ in 0..GUARD_BLOCKS_MAX {
        let above = *body.block(block).predecessors.iter().min()?;
        if above >= block {
            return None;
        }
        if body.block(block).predecessors.len() == 1
            && let Some(level) = branch_guard(body, above, block)
        {
            return Some(level);
        }
        block = if body.block(block).predecessors.len() == 1 { above } else { common(body, block)? };
    }
    None
}

/// Nearest block above a join through which all its predecessors come.
fn common(body: &Body, block: BlockId) -> Option<BlockId> {
    let mut fronts: Vec<BlockId> =
        body.block(block).predecessors.iter().copied().filter(|&p| p < block).collect();
    for _ in 0..GUARD_BLOCKS_MAX {
        fronts.sort_unstable();
        fronts.dedup();
        if fronts.len() == 1 {
            return fronts.pop();
        }
        let last = fronts.pop()?;
        let above = body.block(last).predecessors.iter().copied().filter(|&p| p < last);
        fronts.extend(above);
    }
    None
}

fn branch_guard(body: &Body, above: BlockId, block: BlockId) -> Option<Level> {
    let node = body.block(above);
    let Op::If(comparison, condition, other) = body.op(*node.insts.last()?) else { return None };
    let against_zero = match other {
        None => true,
        Some(other) => matches!(body.op(*other), Op::Const(Const::Int(0))),
    };
    let Op::Invoke { method, .. } = body.op(*condition) else { return None };
    let level = apis::guard_level(&method.name)?;
    let taken = node.successors.first() == Some(&block);
    let enabled = match comparison {
        Comparison::Ne => taken,
        Comparison::Eq => !taken,
        _ => return None,
    };
    (against_zero && enabled).then_some(level)
}

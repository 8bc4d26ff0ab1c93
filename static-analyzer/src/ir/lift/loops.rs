//! Dominators (Cooper, Harvey, Kennedy: "A Simple, Fast Dominance Algorithm"),
//! natural loops, and which blocks only an exception leads to.
//!
//! A loop is made by a normal edge back to a dominating block; an exception
//! edge back (compilers cover `finally` handlers by themselves) makes none.

use super::Budget;
use crate::ir::{BlockId, Body};

/// Fills [`crate::ir::Block::in_handler`] and [`crate::ir::Block::loop_header`].
pub(super) fn mark(body: &mut Body, budget: &mut Budget) -> Result<(), String> {
    let mut normal = vec![false; body.blocks.len()];
    let mut stack = vec![0];
    while let Some(block) = stack.pop() {
        if !std::mem::replace(&mut normal[block], true) {
            stack.extend(body.blocks[block].successors.iter().map(|s| s.index()));
        }
    }
    for (block, normal) in body.blocks.iter_mut().zip(normal) {
        block.in_handler = !normal;
    }
    let has_back_edge =
        body.blocks.iter().enumerate().any(|(i, b)| b.successors.iter().any(|s| s.index() <= i));
    if has_back_edge { mark_loops(body, budget) } else { Ok(()) }
}

/// Immediate dominator of each block, over normal and exception edges; blocks
/// are in reverse postorder. The entry dominates itself.
pub(super) fn dominators(body: &Body) -> Vec<usize> {
    const NONE: usize = usize::MAX;
    let mut idom = vec![NONE; body.blocks.len()];
    if let Some(entry) = idom.first_mut() {
        *entry = 0;
    }
    let mut changed = true;
    while changed {
        changed = false;
        for b in 1..body.blocks.len() {
            let mut new = NONE;
            for p in &body.blocks[b].predecessors {
                let p = p.index();
                if idom[p] == NONE {
                    continue;
                }
                new = if new == NONE { p } else { common(&idom, p, new) };
            }
            if idom[b] != new {
                idom[b] = new;
                changed = true;
            }
        }
    }
    idom
}

fn common(idom: &[usize], mut a: usize, mut b: usize) -> usize {
    while a != b {
        while a > b {
            a = idom[a];
        }
        while b > a {
            b = idom[b];
        }
    }
    a
}

fn mark_loops(body: &mut Body, budget: &mut Budget) -> Result<(), String> {
    let idom = dominators(body);
    let dominates = |a: usize, mut b: usize| {
        while b > a {
            b = idom[b];
        }
        a == b
    };
    // (header, blocks with an edge back to it), ascending by header.
    let mut loops: Vec<(usize, Vec<usize>)> = Vec::new();
    for header in 0..body.blocks.len() {
        let block = &body.blocks[header];
        let id = BlockId::new(header);
        let latches: Vec<usize> = block
            .predecessors
            .iter()
            .map(|p| p.index())
            .filter(|&p| p >= header && body.blocks[p].successors.contains(&id) && dominates(header, p))
            .collect();
        if !latches.is_empty() {
            loops.push((header, latches));
        }
    }
    // A header inside another loop is dominated by that loop's header and so
    // comes later: inner loops overwrite outer ones.
    let mut seen = vec![usize::MAX; body.blocks.len()];
    for (header, latches) in loops {
        let mut stack = latches;
        seen[header] = header;
        body.blocks[header].loop_header = Some(BlockId::new(header));
        while let Some(b) = stack.pop() {
            budget.spend(1)?;
            if std::mem::replace(&mut seen[b], header) == header {
                continue;
            }
            body.blocks[b].loop_header = Some(BlockId::new(header));
            stack.extend(body.blocks[b].predecessors.iter().map(|p| p.index()));
        }
    }
    Ok(())
}

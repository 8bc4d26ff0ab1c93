//! Service loops: loops whose rounds are requests, not steps of one.
//!
//! A loop serves if it waits for work in its body (takes from a queue, sleeps,
//! accepts, selects, reads the next command), or if nothing but a flag or an
//! exception ends it. A loop over a collection or a counter is a step of its
//! method's request.

use crate::call_graph::{CallGraph, apis};
use crate::ir::{Body, Comparison, Const, Op, ValueId};
use crate::order::components::components;
use crate::program::{MethodId, Program};

/// The service loops of one method.
#[derive(Clone, Debug, Default)]
pub(crate) struct ServiceLoops {
    /// Per block: whether it is in a service loop.
    blocks: Vec<bool>,
    /// There is one.
    pub(crate) any: bool,
}

impl ServiceLoops {
    /// The service loops of `method`.
    pub(crate) fn of(program: &Program, graph: &CallGraph, method: MethodId) -> Self {
        let Some(body) = &program.methods[method.index()].body else { return Self::default() };
        let successors: Vec<Vec<u32>> = body
            .blocks
            .iter()
            .map(|b| {
                let handlers = b.handlers.iter().map(|h| h.block);
                b.successors.iter().copied().chain(handlers).map(|s| s.index() as u32).collect()
            })
            .collect();
        let found = components(&successors);
        let mut loops = Self { blocks: vec![false; body.blocks.len()], any: false };
        for members in &found.members {
            let is_loop = members.len() > 1 || successors[members[0] as usize].contains(&members[0]);
            if !is_loop {
                continue;
            }
            let inside = |block: u32| members.binary_search(&block).is_ok();
            if blocks_for_work(program, graph, method, body, members)
                || is_endless(body, members, &inside, &successors)
            {
                members.iter().for_each(|&b| loops.blocks[b as usize] = true);
                loops.any = true;
            }
        }
        loops
    }

    /// Whether an instruction stands in a service loop.
    pub(crate) fn contains(&self, body: &Body, value: ValueId) -> bool {
        self.blocks.get(body.inst(value).block.index()).copied().unwrap_or(false)
    }
}

fn blocks_for_work(
    program: &Program,
    graph: &CallGraph,
    method: MethodId,
    body: &Body,
    members: &[u32],
) -> bool {
    members.iter().flat_map(|&b| &body.blocks[b as usize].insts).any(|&v| {
        is_blocking(body.op(v))
            || graph
                .calls(method)
                .iter()
                .filter(|c| c.site == v && c.kind.is_local() && c.targets.len() == 1)
                .any(|c| waits(program, graph, c.targets[0], 2))
    })
}

/// A small method that only waits or fetches: its own body blocks.
fn waits(program: &Program, graph: &CallGraph, method: MethodId, depth: usize) -> bool {
    let Some(body) = &program.methods[method.index()].body else { return false };
    if body.insts.len() > 120 {
        return false;
    }
    body.iter().any(|(_, inst)| is_blocking(&inst.op))
        || depth > 0
            && graph
                .local_edges(method)
                .any(|(c, t)| c.targets.len() == 1 && waits(program, graph, t, depth - 1))
}

fn is_blocking(op: &Op) -> bool {
    matches!(op, Op::Invoke { method, .. } if apis::BLOCKING
        .contains(&(method.class.as_str(), method.name.as_str())))
}

/// No branch that leaves the loop looks at a counter or an iterator.
fn is_endless(
    body: &Body,
    members: &[u32],
    inside: &dyn Fn(u32) -> bool,
    successors: &[Vec<u32>],
) -> bool {
    members.iter().all(|&b| {
        let block = &body.blocks[b as usize];
        let leaves = successors[b as usize].iter().any(|&s| !inside(s));
        let Some(&last) = block.insts.last() else { return true };
        match body.op(last) {
            Op::If(comparison, a, other) if leaves => is_flag_test(body, *comparison, *a, *other),
            Op::Switch(..) | Op::Goto | Op::If(..) | Op::Throw(_) | Op::Return(_) => true,
            _ => true,
        }
    }) && has_work(body, members)
}

/// A test of a flag: boolean field, boolean call that is no iterator's, `null`.
fn is_flag_test(body: &Body, comparison: Comparison, a: ValueId, other: Option<ValueId>) -> bool {
    if !matches!(comparison, Comparison::Eq | Comparison::Ne) {
        return false;
    }
    if let Some(other) = other
        && !matches!(body.op(other), Op::Const(Const::Null | Const::Int(0 | 1)))
    {
        return false;
    }
    match body.op(a) {
        Op::GetField(f, _) => f.descriptor.as_str() == "Z",
        Op::Invoke { method, .. } => {
            method.descriptor.as_str().ends_with(")Z")
                && !matches!(method.name.as_str(), "hasNext" | "hasMoreElements" | "hasMoreTokens" | "isEmpty")
        }
        _ => false,
    }
}

/// An endless loop of a few instructions without calls is a spin, not a server.
fn has_work(body: &Body, members: &[u32]) -> bool {
    let insts = members.iter().flat_map(|&b| &body.blocks[b as usize].insts);
    insts.filter(|&&v| matches!(body.op(v), Op::Invoke { .. })).count() >= 2
}

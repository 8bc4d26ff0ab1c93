//! The reachable blocks of a method's code, `jsr` subroutines copied per call.
//!
//! A subroutine is told apart by its chain of callers ([`Context`]): its blocks
//! exist once per chain, and `ret` leads back to the caller on top. Code entered
//! both through a handler and normally exists twice, so that handler entries
//! have no normal predecessors.

use rustc_hash::FxHashMap;

use super::Budget;
use crate::limits;
use crate::program::Name;
use crate::program::load::raw::{RawCode, RawOp};

/// Reachable blocks in reverse postorder; the first is the entry.
pub(super) struct Graph {
    pub(super) nodes: Vec<Node>,
}

/// One block.
#[derive(Debug, Default)]
pub(super) struct Node {
    /// Positions in [`RawCode::insts`]; empty for an entry block of its own.
    pub(super) first: usize,
    pub(super) end: usize,
    /// Bytecode offset.
    pub(super) pc: u32,
    /// Classes caught, if it is the entry of a handler.
    pub(super) caught: Option<Vec<Name>>,
    pub(super) successors: Vec<u32>,
    pub(super) handlers: Vec<(u32, Option<Name>)>,
    /// Ascending, without repeats; whether over an exception edge.
    pub(super) predecessors: Vec<(u32, bool)>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Key {
    inst: usize,
    context: u32,
    caught: bool,
}

/// One active subroutine call; context 0 is the method itself.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Context {
    parent: u32,
    /// Instruction after the `jsr`.
    back: usize,
    subroutine: usize,
}

struct Discovery<'a> {
    code: &'a RawCode,
    /// Position of the instruction at each offset.
    at: Vec<u32>,
    leaders: Vec<bool>,
    keys: FxHashMap<Key, u32>,
    nodes: Vec<(Key, Node)>,
    contexts: Vec<Context>,
    context_ids: FxHashMap<Context, u32>,
}

const NONE: u32 = u32::MAX;

/// Finds the reachable blocks.
pub(super) fn discover(code: &RawCode, budget: &mut Budget) -> Result<Graph, String> {
    let mut at = vec![NONE; code.length as usize + 1];
    for (i, &(pc, _)) in code.insts.iter().enumerate() {
        at[pc as usize] = i as u32;
    }
    let root = Context { parent: 0, back: usize::MAX, subroutine: usize::MAX };
    let mut discovery = Discovery {
        code,
        at,
        leaders: Vec::new(),
        keys: FxHashMap::default(),
        nodes: Vec::new(),
        contexts: vec![root],
        context_ids: FxHashMap::default(),
    };
    discovery.leaders = discovery.leaders()?;
    discovery.node(Key { inst: 0, context: 0, caught: false })?;
    let mut next = 0;
    while next < discovery.nodes.len() {
        discovery.explore(next, budget)?;
        next += 1;
    }
    Ok(discovery.order())
}

impl Discovery<'_> {
    /// The instruction at an offset.
    fn inst(&self, pc: i64) -> Result<usize, String> {
        let found = usize::try_from(pc).ok().and_then(|pc| self.at.get(pc)).filter(|&&i| i != NONE);
        found.map(|&i| i as usize).ok_or_else(|| format!("jump to offset {pc}, where no instruction is"))
    }

    /// Which instructions begin a block.
    fn leaders(&self) -> Result<Vec<bool>, String> {
        let code = self.code;
        let mut leaders = vec![false; code.insts.len() + 1];
        // Offsets where coverage by handlers rises or falls.
        let mut delta = vec![0i32; code.length as usize + 1];
        for row in &code.handlers {
            if row.start >= row.end || row.end > code.length {
                return Err(format!("bad handler range {}..{}", row.start, row.end));
            }
            leaders[self.inst(row.start.into())?] = true;
            leaders[self.inst(row.handler.into())?] = true;
            if row.end < code.length {
                leaders[self.inst(row.end.into())?] = true;
            }
            delta[row.start as usize] += 1;
            delta[row.end as usize] -= 1;
        }
        let (mut covered, mut next_delta) = (0, 0);
        for (i, (pc, op)) in code.insts.iter().enumerate() {
            while next_delta <= *pc as usize {
                covered += delta[next_delta];
                next_delta += 1;
            }
            let mut ends = true;
            match op {
                RawOp::If { target, .. } | RawOp::Goto(target) | RawOp::Jsr(target) => {
                    leaders[self.inst(*target)?] = true;
                }
                RawOp::Switch { default, cases } => {
                    leaders[self.inst(*default)?] = true;
                    for (_, target) in cases {
                        leaders[self.inst(*target)?] = true;
                    }
                }
                RawOp::Ret(_) | RawOp::Return(_) | RawOp::Throw => {}
                RawOp::Store { .. } | RawOp::Increment { .. } => ends = covered > 0,
                _ => ends = false,
            }
            leaders[i + 1] |= ends;
        }
        Ok(leaders)
    }

    fn node(&mut self, key: Key) -> Result<u32, String> {
        if let Some(&id) = self.keys.get(&key) {
            return Ok(id);
        }
        if self.nodes.len() >= limits::METHOD_BLOCKS_MAX {
            return Err(format!("more than {} blocks", limits::METHOD_BLOCKS_MAX));
        }
        let id = self.nodes.len() as u32;
        self.nodes.push((key, Node::default()));
        self.keys.insert(key, id);
        Ok(id)
    }

    fn context(&mut self, context: Context) -> u32 {
        let next = self.contexts.len() as u32;
        *self.context_ids.entry(context).or_insert_with(|| {
            self.contexts.push(context);
            next
        })
    }

    /// The context inside the subroutine that `jsr` calls. One that is called
    /// while it is still active was left without `ret`: its old call is over.
    fn enter(&mut self, caller: u32, back: usize, subroutine: usize) -> u32 {
        let mut parent = caller;
        let mut at = caller;
        while at != 0 {
            let active = self.contexts[at as usize];
            at = active.parent;
            if active.subroutine == subroutine {
                parent = at;
            }
        }
        self.context(Context { parent, back, subroutine })
    }

    fn explore(&mut self, id: usize, budget: &mut Budget) -> Result<(), String> {
        let key = self.nodes[id].0;
        let code = self.code;
        let mut end = key.inst + 1;
        while end < code.insts.len() && !self.leaders[end] {
            end += 1;
        }
        budget.spend(end - key.inst)?;
        let insts = &code.insts[key.inst..end];
        let here = |inst| Key { inst, context: key.context, caught: false };
        let mut targets = Vec::new();
        let mut falls = false;
        match &insts[insts.len() - 1].1 {
            RawOp::If { target, .. } => {
                targets.push(here(self.inst(*target)?));
                falls = true;
            }
            RawOp::Goto(target) => targets.push(here(self.inst(*target)?)),
            RawOp::Jsr(target) => {
                let subroutine = self.inst(*target)?;
                let context = self.enter(key.context, end, subroutine);
                targets.push(Key { inst: subroutine, context, caught: false });
            }
            RawOp::Ret(_) => {
                let context = self.contexts[key.context as usize];
                if key.context == 0 || context.back >= code.insts.len() {
                    return Err("`ret` leads nowhere".to_owned());
                }
                targets.push(Key { inst: context.back, context: context.parent, caught: false });
            }
            RawOp::Switch { default, cases } => {
                budget.spend(cases.len())?;
                for (_, target) in cases {
                    targets.push(here(self.inst(*target)?));
                }
                targets.push(here(self.inst(*default)?));
            }
            RawOp::Return(_) | RawOp::Throw => {}
            _ => falls = true,
        }
        if falls {
            if end >= code.insts.len() {
                return Err("execution runs off the end of the code".to_owned());
            }
            targets.push(here(end));
        }
        let mut node = Node { first: key.inst, end, pc: insts[0].0, ..Node::default() };
        for target in targets {
            node.successors.push(self.node(target)?);
        }
        if insts.iter().any(|(_, op)| throws(op)) {
            self.cover(&mut node, key.context, budget)?;
        }
        self.nodes[id].1 = node;
        Ok(())
    }

    /// Adds the exception edges of a block.
    fn cover(&mut self, node: &mut Node, context: u32, budget: &mut Budget) -> Result<(), String> {
        budget.spend(self.code.handlers.len())?;
        let code = self.code;
        for row in code.handlers.iter().filter(|r| r.start <= node.pc && node.pc < r.end) {
            let key = Key { inst: self.inst(row.handler.into())?, context, caught: true };
            let handler = (self.node(key)?, row.class);
            if !node.handlers.contains(&handler) {
                node.handlers.push(handler);
            }
            budget.spend(node.handlers.len())?;
            if row.class.is_none_or(|c| c == "java/lang/Throwable") {
                break;
            }
        }
        Ok(())
    }

    /// Numbers the blocks in reverse postorder and adds the way back.
    fn order(mut self) -> Graph {
        let entry_is_target = self.nodes.iter().any(|(_, node)| node.successors.contains(&0));
        let mut root = 0;
        if entry_is_target {
            root = self.nodes.len();
            let key = self.nodes[0].0;
            self.nodes.push((key, Node { successors: vec![0], ..Node::default() }));
        }
        let order = reverse_postorder(&self.nodes, root);
        let mut position = vec![NONE; self.nodes.len()];
        for (new, &old) in order.iter().enumerate() {
            position[old] = new as u32;
        }
        let mut nodes: Vec<Node> = Vec::with_capacity(order.len());
        for &old in &order {
            let (key, node) = &mut self.nodes[old];
            let mut node = std::mem::take(node);
            node.caught = key.caught.then(|| caught(self.code, node.pc));
            node.successors.iter_mut().for_each(|s| *s = position[*s as usize]);
            node.handlers.iter_mut().for_each(|h| h.0 = position[h.0 as usize]);
            nodes.push(node);
        }
        for id in 0..nodes.len() {
            let node = &nodes[id];
            let normal = node.successors.iter().map(|&s| (s, false));
            let edges: Vec<_> = normal.chain(node.handlers.iter().map(|h| (h.0, true))).collect();
            for (target, exceptional) in edges {
                let predecessors = &mut nodes[target as usize].predecessors;
                if predecessors.last().is_none_or(|&(p, _)| p != id as u32) {
                    predecessors.push((id as u32, exceptional));
                }
            }
        }
        Graph { nodes }
    }
}

/// Classes that the handler at an offset catches; empty if it catches any.
fn caught(code: &RawCode, pc: u32) -> Vec<Name> {
    let mut classes = Vec::new();
    for row in code.handlers.iter().filter(|r| r.handler == pc) {
        match row.class {
            Some(class) if !classes.contains(&class) => classes.push(class),
            Some(_) => {}
            None => return Vec::new(),
        }
    }
    classes
}

/// Fall-through and first cases come right after their block, handlers last.
fn reverse_postorder(nodes: &[(Key, Node)], root: usize) -> Vec<usize> {
    let mut seen = vec![false; nodes.len()];
    let mut order = Vec::with_capacity(nodes.len());
    let mut stack = vec![(root, 0)];
    seen[root] = true;
    while let Some((id, next)) = stack.pop() {
        let node = &nodes[id].1;
        let (n_handlers, n) = (node.handlers.len(), node.successors.len());
        if next == n_handlers + n {
            order.push(id);
            continue;
        }
        stack.push((id, next + 1));
        let child = if next < n_handlers {
            node.handlers[n_handlers - 1 - next].0
        } else if n == 2 {
            // A branch: the target first, so that the fall-through is next to it.
            node.successors[next - n_handlers]
        } else {
            node.successors[n - 1 - (next - n_handlers)]
        };
        let child = child as usize;
        if !seen[child] {
            seen[child] = true;
            stack.push((child, 0));
        }
    }
    order.reverse();
    order
}

/// Whether an instruction can throw anything but errors of the JVM itself; what
/// names a class throws if there is no such class, which programs do catch.
fn throws(op: &RawOp) -> bool {
    match op {
        RawOp::Nop
        | RawOp::Load { .. }
        | RawOp::Store { .. }
        | RawOp::Increment { .. }
        | RawOp::Stack(_)
        | RawOp::Negate { .. }
        | RawOp::Convert { .. }
        | RawOp::If { .. }
        | RawOp::Goto(_)
        | RawOp::Jsr(_)
        | RawOp::Ret(_)
        | RawOp::Switch { .. }
        | RawOp::Return(_) => false,
        RawOp::Const { value, .. } => matches!(value, crate::ir::Const::Class(_) | crate::ir::Const::Other),
        RawOp::Binary { traps, .. } => *traps,
        _ => true,
    }
}

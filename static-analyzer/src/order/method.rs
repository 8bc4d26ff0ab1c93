//! One method body as a [`Flow`]: its log points and the fragments of what it
//! calls, on its control flow.
//!
//! Exceptions: a handler can follow anything inside the blocks it covers, also
//! inside of inlined callees; an explicit `throw` that nothing here catches ends
//! the method. Unchecked exceptions that nothing catches are ignored, as they end
//! the thread (lprof §4.3).

use super::fragment::{Flow, Fragment};
use crate::ir::{BlockId, Body, Op, ValueId};
use crate::top_level::loops::ServiceLoops;

/// What an instruction contributes to the order.
#[derive(Clone, Debug)]
pub(crate) enum Event<'a> {
    /// Prints one of these log points.
    Print {
        /// Positions of log points.
        points: Vec<u32>,
        /// May stay silent although its level is printed.
        optional: bool,
        /// Several log points of one site: any number of them.
        repeats: bool,
    },
    /// Calls one of several methods.
    Call {
        /// Their fragments, those that print.
        callees: Vec<&'a Fragment>,
        /// One of the possible callees prints nothing.
        optional: bool,
        /// Runs any number of times.
        repeats: bool,
    },
}

/// The flow of `body`; `events` are sorted by instruction. With the loops of a
/// dispatcher it is that of one round: the next one is another request.
pub(crate) fn flow(body: &Body, events: &[(ValueId, Event<'_>)], rounds: Option<&ServiceLoops>) -> Flow {
    let mut builder = Builder { flow: Flow::new(), starts: Vec::new(), rounds };
    builder.starts = body.blocks.iter().map(|_| builder.flow.add(Vec::new(), false)).collect();
    if body.blocks.is_empty() {
        return builder.flow;
    }
    builder.flow.edge(Flow::ENTRY, builder.starts[0]);
    for i in 0..body.blocks.len() {
        builder.block(body, BlockId::new(i), events);
    }
    builder.flow
}

struct Builder<'a> {
    flow: Flow,
    /// First vertex of each block.
    starts: Vec<u32>,
    rounds: Option<&'a ServiceLoops>,
}

impl Builder<'_> {
    fn block(&mut self, body: &Body, id: BlockId, events: &[(ValueId, Event<'_>)]) {
        let block = body.block(id);
        let mut at = self.starts[id.index()];
        let throwing = block.insts.iter().any(|&v| can_throw(body.op(v)));
        let hub = (throwing && !block.handlers.is_empty()).then(|| {
            let hub = self.flow.add(Vec::new(), false);
            for handler in &block.handlers {
                self.flow.edge(hub, self.starts[handler.block.index()]);
            }
            self.flow.edge(at, hub);
            hub
        });
        for &value in &block.insts {
            let first = events.partition_point(|e| e.0 < value);
            for (_, event) in events[first..].iter().take_while(|e| e.0 == value) {
                at = self.event(at, event, hub);
            }
        }
        let caught = block.handlers.iter().any(|h| h.class.is_none_or(|c| c == "java/lang/Throwable"));
        match block.insts.last().map(|&v| body.op(v)) {
            Some(Op::Return(_)) => self.flow.edge(at, Flow::RETURN),
            Some(Op::Throw(_)) if !caught => self.flow.edge(at, Flow::THROW),
            _ => {}
        }
        for &next in &block.successors {
            let is_last = self.rounds.is_some_and(|rounds| rounds.ends_round(id, next));
            self.flow.edge(at, if is_last { Flow::RETURN } else { self.starts[next.index()] });
        }
    }

    /// Adds an event after vertex `at`; the vertex after it.
    fn event(&mut self, at: u32, event: &Event<'_>, hub: Option<u32>) -> u32 {
        let after = self.flow.add(Vec::new(), false);
        match event {
            Event::Print { points, optional, repeats } => {
                let print = self.flow.add(points.clone(), *repeats);
                self.flow.edge(at, print);
                self.flow.edge(print, after);
                if *optional {
                    self.flow.edge(at, after);
                }
                if let Some(hub) = hub {
                    self.flow.edge(print, hub);
                }
            }
            Event::Call { callees, optional, repeats } => {
                let before = if *repeats { self.flow.add(Vec::new(), false) } else { at };
                if *repeats {
                    self.flow.edge(at, before);
                    self.flow.edge(after, before);
                }
                if *optional || *repeats || callees.is_empty() {
                    self.flow.edge(at, after);
                }
                for callee in callees {
                    self.inline(before, callee, after, hub);
                }
            }
        }
        after
    }

    fn inline(&mut self, at: u32, callee: &Fragment, after: u32, hub: Option<u32>) {
        let first = u32::try_from(self.flow.points.len()).expect("fewer than 2^32 vertices");
        for node in &callee.nodes {
            self.flow.add(node.points.clone(), node.repeats);
        }
        for (i, node) in (first..).zip(&callee.nodes) {
            for &next in &node.next {
                self.flow.edge(i, first + next);
            }
            if let Some(hub) = hub {
                self.flow.edge(i, hub);
            }
        }
        for &entry in &callee.entries {
            self.flow.edge(at, first + entry);
        }
        for &end in &callee.returns {
            self.flow.edge(first + end, after);
        }
        if hub.is_none() {
            for &end in &callee.throws {
                self.flow.edge(first + end, Flow::THROW);
            }
        }
        if callee.silent {
            self.flow.edge(at, after);
        }
    }
}

fn can_throw(op: &Op) -> bool {
    matches!(
        op,
        Op::Invoke { .. }
            | Op::InvokeDynamic { .. }
            | Op::Throw(_)
            | Op::GetField(_, Some(_))
            | Op::PutField(_, Some(_), _)
            | Op::ArrayLoad(..)
            | Op::ArrayStore(..)
            | Op::Cast(..)
            | Op::New(_)
            | Op::NewArray(..)
    )
}

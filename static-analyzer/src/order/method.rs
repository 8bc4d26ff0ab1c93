//! One method body as a [`Flow`]: its log points and the fragments of what it
//! calls, on its control flow.
//!
//! Exceptions: a handler can follow anything inside the blocks it covers, also
//! inside of inlined callees; an explicit `throw` that nothing here catches ends
//! the method. Unchecked exceptions that nothing catches are ignored, as they end
//! the thread (lprof §4.3).

use super::flags::{Flags, State};
use super::fragment::{Flow, Fragment};
use crate::ir::{Body, Op, ValueId};
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

/// The order of `body`; `events` are sorted by instruction. With the loops of a
/// dispatcher it is that of one round: the next one is another request.
pub(crate) fn fragment(
    body: &Body,
    events: &[(ValueId, Event<'_>)],
    rounds: Option<&ServiceLoops>,
) -> Fragment {
    let none = Flags::none(body);
    let states = none.states().unwrap_or_default();
    let (blocks, of_blocks) = flow(&none, &states, body, events, rounds);
    let flags = Flags::of(body);
    match flags.states().filter(|_| !flags.is_empty()) {
        None => blocks.into_fragment(None),
        Some(states) => {
            let (told_apart, of_states) = flow(&flags, &states, body, events, rounds);
            let mut origins = vec![0; told_apart.points.len()];
            let fixed = [Flow::ENTRY, Flow::RETURN, Flow::THROW];
            fixed.into_iter().for_each(|vertex| origins[vertex as usize] = vertex);
            for (state, copies) in states.iter().zip(&of_states) {
                let of_block = &of_blocks[state.0.index()];
                copies.iter().zip(of_block).for_each(|(&copy, &vertex)| origins[copy as usize] = vertex);
            }
            blocks.into_fragment(Some((&told_apart, &origins)))
        }
    }
}

/// The flow of `body` in its `states`, and the vertices of each of them.
fn flow(
    flags: &Flags<'_>,
    states: &[State],
    body: &Body,
    events: &[(ValueId, Event<'_>)],
    rounds: Option<&ServiceLoops>,
) -> (Flow, Vec<Vec<u32>>) {
    let mut flow = Flow::new();
    let starts: Vec<u32> = states.iter().map(|_| flow.add(Vec::new(), false)).collect();
    if let Some(&start) = starts.first() {
        // Block 0 is entered once.
        flow.edge(Flow::ENTRY, start);
    }
    let mut builder = Builder { flow, flags, states, starts: &starts, rounds };
    let vertices = states.iter().zip(&starts).map(|(state, &start)| {
        let first = builder.flow.len();
        builder.block(body, (state, start), events);
        std::iter::once(start).chain(first..builder.flow.len()).collect()
    });
    let vertices = vertices.collect();
    (builder.flow, vertices)
}

struct Builder<'a> {
    flow: Flow,
    flags: &'a Flags<'a>,
    /// Blocks with what the flags are in them, sorted.
    states: &'a [State],
    /// First vertex of each of them.
    starts: &'a [u32],
    rounds: Option<&'a ServiceLoops>,
}

impl Builder<'_> {
    /// First vertex of a state.
    fn start(&self, state: &State) -> u32 {
        self.starts[self.states.binary_search(state).expect("all states were found")]
    }

    fn block(&mut self, body: &Body, (state, start): (&State, u32), events: &[(ValueId, Event<'_>)]) {
        let id = state.0;
        let block = body.block(id);
        let mut at = start;
        let throwing = block.insts.iter().any(|&v| can_throw(body.op(v)));
        let hub = (throwing && !block.handlers.is_empty()).then(|| {
            let hub = self.flow.add(Vec::new(), false);
            for handler in &block.handlers {
                self.flow.edge(hub, self.start(&self.flags.enter(state, handler.block)));
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
        for next in self.flags.successors(state) {
            let is_last = self.rounds.is_some_and(|rounds| rounds.ends_round(id, next.0));
            self.flow.edge(at, if is_last { Flow::RETURN } else { self.start(&next) });
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
        let first = self.flow.len();
        for node in &callee.nodes {
            self.flow.add_node(node);
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

#[cfg(test)]
mod tests {
    use super::{Event, fragment};
    use crate::ir::{Arithmetic, Block, BlockId, Body, Comparison, Const, Inst, Op, ValueId};
    use crate::order::fragment::tests::text;

    /// A body of blocks, each with its instructions and its successors; `Monitor` prints
    /// the letter that stands for its place among those.
    fn check(blocks: &[(&[Op], &[usize])], expected: &str) {
        let (mut body, mut events) = (Body::default(), Vec::new());
        for (i, (ops, next)) in blocks.iter().enumerate() {
            let id = BlockId::new(i);
            let mut block =
                Block { successors: next.iter().map(|&n| BlockId::new(n)).collect(), ..Block::default() };
            for op in *ops {
                let value = ValueId::new(body.insts.len());
                if matches!(op, Op::Monitor(_)) {
                    let points = vec![u32::from(b'a') + events.len() as u32];
                    events.push((value, Event::Print { points, optional: false, repeats: false }));
                }
                body.insts.push(Inst { op: op.clone(), block: id, line: 0, pc: 0 });
                block.insts.push(value);
            }
            let before = blocks.iter().enumerate().filter(|(_, (_, next))| next.contains(&i));
            block.predecessors = before.map(|(from, _)| BlockId::new(from)).collect();
            body.blocks.push(block);
        }
        assert_eq!(text(&fragment(&body, &events, None)), expected);
    }

    fn value(index: usize) -> ValueId {
        ValueId::new(index)
    }

    fn print() -> Op {
        Op::Monitor(value(0))
    }

    /// Prints for some of its turns, and once more in the end if the flag is set.
    fn dropped(set: Op) -> [(Vec<Op>, Vec<usize>); 7] {
        let at = |block: usize, of: usize| (BlockId::new(block), value(of));
        let flag = Op::Phi(vec![at(0, 1), at(2, 3), at(3, 6)]);
        let asks = |of: usize| Op::If(Comparison::Eq, value(of), None);
        [
            (vec![Op::Param(0), Op::Const(Const::Int(0)), Op::Goto], vec![1]),
            (vec![flag, asks(0)], vec![4, 2]),
            (vec![asks(2)], vec![3, 1]),
            (vec![set, print(), Op::Goto], vec![1]),
            (vec![asks(3)], vec![6, 5]),
            (vec![print(), Op::Goto], vec![6]),
            (vec![Op::Return(None)], vec![]),
        ]
    }

    fn check_owned(blocks: &[(Vec<Op>, Vec<usize>)], expected: &str) {
        let blocks: Vec<(&[Op], &[usize])> = blocks.iter().map(|(ops, next)| (&ops[..], &next[..])).collect();
        check(&blocks, expected);
    }

    #[test]
    fn a_flag_that_is_set_where_a_line_is_printed_decides() {
        check_owned(&dropped(Op::Const(Const::Int(1))), "<a a*:b b: >b silent");
        // What is found somewhere else can be anything.
        check_owned(&dropped(Op::ArrayLength(value(0))), "<a,b a*:b b: >a,b silent");
    }

    #[test]
    fn who_is_asked_twice_gives_one_answer() {
        let longer = |of: usize, than: usize, at: usize| {
            let compares = Op::Binary(Arithmetic::Other, value(of), value(than));
            [compares, Op::If(Comparison::Le, value(at), None)]
        };
        let slow = |second: usize| {
            let [compares, asks] = longer(0, 2, 4);
            let long = |n: i64| Op::Const(Const::Long(n));
            let first = vec![Op::Param(0), Op::Param(1), long(200), long(1000), compares, asks];
            [
                (first, vec![2, 1]),
                (vec![print(), Op::Goto], vec![2]),
                (longer(second, 3, 8).to_vec(), vec![4, 3]),
                (vec![print(), Op::Goto], vec![4]),
                (vec![Op::Return(None)], vec![]),
            ]
        };
        check_owned(&slow(0), "<a a:b b: >a,b silent");
        // Somebody else's answer is another one.
        check_owned(&slow(1), "<a,b a:b b: >a,b silent");
    }
}

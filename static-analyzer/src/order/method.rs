//! One method body as a [`Flow`]: its log points and the fragments of what it
//! calls, on its control flow.
//!
//! Exceptions: a handler can follow anything inside the blocks it covers, also
//! inside of inlined callees; an explicit `throw` that nothing here catches ends
//! the method. Unchecked exceptions that nothing catches are ignored, as they end
//! the thread (lprof §4.3).

use std::collections::BTreeMap;

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
/// dispatcher it is that of one round: the next one is another request, and so is the first
/// one for what comes before the loop.
pub(crate) fn fragment(
    body: &Body,
    events: &[(ValueId, Event<'_>)],
    rounds: Option<&ServiceLoops>,
) -> Fragment {
    let none = Flags::none(body);
    let states = none.states().unwrap_or_default();
    let (blocks, of_blocks) = flow(&none, &states, body, events, rounds);
    let answers = events.iter().filter(|(_, event)| event.answers()).map(|&(value, _)| value);
    let flags = Flags::of(body, &answers.collect::<Vec<_>>());
    match flags.states().filter(|_| !flags.is_empty()) {
        None => blocks.into_fragment(None),
        Some(states) => {
            let (told_apart, of_states) = flow(&flags, &states, body, events, rounds);
            let vertices: BTreeMap<Label, u32> = of_blocks.into_iter().zip(0..).collect();
            let origins: Vec<u32> = of_states.iter().map(|label| vertices[label]).collect();
            blocks.into_fragment(Some((&told_apart, &origins)))
        }
    }
}

/// The log points that `body` can print first, sorted, and whether it can return without
/// printing anything, of those that are shown.
pub(crate) fn first(
    body: &Body,
    events: &[(ValueId, Event<'_>)],
    is_shown: impl Fn(u32) -> bool,
) -> (Vec<u32>, bool) {
    let none = Flags::none(body);
    flow(&none, &none.states().unwrap_or_default(), body, events, None).0.first(is_shown)
}

/// The flow of `body`, told apart by its flags as far as it has any.
pub(crate) fn told_apart(
    body: &Body,
    events: &[(ValueId, Event<'_>)],
    rounds: Option<&ServiceLoops>,
) -> Flow {
    let flags = Flags::of(body, &[]);
    if let Some(states) = flags.states().filter(|_| !flags.is_empty()) {
        return flow(&flags, &states, body, events, rounds).0;
    }
    let none = Flags::none(body);
    flow(&none, &none.states().unwrap_or_default(), body, events, rounds).0
}

/// What a vertex is: block, event in it (0: none yet), and which of its vertices. Those of
/// several states, and after several answers, are copies of one.
type Label = (u32, usize, u32);

/// The flow of `body` in its `states`, and what its vertices are.
fn flow(
    flags: &Flags<'_>,
    states: &[State],
    body: &Body,
    events: &[(ValueId, Event<'_>)],
    rounds: Option<&ServiceLoops>,
) -> (Flow, Vec<Label>) {
    let mut flow = Flow::new();
    let mut labels: Vec<Label> = (0..Flow::N_FIXED).map(|vertex| (u32::MAX, 0, vertex)).collect();
    let mut starts = Vec::with_capacity(states.len());
    for state in states {
        starts.push(flow.add(Vec::new(), false));
        labels.push((to_u32(state.0.index()), 0, 0));
    }
    if let Some(&start) = starts.first() {
        // Block 0 is entered once.
        flow.edge(Flow::ENTRY, start);
    }
    let label = (0, 0, 0);
    let mut builder = Builder { flow, labels, label, flags, states, starts: &starts, rounds };
    for (state, &start) in states.iter().zip(&starts) {
        builder.block(body, (state, start), events);
    }
    (builder.flow, builder.labels)
}

fn to_u32(index: usize) -> u32 {
    u32::try_from(index).expect("fewer than 2^32 blocks")
}

impl Event<'_> {
    /// Whether what it prints tells what it returns.
    fn answers(&self) -> bool {
        match self {
            Event::Print { .. } => false,
            Event::Call { callees, repeats, .. } => {
                !repeats && callees.iter().any(|callee| callee.answers.is_some())
            }
        }
    }
}

struct Builder<'a> {
    flow: Flow,
    /// What the vertices are.
    labels: Vec<Label>,
    /// What the next one is.
    label: Label,
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

    fn add(&mut self, points: Vec<u32>, repeats: bool) -> u32 {
        self.labels.push(self.label);
        self.label.2 += 1;
        self.flow.add(points, repeats)
    }

    fn block(&mut self, body: &Body, (state, start): (&State, u32), events: &[(ValueId, Event<'_>)]) {
        let id = state.0;
        let block = body.block(id);
        // The start itself is there already.
        self.label = (to_u32(id.index()), 0, 1);
        let throwing = block.insts.iter().any(|&v| can_throw(body.op(v)));
        let hub = (throwing && !block.handlers.is_empty()).then(|| {
            let hub = self.add(Vec::new(), false);
            for handler in &block.handlers {
                self.flow.edge(hub, self.start(&self.flags.enter(state, handler.block)));
            }
            self.flow.edge(start, hub);
            hub
        });
        let mut ways = vec![(start, state.clone())];
        let mut n_events = 0;
        for &value in &block.insts {
            let first = events.partition_point(|e| e.0 < value);
            for (_, event) in events[first..].iter().take_while(|e| e.0 == value) {
                n_events += 1;
                let mut after = Vec::with_capacity(ways.len());
                for (at, state) in ways {
                    self.label = (to_u32(id.index()), n_events, 0);
                    let told = if event.answers() { self.flags.told(&state, value) } else { None };
                    let n_ends = if told.is_some() { 2 } else { 1 };
                    let ends = self.event(at, event, hub, n_ends);
                    after.extend(ends.into_iter().zip(told.into_iter().flatten().chain([state])));
                }
                ways = after;
            }
        }
        let caught = block.handlers.iter().any(|h| h.class.is_none_or(|c| c == "java/lang/Throwable"));
        for (at, state) in ways {
            match block.insts.last().map(|&v| body.op(v)) {
                Some(Op::Return(None)) => self.flow.edge(at, Flow::RETURN),
                Some(&Op::Return(Some(value))) => {
                    let can_be = self.flags.can_be(&state, value);
                    let answers = Flow::ANSWERS.into_iter().zip(can_be).filter(|(_, can_be)| *can_be);
                    answers.for_each(|(answer, _)| self.flow.edge(at, answer));
                }
                Some(Op::Throw(_)) if !caught => self.flow.edge(at, Flow::THROW),
                _ => {}
            }
            for next in self.flags.successors(&state) {
                let begins = self.rounds.is_some_and(|rounds| rounds.enters_round(id, next.0));
                let ends = begins || self.rounds.is_some_and(|rounds| rounds.ends_round(id, next.0));
                let start = self.start(&next);
                self.flow.edge(at, if ends { Flow::RETURN } else { start });
                if begins {
                    self.flow.edge(Flow::ENTRY, start);
                }
                if self.rounds.is_some_and(|rounds| rounds.passes_by(id, next.0)) {
                    let behind = self.flags.successors(&next);
                    for behind in
                        behind.into_iter().filter(|b| self.rounds.is_some_and(|r| r.ends_round(next.0, b.0)))
                    {
                        self.flow.edge(at, self.start(&behind));
                    }
                }
            }
        }
    }

    /// Adds an event after vertex `at`; the vertex after it, or of `n_ends` two the one after
    /// it has returned zero and the one after it has returned anything else.
    fn event(&mut self, at: u32, event: &Event<'_>, hub: Option<u32>, n_ends: usize) -> Vec<u32> {
        let label = self.label;
        let ends = (0..n_ends).map(|_| {
            self.label = label;
            self.add(Vec::new(), false)
        });
        let ends: Vec<u32> = ends.collect();
        match event {
            Event::Print { points, optional, repeats } => {
                let print = self.add(points.clone(), *repeats);
                self.flow.edge(at, print);
                self.flow.edge(print, ends[0]);
                if *optional {
                    self.flow.edge(at, ends[0]);
                }
                if let Some(hub) = hub {
                    self.flow.edge(print, hub);
                }
            }
            Event::Call { callees, optional, repeats } => {
                let before = if *repeats { self.add(Vec::new(), false) } else { at };
                if *repeats {
                    self.flow.edge(at, before);
                    self.flow.edge(ends[0], before);
                }
                if *optional || *repeats || callees.is_empty() {
                    ends.iter().for_each(|&end| self.flow.edge(at, end));
                }
                for callee in callees {
                    self.inline(before, callee, &ends, hub);
                }
            }
        }
        ends
    }

    fn inline(&mut self, at: u32, callee: &Fragment, ends: &[u32], hub: Option<u32>) {
        let first = self.flow.len();
        for node in &callee.nodes {
            self.labels.push(self.label);
            self.label.2 += 1;
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
        for (answer, &end) in ends.iter().enumerate() {
            let told = callee.answers.as_ref().filter(|_| ends.len() > 1).map(|answers| &answers[answer]);
            let returns = told.map_or(&callee.returns, |told| &told.returns);
            returns.iter().for_each(|&from| self.flow.edge(first + from, end));
            if told.map_or(callee.silent, |told| told.silent) {
                self.flow.edge(at, end);
            }
        }
        if hub.is_none() {
            for &end in &callee.throws {
                self.flow.edge(first + end, Flow::THROW);
            }
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
    use super::{Event, Fragment, fragment};
    use crate::ir::{Arithmetic, Block, BlockId, Body, Comparison, Const, Inst, Op, ValueId};
    use crate::order::fragment::tests::text;

    /// A body of blocks, each with its instructions and its successors.
    fn body(blocks: &[(&[Op], &[usize])]) -> Body {
        let mut body = Body::default();
        for (i, (ops, next)) in blocks.iter().enumerate() {
            let id = BlockId::new(i);
            let mut block =
                Block { successors: next.iter().map(|&n| BlockId::new(n)).collect(), ..Block::default() };
            for op in *ops {
                block.insts.push(ValueId::new(body.insts.len()));
                body.insts.push(Inst { op: op.clone(), block: id, line: 0, pc: 0 });
            }
            let before = blocks.iter().enumerate().filter(|(_, (_, next))| next.contains(&i));
            block.predecessors = before.map(|(from, _)| BlockId::new(from)).collect();
            body.blocks.push(block);
        }
        body
    }

    /// `Monitor` prints the letter that stands for its place among those, from `first` on.
    fn prints(body: &Body, first: u8) -> Vec<(ValueId, Event<'static>)> {
        let prints = (0..body.insts.len()).map(ValueId::new);
        let prints = prints.filter(|&value| matches!(body.op(value), Op::Monitor(_))).enumerate();
        let event = |(at, value)| {
            let points = vec![u32::from(first) + at as u32];
            (value, Event::Print { points, optional: false, repeats: false })
        };
        prints.map(event).collect()
    }

    fn check(blocks: &[(&[Op], &[usize])], expected: &str) {
        let body = body(blocks);
        assert_eq!(text(&fragment(&body, &prints(&body, b'a'), None)), expected);
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

    /// Complains that something is not there.
    fn complains(answers: [i32; 2]) -> Fragment {
        let answer =
            |of: usize| vec![Op::Const(Const::Int(answers[of])), Op::Return(Some(value(3 + 3 * of)))];
        let blocks = [
            (vec![Op::Param(0), Op::If(Comparison::Eq, value(0), None)], vec![1, 2]),
            ([vec![print()], answer(0)].concat(), vec![]),
            ([vec![Op::Goto], answer(1)].concat(), vec![]),
        ];
        let blocks: Vec<(&[Op], &[usize])> = blocks.iter().map(|(ops, next)| (&ops[..], &next[..])).collect();
        let body = body(&blocks);
        fragment(&body, &prints(&body, b'a'), None)
    }

    /// What calls it, where `ArrayLength` stands for the call.
    fn check_caller(callee: &Fragment, blocks: &[(Vec<Op>, Vec<usize>)], expected: &str) -> Fragment {
        let blocks: Vec<(&[Op], &[usize])> = blocks.iter().map(|(ops, next)| (&ops[..], &next[..])).collect();
        let body = body(&blocks);
        let mut events = prints(&body, b'b');
        let call = (0..body.insts.len()).map(ValueId::new);
        let call = call.filter(|&value| matches!(body.op(value), Op::ArrayLength(_)));
        let event = || Event::Call { callees: vec![callee], optional: false, repeats: false };
        events.extend(call.map(|value| (value, event())));
        events.sort_by_key(|event| event.0);
        let found = fragment(&body, &events, None);
        assert_eq!(text(&found), expected);
        found
    }

    #[test]
    fn who_has_complained_and_answers_no_is_not_gone_on_with() {
        let call = || Op::ArrayLength(value(0));
        let goes_on = [
            (vec![Op::Param(0), call(), Op::If(Comparison::Ne, value(1), None)], vec![2, 1]),
            (vec![Op::Return(None)], vec![]),
            (vec![print(), Op::Return(None)], vec![]),
        ];
        check_caller(&complains([0, 1]), &goes_on, "<a,b a: b: >a,b");
        // It can answer the same without a complaint, which says nothing then.
        check_caller(&complains([0, 0]), &goes_on, "<a a: b: >a,b silent");
        check_caller(&complains([1, 1]), &goes_on, "<a,b a:b b: >b");
        // Who hands the answer on answers so himself, be it as one of several.
        let both = Op::Phi(vec![(BlockId::new(0), value(1)), (BlockId::new(1), value(3))]);
        let hands_on = [
            (vec![Op::Param(0), call(), Op::If(Comparison::Eq, value(0), None)], vec![2, 1]),
            (vec![Op::Const(Const::Int(1)), Op::Goto], vec![2]),
            (vec![both, Op::Return(Some(value(5)))], vec![]),
        ];
        let told = check_caller(&complains([0, 1]), &hands_on, "<a a: >a silent");
        let [no, yes] = told.answers.expect("they differ");
        assert_eq!((no.returns, no.silent, yes.returns, yes.silent), (vec![0], false, vec![0], true));
        let plain = [(vec![Op::Param(0), call(), Op::Return(Some(value(1)))], vec![])];
        let told = check_caller(&complains([0, 1]), &plain, "<a a: >a silent");
        check_caller(&told, &goes_on, "<a,b a: b: >a,b");
    }
}

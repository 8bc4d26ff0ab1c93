//! Flags: values of a method that its branches ask for, when what they can be is known.
//!
//! What a method prints it often remembers: it sets a flag where it does, and prints more
//! in the end if that is set; or it keeps the failure that it has caught, and tells of it
//! later unless that is null. And it asks for one value again: what took longer than a
//! second has taken longer than a tenth of one. Followed block by block, such a method
//! could print the second thing without the first. So blocks are told apart by what the
//! values can be in them, and only those branches are taken that this leaves.
//!
//! Numbers are told apart as far as branches do: between the constants that they compare
//! with, and at them. `null` counts as 0, and what is not null as more than that.
//!
//! What a call answers is known too, as far as what it prints tells: whoever has printed that
//! something is not there, and returns `false`, has not made the caller go on with it. And so
//! the method's own answer is, where it returns constants, or what it was answered.
//!
//! Over-approximates what is possible: a value that only one branch asks for, and that is
//! not made of constants alone, can be anything, and so can all where blocks would be of
//! too many kinds.

use std::collections::{BTreeMap, BTreeSet};

use crate::ir::{BlockId, Body, Comparison, Const, Op, ValueId};
use crate::limits::{FLAG_ANSWERS_MAX, FLAG_CONSTANTS_MAX, FLAG_STATES_MAX, FLAGS_MAX};

/// Where a method is: a block, and what each of the flags can be there, as far as
/// somebody can still ask.
pub(super) type State = (BlockId, Vec<Possible>);

/// What a value can be: a bit per constant and per gap between two of them, from below.
type Possible = u32;

/// It can be anything.
const ANYTHING: Possible = Possible::MAX;

/// The flags of one method.
#[derive(Debug)]
pub(super) struct Flags<'b> {
    body: &'b Body,
    /// By their values.
    flags: Vec<Flag>,
    /// With what branches compare them, sorted.
    constants: Vec<i64>,
    /// Per block the flags that calls in it answer, in order.
    answered: Vec<Vec<usize>>,
}

/// One value that branches ask for.
#[derive(Debug)]
struct Flag {
    value: ValueId,
    /// Per block: whether a branch comes from here on that asks for it.
    is_asked: Vec<bool>,
}

/// What a branch asks: value, how it is compared, and with what.
type Question = (ValueId, Comparison, i64);

impl<'b> Flags<'b> {
    /// The flags of `body`, in which the calls `answers`, sorted, say by what they print
    /// whether they return zero.
    pub(super) fn of(body: &'b Body, answers: &[ValueId]) -> Self {
        let mut questions: BTreeMap<ValueId, Vec<(BlockId, i64)>> = BTreeMap::new();
        for (id, block) in (0..).map(BlockId::new).zip(&body.blocks) {
            let Some(&last) = block.insts.last() else { continue };
            let returned = match body.op(last) {
                Op::Return(Some(value)) if constant(body.op(*value)).is_none() => Some((*value, 0)),
                _ => None,
            };
            let asked = question(body, last).map(|(value, _, constant)| (value, constant));
            if let Some((value, constant)) = asked.or(returned) {
                questions.entry(value).or_default().push((id, constant));
            }
        }
        let mut asked: BTreeMap<ValueId, BTreeSet<BlockId>> = BTreeMap::new();
        let mut constants: BTreeSet<i64> = BTreeSet::new();
        for (value, questions) in questions {
            let of_constants = joins(body, value, answers);
            if of_constants.is_none() && questions.len() < 2 {
                continue;
            }
            let values = of_constants.unwrap_or_else(|| BTreeSet::from([value]));
            let n_new = values.iter().filter(|value| !asked.contains_key(value)).count();
            let all: BTreeSet<i64> = questions.iter().map(|&(_, constant)| constant).collect();
            if asked.len() + n_new <= FLAGS_MAX && constants.union(&all).count() <= FLAG_CONSTANTS_MAX {
                let blocks = || questions.iter().map(|&(block, _)| block);
                values.into_iter().for_each(|value| asked.entry(value).or_default().extend(blocks()));
                constants.extend(all);
            }
        }
        let flag = |(value, blocks)| Flag { value, is_asked: before(body, &blocks) };
        let flags: Vec<Flag> = asked.into_iter().map(flag).collect();
        let mut answered = vec![Vec::new(); body.blocks.len()];
        // Zero is told from the rest only where somebody asks for it.
        let told = flags.iter().enumerate().filter(|_| constants.contains(&0));
        for (at, flag) in told {
            let block = body.inst(flag.value).block.index();
            let in_block: &mut Vec<usize> = &mut answered[block];
            let is_answered = answers.binary_search(&flag.value).is_ok() && flag.is_asked[block];
            in_block.extend(Some(at).filter(|_| is_answered && in_block.len() < FLAG_ANSWERS_MAX));
        }
        Self { body, flags, constants: constants.into_iter().collect(), answered }
    }

    /// None: every block is one.
    pub(super) fn none(body: &'b Body) -> Self {
        let answered = vec![Vec::new(); body.blocks.len()];
        Self { body, flags: Vec::new(), constants: Vec::new(), answered }
    }

    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.flags.is_empty()
    }

    /// The states that the body can be in, sorted; each block is one if it has no flags, and
    /// nothing where there are too many.
    pub(super) fn states(&self) -> Option<Vec<State>> {
        if self.is_empty() {
            let blocks = (0..self.body.blocks.len()).map(BlockId::new);
            return Some(blocks.map(|block| (block, Vec::new())).collect());
        }
        let first: State = (BlockId::new(0), vec![ANYTHING; self.flags.len()]);
        let mut found = BTreeSet::from([first.clone()]);
        let mut todo = vec![first];
        while let Some(state) = todo.pop() {
            let handlers = self.body.block(state.0).handlers.iter();
            let handlers = handlers.map(|handler| self.enter(&state, handler.block));
            let ends = self.ends(&state);
            for next in ends.iter().flat_map(|end| self.successors(end)).chain(handlers) {
                if found.insert(next.clone()) {
                    todo.push(next);
                }
            }
            if found.len() > self.body.blocks.len() + FLAG_STATES_MAX {
                return None;
            }
        }
        Some(found.into_iter().collect())
    }

    /// What a state can be at the end of its block, when its calls have answered.
    fn ends(&self, state: &State) -> Vec<State> {
        let mut ends = vec![state.clone()];
        for &at in &self.answered[state.0.index()] {
            let value = self.flags[at].value;
            let told = |end: &State| self.told(end, value).into_iter().flatten();
            ends = ends.iter().flat_map(told).collect();
        }
        ends
    }

    /// The states in which the call `value` has answered with zero, and with anything else;
    /// none if nobody asks what it has answered.
    pub(super) fn told(&self, state: &State, value: ValueId) -> Option<[State; 2]> {
        let at = self.position(value).filter(|at| self.answered[state.0.index()].contains(at))?;
        Some([Comparison::Eq, Comparison::Ne].map(|comparison| {
            let mut told = state.clone();
            told.1[at] = self.such(comparison, 0);
            told
        }))
    }

    /// Whether a value can be zero at the end of a block, and whether anything else.
    pub(super) fn can_be(&self, state: &State, value: ValueId) -> [bool; 2] {
        if let Some(constant) = constant(self.body.op(value)) {
            return [constant == 0, constant != 0];
        }
        let known = self.position(value).filter(|_| self.constants.binary_search(&0).is_ok());
        let possible = known.map_or(ANYTHING, |at| state.1[at]);
        [Comparison::Eq, Comparison::Ne].map(|comparison| possible & self.such(comparison, 0) != 0)
    }

    /// The states that can come next over normal edges.
    pub(super) fn successors(&self, state: &State) -> Vec<State> {
        let block = self.body.block(state.0);
        let asked = || {
            let (value, comparison, constant) = question(self.body, *block.insts.last()?)?;
            Some((self.position(value)?, self.such(comparison, constant)))
        };
        match (asked(), &block.successors[..]) {
            (Some((at, such)), &[yes, no]) => {
                let branches = [(yes, such), (no, !such)].map(|(to, such)| (to, state.1[at] & such));
                let possible = branches.into_iter().filter(|&(_, such)| such != 0);
                let next = |(to, such)| {
                    let mut state = state.clone();
                    state.1[at] = such;
                    self.enter(&state, to)
                };
                possible.map(next).collect()
            }
            (_, successors) => successors.iter().map(|&to| self.enter(state, to)).collect(),
        }
    }

    /// The state in the block `to`, after `from`.
    pub(super) fn enter(&self, from: &State, to: BlockId) -> State {
        let known = |value: ValueId| match (self.position(value), constant(self.body.op(value))) {
            (Some(at), _) => from.1[at],
            (None, Some(constant)) => 1 << self.place(constant),
            (None, None) => ANYTHING,
        };
        let possible = |(flag, &before): (&Flag, &Possible)| match self.body.op(flag.value) {
            _ if !flag.is_asked[to.index()] => ANYTHING,
            _ if self.body.inst(flag.value).block != to => before,
            Op::Phi(operands) => {
                let operand = operands.iter().find(|operand| operand.0 == from.0);
                operand.map_or(ANYTHING, |&(_, value)| known(value))
            }
            _ => ANYTHING,
        };
        (to, self.flags.iter().zip(&from.1).map(possible).collect())
    }

    fn position(&self, value: ValueId) -> Option<usize> {
        self.flags.binary_search_by_key(&value, |flag| flag.value).ok()
    }

    /// The bit of a number.
    fn place(&self, number: i64) -> usize {
        self.constants.binary_search(&number).map_or_else(|gap| 2 * gap, |at| 2 * at + 1)
    }

    /// What compares so with one of the constants.
    fn such(&self, comparison: Comparison, constant: i64) -> Possible {
        let at: Possible = 1 << self.place(constant);
        let below = at - 1;
        match comparison {
            Comparison::Eq => at,
            Comparison::Ne => !at,
            Comparison::Lt => below,
            Comparison::Ge => !below,
            Comparison::Gt => !below & !at,
            Comparison::Le => below | at,
        }
    }
}

/// What a block's last instruction asks, if it compares a value with a constant.
fn question(body: &Body, last: ValueId) -> Option<Question> {
    let &Op::If(comparison, value, other) = body.op(last) else { return None };
    match (other.map(|other| body.op(other)), body.op(value)) {
        // Two long numbers make nothing that a branch can ask for but their comparison.
        (None, &Op::Binary(_, long, other)) => match *body.op(other) {
            Op::Const(Const::Long(constant)) => Some((long, comparison, constant)),
            _ => Some((value, comparison, 0)),
        },
        (None, _) => Some((value, comparison, 0)),
        (Some(&Op::Const(Const::Int(constant))), _) => Some((value, comparison, i64::from(constant))),
        (Some(_), _) => None,
    }
}

/// What a value is always: a number, 0 for `null`, and 1 for what is not null.
fn constant(op: &Op) -> Option<i64> {
    match op {
        Op::Const(Const::Int(number)) => Some(i64::from(*number)),
        Op::Const(Const::Long(number)) => Some(*number),
        Op::Const(Const::Null) => Some(0),
        Op::Const(Const::Text(_) | Const::Class(_)) | Op::New(_) | Op::NewArray(..) | Op::Caught(_) => {
            Some(1)
        }
        _ => None,
    }
}

/// The joins that make up `value`, if only constants go into them, and what the calls
/// `answers` return.
fn joins(body: &Body, value: ValueId, answers: &[ValueId]) -> Option<BTreeSet<ValueId>> {
    let mut found = BTreeSet::new();
    let mut todo = vec![value];
    while let Some(value) = todo.pop() {
        match body.op(value) {
            Op::Phi(operands) => {
                if found.insert(value) {
                    todo.extend(operands.iter().map(|&(_, operand)| operand));
                }
            }
            _ if answers.binary_search(&value).is_ok() => _ = found.insert(value),
            op => _ = constant(op)?,
        }
        if found.len() > FLAGS_MAX {
            return None;
        }
    }
    Some(found)
}

/// Per block: whether one of `blocks` comes then, or is it.
fn before(body: &Body, blocks: &BTreeSet<BlockId>) -> Vec<bool> {
    let mut seen = vec![false; body.blocks.len()];
    let mut todo: Vec<BlockId> = blocks.iter().copied().collect();
    while let Some(block) = todo.pop() {
        if !std::mem::replace(&mut seen[block.index()], true) {
            todo.extend(&body.block(block).predecessors);
        }
    }
    seen
}

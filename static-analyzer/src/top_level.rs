//! Top-level methods: the first method of a thread's work on one request
//! (lprof §4.2).

use schema::TopLevelKind;

use crate::identifiers::Identifier;
use crate::path::LogPoint;
use crate::program::MethodId;

mod asked;
pub(crate) mod attached;
pub(crate) mod batches;
mod choose;
mod connections;
mod dispatch;
mod drops;
pub mod entry_points;
mod lifetimes;
pub(crate) mod loops;
mod members;
mod one_at_a_time;
mod remembered;
mod rounds;
pub(crate) mod tasks;
mod turns;
mod unmet;

pub use choose::find;

/// A log point of a top-level method.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Position in the log points.
    pub log_point: u32,
    /// For each variable of the log point, in order: position in
    /// [`TopLevel::identifiers`] of the identifier it prints.
    pub bindings: Vec<Option<u32>>,
}

/// One top-level method.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopLevel {
    /// The method.
    pub method: MethodId,
    /// The rule that made it one.
    pub kind: TopLevelKind,
    /// What keeps its value within one request.
    pub identifiers: Vec<Identifier>,
    /// How many of them are only if hand-offs carry them: the last ones.
    pub n_doubtful: usize,
    /// Log points reachable over local edges without entering another
    /// top-level method; sorted.
    pub members: Vec<Member>,
    /// Log points that control flow reaches, but only on objects that the method never
    /// meets; sorted.
    pub unmet: Vec<u32>,
    /// A service loop gives it what it has waited for.
    pub is_round: bool,
    /// Programs that are not known ask for it, and wait for the answer.
    pub is_asked_for: bool,
    /// A process runs it in one thread, one run after the other.
    pub is_one_at_a_time: bool,
    /// Log points of a dispatcher that its rounds do not print; sorted.
    pub outside_rounds: Vec<u32>,
    /// Log points of a dispatcher that it prints only in its rounds; sorted.
    pub in_rounds: Vec<u32>,
    /// Of a dispatcher's `outside_rounds`, sorted: those with which it tells of its rounds.
    pub remembered: Vec<u32>,
    /// The rule, the edge, the identifiers lost there.
    pub reason: String,
}

impl TopLevel {
    /// One that prints nothing, of which no more is known.
    fn new(method: MethodId, kind: TopLevelKind, reason: String) -> Self {
        Self {
            method,
            kind,
            identifiers: Vec::new(),
            n_doubtful: 0,
            members: Vec::new(),
            unmet: Vec::new(),
            is_round: false,
            is_asked_for: false,
            is_one_at_a_time: false,
            outside_rounds: Vec::new(),
            in_rounds: Vec::new(),
            remembered: Vec::new(),
            reason,
        }
    }

    /// Whether an identifier is one, whatever hand-offs carry.
    pub(crate) fn is_sure(&self, identifier: u32) -> bool {
        (identifier as usize) < self.identifiers.len() - self.n_doubtful
    }

    /// For each identifier the first one that is at the same place and prints its value alike, if
    /// that is another one: one value under two value classes.
    pub(crate) fn same_values(&self, log_points: &[LogPoint]) -> Vec<Option<u32>> {
        // Objects are printed in more than one way; a number in a box is printed as the number is.
        let n = self.identifiers.len();
        let (mut is_alike, mut is_plain) = (vec![true; n], vec![false; n]);
        for member in &self.members {
            let variables = &log_points[member.log_point as usize].variables;
            for (variable, binding) in variables.iter().zip(&member.bindings) {
                let Some(at) = binding.map(|at| at as usize) else { continue };
                is_alike[at] &= variable.parts.is_empty();
                is_plain[at] |= members::is_plain(variable);
            }
        }
        let can_be_same = |at: usize| is_alike[at] && !self.identifiers[at].is_one_of_many();
        let is_same = |at: usize, other: usize| {
            let same_place = self.identifiers[at].place == self.identifiers[other].place;
            same_place && can_be_same(at) && can_be_same(other) && (is_plain[at] || is_plain[other])
        };
        (0..n).map(|at| (0..at).find(|&other| is_same(at, other)).map(|first| first as u32)).collect()
    }
}

/// All top-level methods.
#[derive(Clone, Debug, Default)]
pub struct TopLevels {
    /// Sorted by method.
    pub methods: Vec<TopLevel>,
    /// Per method up to the last one that is top-level: its position.
    positions: Vec<Option<u32>>,
}

impl TopLevels {
    /// Of methods that are sorted.
    fn new(methods: Vec<TopLevel>) -> Self {
        let n = methods.last().map_or(0, |last| last.method.index() + 1);
        let mut positions = vec![None; n];
        for (at, top) in (0u32..).zip(&methods) {
            positions[top.method.index()] = Some(at);
        }
        Self { methods, positions }
    }

    /// Position of `method`, if it is top-level.
    pub fn position(&self, method: MethodId) -> Option<usize> {
        self.positions.get(method.index()).copied().flatten().map(|at| at as usize)
    }
}

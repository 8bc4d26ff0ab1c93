//! Successors: which log point one thread can print directly after which other one, of those
//! that logs usually show (INFO and above), whatever stands between them that they do not show.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::ids::{LogPointId, TopLevelId};

/// See the module. Over-approximates what the code can do; a log in which a logger is turned off
/// shows pairs that it does not have.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Successors {
    /// Sets of log points, sorted, each once: very many log points share one. Each number but the
    /// first is how much it is more than the one before.
    sets: Vec<Vec<u32>>,
    /// Per log point the position of its set; none if nothing is known of it.
    of: Vec<Option<u32>>,
    /// Per top-level method the position of the set of log points that a span of it can begin with.
    firsts: Vec<u32>,
    /// Per top-level method, of log points that have no order there, sorted: the position of the
    /// set of those that can follow in one run of it.
    in_run: Vec<Vec<(LogPointId, u32)>>,
    /// Log points that a top-level method can print first, sorted; not of those that nobody seems to
    /// run ([`crate::TopLevelKind::Unreached`]), though a machine or a library can.
    pub begins: Vec<LogPointId>,
    /// Log points that a top-level method can print last, before it returns or throws, sorted.
    pub ends: Vec<LogPointId>,
}

/// What can follow within one run of each top-level method, as it was found.
#[derive(Clone, Debug, Default)]
pub struct RunSuccessors {
    /// Sets of log points, in any order, with repeats.
    pub sets: Vec<Vec<LogPointId>>,
    /// Per top-level method, of log points that have no order there, sorted: the position of the set
    /// of those beside them that can follow.
    pub next: Vec<Vec<(LogPointId, usize)>>,
}

impl Successors {
    /// Those of each log point, in any order, with repeats; none if nothing is known of it. Those
    /// that a span of each top-level method can begin with, what `begins` and what `ends` any,
    /// likewise. `in_run`: what can follow within one run of each.
    #[must_use]
    pub fn new(
        all: Vec<Option<Vec<LogPointId>>>,
        firsts: Vec<Vec<LogPointId>>,
        [mut begins, mut ends]: [Vec<LogPointId>; 2],
        in_run: RunSuccessors,
    ) -> Self {
        for points in [&mut begins, &mut ends] {
            points.sort_unstable();
            points.dedup();
        }
        let (mut sets, mut known) = (Vec::new(), BTreeMap::new());
        let mut share = |set: Vec<LogPointId>| shared(&mut sets, &mut known, set);
        let of = all.into_iter().map(|next| next.map(&mut share)).collect();
        let firsts = firsts.into_iter().map(&mut share).collect();
        let shared: Vec<u32> = in_run.sets.into_iter().map(&mut share).collect();
        let of_top = |next: Vec<(LogPointId, usize)>| {
            next.into_iter().map(|(point, set)| (point, shared[set])).collect()
        };
        let in_run = in_run.next.into_iter().map(of_top).collect();
        Self { sets, of, firsts, in_run, begins, ends }
    }

    /// The log points that a span of `top` can begin with, sorted: of its own, not of what it calls
    /// that is a top-level method itself. What logs usually do not show is among them, and what
    /// comes after that if they do not. None if nothing is known of the method.
    #[must_use]
    pub fn firsts(&self, top: TopLevelId) -> Option<Vec<LogPointId>> {
        self.firsts.get(top.index()).and_then(|&set| self.set(set))
    }

    /// The log points that can follow `point` in one run of `top`, sorted, of those that stand beside
    /// it in the order of `top`; none if nothing is known of that.
    #[must_use]
    pub fn in_run(&self, top: TopLevelId, point: LogPointId) -> Option<Vec<LogPointId>> {
        let in_run = self.in_run.get(top.index())?;
        let at = in_run.binary_search_by_key(&point, |&(point, _)| point).ok()?;
        self.set(in_run[at].1)
    }

    /// The successors of each log point, sorted; none if nothing is known of it.
    pub fn all(&self) -> impl Iterator<Item = Option<Vec<LogPointId>>> {
        self.of.iter().map(|of| of.and_then(|set| self.set(set)))
    }

    /// Whether a span of `top` can begin with `point`, as far as anything is known of the method.
    #[must_use]
    pub fn can_begin(&self, top: TopLevelId, point: LogPointId) -> bool {
        let mut points = self.firsts.get(top.index()).and_then(|&set| self.points(set));
        points.as_mut().is_none_or(|points| points.any(|first| first == point))
    }

    fn set(&self, set: u32) -> Option<Vec<LogPointId>> {
        self.points(set).map(Iterator::collect)
    }

    fn points(&self, set: u32) -> Option<impl Iterator<Item = LogPointId>> {
        let sum = |sum: &mut usize, step: &u32| {
            *sum += *step as usize;
            Some(LogPointId::new(*sum))
        };
        self.sets.get(set as usize).map(|steps| steps.iter().scan(0, sum))
    }
}

/// The position of a set in `sets`, where it is put if it is not among those that are `known`.
fn shared(
    sets: &mut Vec<Vec<u32>>,
    known: &mut BTreeMap<Vec<LogPointId>, u32>,
    mut set: Vec<LogPointId>,
) -> u32 {
    set.sort_unstable();
    set.dedup();
    *known.entry(set).or_insert_with_key(|set| {
        let mut before = 0;
        let step = |point: &LogPointId| {
            let point = u32::try_from(point.index()).expect("fewer than 2^32 log points");
            point - std::mem::replace(&mut before, point)
        };
        sets.push(set.iter().map(step).collect());
        u32::try_from(sets.len() - 1).expect("fewer than 2^32 sets")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_in_comes_out_sorted_and_once() {
        let ids = |ids: &[usize]| Some(ids.iter().map(|&id| LogPointId::new(id)).collect::<Vec<_>>());
        let given = vec![ids(&[7, 0, 7, 300]), None, ids(&[]), ids(&[300, 7, 0])];
        let ends = ids(&[7, 0, 7]).unwrap_or_default();
        let firsts = vec![ids(&[300, 0, 7]).unwrap_or_default()];
        let next = vec![vec![(LogPointId::new(7), 0)]];
        let in_run = RunSuccessors { sets: vec![ids(&[7, 0]).unwrap_or_default()], next };
        let successors = Successors::new(given, firsts, [Vec::new(), ends], in_run);
        assert_eq!(successors.firsts(TopLevelId::new(0)), ids(&[0, 7, 300]));
        assert_eq!(successors.firsts(TopLevelId::new(1)), None);
        let can_begin = |top, point| successors.can_begin(TopLevelId::new(top), LogPointId::new(point));
        assert_eq!([can_begin(0, 7), can_begin(0, 8), can_begin(1, 8)], [true, false, true]);
        assert_eq!((&successors.begins, &successors.ends), (&vec![], &ids(&[0, 7]).unwrap_or_default()));
        assert_eq!(successors.sets.len(), 3);
        let in_run = |top, point| successors.in_run(TopLevelId::new(top), LogPointId::new(point));
        assert_eq!([in_run(0, 7), in_run(0, 0), in_run(1, 7)], [ids(&[0, 7]), None, None]);
        let all: Vec<_> = successors.all().collect();
        assert_eq!(all, [ids(&[0, 7, 300]), None, ids(&[]), ids(&[0, 7, 300])]);
    }
}

//! Successors: which log point one thread can print directly after which other one, of those
//! that logs usually show (INFO and above), whatever stands between them that they do not show.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::ids::LogPointId;

/// See the module. Over-approximates what the code can do; a log in which a logger is turned off
/// shows pairs that it does not have.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Successors {
    /// Sets of log points, sorted, each once: very many log points share one. Each number but the
    /// first is how much it is more than the one before.
    sets: Vec<Vec<u32>>,
    /// Per log point the position of its set; none if nothing is known of it.
    of: Vec<Option<u32>>,
    /// Log points that a top-level method can print first, sorted; not of those that nobody seems to
    /// run ([`crate::TopLevelKind::Unreached`]), though a machine or a library can.
    pub begins: Vec<LogPointId>,
    /// Log points that a top-level method can print last, before it returns or throws, sorted.
    pub ends: Vec<LogPointId>,
}

impl Successors {
    /// Those of each log point, in any order, with repeats; none if nothing is known of it. What
    /// `begins` and what `ends` a top-level method, likewise.
    #[must_use]
    pub fn new(
        all: Vec<Option<Vec<LogPointId>>>,
        mut begins: Vec<LogPointId>,
        mut ends: Vec<LogPointId>,
    ) -> Self {
        for points in [&mut begins, &mut ends] {
            points.sort_unstable();
            points.dedup();
        }
        let mut found = Self { begins, ends, ..Self::default() };
        let mut known: BTreeMap<Vec<LogPointId>, u32> = BTreeMap::new();
        for next in all {
            let set = next.map(|mut next| {
                next.sort_unstable();
                next.dedup();
                *known.entry(next).or_insert_with_key(|next| {
                    let mut before = 0;
                    let step = |point: &LogPointId| {
                        let point = u32::try_from(point.index()).expect("fewer than 2^32 log points");
                        point - std::mem::replace(&mut before, point)
                    };
                    found.sets.push(next.iter().map(step).collect());
                    u32::try_from(found.sets.len() - 1).expect("fewer than 2^32 log points")
                })
            });
            found.of.push(set);
        }
        found
    }

    /// The successors of each log point, sorted; none if nothing is known of it.
    pub fn all(&self) -> impl Iterator<Item = Option<Vec<LogPointId>>> {
        let set = |set: u32| {
            let sum = |sum: &mut usize, step: &u32| {
                *sum += *step as usize;
                Some(LogPointId::new(*sum))
            };
            self.sets.get(set as usize).map(|steps| steps.iter().scan(0, sum).collect())
        };
        self.of.iter().map(move |of| of.and_then(set))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_in_comes_out_sorted_and_once() {
        let ids = |ids: &[usize]| Some(ids.iter().map(|&id| LogPointId::new(id)).collect::<Vec<_>>());
        let given = vec![ids(&[7, 0, 7, 300]), None, ids(&[]), ids(&[300, 7, 0])];
        let ends = ids(&[7, 0, 7]).unwrap_or_default();
        let successors = Successors::new(given, Vec::new(), ends);
        assert_eq!((&successors.begins, &successors.ends), (&vec![], &ids(&[0, 7]).unwrap_or_default()));
        assert_eq!(successors.sets.len(), 2);
        let all: Vec<_> = successors.all().collect();
        assert_eq!(all, [ids(&[0, 7, 300]), None, ids(&[]), ids(&[0, 7, 300])]);
    }
}

//! Ways through the code that requests of one population take and those of the other one do not. A way is the
//! set of steps that a request takes, each from one log point of a span to the next one of it, so that going
//! round a loop twice or a hundred times is one way, and so is handing over to two spans or to ten.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::error::Result;
use reducer::table::Manifest;
use rustc_hash::FxHashMap;
use schema::tables::{Batches, LogSequenceRow, RequestSequence, Text};

use super::CHANCE_MAX;
use crate::profile::statistics::chance_of_shares;
use crate::profile::table::Scope;

/// How many times as often one population goes a way at least.
const RATIO_MIN: f64 = 4.0;

/// From a log point to the next one; none: the span begins, or ends.
pub(crate) type Step = (Option<i64>, Option<i64>);

/// A way through the code.
type Way = BTreeSet<Step>;

/// Requests that go one way.
#[derive(Clone, Debug, Default)]
struct Taken {
    /// In the first and the second population.
    n: [u64; 2],
    /// The first one of each, by id.
    examples: [Option<Box<str>>; 2],
}

/// Ways of requests by type, and when the requests of each population were.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sequences {
    /// Ways by number, and the number of each.
    ways: Vec<Way>,
    numbers: BTreeMap<Way, usize>,
    by_type: BTreeMap<Box<str>, BTreeMap<usize, Taken>>,
    /// When the first request began and the last one ended, µs since 1970.
    extents: [Option<(i64, i64)>; 2],
}

/// A way that one population goes and the other one does not, or a quarter as often at most.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct OneSided {
    /// The type of the requests.
    pub(crate) request_type: Box<str>,
    /// Requests that go it in the first and the second population.
    pub(crate) n: [u64; 2],
    /// All requests of the type in either.
    pub(crate) of: [u64; 2],
    /// How likely that is by chance at most.
    pub(crate) chance: f64,
    /// Steps of it that the most similar way of the other population does not have.
    pub(crate) more: Vec<Step>,
    /// Steps of that one which it does not have.
    pub(crate) fewer: Vec<Step>,
    /// A request that goes it.
    pub(crate) example: Box<str>,
}

impl OneSided {
    /// The population that goes it: 0 the first, 1 the second.
    pub(crate) fn side(&self) -> usize {
        let share = |side: usize| self.n[side] as f64 / self.of[side].max(1) as f64;
        usize::from(share(1) > share(0))
    }
}

impl Sequences {
    /// Adds the ways of the requests of a table.
    ///
    /// # Errors
    /// Files that cannot be read.
    pub(crate) fn add(&mut self, manifest: &Manifest, scope: Scope<'_>) -> Result<()> {
        let point = |point: i64| scope.point(point);
        let rows = manifest.rows::<LogSequenceRow>()?.into_iter();
        let ways: FxHashMap<Text, usize> =
            rows.map(|row| (row.log_sequence_id, self.number(way(&row.sequence, &point)))).collect();
        let unknown = self.number(Way::new());
        for (number, path) in manifest.paths("requests").into_iter().enumerate() {
            let batches = match scope.places.map(|places| places.get(number).map_or(&[][..], Vec::as_slice)) {
                Some([]) => continue,
                Some(places) => {
                    let rows: Vec<Range<usize>> = places.iter().map(|at| at.row..at.row + 1).collect();
                    Batches::<RequestSequence>::open_rows(&path, &rows)?
                }
                None => Batches::open(&path)?,
            };
            for rows in batches {
                for row in rows? {
                    let way = ways.get(&row.log_sequence_id).copied().unwrap_or(unknown);
                    self.add_row(&row, way, scope);
                }
            }
        }
        Ok(())
    }

    /// Adds a request that goes a way.
    fn add_row(&mut self, row: &RequestSequence, way: usize, scope: Scope<'_>) {
        let Some(population @ 1..=2) = (scope.population)(&row.request_id) else { return };
        let side = usize::from(population) - 1;
        let name = scope.name(&row.request_type);
        if !self.by_type.contains_key(name) {
            self.by_type.insert(name.into(), BTreeMap::new());
        }
        let of_type = self.by_type.get_mut(name).expect("it was just put there");
        let taken = of_type.entry(way).or_default();
        taken.n[side] += 1;
        taken.examples[side].get_or_insert_with(|| (*row.request_id).into());
        let (from, to) = self.extents[side].unwrap_or((row.start_ts.0, row.end_ts.0));
        self.extents[side] = Some((from.min(row.start_ts.0), to.max(row.end_ts.0)));
    }

    fn number(&mut self, way: Way) -> usize {
        let next = self.ways.len();
        *self.numbers.entry(way).or_insert_with_key(|way| {
            self.ways.push(way.clone());
            next
        })
    }

    /// When the first request of either population began and the last one ended, µs since 1970.
    pub(crate) fn extents(&self) -> [Option<(i64, i64)>; 2] {
        self.extents
    }

    /// Ways that one population goes in `support` requests at least and the other one does not, or a quarter
    /// as often at most, by more than chance; what is least by chance first.
    pub(crate) fn one_sided(&self, support: u64) -> Vec<OneSided> {
        let n_ways: usize = self.by_type.values().map(BTreeMap::len).sum();
        let mut found = Vec::new();
        for (request_type, ways) in &self.by_type {
            let of = [0, 1].map(|side| ways.values().map(|taken| taken.n[side]).sum::<u64>());
            if of.contains(&0) {
                continue;
            }
            for (&number, taken) in ways {
                let chance = chance_of_shares((taken.n[0], of[0]), (taken.n[1], of[1])) * n_ways as f64;
                let share = |side: usize| taken.n[side] as f64 / of[side] as f64;
                let side = usize::from(share(1) > share(0));
                if taken.n[side] < support
                    || share(side) <= RATIO_MIN * share(1 - side)
                    || chance >= CHANCE_MAX
                {
                    continue;
                }
                let Some(example) = taken.examples[side].clone() else { continue };
                let way = &self.ways[number];
                let nearest = self.nearest(way, ways, 1 - side);
                let without = |a: &Way, b: &Way| a.difference(b).copied().collect::<Vec<Step>>();
                found.push(OneSided {
                    request_type: request_type.clone(),
                    n: taken.n,
                    of,
                    chance,
                    more: nearest.map(|other| without(way, other)).unwrap_or_default(),
                    fewer: nearest.map(|other| without(other, way)).unwrap_or_default(),
                    example,
                });
            }
        }
        found.sort_by(|a, b| {
            let key = |of: &OneSided| (of.chance, std::cmp::Reverse(of.n[of.side()]));
            key(a).partial_cmp(&key(b)).expect("chances are numbers").then_with(|| a.example.cmp(&b.example))
        });
        found
    }

    /// The way that requests of `side` go which has most steps in common with `way`, of equal ones that which
    /// most go.
    fn nearest(&self, way: &Way, taken: &BTreeMap<usize, Taken>, side: usize) -> Option<&Way> {
        let others = taken.iter().filter(|(_, taken)| taken.n[side] > 0);
        let in_common = |other: &Way| {
            let both = way.intersection(other).count();
            both as f64 / (way.len() + other.len() - both).max(1) as f64
        };
        let ranked = others.map(|(&other, taken)| {
            let other = &self.ways[other];
            ((in_common(other), taken.n[side]), other)
        });
        ranked.max_by(|a, b| a.0.partial_cmp(&b.0).expect("shares are numbers")).map(|(_, other)| other)
    }
}

/// The steps of all spans.
fn way(sequence: &[Vec<i64>], point: &dyn Fn(i64) -> i64) -> Way {
    let mut found = Way::new();
    for span in sequence {
        let points = span.iter().map(|&number| Some(point(number)));
        let mut before = None;
        for at in points.chain([None]) {
            found.insert((before, at));
            before = at;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{OneSided, Sequences, way};

    /// Ways of requests of one type, each a list of spans, with how many of either population go it.
    fn of(ways: &[(&[&[i64]], [u64; 2])]) -> Sequences {
        let mut found = Sequences::default();
        for (spans, n) in ways {
            let spans: Vec<Vec<i64>> = spans.iter().map(|span| span.to_vec()).collect();
            let number = found.number(way(&spans, &|point| point));
            let taken = found.by_type.entry("T.run".into()).or_default().entry(number).or_default();
            for (side, &n) in n.iter().enumerate() {
                taken.n[side] += n;
                taken.examples[side] = (n > 0).then(|| format!("{side}").into());
            }
        }
        found
    }

    #[test]
    fn what_goes_round_more_often_goes_the_same_way() {
        let found = of(&[(&[&[1, 2, 2, 3]], [50, 0]), (&[&[1, 2, 2, 2, 3], &[1, 2, 2, 3]], [0, 50])]);
        assert_eq!(found.one_sided(5), []);
    }

    #[test]
    fn a_new_way_is_told_by_its_steps() {
        let found = of(&[(&[&[1, 2, 3]], [100, 60]), (&[&[1, 2, 7, 3]], [0, 40]), (&[&[9]], [3, 0])]);
        let told = found.one_sided(5);
        let expected = OneSided {
            request_type: "T.run".into(),
            n: [0, 40],
            of: [103, 100],
            chance: told[0].chance,
            more: vec![(Some(2), Some(7)), (Some(7), Some(3))],
            fewer: vec![(Some(2), Some(3))],
            example: "1".into(),
        };
        assert_eq!(told, [expected]);
        assert_eq!(told[0].side(), 1);
    }

    #[test]
    fn what_few_requests_do_can_be_chance() {
        let found = of(&[(&[&[1, 2]], [1_000, 1_000]), (&[&[1, 3]], [0, 6])]);
        assert_eq!(found.one_sided(5), []);
    }
}

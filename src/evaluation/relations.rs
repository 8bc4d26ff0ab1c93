//! Relations: of what belongs together beyond the requests of a table, what its relations hold.
//!
//! A *link* is a pair of different requests that hold records of one unit, or of one op. It is
//! *direct* if a relation is between the two, *connected* if relations lead from one to the other
//! by way of requests that hold records of it, too. By records each link counts as often as there
//! are pairs of these records.
//!
//! A relation is *true* by units if both its requests hold records of one unit, *false* if both hold
//! records of units and none in common, else nothing is claimed of it; the same by ops. Units and ops
//! are what one call causes: that two calls use one thing is false by them, and may be what is
//! looked for all the same. So shares are told of each way to be related.

use std::collections::{BTreeMap, BTreeSet};

use schema::tables::{RelationRow, Text};

use super::found::Found;
use super::links::{Verdict, Verdicts};
use super::truth::{Record, Truth};

/// Links between requests that relations hold, or all of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Links {
    pub(crate) n: u64,
    pub(crate) n_direct: u64,
    pub(crate) n_connected: u64,
    /// Pairs of records in different requests.
    pub(crate) n_records: u64,
    /// Those of them whose requests are connected.
    pub(crate) n_records_connected: u64,
}

/// What relations are worth by units, or by ops.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct By {
    pub(crate) links: Links,
    /// The relations of each kind.
    pub(crate) kinds: BTreeMap<Text, Verdicts>,
}

/// How right and how complete the relations of a table are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RelationScores {
    pub(crate) n: u64,
    /// Requests that have one.
    pub(crate) n_related: u64,
    pub(crate) n_requests: u64,
    pub(crate) units: By,
    pub(crate) ops: By,
}

/// Records of each request that are of one unit, or op.
type Members<'a> = BTreeMap<&'a str, u64>;

/// Scores `relations`.
pub(crate) fn score(truth: &Truth, found: &Found<'_>, relations: &[RelationRow]) -> RelationScores {
    let ends = relations.iter().flat_map(|row| [&*row.request_id, &*row.other_id]);
    RelationScores {
        n: relations.len() as u64,
        n_related: ends.collect::<BTreeSet<_>>().len() as u64,
        n_requests: found.types.len() as u64,
        units: by(truth, found, relations, |record| record.unit.as_deref()),
        ops: by(truth, found, relations, |record| record.op.as_deref()),
    }
}

fn by<'a>(
    truth: &'a Truth,
    found: &Found<'a>,
    relations: &'a [RelationRow],
    key: fn(&Record) -> Option<&str>,
) -> By {
    let mut members: BTreeMap<&str, Members<'_>> = BTreeMap::new();
    let mut keys: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (place, record) in &truth.records {
        if let (Some(key), Some(request)) = (key(record), found.request_of(place)) {
            *members.entry(key).or_default().entry(request).or_default() += 1;
            keys.entry(request).or_default().insert(key);
        }
    }
    let mut all = By::default();
    let mut edges: BTreeMap<&str, BTreeSet<(&str, &str)>> = BTreeMap::new();
    let none = BTreeSet::new();
    for row in relations {
        let [a, b] = [&*row.request_id, &*row.other_id];
        let [of_a, of_b] = [a, b].map(|id| keys.get(id).unwrap_or(&none));
        let mut shared = of_a.intersection(of_b).peekable();
        let verdict = match (of_a.is_empty() || of_b.is_empty(), shared.peek()) {
            (true, _) => Verdict::Unclaimed,
            (false, Some(_)) => Verdict::True,
            (false, None) => Verdict::False,
        };
        all.kinds.entry(row.how.clone()).or_default().add(verdict);
        shared.for_each(|key| _ = edges.entry(key).or_default().insert((a.min(b), a.max(b))));
    }
    for (key, members) in members.iter().filter(|(_, members)| members.len() > 1) {
        all.links.add(members, edges.get(key).unwrap_or(&BTreeSet::new()));
    }
    all
}

impl Links {
    /// Adds the links between the requests of one unit, or op; `edges`: relations between them.
    fn add(&mut self, members: &Members<'_>, edges: &BTreeSet<(&str, &str)>) {
        self.n_direct += edges.len() as u64;
        (self.n, self.n_records) = sum(self.n, self.n_records, members.values().copied());
        for part in parts(members, edges) {
            let counts = part.into_iter().map(|request| members[request]);
            (self.n_connected, self.n_records_connected) =
                sum(self.n_connected, self.n_records_connected, counts);
        }
    }
}

/// The sums with the pairs of requests that hold `counts` of records, and with those of the records.
fn sum(n: u64, n_records: u64, counts: impl Iterator<Item = u64>) -> (u64, u64) {
    let add = |(n, n_records, before, records): (u64, u64, u64, u64), count| {
        (n + before, n_records + records * count, before + 1, records + count)
    };
    let (n, n_records, ..) = counts.fold((n, n_records, 0, 0), add);
    (n, n_records)
}

/// Requests that hang together by `edges`.
fn parts<'a>(members: &Members<'a>, edges: &BTreeSet<(&'a str, &'a str)>) -> Vec<Vec<&'a str>> {
    let mut next: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for &(a, b) in edges {
        next.entry(a).or_default().push(b);
        next.entry(b).or_default().push(a);
    }
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    let mut parts = Vec::new();
    for &request in members.keys() {
        let (mut part, mut rest) = (Vec::new(), vec![request]);
        while let Some(request) = rest.pop() {
            if seen.insert(request) {
                part.push(request);
                rest.extend(next.get(request).into_iter().flatten());
            }
        }
        parts.push(part);
    }
    parts
}

#[cfg(test)]
mod tests {
    use schema::tables::RelationRow;

    use super::{Links, score};
    use crate::evaluation::links::Verdicts;
    use crate::evaluation::sketch::Sketch;

    fn relation(a: &str, b: &str, how: &str) -> RelationRow {
        RelationRow { request_id: a.into(), other_id: b.into(), how: how.into(), ..RelationRow::default() }
    }

    #[test]
    fn what_hangs_together_beyond_requests_is_counted() {
        // A unit in four requests, of which three are connected; the fourth holds two records.
        let sketch = Sketch::new(
            "1 a u o s1 r1 -\n2 a u o s2 r2 -\n3 a u o s3 r3 -\n4 a u o s4 r4 -\n5 a u o s4 r4 -\n\
             6 a v p s5 r5 -\n7 a - ? s6 r6 -",
        );
        let relations = [
            relation("r2", "r1", "x"),
            relation("r3", "r2", "x"),
            relation("r5", "r4", "x"),
            relation("r6", "r4", "y"),
        ];
        let scores = score(&sketch.truth, &sketch.found(&[]), &relations);
        let links = Links { n: 6, n_direct: 2, n_connected: 3, n_records: 9, n_records_connected: 3 };
        assert_eq!(scores.units.links, links);
        assert_eq!(scores.ops.links, links);
        assert_eq!(scores.n_related, 6);
        let verdicts = |n_true, n_false, n_unclaimed| Verdicts { n_true, n_false, n_unclaimed };
        let kinds: Vec<(&str, Verdicts)> = scores.units.kinds.iter().map(|(how, n)| (&**how, *n)).collect();
        assert_eq!(kinds, [("x", verdicts(2, 1, 0)), ("y", verdicts(0, 0, 1))]);
    }
}

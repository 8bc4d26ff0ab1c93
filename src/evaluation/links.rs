//! Links: hand-offs between spans, by the truth and in the table.
//!
//! Of the n true spans of a unit n - 1 hand-offs are needed to hold them
//! together, whichever they are. Those *found* are n less the number of requests
//! in which these spans begin; one that begins in none counts as one.
//!
//! A link of the table is *true* if both its spans hold records of one unit,
//! else *false* if both hold records of claimed ops and none in common, else
//! nothing is claimed of it.

use std::collections::{BTreeMap, BTreeSet};

use super::found::Found;
use super::spans::TrueSpans;
use super::truth::Truth;

/// What the truth says of something that was joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Verdict {
    /// It is one.
    True,
    /// It is not.
    False,
    /// Nothing.
    Unclaimed,
}

/// Things by what the truth says of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Verdicts {
    pub(crate) n_true: u64,
    pub(crate) n_false: u64,
    pub(crate) n_unclaimed: u64,
}

impl Verdicts {
    pub(crate) fn add(&mut self, verdict: Verdict) {
        match verdict {
            Verdict::True => self.n_true += 1,
            Verdict::False => self.n_false += 1,
            Verdict::Unclaimed => self.n_unclaimed += 1,
        }
    }

    pub(crate) fn n(&self) -> u64 {
        self.n_true + self.n_false + self.n_unclaimed
    }

    /// The share of what is claimed that is true; none where nothing is.
    pub(crate) fn precision(&self) -> Option<f64> {
        let n_claimed = self.n_true + self.n_false;
        (n_claimed > 0).then(|| self.n_true as f64 / n_claimed as f64)
    }
}

/// Units and ops of the records of a span of the table.
#[derive(Clone, Debug, Default)]
pub(crate) struct Claims<'a> {
    units: BTreeSet<&'a str>,
    ops: BTreeSet<&'a str>,
}

impl<'a> Claims<'a> {
    /// The claims of the spans of the table, by their ids.
    pub(crate) fn of_spans(truth: &'a Truth, found: &Found<'a>) -> BTreeMap<&'a str, Self> {
        let mut spans: BTreeMap<&str, Self> = BTreeMap::new();
        for (place, record) in &truth.records {
            if let Some(id) = found.span_of(place) {
                let claims = spans.entry(id).or_default();
                claims.units.extend(record.unit.as_deref());
                claims.ops.extend(record.op.as_deref());
            }
        }
        spans
    }

    /// What is true of a link between this and `other`.
    pub(crate) fn verdict(&self, other: &Self) -> Verdict {
        if !self.units.is_disjoint(&other.units) {
            Verdict::True
        } else if self.ops.is_empty() || other.ops.is_empty() || !self.ops.is_disjoint(&other.ops) {
            Verdict::Unclaimed
        } else {
            Verdict::False
        }
    }
}

/// How right the links of a table are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LinkScores {
    /// Hand-offs that hold the units together.
    pub(crate) n_needed: u64,
    /// Those of them that were found.
    pub(crate) n_found: u64,
    /// The links of the table.
    pub(crate) links: Verdicts,
}

impl LinkScores {
    /// The share of what is needed that was found; 1 where nothing is.
    pub(crate) fn recall(&self) -> f64 {
        if self.n_needed == 0 { 1.0 } else { self.n_found as f64 / self.n_needed as f64 }
    }
}

/// Scores the links of `found`.
pub(crate) fn score(truth: &Truth, spans: &TrueSpans<'_>, found: &Found<'_>) -> LinkScores {
    let mut scores = LinkScores::default();
    for of_unit in by_unit(spans).values() {
        let mut requests = BTreeSet::new();
        let mut n_requests = 0;
        for &span in of_unit {
            match found.request_of(spans.spans[span].places[0]) {
                Some(request) => n_requests += u64::from(requests.insert(request)),
                None => n_requests += 1,
            }
        }
        scores.n_needed += of_unit.len() as u64 - 1;
        scores.n_found += of_unit.len() as u64 - n_requests;
    }
    let claims = Claims::of_spans(truth, found);
    for link in found.links() {
        scores.links.add(link.verdict(&claims));
    }
    scores
}

/// The true spans of each unit, by their positions.
pub(crate) fn by_unit<'a>(spans: &TrueSpans<'a>) -> BTreeMap<&'a str, Vec<usize>> {
    let mut units: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, span) in spans.spans.iter().enumerate() {
        units.entry(span.unit).or_default().push(at);
    }
    units
}

/// A link of a table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FoundLink<'a> {
    pub(crate) from: &'a str,
    pub(crate) to: &'a str,
    /// The name of the pass that made it.
    pub(crate) by: &'a str,
    /// How likely it was said to be true.
    pub(crate) probability: Option<f64>,
}

impl FoundLink<'_> {
    /// What is true of it; `claims`: of all spans.
    pub(crate) fn verdict(&self, claims: &BTreeMap<&str, Claims<'_>>) -> Verdict {
        let ends = claims.get(self.from).zip(claims.get(self.to));
        ends.map_or(Verdict::Unclaimed, |(from, to)| from.verdict(to))
    }
}

#[cfg(test)]
mod tests {
    use super::{Verdicts, score};
    use crate::evaluation::sketch::Sketch;
    use crate::evaluation::spans::TrueSpans;

    #[track_caller]
    fn check(text: &str, (n_needed, n_found): (u64, u64), links: [u64; 3]) {
        let sketch = Sketch::new(text);
        let scores = score(&sketch.truth, &TrueSpans::new(&sketch.truth), &sketch.found(&[]));
        assert_eq!((scores.n_needed, scores.n_found), (n_needed, n_found), "needed, found");
        let [n_true, n_false, n_unclaimed] = links;
        assert_eq!(scores.links, Verdicts { n_true, n_false, n_unclaimed });
    }

    #[test]
    fn n_spans_need_one_hand_off_less() {
        let records = "1 a u o s1 r -\n2 b u o s2 r -\n3 c u o s3 r3 -\n4 d u o - - -";
        check(&format!("{records}\ns1 > s2 nested"), (3, 1), [1, 0, 0]);
    }

    #[test]
    fn what_is_found_needs_no_link_of_its_own() {
        // One span of the table holds what two threads did.
        check("1 a u o s r -\n2 b u o s r -", (1, 1), [0, 0, 0]);
    }

    #[test]
    fn links_between_ops_are_false_and_those_within_one_are_not_claimed() {
        let records = "1 a u o s1 r -\n2 b v p s2 r -\n3 c w o s3 r -\n4 d - ? s4 r -";
        check(&format!("{records}\ns1 > s2 within\ns1 > s3 mentions\ns1 > s4 mentions"), (0, 0), [0, 1, 2]);
    }
}

//! Reliability: of what was said to be so likely, how much is true.
//!
//! Links by what their probability was said to be, with the share of those of which the truth
//! claims something that is true; and requests by their confidence, with the share of those that
//! have no false link, of all in which something is claimed of one.

use std::collections::BTreeMap;

use super::found::Found;
use super::links::{Claims, Verdict};
use super::truth::Truth;

/// Where bins begin; the last one ends with 1.
const EDGES: [f64; 12] = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99];

/// What was said to be about as likely.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Bin {
    /// Of how many something is claimed.
    pub(crate) n: u64,
    /// How many of them are true.
    pub(crate) n_true: u64,
    /// The sum of what was said.
    said: f64,
}

impl Bin {
    /// What was said on average.
    pub(crate) fn said(&self) -> f64 {
        self.said / self.n.max(1) as f64
    }

    /// The share that is true.
    pub(crate) fn is(&self) -> f64 {
        self.n_true as f64 / self.n.max(1) as f64
    }
}

/// Bins with what is in them, by where they begin and end.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Curve([Bin; EDGES.len()]);

impl Curve {
    fn add(&mut self, said: f64, is_true: bool) {
        let at = EDGES.iter().rposition(|edge| *edge <= said).unwrap_or_default();
        let bin = &mut self.0[at];
        (bin.n, bin.n_true, bin.said) = (bin.n + 1, bin.n_true + u64::from(is_true), bin.said + said);
    }

    /// Those that hold something.
    pub(crate) fn bins(&self) -> impl Iterator<Item = ((f64, f64), &Bin)> {
        let ends = EDGES.into_iter().skip(1).chain([1.0]);
        EDGES.into_iter().zip(ends).zip(&self.0).filter(|(_, bin)| bin.n > 0)
    }
}

/// How right what a table says of its links is.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Reliability {
    pub(crate) links: Curve,
    pub(crate) requests: Curve,
}

/// Of the links and requests of `found`; none where the table does not say how likely its links are.
pub(crate) fn measure(
    truth: &Truth,
    found: &Found<'_>,
    confidences: &[(&str, Option<f64>)],
) -> Option<Reliability> {
    let claims = Claims::of_spans(truth, found);
    let mut curves = Reliability::default();
    let requests: BTreeMap<&str, &str> =
        found.spans.iter().map(|span| (&*span.span_id, &*span.request_id)).collect();
    let mut are_true: BTreeMap<&str, bool> = BTreeMap::new();
    let mut is_known = false;
    for link in found.links() {
        let Some(said) = link.probability else { continue };
        is_known = true;
        let verdict = link.verdict(&claims);
        if verdict != Verdict::Unclaimed {
            curves.links.add(said, verdict == Verdict::True);
            let request = requests.get(link.to).copied().unwrap_or_default();
            *are_true.entry(request).or_insert(true) &= verdict == Verdict::True;
        }
    }
    for (request, said) in confidences {
        if let Some((said, is_true)) = said.zip(are_true.get(request)) {
            curves.requests.add(said, *is_true);
        }
    }
    is_known.then_some(curves)
}

#[cfg(test)]
mod tests {
    use super::measure;
    use crate::evaluation::sketch::Sketch;

    #[test]
    fn bins_hold_what_is_claimed() {
        let records =
            "1 a u o s1 r -\n2 b u o s2 r -\n3 c v p s3 r -\n4 d - ? s4 r -\n5 e u o s5 q -\n6 f u o s6 q -";
        let links = "s1 > s2 within 0.93\ns1 > s3 within 0.91\ns1 > s4 within 0.92\ns5 > s6 within 0.25";
        let sketch = Sketch::new(&format!("{records}\n{links}"));
        let confidences = [("r", Some(0.5)), ("q", Some(0.25))];
        let curves = measure(&sketch.truth, &sketch.found(&[]), &confidences).expect("they are known");
        let bins: Vec<_> = curves.links.bins().map(|(ends, bin)| (ends, bin.n, bin.n_true)).collect();
        assert_eq!(bins, [((0.2, 0.3), 1, 1), ((0.9, 0.95), 2, 1)], "nothing is claimed of s4");
        let said: Vec<f64> = curves.links.bins().map(|(_, bin)| bin.said()).collect();
        assert!((said[1] - 0.92).abs() < 1e-9, "{said:?}");
        let bins: Vec<_> = curves.requests.bins().map(|(ends, bin)| (ends, bin.is())).collect();
        assert_eq!(bins, [((0.2, 0.3), 1.0), ((0.5, 0.6), 0.0)], "one has a false link");
    }

    #[test]
    fn tables_that_do_not_say_have_no_curve() {
        let sketch = Sketch::new("1 a u o s1 r -\n2 b u o s2 r -\ns1 > s2 within");
        assert_eq!(measure(&sketch.truth, &sketch.found(&[]), &[("r", None)]), None);
    }
}

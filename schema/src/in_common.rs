//! In common: the rarest thing that two spans both name, by how many spans name it, and how much
//! that tells.
//!
//! Spans that belong together have it more often than others do, and how much more often is learnt
//! from the log: how many of those that are joined name together what so many spans name, against
//! how many of those that are not joined do. Both are counted of the same two lines and, as far as
//! few of those were seen, of all.

use std::hash::Hash;

use rustc_hash::FxHashMap;

/// How many spans name something, as a power of two from one; nothing, if two spans have nothing in
/// common.
pub type Rarity = Option<u32>;

/// What is known before anything was seen counts as one sight.
const PRIOR: f64 = 1.0;

/// What spans have in common, by the `pair` of lines with which one ends and the other begins; none:
/// any.
struct Counts<P> {
    seen: FxHashMap<(Option<P>, Rarity), f64>,
    all: FxHashMap<Option<P>, f64>,
}

impl<P: Copy + Eq + Hash> Counts<P> {
    fn new() -> Self {
        Self { seen: FxHashMap::default(), all: FxHashMap::default() }
    }

    fn add(&mut self, pair: P, rarity: Rarity, weight: f64) {
        for pair in [Some(pair), None] {
            *self.seen.entry((pair, rarity)).or_default() += weight;
            *self.all.entry(pair).or_default() += weight;
        }
    }

    /// How likely it is to have that in common, by all but two spans that count `own`; before
    /// anything is known all of `n_rarities` are alike.
    fn likely(&self, pair: P, rarity: Rarity, (own, n_rarities): (f64, f64)) -> f64 {
        let of = |pair: Option<P>, before: f64| {
            let n = self.seen.get(&(pair, rarity)).map_or(0.0, |n| (n - own).max(0.0));
            let all = self.all.get(&pair).map_or(0.0, |n| (n - own).max(0.0));
            (n + PRIOR * before) / (all + PRIOR)
        };
        of(Some(pair), of(None, 1.0 / n_rarities))
    }
}

/// What is known of what spans have in common.
pub struct InCommon<P> {
    joined: Counts<P>,
    apart: Counts<P>,
    n_rarities: f64,
}

impl<P: Copy + Eq + Hash> InCommon<P> {
    /// Nothing is known yet of what spans name in `named`.
    #[must_use]
    pub fn new(named: &Named) -> Self {
        Self { joined: Counts::new(), apart: Counts::new(), n_rarities: named.n_rarities() }
    }

    /// Two spans that are joined with this share.
    pub fn add(&mut self, pair: P, rarity: Rarity, share: f64) {
        self.joined.add(pair, rarity, share);
        self.apart.add(pair, rarity, 1.0 - share);
    }

    /// How much likelier it is that two spans have that in common if they are joined than if they are
    /// not, as a logarithm; by all others than the two themselves, which count `share`.
    #[must_use]
    pub fn odds(&self, pair: P, rarity: Rarity, share: f64) -> f64 {
        let joined = self.joined.likely(pair, rarity, (share, self.n_rarities));
        (joined / self.apart.likely(pair, rarity, (1.0 - share, self.n_rarities))).ln()
    }
}

/// What the spans of a log name.
pub struct Named {
    /// Per span the numbers of the texts, sorted.
    of_span: Vec<Vec<u32>>,
    /// Per text how many spans name it.
    n_spans: Vec<u32>,
}

impl Named {
    /// Of the texts of each span.
    pub fn of<'t, T: Iterator<Item = &'t str>>(spans: impl Iterator<Item = T>) -> Self {
        let mut numbers: FxHashMap<&str, u32> = FxHashMap::default();
        let (mut of_span, mut n_spans) = (Vec::new(), Vec::new());
        for texts in spans {
            let number = |text| {
                *numbers.entry(text).or_insert_with(|| {
                    n_spans.push(0);
                    u32::try_from(n_spans.len() - 1).expect("fewer than 2^32 texts")
                })
            };
            let mut named: Vec<u32> = texts.map(number).collect();
            named.sort_unstable();
            named.dedup();
            named.iter().for_each(|&text| n_spans[text as usize] += 1);
            of_span.push(named);
        }
        Self { of_span, n_spans }
    }

    /// How many spans name the rarest thing that two of them name.
    #[must_use]
    pub fn rarity(&self, a: usize, b: usize) -> Rarity {
        let theirs = &self.of_span[b];
        let both = self.of_span[a].iter().filter(|text| theirs.binary_search(text).is_ok());
        both.map(|&text| self.n_spans[text as usize].ilog2()).min()
    }

    /// How many different rarities there can be: the powers of two up to the number of spans, and
    /// nothing in common.
    fn n_rarities(&self) -> f64 {
        f64::from(self.of_span.len().max(1).ilog2() + 2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rarest_text_counts() {
        let spans = [["job", "a"], ["job", "a"], ["job", "b"], ["other", "c"]];
        let named = Named::of(spans.iter().map(|texts| texts.iter().copied()));
        assert_eq!(named.rarity(0, 1), Some(1), "two spans name `a`");
        assert_eq!(named.rarity(0, 2), Some(1), "three spans name `job`: two to the first power");
        assert_eq!(named.rarity(0, 3), None);
    }

    #[test]
    fn what_joined_spans_have_oftener_speaks_for_a_join() {
        let named = Named::of((0..8).map(|_| ["x"].into_iter()));
        let mut in_common = InCommon::new(&named);
        assert!(in_common.odds(0, Some(1), 0.0).abs() < 1e-9, "nothing is known");
        for _ in 0..10 {
            in_common.add(0, Some(1), 1.0);
            in_common.add(0, None, 0.0);
        }
        assert!(in_common.odds(0, Some(1), 0.0) > 2.0 && in_common.odds(0, None, 0.0) < -2.0);
        // What was seen of other lines holds for these too, but less.
        assert!((0.1..in_common.odds(0, Some(1), 0.0) - 0.1).contains(&in_common.odds(1, Some(1), 0.0)));
    }

    #[test]
    fn what_two_spans_show_themselves_is_no_evidence_for_them() {
        let named = Named::of((0..8).map(|_| ["x"].into_iter()));
        let mut in_common = InCommon::new(&named);
        in_common.add(0, Some(1), 1.0);
        assert!(in_common.odds(0, Some(1), 1.0).abs() < 1e-9);
        assert!(in_common.odds(0, Some(1), 0.0) > 0.1);
    }
}

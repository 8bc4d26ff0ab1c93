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

/// How many of some spans have what in common: the weight of each rarity, and of all.
#[derive(Clone)]
struct Counts {
    seen: Box<[f64]>,
    all: f64,
}

impl Counts {
    fn new(n_rarities: usize) -> Self {
        Self { seen: vec![0.0; n_rarities].into_boxed_slice(), all: 0.0 }
    }

    fn add(&mut self, rarity: Rarity, weight: f64) {
        self.seen[place(rarity)] += weight;
        self.all += weight;
    }

    /// How likely it is to have that in common, by all but two spans that count `own`; `before`
    /// anything is known.
    fn likely(&self, rarity: Rarity, own: f64, before: f64) -> f64 {
        let [n, all] = [self.seen[place(rarity)], self.all].map(|n| (n - own).max(0.0));
        (n + PRIOR * before) / (all + PRIOR)
    }
}

/// Where a rarity is counted.
fn place(rarity: Rarity) -> usize {
    rarity.map_or(0, |power| power as usize + 1)
}

/// Spans that are joined, and those that are not.
#[derive(Clone)]
struct Both {
    joined: Counts,
    apart: Counts,
}

impl Both {
    fn add(&mut self, rarity: Rarity, share: f64) {
        self.joined.add(rarity, share);
        self.apart.add(rarity, 1.0 - share);
    }
}

/// What is known of what spans have in common, by the `pair` of lines with which one ends and the
/// other begins, and of all of them.
pub struct InCommon<P> {
    of_pair: FxHashMap<P, Both>,
    of_all: Both,
}

impl<P: Copy + Eq + Hash> InCommon<P> {
    /// Nothing is known yet of what spans name in `named`.
    #[must_use]
    pub fn new(named: &Named) -> Self {
        let none = Counts::new(named.n_rarities());
        let of_all = Both { joined: none.clone(), apart: none };
        Self { of_pair: FxHashMap::default(), of_all }
    }

    /// Two spans that are joined with this share.
    pub fn add(&mut self, pair: P, rarity: Rarity, share: f64) {
        let new = || {
            let none = Counts::new(self.of_all.joined.seen.len());
            Both { joined: none.clone(), apart: none }
        };
        self.of_pair.entry(pair).or_insert_with(new).add(rarity, share);
        self.of_all.add(rarity, share);
    }

    /// How much likelier it is that two spans have that in common if they are joined than if they are
    /// not, as a logarithm; by all others than the two themselves, which count `share`.
    #[must_use]
    pub fn odds(&self, pair: P, rarity: Rarity, share: f64) -> f64 {
        // Before anything is known all rarities are alike.
        let alike = 1.0 / self.of_all.joined.seen.len() as f64;
        let of_pair = self.of_pair.get(&pair);
        let likely = |counts: fn(&Both) -> &Counts, own: f64| {
            let of_all = counts(&self.of_all).likely(rarity, own, alike);
            // Of a pair of which nothing was seen only what all show is known.
            of_pair.map_or(of_all, |both| counts(both).likely(rarity, own, of_all))
        };
        (likely(|both| &both.joined, share) / likely(|both| &both.apart, 1.0 - share)).ln()
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

    /// The same where only spans that are `asked` about are compared: of the others it counts just
    /// who names what those do.
    pub fn among<'t, T: Iterator<Item = &'t str>>(
        asked: impl Fn(usize) -> bool,
        spans: impl Iterator<Item = T> + Clone,
    ) -> Self {
        let mut numbers: FxHashMap<&str, u32> = FxHashMap::default();
        for (_, texts) in spans.clone().enumerate().filter(|(span, _)| asked(*span)) {
            for text in texts {
                let next = u32::try_from(numbers.len()).expect("fewer than 2^32 texts");
                numbers.entry(text).or_insert(next);
            }
        }
        let mut n_spans = vec![0; numbers.len()];
        let of_span = spans.enumerate().map(|(span, texts)| {
            if numbers.is_empty() {
                return Vec::new();
            }
            let mut named: Vec<u32> = texts.filter_map(|text| numbers.get(text).copied()).collect();
            named.sort_unstable();
            named.dedup();
            named.iter().for_each(|&text| n_spans[text as usize] += 1);
            if asked(span) { named } else { Vec::new() }
        });
        Self { of_span: of_span.collect(), n_spans }
    }

    /// How many spans name the rarest thing that two of them name.
    #[must_use]
    pub fn rarity(&self, a: usize, b: usize) -> Rarity {
        let mut theirs = self.of_span[b].iter().peekable();
        let both = self.of_span[a].iter().filter(|&text| {
            while theirs.next_if(|&other| other < text).is_some() {}
            theirs.peek() == Some(&text)
        });
        both.map(|&text| self.n_spans[text as usize].ilog2()).min()
    }

    /// How many different rarities there can be: the powers of two up to the number of spans, and
    /// nothing in common.
    fn n_rarities(&self) -> usize {
        self.of_span.len().max(1).ilog2() as usize + 2
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
    fn spans_that_nobody_asks_about_count_all_the_same() {
        let spans = [["job", "a"], ["x", "a"], ["job", "b"], ["other", "a"], ["job", "x"]];
        let texts = spans.iter().map(|texts| texts.iter().copied());
        let (all, some) = (Named::of(texts.clone()), Named::among(|span| span % 2 == 0, texts));
        for (a, b) in [(0, 2), (0, 4), (2, 4)] {
            assert_eq!(some.rarity(a, b), all.rarity(a, b), "{a}, {b}");
        }
        assert_eq!(some.n_rarities(), all.n_rarities());
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

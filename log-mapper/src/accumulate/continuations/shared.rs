//! Shared: the rarest thing that a span and a piece both name, by how many spans name it.
//!
//! Spans that go on with each other have it more often than others do, and how much more often is
//! learnt from the log: how many of those that are joined name together what so many spans name,
//! against how many of those that are not joined do, or that stand the other way around in time. Both
//! are counted of the same two lines and, as far as few of those were seen, of all.

use rustc_hash::FxHashMap;
use schema::LogPointId;

use super::{Closed, PRIOR};

/// How many spans name something, as a power of two from one; nothing, if two spans have nothing in
/// common.
pub(super) type Rarity = Option<u32>;

/// So many kinds of it there are, before anything is known: a power of two each, up to as many spans
/// as a part of a log has, and none.
const N_RARITIES: f64 = 16.0;

/// Two lines; none: any.
type Pair = Option<(LogPointId, LogPointId)>;

/// What spans have in common, by the lines with which one ends and the other begins.
#[derive(Default)]
struct Counts {
    seen: FxHashMap<(Pair, Rarity), f64>,
    all: FxHashMap<Pair, f64>,
}

impl Counts {
    fn add(&mut self, pair: Pair, rarity: Rarity, weight: f64) {
        for pair in [pair, None] {
            *self.seen.entry((pair, rarity)).or_default() += weight;
            *self.all.entry(pair).or_default() += weight;
        }
    }

    /// How likely it is to have that in common, by all but two spans that count `own`.
    fn likely(&self, pair: Pair, rarity: Rarity, own: f64) -> f64 {
        let of = |pair: Pair, before: f64| {
            let n = self.seen.get(&(pair, rarity)).map_or(0.0, |n| (n - own).max(0.0));
            let all = self.all.get(&pair).map_or(0.0, |n| (n - own).max(0.0));
            (n + PRIOR * before) / (all + PRIOR)
        };
        of(pair, of(None, 1.0 / N_RARITIES))
    }
}

/// What is known of what spans have in common.
#[derive(Default)]
pub(super) struct Known {
    joined: Counts,
    apart: Counts,
}

impl Known {
    /// Two spans that are joined with this share.
    pub(super) fn add(&mut self, pair: (LogPointId, LogPointId), rarity: Rarity, share: f64) {
        self.joined.add(Some(pair), rarity, share);
        self.apart.add(Some(pair), rarity, 1.0 - share);
    }

    /// How much likelier it is that two spans have that in common if they are joined than if they are
    /// not, as a logarithm; by all others.
    pub(super) fn odds(&self, pair: (LogPointId, LogPointId), rarity: Rarity, share: f64) -> f64 {
        let joined = self.joined.likely(Some(pair), rarity, share);
        (joined / self.apart.likely(Some(pair), rarity, 1.0 - share)).ln()
    }
}

/// What the spans of a log name.
pub(super) struct Named {
    /// Per span the numbers of the texts, sorted.
    of_span: Vec<Vec<u32>>,
    /// Per text how many spans name it.
    n_spans: Vec<u32>,
}

impl Named {
    pub(super) fn of(done: &[(u64, Closed)]) -> Self {
        let mut numbers: FxHashMap<&str, u32> = FxHashMap::default();
        let (mut of_span, mut n_spans) = (Vec::with_capacity(done.len()), Vec::new());
        for (_, closed) in done {
            let printed = closed.span.events.iter().flat_map(|event| event.values.iter());
            let texts = printed.map(|(_, text)| text);
            let texts = texts.chain(closed.span.identifiers.iter().map(|value| &*value.text));
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
    pub(super) fn rarity(&self, a: usize, b: usize) -> Rarity {
        let theirs = &self.of_span[b];
        let both = self.of_span[a].iter().filter(|text| theirs.binary_search(text).is_ok());
        both.map(|&text| self.n_spans[text as usize].ilog2()).min()
    }
}

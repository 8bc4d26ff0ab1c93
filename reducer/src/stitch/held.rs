//! Held values: what a span names, with all that is asked of such a text again and again, found out
//! once.
//!
//! Texts are numbered, so that two of them are compared, and looked up, as numbers are. How many
//! spans hold a value, and how often it came back, says what it can tell: see [`Held::is_common`].

use rustc_hash::FxHashMap;
use schema::kinds::{TELLING_MIN, is_dated, is_digest, is_made, is_unique};
use schema::{Kinds, Value, ValueClassId};

use super::evidence::{is_address, is_naming};
use crate::merge::to_u32;
use crate::skeleton::Span;

/// A value that more than one span in this many holds, and more than
/// [`COMMON_MIN`] of them, is common: it names a pool, a user or a cluster, not
/// a request, whatever its variable promises.
const COMMON_SHARE: usize = 50;

/// The identifier of a request comes and goes with it; the name of a thing that
/// lives on (a table, a queue) comes back again and again after this much
/// silence, µs.
const RETURN_US: i64 = 5_000_000;

/// Returns after which a value is taken for such a name.
const RETURNS_MAX: usize = 3;

/// Spans of one large request can all hold its identifier.
const COMMON_MIN: usize = 64;

/// A value in at most this many spans can be rare, if its class has at least
/// [`DISTINCT_MIN`] values and the value is in at most one of [`RARE_SHARE`] of
/// the spans that have one: it tells requests apart, whatever its variable
/// promises.
const RARE_MAX: usize = 32;
const RARE_SHARE: usize = 8;
const DISTINCT_MIN: usize = 8;

/// A value that a span holds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Held<'s> {
    pub(super) text: &'s str,
    /// That of its text.
    pub(super) number: u32,
    pub(super) value_class: ValueClassId,
    /// The class that stands for its kind.
    pub(super) kind: ValueClassId,
    /// Spans that hold it as one of its class.
    pub(super) n_spans: u32,
    traits: Traits,
}

/// What is known of a value, a bit each.
type Traits = u16;

const MADE: Traits = 1;
const MEANT: Traits = 1 << 1;
const NAME: Traits = 1 << 2;
const NUMBERED: Traits = 1 << 3;
const NAMING: Traits = 1 << 4;
const ADDRESS: Traits = 1 << 5;
const UNIQUE: Traits = 1 << 6;
const COMMON: Traits = 1 << 7;
const EVERYWHERE: Traits = 1 << 8;
const RARE: Traits = 1 << 9;
const ONE_OF_SEVERAL: Traits = 1 << 10;

/// What a text says by itself.
fn traits_of(text: &str) -> Traits {
    let all = [
        (MADE, is_made(text)),
        (MEANT, is_digest(text) || is_dated(text)),
        (NAME, text.bytes().any(|byte| byte.is_ascii_alphabetic())),
        (NUMBERED, text.bytes().any(|byte| byte.is_ascii_digit())),
        (NAMING, is_naming(text)),
        (ADDRESS, is_address(text)),
        (UNIQUE, is_unique(text)),
    ];
    of(&all)
}

fn of(all: &[(Traits, bool)]) -> Traits {
    all.iter().filter(|(_, is)| *is).fold(0, |traits, (bit, _)| traits | bit)
}

impl Held<'_> {
    fn has(&self, bit: Traits) -> bool {
        self.traits & bit != 0
    }

    /// Whether two have one text, whatever each of them is.
    pub(super) fn is(&self, other: &Held<'_>) -> bool {
        self.number == other.number
    }

    /// Whether it is long enough not to be equal to another one by chance.
    pub(super) fn is_telling(&self) -> bool {
        self.text.len() >= TELLING_MIN
    }

    /// Whether it can be the name of something that was made while the program ran.
    pub(super) fn is_made(&self) -> bool {
        self.has(MADE)
    }

    /// Whether it has a letter.
    pub(super) fn is_name(&self) -> bool {
        self.has(NAME)
    }

    /// Whether it is numbered: what is not was named when the program was written or
    /// set up, and two that have it in common need have nothing else.
    pub(super) fn is_numbered(&self) -> bool {
        self.has(NUMBERED)
    }

    /// Whether it is part of a longer name on purpose ([`is_naming`]).
    pub(super) fn is_naming(&self) -> bool {
        self.has(NAMING)
    }

    /// Whether it is the address of one end of a connection ([`is_address`]).
    pub(super) fn is_address(&self) -> bool {
        self.has(ADDRESS)
    }

    /// Whether nobody has it by chance.
    pub(super) fn is_unique(&self) -> bool {
        self.has(UNIQUE)
    }

    /// Whether so many spans hold it, whatever it is called there, that it tells no requests apart:
    /// a peer is the same one under all of its names, and a rare name makes it none that tells.
    pub(super) fn is_common(&self) -> bool {
        self.has(COMMON)
    }

    /// Whether so many spans hold it that it names no one thing. It may come back at any time: a
    /// thing lives as long as it lives.
    pub(super) fn is_everywhere(&self) -> bool {
        self.has(EVERYWHERE)
    }

    /// Whether few spans hold it, of a class of many values.
    pub(super) fn is_rare(&self) -> bool {
        self.has(RARE)
    }

    /// Whether who is at work on a thing that lives on means it by this: nobody else
    /// has that by chance, as it is a digest, or tells when the thing was made.
    pub(super) fn is_meant(&self) -> bool {
        self.has(MEANT) && !self.is_everywhere()
    }

    /// Whether it is of the kind that names one thing for its life: made for it,
    /// and not everywhere.
    pub(super) fn is_one_thing(&self) -> bool {
        self.is_made() && !self.is_everywhere()
    }

    /// Whether it tells spans apart: it was made while the program ran, or the logs show
    /// another one of its class. The only host, user or table that there is is what everybody has
    /// to do with.
    pub(super) fn tells_apart(&self) -> bool {
        self.is_made() || self.has(ONE_OF_SEVERAL)
    }

    /// Whether it can say anything of who sent a span: of what is common only the name of one
    /// thing does, which is meant by who is at work on it; and of who `hands_on` the thing from
    /// another node: that names it, be it one that comes back.
    pub(super) fn tells_sender(&self, hands_on: bool) -> bool {
        !self.is_common() || if hands_on { self.is_one_thing() } else { self.is_meant() }
    }
}

/// A set of texts that may hold more than was added to it, but never less: two that
/// have nothing in common share no text.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TextSet(u128);

impl TextSet {
    /// Of the texts of some values.
    pub(super) fn of<'h, 's: 'h>(values: impl Iterator<Item = &'h Held<'s>>) -> Self {
        Self(values.map(|value| 1 << (value.number % u128::BITS)).fold(0, std::ops::BitOr::bitor))
    }

    /// Whether it holds nothing.
    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether both may hold one text.
    pub(super) fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

/// Who holds a value.
#[derive(Clone, Copy, Debug, Default)]
struct Holders {
    n_spans: usize,
    n_returns: usize,
    last_us: i64,
}

impl Holders {
    /// A span holds it, from its start to its end, µs.
    fn add(&mut self, (start_us, end_us): (i64, i64)) {
        let is_back = start_us.saturating_sub(self.last_us) > RETURN_US;
        self.n_returns += usize::from(is_back && self.n_spans > 0);
        self.n_spans += 1;
        self.last_us = self.last_us.max(end_us);
    }
}

/// What the spans of a log hold.
pub(super) struct Values<'s> {
    /// Per span its values, as they are there.
    pub(super) of_spans: Vec<Box<[Held<'s>]>>,
    pub(super) kinds: Kinds,
    /// Texts that there are.
    pub(super) n_texts: usize,
}

impl<'s> Values<'s> {
    /// Of `spans`, which last from when to when, µs.
    pub(super) fn of(spans: &'s [Span], times_us: &[(i64, i64)]) -> Self {
        let (mut kinds, mut numbers, mut texts) = (Kinds::default(), FxHashMap::default(), Vec::new());
        let mut known: Vec<Vec<ValueClassId>> = Vec::new();
        let mut of_class: FxHashMap<(ValueClassId, u32), Holders> = FxHashMap::default();
        let mut of_spans: Vec<Box<[Held<'s>]>> = Vec::with_capacity(spans.len());
        for (span, time_us) in spans.iter().zip(times_us) {
            let held = span.identifiers.iter().map(|Value { value_class, text }| {
                let number = *numbers.entry(&**text).or_insert_with(|| {
                    texts.push(traits_of(text));
                    known.push(Vec::new());
                    to_u32(texts.len() - 1)
                });
                kinds.learn(&mut known[number as usize], *value_class, text);
                of_class.entry((*value_class, number)).or_default().add(*time_us);
                let traits = texts[number as usize];
                Held { text, number, value_class: *value_class, kind: *value_class, n_spans: 0, traits }
            });
            of_spans.push(held.collect());
        }
        let mut classes: FxHashMap<ValueClassId, (usize, usize)> = FxHashMap::default();
        for (&(class, _), of_value) in &of_class {
            let (n_values, n_spans) = classes.entry(class).or_default();
            *n_values += 1;
            *n_spans += of_value.n_spans;
        }
        let of_kind = of_kinds(&kinds, &mut of_spans, times_us);
        let is_everywhere = |n_spans: usize| n_spans > COMMON_MIN && n_spans > spans.len() / COMMON_SHARE;
        for value in of_spans.iter_mut().flatten() {
            let Holders { n_spans, n_returns, .. } = of_kind[&(value.kind, value.number)];
            let n = of_class[&(value.value_class, value.number)].n_spans;
            let (n_values, n_of_class) = classes[&value.value_class];
            let is_rare = n <= RARE_MAX && n_values >= DISTINCT_MIN && n * RARE_SHARE <= n_of_class;
            value.n_spans = to_u32(n);
            value.traits |= of(&[
                (EVERYWHERE, is_everywhere(n_spans)),
                (COMMON, n_returns > RETURNS_MAX || is_everywhere(n_spans)),
                (RARE, is_rare),
                (ONE_OF_SEVERAL, n_values > 1),
            ]);
        }
        Self { of_spans, kinds, n_texts: texts.len() }
    }
}

/// Tells each value its kind, and who holds each text as one of a kind: a span that shows it under
/// two names holds it once.
fn of_kinds(
    kinds: &Kinds,
    of_spans: &mut [Box<[Held<'_>]>],
    times_us: &[(i64, i64)],
) -> FxHashMap<(ValueClassId, u32), Holders> {
    let mut found: FxHashMap<(ValueClassId, u32), Holders> = FxHashMap::default();
    let mut own = Vec::new();
    for (values, time_us) in of_spans.iter_mut().zip(times_us) {
        own.clear();
        for value in values {
            value.kind = kinds.of(value.value_class);
            own.push((value.kind, value.number));
        }
        own.sort_unstable();
        own.dedup();
        own.iter().for_each(|key| found.entry(*key).or_default().add(*time_us));
    }
    found
}

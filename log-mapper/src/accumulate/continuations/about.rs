//! About: what spans name, as numbers. Each span is held against hundreds of others, and what two of
//! them name is a handful of texts that many spans share: so each text is compared once, to give it a
//! number, and numbers after that.

use rustc_hash::FxHashMap;
use schema::kinds::is_made;
use schema::{Kinds, ValueClassId};

use super::super::pools::Closed;

/// A text that a span names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Thing {
    kind: ValueClassId,
    /// Different texts have different numbers.
    text: u32,
    /// It can be the name of something that was made while the program ran.
    is_made: bool,
}

/// What spans name.
pub(super) struct About {
    /// Of all spans, each one's sorted.
    things: Vec<Thing>,
    /// Where those of each span end.
    ends: Vec<usize>,
}

impl About {
    /// What each of the spans names.
    pub(super) fn of(kinds: &Kinds, done: &[(u64, Closed)]) -> Self {
        let mut numbers: FxHashMap<&str, u32> = FxHashMap::default();
        let (mut things, mut ends) = (Vec::new(), Vec::with_capacity(done.len()));
        for (_, closed) in done {
            let start = things.len();
            for value in &closed.span.identifiers {
                let next = u32::try_from(numbers.len()).expect("fewer than 2^32 texts");
                let text = *numbers.entry(&value.text).or_insert(next);
                let (kind, is_made) = (kinds.of(value.value_class), is_made(&value.text));
                things.push(Thing { kind, text, is_made });
            }
            things[start..].sort_unstable();
            ends.push(things.len());
        }
        Self { things, ends }
    }

    fn of_span(&self, span: usize) -> &[Thing] {
        let start = span.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.things[start..self.ends[span]]
    }

    /// Whether two spans name things of one kind, of which none is named by both.
    pub(super) fn names_others(&self, a: usize, b: usize) -> bool {
        let theirs = self.of_span(b);
        self.of_span(a).chunk_by(|a, b| a.kind == b.kind).any(|ours| {
            let mut of_kind = theirs.iter().filter(|thing| thing.kind == ours[0].kind).peekable();
            of_kind.peek().is_some() && !of_kind.any(|thing| ours.contains(thing))
        })
    }

    /// Whether two spans name things of one kind that were made while the program ran, and none of
    /// those is the same.
    pub(super) fn are_about_others(&self, a: usize, b: usize) -> bool {
        let made = |span| self.of_span(span).iter().filter(|thing| thing.is_made);
        let is_kind = |ours: &Thing| made(b).any(|theirs| theirs.kind == ours.kind);
        let is_same = |ours: &Thing| made(b).any(|theirs| theirs.text == ours.text);
        made(a).any(is_kind) && !made(a).any(is_same)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use schema::{Name, Span, Value};

    use super::super::super::rests;
    use super::*;

    fn span(identifiers: Vec<Value>) -> Closed {
        let (node, top_levels, events, hosts) = (Name::from("n"), Vec::new(), Vec::new(), Vec::new());
        let (thread, trace, n_alike, truncated) = (None, None, 1, false);
        let span = Span { node, thread, top_levels, n_alike, identifiers, trace, events, truncated, hosts };
        Closed::new(span, Vec::new(), Vec::new())
    }

    /// The same of the texts themselves.
    fn names_others(kinds: &Kinds, a: &Closed, b: &Closed) -> bool {
        let kind = |value: &Value| kinds.of(value.value_class);
        let (ours, theirs) = (&a.span.identifiers, &b.span.identifiers);
        ours.iter().any(|value| {
            let is_same_kind = |other: &&Value| kind(other) == kind(value);
            let mut of_kind = theirs.iter().filter(is_same_kind).peekable();
            let is_ours =
                |other: &Value| ours.iter().filter(is_same_kind).any(|ours| ours.text == other.text);
            of_kind.peek().is_some() && !of_kind.any(is_ours)
        })
    }

    #[test]
    fn numbers_tell_what_texts_tell() {
        let texts = ["task_1", "task_2", "file_1", "a", "root"];
        let value = |n: usize| Value {
            value_class: ValueClassId::new(n % 3),
            text: Arc::from(texts[n / 3 % texts.len()]),
        };
        // All that two spans can name of two values each, of three classes.
        let all: Vec<(u64, Closed)> = (0..15 * 15)
            .map(|n| (0, span([n % 15, n / 15].into_iter().filter(|n| *n > 0).map(value).collect())))
            .collect();
        let kinds = Kinds::default();
        let about = About::of(&kinds, &all);
        for (at, (_, a)) in all.iter().enumerate() {
            for (other, (_, b)) in all.iter().enumerate() {
                assert_eq!(about.names_others(at, other), names_others(&kinds, a, b), "{at} {other}");
                let slowly = rests::are_about_others(&kinds, a, b);
                assert_eq!(about.are_about_others(at, other), slowly, "{at} {other}");
            }
        }
    }
}

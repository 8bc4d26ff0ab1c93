//! Ownership: what works on a thing while a numbered piece of work has it is of that.
//!
//! Not all that is done for what has a number prints the number: a server that is told
//! to close something knows its name only, and a thread that is started for a part
//! prints what it works on. Where the last line about the thing that tells whose it is,
//! and the next one, are of one piece of work, it had the thing all the time. What is
//! named for the first time was made by who names it next, if that was at work already.
//!
//! Others may do something to the thing as well meanwhile (it is written to disk because
//! memory is short). So it is learnt from the log of what begins with which line this
//! holds: of nearly all of it.
//!
//! And a thread does one thing at a time: what it prints before its caller prints what
//! comes only after the call is of whom the caller names.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};
use schema::kinds::is_digest;
use schema::{LinkKind, LogPointId, TopLevelKind};

use super::facts::{Fact, Facts};
use super::pairs::Pairs;
use crate::skeleton::Event;

/// Spans that begin with one line from which to learn.
const SPANS_MIN: usize = 4;

/// The same of what asks for something that then begins, and names what that names.
const ASKING_MIN: usize = 2;

/// At most one in so many of them is not of who has what it names.
const STRAY_SHARE: usize = 8;

/// What is asked for waits its turn: it begins at most this long after that was
/// printed, µs.
const TURN_US: i64 = 10_000_000;

/// What begins says at once what it is about, µs.
const FIRST_US: i64 = 1_000_000;

/// Shorter words are no names.
const WORD_MIN: usize = 3;

/// A word with which more than one in so many labels begin tells none of them.
const COMMON_LABELS_SHARE: usize = 4;

/// What is found makes more things known.
const ROUNDS_MAX: usize = 4;

/// A caller prints what comes after the call at most this long after it, µs.
const BACK_US: i64 = 1_000_000;

/// A line about a thing by who has a number: (time in µs, label).
type Line = (i64, u32);

/// The labels of spans that work on what a labelled one has, in addition to those that
/// `facts` know.
pub(super) fn labels(pairs: &Pairs<'_>, facts: &Facts<'_>) -> Vec<Option<u32>> {
    let mut labels: Vec<Option<u32>> = facts.iter().map(|(index, _)| facts.label_of(index)).collect();
    for _ in 0..ROUNDS_MAX {
        if labels.iter().all(Option::is_none) {
            break;
        }
        let found = returned(pairs, facts, &labels);
        found.iter().for_each(|&(span, label)| labels[span as usize] = Some(label));
        let things = Things::new(facts, &labels);
        let mut more = things.held(facts, &labels);
        more.extend(things.asked(pairs, facts, &labels));
        for &(span, label) in &more {
            labels[span as usize].get_or_insert(label);
        }
        if found.is_empty() && more.is_empty() {
            break;
        }
    }
    labels
}

/// Spans that were called by labelled ones of their thread, which print next.
fn returned(pairs: &Pairs<'_>, facts: &Facts<'_>, labels: &[Option<u32>]) -> Vec<(u32, u32)> {
    let mut found = Vec::new();
    for lines in facts.lines_of_threads() {
        // (time, span, label) of the line that comes next, and of what came before it.
        let mut next: Option<(i64, u32, u32)> = None;
        for &(ts_us, .., span, at) in lines.iter().rev() {
            let fact = facts.get(span);
            let known = labels[span as usize].or_else(|| {
                let (next_us, caller, label) = next?;
                let is_soon = next_us.saturating_sub(ts_us) <= BACK_US;
                (is_soon && calls(pairs, facts.get(caller), fact)).then_some(label)
            });
            let is_end = at + 1 == fact.events.len();
            if let Some(label) = known.filter(|_| labels[span as usize].is_none() && is_end) {
                found.push((span, label));
            }
            next = match (labels[span as usize], known) {
                (Some(label), _) => Some((ts_us, span, label)),
                // Several can be called one after the other.
                (None, Some(_)) => next,
                (None, None) => None,
            };
        }
    }
    found
}

/// Whether a span can have called another one before its first line.
fn calls(pairs: &Pairs<'_>, caller: &Fact<'_>, called: &Fact<'_>) -> bool {
    let Some((point, &top)) = caller.first_point.zip(caller.tops.first()) else { return false };
    called.tops.iter().flat_map(|&top| pairs.to(top)).map(|index| pairs.get(index)).any(|pair| {
        pair.from == top
            && pair.kind == LinkKind::Call
            && pairs.printed_before(pair).binary_search(&point).is_err()
    })
}

/// What labelled spans name.
struct Things<'s> {
    /// The lines about each, in order.
    lines: FxHashMap<&'s str, Vec<Line>>,
    /// When each label was first printed, in order.
    births: Vec<Line>,
    began: FxHashMap<u32, i64>,
    /// What is printed for each label in its first moment.
    first_words: FxHashMap<u32, FxHashSet<&'s str>>,
    /// For how many labels a word is printed then.
    n_labels: FxHashMap<&'s str, usize>,
}

impl<'s> Things<'s> {
    fn new(facts: &Facts<'s>, labels: &[Option<u32>]) -> Self {
        let mut lines: FxHashMap<&str, Vec<Line>> = FxHashMap::default();
        let mut began: FxHashMap<u32, i64> = FxHashMap::default();
        let labelled = || facts.iter().filter_map(|(index, fact)| Some((labels[index as usize]?, fact)));
        for (label, fact) in labelled() {
            let first = began.entry(label).or_insert(fact.start_us);
            *first = fact.start_us.min(*first);
            for event in fact.events {
                names(event).for_each(|name| lines.entry(name).or_default().push((event.ts_us, label)));
            }
        }
        lines.values_mut().for_each(|lines| lines.sort_unstable());
        let mut births: Vec<Line> = began.iter().map(|(&label, &ts_us)| (ts_us, label)).collect();
        births.sort_unstable();
        let mut first_words: FxHashMap<u32, FxHashSet<&str>> = FxHashMap::default();
        for (label, fact) in labelled() {
            let first =
                fact.events.iter().filter(|event| event.ts_us <= began[&label].saturating_add(FIRST_US));
            first_words.entry(label).or_default().extend(first.flat_map(words));
        }
        let mut n_labels: FxHashMap<&str, usize> = FxHashMap::default();
        first_words.values().flatten().for_each(|word| *n_labels.entry(word).or_default() += 1);
        Self { lines, births, began, first_words, n_labels }
    }

    /// The spans that work on what somebody has, of those that begin with what nearly always
    /// does.
    fn held(&self, facts: &Facts<'s>, labels: &[Option<u32>]) -> Vec<(u32, u32)> {
        let mut of_points: BTreeMap<LogPointId, Vec<(u32, Option<u32>)>> = BTreeMap::new();
        for (index, fact) in facts.iter().filter(|&(index, _)| labels[index as usize].is_none()) {
            if let Some((point, owner)) = fact.first_point.zip(self.owner(fact)) {
                of_points.entry(point).or_default().push((index, owner));
            }
        }
        of_points.retain(|_, spans| {
            let n_stray = spans.iter().filter(|(_, owner)| owner.is_none()).count();
            spans.len() >= SPANS_MIN && n_stray * STRAY_SHARE <= spans.len()
        });
        of_points.into_values().flatten().filter_map(|(span, owner)| Some((span, owner?))).collect()
    }

    /// The spans that ask for something, of those that begin with what nearly always asks
    /// for something of its own, and mostly gets it at once.
    fn asked(&self, pairs: &Pairs<'_>, facts: &Facts<'s>, labels: &[Option<u32>]) -> Vec<(u32, u32)> {
        let mut of_points: BTreeMap<_, Vec<(u32, Option<Born>)>> = BTreeMap::new();
        for (index, fact) in facts.iter().filter(|&(index, _)| labels[index as usize].is_none()) {
            let Some((&top, point)) = fact.tops.first().zip(fact.first_point) else { continue };
            if pairs.kind(top) == TopLevelKind::RpcHandler {
                of_points.entry((top, point)).or_default().push((index, self.born(fact)));
            }
        }
        let askers = self.askers(pairs, facts, labels, of_points.values().flatten());
        for (span, born) in of_points.values_mut().flatten() {
            let end_us = facts.get(*span).end_us;
            *born = born.filter(|born| {
                let mut askers = askers.get(&born.label).into_iter().flatten();
                !askers.any(|&(us, n_common)| us > end_us && n_common >= born.n_common)
            });
        }
        of_points.retain(|_, spans| {
            let found = || spans.iter().filter_map(|&(_, born)| born);
            let n_own = found().map(|born| born.label).collect::<FxHashSet<_>>().len();
            let n_soon = found().filter(|born| born.late_us <= FIRST_US).count();
            spans.len() >= ASKING_MIN
                && (spans.len() - n_own) * STRAY_SHARE <= spans.len()
                && n_soon * 2 >= spans.len()
        });
        of_points.into_values().flatten().filter_map(|(span, born)| Some((span, born?.label))).collect()
    }

    /// Who can have asked for it, per label: when he began, and how many words he has in common
    /// with it. Something is asked for once: who was done before somebody came who names as
    /// much of it has asked for something else.
    fn askers<'a>(
        &self,
        pairs: &Pairs<'_>,
        facts: &Facts<'s>,
        labels: &[Option<u32>],
        unlabelled: impl Iterator<Item = &'a (u32, Option<Born>)>,
    ) -> FxHashMap<u32, Vec<(i64, usize)>> {
        let mut askers: FxHashMap<u32, Vec<(i64, usize)>> = FxHashMap::default();
        for &(span, born) in unlabelled {
            if let Some(born) = born {
                askers.entry(born.label).or_default().push((facts.get(span).start_us, born.n_common));
            }
        }
        // Who asked is known, and begins it.
        for (index, fact) in facts.iter() {
            let serves = fact.tops.first().is_some_and(|&top| pairs.kind(top) == TopLevelKind::RpcHandler);
            let begins = |label: &u32| serves && self.began[label] == fact.start_us;
            if let Some(label) = labels[index as usize].filter(begins) {
                askers.entry(label).or_default().push((fact.start_us, usize::MAX));
            }
        }
        askers
    }

    /// Who had what a span names, before and after it; none if it names nothing that
    /// anybody has.
    fn owner(&self, fact: &Fact<'s>) -> Option<Owner> {
        let mut found: Option<Owner> = None;
        for lines in fact.events.iter().flat_map(names).filter_map(|name| self.lines.get(name)) {
            let before = lines[..lines.partition_point(|&(ts_us, _)| ts_us <= fact.start_us)].last();
            let after = lines.get(lines.partition_point(|&(ts_us, _)| ts_us < fact.end_us));
            let owner = after.map(|&(_, label)| label).filter(|label| match before {
                Some((_, before)) => before == label,
                None => self.began[label] <= fact.start_us,
            });
            found = Some(found.map_or(owner, |known| known.filter(|_| known == owner)));
        }
        found
    }

    /// Who began first since a span did with what it names.
    fn born(&self, fact: &Fact<'s>) -> Option<Born> {
        let is_telling = |word: &&str| {
            self.n_labels.get(word).is_some_and(|n| n * COMMON_LABELS_SHARE <= self.births.len())
        };
        let named: FxHashSet<&str> = fact.events.iter().flat_map(words).filter(is_telling).collect();
        let first = self.births.partition_point(|&(ts_us, _)| ts_us < fact.start_us);
        let last_us = fact.end_us.saturating_add(TURN_US);
        let born = self.births[first..].iter().take_while(|&&(ts_us, _)| ts_us <= last_us);
        let mut born = born.map(|&(ts_us, label)| {
            let n_common = self.first_words[&label].intersection(&named).count();
            Born { late_us: ts_us.saturating_sub(fact.end_us), label, n_common }
        });
        born.find(|born| born.n_common > 0)
    }
}

/// Work that began after somebody who can have asked for it.
#[derive(Clone, Copy)]
struct Born {
    /// How long after he was done, µs.
    late_us: i64,
    label: u32,
    /// Words that he has in common with its first lines.
    n_common: usize,
}

/// The label of whoever has something; none if it is nobody, or several.
type Owner = Option<u32>;

/// The words of what an event prints, but for numbers and the shortest ones.
fn words(event: &Event) -> impl Iterator<Item = &str> {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    let words = event.values.iter().flat_map(move |(_, text)| text.split(move |c| !is_part(c)));
    words.filter(|word| word.len() >= WORD_MIN && word.contains(char::is_alphabetic))
}

/// The names in the texts of an event that nobody has by chance.
fn names(event: &Event) -> impl Iterator<Item = &str> {
    let runs = event.values.iter().flat_map(|(_, text)| text.split(|c: char| !c.is_ascii_alphanumeric()));
    runs.filter(|run| is_digest(run))
}

#[cfg(test)]
mod tests {
    use schema::{Model, Name, Values, sketch};

    use super::*;
    use crate::skeleton::{Span, Stored};

    const WORK: &str = "
        point step n=Step.n
        point flip name=Step.name
        point begun n=Step.n
        point back n=Step.n
        point ask name=Client.name
        point ask2 name=Client.name
        point told name=Server.name
        point other name=Server.name
        top run Task n=Step.n
          >begun back
          back<
        top work Entity this.n=Step.n
          >step flip
          flip<
        top serve Task
          >told other
          other<
        top client RpcHandler
          >ask<
        top client2 RpcHandler
          >ask2<
        pair run work Call
    ";

    /// What is printed: a span a line, `THREAD TOP POINT@TIME#TEXT...`, times in s.
    fn spans(model: &Model, text: &str) -> Vec<Span> {
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        lines.map(|line| span(model, line)).collect()
    }

    fn span(model: &Model, line: &str) -> Span {
        let mut words = line.split_whitespace();
        let [thread, top] = [words.next().expect("a thread"), words.next().expect("a method")];
        let event = |word: &str| {
            let (point, rest) = word.split_once('@').expect("a time");
            let (at, text) = rest.split_once('#').unwrap_or((rest, ""));
            let at: f64 = at.parse().expect("a time");
            let values: Values = Some((0, text)).filter(|_| !text.is_empty()).into_iter().collect();
            schema::Event {
                file: 0,
                line: (at * 1e3) as u64,
                n_lines: 1,
                byte_offset: 0,
                ts_us: (at * 1e6) as i64,
                late_us: 0,
                level: None,
                log_point: Some(sketch::point(model, point)),
                values,
                pass: schema::Pass::Opens,
                reason: Name::default(),
            }
        };
        let span = schema::Span {
            node: Name::from("n"),
            thread: Some(thread.into()),
            top_levels: vec![sketch::top(model, top)],
            identifiers: Vec::new(),
            events: words.map(event).collect(),
            truncated: false,
            trace: None,
            hosts: Vec::new(),
            n_alike: 1,
        };
        Span::new(span, Stored::default())
    }

    /// A digest.
    fn thing(n: u32) -> String {
        format!("{n:031x}f").replacen("00", "ab", 1)
    }

    /// Pieces of work, each 20 s after the one before.
    const N_STEPS: u32 = 40;

    /// The labels of `more`, beside pieces of work of 10 s, each about a thing.
    fn check(more: impl Fn(u32) -> String) -> Vec<Option<u32>> {
        let mut model = sketch::model(WORK);
        model.communication_pairs[0].before = vec![sketch::point(&model, "begun")];
        let (mut text, n) = (String::new(), N_STEPS);
        for i in 0..n {
            let (at, name) = (20 * i, thing(i));
            text += &format!("w work step@{at}#{i} flip@{at}.1#{name}\n");
            text += &format!("w work step@{}#{i} flip@{}.1#{name}\n", at + 9, at + 9);
        }
        (0..n).for_each(|i| text += &format!("{}\n", more(i)));
        let spans = spans(&model, &text);
        let pairs = Pairs::new(&model);
        let mut facts = Facts::new(&pairs, &spans);
        let numbers = spans.iter().map(|span| span.events[0].values.iter().next()?.1.parse().ok());
        facts.label(numbers.collect());
        labels(&pairs, &facts)[2 * n as usize..].to_vec()
    }

    fn own() -> Vec<Option<u32>> {
        (0..N_STEPS).map(Some).collect()
    }

    #[test]
    fn what_works_on_a_thing_while_somebody_has_it_is_of_that() {
        let told = |at: u32| move |i: u32| format!("s serve told@{}#{}", 20 * i + at, thing(i));
        assert_eq!(check(told(4)), own());
        assert!(check(told(14)).iter().all(Option::is_none), "nobody has it then");
        let mixed = |i: u32| told(if i.is_multiple_of(2) { 4 } else { 14 })(i);
        assert!(check(mixed).iter().all(Option::is_none), "others do so as well");
    }

    #[test]
    fn who_asks_names_what_begins_then() {
        let ask = |i: u32| format!("c client ask@{}.5#{}", (20 * i).saturating_sub(1), thing(i));
        assert_eq!(check(|i| ask(i).replace("@0.5", "@0"))[1..], own()[1..]);
    }

    #[test]
    fn who_was_done_before_somebody_asks_has_asked_for_nothing() {
        // Each thing is looked at, and half a second later somebody asks for the work on it.
        let both = |i: u32| {
            let (at, name) = (20 * i + 19, thing(i + 1));
            format!("c client ask@{at}#{name}\nd client2 ask2@{at}.5#{name}")
        };
        let labels = check(both);
        assert!(labels.iter().step_by(2).all(Option::is_none), "{labels:?}");
        let next: Vec<Option<u32>> = (1..N_STEPS).map(Some).collect();
        let askers: Vec<Option<u32>> = labels.into_iter().skip(1).step_by(2).take(next.len()).collect();
        assert_eq!(askers, next);
    }

    #[test]
    fn what_was_called_is_of_whom_the_caller_names_next() {
        let called = |back: &'static str| {
            move |i: u32| {
                let at = 20 * i + 12;
                format!("v work flip@{at}\nv run {back}@{at}.1#{i}")
            }
        };
        assert_eq!(check(called("back")), own().into_iter().flat_map(|label| [label; 2]).collect::<Vec<_>>());
        let labels = check(called("begun"));
        assert!(labels.iter().step_by(2).all(Option::is_none), "the caller only begins");
    }
}

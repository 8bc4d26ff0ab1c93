//! Values: which fields of a caller's lines go with which of a handler's, as the matches tell.
//!
//! Of two fields, one of each side, it is learnt how likely a handler prints a text if its caller
//! has printed another one, against how often handlers print it at all: the two are equal so often
//! (as they stand, but for case, blanks and signs, or in their digits) or have been seen together
//! so often (a Dirichlet process with equality as its base). How much is to be believed of what was
//! seen together is what tells each match best from all others (leave one out); fields that do not
//! go together tell nothing then. Fields of a handler that tell the same are weighed once.
//!
//! One of the fields of each side is no value: which line a handler ends with, and which one its caller
//! goes on with. Who was answered otherwise goes on otherwise, and what has failed makes others fail.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};
use schema::{IdentifierId, LogPointId, Model, TopLevelId};

use super::gaps::{Call, Gap, Gaps};
use super::{Handler, Shares};
use crate::merge::to_u32;
use crate::skeleton::Event;
use crate::stitch::facts::Facts;

/// Values that are looked at on each side of a gap, the nearest ones, and of a handler.
const FIELDS_MAX: usize = 16;

/// Fields of a handler that are looked at for one call, and of its caller for each.
const TOLD_MAX: usize = 6;
const FROM_MAX: usize = 3;

/// Fields go together if that is so many times likelier than chance, of as many as were tried.
pub(super) const ODDS_MIN: f64 = 9.0;

/// Matches that are less likely say nothing of values.
const LIKELY_MIN: f64 = 0.01;

/// Rounds in which the shares of equal texts settle.
const STEPS: usize = 8;

/// How much what was not seen together counts against what was; the last one: only equality counts.
const CONCENTRATIONS: [f64; 7] = [0.25, 1.0, 4.0, 16.0, 64.0, 256.0, f64::INFINITY];

/// A value by where it was printed.
pub(super) type Field = (LogPointId, u32);

/// The field that says which line it is, and no value of one: no log point has so many variables.
fn which() -> Field {
    (LogPointId::new(0), u32::MAX)
}

/// A value of a caller: where it was printed, and whether it is the first one behind a gap, or
/// the last one before it.
type Own = (Field, bool);

/// What values tell by now.
pub(super) struct Values<'f> {
    calls: &'f [Call],
    gaps: &'f Gaps,
    texts: Texts<'f>,
    /// What handlers print, by span, and callers, by the lines of a gap.
    theirs: FxHashMap<u32, Vec<(Field, u32)>>,
    ours: FxHashMap<u32, Vec<(Own, u32)>>,
    /// How often handlers print what.
    usual: FxHashMap<(TopLevelId, Field), Usual>,
    /// By call: fields of which the code says that they are the same.
    bound: FxHashSet<(u32, Own, Field)>,
    /// By call: fields of the handler that its caller tells, best first.
    told: Vec<Vec<Told>>,
    /// How much of a handler's field another one of its tells.
    explained: FxHashMap<(TopLevelId, Field, Field), f64>,
}

/// A field of a handler.
struct Told {
    field: Field,
    /// Fields of the caller that tell it, best first.
    from: Vec<(Own, Together)>,
    /// How much of it each of the fields before tells.
    explained: Vec<f64>,
}

impl<'f> Values<'f> {
    /// Before anything is known but what the code says.
    pub(super) fn new(
        (model, facts): (&Model, &'f Facts<'f>),
        (calls, gaps): (&'f [Call], &'f Gaps),
        handlers: &[Handler],
    ) -> Self {
        let mut new = Self {
            calls,
            gaps,
            texts: Texts::default(),
            theirs: FxHashMap::default(),
            ours: FxHashMap::default(),
            usual: FxHashMap::default(),
            bound: FxHashSet::default(),
            told: Vec::new(),
            explained: FxHashMap::default(),
        };
        for (span, matches) in handlers {
            let events = facts.get(*span).events;
            let mut fields = new.texts.fields(events.iter());
            fields.extend(events.last().map(|last| (which(), new.texts.line(last.log_point))));
            let mut tops: Vec<TopLevelId> =
                matches.iter().map(|one| calls[gaps.get(one.gap).call as usize].to).collect();
            tops.sort_unstable();
            tops.dedup();
            for (top, (field, text)) in tops.iter().flat_map(|top| fields.iter().map(move |of| (*top, *of))) {
                new.usual.entry((top, field)).or_default().add(&new.texts, text);
            }
            new.theirs.insert(*span, fields);
            for gap in matches.iter().map(|one| gaps.get(one.gap)) {
                if !new.ours.contains_key(&gap.lines) {
                    let events = facts.get(gap.span).events;
                    let ours = new.texts.around(events, gap);
                    new.ours.insert(gap.lines, ours);
                }
            }
        }
        new.bind(model, handlers);
        new
    }

    /// Finds what the code says, and believes it.
    fn bind(&mut self, model: &Model, handlers: &[Handler]) {
        let mut known: FxHashMap<(u32, Own, Field), bool> = FxHashMap::default();
        for (span, gap) in handlers.iter().flat_map(|(span, all)| all.iter().map(move |one| (span, one.gap)))
        {
            let gap = self.gaps.get(gap);
            for (own, _) in &self.ours[&gap.lines] {
                for (field, _) in &self.theirs[span] {
                    let is = || is_bound(model, &self.calls[gap.call as usize], own.0, *field);
                    known.entry((gap.call, *own, *field)).or_insert_with(is);
                }
            }
        }
        self.bound = known.into_iter().filter(|(_, is_bound)| *is_bound).map(|(key, _)| key).collect();
        let mut keys: Vec<_> = self.bound.iter().copied().collect();
        keys.sort_unstable();
        let together = keys.into_iter().map(|key| (key, Together::default())).collect();
        self.choose(together);
    }

    /// How much likelier a handler prints what it does if it was asked for from a gap, as a
    /// logarithm; `known` is how likely that is, which was learnt from.
    pub(super) fn odds(&self, gap: &Gap, span: u32, known: f64) -> f64 {
        let told = &self.told[gap.call as usize];
        if told.is_empty() {
            return 0.0;
        }
        let (ours, theirs) = (&self.ours[&gap.lines], &self.theirs[&span]);
        let top = self.calls[gap.call as usize].to;
        // Of each field, 0 of one that is not there.
        let mut said = [0.0; TOLD_MAX];
        let mut sum = 0.0;
        for (at, one) in told.iter().enumerate() {
            let Some(text) = of_field(theirs, &one.field) else { continue };
            let from = one.from.iter().find_map(|(own, known)| Some((of_field(ours, own)?, known)));
            let Some((own, together)) = from else { continue };
            let usual = &self.usual[&(top, one.field)];
            said[at] = together.odds(&self.texts, usual, (own, text), known);
            sum += beyond(said[at], &one.explained, &said[..at]);
        }
        sum
    }

    /// What a handler prints, by field.
    pub(super) fn printed(&self, span: u32) -> impl Iterator<Item = (Field, u32)> + '_ {
        self.theirs[&span].iter().copied().filter(|(field, _)| *field != which())
    }

    /// How likely two spans of a handler print the same text in a field by chance.
    pub(super) fn chance(&self, top: TopLevelId, field: Field) -> f64 {
        let usual = self.usual.get(&(top, field));
        usual.map_or(1.0, |usual| usual.by_way[0].values().map(|n| (n / usual.n).powi(2)).sum())
    }

    /// Learns from how likely all matches are.
    pub(super) fn learn(&mut self, handlers: &[Handler], known: &Shares) {
        let mut seen: BTreeMap<(u32, Own, Field), Seen> = BTreeMap::new();
        for ((span, matches), shares) in handlers.iter().zip(known) {
            let theirs = &self.theirs[span];
            for (one, &share) in matches.iter().zip(shares).filter(|(_, share)| **share >= LIKELY_MIN) {
                let gap = self.gaps.get(one.gap);
                for (own, a) in &self.ours[&gap.lines] {
                    for (field, b) in theirs {
                        seen.entry((gap.call, *own, *field)).or_default().add((*a, *b), share);
                    }
                }
            }
        }
        let mut n_tried: FxHashMap<u32, f64> = FxHashMap::default();
        seen.keys().for_each(|(call, ..)| *n_tried.entry(*call).or_default() += 1.0);
        let learn = |((call, own, field), seen): ((u32, Own, Field), Seen)| {
            let is_bound = self.bound.contains(&(call, own, field));
            let usual = &self.usual[&(self.calls[call as usize].to, field)];
            let together = Together::of(&self.texts, usual, seen, is_bound);
            let counts = is_bound || together.gain >= (n_tried[&call] * ODDS_MIN).ln();
            counts.then_some(((call, own, field), together))
        };
        let found = seen.into_iter().filter_map(learn).collect();
        self.choose(found);
    }

    /// Of the fields of each call those that tell most, best first.
    fn choose(&mut self, found: Vec<((u32, Own, Field), Together)>) {
        let mut fields: BTreeMap<(u32, Field), Vec<(Own, Together)>> = BTreeMap::new();
        for ((call, own, field), together) in found {
            fields.entry((call, field)).or_default().push((own, together));
        }
        let mut told: Vec<Vec<Told>> = self.calls.iter().map(|_| Vec::new()).collect();
        for ((call, field), mut from) in fields {
            from.sort_by(|a, b| b.1.gain.total_cmp(&a.1.gain).then(a.0.cmp(&b.0)));
            from.truncate(FROM_MAX);
            told[call as usize].push(Told { field, from, explained: Vec::new() });
        }
        for (call, told) in self.calls.iter().zip(&mut told) {
            told.sort_by(|a, b| b.from[0].1.gain.total_cmp(&a.from[0].1.gain).then(a.field.cmp(&b.field)));
            told.truncate(TOLD_MAX);
            for at in 1..told.len() {
                let (before, one) = told.split_at_mut(at);
                let field = one[0].field;
                for other in before {
                    let known = self.explained.get(&(call.to, other.field, field)).copied();
                    let share = known.unwrap_or_else(|| self.share_explained(call.to, other.field, field));
                    self.explained.insert((call.to, other.field, field), share);
                    one[0].explained.push(share);
                }
            }
        }
        self.told = told;
    }

    /// How much of what is to be said of a field of a handler another one of its fields says.
    fn share_explained(&self, top: TopLevelId, from: Field, field: Field) -> f64 {
        let usual = &self.usual[&(top, field)];
        let mut seen = Seen::default();
        for fields in self.theirs.values() {
            let both = of_field(fields, &from).zip(of_field(fields, &field));
            both.into_iter().for_each(|both| seen.add(both, 1.0));
        }
        let of = |((_, text), [n, _]): (&(u32, u32), &[f64; 2])| -n * usual.share(0, *text).ln();
        let whole: f64 = seen.cells.iter().map(of).sum();
        let gain = Together::of(&self.texts, usual, seen, false).gain;
        if whole > 0.0 { (gain / whole).clamp(0.0, 1.0) } else { 1.0 }
    }
}

/// What odds tell that fields before have not `said`, of each of which so much is `explained`; all as
/// logarithms.
fn beyond(odds: f64, explained: &[f64], said: &[f64]) -> f64 {
    // What both say: the lesser of two with the same sign.
    let in_both = |before: f64| if odds * before > 0.0 { odds.abs().min(before.abs()) } else { 0.0 };
    let again = explained.iter().zip(said).map(|(share, before)| share * in_both(*before));
    (odds.abs() - again.fold(0.0, f64::max)).copysign(odds)
}

fn of_field<F: PartialEq>(fields: &[(F, u32)], field: &F) -> Option<u32> {
    fields.iter().find(|(of, _)| of == field).map(|(_, text)| *text)
}

/// Ways in which two texts can be equal: as they stand, but for case, blanks and signs, and in
/// their digits.
const N_WAYS: usize = 3;

/// No text.
const NONE: u32 = u32::MAX;

/// Texts by number, each with the numbers of what is left of it by each way of being equal.
#[derive(Default)]
struct Texts<'f> {
    numbers: FxHashMap<&'f str, u32>,
    lines: FxHashMap<Option<LogPointId>, u32>,
    forms: FxHashMap<String, u32>,
    of: Vec<[u32; N_WAYS]>,
}

impl<'f> Texts<'f> {
    fn number(&mut self, text: &'f str) -> u32 {
        let next = to_u32(self.of.len());
        let number = *self.numbers.entry(text).or_insert(next);
        if number == next {
            let letters: String = text.chars().filter(|c| c.is_alphanumeric()).collect();
            let digits: String = letters.chars().filter(char::is_ascii_digit).collect();
            let forms =
                [self.form(letters.to_lowercase()), self.form(digits.trim_start_matches('0').to_owned())];
            self.of.push([number, forms[0], forms[1]]);
        }
        number
    }

    /// The same of a line: of a log point, or of a library, which reports a failure at the end.
    fn line(&mut self, point: Option<LogPointId>) -> u32 {
        let next = to_u32(self.of.len());
        let number = *self.lines.entry(point).or_insert(next);
        if number == next {
            self.of.push([number, NONE, NONE]);
        }
        number
    }

    fn form(&mut self, form: String) -> u32 {
        let next = to_u32(self.forms.len());
        if form.is_empty() { NONE } else { *self.forms.entry(form).or_insert(next) }
    }

    /// The first value of each field.
    fn fields(&mut self, events: impl Iterator<Item = &'f Event>) -> Vec<(Field, u32)> {
        let mut out: Vec<(Field, u32)> = Vec::new();
        for event in events {
            let Some(point) = event.log_point else { continue };
            for (variable, text) in event.values.iter().filter(|(_, text)| !text.is_empty()) {
                if out.len() == FIELDS_MAX {
                    return out;
                }
                if out.iter().all(|(known, _)| *known != (point, variable)) {
                    out.push(((point, variable), self.number(text)));
                }
            }
        }
        out
    }

    /// What a caller prints next to a gap.
    fn around(&mut self, events: &'f [Event], gap: &Gap) -> Vec<(Own, u32)> {
        let [before, behind] = [gap.before, gap.behind].map(|at| at as usize);
        let before = self.fields(events[..before].iter().rev()).into_iter();
        let line = events.get(behind).map(|event| ((which(), true), self.line(event.log_point)));
        let behind = self.fields(events[behind..].iter()).into_iter();
        let before = before.map(|(field, text)| ((field, false), text));
        before.chain(behind.map(|(field, text)| ((field, true), text))).chain(line).collect()
    }
}

/// How often texts are printed in a field, by what is left of them.
#[derive(Default)]
struct Usual {
    n: f64,
    by_way: [FxHashMap<u32, f64>; N_WAYS],
}

impl Usual {
    fn add(&mut self, texts: &Texts<'_>, text: u32) {
        self.n += 1.0;
        for (counts, form) in self.by_way.iter_mut().zip(texts.of[text as usize]) {
            *counts.entry(form).or_default() += 1.0;
        }
    }

    fn share(&self, way: usize, form: u32) -> f64 {
        self.by_way[way].get(&form).copied().unwrap_or(1.0) / self.n
    }
}

/// Texts of two fields that were seen together: the sum of what each time counts, and of its square.
#[derive(Default)]
struct Seen {
    cells: FxHashMap<(u32, u32), [f64; 2]>,
}

impl Seen {
    fn add(&mut self, texts: (u32, u32), weight: f64) {
        let [n, squares] = self.cells.entry(texts).or_default();
        (*n, *squares) = (*n + weight, *squares + weight * weight);
    }
}

/// How two fields go together.
struct Together {
    seen: Seen,
    /// How often each text of the first field was seen.
    n_first: FxHashMap<u32, f64>,
    /// How often the texts are equal, by way.
    equal: [f64; N_WAYS],
    concentration: f64,
    /// How much likelier all that was seen is by this, as a logarithm.
    gain: f64,
}

impl Default for Together {
    /// What the code says, before anything was seen.
    fn default() -> Self {
        let equal = [1.0 / (N_WAYS as f64 + 1.0); N_WAYS];
        let (seen, n_first) = (Seen::default(), FxHashMap::default());
        Self { seen, n_first, equal, concentration: f64::INFINITY, gain: 0.0 }
    }
}

impl Together {
    /// What was `seen` tells.
    fn of(texts: &Texts<'_>, usual: &Usual, seen: Seen, is_bound: bool) -> Self {
        let mut new = Self { seen, ..Self::default() };
        let mut cells: Vec<((u32, u32), [f64; 2])> =
            new.seen.cells.iter().map(|(&both, &n)| (both, n)).collect();
        cells.sort_unstable_by_key(|(both, _)| *both);
        cells.iter().for_each(|((first, _), [n, _])| *new.n_first.entry(*first).or_default() += n);
        for _ in 0..STEPS {
            // One that is not equal, besides what was seen; if the code says so, one of each way.
            let mut sums = [if is_bound { 1.0 } else { 0.0 }; N_WAYS];
            let mut all = 1.0 + sums.iter().sum::<f64>();
            for (both, [n, _]) in &cells {
                let ways = new.ways(texts, usual, *both);
                let whole = new.other() + ways.iter().sum::<f64>();
                sums.iter_mut().zip(ways).for_each(|(sum, way)| *sum += n * way / whole);
                all += n;
            }
            new.equal = sums.map(|sum| sum / all);
        }
        let gain = |concentration: f64| -> f64 {
            let of = |(both, [n, squares]): &((u32, u32), [f64; 2])| {
                n * new.ratio(texts, usual, *both, squares / n, concentration).ln()
            };
            cells.iter().map(of).sum()
        };
        let gains = CONCENTRATIONS.map(|concentration| (gain(concentration), concentration));
        let best = gains.into_iter().rev().max_by(|a, b| a.0.total_cmp(&b.0));
        (new.gain, new.concentration) = best.expect("there are some");
        new
    }

    /// How often texts are not equal in any way.
    fn other(&self) -> f64 {
        1.0 - self.equal.iter().sum::<f64>()
    }

    /// How much likelier the second text is with each way of being equal, by how often that is so.
    fn ways(&self, texts: &Texts<'_>, usual: &Usual, (first, second): (u32, u32)) -> [f64; N_WAYS] {
        let (first, second) = (texts.of[first as usize], texts.of[second as usize]);
        std::array::from_fn(|way| match first[way] == second[way] && first[way] != NONE {
            true => self.equal[way] / usual.share(way, second[way]),
            false => 0.0,
        })
    }

    /// How much likelier the second text is with the first one than it is at all, by all that was
    /// seen but for `own`.
    fn ratio(&self, texts: &Texts<'_>, usual: &Usual, both: (u32, u32), own: f64, concentration: f64) -> f64 {
        let base = self.other() + self.ways(texts, usual, both).iter().sum::<f64>();
        if concentration.is_infinite() {
            return base;
        }
        let n = self.seen.cells.get(&both).map_or(0.0, |[n, _]| (n - own).max(0.0));
        let n_first = self.n_first.get(&both.0).map_or(0.0, |n_first| (n_first - own).max(0.0));
        (n / usual.share(0, both.1) + concentration * base) / (n_first + concentration)
    }

    /// The same as a logarithm, for texts of a match that counted as much as `known`.
    fn odds(&self, texts: &Texts<'_>, usual: &Usual, both: (u32, u32), known: f64) -> f64 {
        self.ratio(texts, usual, both, known, self.concentration).ln()
    }
}

/// Whether the code that asks puts into the call what the caller prints in one field, and what
/// the handler prints in the other is what it takes out.
fn is_bound(model: &Model, call: &Call, (from, a): Field, (to, b): Field) -> bool {
    let pair = &model.communication_pairs[call.pair.index()];
    let class = |point: LogPointId, variable: u32| {
        model.log_points[point.index()].variables.get(variable as usize)?.value_class
    };
    let of = |top: TopLevelId, id: IdentifierId| {
        let identifier = model.top_level_methods[top.index()].identifiers.get(id.index());
        identifier.map(|identifier| identifier.value_class)
    };
    let is_same = |(i, j): &(IdentifierId, IdentifierId)| {
        let (ours, theirs) = (of(pair.from, *i), of(pair.to, *j));
        ours.is_some() && ours == class(from, a) && theirs.is_some() && theirs == class(to, b)
    };
    pair.to == call.to && pair.identifiers.iter().any(is_same)
}

#[cfg(test)]
mod tests {
    use super::beyond;

    #[test]
    fn what_a_field_before_has_said_is_not_said_again() {
        let all = |odds, explained: &[f64], said: &[f64]| beyond(odds, explained, said).to_string();
        assert_eq!(all(2.0, &[], &[]), "2");
        // The same again; half of it; of two that say it the one that says more.
        assert_eq!(all(2.0, &[1.0], &[2.0]), "0");
        assert_eq!(all(-2.0, &[0.5], &[-2.0]), "-1");
        assert_eq!(all(3.0, &[0.5, 1.0], &[3.0, 1.0]), "1.5");
        // More than was said.
        assert_eq!(all(3.0, &[1.0], &[1.0]), "2");
        // One before that tells the field, but nothing here, or the contrary, has not said it.
        assert_eq!(all(2.0, &[1.0], &[0.0]), "2");
        assert_eq!(all(2.0, &[1.0], &[-1.0]), "2");
    }
}

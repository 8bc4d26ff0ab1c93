//! Rests: what begins in the middle of whatever it can be is the rest of what was begun.
//!
//! Lines that many can print (a block is stored, a file is written) begin spans of their
//! own where something else could be printed as well, and what only one can print goes on
//! after the last of them, without its start. But its start is there: the span that its
//! thread had begun before, which prints what stands between, one after the other, and then
//! the rest. Where no threads are printed it is the only span that can have come to the
//! rest, if lines between fill what lacks there, and if there is only one way to do so.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use schema::kinds::{contains_apart, is_dated, is_made, is_unique};
use schema::{
    Event, IdentifierId, IdentifierStrength, Kinds, LogPointId, Pass, Place, TopLevelId, TopLevelKind, Value,
};

use super::began::Began;
use super::canonical::fixed;
use super::orders::{Orders, Position, next_of, step, walk};
use super::pools::Closed;

/// Spans that are looked at before a rest.
const LOOK_BACK_MAX: usize = 16;

/// The same where no threads are printed: others print there as well.
const LOOK_BACK_ALL_MAX: usize = 64;

/// Joins rests with what was begun. `done`: the spans of one log source with the numbers of
/// their first records, sorted by those; a rest comes at most `window_us` after the last
/// line of what it is the rest of.
pub(super) fn join(
    orders: &Orders<'_>,
    (kinds, began): (&Kinds, &Began),
    done: &mut Vec<(u64, Closed)>,
    window_us: i64,
) {
    let mut of_thread: FxHashMap<Option<Arc<str>>, Vec<usize>> = FxHashMap::default();
    let mut gone = FxHashSet::default();
    // Only where no thread is printed, anything is put between.
    let has_threads = done.iter().all(|(_, closed)| closed.span.thread.is_some());
    let shown = if has_threads { Shown::default() } else { Shown::of(done) };
    let mut rests = Rests { orders, kinds, began, done, shown, window_us };
    for span in 0..rests.done.len() {
        let before = of_thread.entry(rests.done[span].1.span.thread.clone()).or_default();
        match rests.find(before, span) {
            Some(whole) => {
                // No further back than is looked.
                let mut last = before.split_off(before.len().saturating_sub(LOOK_BACK_ALL_MAX));
                last.retain(|other| !whole.between.contains(other));
                before.append(&mut last);
                rests.join(&whole, span);
                gone.extend(whole.between);
                gone.insert(span);
            }
            None => before.push(span),
        }
    }
    let mut span = 0..;
    done.retain(|_| span.next().is_some_and(|span| !gone.contains(&span)));
}

/// A span that a rest belongs to, the spans between that are parts of it too, and what it
/// is then.
struct Whole {
    host: usize,
    between: Vec<usize>,
    top: TopLevelId,
}

/// A way to a place in an order: the places, the spans on it, and whether there are several such
/// ways.
struct Way {
    positions: Vec<Position>,
    parts: Vec<usize>,
    is_unsure: bool,
}

/// Finds what rests belong to, all by their positions.
struct Rests<'a, 'm> {
    orders: &'a Orders<'m>,
    kinds: &'a Kinds,
    began: &'a Began,
    done: &'a mut Vec<(u64, Closed)>,
    shown: Shown,
    window_us: i64,
}

/// What the spans that need no rest show of how methods go on.
#[derive(Default)]
struct Shown {
    /// What a method prints.
    prints: FxHashSet<(TopLevelId, LogPointId)>,
    /// What it prints directly after something else.
    next: FxHashSet<(TopLevelId, LogPointId, LogPointId)>,
}

impl Shown {
    fn of(done: &[(u64, Closed)]) -> Self {
        let mut shown = Self::default();
        for (_, closed) in done {
            for top in closed.best_tops() {
                let points = closed.span.events.iter().filter_map(|event| event.log_point);
                shown.prints.extend(points.clone().map(|point| (top, point)));
                shown.next.extend(points.clone().zip(points.skip(1)).map(|(last, next)| (top, last, next)));
            }
        }
        shown
    }

    /// Whether `top` goes on directly after `last` with `next`, and never prints what stands
    /// between with `points`.
    fn goes_without(
        &self,
        top: TopLevelId,
        (last, next): (LogPointId, LogPointId),
        points: &[LogPointId],
    ) -> bool {
        self.next.contains(&(top, last, next))
            && points.iter().any(|&point| !self.prints.contains(&(top, point)))
    }
}

impl Rests<'_, '_> {
    /// What a span is the rest of, if it is one, of those that its thread printed `before`.
    fn find(&mut self, before: &[usize], span: usize) -> Option<Whole> {
        let first = self.done[span].1.span.events.first()?.log_point?;
        let tops = &self.done[span].1.span.top_levels;
        let begins = self.orders.floats(first) || tops.iter().any(|&top| self.orders.can_begin(top, first));
        match (&self.done[span].1.span.thread, begins) {
            (Some(_), true) => self.going_on(before, span),
            (Some(_), false) => self.of_its_thread(before, span, first),
            (None, true) => None,
            (None, false) => self.the_only_one(before, span, first),
        }
    }

    /// What its thread was at directly before, if that cannot begin with what the span
    /// prints, but prints all of it next, and both name one thing that nobody names by
    /// chance. What the span could begin besides is the longer reading.
    fn going_on(&mut self, before: &[usize], rest: usize) -> Option<Whole> {
        let &host = before.last()?;
        if !self.is_before(host, rest) || self.ends_long_before(host, rest) || !self.name_the_same(host, rest)
        {
            return None;
        }
        let points = self.done[rest].1.points();
        let &telling = points.iter().find(|&&point| !self.orders.floats(point))?;
        for top in self.begun(host) {
            let mut positions = walk(self.orders, top, &self.done[host].1.span.events);
            for &point in &points {
                positions = next_of(self.orders, top, &positions, point);
            }
            if !positions.is_empty() && !self.orders.can_begin(top, telling) {
                return Some(Whole { host, between: Vec::new(), top });
            }
        }
        None
    }

    fn join(&mut self, Whole { host, between, top }: &Whole, rest: usize) {
        let parts: Vec<Closed> =
            between.iter().chain([&rest]).map(|&part| self.done[part].1.clone()).collect();
        let reason = match self.done[rest].1.span.thread {
            Some(_) => "thread, the rest",
            None => "order, the rest",
        };
        let mut whole = self.done[*host].1.clone().with(parts.into_iter(), (Pass::Rests, reason));
        whole.keep(|other| other == *top);
        whole.span.truncated = self.done[rest].1.span.truncated;
        self.done[*host].1 = whole;
    }

    /// What its thread had begun: all that it printed since is a part of that.
    fn of_its_thread(&mut self, before: &[usize], rest: usize, first: LogPointId) -> Option<Whole> {
        let mut next = rest;
        for (n_between, &host) in before.iter().rev().take(LOOK_BACK_MAX).enumerate() {
            if !self.is_before(host, next) || self.ends_long_before(host, next) {
                return None;
            }
            let between = &before[before.len() - n_between..];
            for top in self.common(host, rest) {
                let mut positions = walk(self.orders, top, &self.done[host].1.span.events);
                for point in between.iter().flat_map(|&part| self.done[part].1.points()) {
                    positions = next_of(self.orders, top, &positions, point);
                }
                if !next_of(self.orders, top, &positions, first).is_empty() {
                    return Some(Whole { host, between: between.to_vec(), top });
                }
            }
            next = host;
        }
        None
    }

    /// The only span that can have come to the rest, if lines between fill what it has to
    /// print until then in one way, and if what it is was not begun anew since.
    fn the_only_one(&mut self, before: &[usize], rest: usize, first: LogPointId) -> Option<Whole> {
        let mut found = None;
        for (n_between, &host) in before.iter().rev().take(LOOK_BACK_ALL_MAX).enumerate() {
            let tops = self.common(host, rest);
            if tops.is_empty() || self.ends_long_before(host, rest) {
                continue;
            }
            // Who goes on after the rest can have printed it as well.
            if !self.is_before(host, rest) {
                return None;
            }
            let can_come = tops.iter().find_map(|&top| {
                let positions = walk(self.orders, top, &self.done[host].1.span.events);
                let can_come = !step(self.orders, top, &positions, first, |_| true).is_empty();
                can_come.then_some((top, positions))
            });
            match can_come {
                Some(_) if found.is_some() => return None,
                Some((top, positions)) => {
                    let between = &before[before.len() - n_between..];
                    let between = self.fillers(top, positions, (host, between, rest), first);
                    found = Some(between.map(|between| Whole { host, between, top }));
                }
                None if found.is_none() && self.done[host].1.best_tops().all(|top| tops.contains(&top)) => {
                    return None;
                }
                None => {}
            }
        }
        found?
    }

    /// The spans of `between` that `top` prints one after the other from `positions` on until it
    /// comes to the rest: as many as can be.
    fn fillers(
        &mut self,
        top: TopLevelId,
        positions: Vec<Position>,
        (host, between, rest): (usize, &[usize], usize),
        first: LogPointId,
    ) -> Option<Vec<usize>> {
        let mut ways = vec![Way { positions, parts: Vec::new(), is_unsure: false }];
        let last = self.done[host].1.span.events.iter().rev().find_map(|event| event.log_point);
        let goes_without = |part: usize| {
            last.is_some_and(|last| self.shown.goes_without(top, (last, first), &self.done[part].1.points()))
        };
        let is_part = |part: &usize| self.is_part(top, host, *part, rest) && !goes_without(*part);
        let between: Vec<usize> = between.iter().copied().filter(is_part).collect();
        for part in between {
            let points = self.done[part].1.points();
            let mut longer: Vec<Way> = Vec::new();
            for way in &ways {
                let is_after = way.parts.last().is_none_or(|&last| self.is_before(last, part));
                let mut positions = way.positions.clone();
                for &point in &points {
                    positions = next_of(self.orders, top, &positions, point);
                }
                if is_after && !positions.is_empty() {
                    let parts = way.parts.iter().copied().chain([part]).collect();
                    longer.push(Way { positions, parts, is_unsure: way.is_unsure });
                }
            }
            for way in longer {
                match ways.iter_mut().find(|known| known.positions == way.positions) {
                    Some(known) if known.parts.len() == way.parts.len() => known.is_unsure = true,
                    Some(known) if known.parts.len() < way.parts.len() => *known = way,
                    Some(_) => {}
                    None => ways.push(way),
                }
            }
        }
        ways.retain(|way| !next_of(self.orders, top, &way.positions, first).is_empty());
        let most = ways.iter().map(|way| way.parts.len()).max()?;
        ways.retain(|way| way.parts.len() == most);
        let [Way { parts, is_unsure: false, .. }] = &ways[..] else { return None };
        Some(parts.clone())
    }

    /// Whether a span stands between two others, can be of the same `top`, and is about
    /// nothing else.
    fn is_part(&self, top: TopLevelId, host: usize, part: usize, rest: usize) -> bool {
        self.done[part].1.span.top_levels.contains(&top)
            && self.is_before(host, part)
            && self.is_before(part, rest)
            && !self.is_of_another(top, part, rest)
            && !self.is_of_another(top, host, part)
    }

    /// What both can be, which began with the first line of `host`, and is about the same.
    /// The rounds of a dispatcher are not begun and ended, but follow each other, and so do
    /// the events of an entity.
    fn common(&mut self, host: usize, rest: usize) -> Vec<TopLevelId> {
        if self.began.is_later(&self.done[host].1, &self.done[rest].1) {
            return Vec::new();
        }
        let mut tops = self.begun(host);
        tops.retain(|top| {
            self.done[rest].1.span.top_levels.contains(top) && !self.is_of_another(*top, host, rest)
        });
        tops
    }

    /// What began with the first line of `host`, and is begun and ended.
    fn begun(&mut self, host: usize) -> Vec<TopLevelId> {
        let Some(first) = self.done[host].1.span.events.first().and_then(|event| event.log_point) else {
            return Vec::new();
        };
        let mut tops: Vec<TopLevelId> = self.done[host].1.best_tops().collect();
        tops.retain(|&top| {
            !matches!(self.orders.kind(top), TopLevelKind::Dispatcher | TopLevelKind::Entity)
                && self.orders.can_begin(top, first)
        });
        tops
    }

    /// Whether two spans name one thing that nobody names by chance: by its digest, or with
    /// the time it was made at, be it within a longer name.
    fn name_the_same(&self, a: usize, b: usize) -> bool {
        let (a, b) = (&self.done[a].1.span.identifiers, &self.done[b].1.span.identifiers);
        let holds = |values: &[Value], name: &str| {
            values.iter().any(|value| *value.text == *name || contains_apart(&value.text, name))
        };
        let names = |values: &[Value], others: &[Value]| {
            let is_own = |text: &str| is_unique(text) || is_dated(text);
            values.iter().any(|value| is_own(&value.text) && holds(others, &value.text))
        };
        names(a, b) || names(b, a)
    }

    /// Whether `a` had printed its last line before the first one of `b`.
    fn is_before(&self, a: usize, b: usize) -> bool {
        let at = |event: &Event| -> (i64, Place) { (event.ts_us, event.place()) };
        let (a, b) = (&self.done[a].1.span.events, &self.done[b].1.span.events);
        a.last().map(at) < b.first().map(at)
    }

    /// Whether `a` had fallen silent before `b` began.
    fn ends_long_before(&self, a: usize, b: usize) -> bool {
        let (a, b) = (&self.done[a].1.span.events, &self.done[b].1.span.events);
        let gap_us = a.last().zip(b.first()).map(|(last, first)| first.ts_us.saturating_sub(last.ts_us));
        gap_us.is_some_and(|gap_us| gap_us > self.window_us)
    }

    fn is_of_another(&self, top: TopLevelId, a: usize, b: usize) -> bool {
        are_apart(self.orders, self.kinds, top, (&self.done[a].1, &self.done[b].1))
    }
}

/// Whether two spans are not about the same: they show what was made while the program ran, of one
/// kind, and nothing of that is the same. Where no threads are printed, it is enough that `top`
/// calls them differently; a thread may meet several such things.
pub(super) fn are_apart(
    orders: &Orders<'_>,
    kinds: &Kinds,
    top: TopLevelId,
    (a, b): (&Closed, &Closed),
) -> bool {
    a.span.thread.is_none() && contradict(&names(orders, top, a), &names(orders, top, b))
        || are_about_others(kinds, a, b)
}

/// Whether an identifier has one value in one span and another one in the other.
pub(super) fn contradict(ours: &[(IdentifierId, String)], theirs: &[(IdentifierId, String)]) -> bool {
    ours.iter().any(|(id, text)| theirs.iter().any(|(other, known)| id == other && text != known))
}

/// Whether two spans name things of one kind that were made while the program ran, and none of
/// those is the same.
pub(super) fn are_about_others(kinds: &Kinds, a: &Closed, b: &Closed) -> bool {
    let made = |value: &&Value| is_made(&value.text);
    let theirs = || b.span.identifiers.iter().filter(made);
    let kind = |value: &Value| kinds.of(value.value_class);
    let is_kind = |value: &Value| theirs().any(|other| kind(other) == kind(value));
    let is_same = |value: &Value| theirs().any(|other| other.text == value.text);
    let mut ours = a.span.identifiers.iter().filter(made);
    ours.clone().any(is_kind) && !ours.any(is_same)
}

/// What the identifiers of `top` are in a span, of which a request has one value each.
pub(super) fn names(orders: &Orders<'_>, top: TopLevelId, closed: &Closed) -> Vec<(IdentifierId, String)> {
    if orders.is_main(top) {
        return Vec::new();
    }
    let mut names: Vec<_> =
        closed.span.events.iter().flat_map(|event| names_in(orders, top, event)).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// The same of one record, if it says so wherever `top` prints it.
pub(super) fn names_in(orders: &Orders<'_>, top: TopLevelId, event: &Event) -> Vec<(IdentifierId, String)> {
    let Some(point) = event.log_point else { return Vec::new() };
    let places = orders.places(point);
    let Ok(index) = places.binary_search_by_key(&top, |places| places.top) else { return Vec::new() };
    let mut all = places[index].at.iter().map(|&place| &orders.dag_point(top, place).bindings);
    let Some(bindings) = all.next().filter(|first| all.all(|other| other == *first)) else {
        return Vec::new();
    };
    let variables = &orders.model().log_points[point.index()].variables;
    let name = |(variable, text): (u32, &str)| {
        let id = bindings.get(variable as usize).copied().flatten()?;
        let known = orders.identifiers(top).get(id.index())?;
        let is_one = !known.one_of_many && !known.is_made() && known.strength != IdentifierStrength::Node;
        let shape = variables.get(variable as usize).filter(|_| is_one)?.shape;
        Some((id, fixed(text, shape)?.into_owned()))
    };
    event.values.iter().filter_map(name).collect()
}

#[cfg(test)]
mod tests {
    use schema::{LogPointId, TopLevelId};

    use super::Shown;

    #[test]
    fn what_a_method_goes_on_without_is_not_put_between() {
        let [submitting, stored, submitted] = [0, 1, 2].map(LogPointId::new);
        let top = TopLevelId::new(0);
        let goes_without = |shown: &Shown| shown.goes_without(top, (submitting, submitted), &[stored]);
        let mut shown = Shown::default();
        assert!(!goes_without(&shown), "nothing is known of how it goes on");
        shown.next.insert((top, submitting, submitted));
        assert!(goes_without(&shown), "it goes on at once");
        shown.prints.insert((top, stored));
        assert!(!goes_without(&shown), "it does both");
    }
}

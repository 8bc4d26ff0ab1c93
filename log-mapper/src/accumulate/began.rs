//! Began: whose line it is that says how long its work took, where no thread is printed and it
//! names nothing that tells.
//!
//! Such a line says when its work began, and somebody has printed something then: the line
//! before, just before the clock was read. Of those who wait for it, it is the one who did, be
//! it long ago, and nobody who printed nothing at that time. Whether a number of seconds or
//! milliseconds is such a time is learnt from the log: nearly always one of those who wait has
//! printed something when the work began, and limits and pauses have no such moment.

use rustc_hash::FxHashMap;
use schema::{Event, LogPointId, Model, Pass, TopLevelKind};

use super::Scan;
use super::evidence::{FLOAT_US, NEARER_MIN, TICK_US};
use super::open_spans::SpanIndex;
use super::orders::Follows;
use super::pools::Closed;
use super::takers::Taker;
use crate::record::Record;

/// Digits behind the point of which a microsecond has as many.
const DIGITS_MAX: usize = 6;

/// How a log point says how long something took.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Took {
    variable: u32,
    /// What its number counts, µs.
    unit_us: i64,
}

impl Took {
    /// When the work began of which an event says how long it took, µs.
    fn began_us(self, event: &Event) -> Option<i64> {
        let (_, text) = event.values.iter().find(|&(other, _)| other == self.variable)?;
        event.ts_us.checked_sub(self.us(text)?)
    }

    /// A number of its unit, µs.
    fn us(self, text: &str) -> Option<i64> {
        let (whole, rest) = text.split_once('.').unwrap_or((text, ""));
        let whole = whole.parse::<i64>().ok().filter(|&whole| whole >= 0)?.checked_mul(self.unit_us)?;
        let digits = rest.get(..rest.len().min(DIGITS_MAX))?;
        let (mut us, mut unit_us) = (whole, self.unit_us);
        for digit in digits.chars() {
            unit_us /= 10;
            us = us.checked_add(i64::from(digit.to_digit(10)?) * unit_us)?;
        }
        Some(us)
    }
}

/// Lines from which to learn whether a number is a time that something took, and at most one in
/// how many of them has nothing that was printed at that time.
const LINES_MIN: usize = 4;
const WRONG_SHARE: usize = 4;

/// Whether a number is a time that something took, if of `n` lines that say it `n_right` have
/// something that was printed when that began.
fn is_time(n_right: usize, n: usize) -> bool {
    n >= LINES_MIN && (n - n_right) * WRONG_SHARE <= n
}

/// Which log points say how long something took, as far as those that wait for them show.
#[derive(Clone, Debug, Default)]
pub(super) struct Began {
    /// By log point, once asked for.
    seen: FxHashMap<LogPointId, Option<Seen>>,
    /// Spans that have not printed the record at hand, since they began too late or ended too early.
    pub(super) late: Vec<SpanIndex>,
}

/// What the lines of a log point have shown for which somebody waited.
#[derive(Clone, Copy, Debug)]
struct Seen {
    took: Took,
    n: usize,
    /// Those before the work of which, and at the beginning of it, somebody who waits had
    /// printed something.
    n_before: usize,
    n_then: usize,
}

impl Seen {
    fn new(took: Took) -> Self {
        Self { took, n: 0, n_before: 0, n_then: 0 }
    }
}

impl Began {
    /// Whether `rest` says that its work began before `span` has printed anything: that is not
    /// the rest of this.
    pub(super) fn is_later(&self, span: &Closed, rest: &Closed) -> bool {
        let began_us = rest.span.events.iter().find_map(|event| {
            let seen = self.seen.get(&event.log_point?)?.as_ref()?;
            seen.took.began_us(event).filter(|_| is_time(seen.n_before, seen.n))
        });
        let first_us = span.span.events.first().map(|event| event.ts_us);
        let is_later = |(began_us, first_us): (i64, i64)| first_us > began_us.saturating_add(TICK_US);
        rest.span.thread.is_none() && began_us.zip(first_us).is_some_and(is_later)
    }
}

impl Scan<'_> {
    /// Leaves of the `takers` for which nothing but order speaks only those who have printed
    /// something when the work of the record began, if it says when, and puts the others `aside`;
    /// where there is one, that.
    pub(super) fn by_beginning(
        &mut self,
        record: &Record<'_>,
        takers: &mut Vec<Taker>,
        aside: &mut Vec<Taker>,
    ) -> Option<usize> {
        self.began.late.clear();
        // A coarse clock does not tell when that was.
        if self.leaves_out(Pass::ByBeginning) || record.tick_us.unsigned_abs() > FLOAT_US {
            return None;
        }
        let waits = |taker: &Taker| self.may_end(record, taker);
        let first = takers.iter().find(|taker| waits(taker))?.candidate;
        let candidate = record.candidates.get(first)?;
        let point = candidate.log_point;
        let model = self.model;
        let told = self.began.seen.entry(point).or_insert_with(|| Some(Seen::new(took(model, point)?)));
        let &mut Some(seen) = told else { return None };
        let (_, text) = candidate.values.iter().find(|&&(variable, _)| variable == seen.took.variable)?;
        let began_us = record.ts_us.checked_sub(seen.took.us(text)?)?;
        let last_us = began_us.saturating_add(TICK_US);
        // How long before that, or how far from it, a span has printed something.
        let away_us = |span: SpanIndex, is_before: bool| -> u64 {
            let times = self.open.get(span).events.iter().map(|event| event.ts_us);
            let times = times.filter(|&ts_us| !is_before || ts_us <= last_us);
            times.map(|ts_us| ts_us.abs_diff(began_us)).min().unwrap_or(u64::MAX)
        };
        let is_before = is_time(seen.n_before, seen.n);
        let waits = |taker: &Taker| taker.candidate == first && self.may_end(record, taker);
        let mut waiting: Vec<SpanIndex> =
            takers.iter().filter(|taker| waits(taker)).map(|taker| taker.span).collect();
        waiting.sort_unstable();
        waiting.dedup();
        let least_us = |is_before| waiting.iter().map(|&span| away_us(span, is_before)).min();
        let (before_us, then_us) = (least_us(true)?, least_us(false)?);
        if let Some(Some(seen)) = self.began.seen.get_mut(&point) {
            seen.n += 1;
            seen.n_before += usize::from(before_us <= FLOAT_US);
            seen.n_then += usize::from(then_us <= FLOAT_US);
        }
        if !is_time(seen.n_then, seen.n) {
            return None;
        }
        let least_us = if is_before { before_us } else { then_us };
        // Who began later has not printed it; of the others nothing tells after a long pause.
        let near_us = match least_us <= FLOAT_US {
            true => least_us.max(TICK_US.unsigned_abs()) * NEARER_MIN,
            false if is_before => u64::MAX - 1,
            false => u64::MAX,
        };
        let (near, far): (Vec<SpanIndex>, Vec<SpanIndex>) =
            waiting.iter().partition(|&&span| away_us(span, is_before) <= near_us);
        aside.extend(takers.extract_if(.., |taker| taker.candidate == first && far.contains(&taker.span)));
        self.began.late.clone_from(&far);
        let [nearest] = near[..] else { return None };
        let is_it = |taker: &Taker| taker.candidate == first && taker.span == nearest;
        takers.iter().position(|taker| least_us <= FLOAT_US && is_it(taker))
    }

    /// Whether nothing but order speaks for a taker: the record is the next one that it prints,
    /// which it has not printed yet.
    fn may_end(&self, record: &Record<'_>, Taker { candidate, span, evidence, .. }: &Taker) -> bool {
        let point = record.candidates[*candidate].log_point;
        let open = self.open.get(*span);
        evidence.n_request == 0
            && evidence.follows == Follows::Next
            && evidence.entered
            && !evidence.differs
            && !open.has_printed(point)
            && !open.tops.iter().any(|state| self.orders.kind(state.top) == TopLevelKind::Dispatcher)
    }
}

/// What of a log point says how long something took: the only variable that is printed as a
/// number of seconds or milliseconds.
fn took(model: &Model, point: LogPointId) -> Option<Took> {
    let mut found = None;
    for template in &model.log_points.get(point.index())?.templates {
        for (group, after) in groups(&template.regex).into_iter().enumerate() {
            if let Some(unit_us) = unit_us(after) {
                let took = Took { variable: *template.captures.get(group)?, unit_us };
                if found.replace(took).is_some_and(|other| other != took) {
                    return None;
                }
            }
        }
    }
    found
}

/// The unit of a number, if what follows it begins with one of time, µs.
fn unit_us(text: &str) -> Option<i64> {
    // The number can be one of several alternatives.
    let text = if text.starts_with('|') { text.split_once(')').map_or("", |(_, after)| after) } else { text };
    let text = text.trim_start_matches(['\\', ' ']);
    match text.split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default() {
        "ms" | "msec" | "msecs" | "millis" | "milliseconds" => Some(1_000),
        "s" | "sec" | "secs" | "second" | "seconds" => Some(1_000_000),
        _ => None,
    }
}

/// What follows each capture group of a regex.
fn groups(regex: &str) -> Vec<&str> {
    let (mut open, mut ends, mut n_groups) = (Vec::new(), Vec::new(), 0);
    let (mut is_escaped, mut is_class) = (false, false);
    for (at, c) in regex.char_indices() {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '[' => is_class = true,
            ']' => is_class = false,
            '(' if !is_class => {
                let is_capture = !regex[at + 1..].starts_with('?');
                open.push(is_capture.then_some(n_groups));
                n_groups += usize::from(is_capture);
            }
            ')' if !is_class => {
                if let Some(Some(group)) = open.pop() {
                    ends.push((group, &regex[at + 1..]));
                }
            }
            _ => {}
        }
    }
    ends.sort_unstable_by_key(|&(group, _)| group);
    ends.into_iter().map(|(_, after)| after).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_follows_each_group_tells_its_unit() {
        let after = groups(r"took (-?[0-9]+)ms of (?:a|(b[)]) )?\((.*?)\) seconds");
        assert_eq!(after.len(), 3);
        let units: Vec<Option<i64>> = after.into_iter().map(unit_us).collect();
        assert_eq!(units, [Some(1_000), None, None]);
        assert_eq!(unit_us(" millis."), Some(1_000));
        assert_eq!(unit_us(r"\ msec"), Some(1_000));
        assert_eq!(unit_us(" s"), Some(1_000_000));
        assert_eq!(unit_us("|Unknown) s"), Some(1_000_000));
        assert_eq!(unit_us(" mseconds"), None);
    }

    #[test]
    fn numbers_of_units_are_times() {
        let us = |unit_us: i64, text: &str| Took { variable: 0, unit_us }.us(text);
        assert_eq!(us(1_000, "12"), Some(12_000));
        assert_eq!(us(1_000, "0.25"), Some(250));
        assert_eq!(us(1_000_000, "88.515746"), Some(88_515_746));
        assert_eq!(us(1_000_000, "88.515746999"), Some(88_515_746));
        assert_eq!(us(1_000, "-1"), None);
        assert_eq!(us(1_000_000, "1.x"), None);
    }
}

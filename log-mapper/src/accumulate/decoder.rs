//! Decoder: with which open span a record goes on, where no thread is printed and no rule before
//! has told; before a record begins a span of its own, it is asked for.
//!
//! Which spans can take it is for the code to say ([`super::takers`]: order, exits, identifiers
//! that contradict). Of those, and of beginning a span, the likeliest is chosen by one sum of
//! log ratios, each of which the log itself has shown ([`super::profile`]): which line follows
//! which, how soon, where in the code the one stands to the other, which values agree. It must be
//! likelier than all others by [`DOUBT`]: parts left apart can be joined later. What no method can
//! begin with goes on in any case, if there is only one that it can follow ([`super::successors`]).
//! Every record is decided when it comes; those that compete for one span are not weighed together.

use schema::LogPointId;
use smallvec::SmallVec;

use super::Scan;
use super::evidence::is_silence;
use super::facts::Fact;
use super::open_span::After;
use super::profile::{Line, Millinats, Profile, Shown};
use super::takers::Taker;
use crate::record::Record;

/// How much likelier a span must be than any other one, and than beginning one: twenty times, as
/// [`super::evidence::Trust`] asks for.
const DOUBT: Millinats = 2_996;

/// Each line of others that stands between, up to so many, is as much evidence against going on.
const BETWEEN: Millinats = 300;
const BETWEEN_MAX: u64 = 10;

/// Spans that have printed last: where no name tells, a span goes on among these.
const RECENT_MAX: usize = 12;

/// Bounds of what one value can say, and all that agree together: many values can show one thing.
const AGREES_MAX: Millinats = 2_000;
const TEXT_MAX: Millinats = 3_000;
const DIFFERS_MIN: Millinats = -4_000;
const AGREE_MAX: Millinats = 5_000;

/// A text that one in so many lines shows (in logarithms) tells nothing.
const COMMON: Millinats = 2_000;

/// Texts kept of a span.
const TEXTS_MAX: usize = 256;

/// What a span without a thread has shown so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Track {
    /// Log point of its last line, as the profile counts it.
    point: u32,
    /// The last value of each kind.
    values: SmallVec<[Shown; 4]>,
    texts: SmallVec<[u64; 4]>,
}

impl Track {
    /// The span prints a line.
    pub(super) fn add(&mut self, line: &Line) {
        self.point = line.point;
        for &(kind, text) in &line.values {
            let known = self.values.iter().position(|(known, _)| *known == kind);
            match known {
                Some(at) => self.values[at].1 = text,
                None if self.values.len() < TEXTS_MAX => self.values.push((kind, text)),
                None => {}
            }
            if self.texts.len() < TEXTS_MAX && !self.texts.contains(&text) {
                self.texts.push(text);
            }
        }
    }

    /// What the values of a line say for and against its being of this span.
    fn values(&self, line: &Line, profile: &Profile) -> Millinats {
        let (mut agree, mut differ) = (0, 0);
        for &(kind, text) in &line.values {
            let rarity = || profile.rarity(text) - COMMON;
            match self.values.iter().find(|(known, _)| *known == kind) {
                Some(&(_, known)) if known == text => {
                    agree += profile.value(kind, false).clamp(0, AGREES_MAX);
                    agree += (rarity() / 2).clamp(0, AGREES_MAX);
                }
                Some(_) => differ += profile.value(kind, true).clamp(DIFFERS_MIN, 0),
                None if self.texts.contains(&text) => agree += (rarity() * 8 / 10).clamp(0, TEXT_MAX),
                None => {}
            }
        }
        agree.min(AGREE_MAX) + differ
    }
}

impl Scan<'_> {
    /// The span that the record at hand goes on with, of all that it can have been printed in and
    /// that have printed last or name what it names, which are the `takers`, what that is then, and why;
    /// none: it
    /// begins one.
    pub(super) fn decode(
        &mut self,
        record: &Record<'_>,
        facts: &[(usize, Fact)],
        mut takers: Vec<Taker>,
    ) -> Option<(Taker, After, &'static str)> {
        let line = self.line.take()?;
        self.add_recent(record, facts, RECENT_MAX, &mut takers);
        self.rank(record, &mut takers);
        let likeliest = self.likeliest(record, &line, &takers).map(|at| (at, "follows as such lines do"));
        let found = likeliest.or_else(|| Some((self.only_follows(record, &takers)?, "begins nothing")));
        self.line = Some(line);
        let (at, reason) = found?;
        let best = takers.swap_remove(at);
        let mut after = self.after(&best, facts);
        // What follows tells which of several log points of one text it was.
        let same = |taker: &Taker| taker.span == best.span && taker.evidence == best.evidence;
        for reading in takers.iter().filter(|taker| same(taker)) {
            after.or(self.after(reading, facts));
        }
        Some((best, after, reason))
    }

    fn likeliest(&mut self, record: &Record<'_>, line: &Line, takers: &[Taker]) -> Option<usize> {
        let mut best: Option<(Millinats, usize)> = None;
        let mut second = Millinats::MIN;
        for (at, taker) in takers.iter().enumerate() {
            let Some(score) = self.score(record, line, taker) else { continue };
            match best {
                Some((most, before)) if takers[before].span == taker.span => {
                    best = Some(if score > most { (score, at) } else { (most, before) });
                }
                Some((most, before)) => {
                    second = second.max(score.min(most));
                    best = Some(if score > most { (score, at) } else { (most, before) });
                }
                None => best = Some((score, at)),
            }
        }
        let (most, at) = best?;
        (most > 0 && most.saturating_sub(second) > DOUBT).then_some(at)
    }

    /// What no method can begin with goes on with the only span that it can stand after, unless that
    /// has been silent for longer than it had lasted.
    fn only_follows(&self, record: &Record<'_>, takers: &[Taker]) -> Option<usize> {
        let never_begins = |point: LogPointId| self.successors.never_begins(point);
        if !record.candidates.iter().all(|candidate| never_begins(candidate.log_point)) {
            return None;
        }
        let can_follow = |taker: &Taker| {
            let open = self.open.get(taker.span);
            let is_silence = is_silence(record.ts_us.abs_diff(open.last_us), open.lasted_us());
            !is_silence && self.can_follow(record, taker)
        };
        let mut follows = (0..takers.len()).filter(|&at| can_follow(&takers[at]));
        let first = follows.next()?;
        follows.all(|at| takers[at].span == takers[first].span).then_some(first)
    }

    /// Whether the code can print the record directly after what a span has printed.
    fn can_follow(&self, record: &Record<'_>, taker: &Taker) -> bool {
        let printed = self.open.get(taker.span).newest_first();
        self.successors.can_follow(printed, record.candidates[taker.candidate].log_point)
    }

    /// How much likelier the record goes on with the span of `taker` than begins one; none if it
    /// begins another in any case: the first line once more, about another thing of a kind, after
    /// a silence longer than the span has lasted, or by how long it says that it took.
    fn score(&mut self, record: &Record<'_>, line: &Line, taker: &Taker) -> Option<Millinats> {
        let point = record.candidates[taker.candidate].log_point;
        let can_begin = self.orders.starts(point) || self.orders.floats(point);
        let (open, profile) = (self.open.get(taker.span), &self.profile);
        let gap_us = line.ts_us.abs_diff(open.last_us);
        let is_another = can_begin && (taker.evidence.differs || open.began_with(point));
        let is_late = self.began.late.contains(&taker.span);
        if is_late || is_another || is_silence(gap_us, open.lasted_us()) {
            return None;
        }
        let track = &open.track;
        let n_between = (self.seq - open.last_seq - 1).min(BETWEEN_MAX);
        let n_between = Millinats::try_from(n_between).expect("at most BETWEEN_MAX");
        let follows = profile.adjacency(track.point, line.point)
            + profile.gap(gap_us)
            + profile.code(track.point, line.point);
        Some(follows + track.values(line, profile) - n_between * BETWEEN - DOUBT)
    }
}

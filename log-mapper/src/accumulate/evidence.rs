//! Evidence: which open span a record belongs to, and whether it is enough to
//! join it. All weights of accumulating are here.
//!
//! Fields are compared in the order they stand in: a shared request identifier
//! is worth more than being next in the same thread, that more than a shared
//! weak value, that more than the order of log points, that more than recency.
//! Where nothing tells, a record opens a span of its own: parts left apart can
//! be joined later, parts joined wrongly cannot be told apart again.

use rustc_hash::FxHashMap;
use schema::{LogPointId, Name};

use super::open_span::Fit;
use super::orders::Follows;

/// What is nearer tells if it is this many times nearer than the next one.
pub(super) const NEARER_MIN: u64 = 4;

/// What speaks for a record being in a span.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Evidence {
    /// Shared values of request identifiers.
    pub(super) n_request: u32,
    /// The span is what its thread did last.
    pub(super) current: bool,
    /// Shared values of weak identifiers.
    pub(super) n_weak: u32,
    /// Position in the order of log points.
    pub(super) follows: Follows,
    /// The span began where its method begins.
    pub(super) entered: bool,
    /// Number of the span's last record: later is better.
    pub(super) last_seq: u64,
    /// Both name things of one kind, and not the same ones.
    pub(super) differs: bool,
}

impl Evidence {
    /// The evidence of `fit`.
    pub(super) fn new(fit: &Fit, current: bool, last_seq: u64) -> Self {
        let Fit { n_request, n_weak, follows, entered, differs, .. } = *fit;
        Self { n_request, current, n_weak, follows, entered, last_seq, differs }
    }
}

/// A value that this many records have shown, and more than one record in
/// [`COMMON_SHARE`], names no request: a user, a pool, a cluster.
const COMMON_MIN: u32 = 32;
const COMMON_SHARE: u64 = 50;

/// Records of a block. What is common is shown in most blocks; what names one
/// large request comes and goes.
const BLOCK_RECORDS: u64 = 64;

/// How often, and where, a text was shown.
#[derive(Debug, Default)]
pub(super) struct Spread {
    n_times: u32,
    /// Blocks of records in which it was, and the last one of them.
    n_blocks: u32,
    last_block: u64,
}

impl Spread {
    /// Record number `seq` shows it.
    pub(super) fn add(&mut self, seq: u64) {
        self.n_times += 1;
        let block = block(seq);
        self.n_blocks += u32::from(std::mem::replace(&mut self.last_block, block) != block);
    }

    /// How many records have shown it.
    pub(super) fn n_times(&self) -> u32 {
        self.n_times
    }

    /// Whether some other record has shown it before.
    pub(super) fn is_repeated(&self) -> bool {
        self.n_times > 1
    }

    /// Whether it is common after `n_records`: shown often, and all along.
    pub(super) fn is_common(&self, n_records: u64) -> bool {
        let is_often = self.n_times > COMMON_MIN && u64::from(self.n_times) > n_records / COMMON_SHARE;
        is_often && u64::from(self.n_blocks) * 2 >= block(n_records)
    }
}

/// The block of record number `seq`, from 1.
fn block(seq: u64) -> u64 {
    seq / BLOCK_RECORDS + 1
}

/// Lines that stand together from which to learn, how many times more they must be
/// than what chance would put together, and the share of others, between which somebody
/// else may have printed something.
const TOGETHER_MIN: u64 = 8;
const NOT_BY_CHANCE: u64 = 20;
const BETWEEN_SHARE: u64 = 4;

/// Whether it can be chance that `n_after` of the `n` lines of one log point stand
/// directly after one of the `n_before` lines of another one, of `n_records`: if those
/// that do not were put somewhere, so many would stand there.
pub(super) fn is_by_chance(n_after: u64, n: u64, n_before: u64, n_records: u64) -> bool {
    let n_others = n.saturating_sub(n_after);
    let n_chance = u128::from(n_others) * u128::from(n_before) * u128::from(NOT_BY_CHANCE);
    n_after < TOGETHER_MIN
        || n_others * BETWEEN_SHARE > n
        || n_chance > u128::from(n_after) * u128::from(n_records)
}

/// What directly follows a line this many times more seldom than something else does
/// only happens to stand there.
const RARELY_NEXT_SHARE: u64 = 8;

/// Whether something rarely stands directly after a line, if it did `n` times and
/// something else `most` times.
pub(super) fn is_rarely_next(n: u64, most: u64) -> bool {
    most >= TOGETHER_MIN && n * RARELY_NEXT_SHARE < most
}

/// Something waits at most this long for what it lacks, µs.
pub(super) const WAIT_US: i64 = 1_000_000;

/// Silence after which a record that can start a request starts one, although
/// it shares an identifier, µs; longer for a span that has lasted long.
const SILENCE_MIN_US: u64 = 1_000_000;

/// Lines of one loop follow each other this fast, µs.
pub(super) const LOOP_US: u64 = 20_000;

/// What initializes a class or names nothing is printed in the middle of its
/// thread's work, this soon after other lines of it, µs.
pub(super) const FLOAT_US: u64 = 100_000;

/// A line that everybody can print says nothing of where in its work a thread
/// is. After nothing but such lines, or a finished round of a dispatcher, it
/// belongs to them only if it is printed with them, µs: logs print milliseconds.
pub(super) const AT_ONCE_US: u64 = 3_000;

/// Times closer than this are equal: logs print milliseconds, µs.
pub(super) const TICK_US: i64 = 2_000;

/// Whether a span that has lasted `lasted_us` is done after `gap_us` of silence.
pub(super) fn is_silence(gap_us: u64, lasted_us: u64) -> bool {
    gap_us > SILENCE_MIN_US.max(lasted_us.saturating_mul(2))
}

/// At most one record in so many stands before the first or after the last line of
/// the `main` of a process that ends with it: what it prints as it sets up its log,
/// and as it cleans up.
const OUTSIDE_SHARE: usize = 4;

/// Whether a process ends with its `main`, if `n_within` of its `n_records` stand
/// between the first and the last line of that.
pub(super) fn is_errand(n_within: usize, n_records: usize) -> bool {
    (n_records - n_within) * OUTSIDE_SHARE <= n_records
}

/// Parts from which to learn what they are parts of, and the share of them that
/// may be shown with several wholes.
const PARTS_MIN: u32 = 16;
const TORN_SHARE: u32 = 50;

/// Records that two classes can have printed, and records that only one of them can have
/// printed, from which to learn that the other one is not there.
const SHARED_MIN: u32 = 16;
const ALONE_MIN: u32 = 16;

/// Whether a class that was seen alone `n_alone` times is not there, because another one
/// that was seen alone `n_other` times prints what both can have printed.
pub(super) fn is_absent(n_alone: u32, n_other: u32, n_shared: u32) -> bool {
    n_alone == 0 && n_other >= ALONE_MIN && n_shared >= SHARED_MIN
}

/// So many wholes there are at least: what all things are part of is no request.
const WHOLES_MIN: u32 = 2;

/// Whether so many of the values of a kind were shown with several of another
/// that they are no parts of those.
pub(super) fn is_torn(n_torn: u32, n_parts: u32) -> bool {
    n_torn > 1 && n_torn * TORN_SHARE > n_parts
}

/// Whether there are so many parts, and so few wholes, that they are that.
pub(super) fn has_parts(n_wholes: u32, n_parts: u32) -> bool {
    n_wholes >= WHOLES_MIN && n_parts >= PARTS_MIN && n_wholes + n_wholes / 8 <= n_parts
}

/// Spans that began with a log point from which to learn whether it stands in a
/// loop that turns, and the share of them that must have printed it again: two
/// requests about one thing come at once now and then, a loop turns often.
const BEGUN_MIN: u32 = 32;
const AGAIN_SHARE: u32 = 8;

/// Which log points are printed in loops, learnt from the log: a request begins
/// with one line of a loop, and goes on with another one at once. Where that
/// never happens although many requests begin so, the loop goes once around (over
/// all listeners, and there is one), and two such lines are two requests.
#[derive(Debug, Default)]
pub(super) struct Loops {
    /// Spans that began with a log point, and those of them that went on with it.
    seen: FxHashMap<LogPointId, (u32, u32)>,
}

impl Loops {
    /// A span began with `point`.
    pub(super) fn begin(&mut self, point: LogPointId) {
        self.seen.entry(point).or_default().0 += 1;
    }

    /// A span that began with `point`, and had printed nothing else, went on with
    /// it at once.
    pub(super) fn again(&mut self, point: LogPointId) {
        self.seen.entry(point).or_default().1 += 1;
    }

    /// Whether `point` may stand in a loop that turns more than once.
    pub(super) fn can_be(&self, point: LogPointId) -> bool {
        let (n_begun, n_again) = self.seen.get(&point).copied().unwrap_or_default();
        n_begun < BEGUN_MIN || n_again * AGAIN_SHARE >= n_begun
    }
}

/// Lines from which to learn that those of a log point begin nothing, and the share of them
/// that may have begun something.
const RESTS_MIN: u32 = 8;
const BEGUN_NOW_AND_THEN_SHARE: u32 = 16;

/// Whether lines begin nothing of which `n_gone_on` went on with something and `n_begun` did not.
pub(super) fn is_rest(n_gone_on: u32, n_begun: u32) -> bool {
    n_gone_on >= RESTS_MIN && n_begun.saturating_mul(BEGUN_NOW_AND_THEN_SHARE) <= n_gone_on
}

/// What is known of the record and its surroundings when judging.
#[derive(Clone, Copy, Debug)]
pub(super) struct Surroundings {
    /// The layout prints threads.
    pub(super) has_thread: bool,
    /// The record can be the first of a request.
    pub(super) starts: bool,
    /// The record's log point can be printed anywhere, and it was not printed soon
    /// enough to be of the best span if that has ended.
    pub(super) floats: bool,
    /// The best span has been silent for longer than its requests are.
    pub(super) after_silence: bool,
    /// The span has printed this log point before, and not just now in a loop.
    pub(super) again: bool,
    /// The best span can have been all of something that begins with the record's
    /// log point and cannot print it again.
    pub(super) complete: bool,
    /// The best span can be an event of another entity than the record is, or the record
    /// names what somebody else has named before and the best span has not.
    pub(super) of_another: bool,
    /// The best span is about things that live on, and the record is what met them.
    pub(super) leaves_entity: bool,
    /// The best span has returned to its caller: only what it is about is of it.
    pub(super) has_returned: bool,
    /// What the record names was handed over since, to somebody else who prints this.
    pub(super) of_the_next: bool,
    /// The best span is a call that its thread was given, and can have ended with its last
    /// record, without having printed the record's log point: that it goes on with another
    /// thing is the longer reading, unless it prints this for one thing after the other.
    pub(super) is_answered: bool,
    /// The best span has printed nothing but this log point, not just now, and whose
    /// loop it can stand in nobody knows.
    pub(super) turns_slowly: bool,
    /// The best span can have ended with its last record.
    pub(super) at_exit: bool,
    /// The best span is a program's `main`.
    pub(super) is_main: bool,
    /// The best span can be all of what a dispatcher has handed out, and the record
    /// is the dispatcher's own.
    pub(super) was_handed_out: bool,
    /// The best span can be a round of a dispatcher.
    pub(super) is_round: bool,
    /// The best span is a round of a dispatcher or a call that it was given, and not of
    /// the last moment.
    pub(super) round_is_over: bool,
    /// Somebody has just handed out what the best span can be.
    pub(super) handed_anew: bool,
    /// The best span has printed nothing yet but what very many methods print, and the record
    /// is printed by few.
    pub(super) is_its_own: bool,
    /// The best span is a dispatcher before or after its rounds, and the record is too.
    pub(super) outside_rounds: bool,
    /// The best span is what a dispatcher prints itself: its rounds are requests.
    pub(super) is_dispatcher: bool,
    /// The best span is a dispatcher before its rounds, and the record is what it hands out.
    pub(super) hands_out: bool,
    /// The record is the span's first line again, about what was made since.
    pub(super) stamped_anew: bool,
    /// The best span encloses what its thread did last: a dispatcher, or it
    /// calls it.
    pub(super) encloses: bool,
    /// The best span has printed the record's log point before.
    pub(super) printed_before: bool,
    /// The best span began with the record's log point.
    pub(super) began_so: bool,
}

/// Why the record joins the span of `best`; none: it opens one.
pub(super) fn verdict(best: Evidence, around: Surroundings) -> Option<Name> {
    // Where the record can start a request of its own, skipping log points that
    // should have printed is the weaker reading.
    let plausible = best.follows == Follows::Next || !around.starts;
    // Another thing of the same kind: the next round, or another request. Not so if its
    // thread is in the middle of a task that prints this next, which can meet many of a
    // kind, but of no call that has been answered: then it is given the next one. Nor if a
    // round has printed this after its first line: another one would begin with that. But a
    // loop that has nothing before it, and names another thing as it comes round, not at
    // once, has waited for that: each turn is its own. A program's `main` is one.
    let goes_on = around.has_thread && best.current && !around.after_silence;
    let is_turn = around.printed_before && !around.began_so && !around.is_dispatcher;
    let is_next = goes_on
        && best.follows == Follows::Next
        && (!around.is_round || is_turn)
        && !around.is_answered
        && (!around.again || around.is_main);
    if best.differs && (around.starts || around.is_dispatcher) && !is_next {
        return None;
    }
    if around.has_thread && (around.hands_out || is_done(best, around)) {
        return None;
    }
    // The first line of a request, or of a dispatcher's round, once more: the
    // next one, unless its thread is in the middle of something that can print it
    // again. That it would be the next turn of a loop around the whole is the
    // longer reading, and so is that nothing else is printed in a slow loop of who
    // knows what. Without threads the same goes for a line that everybody prints.
    let begins = around.starts || around.is_dispatcher || (around.floats && !around.has_thread);
    let is_over = around.complete || (around.turns_slowly && around.at_exit && best.n_request == 0);
    if around.again && begins && (!goes_on || (is_over && around.starts)) {
        return None;
    }
    if ((around.of_another || around.stamped_anew) && around.starts) || around.of_the_next {
        return None;
    }
    if around.leaves_entity && around.starts && best.n_request == 0 && best.n_weak == 0 {
        return None;
    }
    // A thread that was given work goes on with its own when that is done, or has returned.
    if (around.was_handed_out || around.has_returned) && best.n_request == 0 {
        return None;
    }
    if around.has_thread {
        let enough = best.n_request > 0
            || (best.current && plausible)
            || (around.encloses && plausible)
            || (best.follows == Follows::Next && !around.starts);
        return enough.then(|| reason("thread", best));
    }
    if best.n_request > 0 {
        // After a silence it is about the same thing once more.
        let skips = best.follows == Follows::Later && around.printed_before;
        let is_over = around.complete && around.printed_before;
        let again = ((around.starts || skips) && around.after_silence) || (around.starts && is_over);
        return (plausible && !again).then(|| reason("", best));
    }
    // What goes on with what by their order and time is decided of all together
    // ([`super::continuations`]).
    None
}

/// Whether the thread of `best` has ended that and works on something else now: it was done
/// long ago, or when somebody handed out the next. A dispatcher's round can end anywhere, but
/// not before the line of its own that comes next. What it prints before and after its rounds
/// comes once, however long it takes: a pause ends rounds only.
fn is_done(best: Evidence, around: Surroundings) -> bool {
    let goes_on = (around.is_its_own || around.outside_rounds) && best.follows == Follows::Next;
    let is_over = (around.round_is_over || around.handed_anew) && !goes_on;
    let after_silence = around.after_silence && !(around.outside_rounds && goes_on);
    let begins_next = around.starts && (after_silence || (is_over && best.n_request == 0));
    (around.at_exit && (around.floats || begins_next)) || (around.is_dispatcher && begins_next)
}

fn reason(base: &str, best: Evidence) -> Name {
    let mut words = base.to_owned();
    for (n, one, many) in [(best.n_request, "id", "ids"), (best.n_weak, "weak id", "weak ids")] {
        if n > 0 {
            let plus = if words.is_empty() { "" } else { "+" };
            words.push_str(&format!("{plus}{n} {}", if n == 1 { one } else { many }));
        }
    }
    if best.follows == Follows::Later {
        words.push_str(", skips");
    }
    Name::from(&words)
}

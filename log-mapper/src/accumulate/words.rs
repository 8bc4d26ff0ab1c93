//! Words: which of several spans that wait for one log point a record belongs
//! to, where the layout prints no threads and no identifier tells.
//!
//! What a request works on stands in its lines in many forms: a name by itself,
//! in a path, at the end of a list. The analysis cannot see that they are one
//! (the path is put together elsewhere, from what was read from a disk), but the
//! texts have the word in common, and the lines of the others that wait have not.
//! Only words that tell the waiting spans apart count; where no span has more of
//! them than all others, nothing is decided.

use schema::kinds::is_digest;
use schema::{LogPointId, Pass, TopLevelKind};

use super::open_spans::SpanIndex;
use super::orders::Follows;
use super::{LOOP_US, Scan, Taker};
use crate::record::Record;
use crate::said::{WORDS_MAX, add_hashes, runs};

/// Those of the words of a message that are digests: nobody has one of them by chance.
fn digests(text: &[u8]) -> Vec<u64> {
    let mut digests = Vec::new();
    add_hashes(runs(text).filter(|run| std::str::from_utf8(run).is_ok_and(is_digest)), &mut digests);
    digests
}

/// Adds `new` words to those of a span, which are sorted.
pub(super) fn add(known: &mut Vec<u64>, new: &[u64]) {
    for word in new {
        if known.len() < WORDS_MAX
            && let Err(at) = known.binary_search(word)
        {
            known.insert(at, *word);
        }
    }
}

/// A span that waits for a record, after how many telling words both have in common.
pub(super) type Waiting = (usize, SpanIndex);

impl Scan<'_> {
    /// Whether nothing but order speaks for a taker: it waits for the record, which
    /// it has not printed yet, and has been silent no longer than order reaches. What
    /// an exception handler prints can come after anything.
    pub(super) fn waits(&self, record: &Record<'_>, taker: &Taker) -> bool {
        let Taker { candidate, span, evidence, .. } = taker;
        let point = record.candidates[*candidate].log_point;
        let open = self.open.get(*span);
        evidence.n_request == 0
            && !evidence.differs
            && !self.is_in_handler(point)
            && evidence.follows == Follows::Next
            && evidence.entered
            && record.ts_us.abs_diff(open.last_us) <= self.config.order_window_us.unsigned_abs()
            && !open.has_printed(point)
            && !open.tops.iter().any(|state| self.orders.kind(state.top) == TopLevelKind::Dispatcher)
    }

    /// The spans that wait for the record, with how many words that tell them apart
    /// each has in common with it, fewest first; none where more is known.
    pub(super) fn waiting(&self, record: &Record<'_>, thread: Option<u32>, takers: &[Taker]) -> Vec<Waiting> {
        let waits = |taker: &&Taker| self.waits(record, taker);
        let mut waiting: Vec<SpanIndex> = takers.iter().filter(waits).map(|taker| taker.span).collect();
        waiting.sort_unstable();
        waiting.dedup();
        let has_ids = takers.first().is_none_or(|taker| taker.evidence.n_request > 0);
        if thread.is_some() || has_ids || waiting.len() < 2 {
            return Vec::new();
        }
        let has = |span: SpanIndex, word: u64| self.open.get(span).words.binary_search(&word).is_ok();
        let n_waiting = waiting.len();
        let telling = record.words.iter().filter(|&&word| {
            let n = waiting.iter().filter(|&&span| has(span, word)).count();
            n > 0 && n < n_waiting
        });
        let telling: Vec<u64> = telling.copied().collect();
        let n_shared = |span: SpanIndex| telling.iter().filter(|&&word| has(span, word)).count();
        let mut ranked: Vec<Waiting> = waiting.iter().map(|&span| (n_shared(span), span)).collect();
        ranked.sort_unstable();
        ranked
    }

    /// Puts first whom of those for whom equally many identifiers speak knows more digests
    /// of the record than all others do: a name within a longer text, of which the analysis
    /// knows only what is around it, tells more. Of those who know equally many, and are
    /// all at work, it is who has not printed such a line yet: another turn of a loop is
    /// the longer reading.
    pub(super) fn prefer_familiar(&self, record: &Record<'_>, takers: &mut [Taker]) {
        let Some(first) = takers.first().filter(|first| first.evidence.n_request > 0) else { return };
        let of = |taker: &Taker| (taker.evidence.n_request, taker.evidence.n_weak, taker.evidence.follows);
        let mut equal: Vec<(SpanIndex, LogPointId)> = Vec::new();
        for taker in takers.iter().take_while(|taker| of(taker) == of(first)) {
            if equal.iter().all(|&(span, _)| span != taker.span) {
                equal.push((taker.span, record.candidates[taker.candidate].log_point));
            }
        }
        if equal.len() < 2 {
            return;
        }
        let names = digests(record.text);
        let is_at_work = |&(span, _): &(SpanIndex, LogPointId)| {
            record.ts_us.abs_diff(self.open.get(span).last_us) <= LOOP_US
        };
        let all_at_work = equal.iter().all(is_at_work);
        let rank = |&(span, point): &(SpanIndex, LogPointId)| {
            let open = self.open.get(span);
            let n_known = names.iter().filter(|&name| open.words.binary_search(name).is_ok()).count();
            let is_new = all_at_work && !open.has_printed(point);
            ((n_known, is_new), span)
        };
        let mut ranked: Vec<((usize, bool), SpanIndex)> = equal.iter().map(rank).collect();
        ranked.sort_unstable();
        if let [.., (second, _), (best, span)] = ranked[..]
            && best > second
            && let Some(at) = takers.iter().position(|taker| taker.span == span)
        {
            takers[..=at].rotate_right(1);
        }
    }

    /// Which of `takers` has more words in common with the record than all other
    /// spans that wait for it have, if one has, and goes on so whatever it is.
    pub(super) fn by_words(
        &self,
        record: &Record<'_>,
        waiting: &[Waiting],
        takers: &[Taker],
    ) -> Option<usize> {
        if self.leaves_out(Pass::ByWords) {
            return None;
        }
        let [.., (second, _), (best, span)] = *waiting else { return None };
        // What some of its readings alone can print is rather of somebody who is just that.
        let is_whole = |taker: &Taker| taker.fit.tops().len() == self.open.get(span).tops.len();
        let waits = |taker: &Taker| self.waits(record, taker) && is_whole(taker);
        let position = || takers.iter().position(|taker| taker.span == span && waits(taker));
        (best > second).then(position).flatten()
    }

    /// Takes out of `takers` who waits for the record and has fewer words in common with it
    /// than several others have, and gives these: which of those others it is words do not tell,
    /// but that it is one of them, however near somebody else stands.
    pub(super) fn leave_strangers(waiting: &[Waiting], takers: &mut Vec<Taker>) -> Vec<Taker> {
        let Some(&(most, _)) = waiting.last() else { return Vec::new() };
        let n_strangers = waiting.partition_point(|&(n_shared, _)| n_shared < most);
        if waiting.len() - n_strangers < 2 {
            return Vec::new();
        }
        let strangers = &waiting[..n_strangers];
        takers.extract_if(.., |taker| strangers.iter().any(|&(_, span)| span == taker.span)).collect()
    }
}

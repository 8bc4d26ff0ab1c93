//! Successors: where the code says that a thread has ended what it was at and has begun anew,
//! though the order of either method would let it go on; and that it cannot have begun anew.
//!
//! A method that is too large for an order, or calls itself, can print anything after anything in
//! that. But what stands directly after what is known of it too: a line that cannot stand after the
//! last one of a span is not of that span. Nothing is taken to be so where the last line could not
//! have ended its method, or the next one could not have begun one. Nor where a logger that has
//! shown nothing would have printed what stands between the two, before the first or after the last.

use std::cell::OnceCell;

use fixedbitset::FixedBitSet;
use schema::{LogPointId, Model};

/// Log points by what can stand next to them.
#[derive(Clone, Debug)]
pub(super) struct Successors {
    /// Per log point, if anything is known of it.
    next: Vec<Option<FixedBitSet>>,
    begins: FixedBitSet,
    ends: FixedBitSet,
    /// Log points of which the log shows nothing.
    silent: FixedBitSet,
    /// Per log point, once asked for: what can be seen next if those are off.
    past_silent: Vec<OnceCell<PastSilence>>,
    /// What can be seen first of a method if those are off, once asked for.
    begins_past_silent: OnceCell<PastSilence>,
}

/// What can come past log points of which the log shows nothing.
#[derive(Clone, Debug)]
struct PastSilence {
    points: FixedBitSet,
    /// Those of them that are silent.
    passed: FixedBitSet,
}

impl Successors {
    pub(super) fn new(model: &Model) -> Self {
        let bits = |points: &[LogPointId]| points.iter().map(|point| point.index()).collect();
        let found = &model.successors;
        let next = found.all().map(|next| next.map(|next| bits(&next))).collect();
        let past_silent = vec![OnceCell::new(); model.log_points.len()];
        let (silent, begins_past_silent) = (FixedBitSet::new(), OnceCell::new());
        let (begins, ends) = (bits(&found.begins), bits(&found.ends));
        Self { next, begins, ends, silent, past_silent, begins_past_silent }
    }

    /// The log shows nothing of the `silent` log points, as far as is known by now.
    pub(super) fn silence(&mut self, silent: FixedBitSet) {
        // As a rule less is silent than before, and what nothing of that was passed for stays true.
        let is_less = silent.is_subset(&self.silent);
        for known in self.past_silent.iter_mut().chain([&mut self.begins_past_silent]) {
            if known.get().is_some_and(|known| !is_less || !known.passed.is_subset(&silent)) {
                known.take();
            }
        }
        self.silent = silent;
    }

    /// Whether a thread that has printed `before`, newest first, and then prints `point`, has ended
    /// one run of a method and begun another. Of what is not known of what can follow, the log
    /// shows nothing.
    pub(super) fn is_another_run(&self, before: impl Iterator<Item = LogPointId>, point: LogPointId) -> bool {
        // As a rule it is plain what comes next; what comes past silence takes long to find.
        let begins = || self.begins_past_silent.get_or_init(|| self.past_silence(self.begins.clone()));
        let can_begin = || self.begins.contains(point.index()) || begins().points.contains(point.index());
        let is_ended = |(last, next): (LogPointId, &FixedBitSet)| {
            if next.contains(point.index()) || !can_begin() {
                return false;
            }
            let next = self.next_past_silent(last);
            let is_end = |point: usize| self.silent.contains(point) && self.ends.contains(point);
            !next.contains(point.index()) && (self.ends.contains(last.index()) || next.ones().any(is_end))
        };
        self.is_known(point) && self.last(before).is_some_and(is_ended)
    }

    /// Whether no top-level method can print `point` first, of what logs usually show.
    pub(super) fn never_begins(&self, point: LogPointId) -> bool {
        self.is_known(point) && !self.begins.contains(point.index())
    }

    /// Whether a thread that has printed `before`, newest first, can print `point` next.
    pub(super) fn can_follow(&self, before: impl Iterator<Item = LogPointId>, point: LogPointId) -> bool {
        self.last(before).is_some_and(|(_, next)| next.contains(point.index()))
    }

    fn is_known(&self, point: LogPointId) -> bool {
        self.next.get(point.index()).is_some_and(Option::is_some)
    }

    /// The newest of which it is known what can follow, and that.
    fn last(&self, mut before: impl Iterator<Item = LogPointId>) -> Option<(LogPointId, &FixedBitSet)> {
        before.find_map(|before| Some((before, self.next.get(before.index())?.as_ref()?)))
    }

    /// What can be seen next after `point`, and what is silent on the way there.
    fn next_past_silent(&self, point: LogPointId) -> &FixedBitSet {
        let next = || self.next[point.index()].clone().unwrap_or_default();
        &self.past_silent[point.index()].get_or_init(|| self.past_silence(next())).points
    }

    /// `points` and what can come after those of them that are silent.
    fn past_silence(&self, mut points: FixedBitSet) -> PastSilence {
        let mut passed: FixedBitSet = points.intersection(&self.silent).collect();
        let mut todo: Vec<usize> = passed.ones().collect();
        while let Some(silent) = todo.pop() {
            let Some(next) = &self.next[silent] else { continue };
            points.union_with(next);
            for point in next.intersection(&self.silent) {
                passed.grow(point + 1);
                if !passed.put(point) {
                    todo.push(point);
                }
            }
        }
        PastSilence { points, passed }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 0 prints 1, that 2; 3 begins something else and ends it.
    fn successors() -> Successors {
        let next = |points: &[usize]| Some(points.iter().copied().collect::<FixedBitSet>());
        Successors {
            next: vec![next(&[1]), next(&[2]), next(&[]), next(&[])],
            begins: [0, 3].into_iter().collect(),
            ends: [2, 3].into_iter().collect(),
            silent: FixedBitSet::new(),
            past_silent: vec![OnceCell::new(); 4],
            begins_past_silent: OnceCell::new(),
        }
    }

    fn is_another_run(found: &Successors, before: usize, point: usize) -> bool {
        found.is_another_run([LogPointId::new(before)].into_iter(), LogPointId::new(point))
    }

    #[test]
    fn what_cannot_follow_is_another_run_if_it_can_begin_after_an_end() {
        let found = successors();
        let can_follow = |point| found.can_follow([LogPointId::new(0)].into_iter(), LogPointId::new(point));
        assert!(can_follow(1) && !can_follow(2));
        assert!(found.never_begins(LogPointId::new(1)));
        assert!(is_another_run(&found, 2, 3));
        // What cannot have ended was not seen to the end.
        assert!(!is_another_run(&found, 1, 3));
        assert!(!is_another_run(&found, 2, 1));
    }

    #[test]
    fn what_is_known_past_silence_is_what_is_found_anew() {
        // Each prints two others; less and less is silent, and then more again.
        let next = |point: usize| Some([(point * 3 + 1) % 8, (point * 5 + 2) % 8].into_iter().collect());
        let mut found = Successors {
            next: (0..8).map(next).collect(),
            past_silent: vec![OnceCell::new(); 8],
            ..successors()
        };
        let silent: [&[usize]; 6] = [&[1, 2, 4, 5, 7], &[1, 4, 5, 7], &[1, 4, 7], &[4], &[], &[0, 4]];
        for silent in silent {
            found.silence(silent.iter().copied().collect());
            for point in (0..8).map(LogPointId::new) {
                let anew = found.past_silence(found.next[point.index()].clone().unwrap_or_default());
                assert_eq!(found.next_past_silent(point), &anew.points, "after {point} past {silent:?}");
            }
        }
    }

    #[test]
    fn a_logger_that_is_off_can_have_printed_what_stands_between() {
        let mut found = successors();
        // The last line of the one before is not shown.
        found.silence([2].into_iter().collect());
        assert!(is_another_run(&found, 1, 3));
        // Nor is the first one of the next.
        found.silence([0].into_iter().collect());
        assert!(is_another_run(&found, 3, 1));
        // 0 can go on with 2 past what is not shown, so that it is no other run.
        found.begins.insert(2);
        found.ends.insert(0);
        found.silence(FixedBitSet::new());
        assert!(is_another_run(&found, 0, 2));
        found.silence([1].into_iter().collect());
        assert!(!is_another_run(&found, 0, 2));
    }
}

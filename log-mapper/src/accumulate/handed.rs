//! Handed over anew: whether somebody who hands out tasks of a kind has just printed
//! what comes before the hand-off.
//!
//! The threads of a pool are named alike round after round, so that a task's first line
//! in a thread that printed it before may be the next turn of the task's own loop or the
//! next task. What the others print tells: a task is handed over by somebody, who has
//! printed something shortly before, and since the thread's last line. Where no thread is
//! printed, whoever names a thing before he hands it over tells that what follows about it
//! is of the next one, not of who was at work on it before ([`super::Shown`]).

use schema::{LinkKind, LogPointId, Model, TopLevelId};

use super::evidence::NEARER_MIN;
use super::orders::Orders;

/// Who hands out tasks, and when their lines were printed last.
#[derive(Debug)]
pub(super) struct Handed {
    /// Per top-level method: log points that stand before its hand-offs, sorted.
    before: Vec<Vec<LogPointId>>,
    /// Log points that stand before some hand-off, sorted.
    senders: Vec<LogPointId>,
    /// Per log point: number and time of its last record.
    printed: Vec<Option<(u64, i64)>>,
}

impl Handed {
    /// Reads who hands over to whom out of `model`.
    pub(super) fn new(model: &Model) -> Self {
        let mut before = vec![Vec::new(); model.top_level_methods.len()];
        let starts = |kind| matches!(kind, LinkKind::Thread | LinkKind::Queue);
        for pair in model.communication_pairs.iter().filter(|pair| starts(pair.kind) && pair.from != pair.to)
        {
            if let Some(points) = before.get_mut(pair.to.index()) {
                points.extend(&pair.before);
            }
        }
        for points in &mut before {
            points.sort_unstable();
            points.dedup();
        }
        let mut senders: Vec<LogPointId> = before.iter().flatten().copied().collect();
        senders.sort_unstable();
        senders.dedup();
        Self { before, senders, printed: vec![None; model.log_points.len()] }
    }

    /// Record `seq` was printed by `point`.
    pub(super) fn print(&mut self, point: LogPointId, seq: u64, ts_us: i64) {
        if let Some(printed) = self.printed.get_mut(point.index()) {
            *printed = Some((seq, ts_us));
        }
    }

    /// Whether something is handed over after `point`.
    pub(super) fn hands_over(&self, point: LogPointId) -> bool {
        self.senders.binary_search(&point).is_ok()
    }

    /// Whether a task of `top` is handed over after `point`.
    pub(super) fn is_before(&self, point: LogPointId, top: TopLevelId) -> bool {
        self.before.get(top.index()).is_some_and(|points| points.binary_search(&point).is_ok())
    }

    /// Whether a task of `top` can have been handed over just before `now_us`, after
    /// record `since`, of `last_us`: within `pause_us`, which is as long as threads of the
    /// node pause in the middle of their work, or, if the line tells it, much nearer to now
    /// than to that record. How long a thread takes to begin is the machine's and the
    /// moment's.
    pub(super) fn is_anew(
        &self,
        orders: &Orders<'_>,
        top: TopLevelId,
        (since, last_us): (u64, i64),
        (now_us, pause_us): (i64, u64),
    ) -> bool {
        let is_just = |point: &LogPointId, ts_us: i64| {
            let gap_us = now_us.abs_diff(ts_us);
            let is_near = gap_us.saturating_mul(NEARER_MIN) <= now_us.abs_diff(last_us);
            gap_us <= pause_us || (is_near && !orders.floats(*point))
        };
        let points = self.before.get(top.index()).map_or(&[][..], Vec::as_slice);
        let mut printed = points.iter().filter_map(|point| Some((point, self.printed[point.index()]?)));
        printed.any(|(point, (seq, ts_us))| seq > since && is_just(point, ts_us))
    }
}

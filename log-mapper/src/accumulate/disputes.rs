//! Disputes: records that several spans wait for, where nothing tells whose they
//! are.
//!
//! Such a record begins a span of its own, but one of those that wait for it has
//! it now. When as many records have come as spans were waiting, none of these
//! waits any longer, so that the next span that waits is the only one; and when one
//! of the spans turns out to have another record, fewer are left over. What is
//! settled so is joined when the log has been read: one record goes to the one span,
//! several in the order in which a counter has named them ([`super::counted`]).

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};
use schema::{LogPointId, Pass, TopLevelId};

use super::counted::{self, Values};
use super::open_spans::{PLACE_LOOK_BACK_MAX, SpanIndex};
use super::orders::{Orders, Places};
use super::pools::Closed;
use super::{Scan, Taker};
use crate::record::Record;

/// Disputes that are remembered.
const DISPUTES_MAX: usize = 64;

/// Records, and the spans that wait for them.
#[derive(Debug)]
struct Dispute {
    /// Log points of the records.
    points: BTreeSet<LogPointId>,
    /// Spans that wait, by their first records, sorted.
    waiting: Vec<u64>,
    /// Numbers of the records, and what they show, sorted.
    came: Vec<(u64, Values)>,
}

impl Dispute {
    /// Whose each record is, if that is settled: (first record of the span, record).
    fn whose(&self) -> Vec<(u64, u64)> {
        let order = match self.came.len() {
            1 => vec![0],
            _ if self.points.len() > 1 => return Vec::new(),
            _ => {
                let shown: Vec<Values> = self.came.iter().map(|(_, values)| values.clone()).collect();
                counted::in_turn(&shown).unwrap_or_default()
            }
        };
        self.waiting.iter().zip(order).map(|(&span, at)| (span, self.came[at].0)).collect()
    }
}

/// The disputes of a node.
#[derive(Debug, Default)]
pub(super) struct Disputes {
    open: Vec<Dispute>,
    settled: Vec<Dispute>,
    /// Spans that wait no longer.
    served: FxHashSet<u64>,
}

impl Disputes {
    /// A record of `point` came, with its number and what it shows, and the spans that
    /// began with `waiting` wait for it.
    fn claim(&mut self, point: LogPointId, waiting: Vec<u64>, came: (u64, Values)) {
        let mut dispute = Dispute { points: BTreeSet::from([point]), waiting, came: vec![came] };
        let is_same = |other: &Dispute, dispute: &Dispute| {
            other.waiting.iter().any(|span| dispute.waiting.contains(span))
        };
        while let Some(at) = self.open.iter().position(|other| is_same(other, &dispute)) {
            let other = self.open.remove(at);
            dispute.points.extend(other.points);
            dispute.waiting.extend(other.waiting);
            dispute.came.extend(other.came);
        }
        dispute.waiting.sort_unstable();
        dispute.waiting.dedup();
        dispute.came.sort_unstable();
        self.open.push(dispute);
        self.settle(self.open.len() - 1);
        if self.open.len() > DISPUTES_MAX {
            self.open.remove(0);
        }
    }

    /// The span that began with `first_seq` has a record. `instead`: whether of a log
    /// point that it prints instead of what it waited for; else it may have both.
    fn found(&mut self, first_seq: u64, instead: impl FnOnce(&BTreeSet<LogPointId>) -> bool) {
        let is_its = |dispute: &Dispute| dispute.waiting.contains(&first_seq);
        if let Some(at) = self.open.iter().position(is_its) {
            if instead(&self.open[at].points) {
                self.open[at].waiting.retain(|&span| span != first_seq);
                self.settle(at);
            } else {
                self.open.remove(at);
            }
        }
    }

    /// Whether the span that began with `first_seq` has its record, whichever that is.
    pub(super) fn is_served(&self, first_seq: u64) -> bool {
        self.served.contains(&first_seq)
    }

    /// A part of the log ends: what was settled in it is done with, and of who began before record
    /// `first_seq` nobody asks any more.
    pub(super) fn end_part(&mut self, first_seq: u64) {
        self.settled.clear();
        self.served.retain(|&span| span >= first_seq);
    }

    fn settle(&mut self, at: usize) {
        if self.open[at].waiting.len() <= self.open[at].came.len() {
            let dispute = self.open.remove(at);
            self.served.extend(&dispute.waiting);
            if dispute.waiting.len() == dispute.came.len() {
                self.settled.push(dispute);
            }
        }
    }

    /// Joins what is settled in the closed spans, which have the numbers of their
    /// first records.
    pub(super) fn join(&self, orders: &Orders<'_>, done: &mut Vec<(u64, Closed)>) {
        let at: FxHashMap<u64, usize> = (0..).zip(&*done).map(|(at, &(seq, _))| (seq, at)).collect();
        let mut gone = FxHashSet::default();
        for (span, record) in self.settled.iter().flat_map(Dispute::whose) {
            let (Some(&span), Some(&rest)) = (at.get(&span), at.get(&record)) else { continue };
            let whole = done[span].1.clone().with_rest(orders, &done[rest].1, Pass::Disputes);
            if let Some(whole) = whole {
                done[span].1 = whole;
                gone.insert(record);
            }
        }
        done.retain(|(seq, _)| !gone.contains(seq));
    }
}

impl Scan<'_> {
    /// Takes note of which spans wait for a record of `point`, which begins a span of
    /// its own, without threads: those with equally much in common with it, if there
    /// are several and no more than are looked at. The events of an entity come in any
    /// order.
    pub(super) fn dispute(&mut self, record: &Record<'_>, takers: &[Taker], point: LogPointId) {
        let ranked = self.waiting(record, None, takers);
        let Some(&(best, _)) = ranked.last().filter(|_| !self.orders.starts(point)) else { return };
        let equal = ranked.iter().filter(|(n, _)| *n == best);
        let waiting: Vec<u64> = equal.map(|&(_, span)| self.open.get(span).first_seq).collect();
        let is_of_point = |taker: &Taker| record.candidates[taker.candidate].log_point == point;
        let is_sure = takers.iter().filter(|taker| self.waits(record, taker)).all(is_of_point);
        let mut states = ranked.iter().flat_map(|&(_, span)| &self.open.get(span).tops);
        let has_events = states.any(|state| self.is_event(state));
        if is_sure && !has_events && (2..PLACE_LOOK_BACK_MAX).contains(&waiting.len()) {
            let candidate = record.candidates.iter().find(|candidate| candidate.log_point == point);
            let values = candidate.into_iter().flat_map(|candidate| &candidate.values);
            let shown = values.map(|&(variable, text)| (variable, text.to_owned())).collect();
            self.disputes.claim(point, waiting, (self.seq, shown));
        }
    }

    /// Takes note that a span takes a record of `point`.
    pub(super) fn found(&mut self, span: SpanIndex, point: Option<LogPointId>) {
        let Self { disputes, open, orders, .. } = self;
        let (Some(point), span) = (point, open.get(span)) else { return };
        let tops: Vec<TopLevelId> = span.tops.iter().map(|state| state.top).collect();
        let mut follows = |before: LogPointId| {
            let at = |point| {
                let places = orders.places(point).iter().filter(|places| tops.contains(&places.top));
                let nodes = |places: &Places| places.at.iter().map(|&(node, _)| (places.top, node)).collect();
                places.flat_map(|places| -> Vec<(TopLevelId, u32)> { nodes(places) }).collect::<Vec<_>>()
            };
            let (from, to) = (at(before), at(point));
            let mut pairs = from.iter().flat_map(|a| to.iter().map(move |b| (*a, *b)));
            pairs.any(|((top, a), (other, b))| top == other && orders.follows(top, a, b).is_some())
        };
        disputes.found(span.first_seq, |points| {
            points.contains(&point) || !points.iter().any(|&before| follows(before))
        });
    }
}

//! Call order: what callers have waited for already, as the matches of the round before say.
//!
//! Whoever waits does one thing after the other: between two lines of a caller one call begins
//! where the one before it has ended, in the order of the code. And a handler that has asked
//! before its first line was at work since then. So what is matched surely says more of the times
//! of all that is around it.

use rustc_hash::FxHashMap;

use super::clocks::Offsets;
use super::gaps::{Call, Gap, Gaps};
use super::{Handler, Sure};
use crate::stitch::facts::Facts;

/// Calls within calls that a span's extent is told by.
const LEVELS_MAX: usize = 8;

/// What is known of those who wait.
#[derive(Debug, Default)]
pub(super) struct CallOrder {
    /// By lines of a caller: begin and end, by the caller's clock, of what it has waited for
    /// between them, with its span and its place, in order.
    of: FxHashMap<u32, Vec<(i64, i64, u32, u32)>>,
    /// From when until when spans were at work, where that is more than their own lines say.
    extents: FxHashMap<u32, [i64; 2]>,
    /// By caller that does not wait: when it had the last of its answers, by its own clock.
    answered: FxHashMap<u32, i64>,
}

/// What others have left of a gap.
#[derive(Clone, Copy, Debug)]
pub(super) struct Left {
    /// Begin and end, where they are known.
    pub(super) bounds: [Option<i64>; 2],
    /// Whether the others were made before all calls before it and after all behind it; none: there
    /// are no others.
    pub(super) is_in_order: Option<bool>,
}

impl CallOrder {
    /// By the sure ones among the matches.
    pub(super) fn new(
        facts: &Facts<'_>,
        (calls, gaps): (&[Call], &Gaps),
        offsets: &Offsets,
        handlers: &[Handler],
        sure: &[Option<Sure>],
    ) -> Self {
        let (mut links, mut unwaited) = (Vec::new(), Vec::new());
        for ((handler, _), sure) in handlers.iter().zip(sure) {
            let Some(gap) = sure.map(|sure| gaps.get(sure.gap)) else { continue };
            let call = &calls[gap.call as usize];
            let ahead_us = offsets.between(facts.get(gap.span).node, facts.get(*handler).node);
            if call.waits {
                links.push((gap, *handler, ahead_us));
            } else if !call.is_local && !call.is_sent {
                unwaited.push((gap.span, *handler, ahead_us));
            }
        }
        let mut order = CallOrder::default();
        for _ in 0..LEVELS_MAX {
            let mut has_grown = false;
            for &(gap, handler, ahead_us) in &links {
                let caller = gap.span;
                let [start, end] = order.extent(facts, handler);
                let own = order.extent(facts, caller);
                let with = [own[0].min(start - ahead_us), own[1].max(end - ahead_us)];
                if with != own {
                    order.extents.insert(caller, with);
                    has_grown = true;
                }
            }
            if !has_grown {
                break;
            }
        }
        for (caller, handler, ahead_us) in unwaited {
            let end = order.extent(facts, handler)[1] - ahead_us;
            let known = order.answered.entry(caller).or_insert(end);
            *known = end.max(*known);
        }
        for (gap, handler, ahead_us) in links {
            let [start, end] = order.extent(facts, handler);
            let one = (start - ahead_us, end - ahead_us, handler, gap.place);
            order.of.entry(gap.lines).or_default().push(one);
        }
        order.of.values_mut().for_each(|waited| waited.sort_unstable());
        order
    }

    /// From when until when a span was at work.
    pub(super) fn extent(&self, facts: &Facts<'_>, span: u32) -> [i64; 2] {
        let fact = facts.get(span);
        self.extents.get(&span).copied().unwrap_or([fact.start_us, fact.end_us])
    }

    /// When a caller that does not wait had the last of its answers, if it is known.
    pub(super) fn answered(&self, span: u32) -> Option<i64> {
        self.answered.get(&span).copied()
    }

    /// What is left of a gap for a handler at work from `start` to `end`, by the caller's clock.
    /// What has the place that it would take is not there then.
    pub(super) fn left(&self, gap: &Gap, handler: u32, [start, end]: [i64; 2]) -> Left {
        let [no_begin, no_end] = gap.is_open;
        let mut bounds = [(!no_begin).then_some(gap.begin_us), (!no_end).then_some(gap.end_us)];
        let waited = self.of.get(&gap.lines).map_or(&[][..], Vec::as_slice);
        let is_other = |other: u32, place: u32| other != handler && (place != gap.place || gap.is_looped);
        let (mut n, mut n_at_once) = ([0_u32; 2], 0_u32);
        for &(begun, ended, other, place) in waited {
            if !is_other(other, place) {
                continue;
            }
            if begun < end && start < ended {
                n_at_once += 1;
            } else if begun + ended <= start + end {
                bounds[0] = Some(bounds[0].map_or(ended, |known| known.max(ended)));
                n[0] += 1;
            } else {
                bounds[1] = Some(bounds[1].map_or(begun, |known| known.min(begun)));
                n[1] += 1;
            }
        }
        let most = [gap.rank, gap.n_places.saturating_sub(gap.rank + 1)];
        let fits = gap.is_looped || n[0] <= most[0] && n[1] <= most[1];
        let has_others = n_at_once + n[0] + n[1] > 0;
        Left { bounds, is_in_order: has_others.then_some(fits && n_at_once == 0) }
    }
}

//! Call order: what callers have waited for already, as the matches of the round before say.
//!
//! Whoever waits does one thing after the other: between two lines of a caller one call begins
//! where the one before it has ended. And a handler that has asked before its first line was at
//! work since then. So what is matched surely says more of the times of all that is around it.

use rustc_hash::FxHashMap;

use super::clocks::Offsets;
use super::gaps::{Call, Gap, Gaps};
use super::{Chosen, Handler, is_sure};
use crate::stitch::facts::Facts;

/// Calls within calls that a span's extent is told by.
const LEVELS_MAX: usize = 8;

/// What is known of those who wait.
#[derive(Debug, Default)]
pub(super) struct CallOrder {
    /// By caller: begin and end, by the caller's clock, of what it has waited for, with its span
    /// and its gap, in order.
    of: FxHashMap<u32, Vec<(i64, i64, u32, u32)>>,
    /// From when until when spans were at work, where that is more than their own lines say.
    extents: FxHashMap<u32, [i64; 2]>,
}

impl CallOrder {
    /// By the sure ones among the matches.
    pub(super) fn new(
        facts: &Facts<'_>,
        (calls, gaps): (&[Call], &Gaps),
        offsets: &Offsets,
        handlers: &[Handler],
        chosen: &[Chosen],
    ) -> Self {
        let mut links = Vec::new();
        for ((handler, _), choice) in handlers.iter().zip(chosen) {
            let Some((at, _)) = choice.filter(|(_, choice)| is_sure(choice)) else { continue };
            let gap = gaps.get(at);
            if calls[gap.call as usize].waits {
                let ahead_us = offsets.between(facts.get(gap.span).node, facts.get(*handler).node);
                links.push((gap.span, *handler, at, ahead_us));
            }
        }
        let mut order = CallOrder::default();
        for _ in 0..LEVELS_MAX {
            let mut has_grown = false;
            for &(caller, handler, _, ahead_us) in &links {
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
        for (caller, handler, at, ahead_us) in links {
            let [start, end] = order.extent(facts, handler);
            order.of.entry(caller).or_default().push((start - ahead_us, end - ahead_us, handler, at));
        }
        order.of.values_mut().for_each(|waited| waited.sort_unstable());
        order
    }

    /// From when until when a span was at work.
    pub(super) fn extent(&self, facts: &Facts<'_>, span: u32) -> [i64; 2] {
        let fact = facts.get(span);
        self.extents.get(&span).copied().unwrap_or([fact.start_us, fact.end_us])
    }

    /// What is left of a gap for a handler at work from `start` to `end`, by the caller's clock:
    /// begin and end, where they are known. Who has the place that it would take is not there then.
    pub(super) fn left(
        &self,
        (at, gap): (u32, &Gap),
        call: &Call,
        handler: u32,
        [start, end]: [i64; 2],
    ) -> [Option<i64>; 2] {
        let [no_begin, no_end] = gap.is_open;
        let mut left = [(!no_begin).then_some(gap.begin_us), (!no_end).then_some(gap.end_us)];
        let waited = self.of.get(&gap.span).map_or(&[][..], Vec::as_slice);
        let first = waited.partition_point(|&(begun, ..)| begun < gap.begin_us);
        let within = waited[first..].iter().take_while(|&&(begun, ..)| begun <= gap.end_us);
        for &(begun, ended, other, taken) in within {
            let is_rival = taken == at && !call.repeats;
            if other == handler || is_rival || ended > gap.end_us {
                continue;
            }
            if begun < end && start < ended {
                // Both were asked for at once.
                continue;
            }
            if begun + ended <= start + end {
                left[0] = Some(left[0].map_or(ended, |known| known.max(ended)));
            } else {
                left[1] = Some(left[1].map_or(begun, |known| known.min(begun)));
            }
        }
        left
    }
}

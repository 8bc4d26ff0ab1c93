//! Ticks: spans of nodes whose clocks print no fractions of seconds, in the order of their lines.

use rustc_hash::FxHashMap;
use schema::Name;
use schema::ticks::{Tick, since_us};

use crate::skeleton::Span;

/// The ticks of the clocks that are coarse, by node, µs.
pub(crate) type Ticks = FxHashMap<Name, i64>;

/// Gives the events of nodes with coarse clocks times in the order of their lines.
pub(crate) fn spread(spans: &mut [Span]) -> Ticks {
    let ticks = ticks(spans);
    let mut lines: FxHashMap<(Name, u32, i64), Vec<(u64, usize, usize)>> = FxHashMap::default();
    let is_coarse = |span: &Span| !ticks.is_empty() && ticks.contains_key(&span.node);
    for (at, span) in spans.iter().enumerate().filter(|(_, span)| is_coarse(span)) {
        for (place, event) in span.events.iter().enumerate() {
            let tick = lines.entry((span.node, event.file, event.ts_us)).or_default();
            tick.push((event.line, at, place));
        }
    }
    for ((node, ..), mut lines) in lines {
        lines.sort_unstable();
        let n = lines.len();
        for (nth, (_, at, place)) in lines.into_iter().enumerate() {
            spans[at].events[place].ts_us += since_us(ticks[&node], nth, n);
        }
    }
    ticks
}

/// Gives the events the times that were printed.
pub(crate) fn restore(spans: &mut [Span], ticks: &Ticks) {
    for span in spans.iter_mut().filter(|_| !ticks.is_empty()) {
        if let Some(tick_us) = ticks.get(&span.node) {
            span.events.iter_mut().for_each(|event| event.ts_us -= event.ts_us.rem_euclid(*tick_us));
        }
    }
}

/// The tick of each node that has a coarse one.
fn ticks(spans: &[Span]) -> Ticks {
    let mut known: FxHashMap<Name, Tick> = FxHashMap::default();
    for span in spans {
        let tick = known.entry(span.node).or_default();
        span.events.iter().for_each(|event| tick.see(event.ts_us));
    }
    known.into_iter().filter_map(|(node, tick)| Some((node, tick.us()?))).collect()
}

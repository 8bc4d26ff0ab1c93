//! Ticks: spans of nodes whose clocks print no fractions of seconds, in the order of their lines.

use rustc_hash::FxHashMap;
use schema::Name;
use schema::ticks::{Tick, since_us};

use crate::skeleton::Span;

/// The ticks of the clocks that are coarse, by node, µs.
pub(crate) type Ticks = FxHashMap<Name, i64>;

/// What one file of a node printed in one tick: which lines, by (line, span, place in the span).
type Lines = FxHashMap<(Name, u32, i64), Vec<(u64, usize, usize)>>;

/// Gives the events of nodes with coarse clocks times in the order of their lines.
pub(crate) fn spread(spans: &mut [Span]) -> Ticks {
    let ticks = ticks(spans);
    let mut lines = Lines::default();
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

#[cfg(test)]
mod tests {
    use schema::{Event, Pass, Values};

    use super::*;
    use crate::skeleton::Stored;

    /// A span of `node` with lines (file, line, second).
    fn span(node: &str, lines: &[(u32, u64, i64)]) -> Span {
        let event = |&(file, line, s): &(u32, u64, i64)| Event {
            file,
            line,
            n_lines: 1,
            byte_offset: 0,
            ts_us: s * 1_000_000,
            late_us: 0,
            level: None,
            log_point: None,
            values: Values::default(),
            pass: Pass::Opens,
            reason: Name::default(),
        };
        let span = schema::Span {
            node: Name::from(node),
            thread: None,
            top_levels: Vec::new(),
            identifiers: Vec::new(),
            events: lines.iter().map(event).collect(),
            truncated: false,
            trace: None,
            hosts: Vec::new(),
            n_alike: 1,
        };
        Span::new(span, Stored::default())
    }

    #[test]
    fn lines_of_a_tick_are_in_their_order_in_each_file() {
        let printed = vec![
            span("a", &[(0, 1, 10), (0, 3, 10), (0, 4, 11)]),
            span("a", &[(0, 2, 10), (0, 5, 12)]),
            span("a", &[(1, 7, 10)]),
            span("fine", &[(2, 1, 10)]),
        ];
        let mut spans = printed.clone();
        spans[3].events[0].ts_us += 1;
        let ticks = spread(&mut spans);
        assert_eq!(ticks, Ticks::from_iter([(Name::from("a"), 1_000_000)]));
        let since_us = |at: usize| -> Vec<i64> {
            let times = spans[at].events.iter().zip(&printed[at].events);
            times.map(|(now, printed)| now.ts_us - printed.ts_us).collect()
        };
        assert_eq!(since_us(0), [166_666, 833_333, 500_000]);
        assert_eq!(since_us(1), [500_000, 500_000]);
        assert_eq!(since_us(2), [500_000]);
        assert_eq!(since_us(3), [1]);
        restore(&mut spans, &ticks);
        assert_eq!(spans[..3], printed[..3]);
    }
}

//! Hand-offs of a request in the order of its events: how many of a sender's events must
//! have happened before a receiver's span, and which ones must happen after it (see
//! [`schema::happened_before`]).
//!
//! What the sender prints only before it hands over tells, and in one thread a call: what
//! stands before the first line of what is called was printed before the call, what stands
//! after its last line after it. Who waits until a task is done prints what comes only
//! after that later. A hand-off that the log of one node contradicts is none: its
//! receiver begins before what its sender prints before it hands over. It orders nothing,
//! and the request says so.

use schema::happened_before::{HandOff, Hop, Label, Paths, SkewBounds, Stretch, Taken, taken};
use schema::{Accumulator, CommunicationPair, Event, Link, LinkKind, LogPointId, Model, Name, Span};

/// The order of a request's events as far as its hand-offs show it.
#[derive(Clone, Debug)]
pub(super) struct HandOffs {
    /// Of each span: how it was reached; none: a root.
    pub(super) of_spans: Vec<Option<HandOff>>,
    paths: Paths,
    /// A log shows that a hand-off of it cannot be.
    pub(super) has_conflict: bool,
}

impl HandOffs {
    /// Of `accumulator`, whose spans were each reached by the link in `incoming`.
    pub(super) fn new(model: &Model, accumulator: &Accumulator, incoming: &[Option<Link>]) -> Self {
        let mut has_conflict = false;
        let mut of_span = |(to, link): (&Span, &Option<Link>)| {
            let link = (*link)?;
            let from = &accumulator.spans[link.from as usize];
            let pair = link.pair.and_then(|pair| model.communication_pairs.get(pair.index()));
            let (before, after) = pair.map_or((None, None), |pair| sides(pair, from, to));
            let conflict = contradicts(from, before, to) || before > after.or(before);
            has_conflict |= conflict;
            let known = (!conflict).then_some((before, after));
            let (before, after) = known.unwrap_or_default();
            Some(HandOff { from: link.from, before, after })
        };
        let of_spans: Vec<Option<HandOff>> =
            accumulator.spans.iter().zip(incoming).map(&mut of_span).collect();
        let paths = Paths::new(&of_spans);
        let mut hand_offs = Self { of_spans, paths, has_conflict };
        hand_offs.leave_out_contradicted(accumulator);
        hand_offs
    }

    /// Takes the order from hand-offs that contradict the log of a node over several steps.
    fn leave_out_contradicted(&mut self, accumulator: &Accumulator) {
        loop {
            let is_wrong = |path: &&Vec<Hop>| contradicts_on_the_way(accumulator, path);
            let wrong = self.paths.paths.iter().filter(is_wrong);
            let wrong: Vec<usize> = wrong.filter_map(|path| Some(path.last()?.span as usize)).collect();
            if wrong.is_empty() {
                return;
            }
            self.leave_out(&wrong);
        }
    }

    /// Takes the order from the hand-offs to `spans`.
    pub(super) fn leave_out(&mut self, spans: &[usize]) {
        for &span in spans {
            if let Some(hand_off) = &mut self.of_spans[span] {
                (hand_off.before, hand_off.after) = (None, None);
                self.has_conflict = true;
            }
        }
        self.paths = Paths::new(&self.of_spans);
    }

    /// How long the hand-offs took by the clocks of both ends.
    pub(super) fn taken(&self, accumulator: &Accumulator) -> Vec<Taken> {
        let times = |span: &Span| span.events.iter().map(|event| event.ts_us).collect();
        taken(&self.paths, &accumulator.spans.iter().map(times).collect::<Vec<_>>())
    }

    /// The labels of the spans of `request`; whether clocks contradict each other.
    pub(super) fn labels(
        &self,
        accumulator: &Accumulator,
        request: i64,
        bounds: &SkewBounds<Name>,
    ) -> (Vec<Label>, bool) {
        let mut nodes: Vec<Name> = accumulator.spans.iter().map(|span| span.node).collect();
        nodes.sort_unstable_by_key(|node| node.as_str());
        nodes.dedup();
        let (bounds_us, is_wrong) = bounds.among(&nodes);
        let label = |(i, span): (usize, &Span)| {
            let node = nodes.iter().position(|node| *node == span.node).expect("all nodes are known");
            Label {
                request,
                node: u32::try_from(node).expect("a request has fewer than 2^32 nodes"),
                path: self.paths.paths[i].clone(),
                bounds_us: bounds_us[node].clone(),
            }
        };
        (accumulator.spans.iter().enumerate().map(label).collect(), is_wrong)
    }
}

/// All of a span, or one event of it.
pub(super) fn stretch(events: &[Event], first: usize, last: usize) -> Stretch {
    let number = |at| u32::try_from(at).expect("a span has fewer than 2^32 events");
    Stretch {
        first: number(first),
        last: number(last),
        start_us: events[first].ts_us,
        end_us: events[last].ts_us,
    }
}

/// How many events of the sender precede the receiver, and from which on they follow it.
fn sides(pair: &CommunicationPair, from: &Span, to: &Span) -> (Option<u32>, Option<u32>) {
    // Both work on one object that outlives them: nothing is handed over.
    if pair.kind == LinkKind::Entity || from.events.is_empty() || to.events.is_empty() {
        return (None, None);
    }
    // A way past somebody who prints nothing: its last step says nothing of its first sender.
    if !from.top_levels.contains(&pair.from) {
        return (Some(0), None);
    }
    if pair.from != pair.to && matches!(pair.kind, LinkKind::Call | LinkKind::Ask) {
        return called(from, to);
    }
    let is_among = |points: &[LogPointId], event: &Event| {
        event.log_point.is_some_and(|point| points.binary_search(&point).is_ok())
    };
    let number = |at: usize| u32::try_from(at).expect("a span has fewer than 2^32 events");
    let last_before = from.events.iter().rposition(|event| is_among(&pair.before, event));
    let first_after = from.events.iter().position(|event| is_among(&pair.after, event));
    let after = pair.waits.then(|| number(first_after.unwrap_or(from.events.len())));
    (Some(last_before.map_or(0, |at| number(at + 1))), after)
}

/// The same of a call within one thread: its lines stand between two of the caller's. If
/// they do not, no thread has printed both.
fn called(from: &Span, to: &Span) -> (Option<u32>, Option<u32>) {
    let is_one_thread = from.node == to.node && (from.thread == to.thread);
    let (Some(first), Some(last)) = (to.events.first(), to.events.last()) else { return (None, None) };
    if !is_one_thread {
        return (None, None);
    }
    let number = |n: usize| u32::try_from(n).expect("a span has fewer than 2^32 events");
    let before = from.events.iter().take_while(|event| stands_before(event, first) == Some(true)).count();
    let after = from.events[before..].iter().all(|event| stands_before(last, event) == Some(true));
    if after { (Some(number(before)), Some(number(before))) } else { (None, None) }
}

/// Whether one of two lines of a node was printed first; none: they are in different files
/// and of one time.
fn stands_before(a: &Event, b: &Event) -> Option<bool> {
    if a.file == b.file { Some(a.line < b.line) } else { (a.ts_us != b.ts_us).then_some(a.ts_us < b.ts_us) }
}

/// Whether the log of a node shows a span before what precedes it on its way from there, or
/// after what follows it.
fn contradicts_on_the_way(accumulator: &Accumulator, path: &[Hop]) -> bool {
    let Some(span) = path.last().map(|hop| &accumulator.spans[hop.span as usize]) else { return false };
    let (Some(first), Some(last)) = (span.events.first(), span.events.last()) else { return false };
    let ways = || path.windows(2).rev().map(|two| (&accumulator.spans[two[0].span as usize], two[1]));
    let mut before = ways().map_while(|(sender, hop)| Some((sender, hop.before? as usize)));
    let mut after = ways().map_while(|(sender, hop)| Some((sender, hop.after? as usize)));
    let is_late = |(sender, until): (&Span, usize)| {
        let sent = until.checked_sub(1).and_then(|at| sender.events.get(at));
        sender.node == span.node && sent.is_some_and(|sent| stands_before(first, sent) == Some(true))
    };
    let is_early = |(sender, from): (&Span, usize)| {
        let told = sender.events.get(from);
        sender.node == span.node && told.is_some_and(|told| stands_before(told, last) == Some(true))
    };
    before.any(is_late) || after.any(is_early)
}

/// Whether the log of one node shows what precedes a hand-off after the receiver has begun.
fn contradicts(from: &Span, before: Option<u32>, to: &Span) -> bool {
    let last = before.and_then(|n| from.events.get((n as usize).checked_sub(1)?));
    let (Some(last), Some(first)) = (last, to.events.first()) else { return false };
    from.node == to.node && stands_before(first, last) == Some(true)
}

#[cfg(test)]
mod tests;

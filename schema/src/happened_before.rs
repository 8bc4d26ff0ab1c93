//! Happened before: which of two events of one request came first, as far as anybody can
//! know (Pivot Tracing §3, after Lamport).
//!
//! In one request, event a comes before event b
//! - *must*: in the order of one span; or along hand-offs: what a sender has printed before
//!   it hands over comes before everything of the receiver's span, what it prints after it
//!   has waited for the receiver after everything of that; and what follows from these. A
//!   sender has begun before it hands over, and is not done before it has waited, whatever
//!   it prints: so order goes on past a span that prints nothing there.
//! - *may*: only clocks say so, and by more than the clocks of the two nodes can be apart.
//!   That is known from the hand-offs: nothing is received before it was sent.
//! - *concurrent*: all else.
//!
//! *Must* is a strict partial order, and so is *must or may*, as long as no two clocks
//! contradict each other. The place of two lines in one file orders nothing: what one
//! thread printed is one span, or is handed over within the thread by a call.
//!
//! The order is kept as one [`Label`] per span, never as pairs of events: the spans that
//! the request came along, each with the positions in its sender's span between which it
//! lies. A span is one thread's work, so of two spans a part at the beginning of the one
//! precedes a part at the end of the other ([`Precedes`]); nothing else is possible.
//! Deciding costs the length of the way that two spans have in common.

mod bounds;
mod label;
mod path;
#[cfg(any(test, feature = "sketch"))]
pub mod random;

pub use bounds::{NODES_MAX, SkewBounds, Taken, taken};
pub use label::Label;
pub use path::{HOPS_MAX, HandOff, Hop, Paths};

/// A row of `events` or `spans` in the order of its request: a stretch of a span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// Position of its first event in the span, from 0.
    pub first: u32,
    /// Position of its last event; of one event the same.
    pub last: u32,
    /// Time of its first event, µs since 1970 UTC, by a clock that is never set back.
    pub start_us: i64,
    /// Time of its last event.
    pub end_us: i64,
}

/// How two stretches of spans stand to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The first must have happened before the second.
    Before,
    /// The second must have happened before the first.
    After,
    /// Only clocks say that the first happened before the second.
    MayBefore,
    /// Only clocks say that the second happened before the first.
    MayAfter,
    /// Nothing orders them.
    Concurrent,
    /// They have an event in common: one is the other one or a part of it.
    Overlapping,
    /// They are of two requests.
    Unrelated,
}

/// Which events of one span precede which of another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precedes {
    /// None does.
    Nothing,
    /// It is the same span: an event precedes those with a higher position.
    InSpan,
    /// Each of the first at a position below `until` precedes each of the second from
    /// position `from` on.
    Block {
        /// Positions in the first span, `u32::MAX` for all.
        until: u32,
        /// Positions in the second span.
        from: u32,
    },
}

impl Precedes {
    /// Whether all of `a` precedes all of `b`.
    #[must_use]
    pub fn holds(self, a: Stretch, b: Stretch) -> bool {
        match self {
            Precedes::Nothing => false,
            Precedes::InSpan => a.last < b.first,
            Precedes::Block { until, from } => a.last < until && b.first >= from,
        }
    }
}

/// What the hand-offs say of two spans.
#[must_use]
pub fn precedes(a: &Label, b: &Label) -> Precedes {
    if a.request != b.request {
        return Precedes::Nothing;
    }
    let (up, down) = apart(a, b);
    let is_begun = down.iter().all(|hop| hop.before.is_some());
    let is_awaited = up.iter().all(|hop| hop.after.is_some());
    if up.len() == a.path.len() || !is_begun || !is_awaited {
        return Precedes::Nothing;
    }
    match (up.first().and_then(|hop| hop.after), down.first().and_then(|hop| hop.before)) {
        (None, None) => Precedes::InSpan,
        (None, Some(0)) => Precedes::Nothing,
        (None, Some(before)) => Precedes::Block { until: before, from: 0 },
        (Some(after), None) => Precedes::Block { until: u32::MAX, from: after },
        (Some(after), Some(before)) if after < before => Precedes::Block { until: u32::MAX, from: 0 },
        (Some(_), Some(_)) => Precedes::Nothing,
    }
}

/// What the two ways do not have in common.
fn apart<'l>(a: &'l Label, b: &'l Label) -> (&'l [Hop], &'l [Hop]) {
    let n_common = a.path.iter().zip(&b.path).take_while(|(a, b)| a.span == b.span).count();
    (&a.path[n_common..], &b.path[n_common..])
}

/// How `a` stands to `b`.
#[must_use]
pub fn order(a: (&Label, Stretch), b: (&Label, Stretch)) -> Order {
    if a.0.request != b.0.request {
        return Order::Unrelated;
    }
    let forward = precedes(a.0, b.0);
    if forward == Precedes::InSpan && a.1.first <= b.1.last && b.1.first <= a.1.last {
        return Order::Overlapping;
    }
    if forward.holds(a.1, b.1) {
        return Order::Before;
    }
    if precedes(b.0, a.0).holds(b.1, a.1) {
        return Order::After;
    }
    if clocks_say(a, b) {
        Order::MayBefore
    } else if clocks_say(b, a) {
        Order::MayAfter
    } else {
        Order::Concurrent
    }
}

/// Whether `b` is later than `a` by more than their clocks can be apart.
fn clocks_say(a: (&Label, Stretch), b: (&Label, Stretch)) -> bool {
    let bound_us = a.0.bound_us(b.0.node);
    bound_us.is_some_and(|us| a.1.end_us.saturating_add(us) < b.1.start_us)
}

/// Whether the request came to `b` by way of `a`, another span.
#[must_use]
pub fn is_ancestor(a: &Label, b: &Label) -> bool {
    let (up, down) = apart(a, b);
    a.request == b.request && up.is_empty() && !down.is_empty()
}

/// Whether the span `a` was handed over to by `b` itself.
#[must_use]
pub fn is_child(a: &Label, b: &Label) -> bool {
    let (up, down) = apart(a, b);
    a.request == b.request && up.len() == 1 && down.is_empty()
}

#[cfg(test)]
mod tests;

//! Regions of code: the time between two log points of a span, or between one of them and the
//! first or last line of a span that it waits for. They divide the time of its own that
//! `operation_self` is the sum of, so that a report can end in lines of code.
//!
//! What a span hands over to somebody for whom it does not wait is a region too: from the
//! last line that it prints before that one begins to the first line of that one.

use rustc_hash::FxHashMap;

use super::groups::Request;
use super::plan::Place;
use super::shape::Shape;
use crate::request::trace::{Span, Wait};

/// An end of a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Edge {
    /// A line of the span itself, by its log point; none: not known which one.
    Line(Option<i64>),
    /// The first line of a span that it started.
    Begins(Option<i64>),
    /// The last line of a span that it waited for.
    Ends(Option<i64>),
}

/// A region of code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Region {
    /// What the span does.
    pub(crate) operation: u32,
    /// Where it begins.
    pub(crate) from: Edge,
    /// Where it ends.
    pub(crate) to: Edge,
}

/// Once through a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Visit {
    /// The region.
    pub(crate) region: Region,
    /// The place of the span in its group of layer 4.
    pub(crate) place: u32,
    /// The subspan of it in which the region begins; none: the span was handed over in it.
    pub(crate) subspan: Option<u32>,
    /// How long it took.
    pub(crate) us: i64,
}

/// Visits of one region, within one subspan of a group of layer 4.
#[derive(Clone, Debug, Default)]
pub(crate) struct Visits {
    /// The request of each.
    pub(crate) requests: Vec<u32>,
    /// How long each took.
    pub(crate) us: Vec<i64>,
}

/// Where a region was visited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Site {
    /// The region.
    pub(crate) region: Region,
    /// The group of layer 4.
    pub(crate) group: u32,
    /// The span in it.
    pub(crate) place: u32,
    /// The subspan of it.
    pub(crate) subspan: Option<u32>,
}

/// All visits.
#[derive(Clone, Debug, Default)]
pub(crate) struct Regions {
    numbers: FxHashMap<Site, u32>,
    sites: Vec<(Site, Visits)>,
}

impl Regions {
    /// Adds those of a request.
    pub(crate) fn add(&mut self, request: u32, group: u32, visits: Vec<Visit>) {
        for Visit { region, place, subspan, us } in visits {
            let site = Site { region, group, place, subspan };
            let number = *self.numbers.entry(site).or_insert_with(|| {
                self.sites.push((site, Visits::default()));
                u32::try_from(self.sites.len() - 1).expect("fewer than 2^32 sites")
            });
            let visits = &mut self.sites[number as usize].1;
            visits.requests.push(request);
            visits.us.push(us);
        }
    }

    /// All of them, in the order in which they were met first.
    pub(crate) fn sites(&self) -> &[(Site, Visits)] {
        &self.sites
    }
}

/// The regions that a request went through; none if its lines are not known.
pub(crate) fn visits(request: &Request, shape: &Shape, places: &[Place]) -> Vec<Visit> {
    let mut found = Vec::new();
    if request.printed.is_empty() {
        return found;
    }
    for (at, &span) in (0..).zip(&shape.places) {
        own_visits(request, shape, places, (at, span), &mut found);
        hand_over_visit(request, shape, (at, &places[at as usize]), span, &mut found);
    }
    found
}

/// What happens in a span: lines, and the first and last one of those it waits for.
fn own_visits(
    request: &Request,
    shape: &Shape,
    places: &[Place],
    (at, number): (u32, u32),
    found: &mut Vec<Visit>,
) {
    let spans = &request.trace.spans;
    let span = &spans[number as usize];
    let printed = &request.printed[number as usize];
    // Time, order at that time, how many more run from then on, and what it is.
    let mut edges: Vec<(i64, u8, i32, Edge)> = Vec::new();
    edges.extend(
        printed.iter().map(|&(us, point)| (us.clamp(span.start_us, span.end_us), 1, 0, Edge::Line(point))),
    );
    for &child in request.trace.children(number) {
        let Span { wait, start_us, end_us, .. } = spans[child as usize];
        if wait == Wait::Nobody {
            continue;
        }
        let lines = &request.printed[child as usize];
        let is_moment = start_us == end_us;
        edges.push((start_us, 2, 1, Edge::Begins(lines.first().and_then(|line| line.1))));
        let place = if is_moment { 2 } else { 0 };
        edges.push((end_us, place, -1, Edge::Ends(lines.last().and_then(|line| line.1))));
    }
    edges.sort_by_key(|&(us, order, ..)| (us, order));
    let starts = subspan_starts(&request.trace.spans, shape, &places[at as usize]);
    let mut n_running = 0;
    for pair in edges.windows(2) {
        let ((from_us, _, change, from), (to_us, _, _, to)) = (pair[0], pair[1]);
        n_running += change;
        if n_running == 0 {
            let region = Region { operation: span.operation, from, to };
            let subspan = starts.partition_point(|&start| start <= from_us).saturating_sub(1);
            let subspan = Some(u32::try_from(subspan).expect("fewer than 2^32 subspans"));
            found.push(Visit { region, place: at, subspan, us: to_us - from_us });
        }
    }
}

/// When the subspans of a span start, which is in order.
fn subspan_starts(spans: &[Span], shape: &Shape, place: &Place) -> Vec<i64> {
    let time = |mark: u32| {
        let span = &spans[shape.places[mark as usize / 2] as usize];
        if mark.is_multiple_of(2) { span.start_us } else { span.end_us }
    };
    place.subspans.iter().map(|&(from, _)| time(from)).collect()
}

/// From the line before a span was handed over to the first line of it.
fn hand_over_visit(
    request: &Request,
    shape: &Shape,
    (at, place): (u32, &Place),
    number: u32,
    found: &mut Vec<Visit>,
) {
    let spans = &request.trace.spans;
    let span = &spans[number as usize];
    let (Some(parent), Wait::Nobody) = (place.parent, span.wait) else { return };
    let sender = shape.places[parent as usize];
    let lines = &request.printed[sender as usize];
    let before = lines.iter().rfind(|line| line.0 <= span.start_us).or(lines.first());
    let (Some(&(from_us, from)), Some(&(_, to))) = (before, request.printed[number as usize].first()) else {
        return;
    };
    let operation = spans[sender as usize].operation;
    let region = Region { operation, from: Edge::Line(from), to: Edge::Begins(to) };
    found.push(Visit { region, place: at, subspan: None, us: (span.start_us - from_us).max(0) });
}

#[cfg(test)]
mod tests;

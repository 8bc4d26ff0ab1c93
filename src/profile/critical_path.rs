//! The critical path of a request: the spans, one at each time, without which it would have
//! ended earlier; the slack of each span, which is how much later it can end without the
//! request ending later; and how long requests would take if some of the code were quicker.
//!
//! Back from the end: where a span waits, the child that ended last before it went on is on
//! the path, from its end to its start, and then what came before that start. Who started a
//! span for which nobody waits is on the path until then, and the time between is its
//! hand-over. What is presumed of dependencies is what the order shows: who starts after
//! another one has ended has waited for it, as in Gantt charts (Kelley and Walker, 1959).

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::groups::{Group, Groups};
use super::layers::Subject;
use super::plan::Place;
use super::shape::Moment;
use super::statistics::{Statistics, quantile};

/// A part of a critical path: of a span, or of the hand-over to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    /// The span.
    pub(crate) place: u32,
    /// Before it starts, after its parent has ended.
    pub(crate) is_hand_over: bool,
    /// µs.
    pub(crate) from_us: i64,
    /// µs.
    pub(crate) to_us: i64,
}

/// The path of a request with the times `row`, from its end back to the start of a root.
pub(crate) fn critical_path(places: &[Place], row: &[i64]) -> Vec<Part> {
    let mut path = Vec::new();
    let end = |place: u32| row[2 * place as usize + 1];
    // Of several that end last the outermost one, which stands first.
    let last = (0..places.len() as u32).max_by_key(|&place| (end(place), std::cmp::Reverse(place)));
    let mut next = last.map(|last| (last, end(last)));
    while let Some((place, until)) = next {
        walk(places, row, place, until, &mut path);
        let start = row[2 * place as usize];
        next = places[place as usize].parent.map(|parent| {
            if end(parent) < start {
                path.push(Part { place, is_hand_over: true, from_us: end(parent), to_us: start });
            }
            (parent, start.min(end(parent)))
        });
    }
    path
}

/// The path from `until` back to the start of a span, through those it waited for.
fn walk(places: &[Place], row: &[i64], place: u32, until: i64, path: &mut Vec<Part>) {
    // Span, up to when, moments that are left.
    let mut open: Vec<(u32, i64, usize)> = vec![(place, until, places[place as usize].moments.len())];
    while let Some((at, until, left)) = open.pop() {
        let moments = &places[at as usize].moments[..left];
        let ended = moments.iter().rposition(|moment| match moment {
            Moment::End(child) => row[2 * *child as usize + 1] <= until,
            _ => false,
        });
        let own_from = match ended {
            Some(index) => {
                let Moment::End(child) = moments[index] else { unreachable!("only ends were looked for") };
                let (from, to) = (row[2 * child as usize], row[2 * child as usize + 1]);
                open.push((at, from, index));
                open.push((child, to, places[child as usize].moments.len()));
                to
            }
            None => row[2 * at as usize],
        };
        if own_from < until {
            path.push(Part { place: at, is_hand_over: false, from_us: own_from, to_us: until });
        }
    }
}

/// How much later each span could end without the request ending later, µs.
pub(crate) fn slacks(places: &[Place], row: &[i64]) -> Vec<i64> {
    let (start, end) = (|p: u32| row[2 * p as usize], |p: u32| row[2 * p as usize + 1]);
    let over = (0..places.len() as u32).map(end).max().unwrap_or_default();
    // Who starts later is later with all that it starts.
    let mut last: Vec<i64> = (0..places.len() as u32).map(end).collect();
    for (at, place) in places.iter().enumerate().rev() {
        if let Some(parent) = place.parent {
            last[parent as usize] = last[parent as usize].max(last[at]);
        }
    }
    // Children stand after their parents, whose latest end is known then.
    let mut latest: Vec<i64> = vec![over; places.len()];
    for (at, place) in (0..).zip(places) {
        // When the last child had ended before each moment; before the first one the start.
        let mut since = start(at);
        let sinces: Vec<i64> = place
            .moments
            .iter()
            .map(|moment| {
                let before = since;
                if let Moment::End(child) = moment {
                    since = end(*child);
                }
                before
            })
            .collect();
        let mut bound = latest[at as usize];
        for (moment, since) in place.moments.iter().zip(sinces).rev() {
            match *moment {
                Moment::Over => bound = bound.min(latest[at as usize] - (end(at) - since)),
                Moment::End(child) => latest[child as usize] = bound,
                Moment::Start(child) => {
                    let later = (over - last[child as usize]).min(latest[child as usize] - end(child));
                    let latest_start = start(child) + later;
                    // What starts after the end was handed over then.
                    let is_late = start(child) > end(at);
                    let wait = start(child) - if is_late { end(at) } else { since };
                    bound = bound.min(latest_start - wait);
                    if is_late {
                        latest[at as usize] = bound;
                    }
                }
            }
        }
    }
    (0..places.len() as u32).map(|p| latest[p as usize] - end(p)).collect()
}

/// What one operation or hand-over has of the critical paths of a type of requests.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct OnPath {
    /// The type.
    pub(crate) request_type: u32,
    /// The operation or hand-over.
    pub(crate) subject: Subject,
    /// Its time on the path, of the requests in which it is on it.
    pub(crate) statistics: Statistics,
    /// Its share of the time of all requests of the type.
    pub(crate) share: f64,
    /// Requests in which it is on the path, and all of the type.
    pub(crate) n_requests: (u64, u64),
    /// Median of the slack of its spans; none of a hand-over.
    pub(crate) slack_p50_us: Option<i64>,
}

/// The critical paths of all requests by type, most time first.
pub(crate) fn on_paths(groups: &Groups) -> Vec<OnPath> {
    let mut found = Vec::new();
    for (request_type, of_type) in groups.by_type() {
        let members: Vec<&Group> = of_type.iter().map(|&group| &groups.groups[group as usize]).collect();
        let of_groups: Vec<Times> = members.par_iter().map(|group| times(group)).collect();
        let mut all = Times::default();
        for times in of_groups {
            times.on_path.into_iter().for_each(|(s, us)| all.on_path.entry(s).or_default().extend(us));
            times.slack.into_iter().for_each(|(s, us)| all.slack.entry(s).or_default().extend(us));
        }
        let n_all = groups.members(&of_type).count() as u64;
        let durations =
            groups.members(&of_type).map(|r| i128::from(groups.requests.durations_us[r as usize]));
        let total: i128 = durations.sum();
        let mut rows: Vec<OnPath> = Vec::new();
        for (subject, mut us) in all.on_path {
            let statistics = Statistics::of(&mut us);
            rows.push(OnPath {
                request_type,
                subject,
                statistics,
                share: statistics.total_us as f64 / total.max(1) as f64,
                n_requests: (statistics.count, n_all),
                slack_p50_us: all.slack.get_mut(&subject).map(|us| quantile(us, 50)),
            });
        }
        rows.sort_by_key(|row| std::cmp::Reverse(row.statistics.total_us));
        found.extend(rows);
    }
    found
}

#[derive(Default)]
struct Times {
    /// For each request in which it is on the path, how long.
    on_path: BTreeMap<Subject, Vec<i64>>,
    /// For each span.
    slack: BTreeMap<Subject, Vec<i64>>,
}

fn times(group: &Group) -> Times {
    let mut found = Times::default();
    let operation = |place: u32| group.places[place as usize].operation;
    for row in group.rows() {
        let mut of_request: BTreeMap<Subject, i64> = BTreeMap::new();
        for part in critical_path(&group.places, row) {
            let of = operation(part.place);
            let subject = match group.places[part.place as usize].parent {
                Some(parent) if part.is_hand_over => Subject::HandOver(operation(parent), of),
                _ => Subject::Operation(of),
            };
            *of_request.entry(subject).or_default() += part.to_us - part.from_us;
        }
        of_request.into_iter().for_each(|(subject, us)| found.on_path.entry(subject).or_default().push(us));
        for (place, slack) in (0..).zip(slacks(&group.places, row)) {
            found.slack.entry(Subject::Operation(operation(place))).or_default().push(slack);
        }
    }
    found
}

/// How much quicker the code of some operations and hand-overs would be.
pub(crate) type SpeedUps = BTreeMap<Subject, f64>;

/// How long a request would take, µs.
pub(crate) fn what_if(places: &[Place], row: &[i64], speed_ups: &SpeedUps) -> f64 {
    let factor = |subject: Subject| speed_ups.get(&subject).copied().unwrap_or(1.0);
    let (start, end) = (|p: u32| row[2 * p as usize], |p: u32| row[2 * p as usize + 1]);
    // How long each span lasts, and how long after the start of its parent it starts.
    let mut lasts = vec![0.0_f64; places.len()];
    let mut starts = vec![0.0_f64; places.len()];
    for at in (0..places.len() as u32).rev() {
        let place = &places[at as usize];
        let own = factor(Subject::Operation(place.operation));
        let mut now = 0.0_f64;
        let mut before = start(at);
        let mut is_over = false;
        for moment in &place.moments {
            match *moment {
                Moment::Start(child) if is_over => {
                    let of = places[child as usize].operation;
                    let waits = (start(child) - end(at)) as f64;
                    starts[child as usize] = now + waits / factor(Subject::HandOver(place.operation, of));
                }
                Moment::Start(child) => {
                    now += (start(child) - before) as f64 / own;
                    starts[child as usize] = now;
                    before = start(child);
                }
                Moment::End(child) => {
                    now = now.max(starts[child as usize] + lasts[child as usize]);
                    before = end(child);
                }
                Moment::Over => {
                    now += (end(at) - before) as f64 / own;
                    is_over = true;
                }
            }
        }
        lasts[at as usize] = now;
    }
    let (mut first, mut last) = (f64::INFINITY, f64::NEG_INFINITY);
    for (at, place) in places.iter().enumerate() {
        starts[at] += place.parent.map_or(row[2 * at] as f64, |parent| starts[parent as usize]);
        first = first.min(starts[at]);
        last = last.max(starts[at] + lasts[at]);
    }
    (last - first).max(0.0)
}

/// Durations of requests as they are and as they would be.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Predicted {
    /// The type; none: all.
    pub(crate) request_type: Option<u32>,
    /// As they are.
    pub(crate) now: Statistics,
    /// As they would be.
    pub(crate) then: Statistics,
}

/// Durations of all requests and of each type if some code were quicker.
pub(crate) fn predict(groups: &Groups, speed_ups: &SpeedUps) -> Vec<Predicted> {
    let (mut all_now, mut all_then) = (Vec::new(), Vec::new());
    let mut found = Vec::new();
    for (request_type, of_type) in groups.by_type() {
        let mut now: Vec<i64> =
            groups.members(&of_type).map(|r| groups.requests.durations_us[r as usize]).collect();
        let of_group = |&group: &u32| {
            let group = &groups.groups[group as usize];
            group.rows().map(|row| what_if(&group.places, row, speed_ups).round() as i64).collect::<Vec<_>>()
        };
        let mut then: Vec<i64> = of_type.par_iter().flat_map_iter(of_group).collect();
        all_now.extend_from_slice(&now);
        all_then.extend_from_slice(&then);
        let (now, then) = (Statistics::of(&mut now), Statistics::of(&mut then));
        found.push(Predicted { request_type: Some(request_type), now, then });
    }
    let (now, then) = (Statistics::of(&mut all_now), Statistics::of(&mut all_then));
    found.insert(0, Predicted { request_type: None, now, then });
    found
}

#[cfg(test)]
mod tests;

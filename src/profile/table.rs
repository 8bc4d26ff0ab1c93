//! Requests of a request table in groups, of which only some thousand are held at a time; and
//! what some of them printed.

use std::sync::mpsc::sync_channel;

use anyhow::{Result, bail};
use reducer::table::Manifest;
use schema::tables::{EventTiming, RequestTiming, SpanTiming};

use super::groups::{Groups, Request};
use crate::request::{forest, places_of};
use crate::table::files::{self, Part};

/// Requests that are held at a time.
const REQUESTS_HELD_MAX: usize = 1 << 12;

/// Batches of so many requests that are read before they are put into groups.
const BATCHES_AHEAD_MAX: usize = 2;

/// A request with what of its rows a profile reads.
type Found = files::Found<RequestTiming, SpanTiming, EventTiming>;

/// All requests of `manifest` in groups; `population` says of which one a request is, by its
/// id, and none if it is of none. With `lines`, the times between log points too, if the table keeps
/// events. One thread reads what the others put into groups.
pub(crate) fn read(
    manifest: &Manifest,
    population: &(dyn Fn(&str) -> Option<u8> + Sync),
    lines: bool,
) -> Result<Groups> {
    read_from(manifest, None, population, lines)
}

/// The requests of `manifest` that stand at `places`, by file, in groups, with the times between
/// log points if the table keeps events.
#[cfg(feature = "serve")]
pub(crate) fn read_at(manifest: &Manifest, places: &[Vec<files::Place>]) -> Result<Groups> {
    read_from(manifest, Some(places), &|_| Some(0), true)
}

fn read_from(
    manifest: &Manifest,
    places: Option<&[Vec<files::Place>]>,
    population: &(dyn Fn(&str) -> Option<u8> + Sync),
    lines: bool,
) -> Result<Groups> {
    let mut groups = Groups::default();
    std::thread::scope(|scope| {
        let (sender, receiver) = sync_channel(BATCHES_AHEAD_MAX);
        let reader = scope.spawn(move || {
            let wanted = |id: &str| population(id).is_some();
            // Who takes them has failed if nobody does.
            read_parts(manifest, places, (&wanted, lines), &mut |batch| sender.send(batch).is_ok())
        });
        for batch in receiver {
            let request = |(request, spans, events): &Found| {
                let population = population(&request.request_id).unwrap_or_default();
                found(&mut groups, request, spans, events, population)
            };
            let requests = batch.iter().map(request).collect();
            groups.add(requests);
        }
        reader.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })?;
    Ok(groups)
}

/// All requests of `manifest`, held at once.
#[cfg(test)]
pub(crate) fn requests(manifest: &Manifest) -> Result<Vec<Request>> {
    let (mut groups, mut all) = (Groups::default(), Vec::new());
    read_parts(manifest, None, (&|_| true, false), &mut |batch| {
        let one = |(request, spans, events): &Found| found(&mut groups, request, spans, events, 0);
        all.extend(batch.iter().map(one));
        true
    })?;
    Ok(all)
}

/// Hands requests that are `wanted` to `take`, some thousand at a time, until it wants no more: of
/// those at `places`, if there are any.
fn read_parts(
    manifest: &Manifest,
    places: Option<&[Vec<files::Place>]>,
    (wanted, lines): (&dyn Fn(&str) -> bool, bool),
    take: &mut dyn FnMut(Vec<Found>) -> bool,
) -> Result<()> {
    let mut held = Vec::with_capacity(REQUESTS_HELD_MAX);
    for (number, mut paths) in files::paths(manifest).into_iter().enumerate() {
        let places = places.map(|places| places.get(number).map_or(&[][..], Vec::as_slice));
        if places.is_some_and(<[_]>::is_empty) {
            continue;
        }
        if paths.spans.is_none() && manifest.thinned.before_us("spans").is_some() {
            // Who asks is told that they are not there any more.
            continue;
        }
        if paths.spans.is_none() {
            bail!("`{}`: keeps no spans; `lprof reduce --keep spans` does", manifest.folder.display());
        }
        paths.events = paths.events.filter(|_| lines);
        let mut part: Part<RequestTiming, SpanTiming, EventTiming> = Part::open(&paths, places)?;
        while let Some(request) = part.next()? {
            if !wanted(&request.0.request_id) {
                continue;
            }
            held.push(request);
            if held.len() == REQUESTS_HELD_MAX && !take(std::mem::take(&mut held)) {
                return Ok(());
            }
        }
    }
    take(held);
    Ok(())
}

fn found(
    groups: &mut Groups,
    request: &RequestTiming,
    rows: &[SpanTiming],
    events: &[EventTiming],
    population: u8,
) -> Request {
    let (kept, trace, repairs) = forest(rows, |name| groups.names.number(name));
    groups.repairs.add(repairs);
    let ids: Vec<&str> = kept.iter().map(|&at| &*rows[at].span_id).collect();
    let printed = if events.is_empty() { Vec::new() } else { printed(&ids, events) };
    let request_type = groups.names.number(&request.request_type);
    Request { id: (&*request.request_id).into(), request_type, trace, printed, population }
}

/// What each span printed.
fn printed(ids: &[&str], events: &[EventTiming]) -> Vec<Vec<(i64, Option<i64>)>> {
    let mut printed = vec![Vec::new(); ids.len()];
    let places = places_of(ids, events.iter().map(|event| event.span_id.as_deref()));
    for (event, place) in events.iter().zip(places) {
        if let Some(place) = place {
            printed[place].push((event.ts.0, event.log_point_id));
        }
    }
    printed
}

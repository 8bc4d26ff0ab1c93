//! Requests of a request table in groups, of which only some thousand are held at a time; and
//! what some of them printed.

use std::sync::mpsc::sync_channel;

use crate::error::{Result, bail};
use reducer::table::Manifest;
use schema::tables::{EventTiming, RequestTiming, SpanTiming};

use super::groups::{Groups, Request};
use crate::releases::Translation;
use crate::request::{forest, places_of};
use crate::table::files::{self, Part};

/// Requests that are held at a time.
const REQUESTS_HELD_MAX: usize = 1 << 12;

/// Batches of so many requests that are read before they are put into groups.
const BATCHES_AHEAD_MAX: usize = 2;

/// A request with what of its rows a profile reads.
type Found = files::Found<RequestTiming, SpanTiming, EventTiming>;

/// What of a table is read, and in which words it is told.
#[derive(Clone, Copy)]
pub(crate) struct Scope<'a> {
    /// Says of which population a request is, by its id, and none if it is of none.
    pub(crate) population: &'a (dyn Fn(&str) -> Option<u8> + Sync),
    /// Read the times between log points too, if the table keeps events.
    pub(crate) lines: bool,
    /// Where the requests stand that are read, by file; none: all of them.
    pub(crate) places: Option<&'a [Vec<files::Place>]>,
    /// Another release that it is compared with, and whether this one is the first, whose names and numbers
    /// are told in those of the second. Of times between log points those count that both releases have: a
    /// statement that only one of them has would divide what is one region of the other.
    pub(crate) beside: Option<(&'a Translation, bool)>,
}

impl<'a> Scope<'a> {
    /// The name of a top-level method.
    pub(crate) fn name<'n>(&self, name: &'n str) -> &'n str
    where
        'a: 'n,
    {
        match self.beside {
            Some((translation, true)) => translation.name(name),
            _ => name,
        }
    }

    /// The number of a log point.
    pub(crate) fn point(&self, point: i64) -> i64 {
        match self.beside {
            Some((translation, true)) => translation.point(point),
            _ => point,
        }
    }

    /// Whether the other release has a log point too; what no log point printed is in none.
    fn is_shared(&self, point: Option<i64>) -> bool {
        self.beside.is_none_or(|(translation, _)| point.is_some_and(|point| translation.is_shared(point)))
    }
}

/// All requests of `manifest` in groups; `population` says of which one a request is, by its
/// id, and none if it is of none. With `lines`, the times between log points too, if the table keeps
/// events.
pub(crate) fn read(
    manifest: &Manifest,
    population: &(dyn Fn(&str) -> Option<u8> + Sync),
    lines: bool,
) -> Result<Groups> {
    let mut groups = Groups::default();
    add(&mut groups, manifest, Scope { population, lines, places: None, beside: None })?;
    Ok(groups)
}

/// Adds the requests of `manifest` to `groups`. One thread reads what the others put into groups.
pub(crate) fn add(groups: &mut Groups, manifest: &Manifest, scope: Scope<'_>) -> Result<()> {
    std::thread::scope(|threads| {
        let (sender, receiver) = sync_channel(BATCHES_AHEAD_MAX);
        let reader = threads.spawn(move || {
            let wanted = |id: &str| (scope.population)(id).is_some();
            // Who takes them has failed if nobody does.
            let mut take = |batch| sender.send(batch).is_ok();
            read_parts(manifest, scope.places, (&wanted, scope.lines), &mut take)
        });
        for batch in receiver {
            let requests = batch.iter().map(|of| found(groups, of, scope)).collect();
            groups.add(requests);
        }
        reader.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// The requests of `manifest` that stand at `places`, by file, in groups, with the times between
/// log points if the table keeps events.
#[cfg(feature = "serve")]
pub(crate) fn read_at(manifest: &Manifest, places: &[Vec<files::Place>]) -> Result<Groups> {
    let mut groups = Groups::default();
    let scope = Scope { population: &|_| Some(0), lines: true, places: Some(places), beside: None };
    add(&mut groups, manifest, scope)?;
    Ok(groups)
}

/// All requests of `manifest`, held at once.
#[cfg(test)]
pub(crate) fn requests(manifest: &Manifest) -> Result<Vec<Request>> {
    let (mut groups, mut all) = (Groups::default(), Vec::new());
    read_parts(manifest, None, (&|_| true, false), &mut |batch| {
        let scope = Scope { population: &|_| Some(0), lines: false, places: None, beside: None };
        all.extend(batch.iter().map(|of| found(&mut groups, of, scope)));
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
            bail!(Mismatch: "`{}`: keeps no spans; `lprof reduce --keep spans` does", manifest.folder.display());
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

fn found(groups: &mut Groups, (request, rows, events): &Found, scope: Scope<'_>) -> Request {
    let (kept, trace, repairs) = forest(rows, |name| groups.names.number(scope.name(name)));
    groups.repairs.add(repairs);
    let ids: Vec<&str> = kept.iter().map(|&at| &*rows[at].span_id).collect();
    let mut printed = if events.is_empty() { Vec::new() } else { printed(&ids, events) };
    for of_span in &mut printed {
        of_span.iter_mut().for_each(|(_, point)| *point = point.map(|point| scope.point(point)));
        of_span.retain(|(_, point)| scope.is_shared(*point));
    }
    let request_type = groups.names.number(scope.name(&request.request_type));
    let population = (scope.population)(&request.request_id).unwrap_or_default();
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

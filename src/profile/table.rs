//! Requests of a request table, one after the other: the files of one commit and day hold
//! requests, spans and events in the same order, so they are read side by side and only some
//! thousand requests are held at a time.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::mpsc::sync_channel;

use anyhow::{Context as _, Result, bail};
use reducer::table::Manifest;
use schema::tables::{Batches, EventLine, EventTiming, RequestTiming, Row, SpanTiming};

use super::groups::{Groups, Request};
use super::trace::{Repairs, Span, Trace, Wait, resolve};

/// Requests that are held at a time.
const REQUESTS_HELD_MAX: usize = 1 << 12;

/// Batches of so many requests that are read before they are put into groups.
const BATCHES_AHEAD_MAX: usize = 2;

/// Rows of a file, one after the other.
struct Rows<R> {
    batches: Batches<R>,
    path: PathBuf,
    rows: std::vec::IntoIter<R>,
}

impl<R: Row> Rows<R> {
    fn open(path: PathBuf) -> Result<Self> {
        Ok(Self { batches: Batches::open(&path)?, path, rows: Vec::new().into_iter() })
    }

    /// The next row, if it is one that is `wanted`.
    fn next_if(&mut self, wanted: impl Fn(&R) -> bool) -> Result<Option<R>> {
        while self.rows.as_slice().is_empty() {
            match self.batches.next() {
                Some(rows) => self.rows = rows?.into_iter(),
                None => return Ok(None),
            }
        }
        Ok(if wanted(&self.rows.as_slice()[0]) { self.rows.next() } else { None })
    }

    /// The next `n` rows, which have to be of request `id`.
    fn of_request(&mut self, n: i64, id: &str, id_of: impl Fn(&R) -> Option<&str>) -> Result<Vec<R>> {
        let mut rows = Vec::with_capacity(usize::try_from(n).unwrap_or(0).min(REQUESTS_HELD_MAX));
        for _ in 0..n {
            match self.next_if(|row| id_of(row) == Some(id))? {
                Some(row) => rows.push(row),
                None => {
                    bail!("`{}`: not all rows of request {id} are where they belong", self.path.display())
                }
            }
        }
        Ok(rows)
    }
}

/// A request with its spans and events.
type Found = (RequestTiming, Vec<SpanTiming>, Vec<EventTiming>);

/// The files of one commit and day.
struct Part {
    requests: Rows<RequestTiming>,
    spans: Rows<SpanTiming>,
    events: Option<Rows<EventTiming>>,
}

impl Part {
    /// The next request with its rows.
    fn next(&mut self) -> Result<Option<Found>> {
        let Some(request) = self.requests.next_if(|_| true)? else { return Ok(None) };
        let id = &*request.request_id;
        let spans = self.spans.of_request(request.n_spans, id, |span| Some(&*span.request_id))?;
        let events = match &mut self.events {
            Some(events) => events.of_request(request.n_events, id, |event| event.request_id.as_deref())?,
            None => Vec::new(),
        };
        Ok(Some((request, spans, events)))
    }
}

/// All requests of `manifest` in groups; `population` says of which one a request is, by its
/// id, and none if it is of none. With `lines`, the times between log points too, if the table keeps
/// events. One thread reads what the others put into groups.
pub(crate) fn read(
    manifest: &Manifest,
    population: &(dyn Fn(&str) -> Option<u8> + Sync),
    lines: bool,
) -> Result<Groups> {
    let mut groups = Groups::default();
    std::thread::scope(|scope| {
        let (sender, receiver) = sync_channel(BATCHES_AHEAD_MAX);
        let reader = scope.spawn(move || {
            let wanted = |id: &str| population(id).is_some();
            // Who takes them has failed if nobody does.
            read_parts(manifest, &wanted, lines, &mut |batch| sender.send(batch).is_ok())
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
    read_parts(manifest, &|_| true, false, &mut |batch| {
        let one = |(request, spans, events): &Found| found(&mut groups, request, spans, events, 0);
        all.extend(batch.iter().map(one));
        true
    })?;
    Ok(all)
}

/// Hands requests that are `wanted` to `take`, some thousand at a time, until it wants no more.
fn read_parts(
    manifest: &Manifest,
    wanted: &dyn Fn(&str) -> bool,
    lines: bool,
    take: &mut dyn FnMut(Vec<Found>) -> bool,
) -> Result<()> {
    let files: BTreeMap<&str, PathBuf> =
        manifest.files.iter().map(|file| (file.path.as_str(), manifest.folder.join(&file.path))).collect();
    let mut held = Vec::with_capacity(REQUESTS_HELD_MAX);
    for file in manifest.files.iter().filter(|file| file.table == "requests") {
        let beside = |table: &str| {
            let rest = file.path.strip_prefix("requests").unwrap_or(&file.path);
            files.get(format!("{table}{rest}").as_str()).cloned()
        };
        let spans = beside("spans").with_context(|| {
            format!("`{}`: keeps no spans; `lprof reduce --keep spans` does", manifest.folder.display())
        })?;
        let mut part = Part {
            requests: Rows::open(manifest.folder.join(&file.path))?,
            spans: Rows::open(spans)?,
            events: beside("events").filter(|_| lines).map(Rows::open).transpose()?,
        };
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

/// A line that a request printed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PrintedLine {
    /// µs since 1970.
    pub(crate) us: i64,
    /// Where.
    pub(crate) node: String,
    /// The log.
    pub(crate) file: String,
    /// Its line, from 1.
    pub(crate) line: i64,
    /// What printed it.
    pub(crate) log_point: Option<i64>,
}

/// What the requests for which `wanted` has a number printed, by that number and by time.
pub(crate) fn lines(
    manifest: &Manifest,
    wanted: &dyn Fn(&str) -> Option<u32>,
) -> Result<BTreeMap<u32, Vec<PrintedLine>>> {
    let mut found: BTreeMap<u32, Vec<PrintedLine>> = BTreeMap::new();
    for path in manifest.paths("events") {
        for rows in Batches::<EventLine>::open(&path)? {
            for row in rows? {
                let Some(number) = row.request_id.as_deref().and_then(wanted) else { continue };
                found.entry(number).or_default().push(PrintedLine {
                    us: row.ts.0,
                    node: row.node.to_string(),
                    file: row.file.to_string(),
                    line: row.line,
                    log_point: row.log_point_id,
                });
            }
        }
    }
    found.values_mut().for_each(|lines| lines.sort_by_key(|line| line.us));
    Ok(found)
}

fn found(
    groups: &mut Groups,
    request: &RequestTiming,
    rows: &[SpanTiming],
    events: &[EventTiming],
    population: u8,
) -> Request {
    let mut repairs = Repairs::default();
    let ids = rows.iter().map(|row| (&*row.span_id, row.parent_span_id.as_deref()));
    let parents = resolve(ids, &mut repairs);
    let kept: Vec<(&SpanTiming, Option<u32>)> =
        rows.iter().zip(parents).filter_map(|(row, parent)| Some((row, parent?))).collect();
    let span = |&(row, parent): &(&SpanTiming, Option<u32>)| Span {
        operation: groups.names.number(&row.top_level_method),
        parent,
        wait: wait(row, parent.map(|parent| kept[parent as usize].0)),
        start_us: row.start_ts.0,
        end_us: row.end_ts.0,
    };
    let (trace, repaired) = Trace::new(kept.iter().map(span).collect());
    repairs.add(repaired);
    groups.repairs.add(repairs);
    let printed = if events.is_empty() { Vec::new() } else { printed(&kept, events) };
    let request_type = groups.names.number(&request.request_type);
    Request { id: (&*request.request_id).into(), request_type, trace, printed, population }
}

/// What the order of the request's events says: who prints something that must come after it
/// goes on then; who is known to wait and prints nothing more ends with it.
fn wait(row: &SpanTiming, parent: Option<&SpanTiming>) -> Wait {
    match (row.parent_after, parent) {
        (Some(after), Some(parent)) if after < parent.n_events => Wait::Within,
        (Some(_), Some(_)) => Wait::UntilEnd,
        _ => Wait::Nobody,
    }
}

/// What each span printed: events come in the order of spans.
fn printed(kept: &[(&SpanTiming, Option<u32>)], events: &[EventTiming]) -> Vec<Vec<(i64, Option<i64>)>> {
    let mut printed = vec![Vec::new(); kept.len()];
    let mut at = 0;
    for event in events {
        let is_its = |place: &usize| event.span_id.as_deref() == Some(&*kept[*place].0.span_id);
        let place = (at..kept.len()).find(is_its).or_else(|| (0..at).find(is_its));
        if let Some(place) = place {
            printed[place].push((event.ts.0, event.log_point_id));
            at = place;
        }
    }
    printed
}

//! The files of one commit and day hold requests, spans and events in the same order, so they
//! are read side by side: what is held at a time is one request and a batch of each.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::PathBuf;

use crate::error::{Result, bail};
use reducer::table::{Manifest, indexes};
use schema::tables::{
    Batches, EventRow, EventTiming, RequestNodeTime, RequestRow, RequestTiming, Row, SpanRow, SpanTiming,
    each_request,
};

/// Rows of a request that are made room for before they are read.
const ROWS_AHEAD_MAX: usize = 1 << 12;

/// What a row says of the request it is of.
pub(crate) trait InRequest {
    /// The request; none: it is of none.
    fn request_id(&self) -> Option<&str>;
}

/// What a row of `requests` says of the rows beside it.
pub(crate) trait Counted: InRequest {
    /// Spans and events.
    fn counts(&self) -> (i64, i64);
}

macro_rules! in_request {
    ($($row:ty),*; $($event:ty),*; $($request:ty),*) => {
        $(impl InRequest for $row {
            fn request_id(&self) -> Option<&str> {
                Some(&self.request_id)
            }
        })*
        $(impl InRequest for $event {
            fn request_id(&self) -> Option<&str> {
                self.request_id.as_deref()
            }
        })*
        $(impl Counted for $request {
            fn counts(&self) -> (i64, i64) {
                (self.n_spans, self.n_events)
            }
        })*
    };
}

in_request!(
    RequestRow, RequestTiming, SpanRow, SpanTiming, RequestNodeTime;
    EventRow, EventTiming;
    RequestRow, RequestTiming
);

/// Paths of the files of one commit and day.
#[derive(Clone, Debug)]
pub(crate) struct Paths {
    /// Its requests.
    pub(crate) requests: PathBuf,
    /// Their spans, if the table keeps them.
    pub(crate) spans: Option<PathBuf>,
    /// Their events, if the table keeps them.
    pub(crate) events: Option<PathBuf>,
    /// The nodes they were on.
    pub(crate) nodes: Option<PathBuf>,
    /// The index of the requests; none: the table is older.
    pub(crate) index: Option<PathBuf>,
    /// Checksum of the file of requests.
    pub(crate) digest: u128,
}

/// The files of a table that hold requests, in order of commit.
pub(crate) fn paths(manifest: &Manifest) -> Vec<Paths> {
    let all: BTreeMap<&str, PathBuf> =
        manifest.files.iter().map(|file| (file.path.as_str(), manifest.folder.join(&file.path))).collect();
    let requests = manifest.files.iter().filter(|file| file.table == "requests");
    let paths = requests.map(|file| {
        let (before, rest) = file.path.split_once("requests").unwrap_or(("", &file.path));
        let beside = |table: &str| all.get(format!("{before}{table}{rest}").as_str()).cloned();
        Paths {
            requests: manifest.folder.join(&file.path),
            spans: beside("spans"),
            events: beside("events"),
            nodes: beside("request_nodes"),
            index: all.get(indexes::path_of(&file.path).as_str()).cloned(),
            digest: file.digest,
        }
    });
    paths.collect()
}

/// Where a request stands in its files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Place {
    /// Its row.
    pub(crate) row: usize,
    /// Its first span, and how many.
    pub(crate) spans: (usize, usize),
    /// Its first event, and how many.
    pub(crate) events: (usize, usize),
}

/// Tells `take` of all requests of a file where they stand.
pub(crate) fn each_place(paths: &Paths, take: &mut dyn FnMut(&str, Place)) -> Result<()> {
    let mut at = Place::default();
    each_request(&paths.requests, &mut |id, n_spans, n_events| {
        let count = |n: i64| usize::try_from(n).unwrap_or(0);
        at.spans = (at.spans.0 + at.spans.1, count(n_spans));
        at.events = (at.events.0 + at.events.1, count(n_events));
        take(id, at);
        at.row += 1;
    })?;
    Ok(())
}

/// Rows of a file, one after the other.
struct Rows<R> {
    batches: Batches<R>,
    path: PathBuf,
    rows: std::vec::IntoIter<R>,
}

impl<R: Row + InRequest> Rows<R> {
    fn open(path: PathBuf, ranges: Option<&[Range<usize>]>) -> Result<Self> {
        let batches = match ranges {
            Some(ranges) => Batches::open_rows(&path, ranges)?,
            None => Batches::open(&path)?,
        };
        Ok(Self { batches, path, rows: Vec::new().into_iter() })
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
    fn of_request(&mut self, n: i64, id: &str) -> Result<Vec<R>> {
        let mut rows = Vec::with_capacity(usize::try_from(n).unwrap_or(0).min(ROWS_AHEAD_MAX));
        for _ in 0..n {
            match self.next_if(|row| row.request_id() == Some(id))? {
                Some(row) => rows.push(row),
                None => {
                    bail!(Damaged: "`{}`: not all rows of request {id} are where they belong", self.path.display())
                }
            }
        }
        Ok(rows)
    }
}

/// A request with its spans and events.
pub(crate) type Found<Q, S, E> = (Q, Vec<S>, Vec<E>);

/// The files of one commit and day, being read.
pub(crate) struct Part<Q, S, E> {
    requests: Rows<Q>,
    spans: Option<Rows<S>>,
    events: Option<Rows<E>>,
}

impl<Q: Row + Counted, S: Row + InRequest, E: Row + InRequest> Part<Q, S, E> {
    /// Begins to read the requests that stand at `places`, which ascend; none: all.
    pub(crate) fn open(paths: &Paths, places: Option<&[Place]>) -> Result<Self> {
        let ranges = |range: &dyn Fn(&Place) -> Range<usize>| -> Option<Vec<Range<usize>>> {
            Some(places?.iter().map(range).filter(|range| !range.is_empty()).collect())
        };
        let requests = ranges(&|place| place.row..place.row + 1);
        let spans = ranges(&|place| place.spans.0..place.spans.0 + place.spans.1);
        let events = ranges(&|place| place.events.0..place.events.0 + place.events.1);
        Ok(Self {
            requests: Rows::open(paths.requests.clone(), requests.as_deref())?,
            spans: paths.spans.clone().map(|path| Rows::open(path, spans.as_deref())).transpose()?,
            events: paths.events.clone().map(|path| Rows::open(path, events.as_deref())).transpose()?,
        })
    }

    /// The next request with its rows.
    pub(crate) fn next(&mut self) -> Result<Option<Found<Q, S, E>>> {
        let Some(request) = self.requests.next_if(|_| true)? else { return Ok(None) };
        let id = request.request_id().unwrap_or_default();
        let (n_spans, n_events) = request.counts();
        let spans = self.spans.as_mut().map(|spans| spans.of_request(n_spans, id)).transpose()?;
        let events = self.events.as_mut().map(|events| events.of_request(n_events, id)).transpose()?;
        Ok(Some((request, spans.unwrap_or_default(), events.unwrap_or_default())))
    }
}

//! Requests whose spans are on disk: what is asked of all of them is told from their skeletons,
//! whole ones are read some at a time.

use std::borrow::Cow;
use std::collections::BTreeMap;

use schema::{Accumulator, Model, Name, Result, TopLevelId, TraceId};

use crate::clocks::{self, Moved};
use crate::id_lives::{self, IdLives, Life, Shown};
use crate::merge::{Request, assemble, in_order, to_u32};
use crate::skeleton::{Span, Stored};
use crate::spill::{self, Store};
use crate::stitch::{Stitched, prefer_linked, stitch};
use crate::{Config, IdField, clock_offsets, finish, ticks};

/// Skeletons of the spans of all nodes, and which of them are one request.
#[derive(Debug)]
pub(crate) struct Linked {
    /// In canonical order.
    pub(crate) spans: Vec<Span>,
    /// By their first span.
    pub(crate) requests: Vec<Request<u32>>,
    /// Fields that hold ids of requests.
    pub(crate) id_fields: Vec<IdField>,
    /// The ids in these, as far as the spans show their lives.
    pub(crate) ids: BTreeMap<u64, Life>,
    clocks: Moved,
}

impl Linked {
    /// The phases: times by one clock, spans in canonical order, links between them, what hangs
    /// together.
    pub(crate) fn new(model: &Model, mut spans: Vec<Span>, config: &Config, lives: &IdLives) -> Self {
        let clocks = clocks::align(&mut spans);
        let ticks = ticks::spread(&mut spans);
        let offsets = clock_offsets::make_up(model, &mut spans, config.skew_us);
        let mut spans = in_order(spans);
        let Stitched { links, probabilities, id_fields, ids } =
            stitch(model, &spans, &ticks, (config, lives));
        clock_offsets::restore(&mut spans, &offsets);
        ticks::restore(&mut spans, &ticks);
        prefer_linked(model, &mut spans, &links);
        let requests = assemble((0..to_u32(spans.len())).collect(), &links, &probabilities);
        Self { spans, requests, id_fields, ids, clocks }
    }

    /// The ids of which no request may go on, by whether each request does.
    pub(crate) fn ids_over(&self, are_open: &[bool]) -> Vec<Shown> {
        let open = self.requests.iter().zip(are_open).filter(|(_, is_open)| **is_open);
        let spans = open.flat_map(|(request, _)| &request.spans).map(|&span| &self.spans[span as usize]);
        let open = spans.filter_map(|span| span.trace.as_ref()).map(|trace| id_lives::hash(&trace.text));
        id_lives::over(&self.ids, &open.collect())
    }

    /// A whole span as its skeleton has become: by the same clock, `top_levels` in their order.
    pub(crate) fn whole(&self, mut span: schema::Span, top_levels: &[TopLevelId]) -> schema::Span {
        clocks::make_earlier(&mut span, &self.clocks);
        if span.top_levels.first() != top_levels.first() {
            // What its links say is told.
            span.n_alike = 1;
        }
        span.top_levels = top_levels.to_vec();
        let is_used = |trace: &TraceId| {
            self.id_fields.iter().any(|known| known.is_used && known.field == trace.field.as_str())
        };
        span.trace = span.trace.filter(is_used);
        span
    }
}

/// Requests of which the whole spans are in stores.
#[derive(Debug)]
pub(crate) struct OnDisk<'a> {
    linked: Linked,
    stores: &'a [Store],
    /// What is needed of the spans besides, once the skeletons are gone.
    placed: Vec<(Stored, Box<[TopLevelId]>)>,
}

impl<'a> OnDisk<'a> {
    /// Of spans that are in `stores`.
    pub(crate) fn new(linked: Linked, stores: &'a [Store]) -> Self {
        Self { linked, stores, placed: Vec::new() }
    }
}

impl finish::Requests for OnDisk<'_> {
    fn len(&self) -> usize {
        self.linked.requests.len()
    }

    fn node(&self, request: usize, span: usize) -> Name {
        self.linked.spans[self.linked.requests[request].spans[span] as usize].node
    }

    fn outline(&self, request: usize) -> Cow<'_, Accumulator> {
        let Request { spans, links } = &self.linked.requests[request];
        let spans = spans.iter().map(|&span| self.linked.spans[span as usize].outline()).collect();
        Cow::Owned(Accumulator { spans, links: links.clone() })
    }

    fn forget_outlines(&mut self) {
        let spans = std::mem::take(&mut self.linked.spans);
        self.placed = spans.into_iter().map(|span| (span.stored, span.top_levels)).collect();
    }

    fn read(&self, requests: &[u32]) -> Result<Vec<Cow<'_, Accumulator>>> {
        let of = |&request: &u32| &self.linked.requests[request as usize];
        let placed = requests.iter().flat_map(|request| &of(request).spans);
        let placed: Vec<_> = placed.map(|&span| &self.placed[span as usize]).collect();
        let places: Vec<Stored> = placed.iter().map(|(stored, _)| *stored).collect();
        let mut whole = spill::read(self.stores, &places)?.into_iter().zip(placed);
        let read = |request: &Request<u32>| {
            let spans = whole.by_ref().take(request.spans.len());
            let spans = spans.map(|(span, (_, top_levels))| self.linked.whole(span, top_levels)).collect();
            Cow::Owned(Accumulator { spans, links: request.links.clone() })
        };
        Ok(requests.iter().map(of).map(read).collect())
    }
}

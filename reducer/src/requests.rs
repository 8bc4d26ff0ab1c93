//! From spans to requests: what is decided at once, and what a request is made of once it is.

use std::collections::BTreeMap;

use schema::{Accumulator, Link, Model, Name, Probability, TraceId};

use crate::clocks::{self, Moved};
use crate::id_lives::{IdLives, Life};
use crate::merge::{SpanLink, in_order, start_us};
use crate::skeleton::Span;
use crate::stitch::{Stitched, prefer_linked, stitch};
use crate::{Config, IdField, clock_offsets, ticks};

/// Skeletons of spans, and the links between them.
#[derive(Debug)]
pub(crate) struct Linked {
    /// In canonical order.
    pub(crate) spans: Vec<Span>,
    /// When each of them begins, µs, by the clocks that the order goes by.
    pub(crate) order_us: Vec<i64>,
    /// Sorted.
    pub(crate) links: Vec<SpanLink>,
    /// How sure each of them is.
    pub(crate) probabilities: Vec<Probability>,
    /// Fields that hold ids of requests.
    pub(crate) id_fields: Vec<IdField>,
    /// The ids in these, as far as the spans show their lives.
    pub(crate) ids: BTreeMap<u64, Life>,
}

impl Linked {
    /// The phases: times by clocks that fit each other, spans in canonical order, links between
    /// them. The clock of a node of `spans` was never set.
    pub(crate) fn new(model: &Model, mut spans: Vec<Span>, config: &Config, lives: &IdLives) -> Self {
        let ticks = ticks::spread(&mut spans);
        let offsets = clock_offsets::make_up(model, &mut spans, config.skew_us);
        let mut spans = in_order(spans);
        let Stitched { links, probabilities, id_fields, ids } =
            stitch(model, &spans, &ticks, (config, lives));
        let order_us = spans.iter().map(start_us).collect();
        clock_offsets::restore(&mut spans, &offsets);
        ticks::restore(&mut spans, &ticks);
        Self { spans, order_us, links, probabilities, id_fields, ids }
    }
}

/// A request of whole `spans` as they were mapped, in canonical order, with `links` between them in
/// order: by clocks that were `moved`, of the top-level methods that the links speak for, with the
/// ids of fields that are used.
pub(crate) fn whole(
    model: &Model,
    moved: &Moved,
    is_used: impl Fn(&TraceId) -> bool,
    (mut spans, links): (Vec<schema::Span>, Vec<Link>),
) -> Accumulator {
    let told: Vec<_> = spans.iter().map(|span| span.top_levels.first().copied()).collect();
    prefer_linked(model, &mut spans, &links);
    for (span, told) in spans.iter_mut().zip(told) {
        clocks::make_earlier(span, moved);
        if span.top_levels.first().copied() != told {
            // What its links say is told.
            span.n_alike = 1;
        }
        span.trace = span.trace.take().filter(&is_used);
    }
    Accumulator { spans, links }
}

/// Whether ids of a field tell requests, by what was found of the fields.
pub(crate) fn is_used(fields: &[IdField], field: Name) -> bool {
    fields.iter().any(|known| known.is_used && known.field == field.as_str())
}

//! Found: what a table says of the records, spans and requests of a log.

use std::collections::BTreeMap;

use schema::tables::{EventRow, SpanRow, Text};

use super::links::FoundLink;
use super::looks::Looks;
use super::truth::Place;

/// What the scores need of a table.
#[derive(Clone, Debug, Default)]
pub(crate) struct Found<'a> {
    /// Its events by place.
    pub(crate) events: BTreeMap<Place, &'a EventRow>,
    /// Its spans.
    pub(crate) spans: &'a [SpanRow],
    /// Type of each request.
    pub(crate) types: BTreeMap<&'a str, &'a str>,
    /// The types of requests that can be of several, which nothing tells apart.
    pub(crate) open_types: BTreeMap<&'a str, &'a [Text]>,
    /// Call site of each log point that has one.
    pub(crate) call_sites: BTreeMap<i64, &'a str>,
    /// What its log points look like.
    pub(crate) looks: Looks<'a>,
}

impl<'a> Found<'a> {
    /// The id of the span that a record is in.
    pub(crate) fn span_of(&self, place: &Place) -> Option<&'a str> {
        self.events.get(place)?.span_id.as_deref()
    }

    /// The id of the request that a record is in.
    pub(crate) fn request_of(&self, place: &Place) -> Option<&'a str> {
        self.events.get(place)?.request_id.as_deref()
    }

    /// The time of a record, µs since 1970 UTC; after all others if it is not in the table.
    pub(crate) fn time_of(&self, place: &Place) -> i64 {
        self.events.get(place).map_or(i64::MAX, |event| event.ts.0)
    }

    /// The records of each span, by its id, in order.
    pub(crate) fn by_span(&self) -> BTreeMap<&'a str, Vec<(&Place, &'a EventRow)>> {
        let mut spans: BTreeMap<&str, Vec<(&Place, &EventRow)>> = BTreeMap::new();
        for (place, &event) in &self.events {
            if let Some(id) = event.span_id.as_deref() {
                spans.entry(id).or_default().push((place, event));
            }
        }
        spans.values_mut().for_each(|events| events.sort_by_key(|(_, event)| event.seq));
        spans
    }

    /// Its hand-offs; none of them in tables that do not keep all.
    pub(crate) fn links(&self) -> impl Iterator<Item = FoundLink<'a>> {
        self.spans.iter().flat_map(|span| {
            let hand_overs = span.hand_overs.iter().flatten();
            let to = &*span.span_id;
            hand_overs.map(move |link| FoundLink {
                from: &link.span_id,
                to,
                by: &link.reason,
                probability: link.probability,
            })
        })
    }
}

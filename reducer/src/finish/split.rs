//! Split: a request of a table falls apart where its links are not likely enough.
//!
//! Rows in, rows out: what no link of at least some probability holds together are requests of
//! their own, which say of themselves what a request says: where it begins, by its id, when it was
//! where, its path through the code, its order. What rows do not tell any more is kept as it was of
//! the whole: what its flags say of the order, and identifiers that no event prints as they are.

use std::collections::{BTreeMap, BTreeSet};

use schema::InputAccount;
use schema::happened_before::{Hop, Label};
use schema::tables::{
    EventRow, HandOver, InputRow, LogSequenceRow, NameValue, NodeTime, PositionRow, RequestNodeRow,
    RequestRow, SharedBytes, SpanRow, Text, Time, TopLevelMethodRow, request_key,
};
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use super::Rows;
use super::ids::numbers;
use super::rows::text;
use crate::merge::{Sets, to_u32};

/// A request as it is in a table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Whole {
    /// Its row.
    pub request: RequestRow,
    /// Its spans, in order.
    pub spans: Vec<SpanRow>,
    /// Their events, in order; none if the table keeps none.
    pub events: Vec<EventRow>,
}

/// What the rows of requests do not tell themselves.
#[derive(Debug)]
pub struct Splitter {
    /// Lines and numbers of the files of each node.
    files: BTreeMap<Text, Vec<(u64, u128)>>,
    /// Class and method of each top-level method.
    methods: BTreeMap<Text, (Text, Text)>,
}

/// Files of one name and first time that are told apart.
const ALIKE_MAX: usize = 4;

impl Splitter {
    /// For a table with these `inputs` and top-level methods.
    #[must_use]
    pub fn new(inputs: &[InputRow], methods: &[TopLevelMethodRow]) -> Self {
        let mut files: BTreeMap<Text, Vec<(u64, u128)>> = BTreeMap::new();
        for row in inputs {
            let account = InputAccount {
                file: row.file.to_string(),
                first_us: row.first_ts.map(|ts| ts.0),
                digest: u128::from_str_radix(&row.digest, 16).unwrap_or_default(),
                ..InputAccount::default()
            };
            let of_node = files.entry(row.node.clone()).or_default();
            let alike = numbers(&row.node, &vec![account; ALIKE_MAX]);
            of_node.extend(alike.into_iter().map(|number| (row.n_lines.unsigned_abs(), number)));
        }
        let name =
            |row: &TopLevelMethodRow| (row.top_level_method.clone(), (row.class.clone(), row.method.clone()));
        Self { files, methods: methods.iter().map(name).collect() }
    }

    /// The parts of a request that links of at least the probability `min` hold together, by their
    /// first span. Links of which it is not known are as good as certain.
    #[must_use]
    pub fn split(&self, whole: Whole, min: f64) -> Vec<Rows> {
        let parts = parts(&whole.spans, min);
        if parts.len() <= 1 {
            return vec![unchanged(whole)];
        }
        parts.iter().map(|members| self.part(&whole, members, min)).collect()
    }

    /// The rows of the part of a request that are the spans `members`, which ascend, without links
    /// of less than the probability `min`.
    fn part(&self, whole: &Whole, members: &[usize], min: f64) -> Rows {
        let ids: BTreeSet<&str> = members.iter().map(|&at| &*whole.spans[at].span_id).collect();
        let number = self.number(whole, members);
        let request_id = Text::from(format!("{number:032x}"));
        let mut spans: Vec<SpanRow> = members.iter().map(|&at| whole.spans[at].clone()).collect();
        for span in &mut spans {
            span.request_id = request_id.clone();
            keep_links(span, &ids, min);
        }
        let start_us = spans.iter().map(|span| span.start_ts.0).min().unwrap_or_default();
        let end_us = spans.iter().map(|span| span.end_ts.0).max().unwrap_or_default();
        let of_part = |event: &&EventRow| event.span_id.as_deref().is_some_and(|id| ids.contains(id));
        let mut events: Vec<EventRow> = whole.events.iter().filter(of_part).cloned().collect();
        let later_us = start_us.saturating_sub(whole.request.start_ts.0);
        order(whole, (members, &mut spans), &mut events, (request_key(number), later_us));
        events.iter_mut().for_each(|event| event.request_id = Some(request_id.clone()));
        let (request_type, request_types) = request_type(&spans, start_us);
        let sequence = self.sequence(&spans, &events, &request_type);
        let nodes = nodes(&spans);
        let probabilities = spans.iter().filter_map(|span| span.link_probability);
        let request = RequestRow {
            request_id: request_id.clone(),
            request_type,
            start_ts: Time(start_us),
            end_ts: Time(end_us),
            duration_us: end_us.saturating_sub(start_us),
            n_nodes: nodes.len() as i64,
            n_spans: spans.len() as i64,
            n_events: spans.iter().map(|span| span.n_events).sum(),
            log_sequence_id: sequence.log_sequence_id.clone(),
            nodes: nodes.iter().map(|(time, _)| time.clone()).collect(),
            identifiers: identifiers(whole, &events),
            flags: flags(&whole.request, &spans),
            confidence: whole.request.confidence.map(|_| probabilities.product()),
            request_types,
        };
        let node = |(time, n_events): (NodeTime, i64)| RequestNodeRow {
            request_id: request_id.clone(),
            node: time.node,
            start_ts: time.start_ts,
            end_ts: time.end_ts,
            n_events,
        };
        let request_nodes = nodes.into_iter().map(node).collect();
        Rows {
            requests: vec![request],
            request_nodes,
            spans,
            events,
            log_sequences: vec![sequence],
            is_open: false,
        }
    }

    /// The number whose digits are the id of a part: where its first span begins.
    fn number(&self, whole: &Whole, members: &[usize]) -> u128 {
        let first = members.first().map(|&at| &whole.spans[at]);
        let known = u128::from_str_radix(&whole.request.request_id, 16).unwrap_or_default();
        let Some(first) = first.filter(|_| members[0] != 0) else { return known };
        let place = u64::from_str_radix(&first.span_id, 16).unwrap_or_default();
        let begins_in = |&&(n_lines, number): &&(u64, u128)| {
            (1..=n_lines).contains(&place.swap_bytes().wrapping_sub((number >> 64) as u64))
        };
        let file = self.files.get(&first.node).and_then(|files| files.iter().find(begins_in));
        let more = file.map_or(0, |(_, number)| *number as u64);
        let hash = xxh3_64(&place.to_le_bytes()) as u8;
        (u128::from(place) << 64) | u128::from(more >> 8 << 8) | u128::from(hash)
    }

    /// Its path through the code, as [`super::rows`] has it.
    fn sequence(&self, spans: &[SpanRow], events: &[EventRow], request_type: &Text) -> LogSequenceRow {
        let mut of_spans: BTreeMap<&str, Vec<&EventRow>> = BTreeMap::new();
        for event in events.iter().filter(|event| event.log_point_id.is_some()) {
            of_spans.entry(event.span_id.as_deref().unwrap_or_default()).or_default().push(event);
        }
        let mut paths = Vec::with_capacity(spans.len());
        let mut sequences = Vec::with_capacity(spans.len());
        for span in spans {
            let events = of_spans.remove(&*span.span_id).unwrap_or_default();
            let mut hash = Xxh3::new();
            let best = span.top_level_methods.as_ref().and_then(|methods| methods.first());
            if let Some((class, method)) = self.methods.get(best.unwrap_or(&span.top_level_method)) {
                text(&mut hash, class);
                text(&mut hash, method);
            }
            for event in &events {
                text(&mut hash, event.class.as_deref().unwrap_or_default());
                text(&mut hash, event.method.as_deref().unwrap_or_default());
                let line = u32::try_from(event.source_line.unwrap_or_default()).unwrap_or_default();
                hash.update(&line.to_le_bytes());
            }
            paths.push(hash.digest());
            let points: Vec<i64> = events.iter().filter_map(|event| event.log_point_id).collect();
            sequences.push((span.top_level_method.clone(), points));
        }
        paths.sort_unstable();
        sequences.sort();
        let mut hash = Xxh3::new();
        paths.iter().for_each(|path| hash.update(&path.to_le_bytes()));
        LogSequenceRow {
            log_sequence_id: Text::from(format!("{:016x}", hash.digest())),
            request_type: request_type.clone(),
            sequence: sequences.into_iter().map(|(_, points)| points).collect(),
        }
    }
}

/// The rows of a request that does not fall apart; its log sequence is in the table.
fn unchanged(whole: Whole) -> Rows {
    let Whole { request, spans, events } = whole;
    let node = |(time, n_events): (NodeTime, i64)| RequestNodeRow {
        request_id: request.request_id.clone(),
        node: time.node,
        start_ts: time.start_ts,
        end_ts: time.end_ts,
        n_events,
    };
    let request_nodes = nodes(&spans).into_iter().map(node).collect();
    Rows { requests: vec![request], request_nodes, spans, events, log_sequences: Vec::new(), is_open: false }
}

/// Whether a link holds two spans together.
fn holds(link: &HandOver, min: f64) -> bool {
    link.probability.is_none_or(|probability| probability >= min)
}

/// What hangs together: the positions of the spans of each part, ascending, by the first one.
fn parts(spans: &[SpanRow], min: f64) -> Vec<Vec<usize>> {
    let places: BTreeMap<&str, u32> =
        spans.iter().enumerate().map(|(at, span)| (&*span.span_id, to_u32(at))).collect();
    let mut sets = Sets::new(spans.len());
    for (at, span) in spans.iter().enumerate() {
        for link in span.hand_overs.iter().flatten().filter(|link| holds(link, min)) {
            if let Some(&from) = places.get(&*link.span_id) {
                sets.unite(from, to_u32(at));
            }
        }
    }
    let mut parts: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for at in 0..spans.len() {
        parts.entry(sets.root(to_u32(at))).or_default().push(at);
    }
    parts.into_values().collect()
}

/// Leaves a span the links that hold, and makes the first of them that of its parent.
fn keep_links(span: &mut SpanRow, members: &BTreeSet<&str>, min: f64) {
    let Some(links) = &mut span.hand_overs else { return };
    let first = links.first().cloned();
    links.retain(|link| holds(link, min) && members.contains(&*link.span_id));
    if links.first() == first.as_ref() {
        return;
    }
    let parent = links.first();
    span.parent_span_id = parent.map(|link| link.span_id.clone());
    span.link = parent.and_then(|link| link.link.clone());
    span.link_reason = parent.map(|link| link.reason.clone());
    span.link_probability = parent.and_then(|link| link.probability);
    (span.parent_before, span.parent_after) = (None, None);
}

/// Makes the positions of spans and events those in the order of the part, of the request `key`,
/// which starts `later_us` after the whole.
fn order(
    whole: &Whole,
    (members, spans): (&[usize], &mut [SpanRow]),
    events: &mut [EventRow],
    (key, later_us): (i64, i64),
) {
    let names = |spans: &mut dyn Iterator<Item = &SpanRow>| -> Vec<Text> {
        spans.map(|span| span.node.clone()).collect::<BTreeSet<Text>>().into_iter().collect()
    };
    let was = names(&mut whole.spans.iter());
    let is = names(&mut spans.iter());
    let node = |old: u32| is.binary_search(was.get(old as usize)?).ok().map(to_u32);
    let place = |old: u32| members.binary_search(&(old as usize)).ok().map(to_u32);
    // Of what is its own parent's no more, nothing is known before itself.
    let is_root = |old: u32| {
        place(old)
            .is_none_or(|new| spans[new as usize].parent_span_id != whole.spans[old as usize].parent_span_id)
    };
    let label = |position: &PositionRow| -> Option<SharedBytes> {
        let old = Label::decode(position.request, &position.span.0)?;
        let from = old.path.iter().rposition(|hop| is_root(hop.span)).unwrap_or(0);
        let is_cut = old.path.get(from).is_some_and(|hop| is_root(hop.span));
        let mut path = Vec::new();
        for hop in &old.path[from..] {
            path.push(Hop { span: place(hop.span)?, ..*hop });
        }
        if is_cut {
            let first = path.first_mut()?;
            (first.before, first.after) = (None, None);
        }
        let bounds = old.bounds_us.iter().filter_map(|&(of, us)| Some((node(of)?, us)));
        let label = Label { request: key, node: node(old.node)?, path, bounds_us: bounds.collect() };
        Some(SharedBytes(label.encode().into()))
    };
    let mut labels: BTreeMap<Text, Option<SharedBytes>> = BTreeMap::new();
    for span in spans.iter() {
        labels.insert(span.span_id.clone(), span.position.as_ref().and_then(label));
    }
    let moved = |position: &PositionRow, span_id: &str| -> Option<PositionRow> {
        let span = labels.get(span_id)?.clone()?;
        Some(PositionRow {
            request: key,
            span,
            since_us: position.since_us.saturating_sub(later_us),
            ..position.clone()
        })
    };
    for span in spans.iter_mut() {
        span.position = span.position.as_ref().and_then(|position| moved(position, &span.span_id));
    }
    for event in events {
        let span_id = event.span_id.as_deref().unwrap_or_default();
        event.position = event.position.as_ref().and_then(|position| moved(position, span_id));
    }
}

/// What the earliest span is called, and what it can be; of several, the one that none of the others
/// handed over to.
fn request_type(spans: &[SpanRow], start_us: i64) -> (Text, Option<Vec<Text>>) {
    let first: Vec<&SpanRow> = spans.iter().filter(|span| span.start_ts.0 == start_us).collect();
    let is_first = |id: &Text| first.iter().any(|span| span.span_id == *id);
    let root = first.iter().find(|span| !span.parent_span_id.as_ref().is_some_and(is_first));
    root.or(first.first()).map_or_else(
        || (Text::from("?"), None),
        |span| (span.top_level_method.clone(), span.top_level_methods.clone()),
    )
}

/// When it was on which node, by start, and how many events it has there.
fn nodes(spans: &[SpanRow]) -> Vec<(NodeTime, i64)> {
    let mut nodes: BTreeMap<&Text, (Time, Time, i64)> = BTreeMap::new();
    for span in spans {
        let node = nodes.entry(&span.node).or_insert((span.start_ts, span.end_ts, 0));
        *node = (node.0.min(span.start_ts), node.1.max(span.end_ts), node.2 + span.n_events);
    }
    let row = |(node, (start_ts, end_ts, n)): (&Text, (Time, Time, i64))| {
        (NodeTime { node: node.clone(), start_ts, end_ts }, n)
    };
    let mut rows: Vec<(NodeTime, i64)> = nodes.into_iter().map(row).collect();
    rows.sort_by(|(a, _), (b, _)| (a.start_ts, &a.node).cmp(&(b.start_ts, &b.node)));
    rows
}

/// The identifiers that an event of the part prints, and those that none of the whole does.
fn identifiers(whole: &Whole, events: &[EventRow]) -> Vec<NameValue> {
    let printed = |events: &[EventRow]| -> BTreeSet<(Text, Text)> {
        let values = events.iter().flat_map(|event| &event.values);
        values.map(|value| (value.name.clone(), value.value.clone())).collect()
    };
    let (ours, all) = (printed(events), printed(&whole.events));
    let is_ours = |of: &&NameValue| {
        let key = (of.name.clone(), of.value.clone());
        ours.contains(&key) || !all.contains(&key)
    };
    whole.request.identifiers.iter().filter(is_ours).cloned().collect()
}

fn flags(whole: &RequestRow, spans: &[SpanRow]) -> Vec<Text> {
    const CONFLICT: &str = "clock_conflict";
    let starts: BTreeMap<&str, Time> = spans.iter().map(|span| (&*span.span_id, span.start_ts)).collect();
    let is_ahead = |span: &SpanRow| {
        let mut links = span.hand_overs.iter().flatten();
        links.any(|link| starts.get(&*link.span_id).is_some_and(|start| span.start_ts < *start))
    };
    let is_so = |flag: &&Text| ***flag != *CONFLICT || spans.iter().any(is_ahead);
    whole.flags.iter().filter(is_so).cloned().collect()
}

#[cfg(test)]
mod tests;

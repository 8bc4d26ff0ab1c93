//! Rows: what one request becomes in each table.

use std::collections::BTreeMap;

use schema::happened_before::Label;
use schema::tables::{
    EventRow, HandOver, LogSequenceRow, NameValue, NodeTime, PositionRow, RequestNodeRow, RequestRow,
    SharedBytes, SpanRow, Text, Time, request_key,
};
use schema::{Accumulator, Event, Link, LinkKind, LogPointId, Model, Pass, Span};
use xxhash_rust::xxh3::Xxh3;

use super::clocks::Clocks;
use super::handoffs::{HandOffs, stretch};
use super::{Context, Keep, Names};

/// How the spans of a request were reached.
pub(super) struct Reached {
    /// All links to each span, and the one by which it was.
    links: Vec<Vec<Link>>,
    incoming: Vec<Option<Link>>,
    /// Whether a hand-off tells of each span which of its top-level methods it is.
    is_told: Vec<bool>,
    pub(super) hand_offs: HandOffs,
}

impl Reached {
    /// Of `accumulator`; the hand-offs to the spans `wrong` order nothing, as clocks contradict
    /// them.
    pub(super) fn new(model: &Model, accumulator: &Accumulator, wrong: &[usize]) -> Self {
        let links = links_to(accumulator);
        let incoming: Vec<Option<Link>> = links.iter().map(|links| links.first().copied()).collect();
        let mut hand_offs = HandOffs::new(model, accumulator, &incoming);
        if !wrong.is_empty() {
            hand_offs.leave_out(wrong);
        }
        Self { links, incoming, is_told: told(model, accumulator), hand_offs }
    }
}

/// The rows of one request.
pub(super) struct RequestRows {
    pub(super) request: RequestRow,
    pub(super) nodes: Vec<RequestNodeRow>,
    pub(super) spans: Vec<SpanRow>,
    pub(super) events: Vec<EventRow>,
    pub(super) sequence: LogSequenceRow,
}

pub(super) fn request_rows(
    context: Context<'_>,
    (names, clocks): (&Names<'_>, &Clocks),
    accumulator: &Accumulator,
) -> RequestRows {
    assert!(!accumulator.spans.is_empty(), "a request has a span");
    let reached = clocks.reached(context.model, accumulator);
    let first = &accumulator.spans[0];
    let number = names.request_number(&first.node, first.events[0].place());
    let request_id = Text::from(format!("{number:032x}"));
    let extents: Vec<(i64, i64)> = accumulator.spans.iter().map(extent).collect();
    let (labels, clocks_differ) = reached.hand_offs.labels(accumulator, request_key(number), clocks.bounds());
    let called = called(names, accumulator, &reached.is_told);
    let (request_types, request_type) = called[first_span(&extents, &reached.incoming)].clone();
    let sequence = log_sequence(context, accumulator, &called, &request_type);
    let nodes = node_times(names, accumulator, &extents);
    let start = extents.iter().map(|e| e.0).min().unwrap_or_default();
    let end = extents.iter().map(|e| e.1).max().unwrap_or_default();
    let request = RequestRow {
        request_id: request_id.clone(),
        request_type,
        start_ts: Time(start),
        end_ts: Time(end),
        duration_us: end - start,
        n_nodes: nodes.len() as i64,
        n_spans: accumulator.spans.len() as i64,
        n_events: nodes.iter().map(|(_, n)| n).sum(),
        log_sequence_id: sequence.log_sequence_id.clone(),
        nodes: nodes.iter().map(|(time, _)| time.clone()).collect(),
        identifiers: identifiers(names, accumulator),
        flags: flags(accumulator, &extents, (reached.hand_offs.has_conflict, clocks_differ)),
        confidence: Some(reached.incoming.iter().flatten().map(|link| link.probability.get()).product()),
        request_types: Some(request_types),
    };
    let node_row = |(time, n_events): (NodeTime, i64)| RequestNodeRow {
        request_id: request_id.clone(),
        node: time.node,
        start_ts: time.start_ts,
        end_ts: time.end_ts,
        n_events,
    };
    let (spans, events) =
        span_rows(context, names, (accumulator, &called), (&request_id, start), (&reached, &labels));
    RequestRows { request, nodes: nodes.into_iter().map(node_row).collect(), spans, events, sequence }
}

fn span_rows(
    context: Context<'_>,
    names: &Names<'_>,
    (accumulator, called): (&Accumulator, &[Called]),
    (request_id, start_us): (&Text, i64),
    (reached, labels): (&Reached, &[Label]),
) -> (Vec<SpanRow>, Vec<EventRow>) {
    let (mut spans, mut events) = (Vec::new(), Vec::new());
    if context.keep < Keep::Spans {
        return (spans, events);
    }
    let ids: Vec<Text> = accumulator.spans.iter().map(|span| names.ids.span(span)).collect();
    let pair_kind = |link: &Link| {
        let pair = context.model.communication_pairs.get(link.pair?.index())?;
        Some(Text::from(pair.kind.name()))
    };
    let hand_over = |link: &Link| HandOver {
        span_id: ids[link.from as usize].clone(),
        link: pair_kind(link),
        reason: Text::from(link.by.name()),
        probability: Some(link.probability.get()),
    };
    for (i, span) in accumulator.spans.iter().enumerate() {
        let incoming = reached.links[i].first();
        let hand_off = reached.hand_offs.of_spans[i];
        let whole = extent(span);
        let label = SharedBytes(labels[i].encode().into());
        let request = labels[i].request;
        let position = |first, last| {
            Some(PositionRow::new(request, &label, stretch(&span.events, first, last), start_us))
        };
        spans.push(SpanRow {
            request_id: request_id.clone(),
            span_id: ids[i].clone(),
            parent_span_id: incoming.map(|link| ids[link.from as usize].clone()),
            node: names.node(&span.node),
            thread: span.thread.clone(),
            top_level_method: called[i].1.clone(),
            link: incoming.and_then(pair_kind),
            start_ts: Time(whole.0),
            end_ts: Time(whole.1),
            n_events: span.events.len() as i64,
            link_reason: incoming.map(|link| Text::from(link.by.name())),
            link_probability: incoming.map(|link| link.probability.get()),
            hand_overs: Some(reached.links[i].iter().map(hand_over).collect()),
            parent_before: hand_off.and_then(|hand_off| hand_off.before).map(i64::from),
            parent_after: hand_off.and_then(|hand_off| hand_off.after).map(i64::from),
            position: position(0, span.events.len() - 1),
            top_level_methods: Some(called[i].0.clone()),
        });
        if context.keep == Keep::Events {
            let row = |(seq, event)| {
                let mut row = event_row(context, names, &span.node, seq, event);
                row.request_id = Some(request_id.clone());
                row.span_id = Some(ids[i].clone());
                row.position = position(seq, seq);
                row
            };
            events.extend(span.events.iter().enumerate().map(row));
        }
    }
    (spans, events)
}

pub(super) fn event_row(
    context: Context<'_>,
    names: &Names<'_>,
    node: &str,
    seq: usize,
    event: &Event,
) -> EventRow {
    let point = event.log_point.and_then(|id| Some((id, context.model.log_points.get(id.index())?)));
    let name = |variable: u32| {
        let variable = point?.1.variables.get(variable as usize)?;
        let class = variable.value_class.and_then(|class| names.value_classes.get(class.index()).cloned());
        Some(class.unwrap_or_else(|| Text::from(variable.path.as_str())))
    };
    let value = |(variable, text): (u32, &str)| NameValue {
        name: name(variable).unwrap_or_else(|| names.unknown.clone()),
        value: Text::from(text),
    };
    EventRow {
        request_id: None,
        span_id: None,
        seq: seq as i64,
        node: names.node(node),
        file: names.file(node, event.file),
        line: event.line.cast_signed(),
        n_lines: i64::from(event.n_lines),
        byte_offset: event.byte_offset.cast_signed(),
        ts: Time(event.printed_us()),
        level: event.level.map(|level| Text::from(level.name())),
        log_point_id: point.map(|(id, _)| number(context, id)),
        class: point.map(|(id, _)| names.classes[id.index()].clone()),
        method: point.map(|(id, _)| names.methods[id.index()].clone()),
        source_line: point.map(|(_, point)| i64::from(point.source_line)),
        values: event.values.iter().map(value).collect(),
        reason: Text::from(event.reason.as_str()),
        pass: Some(event.pass).filter(|pass| *pass != Pass::Unattributed).map(|pass| Text::from(pass.name())),
        position: None,
    }
}

fn number(context: Context<'_>, id: LogPointId) -> i64 {
    context.log_point_numbers.get(id.index()).copied().unwrap_or(-1)
}

pub(super) fn extent(span: &Span) -> (i64, i64) {
    assert!(!span.events.is_empty(), "a span has an event");
    let times = || span.events.iter().map(|event| event.ts_us);
    (times().min().unwrap_or_default(), times().max().unwrap_or_default())
}

/// The links by which each span was reached, in order of sender.
fn links_to(accumulator: &Accumulator) -> Vec<Vec<Link>> {
    let mut links = accumulator.links.clone();
    links.sort();
    let mut to = vec![Vec::new(); accumulator.spans.len()];
    for link in links {
        let known = (link.from as usize) < to.len() && link.from != link.to;
        if let Some(links) = to.get_mut(link.to as usize).filter(|_| known) {
            links.push(link);
        }
    }
    to
}

/// What a span can be, and what it is called.
type Called = (Vec<Text>, Text);

fn called(names: &Names<'_>, accumulator: &Accumulator, is_told: &[bool]) -> Vec<Called> {
    let of_span = |(span, &is_told): (&Span, &bool)| {
        let top_levels = names.called.top_levels(span, is_told);
        let called = names.called.of_span(span, &top_levels);
        (top_levels, called)
    };
    accumulator.spans.iter().zip(is_told).map(of_span).collect()
}

/// Whether a hand-off tells of each span that it is of the first of its top-level methods.
fn told(model: &Model, accumulator: &Accumulator) -> Vec<bool> {
    let mut is_told = vec![false; accumulator.spans.len()];
    for link in &accumulator.links {
        let pair = link.pair.and_then(|pair| model.communication_pairs.get(pair.index()));
        let Some(pair) = pair.filter(|pair| pair.kind != LinkKind::Entity) else { continue };
        for (span, top) in [(link.from, pair.from), (link.to, pair.to)] {
            let first = accumulator.spans.get(span as usize).and_then(|span| span.top_levels.first());
            if first == Some(&top) {
                is_told[span as usize] = true;
            }
        }
    }
    is_told
}

/// The earliest span. Clocks tick in milliseconds: of several
/// that start together it is the one that none of the others handed over to.
fn first_span(extents: &[(i64, i64)], incoming: &[Option<Link>]) -> usize {
    let start = extents.iter().map(|e| e.0).min();
    let first: Vec<usize> = (0..extents.len()).filter(|i| Some(extents[*i].0) == start).collect();
    let is_root = |i: &&usize| incoming[**i].is_none_or(|link| !first.contains(&(link.from as usize)));
    first.iter().find(is_root).or(first.first()).copied().unwrap_or_default()
}

fn node_times(names: &Names<'_>, accumulator: &Accumulator, extents: &[(i64, i64)]) -> Vec<(NodeTime, i64)> {
    let mut nodes: BTreeMap<&str, (i64, i64, i64)> = BTreeMap::new();
    for (span, (start, end)) in accumulator.spans.iter().zip(extents) {
        let time = nodes.entry(span.node.as_str()).or_insert((*start, *end, 0));
        *time = (time.0.min(*start), time.1.max(*end), time.2 + span.events.len() as i64);
    }
    let row = |(node, (start, end, n)): (&str, (i64, i64, i64))| {
        (NodeTime { node: names.node(node), start_ts: Time(start), end_ts: Time(end) }, n)
    };
    let mut rows: Vec<(NodeTime, i64)> = nodes.into_iter().map(row).collect();
    rows.sort_by(|(a, _), (b, _)| (a.start_ts, &a.node).cmp(&(b.start_ts, &b.node)));
    rows
}

/// What an id of the request that the logs carry is called among its identifiers.
const TRACE_ID: &str = "trace_id";

fn identifiers(names: &Names<'_>, accumulator: &Accumulator) -> Vec<NameValue> {
    let value = |v: &schema::Value| {
        let name = names.value_classes.get(v.value_class.index()).unwrap_or(&names.unknown);
        (name.clone(), Text::clone(&v.text))
    };
    let mut pairs: Vec<(Text, Text)> =
        accumulator.spans.iter().flat_map(|span| &span.identifiers).map(value).collect();
    let traces = accumulator.spans.iter().filter_map(|span| span.trace.as_ref());
    pairs.extend(traces.map(|trace| (Text::from(TRACE_ID), Text::clone(&trace.text))));
    pairs.sort();
    pairs.dedup();
    pairs.into_iter().map(|(name, value)| NameValue { name, value }).collect()
}

fn flags(
    accumulator: &Accumulator,
    extents: &[(i64, i64)],
    (has_conflict, clocks_differ): (bool, bool),
) -> Vec<Text> {
    let starts = |link: &Link| Some((extents.get(link.from as usize)?.0, extents.get(link.to as usize)?.0));
    let mut flags = Vec::new();
    if accumulator.links.iter().filter_map(starts).any(|(from, to)| to < from) {
        flags.push(Text::from("clock_conflict"));
    }
    if clocks_differ {
        flags.push(Text::from("clock_contradiction"));
    }
    if has_conflict {
        flags.push(Text::from("order_conflict"));
    }
    if accumulator.spans.iter().any(|span| span.truncated) {
        flags.push(Text::from("truncated"));
    }
    flags
}

/// One sequence per span, sorted: in which order spans interleave is a matter
/// of clocks, not of the path through the code.
fn log_sequence(
    context: Context<'_>,
    accumulator: &Accumulator,
    called: &[Called],
    request_type: &Text,
) -> LogSequenceRow {
    let of_span = |(span, (_, called)): (&Span, &Called)| -> (Text, Vec<i64>) {
        let points = span.events.iter().filter_map(|event| event.log_point);
        (called.clone(), points.map(|id| number(context, id)).collect())
    };
    let mut sequences: Vec<(Text, Vec<i64>)> = accumulator.spans.iter().zip(called).map(of_span).collect();
    sequences.sort();
    let mut hash = Xxh3::new();
    let mut paths: Vec<u64> = accumulator.spans.iter().map(|span| span_path(context, span)).collect();
    paths.sort_unstable();
    for path in paths {
        hash.update(&path.to_le_bytes());
    }
    LogSequenceRow {
        log_sequence_id: Text::from(format!("{:016x}", hash.digest())),
        request_type: request_type.clone(),
        sequence: sequences.into_iter().map(|(_, sequence)| sequence).collect(),
    }
}

/// Hash of a span's path; of names, not numbers, so that equal paths are equal
/// under any model.
fn span_path(context: Context<'_>, span: &Span) -> u64 {
    let mut hash = Xxh3::new();
    if let Some(method) =
        span.top_levels.first().and_then(|id| context.model.top_level_methods.get(id.index()))
    {
        text(&mut hash, &method.class);
        text(&mut hash, &method.method);
    }
    for id in span.events.iter().filter_map(|event| event.log_point) {
        let point = &context.model.log_points[id.index()];
        text(&mut hash, &point.class);
        text(&mut hash, &point.method);
        hash.update(&point.source_line.to_le_bytes());
    }
    hash.digest()
}

/// Length first, so that no two lists of texts are the same bytes.
pub(super) fn text(hash: &mut Xxh3, text: &str) {
    hash.update(&(text.len() as u64).to_le_bytes());
    hash.update(text.as_bytes());
}

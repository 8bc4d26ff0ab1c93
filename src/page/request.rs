//! A request as the page shows it. Texts are what the logs hold, whatever that is: the page shows them
//! as text.

use schema::tables::{EventRow, NameValue};
use serde::Serialize;

use crate::request::{Logs, Request, Said, Wait};
use crate::table::Table;
use crate::table::related::Related;

/// A request, and others that have to do with it.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[cfg_attr(test, ts(rename = "Request"))]
pub(crate) struct RequestShown {
    id: String,
    #[serde(rename = "type")]
    request_type: String,
    /// Types that it can be of, where several print it alike.
    types: Vec<String>,
    start: i64,
    end: i64,
    duration: i64,
    sequence: String,
    identifiers: Vec<Named>,
    flags: Vec<String>,
    /// How likely it is that all its links are true.
    confidence: Option<f64>,
    /// What of it is not there, and why.
    missing: Option<String>,
    spans: Vec<SpanShown>,
    /// Its critical path, from the end back.
    path: Vec<PathShown>,
    related: Vec<RelatedShown>,
}

/// A value with its name.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[cfg_attr(test, ts(rename = "NameValue"))]
struct Named {
    name: String,
    value: String,
}

/// A part of a critical path.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[cfg_attr(test, ts(rename = "PathPart"))]
struct PathShown {
    span: usize,
    is_hand_over: bool,
    from: i64,
    to: i64,
}

/// Another request.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[cfg_attr(test, ts(rename = "Related"))]
struct RelatedShown {
    id: String,
    how: String,
    value_class: String,
    value: String,
    odds: f64,
}

/// A span.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[cfg_attr(test, ts(rename = "Span"))]
struct SpanShown {
    id: String,
    node: String,
    thread: Option<String>,
    method: String,
    parent: Option<usize>,
    wait: Waits,
    link: Option<String>,
    reason: Option<String>,
    /// How likely the link from its parent is true; null: the table does not say.
    probability: Option<f64>,
    start: i64,
    end: i64,
    hand_overs: Vec<HandOverShown>,
    events: Vec<EventShown>,
}

/// Until when the one who handed over waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
enum Waits {
    Nobody,
    Within,
    #[serde(rename = "until the end")]
    UntilEnd,
}

/// A hand-over besides that of the parent.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[cfg_attr(test, ts(rename = "HandOver"))]
struct HandOverShown {
    from: usize,
    link: Option<String>,
    reason: String,
    probability: Option<f64>,
}

/// An event.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[cfg_attr(test, ts(rename = "LogEvent"))]
struct EventShown {
    us: i64,
    level: Option<String>,
    class: Option<String>,
    method: Option<String>,
    source_line: Option<i64>,
    file: String,
    line: i64,
    values: Vec<Named>,
    reason: String,
    pass: Option<String>,
    /// What it says; null: that is not known.
    text: Option<String>,
    /// It is read in the log; else it is put together from a template of its log point.
    is_read: bool,
}

impl RequestShown {
    /// All of `request` of `table`, whose lines are read in `logs`.
    pub(crate) fn new(table: &Table, request: &Request, related: &[Related], logs: &mut Logs) -> Self {
        let row = request.row();
        let part = |part: crate::profile::PathPart| PathShown {
            span: part.span,
            is_hand_over: part.is_hand_over,
            from: part.from_us,
            to: part.to_us,
        };
        let types = row.request_types.iter().flatten().map(ToString::to_string).collect::<Vec<_>>();
        Self {
            id: row.request_id.to_string(),
            request_type: row.request_type.to_string(),
            types: if types.len() > 1 { types } else { Vec::new() },
            start: row.start_ts.0,
            end: row.end_ts.0,
            duration: row.duration_us,
            sequence: row.log_sequence_id.to_string(),
            identifiers: row.identifiers.iter().map(named).collect(),
            flags: row.flags.iter().map(ToString::to_string).collect(),
            confidence: row.confidence,
            missing: missing(table, request),
            spans: logs
                .all_said(request)
                .into_iter()
                .enumerate()
                .map(|(at, said)| span(request, at, said))
                .collect(),
            path: request.critical_path().into_iter().map(part).collect(),
            related: related.iter().map(other).collect(),
        }
    }
}

/// What of a request is not shown as the table does not hold it.
pub(crate) fn missing(table: &Table, request: &Request) -> Option<String> {
    let row = request.row();
    let n_events: usize = request.spans().iter().map(|span| span.events.len()).sum();
    let of = if request.spans().is_empty() && row.n_spans > 0 {
        "spans"
    } else if n_events == 0 && row.n_events > 0 {
        "events"
    } else {
        return None;
    };
    let is_thinned = table.manifest().thinned.before_us(of).is_some_and(|us| row.end_ts.0 < us);
    let why = if is_thinned { "they were thinned" } else { "the table keeps none" };
    let of = if of == "spans" { "its spans and events" } else { "its events" };
    Some(format!("{of} are not there: {why}"))
}

fn named(of: &NameValue) -> Named {
    Named { name: of.name.to_string(), value: of.value.to_string() }
}

fn other(of: &Related) -> RelatedShown {
    RelatedShown {
        id: of.id.to_string(),
        how: of.how.to_string(),
        value_class: of.value_class.to_string(),
        value: of.value.to_string(),
        odds: of.odds,
    }
}

fn span(request: &Request, at: usize, said: Vec<Option<Said>>) -> SpanShown {
    let span = &request.spans()[at];
    let row = &span.row;
    let (start, end) = request.times_us(at);
    let text = |text: &Option<schema::tables::Text>| text.as_deref().map(str::to_owned);
    let others = request.other_hand_overs(at).map(|(from, over)| HandOverShown {
        from,
        link: text(&over.link),
        reason: over.reason.to_string(),
        probability: over.probability,
    });
    SpanShown {
        id: row.span_id.to_string(),
        node: row.node.to_string(),
        thread: text(&row.thread),
        method: row.top_level_method.to_string(),
        parent: request.parent(at),
        wait: match request.wait(at) {
            Wait::Nobody => Waits::Nobody,
            Wait::Within => Waits::Within,
            Wait::UntilEnd => Waits::UntilEnd,
        },
        link: text(&row.link),
        reason: text(&row.link_reason),
        probability: row.link_probability,
        start,
        end,
        hand_overs: others.collect(),
        events: span.events.iter().zip(said).map(|(of, said)| event(of, said)).collect(),
    }
}

fn event(row: &EventRow, said: Option<Said>) -> EventShown {
    let text = |text: &Option<schema::tables::Text>| text.as_deref().map(str::to_owned);
    EventShown {
        us: row.ts.0,
        level: text(&row.level),
        class: text(&row.class),
        method: text(&row.method),
        source_line: row.source_line,
        file: row.file.to_string(),
        line: row.line,
        values: row.values.iter().map(named).collect(),
        reason: row.reason.to_string(),
        pass: text(&row.pass),
        is_read: said.as_ref().is_some_and(|said| said.is_read),
        text: said.map(|said| said.text),
    }
}

//! Requests as traces for the tools of others, written one after the other: what is held is one
//! request.
//!
//! | of a request | as trace |
//! |---|---|
//! | request | a trace, its id that of the request |
//! | span | a span, its id too; the node is the service, the top-level method the name |
//! | event | an event of its span, named by its log point, with its values |
//! | hand-over | parent and child; besides that of the parent a link, or `FOLLOWS_FROM` |
//! | nobody waits for a span | `FOLLOWS_FROM` (Jaeger), kind consumer (OTLP, Zipkin) |
//!
//! Times are those of the tree: a span for which somebody waits lies in the time of its parent,
//! as viewers presume. Events have the times that were printed.

mod chrome;
mod jaeger;
mod otlp;
mod perfetto;
mod protobuf;
mod zipkin;

use std::io::{self, Write};

use schema::tables::EventRow;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::request::{Logs, Request, Wait};

/// By what a trace says that lprof made it: the scope of its spans.
pub(crate) const SCOPE: &str = "lprof";
/// The attribute of a root that holds the type of the request.
pub(crate) const REQUEST_TYPE: &str = "lprof.request_type";
/// The attribute that holds the length of a span which a format cannot: nothing.
pub(crate) const DURATION: &str = "lprof.duration_us";

#[cfg(feature = "serve")]
pub(crate) use jaeger::{Trace as JaegerTrace, trace as jaeger_trace};

/// The value of an attribute.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub(crate) enum Said {
    Number(i64),
    Text(String),
}

impl Said {
    /// Whether it is `text`, or a number that is written so.
    #[cfg(feature = "serve")]
    fn is(&self, text: &str) -> bool {
        match self {
            Self::Number(number) => number.to_string() == text,
            Self::Text(said) => said == text,
        }
    }
}

impl From<&str> for Said {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

/// Attributes, by name.
type Attributes = Vec<(String, Said)>;

/// How traces are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TraceFormat {
    /// Jaeger's JSON, as its page reads it.
    Jaeger,
    /// OpenTelemetry's OTLP as JSON, a request a line.
    Otlp,
    /// OpenTelemetry's OTLP as protobuf, one `TracesData`.
    OtlpProtobuf,
    /// Zipkin's JSON of version 2.
    Zipkin,
    /// Perfetto's protobuf: threads as tracks, hand-overs as flows.
    Perfetto,
    /// The JSON of Chrome's trace viewer, which Perfetto reads too.
    Chrome,
}

/// Writes `requests` to `out`, one after the other; with `logs`, those of their table, events tell what
/// they say, made from templates, and, if these are not closed, also what the log says, where it can still be
/// read. How many there were.
///
/// # Errors
/// The first request that cannot be read; those of `out`.
pub fn export(
    requests: impl Iterator<Item = crate::error::Result<Request>>,
    format: TraceFormat,
    mut logs: Option<&mut Logs>,
    out: &mut dyn Write,
) -> crate::error::Result<u64> {
    let mut writer: Box<dyn Writer> = match format {
        TraceFormat::Jaeger => Box::new(jaeger::Jaeger),
        TraceFormat::Otlp => Box::new(otlp::Otlp),
        TraceFormat::OtlpProtobuf => Box::new(otlp::OtlpProtobuf),
        TraceFormat::Zipkin => Box::new(zipkin::Zipkin),
        TraceFormat::Perfetto => Box::new(perfetto::Perfetto::default()),
        TraceFormat::Chrome => Box::new(chrome::Chrome::default()),
    };
    out.write_all(writer.begin())?;
    let mut n = 0;
    for request in requests {
        let request = request?;
        let mut view = View { request: &request, logs: logs.as_deref_mut() };
        writer.request(out, &mut view, n == 0)?;
        n += 1;
    }
    out.write_all(writer.end())?;
    Ok(n)
}

/// A format, being written.
trait Writer {
    /// What stands before the first request.
    fn begin(&self) -> &'static [u8] {
        b""
    }

    /// What stands after the last one.
    fn end(&self) -> &'static [u8] {
        b""
    }

    /// Writes a request.
    fn request(&mut self, out: &mut dyn Write, view: &mut View<'_>, is_first: bool) -> io::Result<()>;
}

/// A request, as the formats see it.
pub(crate) struct View<'a> {
    pub(crate) request: &'a Request,
    pub(crate) logs: Option<&'a mut Logs>,
}

impl View<'_> {
    fn trace_id(&self) -> &str {
        &self.request.row().request_id
    }

    /// The span that handed over to `span`, and whether it waits for it.
    fn parent(&self, span: usize) -> Option<(&str, bool)> {
        let parent = self.request.parent(span)?;
        Some((&self.request.spans()[parent].row.span_id, self.request.wait(span) != Wait::Nobody))
    }

    /// Ids of the spans, besides the parent, that handed over to `span`, and how.
    fn links(&self, span: usize) -> impl Iterator<Item = (&str, Option<&str>)> {
        let all = self.request.other_hand_overs(span).filter(move |_| self.request.parent(span).is_some());
        all.map(|(from, over)| (&*self.request.spans()[from].row.span_id, over.link.as_deref()))
    }

    /// What is known of a span beside its name, node and times.
    fn attributes(&self, span: usize) -> Attributes {
        let row = &self.request.spans()[span].row;
        let mut all = vec![("code.function.name".to_owned(), Said::from(&*row.top_level_method))];
        let mut add = |name: &str, value: Option<&str>| {
            all.extend(value.map(|value| (name.to_owned(), Said::from(value))));
        };
        add("thread.name", row.thread.as_deref());
        add("lprof.link", row.link.as_deref());
        add("lprof.link_reason", row.link_reason.as_deref());
        let probability = row.link_probability.map(|probability| probability.to_string());
        add("lprof.link_probability", probability.as_deref());
        if self.request.parent(span).is_none() {
            let request = self.request.row();
            add(REQUEST_TYPE, Some(&request.request_type));
            add("lprof.log_sequence_id", Some(&request.log_sequence_id));
            if !request.flags.is_empty() {
                add("lprof.flags", Some(&request.flags.join(",")));
            }
            for identifier in &request.identifiers {
                add(&format!("lprof.id.{}", identifier.name), Some(&identifier.value));
            }
        }
        all
    }

    /// What an event says, by a template: of all nodes alike, and however old it is.
    fn message(&self, event: &EventRow) -> Option<String> {
        self.logs.as_ref()?.made(event)
    }

    /// What is known of an event beside its name and time.
    fn event_attributes(&mut self, event: &EventRow) -> Attributes {
        let mut all = Vec::new();
        let mut add = |name: &str, value: Said| all.push((name.to_owned(), value));
        if let Some(level) = &event.level {
            add("log.severity", Said::from(&**level));
        }
        if let (Some(class), Some(method)) = (&event.class, &event.method) {
            add("code.function.name", Said::Text(format!("{class}.{method}")));
        }
        if let Some(line) = event.source_line {
            add("code.line.number", Said::Number(line));
        }
        add("log.file.path", Said::from(&*event.file));
        add("log.file.line", Said::Number(event.line));
        if let Some(text) = self.message(event) {
            add("message", Said::Text(text));
        }
        if let Some(text) = self.logs.as_mut().and_then(|logs| logs.text(event)) {
            add("log.record.original", Said::Text(text));
        }
        for value in &event.values {
            add(&format!("lprof.value.{}", value.name), Said::from(&*value.value));
        }
        all
    }
}

/// What an event is called: the place in the code that printed it.
fn event_name(event: &EventRow) -> String {
    match (&event.class, &event.method) {
        (Some(class), Some(method)) => {
            let class = class.rsplit(['.', '$']).next().unwrap_or_default();
            format!("{class}.{method}:{}", event.source_line.unwrap_or(0))
        }
        _ => "log".to_owned(),
    }
}

/// Attributes as an object; texts only, if `as_text`.
fn object(attributes: Attributes, as_text: bool) -> Value {
    let value = |value: Said| match value {
        Said::Number(number) if as_text => Value::from(number.to_string()),
        Said::Number(number) => Value::from(number),
        Said::Text(text) => Value::from(text),
    };
    Value::Object(attributes.into_iter().map(|(name, of)| (name, value(of))).collect::<Map<_, _>>())
}

/// Begins an item of a list in JSON and writes it.
fn item(out: &mut dyn Write, is_first: bool, value: &impl Serialize) -> io::Result<()> {
    out.write_all(if is_first { b"\n" } else { b",\n" })?;
    serde_json::to_writer(&mut *out, value).map_err(io::Error::from)
}

#[cfg(test)]
mod tests;

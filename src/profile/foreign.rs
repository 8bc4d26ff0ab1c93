//! Traces of others: Jaeger's JSON, OpenTelemetry's OTLP JSON and Zipkin's JSON of version 2,
//! so that those who have traces can have profiles of them.
//!
//! A file is one document, or several one after the other as collectors write them; spans of
//! one trace can lie in several files. An operation is `service: name`, a request's type the
//! operation of the root that starts first; in those that lprof has written they are what they are
//! in its table. Times are whole microseconds. Somebody waits for
//! a child, unless it follows from its parent, consumes a message, or starts after its parent
//! has ended.

mod jaeger;
mod otlp;
mod zipkin;

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use crate::error::{Context as _, Result, bail};
use rustc_hash::FxHashMap;
use serde_json::Value;

use super::groups::{Groups, Request};
use crate::request::trace::{Repairs, Span, Trace, Wait, resolve};

/// Traces whose shapes are found at a time.
const TRACES_HELD_MAX: usize = 1 << 12;

/// A span as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Found {
    trace: String,
    id: String,
    parent: Option<String>,
    operation: String,
    /// The type of the request, where lprof wrote it.
    request_type: Option<String>,
    wait: Wait,
    start_us: i64,
    end_us: i64,
}

/// A span that is not one: what it lacks.
type Fault = String;

/// All traces of `files` in groups, and warnings.
///
/// # Errors
/// A file that cannot be read, is not JSON, or of none of the formats; it is named, with the
/// place of the fault.
pub(crate) fn read(files: &[PathBuf]) -> Result<(Groups, Vec<String>)> {
    let mut traces = Traces::default();
    let mut warnings = Vec::new();
    for path in files {
        let faults = read_file(path, &mut traces)?;
        if let Some(first) = faults.first() {
            let n = faults.len();
            warnings.push(format!("`{}`: {n} spans left out, the first one has {first}", path.display()));
        }
    }
    Ok((traces.into_groups(), warnings))
}

fn read_file(path: &Path, traces: &mut Traces) -> Result<Vec<Fault>> {
    let name = || format!("`{}`", path.display());
    let file = File::open(path).with_context(name)?;
    let mut faults = Vec::new();
    let mut n_documents = 0;
    let mut documents = serde_json::Deserializer::from_reader(BufReader::new(file)).into_iter::<Value>();
    loop {
        let begin = documents.byte_offset();
        let Some(document) = documents.next() else { break };
        let document = document.with_context(|| format!("{}, after byte {begin}", name()))?;
        n_documents += 1;
        let Some(spans) = spans(&document) else {
            bail!(NotOurs: "{}: what begins at byte {begin} is no trace of Jaeger, OTLP or Zipkin", name());
        };
        for span in spans {
            match span {
                Ok(span) => traces.add(span),
                Err(fault) => faults.push(fault),
            }
        }
    }
    if n_documents == 0 {
        bail!(Empty: "{}: the file is empty", name());
    }
    Ok(faults)
}

/// The spans of a document; none: it is of no known format.
fn spans(document: &Value) -> Option<Vec<Result<Found, Fault>>> {
    jaeger::spans(document).or_else(|| otlp::spans(document)).or_else(|| zipkin::spans(document))
}

/// `service: name`; the name alone where lprof wrote the trace: its services are nodes.
fn operation(service: Option<&str>, name: String, is_ours: bool) -> String {
    match service.filter(|_| !is_ours) {
        Some(service) => format!("{service}: {name}"),
        None => name,
    }
}

/// The text of a field, or what is missing.
fn text(of: &Value, field: &str) -> Result<String, Fault> {
    let text = of[field].as_str().filter(|text| !text.is_empty());
    text.map(str::to_owned).ok_or_else(|| format!("no `{field}`"))
}

/// A whole number, also as text, as OTLP has them.
fn number(of: &Value, field: &str) -> Result<i64, Fault> {
    let value = &of[field];
    let number = value.as_i64().or_else(|| value.as_str()?.parse().ok()).filter(|number| *number >= 0);
    number.ok_or_else(|| format!("no `{field}`"))
}

/// Spans by trace, in the order in which they came.
#[derive(Default)]
struct Traces {
    numbers: FxHashMap<String, usize>,
    traces: Vec<Vec<Found>>,
}

impl Traces {
    fn add(&mut self, span: Found) {
        if let Some(&number) = self.numbers.get(&span.trace) {
            self.traces[number].push(span);
            return;
        }
        self.numbers.insert(span.trace.clone(), self.traces.len());
        self.traces.push(vec![span]);
    }

    fn into_groups(self) -> Groups {
        let mut groups = Groups::default();
        let mut held = Vec::new();
        for spans in self.traces {
            held.push(request(&mut groups, &spans));
            if held.len() == TRACES_HELD_MAX {
                groups.add(std::mem::take(&mut held));
            }
        }
        groups.add(held);
        groups
    }
}

fn request(groups: &mut Groups, found: &[Found]) -> Request {
    let mut repairs = Repairs::default();
    let parents = resolve(found.iter().map(|span| (&*span.id, span.parent.as_deref())), &mut repairs);
    let kept: Vec<(&Found, Option<u32>)> =
        found.iter().zip(parents).filter_map(|(span, parent)| Some((span, parent?))).collect();
    // Nobody can have waited for what starts after his end.
    let is_late = |span: &Found, parent: u32| span.start_us > kept[parent as usize].0.end_us;
    let span = |&(span, parent): &(&Found, Option<u32>)| Span {
        operation: groups.names.number(&span.operation),
        parent,
        // For what nobody asked for nobody waits.
        wait: if parent.is_none_or(|parent| is_late(span, parent)) { Wait::Nobody } else { span.wait },
        start_us: span.start_us,
        end_us: span.end_us,
    };
    let (trace, repaired) = Trace::new(kept.iter().map(span).collect());
    repairs.add(repaired);
    groups.repairs.add(repairs);
    let first = trace.roots.iter().map(|&root| &trace.spans[root as usize]).min_by_key(|span| span.start_us);
    let first = first.expect("a trace has a span, and so a root").operation;
    let told = found.iter().find_map(|span| span.request_type.as_deref());
    let request_type = told.map_or(first, |told| groups.names.number(told));
    let id = found[0].trace.as_str().into();
    Request { id, request_type, trace, printed: Vec::new(), population: 0 }
}

#[cfg(test)]
mod tests;

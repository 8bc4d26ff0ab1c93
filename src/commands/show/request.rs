//! A request as a waterfall: its spans, each under the one that handed over to
//! it, and its records, with their text where the log can still be read.

use std::collections::BTreeMap;
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;

use anyhow::{Result, bail};
use reducer::table::Manifest;
use schema::tables::{EventRow, RequestRow, SpanRow};

use crate::output::{self, duration};
use crate::render::neutral;

/// Longest text shown of a record; the rest is in the log.
const TEXT_BYTES_MAX: usize = 2_000;
/// Width of the time bar.
const BAR_CHARS: usize = 24;

pub(crate) fn print(table: &Path, id: &str) -> Result<()> {
    let manifest = Manifest::read(table)?;
    let mut found: Vec<RequestRow> = manifest.rows()?;
    found.retain(|row| row.request_id.starts_with(id));
    let request = match found.as_slice() {
        [] => bail!("`{id}`: no request of this id in `{}`", table.display()),
        [request] => request,
        [first, second, ..] => {
            bail!("`{id}`: begins several ids, e.g. {} and {}", first.request_id, second.request_id)
        }
    };
    let mut spans: Vec<SpanRow> = manifest.rows()?;
    spans.retain(|row| row.request_id == request.request_id);
    let mut events: Vec<EventRow> = manifest.rows()?;
    events.retain(|row| row.request_id.as_deref() == Some(&request.request_id));

    let mut out = output::stdout();
    print_head(&mut out, request)?;
    let mut view = View { request, spans: &spans, events: &events, logs: Logs::default() };
    let is_root = |span: &&SpanRow| {
        span.parent_span_id.as_ref().is_none_or(|parent| !spans.iter().any(|other| other.span_id == *parent))
    };
    let mut shown = vec![false; spans.len()];
    for span in spans.iter().filter(is_root) {
        view.print_span(&mut out, span, 0, &mut shown)?;
    }
    // Spans that only lead to each other have no root; they are shown flat.
    for i in 0..spans.len() {
        if !shown[i] {
            view.print_span(&mut out, &spans[i], 0, &mut shown)?;
        }
    }
    out.flush()?;
    Ok(())
}

fn print_head(out: &mut dyn std::io::Write, request: &RequestRow) -> Result<()> {
    writeln!(out, "{}  {}", request.request_id, neutral(&request.request_type))?;
    writeln!(
        out,
        "  {} on {} nodes, {} spans, {} events, sequence {}",
        duration(request.duration_us),
        request.n_nodes,
        request.n_spans,
        request.n_events,
        request.log_sequence_id,
    )?;
    for identifier in &request.identifiers {
        writeln!(out, "  {} = {}", neutral(&identifier.name), neutral(&identifier.value))?;
    }
    if !request.flags.is_empty() {
        writeln!(out, "  flags: {}", request.flags.join(", "))?;
    }
    writeln!(out)?;
    Ok(())
}

struct View<'a> {
    request: &'a RequestRow,
    spans: &'a [SpanRow],
    events: &'a [EventRow],
    logs: Logs,
}

impl View<'_> {
    fn print_span(
        &mut self,
        out: &mut dyn std::io::Write,
        span: &SpanRow,
        depth: usize,
        shown: &mut [bool],
    ) -> Result<()> {
        let Some(at) = self.spans.iter().position(|other| other.span_id == span.span_id) else {
            return Ok(());
        };
        if std::mem::replace(&mut shown[at], true) {
            return Ok(());
        }
        let indent = "  ".repeat(depth);
        let link = span.link.as_deref().map(|link| format!("{link} -> ")).unwrap_or_default();
        let thread =
            span.thread.as_deref().map(|thread| format!(" [{}]", neutral(thread))).unwrap_or_default();
        let (node, method) = (neutral(&span.node), neutral(&span.top_level_method));
        let took = duration(span.end_ts.0 - span.start_ts.0);
        writeln!(out, "{} {indent}{link}{method} on {node}{thread}, {took}", self.bar(span))?;
        for event in self.events.iter().filter(|event| event.span_id.as_deref() == Some(&span.span_id)) {
            let since = duration(event.ts.0 - self.request.start_ts.0);
            let text = self.logs.text(event).unwrap_or_else(|| place(event));
            let text = text.lines().next().unwrap_or_default();
            writeln!(
                out,
                "{:>width$} {indent}  {}",
                format!("+{since}"),
                neutral(text),
                width = BAR_CHARS + 2
            )?;
        }
        let children: Vec<&SpanRow> = self
            .spans
            .iter()
            .filter(|other| other.parent_span_id.as_deref() == Some(&span.span_id))
            .collect();
        for child in children {
            self.print_span(out, child, depth + 1, shown)?;
        }
        Ok(())
    }

    /// When in the request the span was at work.
    fn bar(&self, span: &SpanRow) -> String {
        let total = self.request.duration_us.max(1) as f64;
        let at = |ts: i64| {
            ((ts - self.request.start_ts.0) as f64 / total * (BAR_CHARS - 1) as f64).round() as usize
        };
        let (start, end) = (at(span.start_ts.0).min(BAR_CHARS - 1), at(span.end_ts.0).min(BAR_CHARS - 1));
        let cell = |i: usize| if (start..=end).contains(&i) { '#' } else { '.' };
        format!("[{}]", (0..BAR_CHARS).map(cell).collect::<String>())
    }
}

fn place(event: &EventRow) -> String {
    let class = event.class.as_deref().unwrap_or("?");
    let method = event.method.as_deref().unwrap_or("?");
    format!("{class}.{method}:{} ({}:{})", event.source_line.unwrap_or(0), event.file, event.line)
}

/// Logs, read at the offset of a record. A compressed log has no such offset,
/// and a log may be gone: then there is no text.
#[derive(Default)]
pub(crate) struct Logs {
    open: BTreeMap<String, Option<std::fs::File>>,
}

impl Logs {
    /// The text of a record.
    pub(crate) fn text(&mut self, event: &EventRow) -> Option<String> {
        let file =
            self.open.entry(event.file.to_string()).or_insert_with_key(|path| open_plain(Path::new(path)));
        let file = file.as_mut()?;
        file.seek(SeekFrom::Start(event.byte_offset.try_into().ok()?)).ok()?;
        let mut bytes = Vec::new();
        file.take(TEXT_BYTES_MAX as u64).read_to_end(&mut bytes).ok()?;
        let text = String::from_utf8_lossy(&bytes);
        let n_lines = usize::try_from(event.n_lines).unwrap_or(1);
        let text = text.lines().take(n_lines).collect::<Vec<_>>().join("\n");
        (!text.is_empty()).then_some(text)
    }
}

fn open_plain(path: &Path) -> Option<std::fs::File> {
    if !path.is_file() {
        return None;
    }
    let mut file = std::fs::File::open(path).ok()?;
    let mut magic = [0; 4];
    let n = file.read(&mut magic).ok()?;
    let compressed: [&[u8]; 4] = [&[0x1f, 0x8b], b"BZh", b"PK\x03\x04", &[0x28, 0xb5, 0x2f, 0xfd]];
    (!compressed.iter().any(|m| magic[..n].starts_with(m))).then_some(file)
}

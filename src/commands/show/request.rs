//! A request as a waterfall: its spans, each under the one that handed over to
//! it, and its records, with their text where the log can still be read.

use std::io::Write as _;
use std::path::Path;

use anyhow::Result;
use schema::tables::{EventRow, RequestRow, SpanRow};

use crate::output::{self, Voice, duration};
use crate::page::request::missing;
use crate::render::neutral;
use crate::request::{Request, Said};
use crate::table::Table;

/// Width of the time bar.
const BAR_CHARS: usize = 24;

pub(crate) fn print(table: &Path, id: &str, voice: Voice) -> Result<()> {
    let table = Table::open(table)?;
    if let Some(damage) = table.damage() {
        voice.say(&format!("warning: {damage}; the state before it is read"));
    }
    let request = table.request(id)?;
    let mut out = output::stdout();
    print_head(&mut out, request.row())?;
    print_related(&mut out, &table, &request.row().request_id)?;
    if let Some(note) = missing(&table, &request) {
        writeln!(out, "  {note}\n")?;
    }
    let view = View { request: &request, said: table.logs().all_said(&request) };
    // Spans and how deep they stand; children come right after the span that handed over to them.
    let mut rest: Vec<(usize, usize)> = request.roots().map(|root| (root, 0)).collect();
    rest.reverse();
    while let Some((at, depth)) = rest.pop() {
        view.print_span(&mut out, at, depth)?;
        let children: Vec<usize> = request.children(at).collect();
        rest.extend(children.into_iter().rev().map(|child| (child, depth + 1)));
    }
    out.flush()?;
    Ok(())
}

fn print_head(out: &mut dyn std::io::Write, request: &RequestRow) -> Result<()> {
    writeln!(out, "{}  {}", request.request_id, neutral(&request.request_type))?;
    if let Some(types) = request.request_types.as_ref().filter(|types| types.len() > 1) {
        writeln!(out, "  begins as one of {}, which print it alike", neutral(&types.join(", ")))?;
    }
    writeln!(
        out,
        "  {} on {} nodes, {} spans, {} events, sequence {}",
        duration(request.duration_us),
        request.n_nodes,
        request.n_spans,
        request.n_events,
        neutral(&request.log_sequence_id),
    )?;
    if let Some(confidence) = request.confidence.filter(|_| request.n_spans > 1) {
        writeln!(out, "  all its links are true with a probability of {:.0} %", 100.0 * confidence)?;
    }
    for identifier in &request.identifiers {
        writeln!(out, "  {} = {}", neutral(&identifier.name), neutral(&identifier.value))?;
    }
    if !request.flags.is_empty() {
        writeln!(out, "  flags: {}", neutral(&request.flags.join(", ")))?;
    }
    Ok(())
}

/// How many others have to do with a request, and how to see them.
fn print_related(out: &mut dyn std::io::Write, table: &Table, id: &str) -> Result<()> {
    let n = table.related(id)?.len();
    if n > 0 {
        let folder = table.folder().display().to_string();
        writeln!(
            out,
            "  {n} related: lprof related --table {} {}",
            neutral(&folder),
            &id[..12.min(id.len())]
        )?;
    }
    writeln!(out)?;
    Ok(())
}

struct View<'a> {
    request: &'a Request,
    said: Vec<Vec<Option<Said>>>,
}

impl View<'_> {
    fn print_span(&self, out: &mut dyn std::io::Write, at: usize, depth: usize) -> Result<()> {
        let span = &self.request.spans()[at];
        let row = &span.row;
        let indent = "  ".repeat(depth);
        let link = row.link.as_deref().map(|link| format!("{link}{} -> ", unsure(row.link_probability)));
        let link = link.unwrap_or_default();
        let thread =
            row.thread.as_deref().map(|thread| format!(" [{}]", neutral(thread))).unwrap_or_default();
        let (node, method) = (neutral(&row.node), neutral(&row.top_level_method));
        let took = duration(row.end_ts.0 - row.start_ts.0);
        writeln!(out, "{} {indent}{link}{method} on {node}{thread}, {took}", self.bar(row))?;
        for (event, said) in span.events.iter().zip(&self.said[at]) {
            let since = duration(event.ts.0 - self.request.row().start_ts.0);
            let text = said.as_ref().map_or_else(|| place(event), |said| said.text.clone());
            let text = text.lines().next().unwrap_or_default();
            writeln!(
                out,
                "{:>width$} {indent}  {}",
                format!("+{since}"),
                neutral(text),
                width = BAR_CHARS + 2
            )?;
        }
        Ok(())
    }

    /// When in the request the span was at work.
    fn bar(&self, span: &SpanRow) -> String {
        let total = self.request.row().duration_us.max(1) as f64;
        let at = |ts: i64| {
            ((ts - self.request.row().start_ts.0) as f64 / total * (BAR_CHARS - 1) as f64).round() as usize
        };
        let (start, end) = (at(span.start_ts.0).min(BAR_CHARS - 1), at(span.end_ts.0).min(BAR_CHARS - 1));
        let cell = |i: usize| if (start..=end).contains(&i) { '#' } else { '.' };
        format!("[{}]", (0..BAR_CHARS).map(cell).collect::<String>())
    }
}

/// How likely a link is true, where that is not nearly sure.
fn unsure(probability: Option<f64>) -> String {
    let unsure = probability.filter(|probability| *probability < 0.95);
    unsure.map(|probability| format!(" ({:.0} %)", 100.0 * probability)).unwrap_or_default()
}

fn place(event: &EventRow) -> String {
    let class = event.class.as_deref().unwrap_or("?");
    let method = event.method.as_deref().unwrap_or("?");
    format!("{class}.{method}:{} ({}:{})", event.source_line.unwrap_or(0), event.file, event.line)
}

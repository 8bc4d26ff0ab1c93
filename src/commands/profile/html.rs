//! A report as one page that needs nothing beside it: the ranked lines with the aggregate
//! trace of a group drawn as lanes and the distribution of the part that takes long; the four
//! layers to open; example requests with their log lines. No script, no font, no picture is
//! loaded, and every text that logs or traces hold is escaped.

mod lanes;
mod layers;
mod plot;

use std::io::{self, Write};

use super::{heading, show_request};
use crate::output::{duration, grouped};
use crate::profile::layers::Tails;
use crate::profile::report::{Finding, InOrder, Part, Report};
use crate::profile::statistics::{Statistics, Summary};
use crate::profile::table::PrintedLine;

/// Lines of the report on the page.
const LINES_MAX: usize = 40;

/// The lines of an example, by the request's number.
pub(super) type Examples = std::collections::BTreeMap<u32, Vec<PrintedLine>>;

const STYLE: &str = "\
body{font:15px/1.45 system-ui,sans-serif;color:#1b1f24;max-width:72rem;margin:2rem auto;padding:0 1rem}
h1{font-size:1.5rem}h2{font-size:1.2rem;margin-top:2rem;border-bottom:1px solid #d0d7de}
details{margin:.4rem 0;padding:.2rem .6rem;border-left:3px solid #d0d7de}
details[open]{border-left-color:#0969da}summary{cursor:pointer}
table{border-collapse:collapse;margin:.5rem 0}td,th{padding:.15rem .7rem .15rem 0;text-align:left;vertical-align:top}
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}
code{font:13px/1.4 ui-monospace,monospace}.tail{color:#bc4c00}.dim{color:#57606a}
svg{display:block;margin:.5rem 0;max-width:100%}svg text{font:12px system-ui,sans-serif;fill:#1b1f24}";

/// The whole page.
pub(super) fn page(
    out: &mut dyn Write,
    report: &Report<'_>,
    tails: &Tails,
    examples: &Examples,
) -> io::Result<()> {
    let title = format!("Profile of {}", report.table.as_deref().unwrap_or("traces"));
    writeln!(
        out,
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{0}</title>\n\
         <style>{STYLE}</style></head><body>\n<h1>{0}</h1>\n<p>{1}</p>",
        escaped(&title),
        escaped(&heading(report)),
    )?;
    differences(out, report)?;
    writeln!(
        out,
        "<h2>Where the time goes</h2>\n<p class=dim>Lanes are the averages of all requests of an order. Blue: \
         somebody waits for it, or a root; violet: nobody waits; orange: what takes long. In distributions \
         orange is the tail.</p>"
    )?;
    for (at, finding) in report.findings.iter().take(LINES_MAX).enumerate() {
        line(out, report, tails, at, finding)?;
    }
    if report.findings.len() > LINES_MAX {
        writeln!(out, "<p>{} more lines are left out.</p>", report.findings.len() - LINES_MAX)?;
    }
    writeln!(out, "<h2>Layers</h2>")?;
    layers::layers(out, report, tails)?;
    requests(out, report, examples)?;
    writeln!(out, "</body></html>")
}

fn differences(out: &mut dyn Write, report: &Report<'_>) -> io::Result<()> {
    if report.differences.is_empty() {
        return Ok(());
    }
    writeln!(
        out,
        "<h2>What the tail does, and the rest does not</h2>\n<table><tr><th>requests</th><th>do</th>\
         <th class=n>of the tail</th><th class=n>of the rest</th></tr>"
    )?;
    for of in report.differences.iter().take(LINES_MAX) {
        let share = |(n, all): (u64, u64)| format!("{} of {}", grouped(n), grouped(all));
        writeln!(
            out,
            "<tr><td>{}</td><td>{}</td><td class=n>{}</td><td class=n>{}</td></tr>",
            escaped(report.groups.names.name(of.request_type)),
            escaped(&report.code.deed(report.groups, of.deed)),
            share(of.first),
            share(of.second),
        )?;
    }
    writeln!(out, "</table>")
}

fn line(out: &mut dyn Write, report: &Report<'_>, tails: &Tails, at: usize, of: &Finding) -> io::Result<()> {
    let groups = report.groups;
    let what = if of.part == Part::HandOver { "hand-over" } else { "operation" };
    let open = if at == 0 { " open" } else { "" };
    let tail = if of.is_tail { " <span class=tail>in the tail</span>" } else { "" };
    writeln!(
        out,
        "<details{open}><summary><b>{}.</b> {what} <b>{}</b>, {:.1} % of all own time: {} of requests {}{tail}</summary>",
        at + 1,
        escaped(&of.subject.name(groups)),
        100.0 * of.share,
        escaped(&super::text::part(of.part)),
        escaped(groups.names.name(of.request_type)),
    )?;
    let (low, high) = of.confidence_us;
    writeln!(
        out,
        "<p>{} on average ({} to {} at 95 %), {} times in tree <code>{}</code><br><code>{}</code></p>",
        mean(&of.of_tree),
        us(low),
        us(high),
        grouped(of.n_requests),
        of.tree,
        escaped(&of.path),
    )?;
    writeln!(out, "<p>Own time in this type: {}</p>", summary(&of.of_type))?;
    for order in &of.orders {
        in_order(out, report, tails, order)?;
    }
    writeln!(out, "</details>")
}

fn in_order(out: &mut dyn Write, report: &Report<'_>, tails: &Tails, order: &InOrder) -> io::Result<()> {
    let subspan = order.subspan.map_or("hand-over".to_owned(), |number| format!("subspan {number}"));
    writeln!(
        out,
        "<details open><summary>order <code>{}</code>, {subspan}: {}</summary>",
        order.id,
        summary(&order.summary)
    )?;
    lanes::lanes(out, report.groups, order.group, Some((order.place, order.subspan)))?;
    plot::plot(out, report.groups, tails, order)?;
    if !order.regions.is_empty() {
        writeln!(
            out,
            "<table><tr><th>region of code</th><th class=n>share</th><th class=n>times</th><th class=n>mean</th><th class=n>p99</th><th>can take time</th></tr>"
        )?;
        for region in &order.regions {
            let slow = report.code.slow(&region.region).into_iter().take(super::SLOW_SHOWN);
            let slow: Vec<String> = slow.map(escaped).collect();
            writeln!(
                out,
                "<tr><td><code>{}</code></td><td class=n>{:.1} %</td><td class=n>{}</td><td class=n>{}</td><td class=n>{}</td><td>{}</td></tr>",
                escaped(&report.code.region(&region.region)),
                100.0 * region.share,
                grouped(region.statistics.count),
                mean(&region.statistics),
                duration(region.statistics.p99_us),
                slow.join("<br>"),
            )?;
        }
        writeln!(out, "</table>")?;
    }
    let link = |&(request, us): &(u32, i64)| {
        let id = escaped(report.groups.requests.id(request));
        format!("<a href=\"#request-{id}\"><code>{}</code></a> ({})", &id[..id.len().min(12)], duration(us))
    };
    let links: Vec<String> = order.examples.iter().map(link).collect();
    writeln!(out, "<p>Longest in {}</p></details>", links.join(", "))
}

/// Examples with their spans and log lines.
fn requests(out: &mut dyn Write, report: &Report<'_>, examples: &Examples) -> io::Result<()> {
    writeln!(out, "<h2>Example requests</h2>")?;
    let orders = report.findings.iter().take(LINES_MAX).flat_map(|of| &of.orders);
    let mut numbers: Vec<u32> = orders.flat_map(|order| order.examples.iter().map(|(r, _)| *r)).collect();
    numbers.sort_unstable();
    numbers.dedup();
    for number in numbers {
        let requests = &report.groups.requests;
        let id = escaped(requests.id(number));
        let group = requests.groups[number as usize];
        writeln!(
            out,
            "<details id=\"request-{id}\"><summary><code>{id}</code> {}: {}</summary><p><code>{}</code></p>",
            escaped(report.groups.names.name(report.groups.groups[group as usize].request_type)),
            duration(requests.durations_us[number as usize]),
            escaped(&show_request(report, number)),
        )?;
        lanes::request(out, report.groups, number)?;
        let lines = examples.get(&number).map_or(&[] as &[PrintedLine], Vec::as_slice);
        if !lines.is_empty() {
            writeln!(
                out,
                "<table><tr><th class=n>after</th><th>node</th><th>log line</th><th>log point</th></tr>"
            )?;
        }
        for line in lines {
            writeln!(
                out,
                "<tr><td class=n>{}</td><td>{}</td><td><a href=\"{}\"><code>{}:{}</code></a></td><td><code>{}</code></td></tr>",
                duration(line.us - requests.starts_us[number as usize]),
                escaped(&line.node),
                address(&line.file),
                escaped(&line.file),
                line.line,
                escaped(&report.code.point(line.log_point)),
            )?;
        }
        if !lines.is_empty() {
            writeln!(out, "</table>")?;
        }
        writeln!(out, "</details>")?;
    }
    Ok(())
}

fn summary(of: &Summary) -> String {
    let mut text = format!("{} times, {} on average", grouped(of.all.count), mean(&of.all));
    if of.tail.count > 0 && of.normal.count > 0 {
        text.push_str(&format!(
            "; <span class=tail>tail {}</span>, others {}",
            mean(&of.tail),
            mean(&of.normal)
        ));
    }
    text
}

fn mean(of: &Statistics) -> String {
    us(of.mean_us)
}

fn us(us: f64) -> String {
    duration(us.round() as i64)
}

/// A text that is only text, also within an attribute.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in crate::render::neutral(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

/// A path as a relative address: what could be a scheme or end the attribute is spelled out.
fn address(path: &str) -> String {
    let mut out = String::new();
    for byte in path.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' => out.push(byte as char),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{address, escaped};

    #[test]
    fn texts_of_logs_are_only_texts() {
        assert_eq!(
            escaped("<script>\"a\" & 'b'\u{1b}"),
            "&lt;script&gt;&quot;a&quot; &amp; &#39;b&#39;\\x1b"
        );
        assert_eq!(address("javascript:alert(\"x\")"), "javascript%3Aalert%28%22x%22%29");
        assert_eq!(address("logs/a-1.log"), "logs/a-1.log");
    }
}

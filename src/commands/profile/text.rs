//! A report and a comparison for people.

use std::io::{self, Write};

use super::{SLOW_SHOWN, heading, show_request};
use crate::output::{duration, grouped};
use crate::profile::code::Code;
use crate::profile::differences::Difference;
use crate::profile::groups::Groups;
use crate::profile::report::{Finding, InOrder, Part, Report};
use crate::profile::statistics::{Statistics, Summary};
use crate::render::neutral;

/// The report; `top` operations of it.
pub(super) fn report(out: &mut dyn Write, report: &Report<'_>, top: usize) -> io::Result<()> {
    writeln!(out, "{}", heading(report))?;
    if !report.differences.is_empty() {
        writeln!(out, "\nWhat the tail does, and the rest does not, or a quarter as often at most:")?;
        differences(
            out,
            report.groups,
            report.code,
            &report.differences,
            ("of the tail", "of the rest"),
            top,
        )?;
    }
    let n_subjects = report.findings.last().map_or(0, |last| last.rank);
    let mut above: Option<&Finding> = None;
    for finding in report.findings.iter().filter(|finding| finding.rank <= top) {
        line(out, report, finding, above)?;
        above = Some(finding);
    }
    if n_subjects > top {
        writeln!(out, "\n{} more operations: --top", n_subjects - top)?;
    }
    if report.findings.is_empty() {
        writeln!(out, "\nNothing is seen in enough requests to be told: --min-support")?;
    }
    Ok(())
}

fn differences(
    out: &mut dyn Write,
    groups: &Groups,
    code: &Code,
    found: &[Difference],
    (first, second): (&str, &str),
    top: usize,
) -> io::Result<()> {
    for difference in found.iter().take(top) {
        writeln!(
            out,
            "  {}: {}\n    {} of {} {first}, {} of {} {second}",
            neutral(groups.names.name(difference.request_type)),
            neutral(&code.deed(groups, difference.deed)),
            grouped(difference.first.0),
            grouped(difference.first.1),
            grouped(difference.second.0),
            grouped(difference.second.1),
        )?;
    }
    if found.len() > top {
        writeln!(out, "  and {} more", found.len() - top)?;
    }
    Ok(())
}

/// A line of the report below another one, which has told what both are of.
fn line(out: &mut dyn Write, report: &Report<'_>, of: &Finding, above: Option<&Finding>) -> io::Result<()> {
    let groups = report.groups;
    let is_told = above.is_some_and(|above| above.rank == of.rank);
    if !is_told {
        let what = if of.part == Part::HandOver { "hand-over" } else { "operation" };
        let subject = neutral(&of.subject.name(groups));
        writeln!(out, "\n{}. {what} {subject}: {} of all own time", of.rank, percent(of.share))?;
    }
    if !is_told || above.is_some_and(|above| above.request_type != of.request_type) {
        let tail = if of.is_tail { ", in the tail" } else { "" };
        let request_type = neutral(groups.names.name(of.request_type));
        writeln!(out, "   requests {request_type}{tail}: {}", summary(&of.of_type))?;
    }
    writeln!(
        out,
        "     {}, {}: {} on average ({} to {}), {} times in tree {}",
        neutral(&of.path),
        part(of.part),
        mean(&of.of_tree),
        us(of.confidence_us.0),
        us(of.confidence_us.1),
        grouped(of.n_requests),
        of.tree,
    )?;
    of.orders.iter().try_for_each(|order| in_order(out, report, order))
}

fn in_order(out: &mut dyn Write, report: &Report<'_>, order: &InOrder) -> io::Result<()> {
    let subspan = order.subspan.map_or("hand-over".to_owned(), |number| format!("subspan {number}"));
    let share = match order.subspan {
        Some(_) => format!(", {} of the span", percent(order.share_of_span)),
        None => String::new(),
    };
    writeln!(out, "       order {}: {subspan}{share}: {}", order.id, summary(&order.summary))?;
    for region in &order.regions {
        let what = neutral(&report.code.region(&region.region));
        let (share, statistics) = (percent(region.share), &region.statistics);
        writeln!(out, "         {what}: {share}, {}", times(statistics))?;
        let slow = report.code.slow(&region.region);
        if !slow.is_empty() {
            let more = slow.len().saturating_sub(SLOW_SHOWN);
            let more = if more > 0 { format!("; and {more} more") } else { String::new() };
            let shown: Vec<String> = slow.into_iter().take(SLOW_SHOWN).map(neutral).collect();
            writeln!(out, "           can take time: {}{more}", shown.join("; "))?;
        }
    }
    if let Some(&(request, us_taken)) = order.examples.first() {
        writeln!(out, "         longest: {} ({})", show_request(report, request), duration(us_taken))?;
    }
    Ok(())
}

/// A part of a span in words.
pub(super) fn part(part: Part) -> String {
    match part {
        Part::BeforeChild(0) => "before its first child".to_owned(),
        Part::BeforeChild(k) => format!("before its child {}", k + 1),
        Part::AfterChildren => "after its last child".to_owned(),
        Part::FullSpan => "all of it".to_owned(),
        Part::HandOver => "until it starts".to_owned(),
    }
}

fn summary(of: &Summary) -> String {
    let tail = if of.tail.count > 0 {
        format!(
            "; tail {}, others {}",
            mean(&of.tail),
            if of.normal.count > 0 { mean(&of.normal) } else { "none".to_owned() }
        )
    } else {
        String::new()
    };
    format!("{}{tail}", times(&of.all))
}

fn times(of: &Statistics) -> String {
    format!("{} times, {} on average", grouped(of.count), mean(of))
}

fn mean(of: &Statistics) -> String {
    us(of.mean_us)
}

fn us(us: f64) -> String {
    duration(us.round() as i64)
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

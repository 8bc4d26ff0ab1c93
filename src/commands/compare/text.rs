//! A comparison for people.

use std::io::{self, Write};

use serde_json::{Value, json};

use crate::compare::report::{Bounds, ChangeReport, Changed, Part, Report, Side, SpentReport};
use crate::output::{duration, grouped};
use crate::render::{self, Format, neutral};

/// Steps of a way that are shown.
const STEPS_SHOWN: usize = 4;
/// Of what can take time in a region, how much is shown.
const CALLS_SHOWN: usize = 3;
/// Renamed methods that are shown.
const NAMES_SHOWN: usize = 5;

/// The comparison; `top` lines of each of its parts.
pub(super) fn print(out: &mut dyn Write, report: &Report, top: usize) -> io::Result<()> {
    side(out, "first", &report.first)?;
    side(out, "second", &report.second)?;
    if let Some(release) = &report.release {
        changed(out, release)?;
    }
    types(out, report, top)?;
    one_sided(out, report, top)?;
    sequences(out, report, top)?;
    let grew = |of: &&ChangeReport| of.difference.us > 0.0;
    let (longer, shorter): (Vec<&ChangeReport>, Vec<&ChangeReport>) = report.changes.iter().partition(grew);
    changes(out, report, "What takes longer in the second, of each request:", &longer, top)?;
    changes(out, report, "What takes shorter:", &shorter, top)?;
    if report.changes.is_empty() {
        writeln!(out, "\nNo difference in the time of spans and regions of code is more than chance")?;
    }
    Ok(())
}

fn side(out: &mut dyn Write, which: &str, of: &Side) -> io::Result<()> {
    let time = |us: Option<i64>| us.and_then(|us| jiff::Timestamp::from_microsecond(us).ok());
    let extent = match (time(of.from), time(of.to)) {
        (Some(from), Some(to)) => format!(", {from:.0} to {to:.0}"),
        _ => String::new(),
    };
    writeln!(out, "{which:<7} {}: {} requests{extent}", neutral(&of.name), grouped(of.n_requests))
}

fn changed(out: &mut dyn Write, of: &Changed) -> io::Result<()> {
    let parts = [
        (of.n_moved, "moved to other methods"),
        (of.n_reworded, "with other words"),
        (of.n_only_first, "only in the first"),
        (of.n_only_second, "only in the second"),
    ];
    let parts =
        parts.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!(", {} {what}", grouped(*n as u64)));
    writeln!(out, "log points: {} the same{}", grouped(of.n_same as u64), parts.collect::<String>())?;
    for names in of.renamed.iter().take(NAMES_SHOWN) {
        writeln!(out, "  {} is what {} was", neutral(&names.second), neutral(&names.first))?;
    }
    match of.renamed.len().saturating_sub(NAMES_SHOWN) {
        0 => Ok(()),
        n => writeln!(out, "  and {n} more methods are renamed"),
    }
}

fn types(out: &mut dyn Write, report: &Report, top: usize) -> io::Result<()> {
    writeln!(out)?;
    let us = |n: u64, us: i64| if n > 0 { json!(duration(us)) } else { Value::Null };
    let mut rows = Vec::new();
    for of in report.types.iter().take(top) {
        let (a, b) = (&of.first, &of.second);
        rows.push(vec![
            json!(of.request_type),
            json!(a.n),
            json!(b.n),
            us(a.n, a.p50_us),
            us(b.n, b.p50_us),
            json!(of.p50.map(difference)),
            us(a.n, a.p99_us),
            us(b.n, b.p99_us),
            json!(of.p99.map(difference)),
        ]);
    }
    let columns = [
        "request_type",
        "n first",
        "second",
        "p50 first",
        "second",
        "change",
        "p99 first",
        "second",
        "change",
    ];
    render::rows(out, Format::Table, &columns, rows)?;
    more(out, report.types.len(), top)
}

fn one_sided(out: &mut dyn Write, report: &Report, top: usize) -> io::Result<()> {
    let is_new = |first: Part, second: Part| second.n * first.of > first.n * second.of;
    for (which, side) in [("second", true), ("first", false)] {
        let of: Vec<_> = report.one_sided.iter().filter(|of| is_new(of.first, of.second) == side).collect();
        if of.is_empty() {
            continue;
        }
        writeln!(out, "\nWhat the {which} does, and the other does not, or a quarter as often at most:")?;
        for of in of.iter().take(top) {
            writeln!(out, "  {}: {}", neutral(&of.request_type), neutral(&of.does))?;
            writeln!(out, "    {}", parts(of.first, of.second))?;
        }
        more(out, of.len(), top)?;
    }
    Ok(())
}

fn sequences(out: &mut dyn Write, report: &Report, top: usize) -> io::Result<()> {
    if report.sequences.is_empty() {
        return Ok(());
    }
    writeln!(out, "\nLog sequences that are new or gone, beside the most similar one of the other:")?;
    for of in report.sequences.iter().take(top) {
        let is_new = of.second.n * of.first.of > of.first.n * of.second.of;
        let (which, side) = if is_new { ("new", &report.second) } else { ("gone", &report.first) };
        writeln!(out, "  {}, {which}: {}", neutral(&of.request_type), parts(of.first, of.second))?;
        for (mark, steps) in [('+', &of.more), ('-', &of.fewer)] {
            for step in steps.iter().take(STEPS_SHOWN) {
                writeln!(out, "    {mark} {}", neutral(step))?;
            }
            match steps.len().saturating_sub(STEPS_SHOWN) {
                0 => {}
                n => writeln!(out, "    {mark} {n} more steps")?,
            }
        }
        writeln!(out, "    {}", show(report, side, &of.example))?;
    }
    more(out, report.sequences.len(), top)
}

fn changes(
    out: &mut dyn Write,
    report: &Report,
    heading: &str,
    changes: &[&ChangeReport],
    top: usize,
) -> io::Result<()> {
    if changes.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{heading}")?;
    for (number, of) in (1..).zip(changes.iter().take(top)) {
        writeln!(
            out,
            "{number}. {}: {}, {}",
            neutral(&of.request_type),
            neutral(&of.what),
            difference(of.difference)
        )?;
        spent(out, "   ", of)?;
        for region in &of.regions {
            writeln!(out, "     {}: {}", neutral(&region.what), difference(region.difference))?;
            spent(out, "       ", region)?;
            calls(out, region)?;
        }
        if of.regions.is_empty() {
            calls(out, of)?;
        }
        let side = if of.difference.us > 0.0 { &report.second } else { &report.first };
        let longest = show(report, side, &of.longest.request_id);
        writeln!(out, "     longest: {longest} ({})", duration(of.longest.us))?;
    }
    more(out, changes.len(), top)
}

/// How long and how often in either population.
fn spent(out: &mut dyn Write, indent: &str, of: &ChangeReport) -> io::Result<()> {
    let often = |of: &SpentReport| of.n_visits as f64 / of.of_requests.n.max(1) as f64;
    let [a, b] = [&of.first, &of.second];
    writeln!(
        out,
        "{indent}{} instead of {} on average; {:.2} times in a request instead of {:.2}",
        duration(b.of_requests.mean_us.round() as i64),
        duration(a.of_requests.mean_us.round() as i64),
        often(b),
        often(a),
    )
}

fn calls(out: &mut dyn Write, of: &ChangeReport) -> io::Result<()> {
    if of.can_take_time.is_empty() {
        return Ok(());
    }
    // What is new is the better guess.
    let mut calls: Vec<_> = of.can_take_time.iter().collect();
    calls.sort_by_key(|call| !call.is_new);
    let shown: Vec<String> = calls
        .iter()
        .take(CALLS_SHOWN)
        .map(|call| format!("{}{}", neutral(&call.what), if call.is_new { " (new)" } else { "" }))
        .collect();
    let rest = calls.len().saturating_sub(CALLS_SHOWN);
    let rest = if rest > 0 { format!("; and {rest} more") } else { String::new() };
    writeln!(out, "       can take time: {}{rest}", shown.join("; "))
}

fn parts(first: Part, second: Part) -> String {
    format!(
        "{} of {} of the second, {} of {} of the first",
        grouped(second.n),
        grouped(second.of),
        grouped(first.n),
        grouped(first.of)
    )
}

/// `+5.0 ms (4.1 ms to 5.9 ms)`, or that it can be chance.
fn difference(of: Bounds) -> String {
    let signed = |us: f64| {
        let us = us.round() as i64;
        format!("{}{}", if us > 0 { "+" } else { "" }, duration(us))
    };
    let unsure = if of.is_sure { "" } else { ", unsure" };
    format!("{} ({} to {}{unsure})", signed(of.us), signed(of.low_us), signed(of.high_us))
}

/// How to look at a request, where that is in a table of its own.
fn show(report: &Report, side: &Side, request: &str) -> String {
    let id = &request[..request.len().min(12)];
    match report.release {
        Some(_) => format!("lprof show request --table {} {}", neutral(&side.name), neutral(id)),
        None => format!("request {}", neutral(id)),
    }
}

fn more(out: &mut dyn Write, n: usize, top: usize) -> io::Result<()> {
    if n > top { writeln!(out, "  and {} more: --top", n - top) } else { Ok(()) }
}

//! The scores as text, for people.

use std::io::Write;

use anyhow::Result;
use schema::tables::Text;
use serde_json::{Value, json};

use super::{Report, Tables, WORST_MAX, percent, rounded};
use crate::evaluation::baselines::{ADJACENT, Baselines, COSTS};
use crate::evaluation::ceiling::Ceiling;
use crate::evaluation::continuations::Continuations;
use crate::evaluation::passes::Passes;
use crate::evaluation::relations::RelationScores;
use crate::evaluation::reliability::Curve;
use crate::evaluation::spans::SpanScores;
use crate::evaluation::types::TypeScores;
use crate::evaluation::{OrderTally, Scores, Tally, order_tally};
use crate::output;
use crate::render::{self, Format, neutral};
use crate::request::Logs;

/// The cost of the tracker that is shown.
const COST: f64 = 2.0;

/// Prints all of it.
pub(super) fn print(report: &Report, tables: &Tables) -> Result<()> {
    let mut out = output::stdout();
    print_messages(&mut out, &report.scores)?;
    print_spans_and_links(&mut out, report)?;
    if let Some(relations) = &report.relations {
        print_relations(&mut out, relations)?;
    }
    if let Some(curves) = &report.reliability {
        print_curve(&mut out, "links", &curves.links)?;
        print_curve(&mut out, "requests", &curves.requests)?;
    }
    if let Some(types) = &report.types {
        print_types(&mut out, types)?;
    }
    if let Some(passes) = &report.passes {
        print_passes(&mut out, passes)?;
    }
    if let Some(ceiling) = &report.ceiling {
        print_ceiling(&mut out, ceiling)?;
    }
    print_order(&mut out, &order_tally(&tables.events))?;
    print_worst(&mut out, &report.scores, tables)?;
    out.flush()?;
    Ok(())
}

fn print_messages(out: &mut dyn Write, scores: &Scores) -> Result<()> {
    let mut types: Vec<(&str, &Tally)> =
        scores.by_type.iter().map(|(name, tally)| (name.as_str(), tally)).collect();
    types.sort_by_key(|(name, tally)| (std::cmp::Reverse(tally.n_messages()), *name));
    types.insert(0, ("all", &scores.all));
    let row = |(name, tally): (&str, &Tally)| -> Vec<Value> {
        let n = tally.n_messages();
        let mut row = vec![json!(name), json!(n)];
        row.extend(tally.messages.iter().map(|m| json!(percent(*m, n))));
        row.extend([tally.precision(), tally.recall(), tally.f()].map(|share| json!(rounded(share))));
        row.extend(tally.log_points.iter().map(|m| json!(percent(*m, tally.n_log_points()))));
        row
    };
    let columns = [
        "request_type",
        "messages",
        "correct%",
        "incomplete%",
        "incorrect%",
        "failed%",
        "precision",
        "recall",
        "f",
        "point%",
        "method%",
        "wrong%",
        "none%",
    ];
    render::rows(out, Format::Table, &columns, types.into_iter().map(row).collect())?;
    let (n, n_ties, [n_exact, ..]) = (scores.all.n_log_points(), scores.all.n_ties, scores.all.log_points);
    if n > 0 {
        let (exact, tied) = (percent(n_exact, n), percent(n_exact + n_ties, n));
        writeln!(out, "\nlog points: {exact} % exact, {tied} % exact or tied with one of the same text")?;
    }
    Ok(())
}

fn print_order(out: &mut dyn Write, order: &OrderTally) -> Result<()> {
    let n = order.n_pairs();
    if n == 0 {
        return Ok(());
    }
    let [must, may, concurrent] =
        [order.n_must, order.n_may, order.n_concurrent].map(|share| percent(share, n));
    writeln!(
        out,
        "\norder: of {n} pairs of events of one request {must} % must, {may} % by clocks only, {concurrent} % concurrent"
    )?;
    writeln!(
        out,
        "  must contradicts the log of a node in {} pairs, the clocks of two nodes in {}; clocks the log in {}",
        order.n_against_log, order.n_against_clocks, order.n_may_against_log
    )?;
    if order.n_left_out > 0 {
        writeln!(out, "  {} requests are too large to look at all their pairs", order.n_left_out)?;
    }
    Ok(())
}

fn print_worst(out: &mut dyn Write, scores: &Scores, tables: &Tables) -> Result<()> {
    if !scores.worst.is_empty() {
        writeln!(out, "\nworst log points")?;
    }
    let mut logs = Logs::default();
    for worst in scores.worst.iter().take(WORST_MAX) {
        let [_, incomplete, incorrect, failed] = worst.messages;
        writeln!(
            out,
            "{}: {incomplete} incomplete, {incorrect} incorrect, {failed} failed of {}; {} with another log point or none",
            neutral(&worst.log_point),
            worst.messages.iter().sum::<u64>(),
            worst.n_wrong_log_point,
        )?;
        let (node, line) = &worst.example;
        let text = tables.text(&mut logs, &worst.example);
        writeln!(out, "  {}:{line} ({}): {}", neutral(node), worst.example_class, neutral(&text))?;
    }
    Ok(())
}

fn print_spans_and_links(out: &mut dyn Write, report: &Report) -> Result<()> {
    if let Some(spans) = &report.spans {
        writeln!(out, "spans: {}; {} for {}", b_cubed(spans), spans.n_found, spans.n_true)?;
    }
    if let Some(baselines) = &report.baselines {
        print_baselines(out, baselines)?;
    }
    if let Some(continuations) = &report.continuations {
        print_continuations(out, continuations)?;
    }
    if let Some(scores) = &report.links {
        let links = scores.links;
        let found = percent(scores.n_found, scores.n_needed);
        writeln!(out, "links: {} of {} needed found ({found} %)", scores.n_found, scores.n_needed)?;
        let right = percent(links.n_true, links.n_true + links.n_false);
        writeln!(
            out,
            "  of {} in the table {} are true, {} false ({right} % right), nothing is claimed of {}",
            links.n(),
            links.n_true,
            links.n_false,
            links.n_unclaimed
        )?;
    }
    Ok(())
}

fn print_relations(out: &mut dyn Write, scores: &RelationScores) -> Result<()> {
    let RelationScores { n, n_related, n_requests, units, ops } = scores;
    writeln!(out, "relations: {n}, of {n_related} of {n_requests} requests")?;
    for (what, by) in [("unit", units), ("op", ops)] {
        let links = by.links;
        let [direct, connected] = [links.n_direct, links.n_connected].map(|n| percent(n, links.n));
        let of_records = percent(links.n_records_connected, links.n_records);
        writeln!(
            out,
            "  of {} pairs of requests of one {what} they hold {direct} %, connect {connected} % ({of_records} % by records)",
            links.n
        )?;
    }
    let row = |how: &Text| -> Vec<Value> {
        let (of_units, of_ops) = (units.kinds[how], ops.kinds[how]);
        let mut row = vec![json!(&**how), json!(of_units.n())];
        for verdicts in [of_units, of_ops] {
            row.push(json!(verdicts.n_true + verdicts.n_false));
            row.push(verdicts.precision().map_or(Value::Null, |share| json!(percent_of(share))));
        }
        row
    };
    let columns = ["relation", "n", "of units", "one unit%", "of ops", "one op%"];
    render::rows(out, Format::Table, &columns, units.kinds.keys().map(row).collect())?;
    writeln!(out)?;
    Ok(())
}

fn b_cubed(spans: &SpanScores) -> String {
    let [precision, recall, f] = [spans.precision, spans.recall, spans.f()].map(rounded);
    format!("precision {precision}, recall {recall}, f {f}")
}

fn print_baselines(out: &mut dyn Write, baselines: &Baselines) -> Result<()> {
    for (gap, scores) in ADJACENT.iter().zip(&baselines.adjacent) {
        writeln!(out, "  next to each other within {} ms: {}", gap / 1_000, b_cubed(scores))?;
    }
    let tracker = COSTS.iter().zip(&baselines.tracker).find(|(cost, _)| **cost == COST);
    if let Some((_, scores)) = tracker {
        writeln!(out, "  tracker, without order, identifiers and pairs: {}", b_cubed(scores))?;
    }
    Ok(())
}

fn print_continuations(out: &mut dyn Write, continuations: &Continuations) -> Result<()> {
    let Continuations { n, n_broken, .. } = *continuations;
    writeln!(out, "continuations: {n_broken} of {n} broken ({} %)", percent(n_broken, n))?;
    for (what, n) in [
        ("the next line", continuations.n_next_line),
        ("within 10 ms", continuations.n_soon),
        ("the next line within 10 ms", continuations.n_next_line_soon),
        ("in one method", continuations.n_one_method),
        ("the next line in one method", continuations.n_one_method_next_line),
        ("in spans of one top-level method", continuations.n_one_top_level),
    ] {
        writeln!(out, "  {n} ({} %) of these {what}", percent(n, n_broken))?;
    }
    Ok(())
}

fn print_types(out: &mut dyn Write, types: &TypeScores) -> Result<()> {
    let (n, n_right) = types.n();
    let right = percent(n_right, n);
    let (n_open, n_unknown) = (types.n_open(), types.n_unclaimed);
    let open = if n_open > 0 { format!(", {n_open} left open") } else { String::new() };
    writeln!(out, "request types: {n_right} of {n} units right ({right} %){open}, {n_unknown} unknown")?;
    for ((unit, first), kind) in types.kinds.iter().filter(|(_, kind)| !kind.wrong.is_empty()) {
        let mut wrong: Vec<(&String, &u64)> = kind.wrong.iter().collect();
        wrong.sort_by_key(|(name, n)| (std::cmp::Reverse(**n), *name));
        let wrong: Vec<String> =
            wrong.iter().take(WORST_MAX).map(|(name, n)| format!("{n} {}", neutral(name))).collect();
        let first = if first == "*" { String::new() } else { format!(" from {}", neutral(first)) };
        let unit = neutral(unit);
        writeln!(out, "  {unit}{first}: {} of {} right; {}", kind.n_right, kind.n, wrong.join(", "))?;
    }
    Ok(())
}

fn print_curve(out: &mut dyn Write, what: &str, curve: &Curve) -> Result<()> {
    let rows: Vec<Vec<Value>> = (curve.bins())
        .map(|((from, to), bin)| {
            let [said, is] = [bin.said(), bin.is()].map(percent_of);
            vec![json!(format!("{from} to {to}")), json!(bin.n), json!(said), json!(is)]
        })
        .collect();
    if rows.is_empty() {
        return Ok(());
    }
    writeln!(out, "{what} by how likely they were said to be true")?;
    render::rows(out, Format::Table, &["said", "n", "said%", "true%"], rows)?;
    writeln!(out)?;
    Ok(())
}

fn print_passes(out: &mut dyn Write, passes: &Passes) -> Result<()> {
    writeln!(out)?;
    let rows = passes.iter().map(|((deed, pass), verdicts)| {
        let right = verdicts.precision().map(|share| json!(percent_of(share)));
        vec![
            json!(pass.name()),
            json!(deed.name()),
            json!(verdicts.n()),
            json!(verdicts.n_true),
            json!(verdicts.n_false),
            json!(verdicts.n_unclaimed),
            right.unwrap_or(Value::Null),
        ]
    });
    let columns = ["pass", "deed", "n", "true", "false", "unclaimed", "right%"];
    render::rows(out, Format::Table, &columns, rows.collect())?;
    Ok(())
}

fn percent_of(share: f64) -> f64 {
    (10_000.0 * share).round() / 100.0
}

fn print_ceiling(out: &mut dyn Write, ceiling: &Ceiling) -> Result<()> {
    let n = ceiling.n_needed;
    writeln!(out, "\nof {n} links needed the model proposes")?;
    for (what, n_had) in [
        ("as parts of one span", ceiling.n_same),
        ("so or along a pair", ceiling.n_pair),
        ("so or along a way of pairs", ceiling.n_way),
    ] {
        writeln!(out, "  {n_had} ({} %) {what}", percent(n_had, n))?;
    }
    let mut missing: Vec<_> = ceiling.missing.iter().collect();
    missing.sort_by_key(|(ends, n)| (std::cmp::Reverse(**n), *ends));
    for ((to, before), n) in missing.into_iter().take(WORST_MAX) {
        writeln!(out, "  {n} lack one: {} after {}", neutral(to), neutral(before))?;
    }
    Ok(())
}

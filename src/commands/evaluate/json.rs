//! The scores as JSON, for programs. A share is a number from 0 to 1, a percentage one to
//! 100; what was not asked for, or cannot be told, is null.

use std::collections::BTreeMap;
use std::io::Write as _;

use anyhow::Result;
use schema::Pass;
use serde_json::{Value, json};

use super::{CLASSES, Report, Tables, WORST_MAX, percent};
use crate::evaluation::baselines::{ADJACENT, Baselines, COSTS};
use crate::evaluation::ceiling::Ceiling;
use crate::evaluation::continuations::Continuations;
use crate::evaluation::links::{LinkScores, Verdicts};
use crate::evaluation::passes::{Deed, Passes};
use crate::evaluation::relations::{By, RelationScores};
use crate::evaluation::reliability::{Curve, Reliability};
use crate::evaluation::spans::SpanScores;
use crate::evaluation::types::TypeScores;
use crate::evaluation::{OrderTally, Tally, Worst, order_tally};
use crate::output;
use crate::request::Logs;

/// Prints all of it.
pub(super) fn print(report: &Report, tables: &Tables) -> Result<()> {
    let scores = &report.scores;
    let by_type: BTreeMap<&String, Value> =
        scores.by_type.iter().map(|(name, tally)| (name, tally_json(tally))).collect();
    let mut logs = Logs::default();
    let worst = |worst: &Worst| {
        json!({
            "log_point": worst.log_point,
            "messages": classes(&worst.messages),
            "n_wrong_log_point": worst.n_wrong_log_point,
            "example": {
                "node": worst.example.0, "line": worst.example.1, "what": worst.example_class,
                "text": tables.text(&mut logs, &worst.example),
            },
        })
    };
    let worst: Vec<Value> = scores.worst.iter().take(WORST_MAX).map(worst).collect();
    let value = json!({
        "all": tally_json(&scores.all),
        "by_request_type": by_type,
        "worst_log_points": worst,
        "spans": report.spans.as_ref().map(spans_json),
        "baselines": report.baselines.as_ref().map(baselines_json),
        "continuations": report.continuations.as_ref().map(continuations_json),
        "links": report.links.as_ref().map(links_json),
        "relations": report.relations.as_ref().map(relations_json),
        "reliability": report.reliability.as_ref().map(reliability_json),
        "types": report.types.as_ref().map(types_json),
        "passes": report.passes.as_ref().map(passes_json),
        "ceiling": report.ceiling.as_ref().map(ceiling_json),
        "order": order_json(&order_tally(&tables.events)),
        "n_records_left_out": report.n_records_left_out,
    });
    let mut out = output::stdout();
    writeln!(out, "{value:#}")?;
    out.flush()?;
    Ok(())
}

fn order_json(order: &OrderTally) -> Value {
    json!({
        "pairs": order.n_pairs(),
        "must": order.n_must,
        "must_in_one_span": order.n_must_in_span,
        "may": order.n_may,
        "concurrent": order.n_concurrent,
        "must_against_log": order.n_against_log,
        "must_against_clocks": order.n_against_clocks,
        "may_against_log": order.n_may_against_log,
        "requests_left_out": order.n_left_out,
    })
}

fn tally_json(tally: &Tally) -> Value {
    let n = tally.n_messages();
    let shares: BTreeMap<&str, f64> =
        CLASSES.iter().map(|c| (c.name(), percent(tally.messages[*c as usize], n))).collect();
    let [exact, same_method, wrong, none] = tally.log_points;
    json!({
        "n_messages": n,
        "messages": classes(&tally.messages),
        "percent": shares,
        "b_cubed": { "precision": tally.precision(), "recall": tally.recall(), "f": tally.f() },
        "log_points": { "exact": exact, "same_method": same_method, "wrong": wrong, "none": none },
        "log_point_exact_percent": percent(exact, tally.n_log_points()),
        "log_point_ties": tally.n_ties,
        "log_point_exact_or_tied_percent": percent(exact + tally.n_ties, tally.n_log_points()),
    })
}

fn classes(messages: &[u64; 4]) -> Value {
    let counts: BTreeMap<&str, u64> =
        CLASSES.iter().map(|class| (class.name(), messages[*class as usize])).collect();
    json!(counts)
}

fn spans_json(spans: &SpanScores) -> Value {
    json!({
        "n_true": spans.n_true,
        "n_found": spans.n_found,
        "b_cubed": b_cubed_json(spans),
    })
}

fn b_cubed_json(spans: &SpanScores) -> Value {
    json!({ "precision": spans.precision, "recall": spans.recall, "f": spans.f() })
}

fn baselines_json(baselines: &Baselines) -> Value {
    let adjacent = ADJACENT.iter().zip(&baselines.adjacent).map(
        |(gap, scores)| json!({ "within_us": gap, "n": scores.n_found, "b_cubed": b_cubed_json(scores) }),
    );
    let tracker = COSTS
        .iter()
        .zip(&baselines.tracker)
        .map(|(cost, scores)| json!({ "cost": cost, "n": scores.n_found, "b_cubed": b_cubed_json(scores) }));
    json!({ "adjacent": adjacent.collect::<Vec<_>>(), "tracker": tracker.collect::<Vec<_>>() })
}

fn continuations_json(continuations: &Continuations) -> Value {
    json!({
        "n": continuations.n,
        "n_broken": continuations.n_broken,
        "broken": {
            "next_line": continuations.n_next_line,
            "within_10_ms": continuations.n_soon,
            "next_line_within_10_ms": continuations.n_next_line_soon,
            "one_method": continuations.n_one_method,
            "next_line_of_one_method": continuations.n_one_method_next_line,
            "one_top_level_method": continuations.n_one_top_level,
        },
    })
}

fn links_json(scores: &LinkScores) -> Value {
    json!({
        "n_needed": scores.n_needed,
        "n_found": scores.n_found,
        "recall": scores.recall(),
        "precision": scores.links.precision(),
        "in_table": verdicts_json(&scores.links),
    })
}

fn relations_json(scores: &RelationScores) -> Value {
    let by = |by: &By| {
        let links = by.links;
        let share = |n: u64, of: u64| if of == 0 { Value::Null } else { json!(n as f64 / of as f64) };
        let kinds: BTreeMap<&str, Value> =
            by.kinds.iter().map(|(how, verdicts)| (&**how, verdicts_json(verdicts))).collect();
        json!({
            "n_links": links.n,
            "direct": share(links.n_direct, links.n),
            "connected": share(links.n_connected, links.n),
            "connected_by_records": share(links.n_records_connected, links.n_records),
            "kinds": kinds,
        })
    };
    json!({
        "n": scores.n, "n_related": scores.n_related, "n_requests": scores.n_requests,
        "units": by(&scores.units), "ops": by(&scores.ops),
    })
}

fn reliability_json(curves: &Reliability) -> Value {
    json!({ "links": curve_json(&curves.links), "requests": curve_json(&curves.requests) })
}

fn curve_json(curve: &Curve) -> Value {
    let bins = curve.bins().map(|((from, to), bin)| {
        json!({ "from": from, "to": to, "n": bin.n, "n_true": bin.n_true, "said": bin.said(), "true": bin.is() })
    });
    bins.collect()
}

fn verdicts_json(verdicts: &Verdicts) -> Value {
    json!({
        "n": verdicts.n(),
        "n_true": verdicts.n_true,
        "n_false": verdicts.n_false,
        "n_unclaimed": verdicts.n_unclaimed,
    })
}

fn types_json(types: &TypeScores) -> Value {
    let (n, n_right) = types.n();
    let kinds: Vec<Value> = (types.kinds.iter())
        .map(|((unit, first), kind)| {
            json!({
                "unit": unit, "first": first, "n": kind.n, "n_right": kind.n_right,
                "n_open": kind.n_open, "wrong": kind.wrong,
            })
        })
        .collect();
    json!({
        "n_units": n,
        "n_right": n_right,
        "percent": percent(n_right, n),
        "n_open": types.n_open(),
        "n_unclaimed": types.n_unclaimed,
        "kinds": kinds,
    })
}

fn passes_json(passes: &Passes) -> Value {
    let row = |((deed, pass), verdicts): (&(Deed, Pass), &Verdicts)| -> Value {
        let mut row = verdicts_json(verdicts);
        row["pass"] = json!(pass.name());
        row["deed"] = json!(deed.name());
        row
    };
    passes.iter().map(row).collect()
}

fn ceiling_json(ceiling: &Ceiling) -> Value {
    let missing: Vec<Value> = (ceiling.missing.iter())
        .map(|((to, before), n)| json!({ "to": to, "after": before, "n": n }))
        .collect();
    json!({
        "n_needed": ceiling.n_needed,
        "n_same": ceiling.n_same,
        "n_pair": ceiling.n_pair,
        "n_way": ceiling.n_way,
        "missing": missing,
    })
}

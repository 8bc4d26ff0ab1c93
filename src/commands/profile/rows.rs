//! What a profile has as rows: layers, critical paths, predictions, and the lines of a report
//! and of a comparison for programs.

use std::io::{self, Write};

use serde_json::{Value, json};

use crate::profile::critical_path::{OnPath, Predicted};
use crate::profile::groups::Groups;
use crate::profile::layers::LayerGroup;
use crate::profile::report::Report;
use crate::profile::statistics::{Statistics, rounded, share};
use crate::render::{self, Format};

/// All metrics of all groups of a layer: four rows each, of all requests, the normal ones, the
/// tail, and what the tail has more than the normal ones.
pub(super) fn layer(out: &mut dyn Write, format: Format, groups: &[LayerGroup]) -> io::Result<()> {
    let columns = [
        "layer",
        "group",
        "request_type",
        "n_requests",
        "name",
        "place",
        "path",
        "metric",
        "index",
        "of",
        "count",
        "mean_us",
        "std_us",
        "p50_us",
        "p99_us",
    ];
    let mut rows = render::RowWriter::new(out, format, columns.map(str::to_owned).to_vec())?;
    for group in groups {
        for row in &group.rows {
            let what = [
                json!(group.layer.number()),
                json!(group.id),
                json!(group.request_type),
                json!(group.n_requests),
                json!(row.name),
                json!(row.place.as_ref().map(|(place, _)| place)),
                json!(row.place.as_ref().map(|(_, path)| path)),
                json!(row.metric.name()),
                json!(row.metric.index()),
            ];
            let of = &row.summary;
            for (name, statistics) in [("all", &of.all), ("normal", &of.normal), ("tail", &of.tail)] {
                rows.row(what.iter().cloned().chain([json!(name)]).chain(figures(statistics)).collect())?;
            }
            if of.tail.count > 0 && of.normal.count > 0 {
                let more = difference(&of.tail, &of.normal);
                rows.row(what.into_iter().chain([json!("difference")]).chain(more).collect())?;
            }
        }
    }
    rows.finish()
}

fn figures(of: &Statistics) -> [Value; 5] {
    if of.count == 0 {
        return [json!(0), Value::Null, Value::Null, Value::Null, Value::Null];
    }
    [
        json!(of.count),
        json!(rounded(of.mean_us)),
        json!(rounded(of.std_us)),
        json!(of.p50_us),
        json!(of.p99_us),
    ]
}

fn difference(tail: &Statistics, normal: &Statistics) -> [Value; 5] {
    [
        json!(i128::from(tail.count) as i64 - normal.count as i64),
        json!(rounded(tail.mean_us - normal.mean_us)),
        json!(rounded(tail.std_us - normal.std_us)),
        json!(tail.p50_us - normal.p50_us),
        json!(tail.p99_us - normal.p99_us),
    ]
}

/// What is on critical paths.
pub(super) fn critical_path(
    out: &mut dyn Write,
    format: Format,
    groups: &Groups,
    found: &[OnPath],
) -> io::Result<()> {
    let columns = [
        "request_type",
        "name",
        "share",
        "on_path",
        "requests",
        "mean_us",
        "p50_us",
        "p99_us",
        "slack_p50_us",
    ];
    let row = |of: &OnPath| {
        vec![
            json!(groups.names.name(of.request_type)),
            json!(of.subject.name(groups)),
            json!(share(of.share)),
            json!(of.n_requests.0),
            json!(of.n_requests.1),
            json!(rounded(of.statistics.mean_us)),
            json!(of.statistics.p50_us),
            json!(of.statistics.p99_us),
            json!(of.slack_p50_us),
        ]
    };
    render::rows(out, format, &columns, found.iter().map(row).collect())
}

/// How long requests would take.
pub(super) fn predicted(
    out: &mut dyn Write,
    format: Format,
    groups: &Groups,
    found: &[Predicted],
) -> io::Result<()> {
    let columns = [
        "request_type",
        "count",
        "mean_us",
        "p50_us",
        "p99_us",
        "then_mean_us",
        "then_p50_us",
        "then_p99_us",
    ];
    let row = |of: &Predicted| {
        let (now, then) = (&of.now, &of.then);
        vec![
            json!(of.request_type.map_or("all", |name| groups.names.name(name))),
            json!(now.count),
            json!(rounded(now.mean_us)),
            json!(now.p50_us),
            json!(now.p99_us),
            json!(rounded(then.mean_us)),
            json!(then.p50_us),
            json!(then.p99_us),
        ]
    };
    render::rows(out, format, &columns, found.iter().map(row).collect())
}

/// The lines of a report, each with the order of starts and ends that shows it best.
pub(super) fn report(out: &mut dyn Write, format: Format, report: &Report<'_>) -> io::Result<()> {
    let columns = [
        "rank",
        "name",
        "share",
        "request_type",
        "is_tail",
        "path",
        "part",
        "tree",
        "count",
        "mean_us",
        "low_us",
        "high_us",
        "order",
        "subspan",
        "region",
        "region_share",
        "example",
    ];
    let groups = report.groups;
    let row = |of: &crate::profile::report::Finding| {
        let order = of.orders.first();
        let region = order.and_then(|order| order.regions.first());
        vec![
            json!(of.rank),
            json!(of.subject.name(groups)),
            json!(share(of.share)),
            json!(groups.names.name(of.request_type)),
            json!(of.is_tail),
            json!(of.path),
            json!(of.part.name()),
            json!(of.tree),
            json!(of.of_tree.count),
            json!(rounded(of.of_tree.mean_us)),
            json!(rounded(of.confidence_us.0)),
            json!(rounded(of.confidence_us.1)),
            json!(order.map(|order| &order.id)),
            json!(order.and_then(|order| order.subspan)),
            json!(region.map(|region| report.code.region(&region.region))),
            json!(region.map(|region| share(region.share))),
            json!(order.and_then(|order| order.examples.first()).map(|(r, _)| groups.requests.id(*r))),
        ]
    };
    render::rows(out, format, &columns, report.findings.iter().map(row).collect())
}

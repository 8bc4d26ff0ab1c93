//! A report for programs: everything that it is made of.

use serde_json::{Value, json};

use super::differences::Difference;
use super::report::{Finding, InOrder, Part, Report};
use super::statistics::{Statistics, Summary, rounded, share};

/// The report as one object.
pub(crate) fn report(report: &Report<'_>) -> Value {
    let (n_types, n_trees, n_orders) = report.sizes();
    json!({
        "n_requests": report.groups.requests.len(),
        "n_types": n_types,
        "n_trees": n_trees,
        "n_orders": n_orders,
        "tail_percent": report.tail_percent,
        "differences": report.differences.iter().map(|of| difference(report, of)).collect::<Vec<Value>>(),
        "lines": report.findings.iter().map(|of| line(report, of)).collect::<Vec<Value>>(),
    })
}

fn difference(report: &Report<'_>, of: &Difference) -> Value {
    json!({
        "request_type": report.groups.names.name(of.request_type),
        "does": report.code.deed(report.groups, of.deed),
        "tail": {"n": of.first.0, "of": of.first.1},
        "normal": {"n": of.second.0, "of": of.second.1},
        "chance": of.chance,
    })
}

fn line(report: &Report<'_>, of: &Finding) -> Value {
    let groups = report.groups;
    json!({
        "rank": of.rank,
        "name": of.subject.name(groups),
        "share": share(of.share),
        "own": statistics(&of.own),
        "request_type": groups.names.name(of.request_type),
        "own_of_type": summary(&of.of_type),
        "is_tail": of.is_tail,
        "path": of.path,
        "part": of.part.name(),
        "child": if let Part::BeforeChild(k) = of.part { Some(k) } else { None },
        "tree": of.tree,
        "n_requests": of.n_requests,
        "of_tree": statistics(&of.of_tree),
        "mean_95_us": [rounded(of.confidence_us.0), rounded(of.confidence_us.1)],
        "orders": of.orders.iter().map(|of| in_order(report, of)).collect::<Vec<Value>>(),
    })
}

fn in_order(report: &Report<'_>, of: &InOrder) -> Value {
    let regions = of.regions.iter().map(|region| {
        json!({
            "region": report.code.region(&region.region),
            "can_take_time": report.code.slow(&region.region),
            "share": share(region.share),
            "time": statistics(&region.statistics),
        })
    });
    let example =
        |&(request, us): &(u32, i64)| json!({"request_id": report.groups.requests.id(request), "us": us});
    json!({
        "order": of.id,
        "subspan": of.subspan,
        "n_requests": of.n_requests,
        "time": summary(&of.summary),
        "share_of_span": share(of.share_of_span),
        "regions": regions.collect::<Vec<Value>>(),
        "examples": of.examples.iter().map(example).collect::<Vec<Value>>(),
    })
}

fn summary(of: &Summary) -> Value {
    json!({"all": statistics(&of.all), "normal": statistics(&of.normal), "tail": statistics(&of.tail)})
}

fn statistics(of: &Statistics) -> Value {
    if of.count == 0 {
        return Value::Null;
    }
    json!({
        "count": of.count,
        "mean_us": rounded(of.mean_us),
        "std_us": rounded(of.std_us),
        "p50_us": of.p50_us,
        "p99_us": of.p99_us,
    })
}

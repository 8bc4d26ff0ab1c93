//! A comparison as rows: a difference each, types first, then what only one population does, then time.

use std::io::{self, Write};

use serde_json::{Value, json};

use crate::compare::report::{Bounds, ChangeReport, Part, Report};
use crate::render::{self, Format};

const COLUMNS: [&str; 11] = [
    "differs",
    "request_type",
    "what",
    "first",
    "second",
    "difference",
    "low",
    "high",
    "chance",
    "n_first",
    "n_second",
];

/// All differences.
pub(super) fn print(out: &mut dyn Write, format: Format, report: &Report) -> io::Result<()> {
    let mut rows = render::RowWriter::new(out, format, COLUMNS.map(str::to_owned).to_vec())?;
    for of in &report.types {
        let (a, b) = (&of.first, &of.second);
        let figures = [
            ("mean_us", json!(a.mean_us), json!(b.mean_us), of.mean),
            ("p50_us", json!(a.p50_us), json!(b.p50_us), of.p50),
            ("p99_us", json!(a.p99_us), json!(b.p99_us), of.p99),
        ];
        for (name, first, second, difference) in figures {
            let [first, second] =
                [(a.n, first), (b.n, second)].map(|(n, us)| if n > 0 { us } else { Value::Null });
            let what = [json!(name), json!(of.request_type), json!("duration"), first, second];
            let n = [Value::Null, json!(a.n), json!(b.n)];
            rows.row(what.into_iter().chain(bounds(difference)).chain(n).collect())?;
        }
    }
    for of in &report.one_sided {
        let what = [json!("share"), json!(of.request_type), json!(of.does)];
        rows.row(what.into_iter().chain(shares(of.first, of.second, of.chance)).collect())?;
    }
    for of in &report.sequences {
        let steps = of.more.iter().map(|step| format!("+ {step}"));
        let steps: Vec<String> = steps.chain(of.fewer.iter().map(|step| format!("- {step}"))).collect();
        let what = [json!("sequence"), json!(of.request_type), json!(steps.join("; "))];
        rows.row(what.into_iter().chain(shares(of.first, of.second, of.chance)).collect())?;
    }
    for of in &report.changes {
        change(&mut rows, of)?;
    }
    rows.finish()
}

fn change(rows: &mut render::RowWriter<'_>, of: &ChangeReport) -> io::Result<()> {
    let (a, b) = (&of.first, &of.second);
    let what = [
        json!("time_us"),
        json!(of.request_type),
        json!(of.what),
        json!(a.of_requests.mean_us),
        json!(b.of_requests.mean_us),
    ];
    let n = [json!(of.chance), json!(a.n_visits), json!(b.n_visits)];
    rows.row(what.into_iter().chain(bounds(Some(of.difference))).chain(n).collect())?;
    of.regions.iter().try_for_each(|region| change(rows, region))
}

fn bounds(of: Option<Bounds>) -> [Value; 3] {
    of.map_or([Value::Null, Value::Null, Value::Null], |of| {
        [json!(of.us), json!(of.low_us), json!(of.high_us)]
    })
}

/// Shares of all requests, and how many that are.
fn shares(first: Part, second: Part, chance: f64) -> [Value; 8] {
    let share = |of: Part| crate::profile::statistics::share(of.n as f64 / of.of.max(1) as f64);
    let (a, b) = (share(first), share(second));
    let difference = crate::profile::statistics::share(b - a);
    [
        json!(a),
        json!(b),
        json!(difference),
        Value::Null,
        Value::Null,
        json!(chance),
        json!(first.n),
        json!(second.n),
    ]
}

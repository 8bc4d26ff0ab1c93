//! Overviews of so many requests that they come of intervals, or of ranges of durations, against the rows.

use std::collections::BTreeMap;

use reducer::table::{Addition, Writer};
use schema::tables::index::{ERROR, Index};
use schema::tables::{RequestNodeRow, RequestRow, Text, Time};
use serde_json::Value;

use super::Server;

const SECOND_US: i64 = 1_000_000;
/// Of each of two commits; more than are told exactly are in both together.
const N_OF_COMMIT: i64 = 150_000;

/// Requests of three types on some of three nodes, in bursts over five hours, each with its nodes.
fn requests() -> Vec<(RequestRow, Vec<RequestNodeRow>)> {
    let mut state = 7_u64;
    let mut below = |n: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 33) % n) as i64
    };
    let mut drawn = |number: i64| {
        let commit = number / N_OF_COMMIT;
        let start = (1_790_000_000 + commit * 9_000 + below(30) * 300) * SECOND_US + below(4_000_000);
        let duration_us = below(50) * below(2_000) * below(900);
        let request_id =
            Text::from(format!("{:032x}", (number as u128 + 1) * 0x9e37_79b9_7f4a_7c15_0000_0001));
        let node = |name: &&str| {
            let (start_ts, end_ts) = (Time(start + 1), Time(start + 1 + below(5_000)));
            let (request_id, node) = (request_id.clone(), Text::from(*name));
            (below(3) > 0).then_some(RequestNodeRow { request_id, node, start_ts, end_ts, n_events: 1 })
        };
        let nodes = ["m", "n", "o"].iter().filter_map(node).collect();
        let request = RequestRow {
            request_id: request_id.clone(),
            request_type: Text::from(["A.a", "B.b", "C.c"][below(3) as usize]),
            start_ts: Time(start),
            end_ts: Time(start + duration_us),
            duration_us,
            ..RequestRow::default()
        };
        (request, nodes)
    };
    (0..2 * N_OF_COMMIT).map(&mut drawn).collect()
}

/// Durations by name and piece of time.
type Cells = BTreeMap<(String, usize), Vec<i64>>;

#[track_caller]
fn check(series: &Value, mut cells: Cells, asked: &str) {
    for of in series.as_array().expect("series") {
        let name = of["name"].as_str().expect("a name");
        for (piece, cell) in of["cells"].as_array().expect("cells").iter().enumerate() {
            let mut us = cells.remove(&(name.to_owned(), piece)).unwrap_or_default();
            us.sort_unstable();
            assert_eq!(cell["n"], us.len(), "{asked}: {name} {piece}");
            assert_eq!(cell["max"].as_i64(), us.last().copied(), "{asked}: {name} {piece}");
            for (percent, quantile) in [(50, "p50"), (99, "p99")].into_iter().filter(|_| !us.is_empty()) {
                let exact = us[(us.len() * percent).div_ceil(100) - 1] as f64;
                let told = cell[quantile].as_f64().expect("a number");
                assert!(
                    (told - exact).abs() <= ERROR * exact + 0.5,
                    "{asked}: {name} {piece}: {told}, {exact}"
                );
            }
        }
    }
    assert!(cells.is_empty(), "{asked}: series are missing");
}

fn check_overview(
    server: &Server,
    all: &[(RequestRow, Vec<RequestNodeRow>)],
    asked: &str,
    is_met: &dyn Fn(&RequestRow) -> bool,
) {
    let told = &server.json(&format!("/api/overview?{asked}"))["overview"];
    let (from, step) = (told["from"].as_i64().expect("a time"), told["step"].as_i64().expect("a time"));
    let rows: Vec<i64> =
        told["heat"]["rows"].as_array().expect("rows").iter().filter_map(Value::as_i64).collect();
    let (mut types, mut nodes) = (Cells::new(), Cells::new());
    let mut heat: BTreeMap<(usize, usize), u64> = BTreeMap::new();
    let mut n = 0;
    for (row, on) in all.iter().filter(|(row, _)| is_met(row)) {
        let piece = ((row.start_ts.0 - from) / step) as usize;
        types.entry((row.request_type.to_string(), piece)).or_default().push(row.duration_us);
        for of in on {
            nodes.entry((of.node.to_string(), piece)).or_default().push(of.end_ts.0 - of.start_ts.0);
        }
        *heat.entry((piece, rows.partition_point(|least| *least <= row.duration_us) - 1)).or_default() += 1;
        n += 1;
    }
    assert_eq!((&told["n"], &told["error"]), (&Value::from(n), &Value::from(ERROR)), "{asked}");
    check(&told["types"], types, asked);
    check(&told["nodes"], nodes, asked);
    for (piece, counts) in told["heat"]["counts"].as_array().expect("counts").iter().enumerate() {
        for (row, count) in counts.as_array().expect("counts").iter().enumerate() {
            let known = heat.get(&(piece, row)).copied().unwrap_or(0);
            assert_eq!(count.as_u64(), Some(known), "{asked}: {piece} {row}");
        }
    }
}

#[test]
fn overviews_of_many_are_what_the_rows_say() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let table = folder.path().join("t");
    let all = requests();
    for commit in all.chunks(N_OF_COMMIT as usize) {
        let mut addition = Addition::default();
        addition.rows.requests.extend(commit.iter().map(|(row, _)| row.clone()));
        addition.rows.request_nodes.extend(commit.iter().flat_map(|(_, nodes)| nodes.clone()));
        Writer::open(&table).and_then(|mut writer| writer.commit(&addition)).expect("committed");
    }
    let manifest = reducer::table::Manifest::read(&table).expect("a table");
    let indexes = manifest.files.iter().filter(|file| file.table == "index");
    let has_intervals = |index: &Index| (0..3).all(|length| index.has_intervals(length));
    assert!(
        indexes
            .map(|file| Index::open(&table.join(&file.path)).expect("an index"))
            .all(|of| has_intervals(&of))
    );

    let server = Server::start(&table.display().to_string());
    let first = all.iter().map(|(row, _)| row.start_ts.0).min().expect("requests");
    // On no boundary of an interval, and in the middle of bursts.
    let (from, to) = (first + 1_234_567, first + 17_702 * SECOND_US + 54_321);
    for steps in [1, 7, 120, 1_000] {
        check_overview(&server, &all, &format!("steps={steps}"), &|_| true);
        check_overview(&server, &all, &format!("steps={steps}&type=B.b"), &|row| &*row.request_type == "B.b");
        check_overview(&server, &all, &format!("steps={steps}&from={from}&to={to}"), &|row| {
            (from..to).contains(&row.start_ts.0)
        });
    }
    // What intervals do not know is told by the rows.
    check_overview(&server, &all, "min=1000", &|row| row.duration_us >= 1_000);
}

//! Overviews of tables that are made for it, against the rows themselves.

use std::collections::BTreeMap;

use reducer::table::{Addition, Writer};
use schema::tables::{RequestNodeRow, RequestRow, Row as _, Text, Time};

use super::super::chosen::Chosen;
use super::super::requests::Conditions;
use super::{ERROR, Overview, Series, Way, least_of, least_of_row, overview_by, pieces, row_of};
use crate::table::Table;

const SECOND_US: i64 = 1_000_000;

/// Requests of four commits, each later than the one before, over some ten hours: so many of three
/// types, on some of three nodes, that the shortest intervals are kept.
fn table() -> (tempfile::TempDir, Table, Vec<RequestRow>, Vec<RequestNodeRow>) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut state = 7_u64;
    let mut below = |n: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 33) % n) as i64
    };
    let (mut requests, mut nodes) = (Vec::new(), Vec::new());
    for commit in 0..4 {
        let mut addition = Addition::default();
        for number in 0..5_000 {
            // In bursts, so that there are many in an interval.
            let burst = commit * 9_000 + below(30) * 300;
            let start = 1_790_000_000 * SECOND_US + burst * SECOND_US + below(4_000_000);
            let request_id =
                Text::from(format!("{:032x}", (number * 4 + commit) as u128 * 0x9e37_79b9_7f4a_7c15_u128));
            let duration_us = below(50) * below(2_000) * below(900);
            let row = RequestRow {
                request_id: request_id.clone(),
                request_type: Text::from(["A.a", "B.b", "C.c"][below(3) as usize]),
                start_ts: Time(start),
                end_ts: Time(start + duration_us),
                duration_us,
                ..RequestRow::default()
            };
            for node in ["m", "n", "o"].into_iter().filter(|_| below(3) > 0) {
                nodes.push(RequestNodeRow {
                    request_id: request_id.clone(),
                    node: Text::from(node),
                    start_ts: Time(start + 1),
                    end_ts: Time(start + 1 + below(5_000)),
                    n_events: 1,
                });
                addition.rows.request_nodes.extend(nodes.last().cloned());
            }
            addition.rows.requests.push(row.clone());
            requests.push(row);
        }
        Writer::open(folder.path()).and_then(|mut writer| writer.commit(&addition)).expect("committed");
    }
    let table = Table::open(folder.path()).expect("a table");
    table.index().expect("indexes");
    (folder, table, requests, nodes)
}

fn asked(table: &Table, conditions: &Conditions, n_steps: usize, way: Way) -> Overview {
    let chosen = Chosen::new(table.indexes().expect("indexes"), conditions, None);
    overview_by(&chosen, n_steps, way).expect("an overview")
}

/// Number and durations by series and piece, as the rows say.
type Rows = BTreeMap<(String, usize), Vec<i64>>;

#[track_caller]
fn check(series: &[Series], rows: &Rows, error: f64) {
    let mut n_seen = 0;
    for of in series {
        for (piece, cell) in of.cells.iter().enumerate() {
            let none = Vec::new();
            let mut us = rows.get(&(of.name.clone(), piece)).unwrap_or(&none).clone();
            us.sort_unstable();
            assert_eq!((cell.n, cell.max), (us.len() as u64, us.last().copied()), "{} {piece}", of.name);
            for (percent, told) in [(50, cell.p50), (99, cell.p99)].into_iter().filter(|_| !us.is_empty()) {
                let exact = us[(us.len() * percent).div_ceil(100).max(1) - 1] as f64;
                let told = told.expect("there are some") as f64;
                assert!((told - exact).abs() <= error * exact + 0.5, "{} {piece}: {told}, {exact}", of.name);
            }
            n_seen += us.len();
        }
        assert_eq!(of.total.n, of.cells.iter().map(|cell| cell.n).sum::<u64>());
    }
    assert_eq!(n_seen, rows.values().map(Vec::len).sum::<usize>(), "no other series");
}

#[test]
fn every_way_tells_what_the_rows_say() {
    let (_folder, table, requests, nodes) = table();
    let first = requests.iter().map(|row| row.start_ts.0).min().expect("requests");
    let between = |from: i64, to: i64| Conditions { from: Some(from), to: Some(to), ..Conditions::default() };
    let of_type = |conditions: Conditions| Conditions { request_type: Some("B.b".into()), ..conditions };
    let hours = 3_600 * SECOND_US;
    let questions = [
        Conditions::default(),
        of_type(Conditions::default()),
        // On no boundary of intervals, and in the middle of bursts.
        between(first + 1_234_567, first + 7 * hours + 7_654_321),
        of_type(between(first + 1_800 * SECOND_US + 1_000_001, first + 2_100 * SECOND_US + 2_000_003)),
        between(first + 3 * SECOND_US, first + 3 * SECOND_US + 1),
        between(first + 100 * hours, first + 101 * hours),
    ];
    for (conditions, n_steps) in questions.iter().flat_map(|of| [1, 7, 120, 1_000].map(|n| (of, n))) {
        let is_chosen = |row: &&RequestRow| {
            conditions.request_type.as_ref().is_none_or(|name| **name == *row.request_type)
                && conditions.from.is_none_or(|from| row.start_ts.0 >= from)
                && conditions.to.is_none_or(|to| row.start_ts.0 < to)
        };
        let chosen: BTreeMap<&Text, &RequestRow> =
            requests.iter().filter(is_chosen).map(|row| (&row.request_id, row)).collect();
        for (way, error) in [(Way::Exact, 0.0), (Way::Rows, ERROR), (Way::Intervals, ERROR)] {
            let told = asked(&table, conditions, n_steps, way);
            assert_eq!(told.n, chosen.len() as u64, "{way:?}");
            let piece = |row: &RequestRow| ((row.start_ts.0 - told.from) / told.step) as usize;
            let (mut of_types, mut of_nodes) = (Rows::new(), Rows::new());
            let mut of_rows: BTreeMap<(usize, usize), u32> = BTreeMap::new();
            for row in chosen.values() {
                let at = (row.request_type.to_string(), piece(row));
                of_types.entry(at).or_default().push(row.duration_us);
                let heat = told.heat.rows.partition_point(|least| *least <= row.duration_us) - 1;
                *of_rows.entry((piece(row), heat)).or_default() += 1;
            }
            for node in &nodes {
                let Some(row) = chosen.get(&node.request_id) else { continue };
                let us = node.end_ts.0 - node.start_ts.0;
                of_nodes.entry((node.node.to_string(), piece(row))).or_default().push(us);
            }
            check(&told.types, &of_types, error);
            check(&told.nodes, &of_nodes, error);
            for (piece, counts) in told.heat.counts.iter().enumerate() {
                let known = (0..counts.len()).map(|row| of_rows.get(&(piece, row)).copied().unwrap_or(0));
                assert!(counts.iter().copied().eq(known), "{way:?}: {piece}");
            }
            assert!(told.error.is_none() == (way == Way::Exact));
        }
    }
}

#[test]
fn intervals_are_made_of_rows_no_more() {
    let (folder, table, requests, _) = table();
    let told = || asked(&table, &Conditions::default(), 20, Way::Intervals).n;
    assert_eq!(told(), requests.len() as u64);
    // Where rows were read, they would be missed.
    for file in table.manifest().files.iter().filter(|file| file.table == RequestRow::TABLE) {
        std::fs::remove_file(folder.path().join(&file.path)).expect("a file");
    }
    assert_eq!(told(), requests.len() as u64);
    // A table that is older has no indexes, and no way around its rows.
    let newest = folder.path().join("index");
    std::fs::remove_dir_all(&newest).expect("a folder");
    let error = Table::open(folder.path()).and_then(|table| table.index()).expect_err("no indexes");
    assert!(error.to_string().contains("part-1.index"), "{error}");
}

#[test]
fn pieces_are_round_and_hold_all() {
    assert_eq!(pieces(0, 0, 100), (0, 1, 1));
    assert_eq!(pieces(1_234_567, 61_234_567, 60), (0, 2_000_000, 31));
    let (from, step, n) = pieces(-5, 400 * 86_400_000_000, 100);
    assert!(from <= -5 && from + step * n as i64 > 400 * 86_400_000_000 && n <= 102, "{from} {step} {n}");
}

#[test]
fn a_duration_lies_in_its_row() {
    for us in [0, 1, 2, 3, 5, 6, 90, 91, 1_000, 1_448_154, 1_448_155, 1 << 40] {
        let row = row_of(schema::tables::index::bin_of(us));
        assert!(
            least_of_row(row) <= us && us < least_of_row(row + 1).max(least_of_row(row) + 1),
            "{us} {row}"
        );
    }
    assert_eq!(least_of(0), 0);
}

#[test]
fn those_with_few_requests_are_one() {
    let names: Vec<Text> = (0..12).map(|n| format!("t{n}").into()).collect();
    let shares = super::Shares::new(&(1..=12).collect::<Vec<u64>>(), &names);
    assert_eq!(
        (shares.names.len(), shares.names[0].as_str(), shares.names[8].as_str()),
        (9, "t11", "4 others")
    );
    assert_eq!(shares.series_of[11..], [0]);
    assert_eq!(shares.series_of[..5], [8, 8, 8, 8, 7]);
}

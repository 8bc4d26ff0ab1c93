//! Indexes of tables: each says what its rows say, however these came there, and none is of other rows.

#[path = "support/command.rs"]
mod command;
#[path = "support/many_requests.rs"]
mod many_requests;
#[path = "support/older.rs"]
mod older;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use command::{done, fails, samples};
use lprof::Table;
use reducer::table::{Manifest, indexes};
use schema::tables::index::{BLOCK_ROWS, Column, Index, LENGTHS_US};
use schema::tables::{self, EventRow, RelationRow, RequestNodeRow, RequestRow, Row, SpanRow};

/// A time in the middle of the sample's logs.
const BEFORE: &str = "2026-11-21T12:15:06Z";

fn rows<R: Row>(path: &Path) -> Vec<R> {
    if path.exists() { tables::read(path).expect("a table").0 } else { Vec::new() }
}

/// Every index against the rows that it is of; there are as many as there are files of them.
#[track_caller]
fn check(table: &str) -> usize {
    let manifest = Manifest::read(Path::new(table)).expect("a table");
    manifest.check().expect("whole files");
    let named: BTreeSet<PathBuf> = manifest
        .files
        .iter()
        .filter(|file| file.table == "index")
        .map(|f| manifest.folder.join(&f.path))
        .collect();
    let mut expected = BTreeSet::new();
    let mut n_rows = 0;
    for file in manifest.files.iter().filter(|file| ["requests", "relations"].contains(&&*file.table)) {
        let path = manifest.folder.join(indexes::path_of(&file.path));
        let index = Index::open(&path).expect("an index");
        let full = manifest.folder.join(&file.path);
        if file.table == "relations" {
            check_relations(&index, &rows(&full));
        } else {
            let beside = |table: &str| manifest.folder.join(file.path.replacen("requests", table, 1));
            check_requests(&index, &rows(&full), &rows(&beside("request_nodes")));
            check_places(&index, &rows(&full), &rows(&beside("spans")), &rows(&beside("events")));
            n_rows += index.n_rows();
        }
        expected.insert(path);
    }
    assert_eq!(named, expected);
    n_rows
}

fn check_requests(index: &Index, requests: &[RequestRow], nodes: &[RequestNodeRow]) {
    assert_eq!(index.n_rows(), requests.len());
    let blocks = || 0..index.n_blocks();
    let column =
        |of| -> Vec<i64> { blocks().flat_map(|block| index.column(block, of).expect("a column")).collect() };
    let of_rows = |value: &dyn Fn(&RequestRow) -> i64| requests.iter().map(value).collect::<Vec<_>>();
    assert_eq!(column(Column::Start), of_rows(&|row| row.start_ts.0));
    assert_eq!(column(Column::Duration), of_rows(&|row| row.duration_us));
    assert_eq!(column(Column::Nodes), of_rows(&|row| row.n_nodes));
    assert_eq!(column(Column::Spans), of_rows(&|row| row.n_spans));
    assert_eq!(column(Column::Events), of_rows(&|row| row.n_events));
    let number =
        |names: &[String], name: &str| names.iter().position(|of| of == name).expect("a name") as i64;
    assert_eq!(column(Column::Type), of_rows(&|row| number(index.types(), &row.request_type)));
    let bits =
        |row: &RequestRow| row.flags.iter().fold(0, |all, flag| all | 1 << number(index.flags(), flag));
    assert_eq!(column(Column::Flags), of_rows(&bits));
    let on_nodes = nodes.iter().map(|row| (number(index.nodes(), &row.node), row.end_ts.0 - row.start_ts.0));
    assert!(column(Column::Node).into_iter().zip(column(Column::NodeDuration)).eq(on_nodes));
    let mut ids = Vec::new();
    for (at, row) in requests.iter().enumerate() {
        let id = u128::from_str_radix(&row.request_id, 16).expect("a number");
        if at % 97 == 0 || requests.len() < 1_000 {
            assert_eq!(index.between((id, id), 2).expect("ids"), [(id, at)]);
            ids.push((id, at));
        }
    }
    ids.sort_unstable();
    let wanted: Vec<u128> = ids.iter().map(|(id, _)| *id).collect();
    let mut expected: Vec<usize> = ids.iter().map(|(_, at)| *at).collect();
    expected.sort_unstable();
    assert_eq!(index.rows_with(&wanted).expect("rows"), expected);
    (0..LENGTHS_US.len()).for_each(|length| check_intervals(index, length, requests, nodes));
}

/// Requests of each type, and the sums of what their durations are at least; the same by node.
type Figures = BTreeMap<(i64, String, String), (u64, i64, Vec<(usize, u32)>)>;

fn check_intervals(index: &Index, length: usize, requests: &[RequestRow], nodes: &[RequestNodeRow]) {
    let mut by_cell: BTreeMap<(i64, String, String), tables::index::Bins> = BTreeMap::new();
    let mut times: BTreeMap<(i64, String), (i64, i64)> = BTreeMap::new();
    let mut starts = BTreeMap::new();
    for row in requests {
        let start = row.start_ts.0.div_euclid(LENGTHS_US[length]) * LENGTHS_US[length];
        let name = row.request_type.to_string();
        by_cell.entry((start, name.clone(), String::new())).or_default().add(row.duration_us);
        let (first, last) = times.entry((start, name.clone())).or_insert((row.start_ts.0, row.start_ts.0));
        (*first, *last) = ((*first).min(row.start_ts.0), (*last).max(row.start_ts.0));
        starts.insert(row.request_id.clone(), (start, name));
    }
    for row in nodes {
        let (start, name) = starts[&row.request_id].clone();
        by_cell.entry((start, name, row.node.to_string())).or_default().add(row.end_ts.0 - row.start_ts.0);
    }
    let is_worth_it = by_cell.len() * 4 <= requests.len();
    assert_eq!(index.has_intervals(length), is_worth_it, "of {} rows", requests.len());
    if !is_worth_it {
        return;
    }
    let figures =
        |bins: &tables::index::Bins| (bins.n(), bins.max().unwrap_or_default(), bins.counts().collect());
    let expected: Figures = by_cell.iter().map(|(key, bins)| (key.clone(), figures(bins))).collect();
    let mut found = Figures::new();
    index
        .intervals(length, i64::MIN..i64::MAX, &mut |interval| {
            for of in interval.types {
                let name = index.types()[of.request_type as usize].clone();
                let after = |us: u64| interval.start_us + us as i64;
                let known = times[&(interval.start_us, name.clone())];
                assert_eq!((after(of.first_us), after(of.last_us)), known);
                found.insert((interval.start_us, name.clone(), String::new()), figures(&of.durations));
                for (node, bins) in of.nodes {
                    let node = index.nodes()[node as usize].clone();
                    found.insert((interval.start_us, name.clone(), node), figures(&bins));
                }
            }
        })
        .expect("intervals");
    assert_eq!(found, expected);
}

fn check_places(index: &Index, requests: &[RequestRow], spans: &[SpanRow], events: &[EventRow]) {
    for (at, row) in requests.iter().enumerate() {
        let place = index.places(at / BLOCK_ROWS, &[at]).expect("a place")[0];
        let of = |(first, n): (u64, u64)| first as usize..(first + n) as usize;
        let id = &row.request_id;
        assert_eq!((place.spans.1 as i64, place.events.1 as i64), (row.n_spans, row.n_events));
        // `thin` may have taken them.
        assert!(spans.is_empty() || spans[of(place.spans)].iter().all(|span| span.request_id == *id));
        assert!(
            events.is_empty() || events[of(place.events)].iter().all(|of| of.request_id.as_ref() == Some(id))
        );
    }
}

fn check_relations(index: &Index, relations: &[RelationRow]) {
    let mut named: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
    for (at, row) in relations.iter().enumerate() {
        for id in [&row.request_id, &row.other_id] {
            named.entry(id).or_default().insert(at);
        }
    }
    for (id, rows) in named {
        let found = index.naming(u128::from_str_radix(id, 16).expect("a number")).expect("rows");
        assert!(rows.iter().all(|row| found.contains(row)) && found.len() <= rows.len() + 1, "{id}");
    }
}

/// The first parts of the sample's logs, in a folder.
fn logs(folder: &Path, part: usize) -> String {
    for node in ["a", "b", "c"] {
        let text = std::fs::read_to_string(samples().join(format!("logs/{node}.log"))).expect("a log");
        let text: String = text.split_inclusive('\n').take(text.lines().count() * part / 4).collect();
        std::fs::write(folder.join(format!("{node}.log")), text).expect("a log");
    }
    folder.display().to_string()
}

#[test]
fn they_are_right_after_appends_and_after_thinning() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (table, jar) = (path("t"), samples().join("classes/java17/store.jar").display().to_string());
    std::fs::create_dir(path("logs")).expect("a folder");
    let mut n_rows = 0;
    for part in 1..=4 {
        let logs = logs(&folder.path().join("logs"), part);
        done(&["run", "-q", "--window", "500ms", "--table", &table, &jar, &logs]);
        let before = std::mem::replace(&mut n_rows, check(&table));
        assert!(n_rows > before, "{before} requests, then {n_rows}");
    }
    for keep in ["spans", "requests", "intervals"] {
        done(&["thin", "-q", "--table", &table, "--before", BEFORE, "--keep", keep]);
        assert!(if keep == "intervals" { check(&table) < n_rows } else { check(&table) == n_rows });
    }
}

#[test]
fn they_are_the_same_by_several_processes() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (model, jar) = (path("model"), samples().join("classes/java17/store.jar").display().to_string());
    done(&["analyze", "-q", &jar, "-o", &model]);
    let mut outputs = Vec::new();
    for node in ["a", "b", "c"] {
        let (log, out) = (samples().join(format!("logs/{node}.log")).display().to_string(), path(node));
        done(&["map", "-q", "--model", &model, "--node", node, "-o", &out, &log]);
        outputs.push(out);
    }
    let reduce = |table: &str, how: &[&str]| {
        let outputs = outputs.iter().map(String::as_str).filter(|_| how != ["--commit"]);
        done(
            &["reduce", "-q", "--table", table]
                .into_iter()
                .chain(how.iter().copied())
                .chain(outputs)
                .collect::<Vec<_>>(),
        );
    };
    let (one, several) = (path("one"), path("several"));
    reduce(&one, &[]);
    for how in [&["--learn"][..], &["--partition", "1/2"], &["--partition", "2/2"], &["--commit"]] {
        reduce(&several, how);
    }
    assert_eq!(check(&one), check(&several));
}

#[test]
fn many_requests_are_found_and_counted() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let table = folder.path().join("t");
    many_requests::make(&table, 20_000);
    assert_eq!(check(&table.display().to_string()), 20_000);
    let read = Table::open(&table).expect("a table");
    let known = |number| read.request(&many_requests::id(number)).expect("a request");
    assert_eq!([0, 777, 19_999].map(|number| known(number).row().start_ts.0), [0, 777_000, 19_999_000]);
    read.index().expect("indexes");
    assert_eq!(known(8_191).row().start_ts.0, 8_191_000);
    assert!(read.request("0").is_err() && read.request("zz").is_err());
}

#[test]
fn damage_is_told_with_the_file() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let table = folder.path().join("t");
    many_requests::make(&table, 2_000);
    let index = table.join("index/day=1970-01-01/part-1.index");
    let whole = std::fs::read(&index).expect("an index");
    let show = || {
        let output = command::lprof(&[
            "show",
            "request",
            "--table",
            &table.display().to_string(),
            &many_requests::id(7),
        ]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!said.contains("panicked"), "{said}");
        (output.status.success(), said)
    };
    assert!(show().0);
    let mut n_told = 0;
    for at in (0..whole.len()).step_by(whole.len() / 60) {
        let mut bytes = whole.clone();
        bytes[at] ^= 1 << (at % 8);
        std::fs::write(&index, bytes).expect("written");
        let (is_shown, said) = show();
        assert!(is_shown || said.contains("part-1.index"), "{at}: {said}");
        n_told += usize::from(!is_shown);
    }
    assert!(n_told > 3, "{n_told}");
    std::fs::write(&index, &whole[..whole.len() / 2]).expect("written");
    fails(
        1,
        &["show", "request", "--table", &table.display().to_string(), &many_requests::id(7)],
        "part-1.index",
    );
}

#[test]
fn older_tables_have_none_and_say_the_same() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let table = folder.path().join("t").display().to_string();
    let jar = samples().join("classes/java17/store.jar").display().to_string();
    let logs = samples().join("logs").display().to_string();
    done(&["run", "-q", "--window", "500ms", "--table", &table, &jar, &logs]);
    let ids: Vec<String> = Manifest::read(Path::new(&table))
        .and_then(|manifest| manifest.rows::<RequestRow>())
        .expect("rows")
        .iter()
        .map(|row| row.request_id.to_string())
        .collect();
    let show = |id: &String| done(&["show", "request", "--table", &table, id]);
    let shown: Vec<String> = ids.iter().step_by(11).map(show).collect();
    assert!(shown.iter().any(|text| text.contains("related")), "{}", shown[0]);
    older::without_indexes(Path::new(&table));
    assert!(!Path::new(&table).join("index").exists());
    assert_eq!(ids.iter().step_by(11).map(show).collect::<Vec<_>>(), shown);
    // What is added to it has indexes, and what is thinned gets them.
    done(&["thin", "-q", "--table", &table, "--before", BEFORE, "--keep", "requests"]);
    let manifest = Manifest::read(Path::new(&table)).expect("a table");
    assert!(manifest.files.iter().any(|file| file.table == "index"));
    assert!(
        done(&["show", "request", "--table", &table, ids.last().expect("an id")])
            .contains(ids.last().expect("an id"))
    );
}

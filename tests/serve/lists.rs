//! Lists and overviews against the rows of the table, with and without indexes.

use std::path::Path;

use reducer::table::Manifest;
use schema::tables::{RequestNodeRow, RequestRow};
use serde_json::Value;

use super::{Server, many_requests, older, sample};

/// A condition as it is asked, and as a row meets it.
type Condition = (&'static str, fn(&RequestRow) -> bool);

/// A column as it is asked, and its value in a row.
type Sorted = (&'static str, fn(&RequestRow) -> i64);

const CONDITIONS: [Condition; 8] = [
    ("", |_| true),
    ("type=Handler.get", |row| &*row.request_type == "Handler.get"),
    ("type=no.such", |_| false),
    ("min=3000", |row| row.duration_us >= 3_000),
    ("max=800", |row| row.duration_us <= 800),
    ("from=5000500&to=8200000", |row| (5_000_500..8_200_000).contains(&row.start_ts.0)),
    ("type=Handler.put&min=700&from=1", |row| {
        &*row.request_type == "Handler.put" && row.duration_us >= 700 && row.start_ts.0 >= 1
    }),
    ("flag=truncated", |_| false),
];

const SORTED: [Sorted; 3] =
    [("start", |row| row.start_ts.0), ("duration", |row| row.duration_us), ("events", |row| row.n_events)];

#[test]
fn lists_are_what_the_rows_say() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let table = folder.path().join("t");
    many_requests::make(&table, 20_000);
    let rows: Vec<RequestRow> = Manifest::read(&table).and_then(|manifest| manifest.rows()).expect("rows");
    let server = Server::start(&table.display().to_string());
    let mut n_asked = 0;
    for (condition, is_met) in CONDITIONS {
        for (sort, value) in SORTED {
            for (ascending, offset) in [(false, 0), (true, 0), (true, 17), (false, 9_000), (false, 30_000)] {
                let mut expected: Vec<(i64, usize)> = (0..rows.len())
                    .filter(|at| is_met(&rows[*at]))
                    .map(|at| (if ascending { value(&rows[at]) } else { -value(&rows[at]) }, at))
                    .collect();
                expected.sort_unstable();
                let n = expected.len();
                let expected: Vec<&str> =
                    expected.iter().skip(offset).take(50).map(|(_, at)| &*rows[*at].request_id).collect();
                let asked = format!("sort={sort}&ascending={ascending}&offset={offset}&limit=50&{condition}");
                let found = server.json(&format!("/api/requests?{asked}"));
                let ids = found["requests"].as_array().expect("requests").iter();
                let ids: Vec<&str> = ids.filter_map(|of| of["id"].as_str()).collect();
                assert_eq!((found["n"].as_u64(), ids), (Some(n as u64), expected), "{asked}");
                n_asked += usize::from(n > 0);
            }
        }
        let n = rows.iter().filter(|row| is_met(row)).count() as u64;
        let overview = server.json(&format!("/api/overview?{condition}"));
        assert_eq!((&overview["overview"]["n"], &overview["overview"]["error"]), (&n.into(), &Value::Null));
        if n > 0 {
            assert_eq!(server.json(&format!("/api/profile?{condition}"))["n"], n);
        }
    }
    assert!(n_asked > 80, "{n_asked}");
    let on_node = server.json("/api/requests?node=n2&limit=1");
    let nodes: Vec<RequestNodeRow> =
        Manifest::read(&table).and_then(|manifest| manifest.rows()).expect("rows");
    assert_eq!(on_node["n"], nodes.iter().filter(|row| &*row.node == "n2").count() as u64);
    if cfg!(feature = "sql") {
        let slow = server.json("/api/requests?where=n_spans+%3E+5&limit=1000&sort=start&ascending=true");
        let expected: Vec<&str> =
            rows.iter().filter(|row| row.n_spans > 5).map(|row| &*row.request_id).collect();
        let ids = slow["requests"].as_array().expect("requests").iter();
        assert!(expected.len() > 500 && expected.len() < 2_000, "{}", expected.len());
        assert!(ids.filter_map(|of| of["id"].as_str()).eq(expected.iter().take(1_000).copied()));
        assert_eq!(slow["n"], expected.len());
    }
}

#[test]
fn a_table_without_indexes_is_served_alike() {
    let (_folder, table) = sample::table("java17");
    let asked = [
        "/api/table",
        "/api/overview?steps=10",
        "/api/overview?type=ClientHandler.writeBlock&node=a&min=20000",
        "/api/requests?sort=duration&limit=1000",
        "/api/requests?node=b&limit=1000",
        "/api/profile?min=10000",
        "/api/services",
        "/api/services/a/operations",
        "/api/traces?service=a&limit=5",
    ];
    let answers = || {
        let server = Server::start(&table);
        let mut answers: Vec<Value> = asked.iter().map(|path| server.json(path)).collect();
        let id = answers[3]["requests"][3]["id"].as_str().expect("an id").to_owned();
        answers.push(server.json(&format!("/api/requests/{id}")));
        answers
    };
    let with = answers();
    older::without_indexes(Path::new(&table));
    assert_eq!(answers(), with);
}

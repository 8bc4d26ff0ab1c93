//! `lprof thin` on the sample: what is left, what says so, and that nothing else changes.

#[path = "support/command.rs"]
mod command;

use std::collections::BTreeMap;
use std::path::Path;

use command::{done, fails, lprof, samples};
use lprof::{Filter, Request, Table};
use schema::tables::RequestRow;

/// A time in the middle of the sample's logs.
const BEFORE: &str = "2026-11-21T12:15:06Z";
const BEFORE_US: i64 = 1_795_263_306_000_000;

/// A table of the sample of which little may go on.
fn table() -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let table = folder.path().join("t").display().to_string();
    let jar = samples().join("classes/java8/store.jar").display().to_string();
    let logs = samples().join("logs").display().to_string();
    done(&["run", "-q", "--window", "500ms", "--table", &table, &jar, &logs]);
    (folder, table)
}

/// The requests of a table, by id.
fn requests(table: &str) -> BTreeMap<String, Request> {
    let table = Table::open(Path::new(table)).expect("a table");
    let requests = table.requests(&Filter::All).expect("requests");
    requests
        .map(|request| request.expect("a whole request"))
        .map(|request| (request.row().request_id.to_string(), request))
        .collect()
}

/// What `lprof` says on standard error; it must succeed.
fn said(arguments: &[&str]) -> String {
    let output = lprof(arguments);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{arguments:?}\n{said}");
    said
}

#[test]
fn old_requests_lose_detail_and_others_nothing() {
    let (_folder, table) = table();
    let before = requests(&table);
    let is_old = |request: &Request| request.row().end_ts.0 < BEFORE_US;
    let old =
        before.values().find(|request| is_old(request)).expect("an old request").row().request_id.clone();
    let n_old = before.values().filter(|request| is_old(request)).count();
    assert!(n_old > 5 && n_old + 5 < before.len(), "{n_old} of {}", before.len());
    let n_bytes = |table: &str| -> u64 {
        reducer::table::Manifest::read(Path::new(table))
            .expect("a table")
            .files
            .iter()
            .map(|f| f.n_bytes)
            .sum()
    };
    let thin = |keep: &str| done(&["thin", "--table", &table, "--before", BEFORE, "--keep", keep]);

    let told = thin("spans");
    assert!(told.ends_with("0  requests, counted\n") && told.contains(" after; taken out:"), "{told}");
    let now = requests(&table);
    assert_eq!(now.len(), before.len());
    for (id, request) in &before {
        let found = &now[id];
        assert_eq!(found.row(), request.row());
        let events = |request: &Request| -> Vec<String> {
            request.spans().iter().map(|span| format!("{:?}", span.events)).collect()
        };
        if is_old(request) {
            assert!(found.spans().iter().all(|span| span.events.is_empty()), "{id}");
        } else {
            assert_eq!(events(found), events(request), "{id}");
        }
        assert_eq!(found.critical_path(), request.critical_path(), "{id}");
    }
    let shown = done(&["show", "request", "--table", &table, &old]);
    assert!(shown.contains("its events are not there: they were thinned"), "{shown}");
    let new = before.values().find(|request| !is_old(request)).expect("another one").row().request_id.clone();
    let shown = done(&["show", "request", "--table", &table, &new]);
    assert!(!shown.contains("not there"), "{shown}");
    let bytes_then = n_bytes(&table);
    let again = thin("spans");
    assert!(again.starts_with("nothing to thin") && n_bytes(&table) == bytes_then, "{again}");

    thin("requests");
    let now = requests(&table);
    assert!(before.iter().all(|(id, request)| now[id].row() == request.row()));
    assert!(before.iter().all(|(id, request)| now[id].spans().is_empty() == is_old(request)));
    let shown = done(&["show", "request", "--table", &table, &old]);
    assert!(shown.contains("its spans and events are not there: they were thinned"), "{shown}");

    thin("intervals");
    let now = requests(&table);
    assert_eq!(now.len(), before.len() - n_old);
    assert!(now.values().all(|request| !is_old(request)));
    fails(1, &["show", "request", "--table", &table, &old], "are counted in `intervals` alone");
    assert!(n_bytes(&table) < bytes_then);
}

#[test]
fn answers_say_what_is_not_there() {
    let (_folder, table) = table();
    let truth = samples().join("expected/truth.tsv").display().to_string();
    let profile = ["profile", "--table", &table];
    assert!(!said(&profile).contains("note:"));
    done(&["thin", "--table", &table, "--before", BEFORE, "--keep", "requests"]);
    let note = "of what ended before 2026-11-21T12:15:06Z the table holds no spans: it was thinned";
    assert!(said(&profile).contains(note));
    assert!(said(&["export", "--table", &table, "--format", "jaeger"]).contains(note));
    fails(1, &["evaluate", "--table", &table, "--truth", &truth], "the table holds no events");
    fails(1, &["profile", "--min-confidence", "0.5", "--table", &table], "cannot be split");
    #[cfg(feature = "sql")]
    {
        let ask = |query: &str| said(&["sql", "--table", &table, query]);
        assert!(ask("SELECT count(*) FROM spans").contains(note));
        assert!(!ask("SELECT count(*) FROM requests").contains("note:"));
        assert!(said(&["query", "--table", &table, "From e In * Select COUNT"]).contains("no events"));
        done(&["thin", "--table", &table, "--before", BEFORE, "--keep", "intervals"]);
        assert!(ask("SELECT count(*) FROM requests").contains("are counted in `intervals` alone"));
        let sum = done(&["sql", "--table", &table, "SELECT sum(n_requests) > 5 FROM intervals"]);
        assert!(sum.contains("true"), "{sum}");
    }
}

#[test]
fn a_table_that_was_thinned_goes_on() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let jar = samples().join("classes/java8/store.jar").display().to_string();
    let (thinned, whole, logs) = (path("thinned"), path("whole"), path("logs"));
    std::fs::create_dir(&logs).expect("a folder");
    let mut closed = BTreeMap::new();
    for part in [2, 1] {
        for node in ["a", "b", "c"] {
            let text = std::fs::read_to_string(samples().join(format!("logs/{node}.log"))).expect("a log");
            let n_lines = text.lines().count() / part;
            let text: String = text.split_inclusive('\n').take(n_lines).collect();
            std::fs::write(format!("{logs}/{node}.log"), text).expect("a log");
        }
        for table in [&thinned, &whole] {
            done(&["run", "-q", "--window", "500ms", "--table", table, &jar, &logs]);
        }
        done(&["thin", "--table", &thinned, "--before", "2026-11-21T12:15:05Z", "--keep", "spans"]);
        if part == 2 {
            let is_closed = |request: &Request| request.spans().iter().all(|span| span.events.is_empty());
            closed = requests(&thinned);
            closed.retain(|_, request| is_closed(request));
        }
    }
    let (thinned, whole) = (requests(&thinned), requests(&whole));
    // What was closed is as it was decided then, all else as if nothing had been thinned.
    let n_events = |requests: &BTreeMap<String, Request>| -> i64 {
        requests.values().map(|request| request.row().n_events).sum()
    };
    assert_eq!(n_events(&thinned), n_events(&whole));
    let rows = |requests: &BTreeMap<String, Request>| -> Vec<RequestRow> {
        let late = requests.values().map(Request::row).filter(|row| row.start_ts.0 >= BEFORE_US);
        late.map(|row| RequestRow { confidence: None, ..row.clone() }).collect()
    };
    assert_eq!(rows(&thinned), rows(&whole));
    assert!(rows(&whole).len() > 10 && closed.len() > 20);
    assert!(closed.iter().all(|(id, then)| thinned[id].row() == then.row()));
    let n_with_events = |requests: &BTreeMap<String, Request>| {
        requests.values().filter(|request| request.spans().iter().any(|span| !span.events.is_empty())).count()
    };
    assert_eq!(n_with_events(&whole), whole.len());
    assert!((1..whole.len()).contains(&n_with_events(&thinned)));
}

#[test]
fn wrong_usage_is_2() {
    let (folder, table) = table();
    fails(2, &["thin", "--table", &table, "--keep", "spans"], "--before");
    fails(2, &["thin", "--table", &table, "--before", "soon", "--keep", "spans"], "expected a day, a time");
    fails(2, &["thin", "--table", &table, "--before", BEFORE], "--keep");
    fails(2, &["thin", "--table", &table, "--before", BEFORE, "--keep", "events"], "intervals");
    fails(
        2,
        &["thin", "--table", &table, "--before", BEFORE, "--keep", "intervals", "--interval", "0s"],
        "length",
    );
    let nothing = folder.path().join("none").display().to_string();
    fails(1, &["thin", "--table", &nothing, "--before", BEFORE, "--keep", "spans"], "none");
    assert!(!Path::new(&nothing).exists());
}

//! The command as a user meets it: exit codes, messages, what a table holds
//! after it, and that doing a thing again, in parts or with other threads
//! changes nothing. All on the sample system.

#[path = "support/command.rs"]
mod command;
#[path = "support/scratch.rs"]
mod scratch;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use command::{done, fails, lprof, samples};
use reducer::table::Manifest;
use schema::tables::{RelationRow, RequestRow, Row as _, Text};
use scratch::Scratch;

impl Scratch {
    fn write(&self, name: &str, text: &[u8]) -> String {
        std::fs::write(self.path(name), text).expect("a file in a temporary folder");
        self.path(name)
    }

    fn model(&self) -> String {
        let model = self.path("sample.model");
        done(&["analyze", &jar(), "-o", &model]);
        model
    }

    fn table(&self, name: &str) -> String {
        let table = self.path(name);
        done(&["run", "--table", &table, &jar(), &logs()]);
        table
    }
}

fn jar() -> String {
    samples().join("classes/java8/store.jar").display().to_string()
}

fn logs() -> String {
    samples().join("logs").display().to_string()
}

fn truth() -> String {
    samples().join("expected/truth.tsv").display().to_string()
}

#[test]
fn wrong_usage_is_2() {
    let scratch = Scratch::new();
    let table = scratch.path("t");
    fails(2, &["nonsense"], "unrecognized subcommand");
    fails(2, &["run", "x.log"], "--table");
    fails(2, &["run", "--table", &table, &logs()], "no model");
    fails(2, &["run", "--table", &table, &jar()], "no log given");
    fails(2, &["run", "--table", &table, "--layout", "%d", &jar(), &logs()], "--layout");
    fails(2, &["run", "--table", &table, "--tz", "Mars/Olympus", &jar(), &logs()], "--tz");
    fails(2, &["run", "--table", &table, "--window", "soon", &jar(), &logs()], "--window");
    fails(2, &["show", "model"], "which model");
    fails(2, &["--threads", "0", "show", "model"], "--threads");
    assert!(!Path::new(&table).exists(), "wrong usage makes no table");
}

#[test]
fn help_and_version_are_0() {
    assert!(done(&["--help"]).contains("Usage"));
    assert!(done(&["--version"]).starts_with("lprof "));
}

#[test]
fn what_cannot_be_read_is_named() {
    let scratch = Scratch::new();
    let (table, model) = (scratch.path("t"), scratch.path("m"));
    fails(1, &["analyze", "no.jar", "-o", &model], "`no.jar`");
    fails(1, &["run", "--table", &table, &jar(), "no.log"], "`no.log`");
    fails(1, &["sql", "--table", "no-table", "SELECT 1"], "no-table");
    fails(1, &["reduce", "no-output", "--table", &table], "no-output");
    fails(1, &["evaluate", "--truth", "no.tsv", "--table", "no-table"], "no-table");
    let empty = scratch.write("empty.jar", b"PK\x05\x06\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0");
    fails(1, &["analyze", &empty, "-o", &model], "empty.jar");
    fails(1, &["run", "--table", &table, &empty, &logs()], "empty.jar");
    let text = scratch.write("plain.log", b"no header\nin any line\n");
    fails(1, &["run", "--table", &table, &jar(), &text], "plain.log");
    assert!(!Path::new(&table).exists() && !Path::new(&model).exists(), "nothing half-written");
}

#[test]
fn a_log_that_cannot_be_read_harms_only_itself() {
    let scratch = Scratch::new();
    let bad = scratch.write("bad.log", b"no header\nin any line\n");
    let ran = lprof(&["run", "--table", &scratch.path("t"), &jar(), &logs(), &bad]);
    let said = String::from_utf8_lossy(&ran.stderr);
    assert_eq!(ran.status.code(), Some(0), "{said}");
    assert!(said.contains("bad.log`: no line has a header"), "{said}");
    // Alone it leaves nothing to tell.
    let (model, out) = (scratch.path("m"), scratch.path("o"));
    done(&["analyze", &jar(), "-o", &model]);
    fails(1, &["map", "--model", &model, "--node", "a", &bad, "-o", &out], "bad.log");
    let whole = done(&["show", "coverage", "--table", &scratch.table("whole"), "--format", "csv"]);
    let with_bad = done(&["show", "coverage", "--table", &scratch.path("t"), "--format", "csv"]);
    for (_, counts) in whole.lines().filter_map(|line| line.split_once(',')) {
        assert!(with_bad.contains(counts), "{counts}\nis not in\n{with_bad}");
    }
}

#[test]
fn models_of_another_version_or_kind_are_refused() {
    let scratch = Scratch::new();
    let mut bytes = std::fs::read(scratch.model()).expect("a model");
    let out = scratch.path("out");
    let map = |model: &str, expected: &str| {
        fails(1, &["map", "--model", model, "--node", "a", &logs(), "-o", &out], expected);
    };
    map(&scratch.write("log.model", b"2026-11-21 no model"), "not a model");
    let n = bytes.len();
    map(&scratch.write("cut.model", &bytes[..n - 1]), "damaged or half written");
    bytes[8] = 99;
    let versions = format!("format version 99, this lprof reads version {}", schema::version::MODEL.version);
    map(&scratch.write("old.model", &bytes), &versions);
    assert!(!Path::new(&out).exists(), "nothing half-written");
}

#[test]
fn the_same_input_adds_nothing() {
    let scratch = Scratch::new();
    let table = scratch.table("t");
    let before = files(&table);
    let again = done(&["run", "--table", &table, &jar(), &logs()]);
    assert!(again.contains("in the table already"), "{again}");
    assert_eq!(files(&table), before);
    // Nor without the index, which is made again.
    std::fs::remove_dir_all(Path::new(&table).join(".catalog")).expect("an index");
    done(&["run", "--table", &table, &jar(), &logs()]);
    assert_eq!(files(&table), before);
}

#[test]
fn parts_and_threads_make_the_same_table() {
    let scratch = Scratch::new();
    let expected = files(&scratch.table("t"));
    let model = scratch.model();
    let one = scratch.path("one");
    done(&["run", "--threads", "1", "--model", &model, "--table", &one, &logs()]);
    assert_eq!(files(&one), expected, "one thread");
    let (a, rest, table) = (scratch.path("a"), scratch.path("rest"), scratch.path("parts"));
    let log = |node: &str| format!("{}/{node}.log", logs());
    done(&["map", "--model", &model, "--node", "a", &log("a"), "-o", &a]);
    for node in ["c", "b"] {
        done(&["map", "--model", &model, "--node", node, &log(node), "-o", &rest]);
    }
    done(&["reduce", &rest, &a, "--table", &table]);
    assert_eq!(files(&table), expected, "map and reduce");
}

#[test]
fn a_log_that_grew_adds_its_new_records() {
    let scratch = Scratch::new();
    let (model, table) = (scratch.model(), scratch.path("t"));
    let whole = std::fs::read_to_string(samples().join("logs/a.log")).expect("the sample's log");
    let half: String = whole.lines().take(100).map(|line| format!("{line}\n")).collect();
    let log = scratch.write("a.log", half.as_bytes());
    done(&["run", "--model", &model, "--table", &table, &log]);
    scratch.write("a.log", whole.as_bytes());
    done(&["run", "--model", &model, "--table", &table, &log]);
    let coverage = done(&["show", "coverage", "--table", &table, "--format", "csv"]);
    let n_records = |line: &str| line.rsplit(',').nth(5).and_then(|n| n.parse::<usize>().ok());
    let n: usize = coverage.lines().filter_map(n_records).sum();
    let json = done(&["evaluate", "--truth", &truth(), "--table", &table, "--format", "json"]);
    let value: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(value["all"]["messages"]["failed"], 0, "every record is there: {json}");
    let truth = std::fs::read_to_string(truth()).expect("the truth");
    assert_eq!(n, truth.lines().filter(|line| line.starts_with("a\t")).count(), "and only once");
}

#[test]
fn periods_become_what_they_are_at_once() {
    let scratch = Scratch::new();
    let model = scratch.model();
    let folder = scratch.path("periods");
    std::fs::create_dir(&folder).expect("a folder");
    for n_periods in [2, 5] {
        let (once, one_by_one) =
            (scratch.path(&format!("once-{n_periods}")), scratch.path(&format!("periods-{n_periods}")));
        for period in 1..=n_periods {
            for node in ["a", "b", "c"] {
                let name = format!("{node}.log");
                let log = std::fs::read_to_string(samples().join("logs").join(&name)).expect("a log");
                let n_lines = log.lines().count() * period / n_periods;
                let begin: String = log.split_inclusive('\n').take(n_lines).collect();
                std::fs::write(format!("{folder}/{name}"), begin).expect("a log");
            }
            let said = done(&["run", "--model", &model, "--table", &one_by_one, &folder]);
            assert_eq!(said.contains("were open, and are made again"), period > 1, "{said}");
        }
        done(&["run", "--model", &model, "--table", &once, &folder]);
        assert_eq!(rows(&one_by_one), rows(&once), "{n_periods} periods");
        // All of it is open until the end, and is made again.
        let related = |table: &str| {
            let mut rows: Vec<RelationRow> = manifest(table).rows().expect("relations");
            rows.sort_by(|a, b| (&a.request_id, &a.other_id).cmp(&(&b.request_id, &b.other_id)));
            rows
        };
        assert_eq!(related(&one_by_one), related(&once), "{n_periods} periods");
    }
}

#[test]
fn requests_are_related_over_the_ends_of_periods() {
    let scratch = Scratch::new();
    let (model, table, folder) = (scratch.model(), scratch.path("t"), scratch.path("logs"));
    std::fs::create_dir(&folder).expect("a folder");
    for period in 1..=4 {
        for node in ["a", "b", "c"] {
            let name = format!("{node}.log");
            let log = std::fs::read_to_string(samples().join("logs").join(&name)).expect("a log");
            let n_lines = log.lines().count() * period / 4;
            let begin: String = log.split_inclusive('\n').take(n_lines).collect();
            std::fs::write(format!("{folder}/{name}"), begin).expect("a log");
        }
        done(&["run", "--window", "100ms", "--model", &model, "--table", &table, &folder]);
        // What is over by now is not decided again.
        done(&["thin", "--table", &table, "--before", "2027-01-01", "--keep", "spans"]);
    }
    let manifest = manifest(&table);
    let mut file_of: BTreeMap<Text, &str> = BTreeMap::new();
    for file in manifest.files.iter().filter(|file| file.table == RequestRow::TABLE) {
        let path = manifest.folder.join(&file.path);
        let (rows, _) = schema::tables::read::<RequestRow>(&path).expect("requests");
        file_of.extend(rows.into_iter().map(|row| (row.request_id, file.path.as_str())));
    }
    let relations: Vec<RelationRow> = manifest.rows().expect("relations");
    let (mut pairs, mut n_over) = (BTreeSet::new(), 0);
    for RelationRow { request_id, other_id, .. } in &relations {
        let ends = [file_of.get(request_id), file_of.get(other_id)];
        assert!(ends.iter().all(Option::is_some), "{request_id} {other_id}");
        n_over += usize::from(ends[0] != ends[1]);
        assert!(pairs.insert((request_id.min(other_id), request_id.max(other_id))), "twice");
    }
    assert!(n_over > 0 && n_over < relations.len(), "{n_over} of {}", relations.len());
}

fn manifest(table: &str) -> Manifest {
    Manifest::read(Path::new(table)).expect("a table")
}

/// The requests of a table with their spans and events.
fn rows(table: &str) -> Vec<String> {
    let table = lprof::Table::open(Path::new(table)).expect("a table");
    let requests = table.requests(&lprof::Filter::All).expect("requests");
    let whole = |request: lprof::Request| format!("{:?} {:?}", request.row(), request.spans());
    let mut rows: Vec<String> = requests.map(|request| whole(request.expect("a whole request"))).collect();
    rows.sort();
    rows
}

#[test]
fn half_of_a_map_output_is_refused() {
    let scratch = Scratch::new();
    let (model, out, table) = (scratch.model(), scratch.path("out"), scratch.path("t"));
    done(&["map", "--model", &model, "--node", "a", &format!("{}/a.log", logs()), "-o", &out]);
    let other = scratch.path("other");
    done(&["map", "--model", &model, "--node", "a", &format!("{}/b.log", logs()), "-o", &other]);
    let part = "accumulators/a.parquet";
    std::fs::copy(format!("{other}/{part}"), format!("{out}/{part}")).expect("a copy");
    fails(1, &["reduce", &out, "--table", &table], "belongs to another map");
    std::fs::write(format!("{out}/{part}"), b"PAR1").expect("a file");
    fails(1, &["reduce", &out, "--table", &table], part);
    assert!(!Path::new(&table).exists(), "nothing half-written");
}

#[test]
fn damage_of_a_table_is_named() {
    let scratch = Scratch::new();
    let table = scratch.table("t");
    let evaluate = ["evaluate", "--truth", &truth(), "--table", &table];
    done(&evaluate);
    let runs = format!("{table}/runs/part-1.parquet");
    // All of the sample is within a window of its end.
    let events = std::fs::read_dir(format!("{table}/open/1/events"))
        .expect("events")
        .next()
        .expect("a day")
        .expect("a day")
        .path();
    let events = events.join("part-1.parquet");
    let mut bytes = std::fs::read(&events).expect("a file");
    bytes[100] ^= 1;
    std::fs::write(&events, &bytes).expect("a file");
    fails(1, &evaluate, "part-1.parquet");
    std::fs::remove_file(&runs).expect("a file");
    fails(1, &["show", "model", "--table", &table], "runs/part-1.parquet");
    std::fs::write(format!("{table}/manifest-1.json"), b"{").expect("a file");
    fails(1, &evaluate, "manifest-1.json");
}

#[test]
fn what_a_killed_writer_left_does_not_count() {
    let scratch = Scratch::new();
    let table = scratch.table("t");
    let before = files(&table);
    let day = std::fs::read_dir(format!("{table}/requests"))
        .expect("requests")
        .next()
        .expect("a day")
        .expect("a day")
        .path();
    std::fs::write(day.join("part-2.parquet"), b"half").expect("a file");
    std::fs::write(day.join(".part-2.parquet.1.tmp"), b"half").expect("a file");
    done(&["evaluate", "--truth", &truth(), "--table", &table]);
    done(&["run", "--table", &table, &jar(), &logs()]);
    assert_eq!(files(&table), before, "and is swept up by the next writer");
}

#[test]
fn strict_turns_losses_into_1() {
    let scratch = Scratch::new();
    let mut text = std::fs::read(samples().join("logs/a.log")).expect("the sample's log");
    text.extend_from_slice(b"2026-11-21 00:00:00,000 INFO no.such.Logger: nobody prints this\n");
    let log = scratch.write("a.log", &text);
    let (lax, strict) = (scratch.path("lax"), scratch.path("strict"));
    done(&["run", "--table", &lax, &jar(), &log]);
    fails(1, &["run", "--strict", "--table", &strict, &jar(), &log], "in no request");
}

#[test]
fn show_answers() {
    let scratch = Scratch::new();
    let table = scratch.table("t");
    let model = done(&["show", "model", "--table", &table, "--format", "json"]);
    let model: serde_json::Value = serde_json::from_str(&model).expect("JSON");
    let point = &model["log_points"][0];
    for name in ["id", "class", "method", "source_line", "n_sites", "level", "logger", "templates"] {
        assert!(point.get(name).is_some(), "{name} in {point}");
    }
    let place = format!(
        "{}.{}:{}",
        point["class"].as_str().unwrap_or(""),
        point["method"].as_str().unwrap_or(""),
        point["source_line"]
    );
    assert!(done(&["show", "log-point", &place, "--table", &table]).contains("regex"));
    assert!(done(&["show", "log-point", "0", "--table", &table]).contains(&place));
    assert!(done(&["show", "method", "ClientHandler.writeBlock", "--table", &table]).contains("identifiers"));
    assert!(done(&["show", "model", "--table", &table]).contains("ClientHandler.writeBlock"));
    assert!(done(&["show", "model", "--table", &table, "--table2"]).contains("n_top_level_methods"));
    assert!(done(&["show", "model", "--table", &table, "--coverage"]).contains("clean"));
    assert_eq!(done(&["show", "coverage", "--table", &table]).lines().count(), 4);
    fails(1, &["show", "log-point", "No.where:1", "--table", &table], "`No.where:1`");
    fails(1, &["show", "method", "No.where", "--table", &table], "`No.where`");
    fails(1, &["show", "request", "zz", "--table", &table], "`zz`");
}

#[test]
fn related_requests_are_listed() {
    let scratch = Scratch::new();
    let table = scratch.table("t");
    let open = lprof::Table::open(Path::new(&table)).expect("a table");
    let requests = open.requests(&lprof::Filter::All).expect("requests");
    let rows: Vec<_> = requests.map(|request| request.expect("a request").row().clone()).collect();
    let blocks =
        |row: &RequestRow| -> Vec<String> { row.identifiers.iter().map(|of| of.value.to_string()).collect() };
    let read = rows.iter().rev().find(|row| &*row.request_type == "ClientHandler.readBlock").expect("a read");
    let json = done(&["related", &read.request_id[..16], "--table", &table, "--format", "json"]);
    let related: Vec<serde_json::Value> = serde_json::from_str(&json).expect("JSON");
    assert!(!related.is_empty());
    for of in &related {
        assert_eq!(of["request_id"], *read.request_id);
        let other = rows.iter().find(|row| of["other_id"] == *row.request_id).expect("a request");
        assert_eq!(of["request_type"], *other.request_type);
        assert_eq!(of["after_us"], other.start_ts.0 - read.start_ts.0);
        let value = of["value"].as_str().expect("a text").to_owned();
        assert!(blocks(read).contains(&value) && blocks(other).contains(&value), "{of}");
    }
    // From the other end it is the same relation.
    let other = related[0]["other_id"].as_str().expect("an id");
    let back = done(&["related", other, "--table", &table, "--format", "json", "--limit", "1000"]);
    assert!(back.contains(&*read.request_id), "{back}");
    let text = done(&["related", other, "--table", &table, "--format", "table", "--limit", "1"]);
    assert_eq!(text.lines().count(), 5, "{text}");
    let shown = done(&["show", "request", other, "--table", &table]);
    assert!(shown.contains(" related: lprof related --table "), "{shown}");
    fails(1, &["related", "zz", "--table", &table], "`zz`");
    fails(2, &["related", other, "--table", &table, "--format", "parquet"], "parquet");
    let scores = done(&["evaluate", "--table", &table, "--truth", &truth()]);
    assert!(scores.contains("relations: "), "{scores}");
}

/// The sample's log as a layout with a trace id would have it: the truth is in
/// the log itself, and the score is the one of the truth beside it.
#[test]
fn a_trace_id_in_the_layout_is_a_truth() {
    let scratch = Scratch::new();
    let truth = std::fs::read_to_string(samples().join("expected/truth.tsv")).expect("the truth");
    for node in ["a", "b", "c"] {
        let text = std::fs::read_to_string(samples().join(format!("logs/{node}.log"))).expect("a log");
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        for row in truth.lines().skip(1).filter(|row| row.starts_with(&format!("{node}\t"))) {
            let columns: Vec<&str> = row.split('\t').collect();
            let line = &mut lines[columns[1].parse::<usize>().expect("a line number") - 1];
            let unit = if columns[6] == "-" { "" } else { columns[6] };
            let (header, rest) = line.split_once(" blockstore.").expect("a header");
            *line = format!("{header} [{unit}] blockstore.{rest}");
        }
        scratch.write(&format!("{node}.log"), format!("{}\n", lines.join("\n")).as_bytes());
    }
    let table = scratch.path("t");
    let layout = "%d{ISO8601} %p [%X{request}] %c: %m%n";
    let log = |node: &str| scratch.path(&format!("{node}.log"));
    done(&["run", "--layout", layout, "--table", &table, &jar(), &log("a"), &log("b"), &log("c")]);
    let scores = done(&["evaluate", "--table", &table, "--by", "request", "--format", "json"]);
    let scores: serde_json::Value = serde_json::from_str(&scores).expect("JSON");
    assert_eq!(scores["all"]["n_messages"], 640);
    assert_eq!(scores["all"]["percent"]["correct"], 100.0);
    fails(1, &["evaluate", "--table", &table, "--by", "tenant"], "`tenant`");
}

#[cfg(feature = "sql")]
#[test]
fn sql_reads_and_never_writes() {
    let scratch = Scratch::new();
    let table = scratch.table("t");
    let sql = |query: &str| done(&["sql", "--table", &table, query]);
    let n = sql("SELECT count(*) AS n FROM events");
    assert_eq!(n, "n\n646\n");
    let p99 = sql(
        "SELECT request_type, count(*), approx_percentile_cont(duration_us, 0.99) FROM requests GROUP BY 1",
    );
    assert!(p99.contains("ClientHandler.writeBlock,"), "{p99}");
    let json = done(&[
        "sql",
        "--format",
        "json",
        "--table",
        &table,
        "SELECT node, n_records FROM inputs ORDER BY node",
    ]);
    let rows: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(rows[0]["node"], "a");
    for table_name in [
        "requests",
        "request_nodes",
        "spans",
        "events",
        "relations",
        "log_points",
        "top_level_methods",
        "communication_pairs",
        "log_sequences",
        "inputs",
        "runs",
    ] {
        sql(&format!("SELECT * FROM {table_name} LIMIT 1"));
    }
    sql("DESCRIBE requests");
    sql("SHOW TABLES");
    sql("EXPLAIN SELECT 1");
    let id = sql("SELECT request_id FROM requests ORDER BY n_events DESC, request_id LIMIT 1");
    let id = id.lines().nth(1).expect("a request");
    let shown = done(&["show", "request", id, "--table", &table]);
    assert!(shown.contains(" on "), "{shown}");
    let before = files(&table);
    let target = scratch.path("x.csv");
    for query in [
        &format!("COPY (SELECT 1) TO '{target}'"),
        &format!("EXPLAIN ANALYZE COPY (SELECT 1) TO '{target}'"),
        &format!("SELECT * FROM '{}/a.log'", logs()),
        &format!("CREATE EXTERNAL TABLE x STORED AS CSV LOCATION '{}'", truth()),
        "CREATE TABLE x AS SELECT 1",
        "CREATE VIEW x AS SELECT 1",
        "INSERT INTO runs SELECT * FROM runs",
        "DELETE FROM runs",
        "DROP TABLE requests",
        "SET datafusion.execution.batch_size = 1",
        "SELECT 1; SELECT 2",
        "SELEC 1",
        "",
    ] {
        fails(1, &["sql", "--table", &table, query], "lprof: ");
    }
    let nested = format!("SELECT {}1{}", "(".repeat(5_000), ")".repeat(5_000));
    fails(1, &["sql", "--table", &table, &nested], "nests at most");
    assert_eq!(files(&table), before);
    assert!(!Path::new(&target).exists(), "nothing written");
}

/// Every request of the sample's run, as the run itself wrote it down: type,
/// nodes, number of records, first and last time. For both kinds of bytecode.
#[cfg(feature = "sql")]
#[test]
fn the_samples_requests_are_those_that_were_made() {
    let expected = std::fs::read_to_string(samples().join("expected/requests.tsv")).expect("the truth");
    let mut expected: Vec<String> = expected
        .lines()
        .skip(1)
        .map(|line| {
            let columns: Vec<&str> = line.split('\t').collect();
            let [kind, nodes, n_events, start, end, _unit] = columns[..] else { panic!("`{line}`") };
            format!("{kind}|{nodes}|{n_events}|{}|{}", start.trim_end_matches('Z'), end.trim_end_matches('Z'))
        })
        .collect();
    expected.sort();
    let scratch = Scratch::new();
    for target in ["java8", "java17", "java21"] {
        let jar = samples().join("classes").join(target).join("store.jar").display().to_string();
        let table = scratch.path(target);
        done(&["run", "--table", &table, &jar, &logs()]);
        let query = "SELECT concat(t.request_type, '|', t.nodes, '|', t.n_events, '|', \
                     t.s, '|', t.e) AS r FROM (SELECT q.request_id, q.request_type, q.n_events, \
                     string_agg(n.node, ',' ORDER BY n.node) AS nodes, \
                     to_char(q.start_ts, 'YYYY-MM-DD\"T\"HH24:MI:SS.MS') AS s, \
                     to_char(q.end_ts, 'YYYY-MM-DD\"T\"HH24:MI:SS.MS') AS e \
                     FROM requests q JOIN request_nodes n ON n.request_id = q.request_id \
                     GROUP BY q.request_id, q.request_type, q.n_events, q.start_ts, q.end_ts) t \
                     WHERE request_type <> 'Node.main'";
        let found = done(&["sql", "--format", "csv", "--table", &table, query]);
        let mut found: Vec<String> = found.lines().skip(1).map(|l| l.trim_matches('"').to_owned()).collect();
        found.sort();
        assert_eq!(found, expected, "{target}");
    }
}

#[cfg(not(feature = "sql"))]
#[test]
fn sql_says_how_to_build_it() {
    fails(1, &["sql", "--table", "t", "SELECT 1"], "--features sql");
}

#[cfg(feature = "sql")]
#[test]
fn a_closed_pipe_is_no_failure() {
    use std::io::Read as _;
    let scratch = Scratch::new();
    let table = scratch.table("t");
    let query = "SELECT a.*, b.* FROM events a CROSS JOIN runs b, (SELECT * FROM events LIMIT 50) c";
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_lprof"));
    command.args(["sql", "--table", &table, query]).stdout(std::process::Stdio::piped());
    let mut child = command.stderr(std::process::Stdio::piped()).spawn().expect("lprof starts");
    let mut some = [0; 10];
    child.stdout.take().expect("a pipe").read_exact(&mut some).expect("some output");
    let output = child.wait_with_output().expect("lprof ends");
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
}

/// All data files and manifests below a table, with their bytes.
fn files(table: &str) -> Vec<(PathBuf, Vec<u8>)> {
    fn walk(folder: &Path, root: &Path, found: &mut Vec<(PathBuf, Vec<u8>)>) {
        for entry in std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path())
        {
            let name = entry.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if entry.is_dir() && name != ".catalog" {
                walk(&entry, root, found);
            } else if entry.is_file() {
                let relative = entry.strip_prefix(root).expect("below the root").to_owned();
                found.push((relative, std::fs::read(&entry).expect("a file")));
            }
        }
    }
    let mut found = Vec::new();
    walk(Path::new(table), Path::new(table), &mut found);
    found.sort();
    assert!(found.len() > 5, "a table has files");
    found
}

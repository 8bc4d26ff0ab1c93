//! The queries of `samples/queries` over the sample: each gives what is written beside it,
//! and several of them what the logs and the truth of the run say without lprof. What
//! queries must not do, and what is said of wrong ones.
#![cfg(feature = "sql")]

#[path = "support/command.rs"]
mod command;
#[path = "support/sample.rs"]
mod sample;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use command::{done, fails, samples};
use sample::table;

fn query_files() -> Vec<PathBuf> {
    let folder = std::fs::read_dir(samples().join("queries")).expect("the queries");
    let files = folder.map(|entry| entry.expect("an entry").path());
    let mut files: Vec<PathBuf> =
        files.filter(|path| path.extension().is_some_and(|e| e == "query")).collect();
    files.sort();
    assert!(files.len() >= 12, "nine of the paper and three of our own");
    files
}

#[test]
fn each_query_gives_what_is_written_beside_it() {
    for target in ["java8", "java17"] {
        let (_folder, table) = table(target);
        for file in query_files() {
            let name = file.display().to_string();
            let expected = std::fs::read_to_string(file.with_extension("csv")).expect(&name);
            let found = done(&["query", "--table", &table, "-f", &name]);
            assert_eq!(found, expected, "{name} with {target}");
            let plain = done(&["query", "--table", &table, "--unoptimized", "-f", &name]);
            assert_eq!(plain, expected, "{name} with {target}, without rewrites");
        }
    }
}

/// What a query in SQL gives that comes from a file.
fn ask(table: &str, file: &Path) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lprof"));
    command.args(["sql", "--table", table, "--format", "csv"]);
    command.stdin(std::fs::File::open(file).expect("a query"));
    let output = command.output().expect("lprof starts");
    assert!(output.status.success(), "{}: {}", file.display(), String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// Rows of an analysis in SQL, by column.
fn analysis(table: &str, name: &str) -> Vec<BTreeMap<String, String>> {
    let text = ask(table, &samples().join("queries").join(format!("{name}.sql")));
    let columns: Vec<&str> = text.lines().next().expect("a header").split(',').collect();
    let row = |line: &str| {
        columns.iter().zip(line.split(',')).map(|(c, v)| ((*c).to_owned(), v.to_owned())).collect()
    };
    text.lines().skip(1).map(row).collect()
}

#[test]
fn each_analysis_gives_what_is_written_beside_it() {
    let (_folder, table) = table("java17");
    let folder = std::fs::read_dir(samples().join("queries")).expect("the queries");
    let files = folder.map(|entry| entry.expect("an entry").path());
    let files: Vec<PathBuf> = files.filter(|path| path.extension().is_some_and(|e| e == "sql")).collect();
    assert!(files.len() >= 9, "windows, sketches, samples, clusters: {files:?}");
    for file in files {
        let name = file.display().to_string();
        let expected = std::fs::read_to_string(file.with_extension("csv")).expect(&name);
        assert_eq!(ask(&table, &file), expected, "{name}");
    }
}

/// What analyses say against what is counted here in the logs and their truth.
#[test]
fn analyses_add_up_to_what_the_logs_hold() {
    let (_folder, table) = table("java17");
    let sum = |name: &str, column: &str| -> i64 {
        analysis(&table, name).iter().map(|row| row[column].parse::<i64>().expect("a number")).sum()
    };
    let truth = std::fs::read_to_string(samples().join("expected/requests.tsv")).expect("the truth");
    let n_requests = truth.lines().count() as i64 - 1;
    let n_writes = truth.lines().filter(|line| line.starts_with("ClientHandler.writeBlock")).count() as i64;
    let logs = ["a", "b", "c"]
        .map(|node| std::fs::read_to_string(samples().join(format!("logs/{node}.log"))).expect("a log"));
    let n_records: usize =
        logs.iter().map(|log| log.lines().filter(|line| line.starts_with("2026-")).count()).sum();
    // The starts of three nodes are requests that the truth does not claim.
    assert_eq!(sum("window-tumbling", "requests"), n_requests + 3);
    assert_eq!(sum("window-hopping", "writes"), 2 * n_writes);
    assert_eq!(sum("window-session", "events"), n_records as i64);
    for row in analysis(&table, "distinct-blocks") {
        let (exact, about) =
            (row["blocks"].parse::<f64>().expect("a number"), row["about"].parse::<f64>().expect("a number"));
        // A HyperLogLog of 2^14 registers is within 2 % nearly always, here within a block.
        assert!((exact - about).abs() <= 1.0, "{row:?}");
        let log = &logs[["a", "b", "c"].iter().position(|node| *node == row["node"]).expect("a node")];
        let blocks: BTreeSet<&str> = log
            .split("block-")
            .skip(1)
            .map(|rest| rest.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default())
            .collect();
        assert_eq!(exact as usize, blocks.len(), "{row:?}");
    }
    for row in analysis(&table, "sample") {
        let number = |name: &str| row[name].parse::<f64>().expect("a number");
        let (low, high, exact) = (number("low"), number("high"), number("in_all"));
        assert!(exact < 20.0 || (low <= exact && exact <= high), "{row:?}");
    }
    let clusters = analysis(&table, "k-means");
    assert_eq!(clusters.len(), 2, "{clusters:?}");
}

/// A line of a log, with what the truth says of it.
struct Line {
    node: String,
    message: String,
    us: i64,
    point: String,
    thread: String,
    unit: String,
}

impl Line {
    /// The text after `before` up to `after`.
    fn between<'l>(&'l self, before: &str, after: &str) -> &'l str {
        let rest =
            self.message.split_once(before).unwrap_or_else(|| panic!("{before} in {}", self.message)).1;
        rest.split_once(after).map_or(rest, |(found, _)| found)
    }
}

/// All lines of the run, from its logs and its truth.
fn lines() -> Vec<Line> {
    let truth = std::fs::read_to_string(samples().join("expected/truth.tsv")).expect("the truth");
    let log = |node: &str| -> Vec<String> {
        let text = std::fs::read_to_string(samples().join(format!("logs/{node}.log"))).expect("a log");
        text.lines().map(ToOwned::to_owned).collect()
    };
    let logs: BTreeMap<&str, Vec<String>> = ["a", "b", "c"].map(|node| (node, log(node))).into();
    let line = |row: &str| {
        let columns: Vec<&str> = row.split('\t').collect();
        let [node, line, _, thread, point, _, unit, _] = columns[..] else { panic!("{row}") };
        let text = &logs[node][line.parse::<usize>().expect("a number") - 1];
        let number = |from: usize, to: usize| text[from..to].parse::<i64>().expect("a time");
        let seconds = (number(11, 13) * 60 + number(14, 16)) * 60 + number(17, 19);
        Line {
            node: node.to_owned(),
            message: text.split_once(": ").expect("a message").1.to_owned(),
            us: (seconds * 1_000 + number(20, 23)) * 1_000,
            point: point.to_owned(),
            thread: thread.to_owned(),
            unit: unit.to_owned(),
        }
    };
    truth.lines().skip(1).map(line).collect()
}

/// The rows that are written beside a query.
fn rows(name: &str) -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(samples().join("queries").join(name)).expect(name);
    let row = |line: &str| line.split(',').map(ToOwned::to_owned).collect();
    text.lines().skip(1).map(row).collect()
}

fn stored(lines: &[Line]) -> impl Iterator<Item = &Line> {
    lines.iter().filter(|line| line.point.contains("AckResponder.keep:"))
}

/// Q1, Q2 and Q6: sums and counts of what the lines say, by the node of the request's head.
#[test]
fn what_is_stored_is_what_the_lines_say() {
    let lines = lines();
    let head = |unit: &str| {
        let is_head = |line: &&Line| line.unit == unit && line.point.contains("writeBlock:106");
        let mut found = lines.iter().filter(is_head).collect::<Vec<_>>();
        found.sort_by_key(|line| (!line.message.contains(" as HEAD")).then_some(line.us));
        found.first().map(|line| line.node.clone()).expect("a head")
    };
    let mut by_node: BTreeMap<String, i64> = BTreeMap::new();
    let mut by_head: BTreeMap<(String, String), (i64, i64)> = BTreeMap::new();
    for line in stored(&lines) {
        let bytes: i64 = line.between(", ", " bytes").parse().expect("a number");
        *by_node.entry(line.node.clone()).or_default() += bytes;
        let found = by_head.entry((head(&line.unit), line.node.clone())).or_default();
        *found = (found.0 + bytes, found.1 + 1);
    }
    let expected: Vec<Vec<String>> =
        by_node.iter().map(|(n, bytes)| vec![n.clone(), bytes.to_string()]).collect();
    assert_eq!(rows("q1-bytes-by-node.csv"), expected);
    let row = |((head, node), (bytes, n)): (&(String, String), &(i64, i64))| {
        vec![head.clone(), node.clone(), bytes.to_string(), n.to_string()]
    };
    let expected: Vec<Vec<String>> = by_head.iter().map(row).collect();
    assert_eq!(rows("q2-bytes-by-entry.csv"), expected);
    let without_bytes = |row: &Vec<String>| vec![row[0].clone(), row[1].clone(), row[3].clone()];
    let expected: Vec<Vec<String>> = expected.iter().map(without_bytes).collect();
    assert_eq!(rows("q6-nodes-by-entry.csv"), expected);
}

/// Q3: the first line that each operation prints on a node.
#[test]
fn operations_are_counted_as_the_lines_say() {
    let mut expected: BTreeMap<String, i64> = BTreeMap::new();
    let first =
        ["writeBlock:106", "readBlock:126", "deleteBlock:", "verifyBlock:", "copyBlock:152", "blockStatus:"];
    for line in lines().iter().filter(|line| first.iter().any(|point| line.point.contains(point))) {
        *expected.entry(line.node.clone()).or_default() += 1;
    }
    let expected: Vec<Vec<String>> =
        expected.iter().map(|(n, count)| vec![n.clone(), count.to_string()]).collect();
    assert_eq!(rows("q3-operations-by-node.csv"), expected);
}

/// Q4 and Q7: who asked for what is copied, by the truth's requests.
#[test]
fn copies_are_of_who_asked_for_them() {
    let lines = lines();
    let of = |unit: &str, point: &str| {
        let mut found = lines.iter().filter(|line| line.unit == unit && line.point.contains(point));
        found.next().unwrap_or_else(|| panic!("{point} of {unit}"))
    };
    let (mut by_block, mut by_nodes): (BTreeMap<Vec<String>, i64>, BTreeMap<Vec<String>, i64>) =
        Default::default();
    for copy in lines.iter().filter(|line| line.point.contains("copyBlock:155")) {
        let asked = of(&copy.unit, "verifyBlock:");
        let repair = of(&copy.unit, "RepairWorker.repair:63");
        let block = asked.between("block-", ":v").to_owned();
        *by_block.entry(vec![asked.node.clone(), block]).or_default() += 1;
        if asked.node != repair.node {
            let nodes = [asked, repair, copy].map(|line| line.node.clone());
            *by_nodes.entry(nodes.to_vec()).or_default() += 1;
        }
    }
    let told = |counts: &BTreeMap<Vec<String>, i64>| -> Vec<Vec<String>> {
        counts.iter().map(|(key, n)| key.iter().cloned().chain([n.to_string()]).collect()).collect()
    };
    assert_eq!(rows("q4-copies-by-asker.csv"), told(&by_block));
    assert_eq!(rows("q7-copies-from-elsewhere.csv"), told(&by_nodes));
}

/// Q8: from what a request prints first on a node to its answer from there.
#[test]
fn latencies_are_those_of_the_lines() {
    let lines = lines();
    let mut expected = Vec::new();
    for response in lines.iter().filter(|line| line.point.contains("AckResponder.run:")) {
        let is_request = |line: &&Line| {
            line.unit == response.unit && line.node == response.node && line.point.contains("writeBlock:106")
        };
        let request = lines.iter().find(is_request).expect("a request");
        assert_ne!(request.thread, response.thread);
        let version = response.between(":v", " ").trim_end_matches([',', ':']).to_owned();
        let took = response.us - request.us;
        expected.push((-took, response.node.clone(), response.between("block-", ":v").to_owned(), version));
    }
    expected.sort_by(|a, b| {
        let number = |text: &str| text.parse::<i64>().expect("a number");
        (a.0, &a.1, number(&a.2), number(&a.3)).cmp(&(b.0, &b.1, number(&b.2), number(&b.3)))
    });
    let expected = expected.into_iter().take(10);
    let expected: Vec<Vec<String>> = expected
        .map(|(took, node, block, version)| vec![node, block, version, (-took).to_string()])
        .collect();
    assert_eq!(rows("q8-latency.csv"), expected);
}

#[test]
fn queries_come_from_files_and_pipes_and_go_out_in_any_form() {
    let (_folder, table) = table("java8");
    let text = "From e In ClientHandler.readBlock:133 Select e.host, e.level, COUNT";
    let text = text.replace("Select", "GroupBy e.host, e.level Select");
    let mut command = Command::new(env!("CARGO_BIN_EXE_lprof"));
    command
        .args(["query", "--format", "json", "--table", &table])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut child = command.spawn().expect("lprof starts");
    std::io::Write::write_all(&mut child.stdin.take().expect("a pipe"), text.as_bytes()).expect("a query");
    let output = child.wait_with_output().expect("lprof ends");
    let found: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(found[0]["e.level"], "WARN");
    let shown = done(&["query", "--format", "table", "--table", &table, &text]);
    assert!(shown.contains("e.host  e.level  COUNT"), "{shown}");
    // What it becomes can be asked as it is.
    let sql = done(&["query", "--show-sql", "--table", &table, &text]);
    let by_sql = done(&["sql", "--table", &table, &sql]);
    assert_eq!(by_sql, done(&["query", "--table", &table, &text]));
    let join = "From s In AckResponder.keep Join w In First(ClientHandler) On w -> s GroupBy w.host Select w.host, COUNT";
    let plan = done(&["query", "--explain", "--table", &table, join]);
    assert!(plan.contains("rewrite: projection of w: host"), "{plan}");
    assert!(plan.contains("HappenedBeforeJoinExec: join_type=Inner, on=firstn("), "{plan}");
    let join = join.replace("First(ClientHandler)", "ClientHandler");
    let plan = done(&["query", "--explain", "--unoptimized", "--table", &table, &join]);
    assert!(plan.contains("NestedLoopJoinExec") && !plan.contains("rewrite:"), "{plan}");
}

#[test]
fn faults_name_the_column_and_the_nearest_name() {
    let (folder, table) = table("java8");
    let fails = |text: &str, expected: &str| fails(1, &["query", "--table", &table, text], expected);
    fails(
        "From e In AckResponder.keep\nSelect e.lenght",
        "lprof: line 2, column 8: `e` exports no `lenght`; did you mean `length`?\n  Select e.lenght\n         ^\n",
    );
    fails("From e In AckResponder.kep Select COUNT", "did you mean `AckResponder.keep`?");
    fails("From e In * Selct COUNT", "did you mean `Select`?");
    fails("", "the query is empty");
    let none = folder.path().join("none").display().to_string();
    let jar = samples().join("classes/java8/store.jar").display().to_string();
    let logs = samples().join("logs").display().to_string();
    done(&["run", "--table", &none, "--keep", "requests", &jar, &logs]);
    command::fails(1, &["query", "--table", &none, "From e In * Select COUNT"], "`--keep events`");
    command::fails(1, &["query", "--table", &table, "-f", &none], &none);
}

#[test]
fn no_query_writes_or_reaches_a_file() {
    let (folder, table) = table("java8");
    let target = folder.path().join("x.csv").display().to_string();
    let log = samples().join("logs/a.log").display().to_string();
    let files = || {
        let names = std::fs::read_dir(folder.path()).expect("a folder");
        names.map(|entry| entry.expect("an entry").file_name()).collect::<Vec<_>>()
    };
    let before = files();
    for text in [
        format!("COPY (SELECT 1) TO '{target}'"),
        format!("From e In \"{log}\" Select COUNT"),
        format!("From e In {log} Select COUNT"),
        format!("From e In * Select COUNT; COPY (SELECT 1) TO '{target}'"),
        format!("From e In * Where e.host = 'x'') TO ''{target}' Select COUNT Limit 1 COPY"),
        "From e In * Select e.\"host\"\" FROM runs; DROP TABLE runs; --\"".to_owned(),
    ] {
        fails(1, &["query", "--table", &table, &text], "line 1, column");
    }
    // Quotes of names and texts stay in them.
    let text = format!(
        "From e In * Where e.host = '''; COPY (SELECT 1) TO ''{target}''; --' Select COUNT As \"a\"\"; --\""
    );
    assert_eq!(done(&["query", "--table", &table, &text]), "\"a\"\"; --\"\n0\n");
    assert_eq!(files(), before, "nothing written");
}

/// Asks `query`, an aggregate over events, in two halves: the first one where the logs of each
/// node are, the second one of what these wrote.
fn in_halves(folder: &Path, model: &str, query: &str) -> String {
    let file = folder.join("query.sql");
    std::fs::write(&file, query).expect("a query");
    let out = folder.join("halves").display().to_string();
    for node in ["a", "b", "c"] {
        let log = samples().join(format!("logs/{node}.log")).display().to_string();
        let query = file.display().to_string();
        done(&["map", "--model", model, "--node", node, &log, "-o", &out, "--aggregate", &query]);
    }
    let found = done(&["sql", "--format", "csv", "--aggregates", &out]);
    std::fs::remove_dir_all(out).expect("what was written");
    found
}

/// Each is asked of the table and in halves: what leaves the nodes is enough.
const AGGREGATES: [&str; 7] = [
    "SELECT count(*) FROM events",
    "SELECT node, level, count(*), min(ts), max(ts), avg(n_lines) FROM events GROUP BY node, level ORDER BY 1, 2",
    "SELECT class, method, source_line, count(*) FROM events WHERE class IS NOT NULL GROUP BY 1, 2, 3
     HAVING count(*) > 20 ORDER BY 4 DESC, 1, 2, 3 LIMIT 5",
    "-- different ones over all nodes\nSELECT count(DISTINCT method), count(DISTINCT node) FROM events",
    "WITH printed AS (SELECT unnest(values) AS item FROM events)
     SELECT item['name'], count(*), approx_distinct(item['value']), distinct_estimate(distinct_sketch(item['value']))
     FROM printed GROUP BY 1 ORDER BY 1",
    "SELECT node, sum(CAST(value_of(values, 'length') AS BIGINT)) FROM events WHERE method = 'keep' GROUP BY node ORDER BY 1",
    "SELECT date_bin(INTERVAL '1 second', ts) AS second, count(*) AS n,
            quantile_estimate(quantile_sketch(line), 0.9) AS p90
     FROM events GROUP BY 1 ORDER BY n DESC, second LIMIT 3",
];

#[test]
fn aggregates_in_two_halves_give_what_the_whole_gives() {
    let (folder, table) = table("java17");
    let model = folder.path().join("m").display().to_string();
    let jar = samples().join("classes/java17/store.jar").display().to_string();
    done(&["analyze", &jar, "-o", &model]);
    for query in AGGREGATES {
        let whole = done(&["sql", "--table", &table, "--format", "csv", query]);
        assert_eq!(in_halves(folder.path(), &model, query), whole, "{query}");
    }
}

#[test]
fn what_a_node_cannot_do_by_itself_is_refused_before_its_logs_are_read() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let jar = samples().join("classes/java17/store.jar").display().to_string();
    let log = samples().join("logs/a.log").display().to_string();
    done(&["analyze", &jar, "-o", &path("m")]);
    let map = |query: &str| -> Vec<String> {
        std::fs::write(path("q.sql"), query).expect("a query");
        let arguments = [
            "map",
            "--model",
            &path("m"),
            "--node",
            "a",
            &log,
            "-o",
            &path("out"),
            "--aggregate",
            &path("q.sql"),
        ];
        arguments.map(ToOwned::to_owned).to_vec()
    };
    let words = |arguments: &[String]| -> Vec<String> { arguments.to_vec() };
    for (query, expected) in [
        ("SELECT node FROM events", "no aggregate in the query"),
        ("SELECT count(DISTINCT request_id) FROM events", "where logs are there is `events`, with node"),
        ("SELECT count(*) FROM requests", "where logs are there is `events`"),
        (
            "SELECT count(*) FROM events a JOIN events b ON a.line = b.line",
            "needs the rows of all nodes together",
        ),
        (
            "SELECT count(*) FROM (SELECT * FROM events ORDER BY ts LIMIT 5)",
            "needs the rows of all nodes together",
        ),
        ("COPY events TO 'x'", "where logs are"),
    ] {
        let arguments = words(&map(query));
        fails(1, &arguments.iter().map(String::as_str).collect::<Vec<_>>(), expected);
        assert!(!folder.path().join("out").exists(), "{query}");
    }
    let arguments = words(&map("SELECT count(*) FROM events"));
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    done(&arguments);
    fails(1, &arguments, "is there already");
    // One node twice would count twice.
    fails(1, &["sql", "--aggregates", &path("out"), &path("out")], "node `a` is there twice");
    fails(1, &["sql", "--aggregates", &path("m")], "");
}

#[test]
fn an_explanation_tells_where_parts_could_run() {
    let (_folder, table) = table("java17");
    let explain = |query: &str| {
        let text = done(&["sql", "--table", &table, "--format", "json", &format!("EXPLAIN {query}")]);
        let rows: Vec<BTreeMap<String, String>> = serde_json::from_str(&text).expect("JSON");
        let row = rows.into_iter().find(|row| row["plan_type"] == "where_it_can_run");
        row.expect("a row of places")["plan"].clone()
    };
    let first = |place: &str| format!("first half {place}, second half where it is asked");
    let plan = explain("SELECT node, count(*) FROM events WHERE level = 'INFO' GROUP BY node");
    assert!(plan.contains(&first("at the mapper")), "{plan}");
    let plan = explain("SELECT node, count(DISTINCT request_id) FROM events GROUP BY node");
    assert!(plan.contains(&first("at the reducer")), "{plan}");
    let plan = explain(
        "SELECT b.node, count(*) FROM events a JOIN events b ON happened_before(a, b) GROUP BY b.node",
    );
    assert!(plan.contains(&first("at the reducer")), "{plan}");
    // Rows of different requests meet only where all of them are.
    let plan = explain("SELECT count(*) FROM events a JOIN events b ON a.line = b.line");
    assert!(!plan.contains("first half"), "{plan}");
}

/// What sketches estimate, of what was merged, against all values sorted.
#[test]
fn merged_sketches_are_within_their_bounds() {
    let (_folder, table) = table("java17");
    let exact = analysis(&table, "distinct-blocks");
    for row in analysis(&table, "sketches") {
        let number = |name: &str| row[name].parse::<f64>().expect("a number");
        let same = exact.iter().find(|other| other["node"] == row["node"]).expect("the node");
        let blocks: f64 = same["blocks"].parse().expect("a number");
        // Far below 4,096 registers nearly all values are told apart.
        assert!((number("blocks") - blocks).abs() <= 0.016 * blocks + 0.5, "{row:?}");
        let sql = format!(
            "SELECT arrow_cast(end_ts, 'Int64') - arrow_cast(start_ts, 'Int64') FROM spans WHERE node = '{}' ORDER BY 1",
            row["node"]
        );
        let took = done(&["sql", "--table", &table, "--format", "csv", &sql]);
        let took: Vec<f64> = took.lines().skip(1).map(|line| line.parse().expect("a number")).collect();
        for (q, name) in [(0.5, "about_p50_us"), (0.99, "about_p99_us")] {
            let value = took[(q * (took.len() - 1) as f64) as usize];
            assert!((number(name) - value).abs() <= 0.01 * value + 0.5, "{name}: {value}, {row:?}");
        }
    }
    fails(1, &["sql", "--table", &table, "SELECT quantile_sketch(node) FROM events"], "takes numbers");
    fails(1, &["sql", "--table", &table, "SELECT distinct_estimate(X'00')"], "no sketch of different values");
}

//! `lprof profile` on the sample and on small traces: that what it prints adds up to what the
//! logs say, and that a delay put into the logs is found where it was put.

#[path = "support/command.rs"]
mod command;
#[path = "profile/delays.rs"]
mod delays;
#[path = "support/sample.rs"]
mod sample;
#[path = "profile/slow_node.rs"]
mod slow_node;

use command::{done, fails, samples};
use sample::table;

use serde_json::Value;

#[track_caller]
fn json(arguments: &[&str]) -> Value {
    let text = done(&[arguments, &["--format", "json"]].concat());
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{arguments:?}: {error}\n{text}"))
}

/// (type, count, sum of durations in µs), by type, of the requests as they were made.
fn truth() -> Vec<(String, u64, i64)> {
    let text = std::fs::read_to_string(samples().join("expected/requests.tsv")).expect("the truth");
    let mut found = std::collections::BTreeMap::<String, (u64, i64)>::new();
    let columns: Vec<&str> = text.lines().next().expect("a header").split('\t').collect();
    let at = |name: &str| columns.iter().position(|column| *column == name).expect("a column");
    for line in text.lines().skip(1) {
        let cells: Vec<&str> = line.split('\t').collect();
        let of_type = found.entry(cells[at("request_type")].to_owned()).or_default();
        *of_type = (of_type.0 + 1, of_type.1 + millis(cells[at("end")]) - millis(cells[at("start")]));
    }
    found.into_iter().map(|(name, (n, ms))| (name, n, ms * 1_000)).collect()
}

/// The milliseconds of the day in `2026-11-21T12:15:03.490Z` and the like.
fn millis(time: &str) -> i64 {
    let clock = time.split(['T', ' ']).nth(1).expect("a time of the day").trim_end_matches('Z');
    let parts: Vec<i64> = clock
        .split([':', '.', ','])
        .map(|part| part[..part.len().min(3)].parse().expect("a number"))
        .collect();
    ((parts[0] * 60 + parts[1]) * 60 + parts[2]) * 1_000 + parts[3]
}

#[test]
fn requests_of_layer_2_are_those_that_were_made() {
    let (_folder, table) = table("java17");
    let rows = json(&["profile", "--table", &table, "--layer", "2"]);
    for (name, count, total_us) in truth() {
        let is_it = |row: &&Value| row["metric"] == "request" && row["of"] == "all" && row["group"] == *name;
        let row = rows.as_array().expect("rows").iter().find(is_it).expect(&name);
        assert_eq!(row["count"], count, "{name}");
        let mean = total_us as f64 / count as f64;
        assert!((row["mean_us"].as_f64().expect("a number") - mean).abs() < 0.1, "{name}: {row} {mean}");
    }
}

/// Each layer divides the requests of the one above, and the time of each operation.
#[test]
fn layers_have_the_same_sums() {
    let (_folder, table) = table("java17");
    let sums = |layer: &str| {
        let rows = json(&["profile", "--table", &table, "--layer", layer]);
        let mut sums = std::collections::BTreeMap::<String, (u64, f64)>::new();
        let is_one = |row: &&Value| {
            row["of"] == "all" && ["operation", "operation_self"].iter().any(|m| row["metric"] == **m)
        };
        for row in rows.as_array().expect("rows").iter().filter(is_one) {
            let sum = sums.entry(format!("{} {}", row["name"], row["metric"])).or_default();
            let count = row["count"].as_u64().expect("a number");
            let total = row["mean_us"].as_f64().expect("a number") * count as f64;
            *sum = (sum.0 + count, sum.1 + total);
        }
        sums
    };
    let first = sums("1");
    assert!(first.len() > 12, "several operations: {first:?}");
    for layer in ["2", "3", "4"] {
        let other = sums(layer);
        assert_eq!(first.keys().collect::<Vec<_>>(), other.keys().collect::<Vec<_>>());
        for (name, (count, total)) in &first {
            assert_eq!(*count, other[name].0, "{name} in layer {layer}");
            // Means are rounded to a tenth of a microsecond.
            assert!((total - other[name].1).abs() <= 0.1 * *count as f64, "{name} in layer {layer}");
        }
    }
}

#[test]
fn output_is_the_same_with_any_number_of_threads() {
    let (_folder, table) = table("java17");
    for rest in [
        &["--format", "json"] as &[&str],
        &["--layer", "4", "--format", "csv"],
        &["--critical-path", "--format", "csv"],
    ] {
        let of =
            |threads: &str| done(&[&["--threads", threads, "profile", "--table", &table], rest].concat());
        assert_eq!(of("1"), of("7"), "{rest:?}");
    }
}

#[test]
fn the_report_ends_in_lines_of_code() {
    let (_folder, table) = table("java17");
    let report = json(&["profile", "--table", &table]);
    let lines = report["lines"].as_array().expect("lines");
    assert!(!lines.is_empty());
    for line in lines {
        let low = line["mean_95_us"][0].as_f64().expect("a bound");
        let high = line["mean_95_us"][1].as_f64().expect("a bound");
        let mean = line["of_tree"]["mean_us"].as_f64().expect("a mean");
        assert!(low <= mean && mean <= high, "{line}");
        assert!(line["n_requests"].as_u64() >= Some(5), "{line}");
        let order = &line["orders"][0];
        let region = order["regions"][0]["region"].as_str().expect("a region of code");
        assert!(region.contains("line") || region.contains(':'), "{region}");
        let id = order["examples"][0]["request_id"].as_str().expect("an example");
        assert!(done(&["show", "request", "--table", &table, id]).contains(id));
    }
    let text = done(&["profile", "--table", &table]);
    assert!(text.starts_with("149 requests of 6 types"), "{text}");
    let without = json(&["profile", "--table", &table, "--no-regions"]);
    assert_eq!(without["lines"][0]["orders"][0]["regions"], Value::Array(Vec::new()));
}

/// What is on critical paths is all of the time of the requests of which all spans hang
/// together, and a path never more than the request.
#[test]
fn critical_paths_cover_requests() {
    let (_folder, table) = table("java17");
    let rows = json(&["profile", "--table", &table, "--critical-path"]);
    let mut shares = std::collections::BTreeMap::<String, f64>::new();
    for row in rows.as_array().expect("rows") {
        *shares.entry(row["request_type"].to_string()).or_default() +=
            row["share"].as_f64().expect("a share");
    }
    assert!(shares.len() >= 5, "{shares:?}");
    assert!(shares.iter().all(|(_, share)| (0.999..1.001).contains(share) || *share == 0.0), "{shares:?}");
}

#[test]
fn what_is_twice_as_quick_saves_at_most_half_of_it() {
    let (_folder, table) = table("java17");
    let of = |factor: &str| {
        let name = format!("ClientHandler.writeBlock -> AckResponder.run={factor}");
        let rows = json(&["profile", "--table", &table, "--speed-up", &name]);
        let is_it = |row: &&Value| row["request_type"] == "ClientHandler.writeBlock";
        let row = rows.as_array().expect("rows").iter().find(is_it).expect("a type").clone();
        let us = |name: &str| row[name].as_f64().expect("a time");
        (us("mean_us"), us("then_mean_us"))
    };
    let (now, same) = of("1x");
    assert!((now - same).abs() < 0.11, "{now} {same}");
    let (_, twice) = of("2x");
    assert!(twice < now && twice > now / 2.0, "{now} {twice}");
    let (_, slower) = of("0.5x");
    assert!(slower > now, "{now} {slower}");
}

#[test]
fn wrong_questions_are_told() {
    let (folder, table) = table("java17");
    fails(2, &["profile"], "--table <TABLE>");
    fails(2, &["profile", "--table", &table, "--layer", "5"], "5 is not in 1..=4");
    fails(2, &["profile", "--table", &table, "--tail", "100"], "expected a number between 0 and 100");
    fails(2, &["profile", "--table", &table, "--format", "parquet"], "table, json or csv");
    fails(1, &["profile", "--table", &table, "--speed-up", "No.such=2x"], "no operation `No.such`");
    fails(
        2,
        &["profile", "--table", &table, "--speed-up", "ClientHandler.readBlock"],
        "expected an operation",
    );
    fails(2, &["profile", "--table", &table, "--speed-up", "ClientHandler.readBlock=0x"], "and a factor");
    fails(1, &["profile", "--table", "nowhere"], "nowhere");
    let file = folder.path().join("x.json");
    std::fs::write(&file, "{\"a\": 1}").expect("a file");
    fails(1, &["profile", "--traces", &file.display().to_string()], "no trace of Jaeger, OTLP or Zipkin");
}

#[test]
fn tables_with_less_detail_have_profiles_of_less() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let jar = samples().join("classes/java17/store.jar").display().to_string();
    let logs = samples().join("logs").display().to_string();
    let table = |keep: &str| {
        let table = folder.path().join(keep).display().to_string();
        done(&["run", "--table", &table, "--keep", keep, &jar, &logs]);
        table
    };
    fails(1, &["profile", "--table", &table("requests")], "keeps no spans");
    let (spans, events) = (table("spans"), table("events"));
    let layer = |table: &str| done(&["profile", "--table", table, "--layer", "4", "--format", "csv"]);
    assert_eq!(layer(&spans), layer(&events));
    let report = json(&["profile", "--table", &spans]);
    assert_eq!(report["lines"][0]["orders"][0]["regions"], Value::Array(Vec::new()));
}

#[cfg(feature = "sql")]
#[test]
fn populations_are_conditions_on_requests() {
    let (_folder, table) = table("java17");
    let writes = "request_type = 'ClientHandler.writeBlock'";
    let report = json(&["profile", "--table", &table, "--where", writes]);
    assert_eq!(report["n_requests"], 48);
    let compared = json(&[
        "profile",
        "--table",
        &table,
        "--compare",
        &format!("{writes} AND n_nodes = 2"),
        &format!("{writes} AND n_nodes = 3"),
    ]);
    // Over three nodes each write has one more span of the next node, and of its responder.
    let first = &compared["one_sided"][0];
    assert_eq!(
        (&first["first"]["n"], &first["second"]["n"]),
        (&Value::from(0), &first["second"]["of"]),
        "{first}"
    );
    assert!(first["does"].as_str().is_some_and(|name| name.contains("3 times")), "{first}");
    assert_eq!(compared["release"], Value::Null, "both are of one table");
    fails(1, &["profile", "--table", &table, "--where", "no_such = 1"], "no_such");
    fails(1, &["profile", "--table", &table, "--where", "true); DROP TABLE requests; --"], "SQL error");
    fails(1, &["profile", "--table", &table, "--compare", "true", writes], "in both populations");
    fails(1, &["profile", "--table", &table, "--compare", "false", writes], "has no requests");
}

/// The page needs nothing beside it, and holds what the report and the requests that it names have.
#[test]
fn the_page_stands_alone() {
    let (folder, table) = table("java17");
    let page = folder.path().join("p.html");
    done(&["profile", "--table", &table, "--html", &page.display().to_string()]);
    let text = std::fs::read_to_string(&page).expect("a page");
    assert!(text.starts_with("<!doctype html>") && text.trim_end().ends_with("</html>"));
    let namespace = "http://www.w3.org/2000/svg";
    for never in ["http:", "https:", "src=\"", "/assets/"] {
        assert!(!text.replace(namespace, "").contains(never), "{never}");
    }
    let begin = text.split_once("id=\"answers\">").expect("answers").1;
    let answers: Value =
        serde_json::from_str(begin.split_once("</script>").expect("an end").0).expect("JSON");
    let report = json(&["profile", "--table", &table]);
    assert_eq!(answers["profile"]["report"], report, "as the command says");
    assert_eq!(answers["table"]["n_requests"], 149);
    // Each example is there, with what its logs say.
    let orders = report["lines"].as_array().expect("lines").iter().flat_map(|line| line["orders"].as_array());
    let examples = orders.flatten().flat_map(|order| order["examples"].as_array()).flatten();
    let ids: Vec<&str> = examples.filter_map(|of| of["request_id"].as_str()).collect();
    assert!(ids.len() > 10);
    for id in ids {
        let event = &answers[format!("requests/{id}")]["spans"][0]["events"][0];
        assert!(event["is_read"] == true && event["text"].as_str().is_some_and(|text| text.contains("INFO")));
    }
}

/// What takes the time of the region that a report ends in, against the source: between the
/// line that a write begins with and what comes next it connects to the next node, and then
/// waits for it.
#[test]
fn what_can_take_time_in_a_region_is_told() {
    let (_folder, table) = table("java17");
    let report = json(&["profile", "--table", &table]);
    let region = &report["lines"][0]["orders"][0]["regions"][0];
    assert_eq!(region["region"], "from ClientHandler.writeBlock:106 to the start of AckResponder.keep:78");
    let calls: Vec<&str> =
        region["can_take_time"].as_array().expect("calls").iter().filter_map(Value::as_str).collect();
    let source = std::fs::read_to_string(samples().join("source/store/blockstore/server/ClientHandler.java"));
    let source = source.expect("the source");
    let line = |text: &str| 1 + source.lines().position(|line| line.contains(text)).expect(text);
    let expected = [
        format!(
            "socket: new Downstream down to SocketFactory.createSocket, line {}",
            line("new Downstream(")
        ),
        format!("wait: BlockReceiver.receive down to BlockingQueue.put, line {}", line("new BlockReceiver(")),
    ];
    assert_eq!(calls[..2], expected);
    let text = done(&["profile", "--table", &table, "--top", "1"]);
    assert!(text.contains(&format!("can take time: {}; {}", expected[0], expected[1])), "{text}");
}

/// A tail that does what the others never do: told first, with the counts that it was made with.
#[test]
fn a_retry_of_the_tail_is_told() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let span = |trace: u32, id: &str, parent: &str, name: &str, start: u32, duration: u32| {
        format!(
            r#"{{"traceId": "t{trace}", "id": "{id}", "parentId": "{parent}", "name": "{name}", "timestamp": {start}, "duration": {duration}}}"#
        )
    };
    let mut spans = Vec::new();
    for trace in 0..100 {
        let is_slow = trace % 10 == 3;
        spans.push(span(trace, "a", "", "get", 1_000, if is_slow { 900 } else { 100 + trace }));
        spans.push(span(trace, "b", "a", "ask", 1_010, 50));
        if is_slow {
            spans.push(span(trace, "c", "a", "ask", 1_500, 50));
        }
    }
    let file = folder.path().join("z.json");
    std::fs::write(&file, format!("[{}]", spans.join(","))).expect("a file");
    let report = json(&["profile", "--traces", &file.display().to_string()]);
    let told = &report["differences"][0];
    assert_eq!(
        (&told["request_type"], &told["does"]),
        (&Value::from("get"), &Value::from("ask 2 times or more"))
    );
    assert_eq!(
        (&told["tail"]["n"], &told["tail"]["of"], &told["normal"]["n"]),
        (&10.into(), &10.into(), &0.into())
    );
    // 450 µs between the two, and 350 after them.
    let line = &report["lines"][0];
    assert_eq!((&line["name"], &line["is_tail"]), (&Value::from("get"), &Value::from(true)), "{line}");
    assert_eq!((&line["part"], &line["child"]), (&Value::from("before_child"), &Value::from(1)), "{line}");
    assert_eq!(line["of_tree"]["mean_us"], 440.0, "{line}");
}

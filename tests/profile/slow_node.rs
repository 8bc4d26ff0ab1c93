//! A diagnosis: the sample's logs with a node that gets slow in the middle, from the chart over time down
//! to the node and its lines, as `samples/diagnosis/README.md` tells it.

use std::collections::BTreeMap;
use std::path::Path;

use super::{done, json, samples};

/// The node, from when on, and by how much what it keeps comes later.
const SLOW: &str = "c";
const FROM_MS: i64 = ((12 * 60 + 15) * 60 + 5) * 1_000;
const DELAY_MS: i64 = 40;
const NODES: [&str; 3] = ["a", "b", "c"];
/// What is said of the time before and after.
#[cfg(feature = "sql")]
const BEFORE: &str = "start_ts < '2026-11-21 12:15:05'";
#[cfg(feature = "sql")]
const AFTER: &str = "start_ts >= '2026-11-21 12:15:05'";

/// Milliseconds of the day of a line that begins with a time.
fn millis(line: &str) -> Option<i64> {
    let clock = line.get(11..23).filter(|_| line.starts_with("2026-"))?;
    let number = |from: usize, to: usize| clock[from..to].parse::<i64>().ok();
    Some(((number(0, 2)? * 60 + number(3, 5)?) * 60 + number(6, 8)?) * 1_000 + number(9, 12)?)
}

/// `block-1:v1` after `before`.
fn block<'l>(line: &'l str, before: &str) -> Option<&'l str> {
    let rest = &line[line.find(before)? + before.len()..];
    rest.split([' ', ',']).next()
}

/// When each block was written, and which nodes passed it on, from the first to the last.
fn writes(logs: &BTreeMap<&str, String>) -> BTreeMap<String, Vec<(i64, Vec<String>)>> {
    let mut writes: BTreeMap<String, Vec<(i64, Vec<String>)>> = BTreeMap::new();
    for (node, text) in logs {
        for line in text.lines().filter(|line| line.contains(" as HEAD")) {
            let (Some(ms), Some(block)) = (millis(line), block(line, "Receiving ")) else { continue };
            let then = line.split_once("then [").and_then(|(_, rest)| rest.split_once(']'));
            let others = then.into_iter().flat_map(|(nodes, _)| nodes.split(", "));
            let nodes = std::iter::once(*node).chain(others).map(str::to_owned).collect();
            writes.entry(block.to_owned()).or_default().push((ms, nodes));
        }
    }
    writes.values_mut().for_each(|of| of.sort());
    writes
}

/// The log of `node` as it is if `SLOW` is slow to keep blocks: what it says of a block that it has kept
/// comes later, and so does what the nodes before it say, which wait for it.
fn delayed(node: &str, text: &str, writes: &BTreeMap<String, Vec<(i64, Vec<String>)>>) -> String {
    let mut records: Vec<(i64, String)> = Vec::new();
    for line in text.lines() {
        let Some(ms) = millis(line) else {
            let last = records.last_mut().expect("a record");
            last.1.push_str(&format!("\n{line}"));
            continue;
        };
        let kept =
            ["Stored WrittenReplica[", ": AckResponder of "].into_iter().find_map(|text| block(line, text));
        let write = kept.and_then(|block| writes.get(block)?.iter().rfind(|(from, _)| *from <= ms));
        let place = |nodes: &[String], name: &str| nodes.iter().position(|node| node == name);
        let waits = write.is_some_and(|(from, nodes)| match (place(nodes, node), place(nodes, SLOW)) {
            (Some(this), Some(slow)) => this <= slow && *from >= FROM_MS,
            _ => false,
        });
        records.push((ms + if waits { DELAY_MS } else { 0 }, line[23..].to_owned()));
    }
    records.sort_by_key(|(ms, _)| *ms);
    let record = |(ms, rest): &(i64, String)| {
        let (h, m, s) = (ms / 3_600_000, ms / 60_000 % 60, ms / 1_000 % 60);
        format!("{} {h:02}:{m:02}:{s:02},{:03}{rest}\n", &text[..10], ms % 1_000)
    };
    records.iter().map(record).collect()
}

/// They are kept beside the page that tells of them; `LPROF_UPDATE_DIAGNOSIS=1` writes them.
#[test]
fn its_logs_are_the_samples_with_a_slow_node() {
    let read = |folder: &Path, node: &str| {
        let path = folder.join(format!("{node}.log"));
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    let logs = NODES.map(|node| (node, read(&samples().join("logs"), node))).into();
    let writes = writes(&logs);
    assert_eq!(writes.values().map(Vec::len).sum::<usize>(), 48, "as many as are written");
    let kept = samples().join("diagnosis/logs");
    for (node, text) in &logs {
        let delayed = delayed(node, text, &writes);
        assert_eq!(delayed.lines().count(), text.lines().count());
        if std::env::var_os("LPROF_UPDATE_DIAGNOSIS").is_some() {
            std::fs::create_dir_all(&kept).expect("a folder");
            std::fs::write(kept.join(format!("{node}.log")), &delayed).expect("a log");
        }
        assert!(read(&kept, node) == delayed, "{node}.log: LPROF_UPDATE_DIAGNOSIS=1 writes it");
    }
}

#[test]
fn the_walk_ends_at_the_slow_node() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let table = folder.path().join("t").display().to_string();
    let jar = samples().join("classes/java17/store.jar").display().to_string();
    let logs = samples().join("diagnosis/logs").display().to_string();
    done(&["run", "-q", "--table", &table, &jar, &logs]);
    // The profile names what most of the time is.
    let report = json(&["profile", "--table", &table]);
    let first = &report["lines"][0];
    assert_eq!(first["name"], "ClientHandler.writeBlock -> AckResponder.run");
    assert_eq!(report["n_requests"], 149, "requests hold together");
    #[cfg(feature = "sql")]
    by_sql(&table);
}

#[cfg(feature = "sql")]
fn by_sql(table: &str) {
    use serde_json::Value;

    let sql = |query: &str| -> Vec<Value> {
        let rows = json(&["sql", "--table", table, query]);
        rows.as_array().expect("rows").clone()
    };
    // The chart: writes get slow.
    let p50 = |when: &str| {
        let query = format!(
            "SELECT approx_percentile_cont(duration_us, 0.5) AS p50 FROM requests \
             WHERE request_type = 'ClientHandler.writeBlock' AND {when}"
        );
        sql(&query)[0]["p50"].as_f64().expect("a number")
    };
    assert!(p50(BEFORE) < 15_000.0 && p50(AFTER) > 45_000.0, "{} {}", p50(BEFORE), p50(AFTER));
    // What differs is one region, which says where in the code.
    let report = json(&["profile", "--table", table, "--compare", BEFORE, AFTER]);
    let changes = report["changes"].as_array().expect("changes");
    let regions: Vec<&Value> = changes
        .iter()
        .flat_map(|of| of["regions"].as_array().expect("regions"))
        .map(|of| &of["what"])
        .collect();
    assert_eq!(regions, ["from ClientHandler.writeBlock:106 to the start of AckResponder.keep:78"]);
    // They go the same way through the code: the same log sequence.
    let ways = sql(&format!(
        "SELECT DISTINCT log_sequence_id FROM requests WHERE request_type = 'ClientHandler.writeBlock' AND {AFTER}"
    ));
    assert_eq!(ways.len(), 1);
    // Only the slow node always takes long between these lines.
    let least = sql(include_str!("../../samples/diagnosis/nodes.sql"));
    let of = |node: &str| {
        let row = least.iter().find(|row| row["node"] == node).expect("a node");
        row["least_ms"].as_f64().expect("a number")
    };
    assert!(of("a") < 20.0 && of("b") < 20.0 && of("c") >= 40.0, "{least:?}");
}

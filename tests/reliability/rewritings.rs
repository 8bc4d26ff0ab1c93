//! The sample's logs as others have them, in wrappers, layouts, time stamps and folders: what is
//! known of the sample is what must be read of each, or its place and what to do is said. And the
//! same, broken.

#[path = "rewritings/cases.rs"]
mod cases;
#[path = "rewritings/folders.rs"]
mod folders;
#[path = "rewritings/json_layouts.rs"]
mod json_layouts;
#[path = "rewritings/sample_log.rs"]
mod sample_log;
#[path = "rewritings/text_layouts.rs"]
mod text_layouts;
#[path = "rewritings/wrapped.rs"]
mod wrapped;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::command::{done, lprof, samples};
use crate::random::{fuzz, model};
use cases::{Case, NODES, cases};
use sample_log::Sample;
use text_layouts::Keeps;

/// The records of a table: node, time and log point of each, with the request it is of.
type Records = Vec<(usize, i64, String, String)>;

fn records(table: &Path, nodes: [&str; 3]) -> Result<Records, String> {
    let table = lprof::Table::open(table).map_err(|e| format!("{e:#}"))?;
    let mut out = Records::new();
    for request in table.requests(&lprof::Filter::All).map_err(|e| format!("{e:#}"))? {
        let request = request.map_err(|e| format!("{e:#}"))?;
        for (span, event) in
            request.spans().iter().flat_map(|span| span.events.iter().map(move |e| (span, e)))
        {
            let node = nodes.iter().position(|node| *node == &*span.row.node);
            let node = node.ok_or_else(|| format!("a node `{}`", span.row.node))?;
            let point = format!("{:?}", event.log_point_id);
            out.push((node, event.ts.0, point, request.row().request_id.to_string()));
        }
    }
    out.sort();
    Ok(out)
}

/// How the records that were read differ from those of the sample; none: they do not.
fn difference(case: &Case, found: &Records, expected: &Records) -> Option<String> {
    let tick_us = match case.keeps {
        Keeps::Milliseconds | Keeps::Records => 1000,
        Keeps::Seconds => 1_000_000,
        Keeps::Nothing => i64::MAX,
    };
    let count = |records: &Records| {
        let mut counts: BTreeMap<(usize, i64, String), i64> = BTreeMap::new();
        for (node, us, point, _) in records {
            *counts.entry((*node, us / tick_us, point.clone())).or_default() += 1;
        }
        counts
    };
    let (ours, theirs) = (count(found), count(expected));
    let n_same: i64 = ours.iter().map(|(key, n)| *n.min(theirs.get(key).unwrap_or(&0))).sum();
    let of = |records: &Records| {
        let ids: BTreeSet<&str> = records.iter().map(|(.., id)| id.as_str()).collect();
        ids.len()
    };
    if n_same as usize == expected.len() && found.len() == expected.len() {
        let is_same = case.keeps != Keeps::Milliseconds || of(found) == of(expected);
        return (!is_same).then(|| format!("{} requests, not {}", of(found), of(expected)));
    }
    Some(format!(
        "{} records, {n_same} of {} as they are, {} requests",
        found.len(),
        expected.len(),
        of(found)
    ))
}

/// Runs a case; what is wrong with it.
fn run(case: &Case, sample: &Sample, model: &str, expected: &Records) -> Option<String> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let logs = folder.path().join("logs");
    for (name, bytes) in (case.write)(sample) {
        let path = logs.join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a temporary folder");
        std::fs::write(path, bytes).expect("a file in a temporary folder");
    }
    let table = folder.path().join("t");
    let (table_name, logs) = (table.display().to_string(), logs.display().to_string());
    let mut arguments = vec!["run", "--table", &table_name, "--model", model];
    arguments.extend(&case.flags);
    arguments.push(&logs);
    let ran = lprof(&arguments);
    let said = String::from_utf8_lossy(&ran.stderr).into_owned();
    let told = case.said.is_some_and(|words| said.contains(words));
    if !ran.status.success() {
        return (!told).then(|| format!("refused: {}", said.trim().replace('\n', " / ")));
    }
    let found = match records(&table, case.nodes) {
        Ok(found) => found,
        Err(_) if told => return None,
        Err(why) => return Some(format!("{why}; {}", said.trim().replace('\n', " / "))),
    };
    let why = difference(case, &found, expected)?;
    (!told || case.said.is_none()).then(|| format!("{why}; {}", said.trim().replace('\n', " / ")))
}

/// Runs all cases whose names hold what `CASE` says, if anything, and fails with those that are wrong.
fn run_all(cases: &[Case]) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let model = folder.path().join("model").display().to_string();
    let jar = samples().join("classes/java17/store.jar").display().to_string();
    done(&["analyze", &jar, "-o", &model]);
    let table = folder.path().join("t");
    done(&[
        "run",
        "--table",
        &table.display().to_string(),
        "--model",
        &model,
        &samples().join("logs").display().to_string(),
    ]);
    let expected = records(&table, NODES).expect("the sample's table");
    assert!(expected.len() > 600, "the sample has records");
    let sample = Sample::read();
    let wanted = std::env::var("CASE").unwrap_or_default();
    let mut wrong = Vec::new();
    let mut n = 0;
    for case in cases.iter().filter(|case| case.name.contains(&wanted)) {
        n += 1;
        if let Some(why) = run(case, &sample, &model, &expected) {
            wrong.push(format!("{}: {why}", case.name));
        }
    }
    assert!(wrong.is_empty(), "{} of {n} are wrong\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn the_same_requests_are_read_of_each() {
    run_all(&cases());
}

/// The start of each way in which the sample's logs are written.
fn logs() -> Vec<Vec<u8>> {
    let start = |bytes: Vec<u8>| {
        let ends = bytes.iter().enumerate().filter(|(_, b)| **b == b'\n').map(|(at, _)| at + 1);
        let end = ends.take(24).last().unwrap_or(bytes.len());
        bytes[..end].to_vec()
    };
    let sample = Sample::read();
    cases()
        .iter()
        .filter_map(|case| (case.write)(&sample).into_iter().next())
        .map(|(_, bytes)| start(bytes))
        .collect()
}

#[test]
fn logs_in_every_layout_and_wrapper() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (_, model) = model(folder.path());
    let patterns = log_mapper::PatternSet::new(&model);
    let config = log_mapper::Config::new("n");
    fuzz(&logs(), &mut |bytes| {
        let source = log_mapper::Source::bytes("x.log", bytes);
        let sources = log_mapper::look(vec![source], &patterns, &config).expect("in memory").concat();
        for source in sources {
            let output = log_mapper::map(&model, &patterns, &[source], &config, &|_| {}).expect("in memory");
            assert_eq!(output.inputs.len(), 1);
        }
    });
}

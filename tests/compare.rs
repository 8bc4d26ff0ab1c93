//! `lprof compare`: two tables of the same requests do not differ, whatever release made them; what a
//! release changed is told.

#[path = "support/command.rs"]
mod command;
#[path = "support/sample.rs"]
mod sample;

use std::path::Path;

use command::{done, fails, samples};
use sample::table;
use schema::Model;
use serde_json::Value;

#[track_caller]
fn compared(first: &str, second: &str) -> Value {
    let text = done(&["compare", first, second, "--format", "json"]);
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// A table of the sample's logs, after `edit` of each of them, with the model in `model`.
fn table_of(folder: &Path, model: &Path, edit: impl Fn(String) -> String) -> String {
    let logs = folder.join("logs");
    std::fs::create_dir_all(&logs).expect("a folder");
    for name in ["a.log", "b.log", "c.log"] {
        let text = std::fs::read_to_string(samples().join("logs").join(name)).expect("a log");
        std::fs::write(logs.join(name), edit(text)).expect("a log");
    }
    let table = folder.join("table").display().to_string();
    let logs = logs.display().to_string();
    done(&["run", "--table", &table, "--model", &model.display().to_string(), &logs]);
    table
}

#[test]
fn the_same_code_built_by_two_compilers_does_not_differ() {
    let (_first, before) = table("java8");
    let (_second, after) = table("java21");
    let found = compared(&before, &after);
    for part in ["one_sided", "sequences", "changes", "warnings"] {
        assert_eq!(found[part], Value::Array(Vec::new()), "{part}");
    }
    let release = &found["release"];
    assert_eq!((&release["n_only_first"], &release["n_only_second"]), (&Value::from(0), &Value::from(0)));
    for of in found["types"].as_array().expect("types") {
        assert_eq!(of["first"], of["second"], "{of}");
        let n = of["first"]["n"].as_u64().expect("a number");
        for (figure, n_min) in [("mean", 2), ("p50", 6), ("p99", 368)] {
            let bounds = &of[figure];
            let expected =
                if n >= n_min { (Value::from(0.0), Value::from(false)) } else { Default::default() };
            assert_eq!((&bounds["us"], &bounds["is_sure"]), (&expected.0, &expected.1), "{figure} of {n}");
        }
    }
}

/// A release in which lines have moved, a message has other words, and a class has another name.
#[test]
fn a_release_is_told_in_the_words_of_the_next_one() {
    let scratch = tempfile::tempdir().expect("a temporary folder");
    let folder = scratch.path();
    let (first, second) = (folder.join("first.model"), folder.join("second.model"));
    let jar = samples().join("classes/java17/store.jar").display().to_string();
    done(&["analyze", &jar, "-o", &first.display().to_string()]);
    let mut model = Model::read(&first).expect("a model");
    let renamed = |class: &str| class.replace("ClientHandler", "RequestHandler");
    let reworded = |text: &str| text.replace("Served ", "Delivered ");
    let n_reworded = model.log_points.iter().filter(|p| p.templates[0].regex.contains("Served ")).count();
    assert!(n_reworded > 0);
    for point in &mut model.log_points {
        point.source_line += 7;
        point.class = renamed(&point.class);
        point.loggers.iter_mut().for_each(|logger| *logger = renamed(logger));
        point.templates.iter_mut().for_each(|template| template.regex = reworded(&template.regex));
    }
    model.top_level_methods.iter_mut().for_each(|method| method.class = renamed(&method.class));
    model.write(&second).expect("a model");
    let before = table_of(&folder.join("before"), &first, |text| text);
    let after = table_of(&folder.join("after"), &second, |text| renamed(&reworded(&text)));
    let found = compared(&before, &after);
    let release = &found["release"];
    assert_eq!(release["n_reworded"], n_reworded, "{release}");
    assert!(release["n_moved"].as_u64() > Some(0), "{release}");
    assert_eq!((&release["n_only_first"], &release["n_only_second"]), (&Value::from(0), &Value::from(0)));
    let names: Vec<(&str, &str)> = release["renamed"]
        .as_array()
        .expect("names")
        .iter()
        .map(|of| (of["first"].as_str().expect("a name"), of["second"].as_str().expect("a name")))
        .collect();
    assert!(names.contains(&("ClientHandler.writeBlock", "RequestHandler.writeBlock")), "{names:?}");
    for part in ["one_sided", "sequences", "changes"] {
        assert_eq!(found[part], Value::Array(Vec::new()), "{part}");
    }
    let types: Vec<&Value> = found["types"].as_array().expect("types").iter().collect();
    assert!(types.iter().all(|of| of["first"] == of["second"]), "{types:?}");
}

/// Every form of the output, for people and for programs, has what differs.
#[test]
fn forms_of_the_output() {
    let scratch = tempfile::tempdir().expect("a temporary folder");
    let model = scratch.path().join("m");
    let jar = samples().join("classes/java17/store.jar").display().to_string();
    done(&["analyze", &jar, "-o", &model.display().to_string()]);
    let before = table_of(&scratch.path().join("before"), &model, |text| text);
    // Nobody asks for a block to be deleted any more.
    let after = table_of(&scratch.path().join("after"), &model, |text| {
        let kept = text
            .lines()
            .filter(|line| !["Scheduling ", "Released ", "Deleted "].iter().any(|it| line.contains(it)));
        kept.map(|line| format!("{line}\n")).collect()
    });
    let text = done(&["compare", &before, &after]);
    assert!(text.starts_with(&format!("first   {before}: 149 requests, 2026-11-21T12:15:0")), "{text}");
    assert!(text.contains("ClientHandler.deleteBlock"), "{text}");
    let csv = done(&["compare", &before, &after, "--format", "csv"]);
    let header = "differs,request_type,what,first,second,difference,low,high,chance,n_first,n_second";
    assert_eq!(csv.lines().next(), Some(header));
    let row = csv.lines().find(|line| line.starts_with("p50_us,ClientHandler.deleteBlock")).expect("a row");
    assert!(row.ends_with(",,,,,,15,0"), "there is none in the second: {row}");
    for threads in ["1", "7"] {
        let json = done(&["--threads", threads, "compare", &before, &after, "--format", "json"]);
        let found: Value = serde_json::from_str(&json).expect("JSON");
        assert_eq!(found, compared(&before, &after));
    }
}

#[test]
fn bad_tables_and_flags() {
    let (_folder, table) = table("java17");
    fails(1, &["compare", &table, "no-such-table"], "no-such-table");
    fails(2, &["compare", &table], "SECOND");
    fails(2, &["compare", &table, &table, "--format", "parquet"], "json or csv");
    #[cfg(feature = "sql")]
    fails(1, &["compare", &table, &table, "--where", "false"], "has no requests");
    #[cfg(not(feature = "sql"))]
    fails(1, &["compare", &table, &table, "--where", "true"], "without SQL");
}

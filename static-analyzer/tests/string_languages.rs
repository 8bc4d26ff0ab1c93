//! What the code can print, and what the templates say it can: both languages
//! must be equal, for every log call of the fixtures and every compiler.
//!
//! Where they are not, `fixtures/strings/expected_inexact.txt` says so and why:
//! a sink that gets worse fails, one that gets better must leave the list.
//! Set `STRING_LANGUAGES_REPORT` to a file name to get the whole table.

use std::collections::BTreeMap;
use std::fmt::Write as _;

#[path = "string_languages/language.rs"]
mod language;
#[path = "string_languages/sinks.rs"]
mod sinks;

use static_analyzer::call_graph::programs::Programs;
use static_analyzer::{call_graph, log_points, program};

use language::Language;
use sinks::{Sink, Verdict};

/// Compiled sinks and how many of them are exact; to be raised when the string
/// analysis learns something.
const COUNTS: [(&str, usize, usize); 4] =
    [("8", 558, 530), ("11", 558, 530), ("17", 573, 545), ("21", 578, 549)];

struct Found {
    verdict: Verdict,
    detail: String,
}

/// Regexes of all templates, by the place of the log call. A wrapper's template
/// belongs to the statement that prints.
fn templates(release: &str) -> BTreeMap<Sink, Vec<String>> {
    let classes = sinks::folder().join("classes").join(release);
    let program = program::load(&[classes], &Default::default()).expect("readable classes");
    let mut all: BTreeMap<Sink, Vec<String>> = BTreeMap::new();
    let graph = call_graph::build(&program);
    for point in log_points::log_points_in(&program, &Programs::find(&program, &graph)) {
        let class = &program.classes[program.methods[point.method.index()].class.index()];
        let file = class.source_file.expect("compiled with source names").to_string();
        let regexes = point.templates.into_iter().map(|t| t.regex);
        all.entry((file, point.source_line)).or_default().extend(regexes);
    }
    all
}

fn judge(wanted: &str, templates: Option<&Vec<String>>) -> Found {
    let Some(templates) = templates.filter(|t| !t.is_empty()) else {
        return Found { verdict: Verdict::Missing, detail: String::new() };
    };
    let truth = Language::union(&[wanted]).expect("a valid expectation");
    let ours = match Language::union(templates) {
        Ok(ours) => ours,
        Err(e) => return Found { verdict: Verdict::Narrow, detail: format!("no regex: {e}") },
    };
    let difference = ours.difference(&truth);
    let mut detail = format!("ours `{}`", templates.join("` | `").replace('\n', "\\n"));
    for (what, witness) in [("too wide", &difference.too_wide), ("too narrow", &difference.too_narrow)] {
        if let Some(witness) = witness {
            write!(detail, "; {what}: {witness:?}").expect("strings take all");
        }
    }
    let verdict = match (difference.too_wide, difference.too_narrow) {
        (_, Some(_)) => Verdict::Narrow,
        (Some(_), None) => Verdict::Wide,
        (None, None) => Verdict::Exact,
    };
    Found { verdict, detail }
}

fn check(release: &str, n_sinks: usize, n_exact: usize) {
    let wanted = sinks::wanted(release);
    let names = sinks::names(&wanted);
    let templates = templates(release);
    let mut expected = sinks::expected(release);
    let (mut report, mut wrong) = (String::new(), Vec::new());
    let mut exact = 0;
    for (sink, regex) in &wanted {
        let found = judge(regex, templates.get(sink));
        let name = &names[sink];
        let line =
            format!("{}\t{name}\t{}:{}\t`{regex}`\t{}", found.verdict.name(), sink.0, sink.1, found.detail);
        exact += usize::from(found.verdict == Verdict::Exact);
        let known = expected.remove(name).unwrap_or_else(|| "exact".to_string());
        if known != found.verdict.name() {
            wrong.push(format!("expected {known}, got {line}"));
        }
        writeln!(report, "{release}\t{line}").expect("strings take all");
    }
    wrong.extend(expected.keys().map(|name| format!("no such sink: `{name}`")));
    if let Ok(path) = std::env::var("STRING_LANGUAGES_REPORT") {
        std::fs::write(format!("{path}.{release}"), &report).expect("a writable report");
    }
    let summary = format!("Java {release}: {exact} of {} sinks exact", wanted.len());
    assert!(wrong.is_empty(), "{summary}; the list is wrong about {}:\n{}", wrong.len(), wrong.join("\n"));
    assert_eq!((wanted.len(), exact), (n_sinks, n_exact), "{summary}; the table of counts says otherwise");
}

#[test]
fn java_8_prints_what_the_templates_say() {
    let (release, n_sinks, n_exact) = COUNTS[0];
    check(release, n_sinks, n_exact);
}

#[test]
fn java_11_prints_what_the_templates_say() {
    let (release, n_sinks, n_exact) = COUNTS[1];
    check(release, n_sinks, n_exact);
}

#[test]
fn java_17_prints_what_the_templates_say() {
    let (release, n_sinks, n_exact) = COUNTS[2];
    check(release, n_sinks, n_exact);
}

#[test]
fn java_21_prints_what_the_templates_say() {
    let (release, n_sinks, n_exact) = COUNTS[3];
    check(release, n_sinks, n_exact);
}

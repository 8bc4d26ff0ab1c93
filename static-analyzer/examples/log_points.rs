//! Prints the log points of jars: `log_points [--grep TEXT | --count | --calls | --stats] JAR...`;
//! `--count` counts the logging calls, `--calls` lists them, `--stats` says how well values are named.
#![allow(clippy::print_stdout, reason = "it is a command")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Instant;

use static_analyzer::class_path::Config;
use static_analyzer::log_points::{log_points, logging_calls, print};
use static_analyzer::path::{LogPoint, Root};
use static_analyzer::program::MethodId;

fn main() -> Result<(), static_analyzer::error::Error> {
    let mut args = std::env::args().skip(1).peekable();
    let mode = args.next_if(|a| a.starts_with("--")).unwrap_or_default();
    let grep = if mode == "--grep" { args.next().unwrap_or_default() } else { String::new() };
    let paths: Vec<PathBuf> = args.map(PathBuf::from).collect();
    let start = Instant::now();
    let program = static_analyzer::program::load(&paths, &Config::default())?;
    let loaded = start.elapsed();
    if mode == "--count" {
        let calls = logging_calls(&program);
        let entry = |m: &MethodId| program.classes[program.methods[m.index()].class.index()].entry;
        for (i, input) in program.entries.iter().enumerate() {
            let here: Vec<_> = calls.iter().filter(|(m, ..)| entry(m) == i).collect();
            let lines: BTreeSet<_> = here
                .iter()
                .map(|(m, _, line)| {
                    let method = &program.methods[m.index()];
                    (method.class, method.name, *line)
                })
                .collect();
            println!("{} {} / {}", input.name, here.len(), lines.len());
        }
        return Ok(());
    }
    if mode == "--calls" {
        for (m, pc, line) in logging_calls(&program) {
            let method = &program.methods[m.index()];
            let class = program.classes[method.class.index()].name;
            println!("{class}.{}{} {pc} {line}", method.name, method.descriptor);
        }
        return Ok(());
    }
    let start = Instant::now();
    let points = log_points(&program);
    eprintln!("load {loaded:?}, log points {:?}: {}", start.elapsed(), points.len());
    if mode == "--stats" {
        stats(&points);
        return Ok(());
    }
    for point in &points {
        let text = print(&program, point);
        if text.contains(&grep) {
            println!("{text}");
        }
    }
    Ok(())
}

fn stats(points: &[LogPoint]) {
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    let mut texts: BTreeMap<String, usize> = BTreeMap::new();
    let (mut all, mut named, mut classed, mut bare) = (0, 0, 0, 0);
    let (mut unknown_logger, mut longest) = (0, 0);
    // Values of statements alone, without the callers of wrappers.
    let mut statements = (0, 0);
    for point in points {
        unknown_logger += usize::from(point.loggers.is_empty());
        longest = longest.max(point.templates.iter().map(|t| t.regex.len()).max().unwrap_or(0));
        bare += usize::from(point.templates.iter().all(|t| !t.regex.chars().any(char::is_alphabetic)));
        if point.levels.iter().any(|&l| l < schema::Level::Info) {
            continue;
        }
        let named_here = point.variables.iter().filter(|v| v.path.is_some()).count();
        if point.call_line.is_none() {
            statements = (statements.0 + point.variables.len(), statements.1 + named_here);
        }
        for variable in &point.variables {
            all += 1;
            classed += usize::from(variable.value_class.is_some());
            match &variable.path {
                Some(path) => {
                    named += 1;
                    let root = match path.root {
                        Root::Param(_) => "parameter",
                        Root::Static(_) => "static",
                        Root::Local(_) => "local",
                    };
                    *kinds
                        .entry(format!("{root} {}", if path.steps.is_empty() { "itself" } else { "path" }))
                        .or_default() += 1;
                }
                None => *texts.entry(variable.text.clone()).or_default() += 1,
            }
        }
    }
    println!("INFO and above: {all} values, {named} with a path, {classed} with a value class; {kinds:?}");
    println!("without callers of wrappers: {} values, {} with a path", statements.0, statements.1);
    println!(
        "without constant {bare}, logger unknown {unknown_logger} of {}, longest regex {longest}",
        points.len()
    );
    let mut texts: Vec<(String, usize)> = texts.into_iter().collect();
    texts.sort_by_key(|t| std::cmp::Reverse(t.1));
    for (text, count) in texts.iter().take(40) {
        println!("  {count} {text}");
    }
}

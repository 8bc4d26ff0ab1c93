//! Prints the log points of jars: `log_points [--grep TEXT] JAR...`.
#![allow(clippy::print_stdout, reason = "a tool for people")]

use std::path::PathBuf;
use std::time::Instant;

use static_analyzer::class_path::Config;

fn main() {
    let mut args: Vec<String> = std::env::args().skip(1).collect();
    let mut grep = String::new();
    if args.first().is_some_and(|a| a == "--grep") {
        grep = args.remove(1);
        args.remove(0);
    }
    let count = args.first().is_some_and(|a| a == "--count");
    if count {
        args.remove(0);
    }
    let paths: Vec<PathBuf> = args.iter().map(PathBuf::from).collect();
    let start = Instant::now();
    let program = static_analyzer::program::load(&paths, &Config::default()).unwrap_or_else(|e| panic!("{e}"));
    let loaded = start.elapsed();
    if count {
        for (entry, (calls, lines)) in program.entries.iter().zip(static_analyzer::log_points::count_calls(&program)) {
            println!("{} {calls} / {lines}", entry.name);
        }
        return;
    }
    let start = Instant::now();
    let points = static_analyzer::log_points::log_points(&program);
    eprintln!("load {loaded:?}, log points {:?}: {}", start.elapsed(), points.len());
    for point in &points {
        let text = static_analyzer::log_points::print(&program, point);
        if text.contains(&grep) {
            println!("{text}");
        }
    }
}

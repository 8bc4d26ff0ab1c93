//! Prints what an analysis finds: counts, and with `--top TEXT` or `--pairs TEXT`
//! the top-level methods or pairs whose names contain the text.
//!
//! `cargo run -p static-analyzer --example inspect -- [--top TEXT] [--pairs TEXT] [-o MODEL] JAR|DIR ...`
#![allow(clippy::print_stdout, reason = "it is a command")]

use std::path::{Path, PathBuf};
use std::time::Instant;

use schema::{Model, TopLevelMethod};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut class_path: Vec<PathBuf> = Vec::new();
    let (mut tops, mut pairs, mut points) = (None, None, None);
    let mut output: Option<PathBuf> = None;
    let mut config = static_analyzer::Config::default();
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--top" => tops = words.next(),
            "--pairs" => pairs = words.next(),
            "--points" => points = words.next(),
            "--threads" => config.threads = words.next().and_then(|n| n.parse().ok()),
            "-o" => output = words.next().map(PathBuf::from),
            _ => class_path.push(PathBuf::from(word)),
        }
    }
    let saved = class_path.len() == 1 && class_path[0].extension().is_some_and(|e| e == "lprof");
    let start = Instant::now();
    let model =
        if saved { Model::read(&class_path[0])? } else { static_analyzer::analyze(&class_path, &config)? };
    println!("time            {:?}", start.elapsed());
    summary(&model);
    if let Some(path) = output {
        model.write(&path)?;
        println!("model bytes     {}", std::fs::metadata(Path::new(&path))?.len());
    }
    for top in model.top_level_methods.iter().filter(|t| wanted(&tops, &[&name(t)])) {
        print_top(&model, top);
    }
    for pair in &model.communication_pairs {
        let (from, to) =
            (&model.top_level_methods[pair.from.index()], &model.top_level_methods[pair.to.index()]);
        if wanted(&pairs, &[&name(from), &name(to)]) {
            let identifiers: Vec<String> = pair
                .identifiers
                .iter()
                .map(|(a, b)| {
                    format!("{}={}", from.identifiers[a.index()].path, to.identifiers[b.index()].path)
                })
                .collect();
            let many = if pair.many { "*" } else { "" };
            println!(
                "{} -> {}{many} {} [{}] before {} : {}",
                name(from),
                name(to),
                pair.kind.name(),
                identifiers.join(", "),
                pair.before.len(),
                pair.reason
            );
        }
    }
    for point in model.log_points.iter().filter(|p| wanted(&points, &[&format!("{}.{}", p.class, p.method)]))
    {
        println!(
            "{}.{}:{} {:?} {:?} {:?}",
            point.class, point.method, point.source_line, point.levels, point.templates, point.variables
        );
    }
    Ok(())
}

fn wanted(filter: &Option<String>, names: &[&str]) -> bool {
    filter.as_ref().is_some_and(|f| names.iter().any(|n| n.contains(f.as_str())))
}

fn name(top: &TopLevelMethod) -> String {
    format!("{}.{}", top.class, top.method)
}

fn summary(model: &Model) {
    println!("classes         {}", model.inputs.iter().map(|i| i.n_classes).sum::<u32>());
    println!("log points      {}", model.log_points.len());
    println!("top-level       {}", model.top_level_methods.len());
    println!("pairs           {}", model.communication_pairs.len());
    println!("value classes   {}", model.value_classes.len());
    println!("threads         {} (silent {})", model.n_threads, model.silent_threads.len());
    println!(
        "dag points      {}",
        model.top_level_methods.iter().flat_map(|t| &t.dag.nodes).map(|n| n.points.len()).sum::<usize>()
    );
    println!(
        "dag edges       {}",
        model.top_level_methods.iter().flat_map(|t| &t.dag.nodes).map(|n| n.next.len()).sum::<usize>()
    );
    println!("diagnostics     {}", model.diagnostics.len());
    let mut kinds = std::collections::BTreeMap::new();
    for top in &model.top_level_methods {
        *kinds.entry(format!("top-level {:?}", top.kind)).or_insert(0) += 1;
    }
    for pair in &model.communication_pairs {
        *kinds.entry(format!("pair {}", pair.kind.name())).or_insert(0) += 1;
    }
    for (kind, n) in kinds {
        println!("  {n:6} {kind}");
    }
}

fn print_top(model: &Model, top: &TopLevelMethod) {
    println!("{} {} {:?}: {}", name(top), top.descriptor, top.kind, top.reason);
    for identifier in &top.identifiers {
        println!(
            "    id {} : {} {:?}",
            identifier.path,
            model.value_classes[identifier.value_class.index()],
            identifier.strength
        );
    }
    println!("    entries {:?} exits {:?}", top.dag.entries, top.dag.exits);
    for (i, node) in top.dag.nodes.iter().enumerate() {
        let points: Vec<String> = node
            .points
            .iter()
            .map(|p| {
                let point = &model.log_points[p.log_point.index()];
                let simple = point.class.rsplit('.').next().unwrap_or_default();
                format!("{simple}.{}:{}", point.method, point.source_line)
            })
            .collect();
        println!("    {i}{} {} -> {:?}", if node.repeats { "*" } else { "" }, points.join(" | "), node.next);
    }
}

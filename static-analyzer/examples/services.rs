//! Prints who serves what others ask for, and who asks for it:
//! `cargo run --example services -- a.jar b.jar`.

#![allow(clippy::print_stdout, reason = "it is a command")]

use std::path::PathBuf;

fn main() -> Result<(), static_analyzer::Error> {
    let class_path: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let model = static_analyzer::analyze(&class_path, &static_analyzer::Config::default())?;
    let name = |id: schema::TopLevelId| {
        let top = &model.top_level_methods[id.index()];
        format!("{}.{}", top.class, top.method)
    };
    for (index, top) in model.top_level_methods.iter().enumerate().filter(|(_, top)| !top.serves.is_empty()) {
        println!("{} {:?} serves {}", name(schema::TopLevelId::new(index)), top.kind, top.serves.join(", "));
    }
    for pair in model.communication_pairs.iter().filter(|pair| pair.kind.is_served()) {
        let path = |of: schema::TopLevelId, id: schema::IdentifierId| {
            model.top_level_methods[of.index()].identifiers[id.index()].path.clone()
        };
        let map =
            pair.identifiers.iter().map(|&(a, b)| format!("{}={}", path(pair.from, a), path(pair.to, b)));
        let map: Vec<String> = map.collect();
        println!("{} -> {} {} [{}]", name(pair.from), name(pair.to), pair.kind.name(), map.join(" "));
        for call in &pair.remote_calls {
            let lines = |points: &[schema::LogPointId], is_end: bool| {
                let line = |id: &schema::LogPointId| {
                    let point = &model.log_points[id.index()];
                    format!("{}:{}", point.class.rsplit('.').next().unwrap_or_default(), point.source_line)
                };
                let end = is_end.then(|| "end".to_owned());
                points.iter().map(line).chain(end).collect::<Vec<_>>().join("|")
            };
            println!(
                "  {} {} asked {} of `{}` {} .. {}{}{}",
                call.order,
                call.request(),
                call.asked,
                call.host,
                lines(&call.after, call.is_first),
                lines(&call.before, call.is_last),
                if call.waits { "" } else { " async" },
                if call.repeats { " repeats" } else { "" },
            );
        }
    }
    model.diagnostics.iter().for_each(|text| println!("# {text}"));
    Ok(())
}

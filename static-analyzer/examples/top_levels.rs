//! Prints the top-level methods of jars, with reasons, identifiers and members:
//! `top_levels [-v] JAR...`; with `-v` also identifiers and log points.

use std::path::PathBuf;
use std::time::Instant;

use static_analyzer::call_graph::{self, CallKind};
use static_analyzer::identifiers::Bindings;
use static_analyzer::path::{AccessPath, Root, Step};
use static_analyzer::program::{MethodId, Program, load};
use static_analyzer::rules::Rules;
use static_analyzer::top_level;

#[expect(clippy::print_stdout, reason = "an example prints")]
fn main() {
    let mut verbose = false;
    let mut paths: Vec<PathBuf> = Vec::new();
    for arg in std::env::args().skip(1) {
        if arg == "-v" { verbose = true } else { paths.push(PathBuf::from(arg)) }
    }
    let clock = Instant::now();
    let program = load(&paths, &Default::default()).expect("readable jars");
    eprintln!("loaded {:?}", clock.elapsed());
    let graph = call_graph::build(&program);
    eprintln!("call graph {:?}", clock.elapsed());
    let bindings = Bindings::new(&program, &graph);
    eprintln!("bindings {:?}", clock.elapsed());
    let log_points = static_analyzer::log_points::log_points(&program);
    eprintln!("log points {:?}: {}", clock.elapsed(), log_points.len());
    let tops = top_level::find(&program, &graph, &bindings, &log_points, &Rules::default());
    eprintln!("top-level methods {:?}", clock.elapsed());
    let count = |kind: fn(&CallKind) -> bool| graph.calls.iter().flatten().filter(|c| kind(&c.kind)).count();
    println!(
        "# calls: {} direct, {} callback, {} table, {} start, {} rpc; {} roots; {} remote interfaces; {} top-level methods",
        count(|k| *k == CallKind::Direct),
        count(|k| *k == CallKind::Callback),
        count(|k| *k == CallKind::Table),
        count(|k| matches!(k, CallKind::Start(_))),
        count(|k| *k == CallKind::Rpc),
        graph.roots.len(),
        graph.rpc_interfaces.len(),
        tops.methods.len(),
    );
    for t in &tops.methods {
        println!("{}\t{:?}\t{} points\t{}", program.method_name(t.method), t.kind, t.members.len(), t.reason);
        if !verbose {
            continue;
        }
        for (i, id) in t.identifiers.iter().enumerate() {
            let frame =
                if id.place.frame == t.method { String::new() } else { name(&program, id.place.frame) };
            println!("    #{i} {:?} {} {} {frame}", id.strength, id.value_class, path(&id.place.path));
        }
        for m in &t.members {
            let p = &log_points[m.log_point as usize];
            println!("    {}:{} {:?}", name(&program, p.method), p.source_line, m.bindings);
        }
    }
}

fn name(program: &Program, method: MethodId) -> String {
    let m = &program.methods[method.index()];
    format!("{}.{}", program.classes[m.class.index()].name.as_str().replace('/', "."), m.name)
}

fn path(path: &AccessPath) -> String {
    let mut text = match path.root {
        Root::Param(i) => format!("p{i}"),
        Root::Static(f) => format!("{}.{}", f.class, f.name),
        Root::Local(v) => format!("v{}", v.index()),
    };
    for step in &path.steps {
        match step {
            Step::Field(f) => text.push_str(&format!(".{}", f.name)),
            Step::Element => text.push_str("[*]"),
            Step::Call(c) => text.push_str(&format!(".{}()", c.name)),
        }
    }
    text
}

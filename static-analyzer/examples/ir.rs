//! Prints what the analyses see: `ir TEXT JAR...` prints the bodies of all
//! methods whose `class.name` contains TEXT; without TEXT (`-`) only the
//! diagnostics, counts and times.
#![allow(clippy::print_stdout, reason = "it is a command")]

use std::path::PathBuf;
use std::time::Instant;

use static_analyzer::class_path::Config;
use static_analyzer::ir::{Op, print_method};
use static_analyzer::program::{MethodId, load};

fn main() -> Result<(), static_analyzer::error::Error> {
    let mut args = std::env::args().skip(1);
    let wanted = args.next().unwrap_or_else(|| "-".to_owned());
    let paths: Vec<PathBuf> = args.map(PathBuf::from).collect();
    let start = Instant::now();
    let program = load(&paths, &Config::default())?;
    let elapsed = start.elapsed();
    if wanted != "-" {
        for (i, method) in program.methods.iter().enumerate() {
            let class = &program.classes[method.class.index()];
            if format!("{}.{}", class.name, method.name).contains(&wanted) {
                println!("{}", print_method(&program, MethodId::new(i)));
            }
        }
        return Ok(());
    }
    for line in &program.diagnostics {
        println!("{line}");
    }
    for entry in &program.entries {
        println!("{}: {} classes, {} skipped", entry.name, entry.n_classes, entry.n_skipped);
    }
    let bodies: Vec<_> = program.methods.iter().filter_map(|m| m.body.as_ref()).collect();
    let count = |f: &dyn Fn(&Op) -> bool| bodies.iter().flat_map(|b| &b.insts).filter(|i| f(&i.op)).count();
    println!(
        "{} classes, {} methods, {} bodies, {} blocks, {} instructions, {} phis, {} invokes, {} dynamic, {:.3} s",
        program.classes.len(),
        program.methods.len(),
        bodies.len(),
        bodies.iter().map(|b| b.blocks.len()).sum::<usize>(),
        bodies.iter().map(|b| b.insts.len()).sum::<usize>(),
        count(&|op| matches!(op, Op::Phi(_))),
        count(&|op| matches!(op, Op::Invoke { .. })),
        count(&|op| matches!(op, Op::InvokeDynamic { .. })),
        elapsed.as_secs_f64(),
    );
    Ok(())
}

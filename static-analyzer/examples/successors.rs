//! Prints which log points a model says can follow which: `successors MODEL`; a line per pair,
//! then per log point that begins a top-level method (`^`), and that ends one (`$`).
#![allow(clippy::print_stdout, reason = "it is a command")]

use schema::{LogPointId, Model};

fn main() -> Result<(), schema::Error> {
    let model = Model::read(&std::path::PathBuf::from(std::env::args().nth(1).unwrap_or_default()))?;
    let name = |id: LogPointId| {
        let point = &model.log_points[id.index()];
        format!("{}.{}:{}", point.class, point.method, point.source_line)
    };
    for (id, next) in model.successors.all().enumerate() {
        for to in next.into_iter().flatten() {
            println!("{}\t{}", name(LogPointId::new(id)), name(to));
        }
    }
    model.successors.begins.iter().for_each(|&id| println!("^\t{}", name(id)));
    model.successors.ends.iter().for_each(|&id| println!("$\t{}", name(id)));
    Ok(())
}

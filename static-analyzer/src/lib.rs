//! Class files to model: what a release of a JVM program can log, and what its
//! requests are (lprof §4).

use std::path::{Path, PathBuf};

use rayon::ThreadPoolBuilder;

// The modules stand in the order of the data flow.
pub mod call_graph;
pub mod class_path;
pub mod emit;
pub mod error;
pub mod identifiers;
pub mod ir;
pub mod limits;
pub mod log_points;
pub mod order;
pub mod pairs;
pub mod path;
pub mod program;
pub mod rules;
mod services;
mod slow_calls;
pub mod strings;
pub mod thread_names;
pub mod top_level;

pub use error::Error;
pub use program::LIBRARY_PREFIXES;

use call_graph::programs::Programs;
use error::ErrorKind;
use identifiers::{Bindings, Copies};
use rules::Rules;

/// How a class path is analysed.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// Threads to work with; none: as many as the machine has cores. The model
    /// does not depend on it.
    pub threads: Option<usize>,
    /// A file of rules that force or forbid decisions, see [`rules`].
    pub rules: Option<PathBuf>,
    /// How class files are found.
    pub class_path: class_path::Config,
}

/// The model of the program on `class_path` (jars, wars and folders).
///
/// # Errors
/// A file that cannot be read, no class at all, a line of the rules that is no
/// rule. Bad classes and methods are no errors; the model names them.
pub fn analyze(class_path: &[PathBuf], config: &Config) -> Result<schema::Model, Error> {
    let rules = read_rules(config.rules.as_deref())?;
    let pool = ThreadPoolBuilder::new().num_threads(config.threads.unwrap_or(0)).build();
    let pool =
        pool.map_err(|e| Error::new(ErrorKind::Limit, Path::new(""), format!("cannot start threads: {e}")))?;
    pool.install(|| analyze_with(class_path, config, &rules))
}

/// The phases, in order.
fn analyze_with(class_path: &[PathBuf], config: &Config, rules: &Rules) -> Result<schema::Model, Error> {
    let program = program::load::load(class_path, &rules.class_path(&config.class_path))?;
    let graph = call_graph::build(&program);
    // What does not need one another runs side by side: phases that cannot be
    // divided leave no core idle.
    let (bindings, (programs, mut log_points)) = rayon::join(
        || Bindings::new(&program, &graph),
        || {
            let programs = Programs::find(&program, &graph);
            let log_points = log_points::log_points_in(&program, &programs);
            (programs, log_points)
        },
    );
    let copies = Copies::find(&program, &graph, &bindings);
    copies.rename(&bindings, &mut log_points);
    identifiers::told::forget(&program, &graph, &mut log_points);
    identifiers::objects::add(&program, &bindings, &mut log_points);
    let mut top_levels = top_level::find(&program, &graph, &bindings, &log_points, rules);
    let entry_points = top_level::entry_points::find(&programs, &top_levels);
    let ((mut pairs, given_up), (order, thread_names, slow_calls)) = rayon::join(
        || pairs::find(&program, &graph, &bindings, &log_points, &top_levels, rules),
        || {
            let order = order::find(&program, &graph, &log_points, &top_levels);
            let slow_calls = slow_calls::find(&program, &graph, &log_points);
            (order, thread_names::find(&program, &graph, &top_levels), slow_calls)
        },
    );
    pairs::settle(&mut top_levels, &mut pairs);
    let mut diagnostics = program.diagnostics.clone();
    diagnostics.extend(given_up);
    Ok(emit::model(emit::Findings {
        program: &program,
        log_points: &log_points,
        graph: &graph,
        top_levels: &top_levels,
        entry_points: &entry_points,
        order: &order,
        pairs: &pairs,
        thread_names: &thread_names,
        slow_calls: &slow_calls,
        diagnostics,
    }))
}

fn read_rules(path: Option<&Path>) -> Result<Rules, Error> {
    let Some(path) = path else { return Ok(Rules::default()) };
    let text = class_path::read_text(path)?;
    Rules::parse(&text).map_err(|e| Error::new(ErrorKind::Format, path, e.to_string()))
}

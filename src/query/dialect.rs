//! SQL as PostgreSQL means it, for whoever asks: what it calls a function is here what it is there, or
//! refused, and never something else of the same name.
//!
//! ```text
//! statement ─▶ syntax   forms become calls of functions
//!           ─▶ plan     times, numbers, patterns: functions of these names
//!           ─▶ casts    those that are written, and those that make types fit
//! ```
//! What has no counterpart in PostgreSQL (`approx_percentile_cont`, `arrow_cast`) is the engine's.
//! `tests/dialect/` has a table of expressions with the answers of PostgreSQL.

mod aggregates;
mod arithmetic;
mod casts;
mod format;
mod function;
mod interval;
mod made;
mod numbers;
mod operators;
mod origin;
mod patterns;
mod read;
mod regex;
mod shown;
mod strings;
mod syntax;
mod times;
mod to_char;
#[cfg(feature = "postgres")]
pub(super) mod wire;
mod zone;

use std::sync::Arc;

use datafusion::logical_expr::planner::ExprPlanner;
use datafusion::prelude::SessionContext;

pub(super) use syntax::{call, understand};
#[cfg(feature = "postgres")]
pub(super) use zone::Zone;

/// What plans operators, before the engine does.
pub(super) fn planners() -> Vec<Arc<dyn ExprPlanner>> {
    vec![Arc::new(operators::Operators)]
}

/// Gives `context` the functions and the rules.
pub(super) fn install(context: &SessionContext) {
    let functions = times::FUNCTIONS.into_iter().chain(numbers::FUNCTIONS).chain(patterns::FUNCTIONS);
    let functions = functions.chain(made::FUNCTIONS).chain(operators::FUNCTIONS).chain(strings::FUNCTIONS);
    let functions: Vec<_> = functions.chain(format::FUNCTIONS).collect();
    // Also by the other names that the engine knows them by.
    functions.iter().for_each(|function| context.deregister_udf(function.name));
    functions.into_iter().for_each(|function| context.register_udf(function.udf()));
    context.register_udaf(aggregates::sum());
    context.add_analyzer_rule(Arc::new(casts::Casts));
}

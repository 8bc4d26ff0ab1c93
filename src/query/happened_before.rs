//! Happened-before joins in SQL: functions over the column `position` of `events` and
//! `spans`, filters in time, and one operator that joins on them.
//!
//! | function | holds if |
//! |---|---|
//! | `happened_before(a, b)` | a must have happened before b |
//! | `may_happen_before(a, b)` | only clocks say so |
//! | `concurrent(a, b)` | nothing orders them |
//! | `ancestor(a, b)` | the request came to b by way of the span of a |
//! | `child(a, b)` | the span of b handed over to that of a |
//! | `first(a, b)`, `firstn(a, b, n)` | a is one of the first of its side before b |
//! | `mostrecent(a, b)`, `mostrecentn(a, b, n)` | a is one of the last of its side before b |
//!
//! The relations are functions like any other: without the rule, the engine's nested loop
//! asks them of each two rows. The rule turns a join on one of them into an operator that
//! goes through the requests one by one ([`operator`]). The filters say something of one
//! whole side of a join, so that they are conditions of a join and of nothing else.

mod condition;
mod filters;
mod functions;
mod operator;
mod pairs;
mod rows;
mod rule;
mod temporal;
#[cfg(test)]
mod tests;

pub(crate) use filters::{FilterPlanner, FilteredJoins};
pub(crate) use functions::all as functions;
pub(crate) use rule::JoinByRequest;

/// Whether a function holds for rows of one request only.
pub(crate) fn is_of_one_request(function: &str) -> bool {
    let mut relations = condition::Relation::ALL.into_iter();
    relations.any(|relation| relation.name() == function) || condition::Filter::NAMES.contains(&function)
}

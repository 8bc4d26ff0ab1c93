//! Evaluation: a table against the truth, record by record, as lprof's Table 3
//! counts it.
//!
//! A message is a record whose truth names a unit, the records that one request
//! must hold together. Its request is the table's. It is *failed* if it has
//! none; *incorrect* if its request holds a record whose op is claimed and
//! another; else *incomplete* if a record of its unit is not in its request;
//! else *correct*. A message without a claimed op cannot be incorrect.
//!
//! B-cubed, which moves before whole units come out right: *precision* is the
//! share of the records with a claimed op in a message's request that have its
//! op (messages without request or op are left out), *recall* the share of its
//! unit's records that are in its request (0 without one). Both are averages
//! over messages.
//!
//! The log point of a record is *exact* if it is the true statement. One that
//! is not may be a *tie*: another statement with the same level, logger and
//! texts ([`looks`]).
//!
//! Beside that: how right [`spans`] are, beside [`baselines`] that need little analysis, and
//! what [`continuations`] they break; the [`links`] between them, and the [`types`] of requests; what each of the [`passes`] has earned; the
//! [`ceiling`] that the model puts on links; what [`relations`] hold beyond requests; and whether links are true as often as they are said to
//! be ([`reliability`]).

pub(crate) mod baselines;
pub(crate) mod ceiling;
pub(crate) mod continuations;
mod found;
pub(crate) mod links;
mod looks;
mod order;
pub(crate) mod passes;
pub(crate) mod relations;
pub(crate) mod reliability;
mod score;
#[cfg(test)]
mod sketch;
pub(crate) mod spans;
mod tracker;
mod truth;
pub(crate) mod types;

pub(crate) use found::Found;
pub(crate) use looks::Looks;
pub(crate) use order::{OrderTally, order_tally};
pub(crate) use score::{Class, Scores, Tally, Worst, score};
pub(crate) use truth::{Record, Truth};

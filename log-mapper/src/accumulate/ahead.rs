//! Ahead: names that many records show, and the program that they are of, learnt before the
//! first record is attributed.
//!
//! What is common shows only after many records ([`Spread::is_common`]). Until
//! then the name of the only queue or user that there is looks like that of a request,
//! and joins whatever shows it: a log that begins in the middle of everybody's work
//! begins with such joins. Names that were set up before the program ran do not come
//! and go, so the first records of the log are looked at once for these. What other programs
//! run would take the first records as well, which nothing gives back later. Which lines
//! stand together is learnt of them, too.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use schema::kinds::is_made;
use schema::serials::{Number, Serials};
use schema::{Model, ValueClassId};

use super::alternatives::Alternatives;
use super::canonical::canonical;
use super::evidence::Spread;
use super::orders::Orders;
use super::programs::Programs;
use super::soles::Soles;
use super::together::Together;
use crate::record::{Candidate, Record, Records};

/// Records that are looked at.
pub(super) const AHEAD_RECORDS: u64 = 4096;

/// How often a text was shown, and by which record last.
#[derive(Default)]
struct Shown {
    spread: Spread,
    last_seq: u64,
}

/// What the first records tell: the texts that they show so often, all along, that they
/// name no request, and that were not made while the program ran; and what can be there,
/// in the program that the log is of;
/// and the class of the numbers of its work, if that is numbered.
pub(super) fn look(
    model: &Model,
    orders: &mut Orders<'_>,
    records: &mut dyn Records,
    soles: &mut Soles,
    together: &mut Together,
) -> (FxHashSet<Arc<str>>, Option<ValueClassId>) {
    let mut shown: FxHashMap<Arc<str>, Shown> = FxHashMap::default();
    let mut alternatives = Alternatives::new(model);
    let mut serials = Serials::new(model.own_names());
    let mut programs = Programs::new(model);
    let mut n_records = 0;
    records.ahead(AHEAD_RECORDS, &mut |record| {
        n_records += 1;
        see(model, orders, record, n_records, &mut shown, soles);
        alternatives.see(orders, record);
        if record.thread.is_none() {
            together.see(record.candidates.first().map(|candidate| candidate.log_point), record.ts_us);
        }
        if let [only] = &record.candidates[..] {
            programs.see(only.log_point);
        }
        if let Some(candidate) = record.candidates.first() {
            orders.see(record.level, candidate.log_point);
            serials.see(record.ts_us, &numbers(model, candidate));
        }
    });
    if let Some(possible) = programs.possible().filter(|_| programs.is_sure()) {
        orders.restrict(&possible);
    }
    if let Some(possible) = alternatives.possible(model, orders) {
        orders.restrict(&possible);
    }
    shown.retain(|_, shown| shown.spread.is_common(n_records));
    (shown.into_keys().collect(), serials.work().map(|work| work.class))
}

/// The numbers that a record prints, with their classes.
fn numbers(model: &Model, candidate: &Candidate<'_>) -> Vec<Number> {
    let Some(point) = model.log_points.get(candidate.log_point.index()) else { return Vec::new() };
    let class = |variable: u32| point.variables.get(variable as usize)?.value_class;
    let values = candidate.values.iter();
    values.filter_map(|&(variable, text)| Some((class(variable)?, text.parse().ok()?))).collect()
}

/// Counts what record number `seq` shows.
fn see(
    model: &Model,
    orders: &Orders<'_>,
    record: &Record<'_>,
    seq: u64,
    shown: &mut FxHashMap<Arc<str>, Shown>,
    soles: &mut Soles,
) {
    for candidate in &record.candidates {
        let Some(point) = model.log_points.get(candidate.log_point.index()) else { continue };
        for &(variable, text) in &candidate.values {
            let shape = point.variables.get(variable as usize).map(|variable| variable.shape);
            let told = shape.filter(|_| orders.tells(candidate.log_point, variable));
            let Some(text) = told.and_then(|shape| canonical(text, shape)) else { continue };
            if let Some(class) = point.variables.get(variable as usize).and_then(|v| v.value_class) {
                soles.see(class, &text);
            }
            if is_made(&text) {
                continue;
            }
            if !shown.contains_key(&*text) {
                shown.insert(Arc::from(&*text), Shown::default());
            }
            if let Some(known) = shown.get_mut(&*text).filter(|known| known.last_seq != seq) {
                known.last_seq = seq;
                known.spread.add(seq);
            }
        }
    }
}

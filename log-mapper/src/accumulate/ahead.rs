//! Ahead: names that many records show, learnt before the first record is attributed.
//!
//! What is common shows only after many records ([`super::evidence::is_common`]). Until
//! then the name of the only queue or user that there is looks like that of a request,
//! and joins whatever shows it: a log that begins in the middle of everybody's work
//! begins with such joins. Names that were set up before the program ran do not come
//! and go, so the first records of the log are looked at once for these.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use schema::Model;
use schema::kinds::is_made;

use super::canonical::canonical;
use super::evidence::is_common;
use super::facts::BLOCK_RECORDS;
use super::orders::Orders;
use crate::record::{Record, Records};

/// Records that are looked at.
pub(super) const AHEAD_RECORDS: u64 = 4096;

/// Who has shown a text.
#[derive(Default)]
struct Shown {
    n_records: u32,
    last_record: u64,
    n_blocks: u64,
    last_block: u64,
}

/// The texts that the first records show so often, all along, that they name no
/// request, and that were not made while the program ran.
pub(super) fn common(model: &Model, orders: &Orders<'_>, records: &mut dyn Records) -> FxHashSet<Arc<str>> {
    let mut shown: FxHashMap<Arc<str>, Shown> = FxHashMap::default();
    let mut n_records = 0;
    records.ahead(AHEAD_RECORDS, &mut |record| {
        n_records += 1;
        see(model, orders, record, n_records, &mut shown);
    });
    let n_blocks = n_records / BLOCK_RECORDS + 1;
    shown.retain(|_, shown| is_common(shown.n_records, n_records) && shown.n_blocks * 2 >= n_blocks);
    shown.into_keys().collect()
}

/// Counts what record number `seq` shows.
fn see(
    model: &Model,
    orders: &Orders<'_>,
    record: &Record<'_>,
    seq: u64,
    shown: &mut FxHashMap<Arc<str>, Shown>,
) {
    for candidate in &record.candidates {
        let Some(point) = model.log_points.get(candidate.log_point.index()) else { continue };
        for &(variable, text) in &candidate.values {
            let shape = point.variables.get(variable as usize).map(|variable| variable.shape);
            let told = shape.filter(|_| orders.tells(candidate.log_point, variable));
            let Some(text) = told.and_then(|shape| canonical(text, shape)).filter(|text| !is_made(text))
            else {
                continue;
            };
            if !shown.contains_key(&*text) {
                shown.insert(Arc::from(&*text), Shown::default());
            }
            let Some(known) = shown.get_mut(&*text).filter(|known| known.last_record != seq) else {
                continue;
            };
            let block = seq / BLOCK_RECORDS + 1;
            known.last_record = seq;
            known.n_records += 1;
            known.n_blocks += u64::from(std::mem::replace(&mut known.last_block, block) != block);
        }
    }
}

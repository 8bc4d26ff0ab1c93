//! Answers: what several report of one thing, because somebody has asked all of them.
//!
//! Who asks need not print anything, nor do those that are asked: only their reports show,
//! where they arrive. They are told by three things together: one method prints the same
//! line for each, about the same thing that was made while the program ran; each is of
//! another place; and they come at once. Whether reports of a kind come so is learnt from
//! the log, of nearly all things that are reported so.

use std::collections::{BTreeMap, BTreeSet};

use schema::kinds::is_made;
use schema::{LogPointId, Pass, TopLevelId, ValueClassId};

use super::facts::Facts;
use super::joined;
use super::pairs::Pairs;
use crate::merge::SpanLink;

/// Things that are reported by several, from which to learn.
const THINGS_MIN: usize = 16;

/// Of one in so many of them the reports may come for other reasons.
const STRAY_SHARE: usize = 16;

/// What is asked of all at once is reported within this time, µs.
const AT_ONCE_US: i64 = 1_000_000;

/// Reports of one kind: where they arrive, what handles them, how it begins, and the kind
/// of thing that they name.
type Report = (u32, TopLevelId, Option<LogPointId>, ValueClassId);

/// Links between reports that nothing in `links` has a sender for.
pub(super) fn join(pairs: &Pairs<'_>, facts: &Facts<'_>, links: &[SpanLink]) -> Vec<SpanLink> {
    let (mut sets, has_sender) = joined(facts, links);
    let mut reports: BTreeMap<Report, BTreeMap<&str, Vec<u32>>> = BTreeMap::new();
    for (index, fact) in facts.iter().filter(|&(index, _)| !has_sender[index as usize]) {
        let Some(&top) = fact.tops.first().filter(|&&top| pairs.is_event_handler(top)) else { continue };
        for (kind, text) in fact.only_values().into_iter().filter(|(_, text)| is_made(text)) {
            let report = (fact.node, top, fact.first_point, kind);
            reports.entry(report).or_default().entry(text).or_default().push(index);
        }
    }
    let mut out = Vec::new();
    for (report, things) in reports {
        let several: Vec<Vec<u32>> = things.into_values().filter(|spans| spans.len() > 1).collect();
        let at_once = several.iter().filter(|spans| are_answers(facts, report.3, spans)).count();
        if several.len() < THINGS_MIN || (several.len() - at_once) * STRAY_SHARE > several.len() {
            continue;
        }
        for spans in several.iter().filter(|spans| are_answers(facts, report.3, spans)) {
            for ends in spans.windows(2) {
                if sets.join(ends[0], ends[1]) {
                    out.push(SpanLink { from: ends[0], to: ends[1], pair: None, by: Pass::Answers });
                }
            }
        }
    }
    out
}

/// Whether spans, in order of start, begin at once, and each names another place than the
/// others, by values of one kind that is not the thing's.
fn are_answers(facts: &Facts<'_>, thing: ValueClassId, spans: &[u32]) -> bool {
    let start = |span: u32| facts.get(span).start_us;
    let (first, last) = (start(spans[0]), start(spans[spans.len() - 1]));
    let named: Vec<BTreeMap<ValueClassId, &str>> =
        spans.iter().map(|&span| facts.get(span).only_values()).collect();
    let is_place = |kind: &ValueClassId| {
        let names = named.iter().filter_map(|values| values.get(kind));
        let names: BTreeSet<&str> = names.copied().filter(|text| is_made(text)).collect();
        *kind != thing && names.len() == spans.len()
    };
    last.saturating_sub(first) <= AT_ONCE_US && named[0].keys().any(is_place)
}

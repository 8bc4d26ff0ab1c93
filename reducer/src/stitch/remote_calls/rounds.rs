//! Rounds: a loop that asks in each of its rounds asks for something else in each.
//!
//! That is believed of a call that is made again and again where the handlers of which it is sure
//! that one gap has asked for them never print the same in a field, though by chance some would. Then
//! there is room for one handler of each text in a gap, and no two of one text are of one caller.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::gaps::{Call, Gap, Gaps};
use super::values::{Field, ODDS_MIN, Values};
use super::{Handler, SURE_MIN, Shares, sure};
use crate::merge::to_u32;
use crate::stitch::facts::Facts;

/// What is known of loops by now.
#[derive(Debug, Default)]
pub(super) struct Rounds {
    /// By call: the field in which its rounds differ.
    fields: FxHashMap<u32, Field>,
    /// By place of a gap, and text: the place of that round.
    places: FxHashMap<(u32, u32), u32>,
}

impl Rounds {
    /// By the matches that are sure.
    pub(super) fn new(
        (facts, calls, gaps): (&Facts<'_>, &[Call], &Gaps),
        values: &Values<'_>,
        handlers: &[Handler],
        known: &Shares,
    ) -> Self {
        let mut of: BTreeMap<(u32, u32), Vec<u32>> = BTreeMap::new();
        if calls.iter().any(|call| call.repeats) {
            for ((span, _), sure) in handlers.iter().zip(sure(gaps, handlers, known, SURE_MIN)) {
                let gap = sure.map(|sure| gaps.get(sure.gap));
                let gap = gap.filter(|gap| calls[gap.call as usize].repeats);
                gap.into_iter().for_each(|gap| of.entry((gap.call, gap.place)).or_default().push(*span));
            }
        }
        // By call and field: by how much chance speaks against that no two were equal; none: some were.
        let mut against: BTreeMap<(u32, Field), Option<f64>> = BTreeMap::new();
        for ((call, _), spans) in of {
            for (at, &a) in spans.iter().enumerate() {
                for &b in &spans[at + 1..] {
                    see(facts, values, (call, a, b), &mut against);
                }
            }
        }
        let mut n_tried: FxHashMap<u32, f64> = FxHashMap::default();
        against.keys().for_each(|(call, _)| *n_tried.entry(*call).or_default() += 1.0);
        let mut best: BTreeMap<u32, (f64, Field)> = BTreeMap::new();
        for ((call, field), against) in against {
            let Some(against) = against.filter(|odds| *odds >= (n_tried[&call] * ODDS_MIN).ln()) else {
                continue;
            };
            let known = best.entry(call).or_insert((against, field));
            if against > known.0 {
                *known = (against, field);
            }
        }
        let fields = best.into_iter().map(|(call, (_, field))| (call, field)).collect();
        let mut new = Self { fields, places: FxHashMap::default() };
        new.number(values, gaps, handlers);
        new
    }

    /// Numbers the places of all rounds.
    fn number(&mut self, values: &Values<'_>, gaps: &Gaps, handlers: &[Handler]) {
        if self.fields.is_empty() {
            return;
        }
        let first = gaps.n_places();
        for (span, matches) in handlers {
            for gap in matches.iter().map(|one| gaps.get(one.gap)) {
                if let Some(text) = self.text(values, gap, *span) {
                    let next = first + to_u32(self.places.len());
                    self.places.entry((gap.place, text)).or_insert(next);
                }
            }
        }
    }

    fn text(&self, values: &Values<'_>, gap: &Gap, span: u32) -> Option<u32> {
        let field = self.fields.get(&gap.call)?;
        values.printed(span).find(|(of, _)| of == field).map(|(_, text)| text)
    }

    /// The place of the round that a span fills if a gap has asked for it; none: its rounds are alike.
    pub(super) fn place(&self, values: &Values<'_>, gap: &Gap, span: u32) -> Option<u32> {
        let text = self.text(values, gap, span)?;
        self.places.get(&(gap.place, text)).copied()
    }
}

/// Sees two handlers that one gap has asked for.
fn see(
    facts: &Facts<'_>,
    values: &Values<'_>,
    (call, a, b): (u32, u32, u32),
    against: &mut BTreeMap<(u32, Field), Option<f64>>,
) {
    let Some(&top) = facts.get(a).tops.first() else { return };
    for (field, text) in values.printed(a) {
        let other = values.printed(b).find(|(of, _)| *of == field);
        let Some((_, other)) = other else { continue };
        let known = against.entry((call, field)).or_insert(Some(0.0));
        let differ = -(1.0 - values.chance(top, field)).max(f64::MIN_POSITIVE).ln();
        *known = known.filter(|_| text != other).map(|sum| sum + differ);
    }
}

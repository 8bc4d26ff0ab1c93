//! Nearness: how often a line is printed so long before receivers begin, by chance.
//!
//! What comes in bursts stands beside everything else that does. So how often a line would stand at a
//! distance anyhow is how often it does at other times around such receivers, if that is more than at
//! any time.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};
use schema::delays::{TICK_US, power};
use schema::{LogPointId, TopLevelId};

use super::super::waiting::SHIFTS_US;
use super::{Begin, Facts, PRIOR, Receiver, Step};

/// Receivers that show how often a line is printed near them: more tell nothing new.
const RECEIVERS_MAX: usize = 256;

/// In a log that is shorter than this nothing is known to be rare, µs.
const WHOLE_MIN_US: i64 = 1_000_000;

/// A step, and a power of two of the time that it takes.
pub(super) type Distance = (Step, usize);

/// How often lines are printed near receivers.
pub(super) struct Nearness<'r> {
    /// When each line was printed, by node, µs.
    printed_us: FxHashMap<(u32, LogPointId), Vec<i64>>,
    /// How often, and by how many spans.
    n_printed: FxHashMap<LogPointId, (f64, f64)>,
    /// Receivers by the line with which they begin.
    of_begin: FxHashMap<Begin, Vec<&'r Receiver>>,
    /// From the first line to the last one, or longer, µs.
    pub(super) whole_us: i64,
}

impl<'r> Nearness<'r> {
    /// Of the lines that senders of `receivers` printed last, which are of the top-level methods `from`.
    pub(super) fn new(facts: &Facts<'_>, receivers: &'r [Receiver], from: &FxHashSet<TopLevelId>) -> Self {
        let mut of_begin: FxHashMap<Begin, Vec<&Receiver>> = FxHashMap::default();
        let mut lines = FxHashSet::default();
        for receiver in receivers {
            of_begin.entry(receiver.begin).or_default().push(receiver);
            lines.extend(receiver.choices.iter().filter_map(|choice| choice.step.0));
        }
        let mut printed_us: FxHashMap<(u32, LogPointId), Vec<i64>> = FxHashMap::default();
        let mut n_printed: FxHashMap<LogPointId, (f64, f64)> = FxHashMap::default();
        let mut last_by: FxHashMap<LogPointId, u32> = FxHashMap::default();
        let (mut first_us, mut last_us) = (i64::MAX, i64::MIN);
        for (span, fact) in facts.iter() {
            (first_us, last_us) = (first_us.min(fact.start_us), last_us.max(fact.end_us));
            let can_send = fact.tops.iter().chain(fact.other_tops).any(|top| from.contains(top));
            for event in fact.events.iter().filter(|_| can_send) {
                if let Some(point) = event.log_point.filter(|point| lines.contains(point)) {
                    printed_us.entry((fact.node, point)).or_default().push(event.ts_us);
                    let known = n_printed.entry(point).or_default();
                    known.0 += 1.0;
                    known.1 += f64::from(u8::from(last_by.insert(point, span) != Some(span)));
                }
            }
        }
        printed_us.values_mut().for_each(|times_us| times_us.sort_unstable());
        Self { printed_us, n_printed, of_begin, whole_us: last_us.saturating_sub(first_us).max(WHOLE_MIN_US) }
    }

    /// How often the first line of a step could lead to something: once a span, or each time.
    pub(super) fn n_printed(&self, step: Step, many: bool) -> f64 {
        step.0.map_or(1.0, |line| if many { self.n_printed[&line].0 } else { self.n_printed[&line].1 })
    }

    /// How often all lines were printed that can lead to something.
    pub(super) fn n_all_printed(&self) -> f64 {
        self.n_printed.values().map(|(_, n_spans)| n_spans).sum()
    }

    /// For each distance that is seen how often it is, how often it would be at any time, and how
    /// much oftener it is near such receivers.
    pub(super) fn of_distances(&self) -> FxHashMap<Distance, (f64, f64, f64)> {
        let mut seen: FxHashMap<Distance, (f64, f64, f64)> = FxHashMap::default();
        let choices = self.of_begin.values().flatten().flat_map(|receiver| &receiver.choices);
        for choice in choices {
            seen.entry((choice.step, power(choice.delay_us).0)).or_default().0 += 1.0;
        }
        let nodes: FxHashMap<Begin, BTreeMap<u32, f64>> =
            self.of_begin.iter().map(|(&begin, receivers)| (begin, by_node(receivers))).collect();
        for (&(step, power), (_, by_chance, bursts)) in &mut seen {
            (*by_chance, *bursts) = (0.0, 1.0);
            if let Some(line) = step.0 {
                let nodes = nodes[&step.1].iter();
                *by_chance = nodes.map(|(&node, n)| n * self.any_time(node, line, power)).sum();
                *bursts = self.bursts(&self.of_begin[&step.1], line, power);
            }
        }
        seen
    }

    /// When a line was printed on a node, µs.
    fn times_us(&self, node: u32, line: LogPointId) -> &[i64] {
        self.printed_us.get(&(node, line)).map_or(&[], Vec::as_slice)
    }

    /// How often a line stands at a power of two of a distance from any time on a node.
    fn any_time(&self, node: u32, line: LogPointId, power: usize) -> f64 {
        let (near_us, far_us) = reach_us(power);
        self.times_us(node, line).len() as f64 * (far_us - near_us) as f64 / self.whole_us as f64
    }

    /// How much oftener than at any time it does at times near those of receivers.
    fn bursts(&self, receivers: &[&Receiver], line: LogPointId, power: usize) -> f64 {
        let (near_us, far_us) = reach_us(power);
        let (mut n_near, mut n_any) = (0.0, 0.0);
        for receiver in receivers.iter().step_by(receivers.len().div_ceil(RECEIVERS_MAX).max(1)) {
            let times_us = self.times_us(receiver.node, line);
            for shift_us in SHIFTS_US {
                let until = |us: i64| {
                    let at_us = receiver.start_us.saturating_add(shift_us).saturating_sub(us);
                    times_us.partition_point(|&time_us| time_us <= at_us)
                };
                n_near += (until(near_us) - until(far_us)) as f64;
                n_any += self.any_time(receiver.node, line, power);
            }
        }
        ((n_near + PRIOR) / (n_any + PRIOR)).max(1.0)
    }
}

/// How many receivers each node has.
fn by_node(receivers: &[&Receiver]) -> BTreeMap<u32, f64> {
    let mut nodes = BTreeMap::new();
    receivers.iter().for_each(|receiver| *nodes.entry(receiver.node).or_default() += 1.0);
    nodes
}

/// From where to where a power of two of a time reaches, µs.
fn reach_us(power: usize) -> (i64, i64) {
    let us = |power: usize| ((1_i64 << power) - 1) * TICK_US.cast_signed();
    (us(power), us(power + 1))
}

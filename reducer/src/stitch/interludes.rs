//! Interludes: what a thread prints while it works on one thing is of that work.
//!
//! The work of a thread on one thing can be seen in several spans, where the analysis lets
//! calls begin anew. Where the span before and the span after are known to be of one
//! request and name one thing, a moment apart, the thread has not put it aside in between:
//! what it printed there, and what nothing else is known of, belongs to them, whatever it
//! names, unless it is the same done to another thing, or done to what has another
//! digest for a name, which nothing has by chance: that is the next round. What stands
//! within one span is `nested`.
//!
//! Two that are the same method and begin with the same line are rounds themselves: the
//! thread was handed each of them, and others in between.

use schema::Pass;

use super::facts::{Facts, Printed};
use super::joined;
use super::pairs::Pairs;
use crate::merge::SpanLink;

/// Between the two there is at most this much time, µs.
const MOMENT_US: i64 = 100_000;

/// Links to what stands amid the work on one thing, in addition to `links`.
pub(super) fn join(pairs: &Pairs<'_>, facts: &Facts<'_>, links: &[SpanLink]) -> Vec<SpanLink> {
    let (mut sets, _) = joined(facts, links);
    let mut is_linked = vec![false; facts.len()];
    for link in links {
        is_linked[link.from as usize] = true;
        is_linked[link.to as usize] = true;
    }
    let is_free = |&(.., span, _): &Printed| !is_linked[span as usize] && facts.get(span).events.len() == 1;
    let mut out = Vec::new();
    for lines in facts.lines_of_threads() {
        let known: Vec<usize> = (0..lines.len()).filter(|&at| !is_free(&lines[at])).collect();
        for ends in known.windows(2).filter(|ends| ends[1] > ends[0] + 1) {
            let ((before_us, .., before, _), (after_us, .., after, _)) = (lines[ends[0]], lines[ends[1]]);
            let (a, b) = (facts.get(before), facts.get(after));
            let dispatches =
                [a, b].iter().any(|fact| fact.tops.first().is_some_and(|&top| pairs.is_dispatcher(top)));
            let is_one = before != after
                && after_us.saturating_sub(before_us) <= MOMENT_US
                && sets.root(before) == sets.root(after)
                && facts.share(a, b);
            let are_rounds = a.tops.first() == b.tops.first() && a.first_point == b.first_point;
            if is_one && !dispatches && !are_rounds {
                let is_round = |to: u32| {
                    let fact = facts.get(to);
                    [a, b].iter().any(|end| {
                        let is_alike = end.tops.first() == fact.tops.first();
                        (is_alike && facts.differ(end, fact)) || facts.names_other_digest(end, fact)
                    })
                };
                let between = lines[ends[0] + 1..ends[1]].iter().map(|&(.., to, _)| to);
                let parts = between.filter(|&to| !is_round(to));
                out.extend(parts.map(|to| SpanLink { from: before, to, pair: None, by: Pass::Interludes }));
            }
        }
    }
    out
}

//! Links: a thread that logs nothing, or a dispatcher that only passes work on,
//! connects whoever hands to it with whomever it hands to (lprof §4.4,
//! improvements).

use schema::LinkKind;

use super::Context;
use super::cargo::Cargo;
use super::handoffs::{Collector, Handoff, Rule};
use super::regions::Units;
use crate::limits::{LINK_HANDOFFS_MAX, LINKS_IN_A_ROW_MAX};
use crate::program::MethodId;

/// Adds the hand-offs through units that pass work on.
pub(super) fn contract(
    context: Context<'_>,
    units: &Units,
    mut collector: Collector,
    diagnostics: &mut Vec<String>,
) -> Vec<Handoff> {
    let mut handoffs = std::mem::take(&mut collector.found);
    let mut out: Vec<Vec<usize>> = vec![Vec::new(); units.len()];
    for (i, handoff) in handoffs.iter().enumerate() {
        if units.passes(handoff.from) {
            out[handoff.from].push(i);
        }
    }
    let mut into: Vec<usize> = vec![0; units.len()];
    for handoff in &handoffs {
        into[handoff.to] += 1;
    }
    for (unit, out) in out.iter_mut().enumerate() {
        if out.len() * into[unit] > LINK_HANDOFFS_MAX {
            diagnostics.push(format!(
                "{} passes {} hand-offs on to {}: not followed",
                context.program.method_name(units.region(unit).root),
                into[unit],
                out.len()
            ));
            out.clear();
        }
    }
    let mut fresh = 0..handoffs.len();
    for _ in 0..LINKS_IN_A_ROW_MAX {
        let mut added = Vec::new();
        for first in &handoffs[fresh.clone()] {
            if first.from == first.to {
                continue;
            }
            for &second in &out[first.to] {
                let second = &handoffs[second];
                if collector.wants(first.from, second.to, farthest(first.kind, second.kind)) {
                    added.push(through(units.region(first.to).root, first, second));
                }
            }
        }
        fresh = handoffs.len()..handoffs.len() + added.len();
        handoffs.extend(added);
    }
    handoffs
}

fn through(link: MethodId, first: &Handoff, second: &Handoff) -> Handoff {
    let mut chain = second.chain.clone();
    chain.extend(first.chain.iter().cloned());
    Handoff {
        from: first.from,
        to: second.to,
        kind: farthest(first.kind, second.kind),
        site: first.site,
        chain,
        many: first.many || second.many,
        needs_identifier: true,
        followed_only: first.followed_only || second.followed_only,
        cargo: narrowest(&first.cargo, &second.cargo),
        rule: Rule::Through(Box::new(first.rule.clone()), link),
    }
}

/// What passes through both: known for the first that says something.
fn narrowest(first: &Cargo, second: &Cargo) -> Cargo {
    if *first == Cargo::Any { second.clone() } else { first.clone() }
}

/// The kind that says how far two hand-offs in a row reach.
fn farthest(first: LinkKind, second: LinkKind) -> LinkKind {
    match (first, second) {
        (a, b) if b.crosses_nodes() && !a.crosses_nodes() => b,
        (LinkKind::Call, b) => b,
        (a, _) => a,
    }
}

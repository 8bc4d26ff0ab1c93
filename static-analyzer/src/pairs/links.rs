//! Links: a thread that logs nothing, or a dispatcher that only passes work on,
//! connects whoever hands to it with whomever it hands to (lprof §4.4,
//! improvements).

use schema::LinkKind;

use super::Context;
use super::cargo::Cargo;
use super::handoffs::{Collector, Handoff, Rule};
use super::regions::{UnitId, Units};
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
    // Only ways that begin at a top-level method end in a pair.
    let begins = |&i: &usize| units.top_level(handoffs[i].from).is_some();
    let mut ways: Vec<Way> = (0..handoffs.len()).filter(begins).map(|i| Way::new(&handoffs[i], i)).collect();
    let n_direct = ways.len();
    let mut fresh = 0..n_direct;
    for _ in 0..LINKS_IN_A_ROW_MAX {
        for at in fresh.clone() {
            let first = ways[at];
            if first.from == first.to {
                continue;
            }
            for &next in &out[first.to] {
                let second = &handoffs[next];
                let kind = farthest(first.kind, second.kind);
                if collector.wants(first.from, second.to, kind) {
                    ways.push(Way { from: first.from, to: second.to, kind, before: Some(at), last: next });
                }
            }
        }
        fresh = fresh.end..ways.len();
    }
    let ends = (n_direct..ways.len()).filter(|&way| units.top_level(ways[way].to).is_some());
    let contracted: Vec<Handoff> = ends.map(|way| contracted(units, &handoffs, &ways, way)).collect();
    handoffs.extend(contracted);
    handoffs
}

/// A way along hand-offs: millions are tried, and few end at a top-level method,
/// so what they carry is put together for those only.
#[derive(Clone, Copy)]
struct Way {
    from: UnitId,
    to: UnitId,
    kind: LinkKind,
    /// The way without its last hand-off.
    before: Option<usize>,
    last: usize,
}

impl Way {
    fn new(handoff: &Handoff, at: usize) -> Self {
        Self { from: handoff.from, to: handoff.to, kind: handoff.kind, before: None, last: at }
    }
}

/// The hand-offs of a way as one.
fn contracted(units: &Units, handoffs: &[Handoff], ways: &[Way], way: usize) -> Handoff {
    let Way { before, last, .. } = ways[way];
    let last = &handoffs[last];
    before.map_or_else(
        || last.clone(),
        |before| {
            let link = units.region(ways[before].to).root;
            through(link, &contracted(units, handoffs, ways, before), last)
        },
    )
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

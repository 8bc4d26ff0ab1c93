//! Hosts: what is a part of one of several spans, nothing tells of which, is of their
//! request if they are all of one.
//!
//! Where no thread is printed, the mapper finds between which records of which spans a
//! line can have been printed. Two tasks of one request that do the same at the same time
//! print the same lines: whose each of them is does not matter to the request.

use rustc_hash::FxHashMap;
use schema::{Event, Place, Span};

use super::joined;
use crate::merge::{SpanLink, to_u32};

/// A part can be a host of another one, which is joined next.
const ROUNDS_MAX: usize = 4;

/// Links to parts from the spans of the one request that they can be of, in addition to
/// `links`.
pub(super) fn join(spans: &[Span], links: &[SpanLink]) -> Vec<SpanLink> {
    let (mut sets, _) = joined(spans.len(), links);
    let mut is_linked = vec![false; spans.len()];
    links.iter().for_each(|link| is_linked[link.to as usize] = true);
    let mut at: FxHashMap<(&str, Place), Vec<u32>> = FxHashMap::default();
    for span in spans {
        at.extend(span.hosts.iter().map(|&place| ((&*span.node, place), Vec::new())));
    }
    for (index, span) in (0..).zip(spans) {
        for place in span.events.iter().map(Event::place) {
            if let Some(known) =
                at.get_mut(&(&*span.node, place)).filter(|known| known.last() != Some(&index))
            {
                known.push(index);
            }
        }
    }
    let mut out = Vec::new();
    for _ in 0..ROUNDS_MAX {
        let n_before = out.len();
        for (index, span) in spans.iter().enumerate().filter(|(_, span)| !span.hosts.is_empty()) {
            let to = to_u32(index);
            let hosts: Vec<&[u32]> = span.hosts.iter().map(|&place| &at[&(&*span.node, place)][..]).collect();
            // A host that an earlier output had, or that two have, is unknown.
            let known: Option<Vec<u32>> =
                hosts.iter().map(|of_place| if let [host] = of_place { Some(*host) } else { None }).collect();
            let Some(known) = known.filter(|_| !is_linked[index]) else { continue };
            let is_one = known.iter().all(|&host| sets.root(host) == sets.root(known[0]));
            if is_one && sets.join(known[0], to) {
                is_linked[index] = true;
                out.push(SpanLink { from: known[0], to, pair: None });
            }
        }
        if out.len() == n_before {
            break;
        }
    }
    out
}

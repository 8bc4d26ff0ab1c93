//! Hosts: what is a part of one of several spans, nothing tells of which, is of their
//! request if they are all of one.
//!
//! Where no thread is printed, the mapper finds between which records of which spans a
//! line can have been printed. Two tasks of one request that do the same at the same time
//! print the same lines: whose each of them is does not matter to the request.

use rustc_hash::FxHashMap;
use schema::{Pass, Place};

use super::facts::Facts;
use super::joined;
use crate::merge::{Sets, SpanLink, to_u32};
use crate::skeleton::{Event, Span};

/// A part can be a host of another one, which is joined next.
const ROUNDS_MAX: usize = 4;

/// The spans that each part can be of.
#[derive(Debug)]
pub(super) struct Hosts {
    of_part: FxHashMap<u32, Vec<u32>>,
}

impl Hosts {
    /// Of `spans`. A part is left out if a span of it is not known: it was read with an
    /// earlier log.
    pub(super) fn new(spans: &[Span]) -> Self {
        let mut at: FxHashMap<(&str, Place), Vec<u32>> = FxHashMap::default();
        for span in spans {
            at.extend(span.hosts.iter().map(|&place| ((&*span.node, place), Vec::new())));
        }
        for (index, span) in (0..).zip(spans) {
            for place in span.events.iter().map(Event::place) {
                let known = at.get_mut(&(&*span.node, place));
                if let Some(known) = known.filter(|known| known.last() != Some(&index)) {
                    known.push(index);
                }
            }
        }
        let host = |span: &Span, place: &Place| match at[&(&*span.node, *place)][..] {
            [host] => Some(host),
            _ => None,
        };
        let hosts = |span: &Span| span.hosts.iter().map(|place| host(span, place)).collect::<Option<_>>();
        let parts = spans.iter().enumerate().filter(|(_, span)| !span.hosts.is_empty());
        Self { of_part: parts.filter_map(|(index, span)| Some((to_u32(index), hosts(span)?))).collect() }
    }

    /// Whether `part` can be of spans that are of several requests.
    pub(super) fn are_of_several(&self, sets: &mut Sets, part: u32) -> bool {
        let Some(hosts) = self.of_part.get(&part) else { return false };
        hosts.iter().any(|&host| sets.root(host) != sets.root(hosts[0]))
    }

    /// Links to parts from the spans of the one request that they can be of, in addition to
    /// `links`.
    pub(super) fn join(&self, facts: &Facts<'_>, links: &[SpanLink]) -> Vec<SpanLink> {
        let (mut sets, mut is_linked) = joined(facts, links);
        let mut parts: Vec<(u32, u32)> = self.of_part.iter().map(|(&part, hosts)| (part, hosts[0])).collect();
        parts.sort_unstable();
        let mut out = Vec::new();
        for _ in 0..ROUNDS_MAX {
            let n_before = out.len();
            for &(to, from) in &parts {
                let is_one = !is_linked[to as usize] && !self.are_of_several(&mut sets, to);
                if is_one && sets.join(from, to) {
                    is_linked[to as usize] = true;
                    out.push(SpanLink { from, to, pair: None, by: Pass::Hosts });
                }
            }
            if out.len() == n_before {
                break;
            }
        }
        out
    }
}

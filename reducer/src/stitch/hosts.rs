//! Hosts: the spans that a part can be of, where nothing tells of which.
//!
//! Where no thread is printed, the mapper finds between which records of which spans a
//! line can have been printed. A part that can be of several requests is joined to none.

use rustc_hash::FxHashMap;
use schema::Place;

use crate::merge::{Sets, to_u32};
use crate::skeleton::{Event, Span};

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
}

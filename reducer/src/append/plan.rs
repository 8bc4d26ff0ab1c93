//! What is learnt of all spans of an append before a period of it is decided: when periods begin, who
//! made what is still named in each, how clocks were moved, from when on what is at work may go on.
//! All of it is a function of the set of spans, so that it does not matter who decides which period
//! when.

use std::collections::BTreeMap;

use schema::kinds::is_made;
use schema::{InputAccount, Name, Place, Result};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use super::open;
use super::periods::{self, Periods};
use crate::Config;
use crate::clocks::{Moved, Witnesses};
use crate::merge::to_u32;
use crate::skeleton::{Span, Stored};
use crate::spill::{self, Spill, Store};

/// A span: when it begins, µs by clocks that were moved, on which node and where there.
type Maker = (i64, Name, Place);

/// What was learnt.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Plan {
    /// When each period begins, µs.
    pub(super) begins_us: Vec<i64>,
    /// Events of the spans that begin in each.
    pub(super) n_events: Vec<u64>,
    /// Who was the first to name what is still named in each.
    pub(super) makers: Vec<Vec<Maker>>,
    /// How the clocks of nodes were moved.
    moved: BTreeMap<Name, i64>,
    /// From when on what is at work may go on, µs.
    pub(super) open_from_us: i64,
    /// From when on what is at work is decided again with what is appended next, µs.
    pub(super) revised_from_us: i64,
}

impl Plan {
    /// What all `spans` in `stores` show, of which `read` are the accounts of what is new; and the
    /// spans in order.
    pub(super) fn of(
        (spans, stores): (Vec<Spill>, &[Store]),
        config: &Config,
        read: &[(String, InputAccount)],
    ) -> Result<(Vec<Spill>, Self)> {
        let moved = clocks_moved(stores, &spans)?;
        let spans = periods::in_order(spans, stores, &moved);
        let open_from_us = open::from_us(&spans, (stores, read), config.window_us);
        let revised_from_us = open::revised_from_us(&spans, open_from_us, config);
        let begins_us = periods::begins_us(&spans, config);
        let periods = Periods::new(spans, begins_us, config.window_us);
        let mut makers = vec![Vec::new(); periods.len()];
        if periods.len() > 1 {
            let numbers = periods.makers(|places, take| names_of(stores, places, take))?;
            let maker = |at: u32| {
                let span = &periods.spans[at as usize];
                (span.start_us, span.node(stores), span.first)
            };
            let of_period = |numbers: Vec<u32>| numbers.into_iter().map(maker).collect();
            makers = numbers.into_iter().map(of_period).collect();
        }
        let n_events =
            |period| periods.spans[periods.own(period)].iter().map(|span| u64::from(span.n_events)).sum();
        let n_events = (0..periods.len()).map(n_events).collect();
        let moved = moved.into_iter().collect();
        let Periods { spans, begins_us, .. } = periods;
        Ok((spans, Self { begins_us, n_events, makers, moved, open_from_us, revised_from_us }))
    }

    /// The periods of `spans`, which are in order; of makers those that are among these.
    pub(super) fn periods(&self, spans: Vec<Spill>, stores: &[Store], overlap_us: i64) -> Periods {
        let mut periods = Periods::new(spans, self.begins_us.clone(), overlap_us);
        let find = |(start_us, node, first): &Maker| {
            let key = (*start_us, node.as_str(), *first);
            let of = |span: &Spill| (span.start_us, span.node(stores).as_str(), span.first);
            periods.spans.binary_search_by(|span| of(span).cmp(&key)).ok().map(to_u32)
        };
        let makers: Vec<Vec<u32>> =
            self.makers.iter().map(|makers| makers.iter().filter_map(find).collect()).collect();
        periods.see(makers);
        periods
    }

    /// How the clocks of nodes were moved, µs.
    pub(super) fn moved(&self) -> Moved {
        self.moved.iter().map(|(node, us)| (*node, *us)).collect()
    }
}

/// Hashes of what each of the spans at these places names.
fn names_of(stores: &[Store], places: &[Stored], take: &mut dyn FnMut(usize, &[u64])) -> Result<()> {
    let (mut at, mut names) = (0, Vec::new());
    spill::read_in_parts(stores, places, |_, span| {
        let texts = span.identifiers.iter().map(|value| &*value.text).filter(|text| is_made(text));
        names.clear();
        names.extend(texts.map(|text| xxh3_64(text.as_bytes())));
        take(at, &names);
        at += 1;
        Ok(())
    })
}

/// How the clocks of nodes are to be moved that were set back.
fn clocks_moved(stores: &[Store], spans: &[Spill]) -> Result<Moved> {
    let mut witnesses = Witnesses::default();
    stores.iter().for_each(|store| witnesses.see_clock(store.node, &store.late_us));
    if witnesses.are_asked() {
        let places: Vec<Stored> = spans.iter().map(|span| span.stored).collect();
        spill::read_in_parts(stores, &places, |stored, span| {
            witnesses.add(&Span::new(span, stored));
            Ok(())
        })?;
    }
    Ok(witnesses.moved())
}

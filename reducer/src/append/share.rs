//! A share: the periods in a row that one process decides, side by side on all cores. First the
//! links of each period, then what they hold together, then the rows of what begins in each.
//!
//! ```text
//! periods    |    1    |    2    |    3    |      each alone: links that it owns, clocks
//! requests    aaa bbb---bbb--bbb  cc---ccc        over all of them: what hangs together
//! rows       | a, b    |         | c       |      each alone, with the period of the first span
//! ```

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};
use schema::tables::{LogSequenceRow, Text};
use schema::{Accumulator, Error, ErrorKind, Event, Model, Name, Place, Probability, Result, TraceId};
use serde::{Deserialize, Serialize};

use super::AddedRequests;
use super::open::{OpenRequest, OpenSpan};
use super::periods::Periods;
use crate::clocks::{self, Moved};
use crate::finish::{Clocks, Finished, Names, Requests, Rows};
use crate::id_lives::{self, IdLives, Life};
use crate::merge::{Request, SpanLink, assemble, to_u32};
use crate::relations::{self, Fact};
use crate::requests::{Linked, is_used, whole};
use crate::skeleton::Stored;
use crate::spill::{self, Store};
use crate::table::{DataFile, Part};
use crate::{Config, IdField};

/// What an event takes in memory, at most, while its period is decided: measured 0.8 to 3 kB.
const BYTES_PER_EVENT: u64 = 4096;

/// What all periods of an append go by.
#[derive(Clone, Copy)]
pub(super) struct Share<'a> {
    pub(super) model: &'a Model,
    pub(super) config: &'a Config,
    pub(super) periods: &'a Periods,
    pub(super) stores: &'a [Store],
    /// How the clocks of nodes were moved.
    pub(super) moved: &'a Moved,
    /// What is known of ids whose requests are over.
    pub(super) lives: &'a IdLives,
}

/// What one period has decided.
struct Period {
    /// Its links, between spans by their numbers.
    links: Links,
    /// When each span that begins in it does, µs, by the clocks that the order goes by.
    order_us: Vec<i64>,
    /// Hashes of the ids that these carry; empty: none does.
    traces: Vec<Option<u64>>,
    shown: Shown,
}

/// What the spans that a period sees show.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Shown {
    pub(super) clocks: Clocks,
    pub(super) id_fields: Vec<IdField>,
    pub(super) ids: BTreeMap<u64, Life>,
}

/// Which spans of a share can be of one request with what begins in later shares.
#[derive(Default)]
pub(super) struct Later {
    /// Those that end at this time or later, µs; none: there is no later share.
    pub(super) from_us: Option<i64>,
    /// And these.
    pub(super) makers: FxHashSet<u32>,
}

/// Links between spans by their numbers, and how sure each is.
pub(super) type Links = Vec<(SpanLink, Probability)>;

/// What is left to who knows the other shares: spans that are linked with what begins earlier, or
/// can be with what begins later, and all that hangs together with them.
#[derive(Default)]
pub(super) struct Left {
    /// In order.
    pub(super) spans: Vec<u32>,
    /// Of these, and from such as begin earlier.
    pub(super) links: Links,
}

/// Requests of a share.
pub(super) struct Joined {
    /// Which periods the share is.
    periods: Range<usize>,
    /// The numbers of spans, in canonical order.
    order: Vec<u32>,
    /// By their first span; of spans by their places in `order`.
    requests: Vec<Request<u32>>,
    /// The ids that spans carry, by their numbers; empty: none does.
    traces: FxHashMap<u32, u64>,
    /// When each span begins, µs, by the clocks that the order goes by; by its number, those of the
    /// share alone.
    order_us: FxHashMap<u32, i64>,
    /// By period.
    pub(super) shown: Vec<Shown>,
    pub(super) left: Left,
}

impl<'a> Share<'a> {
    /// Links the spans that begin in some periods, and joins what hangs together.
    ///
    /// # Errors
    /// I/O errors, naming the folder in which spans are.
    pub(super) fn join(&self, range: Range<usize>, later: &Later) -> Result<Joined> {
        let periods = self.periods;
        let (mut links, mut order_us, mut traces, mut shown) = <(Links, Vec<_>, Vec<_>, Vec<_>)>::default();
        for some in self.side_by_side(range.clone())? {
            let decided: Vec<Period> =
                some.into_par_iter().map(|period| self.decide(period)).collect::<Result<_>>()?;
            for period in decided {
                links.extend(period.links);
                order_us.extend(period.order_us);
                traces.extend(period.traces);
                shown.push(period.shown);
            }
        }
        let own = periods.own_of(range.clone());
        let numbers = to_u32(own.start)..to_u32(own.end);
        let (links, across): (Links, Links) =
            links.into_iter().partition(|(link, _)| numbers.contains(&link.from.min(link.to)));
        let (order, mut requests) = self.hang_together((numbers.clone().collect(), &order_us), &links);
        let mut is_left = vec![false; order.len()];
        let linked = across.iter().map(|(link, _)| link.from.max(link.to));
        let ends_late = |at: &u32| later.from_us.is_some_and(|us| periods.spans[*at as usize].end_us >= us);
        let may_go_on = numbers.clone().filter(ends_late).chain(later.makers.iter().copied());
        for at in linked.chain(may_go_on).filter(|at| numbers.contains(at)) {
            is_left[(at - numbers.start) as usize] = true;
        }
        let is_out = |request: &Request<u32>| {
            request.spans.iter().any(|&at| is_left[(order[at as usize] - numbers.start) as usize])
        };
        let out: Vec<Request<u32>> = requests.extract_if(.., |request| is_out(request)).collect();
        let mut left = Left { spans: Vec::new(), links: across };
        for Request { spans, links } in out {
            let number = |at: u32| order[spans[at as usize] as usize];
            left.links.extend(links.iter().map(|link| {
                let (from, to) = (number(link.from), number(link.to));
                (SpanLink { from, to, pair: link.pair, by: link.by }, link.probability)
            }));
            left.spans.extend((0..to_u32(spans.len())).map(number));
        }
        left.spans.sort_unstable();
        let traces = numbers.clone().zip(traces).filter_map(|(at, hash)| Some((at, hash?))).collect();
        let order_us = left.spans.iter().map(|&at| (at, order_us[(at - numbers.start) as usize])).collect();
        Ok(Joined { periods: range, order, requests, traces, order_us, shown, left })
    }

    /// Requests of spans that several shares have left, by what these have said of them.
    pub(super) fn join_left(
        &self,
        (order_us, traces): (&[i64], FxHashMap<u32, u64>),
        links: &Links,
        shown: Vec<Shown>,
    ) -> Joined {
        let all = (0..to_u32(self.periods.spans.len())).collect();
        let (order, requests) = self.hang_together((all, order_us), links);
        let periods = 0..self.periods.len();
        let (order_us, left) = (FxHashMap::default(), Left::default());
        Joined { periods, order, requests, traces, order_us, shown, left }
    }

    /// Numbers of periods that are decided side by side.
    ///
    /// # Errors
    /// There is not memory for one of them.
    fn side_by_side(&self, periods: Range<usize>) -> Result<impl Iterator<Item = Range<usize>> + use<>> {
        let mut n = rayon::current_num_threads();
        if let Some(memory_bytes) = self.config.memory_bytes {
            let most = periods.clone().map(|period| self.periods.n_events_seen(period)).max();
            let needed = most.unwrap_or_default().max(1).saturating_mul(BYTES_PER_EVENT);
            if needed > memory_bytes {
                let message = format!(
                    "a period of {} events can take {} MB, and {} are allowed: allow more, or take a shorter --window, of which a period has four at least",
                    most.unwrap_or_default(),
                    needed.div_ceil(1_000_000),
                    memory_bytes / 1_000_000
                );
                let message = std::io::Error::new(std::io::ErrorKind::OutOfMemory, message);
                return Err(Error::new(Path::new("--memory"), ErrorKind::Io(message)));
            }
            n = n.min(usize::try_from(memory_bytes / needed).unwrap_or(usize::MAX));
        }
        Ok(periods.clone().step_by(n).map(move |first| first..(first + n).min(periods.end)))
    }

    /// The numbers of spans in canonical order, and what hangs together of them, by places in that.
    fn hang_together(
        &self,
        (mut order, order_us): (Vec<u32>, &[i64]),
        links: &Links,
    ) -> (Vec<u32>, Vec<Request<u32>>) {
        let Self { periods, stores, .. } = self;
        let first = order.first().copied().unwrap_or_default();
        let node = |at: u32| periods.spans[at as usize].node(stores).as_str();
        order.par_sort_unstable_by(|&a, &b| {
            let key =
                |at: u32| (order_us[(at - first) as usize], node(at), periods.spans[at as usize].first, at);
            key(a).cmp(&key(b))
        });
        let mut place = vec![0; order.len()];
        order.iter().zip(0..).for_each(|(&span, at)| place[(span - first) as usize] = at);
        let placed = |(link, probability): &(SpanLink, Probability)| {
            let (from, to) = (place[(link.from - first) as usize], place[(link.to - first) as usize]);
            (SpanLink { from, to, ..*link }, *probability)
        };
        let mut links: Links = links.iter().map(placed).collect();
        links.sort_unstable();
        let (links, probabilities): (Vec<SpanLink>, Vec<Probability>) = links.into_iter().unzip();
        let requests = assemble((0..to_u32(order.len())).collect(), &links, &probabilities);
        (order, requests)
    }

    /// What a period decides.
    fn decide(&self, period: usize) -> Result<Period> {
        let (periods, own) = (self.periods, self.periods.own(period));
        let seen = periods.seen(period);
        let mut spans = spill::skeletons(self.stores, &periods.stored(&seen))?;
        clocks::move_back(&mut spans, self.moved);
        let is_own = |span: u32| own.contains(&(span as usize));
        spans.iter_mut().zip(&seen).for_each(|(span, &number)| span.is_own = is_own(number));
        let numbers: FxHashMap<Stored, u32> = spans.iter().map(|span| span.stored).zip(seen).collect();
        let linked = Linked::new(self.model, spans, self.config, self.lives);
        let number = |span: u32| numbers[&linked.spans[span as usize].stored];
        let mut links = Vec::new();
        for (link, &probability) in linked.links.iter().zip(&linked.probabilities) {
            let (from, to) = (number(link.from), number(link.to));
            // The other one begins earlier, or in this period too.
            if is_own(from.max(to)) {
                links.push((SpanLink { from, to, ..*link }, probability));
            }
        }
        let has_ids = self.stores.iter().any(|store| store.has_ids);
        let mut order_us = vec![0; own.len()];
        let mut traces = vec![None; if has_ids { own.len() } else { 0 }];
        for (span, &us) in (0..).zip(&linked.order_us) {
            let Some(at) = Some(number(span)).filter(|span| is_own(*span)) else { continue };
            order_us[at as usize - own.start] = us;
            if has_ids {
                let trace = linked.spans[span as usize].trace.as_ref();
                traces[at as usize - own.start] = trace.map(|trace| id_lives::hash(&trace.text));
            }
        }
        let clocks = clocks_of(self.model, &linked);
        let Linked { id_fields, ids, .. } = linked;
        Ok(Period { links, order_us, traces, shown: Shown { clocks, id_fields, ids } })
    }
}

/// What the hand-offs of a period show of the clocks of nodes.
fn clocks_of(model: &Model, linked: &Linked) -> Clocks {
    let all = (0..to_u32(linked.spans.len())).collect();
    let requests = assemble(all, &linked.links, &linked.probabilities);
    let span = |request: usize, span: usize| &linked.spans[requests[request].spans[span] as usize];
    let outline = |request: usize| {
        let spans = (0..requests[request].spans.len()).map(|at| span(request, at).outline());
        Cow::Owned(Accumulator { spans: spans.collect(), links: requests[request].links.clone() })
    };
    Clocks::of(model, requests.len(), outline, |request, at| span(request, at).node)
}

impl Joined {
    /// How many requests are at work at this time or later, µs.
    pub(super) fn n_at_work(&self, share: &Share<'_>, from_us: i64) -> u64 {
        self.are_at_work(share, from_us).into_iter().filter(|is_one| *is_one).count() as u64
    }

    /// Which requests are, by their number: one of their spans ends then or later.
    pub(super) fn are_at_work(&self, share: &Share<'_>, from_us: i64) -> Vec<bool> {
        let end_us = |&at: &u32| share.periods.spans[self.order[at as usize] as usize].end_us;
        self.requests.iter().map(|request| request.spans.iter().any(|at| end_us(at) >= from_us)).collect()
    }

    /// The spans of the requests that `are_open`, of which those may go on that are at work at this time
    /// or later, µs; `names` gives the ids.
    pub(super) fn open_spans(
        &self,
        (share, names): (&Share<'_>, &Names<'_>),
        are_open: &[bool],
        from_us: i64,
    ) -> Vec<OpenSpan> {
        let may_go_on = self.are_at_work(share, from_us);
        let span = |at: u32| &share.periods.spans[self.order[at as usize] as usize];
        let mut spans = Vec::new();
        let requests = self.requests.iter().zip(may_go_on).zip(are_open);
        for ((request, may_go_on), _) in requests.filter(|(_, is_open)| **is_open) {
            let (node, first) = span(request.spans[0]).key(share.stores);
            let request_of = OpenRequest { id: names.request_number(&node, first), may_go_on };
            let open = |&at: &u32| OpenSpan { stored: span(at).stored, request: request_of };
            spans.extend(request.spans.iter().map(open));
        }
        spans
    }

    /// Hashes of the ids of the requests that `are_open`.
    pub(super) fn open_ids(&self, are_open: &[bool]) -> FxHashSet<u64> {
        let open = self.requests.iter().zip(are_open).filter(|(_, is_open)| **is_open);
        let spans = open.flat_map(|(request, _)| &request.spans).map(|&at| self.order[at as usize]);
        spans.filter_map(|span| self.traces.get(&span).copied()).collect()
    }

    /// What is known of a span that is left: when it begins, µs, by the clocks that the order goes by,
    /// and the hash of its id.
    pub(super) fn of_left(&self, span: u32) -> (i64, Option<u64>) {
        (self.order_us[&span], self.traces.get(&span).copied())
    }

    /// The requests of which the first span begins in each period of the share.
    fn by_period(&self, share: &Share<'_>) -> Vec<Vec<u32>> {
        let mut of = vec![Vec::new(); self.periods.len()];
        for (request, at) in self.requests.iter().zip(0..) {
            let first = self.order[request.spans[0] as usize] as usize;
            of[share.periods.of(share.periods.spans[first].start_us) - self.periods.start].push(at);
        }
        of
    }

    /// Makes the rows of all requests, in data files of the parts with the numbers of their periods,
    /// and of the records of `unattributed` with those of the last one; gives `take` what was made of
    /// each period, in order.
    ///
    /// # Errors
    /// I/O errors; those of `take`.
    pub(super) fn add_rows<'n>(
        &self,
        share: &Share<'_>,
        (names, unattributed): (&'n Names<'n>, &'n [(String, Event)]),
        are_open: &[bool],
        part: impl Fn(u64) -> Part + Sync,
        mut take: impl FnMut(usize, Made) -> Result<()>,
    ) -> Result<()> {
        let by_period = self.by_period(share);
        let first = self.periods.start;
        let make = |period: usize| -> Result<Made> {
            let is_last = period + 1 == self.periods.end;
            let of_none = if is_last { unattributed } else { &[] };
            let (requests, shown) = (&by_period[period - first], &self.shown[period - first]);
            let are_open: Vec<bool> = requests
                .iter()
                .map(|&at| are_open.get(at as usize).is_some_and(|is_open| *is_open))
                .collect();
            let of_period = OfPeriod { share, joined: self, shown, requests };
            let clocks = &shown.clocks;
            let rows = Finished::new(names, clocks, of_period, of_none, &are_open);
            Made::new(rows, part(period as u64))
        };
        for some in share.side_by_side(self.periods.clone())? {
            let made: Vec<Made> = some.clone().into_par_iter().map(make).collect::<Result<_>>()?;
            some.zip(made).try_for_each(|(period, made)| take(period, made))?;
        }
        Ok(())
    }
}

/// The requests of one period, of which the whole spans are in stores.
struct OfPeriod<'s> {
    share: &'s Share<'s>,
    joined: &'s Joined,
    shown: &'s Shown,
    requests: &'s [u32],
}

impl OfPeriod<'_> {
    fn request(&self, at: usize) -> &Request<u32> {
        &self.joined.requests[self.requests[at] as usize]
    }

    fn span(&self, at: u32) -> &spill::Spill {
        &self.share.periods.spans[self.joined.order[at as usize] as usize]
    }
}

impl Requests for OfPeriod<'_> {
    fn len(&self) -> usize {
        self.requests.len()
    }

    fn begins(&self, request: usize) -> (i64, Name, Place) {
        let spans = &self.request(request).spans;
        let start_us = spans.iter().map(|&at| self.span(at).start_us).min().unwrap_or_default();
        let first = self.span(spans[0]);
        (start_us, first.node(self.share.stores), first.first)
    }

    fn read(&self, requests: &[u32]) -> Result<Vec<Cow<'_, Accumulator>>> {
        let Share { model, stores, moved, .. } = *self.share;
        let of = |&request: &u32| self.request(request as usize);
        let places = requests.iter().flat_map(|request| &of(request).spans);
        let places: Vec<Stored> = places.map(|&at| self.span(at).stored).collect();
        let mut spans = spill::read(stores, &places)?.into_iter();
        let fields = &self.shown.id_fields;
        let is_used = |trace: &TraceId| is_used(fields, trace.field);
        let read = |request: &Request<u32>| {
            let spans = spans.by_ref().take(request.spans.len()).collect();
            Cow::Owned(whole(model, moved, is_used, (spans, request.links.clone())))
        };
        Ok(requests.iter().map(of).map(read).collect())
    }
}

/// The requests that `spans` of `stores` become, by their first span.
#[cfg(test)]
pub(crate) fn requests(
    model: &Model,
    spans: Vec<spill::Spill>,
    stores: &[Store],
    config: &Config,
) -> Vec<Accumulator> {
    let (spans, plan) = super::plan::Plan::of((spans, stores), config, &[]).expect("read");
    let (periods, moved) = (plan.periods(spans, stores, config.window_us), plan.moved());
    let (lives, moved) = (&IdLives::default(), &moved);
    let share = Share { model, config, periods: &periods, stores, moved, lives };
    let joined = share.join(0..periods.len(), &Later::default()).expect("read");
    let mut all = Vec::new();
    for (period, requests) in joined.by_period(&share).iter().enumerate() {
        let of_period = OfPeriod { share: &share, joined: &joined, shown: &joined.shown[period], requests };
        // Some at a time, and not in the order in which they were written.
        let order: Vec<u32> = (0..to_u32(requests.len())).rev().collect();
        let read = order.chunks(3).flat_map(|some| of_period.read(some).expect("read"));
        let mut whole: Vec<Accumulator> = read.map(Cow::into_owned).collect();
        whole.reverse();
        for (at, whole) in whole.iter().enumerate() {
            let start_us = whole.spans.iter().flat_map(|span| &span.events).map(|event| event.ts_us).min();
            let (begins_us, node, first) = of_period.begins(at);
            assert_eq!(start_us, Some(begins_us));
            assert_eq!((node, first), (whole.spans[0].node, whole.spans[0].events[0].place()));
        }
        all.append(&mut whole);
    }
    all
}

/// Rows of one period that are in data files.
#[derive(Default)]
pub(super) struct Made {
    pub(super) files: Vec<DataFile>,
    pub(super) requests: AddedRequests,
    pub(super) n_events: u64,
    /// By id; those of open requests apart.
    pub(super) log_sequences: [BTreeMap<Text, LogSequenceRow>; 2],
    /// What decides on relations.
    pub(super) facts: Vec<Fact>,
}

impl Made {
    /// Adds rows to a part as they are made, the next ones while those before are written.
    fn new(mut rows: Finished<'_, impl Requests + Send>, mut part: Part) -> Result<Self> {
        let mut made = Self::default();
        let mut next = rows.next().transpose()?;
        while let Some(mut some) = next {
            some.requests.iter().for_each(|row| made.requests.add(row));
            made.facts.extend(relations::facts(&some));
            made.n_events += some.events.len() as u64;
            for row in std::mem::take(&mut some.log_sequences) {
                let known = &mut made.log_sequences[usize::from(some.is_open)];
                known.entry(row.log_sequence_id.clone()).or_insert(row);
            }
            let (added, after): (Result<()>, Option<Result<Rows>>) =
                rayon::join(|| part.add(some), || rows.next());
            added?;
            next = after.transpose()?;
        }
        made.files = part.finish()?;
        Ok(made)
    }
}

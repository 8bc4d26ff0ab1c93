//! The four layers of tprof (§3.2 to §3.4, §3.6): all requests, those of a type, those of a
//! tree of spans, those of an order of starts and ends; each group with its metrics over all
//! of its requests, the normal ones and the tail.

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::groups::{Groups, length};
use super::statistics::{Statistics, Summary};

/// A layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Layer {
    /// Layer 1: all requests.
    All,
    /// Layer 2: by type.
    Type,
    /// Layer 3: by tree.
    Tree,
    /// Layer 4: by order.
    Order,
}

impl Layer {
    /// All of them.
    pub(crate) const ALL: [Self; 4] = [Self::All, Self::Type, Self::Tree, Self::Order];

    /// 1 to 4.
    pub(crate) fn number(self) -> u8 {
        self as u8 + 1
    }
}

/// What is measured, with tprof's names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Metric {
    /// From the first to the last event of a request.
    Request,
    /// From the start to the end of an operation; of a span in layers 3 and 4.
    Operation,
    /// That without the time in which children run that it waits for.
    OperationSelf,
    /// From the start of the child before (or of the span) to that of this one.
    ChildDiff(u32),
    /// From the end of the child that ends last to the end of the span.
    EndDiff,
    /// A subspan, by number.
    Subspan(u32),
    /// From the end of a span to the start of one that it has handed over to.
    HandOver,
}

impl Metric {
    /// Its name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Request => "request",
            Self::Operation => "operation",
            Self::OperationSelf => "operation_self",
            Self::ChildDiff(_) => "child_diff",
            Self::EndDiff => "end_diff",
            Self::Subspan(_) => "subspan",
            Self::HandOver => "hand_over",
        }
    }

    /// Which child or subspan, from 0.
    pub(crate) fn index(self) -> Option<u32> {
        match self {
            Self::ChildDiff(index) | Self::Subspan(index) => Some(index),
            _ => None,
        }
    }
}

/// A span of a group of layer 4: the group, and the place in it.
pub(crate) type Spot = (u32, u32);

impl Groups {
    /// Hands `take` a metric of each request of a spot, with the request.
    pub(crate) fn each(&self, (group, at): Spot, metric: Metric, mut take: impl FnMut(u32, i64)) {
        let group = &self.groups[group as usize];
        let place = &group.places[at as usize];
        let whole = [(2 * at, 2 * at + 1)];
        let child = |k: u32| place.children.get(k as usize).map(|&child| 2 * child);
        let one;
        let stretches: &[(u32, u32)] = match metric {
            Metric::Request => &[],
            Metric::Operation => &whole,
            Metric::OperationSelf => &place.own,
            Metric::Subspan(j) => place.subspans.get(j as usize).map_or(&[], std::slice::from_ref),
            Metric::HandOver => place.hand_over.as_slice(),
            Metric::EndDiff => {
                one = place.last_child.map(|last| (2 * last + 1, 2 * at + 1));
                one.as_slice()
            }
            Metric::ChildDiff(k) => {
                let before = k.checked_sub(1).map_or(Some(2 * at), child);
                one = before.zip(child(k));
                one.as_slice()
            }
        };
        if metric == Metric::Request {
            group.requests.iter().for_each(|&r| take(r, self.requests.durations_us[r as usize]));
        } else if !stretches.is_empty() {
            for (&request, row) in group.requests.iter().zip(group.rows()) {
                take(request, stretches.iter().map(|&stretch| length(stretch, row)).sum());
            }
        }
    }

    /// A metric of several spots over all requests, and over those in and out of the tail.
    pub(crate) fn summary(&self, spots: &[Spot], metric: Metric, is_tail: impl Fn(u32) -> bool) -> Summary {
        let (mut all, mut normal, mut tail) = (Vec::new(), Vec::new(), Vec::new());
        for &spot in spots {
            self.each(spot, metric, |request, us| {
                all.push(us);
                if is_tail(request) { tail.push(us) } else { normal.push(us) }
            });
        }
        Summary {
            all: Statistics::of(&mut all),
            normal: Statistics::of(&mut normal),
            tail: Statistics::of(&mut tail),
        }
    }
}

/// The slowest requests of each group of each layer.
#[derive(Clone, Debug)]
pub(crate) struct Tails(Vec<u8>);

impl Tails {
    /// The slowest `percent` % of each group, at least one; of equally slow ones those that
    /// came last.
    pub(crate) fn new(groups: &Groups, percent: f64) -> Self {
        let mut tails = Self(vec![0; groups.requests.len()]);
        let everything: Vec<u32> = (0..groups.groups.len() as u32).collect();
        tails.mark(groups, &everything, Layer::All, percent);
        for (_, of_type) in groups.by_type() {
            tails.mark(groups, &of_type, Layer::Type, percent);
            for tree in groups.by_tree(&of_type) {
                tails.mark(groups, &tree, Layer::Tree, percent);
                for &order in &tree {
                    tails.mark(groups, &[order], Layer::Order, percent);
                }
            }
        }
        tails
    }

    fn mark(&mut self, groups: &Groups, of: &[u32], layer: Layer, percent: f64) {
        let mut members: Vec<(i64, u32)> =
            groups.members(of).map(|r| (groups.requests.durations_us[r as usize], r)).collect();
        // As many as are not below the quantile, like tprof: of 19 and 10 % it is two.
        let n_normal = (members.len() as f64 * (100.0 - percent) / 100.0 + 1e-9).floor() as usize;
        if n_normal == 0 || n_normal >= members.len() {
            // One request is no tail of itself.
            return;
        }
        members.select_nth_unstable(n_normal);
        for &(_, request) in &members[n_normal..] {
            self.0[request as usize] |= 1 << layer as u8;
        }
    }

    /// Whether a request is in the tail of its group of `layer`.
    pub(crate) fn has(&self, layer: Layer, request: u32) -> bool {
        self.0[request as usize] & (1 << layer as u8) != 0
    }
}

/// A metric of a group of a layer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LayerRow {
    /// The operation; of a hand-over both; the type or nothing for `request`.
    pub(crate) name: String,
    /// In layers 3 and 4: the place of the span, and the operations from the root to it.
    pub(crate) place: Option<(u32, String)>,
    /// What is measured.
    pub(crate) metric: Metric,
    /// Its figures.
    pub(crate) summary: Summary,
}

/// A group of a layer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LayerGroup {
    /// Its layer.
    pub(crate) layer: Layer,
    /// 12 hex digits in layers 3 and 4, the type in layer 2, `all` in layer 1.
    pub(crate) id: String,
    /// The type of its requests; none in layer 1.
    pub(crate) request_type: Option<String>,
    /// Requests in it.
    pub(crate) n_requests: u64,
    /// Its metrics.
    pub(crate) rows: Vec<LayerRow>,
}

/// All groups of a layer with all of their metrics.
pub(crate) fn layer(groups: &Groups, tails: &Tails, layer: Layer) -> Vec<LayerGroup> {
    let types = groups.by_type().into_iter().map(|(_, of_type)| of_type);
    let members: Vec<Vec<u32>> = match layer {
        Layer::All => vec![(0..groups.groups.len() as u32).collect()],
        Layer::Type => types.collect(),
        Layer::Tree => types.flat_map(|of_type| groups.by_tree(&of_type)).collect(),
        Layer::Order => {
            let orders = types.flat_map(|of_type| groups.by_tree(&of_type)).flatten();
            orders.map(|order| vec![order]).collect()
        }
    };
    members.par_iter().map(|of| group(groups, tails, layer, of)).collect()
}

/// A group of a layer with all of its metrics; `of` are its groups of layer 4.
pub(crate) fn group(groups: &Groups, tails: &Tails, layer: Layer, of: &[u32]) -> LayerGroup {
    match layer {
        Layer::All => by_name(groups, tails, layer, of, None),
        Layer::Type => by_name(groups, tails, layer, of, Some(groups.groups[of[0] as usize].request_type)),
        Layer::Tree | Layer::Order => by_place(groups, tails, layer, of),
    }
}

/// 12 digits of a digest tell groups apart.
pub(crate) fn short_id(digest: u128) -> String {
    format!("{:012x}", digest >> 80)
}

/// What layers 1 and 2 tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Subject {
    /// An operation.
    Operation(u32),
    /// A hand-over for which nobody waits, from and to an operation.
    HandOver(u32, u32),
}

impl Subject {
    /// Its name.
    pub(crate) fn name(self, groups: &Groups) -> String {
        match self {
            Self::Operation(operation) => groups.names.name(operation).to_owned(),
            Self::HandOver(from, to) => {
                format!("{} -> {}", groups.names.name(from), groups.names.name(to))
            }
        }
    }

    /// What of it is its own time.
    pub(crate) fn own(self) -> Metric {
        match self {
            Self::Operation(_) => Metric::OperationSelf,
            Self::HandOver(..) => Metric::HandOver,
        }
    }
}

/// Where each operation and each hand-over is in some groups of layer 4, by name.
pub(crate) fn subjects(groups: &Groups, of: &[u32]) -> Vec<(Subject, Vec<Spot>)> {
    let mut found: BTreeMap<Subject, Vec<Spot>> = BTreeMap::new();
    for &number in of {
        let group = &groups.groups[number as usize];
        for (at, place) in (0..).zip(&group.places) {
            found.entry(Subject::Operation(place.operation)).or_default().push((number, at));
            if let (Some(_), Some(parent)) = (place.hand_over, place.parent) {
                let from = group.places[parent as usize].operation;
                found.entry(Subject::HandOver(from, place.operation)).or_default().push((number, at));
            }
        }
    }
    let mut found: Vec<(Subject, Vec<Spot>)> = found.into_iter().collect();
    found.sort_by_cached_key(|(subject, _)| (subject.own(), subject.name(groups)));
    found
}

fn by_name(groups: &Groups, tails: &Tails, layer: Layer, of: &[u32], name: Option<u32>) -> LayerGroup {
    let request_type = name.map(|name| groups.names.name(name).to_owned());
    let spots: Vec<Spot> = of.iter().map(|&group| (group, 0)).collect();
    let mut jobs = vec![(request_type.clone().unwrap_or_default(), spots, Metric::Request)];
    for (subject, spots) in subjects(groups, of) {
        if let Subject::Operation(_) = subject {
            jobs.push((subject.name(groups), spots.clone(), Metric::Operation));
        }
        jobs.push((subject.name(groups), spots, subject.own()));
    }
    let row = |(name, spots, metric): (String, Vec<Spot>, Metric)| LayerRow {
        name,
        place: None,
        metric,
        summary: groups.summary(&spots, metric, |request| tails.has(layer, request)),
    };
    LayerGroup {
        layer,
        id: request_type.clone().unwrap_or_else(|| "all".to_owned()),
        request_type,
        n_requests: groups.members(of).count() as u64,
        rows: jobs.into_par_iter().map(row).collect(),
    }
}

/// The operations from the root to a place.
pub(crate) fn path(groups: &Groups, (group, place): Spot) -> String {
    let places = &groups.groups[group as usize].places;
    let mut names = Vec::new();
    let mut at = Some(place);
    while let Some(here) = at {
        names.push(groups.names.name(places[here as usize].operation));
        at = places[here as usize].parent;
    }
    names.reverse();
    names.join(" > ")
}

fn by_place(groups: &Groups, tails: &Tails, layer: Layer, of: &[u32]) -> LayerGroup {
    let first = &groups.groups[of[0] as usize];
    let request_type = groups.names.name(first.request_type).to_owned();
    let summary = |at: u32, metric| {
        let spots: Vec<Spot> = of.iter().map(|&group| (group, at)).collect();
        groups.summary(&spots, metric, |request| tails.has(layer, request))
    };
    let mut rows = vec![LayerRow {
        name: request_type.clone(),
        place: None,
        metric: Metric::Request,
        summary: summary(0, Metric::Request),
    }];
    for (at, place) in (0..).zip(&first.places) {
        let mut metrics = vec![Metric::Operation, Metric::OperationSelf];
        if layer == Layer::Tree {
            metrics.extend((0..place.children.len() as u32).map(Metric::ChildDiff));
            metrics.push(Metric::EndDiff);
        } else {
            metrics.extend((0..place.subspans.len() as u32).map(Metric::Subspan));
        }
        metrics.push(Metric::HandOver);
        let row = |metric| LayerRow {
            name: groups.names.name(place.operation).to_owned(),
            place: Some((at, path(groups, (of[0], at)))),
            metric,
            summary: summary(at, metric),
        };
        rows.extend(metrics.into_iter().map(row).filter(|row| row.summary.all.count > 0));
    }
    LayerGroup {
        layer,
        id: short_id(if layer == Layer::Tree { first.tree } else { first.order }),
        request_type: Some(request_type),
        n_requests: groups.members(of).count() as u64,
        rows,
    }
}

#[cfg(test)]
mod tests;

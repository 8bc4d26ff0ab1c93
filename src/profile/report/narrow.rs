//! From an operation or hand-over down the layers: the types, the spans and the orders of
//! starts and ends in which its time is.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use super::{EXAMPLES_MAX, Finding, InOrder, Limits, Part, REGIONS_MAX, RegionShare, TAIL_RATIO, WIDTHS};
use crate::profile::bootstrap;
use crate::profile::groups::Groups;
use crate::profile::layers::{Layer, Metric, Spot, Subject, Tails, path, short_id};
use crate::profile::plan::Place;
use crate::profile::regions::{Region, Visits};
use crate::profile::statistics::{Statistics, Summary};

/// Regions by group of layer 4, place and subspan.
type Sites<'g> = FxHashMap<(u32, u32, Option<u32>), Vec<(Region, &'g Visits)>>;

pub(super) struct Search<'g> {
    groups: &'g Groups,
    tails: &'g Tails,
    limits: Limits,
    by_type: Vec<(u32, Vec<u32>)>,
    sites: Sites<'g>,
}

/// A type in which a subject takes time.
struct OfType<'s> {
    request_type: u32,
    groups: &'s [u32],
    summary: Summary,
    is_tail: bool,
}

/// A part of a span of a group of layer 3.
struct Candidate {
    tree: Vec<u32>,
    place: u32,
    part: Part,
    times: Vec<i64>,
    total_us: i128,
    n_requests: u64,
}

impl<'g> Search<'g> {
    pub(super) fn new(groups: &'g Groups, tails: &'g Tails, limits: Limits) -> Self {
        let mut sites: Sites<'g> = FxHashMap::default();
        for (site, visits) in groups.regions.sites() {
            sites.entry((site.group, site.place, site.subspan)).or_default().push((site.region, visits));
        }
        Self { groups, tails, limits, by_type: groups.by_type(), sites }
    }

    /// The lines of a subject; what layer 1 knows of it is left open.
    pub(super) fn findings(&self, subject: Subject) -> Vec<Finding> {
        let mut found = Vec::new();
        for of_type in self.types(subject) {
            let parts = self.parts(subject, &of_type);
            found.extend(parts.into_iter().map(|part| self.finding(subject, &of_type, &part)));
        }
        found
    }

    fn is_about(&self, of_type: &OfType<'_>, request: u32) -> bool {
        !of_type.is_tail || self.tails.has(Layer::Type, request)
    }

    /// Layer 2.
    fn types(&self, subject: Subject) -> Vec<OfType<'_>> {
        let mut types = Vec::new();
        for (request_type, groups) in &self.by_type {
            let spots: Vec<Spot> = groups.iter().flat_map(|&group| self.spots(group, subject)).collect();
            let is_tail = |request| self.tails.has(Layer::Type, request);
            let summary = self.groups.summary(&spots, subject.own(), is_tail);
            let is_tail = summary.tail.count >= self.limits.support
                && summary.normal.count > 0
                && summary.tail.mean_us > TAIL_RATIO * summary.normal.mean_us;
            if summary.all.total_us > 0 {
                types.push(OfType { request_type: *request_type, groups, summary, is_tail });
            }
        }
        types.sort_by_key(|of| {
            let total = if of.is_tail { of.summary.tail.total_us } else { of.summary.all.total_us };
            (std::cmp::Reverse(of.is_tail), std::cmp::Reverse(total))
        });
        types.truncate(WIDTHS[1]);
        types
    }

    /// Where a subject is in a group of layer 4.
    fn spots(&self, number: u32, subject: Subject) -> Vec<Spot> {
        let places = &self.groups.groups[number as usize].places;
        let is_it = |place: &Place| match subject {
            Subject::Operation(operation) => place.operation == operation,
            Subject::HandOver(from, to) => {
                place.operation == to
                    && place.hand_over.is_some()
                    && place.parent.is_some_and(|parent| places[parent as usize].operation == from)
            }
        };
        (0..).zip(places).filter(|(_, place)| is_it(place)).map(|(at, _)| (number, at)).collect()
    }

    /// Layer 3.
    fn parts(&self, subject: Subject, of_type: &OfType<'_>) -> Vec<Candidate> {
        let mut found = Vec::new();
        for tree in self.groups.by_tree(of_type.groups) {
            let mut parts: BTreeSet<(u32, Part)> = BTreeSet::new();
            for (group, at) in tree.iter().flat_map(|&group| self.spots(group, subject)) {
                let place = &self.groups.groups[group as usize].places[at as usize];
                parts.extend(parts_of(subject, place).into_iter().map(|part| (at, part)));
            }
            for (place, part) in parts {
                let (mut times, mut requests) = (Vec::new(), 0);
                for &group in &tree {
                    let Some(metric) = self.metric((group, place), part) else { continue };
                    self.groups.each((group, place), metric, |request, us| {
                        if self.is_about(of_type, request) {
                            times.push(us);
                            requests += 1;
                        }
                    });
                }
                let total_us: i128 = times.iter().map(|&us| i128::from(us)).sum();
                if requests >= self.limits.support && total_us > 0 {
                    let tree = tree.clone();
                    found.push(Candidate { tree, place, part, times, total_us, n_requests: requests });
                }
            }
        }
        found.sort_by_key(|candidate| std::cmp::Reverse(candidate.total_us));
        found.truncate(WIDTHS[2]);
        found
    }

    /// What is measured of a part of a span in a group of layer 4; none: it is not there.
    fn metric(&self, (group, at): Spot, part: Part) -> Option<Metric> {
        let place = &self.groups.groups[group as usize].places[at as usize];
        let last = place.subspans.len() as u32 - 1;
        match part {
            Part::HandOver => place.hand_over.map(|_| Metric::HandOver),
            Part::BeforeChild(k) => (k < last).then_some(Metric::Subspan(k)),
            Part::AfterChildren | Part::FullSpan => Some(Metric::Subspan(last)),
        }
    }

    fn finding(&self, subject: Subject, of_type: &OfType<'_>, candidate: &Candidate) -> Finding {
        let first = candidate.tree[0];
        let mean = bootstrap::mean(&candidate.times);
        Finding {
            subject,
            rank: 0,
            own: Statistics::default(),
            share: 0.0,
            request_type: of_type.request_type,
            of_type: of_type.summary,
            is_tail: of_type.is_tail,
            path: path(self.groups, (first, candidate.place)),
            part: candidate.part,
            tree: short_id(self.groups.groups[first as usize].tree),
            n_requests: candidate.n_requests,
            of_tree: Statistics::of(&mut candidate.times.clone()),
            confidence_us: (mean.low_us, mean.high_us),
            orders: self.orders(of_type, candidate),
        }
    }

    /// Layer 4.
    fn orders(&self, of_type: &OfType<'_>, candidate: &Candidate) -> Vec<InOrder> {
        let mut found: Vec<(f64, InOrder)> = Vec::new();
        for &group in &candidate.tree {
            let spot = (group, candidate.place);
            let Some(metric) = self.metric(spot, candidate.part) else { continue };
            let (mut examples, mut whole) = (Vec::new(), 0_i128);
            self.groups.each(spot, metric, |request, us| {
                if self.is_about(of_type, request) {
                    examples.push((request, us));
                }
            });
            if examples.is_empty() {
                continue;
            }
            self.groups.each(spot, Metric::Operation, |request, us| {
                whole += if self.is_about(of_type, request) { i128::from(us) } else { 0 };
            });
            let total: i128 = examples.iter().map(|(_, us)| i128::from(*us)).sum();
            let share_of_span = if whole > 0 { (total as f64 / whole as f64).min(1.0) } else { 1.0 };
            examples.sort_by_key(|&(request, us)| (std::cmp::Reverse(us), request));
            let n_requests = examples.len() as u64;
            examples.truncate(EXAMPLES_MAX);
            let is_tail = |request| self.tails.has(Layer::Type, request);
            let subspan = metric.index();
            found.push((
                total as f64 * share_of_span,
                InOrder {
                    id: short_id(self.groups.groups[group as usize].order),
                    group,
                    place: candidate.place,
                    subspan,
                    n_requests,
                    summary: self.groups.summary(&[spot], metric, is_tail),
                    share_of_span,
                    regions: self.regions(of_type, spot, subspan),
                    examples,
                },
            ));
        }
        found.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.group.cmp(&b.1.group)));
        // Where requests have hardly two of one order, better one of a single one than none.
        if found.iter().any(|(_, order)| order.n_requests >= self.limits.support) {
            found.retain(|(_, order)| order.n_requests >= self.limits.support);
        }
        found.truncate(WIDTHS[3]);
        found.into_iter().map(|(_, order)| order).collect()
    }

    /// The regions of code within a subspan, by time.
    fn regions(&self, of_type: &OfType<'_>, (group, at): Spot, subspan: Option<u32>) -> Vec<RegionShare> {
        let mut times: BTreeMap<Region, Vec<i64>> = BTreeMap::new();
        for (region, visits) in self.sites.get(&(group, at, subspan)).into_iter().flatten() {
            let about = visits.requests.iter().zip(&visits.us);
            let about = about.filter(|(request, _)| self.is_about(of_type, **request));
            times.entry(*region).or_default().extend(about.map(|(_, us)| *us));
        }
        let mut found: Vec<RegionShare> = times
            .into_iter()
            .filter(|(_, times)| !times.is_empty())
            .map(|(region, mut times)| RegionShare {
                region,
                statistics: Statistics::of(&mut times),
                share: 0.0,
            })
            .collect();
        let total: i128 = found.iter().map(|share| share.statistics.total_us).sum();
        for share in &mut found {
            share.share = share.statistics.total_us as f64 / total.max(1) as f64;
        }
        found.sort_by_key(|share| (std::cmp::Reverse(share.statistics.total_us), share.region));
        found.truncate(REGIONS_MAX);
        found
    }
}

/// The parts of a span that are looked at.
fn parts_of(subject: Subject, place: &Place) -> Vec<Part> {
    if let Subject::HandOver(..) = subject {
        return vec![Part::HandOver];
    }
    let n = place.subspans.len() as u32 - 1;
    if n == 0 {
        return vec![Part::FullSpan];
    }
    (0..n).map(Part::BeforeChild).chain([Part::AfterChildren]).collect()
}

//! What one part of the requests of a type does and the other one does not: further spans,
//! retries, another way through the log points. Of the tail and the rest, or of two
//! populations. What only one of them has is told first: it has no mean to be compared.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use super::groups::Groups;
use super::regions::Region;
use super::statistics::chance_of_shares;

/// Requests of each side that have something: (first, second).
type Counts = (u64, u64);

/// How likely a difference is by chance at most to be told, over all that are looked at (Bonferroni).
const CHANCE_MAX: f64 = 0.01;
/// How many times as often one side has it at least.
const RATIO_MIN: f64 = 4.0;
/// Regions that are told of each type.
const REGIONS_MAX: usize = 5;

/// What one side does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Deed {
    /// An operation so many times.
    Operation(u32, u32),
    /// Goes through a region of code.
    Region(Region),
}

/// A difference between two sides.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Difference {
    /// The type of the requests.
    pub(crate) request_type: u32,
    /// What the first side does.
    pub(crate) deed: Deed,
    /// Requests of the first side that do, and all of them.
    pub(crate) first: Counts,
    /// The same of the second side.
    pub(crate) second: Counts,
    /// How likely it is by chance at most, over all that were looked at.
    pub(crate) chance: f64,
}

/// What requests for which `side` is true do and those for which it is false do not, or a
/// quarter as often at most; those for which it says nothing do not count. A difference is
/// seen in `support` requests at least.
pub(crate) fn differences(
    groups: &Groups,
    side: &dyn Fn(u32) -> Option<bool>,
    support: u64,
) -> Vec<Difference> {
    let mut found = Vec::new();
    let n_looked_at = Cell::new(0_u32);
    let mut regions = deeds_of_regions(groups, side);
    for (request_type, of_type) in groups.by_type() {
        let sides = count(groups.members(&of_type), side);
        let judge = |deed: Deed, counts: Counts| {
            let (first, second) = ((counts.0, sides.0), (counts.1, sides.1));
            let share = |(n, of): Counts| n as f64 / of.max(1) as f64;
            let chance = chance_of_shares(first, second);
            let is_looked_at = counts.0 >= support && sides.1 > 0;
            n_looked_at.set(n_looked_at.get() + u32::from(is_looked_at));
            let is_told = is_looked_at && share(first) > RATIO_MIN * share(second) && chance < CHANCE_MAX;
            is_told.then_some(Difference { request_type, deed, first, second, chance })
        };
        let operations = operations(groups, &of_type, side);
        let mut told: BTreeSet<u32> = BTreeSet::new();
        for ((operation, times), counts) in operations {
            // The fewest times that tell the sides apart.
            if told.contains(&operation) {
                continue;
            }
            if let Some(difference) = judge(Deed::Operation(operation, times), counts) {
                told.insert(operation);
                found.push(difference);
            }
        }
        let of_regions = regions.remove(&request_type).unwrap_or_default();
        let mut of_regions: Vec<Difference> = of_regions
            .into_iter()
            .filter(|(region, _)| !told.contains(&region.operation))
            .filter_map(|(region, counts)| judge(Deed::Region(region), counts))
            .collect();
        of_regions.sort_by(|a, b| a.chance.total_cmp(&b.chance).then(a.deed.cmp(&b.deed)));
        of_regions.truncate(REGIONS_MAX);
        found.extend(of_regions);
    }
    for of in &mut found {
        of.chance *= f64::from(n_looked_at.get());
    }
    found.retain(|of| of.chance < CHANCE_MAX);
    found.sort_by(|a, b| {
        let is_shared = |d: &Difference| d.second.0 > 0;
        (is_shared(a), a.chance).partial_cmp(&(is_shared(b), b.chance)).expect("chances are numbers")
    });
    found
}

/// Requests of each side.
fn count(requests: impl Iterator<Item = u32>, side: &dyn Fn(u32) -> Option<bool>) -> Counts {
    requests.fold((0, 0), |(first, second), request| match side(request) {
        Some(true) => (first + 1, second),
        Some(false) => (first, second + 1),
        None => (first, second),
    })
}

/// For each operation and each number of times the requests that do it so many times at least.
fn operations(
    groups: &Groups,
    of_type: &[u32],
    side: &dyn Fn(u32) -> Option<bool>,
) -> BTreeMap<(u32, u32), Counts> {
    // (operation, times exactly): requests.
    let mut exactly: BTreeMap<(u32, u32), Counts> = BTreeMap::new();
    for &group in of_type {
        let members = count(groups.members(&[group]), side);
        let mut times: BTreeMap<u32, u32> = BTreeMap::new();
        for place in &groups.groups[group as usize].places {
            *times.entry(place.operation).or_default() += 1;
        }
        for of in times {
            let counts = exactly.entry(of).or_default();
            *counts = (counts.0 + members.0, counts.1 + members.1);
        }
    }
    let mut sum = (u32::MAX, (0, 0));
    let mut at_least = BTreeMap::new();
    for ((operation, times), counts) in exactly.into_iter().rev() {
        if sum.0 != operation {
            sum = (operation, (0, 0));
        }
        sum.1 = (sum.1.0 + counts.0, sum.1.1 + counts.1);
        at_least.insert((operation, times), sum.1);
    }
    at_least
}

/// By type and region the requests that go through it.
fn deeds_of_regions(
    groups: &Groups,
    side: &dyn Fn(u32) -> Option<bool>,
) -> BTreeMap<u32, BTreeMap<Region, Counts>> {
    let mut visitors: BTreeMap<(u32, Region), Vec<u32>> = BTreeMap::new();
    for (site, visits) in groups.regions.sites() {
        let request_type = groups.groups[site.group as usize].request_type;
        let requests = visitors.entry((request_type, site.region)).or_default();
        requests.extend(&visits.requests);
    }
    let mut found: BTreeMap<u32, BTreeMap<Region, Counts>> = BTreeMap::new();
    for ((request_type, region), mut requests) in visitors {
        requests.sort_unstable();
        requests.dedup();
        found.entry(request_type).or_default().insert(region, count(requests.into_iter(), side));
    }
    found
}

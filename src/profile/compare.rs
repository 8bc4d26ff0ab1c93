//! Two populations of requests: what differs in structure and in time, with how likely it is
//! that chance alone did that.

use std::collections::BTreeMap;

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::differences::{Difference, differences};
use super::groups::Groups;
use super::layers::{Spot, Subject, subjects};
use super::regions::Region;
use super::statistics::{Statistics, chance};

/// What a difference in time is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Measured {
    /// The duration of requests.
    Request,
    /// The own time of an operation or hand-over.
    Subject(Subject),
    /// A region of code.
    Region(Region),
}

/// How much time requests of a type spend on something in either population.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct InTime {
    /// The type.
    pub(crate) request_type: u32,
    /// On what.
    pub(crate) measured: Measured,
    /// Over all requests of the first population; those that do not do it count 0.
    pub(crate) first: Statistics,
    /// Over all of the second one.
    pub(crate) second: Statistics,
    /// How likely a difference as large is by chance, at most.
    pub(crate) chance: f64,
}

impl InTime {
    /// How much longer a request of the second population spends on it, µs on average.
    pub(crate) fn difference_us(&self) -> f64 {
        self.second.mean_us - self.first.mean_us
    }
}

/// What differs between the populations 1 and 2.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Comparison {
    /// Requests of each.
    pub(crate) n_requests: (u64, u64),
    /// What those of the first one do and those of the second one do not.
    pub(crate) only_first: Vec<Difference>,
    /// The other way round.
    pub(crate) only_second: Vec<Difference>,
    /// Time, the largest difference over all requests first; what can be chance is last.
    pub(crate) in_time: Vec<InTime>,
}

/// Chance of a difference that is told as one, shared by all that are looked at (Bonferroni).
pub(crate) const CHANCE_MAX: f64 = 0.01;

/// Compares the populations 1 and 2; a difference in structure is seen in `support` requests.
pub(crate) fn compare(groups: &Groups, support: u64) -> Comparison {
    let population = |request: u32| groups.requests.populations[request as usize];
    let side = |of: u8| {
        move |request: u32| match population(request) {
            1 | 2 => Some(population(request) == of),
            _ => None,
        }
    };
    let n = |of: u8| groups.requests.populations.iter().filter(|p| **p == of).count() as u64;
    let mut in_time: Vec<InTime> = Vec::new();
    let mut regions = regions(groups);
    for (request_type, of_type) in groups.by_type() {
        let members: Vec<u32> = groups.members(&of_type).collect();
        let slots: FxHashMap<u32, usize> = members.iter().enumerate().map(|(at, &r)| (r, at)).collect();
        let populations: Vec<u8> = members.iter().map(|&r| population(r)).collect();
        if !populations.contains(&1) || !populations.contains(&2) {
            continue;
        }
        let judge = |measured: Measured, times: &[i64]| {
            let of = |number: u8| {
                let mine = times.iter().zip(&populations).filter(|(_, p)| **p == number);
                Statistics::of(&mut mine.map(|(us, _)| *us).collect::<Vec<i64>>())
            };
            let (first, second) = (of(1), of(2));
            InTime { request_type, measured, first, second, chance: chance(&first, &second) }
        };
        let durations: Vec<i64> = members.iter().map(|&r| groups.requests.durations_us[r as usize]).collect();
        in_time.push(judge(Measured::Request, &durations));
        let subjects = subjects(groups, &of_type);
        in_time.par_extend(subjects.into_par_iter().map(|(subject, spots): (Subject, Vec<Spot>)| {
            let mut times = vec![0; members.len()];
            spots.iter().for_each(|&spot| groups.each(spot, subject.own(), |r, us| times[slots[&r]] += us));
            judge(Measured::Subject(subject), &times)
        }));
        let of_regions = regions.remove(&request_type).unwrap_or_default();
        let of_regions: Vec<(Region, Vec<(u32, i64)>)> = of_regions.into_iter().collect();
        in_time.par_extend(of_regions.into_par_iter().map(|(region, visits)| {
            let mut times = vec![0; members.len()];
            visits.into_iter().for_each(|(r, us)| times[slots[&r]] += us);
            judge(Measured::Region(region), &times)
        }));
    }
    let limit = CHANCE_MAX / in_time.len().max(1) as f64;
    let weight = |of: &InTime| of.difference_us().abs() * of.second.count as f64;
    in_time.sort_by(|a, b| {
        let keys = |of: &InTime| (of.chance >= limit, -weight(of));
        keys(a).partial_cmp(&keys(b)).expect("times are numbers").then(a.measured.cmp(&b.measured))
    });
    in_time.iter_mut().for_each(|of| of.chance = (of.chance * CHANCE_MAX / limit).min(1.0));
    Comparison {
        n_requests: (n(1), n(2)),
        only_first: differences(groups, &side(1), support),
        only_second: differences(groups, &side(2), support),
        in_time,
    }
}

/// Visits of regions by type and region.
fn regions(groups: &Groups) -> BTreeMap<u32, BTreeMap<Region, Vec<(u32, i64)>>> {
    let mut found: BTreeMap<u32, BTreeMap<Region, Vec<(u32, i64)>>> = BTreeMap::new();
    for (site, visits) in groups.regions.sites() {
        let of_type = found.entry(groups.groups[site.group as usize].request_type).or_default();
        let of_region = of_type.entry(site.region).or_default();
        of_region.extend(visits.requests.iter().copied().zip(visits.us.iter().copied()));
    }
    found
}

#[cfg(test)]
mod tests;

//! Types of requests side by side: how many, how long, and how sure the difference is.

use rayon::prelude::*;

use super::apart;
use crate::profile::bootstrap::{Interval, mean_difference, quantile_difference};
use crate::profile::groups::Groups;
use crate::profile::statistics::Statistics;

/// A type of requests in both populations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct OfType {
    /// The type.
    pub(crate) request_type: u32,
    /// Durations in the first and the second population.
    pub(crate) durations: [Statistics; 2],
    /// How much longer the second one takes on average; none: one of them has too few requests.
    pub(crate) mean: Option<Interval>,
    /// The same of the median; none: six requests of either are not there.
    pub(crate) p50: Option<Interval>,
    /// The same of the 99th percentile; none: 368 requests of either are not there.
    pub(crate) p99: Option<Interval>,
}

/// All types: those first whose requests take longer or shorter for certain, by how much time that is in all,
/// then those with the most requests.
pub(super) fn types(groups: &Groups) -> Vec<OfType> {
    let of_type = |(request_type, of_type): (u32, Vec<u32>)| {
        let members: Vec<u32> = groups.members(&of_type).collect();
        let times: Vec<i64> = members.iter().map(|&r| groups.requests.durations_us[r as usize]).collect();
        let populations: Vec<u8> = members.iter().map(|&r| groups.requests.populations[r as usize]).collect();
        let mut sides = apart(&times, &populations);
        sides.iter_mut().for_each(|side| side.sort_unstable());
        let [first, second] = &sides;
        OfType {
            request_type,
            durations: sides.each_ref().map(|side| Statistics::of(&mut side.clone())),
            mean: mean_difference(first, second),
            p50: quantile_difference(first, second, 50),
            p99: quantile_difference(first, second, 99),
        }
    };
    let mut found: Vec<OfType> = groups.by_type().into_par_iter().map(of_type).collect();
    found.retain(|of| of.durations.iter().any(|side| side.count > 0));
    let key = |of: &OfType| {
        let sure_us = of.mean.map_or(0.0, |mean| mean.least_us().abs());
        let n = of.durations.iter().map(|side| side.count).sum::<u64>();
        (sure_us * of.durations[1].count as f64, n)
    };
    found.sort_by(|a, b| key(b).partial_cmp(&key(a)).expect("times are numbers"));
    found
}

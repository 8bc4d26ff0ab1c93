//! Changes in time: how long requests of a type are busy with an operation, a hand-over, or a region of code
//! of one of them, in either population. A request that does not do it is busy for 0 µs, so that what is done
//! more often is a change like what takes longer each time; which of these it is, the visits tell.

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::{CHANCE_MAX, apart};
use crate::profile::bootstrap::{Interval, mean_difference};
use crate::profile::groups::Groups;
use crate::profile::layers::{Spot, Subject, subjects};
use crate::profile::regions::{Region, Visits};
use crate::profile::statistics::{Statistics, chance};

/// Time of requests of one population on something.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Spent {
    /// How often all of them do it.
    pub(crate) n_visits: u64,
    /// Time of each request, 0 for one that does not do it.
    pub(crate) of_requests: Statistics,
}

/// A change in time that is more than chance.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Change {
    /// The type of the requests.
    pub(crate) request_type: u32,
    /// The operation or hand-over.
    pub(crate) subject: Subject,
    /// The region of code in it; none: its own time as a whole.
    pub(crate) region: Option<Region>,
    /// The first and the second population.
    pub(crate) spent: [Spent; 2],
    /// How much longer a request of the second population is busy with it, on average.
    pub(crate) difference: Interval,
    /// How likely a difference as large is by chance, at most.
    pub(crate) chance: f64,
    /// Where it takes longest, in the population that it takes longer in: the request, and µs.
    pub(crate) longest: (u32, i64),
    /// Regions of the operation or hand-over whose time changed, by the same order.
    pub(crate) regions: Vec<Change>,
}

impl Change {
    /// How much time of all requests of the second population it is for certain, µs.
    fn weight(&self) -> f64 {
        self.difference.least_us().abs() * self.spent[1].of_requests.count as f64
    }
}

/// What is measured: visits of something by requests of a type.
struct Measured<'a> {
    subject: Subject,
    region: Option<Region>,
    /// Where it is, of an operation or hand-over as a whole.
    spots: Vec<Spot>,
    /// Its visits, of a region.
    visits: Vec<&'a Visits>,
}

/// Requests of a type, by number, and the population of each.
struct Members {
    request_type: u32,
    requests: Vec<u32>,
    populations: Vec<u8>,
}

/// Changes that are more than chance, regions within their operations, the largest that is sure first.
pub(super) fn changes(groups: &Groups) -> Vec<Change> {
    let mut regions = regions(groups);
    // Where each request stands among those of its type.
    let mut places = vec![0_u32; groups.requests.len()];
    let mut of_types: Vec<(Members, Vec<Measured<'_>>)> = Vec::new();
    for (request_type, of_type) in groups.by_type() {
        let members = Members::new(groups, request_type, &of_type);
        if !members.populations.contains(&1) || !members.populations.contains(&2) {
            continue;
        }
        (0..).zip(&members.requests).for_each(|(at, &request)| places[request as usize] = at);
        let whole = subjects(groups, &of_type).into_iter();
        let whole =
            whole.map(|(subject, spots)| Measured { subject, region: None, spots, visits: Vec::new() });
        let parts = regions.remove(&request_type).unwrap_or_default().into_iter();
        let parts = parts.map(|((subject, region), visits)| Measured {
            subject,
            region: Some(region),
            spots: Vec::new(),
            visits,
        });
        of_types.push((members, whole.chain(parts).collect()));
    }
    let n_looked_at: usize = of_types.iter().map(|(_, measured)| measured.len()).sum();
    let limit = CHANCE_MAX / n_looked_at.max(1) as f64;
    let mut found: Vec<Change> = Vec::new();
    for (members, measured) in &of_types {
        found.par_extend(measured.par_iter().filter_map(|of| {
            let mut change = judge((groups, &places), members, of, limit)?;
            change.chance = (change.chance * n_looked_at as f64).min(1.0);
            Some(change)
        }));
    }
    nested(found)
}

/// Puts regions below the operations or hand-overs that they are of. What no whole has changed for, since
/// its regions cancel out, stands by itself.
fn nested(found: Vec<Change>) -> Vec<Change> {
    let key = |of: &Change| (of.request_type, of.subject);
    let (parts, mut wholes): (Vec<Change>, Vec<Change>) =
        found.into_iter().partition(|of| of.region.is_some());
    let places: BTreeMap<(u32, Subject), usize> =
        wholes.iter().enumerate().map(|(at, of)| (key(of), at)).collect();
    for part in parts {
        match places.get(&key(&part)) {
            Some(&at) => wholes[at].regions.push(part),
            None => wholes.push(part),
        }
    }
    wholes.iter_mut().for_each(|whole| sort(&mut whole.regions));
    sort(&mut wholes);
    wholes
}

fn sort(changes: &mut [Change]) {
    let key = |of: &Change| (of.request_type, of.subject, of.region);
    changes.sort_by(|a, b| b.weight().total_cmp(&a.weight()).then_with(|| key(a).cmp(&key(b))));
}

impl Members {
    fn new(groups: &Groups, request_type: u32, of_type: &[u32]) -> Self {
        let requests: Vec<u32> = groups.members(of_type).collect();
        Self {
            request_type,
            populations: requests.iter().map(|&r| groups.requests.populations[r as usize]).collect(),
            requests,
        }
    }
}

/// Whether requests of the two populations are longer or shorter busy with it, by more than chance.
fn judge(
    (groups, places): (&Groups, &[u32]),
    members: &Members,
    of: &Measured<'_>,
    limit: f64,
) -> Option<Change> {
    let mut times = vec![0_i64; members.requests.len()];
    let mut n_visits = [0_u64; 2];
    let mut add = |request: u32, us: i64| {
        let at = places[request as usize] as usize;
        times[at] = times[at].saturating_add(us);
        if let population @ 1..=2 = members.populations[at] {
            n_visits[usize::from(population) - 1] += 1;
        }
    };
    of.spots.iter().for_each(|&spot| groups.each(spot, of.subject.own(), &mut add));
    for visits in &of.visits {
        visits.requests.iter().zip(&visits.us).for_each(|(&request, &us)| add(request, us));
    }
    let [first, second] = apart(&times, &members.populations);
    let [a, b] = [&first, &second].map(|side| Statistics::of(&mut side.clone()));
    let chance = chance(&a, &b);
    if chance >= limit {
        return None;
    }
    let difference = mean_difference(&first, &second)?;
    let longer_in = if difference.us > 0.0 { 2 } else { 1 };
    let longest = members.requests.iter().zip(&times).zip(&members.populations);
    let longest = longest.filter(|(_, population)| **population == longer_in).map(|((&r, &us), _)| (r, us));
    Some(Change {
        request_type: members.request_type,
        subject: of.subject,
        region: of.region,
        spent: [(a, n_visits[0]), (b, n_visits[1])]
            .map(|(of_requests, n_visits)| Spent { n_visits, of_requests }),
        difference,
        chance,
        longest: longest.max_by_key(|&(request, us)| (us, std::cmp::Reverse(request)))?,
        regions: Vec::new(),
    })
}

/// Visits of regions by type, operation or hand-over, and region.
fn regions(groups: &Groups) -> BTreeMap<u32, BTreeMap<(Subject, Region), Vec<&Visits>>> {
    let mut found: BTreeMap<u32, BTreeMap<(Subject, Region), Vec<&Visits>>> = BTreeMap::new();
    for (site, visits) in groups.regions.sites() {
        let group = &groups.groups[site.group as usize];
        let operation = site.region.operation;
        let subject = match site.subspan {
            Some(_) => Subject::Operation(operation),
            // Its place is that of the span that was handed over.
            None => Subject::HandOver(operation, group.places[site.place as usize].operation),
        };
        let of_type = found.entry(group.request_type).or_default();
        of_type.entry((subject, site.region)).or_default().push(visits);
    }
    found
}

//! A comparison in words, as programs and the page get it.

use serde::Serialize;

use super::changes::{Change, Spent};
use super::sequences::{OneSided, Step};
use super::tables::Populations;
use super::types::OfType;
use super::{Comparison, compare};
use crate::profile::bootstrap::Interval;
use crate::profile::differences::Difference;
use crate::profile::groups::Groups;
use crate::profile::statistics::{Statistics, rounded, share};
use crate::releases::How;

/// Of a message as much as tells which one it is.
const MESSAGE_CHARS_MAX: usize = 60;

/// What is compared, and what differs.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[cfg_attr(test, ts(rename = "Comparison"))]
pub(crate) struct Report {
    /// The first population.
    pub(crate) first: Side,
    /// The second one.
    pub(crate) second: Side,
    /// What became of the code; none: both are of one table.
    pub(crate) release: Option<Changed>,
    /// Types of requests: those that changed for certain first, then those with the most requests.
    pub(crate) types: Vec<TypeReport>,
    /// Spans and regions of code that only one population has, or four times as often at least.
    pub(crate) one_sided: Vec<DeedReport>,
    /// Ways through the code of which the same is true.
    pub(crate) sequences: Vec<SequenceReport>,
    /// Changes in time that are more than chance, the largest that is sure first.
    pub(crate) changes: Vec<ChangeReport>,
    /// What could not be read.
    pub(crate) warnings: Vec<String>,
}

/// A population.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Side {
    /// Folder of its table, or the condition that its requests fulfil.
    pub(crate) name: String,
    /// Its requests that were read.
    pub(crate) n_requests: u64,
    /// Those that were asked for; more, where only some of very many are read.
    pub(crate) n_of: u64,
    /// When the first one began, µs since 1970.
    pub(crate) from: Option<i64>,
    /// When the last one ended, µs since 1970.
    pub(crate) to: Option<i64>,
}

/// What became of the log points and top-level methods of the first release.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[cfg_attr(test, ts(rename = "ChangedCode"))]
pub(crate) struct Changed {
    /// Log points with the same place and message.
    pub(crate) n_same: usize,
    /// Log points that stand in another method.
    pub(crate) n_moved: usize,
    /// Log points with other words.
    pub(crate) n_reworded: usize,
    /// Log points that only the first release has.
    pub(crate) n_only_first: usize,
    /// Log points that only the second release has.
    pub(crate) n_only_second: usize,
    /// Top-level methods that have another name, which is the one that is used here.
    pub(crate) renamed: Vec<Renamed>,
}

/// A top-level method with another name.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Renamed {
    /// In the first release.
    pub(crate) first: String,
    /// In the second one.
    pub(crate) second: String,
}

/// A figure and its bounds at 95 %, µs.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Bounds {
    /// The figure.
    pub(crate) us: f64,
    /// Its lower bound.
    pub(crate) low_us: f64,
    /// Its upper bound.
    pub(crate) high_us: f64,
    /// Both bounds are on the same side of 0.
    pub(crate) is_sure: bool,
}

/// Figures of times, µs.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Figures {
    /// Times.
    pub(crate) n: u64,
    /// Their mean.
    pub(crate) mean_us: f64,
    /// Half of them are not longer.
    pub(crate) p50_us: i64,
    /// 99 of 100 are not longer.
    pub(crate) p99_us: i64,
}

/// A type of requests.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct TypeReport {
    /// Its name.
    pub(crate) request_type: String,
    /// Durations in the first population.
    pub(crate) first: Figures,
    /// In the second one.
    pub(crate) second: Figures,
    /// How much longer those of the second one take; null: too few requests.
    pub(crate) mean: Option<Bounds>,
    /// The same of the median.
    pub(crate) p50: Option<Bounds>,
    /// The same of the 99th percentile.
    pub(crate) p99: Option<Bounds>,
}

/// So many requests of all of the type.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Part {
    /// So many.
    pub(crate) n: u64,
    /// Of so many.
    pub(crate) of: u64,
}

/// What one population does and the other one does not.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct DeedReport {
    /// The type of the requests.
    pub(crate) request_type: String,
    /// What is done.
    pub(crate) does: String,
    /// Requests of the first population that do.
    pub(crate) first: Part,
    /// Of the second one.
    pub(crate) second: Part,
    /// How likely that is by chance, at most.
    pub(crate) chance: f64,
}

/// A way that one population goes and the other one does not.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct SequenceReport {
    /// The type of the requests.
    pub(crate) request_type: String,
    /// Steps that the most similar way of the other population does not have.
    pub(crate) more: Vec<String>,
    /// Steps of that one which it does not have.
    pub(crate) fewer: Vec<String>,
    /// Requests of the first population that go it.
    pub(crate) first: Part,
    /// Of the second one.
    pub(crate) second: Part,
    /// How likely that is by chance, at most.
    pub(crate) chance: f64,
    /// A request that goes it.
    pub(crate) example: String,
}

/// Time of requests on something.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct SpentReport {
    /// How often all requests do it.
    pub(crate) n_visits: u64,
    /// Time of each request, 0 for one that does not.
    pub(crate) of_requests: Figures,
}

/// Something that can take time in a region of code.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct CallReport {
    /// What, and its line.
    pub(crate) what: String,
    /// The first release does not have it there.
    pub(crate) is_new: bool,
}

/// A change in time.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct ChangeReport {
    /// The type of the requests.
    pub(crate) request_type: String,
    /// The operation or hand-over, or a region of code in it.
    pub(crate) what: String,
    /// Time in the first population.
    pub(crate) first: SpentReport,
    /// In the second one.
    pub(crate) second: SpentReport,
    /// How much longer a request of the second population is busy with it.
    pub(crate) difference: Bounds,
    /// How likely a difference as large is by chance, at most.
    pub(crate) chance: f64,
    /// What can take time there; of a region of code.
    pub(crate) can_take_time: Vec<CallReport>,
    /// The request in which it takes longest, in the population that it takes longer in.
    pub(crate) longest: Longest,
    /// Regions of code of the operation or hand-over whose time changed.
    pub(crate) regions: Vec<ChangeReport>,
}

/// A request in which something takes long.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Longest {
    /// Its id.
    pub(crate) request_id: String,
    /// How long, µs.
    pub(crate) us: i64,
}

impl Report {
    /// What differs between `populations`, called by `names`; a difference in structure is seen in `support`
    /// requests. With `release`, the first one is of another table.
    pub(crate) fn new(populations: &Populations, names: [String; 2], support: u64) -> Self {
        let words = Words(populations);
        let found = compare(&populations.groups, support);
        let Comparison { n_requests, types, only_first, only_second, changes } = found;
        let [first, second] = names;
        let side = |name: String, n_requests: u64, at: usize| {
            let extent = populations.sequences.extents()[at];
            Side {
                name,
                n_requests,
                n_of: n_requests,
                from: extent.map(|(from, _)| from),
                to: extent.map(|(_, to)| to),
            }
        };
        let deeds = only_second.iter().map(|of| (of, true)).chain(only_first.iter().map(|of| (of, false)));
        let sequences = populations.sequences.one_sided(support);
        Self {
            first: side(first, n_requests.0, 0),
            second: side(second, n_requests.1, 1),
            release: populations.code_of_first.is_some().then(|| changed(populations)),
            types: types.iter().map(|of| words.of_type(of)).collect(),
            one_sided: deeds.map(|(of, is_second)| words.deed(of, is_second)).collect(),
            sequences: sequences.iter().map(|of| words.sequence(of)).collect(),
            changes: changes.iter().map(|of| words.change(of)).collect(),
            warnings: populations
                .warnings
                .iter()
                .cloned()
                .chain(populations.groups.repairs.sentence())
                .collect(),
        }
    }

    /// Requests of the second population that are named, each once.
    pub(crate) fn examples_of_second(&self) -> Vec<&str> {
        let is_longer = |of: &&ChangeReport| of.difference.us > 0.0;
        let longest = self.changes.iter().filter(is_longer).map(|of| &of.longest.request_id);
        let is_new = |of: &&SequenceReport| of.second.n * of.first.of > of.first.n * of.second.of;
        let new = self.sequences.iter().filter(is_new).map(|of| &of.example);
        let mut known = std::collections::BTreeSet::new();
        longest.chain(new).map(String::as_str).filter(|id| known.insert(*id)).collect()
    }
}

fn changed(populations: &Populations) -> Changed {
    let translation = &populations.translation;
    let (n_only_first, n_only_second) = translation.n_alone();
    let renamed =
        translation.renamed().map(|(first, second)| Renamed { first: first.into(), second: second.into() });
    Changed {
        n_same: translation.n(How::Same),
        n_moved: translation.n(How::Moved),
        n_reworded: translation.n(How::Reworded),
        n_only_first,
        n_only_second,
        renamed: renamed.collect(),
    }
}

/// Numbers as names.
struct Words<'a>(&'a Populations);

impl Words<'_> {
    fn groups(&self) -> &Groups {
        &self.0.groups
    }

    fn of_type(&self, of: &OfType) -> TypeReport {
        let [first, second] = &of.durations;
        TypeReport {
            request_type: self.groups().names.name(of.request_type).to_owned(),
            first: figures(first),
            second: figures(second),
            mean: of.mean.map(bounds),
            p50: of.p50.map(bounds),
            p99: of.p99.map(bounds),
        }
    }

    fn deed(&self, of: &Difference, is_second: bool) -> DeedReport {
        let part = |(n, of): (u64, u64)| Part { n, of };
        let (this, other) = (part(of.first), part(of.second));
        let (first, second) = if is_second { (other, this) } else { (this, other) };
        DeedReport {
            request_type: self.groups().names.name(of.request_type).to_owned(),
            does: self.0.code.deed(self.groups(), of.deed),
            first,
            second,
            chance: share(of.chance),
        }
    }

    fn sequence(&self, of: &OneSided) -> SequenceReport {
        let part = |side: usize| Part { n: of.n[side], of: of.of[side] };
        let steps = |steps: &[Step]| steps.iter().map(|step| self.step(*step)).collect();
        SequenceReport {
            request_type: of.request_type.to_string(),
            more: steps(&of.more),
            fewer: steps(&of.fewer),
            first: part(0),
            second: part(1),
            chance: share(of.chance),
            example: of.example.to_string(),
        }
    }

    fn step(&self, step: Step) -> String {
        match step {
            (None, to) => format!("begins with {}", self.point(to)),
            (from, None) => format!("ends with {}", self.point(from)),
            (from, to) => format!("{} -> {}", self.point(from), self.point(to)),
        }
    }

    /// `A.m:12 "opened *"`
    fn point(&self, point: Option<i64>) -> String {
        let code = &self.0.code;
        let mut text = code.point(point);
        if let Some(message) = code.message(point) {
            let shown: String = message.chars().take(MESSAGE_CHARS_MAX).collect();
            let rest = if shown.len() < message.len() { "..." } else { "" };
            text += &format!(" \"{shown}{rest}\"");
        }
        text
    }

    fn change(&self, of: &Change) -> ChangeReport {
        let populations = self.0;
        let subject = of.subject.name(self.groups());
        let calls = of.region.map(|region| match &populations.code_of_first {
            Some(first) => populations.code.slow_since(first, &region),
            None => populations.code.slow(&region).into_iter().map(|what| (what, true)).collect(),
        });
        let calls = calls.unwrap_or_default().into_iter();
        let [first, second] = of.spent;
        let (request, us) = of.longest;
        ChangeReport {
            request_type: self.groups().names.name(of.request_type).to_owned(),
            what: of.region.map_or(subject, |region| populations.code.region(&region)),
            first: spent(first),
            second: spent(second),
            difference: bounds(of.difference),
            chance: share(of.chance),
            can_take_time: calls
                .map(|(what, is_known)| CallReport { what: what.to_owned(), is_new: !is_known })
                .collect(),
            longest: Longest { request_id: self.groups().requests.id(request).to_owned(), us },
            regions: of.regions.iter().map(|of| self.change(of)).collect(),
        }
    }
}

fn spent(of: Spent) -> SpentReport {
    SpentReport { n_visits: of.n_visits, of_requests: figures(&of.of_requests) }
}

fn figures(of: &Statistics) -> Figures {
    Figures { n: of.count, mean_us: rounded(of.mean_us), p50_us: of.p50_us, p99_us: of.p99_us }
}

fn bounds(of: Interval) -> Bounds {
    let is_sure = of.least_us() != 0.0;
    Bounds { us: rounded(of.us), low_us: rounded(of.low_us), high_us: rounded(of.high_us), is_sure }
}

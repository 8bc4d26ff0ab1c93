//! The ranked report (tprof §3.7): from the operation with the most time of its own down to
//! the part of one span, in one order of starts and ends, where that time is; each line with
//! the bounds of its mean and the number of requests that show it.
//!
//! | layer | ranked by | kept |
//! |---|---|---|
//! | 1 | time of its own over all requests, of hand-overs too | 10 |
//! | 2 | the same in each type; types whose tail takes over 4 times as long first | 2 |
//! | 3 | time before each child, after the last one, or of the whole span | 2 |
//! | 4 | mean of the subspan, times its count, times its share of the span | 2 |
//!
//! One thing is other than in the paper: layer 3 ranks what of `child_diff` the span does
//! itself. All of it counts the time of the child before too, which has a line of its own.

mod narrow;

use narrow::Search;
use rayon::prelude::*;

use super::code::Code;
use super::differences::{Difference, differences};
use super::groups::Groups;
use super::layers::{Layer, Spot, Subject, Tails, subjects};
use super::regions::Region;
use super::statistics::{Statistics, Summary};

/// Lines that each layer hands down.
const WIDTHS: [usize; 4] = [10, 2, 2, 2];
/// How many times as long as normal requests the tail takes to be a case of its own.
const TAIL_RATIO: f64 = 4.0;
/// Regions of code that a line names.
const REGIONS_MAX: usize = 3;
/// Requests that a line names as examples.
const EXAMPLES_MAX: usize = 3;

/// What to leave out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Requests that a line must be seen in.
    pub(crate) support: u64,
}

/// The part of a span that takes long: the modes of layer 3.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Part {
    /// Before the child that starts as this one, from 0.
    BeforeChild(u32),
    /// After its last child.
    AfterChildren,
    /// It has no children.
    FullSpan,
    /// Between the end of its parent and its own start.
    HandOver,
}

impl Part {
    /// Its name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::BeforeChild(_) => "before_child",
            Self::AfterChildren => "last_part",
            Self::FullSpan => "full_span",
            Self::HandOver => "hand_over",
        }
    }
}

/// Time in a region of code, within a line of the report.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RegionShare {
    /// The region.
    pub(crate) region: Region,
    /// Its visits.
    pub(crate) statistics: Statistics,
    /// Its share of the time of all regions there.
    pub(crate) share: f64,
}

/// A group of layer 4 in which the part of the span is found.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct InOrder {
    /// 12 hex digits.
    pub(crate) id: String,
    /// Its number among the groups.
    pub(crate) group: u32,
    /// The place of the span in it.
    pub(crate) place: u32,
    /// The subspan; of a hand-over none.
    pub(crate) subspan: Option<u32>,
    /// Requests in it, of those that the line is about.
    pub(crate) n_requests: u64,
    /// The subspan in all of its requests, and in those in and out of the tail of the type.
    pub(crate) summary: Summary,
    /// Its share of the time of the span.
    pub(crate) share_of_span: f64,
    /// Regions of code in it, by time.
    pub(crate) regions: Vec<RegionShare>,
    /// Requests in which it takes longest, with how long, µs.
    pub(crate) examples: Vec<(u32, i64)>,
}

/// A line of the report.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Finding {
    /// The operation or hand-over.
    pub(crate) subject: Subject,
    /// Its place in layer 1, from 1.
    pub(crate) rank: usize,
    /// Its own time in layer 1.
    pub(crate) own: Statistics,
    /// The share of that of the own time of everything.
    pub(crate) share: f64,
    /// The type of the requests.
    pub(crate) request_type: u32,
    /// Its own time in that type.
    pub(crate) of_type: Summary,
    /// The line is about the tail of the type only.
    pub(crate) is_tail: bool,
    /// The operations from the root to the span.
    pub(crate) path: String,
    /// Which part of it.
    pub(crate) part: Part,
    /// The group of layer 3, 12 hex digits.
    pub(crate) tree: String,
    /// Requests in it, of those that the line is about.
    pub(crate) n_requests: u64,
    /// The part in all of the requests of layer 3 that the line is about.
    pub(crate) of_tree: Statistics,
    /// Bounds of the mean of that at 95 %, µs.
    pub(crate) confidence_us: (f64, f64),
    /// Groups of layer 4 that show it best.
    pub(crate) orders: Vec<InOrder>,
}

/// A report and what it is of.
pub(crate) struct Report<'g> {
    pub(crate) groups: &'g Groups,
    pub(crate) code: &'g Code,
    /// Where requests can be shown from; none: foreign traces.
    pub(crate) table: Option<String>,
    pub(crate) tail_percent: f64,
    /// What only the tail does.
    pub(crate) differences: Vec<Difference>,
    pub(crate) findings: Vec<Finding>,
}

impl<'g> Report<'g> {
    /// Of `groups`, whose log points are those of `code`, with the slowest of so many percent as tail.
    pub(crate) fn new(
        groups: &'g Groups,
        code: &'g Code,
        (tails, percent): (&Tails, f64),
        limits: Limits,
        table: Option<String>,
    ) -> Self {
        let side = |request| Some(tails.has(Layer::Type, request));
        Self {
            groups,
            code,
            table,
            tail_percent: percent,
            differences: differences(groups, &side, limits.support),
            findings: report(groups, tails, limits),
        }
    }

    /// Types of requests, their trees of spans, and orders of starts and ends.
    pub(crate) fn sizes(&self) -> (usize, usize, usize) {
        let types = self.groups.by_type();
        let n_trees = types.iter().map(|(_, of)| self.groups.by_tree(of).len()).sum();
        (types.len(), n_trees, self.groups.groups.len())
    }
}

/// The report.
pub(crate) fn report(groups: &Groups, tails: &Tails, limits: Limits) -> Vec<Finding> {
    let everything: Vec<u32> = (0..groups.groups.len() as u32).collect();
    let own = |(subject, spots): (Subject, Vec<Spot>)| {
        (subject, groups.summary(&spots, subject.own(), |_| false).all)
    };
    let mut ranked: Vec<(Subject, Statistics)> =
        subjects(groups, &everything).into_par_iter().map(own).collect();
    ranked.sort_by_key(|(_, own)| std::cmp::Reverse(own.total_us));
    let total: i128 = ranked.iter().map(|(_, own)| own.total_us).sum();
    ranked.retain(|(_, own)| own.count >= limits.support && own.total_us > 0);
    ranked.truncate(WIDTHS[0]);
    let search = Search::new(groups, tails, limits);
    let of_subject = |(at, (subject, own)): (usize, (Subject, Statistics))| {
        let mut found = search.findings(subject);
        for finding in &mut found {
            (finding.rank, finding.own) = (at + 1, own);
            finding.share = own.total_us as f64 / total as f64;
        }
        found
    };
    let ranked: Vec<(usize, (Subject, Statistics))> = ranked.into_iter().enumerate().collect();
    ranked.into_par_iter().flat_map_iter(of_subject).collect()
}

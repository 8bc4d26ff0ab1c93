//! A report for programs, and for the page: everything that it is made of.

use serde::Serialize;

use super::differences::Difference;
use super::report::{Finding, InOrder, Part, RegionShare, Report};
use super::statistics::{Statistics, Summary, rounded, share};

/// A report.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[cfg_attr(test, ts(rename = "Report"))]
pub(crate) struct ReportJson {
    n_requests: usize,
    n_types: usize,
    n_trees: usize,
    n_orders: usize,
    /// Of the requests of a type, so many percent are its tail: the slowest ones.
    tail_percent: f64,
    differences: Vec<DifferenceJson>,
    lines: Vec<Line>,
}

/// What the tail of a type does, and the rest does not.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[cfg_attr(test, ts(rename = "Difference"))]
struct DifferenceJson {
    request_type: String,
    does: String,
    tail: Of,
    normal: Of,
    /// How likely so much is by chance.
    chance: f64,
}

/// So many of some.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct Of {
    n: u64,
    of: u64,
}

/// A line of a report.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[cfg_attr(test, ts(rename = "Finding"))]
struct Line {
    rank: usize,
    name: String,
    /// Of the own time of everything.
    share: f64,
    own: Option<Figures>,
    request_type: String,
    own_of_type: Sides,
    is_tail: bool,
    /// The operations from the root to the span.
    path: String,
    part: &'static str,
    /// Before which child the part is.
    child: Option<u32>,
    tree: String,
    n_requests: u64,
    of_tree: Option<Figures>,
    mean_95_us: [f64; 2],
    orders: Vec<OrderJson>,
}

/// A group of layer 4 in which a line shows.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[cfg_attr(test, ts(rename = "InOrder"))]
struct OrderJson {
    order: String,
    subspan: Option<u32>,
    n_requests: u64,
    time: Sides,
    share_of_span: f64,
    regions: Vec<RegionJson>,
    examples: Vec<Example>,
}

/// Time in a region of code.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[cfg_attr(test, ts(rename = "Region"))]
struct RegionJson {
    region: String,
    can_take_time: Vec<String>,
    share: f64,
    time: Option<Figures>,
}

/// A request that takes long.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct Example {
    request_id: String,
    us: i64,
}

/// Figures of all requests, the normal ones and the tail.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[cfg_attr(test, ts(rename = "Summary"))]
struct Sides {
    all: Option<Figures>,
    normal: Option<Figures>,
    tail: Option<Figures>,
}

/// Of how many, and how long, µs.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[cfg_attr(test, ts(rename = "Statistics"))]
struct Figures {
    count: u64,
    mean_us: f64,
    std_us: f64,
    p50_us: i64,
    p99_us: i64,
}

impl ReportJson {
    /// All of a report.
    pub(crate) fn new(report: &Report<'_>) -> Self {
        let (n_types, n_trees, n_orders) = report.sizes();
        Self {
            n_requests: report.groups.requests.len(),
            n_types,
            n_trees,
            n_orders,
            tail_percent: report.tail_percent,
            differences: report.differences.iter().map(|of| difference(report, of)).collect(),
            lines: report.findings.iter().map(|of| line(report, of)).collect(),
        }
    }

    /// Ids of the requests that its lines name, each once, in their order.
    pub(crate) fn examples(&self) -> Vec<&str> {
        let orders = self.lines.iter().flat_map(|line| &line.orders);
        let ids = orders.flat_map(|order| order.examples.iter().map(|of| of.request_id.as_str()));
        let mut seen = std::collections::BTreeSet::new();
        ids.filter(|id| seen.insert(*id)).collect()
    }
}

fn difference(report: &Report<'_>, of: &Difference) -> DifferenceJson {
    let side = |(n, of): (u64, u64)| Of { n, of };
    DifferenceJson {
        request_type: report.groups.names.name(of.request_type).to_owned(),
        does: report.code.deed(report.groups, of.deed),
        tail: side(of.first),
        normal: side(of.second),
        chance: of.chance,
    }
}

fn line(report: &Report<'_>, of: &Finding) -> Line {
    let groups = report.groups;
    Line {
        rank: of.rank,
        name: of.subject.name(groups),
        share: share(of.share),
        own: Figures::new(&of.own),
        request_type: groups.names.name(of.request_type).to_owned(),
        own_of_type: Sides::new(&of.of_type),
        is_tail: of.is_tail,
        path: of.path.clone(),
        part: of.part.name(),
        child: if let Part::BeforeChild(k) = of.part { Some(k) } else { None },
        tree: of.tree.clone(),
        n_requests: of.n_requests,
        of_tree: Figures::new(&of.of_tree),
        mean_95_us: [rounded(of.confidence_us.0), rounded(of.confidence_us.1)],
        orders: of.orders.iter().map(|of| in_order(report, of)).collect(),
    }
}

fn in_order(report: &Report<'_>, of: &InOrder) -> OrderJson {
    let region = |region: &RegionShare| RegionJson {
        region: report.code.region(&region.region),
        can_take_time: report.code.slow(&region.region).into_iter().map(str::to_owned).collect(),
        share: share(region.share),
        time: Figures::new(&region.statistics),
    };
    let example = |&(request, us): &(u32, i64)| Example {
        request_id: report.groups.requests.id(request).to_owned(),
        us,
    };
    OrderJson {
        order: of.id.clone(),
        subspan: of.subspan,
        n_requests: of.n_requests,
        time: Sides::new(&of.summary),
        share_of_span: share(of.share_of_span),
        regions: of.regions.iter().map(region).collect(),
        examples: of.examples.iter().map(example).collect(),
    }
}

impl Sides {
    fn new(of: &Summary) -> Self {
        let [all, normal, tail] = [&of.all, &of.normal, &of.tail].map(Figures::new);
        Self { all, normal, tail }
    }
}

impl Figures {
    /// None: there are none.
    fn new(of: &Statistics) -> Option<Self> {
        (of.count > 0).then(|| Self {
            count: of.count,
            mean_us: rounded(of.mean_us),
            std_us: rounded(of.std_us),
            p50_us: of.p50_us,
            p99_us: of.p99_us,
        })
    }
}

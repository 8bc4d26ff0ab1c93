//! The layers against a plain fold over random traces and over real tables, which groups by the
//! text of whole trees and events and measures between all times at which anything happens.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::{Layer, LayerGroup, Metric, Tails, layer};
use crate::pipeline::{self, Inputs, Mapper, Options};
use crate::profile::groups::{Groups, Request};
use crate::profile::statistics::Statistics;
use crate::request::trace::{Span, Trace, Wait};
use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng as Random;

/// What an operation is called: `a`, `b`, .. `aa`, as columns of a sheet are.
fn name(operation: u32) -> String {
    let letter = char::from(b'a' + (operation % 26) as u8);
    if operation < 26 { letter.to_string() } else { format!("{}{letter}", name(operation / 26 - 1)) }
}

/// Spans of a trace: (operation, parent among those before, wait, start, length).
type Drawn = Vec<(usize, usize, u8, i64, i64)>;

fn drawn(random: &mut Random) -> Drawn {
    let mut below = |n: usize| random.random_range(0..n);
    let n = 1 + below(7);
    (0..n).map(|_| (below(4), below(8), below(5) as u8, below(24) as i64, below(16) as i64)).collect()
}

fn trace(drawn: &Drawn) -> Trace {
    let span = |(at, &(operation, parent, wait, start, length)): (usize, _)| Span {
        operation: operation as u32,
        parent: (at > 0 && parent < 7).then(|| (parent % at) as u32),
        wait: [Wait::Within, Wait::Within, Wait::Within, Wait::UntilEnd, Wait::Nobody][wait as usize],
        // No two of them at one time, but where they are clipped.
        start_us: 16 * start + at as i64,
        end_us: 16 * (start + length) + at as i64 + if length == 0 { 0 } else { 8 },
    };
    Trace::new(drawn.iter().enumerate().map(span).collect()).0
}

/// Whether two children of a span start or end at one time: then their order in layer 4 is
/// one of several that would be as good.
fn has_ties(trace: &Trace) -> bool {
    let families = (0..trace.spans.len() as u32).map(|at| trace.children(at)).chain([trace.roots.as_slice()]);
    families.into_iter().any(|family| {
        let spans = || family.iter().map(|&at| &trace.spans[at as usize]);
        let times: Vec<i64> = spans().flat_map(|span| BTreeSet::from([span.start_us, span.end_us])).collect();
        times.iter().collect::<BTreeSet<_>>().len() < times.len()
    })
}

fn groups(traces: &[Trace], batch: usize) -> Groups {
    let mut groups = Groups::default();
    let operations = traces.iter().flat_map(|trace| &trace.spans).map(|span| span.operation);
    for number in 0..=operations.max().unwrap_or(0) {
        assert_eq!(groups.names.number(&name(number)), number);
    }
    let mut numbers = 0..;
    let requests: Vec<Request> = traces
        .iter()
        .map(|trace| Request {
            id: numbers.next().unwrap_or(0).to_string().into(),
            request_type: trace.spans[trace.roots[0] as usize].operation,
            trace: trace.clone(),
            printed: Vec::new(),
            population: 0,
        })
        .collect();
    requests.chunks(batch).for_each(|requests| groups.add(requests.to_vec()));
    groups
}

/// Children of a span in the order of the oracle: by the text of their tree, then by time.
fn ranked(trace: &Trace, spans: &[u32]) -> Vec<u32> {
    let mut spans = spans.to_vec();
    spans.sort_by_key(|&at| {
        let span = &trace.spans[at as usize];
        (tree(trace, at), span.start_us, span.end_us, order(trace, at))
    });
    spans
}

fn tree(trace: &Trace, at: u32) -> String {
    let span = &trace.spans[at as usize];
    let mut children: Vec<String> = trace.children(at).iter().map(|&child| tree(trace, child)).collect();
    children.sort();
    format!("{}{}({})", name(span.operation), span.wait != Wait::Nobody, children.join(","))
}

/// The tree with the order of what happens to the children, told by their ranks.
fn order(trace: &Trace, at: u32) -> String {
    let children = ranked(trace, trace.children(at));
    let texts: Vec<String> = children.iter().map(|&child| order(trace, child)).collect();
    let events = events(trace, &children, Some(at));
    let span = &trace.spans[at as usize];
    format!("{}{}[{}]{events}", name(span.operation), span.wait != Wait::Nobody, texts.join(","))
}

/// One microsecond after the other: ends of what runs, what lasts no time, starts, the end.
fn events(trace: &Trace, children: &[u32], of: Option<u32>) -> String {
    let mut text = String::new();
    let times = children.iter().chain(&of).map(|&at| &trace.spans[at as usize]);
    for us in times.flat_map(|span| [span.start_us, span.end_us]).collect::<BTreeSet<i64>>() {
        let spans =
            || (0..).zip(children).map(|(rank, &child): (usize, _)| (rank, &trace.spans[child as usize]));
        let counts = |span: &Span| of.is_none() || span.wait != Wait::Nobody;
        for (rank, _) in spans().filter(|(_, s)| counts(s) && s.end_us == us && s.start_us < us) {
            text.push_str(&format!("e{rank} "));
        }
        for (rank, _) in spans().filter(|(_, s)| counts(s) && s.end_us == us && s.start_us == us) {
            text.push_str(&format!("s{rank} e{rank} "));
        }
        for (rank, _) in spans().filter(|(_, s)| s.start_us == us && !(counts(s) && s.end_us == us)) {
            text.push_str(&format!("s{rank} "));
        }
        if of.is_some_and(|of| trace.spans[of as usize].end_us == us) {
            text.push_str("over ");
        }
    }
    text
}

fn key(trace: &Trace, layer: Layer) -> String {
    let name = name(trace.spans[trace.roots[0] as usize].operation);
    let roots = ranked(trace, &trace.roots);
    match layer {
        Layer::All => String::new(),
        Layer::Type => name,
        Layer::Tree => {
            let mut trees: Vec<String> = roots.iter().map(|&root| tree(trace, root)).collect();
            trees.sort();
            format!("{name} {}", trees.join(" "))
        }
        Layer::Order => {
            let orders: Vec<String> = roots.iter().map(|&root| order(trace, root)).collect();
            format!("{name} {} {}", orders.join(" "), events(trace, &roots, None))
        }
    }
}

/// How long a span runs while no child does that it waits for: between two times at which
/// anything happens nothing changes.
fn own(trace: &Trace, at: u32) -> i64 {
    let Span { start_us, end_us, .. } = trace.spans[at as usize];
    let waited =
        || trace.children(at).iter().map(|&c| &trace.spans[c as usize]).filter(|c| c.wait != Wait::Nobody);
    let mut times: Vec<i64> = waited().flat_map(|child| [child.start_us, child.end_us]).collect();
    times.retain(|us| (start_us..end_us).contains(us));
    times.extend([start_us, end_us]);
    times.sort_unstable();
    let is_own = |us: i64| !waited().any(|child| (child.start_us..child.end_us).contains(&us));
    times.windows(2).filter(|pair| is_own(pair[0])).map(|pair| pair[1] - pair[0]).sum()
}

/// All metrics of a span that the paper's definitions give, by name and index.
fn metrics(trace: &Trace, at: u32, layer: Layer) -> Vec<(&'static str, Option<u32>, i64)> {
    let span = &trace.spans[at as usize];
    let mut found = vec![("operation", None, span.end_us - span.start_us)];
    found.push(("operation_self", None, own(trace, at)));
    let mut starts: Vec<i64> = trace.children(at).iter().map(|&c| trace.spans[c as usize].start_us).collect();
    starts.sort_unstable();
    let waited =
        || trace.children(at).iter().map(|&c| &trace.spans[c as usize]).filter(|c| c.wait != Wait::Nobody);
    if layer == Layer::Tree {
        let mut before = span.start_us;
        for (k, start) in (0..).zip(starts) {
            found.push(("child_diff", Some(k), start - before));
            before = start;
        }
        if let Some(last) = waited().map(|child| child.end_us).max() {
            found.push(("end_diff", None, span.end_us - last));
        }
    } else if layer == Layer::Order {
        // Alg. 1: each ends with a start or the end, and begins with what was before.
        let mut times: Vec<i64> = waited().flat_map(|child| [child.start_us, child.end_us]).collect();
        times.extend(
            trace
                .children(at)
                .iter()
                .map(|&c| &trace.spans[c as usize])
                .filter(|c| c.wait == Wait::Nobody)
                .map(|c| c.start_us),
        );
        // What is at the time of the end was before it.
        let starts = starts.into_iter().filter(|us| *us <= span.end_us).map(|us| (us, us));
        for (j, (to, before)) in (0..).zip(starts.chain([(span.end_us, span.end_us + 1)])) {
            let from = times
                .iter()
                .copied()
                .filter(|us| *us < before)
                .max()
                .unwrap_or(span.start_us)
                .max(span.start_us);
            found.push(("subspan", Some(j), to - from));
        }
    }
    if let Some(parent) = span.parent {
        let end = trace.spans[parent as usize].end_us;
        if span.wait == Wait::Nobody && span.start_us > end {
            found.push(("hand_over", None, span.start_us - end));
        }
    }
    found
}

fn summed(rows: &LayerGroup) -> BTreeMap<(String, &'static str, Option<u32>), (u64, i128)> {
    let mut sums: BTreeMap<_, (u64, i128)> = BTreeMap::new();
    for row in rows.rows.iter().filter(|row| row.metric != Metric::Request) {
        // Of a hand-over the receiver.
        let name = row.name.rsplit(" -> ").next().unwrap_or_default().to_owned();
        let sum = sums.entry((name, row.metric.name(), row.metric.index())).or_default();
        *sum = (sum.0 + row.summary.all.count, sum.1 + row.summary.all.total_us);
    }
    sums
}

/// The groups of a layer as the oracle has them: for each its requests' durations, and the
/// sums of its metrics by operation.
type Expected = (Vec<i64>, BTreeMap<(String, &'static str, Option<u32>), (u64, i128)>);

fn expected(traces: &[Trace], of: Layer) -> BTreeMap<String, Expected> {
    let mut found: BTreeMap<String, Expected> = BTreeMap::new();
    for trace in traces {
        let (durations, sums) = found.entry(key(trace, of)).or_default();
        let (start, end) = trace.extent();
        durations.push(end - start);
        for (at, span) in (0..).zip(&trace.spans) {
            for (metric, index, us) in metrics(trace, at, of) {
                let sum = sums.entry((name(span.operation), metric, index)).or_default();
                *sum = (sum.0 + 1, sum.1 + i128::from(us));
            }
        }
    }
    found
}

#[track_caller]
fn check(traces: &[Trace]) {
    for of in Layer::ALL {
        let in_order: Vec<Trace> =
            traces.iter().filter(|trace| of != Layer::Order || !has_ties(trace)).cloned().collect();
        check_layer(&in_order, of);
    }
}

#[track_caller]
fn check_layer(traces: &[Trace], of: Layer) {
    let groups = groups(traces, 3);
    let tails = Tails::new(&groups, 10.0);
    let mut found: Vec<_> = layer(&groups, &tails, of)
        .iter()
        .map(|group| {
            let all = group.rows[0].summary;
            let n_tail = all.all.count - (all.all.count as f64 * 0.9) as u64;
            let is_divided = all.all.count > 1;
            assert_eq!(all.tail.count, if is_divided { n_tail } else { 0 });
            assert!(!is_divided || all.normal.p99_us <= all.tail.p50_us);
            (all.all.count, all.all.total_us, all.all.p50_us, all.all.p99_us, summed(group))
        })
        .collect();
    let mut plain: Vec<_> = expected(traces, of)
        .into_values()
        .map(|(mut durations, sums)| {
            let all = Statistics::of(&mut durations);
            durations.sort_unstable();
            let p50 = durations[durations.len().div_ceil(2) - 1];
            (all.count, durations.iter().map(|us| i128::from(*us)).sum(), p50, all.p99_us, sums)
        })
        .collect();
    found.sort();
    plain.sort();
    assert_eq!(found, plain, "layer {}", of.number());
}

/// In 1,000 sets at least 8,000 traces, and more than 5,000 without two events at one time.
#[test]
fn layers_are_what_a_plain_fold_finds() {
    let mut random = Random::seed_from_u64(1);
    let mut n_in_order = 0;
    for _ in 0..1_000 {
        let n = 8 + random.random_range(0..16);
        let traces: Vec<Trace> = (0..n).map(|_| trace(&drawn(&mut random))).collect();
        n_in_order += traces.iter().filter(|trace| !has_ties(trace)).count();
        check(&traces);
    }
    assert!(n_in_order > 5_000, "{n_in_order}");
}

/// Many traces of few forms, so that groups have more than a handful of requests.
#[test]
fn layers_of_large_groups_are_what_a_plain_fold_finds() {
    let mut random = Random::seed_from_u64(7);
    let traces: Vec<Trace> = (0..300)
        .map(|_| {
            let mut below = |n: usize| random.random_range(0..n) as i64;
            let (b, c) = (below(6), below(6));
            trace(&vec![(0, 0, 0, 0, 20 + below(9)), (1, 0, 0, b, 1 + below(8)), (2, 0, 0, c, 1 + below(8))])
        })
        .collect();
    check(&traces);
}

/// Spans and depth of a request that the oracle can do: it makes the texts of all trees below a
/// span anew for each span above it.
const SPANS_MAX: usize = 300;
const DEPTH_MAX: usize = 8;

fn depth(trace: &Trace, at: u32) -> usize {
    1 + trace.children(at).iter().map(|&child| depth(trace, child)).max().unwrap_or(0)
}

fn table_of_sample(table: &Path) -> crate::error::Result<()> {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("samples");
    let options = Options::default();
    let model = pipeline::analyze(&[samples.join("classes/java17/store.jar")], &options)?;
    let mut inputs = Inputs::new();
    inputs.add(None, &samples.join("logs"))?;
    let mapper = Mapper::new(&model, &options);
    let mapped = mapper.map(&mapper.look(inputs)?, table)?;
    pipeline::append(table, &model, mapped, &options).map(drop)
}

/// The requests of the sample, or of the tables that `LPROF_FOLD_TABLES` names with `:` between.
#[test]
fn layers_of_tables_are_what_a_plain_fold_finds() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let tables = std::env::var("LPROF_FOLD_TABLES").unwrap_or_else(|_| {
        let table = folder.path().join("t");
        table_of_sample(&table).expect("a table of the sample");
        table.display().to_string()
    });
    for table in tables.split(':') {
        let manifest = reducer::table::Manifest::read(Path::new(table)).expect(table);
        let requests = crate::profile::table::requests(&manifest).expect(table);
        let all = requests.len();
        let is_small = |trace: &Trace| {
            trace.spans.len() <= SPANS_MAX && trace.roots.iter().all(|&root| depth(trace, root) <= DEPTH_MAX)
        };
        let traces: Vec<Trace> = requests.into_iter().map(|request| request.trace).filter(is_small).collect();
        assert!(traces.len() * 10 >= all * 9 && all > 100, "{table}: {} of {all}", traces.len());
        check(&traces);
        eprintln!("{table}: {} of {all} requests", traces.len());
    }
}

//! How long each step takes on the committed sample: matching of records and
//! accumulating (`map`), stitching (`reduce`). The crates meet only in
//! `schema`, so that what needs all of them stands here.
//!
//! `cargo bench --profile test --no-default-features --bench sample` measures the build
//! that the README's commands use.

use std::path::Path;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use log_mapper::accumulate::accumulate;
use log_mapper::header::clock::Clock;
use log_mapper::patterns::{Match, Query, Scratch};
use log_mapper::record::{Candidate, Record, Records};
use log_mapper::{Config, PatternSet, Source, said};
use schema::Model;

/// The processes of the sample.
const NODES: [&str; 3] = ["a", "b", "c"];

fn model() -> Model {
    let jar = Path::new(env!("CARGO_MANIFEST_DIR")).join("samples/classes/java8/store.jar");
    let model = static_analyzer::analyze(&[jar], &static_analyzer::Config::default());
    model.expect("the sample's classes")
}

fn log(node: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("samples/logs/{node}.log"));
    std::fs::read(path).expect("the sample's log")
}

/// A line with a header: its time, and what is looked for.
fn headed(log: &[u8]) -> Vec<(i64, Query<'_>)> {
    let layout = log_mapper::detect(log, &[]).expect("the sample's layout");
    let mut clock = Clock::new(log_mapper::parse_zone("UTC").expect("a zone"), (1970, 1, 1));
    let lines = log.split(|&byte| byte == b'\n').filter_map(|line| {
        let header = layout.scan(line)?;
        let text = &line[header.message_start..];
        let query = Query { text, level: header.level, logger: header.logger, ..Query::default() };
        Some((clock.resolve(&header.time?)?, query))
    });
    lines.collect()
}

/// The records of a log, matched.
fn records<'a>(patterns: &PatternSet, scratch: &mut Scratch, log: &'a [u8]) -> Vec<Record<'a>> {
    let mut records = Vec::new();
    for (line, (ts_us, query)) in (1..).zip(headed(log)) {
        patterns.find(scratch, &query);
        let text = |range| std::str::from_utf8(&query.text[range]).expect("the sample is UTF-8");
        let candidate = |found: &Match| {
            let captures = patterns.captures(scratch, found);
            let values: Vec<_> = captures.map(|(variable, range)| (variable, text(range))).collect();
            let mut names = Vec::new();
            said::add_names(values.iter().map(|(_, text)| *text), &mut names);
            Candidate { log_point: found.log_point, values, names: names.into() }
        };
        let candidates = scratch.matches().iter().map(candidate).collect();
        let (level, text) = (query.level, query.text);
        let (file, n_lines, byte_offset, thread) = (0, 1, 0, None);
        // The sample's layout prints no thread.
        let mut words = Vec::new();
        said::add_words(text, &mut words);
        records.push(Record {
            file,
            line,
            n_lines,
            byte_offset,
            ts_us,
            late_us: 0,
            tick_us: 0,
            ids: [None, None],
            level,
            thread,
            text,
            words: words.into(),
            candidates,
            ran: Vec::new(),
        });
    }
    records
}

/// Lends records that are there already.
struct Lent<'a>(std::slice::Iter<'a, Record<'a>>);

impl Records for Lent<'_> {
    fn next(&mut self) -> Option<Record<'_>> {
        self.0.next().cloned()
    }

    fn ahead(&mut self, n: u64, see: &mut dyn FnMut(&Record<'_>)) {
        self.0.clone().take(n as usize).for_each(see);
    }
}

fn map(criterion: &mut Criterion) {
    let (model, log) = (model(), log("a"));
    let patterns = PatternSet::new(&model);
    let (queries, mut scratch) = (headed(&log), patterns.scratch());
    let records = records(&patterns, &mut scratch, &log);
    let mut group = criterion.benchmark_group("map");
    group.throughput(Throughput::Elements(records.len() as u64));
    group.bench_function("match", |bencher| {
        bencher.iter(|| queries.iter().for_each(|(_, query)| patterns.find(&mut scratch, query)));
    });
    let config = Config::new("a");
    group.bench_function("accumulate", |bencher| {
        bencher.iter(|| accumulate(&model, &mut Lent(records.iter()), &config.accumulate));
    });
    group.finish();
}

fn stitch(criterion: &mut Criterion) {
    let model = model();
    let patterns = PatternSet::new(&model);
    let of_node = |node: &str| {
        let sources = [Source::bytes(node, &log(node))];
        log_mapper::map(&model, &patterns, &sources, &Config::new(node), &|_| {}).expect("readable")
    };
    let outputs = NODES.map(of_node);
    let config = reducer::Config::default();
    let n_spans: usize = outputs.iter().map(|output| output.accumulators.len()).sum();
    let mut group = criterion.benchmark_group("stitch");
    group.throughput(Throughput::Elements(n_spans as u64));
    group.bench_function("reduce", |bencher| {
        bencher.iter(|| reducer::reduce(&model, outputs.to_vec(), &config));
    });
    group.finish();
}

criterion_group!(benches, map, stitch);
criterion_main!(benches);

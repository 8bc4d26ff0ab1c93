//! Spans on disk and their skeletons, against whole spans in memory.

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::*;
use crate::append::by_node;
use crate::append::share::requests;
use crate::catalog::Known;
use crate::skeleton::Stored;
use crate::spill::SpillWriter;

/// Bytes of a line.
const LINE_BYTES: u64 = 100;

/// Random spans with all that an event has, where the clock of node `b` was set back.
fn whole_spans(model: &Model, seed: u64) -> Vec<Span> {
    let mut spans = random_spans(model, seed, 80, 4);
    for span in &mut spans {
        span.hosts = vec![Place { file: 0, line: 7 }];
        let is_late = span.node == "b" && span.events[0].ts_us > 30_000_000;
        for event in &mut span.events {
            event.byte_offset = event.line * LINE_BYTES;
            event.late_us = if is_late { 500_000 } else { 0 };
            event.values = [(0, "x"), (3, &*format!("text {}", event.line))].into_iter().collect();
            event.reason = Name::from("opens");
        }
    }
    spans
}

/// The spans of each node in two outputs with an input each.
fn by_output(spans: &[Span]) -> BTreeMap<(Name, u64), Vec<Span>> {
    let mut outputs: BTreeMap<(Name, u64), Vec<Span>> = BTreeMap::new();
    for span in spans {
        outputs.entry((span.node, span.events[0].line % 2)).or_default().push(span.clone());
    }
    outputs
}

/// The requests of `spans`, that go to disk on the way; without what `known` holds.
fn on_disk(model: &Model, spans: &[Span], known: &Known) -> Vec<Accumulator> {
    let folder = tempfile::tempdir().expect("a folder");
    let spilled = by_output(spans).into_iter().map(|((node, _), spans)| {
        let mut spill = SpillWriter::create(&folder.path().join("not/yet/there")).expect("a file");
        let accumulators = spans.into_iter().map(|span| Accumulator { spans: vec![span], links: Vec::new() });
        spill.add(accumulators.collect(), Vec::new()).expect("written");
        spill.finish(&node, vec![schema::InputAccount::default()]).expect("written")
    });
    let (mut nodes, mut stores) = by_node(spilled.collect());
    for node in &mut nodes {
        node.keep_new(known, folder.path(), &mut stores).expect("read");
    }
    assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 0, "no file has a name");
    let spans = nodes.into_iter().flat_map(|node| node.spans).collect();
    requests(model, spans, &stores, &Config::default())
}

/// The same in memory: the inputs of each node in a row.
fn in_memory(model: &Model, spans: &[Span], is_new: impl Fn(&Event) -> bool) -> Vec<Accumulator> {
    let mut moved = Vec::new();
    let outputs = by_output(spans);
    for ((node, part), mut spans) in outputs.clone() {
        let is_second = part == 1 && outputs.contains_key(&(node, 0));
        for span in &mut spans {
            span.events.iter_mut().for_each(|event| event.file += u32::from(is_second));
            span.hosts.iter_mut().for_each(|place| place.file += u32::from(is_second));
            span.events.retain(&is_new);
        }
        moved.extend(spans.into_iter().filter(|span| !span.events.is_empty()));
    }
    reduce(model, super::outputs(&moved, |_, _| 0), &Config::default())
}

#[test]
fn requests_are_the_same_whether_their_spans_were_on_disk_or_in_memory() {
    let model = sketch::model(MESH);
    for seed in 0..20 {
        let spans = whole_spans(&model, seed);
        assert_eq!(
            on_disk(&model, &spans, &Known::default()),
            in_memory(&model, &spans, |_| true),
            "seed {seed}"
        );
    }
}

#[test]
fn what_a_table_holds_already_is_left_out_of_spans_on_disk() {
    let model = sketch::model(MESH);
    for seed in 0..20 {
        let spans = whole_spans(&model, seed);
        let read_before = vec![40 * LINE_BYTES, 0];
        let known = Known { new: vec![schema::InputAccount::default()], read_before, ..Known::default() };
        let is_new = |event: &Event| event.file > 0 || event.line >= 40;
        assert_eq!(on_disk(&model, &spans, &known), in_memory(&model, &spans, is_new), "seed {seed}");
        let all_known = Known { n_inputs: 2, read_before: vec![u64::MAX; 2], ..Known::default() };
        assert_eq!(on_disk(&model, &spans, &all_known), []);
    }
}

#[test]
fn threads_read_one_file_side_by_side() {
    let model = sketch::model(MESH);
    let folder = tempfile::tempdir().expect("a folder");
    let mut spill = SpillWriter::create(folder.path()).expect("a file");
    let spans: Vec<Span> = (0..40).flat_map(|seed| whole_spans(&model, seed)).collect();
    spans.iter().for_each(|span| spill.add_span(span).expect("written"));
    let spilled = spill.finish("a", Vec::new()).expect("written");
    let stores = [spilled.store];
    let expected: Vec<(Stored, &Span)> = spilled.spans.iter().map(|span| span.stored).zip(&spans).collect();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(8).build().expect("threads");
    pool.install(|| {
        expected.par_chunks(7).for_each(|some| {
            let places: Vec<Stored> = some.iter().map(|(stored, _)| *stored).collect();
            let read = crate::spill::read(&stores, &places).expect("whole");
            assert!(read.iter().eq(some.iter().map(|(_, span)| *span)));
        });
    });
}

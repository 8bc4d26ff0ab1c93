//! Requests made of sketches, as rows, and what falls off them.

use std::collections::BTreeMap;

use schema::tables::{InputRow, Text, TopLevelMethodRow};
use schema::{
    Accumulator, Event, InputAccount, Link, LogPointId, Model, Name, PairId, Pass, Probability, Span,
    Successors, Values, sketch,
};

use super::{Splitter, Whole, parts};
use crate::finish::{Context, Keep, Rows, finish};

const MODEL: &str = "
    point Take
    point Work
    top serve Task
      >Take Work
      Work<
    top work Task
      >Work<
    pair serve work Thread
    pair work work Queue
";

/// A request of spans `node top start-end`, with the links `from to probability`.
fn request(model: &Model, spans: &[(&str, &str, i64, i64)], links: &[(u32, u32, f64)]) -> Accumulator {
    let event = |line: u64, ts_us: i64, point: &str| Event {
        file: 0,
        line,
        n_lines: 1,
        byte_offset: line * 10,
        ts_us,
        late_us: 0,
        level: None,
        log_point: Some(sketch::point(model, point)),
        values: Values::default(),
        pass: Pass::Opens,
        reason: Name::default(),
    };
    let span = |(at, &(node, top, start, end)): (usize, &(&str, &str, i64, i64))| {
        let line = 10 * at as u64 + 1;
        let first = if top == "serve" { "Take" } else { "Work" };
        Span {
            node: Name::from(node),
            thread: None,
            top_levels: vec![sketch::top(model, top)],
            identifiers: Vec::new(),
            events: vec![event(line, start, first), event(line + 1, end, "Work")],
            truncated: false,
            trace: None,
            hosts: Vec::new(),
            n_alike: 1,
        }
    };
    let link = |&(from, to, probability): &(u32, u32, f64)| Link {
        from,
        to,
        pair: Some(PairId::new(usize::from(from > 0))),
        by: Pass::ByTime,
        probability: Probability::new(probability),
    };
    let spans = spans.iter().enumerate().map(span).collect();
    Accumulator { spans, links: links.iter().map(link).collect() }
}

fn rows(model: &Model, request: &Accumulator) -> (Splitter, Whole, Rows) {
    let account = |node: &str| InputAccount {
        file: format!("{node}.log"),
        first_us: Some(5),
        n_lines: 1000,
        ..InputAccount::default()
    };
    let inputs: BTreeMap<String, Vec<InputAccount>> =
        ["a", "b", "c"].map(|node| (node.to_owned(), vec![account(node)])).into();
    let numbers: Vec<i64> = (0..model.log_points.len() as i64).collect();
    let context = Context { model, inputs: &inputs, log_point_numbers: &numbers, keep: Keep::Events };
    let rows = finish(context, std::slice::from_ref(request), &[]).expect("rows");
    let inputs: Vec<InputRow> = (inputs.iter())
        .map(|(node, files)| InputRow {
            digest: Text::from("0"),
            ..InputRow::new(1, &Text::from(node.as_str()), &files[0])
        })
        .collect();
    let methods = TopLevelMethodRow::all(model, &|id| numbers[id.index()]);
    let whole =
        Whole { request: rows.requests[0].clone(), spans: rows.spans.clone(), events: rows.events.clone() };
    (Splitter::new(&inputs, &methods), whole, rows)
}

/// The spans of each part, by the line that they begin at, and what holds them.
fn print(rows: &[Rows]) -> Vec<Vec<i64>> {
    rows.iter().map(|part| part.events.iter().filter(|e| e.seq == 0).map(|e| e.line).collect()).collect()
}

const SPANS: [(&str, &str, i64, i64); 5] = [
    ("a", "serve", 10, 90),
    ("b", "work", 20, 40),
    ("c", "work", 30, 50),
    ("b", "work", 35, 95),
    ("a", "work", 60, 70),
];

const LINKS: [(u32, u32, f64); 5] = [(0, 1, 0.9), (1, 2, 0.4), (0, 3, 0.6), (2, 4, 0.95), (3, 4, 0.5)];

#[test]
fn all_of_a_request_is_worked_out_as_it_was() {
    let model = sketch::model(MODEL);
    let (splitter, whole, rows) = rows(&model, &request(&model, &SPANS, &LINKS));
    let all: Vec<usize> = (0..SPANS.len()).collect();
    assert_eq!(splitter.part(&whole, &all, 0.0), rows);
    let Rows { log_sequences: _, ref requests, .. } = rows;
    let split = splitter.split(whole, 0.0);
    assert_eq!((split.len(), &split[0].requests), (1, requests));
    assert_eq!((&split[0].spans, &split[0].request_nodes), (&rows.spans, &rows.request_nodes));
}

#[test]
fn links_below_the_bound_part() {
    let model = sketch::model(MODEL);
    let (splitter, whole, _) = rows(&model, &request(&model, &SPANS, &LINKS));
    let of = |min| print(&splitter.split(whole.clone(), min));
    assert_eq!(of(0.4), [vec![1, 11, 21, 31, 41]]);
    assert_eq!(of(0.5), [vec![1, 11, 21, 31, 41]], "held together by another link");
    assert_eq!(of(0.55), [vec![1, 11, 31], vec![21, 41]]);
    assert_eq!(of(0.95), [vec![1], vec![11], vec![21, 41], vec![31]]);
    assert_eq!(of(1.1), [[1], [11], [21], [31], [41]]);
}

#[test]
fn a_part_is_what_it_would_be_if_it_had_never_been_joined() {
    let model = sketch::model(MODEL);
    let (splitter, whole, _) = rows(&model, &request(&model, &SPANS, &LINKS));
    for min in [0.45, 0.55, 0.7, 0.92, 2.0] {
        for (members, part) in parts(&whole.spans, min).iter().zip(splitter.split(whole.clone(), min)) {
            if members.len() == SPANS.len() {
                continue;
            }
            let place = |span: u32| members.iter().position(|&at| at == span as usize);
            let links = LINKS.iter().filter(|link| link.2 >= min).filter_map(|&(from, to, probability)| {
                Some((place(from)? as u32, place(to)? as u32, probability))
            });
            let links: Vec<(u32, u32, f64)> = links.collect();
            let mut alone = request(&model, &SPANS, &LINKS);
            let all = alone.links.clone();
            alone.spans = members.iter().map(|&at| alone.spans[at].clone()).collect();
            alone.links = (links.iter())
                .map(|&(from, to, _)| {
                    let whole_from = members[from as usize] as u32;
                    let known = all
                        .iter()
                        .find(|link| link.from == whole_from && link.to as usize == members[to as usize]);
                    Link { from, to, ..*known.expect("a link") }
                })
                .collect();
            let (_, _, mut expected) = rows(&model, &alone);
            // Who is no longer the parent told the order; what is known of another one is not in the rows.
            let mut part = part;
            for rows in [&mut expected, &mut part] {
                rows.spans.iter_mut().for_each(|span| {
                    span.position = None;
                    (span.parent_before, span.parent_after) = (None, None);
                });
                rows.events.iter_mut().for_each(|event| event.position = None);
            }
            assert_eq!(part, expected, "{min}: {members:?}");
        }
    }
}

#[test]
fn parts_are_disjoint_and_nothing_is_lost() {
    let model = sketch::model(MODEL);
    let (splitter, whole, _) = rows(&model, &request(&model, &SPANS, &LINKS));
    for min in [0.0, 0.3, 0.5, 0.6, 0.9, 1.0, 2.0] {
        let split = splitter.split(whole.clone(), min);
        let mut spans: Vec<Text> = split.iter().flat_map(|p| &p.spans).map(|s| s.span_id.clone()).collect();
        let mut places: Vec<(Text, i64)> =
            split.iter().flat_map(|p| &p.events).map(|e| (e.node.clone(), e.line)).collect();
        let mut ids: Vec<Text> = split.iter().map(|part| part.requests[0].request_id.clone()).collect();
        for part in &split {
            let row = &part.requests[0];
            assert!(part.spans.iter().all(|span| span.request_id == row.request_id));
            assert!(part.events.iter().all(|event| event.request_id.as_ref() == Some(&row.request_id)));
            assert_eq!((row.n_spans, row.n_events), (part.spans.len() as i64, part.events.len() as i64));
            assert!(row.request_id.starts_with(&*part.spans[0].span_id), "where its first span begins");
        }
        spans.sort();
        spans.dedup();
        places.sort();
        places.dedup();
        ids.sort();
        ids.dedup();
        assert_eq!((spans.len(), places.len(), ids.len()), (5, 10, split.len()), "{min}");
    }
}

#[test]
fn links_of_which_nothing_is_known_hold() {
    let model = sketch::model(MODEL);
    let (splitter, mut whole, _) = rows(&model, &request(&model, &SPANS, &LINKS));
    for link in whole.spans.iter_mut().flat_map(|span| span.hand_overs.iter_mut().flatten()) {
        link.probability = None;
    }
    assert_eq!(splitter.split(whole, 2.0).len(), 1);
    assert!(splitter.split(Whole::default(), 2.0).len() == 1, "a request without spans");
}

/// One span of a request, of two methods that nothing tells apart, the second of them with a pair.
#[test]
fn what_nothing_tells_apart_is_called_what_prints() {
    let model = sketch::model(MODEL);
    let tops = ["work", "serve"].map(|top| sketch::top(&model, top));
    let row = |n_alike, links: &[(u32, u32, f64)]| {
        let mut request = request(&model, &[("a", "work", 10, 20), ("b", "work", 30, 40)], links);
        request.spans[0].top_levels = tops.to_vec();
        request.spans[0].n_alike = n_alike;
        if !links.is_empty() {
            request.spans[0].top_levels.reverse();
        }
        let (splitter, whole, rows) = rows(&model, &request);
        let row = rows.requests[0].clone();
        if links.is_empty() {
            let of_first = &splitter.split(whole, 0.0)[0].requests[0];
            assert_eq!(
                (&of_first.request_type, &of_first.request_types),
                (&row.request_type, &row.request_types)
            );
        }
        let types = row.request_types.unwrap_or_default();
        format!("{}: {}", row.request_type, types.join(" "))
    };
    assert_eq!(row(2, &[]), "Points.Work: Tops.work Tops.serve");
    assert_eq!(row(1, &[]), "Tops.work: Tops.work");
    // It has started another thread, as one of them alone does.
    assert_eq!(row(2, &[(0, 1, 0.9)]), "Tops.serve: Tops.serve");
}

/// What tells its callees apart is what a task without a name is called.
#[test]
fn a_lambda_is_called_what_it_has_called() {
    let mut model = sketch::model(MODEL);
    let [take, work] = ["Take", "Work"].map(|point| sketch::point(&model, point));
    let serve = sketch::top(&model, "serve");
    let check = |model: &Model, expected: &str| {
        let request = request(model, &[("a", "lambda$main$0", 10, 20)], &[]);
        assert_eq!(&*rows(model, &request).2.requests[0].request_type, expected);
    };
    model.top_level_methods[serve.index()].method = "lambda$main$0".to_owned();
    let first = |points: &[LogPointId]| {
        let mut firsts = vec![Vec::new(); 2];
        firsts[serve.index()] = points.to_vec();
        Successors::new(Vec::new(), firsts, Default::default(), Default::default())
    };
    model.successors = first(&[work]);
    check(&model, "Points.Work");
    model.successors = first(&[take, work]);
    check(&model, "Points.Work");
    // Not where it begins with what it does not begin with, or a helper of another class can be meant.
    model.successors = first(&[take]);
    check(&model, "Tops.lambda$main$0");
    model.successors = first(&[take, work]);
    model.log_points[take.index()].class = "sketch.Others".to_owned();
    check(&model, "Tops.lambda$main$0");
}

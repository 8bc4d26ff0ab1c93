//! The ceiling: how many of the hand-offs that hold a unit together the model
//! proposes at all. No inference can find what the model does not propose.
//!
//! Two true spans of a unit can be joined if a top-level method that prints a
//! record of the one leads to one that prints the first record of the other, by the
//! true log points of the records: because it is the same, in one thread, by a communication
//! pair, or by a way of pairs through methods of which the log shows nothing. Of n spans
//! the n - 1 hand-offs that can be had are n less the number of parts that hang
//! together so. Times and values are not asked: what is found cannot be more.
//!
//! Not measured: whether a record's true span was among the open spans when the
//! mapper placed it. The mapper would have to write down the spans it looked at.

use std::collections::{BTreeMap, BTreeSet};

use schema::{LogPointId, Model, TopLevelId};

use super::links::by_unit;
use super::spans::{TrueSpan, TrueSpans};
use super::truth::Truth;

/// Hand-offs that are needed, and what of them is among the candidates.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ceiling {
    /// Hand-offs that hold the units together.
    pub(crate) n_needed: u64,
    /// Those between spans of one thread that one method can have printed.
    pub(crate) n_same: u64,
    /// These and those along a pair.
    pub(crate) n_pair: u64,
    /// These and those along a way of pairs.
    pub(crate) n_way: u64,
    /// What lacks a candidate: the true log point that the receiver begins with, and the one
    /// before it in the unit, by how often.
    pub(crate) missing: BTreeMap<(String, String), u64>,
}

/// What leads where.
struct Reach<'m> {
    model: &'m Model,
    /// Log points by `class.method:line`, of the statement or its call site.
    points: BTreeMap<String, Vec<LogPointId>>,
    /// Who prints each log point.
    printers: Vec<BTreeSet<TopLevelId>>,
    /// Whether the log shows a line of each method.
    is_shown: Vec<bool>,
    /// Where each method leads to: by pairs, and by ways.
    to: BTreeMap<TopLevelId, (BTreeSet<TopLevelId>, BTreeSet<TopLevelId>)>,
}

/// What decides with which spans one can be joined.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Shape<'a> {
    /// Its node and thread.
    thread: (&'a str, Option<&'a str>),
    /// Methods that print its first record.
    first: BTreeSet<TopLevelId>,
    /// Methods that print any of its records.
    any: BTreeSet<TopLevelId>,
}

/// Measures how much of `truth` the model proposes.
pub(crate) fn measure(truth: &Truth, spans: &TrueSpans<'_>, model: &Model) -> Ceiling {
    let mut reach = Reach::new(model, truth);
    let mut ceiling = Ceiling::default();
    for of_unit in by_unit(spans).values() {
        let of_unit: Vec<&TrueSpan<'_>> = of_unit.iter().map(|&span| &spans.spans[span]).collect();
        let shapes: Vec<Shape<'_>> = of_unit.iter().map(|span| reach.shape(truth, span)).collect();
        let n = of_unit.len() as u64;
        let parts = [Step::Same, Step::Pair, Step::Way].map(|step| parts(&mut reach, &shapes, step));
        let n_joined = |parts: &[usize]| n - parts.iter().collect::<BTreeSet<_>>().len() as u64;
        ceiling.n_needed += n - 1;
        ceiling.n_same += n_joined(&parts[0]);
        ceiling.n_pair += n_joined(&parts[1]);
        ceiling.n_way += n_joined(&parts[2]);
        let mut known = BTreeSet::new();
        for (at, part) in parts[2].iter().enumerate() {
            if known.insert(part) && at > 0 {
                let name = |place| truth.records[place].log_point.clone().unwrap_or_else(|| "?".to_owned());
                let before = of_unit[at - 1].places.last().copied();
                let ends = (name(of_unit[at].places[0]), before.map(name).unwrap_or_default());
                *ceiling.missing.entry(ends).or_default() += 1;
            }
        }
    }
    ceiling
}

/// Along what two spans can be joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Same,
    Pair,
    Way,
}

/// The part that each span is in, if all are joined that can be.
fn parts(reach: &mut Reach<'_>, shapes: &[Shape<'_>], step: Step) -> Vec<usize> {
    let kinds: Vec<&Shape<'_>> = shapes.iter().collect::<BTreeSet<_>>().into_iter().collect();
    let mut part_of_kind: Vec<usize> = (0..kinds.len()).collect();
    let mut hangs = vec![false; kinds.len()];
    for a in 0..kinds.len() {
        for b in a..kinds.len() {
            if reach.leads(kinds[a], kinds[b], step) || reach.leads(kinds[b], kinds[a], step) {
                (hangs[a], hangs[b]) = (true, true);
                let (old, new) = (part_of_kind[b], part_of_kind[a]);
                part_of_kind.iter_mut().filter(|part| **part == old).for_each(|part| *part = new);
            }
        }
    }
    // What leads to nothing hangs with none of its like either.
    let part = |(at, shape): (usize, &Shape<'_>)| {
        let kind = kinds.binary_search(&shape).expect("one of the kinds");
        if hangs[kind] { part_of_kind[kind] } else { kinds.len() + at }
    };
    shapes.iter().enumerate().map(part).collect()
}

impl<'m> Reach<'m> {
    fn new(model: &'m Model, truth: &Truth) -> Self {
        let mut points: BTreeMap<String, Vec<LogPointId>> = BTreeMap::new();
        for (at, point) in model.log_points.iter().enumerate() {
            let statement = format!("{}.{}:{}", point.class, point.method, point.source_line);
            let caller = point.call_site.as_ref();
            let caller = caller.map(|site| format!("{}.{}:{}", site.class, site.method, site.source_line));
            for place in [Some(statement), caller].into_iter().flatten() {
                points.entry(place).or_default().push(LogPointId::new(at));
            }
        }
        let mut printers = vec![BTreeSet::new(); model.log_points.len()];
        for (at, top) in model.top_level_methods.iter().enumerate() {
            for point in top.log_points() {
                printers[point.index()].insert(TopLevelId::new(at));
            }
        }
        let mut is_shown = vec![false; model.top_level_methods.len()];
        for record in truth.records.values() {
            let names = [&record.log_point, &record.call_site].into_iter().flatten();
            for point in names.filter_map(|name| points.get(name)).flatten() {
                printers[point.index()].iter().for_each(|top| is_shown[top.index()] = true);
            }
        }
        Self { model, points, printers, is_shown, to: BTreeMap::new() }
    }

    fn shape<'a>(&self, truth: &'a Truth, span: &TrueSpan<'a>) -> Shape<'a> {
        let printers = |place| -> BTreeSet<TopLevelId> {
            let record = &truth.records[place];
            let names = [&record.call_site, &record.log_point].into_iter().flatten();
            let mut points = names.filter_map(|name| self.points.get(name));
            points
                .next()
                .into_iter()
                .flatten()
                .flat_map(|point| &self.printers[point.index()])
                .copied()
                .collect()
        };
        let first = printers(span.places[0]);
        let any = span.places.iter().flat_map(|place| printers(place)).collect();
        let thread = (&*span.places[0].0, truth.records[span.places[0]].thread.as_deref());
        Shape { thread, first, any }
    }

    /// Whether a span leads to another one.
    fn leads(&mut self, from: &Shape<'_>, to: &Shape<'_>, step: Step) -> bool {
        if from.thread == to.thread && !from.any.is_disjoint(&to.first) {
            return true;
        }
        step > Step::Same
            && from.any.iter().any(|&top| {
                let (by_pair, by_way) = self.to(top);
                let reached = if step == Step::Pair { by_pair } else { by_way };
                !reached.is_disjoint(&to.first)
            })
    }

    /// Where a method leads to: by pairs, and by ways.
    fn to(&mut self, from: TopLevelId) -> &(BTreeSet<TopLevelId>, BTreeSet<TopLevelId>) {
        let (model, is_shown) = (self.model, &self.is_shown);
        self.to.entry(from).or_insert_with(|| {
            let next = |from: TopLevelId| {
                model.communication_pairs.iter().filter(move |pair| pair.from == from).map(|pair| pair.to)
            };
            let by_pair: BTreeSet<TopLevelId> = next(from).collect();
            let mut by_way = by_pair.clone();
            let mut open: Vec<TopLevelId> = by_pair.iter().copied().collect();
            while let Some(top) = open.pop() {
                if !is_shown[top.index()] {
                    open.extend(next(top).filter(|to| by_way.insert(*to)));
                }
            }
            (by_pair, by_way)
        })
    }
}

#[cfg(test)]
mod tests {
    use schema::sketch;

    use super::{Ceiling, measure};
    use crate::evaluation::spans::TrueSpans;
    use crate::evaluation::truth::Truth;

    const MODEL: &str = "
        point a
        point q
        point b
        point c
        top send Task
          >a<
        top middle Task
          >q<
        top work Task
          >b<
        top alone Task
          >c<
        pair send middle Thread
        pair middle work Thread
    ";

    /// Each word is a record: its thread, log point and unit (none: `u`).
    #[track_caller]
    fn check(records: &str, expected: [u64; 4]) -> Ceiling {
        let model = sketch::model(MODEL);
        let mut truth = String::from("node\tline\tthread\tlog_point\tunit\top\n");
        for (line, record) in records.split_whitespace().enumerate() {
            let mut words = record.split(':');
            let mut word = |what| words.next().ok_or(what);
            let (thread, point) = (word("a thread").expect("one"), word("a log point").expect("one"));
            let unit = word("a unit").unwrap_or("u");
            truth += &format!("n\t{line}\t{thread}\tsketch.Points.{point}:1\t{unit}\to\n");
        }
        let truth = Truth::parse(&truth).expect("a truth");
        let ceiling = measure(&truth, &TrueSpans::new(&truth), &model);
        let Ceiling { n_needed, n_same, n_pair, n_way, .. } = ceiling;
        assert_eq!([n_needed, n_same, n_pair, n_way], expected, "needed, same, pair, way");
        ceiling
    }

    #[test]
    fn pairs_join_and_ways_go_through_what_the_log_does_not_show() {
        check("1:a 2:q 3:b", [2, 0, 2, 2]);
        check("1:a 2:b", [1, 0, 0, 1]);
        check("1:a 2:b 3:q:other", [1, 0, 0, 0]);
    }

    #[test]
    fn parts_of_one_span_are_of_one_thread() {
        check("1:a 1:c:other 1:a", [1, 1, 1, 1]);
        check("1:a 2:a", [1, 0, 0, 0]);
    }

    #[test]
    fn what_is_missing_is_told() {
        let ceiling = check("1:a 2:c", [1, 0, 0, 0]);
        let missing: Vec<_> = ceiling.missing.into_iter().collect();
        assert_eq!(missing, [(("sketch.Points.c:1".to_owned(), "sketch.Points.a:1".to_owned()), 1)]);
        check("1:unknown 2:a", [1, 0, 0, 0]);
    }
}

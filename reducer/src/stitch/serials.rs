//! Serial numbers: what a program numbers from one counter is named by its number.
//!
//! Small numbers are equal by chance, so that a number in itself says little. But where
//! an object keeps a number by which its events find it, and the log shows that such
//! numbers are given one after the other, whoever prints one prints the name of that
//! object, and whoever prints another one works on another object, whatever else both
//! name. An object that also prints the number of another, which is before it and is
//! still at work after it, is a part of what that one does: a step that has steps.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::{FxHashMap, FxHashSet};
use schema::serials::{Life, Number, Serials};
use schema::{Identifier, LogPointId, Marks, Model, TopLevelId, ValueClassId};

use crate::merge::to_u32;
use crate::skeleton::{Event, Span};

/// One in so many numbers may be another one.
const STRAY_SHARE: usize = 16;

/// Numbers from which to learn that a variable shows them under another name.
const ALIASES_MIN: usize = 4;

/// Who asks for something is told its number so soon after or before it is first printed.
const NEW_US: u64 = 1_000_000;

/// Per span the piece of work that all of it is for: the outermost one.
pub(super) fn of_spans(model: &Model, spans: &[Span]) -> Vec<Option<u32>> {
    let mut labels = vec![None; spans.len()];
    let mut serials = Serials::new(model.own_names());
    for event in spans.iter().flat_map(|span| &span.events) {
        serials.see(event.ts_us, &numbered(model, event).collect::<Vec<_>>());
    }
    let Some(work) = serials.work() else { return labels };
    let printed = Printed { aliases: aliases(spans, &work.lives), ..Printed::new(model, work.class) };
    let mut known: FxHashMap<u64, u32> = FxHashMap::default();
    for (label, span) in labels.iter_mut().zip(spans) {
        let numbers = printed.numbers(span);
        let mut roots = numbers.iter().map(|&number| work.root(number));
        if let Some(first) = roots.next().filter(|first| roots.all(|other| other == *first)) {
            let next = to_u32(known.len());
            *label = Some(*known.entry(first).or_insert(next));
        }
    }
    labels
}

/// Variables that nearly always show the number of what was begun just then: who asks
/// for something is told its number, under whatever name.
fn aliases(spans: &[Span], lives: &BTreeMap<u64, Life>) -> FxHashSet<(LogPointId, u32)> {
    let mut seen: BTreeMap<(LogPointId, u32), (BTreeSet<u64>, usize, usize)> = BTreeMap::new();
    for event in spans.iter().flat_map(|span| &span.events) {
        let Some(point) = event.log_point else { continue };
        for (variable, n) in event.values.iter().filter_map(|(at, text)| Some((at, text.parse().ok()?))) {
            let life = lives.get(&n);
            let is_new = life.is_some_and(|life| event.ts_us.abs_diff(life.first_us) <= NEW_US);
            let (numbers, n_new, n_all) = seen.entry((point, variable)).or_default();
            if is_new && numbers.len() < ALIASES_MIN {
                numbers.insert(n);
            }
            (*n_new, *n_all) = (*n_new + usize::from(is_new), *n_all + 1);
        }
    }
    seen.retain(|_, (numbers, n_new, n_all)| {
        numbers.len() >= ALIASES_MIN && (*n_all - *n_new) * STRAY_SHARE <= *n_all
    });
    seen.into_keys().collect()
}

/// The numbers that an event prints, with their classes.
fn numbered<'s>(model: &'s Model, event: &'s Event) -> impl Iterator<Item = Number> + 's {
    let point = event.log_point.and_then(|point| model.log_points.get(point.index()));
    event.values.iter().filter_map(move |(variable, text)| {
        let class = point?.variables.get(variable as usize)?.value_class?;
        Some((class, text.parse().ok()?))
    })
}

/// How the numbers of one class are printed.
struct Printed<'m> {
    model: &'m Model,
    class: ValueClassId,
    /// What stands before them.
    marks: Marks<'m>,
    /// The variables of log points that are the number of the object whose method
    /// prints them.
    own: FxHashSet<(TopLevelId, LogPointId, u32)>,
    /// Variables of log points that are such a number under another name.
    aliases: FxHashSet<(LogPointId, u32)>,
}

impl<'m> Printed<'m> {
    fn new(model: &'m Model, class: ValueClassId) -> Self {
        let marks = Marks::of(model, class);
        let mut own = FxHashSet::default();
        for (top, method) in (0..).map(TopLevelId::new).zip(&model.top_level_methods) {
            for point in method.dag.nodes.iter().flat_map(|node| &node.points) {
                for (variable, id) in (0..).zip(&point.bindings) {
                    let id = id.and_then(|id| method.identifiers.get(id.index()));
                    if id.is_some_and(|id| id.value_class == class && is_of_this(id)) {
                        own.insert((top, point.log_point, variable));
                    }
                }
            }
        }
        Self { model, class, marks, own, aliases: FxHashSet::default() }
    }

    /// The numbers by which a span names what it works on: what its own object is
    /// numbered, else what it prints, else what stands within its texts.
    fn numbers(&self, span: &Span) -> Vec<u64> {
        let of_class = |event| numbered(self.model, event).filter(|(class, _)| *class == self.class);
        let own: Vec<u64> = span.events.iter().filter_map(|event| self.own(span, event)).collect();
        if !own.is_empty() {
            return own;
        }
        let all: Vec<u64> = span.events.iter().flat_map(of_class).map(|(_, n)| n).collect();
        if !all.is_empty() {
            return all;
        }
        let texts = span.events.iter().flat_map(|event| event.values.iter().map(|(_, text)| text));
        let within: Vec<u64> = texts.flat_map(|text| self.marks.numbers_in(text)).collect();
        if !within.is_empty() {
            return within;
        }
        let alias = |event: &'_ Event| {
            let point = event.log_point?;
            let mut values = event.values.iter();
            values.find(|&(variable, _)| self.aliases.contains(&(point, variable)))?.1.parse().ok()
        };
        span.events.iter().filter_map(alias).collect()
    }

    /// The number of the object whose method printed an event.
    fn own(&self, span: &Span, event: &Event) -> Option<u64> {
        let (top, point) = (*span.top_levels.first()?, event.log_point?);
        let is_own = |&(variable, _): &(u32, &str)| self.own.contains(&(top, point, variable));
        event.values.iter().find(is_own).and_then(|(_, text)| text.parse().ok())
    }
}

/// Whether an identifier is of the object whose method it is known to.
fn is_of_this(id: &Identifier) -> bool {
    id.path.starts_with("this.") && !id.path.contains("[*]") && !id.one_of_many
}

#[cfg(test)]
mod tests {
    use schema::{Name, Template, Values, sketch};

    use super::*;
    use crate::skeleton::Stored;

    const STEPS: &str = "
        point began n=Step.n
        point starting n=Step.n of=Step.of
        point planned steps=List.text
        point asked id=Client.id
        top run Entity this.n=Step.n this.of=Step.of
          >began* starting planned
          starting planned
          planned<
    ";

    fn model() -> Model {
        let mut model = sketch::model(STEPS);
        let point = sketch::point(&model, "starting").index();
        model.log_points[point].templates =
            vec![Template { regex: r"starting n=(\-?\d+), of=(\-?\d+)".to_owned(), captures: vec![0, 1] }];
        model
    }

    /// A span of one line, printed at a time in s.
    fn span(model: &Model, point: &str, at: u64, texts: &[String]) -> Span {
        let texts: Vec<(u32, &str)> = (0..).zip(texts.iter().map(String::as_str)).collect();
        let event = schema::Event {
            file: 0,
            line: at,
            n_lines: 1,
            byte_offset: 0,
            ts_us: at as i64 * 1_000_000,
            late_us: 0,
            level: None,
            log_point: Some(sketch::point(model, point)),
            values: texts.into_iter().collect::<Values>(),
            pass: schema::Pass::Opens,
            reason: Name::default(),
        };
        let top_levels = vec![sketch::top(model, "run")];
        let node = Name::from("n");
        let span = schema::Span {
            node,
            thread: None,
            top_levels,
            identifiers: Vec::new(),
            events: vec![event],
            truncated: false,
            trace: None,
            hosts: Vec::new(),
            n_alike: 1,
        };
        Span::new(span, Stored::default())
    }

    /// Ten steps with three steps each, and what was planned for the last ones.
    fn steps(model: &Model, number: impl Fn(u64) -> u64) -> Vec<Span> {
        let mut spans = Vec::new();
        for outer in (0..10).map(|i| 4 * i + 1) {
            let [n, at] = [number(outer), 10 * outer];
            spans.push(span(model, "began", at, &[n.to_string()]));
            for inner in 1..4 {
                let texts = [number(outer + inner).to_string(), n.to_string()];
                spans.push(span(model, "starting", at + inner, &texts));
            }
            let plan = format!("[{{n={}, of={n}}}, {{n={}, of={n}}}]", number(outer + 1), number(outer + 2));
            spans.push(span(model, "planned", at + 4, &[plan]));
            spans.push(span(model, "began", at + 5, &[n.to_string()]));
        }
        spans
    }

    fn labels(number: impl Fn(u64) -> u64) -> Vec<Option<u32>> {
        let model = model();
        of_spans(&model, &steps(&model, number))
    }

    #[test]
    fn steps_are_of_what_the_outermost_one_works_on() {
        let expected: Vec<Option<u32>> = (0..60).map(|span| Some(span / 6)).collect();
        assert_eq!(labels(|n| n), expected);
    }

    #[test]
    fn who_asks_is_told_the_number_under_another_name() {
        let model = model();
        let mut spans = steps(&model, |n| n);
        let n_steps = spans.len();
        for outer in (0..10).map(|i| 4 * i + 1) {
            spans.push(span(&model, "asked", 10 * outer, &[outer.to_string()]));
        }
        let expected: Vec<Option<u32>> = (0..10).map(Some).collect();
        assert_eq!(of_spans(&model, &spans)[n_steps..], expected);
        spans.truncate(n_steps);
        for outer in (0..10).map(|i| 4 * i + 1) {
            spans.push(span(&model, "asked", 10 * outer, &[(outer + 4).to_string()]));
        }
        assert!(of_spans(&model, &spans)[n_steps..].iter().all(Option::is_none), "another number");
    }

    #[test]
    fn numbers_that_are_not_given_one_after_the_other_name_nothing() {
        assert!(labels(|n| n * 7 % 41).iter().all(Option::is_none));
        assert!(labels(|n| n * 1000).iter().all(Option::is_none));
    }
}

//! What spans are called: by their top-level method, as far as it is known and has a name.
//!
//! Where nothing tells apart which of several top-level methods has printed a span, and where the
//! one that has is a lambda or of an anonymous class, whose name is a number that a compiler gave
//! it, a span is called by the method that prints first in it.

use schema::tables::{Text, short_name};
use schema::{LogPoint, LogPointId, Model, Span, TopLevelId, TopLevelMethod};

/// Names by model.
#[derive(Debug)]
pub(super) struct Called {
    /// Per top-level method.
    top_levels: Vec<Text>,
    /// Per top-level method without a name the log points, sorted, that tell what it has called: one
    /// of the methods of one class.
    tell: Vec<Vec<LogPointId>>,
    /// Per log point what the method that prints it is called.
    printers: Vec<Text>,
}

impl Called {
    pub(super) fn new(model: &Model) -> Self {
        let printer = |point: &LogPoint| {
            let (class, method) = point.printer();
            Text::from(short_name(class, method))
        };
        let tops = model.top_level_methods.iter();
        Self {
            top_levels: tops.clone().map(|top| Text::from(top.short_name())).collect(),
            tell: tops.enumerate().map(|(at, top)| telling(model, TopLevelId::new(at), top)).collect(),
            printers: model.log_points.iter().map(printer).collect(),
        }
    }

    /// The top-level methods of a span that nothing tells apart, by name, each once, best first;
    /// `is_told`: a hand-off tells which one it is.
    pub(super) fn top_levels(&self, span: &Span, is_told: bool) -> Vec<Text> {
        let n = if is_told { 1 } else { span.n_alike.max(1) as usize };
        let tops = span.top_levels.iter().take(n).filter_map(|top| self.top_levels.get(top.index()));
        let mut names: Vec<Text> = Vec::new();
        for name in tops {
            if !names.contains(name) {
                names.push(name.clone());
            }
        }
        names
    }

    /// What a span is called that can be each of `top_levels`.
    pub(super) fn of_span(&self, span: &Span, top_levels: &[Text]) -> Text {
        let first = span.events.iter().find_map(|event| event.log_point);
        let best = span.top_levels.first().and_then(|top| self.tell.get(top.index()));
        let tells = |first: &LogPointId| {
            top_levels.len() > 1 || best.is_some_and(|tell| tell.binary_search(first).is_ok())
        };
        let printer = first.filter(tells).and_then(|first| self.printers.get(first.index()));
        printer.or(top_levels.first()).map_or_else(|| Text::from("?"), Text::clone)
    }
}

/// What a top-level method can begin with, if it has no name and prints nothing itself before one of
/// the methods of one class does.
fn telling(model: &Model, id: TopLevelId, top: &TopLevelMethod) -> Vec<LogPointId> {
    if !is_nameless(&top.class, &top.method) {
        return Vec::new();
    }
    let firsts = model.successors.firsts(id).unwrap_or_default();
    let printer = |point: &LogPointId| model.log_points.get(point.index()).map(LogPoint::printer);
    let mut printers = firsts.iter().filter_map(printer);
    let Some((class, _)) = printers.clone().next() else { return Vec::new() };
    let is_one =
        |(other, method): (&str, &str)| outermost(other) == outermost(class) && !is_nameless(other, method);
    if printers.all(is_one) { firsts } else { Vec::new() }
}

/// Whether a compiler has given a method or its class a number for a name: javac, Kotlin's and
/// Scala's.
fn is_nameless(class: &str, method: &str) -> bool {
    let is_number = |name: &str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit());
    ["lambda$", "$lambda", "$anonfun$"].iter().any(|mark| method.contains(mark))
        || class.rsplit_once('$').is_some_and(|(_, name)| is_number(name))
}

/// The class in whose file a class is declared.
fn outermost(class: &str) -> &str {
    class.split_once('$').map_or(class, |(outer, _)| outer)
}

#[cfg(test)]
mod tests {
    use super::{is_nameless, outermost};

    #[test]
    fn numbers_are_no_names() {
        for (class, method) in [
            ("a.B$1", "run"),
            ("a.BKt$main$2$1", "invoke"),
            ("a.B", "lambda$main$0"),
            ("a.B", "$anonfun$go$1"),
        ] {
            assert!(is_nameless(class, method), "{class} {method}");
        }
        for (class, method) in [("a.B", "run"), ("a.B$Inner", "run"), ("a.B$V2", "lambda"), ("a.B2", "go1")] {
            assert!(!is_nameless(class, method), "{class} {method}");
        }
        assert_eq!([outermost("a.B$C$1"), outermost("a.B")], ["a.B"; 2]);
    }
}

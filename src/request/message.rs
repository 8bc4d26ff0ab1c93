//! The message of an event, put together from a template of its log point and the values that it
//! printed: what the log says, where the log is not at hand. Also whether a text can be that event's.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::OnceLock;

use reducer::table::Manifest;
use regex_syntax::hir::{Class, Hir, HirKind};
use rustc_hash::FxHashMap;
use schema::tables::{EventRow, LogPointRow, RunRow, TemplateRow, Text};
use schema::{LogPoint, Model};

/// Steps of putting a message together: templates have alternatives.
const STEPS_MAX: usize = 2_000;
/// What stands for text that is not known.
const GAP: &str = "…";

/// The templates of a table, of each log point when it is asked for first.
#[derive(Debug, Default)]
pub(crate) struct Messages {
    points: FxHashMap<i64, Point>,
    /// Where the models lie that say what values are called.
    model_paths: Vec<PathBuf>,
    models: OnceLock<Vec<Model>>,
}

/// A log point.
#[derive(Debug)]
struct Point {
    row: LogPointRow,
    templates: OnceLock<Vec<Template>>,
}

/// A way in which a message can look.
#[derive(Debug)]
struct Template {
    hir: Hir,
    /// Of each capture: its path, and what else values of it are called.
    names: Vec<Vec<Text>>,
}

/// A part of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece<'m> {
    Constant(String),
    Value(&'m str),
    Gap,
}

/// What the message of an event is made of.
pub(super) struct Pieces<'m>(Vec<Piece<'m>>);

impl Messages {
    /// Those of a table. What cannot be read leaves messages out.
    pub(crate) fn read(manifest: &Manifest) -> Self {
        let rows = manifest.rows::<LogPointRow>().unwrap_or_default();
        let runs = manifest.rows::<RunRow>().unwrap_or_default();
        let digests: BTreeSet<&str> = runs.iter().map(|run| &*run.model_digest).collect();
        let folder = manifest.folder.join("models");
        let model_paths = digests.iter().map(|digest| folder.join(format!("{digest}.model"))).collect();
        Self { model_paths, ..Self::of_points(rows) }
    }

    fn of_points(rows: Vec<LogPointRow>) -> Self {
        let point = |row: LogPointRow| (row.log_point_id, Point { row, templates: OnceLock::new() });
        Self { points: rows.into_iter().map(point).collect(), ..Self::default() }
    }

    /// Of one log point, with these templates: a regex and the paths of its captures.
    #[cfg(test)]
    pub(super) fn of_point(number: i64, templates: &[(&str, &[&str])]) -> Self {
        let row = |(regex, variables): &(&str, &[&str])| TemplateRow {
            regex: (*regex).into(),
            variables: variables.iter().map(|path| Text::from(*path)).collect(),
        };
        let templates = templates.iter().map(row).collect();
        Self::of_points(vec![LogPointRow { log_point_id: number, templates, ..LogPointRow::default() }])
    }

    /// What an event says; none: nothing is known of how it looks.
    pub(crate) fn made(&self, event: &EventRow) -> Option<String> {
        self.pieces(event).map(|pieces| pieces.text())
    }

    /// What the message of an event is made of: what all of the ways that take most of its values have in
    /// common.
    pub(super) fn pieces<'m>(&'m self, event: &'m EventRow) -> Option<Pieces<'m>> {
        let templates = self.templates(event.log_point_id?)?;
        let mut best = Best::default();
        templates.iter().for_each(|template| template.fill(event, &mut best));
        let mut all = best.fillings.iter().map(|pieces| words(pieces));
        let first = all.next()?;
        Some(Pieces(all.fold(first, |common, other| in_common(&common, &other))))
    }

    fn templates(&self, point: i64) -> Option<&[Template]> {
        let Point { row, templates } = self.points.get(&point)?;
        let made = templates.get_or_init(|| {
            let classes = self.classes(row);
            row.templates.iter().filter_map(|template| Template::new(template, &classes)).collect()
        });
        Some(made)
    }

    /// What the values of each path of a log point are called.
    fn classes(&self, row: &LogPointRow) -> Vec<(String, Text)> {
        let read = || self.model_paths.iter().filter_map(|path| Model::read(path).ok()).collect();
        let mut found = Vec::new();
        for model in self.models.get_or_init(read) {
            let is_it = |point: &&LogPoint| {
                let line = i64::from(point.source_line);
                (point.class.as_str(), point.method.as_str(), line)
                    == (&*row.class, &*row.method, row.source_line)
            };
            for variable in model.log_points.iter().filter(is_it).flat_map(|point| &point.variables) {
                let class = variable.value_class.and_then(|class| model.value_classes.get(class.index()));
                found.extend(class.map(|class| (variable.path.to_string(), Text::from(class.as_str()))));
            }
        }
        found
    }
}

/// The ways to put a message together that take most values.
#[derive(Default)]
struct Best<'m> {
    n_taken: usize,
    fillings: Vec<Vec<Piece<'m>>>,
}

impl<'m> Best<'m> {
    fn add(&mut self, filling: Filling<'m>) {
        if filling.n_taken > self.n_taken {
            self.fillings.clear();
        }
        if filling.n_taken >= self.n_taken {
            self.n_taken = filling.n_taken;
            self.fillings.push(filling.pieces);
        }
    }
}

/// The same with each word of a constant as a piece.
fn words<'m>(pieces: &[Piece<'m>]) -> Vec<Piece<'m>> {
    let of_piece = |piece: &Piece<'m>| match piece {
        Piece::Constant(text) => {
            text.split_inclusive(' ').map(|word| Piece::Constant(word.to_owned())).collect()
        }
        other => vec![other.clone()],
    };
    pieces.iter().flat_map(of_piece).collect()
}

/// What two messages begin and end with alike, and a gap where they differ.
fn in_common<'m>(one: &[Piece<'m>], other: &[Piece<'m>]) -> Vec<Piece<'m>> {
    let n_same = one.iter().zip(other).take_while(|(a, b)| a == b).count();
    if n_same == one.len() && n_same == other.len() {
        return one.to_vec();
    }
    let ends = one[n_same..].iter().rev().zip(other[n_same..].iter().rev());
    let n_end = ends.take_while(|(a, b)| a == b).count();
    let (begin, end) = (one[..n_same].iter(), one[one.len() - n_end..].iter());
    let mut pieces: Vec<Piece<'m>> = begin.chain([&Piece::Gap]).chain(end).cloned().collect();
    pieces.dedup_by(|a, b| *a == Piece::Gap && *b == Piece::Gap);
    pieces
}

impl Template {
    fn new(row: &TemplateRow, classes: &[(String, Text)]) -> Option<Self> {
        // As patterns are built: `.` is any character.
        let hir = regex_syntax::ParserBuilder::new().dot_matches_new_line(true).build().parse(&row.regex);
        let names = |path: &Text| {
            let classes = classes.iter().filter(|(of, _)| **of == **path).map(|(_, class)| class);
            std::iter::once(path).chain(classes).cloned().collect()
        };
        Some(Self { hir: hir.ok()?, names: row.variables.iter().map(names).collect() })
    }

    /// Adds all messages that it makes with the values of `event`.
    fn fill<'m>(&'m self, event: &'m EventRow, best: &mut Best<'m>) {
        let mut open = vec![Filling { rest: vec![&self.hir], pieces: Vec::new(), n_taken: 0 }];
        for _ in 0..STEPS_MAX {
            let Some(mut filling) = open.pop() else { break };
            match filling.rest.pop() {
                Some(node) => self.step(filling, node, event, &mut open),
                None => best.add(filling),
            }
        }
    }

    /// Goes on with `node`, in all ways that there are.
    fn step<'m>(
        &'m self,
        mut filling: Filling<'m>,
        node: &'m Hir,
        event: &'m EventRow,
        open: &mut Vec<Filling<'m>>,
    ) {
        match node.kind() {
            HirKind::Empty | HirKind::Look(_) => {}
            HirKind::Literal(literal) => filling.constant(&String::from_utf8_lossy(&literal.0)),
            HirKind::Class(class) => match one_character(class) {
                Some(c) => filling.constant(c.encode_utf8(&mut [0; 4])),
                None => filling.gap(),
            },
            HirKind::Capture(capture) => {
                let names = (capture.index as usize).checked_sub(1).and_then(|at| self.names.get(at));
                if !names.is_some_and(|names| filling.value(names, event)) {
                    return;
                }
            }
            HirKind::Concat(nodes) => filling.rest.extend(nodes.iter().rev()),
            HirKind::Alternation(nodes) => return alternatives(filling, nodes, open),
            HirKind::Repetition(of) if captures(&of.sub) => {
                if of.min == 0 {
                    open.push(filling.clone());
                }
                // What was captured is of the last time.
                if of.max != Some(1) {
                    filling.gap();
                }
                filling.rest.push(&of.sub);
            }
            HirKind::Repetition(of) if of.min == 1 && of.max == Some(1) => {
                filling.rest.push(&of.sub);
            }
            HirKind::Repetition(_) => filling.gap(),
        }
        open.push(filling);
    }
}

/// A message that is being put together.
#[derive(Clone)]
struct Filling<'m> {
    /// What is still to come, the next one last.
    rest: Vec<&'m Hir>,
    pieces: Vec<Piece<'m>>,
    /// Values that are in it.
    n_taken: usize,
}

impl<'m> Filling<'m> {
    fn constant(&mut self, text: &str) {
        match self.pieces.last_mut() {
            Some(Piece::Constant(before)) => before.push_str(text),
            _ => self.pieces.push(Piece::Constant(text.to_owned())),
        }
    }

    fn gap(&mut self) {
        if self.pieces.last() != Some(&Piece::Gap) {
            self.pieces.push(Piece::Gap);
        }
    }

    /// Takes the next value, if it has one of these names, or one of them that was taken: what a
    /// message prints twice is one value. Whether there is any.
    fn value(&mut self, names: &[Text], event: &'m EventRow) -> bool {
        let is_named = |at: &usize| names.contains(&event.values[*at].name);
        let next = Some(self.n_taken).filter(|at| *at < event.values.len()).filter(is_named);
        self.n_taken += usize::from(next.is_some());
        let found = next.or_else(|| (0..self.n_taken).rev().find(is_named));
        self.pieces.extend(found.map(|at| Piece::Value(&event.values[at].value)));
        found.is_some()
    }
}

/// Each way that shows values, and, of those that show none, the one, or a gap for several.
fn alternatives<'m>(filling: Filling<'m>, nodes: &'m [Hir], open: &mut Vec<Filling<'m>>) {
    let with = |step: Option<&'m Hir>| {
        let mut filling = filling.clone();
        match step {
            Some(node) => filling.rest.push(node),
            None => filling.gap(),
        }
        filling
    };
    let silent: Vec<&Hir> = nodes.iter().filter(|node| !captures(node)).collect();
    match silent[..] {
        [] => {}
        [one] => open.push(with(Some(one))),
        _ => open.push(with(None)),
    }
    open.extend(nodes.iter().filter(|node| captures(node)).map(|node| with(Some(node))));
}

fn captures(node: &Hir) -> bool {
    node.properties().explicit_captures_len() > 0
}

fn one_character(class: &Class) -> Option<char> {
    let Class::Unicode(class) = class else { return None };
    let [range] = class.ranges() else { return None };
    (range.start() == range.end()).then(|| range.start())
}

impl Pieces<'_> {
    /// As one text.
    fn text(&self) -> String {
        let text = |piece: &Piece<'_>| match piece {
            Piece::Constant(text) => text.clone(),
            Piece::Value(text) => (*text).to_owned(),
            Piece::Gap => GAP.to_owned(),
        };
        self.0.iter().map(text).collect()
    }

    /// Whether `text` holds all of them in their order; of a text that `is_cut` the first ones.
    pub(super) fn are_in(&self, text: &str, is_cut: bool) -> bool {
        let mut rest = text;
        for (number, piece) in self.0.iter().enumerate() {
            let piece = match piece {
                Piece::Constant(text) => text.as_str(),
                Piece::Value(text) => text,
                Piece::Gap => continue,
            };
            match rest.find(piece) {
                Some(at) => rest = &rest[at + piece.len()..],
                None => return is_cut && number > 0,
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::Messages;
    use schema::tables::{EventRow, NameValue};

    fn messages(templates: &[(&str, &[&str])]) -> Messages {
        Messages::of_point(7, templates)
    }

    fn event(values: &[(&str, &str)]) -> EventRow {
        let value = |(name, value): &(&str, &str)| NameValue { name: (*name).into(), value: (*value).into() };
        EventRow { log_point_id: Some(7), values: values.iter().map(value).collect(), ..EventRow::default() }
    }

    #[track_caller]
    fn check(template: (&str, &[&str]), values: &[(&str, &str)], expected: Option<&str>) {
        let (messages, event) = (messages(&[template]), event(values));
        assert_eq!(messages.made(&event).as_deref(), expected, "{template:?} {values:?}");
    }

    const RECEIVING: (&str, &[&str]) = (
        r"Receiving (?:block\-(-?[0-9]+):v(-?[0-9]+)|null) from (.*?) as (?:(HEAD|TAIL)|null)(?:, then \[((?:(?:, )?(?:.*?))*?)\])?",
        &["id", "version", "peer", "role", "targets"],
    );

    #[test]
    fn values_stand_where_they_were_captured() {
        let all = [("id", "1"), ("version", "2"), ("peer", "/p"), ("role", "HEAD"), ("targets", "a, c")];
        check(RECEIVING, &all, Some("Receiving block-1:v2 from /p as HEAD, then [a, c]"));
        check(RECEIVING, &all[..4], Some("Receiving block-1:v2 from /p as HEAD"));
        check(RECEIVING, &all[2..3], Some("Receiving null from /p as null"));
        // A whole object comes after what was captured, and is not where the text may end.
        let object = [&all[..4], &[("block", "block-1:v2")]].concat();
        check(RECEIVING, &object, Some("Receiving block-1:v2 from /p as HEAD"));
    }

    #[test]
    fn what_is_not_known_is_a_gap() {
        check((r"(?:on|off) at .*?, (\d+) left", &["n"]), &[("n", "3")], Some("… at …, 3 left"));
        check((r"a(?:b)?c", &[]), &[], Some("a…c"));
        check((r"twice (.*?), (.*?)", &["x", "x"]), &[("x", "1")], Some("twice 1, 1"));
        check((r"(?:, (.*?))*!", &["x"]), &[("x", "2")], Some("…, 2!"));
        check((r"needs (.*?)", &["x"]), &[("y", "1")], None);
        check((r"some text", &[]), &[], Some("some text"));
        assert_eq!(messages(&[]).made(&EventRow::default()), None);
    }

    #[test]
    fn the_template_that_takes_most_values_is_meant() {
        let of = messages(&[(r"a (.*?)", &["x"]), (r"a (.*?) of (.*?)", &["x", "y"])]);
        assert_eq!(of.made(&event(&[("x", "1"), ("y", "2")])).as_deref(), Some("a 1 of 2"));
        assert_eq!(of.made(&event(&[("x", "1")])).as_deref(), Some("a 1"));
    }

    #[test]
    fn of_ways_that_nothing_tells_apart_what_they_share_is_told() {
        let of = messages(&[
            (r"Failed (.*?): no node at (.*?)", &["x", "y"]),
            (r"Failed (.*?): bad (.*?)", &["x", "y"]),
        ]);
        assert_eq!(of.made(&event(&[("x", "1"), ("y", "2")])).as_deref(), Some("Failed 1: …2"));
        check((r"sids: \[ (.*?)(?:(.*?))? \]", &["x", "x"]), &[("x", "1,")], Some("sids: [ 1,… ]"));
        check((r"(?:is (.*?)|has (.*?)) now", &["x", "x"]), &[("x", "1")], Some("…1 now"));
    }

    #[test]
    fn many_alternatives_come_to_an_end() {
        let regex = "(?:(a)|(b))*".repeat(20);
        let paths: Vec<&str> = vec!["x"; 40];
        let values: Vec<(&str, &str)> = vec![("x", "1"); 500];
        let _ = messages(&[(&regex, &paths)]).made(&event(&values));
    }

    #[test]
    fn a_line_is_told_by_its_pieces() {
        let of = messages(&[RECEIVING]);
        let event = event(&[("id", "1"), ("version", "2"), ("peer", "/p"), ("role", "HEAD")]);
        let pieces = of.pieces(&event).expect("it has a template");
        assert!(pieces.are_in("12:00 INFO Receiving block-1:v2 from /p as HEAD", false));
        assert!(!pieces.are_in("12:00 INFO Receiving block-3:v2 from /p as HEAD", false));
        assert!(!pieces.are_in("12:00 INFO Receiving block-1:v2 fr", false));
        assert!(pieces.are_in("12:00 INFO Receiving block-1:v2 fr", true));
    }
}

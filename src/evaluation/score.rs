//! The scores: every record of the truth beside its event in the table.

use std::collections::{BTreeMap, BTreeSet};

use schema::tables::EventRow;

use super::found::Found;
use super::truth::{Place, Record, Truth};

/// What became of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Class {
    /// Its request holds its whole unit and no other op.
    Correct,
    /// Its request lacks a part of its unit.
    Incomplete,
    /// Its request holds another op.
    Incorrect,
    /// It has no request.
    Failed,
}

impl Class {
    /// The word for it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Class::Correct => "correct",
            Class::Incomplete => "incomplete",
            Class::Incorrect => "incorrect",
            Class::Failed => "failed",
        }
    }
}

/// How near the log point is to the true one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum LogPointMatch {
    /// The very statement.
    Exact,
    /// Another line of its method.
    SameMethod,
    /// Another method.
    Wrong,
    /// None was found.
    None,
}

/// Counts over some messages and records.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Tally {
    /// Messages, by [`Class`].
    pub(crate) messages: [u64; 4],
    /// Records with a true log point, by [`LogPointMatch`].
    pub(crate) log_points: [u64; 4],
    /// Those of them that are not exact, but a tie of the true one and others.
    pub(crate) n_ties: u64,
    precision_sum: f64,
    n_precision: u64,
    recall_sum: f64,
}

impl Tally {
    /// Messages in all.
    pub(crate) fn n_messages(&self) -> u64 {
        self.messages.iter().sum()
    }

    /// Records with a true log point.
    pub(crate) fn n_log_points(&self) -> u64 {
        self.log_points.iter().sum()
    }

    /// B-cubed precision; 1 where no message has a request.
    pub(crate) fn precision(&self) -> f64 {
        if self.n_precision == 0 { 1.0 } else { self.precision_sum / self.n_precision as f64 }
    }

    /// B-cubed recall; 1 where there is no message.
    pub(crate) fn recall(&self) -> f64 {
        if self.n_messages() == 0 { 1.0 } else { self.recall_sum / self.n_messages() as f64 }
    }

    /// B-cubed F: the harmonic mean of both.
    pub(crate) fn f(&self) -> f64 {
        harmonic_mean(self.precision(), self.recall())
    }

    fn add(&mut self, message: &Message) {
        self.messages[message.class as usize] += 1;
        if let Some(precision) = message.precision {
            self.precision_sum += precision;
            self.n_precision += 1;
        }
        self.recall_sum += message.recall;
    }
}

/// The harmonic mean of two shares; 0 where one is.
pub(crate) fn harmonic_mean(a: f64, b: f64) -> f64 {
    if a + b == 0.0 { 0.0 } else { 2.0 * a * b / (a + b) }
}

/// What is known of one message.
#[derive(Clone, Copy, Debug)]
struct Message {
    class: Class,
    precision: Option<f64>,
    recall: f64,
}

/// A log point whose messages came out wrong.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Worst {
    /// The true log point.
    pub(crate) log_point: String,
    /// Its messages, by [`Class`].
    pub(crate) messages: [u64; 4],
    /// Its records whose log point is not the true one.
    pub(crate) n_wrong_log_point: u64,
    /// The first message that is not correct, or record without its log point.
    pub(crate) example: Place,
    /// What is wrong with it.
    pub(crate) example_class: String,
}

/// The scores of a table.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Scores {
    /// Over all.
    pub(crate) all: Tally,
    /// By type of the request that holds the message; `(none)` for failed ones.
    pub(crate) by_type: BTreeMap<String, Tally>,
    /// Log points with errors, most first.
    pub(crate) worst: Vec<Worst>,
}

/// Scores `found` against `truth`.
pub(crate) fn score(truth: &Truth, found: &Found<'_>) -> Scores {
    let units = Groups::new(truth, found);
    let mut scores = Scores::default();
    let mut worst: BTreeMap<&str, Worst> = BTreeMap::new();
    for (place, record) in &truth.records {
        let event = found.events.get(place).copied();
        let request = event.and_then(|event| event.request_id.as_deref());
        let request_type = request.and_then(|id| found.types.get(id)).copied().unwrap_or("(none)");
        let of_type = scores.by_type.entry(request_type.to_owned()).or_default();
        let mut faults = Vec::new();
        let message = record.unit.as_deref().map(|unit| units.message(request, record, unit));
        if let Some(message) = &message {
            scores.all.add(message);
            of_type.add(message);
            if message.class != Class::Correct {
                faults.push(message.class.name());
            }
        }
        let log_point = log_point_match(record, event, found);
        if let Some(log_point) = log_point {
            scores.all.log_points[log_point as usize] += 1;
            of_type.log_points[log_point as usize] += 1;
            let tie = u64::from(log_point != LogPointMatch::Exact && is_tie(record, event, found));
            scores.all.n_ties += tie;
            of_type.n_ties += tie;
            match log_point {
                LogPointMatch::Exact => {}
                LogPointMatch::None => faults.push("no log point"),
                _ => faults.push("another log point"),
            }
        }
        let name = record.log_point.as_deref().unwrap_or("(unknown)");
        let line = worst.entry(name).or_insert_with(|| Worst {
            log_point: name.to_owned(),
            messages: [0; 4],
            n_wrong_log_point: 0,
            example: place.clone(),
            example_class: String::new(),
        });
        if let Some(message) = &message {
            line.messages[message.class as usize] += 1;
        }
        line.n_wrong_log_point += u64::from(log_point.is_some_and(|m| m != LogPointMatch::Exact));
        if line.example_class.is_empty() && !faults.is_empty() {
            line.example = place.clone();
            line.example_class = faults.join(", ");
        }
    }
    scores.worst = worst.into_values().filter(|line| !line.example_class.is_empty()).collect();
    let n_faults = |line: &Worst| line.messages[1..].iter().sum::<u64>() + line.n_wrong_log_point;
    scores.worst.sort_by_key(|line| (std::cmp::Reverse(n_faults(line)), line.log_point.clone()));
    scores
}

/// Units and requests as sets of records.
struct Groups<'a> {
    /// Records of a unit in all, and of those in each request.
    units: BTreeMap<&'a str, (u64, BTreeMap<&'a str, u64>)>,
    /// Records of each claimed op in a request.
    ops: BTreeMap<&'a str, BTreeMap<&'a str, u64>>,
}

impl<'a> Groups<'a> {
    fn new(truth: &'a Truth, found: &Found<'a>) -> Self {
        let mut groups = Self { units: BTreeMap::new(), ops: BTreeMap::new() };
        for (place, record) in &truth.records {
            let event: Option<&'a EventRow> = found.events.get(place).copied();
            let request = event.and_then(|event| event.request_id.as_deref());
            if let Some(unit) = record.unit.as_deref() {
                let (n, requests) = groups.units.entry(unit).or_default();
                *n += 1;
                if let Some(request) = request {
                    *requests.entry(request).or_default() += 1;
                }
            }
            if let (Some(request), Some(op)) = (request, record.op.as_deref()) {
                *groups.ops.entry(request).or_default().entry(op).or_default() += 1;
            }
        }
        groups
    }

    fn message(&self, request: Option<&str>, record: &Record, unit: &str) -> Message {
        let Some(request) = request else {
            return Message { class: Class::Failed, precision: None, recall: 0.0 };
        };
        let (n_unit, requests) = &self.units[unit];
        let n_here = requests.get(request).copied().unwrap_or(0);
        let recall = n_here as f64 / *n_unit as f64;
        let ops = self.ops.get(request);
        let precision = record.op.as_deref().zip(ops).map(|(op, ops)| {
            let n: u64 = ops.values().sum();
            ops.get(op).copied().unwrap_or(0) as f64 / n as f64
        });
        let class = if precision.is_some_and(|p| p < 1.0) {
            Class::Incorrect
        } else if n_here < *n_unit {
            Class::Incomplete
        } else {
            Class::Correct
        };
        Message { class, precision, recall }
    }
}

fn log_point_match(record: &Record, event: Option<&EventRow>, found: &Found<'_>) -> Option<LogPointMatch> {
    let truths: Vec<&str> =
        [&record.log_point, &record.call_site].into_iter().flatten().map(String::as_str).collect();
    if truths.is_empty() {
        return None;
    }
    let Some((event, id)) = event.and_then(|event| Some((event, event.log_point_id?))) else {
        return Some(LogPointMatch::None);
    };
    let method =
        format!("{}.{}", event.class.as_deref().unwrap_or("?"), event.method.as_deref().unwrap_or("?"));
    let place = format!("{method}:{}", event.source_line.unwrap_or(0));
    let mut places: BTreeSet<&str> = BTreeSet::from([place.as_str()]);
    places.extend(found.call_sites.get(&id));
    let method_of = |place: &str| place.rsplit_once(':').map_or(place, |(method, _)| method).to_owned();
    let methods: BTreeSet<String> = places.iter().map(|place| method_of(place)).collect();
    Some(if truths.iter().any(|truth| places.contains(truth)) {
        LogPointMatch::Exact
    } else if truths.iter().any(|truth| methods.contains(&method_of(truth))) {
        LogPointMatch::SameMethod
    } else {
        LogPointMatch::Wrong
    })
}

/// Whether the log point found looks like a true one.
fn is_tie(record: &Record, event: Option<&EventRow>, found: &Found<'_>) -> bool {
    let Some(id) = event.and_then(|event| event.log_point_id) else { return false };
    let mut truths = [&record.log_point, &record.call_site].into_iter().flatten();
    truths.any(|truth| found.looks.is_tie(id, truth))
}

#[cfg(test)]
mod tests {
    use super::{Found, Scores, Truth, score};
    use crate::evaluation::{Looks, sketch};
    use schema::tables::{EventRow, LogPointRow, TemplateRow, Text};
    use std::collections::BTreeMap;

    /// Each row of the truth is `line log_point unit op`, each of the table
    /// `line class.method:line request`; `-` is none.
    fn scores(truth: &str, table: &str) -> Scores {
        let rows: Vec<String> = truth
            .lines()
            .map(|line| format!("n\t{}", line.split_whitespace().collect::<Vec<_>>().join("\t")))
            .collect();
        let truth = Truth::parse(&format!("node\tline\tlog_point\tunit\top\n{}\n", rows.join("\n")))
            .expect("a truth");
        let events: Vec<EventRow> = table.lines().map(event).collect();
        let by_place = events.iter().map(|e| ((e.node.to_string(), e.line.unsigned_abs()), e)).collect();
        let types = events.iter().filter_map(|e| Some((e.request_id.as_deref()?, "C.m"))).collect();
        let call_sites = BTreeMap::from([(99, "a.Caller.call:3")]);
        let points = [(1, "a.D", "c"), (2, "a.Twin", "c")].map(point);
        let looks = Looks::new(&points);
        score(&truth, &Found { events: by_place, types, call_sites, looks, ..Found::default() })
    }

    fn event(row: &str) -> EventRow {
        let cells: Vec<&str> = row.split_whitespace().collect();
        let (method, source_line) = cells[1].rsplit_once(':').unwrap_or((cells[1], "0"));
        let (class, method) = method.rsplit_once('.').unwrap_or(("", method));
        let text = |t: &str| (t != "-").then(|| Text::from(t));
        EventRow {
            request_id: text(cells[2]),
            span_id: text(cells[2]),
            log_point_id: text(cells[1]).map(|_| if class == "w.Wrapper" { 99 } else { 1 }),
            class: text(cells[1]).map(|_| class.into()),
            method: text(cells[1]).map(|_| method.into()),
            source_line: source_line.parse().ok(),
            ..sketch::event(cells[0].parse().expect("a number"))
        }
    }

    #[track_caller]
    fn check(truth: &str, table: &str, messages: [u64; 4]) {
        assert_eq!(scores(truth, table).all.messages, messages, "correct, incomplete, incorrect, failed");
    }

    #[test]
    fn whole_unit_alone_is_correct() {
        check("1 a.B.c:1 u o\n2 a.B.c:2 u o", "1 a.B.c:1 r\n2 a.B.c:2 r", [2, 0, 0, 0]);
    }

    #[test]
    fn units_of_one_op_may_share_a_request() {
        check("1 a.B.c:1 u o\n2 a.B.c:2 v o", "1 a.B.c:1 r\n2 a.B.c:2 r", [2, 0, 0, 0]);
    }

    #[test]
    fn split_unit_is_incomplete() {
        check("1 a.B.c:1 u o\n2 a.B.c:2 u o", "1 a.B.c:1 r\n2 a.B.c:2 s", [0, 2, 0, 0]);
    }

    #[test]
    fn two_ops_in_one_request_are_incorrect() {
        check("1 a.B.c:1 u o\n2 a.B.c:2 v p", "1 a.B.c:1 r\n2 a.B.c:2 r", [0, 0, 2, 0]);
    }

    #[test]
    fn incorrect_outweighs_incomplete() {
        check("1 x:1 u o\n2 x:1 u o\n3 x:1 v p", "1 x:1 r\n2 x:1 s\n3 x:1 r", [0, 1, 2, 0]);
    }

    #[test]
    fn op_of_a_record_without_unit_counts() {
        check("1 a.B.c:1 u o\n2 a.B.c:2 - p", "1 a.B.c:1 r\n2 a.B.c:2 r", [0, 0, 1, 0]);
    }

    #[test]
    fn no_claim_does_no_harm() {
        check("1 a.B.c:1 u o\n2 a.B.c:2 - ?", "1 a.B.c:1 r\n2 a.B.c:2 r", [1, 0, 0, 0]);
        check("1 a.B.c:1 u ?\n2 a.B.c:2 - p\n3 x:1 - q", "1 a.B.c:1 r\n2 a.B.c:2 r\n3 x:1 r", [1, 0, 0, 0]);
    }

    #[test]
    fn without_request_is_failed_and_its_unit_incomplete() {
        check("1 a.B.c:1 u o\n2 a.B.c:2 u o\n3 a.B.c:2 u o", "1 a.B.c:1 r\n2 a.B.c:2 -", [0, 1, 0, 2]);
    }

    #[test]
    fn b_cubed() {
        let scores =
            scores("1 x:1 u o\n2 x:1 u o\n3 x:1 v p\n4 x:1 w p", "1 x:1 r\n2 x:1 s\n3 x:1 r\n4 x:1 -");
        // Precision 1/2, 1, 1/2 over those with a request; recall 1/2, 1/2, 1, 0.
        assert!((scores.all.precision() - 2.0 / 3.0).abs() < 1e-9, "{}", scores.all.precision());
        assert!((scores.all.recall() - 0.5).abs() < 1e-9, "{}", scores.all.recall());
    }

    #[test]
    fn log_points() {
        let truth =
            "1 a.B.c:1 - o\n2 a.B.c:2 - o\n3 a.B.c:1 - o\n4 a.B.c:1 - o\n5 a.Caller.call:3 - o\n6 - - o";
        let table = "1 a.B.c:1 r\n2 a.B.c:1 r\n3 a.D.c:1 r\n4 - -\n5 w.Wrapper.log:9 r\n6 a.B.c:1 r";
        assert_eq!(scores(truth, table).all.log_points, [2, 1, 1, 1], "exact, same method, wrong, none");
    }

    /// All of one text.
    fn point((id, class, method): (i64, &str, &str)) -> LogPointRow {
        let template = TemplateRow { regex: "text".into(), variables: Vec::new() };
        LogPointRow {
            log_point_id: id,
            class: class.into(),
            method: method.into(),
            source_line: 1,
            n_sites: 1,
            level: None,
            logger: None,
            in_handler: false,
            call_site: None,
            templates: vec![template],
        }
    }

    #[test]
    fn ties_are_wrong_log_points_that_look_like_the_true_one() {
        let all =
            scores("1 a.D.c:1 - o\n2 a.Twin.c:1 - o\n3 a.B.c:1 - o", "1 a.D.c:1 r\n2 a.D.c:1 r\n3 a.D.c:1 r");
        assert_eq!((all.all.log_points, all.all.n_ties), ([1, 0, 2, 0], 1));
    }

    #[test]
    fn worst_log_points_come_first() {
        let scores = scores(
            "1 a.good:1 u o\n2 a.bad:1 v p\n3 a.bad:1 v p\n4 a.ok:1 w q",
            "1 a.good:1 r\n2 a.bad:1 -\n4 a.ok:2 s",
        );
        let names: Vec<&str> = scores.worst.iter().map(|worst| worst.log_point.as_str()).collect();
        assert_eq!(names, ["a.bad:1", "a.ok:1"]);
        assert_eq!(scores.worst[0].example, ("n".to_owned(), 2));
    }
}

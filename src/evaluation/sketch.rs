//! Sketches for tests: a truth and a table, in few words.
//!
//! ```text
//! 1 t1 u o  s1 r1 opens     line, thread, unit, op; span, request, pass (`-`: none)
//! s1 > s2 by_time           a link
//! s1 > s2 by_time 0.7       the same, and how likely it was said to be
//! ```

use schema::tables::{EventRow, HandOver, NameValue, SpanRow, Text, Time};

use super::found::Found;
use super::looks::Looks;
use super::truth::Truth;

/// A truth, and what a table says.
pub(crate) struct Sketch {
    pub(crate) truth: Truth,
    events: Vec<EventRow>,
    spans: Vec<SpanRow>,
}

impl Sketch {
    /// Parses a sketch; times are by line.
    pub(crate) fn new(text: &str) -> Self {
        let mut truth = String::from("node\tline\tlog_point\tthread\tunit\top\n");
        let (mut events, mut spans): (Vec<EventRow>, Vec<SpanRow>) = (Vec::new(), Vec::new());
        for line in text.lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            match words[..] {
                [from, ">", to, by] | [from, ">", to, by, _] => {
                    let probability = words.get(4).map(|word| word.parse().expect("a probability"));
                    let link = HandOver { span_id: from.into(), link: None, reason: by.into(), probability };
                    let to = spans.iter_mut().find(|span| *span.span_id == *to).expect("a span");
                    to.hand_overs.get_or_insert_default().push(link);
                }
                [line, thread, unit, op, span, request, pass] => {
                    truth += &format!("n\t{line}\ta.B.c:{line}\t{thread}\t{unit}\t{op}\n");
                    let known = |cell: &str| (cell != "-").then(|| Text::from(cell));
                    let n_before = events.iter().filter(|event| event.span_id == known(span)).count();
                    events.push(EventRow {
                        request_id: known(request),
                        span_id: known(span),
                        seq: n_before as i64,
                        pass: known(pass),
                        ..event(line.parse().expect("a line number"))
                    });
                    if n_before == 0 && span != "-" {
                        spans.push(row(span, request));
                    }
                }
                _ => panic!("`{line}` is neither a record nor a link"),
            }
        }
        Self { truth: Truth::parse(&truth).expect("a truth"), events, spans }
    }

    /// The times of the records, in order.
    pub(crate) fn set_times(&mut self, times: &[i64]) {
        self.events.iter_mut().zip(times).for_each(|(event, ts)| event.ts = Time(*ts));
    }

    /// The log point of each record, and a value that it prints.
    pub(crate) fn set_points(&mut self, points: impl Iterator<Item = (i64, String)>) {
        for (event, (point, value)) in self.events.iter_mut().zip(points) {
            event.log_point_id = Some(point);
            event.values = vec![NameValue { name: "name".into(), value: value.as_str().into() }];
        }
    }

    /// What the table says; requests are of type `T.` and their id.
    pub(crate) fn found<'a>(&'a self, types: &'a [(&'a str, &'a str)]) -> Found<'a> {
        Found {
            events: self.events.iter().map(|e| ((e.node.to_string(), e.line.unsigned_abs()), e)).collect(),
            spans: &self.spans,
            types: types.iter().copied().collect(),
            open_types: Default::default(),
            call_sites: [].into(),
            looks: Looks::default(),
        }
    }
}

fn row(span: &str, request: &str) -> SpanRow {
    SpanRow {
        request_id: request.into(),
        span_id: span.into(),
        node: "n".into(),
        top_level_method: "C.m".into(),
        ..SpanRow::default()
    }
}

/// A record of which nothing is known.
pub(crate) fn event(line: i64) -> EventRow {
    EventRow { node: "n".into(), file: "f".into(), line, n_lines: 1, ts: Time(line), ..EventRow::default() }
}

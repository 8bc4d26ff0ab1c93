//! The rows of one request on one side of a join, by the span that each is of.

use std::collections::HashMap;

use schema::happened_before::{Label, Stretch};

/// Rows of a request on one side.
#[derive(Debug, Default)]
pub(super) struct Rows {
    /// Spans that have rows here.
    pub(super) spans: Vec<SpanRows>,
}

/// The rows of a span, by their first event, then by row.
#[derive(Debug)]
pub(super) struct SpanRows {
    pub(super) label: Label,
    pub(super) rows: Vec<(Stretch, u32)>,
}

impl Rows {
    /// Of `(row, label, stretch)`; a row whose label is none is left out: nothing orders it.
    pub(super) fn new<'b>(rows: impl Iterator<Item = (u32, &'b [u8], Stretch)>) -> Self {
        let mut of_label: HashMap<&'b [u8], Option<usize>> = HashMap::new();
        let mut spans: Vec<SpanRows> = Vec::new();
        let mut last: Option<(&'b [u8], Option<usize>)> = None;
        for (row, label, stretch) in rows {
            let at = match last {
                Some((known, at)) if known == label => at,
                _ => *of_label.entry(label).or_insert_with(|| {
                    let label = Label::decode(label)?;
                    spans.push(SpanRows { label, rows: Vec::new() });
                    Some(spans.len() - 1)
                }),
            };
            last = Some((label, at));
            if let Some(at) = at {
                spans[at].rows.push((stretch, row));
            }
        }
        for span in &mut spans {
            span.rows.sort_unstable_by_key(|(stretch, row)| (stretch.first, stretch.last, *row));
        }
        Self { spans }
    }
}

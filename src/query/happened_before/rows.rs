//! The rows of one request on one side of a join, by the span that each is of.

use std::collections::HashMap;

use schema::happened_before::{Label, Stretch};

/// A request, and the bytes of the label of one of its spans.
pub(super) type LabelBytes<'b> = (i64, &'b [u8]);

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

/// Spans of one request up to which a label is looked for one after the other: nearly all
/// requests have fewer, and a map would cost more than what it finds.
const IN_A_ROW_MAX: usize = 16;

/// Labels in the order in which they were met, each with its span; none: it is no label.
#[derive(Default)]
struct Labels<'b> {
    all: Vec<(LabelBytes<'b>, Option<usize>)>,
    places: HashMap<LabelBytes<'b>, usize>,
}

impl<'b> Labels<'b> {
    /// The span of `label`, if it was met; the inner one is none if it is no label.
    fn find(&mut self, label: LabelBytes<'b>) -> Option<&(LabelBytes<'b>, Option<usize>)> {
        if self.all.len() <= IN_A_ROW_MAX {
            return self.all.iter().find(|(known, _)| *known == label);
        }
        for at in self.places.len()..self.all.len() {
            self.places.insert(self.all[at].0, at);
        }
        self.places.get(&label).map(|&at| &self.all[at])
    }
}

impl Rows {
    /// Of `(row, label, stretch)`; a row whose label is none is left out: nothing orders it.
    pub(super) fn new<'b>(rows: impl Iterator<Item = (u32, LabelBytes<'b>, Stretch)>) -> Self {
        let mut labels = Labels::default();
        let mut spans: Vec<SpanRows> = Vec::new();
        let mut last: Option<(LabelBytes<'b>, Option<usize>)> = None;
        for (row, label, stretch) in rows {
            let known = last.filter(|(known, _)| *known == label).or_else(|| labels.find(label).copied());
            let (_, at) = known.unwrap_or_else(|| {
                let at = Label::decode(label.0, label.1).map(|label| {
                    spans.push(SpanRows { label, rows: Vec::new() });
                    spans.len() - 1
                });
                labels.all.push((label, at));
                (label, at)
            });
            last = Some((label, at));
            if let Some(at) = at {
                spans[at].rows.push((stretch, row));
            }
        }
        for span in &mut spans {
            let key = |(stretch, row): &(Stretch, u32)| (stretch.first, stretch.last, *row);
            if !span.rows.is_sorted_by_key(key) {
                span.rows.sort_unstable_by_key(key);
            }
        }
        Self { spans }
    }
}

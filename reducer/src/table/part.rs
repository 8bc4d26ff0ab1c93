//! A part of a commit: rows that are decided together, in data files of their own, so that parts
//! can be made side by side, also by several processes.

use std::collections::BTreeMap;
use std::path::Path;

use schema::Result;
use schema::tables::{self, RelationRow};

use super::days::Days;
use super::{DataFile, indexes};
use crate::finish::{Rows, day_of};

/// Relations of requests, by the day of these; those of open requests apart.
pub type RelationRows = [BTreeMap<i64, Vec<RelationRow>>; 2];

/// A part that rows are added to. No reader sees it before its commit names its files; if it is
/// dropped, files that are not whole are gone.
pub(crate) struct Part {
    days: Days,
    /// Those of open requests.
    open: Days,
}

impl Part {
    /// Of the commit and with the number `of`, below `folder`.
    pub(crate) fn new(folder: &Path, of: (u64, u64)) -> Self {
        Self { days: Days::new(folder, of, false), open: Days::new(folder, of, true) }
    }

    /// Adds requests and what belongs to them, of the day of those before or later ones; their
    /// log sequences are added at the end of the commit, each once.
    ///
    /// # Errors
    /// I/O errors.
    pub(crate) fn add(&mut self, rows: Rows) -> Result<()> {
        let request_days: BTreeMap<tables::Text, i64> =
            rows.requests.iter().map(|row| (row.request_id.clone(), day_of(row.start_ts.0))).collect();
        let of = |request_id: &str| request_days.get(request_id).copied().unwrap_or_default();
        let of_none = rows.events.iter().filter(|row| row.request_id.is_none());
        let first = request_days.values().copied().chain(of_none.map(|row| day_of(row.ts.0))).min();
        let days = if rows.is_open { &mut self.open } else { &mut self.days };
        if let Some(first) = first {
            days.close_before(first)?;
        }
        assert!(rows.log_sequences.is_empty(), "these come at the end");
        let Days { requests, request_nodes, spans, events, .. } = days;
        let of_event = |row: &tables::EventRow| row.request_id.as_deref().map_or(day_of(row.ts.0), of);
        let (of_events, others) = rayon::join(
            || events.add(rows.events, of_event),
            || {
                requests.add(rows.requests, |row| day_of(row.start_ts.0))?;
                request_nodes.add(rows.request_nodes, |row| of(&row.request_id))?;
                spans.add(rows.spans, |row| of(&row.request_id))
            },
        );
        of_events.and(others)
    }

    /// Adds the relations of requests that were added.
    ///
    /// # Errors
    /// I/O errors.
    pub(crate) fn add_relations(&mut self, [closed, open]: RelationRows) -> Result<()> {
        self.days.add_relations(closed)?;
        self.open.add_relations(open)
    }

    /// Makes all files whole, and returns them, with their indexes.
    ///
    /// # Errors
    /// I/O errors.
    pub(crate) fn finish(mut self) -> Result<Vec<DataFile>> {
        self.days.close_before(i64::MAX)?;
        self.open.close_before(i64::MAX)?;
        let mut files = std::mem::take(&mut self.days.closed);
        files.append(&mut self.open.closed);
        files.append(&mut indexes::write(self.days.folder(), &files)?);
        Ok(files)
    }
}

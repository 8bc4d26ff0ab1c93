//! The data files of a part of a commit that are by day, while rows are added to them: few are open at a
//! time.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::{Path, PathBuf};

use schema::Result;
use schema::tables::{self, Growing, Metadata, Row};

use super::{DataFile, create_folder_of, path_of};

/// The files of a part that are by day.
pub(super) struct Days {
    /// All before this day are whole.
    first: Option<i64>,
    pub(super) requests: ByDay<tables::RequestRow>,
    pub(super) request_nodes: ByDay<tables::RequestNodeRow>,
    pub(super) spans: ByDay<tables::SpanRow>,
    pub(super) events: ByDay<tables::EventRow>,
    pub(super) closed: Vec<DataFile>,
}

impl Days {
    /// Those below `folder` of a part of a commit, by the numbers of both.
    pub(super) fn new(folder: &Path, of: (u64, u64), is_open: bool) -> Self {
        Self {
            first: None,
            requests: ByDay::new(folder, of, is_open),
            request_nodes: ByDay::new(folder, of, is_open),
            spans: ByDay::new(folder, of, is_open),
            events: ByDay::new(folder, of, is_open),
            closed: Vec::new(),
        }
    }

    /// The folder of the table.
    pub(super) fn folder(&self) -> &Path {
        &self.requests.folder
    }

    /// Writes the relations of requests that were added, by day of these.
    pub(super) fn add_relations(&mut self, by_day: BTreeMap<i64, Vec<tables::RelationRow>>) -> Result<()> {
        let ByDay { folder, number, part, is_open, .. } = &self.requests;
        for (day, rows) in by_day {
            let path = path_of(tables::RelationRow::TABLE, Some((day, *part)), *number, *is_open);
            let full = folder.join(&path);
            create_folder_of(&full)?;
            let written = tables::write(&full, &rows, &Metadata::new())?;
            self.closed.push(DataFile::new(tables::RelationRow::TABLE, path, written, *is_open));
        }
        Ok(())
    }

    /// Makes the files of the days before `first` whole: few are open at a time.
    pub(super) fn close_before(&mut self, first: i64) -> Result<()> {
        let Self { requests, request_nodes, spans, events, closed, .. } = self;
        if self.first.is_some_and(|known| first <= known) {
            return Ok(());
        }
        self.first = Some(first);
        requests.close_before(first, closed)?;
        request_nodes.close_before(first, closed)?;
        spans.close_before(first, closed)?;
        events.close_before(first, closed)
    }
}

/// The files of one table that rows are added to, by day.
pub(super) struct ByDay<R: Row> {
    folder: PathBuf,
    number: u64,
    /// Of the commit.
    part: u64,
    /// They hold what is open.
    is_open: bool,
    /// All before this day are whole.
    first: Option<i64>,
    open: BTreeMap<i64, Growing<R>>,
}

impl<R: Row> ByDay<R> {
    fn new(folder: &Path, (number, part): (u64, u64), is_open: bool) -> Self {
        Self { folder: folder.to_owned(), number, part, is_open, first: None, open: BTreeMap::new() }
    }

    fn close_before(&mut self, first: i64, closed: &mut Vec<DataFile>) -> Result<()> {
        self.first = Some(first);
        while let Some(open) = self.open.first_entry().filter(|open| *open.key() < first) {
            let (day, file) = open.remove_entry();
            let written = file.finish(Metadata::new())?;
            let path = path_of(R::TABLE, Some((day, self.part)), self.number, self.is_open);
            closed.push(DataFile::new(R::TABLE, path, written, self.is_open));
        }
        Ok(())
    }

    /// Adds rows to the files of their days.
    pub(super) fn add(&mut self, rows: Vec<R>, day_of: impl Fn(&R) -> i64) -> Result<()> {
        for row in rows {
            let day = day_of(&row);
            assert!(self.first.is_none_or(|first| day >= first), "requests are added day by day");
            let file = match self.open.entry(day) {
                Entry::Occupied(file) => file.into_mut(),
                Entry::Vacant(new) => {
                    let path = path_of(R::TABLE, Some((day, self.part)), self.number, self.is_open);
                    let path = self.folder.join(path);
                    create_folder_of(&path)?;
                    new.insert(Growing::create(&path)?)
                }
            };
            file.add(row)?;
        }
        Ok(())
    }
}

//! A request table, opened to be read: its requests one after the other, or one by its id.
//!
//! Nothing here holds a table. Requests are read in the order of its files, a batch at a time;
//! where one of them stands is found in the indexes of its files, in older tables in the columns of ids
//! and counts, and then only the pages in which its rows lie are read.

pub(crate) mod confident;
pub(crate) mod files;
pub(crate) mod indexed;
pub(crate) mod places;
pub(crate) mod related;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use crate::error::{Error, ErrorKind, Result, bail};
use reducer::table::Manifest;
use schema::tables::{EventRow, RequestRow, Row, RunRow, SpanRow};

use crate::model::Model;
use crate::request::{Logs, Messages, Request};
use files::{Part, Paths, Place, paths};
use indexed::Indexes;

/// A request table, as it was when it was opened: what is added later is not seen.
pub struct Table {
    manifest: Manifest,
    indexes: OnceLock<Indexes>,
}

/// Which requests of a table.
#[derive(Clone, Debug, Default)]
pub enum Filter {
    /// All of them.
    #[default]
    All,
    /// Those with these ids, which are numbers of 32 hex digits.
    Ids(BTreeSet<u128>),
}

impl Table {
    /// Opens the table in `folder`.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("t");
    /// # let name = path.to_str().expect("UTF-8");
    /// # lprof::run(["lprof", "run", "-q", "--table", name, "samples/classes/java17/store.jar", "samples/logs"]);
    /// let table = lprof::Table::open(&path)?;
    /// for request in table.requests(&lprof::Filter::All)? {
    ///     let request = request?;
    ///     assert_eq!(request.spans().len() as i64, request.row().n_spans);
    /// }
    /// # Ok::<(), lprof::Error>(())
    /// ```
    ///
    /// # Errors
    /// No table, or one of another version; I/O errors.
    pub fn open(folder: &Path) -> Result<Self> {
        Ok(Self { manifest: Manifest::read(folder)?, indexes: OnceLock::new() })
    }

    /// What its events say: its logs, where they are at hand, and the templates of its log points.
    #[must_use]
    pub fn logs(&self) -> Logs {
        Logs::new(Arc::new(Messages::read(&self.manifest)))
    }

    /// Its folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.manifest.folder
    }

    /// A newer state that could not be read, so that this is the one before it.
    #[must_use]
    pub fn damage(&self) -> Option<&str> {
        self.manifest.damage.as_deref()
    }

    /// How many requests it holds.
    #[must_use]
    pub fn n_requests(&self) -> u64 {
        self.manifest
            .files
            .iter()
            .filter(|file| file.table == RequestRow::TABLE)
            .map(|file| file.n_rows)
            .sum()
    }

    /// Its files.
    pub(crate) fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The model that it was last made with.
    ///
    /// # Errors
    /// Nothing was ever added; a model that is not there or damaged; I/O errors.
    pub fn model(&self) -> Result<Model> {
        let runs = self.manifest.rows::<RunRow>()?;
        let Some(run) = runs.last() else {
            bail!(Empty: "`{}`: nothing was ever added to this table", self.folder().display());
        };
        let name = format!("{}.model", run.model_digest);
        Model::read(&self.folder().join("models").join(name))
    }

    /// The requests for which `filter` holds, in the order of the table: by commit, by day, those
    /// that are open after the others, by start.
    ///
    /// # Errors
    /// Files that cannot be read. Those that come up later are items.
    pub fn requests(&self, filter: &Filter) -> Result<Requests> {
        let ids = match filter {
            Filter::All => None,
            Filter::Ids(ids) => Some(ids.clone()),
        };
        let files = paths(&self.manifest);
        let parts: Vec<(Paths, Option<Vec<Place>>)> = match ids {
            None => files.into_iter().map(|paths| (paths, None)).collect(),
            Some(ids) => {
                let found = places::of_ids(&files, &ids)?;
                files.into_iter().zip(found.into_iter().map(Some)).collect()
            }
        };
        Ok(Requests { parts: parts.into_iter(), open: None, is_over: false })
    }

    /// The request whose id is `id`, or begins with it.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("t");
    /// # let name = path.to_str().expect("UTF-8");
    /// # lprof::run(["lprof", "run", "-q", "--table", name, "samples/classes/java17/store.jar", "samples/logs"]);
    /// # let table = lprof::Table::open(&path)?;
    /// let first = table.requests(&lprof::Filter::All)?.next().expect("a request")?;
    /// let found = table.request(&first.row().request_id)?;
    /// let path = found.critical_path();
    /// assert_eq!(path.iter().map(|part| part.to_us - part.from_us).sum::<i64>(), first.row().duration_us);
    /// # Ok::<(), lprof::Error>(())
    /// ```
    ///
    /// # Errors
    /// None, or several; files that cannot be read.
    pub fn request(&self, id: &str) -> Result<Request> {
        let (found, files, place) = self.find(id)?;
        let mut part = Part::open(&files, Some(&[place]))?;
        let read: Option<(RequestRow, Vec<SpanRow>, Vec<EventRow>)> = part.next()?;
        let (row, spans, events) = read.ok_or_else(|| misplaced(&found))?;
        Ok(Request::new(row, spans, events))
    }

    /// The same without its spans.
    pub(crate) fn request_row(&self, id: &str) -> Result<RequestRow> {
        let (found, files, place) = self.find(id)?;
        let files = Paths { spans: None, events: None, ..files };
        let mut part: Part<RequestRow, SpanRow, EventRow> = Part::open(&files, Some(&[place]))?;
        let read = part.next()?;
        Ok(read.ok_or_else(|| misplaced(&found))?.0)
    }

    /// The id of the request whose id begins with `id`, its files, and where it stands in them.
    fn find(&self, id: &str) -> Result<(String, Paths, Place)> {
        let mut files = paths(&self.manifest);
        let (first, second) = match self.indexes.get() {
            Some(indexes) => indexes.beginning_with(id)?,
            None => places::beginning_with(&files, id)?,
        };
        let Some((found, file, place)) = first else {
            let thinned = self.manifest.thinned.note("requests");
            let thinned = thinned.map(|note| format!("; {note}")).unwrap_or_default();
            bail!(NotFound: "`{id}`: no request of this id in `{}`{thinned}", self.folder().display());
        };
        if let Some((other, ..)) = second {
            bail!("`{id}`: begins several ids, e.g. {found} and {other}");
        }
        Ok((found, files.swap_remove(file), place))
    }

    /// Opens the indexes of its files, so that each request is found at once: for those who ask
    /// often. What a table that is older has no index of is held in memory, some 60 bytes a request.
    ///
    /// # Errors
    /// Files that cannot be read.
    pub fn index(&self) -> Result<()> {
        self.open_indexes(None)
    }

    /// The same; what another state of it has open is not opened again.
    pub(crate) fn open_indexes(&self, known: Option<&Self>) -> Result<()> {
        if self.indexes.get().is_none() {
            let indexes = Indexes::new(&self.manifest, known.and_then(|known| known.indexes.get()))?;
            // Somebody else may have been quicker; they are the same ones.
            let _ = self.indexes.set(indexes);
        }
        Ok(())
    }

    /// The indexes of its files, if they were opened.
    #[cfg(feature = "serve")]
    pub(crate) fn indexes(&self) -> Option<&Indexes> {
        self.indexes.get()
    }
}

fn misplaced(id: &str) -> Error {
    Error::new(ErrorKind::Damaged, format!("request {id} is not where it belongs"))
}

/// Requests of a table, one after the other.
pub struct Requests {
    parts: std::vec::IntoIter<(Paths, Option<Vec<Place>>)>,
    open: Option<Part<RequestRow, SpanRow, EventRow>>,
    is_over: bool,
}

impl Requests {
    fn read(&mut self) -> Result<Option<Request>> {
        loop {
            if let Some(open) = &mut self.open
                && let Some((row, spans, events)) = open.next()?
            {
                return Ok(Some(Request::new(row, spans, events)));
            }
            let Some((paths, places)) = self.parts.next() else { return Ok(None) };
            let is_empty = places.as_ref().is_some_and(Vec::is_empty);
            self.open = if is_empty { None } else { Some(Part::open(&paths, places.as_deref())?) };
        }
    }
}

impl Iterator for Requests {
    type Item = Result<Request>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_over {
            return None;
        }
        let next = self.read().transpose();
        self.is_over = !matches!(next, Some(Ok(_)));
        next
    }
}

//! Thinning: old requests lose detail, so that a table can go on for years (lprof §2, footnote 3).
//!
//! What ended before a time keeps its requests and spans, or its requests alone, or is counted: a
//! row of `intervals` for each type and interval in which requests began. Files of a day of which
//! everything is that old are left out of the next manifest, or stay; others are written again,
//! what is thinned and the rest each in files of their own, in the order in which they were.
//! Records of no request go with the events of their time. Relations stay as long as their request
//! does; the other one may be counted by then. What may go on is left alone; of what is over, but
//! would be decided again with the next append ([`crate::append::open`]), what is old is closed.
//!
//! The new manifest is written twice, so that the way back from it needs no file of the old one.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use rustc_hash::FxHashSet;
use schema::Result;
use schema::tables::{
    self, Batches, EventRow, EventTiming, Growing, IntervalRow, LogSequenceRow, Metadata, RelationRow,
    RequestEnd, RequestNodeRow, RequestRow, RequestTiming, Row, SpanRow, Text, Time,
};
use serde_json::{Value, json};

use super::indexes::{self, INDEX, OF_RELATIONS};
use super::{DataFile, KEPT, Manifest, OPEN, Writer, create_folder_of, date, path_of};
use crate::append::open::requests::KeptRequests;
use crate::catalog::Catalog;
use crate::finish::day_of;
use crate::id_lives::FILE as KEPT_IDS;

/// What is left of requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Detail {
    /// Figures of all that have one type and begin in one interval.
    Intervals,
    /// Requests, the nodes they were on and their relations.
    Requests,
    /// Spans too.
    Spans,
}

/// What is to be thinned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thinning {
    /// Requests that end before this time, µs since 1970.
    pub before_us: i64,
    /// What is left of them.
    pub left: Detail,
    /// Length of intervals, which begin at multiples of it since 1970.
    pub interval_us: i64,
}

/// What was taken out of a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Removed {
    /// Rows of `requests`, now counted in `intervals`.
    pub n_requests: u64,
    /// Rows of `spans`.
    pub n_spans: u64,
    /// Rows of `events`.
    pub n_events: u64,
    /// Bytes of all files of the table before and after.
    pub bytes: [u64; 2],
    /// Number of the manifest; none: there was nothing to take out.
    pub number: Option<u64>,
}

/// Before which times a table lacks rows of what was over by then. Rows that were added later can
/// be of an earlier time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Thinned {
    events_us: Option<i64>,
    spans_us: Option<i64>,
    requests_us: Option<i64>,
}

impl Thinned {
    /// Before which time requests ended of which the table lacks rows of `table`.
    #[must_use]
    pub fn before_us(&self, table: &str) -> Option<i64> {
        match table {
            "events" => self.events_us,
            "spans" => self.spans_us,
            "requests" | "request_nodes" => self.requests_us,
            _ => None,
        }
    }

    /// What is to be known of answers from rows of `table`, if anything is.
    #[must_use]
    pub fn note(&self, table: &str) -> Option<String> {
        let time = instant(self.before_us(table)?);
        Some(match table {
            "events" => format!("of what ended before {time} the table holds no events: it was thinned"),
            "spans" => format!("of what ended before {time} the table holds no spans: it was thinned"),
            _ => format!("requests that ended before {time} are counted in `intervals` alone: thinned"),
        })
    }

    fn add(&mut self, thinning: &Thinning) {
        let latest = |known: &mut Option<i64>| *known = (*known).max(Some(thinning.before_us));
        latest(&mut self.events_us);
        if thinning.left < Detail::Spans {
            latest(&mut self.spans_us);
        }
        if thinning.left < Detail::Requests {
            latest(&mut self.requests_us);
        }
    }

    pub(super) fn to_json(self) -> Value {
        json!({"events": self.events_us, "spans": self.spans_us, "requests": self.requests_us})
    }

    pub(super) fn of_json(value: &Value) -> Self {
        let time = |table: &str| value[table].as_i64();
        Self { events_us: time("events"), spans_us: time("spans"), requests_us: time("requests") }
    }
}

/// `2026-11-21T10:00:00Z`
fn instant(us: i64) -> String {
    let (seconds, us) = (us.div_euclid(1_000_000), us.rem_euclid(1_000_000));
    let (days, of_day) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let mut text = format!("{}T{:02}:{:02}:{:02}", date(days), of_day / 3600, of_day / 60 % 60, of_day % 60);
    if us > 0 {
        let _ = write!(text, ".{us:06}");
    }
    text + "Z"
}

/// Takes detail of old requests out of the table that `writer` has open. Doing it again changes
/// nothing.
///
/// # Errors
/// A damaged table; I/O errors. The table is then as before, or as it becomes.
pub fn thin(writer: &mut Writer, thinning: &Thinning) -> Result<Removed> {
    let manifest = &writer.manifest;
    let bytes = |files: &[DataFile]| files.iter().map(|file| file.n_bytes).sum::<u64>();
    let before = bytes(&manifest.files);
    let mut catalog = Catalog::load(manifest)?;
    let kept = KeptRequests::read(manifest)?;
    let mut step = Step {
        manifest,
        thinning,
        over: kept.as_ref().map(KeptRequests::over).unwrap_or_default(),
        closed: FxHashSet::default(),
        number: writer.next_number(),
        n_written: 0,
        replaced: BTreeMap::new(),
        intervals: BTreeMap::new(),
        removed: Removed::default(),
    };
    for group in groups(manifest, day_of(thinning.before_us)) {
        step.thin(&group)?;
    }
    if step.replaced.is_empty() {
        return Ok(Removed { bytes: [before; 2], ..Removed::default() });
    }
    step.write_intervals()?;
    if let Some(kept) = kept.filter(|_| !step.closed.is_empty()) {
        catalog.add(&[], &step.close(kept)?, &[], &[]);
    }
    let Step { number, mut replaced, mut removed, .. } = step;
    let mut next = Manifest { number, damage: None, ..writer.manifest.clone() };
    next.lease = super::Lease::default();
    let files = std::mem::take(&mut next.files).into_iter();
    next.files = files.flat_map(|file| replaced.remove(&file.path).unwrap_or_else(|| vec![file])).collect();
    next.files.extend(replaced.into_values().flatten());
    next.thinned.add(thinning);
    next.write()?;
    next.number += 1;
    next.write()?;
    removed.bytes = [before, bytes(&next.files)];
    removed.number = Some(next.number);
    writer.manifest = next;
    writer.remove_leftovers()?;
    catalog.keep(writer.manifest());
    Ok(removed)
}

/// The files of one commit and day that are there.
#[derive(Default)]
struct Group<'m> {
    requests: Option<&'m DataFile>,
    request_nodes: Option<&'m DataFile>,
    spans: Option<&'m DataFile>,
    events: Option<&'m DataFile>,
    relations: Option<&'m DataFile>,
    index: Option<&'m DataFile>,
    relation_index: Option<&'m DataFile>,
    /// The next append decides them again.
    is_open: bool,
}

/// Those of the days until `last`.
fn groups(manifest: &Manifest, last: i64) -> Vec<Group<'_>> {
    let last = format!("day={}", date(last));
    let mut groups: BTreeMap<(&str, &str), Group<'_>> = BTreeMap::new();
    for file in &manifest.files {
        let is_of_relations = file.table == INDEX && file.path.contains(OF_RELATIONS);
        let folder = if is_of_relations { OF_RELATIONS } else { &file.table };
        let Some((before, name)) = file.path.split_once(&format!("{folder}/day=")) else { continue };
        let day = name.split('/').next().unwrap_or_default();
        if format!("day={day}") > last {
            continue;
        }
        let name = name.rsplit_once('.').map_or(name, |(name, _)| name);
        let group = groups.entry((before, name)).or_default();
        group.is_open = file.is_open;
        match folder {
            "requests" => group.requests = Some(file),
            "request_nodes" => group.request_nodes = Some(file),
            "spans" => group.spans = Some(file),
            "events" => group.events = Some(file),
            "relations" => group.relations = Some(file),
            INDEX => group.index = Some(file),
            OF_RELATIONS => group.relation_index = Some(file),
            _ => {}
        }
    }
    groups.into_values().collect()
}

/// A table that is being thinned.
struct Step<'m> {
    manifest: &'m Manifest,
    thinning: &'m Thinning,
    number: u64,
    /// Of requests that the next append decides again those that are over.
    over: FxHashSet<Text>,
    /// Of these those that are thinned.
    closed: FxHashSet<Text>,
    /// Groups that were written.
    n_written: u64,
    /// What stands in the place of a file of the table, by its path.
    replaced: BTreeMap<String, Vec<DataFile>>,
    /// By begin, end and type.
    intervals: BTreeMap<(i64, i64, Text), IntervalRow>,
    removed: Removed,
}

impl Step<'_> {
    fn thin(&mut self, group: &Group<'_>) -> Result<()> {
        let left = self.thinning.left;
        let is_finer = group.events.is_some() || (left < Detail::Spans && group.spans.is_some());
        if !is_finer && (left > Detail::Intervals || group.requests.is_none()) {
            return Ok(());
        }
        let (old, n_new) = self.old(group)?;
        let [n_old_none, n_new_none] = self.of_none(group)?;
        if old.is_empty() && n_old_none == 0 {
            return Ok(());
        }
        let all = [group.requests, group.request_nodes, group.spans, group.events, group.relations];
        for file in all.into_iter().flatten().chain(group.index).chain(group.relation_index) {
            file.check(&self.manifest.folder.join(&file.path))?;
        }
        if group.is_open {
            self.closed.extend(old.iter().cloned());
        }
        if left == Detail::Intervals {
            self.count(group, &old)?;
        }
        self.count_removed(group, &old, n_old_none)?;
        if n_new == 0 {
            return self.leave_out(group, n_new_none > 0);
        }
        // What is thinned first, as it is older.
        if left > Detail::Intervals && !old.is_empty() {
            let n = self.next(false);
            self.copy::<RequestRow>(group.requests, n, &|row| old.contains(&row.request_id))?;
            self.copy::<RequestNodeRow>(group.request_nodes, n, &|row| old.contains(&row.request_id))?;
            self.copy::<RelationRow>(group.relations, n, &|row| old.contains(&row.request_id))?;
            if left == Detail::Spans {
                self.copy::<SpanRow>(group.spans, n, &|row| old.contains(&row.request_id))?;
            }
            self.index(group, n)?;
        }
        let n = self.next(group.is_open);
        self.copy::<RequestRow>(group.requests, n, &|row| !old.contains(&row.request_id))?;
        self.copy::<RequestNodeRow>(group.request_nodes, n, &|row| !old.contains(&row.request_id))?;
        self.copy::<RelationRow>(group.relations, n, &|row| !old.contains(&row.request_id))?;
        self.copy::<SpanRow>(group.spans, n, &|row| !old.contains(&row.request_id))?;
        self.index(group, n)?;
        let before_us = self.thinning.before_us;
        self.copy::<EventRow>(group.events, n, &|row| match &row.request_id {
            Some(id) => !old.contains(id),
            None => row.ts.0 >= before_us,
        })
    }

    /// The number of files to be written, of what `is_open` or not.
    fn next(&mut self, is_open: bool) -> (u64, bool) {
        self.n_written += 1;
        (self.n_written, is_open)
    }

    /// Takes the spans of requests that are closed out of what is `kept`. Returns their log sequences,
    /// which stay.
    fn close(&mut self, kept: KeptRequests) -> Result<Vec<LogSequenceRow>> {
        let folder = &self.manifest.folder;
        let (mut ids, mut sequences): (FxHashSet<Text>, Vec<LogSequenceRow>) = Default::default();
        let mut replaced: BTreeMap<String, Vec<DataFile>> = BTreeMap::new();
        for file in self.manifest.files.iter().filter(|file| file.is_open) {
            let path = folder.join(&file.path);
            if file.table == RequestRow::TABLE {
                let (rows, _) = tables::read::<RequestRow>(&path)?;
                let closed = rows.into_iter().filter(|row| self.closed.contains(&row.request_id));
                ids.extend(closed.map(|row| row.log_sequence_id));
            } else if file.table == LogSequenceRow::TABLE {
                sequences.extend(tables::read::<LogSequenceRow>(&path)?.0);
                replaced.insert(file.path.clone(), Vec::new());
            } else if file.table == KEPT && !file.path.ends_with(KEPT_IDS) {
                // What the last appends have shown of ids stays known.
                replaced.insert(file.path.clone(), Vec::new());
            }
        }
        let closed: Vec<LogSequenceRow> =
            sequences.extract_if(.., |row| ids.contains(&row.log_sequence_id)).collect();
        for (rows, is_open) in [(&closed, false), (&sequences, true)] {
            if !rows.is_empty() {
                let path = path_of(LogSequenceRow::TABLE, None, self.number, is_open);
                let full = folder.join(&path);
                create_folder_of(&full)?;
                let written = tables::write(&full, rows, &Metadata::new())?;
                let file = DataFile::new(LogSequenceRow::TABLE, path.clone(), written, is_open);
                replaced.insert(path, vec![file]);
            }
        }
        let files = kept.without(&self.closed, self.number)?;
        replaced.extend(files.into_iter().map(|file| (file.path.clone(), vec![file])));
        self.replaced.extend(replaced);
        Ok(closed)
    }

    /// The requests of a group that are thinned, and how many others there are.
    fn old(&self, group: &Group<'_>) -> Result<(FxHashSet<Text>, usize)> {
        let (mut old, mut n_new) = (FxHashSet::default(), 0);
        if let Some(file) = group.requests {
            for rows in Batches::<RequestEnd>::open(&self.manifest.folder.join(&file.path))? {
                for row in rows? {
                    let may_go_on = group.is_open && !self.over.contains(&row.request_id);
                    if row.end_ts.0 < self.thinning.before_us && !may_go_on {
                        old.insert(row.request_id);
                    } else {
                        n_new += 1;
                    }
                }
            }
        }
        Ok((old, n_new))
    }

    /// How many records of no request are old, and how many are not.
    fn of_none(&self, group: &Group<'_>) -> Result<[u64; 2]> {
        let mut n = [0; 2];
        if let Some(file) = group.events {
            for rows in Batches::<EventTiming>::open(&self.manifest.folder.join(&file.path))? {
                for row in rows?.iter().filter(|row| row.request_id.is_none()) {
                    n[usize::from(row.ts.0 >= self.thinning.before_us)] += 1;
                }
            }
        }
        Ok(n)
    }

    fn count_removed(&mut self, group: &Group<'_>, old: &FxHashSet<Text>, n_old_none: u64) -> Result<()> {
        let left = self.thinning.left;
        let (mut n_spans, mut n_events) = (0, 0);
        if let Some(file) = group.requests {
            for rows in Batches::<RequestTiming>::open(&self.manifest.folder.join(&file.path))? {
                for row in rows?.iter().filter(|row| old.contains(&row.request_id)) {
                    n_spans += row.n_spans.unsigned_abs();
                    n_events += row.n_events.unsigned_abs();
                }
            }
        }
        let removed = &mut self.removed;
        removed.n_requests += if left == Detail::Intervals { old.len() as u64 } else { 0 };
        removed.n_spans += if left < Detail::Spans && group.spans.is_some() { n_spans } else { 0 };
        removed.n_events += n_old_none + if group.events.is_some() { n_events } else { 0 };
        Ok(())
    }

    /// Of a group of which all requests are old nothing is written again, but records of none that
    /// are not.
    fn leave_out(&mut self, group: &Group<'_>, has_new_of_none: bool) -> Result<()> {
        let left = self.thinning.left;
        let is_out = [
            (group.requests, left == Detail::Intervals),
            (group.request_nodes, left == Detail::Intervals),
            (group.relations, left == Detail::Intervals),
            (group.index, left == Detail::Intervals),
            (group.relation_index, left == Detail::Intervals),
            (group.spans, left < Detail::Spans),
            (group.events, true),
        ];
        for (file, is_out) in is_out.into_iter().filter_map(|(file, is_out)| Some((file?, is_out))) {
            if is_out || group.is_open {
                let places = self.replaced.entry(file.path.clone()).or_default();
                places.extend((!is_out).then(|| DataFile { is_open: false, ..file.clone() }));
            }
        }
        if has_new_of_none {
            let (n, before_us) = (self.next(false), self.thinning.before_us);
            let is_left = |row: &EventRow| row.request_id.is_none() && row.ts.0 >= before_us;
            self.copy::<EventRow>(group.events, n, &is_left)?;
        }
        Ok(())
    }

    /// Writes the rows of `file` that are wanted to one that takes its place, with the others that
    /// do.
    fn copy<R: Row>(
        &mut self,
        file: Option<&DataFile>,
        (n, is_open): (u64, bool),
        is_wanted: &dyn Fn(&R) -> bool,
    ) -> Result<()> {
        let Some(file) = file else { return Ok(()) };
        let places = self.replaced.entry(file.path.clone()).or_default();
        let day = file.path.rsplit('/').nth(1).unwrap_or_default();
        let open = if is_open { format!("{OPEN}/{}/", self.number) } else { String::new() };
        let path = format!("{open}{}/{day}/part-{}-{n}.parquet", R::TABLE, self.number);
        let full = self.manifest.folder.join(&path);
        create_folder_of(&full)?;
        let mut copy: Option<Growing<R>> = None;
        for rows in Batches::<R>::open(&self.manifest.folder.join(&file.path))? {
            for row in rows?.into_iter().filter(is_wanted) {
                match &mut copy {
                    Some(copy) => copy.add(row)?,
                    None => {
                        let mut begun = Growing::create(&full)?;
                        begun.add(row)?;
                        copy = Some(begun);
                    }
                }
            }
        }
        if let Some(copy) = copy {
            let written = copy.finish(Metadata::new())?;
            places.push(DataFile::new(R::TABLE, path, written, is_open));
        }
        Ok(())
    }

    /// Writes the indexes of what was copied last of a group, which take the place of those of all, with
    /// the others that do.
    fn index(&mut self, group: &Group<'_>, (n, _): (u64, bool)) -> Result<()> {
        for known in [group.index, group.relation_index].into_iter().flatten() {
            self.replaced.entry(known.path.clone()).or_default();
        }
        let name = format!("/part-{}-{n}.parquet", self.number);
        let last = |file: &DataFile| self.replaced.get(&file.path)?.last();
        let copies = [group.requests, group.request_nodes, group.relations].into_iter().flatten();
        let copies = copies.filter_map(last).filter(|file| file.path.ends_with(&name));
        let copies: Vec<DataFile> = copies.cloned().collect();
        for index in indexes::write(&self.manifest.folder, &copies)? {
            let is_of_relations = index.path.contains(OF_RELATIONS);
            let known = if is_of_relations { group.relation_index } else { group.index };
            let known = known.map_or_else(|| index.path.clone(), |known| known.path.clone());
            self.replaced.entry(known).or_default().push(index);
        }
        Ok(())
    }

    /// Counts old requests in the intervals in which they begin.
    fn count(&mut self, group: &Group<'_>, old: &FxHashSet<Text>) -> Result<()> {
        let Some(file) = group.requests else { return Ok(()) };
        let length = self.thinning.interval_us.max(1);
        for rows in Batches::<RequestRow>::open(&self.manifest.folder.join(&file.path))? {
            for row in rows?.into_iter().filter(|row| old.contains(&row.request_id)) {
                let start_us = row.start_ts.0 - row.start_ts.0.rem_euclid(length);
                add(
                    &mut self.intervals,
                    IntervalRow {
                        start_ts: Time(start_us),
                        end_ts: Time(start_us.saturating_add(length)),
                        request_type: row.request_type,
                        n_requests: 1,
                        n_spans: row.n_spans,
                        n_events: row.n_events,
                        sum_duration_us: row.duration_us,
                        min_duration_us: row.duration_us,
                        max_duration_us: row.duration_us,
                        first_start_ts: row.start_ts,
                        last_end_ts: row.end_ts,
                    },
                );
            }
        }
        Ok(())
    }

    /// Writes the intervals, with those that are in the table, to the one file of them.
    fn write_intervals(&mut self) -> Result<()> {
        if self.intervals.is_empty() {
            return Ok(());
        }
        for row in self.manifest.rows::<IntervalRow>()? {
            add(&mut self.intervals, row);
        }
        let known = self.manifest.files.iter().filter(|file| file.table == IntervalRow::TABLE);
        let known: BTreeSet<String> = known.map(|file| file.path.clone()).collect();
        self.replaced.extend(known.into_iter().map(|path| (path, Vec::new())));
        let path = path_of(IntervalRow::TABLE, None, self.number, false);
        let full = self.manifest.folder.join(&path);
        create_folder_of(&full)?;
        let rows: Vec<IntervalRow> = std::mem::take(&mut self.intervals).into_values().collect();
        let written = tables::write(&full, &rows, &Metadata::new())?;
        let file = DataFile::new(IntervalRow::TABLE, path.clone(), written, false);
        self.replaced.insert(path, vec![file]);
        Ok(())
    }
}

/// Adds figures of an interval to those of it that are known.
fn add(intervals: &mut BTreeMap<(i64, i64, Text), IntervalRow>, row: IntervalRow) {
    let key = (row.start_ts.0, row.end_ts.0, row.request_type.clone());
    let Some(known) = intervals.get_mut(&key) else {
        intervals.insert(key, row);
        return;
    };
    known.n_requests += row.n_requests;
    known.n_spans += row.n_spans;
    known.n_events += row.n_events;
    known.sum_duration_us = known.sum_duration_us.saturating_add(row.sum_duration_us);
    known.min_duration_us = known.min_duration_us.min(row.min_duration_us);
    known.max_duration_us = known.max_duration_us.max(row.max_duration_us);
    known.first_start_ts = known.first_start_ts.min(row.first_start_ts);
    known.last_end_ts = known.last_end_ts.max(row.last_end_ts);
}

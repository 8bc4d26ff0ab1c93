//! Thinning against the obvious: rows of a table in memory, of which those that are too old are
//! left out.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use schema::tables::{
    EventRow, IntervalRow, LogSequenceRow, RelationRow, RequestNodeRow, RequestRow, Row, SpanRow, Text, Time,
};

use reducer::finish::Rows;
use reducer::table::thin::{Detail, Removed, Thinning, thin};
use reducer::table::{Addition, Manifest, Writer};

const HOUR_US: i64 = 3_600_000_000;
const DAY_US: i64 = 24 * HOUR_US;
const TYPES: [&str; 3] = ["A.read", "A.write", "B.sync"];

struct Random(u64);

impl Random {
    fn below(&mut self, n: i64) -> i64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % n.unsigned_abs()).cast_signed()
    }
}

/// A request that begins at a time, with up to three spans of up to three events.
fn request(random: &mut Random, n: usize, start_us: i64) -> Rows {
    let request_id = Text::from(format!("{n:032x}"));
    let end_us = start_us + random.below(2 * HOUR_US);
    let n_spans = 1 + random.below(3);
    let (mut spans, mut events) = (Vec::new(), Vec::new());
    for span in 0..n_spans {
        let span_id = Text::from(format!("{n:012x}{span:04x}"));
        let n_events = 1 + random.below(3);
        events.extend((0..n_events).map(|seq| EventRow {
            request_id: Some(request_id.clone()),
            span_id: Some(span_id.clone()),
            seq,
            ts: Time(start_us + seq),
            ..EventRow::default()
        }));
        spans.push(SpanRow { request_id: request_id.clone(), span_id, n_events, ..SpanRow::default() });
    }
    let (start_ts, end_ts) = (Time(start_us), Time(end_us));
    Rows {
        requests: vec![RequestRow {
            request_id: request_id.clone(),
            request_type: TYPES[random.below(3) as usize].into(),
            start_ts,
            end_ts,
            duration_us: end_us - start_us,
            n_nodes: 1,
            n_spans,
            n_events: events.len() as i64,
            ..RequestRow::default()
        }],
        request_nodes: vec![RequestNodeRow { request_id, start_ts, end_ts, ..RequestNodeRow::default() }],
        spans,
        events,
        ..Rows::default()
    }
}

/// Commits of requests of four days, with records of none.
fn write(folder: &Path, random: &mut Random) {
    let mut writer = Writer::open(folder).expect("a new table");
    let mut n = 0;
    for _ in 0..1 + random.below(3) {
        let mut starts: Vec<i64> = (0..random.below(60)).map(|_| random.below(4 * DAY_US)).collect();
        starts.sort_unstable();
        let mut rows = Rows::default();
        let mut relations: BTreeMap<i64, Vec<RelationRow>> = BTreeMap::new();
        for start in starts {
            n += 1;
            let one = request(random, n, start);
            let other = 1 + random.below(n as i64);
            relations.entry(start / DAY_US).or_default().extend((other < n as i64).then(|| RelationRow {
                request_id: one.requests[0].request_id.clone(),
                other_id: Text::from(format!("{other:032x}")),
                ..RelationRow::default()
            }));
            rows.requests.extend(one.requests);
            rows.request_nodes.extend(one.request_nodes);
            rows.spans.extend(one.spans);
            rows.events.extend(one.events);
        }
        let mut of_none: Vec<i64> = (0..random.below(20)).map(|_| random.below(4 * DAY_US)).collect();
        of_none.sort_unstable();
        rows.events.extend(of_none.into_iter().map(|us| EventRow { ts: Time(us), ..EventRow::default() }));
        relations.retain(|_, rows| !rows.is_empty());
        let sequences = Rows { log_sequences: vec![LogSequenceRow::default()], ..Rows::default() };
        let mut commit = writer.begin();
        commit.add(rows).expect("added");
        commit.add_relations([relations, BTreeMap::new()]).expect("added");
        commit.finish(&Addition { rows: sequences, ..Addition::default() }).expect("committed");
    }
}

fn thinned(folder: &Path, before_us: i64, left: Detail) -> Removed {
    let mut writer = Writer::open(folder).expect("a table");
    thin(&mut writer, &Thinning { before_us, left, interval_us: HOUR_US }).expect("thinned")
}

/// What a table says, in the order of requests, which is by id.
#[derive(Debug, Default, PartialEq)]
struct Content {
    requests: Vec<RequestRow>,
    request_nodes: Vec<RequestNodeRow>,
    spans: Vec<SpanRow>,
    events: Vec<EventRow>,
    intervals: Vec<IntervalRow>,
    relations: Vec<RelationRow>,
}

impl Content {
    fn of(folder: &Path) -> Self {
        let manifest = Manifest::read(folder).expect("a table");
        manifest.check().expect("whole files");
        let mut content = Self {
            requests: rows(&manifest),
            request_nodes: rows(&manifest),
            spans: rows(&manifest),
            events: rows(&manifest),
            intervals: rows(&manifest),
            relations: rows(&manifest),
        };
        content.relations.sort_by(|a, b| a.request_id.cmp(&b.request_id));
        content.requests.sort_by(|a, b| a.request_id.cmp(&b.request_id));
        content.request_nodes.sort_by(|a, b| a.request_id.cmp(&b.request_id));
        content.spans.sort_by(|a, b| a.request_id.cmp(&b.request_id));
        content
            .events
            .sort_by(|a, b| (&a.request_id, &a.span_id, a.ts).cmp(&(&b.request_id, &b.span_id, b.ts)));
        content
    }

    /// What is left of it.
    fn thin(&mut self, before_us: i64, left: Detail) {
        let is_old = |row: &RequestRow| row.end_ts.0 < before_us;
        let old: BTreeMap<Text, RequestRow> = self
            .requests
            .iter()
            .filter(|row| is_old(row))
            .map(|row| (row.request_id.clone(), row.clone()))
            .collect();
        self.events.retain(|row| match &row.request_id {
            Some(id) => !old.contains_key(id),
            None => row.ts.0 >= before_us,
        });
        if left < Detail::Spans {
            self.spans.retain(|row| !old.contains_key(&row.request_id));
        }
        if left < Detail::Requests {
            self.requests.retain(|row| !is_old(row));
            self.request_nodes.retain(|row| !old.contains_key(&row.request_id));
            // Of what is left the other one may be gone.
            self.relations.retain(|row| !old.contains_key(&row.request_id));
            let keys: BTreeSet<(i64, Text)> =
                old.values().map(|row| (row.start_ts.0 / HOUR_US, row.request_type.clone())).collect();
            for (hour, request_type) in keys {
                let of = || {
                    old.values()
                        .filter(|row| row.start_ts.0 / HOUR_US == hour && row.request_type == request_type)
                };
                self.intervals.push(IntervalRow {
                    start_ts: Time(hour * HOUR_US),
                    end_ts: Time((hour + 1) * HOUR_US),
                    request_type: request_type.clone(),
                    n_requests: of().count() as i64,
                    n_spans: of().map(|row| row.n_spans).sum(),
                    n_events: of().map(|row| row.n_events).sum(),
                    sum_duration_us: of().map(|row| row.duration_us).sum(),
                    min_duration_us: of().map(|row| row.duration_us).min().unwrap_or_default(),
                    max_duration_us: of().map(|row| row.duration_us).max().unwrap_or_default(),
                    first_start_ts: of().map(|row| row.start_ts).min().unwrap_or_default(),
                    last_end_ts: of().map(|row| row.end_ts).max().unwrap_or_default(),
                });
            }
        }
    }
}

fn rows<R: Row>(manifest: &Manifest) -> Vec<R> {
    manifest.rows().expect("rows")
}

/// All Parquet files below a folder.
fn files(folder: &Path) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        if entry.path().is_dir() {
            found.extend(files(&entry.path()));
        } else if entry
            .path()
            .extension()
            .is_some_and(|extension| extension == "parquet" || extension == "index")
        {
            found.insert(entry.path());
        }
    }
    found
}

#[test]
fn what_is_left_is_what_the_obvious_leaves() {
    let mut n_thinned = 0;
    for seed in 0..60 {
        let mut random = Random(seed);
        let folder = tempfile::tempdir().expect("a temporary folder");
        write(folder.path(), &mut random);
        let before_us = random.below(5 * DAY_US);
        let left = [Detail::Spans, Detail::Requests, Detail::Intervals][random.below(3) as usize];
        let mut expected = Content::of(folder.path());
        let n_events = expected.events.len();
        let removed = thinned(folder.path(), before_us, left);
        expected.thin(before_us, left);
        assert_eq!(Content::of(folder.path()), expected, "seed {seed}: {left:?}");
        assert_eq!(removed.n_events as usize, n_events - expected.events.len(), "seed {seed}");
        n_thinned += usize::from(removed.number.is_some());

        let manifest = Manifest::read(folder.path()).expect("a table");
        let named = manifest.files.iter().map(|file| folder.path().join(&file.path)).collect();
        assert_eq!(files(folder.path()), named, "what was taken out is gone");
        let n_bytes: u64 = manifest.files.iter().map(|file| file.n_bytes).sum();
        assert_eq!(removed.bytes[1], n_bytes);
        let again = thinned(folder.path(), before_us, left);
        assert_eq!((again.number, again.bytes), (None, [n_bytes; 2]), "seed {seed}: nothing is left to thin");
        drop(manifest);
        assert_eq!(Content::of(folder.path()), expected);
    }
    assert!(n_thinned > 40, "{n_thinned}");
}

#[test]
fn requests_can_be_counted_bit_by_bit() {
    let mut random = Random(7);
    let folders = [(); 2].map(|()| tempfile::tempdir().expect("a temporary folder"));
    folders.iter().for_each(|folder| write(folder.path(), &mut Random(7)));
    // Within hours, and after other detail was taken out.
    for part in 1..=8 {
        let left = [Detail::Spans, Detail::Requests, Detail::Intervals][random.below(3) as usize];
        thinned(folders[0].path(), part * DAY_US / 4 + HOUR_US / 2, left);
    }
    for folder in &folders {
        thinned(folder.path(), 3 * DAY_US + 7, Detail::Intervals);
    }
    assert_eq!(Content::of(folders[0].path()), Content::of(folders[1].path()));
}

#[test]
fn who_reads_a_table_keeps_it() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    write(folder.path(), &mut Random(3));
    let held = Manifest::read(folder.path()).expect("a table");
    let before: Vec<EventRow> = rows(&held);
    assert!(thinned(folder.path(), 4 * DAY_US, Detail::Intervals).n_events > 0);
    assert_eq!(rows::<EventRow>(&held), before);
    let now = Manifest::read(folder.path()).expect("a table");
    assert!(now.rows::<EventRow>().expect("rows").len() < before.len());
    assert_eq!(now.thinned.before_us("events"), Some(4 * DAY_US));
    let note = now.thinned.note("spans").expect("a note");
    assert!(note.contains("1970-01-05T00:00:00Z"), "{note}");
}

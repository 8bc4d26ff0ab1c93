//! Periods that are added one by one, against all of it at once: small random logs of two nodes,
//! mapped as the mapper does, by what names the request.

use std::collections::BTreeMap;
use std::path::Path;

use schema::tables::{EventRow, IntervalRow, LogSequenceRow, RelationRow, RequestRow, Row, RunRow, SpanRow};
use schema::{
    Accumulator, Event, InputAccount, Model, Name, PREFIX_BYTES, Pass, Span, TraceId, Value, Values, sketch,
};

use reducer::Config;
use reducer::append::partition::{Learnt, Partition};
use reducer::append::{Appended, append};
use reducer::finish::Keep;
use reducer::spill::{SpillWriter, Spilled};
use reducer::table::thin::{Detail, Thinning, thin};
use reducer::table::{Manifest, Writer};

const MODEL: &str = "
    point begins r=R.id
    point asks r=R.id
    point serves r=R.id
    top ask RpcHandler r=R.id
      >begins asks
      asks<
    top serve RpcHandler r=R.id
      >serves<
    pair ask serve Rpc r=r
";

/// Bytes of a line.
const LINE_BYTES: u64 = 100;
const SECOND_US: i64 = 1_000_000;
/// Within this time requests begin.
const LENGTH_US: i64 = 1800 * SECOND_US;
const N_REQUESTS: i64 = 120;

/// A line: when, of which request, by which statement of which method.
type Line = (i64, i64, &'static str, &'static str);

/// A log of one node: which file, and which of the lines of the node are in it.
type Log = (String, std::ops::Range<usize>);

struct Random(u64);

impl Random {
    fn below(&mut self, n: i64) -> i64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % n.unsigned_abs()).cast_signed()
    }
}

/// The lines of two nodes: requests that take up to 50 seconds, some of them alone in a minute.
fn lines(seed: u64) -> BTreeMap<&'static str, Vec<Line>> {
    let mut random = Random(seed);
    let mut lines: BTreeMap<&str, Vec<Line>> = BTreeMap::new();
    for request in 0..N_REQUESTS {
        let start = 1 + random.below(LENGTH_US);
        let at = start + 1 + random.below(25 * SECOND_US);
        lines.entry("a").or_default().push((start, request, "begins", "ask"));
        lines.entry("a").or_default().push((at, request, "asks", "ask"));
        let at = start + 1 + random.below(50 * SECOND_US);
        lines.entry("b").or_default().push((at, request, "serves", "serve"));
    }
    lines.values_mut().for_each(|lines| lines.sort_unstable());
    lines
}

/// What a request is called, which nothing else is called by chance.
fn name(request: i64) -> String {
    format!("req_{:016x}", xxhash_rust::xxh3::xxh3_64(&request.to_le_bytes()))
}

/// What a map of `logs` of a node makes.
fn map(model: &Model, (table, node): (&Path, &str), lines: &[Line], logs: &[Log]) -> Spilled {
    map_with_ids(model, (table, node), lines, logs, |_| None)
}

/// The same of requests that carry ids.
fn map_with_ids(
    model: &Model,
    (table, node): (&Path, &str),
    lines: &[Line],
    logs: &[Log],
    id: impl Fn(i64) -> Option<String>,
) -> Spilled {
    let trace = |request| Some(TraceId { field: Name::from("id"), text: id(request)?.into() });
    let mut spans: BTreeMap<(i64, &str), Span> = BTreeMap::new();
    for ((_, of_file), file) in logs.iter().zip(0..) {
        for (line, &(ts_us, request, point, top)) in (1..).zip(&lines[of_file.clone()]) {
            let top = sketch::top(model, top);
            let value_class = model.top_level_methods[top.index()].identifiers[0].value_class;
            let span = spans.entry((request, model.top_level_methods[top.index()].method.as_str()));
            let span = span.or_insert_with(|| Span {
                node: Name::from(node),
                thread: None,
                top_levels: vec![top],
                identifiers: vec![Value { value_class, text: name(request).into() }],
                events: Vec::new(),
                truncated: false,
                trace: trace(request),
                hosts: Vec::new(),
                n_alike: 1,
            });
            span.events.push(Event {
                file,
                line,
                n_lines: 1,
                byte_offset: (line - 1) * LINE_BYTES,
                ts_us,
                late_us: 0,
                level: None,
                log_point: Some(sketch::point(model, point)),
                values: [(0, &*name(request))].into_iter().collect::<Values>(),
                pass: Pass::Opens,
                reason: Name::from("opens"),
            });
        }
    }
    let mut spill = SpillWriter::create(table).expect("a file");
    let spans = spans.into_values().map(|span| Accumulator { spans: vec![span], links: Vec::new() });
    spill.add(spans.collect(), Vec::new()).expect("written");
    let accounts = logs.iter().map(|(file, of_file)| account(file, &lines[of_file.clone()]));
    spill.finish(node, accounts.collect()).expect("written")
}

fn account(file: &str, lines: &[Line]) -> InputAccount {
    let hash = |n: usize| xxhash_rust::xxh3::xxh3_128(format!("{file} {:?}", &lines[..n]).as_bytes());
    let (n_lines, n_bytes) = (lines.len() as u64, lines.len() as u64 * LINE_BYTES);
    let lengths = (0..).map(|n| PREFIX_BYTES << n).take_while(|n| *n <= n_bytes);
    InputAccount {
        file: file.to_owned(),
        n_bytes,
        n_lines,
        n_records: n_lines,
        n_attributed: n_lines,
        first_us: lines.first().map(|line| line.0),
        last_us: lines.last().map(|line| line.0),
        digest: hash(lines.len()),
        prefixes: lengths.map(|n| hash((n / LINE_BYTES) as usize)).collect(),
        ..InputAccount::default()
    }
}

fn add(model: &Model, table: &Path, lines: &BTreeMap<&str, Vec<Line>>, logs: &[[Log; 1]; 2]) -> Appended {
    add_all(model, table, lines, &logs.clone().map(Vec::from))
}

fn add_all(model: &Model, table: &Path, lines: &BTreeMap<&str, Vec<Line>>, logs: &[Vec<Log>; 2]) -> Appended {
    add_in_periods(model, table, lines, logs, short_periods())
}

/// Periods of four windows; of what is over nothing is decided again.
fn short_periods() -> Config {
    Config { period_events: 1, ..Config::default() }
}

fn add_in_periods(
    model: &Model,
    table: &Path,
    lines: &BTreeMap<&str, Vec<Line>>,
    logs: &[Vec<Log>; 2],
    config: Config,
) -> Appended {
    let outputs = lines.iter().zip(logs).map(|((node, lines), logs)| map(model, (table, node), lines, logs));
    append(table, model, outputs.collect(), &config, Keep::Events).expect("appended")
}

/// How many lines of each node were printed before a time.
fn before(lines: &BTreeMap<&str, Vec<Line>>, us: i64) -> [usize; 2] {
    ["a", "b"].map(|node| lines[node].partition_point(|line| line.0 < us))
}

/// A row without how likely its links are: that is learnt from what is reduced at once.
fn without_odds(row: &str) -> String {
    let mut parts = row.split("confidence: ").flat_map(|part| part.split("probability: "));
    let first = parts.next().unwrap_or_default().to_owned();
    let after = |part: &str| part.split_once([',', '}']).map_or(String::new(), |(_, rest)| rest.to_owned());
    parts.fold(first, |text, part| text + &after(part))
}

/// The rows of a table, of which it does not matter which commit has added them.
fn rows<R: Row + std::fmt::Debug>(table: &Path) -> Vec<String> {
    let manifest = Manifest::read(table).expect("a table");
    manifest.check().expect("whole files");
    let mut rows: Vec<String> =
        manifest.rows::<R>().expect("rows").iter().map(|r| without_odds(&format!("{r:?}"))).collect();
    rows.sort();
    rows
}

/// Fails if two tables do not hold the same rows.
#[track_caller]
fn check_same(found: &Path, expected: &Path, what: &str) {
    let all = |table| {
        let (requests, spans) = (rows::<RequestRow>(table), rows::<SpanRow>(table));
        [requests, spans, rows::<EventRow>(table), rows::<LogSequenceRow>(table)]
    };
    for (found, expected) in all(found).into_iter().zip(all(expected)) {
        let other = found.iter().filter(|row| !expected.contains(row)).count();
        let first = found.iter().zip(&expected).find(|(a, b)| a != b);
        assert_eq!(first, None, "{what}: {other} of {} differ", expected.len());
        assert_eq!(found.len(), expected.len(), "{what}");
    }
}

/// Times of cuts, in order, and then the end.
fn cuts(random: &mut Random) -> Vec<i64> {
    let n = 1 + random.below(4);
    let mut cuts: Vec<i64> = (0..n).map(|_| random.below(LENGTH_US)).collect();
    cuts.push(2 * LENGTH_US);
    cuts.sort_unstable();
    cuts
}

#[test]
fn logs_that_grow_become_what_they_are_at_once() {
    let model = sketch::model(MODEL);
    for seed in 0..6 {
        let (lines, mut random) = (lines(seed), Random(seed));
        let folder = tempfile::tempdir().expect("a folder");
        let (once, grown) = (folder.path().join("once"), folder.path().join("grown"));
        let whole = |n: [usize; 2]| n.map(|n| [("app.log".to_owned(), 0..n)]);
        add(&model, &once, &lines, &whole(before(&lines, i64::MAX)));
        for cut in cuts(&mut random) {
            add(&model, &grown, &lines, &whole(before(&lines, cut)));
        }
        check_same(&grown, &once, &format!("seed {seed}"));
        let runs: Vec<RunRow> = Manifest::read(&grown).and_then(|table| table.rows()).expect("runs");
        assert_eq!(runs.iter().map(|run| run.n_requests).sum::<i64>(), N_REQUESTS, "each is counted once");
        let n_events: i64 = runs.iter().map(|run| run.n_events).sum();
        assert_eq!(n_events, 3 * N_REQUESTS, "seed {seed}");
    }
}

/// The logs of both nodes, by period.
fn periods(lines: &BTreeMap<&str, Vec<Line>>, cuts: &[i64]) -> Vec<[Log; 2]> {
    let mut from = [0, 0];
    let mut periods = Vec::new();
    for (n, cut) in cuts.iter().enumerate() {
        let until = before(lines, *cut);
        periods.push([0, 1].map(|node| (format!("app.{n}.log"), from[node]..until[node])));
        from = until;
    }
    periods
}

#[test]
fn logs_that_are_rotated_become_what_they_are_at_once() {
    let model = sketch::model(MODEL);
    for seed in 0..6 {
        let (lines, mut random) = (lines(seed), Random(seed));
        let folder = tempfile::tempdir().expect("a folder");
        let (once, rotated) = (folder.path().join("once"), folder.path().join("rotated"));
        let periods = periods(&lines, &cuts(&mut random));
        let of = |n: usize| [0, 1].map(|node| periods[..n].iter().map(|logs| logs[node].clone()).collect());
        add_all(&model, &once, &lines, &of(periods.len()));
        (1..=periods.len()).for_each(|n| drop(add_all(&model, &rotated, &lines, &of(n))));
        check_same(&rotated, &once, &format!("seed {seed}"));
    }
}

#[test]
fn what_is_decided_period_after_period_is_what_it_is_at_once() {
    let model = sketch::model(MODEL);
    for seed in 0..6 {
        let lines = lines(seed);
        let folder = tempfile::tempdir().expect("a folder");
        let once = folder.path().join("once");
        let logs = before(&lines, i64::MAX).map(|n| vec![("app.log".to_owned(), 0..n)]);
        let all = add_in_periods(&model, &once, &lines, &logs, Config::default());
        let n_parts = |table: &Path| {
            let files = Manifest::read(table).expect("a table").files.into_iter();
            files.filter(|file| file.table == "requests").count()
        };
        assert_eq!(n_parts(&once), 1);
        for (period_events, n_parts_min) in [(1, 6), (100, 3), (200, 2), (100_000, 1)] {
            let table = folder.path().join(period_events.to_string());
            let config = Config { period_events, ..Config::default() };
            let some = add_in_periods(&model, &table, &lines, &logs, config);
            check_same(&table, &once, &format!("seed {seed}, periods of {period_events}"));
            assert_eq!((some.n_events, some.n_open), (all.n_events, all.n_open));
            assert!(n_parts(&table) >= n_parts_min, "{} of {period_events}", n_parts(&table));
        }
    }
}

/// What is appended in parts that are too few to learn from is, with all probabilities, what it is at
/// once: the last events are decided again.
#[test]
fn few_lines_are_decided_with_those_before() {
    let model = sketch::model(MODEL);
    for seed in 0..6 {
        let (lines, mut random) = (lines(seed), Random(seed));
        let folder = tempfile::tempdir().expect("a folder");
        let [once, grown, shared] = ["once", "grown", "shared"].map(|name| folder.path().join(name));
        let whole = |n: [usize; 2]| n.map(|n| vec![("app.log".to_owned(), 0..n)]);
        let config = Config::default();
        let add = |table: &Path, cut| {
            add_in_periods(&model, table, &lines, &whole(before(&lines, cut)), config.clone())
        };
        let all = add(&once, i64::MAX);
        for cut in cuts(&mut random) {
            let some = add(&grown, cut);
            assert!(
                some.n_open <= all.n_open.max(20),
                "those alone that may go on are told: {}",
                some.n_open
            );
            let logs = whole(before(&lines, cut));
            add_in_shares(&model, &shared, &lines, &logs, (&config, 2, &mut random));
        }
        let all_rows = |table: &Path| -> Vec<String> {
            let manifest = Manifest::read(table).expect("a table");
            let (requests, spans) = (manifest.rows::<RequestRow>(), manifest.rows::<SpanRow>());
            let mut rows: Vec<String> =
                requests.expect("rows").iter().map(|row| format!("{row:?}")).collect();
            rows.extend(spans.expect("rows").iter().map(|row| format!("{row:?}")));
            rows
        };
        assert_eq!(all_rows(&grown), all_rows(&once), "seed {seed}");
        assert_eq!(all_rows(&shared), all_rows(&once), "seed {seed}");
    }
}

/// Of the last events thinning closes what is over, and that does not come back.
#[test]
fn what_is_over_can_be_thinned() {
    let model = sketch::model(MODEL);
    for (seed, left) in
        [(0, Detail::Spans), (1, Detail::Requests), (2, Detail::Intervals), (3, Detail::Spans)]
    {
        let (lines, mut random) = (lines(seed), Random(seed));
        let folder = tempfile::tempdir().expect("a folder");
        let (once, thinned) = (folder.path().join("once"), folder.path().join("thinned"));
        let whole = |n: [usize; 2]| n.map(|n| vec![("app.log".to_owned(), 0..n)]);
        let add = |table: &Path, cut| {
            add_in_periods(&model, table, &lines, &whole(before(&lines, cut)), Config::default())
        };
        let before_us = LENGTH_US / 4 + random.below(LENGTH_US / 4);
        let thin = |table: &Path| {
            let mut writer = Writer::open(table).expect("a table");
            thin(&mut writer, &Thinning { before_us, left, interval_us: SECOND_US }).expect("thinned")
        };
        add(&once, i64::MAX);
        let n_old = thin(&once).n_events;
        assert!((40..200).contains(&n_old), "{n_old}");
        // All of it is over, some of it, none.
        let mut n_removed = 0;
        for cut in [before_us + 5 * SECOND_US, LENGTH_US * 3 / 4, i64::MAX] {
            add(&thinned, cut);
            n_removed += thin(&thinned).n_events;
            assert_eq!(thin(&thinned).number, None, "once is enough");
        }
        assert_eq!(n_removed, n_old, "seed {seed}");
        check_same(&thinned, &once, &format!("seed {seed}"));
        let mut sequences = rows::<LogSequenceRow>(&thinned);
        sequences.dedup();
        assert_eq!(sequences, rows::<LogSequenceRow>(&thinned), "each once");
        let intervals = rows::<IntervalRow>(&thinned);
        assert_eq!(intervals, rows::<IntervalRow>(&once));
        assert_eq!(intervals.is_empty(), left != Detail::Intervals);
    }
}

#[test]
fn what_was_thinned_stays_so_and_what_is_open_goes_on() {
    let model = sketch::model(MODEL);
    let mut n_open_then = 0;
    for seed in 0..6 {
        let (lines, mut random) = (lines(seed), Random(seed));
        let folder = tempfile::tempdir().expect("a folder");
        let (once, thinned) = (folder.path().join("once"), folder.path().join("thinned"));
        let cuts = cuts(&mut random);
        let periods = periods(&lines, &cuts);
        let of = |n: usize| [0, 1].map(|node| periods[..n].iter().map(|logs| logs[node].clone()).collect());
        // A little after a period ends, so that some of what is old is open then.
        let thinning = Thinning { before_us: cuts[0] + 5 * SECOND_US, left: Detail::Spans, interval_us: 1 };
        let thin = |table: &Path| {
            let mut writer = Writer::open(table).expect("a table");
            thin(&mut writer, &thinning).expect("thinned");
        };
        add_all(&model, &once, &lines, &of(periods.len()));
        thin(&once);
        for n in 1..=periods.len() {
            add_all(&model, &thinned, &lines, &of(n));
            let open = |table: &Path| {
                let files = Manifest::read(table).expect("a table").files.into_iter();
                files.filter(|file| file.is_open).map(|file| file.path).collect::<Vec<_>>()
            };
            let open_before = open(&thinned);
            thin(&thinned);
            assert_eq!(open(&thinned), open_before, "what may go on is left alone");
            n_open_then += usize::from(n == 1 && !open_before.is_empty());
        }
        check_same(&thinned, &once, &format!("seed {seed}"));
        let events = rows::<EventRow>(&once).len();
        assert!((events as i64) < 3 * N_REQUESTS, "seed {seed}: {events}");
    }
    assert!(n_open_then > 3, "{n_open_then}");
}

#[test]
fn of_logs_that_are_gone_spans_alone_are_cut() {
    let model = sketch::model(MODEL);
    for seed in 0..6 {
        let (lines, mut random) = (lines(seed), Random(seed));
        let folder = tempfile::tempdir().expect("a folder");
        let (once, gone) = (folder.path().join("once"), folder.path().join("gone"));
        let periods = periods(&lines, &cuts(&mut random));
        let of = |n: usize| [0, 1].map(|node| periods[..n].iter().map(|logs| logs[node].clone()).collect());
        add_all(&model, &once, &lines, &of(periods.len()));
        for logs in &periods {
            add_all(&model, &gone, &lines, &logs.clone().map(|log| vec![log]));
        }
        let places = |table: &Path| {
            let events = Manifest::read(table).and_then(|table| table.rows::<EventRow>()).expect("events");
            let mut places: Vec<_> = events.into_iter().map(|row| (row.node, row.file, row.line)).collect();
            places.sort();
            places
        };
        assert_eq!(places(&gone), places(&once), "each record once");
        // A request whose records of one node are in one file is the same one.
        let cut = |line: &Line| {
            let is_same = |other: &&Line| (other.1, other.3) == (line.1, line.3);
            let file =
                |line: &Line| periods.iter().position(|logs| lines["a"][logs[0].1.clone()].contains(line));
            lines["a"].iter().filter(is_same).any(|other| file(other) != file(line))
        };
        let n_cut = lines["a"].iter().filter(|line| line.2 == "begins" && cut(line)).count();
        let expected = rows::<RequestRow>(&once);
        let found = rows::<RequestRow>(&gone);
        let n_other = expected.iter().filter(|row| !found.contains(row)).count();
        assert!(n_other <= n_cut, "seed {seed}: {n_other} of {n_cut}");
    }
}

#[test]
fn what_is_over_is_left_alone() {
    let model = sketch::model(MODEL);
    let lines = lines(1);
    let folder = tempfile::tempdir().expect("a folder");
    let table = folder.path().join("t");
    let whole = |n: [usize; 2]| n.map(|n| [("app.log".to_owned(), 0..n)]);
    let half = whole(before(&lines, LENGTH_US / 2));
    let first = add(&model, &table, &lines, &half);
    assert!(first.n_open > 0 && (first.n_open as usize) < first.requests.len() / 4, "{}", first.n_open);
    let files = |table: &Path| Manifest::read(table).expect("a table").files;
    let before_again = files(&table);
    assert_eq!(add(&model, &table, &lines, &half).run, None, "the same again");
    std::fs::remove_dir_all(table.join(".catalog")).expect("an index");
    assert_eq!(add(&model, &table, &lines, &half).run, None, "without an index");
    assert_eq!(files(&table), before_again);

    let second = add(&model, &table, &lines, &whole(before(&lines, i64::MAX)));
    assert_eq!(second.n_gone_on[0], first.n_open);
    let closed = before_again.iter().filter(|file| !file.is_open);
    assert!(closed.clone().count() > 0 && closed.clone().all(|file| files(&table).contains(file)));
    let gone = before_again.iter().filter(|file| file.is_open);
    assert!(gone.clone().all(|file| !files(&table).contains(file)));
    let days = std::fs::read_dir(table.join("requests")).expect("days").map(|day| day.expect("a day").path());
    let linked = days.flat_map(|day| std::fs::read_dir(day).expect("a day"));
    let linked = linked.map(|file| file.expect("a file").file_name().display().to_string());
    let mut linked: Vec<String> = linked.filter(|name| name.contains("open")).collect();
    linked.dedup();
    let is_newest = linked.iter().all(|name| name.starts_with("part-2-"));
    assert!(is_newest && !linked.is_empty(), "who reads folders sees the newest state: {linked:?}");
    // The state before is a way back until the next commit.
    std::fs::write(table.join("manifest-2.json"), b"{").expect("a file");
    let back = Manifest::read(&table).expect("the state before");
    assert!(back.damage.is_some());
    back.check().expect("its files");
    assert_eq!(back.rows::<RequestRow>().expect("rows").len(), first.requests.len());
}

#[test]
fn another_release_ends_what_was_open() {
    let (model, other) = (sketch::model(MODEL), sketch::model(&format!("{MODEL}\npoint more")));
    let lines = lines(2);
    let folder = tempfile::tempdir().expect("a folder");
    let table = folder.path().join("t");
    let periods = periods(&lines, &[LENGTH_US / 2, 2 * LENGTH_US]);
    let first = add_all(&model, &table, &lines, &periods[0].clone().map(|log| vec![log]));
    let rows_before = rows::<RequestRow>(&table);
    let second = add_all(&other, &table, &lines, &periods[1].clone().map(|log| vec![log]));
    assert_eq!((second.n_gone_on, second.run), ([0; 3], Some(2)));
    let all = rows::<RequestRow>(&table);
    assert_eq!(all.len(), first.requests.len() + second.requests.len());
    assert!(rows_before.iter().all(|row| all.contains(row)), "they stay as they are");
    let day = std::fs::read_dir(table.join("requests/day=1970-01-01")).expect("a day");
    let names: Vec<String> =
        day.map(|file| file.expect("a file").file_name().display().to_string()).collect();
    for number in ["part-1-", "part-2-"] {
        let is_open = |name: &&String| name.starts_with(number) && name.ends_with("-open.parquet");
        assert!(names.iter().any(|name| is_open(&name)), "{number}: {names:?}");
    }
    let open = Manifest::read(&table).expect("a table").files.into_iter().filter(|file| file.table == "kept");
    let number = |path: &str| path.split('/').nth(1).map(ToOwned::to_owned);
    assert!(open.map(|file| number(&file.path)).all(|number| number.as_deref() == Some("2")));
}

#[test]
fn who_holds_a_manifest_sees_its_rows() {
    let model = sketch::model(MODEL);
    let lines = lines(3);
    let folder = tempfile::tempdir().expect("a folder");
    let table = folder.path().join("t");
    let whole = |n: [usize; 2]| n.map(|n| [("app.log".to_owned(), 0..n)]);
    let add = |part: i64| add(&model, &table, &lines, &whole(before(&lines, LENGTH_US * part / 8)));
    let first = add(1);
    let held = Manifest::read(&table).expect("a table");
    (2..6).for_each(|part| assert!(add(part).run.is_some()));
    held.check().expect("its files are there");
    assert_eq!(held.rows::<RequestRow>().expect("rows").len(), first.requests.len());
    let open: Vec<_> =
        held.files.iter().filter(|file| file.is_open).map(|file| table.join(&file.path)).collect();
    assert!(!open.is_empty());
    drop(held);
    add(7);
    assert!(open.iter().all(|path| !path.exists()), "nobody holds it");
}

/// Users come back some minutes later, when the requests of their session are written: the first
/// append cannot know, those after can. Ids of requests are used for good.
#[test]
fn ids_that_come_again_are_told_over_appends() {
    let model = sketch::model(MODEL);
    let of_session = |request: i64| Some(format!("session-{:02}", request % 4));
    let of_request = |request: i64| Some(name(request));
    let are_used = |id: &dyn Fn(i64) -> Option<String>| -> Vec<bool> {
        let folder = tempfile::tempdir().expect("a folder");
        let add = |round: i64| {
            let line = |at: i64, point, top| {
                (SECOND_US * (round * 300 + at / 4) + 7_919 * at, round * 4 + at % 4, point, top)
            };
            let asks: Vec<Line> = (0..4).map(|at| line(at, "begins", "ask")).collect();
            let serves: Vec<Line> = (4..8).map(|at| line(at, "serves", "serve")).collect();
            let logs = [(format!("app.{round}.log"), 0..4)];
            let outputs = [("a", asks), ("b", serves)];
            let outputs = outputs
                .iter()
                .map(|(node, lines)| map_with_ids(&model, (folder.path(), node), lines, &logs, id));
            let appended = append(folder.path(), &model, outputs.collect(), &Config::default(), Keep::Events);
            appended.expect("appended").id_fields[0].is_used
        };
        (1..=6).map(add).collect()
    };
    assert_eq!(are_used(&of_session), [true, false, false, false, false, false]);
    assert_eq!(are_used(&of_request), [true; 6]);
}

/// The table that processes make, each of one of `n` shares, in an order of their own.
fn add_in_shares(
    model: &Model,
    table: &Path,
    lines: &BTreeMap<&str, Vec<Line>>,
    logs: &[Vec<Log>; 2],
    (config, n, random): (&Config, u32, &mut Random),
) -> Appended {
    let outputs = || -> Vec<Spilled> {
        let maps = lines.iter().zip(logs).map(|((node, lines), logs)| map(model, (table, node), lines, logs));
        maps.collect()
    };
    let learnt = Learnt::of(table, model, outputs(), config, Keep::Events).expect("learnt");
    let mut order: Vec<u32> = (1..=n).collect();
    for last in (1..order.len()).rev() {
        order.swap(last, random.below(last as i64 + 1) as usize);
    }
    for number in order {
        let partition = Partition { number, of: n };
        let is_new = Learnt::decide(table, model, outputs(), partition, None).expect("decided");
        assert_eq!(is_new, learnt.n_periods() > 0);
        assert!(!Learnt::decide(table, model, outputs(), partition, None).expect("decided"), "by one of two");
    }
    Learnt::commit(table).expect("committed")
}

/// The rows of a table with how likely their links are.
fn whole_rows<R: Row + std::fmt::Debug>(table: &Path) -> Vec<String> {
    let manifest = Manifest::read(table).expect("a table");
    let mut rows: Vec<String> =
        manifest.rows::<R>().expect("rows").iter().map(|r| format!("{r:?}")).collect();
    rows.sort();
    rows
}

#[test]
fn shares_of_many_processes_are_the_table_of_one() {
    let model = sketch::model(MODEL);
    for seed in 0..6 {
        let (lines, mut random) = (lines(seed), Random(seed));
        let folder = tempfile::tempdir().expect("a folder");
        let config = Config { period_events: 1 + random.below(60).unsigned_abs(), ..Config::default() };
        let (one, many) = (folder.path().join("one"), folder.path().join("many"));
        // In two appends, so that what was open goes on.
        let cut = before(&lines, random.below(LENGTH_US));
        for n in [cut, before(&lines, i64::MAX)] {
            let logs = n.map(|n| vec![("app.log".to_owned(), 0..n)]);
            let expected = add_in_periods(&model, &one, &lines, &logs, config.clone());
            let n = 1 + random.below(9) as u32;
            let shares = (&config, n, &mut random);
            let found = add_in_shares(&model, &many, &lines, &logs, shares);
            let what = format!("seed {seed}, {n} shares");
            assert_eq!((found.n_events, found.n_open), (expected.n_events, expected.n_open), "{what}");
            assert_eq!((found.inputs, found.n_gone_on), (expected.inputs, expected.n_gone_on), "{what}");
            assert_eq!(found.requests.len(), expected.requests.len(), "{what}");
            assert_eq!(found.requests.widest, expected.requests.widest, "{what}");
            assert_eq!(whole_rows::<RequestRow>(&many), whole_rows::<RequestRow>(&one), "{what}");
            assert_eq!(whole_rows::<SpanRow>(&many), whole_rows::<SpanRow>(&one), "{what}");
            assert_eq!(whole_rows::<EventRow>(&many), whole_rows::<EventRow>(&one), "{what}");
            assert_eq!(whole_rows::<RelationRow>(&many), whole_rows::<RelationRow>(&one), "{what}");
            assert_eq!(whole_rows::<LogSequenceRow>(&many), whole_rows::<LogSequenceRow>(&one), "{what}");
            assert_eq!(whole_rows::<RunRow>(&many), whole_rows::<RunRow>(&one), "{what}");
        }
        let logs = before(&lines, i64::MAX).map(|n| vec![("app.log".to_owned(), 0..n)]);
        let again = add_in_shares(&model, &many, &lines, &logs, (&config, 2, &mut random));
        assert_eq!((again.run, again.n_inputs_known), (None, 2), "nothing is new");
        assert!(!many.join("shares").exists(), "nothing is left of the shares");
    }
}

#[test]
fn what_is_missing_or_changed_is_told_and_the_table_stays_as_it_is() {
    let model = sketch::model(MODEL);
    let lines = lines(1);
    let folder = tempfile::tempdir().expect("a folder");
    let table = folder.path().join("table");
    let config = Config { period_events: 20, ..Config::default() };
    let outputs = |n: [usize; 2]| -> Vec<Spilled> {
        let map = |((node, lines), n): ((&&str, &Vec<Line>), usize)| {
            map(&model, (&table, node), lines, &[("app.log".to_owned(), 0..n)])
        };
        lines.iter().zip(n).map(map).collect()
    };
    let (some, all) = (before(&lines, LENGTH_US / 2), before(&lines, i64::MAX));
    let share = |number, of, n| Learnt::decide(&table, &model, outputs(n), Partition { number, of }, None);
    let told = |result: schema::Result<bool>| result.expect_err("refused").to_string();
    assert!(told(share(1, 2, all)).contains("run `lprof reduce --learn` first"));
    Learnt::of(&table, &model, outputs(some), &config, Keep::Events).expect("learnt");
    assert!(told(Learnt::commit(&table).map(|_| true)).contains("no partition was decided"));
    assert!(told(share(1, 2, all)).contains("not those of the plan"));
    share(2, 3, some).expect("decided");
    assert!(told(Learnt::commit(&table).map(|_| true)).contains("partitions are missing: 1/3, 3/3"));
    // A process that was killed leaves a folder that nobody looks for.
    let mut folders =
        std::fs::read_dir(table.join("shares")).expect("shares").map(|entry| entry.expect("one").path());
    let shares = folders.find(|path| path.is_dir()).expect("the folder of the plan");
    std::fs::create_dir_all(shares.join(".1-of-3.host.7.7/requests")).expect("a folder");
    share(1, 3, some).and_then(|_| share(3, 3, some)).expect("decided");
    // Half of a file.
    let path = shares.join("3-of-3/share");
    let whole = std::fs::read(&path).expect("a file");
    std::fs::write(&path, &whole[..whole.len() / 2]).expect("written");
    assert!(Learnt::commit(&table).is_err());
    assert!(Manifest::read(&table).is_err(), "there is no table yet");
    std::fs::write(&path, &whole).expect("written");
    Learnt::commit(&table).expect("committed");
    // The table was changed after it was learnt for.
    Learnt::of(&table, &model, outputs(all), &config, Keep::Events).expect("learnt");
    let others = before(&lines, 3 * LENGTH_US / 4);
    append(&table, &model, outputs(others), &config, Keep::Events).expect("appended");
    assert!(told(share(1, 1, all)).contains("the table was changed since"));
    assert!(told(Learnt::commit(&table).map(|_| true)).contains("the table was changed since"));
}

#[test]
fn memory_bounds_how_many_periods_are_decided_side_by_side_and_nothing_else() {
    let model = sketch::model(MODEL);
    let lines = lines(2);
    let folder = tempfile::tempdir().expect("a folder");
    let logs = before(&lines, i64::MAX).map(|n| vec![("app.log".to_owned(), 0..n)]);
    let config = |memory_bytes| Config { period_events: 40, memory_bytes, ..Config::default() };
    let (free, bounded) = (folder.path().join("free"), folder.path().join("bounded"));
    add_in_periods(&model, &free, &lines, &logs, config(None));
    let outputs = || -> Vec<Spilled> {
        lines
            .iter()
            .zip(&logs)
            .map(|((node, lines), logs)| map(&model, (&bounded, node), lines, logs))
            .collect()
    };
    let add = |bytes| append(&bounded, &model, outputs(), &config(Some(bytes)), Keep::Events);
    let error = add(4096).expect_err("less than a period needs").to_string();
    assert!(error.contains("--memory") && error.contains("events can take"), "{error}");
    assert!(Manifest::read(&bounded).is_err(), "nothing was added");
    add(1 << 20).expect("one at a time");
    assert_eq!(whole_rows::<SpanRow>(&bounded), whole_rows::<SpanRow>(&free));
}

#[test]
fn a_commit_that_was_ended_after_its_last_step_is_done() {
    let model = sketch::model(MODEL);
    let lines = lines(3);
    let folder = tempfile::tempdir().expect("a folder");
    let table = folder.path().join("table");
    let logs = before(&lines, i64::MAX).map(|n| vec![("app.log".to_owned(), 0..n)]);
    let outputs = || -> Vec<Spilled> {
        lines
            .iter()
            .zip(&logs)
            .map(|((node, lines), logs)| map(&model, (&table, node), lines, logs))
            .collect()
    };
    Learnt::of(&table, &model, outputs(), &Config::default(), Keep::Events).expect("learnt");
    Learnt::decide(&table, &model, outputs(), Partition { number: 1, of: 1 }, None).expect("decided");
    let plan = std::fs::read(table.join("shares/plan")).expect("a plan");
    Learnt::commit(&table).expect("committed");
    let manifest = Manifest::read(&table).expect("a table");
    std::fs::create_dir_all(table.join("shares")).expect("a folder");
    std::fs::write(table.join("shares/plan"), plan).expect("written");
    assert_eq!(Learnt::commit(&table).expect("done before").run, None);
    assert_eq!(Manifest::read(&table).expect("a table"), manifest);
    assert!(!table.join("shares").exists());
}

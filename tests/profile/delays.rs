//! Delays put into the logs of the sample: at a place between two statements all that must
//! happen later, by the order of the table, is printed so much later. The report has to name
//! that place first.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use reducer::table::Manifest;
use schema::happened_before::{Label, Order, Stretch, order};
use schema::tables::{EventRow, SpanRow};

use super::{done, json, samples};

/// Delays, in milliseconds.
const DELAYS_MS: [i64; 2] = [5, 40];
/// What the operation or hand-over with the most time takes in the run as it was, in
/// milliseconds: from the first line of a write to that of its responder, 140 times. A delay that
/// is less in all is not first in a report of its own run, which ranks by time.
const MOST_MS: i64 = 998;
/// Between these two a delay cannot be put into logs: the responder of the node before waits for
/// the answer of the delayed one, which the order of a table does not know, and so it is not
/// delayed with it, and the request falls apart.
const NOT_KNOWN_TO_WAIT: &str = "ClientHandler.writeBlock:106 to ClientHandler.writeBlock:106";
/// Requests that must pass a place for it to be one.
const VISITS_MIN: usize = 10;

/// A place: the log points before and after it.
type Site = (i64, i64);

struct Logs {
    /// Where the logs are, `NODE.log` each.
    folder: PathBuf,
    events: Vec<EventRow>,
    /// Which events of the same request each place of a request delays.
    visits: BTreeMap<Site, Vec<(usize, Vec<usize>)>>,
    /// `Class.method:line` of each log point.
    names: BTreeMap<i64, String>,
}

fn place(event: &EventRow) -> Option<(Label, Stretch)> {
    Some(event.position.as_ref()?.place().expect("a position"))
}

impl Logs {
    /// Those in `folder`, of which `table` was made.
    fn read(table: &str, folder: &Path) -> Self {
        let manifest = Manifest::read(Path::new(table)).expect("a table");
        let events: Vec<EventRow> = manifest.rows().expect("events");
        let spans: Vec<SpanRow> = manifest.rows().expect("spans");
        let mut by_span: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        let mut by_request: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (at, event) in events.iter().enumerate() {
            if let (Some(request), Some(span)) = (&event.request_id, &event.span_id) {
                by_span.entry(span).or_default().push(at);
                by_request.entry(request).or_default().push(at);
            }
        }
        let mut visits: BTreeMap<Site, Vec<(usize, Vec<usize>)>> = BTreeMap::new();
        let mut add = |before: usize, after: usize| {
            let (Some(p), Some(q)) = (events[before].log_point_id, events[after].log_point_id) else {
                return;
            };
            let request = events[after].request_id.as_deref().expect("an event of a request");
            let (label, stretch) = place(&events[after]).expect("a position");
            let is_later = |at: &&usize| {
                let (other, also) = place(&events[**at]).expect("a position");
                **at == after || order((&label, stretch), (&other, also)) == Order::Before
            };
            let later = by_request[request].iter().filter(is_later).copied().collect();
            visits.entry((p, q)).or_default().push((after, later));
        };
        for events in by_span.values() {
            events.windows(2).for_each(|pair| add(pair[0], pair[1]));
        }
        for span in &spans {
            let Some(parent) = &span.parent_span_id else { continue };
            let (Some(sender), Some(first)) = (by_span.get(&**parent), by_span.get(&*span.span_id)) else {
                continue;
            };
            let before = usize::try_from(span.parent_before.unwrap_or(0)).expect("a position");
            if let Some(last) = before.checked_sub(1).and_then(|at| sender.get(at)) {
                add(*last, first[0]);
            }
        }
        let name = |event: &EventRow| {
            let class = event.class.as_deref()?.rsplit(['.', '$']).next()?;
            Some((
                event.log_point_id?,
                format!("{class}.{}:{}", event.method.as_deref()?, event.source_line?),
            ))
        };
        let names = events.iter().filter_map(name).collect();
        visits.retain(|_, of| of.len() >= VISITS_MIN);
        Self { folder: folder.to_owned(), events, visits, names }
    }

    /// The logs with a delay at `site`, in `folder`.
    fn write(&self, folder: &Path, site: Option<Site>, delay_ms: i64) {
        let mut later: BTreeMap<(String, i64), i64> = BTreeMap::new();
        for (_, delayed) in site.iter().flat_map(|site| &self.visits[site]) {
            for &at in delayed {
                *later.entry((self.events[at].node.to_string(), self.events[at].line)).or_default() +=
                    delay_ms;
            }
        }
        std::fs::create_dir_all(folder).expect("a folder");
        let nodes: BTreeSet<&str> = self.events.iter().map(|event| &*event.node).collect();
        for node in nodes {
            let log = self.folder.join(format!("{node}.log"));
            let text = std::fs::read_to_string(log).expect("a log");
            // A record is its first line and those after it without a time.
            let mut records: Vec<(i64, String)> = Vec::new();
            for (number, line) in (1..).zip(text.lines()) {
                match (millis(line), records.last_mut()) {
                    (Some(ms), _) => {
                        let delay = later.get(&(node.to_owned(), number)).copied().unwrap_or(0);
                        records.push((ms + delay, line[23..].to_owned()));
                    }
                    (None, Some(last)) => last.1.push_str(&format!("\n{line}")),
                    (None, None) => {}
                }
            }
            records.sort_by_key(|(ms, _)| *ms);
            let first: i64 = text.get(8..10).and_then(|day| day.parse().ok()).expect("a day");
            let record = |(ms, rest): &(i64, String)| {
                let (h, m, s) = (ms / 3_600_000 % 24, ms / 60_000 % 60, ms / 1_000 % 60);
                let day = first + ms / 86_400_000;
                format!("2026-11-{day:02} {h:02}:{m:02}:{s:02},{:03}{rest}\n", ms % 1_000)
            };
            let text: String = records.iter().map(record).collect();
            std::fs::write(folder.join(format!("{node}.log")), text).expect("a log");
        }
    }

    /// Whether `region` lies between the log points of `site`.
    fn is_at(&self, region: &str, site: Site) -> bool {
        let (from, to) = (&self.names[&site.0], &self.names[&site.1]);
        let line = |name: &str| name.rsplit(':').next().unwrap_or_default().to_owned();
        let method = |name: &str| name.rsplit_once(':').map(|(method, _)| method.to_owned());
        let one = method(from).unwrap_or_default();
        let within = format!("{one}, lines {} to {}", line(from), line(to));
        let across = [format!("from {from} to {to}"), format!("from {from} to the start of {to}")];
        (method(from) == method(to) && region == within) || across.iter().any(|text| region == text)
    }
}

/// Milliseconds of the day of a line that begins with a time.
fn millis(line: &str) -> Option<i64> {
    let clock = line.get(11..23).filter(|_| line.starts_with("2026-11-"))?;
    let number = |from: usize, to: usize| clock[from..to].parse::<i64>().ok();
    Some(((number(0, 2)? * 60 + number(3, 5)?) * 60 + number(6, 8)?) * 1_000 + number(9, 12)?)
}

/// The place in the report at which a region first stands, from 0.
fn rank(report: &serde_json::Value, logs: &Logs, site: Site) -> Option<usize> {
    let lines = report["lines"].as_array().expect("lines");
    lines.iter().position(|line| {
        let regions = line["orders"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|o| o["regions"][0]["region"].as_str());
        regions.into_iter().any(|region| logs.is_at(region, site))
    })
}

fn run(folder: &Path, name: &str, model: &str, logs: &[&Path]) -> String {
    let table = folder.join(name).display().to_string();
    let logs: Vec<String> = logs.iter().map(|path| path.display().to_string()).collect();
    let logs: Vec<&str> = logs.iter().map(String::as_str).collect();
    done(&[&["run", "--table", &table, "--model", model], &logs[..]].concat());
    table
}

/// The place of a region among those that a comparison tells, from 0.
fn rank_in_comparison(report: &serde_json::Value, logs: &Logs, site: Site) -> Option<usize> {
    let changes = report["changes"].as_array().expect("changes");
    let regions = changes.iter().flat_map(|of| {
        let regions = of["regions"].as_array().expect("regions");
        // A region that is told by itself has none.
        if regions.is_empty() { std::slice::from_ref(of) } else { &regions[..] }
    });
    regions.into_iter().position(|of| of["what"].as_str().is_some_and(|region| logs.is_at(region, site)))
}

/// Each delay in a run of its own, whose report is read, and which is compared with the run as it was.
#[test]
fn delays_are_found_where_they_were_put() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path();
    let model = folder.join("m").display().to_string();
    done(&["analyze", &samples().join("classes/java17/store.jar").display().to_string(), "-o", &model]);
    let original = samples().join("logs");
    let before = run(folder, "before", &model, &[&original]);
    let logs = Logs::read(&before, &original);
    let name = |(p, q): &Site| format!("{} to {}", logs.names[p], logs.names[q]);
    let sites: Vec<Site> =
        logs.visits.keys().copied().filter(|site| name(site) != NOT_KNOWN_TO_WAIT).collect();
    assert_eq!(sites.len(), 6);
    for delay in DELAYS_MS {
        for (number, site) in sites.iter().enumerate() {
            let delayed = folder.join(format!("logs-{delay}-{number}"));
            logs.write(&delayed, Some(*site), delay);
            let table = run(folder, &format!("{delay}-{number}"), &model, &[&delayed]);
            let report = json(&["profile", "--table", &table]);
            let told = rank(&report, &logs, *site);
            let all_ms = delay * i64::try_from(logs.visits[site].len()).expect("few");
            assert!(told.is_some(), "{delay} ms from {}", name(site));
            assert!(told == Some(0) || all_ms < MOST_MS, "{delay} ms from {}: {told:?}", name(site));
            let compared = json(&["compare", &before, &table]);
            let told = rank_in_comparison(&compared, &logs, *site);
            assert_eq!(told, Some(0), "{delay} ms from {}", name(site));
        }
    }
}

/// How many places of a labelled system are tried, those spread evenly that many requests pass.
const PLACES: usize = 4;
const SYSTEM_VISITS_MIN: usize = 50;

/// The same with the logs of a labelled system, of which lprof does not know each wait: three of
/// four places are first in a comparison with the run as it was. Without Maven, which brings the
/// system's jars, nothing is tried, as with the labelled systems themselves.
#[test]
fn delays_in_a_labelled_system() {
    const DELAY_MS: i64 = 20;
    let scratch = tempfile::tempdir().expect("a temporary folder");
    let folder = scratch.path();
    let systems = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/systems");
    let fetched =
        std::process::Command::new(systems.join("fetch-jars.sh")).output().expect("the script runs");
    if !fetched.status.success() {
        eprintln!("no jars: {}", String::from_utf8_lossy(&fetched.stderr));
        return;
    }
    let jars = PathBuf::from(String::from_utf8_lossy(&fetched.stdout).trim());
    let model = folder.join("m").display().to_string();
    done(&["analyze", &jars.join("hdfs-2.7.3").display().to_string(), "-o", &model]);
    let original = folder.join("logs");
    std::fs::create_dir_all(&original).expect("a folder");
    let set = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/systems/hdfs-2.7.3/set-a");
    for node in ["nn", "dn1", "dn2", "dn3"] {
        let packed = std::fs::read(set.join(format!("{node}.log.zst"))).expect("a log");
        let text = zstd::stream::decode_all(packed.as_slice()).expect("zstd");
        std::fs::write(original.join(format!("{node}.log")), text).expect("a log");
    }
    let before = run(folder, "before", &model, &[&original]);
    let logs = Logs::read(&before, &original);
    let name = |(p, q): &Site| format!("{} to {}", logs.names[p], logs.names[q]);
    let all: Vec<Site> =
        logs.visits.iter().filter(|(_, of)| of.len() >= SYSTEM_VISITS_MIN).map(|(site, _)| *site).collect();
    let sites: Vec<Site> = all.iter().step_by(all.len().div_ceil(PLACES).max(1)).copied().collect();
    assert_eq!(
        sites.len(),
        PLACES,
        "of {} places that at least {SYSTEM_VISITS_MIN} requests pass",
        all.len()
    );
    let mut n_first = 0;
    for (number, site) in sites.iter().enumerate() {
        let delayed = folder.join(format!("logs-{number}"));
        logs.write(&delayed, Some(*site), DELAY_MS);
        let after = run(folder, &format!("after-{number}"), &model, &[&delayed]);
        let rows = json(&["compare", &before, &after]);
        let rank = rank_in_comparison(&rows, &logs, *site);
        n_first += usize::from(rank == Some(0));
        eprintln!("{DELAY_MS} ms from {}, {} times: {rank:?}", name(site), logs.visits[site].len());
    }
    assert!(4 * n_first >= 3 * PLACES, "{n_first} of {PLACES} are first");
}

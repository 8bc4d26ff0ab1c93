//! Ids that logs carry: the labelled services of `tests/programs/services/sets` in layouts that print
//! an id on a share of the records of each unit, and ids that are none of requests, which must not be
//! used. What is made of the logs is compared with what is made of them without ids.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

#[path = "support/scoring.rs"]
#[expect(dead_code, reason = "the scores of other tests are held in tables")]
mod scoring;

/// What of the records prints which id.
#[derive(Clone, Copy, Debug)]
enum Ids {
    /// So many of a hundred records of each unit the id of that.
    OfUnit(u64),
    /// All of them one of so many, as a session of a user is of many units.
    OfSession(u64),
    /// All of a thread that of the first unit which ran there, as where it is never taken out.
    OfThread,
    /// All the same.
    Constant,
}

/// A record as the truth has it.
struct True {
    thread: String,
    unit: String,
}

/// What is true of the records of a program, by node and line.
type Truth = BTreeMap<(String, u64), True>;

fn set(program: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/services/sets").join(program)
}

fn unpacked(path: &Path) -> String {
    let bytes = std::fs::read(path).expect("a file of the set");
    String::from_utf8(zstd::stream::decode_all(bytes.as_slice()).expect("zstd")).expect("UTF-8")
}

fn truth(program: &str) -> Truth {
    let text = unpacked(&set(program).join("truth.tsv.zst"));
    let mut rows = text.lines().map(|row| row.split('\t').collect::<Vec<_>>());
    let header = rows.next().expect("a header");
    let at = |name: &str| header.iter().position(|column| *column == name).expect("a column");
    let [node, line, thread, unit] = ["node", "line", "thread", "unit"].map(at);
    let record = |row: Vec<&str>| {
        let record = True { thread: row[thread].to_owned(), unit: row[unit].to_owned() };
        ((row[node].to_owned(), row[line].parse().expect("a line")), record)
    };
    rows.map(record).collect()
}

/// FNV-1a: a number that is the same on every machine.
fn number(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, b| (hash ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3))
}

/// 128 bits in hexadecimal digits, as tracers print them.
fn id(text: &str) -> String {
    format!("{:016x}{:016x}", number(text), number(&format!("{text}/")))
}

impl Ids {
    /// The id that the record at `place` prints; `threads`: the first unit of each.
    fn of(
        self,
        place: &(String, u64),
        record: &True,
        threads: &mut BTreeMap<String, String>,
    ) -> Option<String> {
        let unit = Some(&record.unit).filter(|unit| *unit != "-");
        match self {
            Self::OfUnit(percent) => {
                let is_printed = number(&format!("{}:{}", place.0, place.1)) % 100 < percent;
                unit.filter(|_| is_printed).map(|unit| id(unit))
            }
            Self::OfSession(n) => unit.map(|unit| id(&format!("session {}", number(unit) % n))),
            Self::OfThread => {
                let thread = format!("{} {}", place.0, record.thread);
                let first =
                    unit.map(|unit| threads.entry(thread.clone()).or_insert_with(|| unit.clone()).clone());
                first.or_else(|| threads.get(&thread).cloned()).map(|first| id(&format!("{thread} {first}")))
            }
            Self::Constant => Some(id("constant")),
        }
    }
}

/// The log of `node` with ids, in brackets before those of its thread: of Spring Boot the name of the
/// application and the id of a span with it.
fn with_ids(log: &str, node: &str, truth: &Truth, ids: Ids) -> String {
    let (mut out, mut threads) = (String::new(), BTreeMap::new());
    for (number, line) in (1..).zip(log.lines()) {
        let place = (node.to_owned(), number);
        let Some((record, at)) = truth.get(&place).zip(line.find('[')) else {
            out += line;
            out.push('\n');
            continue;
        };
        let printed = ids.of(&place, record, &mut threads).unwrap_or_default();
        let before = line[..at].find(" 1 --- ");
        match before {
            Some(at) => {
                let span = if printed.is_empty() { String::new() } else { id(node)[..16].to_owned() };
                writeln!(out, "{} [{node},{printed},{span}]{}", &line[..at], &line[at..])
            }
            None => writeln!(out, "{}[{printed}] {}", &line[..at], &line[at..]),
        }
        .expect("text");
    }
    out
}

/// What `run` says of ids, and the percentage of messages that came out right.
fn scored(program: &str, ids: Option<Ids>, flags: &[&str]) -> (String, f64) {
    let scratch = tempfile::tempdir().expect("a folder");
    let folder = set(program);
    let truth = truth(program);
    let mut run = Command::new(env!("CARGO_BIN_EXE_lprof"));
    run.arg("run").args(flags).arg("--table").arg(scratch.path().join("table")).arg(folder.join("app.jar"));
    for path in scoring::files(&folder.join("threads"), ".log.zst").expect("logs") {
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        let node = name.strip_suffix(".log.zst").expect("a log");
        let log = unpacked(&path);
        let log = ids.map_or_else(|| log.clone(), |ids| with_ids(&log, node, &truth, ids));
        let path = scratch.path().join(format!("{node}.log"));
        std::fs::write(&path, log).expect("written");
        run.arg(path);
    }
    let said = scoring::output(&mut run).expect("a run");
    let said = said.lines().find(|line| line.starts_with("ids ")).unwrap_or_default().to_owned();
    let types = folder.join("types.tsv");
    let found = scoring::evaluated(&scratch.path().join("table"), &folder.join("truth.tsv.zst"), &types);
    let correct = found.expect("an evaluation")["all"]["percent"]["correct"].as_f64().expect("a score");
    (said, correct)
}

/// Programs of one layout each: Spring Boot's with the ids of Sleuth, and others without a name for them. A
/// service of `spring-branch` prints nothing: its container reports what fails in it.
const PROGRAMS: [&str; 4] = ["jersey", "jdk-http", "spring-branch", "spring-copies"];

#[test]
fn ids_on_a_share_of_the_records_tell_requests() {
    for program in PROGRAMS {
        let (_, without) = scored(program, None, &[]);
        let (said, with) = scored(program, Some(Ids::OfUnit(60)), &[]);
        assert!(said.contains(": requests are told by "), "{program}: {said}");
        assert!(with >= 97.0 && with >= without, "{program}: {with} of 100 messages, {without} without ids");
    }
}

#[test]
fn ids_on_all_records_are_exact() {
    for program in PROGRAMS {
        let (said, correct) = scored(program, Some(Ids::OfUnit(100)), &[]);
        assert!(correct >= 99.5, "{program}: {correct} of 100 messages: {said}");
    }
}

#[test]
fn ids_that_outlive_requests_are_told_and_not_used() {
    let (_, without) = scored("jersey", None, &[]);
    for ids in [Ids::OfSession(8), Ids::OfThread, Ids::Constant] {
        let (said, with) = scored("jersey", Some(ids), &[]);
        assert!(said.contains(": not used, "), "{ids:?}: {said}");
        assert!(with >= without, "{ids:?}: {with} of 100 messages, {without} without ids");
    }
}

#[test]
fn flags_decide_on_fields_of_ids() {
    let (said, correct) = scored("jersey", Some(Ids::Constant), &["--id", "[1]"]);
    assert!(said.contains("requests are told by 1 of them") && correct < 10.0, "{correct}: {said}");
    let (said, correct) = scored("jersey", Some(Ids::OfUnit(100)), &["--no-id", "[1]"]);
    let (_, without) = scored("jersey", None, &[]);
    assert!(said.is_empty() && (correct - without).abs() < 0.01, "{correct} as without, {without}: {said}");
}

//! Layouts of the world: four records of a small program, in each layout of `layouts/layouts.txt`.
//! Whatever the layout, their levels, threads and statements are found, and nothing else.

use log_mapper::{Config, PatternSet, Source, map};
use schema::{InputAccount, Level, LogPoint, Model, NodeOutput, Template};

const TEXT: &str = include_str!("layouts/layouts.txt");

/// Class, method, line, level and text of each statement, in the order of the records, and the
/// thread that prints it.
const RECORDS: [(&str, &str, u32, Level, &str, &str); 4] = [
    ("org.example.store.Server", "start", 21, Level::Info, r"Started on port (\d+)", "main"),
    ("org.example.store.disk.Volume", "write", 34, Level::Warn, r"Volume (\d+) is full", "worker-1"),
    (
        "org.example.store.net.Handler",
        "handle",
        55,
        Level::Error,
        r"Request (\d+) failed: (.*?)",
        "http-nio-8080-exec-2",
    ),
    ("org.example.store.Server", "stop", 40, Level::Info, r"Stopped after (\d+) s", "main"),
];

fn model() -> Model {
    let point = |(class, method, line, level, regex): (&str, &str, u32, Level, &str)| LogPoint {
        class: class.into(),
        method: method.into(),
        source_line: line,
        source_file: None,
        call_site: None,
        n_sites: 1,
        levels: vec![level],
        loggers: vec![class.into()],
        in_handler: false,
        has_throwable: false,
        variables: Vec::new(),
        templates: vec![Template {
            regex: regex.into(),
            captures: (0..regex.matches('(').count() as u32).collect(),
        }],
    };
    let records = RECORDS.map(|(class, method, line, level, regex, _)| (class, method, line, level, regex));
    let other = [("org.example.store.Server", "log", 60, Level::Info, r"(.*?)")];
    Model { log_points: records.into_iter().chain(other).map(point).collect(), ..Model::default() }
}

fn read(text: &str) -> NodeOutput {
    let model = model();
    map(
        &model,
        &PatternSet::new(&model),
        &[Source::bytes("x.log", text.as_bytes())],
        &Config::new("n"),
        &|_| {},
    )
    .expect("readable")
}

/// Threads and log points of the records, in order of their lines.
/// Time, thread, log point and level of a record.
type Found = (u64, Option<String>, Option<usize>, Option<Level>);

fn found(output: &NodeOutput) -> Vec<Found> {
    let spans = output.accumulators.iter().flat_map(|a| &a.spans);
    let of_spans = spans.flat_map(|span| {
        let thread = span.thread.as_deref().map(str::to_owned);
        span.events.iter().map(move |event| (event, thread.clone()))
    });
    let all = of_spans.chain(output.unattributed.iter().map(|event| (event, None)));
    let mut out: Vec<_> = all
        .map(|(event, thread)| (event.line, thread, event.log_point.map(|id| id.index()), event.level))
        .collect();
    out.sort();
    out
}

fn check(title: &str, text: &str) -> Result<(), String> {
    let output = read(text);
    let account: &InputAccount = &output.inputs[0];
    let records = found(&output);
    let say = |what: String| {
        format!(
            "{title}: {what}\n  layout {} ({})\n  {:?}",
            account.layout, account.layout_found, account.damage
        )
    };
    if records.len() != RECORDS.len() || account.n_headerless > 0 {
        return Err(say(format!("{} records, {} without a header", records.len(), account.n_headerless)));
    }
    for (i, (line, thread, log_point, level)) in records.into_iter().enumerate() {
        let (.., expected_level, _, expected) = RECORDS[i];
        if log_point != Some(i) || level != Some(expected_level) {
            return Err(say(format!("line {line} is {log_point:?} at {level:?}")));
        }
        let expected = (!title.contains("no thread")).then_some(expected);
        // A layout can cut a name to a width.
        let fits = match (&thread, expected) {
            (Some(thread), Some(expected)) if title.contains("thread cut") => {
                expected.ends_with(thread.as_str())
            }
            (thread, expected) => thread.as_deref() == expected,
        };
        if !fits {
            return Err(say(format!("line {line} is of thread {thread:?}")));
        }
    }
    Ok(())
}

#[test]
fn layouts_of_the_world() {
    let sections: Vec<(&str, &str)> =
        TEXT.split("== ").skip(1).filter_map(|section| section.split_once('\n')).collect();
    assert!(sections.len() > 60);
    let wrong: Vec<String> = sections.iter().filter_map(|(title, text)| check(title, text).err()).collect();
    assert!(wrong.is_empty(), "{} of {} are wrong:\n{}", wrong.len(), sections.len(), wrong.join("\n"));
}

/// Two layouts in turn, lines of a supervisor and of the Java machine among the records.
#[test]
fn several_layouts_in_one_file() {
    let line = |i: usize| {
        let (class, _, line, level, _, thread) = RECORDS[i % 4];
        let text =
            ["Started on port 8080", "Volume 3 is full", "Request 17 failed: x", "Stopped after 12 s"][i % 4];
        let (level, file) = (level.name(), class.rsplit('.').next().expect("a name"));
        match i % 2 {
            0 => format!("2025-03-29 11:54:05,{:03} {level:<5} [{thread}] {class}: {text}\n", i + 100),
            _ => format!(
                "{level:<5} [{thread}] 2025-03-29 11:54:05,{:03} {file}.java:{line} - {text}\n",
                i + 100
            ),
        }
    };
    let foreign = "2025-03-29 11:54:05,200 INFO exited: store (exit status 1; not expected)\n";
    let text: String = (0..40).map(|i| if i % 8 == 7 { line(i) + foreign } else { line(i) }).collect();
    let output = read(&text);
    let account = &output.inputs[0];
    assert_eq!((account.n_records, account.n_headerless), (45, 5), "{}", account.layout);
    let records = found(&output);
    assert_eq!(records.len(), 40);
    for (i, (_, thread, log_point, _)) in records.into_iter().enumerate() {
        assert_eq!((thread.as_deref(), log_point), (Some(RECORDS[i % 4].5), Some(i % 4)));
    }
    let told =
        "5 lines are of another layout than the program's records and are in none, the first is line 9";
    assert_eq!(account.damage, [told]);
}

/// Reads `n` records, those from `then` on in another layout; how the layouts were found.
#[track_caller]
fn read_changed(n: usize, then: usize) -> String {
    let line = |i: usize| {
        let (class, .., level, _, thread) = RECORDS[i % 4];
        let text =
            ["Started on port 8080", "Volume 3 is full", "Request 17 failed: x", "Stopped after 12 s"][i % 4];
        let level = level.name();
        let time = format!("2025-03-29 {:02}:{:02}:{:02},100", 10 + i / 3600, i / 60 % 60, i % 60);
        if i < then {
            format!("{time} {level:<5} [{thread}] {class}: {text}\n")
        } else {
            format!("{level:<5} [{thread}] {time} {class} - {text}\n")
        }
    };
    let text: String = (0..n).map(line).collect();
    let output = read(&text);
    let account = &output.inputs[0];
    assert_eq!((account.n_records, account.n_headerless), (n as u64, 0), "{}", account.layout);
    let records = found(&output);
    assert_eq!(records.len(), n);
    for (i, (_, thread, log_point, _)) in records.into_iter().enumerate() {
        assert_eq!((thread.as_deref(), log_point), (Some(RECORDS[i % 4].5), Some(i % 4)), "{i}");
    }
    account.layout_found.clone()
}

/// A program that is given another configuration in the middle of a long file: what comes then is
/// read as what came before, though the start of the file does not show it.
#[test]
fn a_layout_that_begins_in_the_middle_of_a_long_file() {
    let found = read_changed(8_000, 4_000);
    assert!(found.contains("another about byte"), "{found}");
}

/// How many lines layouts are tried on does not decide which are found.
#[test]
fn a_layout_that_begins_behind_the_lines_that_are_tried() {
    let n_tried = log_mapper::limits::LAYOUT_LINES_MAX;
    for n in [1, 10, n_tried] {
        read_changed(n_tried + n, n_tried);
    }
}

/// A stretch of another layout that is short against its file is found as well, and so it is in
/// a file that is compressed.
#[test]
fn a_short_stretch_of_another_layout_in_a_long_file() {
    const N: usize = 60_000;
    let line = |i: usize| {
        let (class, .., level, _, thread) = RECORDS[i % 4];
        let text =
            ["Started on port 8080", "Volume 3 is full", "Request 17 failed: x", "Stopped after 12 s"][i % 4];
        let level = level.name();
        let time = format!("2025-03-29 {:02}:{:02}:{:02},100", 1 + i / 3600, i / 60 % 60, i % 60);
        match i {
            20_500..21_500 => format!("{level:<5} [{thread}] {time} {class} - {text}\n"),
            _ => format!("{time} {level:<5} [{thread}] {class}: {text}\n"),
        }
    };
    let text: String = (0..N).map(line).collect();
    let packed = zstd::encode_all(text.as_bytes(), 1).expect("in memory");
    let model = model();
    for bytes in [text.as_bytes(), &packed] {
        let output = map(
            &model,
            &PatternSet::new(&model),
            &[Source::bytes("x.log", bytes)],
            &Config::new("n"),
            &|_| {},
        )
        .expect("readable");
        let account = &output.inputs[0];
        assert_eq!((account.n_records, account.n_headerless), (N as u64, 0), "{}", account.layout);
    }
}

/// A stack trace in a wrapper, and a time of day that goes over midnight.
#[test]
fn places_are_those_of_the_file() {
    let plain = |ms: u32, text: &str| {
        format!("2025-03-29 11:54:05,{ms} INFO  [main] org.example.store.Server: {text}")
    };
    let wrap = |line: &str| format!("2025-03-29T11:54:05.123456789Z stdout F {line}\n");
    let lines = [
        plain(100, "Started on port 1"),
        "java.io.IOException: x".into(),
        "\tat a.b.C.d(C.java:1)".into(),
        plain(101, "Stopped after 2 s"),
    ];
    let text: String = lines.iter().map(|line| wrap(line)).collect();
    let output = read(&text);
    let mut events: Vec<_> =
        output.accumulators.iter().flat_map(|a| &a.spans).flat_map(|s| &s.events).collect();
    events.sort_by_key(|event| event.line);
    let places: Vec<_> = events.iter().map(|event| (event.line, event.n_lines, event.byte_offset)).collect();
    let last: usize = lines[..3].iter().map(|line| wrap(line).len()).sum();
    assert_eq!(places, [(1, 3, 0), (4, 1, last as u64)]);
    assert_eq!(output.inputs[0].n_lines, 4);
}

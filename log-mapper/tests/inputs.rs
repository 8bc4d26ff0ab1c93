//! Inputs as people have them: lines of several processes in one file, lines in pieces, time
//! stamps that leave something open, bytes of another encoding. What is read of each is what its
//! program has printed; what cannot be known is told.

use log_mapper::{Config, PatternSet, Source, look, map, overlaps, parse_zone};
use schema::{LogPoint, Model, NodeOutput, Template};

fn model() -> Model {
    let point = |regex: &str, line: u32| LogPoint {
        class: "org.example.store.Server".into(),
        method: "run".into(),
        source_line: line,
        source_file: None,
        call_site: None,
        n_sites: 1,
        levels: Vec::new(),
        loggers: vec!["org.example.store.Server".into()],
        in_handler: false,
        has_throwable: true,
        variables: Vec::new(),
        templates: vec![Template { regex: regex.into(), captures: vec![0] }],
    };
    let log_points = vec![point(r"Started volume (\S+)", 1), point(r"Volume (\S+) is full", 2)];
    Model { log_points, ..Model::default() }
}

/// What is read of a file: the process, and its records as line, time, thread and value.
fn read(name: &str, text: &[u8], zone: &str) -> Vec<(Option<String>, Vec<String>, Vec<String>)> {
    read_with(name, text, &Config { zone: parse_zone(zone).expect("a zone"), ..Config::new("n") })
}

fn read_with(name: &str, text: &[u8], config: &Config) -> Vec<(Option<String>, Vec<String>, Vec<String>)> {
    let model = model();
    let patterns = PatternSet::new(&model);
    let sources = look(vec![Source::bytes(name, text)], &patterns, config).expect("in memory").concat();
    let one = |source: &Source| {
        let output = map(&model, &patterns, std::slice::from_ref(source), config, &|_| {}).expect("readable");
        let damage = output.inputs[0].damage.clone();
        (source.process().map(str::to_owned), records(&output), damage)
    };
    sources.iter().map(one).collect()
}

fn records(output: &NodeOutput) -> Vec<String> {
    let spans = output.accumulators.iter().flat_map(|a| &a.spans);
    let of_spans = spans.flat_map(|span| {
        let thread = span.thread.as_deref().unwrap_or_default().to_owned();
        span.events.iter().map(move |event| (event, thread.clone()))
    });
    let mut all: Vec<_> =
        of_spans.chain(output.unattributed.iter().map(|event| (event, "?".to_owned()))).collect();
    all.sort_by_key(|(event, _)| event.line);
    let text = |(event, thread): (&schema::Event, String)| {
        let time = jiff::Timestamp::from_microsecond(event.ts_us).expect("in range");
        let value = event.values.iter().next().map_or("-", |(_, value)| value);
        format!("{} {time} {thread} {value}", event.line)
    };
    all.into_iter().map(text).collect()
}

/// One file of one process.
#[track_caller]
fn check(name: &str, text: &[u8], zone: &str, expected: &[&str], told: Option<&str>) {
    let read = read(name, text, zone);
    assert_eq!(read.len(), 1);
    let (_, records, damage) = &read[0];
    assert_eq!(records, expected, "{damage:?}");
    match told {
        None => assert!(damage.is_empty(), "{damage:?}"),
        Some(words) => assert!(damage.iter().any(|line| line.contains(words)), "{damage:?}"),
    }
}

const H: &str = "INFO  [main] org.example.store.Server - ";

#[test]
fn each_process_that_a_wrapper_names_is_read_alone() {
    let text = format!(
        "a-1  | 2025-03-29 11:54:05,123 {H}Started volume 1\n\
         b-1  | 2025-03-29 11:54:05,124 {H}Started volume 2\n\
         b-1  | java.io.IOException: x\n\
         a-1  | 2025-03-29 11:54:05,125 {H}Volume 1 is full\n\
         b-1  | \tat org.example.Wire.send(Wire.java:42)\n\
         b-1  | 2025-03-29 11:54:05,126 {H}Volume 2 is full\n"
    );
    let read = read("x.log", text.as_bytes(), "UTC");
    let names: Vec<_> = read.iter().map(|(process, ..)| process.as_deref()).collect();
    assert_eq!(names, [Some("a-1"), Some("b-1")]);
    assert_eq!(read[0].1, ["1 2025-03-29T11:54:05.123Z main 1", "4 2025-03-29T11:54:05.125Z main 1"]);
    assert_eq!(read[1].1, ["2 2025-03-29T11:54:05.124Z main 2", "6 2025-03-29T11:54:05.126Z main 2"]);
}

/// An object over several lines, as tools of the cloud print it, of the pod `pod`.
fn pretty(pod: &str, text: &str) -> String {
    let labels = format!("\"labels\": {{\n      \"pod_name\": \"{pod}\"\n    }}");
    format!("{{\n  \"textPayload\": \"{text}\",\n  \"resource\": {{\n    {labels}\n  }}\n}}")
}

#[test]
fn each_pod_in_objects_over_several_lines_is_read_alone() {
    let line = |n: usize| {
        let text = format!("2025-03-29 11:54:05,{n:03} {H}Started volume {n}");
        pretty(if n.is_multiple_of(3) { "a" } else { "b" }, &text)
    };
    let n_lines = line(0).lines().count();
    let texts: Vec<String> = (1..400).map(line).collect();
    for (text, first) in [(texts.join("\n"), 1), (format!("[\n{}\n]\n", texts.join(",\n")), 2)] {
        let record = |n: usize| {
            let (place, millis) = (first + (n - 1) * n_lines, format!("{n:03}"));
            format!("{place} 2025-03-29T11:54:05.{}Z main {n}", millis.trim_end_matches('0'))
        };
        for chunk_bytes in [1, 5000, 1 << 20] {
            let read = read_with("x.json", text.as_bytes(), &Config { chunk_bytes, ..Config::new("n") });
            let names: Vec<_> = read.iter().map(|(process, ..)| process.as_deref()).collect();
            assert_eq!(names, [Some("a"), Some("b")]);
            let of = |is_a: bool| (1..400).filter(move |n: &usize| n.is_multiple_of(3) == is_a).map(record);
            assert_eq!(read[0].1, of(true).collect::<Vec<_>>(), "{chunk_bytes}");
            assert_eq!(read[1].1, of(false).collect::<Vec<_>>(), "{chunk_bytes}");
        }
    }
}

#[test]
fn pieces_of_a_line_are_put_together_by_stream() {
    let stamp = "2025-03-29T11:54:05.123456789Z";
    let text = format!(
        "{stamp} stdout P 2025-03-29 11:54:05,123 {H}Star\n\
         {stamp} stderr F Picked up something\n\
         {stamp} stdout P ted vol\n\
         {stamp} stdout F ume 1\n\
         {stamp} stdout F 2025-03-29 11:54:05,124 {H}Volume 1 is full\n"
    );
    let expected = ["1 2025-03-29T11:54:05.123Z main 1", "5 2025-03-29T11:54:05.124Z main 1"];
    check("x.log", text.as_bytes(), "UTC", &expected, None);
}

#[test]
fn the_order_of_the_lines_says_which_of_two_hours_is_meant() {
    let text = format!(
        "2025-10-26 02:59:59,000 {H}Started volume 1\n\
         2025-10-26 02:00:01,000 {H}Started volume 2\n\
         2025-10-26 03:00:00,000 {H}Started volume 3\n"
    );
    let expected =
        ["1 2025-10-26T00:59:59Z main 1", "2 2025-10-26T01:00:01Z main 2", "3 2025-10-26T02:00:00Z main 3"];
    check("x.log", text.as_bytes(), "Europe/Berlin", &expected, None);
    let open = format!("2025-10-26 02:30:00,000 {H}Started volume 1\n");
    let told = Some("the hour that exists twice");
    check("x.log", open.as_bytes(), "Europe/Berlin", &["1 2025-10-26T00:30:00Z main 1"], told);
}

#[test]
fn hours_of_half_a_day_go_on() {
    let text = format!(
        "2025-03-29 11:59:59,000 {H}Started volume 1\n\
         2025-03-30 12:00:01,000 {H}Started volume 2\n\
         2025-03-30 01:00:00,000 {H}Started volume 3\n\
         2025-03-30 11:00:00,000 {H}Started volume 4\n\
         2025-03-30 12:30:00,000 {H}Started volume 5\n\
         2025-03-30 02:00:00,000 {H}Started volume 6\n"
    );
    let expected = [
        "1 2025-03-29T23:59:59Z main 1",
        "2 2025-03-30T00:00:01Z main 2",
        "3 2025-03-30T01:00:00Z main 3",
        "4 2025-03-30T11:00:00Z main 4",
        "5 2025-03-30T12:30:00Z main 5",
        "6 2025-03-30T14:00:00Z main 6",
    ];
    check("x.log", text.as_bytes(), "UTC", &expected, Some("without AM or PM"));
    // A clock of 24 hours that was set back.
    let text = format!(
        "2025-03-29 12:05:00,000 {H}Started volume 1\n\
         2025-03-29 11:05:00,000 {H}Started volume 2\n"
    );
    let expected = ["1 2025-03-29T12:05:00Z main 1", "2 2025-03-29T11:05:00Z main 2"];
    check("x.log", text.as_bytes(), "UTC", &expected, None);
}

#[test]
fn day_and_month_are_read_as_they_go_on() {
    let line = |date: &str, n: u32| format!("{date} 23:59:59.000 {H}Started volume {n}\n");
    let text = [line("03/04/2025", 1), line("04/04/2025", 2)].concat();
    let expected = ["1 2025-04-03T23:59:59Z main 1", "2 2025-04-04T23:59:59Z main 2"];
    check("x.log", text.as_bytes(), "UTC", &expected, None);
    let text = [line("04/03/2025", 1), line("04/04/2025", 2)].concat();
    check("x.log", text.as_bytes(), "UTC", &expected, None);
    // Nothing says it but the name of the file, or nothing at all.
    let one = line("03/04/2025", 1);
    check("x-2025-04-03.log", one.as_bytes(), "UTC", &["1 2025-04-03T23:59:59Z main 1"], None);
    let told = Some("the day or the month comes first");
    check("x.log", one.as_bytes(), "UTC", &["1 2025-03-04T23:59:59Z main 1"], told);
}

#[test]
fn the_name_of_a_file_says_the_day() {
    let text = format!("23:59:59,000 {H}Started volume 1\n00:00:01,000 {H}Started volume 2\n");
    let expected = ["1 2025-03-27T23:59:59Z main 1", "2 2025-03-28T00:00:01Z main 2"];
    for name in ["logs/x-2025-03-27-1.log", "x.log.2025-03-27"] {
        check(name, text.as_bytes(), "UTC", &expected, None);
    }
    check("x.log-20250328", text.as_bytes(), "UTC", &expected, Some("--date"));
}

#[test]
fn minutes_where_months_belong_are_no_months() {
    let text = format!(
        "2025-54-29 11:54:05,123 {H}Started volume 1\n\
         2025-55-29 11:55:05,123 {H}Started volume 2\n"
    );
    let expected = ["1 2025-03-29T11:54:05.123Z main 1", "2 2025-03-29T11:55:05.123Z main 2"];
    check("x-2025-03-29.log", text.as_bytes(), "UTC", &expected, Some("`mm` for `MM`"));
}

#[test]
fn bytes_of_another_encoding_are_read() {
    let text = format!("29-M\u{e4}r-2025 11:54:05.123 {H}Started volume \u{e4}\n");
    let bytes: Vec<u8> = text.chars().map(|c| c as u32 as u8).collect();
    let expected = ["1 2025-03-29T11:54:05.123Z main \u{e4}"];
    check("x.log", &bytes, "UTC", &expected, Some("not UTF-8"));
    check("x.log", text.as_bytes(), "UTC", &expected, None);
}

#[test]
fn names_of_threads_hold_what_ends_them() {
    for name in ["[ACTIVE] Thread: '1' (self-tuning)", "a [b] c", "pool [1]: x", "(x) [y"] {
        let text = format!(
            "2025-03-29 11:54:05,123 INFO  [{name}] org.example.store.Server: Started volume 1\n\
             2025-03-29 11:54:05,124 INFO  [main] org.example.store.Server: Started volume 2\n"
        );
        let expected =
            [format!("1 2025-03-29T11:54:05.123Z {name} 1"), "2 2025-03-29T11:54:05.124Z main 2".to_owned()];
        let expected: Vec<&str> = expected.iter().map(String::as_str).collect();
        check("x.log", text.as_bytes(), "UTC", &expected, None);
    }
}

#[test]
fn lines_of_a_layout_that_is_not_known_are_counted() {
    let ours = |n: u32| format!("2025-03-29 11:54:05,123 {H}Started volume {n}\n");
    let text: String = (0..4000)
        .map(|n| match n {
            2500..2510 => format!("29.03.25-11:54:05 <<main>> #INFO# no statement of ours {n}\n"),
            n => ours(n),
        })
        .collect();
    let read = read("x.log", text.as_bytes(), "UTC");
    let (_, records, damage) = &read[0];
    assert_eq!(records.len(), 3990);
    let told =
        "10 lines are of another layout than the program's records and are in none, the first is line 2501";
    assert!(damage.iter().any(|line| line == told), "{damage:?}");
}

#[test]
fn one_process_in_two_layouts_is_found() {
    let model = model();
    let patterns = PatternSet::new(&model);
    let config = Config::new("n");
    let long: String =
        (0..8).map(|n| format!("2025-03-29 11:54:{n:02},123 {H}Started volume {n}\n")).collect();
    let short: String = (0..8)
        .map(|n| format!("09:54:{n:02}.123 [main] INFO org.example.store.Server: Started volume {n}\n"))
        .collect();
    let other = short.replace("09:54:0", "09:54:1");
    let overlap = |a: &str, b: &str| {
        let sources = vec![Source::bytes("a", a.as_bytes()), Source::bytes("b", b.as_bytes())];
        let sources = look(sources, &patterns, &config).expect("in memory").concat();
        overlaps(&sources).first().map(|overlap| (overlap.inner.clone(), overlap.whole))
    };
    assert_eq!(overlap(&short, &long), Some(("a".to_owned(), true)));
    assert_eq!(overlap(&long, &short), Some(("b".to_owned(), true)), "what has no day is left out");
    assert_eq!(overlap(&long, &other), None, "at another time");
}

#[test]
fn json_without_a_key_says_which() {
    let text =
        "{\"when\":\"2025-03-29T11:54:05Z\",\"lvl\":\"INFO\",\"message\":\"Started volume 1\"}\n".repeat(4);
    let read = read("x.log", text.as_bytes(), "UTC");
    assert!(read[0].2.iter().any(|line| line.contains("the time (`@timestamp`")), "{:?}", read[0].2);
    let empty = self::read("x.log", b"", "UTC");
    assert!(empty[0].2.is_empty(), "{:?}", empty[0].2);
}

#[test]
fn newest_records_first_are_read_from_the_end() {
    let h = |n: u32| format!("2025-03-29 11:54:{n:02},000 {H}");
    let record = |n: u32| match n % 3 {
        0 => format!("{}Started volume {n}\njava.io.IOException: x\n\tat a.B.c(D.java:1)\n", h(n)),
        _ => format!("{}Started volume {n}\n", h(n)),
    };
    let records: Vec<String> = (1..50).rev().map(record).collect();
    let lines: String =
        (1..50).map(record).collect::<String>().lines().rev().map(|line| format!("{line}\n")).collect();
    for text in [records.concat(), lines] {
        for chunk_bytes in [1, 5000, 1 << 20] {
            let config = Config { chunk_bytes, ..Config::new("n") };
            let read = read_with("x.log", text.as_bytes(), &config);
            let (_, records, damage) = &read[0];
            let values: Vec<String> =
                records.iter().map(|r| r.rsplit(' ').next().expect("a value").to_owned()).collect();
            assert_eq!(values, (1..50).map(|n| n.to_string()).collect::<Vec<_>>(), "{damage:?}");
            assert!(damage.iter().any(|line| line.contains("newest first")), "{damage:?}");
            assert!(records[0].starts_with("1 2025-03-29T11:54:01Z"), "{}", records[0]);
        }
    }
}

#[test]
fn each_file_in_one_text_is_read_alone() {
    let line = |n: u32| format!("2025-03-29 11:54:05,{n:03} {H}Started volume {n}\n");
    let sections = format!(
        "==> l/a.log <==\n{}{}\n==> l/b.log <==\n{}\tat x\n\n==> l/a.log <==\n{}",
        line(1),
        line(2),
        line(3),
        line(4)
    );
    let of = |name: &str, n: u32| format!("{name}{}", line(n));
    let of_all = |a: &str, b: &str| [of(a, 1), of(a, 2), of(b, 3), of(a, 4)].concat();
    let pods = |form: fn(&str) -> String| of_all(&form("s-6c0b-a"), &form("s-6c0b-b"));
    for (text, names) in [
        (sections, ["a", "b"]),
        (of_all("l/a.log:", "l/b.log:"), ["a", "b"]),
        (pods(|pod| format!("[{pod}] ")), ["s-6c0b-a", "s-6c0b-b"]),
        (pods(|pod| format!("ns/{pod}[c]: ")), ["ns/s-6c0b-a/c", "ns/s-6c0b-b/c"]),
        (pods(|pod| format!("{pod}: ")), ["s-6c0b-a", "s-6c0b-b"]),
    ] {
        for chunk_bytes in [1, 1 << 20] {
            let config = Config { chunk_bytes, ..Config::new("n") };
            let read = read_with("x.log", text.as_bytes(), &config);
            let found: Vec<_> =
                read.iter().map(|(process, ..)| process.as_deref().unwrap_or("none")).collect();
            assert_eq!(found, names, "{text}");
            let values = |i: usize| -> Vec<&str> {
                read[i].1.iter().map(|r: &String| r.rsplit(' ').next().expect("a value")).collect()
            };
            assert_eq!((values(0), values(1)), (vec!["1", "2", "4"], vec!["3"]), "{text}");
        }
    }
}

#[test]
fn threads_in_brackets_are_no_processes() {
    let line = |thread: &str, n: u32| {
        format!("[{thread}] 2025-03-29 11:54:05,{n:03} INFO  org.example.store.Server - Started volume {n}\n")
    };
    let text = [line("worker-1", 1), line("worker-2", 2), line("worker-1", 3)].concat();
    let expected = [
        "1 2025-03-29T11:54:05.001Z worker-1 1",
        "2 2025-03-29T11:54:05.002Z worker-2 2",
        "3 2025-03-29T11:54:05.003Z worker-1 3",
    ];
    check("x.log", text.as_bytes(), "UTC", &expected, None);
}

#[test]
fn a_date_that_is_not_understood_is_no_time_of_today() {
    let text: String = (1..9)
        .map(|n| format!("29-03 11:54:05.{n:03} [main] INFO org.example.store.Server - Started volume {n}\n"))
        .collect();
    let read = read("x.log", text.as_bytes(), "UTC");
    assert!(read[0].1.is_empty(), "{:?}", read[0].1);
    assert!(read[0].2.iter().any(|line| line.contains("`29-03`")), "{:?}", read[0].2);
}

#[test]
fn zones_of_several_meanings_are_told() {
    let text: String =
        (1..9).map(|n| format!("2025-03-29 11:54:05.{n:03} IST {H}Started volume {n}\n")).collect();
    let told = |config: &Config| read_with("x.log", text.as_bytes(), config)[0].2.join("\n");
    assert!(told(&Config::new("n")).contains("`IST`"), "{}", told(&Config::new("n")));
    assert_eq!(told(&Config { zone_is_given: true, ..Config::new("n") }), "");
}

#[test]
fn what_json_prints_apart_is_put_together() {
    let object = |rest: &str| {
        let at = "\"level\":\"INFO\",\"loggerName\":\"org.example.store.Server\",\"threadName\":\"main\"";
        format!("{{{at},{rest}}}")
    };
    let pattern = |n: u32| {
        object(&format!(
            "\"timestamp\":174324924512{n},\"message\":\"Started volume {{}}\",\"arguments\":[\"{n}\"]"
        ))
    };
    let exponent =
        |n: u32| object(&format!("\"timestamp\":1.74324924512{n}E9,\"message\":\"Started volume {n}\""));
    let expected = |line: fn(u32) -> u32| -> Vec<String> {
        (1..4).map(|n| format!("{} 2025-03-29T11:54:05.12{n}Z main {n}", line(n))).collect()
    };
    let join = |of: &dyn Fn(u32) -> String, between: &str| (1..4).map(of).collect::<Vec<_>>().join(between);
    for text in [
        join(&pattern, "\n"),
        join(&exponent, "\n"),
        join(&pattern, ""),
        format!("[{}]", join(&exponent, ",")),
    ] {
        let read = read("x.json", text.as_bytes(), "UTC");
        assert_eq!(read[0].1, expected(|n| n), "{text} {:?}", read[0].2);
    }
    let lacking = join(&pattern, "\n").replace("arguments", "others");
    let read = read("x.json", lacking.as_bytes(), "UTC");
    assert!(read[0].2.iter().any(|line| line.contains("arguments")), "{:?}", read[0].2);
}

#[test]
fn milliseconds_since_the_start_are_a_time() {
    // Where a file is not known to have been written at a time, from 1970 on; padded as `%-4r`.
    let text = "312  [main] INFO  org.example.store.Server - Started volume 1\n\
                1313 [w-2] WARN  org.example.store.Server - Volume 1 is full\n\
                20001 [main] INFO  org.example.store.Server - Started volume 2\n";
    let expected = [
        "1 1970-01-01T00:00:00.312Z main 1",
        "2 1970-01-01T00:00:01.313Z w-2 1",
        "3 1970-01-01T00:00:20.001Z main 2",
    ];
    check("x.log", text.as_bytes(), "UTC", &expected, Some("milliseconds since the program began"));
    // On a day that is given.
    let config = Config { date: Some((2025, 3, 29)), ..Config::new("n") };
    let read = read_with("x.log", text.as_bytes(), &config);
    assert_eq!(read[0].1[1], "2 2025-03-29T00:00:01.313Z w-2 1");
    // The time of what has got the line is better.
    let wrapped: String =
        text.lines().map(|line| format!("2025-03-29T11:54:05.123456789Z stdout F {line}\n")).collect();
    let expected = ["1 2025-03-29T11:54:05.123456Z main 1", "2 2025-03-29T11:54:05.123456Z w-2 1"];
    assert_eq!(self::read("0.log", wrapped.as_bytes(), "UTC")[0].1[..2], expected);
}

#[test]
fn lines_of_libraries_do_not_say_whose_log_it_is() {
    let line =
        |logger: &str, i: usize| format!("2025-03-29 11:54:05,{i:03} INFO  [main] {logger} - Text {i}\n");
    let told = |loggers: &[&str]| {
        let text: String = loggers.iter().enumerate().map(|(i, logger)| line(logger, i)).collect();
        let config = Config { libraries: &["org/frame/"], ..Config::new("n") };
        let read = read_with("x.log", text.as_bytes(), &config);
        assert_eq!(read[0].1.len(), loggers.len());
        read[0].2.iter().any(|line| line.contains("another program"))
    };
    assert!(!told(&["org.frame.boot.Server", "o.f.boot.Server", "org.frame.Main", "w.s.Cut"]));
    assert!(told(&["com.other.Server", "com.other.Main", "com.other.Main", "org.frame.Main"]));
}

#[test]
fn objects_without_a_time_are_of_when_the_platform_got_them() {
    let object = r#"{"level":"INFO","thread":"main","logger":"org.example.store.Server","message":"Started volume 7"}"#;
    let cri = format!("2025-03-29T11:54:05.123456789Z stdout F {object}\n").repeat(3);
    let expected = (1..4).map(|n| format!("{n} 2025-03-29T11:54:05.123456Z main 7")).collect::<Vec<_>>();
    assert_eq!(read("0.log", cri.as_bytes(), "UTC")[0].1, expected);
    let bare = format!("{object}\n").repeat(3);
    check("x.log", bare.as_bytes(), "UTC", &[], Some("key that is known for the time"));
}

#[test]
fn records_within_records_are_read() {
    let inner = r#"{"@timestamp":"2025-03-29T11:54:05.123Z","level":"INFO","thread_name":"main","logger_name":"org.example.store.Server","message":"Started volume 7"}"#;
    let quoted = inner.replace('"', "\\\"");
    let fluentd = format!(
        "2025-03-29 13:54:05.200000000 +0200 docker.ab: {{\"source\":\"stdout\",\"log\":\"{quoted}\"}}\n"
    );
    let syslog =
        format!("Mar 29 11:54:05 box fwd[12]: 2025-03-29 11:54:05,130 INFO  [out-1] fwd.Out: {inner}\n");
    for text in [fluentd, syslog] {
        let read = read("x.log", text.repeat(4).as_bytes(), "UTC");
        let expected = (1..5).map(|n| format!("{n} 2025-03-29T11:54:05.123Z main 7")).collect::<Vec<_>>();
        assert_eq!(read.last().expect("a process").1, expected, "{text}");
    }
}

#[test]
fn copies_with_masked_threads_are_told() {
    let line = |i: usize, thread: &str| {
        format!("2025-03-29 11:54:05,{i:03} INFO  [{thread}] org.example.store.Server - Started volume {i}\n")
    };
    let text = |thread: &str| (0..40).map(|i| line(i * 7, thread)).collect::<String>();
    let model = model();
    let patterns = PatternSet::new(&model);
    let sources =
        vec![Source::bytes("a", text("pool-1").as_bytes()), Source::bytes("b", text("xxxx-1").as_bytes())];
    let sources = look(sources, &patterns, &Config::new("n")).expect("in memory").concat();
    let found = overlaps(&sources);
    assert_eq!(found.iter().map(|o| o.whole).collect::<Vec<_>>(), [false]);
}

#[test]
fn traces_with_an_empty_line_before_and_after_are_of_their_record() {
    // `%wEx` of Spring Boot; the lines of it that Docker's runtime stamps are lines of their own.
    let record = |n: usize| {
        format!(
            "2025-03-29T11:54:05.12{n}Z  WARN 1 --- [shop] [           main] org.example.store.Server : Volume {n} is full\n\n\
             java.io.IOException: x\n\tat org.example.Wire.send(Wire.java:42) ~[app.jar!/:na]\n\n"
        )
    };
    let text: String = (1..4).map(record).collect();
    let expected =
        (1..4).map(|n| format!("{} 2025-03-29T11:54:05.12{n}Z main {n}", 5 * n - 4)).collect::<Vec<_>>();
    let cri: String =
        text.lines().map(|line| format!("2025-03-29T11:54:06.000000000Z stdout F {line}\n")).collect();
    for text in [text, cri] {
        let read = read("x.log", text.as_bytes(), "UTC");
        assert_eq!((&read[0].1, read[0].2.len()), (&expected, 0), "{:?}", read[0].2);
    }
}

#[test]
fn years_that_syslog_does_not_print_go_on_over_the_new_year() {
    let line = |stamp: &str, n: usize| {
        format!("{stamp} box store[41]: INFO  [main] org.example.store.Server - Started volume {n}\n")
    };
    let text =
        [("Dec 31 23:59:58", 1), ("Dec 31 23:59:59", 2), ("Jan  1 00:00:00", 3), ("Jan  1 00:00:01", 4)];
    let text: String = text.iter().map(|(stamp, n)| line(stamp, *n)).collect();
    let config = Config { date: Some((2025, 12, 31)), ..Config::new("n") };
    let read = read_with("x.log", text.as_bytes(), &config);
    let expected = [
        "1 2025-12-31T23:59:58Z main 1",
        "2 2025-12-31T23:59:59Z main 2",
        "3 2026-01-01T00:00:00Z main 3",
        "4 2026-01-01T00:00:01Z main 4",
    ];
    assert_eq!(read.last().expect("a process").1, expected);
}

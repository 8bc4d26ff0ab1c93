//! Whole runs of the mapper on small logs: the accounting, damage, and that the
//! result does not depend on chunks, threads, or the order of files.

use std::io::Write as _;
use std::sync::Arc;

use log_mapper::{Config, Layout, PatternSet, Source, map, map_parts};
use schema::{InputAccount, LogPoint, Model, NodeOutput, Template};

const LOG: &str = "\
2026-11-21 01:28:30,199 INFO a.B: started 1
2026-11-21 01:28:30,200 INFO a.B: started 2\r
2026-11-21 01:28:30,201 WARN a.B: failed 3
java.io.IOException: x
\tat a.B.c(B.java:1)
2026-13-21 01:28:30,202 INFO a.B: started 4
2026-11-21 01:28:30,203 INFO a.B: no such text
2026-11-21 01:28:30,204 INFO a.B: started \u{fffd}
";

fn model() -> Model {
    let point = |regex: &str, line: u32, has_throwable: bool| LogPoint {
        class: "a.B".into(),
        method: "c".into(),
        source_line: line,
        source_file: None,
        call_site: None,
        n_sites: 1,
        levels: Vec::new(),
        loggers: vec!["a.B".into()],
        in_handler: false,
        has_throwable,
        variables: Vec::new(),
        templates: vec![Template { regex: regex.into(), captures: vec![0] }],
    };
    Model {
        log_points: vec![
            point(r"started (\S+)", 1, false),
            point(r"failed (\d+)", 2, true),
            point(r"sizes:\n  first = (\d+)\n  second = 2", 3, false),
            point(r"size is (\d+)\n", 4, false),
        ],
        ..Model::default()
    }
}

fn run(sources: &[Source], change: impl FnOnce(&mut Config)) -> NodeOutput {
    let model = model();
    let mut config = Config::new("n");
    change(&mut config);
    map(&model, &PatternSet::new(&model), sources, &config, &|_| {}).expect("readable")
}

fn counts(account: &InputAccount) -> [u64; 6] {
    let sum = account.n_attributed + account.n_unattributed + account.n_headerless + account.n_rejected;
    assert_eq!(account.n_records, sum);
    let a = account;
    [a.n_lines, a.n_records, a.n_attributed, a.n_unattributed, a.n_headerless, a.n_rejected]
}

#[test]
fn every_record_is_accounted_for() {
    let out = run(&[Source::bytes("x.log", LOG.as_bytes())], |_| {});
    assert_eq!(counts(&out.inputs[0]), [8, 6, 4, 1, 0, 1]);
    assert_eq!(out.inputs[0].layout, "%d{ISO8601} %p %c: %m%n");
    let mut events: Vec<_> = out.accumulators.iter().flat_map(|a| &a.spans).flat_map(|s| &s.events).collect();
    events.sort_by_key(|e| e.line);
    let got: Vec<_> =
        events.iter().map(|e| (e.line, e.n_lines, e.values.iter().next().expect("a value").1)).collect();
    assert_eq!(got, [(1, 1, "1"), (2, 1, "2"), (3, 3, "3"), (8, 1, "\u{fffd}")]);
    assert_eq!(events[2].byte_offset, LOG.find("2026-11-21 01:28:30,201").expect("there") as u64);
}

#[test]
fn broken_bytes_lose_no_record() {
    let mut bytes = b"\xef\xbb\xbfjunk\n\n".to_vec();
    bytes.extend_from_slice(&LOG.replace('\u{fffd}', "@").into_bytes());
    for b in &mut bytes {
        if *b == b'@' {
            *b = 0xff;
        }
    }
    bytes.pop();
    let out = run(&[Source::bytes("x.log", &bytes)], |_| {});
    assert_eq!(counts(&out.inputs[0]), [10, 7, 4, 1, 1, 1]);
    assert_eq!(out.inputs[0].n_bytes, bytes.len() as u64);
    assert_eq!(counts(&run(&[Source::bytes("empty", b"")], |_| {}).inputs[0]), [0; 6]);
    let none = run(&[Source::bytes("none", b"a\nb")], |_| {});
    assert_eq!(counts(&none.inputs[0]), [2, 1, 0, 0, 1, 0]);
    assert_eq!(none.inputs[0].damage.len(), 1);
}

#[test]
fn same_result_for_any_chunk_size_and_thread_count() {
    let text = format!("head\n{}", LOG.repeat(3000));
    let sources = [Source::bytes("x.log", text.as_bytes())];
    let expected = run(&sources, |_| {});
    assert_eq!(counts(&expected.inputs[0]), [24001, 18001, 12000, 3000, 1, 3000]);
    for (chunk_bytes, threads) in [(1, 1), (7, 2), (4096, 8), (64 << 20, 3)] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("pool");
        let got = pool.install(|| run(&sources, |c| c.chunk_bytes = chunk_bytes));
        assert!(got == expected, "{chunk_bytes} bytes, {threads} threads");
    }
}

/// A part that ends says nothing else of what it holds: nothing of this log goes on.
#[test]
fn same_result_for_any_parts() {
    let text = format!("head\n{}", LOG.repeat(300));
    let sources = [Source::bytes("x.log", text.as_bytes())];
    let expected = run(&sources, |_| {});
    for part_records in [1, 7, 64, 1000] {
        let got = run(&sources, |c| c.accumulate.part_records = part_records);
        assert!(got == expected, "{part_records} records");
    }
    let model = model();
    let mut config = Config::new("n");
    config.accumulate.part_records = 100;
    let mut n_events = Vec::new();
    let inputs = map_parts(&model, &PatternSet::new(&model), &sources, &config, &|_| {}, |part| {
        let spans = part.accumulators.iter().flat_map(|a| &a.spans);
        n_events.push(spans.map(|span| span.events.len()).sum::<usize>() + part.unattributed.len());
        Ok(())
    });
    assert_eq!(counts(&inputs.expect("readable")[0]), [2401, 1801, 1200, 300, 1, 300]);
    // All are printed at the same few times, so that no silence is longer than those before.
    assert_eq!(n_events, [vec![136; 11], vec![4]].concat());
}

#[test]
fn who_takes_no_part_ends_the_map() {
    let text = LOG.repeat(100);
    let (model, sources) = (model(), [Source::bytes("x.log", text.as_bytes())]);
    let mut config = Config::new("n");
    config.accumulate.part_records = 10;
    let mut n_taken = 0;
    let full = || schema::Error::io("out".as_ref())(std::io::Error::other("full"));
    let mapped = map_parts(&model, &PatternSet::new(&model), &sources, &config, &|_| {}, |_| {
        n_taken += 1;
        if n_taken == 2 { Err(full()) } else { Ok(()) }
    });
    assert_eq!(mapped.expect_err("it failed").to_string(), full().to_string());
    assert_eq!(n_taken, 2);
}

/// Where the clock is set back, the time goes on; what was printed is still known. The
/// next file goes on with the same clock.
#[test]
fn a_clock_that_is_set_back_is_made_up_for() {
    let lines = |ms: std::ops::Range<u32>| -> String {
        let line =
            |ms: u32| format!("2026-11-21 01:28:{:02},{:03} INFO a.B: started 1\n", ms / 1000, ms % 1000);
        ms.step_by(10).map(line).collect()
    };
    let text = lines(10_000..10_200) + &lines(9_200..12_000);
    let later = lines(12_000..12_100);
    let sources = [Source::bytes("x.log", later.as_bytes()), Source::bytes("x.log.1", text.as_bytes())];
    let expected = run(&sources, |_| {});
    let warning = "line 21: the clock was set back by about 0.990 s, which is made up for from there on";
    assert_eq!(expected.inputs[0].damage, [warning]);
    assert_eq!(expected.inputs[1].damage, [""; 0]);
    let mut events: Vec<_> =
        expected.accumulators.iter().flat_map(|a| &a.spans).flat_map(|s| &s.events).collect();
    events.sort_by_key(|event| event.place());
    assert!(events.is_sorted_by_key(|event| event.ts_us));
    let last = events.last().expect("an event");
    assert_eq!((last.late_us, last.ts_us - last.printed_us()), (990_000, 990_000));
    assert_eq!(Some(last.printed_us()), expected.inputs[1].last_us);
    for chunk_bytes in [1, 7, 100] {
        assert!(run(&sources, |c| c.chunk_bytes = chunk_bytes) == expected, "{chunk_bytes} bytes");
    }
}

#[test]
fn packed_and_rotated_files() {
    let later = LOG.replace("01:28:30", "02:28:30");
    let gz = |text: &str| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(text.as_bytes()).expect("in memory");
        encoder.finish().expect("in memory")
    };
    let members = [gz(&later[..100]), gz(&later[100..])].concat();
    let sources = [Source::bytes("x.log", &members), Source::bytes("x.log.1", LOG.as_bytes())];
    let out = run(&sources, |_| {});
    let names: Vec<_> = out.inputs.iter().map(|i| i.file.as_str()).collect();
    assert_eq!(names, ["x.log.1", "x.log"]);
    assert_eq!(counts(&out.inputs[1]), [8, 6, 4, 1, 0, 1]);

    let zst = zstd::encode_all(LOG.as_bytes(), 3).expect("in memory");
    let mut bz = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    bz.write_all(LOG.as_bytes()).expect("in memory");
    let bz = bz.finish().expect("in memory");
    for packed in [zst, bz] {
        let out = run(&[Source::bytes("x", &packed)], |_| {});
        assert_eq!(counts(&out.inputs[0]), [8, 6, 4, 1, 0, 1]);
        // Of the record that was rejected.
        let damage = &out.inputs[0].damage;
        assert!(damage.len() == 1 && damage[0].contains("a date or time that there is not"), "{damage:?}");
    }

    // Random digits do not pack, so that the cut is in the middle.
    let noise: String =
        (0..20_000_u64).map(|i| format!("{LOG}{:x}\n", i.wrapping_mul(0x9e37_79b9_7f4a_7c15))).collect();
    let whole = gz(&noise);
    let out = run(&[Source::bytes("cut.gz", &whole[..whole.len() / 2])], |_| {});
    let account = &out.inputs[0];
    assert!(counts(account)[2] > 10_000, "{account:?}");
    assert!(account.damage[0].contains(&format!("byte {}", account.n_bytes)), "{account:?}");
}

#[test]
fn bomb_is_read_to_the_bound() {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    let block = vec![b'x'; 1 << 20];
    for _ in 0..200 {
        encoder.write_all(&block).expect("in memory");
    }
    let out = run(&[Source::bytes("bomb.gz", &encoder.finish().expect("in memory"))], |_| {});
    assert!(out.inputs[0].n_bytes < 70 << 20, "{:?}", out.inputs[0]);
    assert!(out.inputs[0].damage.iter().any(|d| d.contains("200 times")), "{:?}", out.inputs[0]);
}

#[test]
fn given_layout() {
    let layout = Layout::compile("%p|%d{HH:mm:ss}|%c|%m%n").expect("pattern");
    let text = "INFO|01:02:03|a.B|started 1\nINFO|01:02:04|a.B|started 2\n";
    let out = run(&[Source::bytes("x", text.as_bytes())], |c| {
        c.layouts = vec![Arc::new(layout)];
        c.date = Some((2026, 11, 21));
    });
    assert_eq!(counts(&out.inputs[0]), [2, 2, 2, 0, 0, 0]);
    assert_eq!(out.inputs[0].first_us, Some(1_795_222_923_000_000));
}

/// A blank behind each line, as of `%m %n`, and lines of Windows are no part of a message that
/// has several lines; where it stands in the file is told all the same.
#[test]
fn ends_of_lines_are_no_part_of_a_message() {
    let line = |n: u32| format!("2026-11-21 01:28:3{n},199 INFO a.B: started {n}\n");
    let sizes = "2026-11-21 01:28:37,199 INFO a.B: sizes:\n  first = 1\n  second = 2\n";
    let plain = format!("{}{sizes}{}", line(1), line(2));
    for end in ["\n", " \n", "\r\n", " \r\n"] {
        let text = plain.replace('\n', end);
        let out = run(&[Source::bytes("x.log", text.as_bytes())], |_| {});
        assert_eq!(counts(&out.inputs[0]), [5, 3, 3, 0, 0, 0], "{end:?}");
        let events = || out.accumulators.iter().flat_map(|a| &a.spans).flat_map(|span| &span.events);
        let event = events().find(|event| event.line == 2).expect("the record over several lines");
        assert_eq!(event.log_point.map(|point| point.index()), Some(2), "{end:?}");
        assert_eq!(event.n_lines, 3);
        assert_eq!(event.byte_offset as usize, text.find("2026-11-21 01:28:37").expect("there"));
    }
}

/// Where a message itself ends with a line end, a line follows that is empty; in JSON it is told.
#[test]
fn line_ends_at_the_end_of_a_message_are_its_own() {
    let line = |text: &str| format!("2026-11-21 01:28:31,199 INFO a.B: {text}\n");
    let plain = format!("{}{}{}", line("started 1"), line("size is 2\n"), line("started 3"));
    let json = |text: &str| {
        let fields = r#""@timestamp":"2026-11-21T01:28:31.199Z","level":"INFO","logger_name":"a.B""#;
        format!("{{{fields},\"message\":\"{text}\"}}\n")
    };
    let objects = format!("{}{}{}", json("started 1"), json("size is 2\\n"), json("started 3"));
    for (text, n_lines) in [(plain, 4), (objects, 3)] {
        let out = run(&[Source::bytes("x.log", text.as_bytes())], |_| {});
        assert_eq!(counts(&out.inputs[0]), [n_lines, 3, 3, 0, 0, 0], "{text}");
    }
}

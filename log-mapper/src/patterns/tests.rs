//! Tests of the pattern set: which log point, which values; against the oracle.

use schema::{CallSite, Level, LogPoint, LogPointId, Model, Template};

use super::{Cut, PatternSet, Query, find_naively};
use crate::stack_trace;

/// `class:line level loggers regex`, one log point a line; `*` for any level or
/// unknown logger, `!` after the level for a throwable; several templates are
/// split by ` OR `.
fn model(text: &str) -> Model {
    let mut model = Model::default();
    for line in text.lines().map(str::trim).filter(|l| !l.is_empty()) {
        let mut words = line.splitn(4, ' ');
        let mut word = || words.next().expect("four words");
        let (place, level, loggers, regexes) = (word(), word(), word(), word());
        let (class, source_line) = place.split_once(':').expect("class:line");
        let templates: Vec<Template> = regexes
            .split(" OR ")
            .map(|regex| {
                let n = regex::bytes::Regex::new(regex).expect("regex").captures_len() as u32 - 1;
                Template { regex: regex.to_owned(), captures: (0..n).collect() }
            })
            .collect();
        model.log_points.push(LogPoint {
            class: class.to_owned(),
            method: "run".to_owned(),
            source_line: source_line.parse().expect("line"),
            source_file: None,
            call_site: None,
            n_sites: 1,
            levels: Level::parse(level.trim_end_matches('!')).into_iter().collect(),
            loggers: if loggers == "*" {
                Vec::new()
            } else {
                loggers.split(',').map(str::to_owned).collect()
            },
            in_handler: false,
            has_throwable: level.ends_with('!'),
            variables: Vec::new(),
            templates,
        });
    }
    model
}

const MODEL: &str = r"
    a.b.C:1 INFO a.b.C Receiving (.*?) src: (\d+)
    a.b.C:2 INFO a.b.C Receiving (.*)
    a.b.C:3 WARN! a.b.C (.*?): closed
    a.b.C:4 INFO * (true|false) and (\d+) OR (.*?) and more
    a.b.D:5 INFO a.b.D,a.b.E Started
    a.b.D:6 INFO a.b.D Started
    x.y.Z:7 DEBUG x.y.Z (.*?) is (.*)
    a.b.C:8 WARN a.b.C (.*?): closed
    a.b.F:9 INFO a.b.F (.*)
    a.b.G:10 ERROR * (.*)
";

/// Ids of the matches with their values, and equality with the oracle where
/// the tier is one that the oracle can be told.
#[track_caller]
fn check(logger: &str, level: &str, text: &str, expected: &str) {
    let model = model(MODEL);
    let set = PatternSet::new(&model);
    assert_eq!(set.diagnostics(), [""; 0]);
    let query = Query {
        text: text.as_bytes(),
        before_trace: stack_trace::message_before(text.as_bytes()),
        first_line: memchr::memchr(b'\n', text.as_bytes()),
        level: Level::parse(level),
        logger: (!logger.is_empty()).then_some(logger.as_bytes()),
        ..Query::default()
    };
    assert_eq!(found(&set, &query), expected, "{logger} {level} {text}");
}

fn found(set: &PatternSet, query: &Query<'_>) -> String {
    let mut scratch = set.scratch();
    set.find(&mut scratch, query);
    let mut out = Vec::new();
    for m in scratch.matches() {
        let values =
            set.captures(&scratch, m).map(|(_, r)| String::from_utf8_lossy(&query.text[r]).into_owned());
        out.push(format!("{}({})", m.log_point.index() + 1, values.collect::<Vec<_>>().join("|")));
    }
    out.join(" ")
}

#[test]
fn most_precise_template_wins() {
    check("a.b.C", "INFO", "Receiving b1 src: 12", "1(b1|12)");
    check("a.b.C", "INFO", "Receiving b1 src: 12 ", "1(b1|12)");
    check("a.b.C", "INFO", "Receiving b1 src: 12 \n", "1(b1|12)");
    check("a.b.C", "INFO", "Receiving b1 src: 12x", "2(b1 src: 12x)");
    check("b.C", "INFO", "Receiving b1", "2(b1)");
    check("C", "INFO", "true and 12", "4(true|12)");
    check("a.b.C", "INFO", "x and more", "4(x)");
}

#[test]
fn wrong_logger_costs_rank_not_the_match() {
    check("q.q.Q", "INFO", "Receiving b1 src: 12", "1(b1|12)");
    check("a.b.E", "INFO", "Started", "5()");
    check("a.b.D", "INFO", "Started", "5() 6()");
    check("a.b.C", "ERROR", "Receiving b1 src: 12", "1(b1|12)");
    check("", "INFO", "Started", "5() 6()");
    check("", "", "Started", "5() 6()");
    check("q.q.Q", "INFO", "nothing like it", "");
    check("a.b.F", "INFO", "anything", "9(anything)");
    // A point that prints anything under any logger is no sign of a logger that
    // the model does not have.
    check("a.b.C", "ERROR", "nothing like it", "10(nothing like it)");
    check("q.q.Q", "ERROR", "nothing like it", "");
    check("a.b.F", "INFO", "Receiving b1 src: 12", "1(b1|12)");
    // A first word in common with another logger is chance where its own prints anything.
    check("a.b.F", "INFO", "Receiving what was sent", "9(Receiving what was sent)");
    check("q.q.Q", "INFO", "Receiving what was sent", "2(what was sent)");
}

#[test]
fn stack_traces() {
    let trace = "x: closed\njava.io.IOException: y\n\tat a.b.C.d(C.java:1)";
    check("a.b.C", "WARN", trace, "3(x)");
    check("a.b.C", "WARN", "x: closed", "8(x)");
    check("a.b.D", "INFO", "Started\nnoise of another writer", "5() 6()");
    check("a.b.C", "INFO", "Receiving a\nb", "2(a\nb)");
}

/// A value that can hold what stands behind it is not empty where the text can be
/// divided so that all values say something; what stands side by side is left alone.
#[test]
fn values_say_something() {
    let model = model(
        "A:1 INFO a.A no node: (.*?)/(?:null|(.*?):(-?[0-9]+)|(.*?))
         A:2 INFO a.A key=(.*?), value=(.*?);
         A:3 INFO a.A all: (.*?)(.*)",
    );
    let set = PatternSet::new(&model);
    let check = |text: &str, expected: &str| {
        let query = Query {
            text: text.as_bytes(),
            level: Some(Level::Info),
            logger: Some(b"a.A"),
            ..Query::default()
        };
        assert_eq!(found(&set, &query), expected, "{text}");
        let (_, naive) = find_naively(&model, &query, &|_| true);
        let values = naive.iter().flat_map(|m| &m.1).map(|(_, v)| String::from_utf8_lossy(v));
        let expected_values = expected.split_once('(').expect("values").1.trim_end_matches(')');
        assert_eq!(values.collect::<Vec<_>>().join("|"), expected_values, "{text}");
    };
    check("no node: /rack/host:80", "1(/rack|host|80)");
    check("no node: /host:80", "1(|host|80)");
    check("no node: rack/a/b:80", "1(rack|a/b|80)");
    check("key=, value=;", "2(|)");
    check("key=, value=x;", "2(|x)");
    check("all: x", "3(|x)");
}

#[test]
fn call_sites() {
    let mut model = model(MODEL);
    model.log_points[5].call_site =
        Some(CallSite { class: "w.W$1".into(), method: "call".into(), source_line: 77 });
    let set = PatternSet::new(&model);
    let at = |file: Option<&'static str>, class: Option<&'static str>, line: u32, text: &'static str| {
        let query = Query {
            text: text.as_bytes(),
            level: Some(Level::Info),
            file: file.map(str::as_bytes),
            class: class.map(str::as_bytes),
            line: Some(line),
            ..Query::default()
        };
        found(&set, &query)
    };
    assert_eq!(at(Some("D.java"), None, 5, "Started"), "5()");
    assert_eq!(at(None, Some("D"), 6, "Started"), "6()");
    assert_eq!(at(Some("W.java"), None, 77, "Started"), "6()");
    // A line of another build: the text decides; without a text, the site.
    assert_eq!(at(Some("D.java"), None, 60, "Started"), "5() 6()");
    assert_eq!(at(Some("C.java"), None, 1, "Receiving b1"), "2(b1)");
}

#[test]
fn equal_to_the_oracle() {
    let model = model(MODEL);
    let set = PatternSet::new(&model);
    let words = [
        "Receiving ",
        "b1",
        " src: ",
        "12",
        "true",
        " and ",
        "more",
        ": closed",
        "Started",
        " is ",
        "",
        "\n",
    ];
    let mut state = 7_u64;
    let mut n_found = 0;
    for _ in 0..3000 {
        let mut text = String::new();
        for _ in 0..4 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            text.push_str(words[(state >> 33) as usize % words.len()]);
        }
        // Without logger and level the oracle's rule is the plain one.
        let query = Query { text: text.as_bytes(), ..Query::default() };
        let (_, naive) = find_naively(&model, &query, &|_| true);
        let naive: Vec<LogPointId> = naive.into_iter().map(|(id, _)| id).collect();
        let mut scratch = set.scratch();
        set.find(&mut scratch, &query);
        let got: Vec<LogPointId> = scratch.matches().iter().map(|m| m.log_point).collect();
        // Of equals the set prefers those without a throwable.
        assert!(
            got.iter().all(|id| naive.contains(id)) && got.is_empty() == naive.is_empty(),
            "{text:?}: {got:?}, {naive:?}"
        );
        n_found += got.len();
    }
    assert!(n_found > 1000);
}

/// The end of a message, and its start: the log point is found, whole values are
/// kept, what is left of a cut one is not.
#[test]
fn cut_messages_are_found() {
    let model = model(
        "A:1 INFO a.A Got (.*?) from (.*?) after ([0-9]+) tries
         A:2 INFO a.A Sent (.*?) to (.*?) after ([0-9]+) tries
         A:3 INFO a.A All rows:((?: [a-z]+,)*?) end of list
         A:4 INFO a.A (.*?)",
    );
    let set = PatternSet::new(&model);
    let mut scratch = set.scratch();
    let mut found = |text: &str, side: Cut| {
        let query = Query {
            text: text.as_bytes(),
            level: Some(Level::Info),
            logger: Some(b"a.A"),
            cut: Cut::of(text.as_bytes(), text.len(), side),
            ..Query::default()
        };
        set.find(&mut scratch, &query);
        let matches = scratch.matches().to_vec();
        let first = matches.first().map(|m| {
            let values = set.captures(&scratch, m).map(|(_, range)| text[range].to_owned());
            (model.log_points[m.log_point.index()].source_line, values.collect::<Vec<_>>())
        });
        (matches.len(), first)
    };
    let one = |line: u32, values: &[&str]| {
        (1, Some((line, values.iter().map(|v| (*v).to_owned()).collect::<Vec<_>>())))
    };
    assert_eq!(found("ng value from host1 after 12 tries", Cut::Start), one(1, &["host1", "12"]));
    assert_eq!(found("nt x to host2 after 3 tries", Cut::Start), one(2, &["x", "host2", "3"]));
    assert_eq!(found("ab, cd, end of list", Cut::Start), one(3, &[]));
    assert_eq!(found("Sent a long value to a lon", Cut::End), one(2, &["a long value"]));
    assert_eq!(found("All rows: ab, c", Cut::End), one(3, &[]));
    assert_eq!(found("Got x from h", Cut::End), one(1, &["x"]));
    // Nothing of a template in it: the one that prints anything.
    assert_eq!(found("quite another text", Cut::Start).1.map(|f| f.0), Some(4));
}

#[test]
fn only_texts_of_full_length_are_cut() {
    assert_eq!(Cut::of(b"abc", 3, Cut::Start), Some(Cut::Start));
    assert_eq!(Cut::of(b"abc", 4, Cut::Start), None);
    assert_eq!(Cut::of("\u{e4}bc".as_bytes(), 3, Cut::End), Some(Cut::End));
}

//! Releases in a few lines each: what a statement keeps tells that it is the same one.

use schema::tables::{LogPointRow, TemplateRow, Text, TopLevelMethodRow};

use super::{How, Release, Translation, unnumbered};

/// A release of lines `Class.method:line words of the message`; `method NAME: numbers` are top-level methods.
/// Log points are numbered from 1 in the order of their lines.
fn release(text: &str) -> Release {
    let mut found = Release::default();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        if let Some((name, points)) = line.strip_prefix("method ").and_then(|rest| rest.split_once(':')) {
            let (class, method) = name.rsplit_once('.').expect("Class.method");
            found.methods.push(TopLevelMethodRow {
                top_level_method: Text::from(name),
                class: Text::from(class),
                method: Text::from(method),
                descriptor: Text::from("()V"),
                kind: Text::from("task"),
                serves: Vec::new(),
                reason: Text::from(""),
                identifiers: Vec::new(),
                log_points: points.split_whitespace().map(|n| n.parse().expect("a number")).collect(),
            });
            continue;
        }
        let (place, message) = line.split_once(' ').expect("a place and a message");
        let (method, source_line) = place.split_once(':').expect("a line");
        let (class, method) = method.rsplit_once('.').expect("Class.method");
        found.points.push(LogPointRow {
            log_point_id: found.points.len() as i64 + 1,
            class: Text::from(class),
            method: Text::from(method),
            source_line: source_line.parse().expect("a number"),
            n_sites: 1,
            level: None,
            logger: None,
            in_handler: false,
            call_site: None,
            templates: vec![TemplateRow { regex: Text::from(message), variables: Vec::new() }],
        });
    }
    found
}

/// The numbers of the log points of `first` in `second`; 0 for one that it does not have.
#[track_caller]
fn check(first: &str, second: &str, expected: &[i64]) -> Translation {
    let (first, second) = (release(first), release(second));
    let found = Translation::new(&first, &second);
    let n = second.points.len() as i64;
    let known = |number: i64| if number > n { 0 } else { number };
    let numbers: Vec<i64> = first.points.iter().map(|row| known(found.point(row.log_point_id))).collect();
    assert_eq!(numbers, expected);
    found
}

#[test]
fn numbers_of_the_compiler_are_left_out() {
    for (name, expected) in [
        ("run", "run"),
        ("lambda$run$3", "lambda$run$#"),
        ("a.B$12", "a.B$#"),
        ("a.B$1Local", "a.B$#Local"),
        ("a.B$C$2", "a.B$C$#"),
        ("v2", "v2"),
    ] {
        assert_eq!(unnumbered(name), expected);
    }
}

#[test]
fn lines_move_and_statements_come_between() {
    let found = check(
        "A.m:10 got (.*)
         A.m:12 done (.*)
         A.m:20 got (.*)",
        "A.m:14 got (.*)
         A.m:15 checked (.*)
         A.m:16 done (.*)
         A.m:40 got (.*)",
        &[1, 3, 4],
    );
    assert_eq!((found.n(How::Same), found.n_alone()), (3, (0, 1)));
}

#[test]
fn lambdas_and_nested_classes_are_numbered_anew() {
    let found = check(
        "A.lambda$run$0:10 stored block (.*)
         A$1.call:20 failed with (.*)
         method A.lambda$run$0: 1
         method A$1.call: 2",
        "A.lambda$run$0:9 checked lease (.*)
         A.lambda$run$1:11 stored block (.*)
         A$2.call:22 failed with (.*)
         method A.lambda$run$0: 1
         method A.lambda$run$1: 2
         method A$2.call: 3",
        &[2, 3],
    );
    let renamed: Vec<(&str, &str)> = found.renamed().collect();
    assert_eq!(renamed, [("A$1.call", "A$2.call"), ("A.lambda$run$0", "A.lambda$run$1")]);
}

#[test]
fn a_number_that_another_method_has_now_is_not_taken_for_it() {
    let found = check(
        "A.lambda$run$0:10 gone (.*)
         A.lambda$run$1:12 kept (.*)
         method A.lambda$run$0: 1
         method A.lambda$run$1: 2",
        "A.lambda$run$0:12 kept (.*)
         method A.lambda$run$0: 1",
        &[0, 1],
    );
    assert_eq!(found.name("A.lambda$run$1"), "A.lambda$run$0");
    assert_eq!(found.name("A.lambda$run$0"), "A.lambda$run$0 (first)");
}

#[test]
fn a_method_is_renamed_with_all_that_it_prints() {
    let found = check(
        "A.handle:10 asked for (.*)
         A.handle:12 answered (.*)
         B.run:5 (.*)
         method A.handle: 1 2
         method B.run: 3",
        "A.process:10 asked for (.*)
         A.process:12 answered (.*)
         C.run:5 (.*)
         method A.process: 1 2
         method C.run: 3",
        // What has no words could be anything's.
        &[1, 2, 0],
    );
    assert_eq!(found.n(How::Moved), 2);
    assert_eq!((found.name("A.handle"), found.name("B.run")), ("A.process", "B.run"));
}

#[test]
fn messages_that_several_print_do_not_move() {
    check("A.m:1 stopping (.*)", "B.m:1 stopping (.*)\nC.m:1 stopping (.*)", &[0]);
}

#[test]
fn words_change_within_a_method() {
    let found = check(
        "A.m:1 opened file (.*) for reading
         A.m:2 bytes (.*)",
        "A.m:1 opened file (.*) for reading in mode (.*)
         A.m:2 elapsed (.*)",
        &[1, 0],
    );
    assert_eq!((found.n(How::Reworded), found.n_alone()), (1, (1, 1)));
}

#[test]
fn words_change_in_a_class_with_another_name() {
    let found = check(
        "A.m:1 opened file (.*) for reading
         A.m:2 closed (.*)
         A.n:9 sent (.*) bytes in (.*) ms",
        "B.m:1 opened the file (.*) for reading
         B.m:2 closed (.*)
         B.n:9 sent (.*) bytes to (.*) in (.*) ms",
        &[1, 2, 3],
    );
    assert_eq!((found.n(How::Moved), found.n(How::Reworded)), (1, 2));
}

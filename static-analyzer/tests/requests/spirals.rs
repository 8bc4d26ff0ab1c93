//! What stands next to what in a method that calls itself and in loops (`Spirals.java`), and in what
//! a service loop calls (`Berths.java`).

use schema::{LogPointId, Model, TopLevelId};

use super::model;

/// The log point of this text.
fn point(model: &Model, text: &str) -> LogPointId {
    let prints = |point: &schema::LogPoint| point.templates.iter().any(|t| t.regex.contains(text));
    LogPointId::new(model.log_points.iter().position(prints).expect("a log point"))
}

#[test]
fn recursion_has_no_order_but_what_can_be_printed_next() {
    let model = model();
    let texts = ["sets out", "goes down", "comes up", "is back"].map(|text| format!("walk {text}"));
    let points = texts.map(|text| point(&model, &text));
    let all: Vec<Option<Vec<LogPointId>>> = model.successors.all().collect();
    let next = points.map(|point| {
        let mut next: Vec<Option<usize>> = all[point.index()]
            .iter()
            .flatten()
            .map(|next| points.iter().position(|known| known == next))
            .collect();
        next.sort_unstable();
        next
    });
    // One goes down from the start or from further up, and comes up from below or from the end.
    let [out, down, up, back] = next;
    assert_eq!((out, down), (vec![Some(1)], vec![Some(1), Some(2)]));
    assert_eq!((up, back), (vec![Some(2), Some(3)], vec![]));
    let is_in = |list: &[LogPointId]| points.map(|point| list.binary_search(&point).is_ok());
    assert_eq!(is_in(&model.successors.begins), [true, false, false, false]);
    // An exception can end it anywhere.
    assert_eq!(is_in(&model.successors.ends), [true; 4]);
    assert_eq!(all[point(&model, "walk looks around").index()], None, "logs usually do not show it");
}

#[test]
fn what_can_follow_in_one_run_is_known_whoever_else_calls_the_same() {
    let model = model();
    let texts =
        ["somebody turns left", "somebody turns right", "stroll has gone left", "stroll has gone right"];
    let [left, right, gone_left, gone_right] = texts.map(|text| point(&model, text));
    let in_run = |class: &str, point| {
        let top = model.top_level_methods.iter().position(|top| top.class == class).expect("it is one");
        model.successors.in_run(TopLevelId::new(top), point)
    };
    let sorted = |mut points: Vec<LogPointId>| {
        points.sort_unstable();
        Some(points)
    };
    assert_eq!(in_run("Spirals$Stroll", left), Some(vec![gone_left]));
    assert_eq!(in_run("Spirals$Stroll", right), Some(vec![gone_right]));
    assert_eq!(in_run("Spirals$Stroll", gone_left), sorted(vec![left, right]));
    assert_eq!(in_run("Spirals$March", left), Some(vec![right]));
    assert_eq!(in_run("Spirals$March", right), Some(vec![left]));
    assert_eq!(in_run("Spirals$March", gone_left), None, "it does not print that");
    // Of the whole program it is both.
    let all: Vec<Option<Vec<LogPointId>>> = model.successors.all().collect();
    assert_eq!(all[left.index()], sorted(vec![right, gone_left]));
}

#[test]
fn what_a_service_loop_prints_can_follow_what_it_calls() {
    let model = model();
    let [answers, quiet, goes] =
        ["answers ", "is quiet at ", "the operator goes"].map(|text| point(&model, text));
    let all: Vec<Option<Vec<LogPointId>>> = model.successors.all().collect();
    let next = |point: LogPointId| all[point.index()].clone().unwrap_or_default();
    // `answer` is a top-level method of its own. One round comes after the other in one thread.
    assert!(next(quiet).contains(&goes) && next(quiet).contains(&answers));
    assert!(next(answers).contains(&quiet) && !next(answers).contains(&answers));
}

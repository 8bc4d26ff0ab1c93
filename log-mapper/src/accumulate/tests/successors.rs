//! Runs of one method by one thread, told apart by what can be printed next.

use schema::model::RunSuccessors;
use schema::{Model, Successors, sketch};

use super::run;

/// A walk that has no order: it sets out, goes on, and is back; what it meets has a name.
fn walk() -> Model {
    let mut model = sketch::model(
        "point out place=Place.name
         point on place=Place.name
         point back place=Place.name
         top walk Task place=Place.name
           >out|on|back*<",
    );
    let [out, on, back] = ["out", "on", "back"].map(|name| sketch::point(&model, name));
    let next = [(out, vec![on, back]), (on, vec![on, back]), (back, vec![])];
    let mut all = vec![None; model.log_points.len()];
    next.into_iter().for_each(|(point, next)| all[point.index()] = Some(next));
    model.successors = Successors::new(all, Vec::new(), [vec![out], vec![back]], Default::default());
    model
}

#[test]
fn what_cannot_stand_next_to_what_a_run_ends_with_begins_the_next_one() {
    let log = "1.0 t out\n1.1 t on\n1.2 t back\n1.3 t out\n1.4 t back";
    assert_eq!(run(&walk(), log).trim(), "walk: 1 opens; 2 thread; 3 thread\nwalk: 4 opens; 5 thread");
    // Of whom nothing is known goes on.
    let mut model = walk();
    model.successors = Successors::default();
    let as_one = "walk: 1 opens; 2 thread; 3 thread; 4 thread; 5 thread";
    assert_eq!(run(&model, log).trim(), as_one);
    // Nor is what names the same another one.
    let log = "1.0 t out place=x_1\n1.1 t on place=x_1\n1.2 t back\n1.3 t out place=x_1";
    assert_eq!(run(&walk(), log).lines().count(), 1);
}

#[test]
fn where_lines_may_be_missing_a_run_goes_on() {
    // No run ends with `on`: what was printed between is not shown.
    let as_one = "walk: 1 opens; 2 thread; 3 thread";
    assert_eq!(run(&walk(), "1.0 t out\n1.1 t on\n1.2 t out").trim(), as_one);
    // None begins with it.
    assert_eq!(run(&walk(), "1.0 t out\n1.1 t back\n1.2 t on").trim(), as_one);
}

/// What is run for each of some tasks, of one kind or the other, in no order.
fn tasks() -> Model {
    let mut model = sketch::model(
        "point adds
         point looks
         point removes
         top handle Task
           >adds|looks|removes*<",
    );
    let [adds, looks, removes] = ["adds", "looks", "removes"].map(|name| sketch::point(&model, name));
    let sets = vec![vec![looks], Vec::new()];
    let next = vec![vec![(adds, 0), (looks, 1), (removes, 0)]];
    model.successors =
        Successors::new(Vec::new(), Vec::new(), Default::default(), RunSuccessors { sets, next });
    model
}

#[test]
fn what_cannot_follow_in_one_run_of_its_method_is_of_the_next_one() {
    let log = "1.000 t adds\n1.001 t looks\n1.002 t removes\n1.003 t looks\n1.004 t looks\n1.005 t adds\n1.006 t removes";
    let runs = "handle: 1 opens; 2 thread\nhandle: 3 opens; 4 thread\nhandle: 5 opens\nhandle: 6 opens\nhandle: 7 opens";
    assert_eq!(run(&tasks(), log).trim(), runs);
    // Of what is not known it can be the same one.
    let mut model = tasks();
    model.successors = Successors::default();
    assert_eq!(run(&model, log).lines().count(), 1);
}

/// Two that print nothing else: who rings, and who opens.
fn door() -> Model {
    let mut model = sketch::model(
        "point rings
         point opens
         point other
         top visit Task
           >rings|opens*<
         top else Task
           >other<",
    );
    let [rings, opens] = ["rings", "opens"].map(|name| sketch::point(&model, name));
    let mut all = vec![None; model.log_points.len()];
    all[rings.index()] = Some(vec![opens]);
    all[opens.index()] = Some(Vec::new());
    model.successors = Successors::new(all, Vec::new(), [vec![rings], vec![opens]], Default::default());
    model
}

#[test]
fn what_cannot_begin_goes_on_with_the_only_one_that_it_can_follow() {
    let log = "1.0 - rings\n1.1 - other\n1.2 - other\n1.3 - opens";
    let others = "else: 2 opens\nelse: 3 opens";
    assert_eq!(run(&door(), log).trim(), format!("visit: 1 opens; 4 begins nothing\n{others}"));
    // Of which nothing is known.
    let mut unknown = door();
    unknown.successors = Successors::default();
    let apart = format!("visit: 1 opens\n{others}\nvisit: 4 opens");
    assert_eq!(run(&unknown, log).trim(), apart);
    // Two that it can follow, and one that has been silent.
    let two = run(&door(), "1.0 - rings\n1.05 - rings\n1.1 - other\n1.2 - other\n1.3 - opens");
    assert!(two.contains("visit: 5 opens"), "{two}");
    assert_eq!(run(&door(), "1.0 - rings\n1.1 - other\n500.2 - other\n500.3 - opens").trim(), apart);
}

#[test]
fn what_a_logger_that_is_off_would_print_can_stand_between() {
    let mut model = sketch::model(
        "point asked
         point weighed
         point told
         point other
         top answer Task
           >asked|weighed|told*<
         top else Task
           >other<",
    );
    let [asked, weighed, told] = ["asked", "weighed", "told"].map(|name| sketch::point(&model, name));
    let mut all = vec![None; model.log_points.len()];
    let next = [(asked, vec![weighed]), (weighed, vec![told]), (told, vec![])];
    next.into_iter().for_each(|(point, next)| all[point.index()] = Some(next));
    model.successors =
        Successors::new(all, Vec::new(), [vec![asked, told], vec![asked, told]], Default::default());
    let log = "9000.0 t asked\n9000.1 t told";
    let apart = "answer: 1 opens\nanswer: 2 opens\n";
    assert_eq!(run(&model, log), apart);
    model.log_points[weighed.index()].loggers = vec!["Scale".to_owned()];
    assert_eq!(run(&model, log), "answer: 1 opens; 2 thread\n");
    // It is seen to be on at last, after more than is looked at ahead.
    let others: String =
        (0..super::super::ahead::AHEAD_RECORDS).map(|at| format!("{at}.0 x other\n")).collect();
    let spans = run(&model, &format!("{others}8999.0 u weighed\n{log}"));
    assert_eq!(spans.lines().filter(|span| span.starts_with("answer")).count(), 3, "{spans}");
}

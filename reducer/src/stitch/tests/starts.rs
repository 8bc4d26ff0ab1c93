//! Who has started a thread that serves, and what begins while a program starts.

use super::*;

/// A thread that opens a door and then lets in whoever comes.
const DOOR: &str = "
    point p
    point opened
    point entered
    top boot Task
      >p
    top door Dispatcher
      >opened
      >entered
    pair boot door Thread
";

#[test]
fn who_starts_a_thread_has_what_it_does_before_it_serves() {
    let mut model = sketch::model(DOOR);
    let text = "a t1 boot p@1.0\na w door opened@1.01\na w door entered@1.02";
    check_model(&model, text, "1\n2\n3");
    model.top_level_methods[1].outside_rounds = vec![sketch::point(&model, "opened")];
    model.communication_pairs[0].elsewhere = vec![sketch::point(&model, "entered")];
    check_model(&model, text, "1 2 1>2\n3");
}

#[test]
fn a_main_has_started_what_begins_past_what_prints_nothing() {
    let text = DOOR.replace("top boot", "top main").replace(
        "pair boot door Thread",
        "top listen Task
           >p
         pair main listen Thread
         pair listen door Thread many",
    );
    let mut model = sketch::model(&text);
    let door = sketch::top(&model, "door").index();
    model.top_level_methods[door].outside_rounds = vec![sketch::point(&model, "opened")];
    let spans = |begin: &str, end: &str| format!("a t1 main p@{begin} p@{end}\na w door opened@1.5");
    check_model(&model, &spans("1.45", "2.0"), "1\n2");
    let main = sketch::top(&model, "main").index();
    model.top_level_methods[main].descriptor = schema::model::COMMAND.to_owned() + "V";
    check_model(&model, &spans("1.45", "2.0"), "1 2 1>2");
    // Just done, the last thing that it did was to start it.
    check_model(&model, &spans("1.45", "1.47"), "1 2 1>2");
    // Long done, it is not the only one that can have.
    check_model(&model, &spans("1.0", "1.1").replace("1.5", "3.5"), "1\n2");
}

#[test]
fn who_alone_can_have_started_a_thread_that_serves_has_however_late() {
    let mut model = sketch::model(DOOR);
    model.top_level_methods[1].outside_rounds = vec![sketch::point(&model, "opened")];
    // Twenty nodes on which that is quick, and one on which it is not.
    let quick = |i: usize| format!("n{i:02} t1 boot p@{i}.0\nn{i:02} w door opened@{i}.001\n");
    let quick: String = (1..=20).map(quick).collect();
    let known: String = (0..20).map(|i| format!("{0} {1} {0}>{1}\n", 2 * i + 1, 2 * i + 2)).collect();
    let late = |first: &str| format!("{quick}z t1 boot p@30.0\nz w door {first}@30.15");
    check_model(&model, &late("opened"), &(known.clone() + "41 42 41>42"));
    // As a round it is somebody's who has come just now.
    check_model(&model, &late("entered"), &(known + "41\n42"));
}

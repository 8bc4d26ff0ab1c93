//! Dispatchers between two of their rounds, and in the middle of one.

use super::*;

/// A dispatcher that prints a line in each round before it calls two methods, one after the
/// other; `is_outside`: before its rounds.
fn peer(is_outside: bool) -> Model {
    let mut model = sketch::model(
        "point p
         point leads
         point makes
         point rules
         top run Dispatcher
           >leads
         top make DispatchTarget
           >makes
         top lead DispatchTarget
           >rules
         pair run make Call
         pair run lead Call",
    );
    let leads = sketch::point(&model, "leads");
    model.communication_pairs.iter_mut().for_each(|pair| pair.before = vec![leads]);
    model.top_level_methods[0].outside_rounds = if is_outside { vec![leads] } else { Vec::new() };
    model
}

#[test]
fn a_dispatcher_that_has_printed_the_line_before_a_call_comes_to_it() {
    let lines = "a t run leads@1.0\na t make makes@1.6\na t lead rules@2.4";
    check_model(&peer(false), lines, "1 2 3 1>2 1>3");
    // What comes before the rounds does not come in the next one.
    check_model(&peer(true), lines, "1\n2\n3");
    // Somebody else's thread.
    check_model(&peer(false), "a t run leads@1.0\na u make makes@1.6", "1\n2");
    // It may not be what comes next.
    let mut model = peer(false);
    model.communication_pairs.iter_mut().for_each(|pair| pair.before.clear());
    check_model(&model, lines, "1\n2\n3");
}

/// What it has called is at work on something, and can print the line itself.
#[test]
fn what_a_called_one_can_print_itself_is_no_other_call() {
    let mut model = peer(false);
    model.communication_pairs[0].many = true;
    let lines = |tops: &str| format!("a t run leads@1.0\na t make makes@1.6\na t {tops} rules@2.4");
    check_model(&model, &lines("lead"), "1 2 3 1>2 1>3");
    check_model(&model, &lines("lead|make"), "1 2 1>2\n3");
}

/// Of a class that is needed in a round, something was printed.
#[test]
fn what_initializes_a_class_leaves_a_dispatcher_on_its_way() {
    let mut model = sketch::model(
        "point p
         point leads
         point loads
         top run Dispatcher
           >leads loads
           loads<
         top make DispatchTarget
           >p
         pair run make Call",
    );
    model.communication_pairs[0].before = vec![sketch::point(&model, "leads")];
    let lines = "a t run leads@1.0 loads@1.1\na t make 1.6-1.6";
    check_model(&model, lines, "1\n2");
    initialize(&mut model, "loads");
    check_model(&model, lines, "1 2 1>2");
}

/// A dispatcher that starts a thread before its rounds, and one in each.
fn follower() -> Model {
    let mut model = sketch::model(
        "point p
         point follows
         point takes
         top run Dispatcher
           >follows
           >takes
         top connect Task
           >p
         top store Task
           >p
         pair run connect Thread outside
         pair run store Thread",
    );
    model.top_level_methods[0].outside_rounds = vec![sketch::point(&model, "follows")];
    model
}

#[test]
fn before_its_rounds_a_dispatcher_waits_for_nothing() {
    let lines = |task: &str, run: &str| format!("a t run follows@1.0\na u {task} 1.2-1.2\n{run}");
    check_model(&follower(), &lines("connect", ""), "1 2 1>2");
    // A round has not started it.
    check_model(&follower(), &lines("connect", "a t run takes@1.3"), "1 2 1>2\n3");
    let mut model = follower();
    model.communication_pairs[0].outside_rounds = false;
    check_model(&model, &lines("connect", ""), "1\n2");
}

#[test]
fn what_a_round_starts_is_not_of_what_comes_before_the_rounds() {
    let lines = |point: &str| format!("a t run {point}@1.0\na u store 1.01-1.01");
    check_model(&follower(), &lines("takes"), "1 2 1>2");
    check_model(&follower(), &lines("follows"), "1\n2");
}

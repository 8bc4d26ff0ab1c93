//! Callers that print, before their call, lines that name nothing, and nothing after it.

use super::*;

/// What prepares prints `p` before it calls what passes on, or what calls that.
fn preparing(is_before: bool, is_direct: bool) -> Model {
    let calls = if is_direct {
        "pair prepare pass Call"
    } else {
        "pair prepare offer Call\npair offer pass Call id=id"
    };
    let mut model = sketch::model(&format!(
        "point p
         point offering
         point passing
         point asking
         top ask Task id=Request.id
           >asking
         top prepare IdentifierLoss size=Tree.size file=File.path
           >p
         top offer EventHandler id=Request.id
           >offering
         top pass EventHandler id=Request.id
           >passing
         {calls}
         pair ask pass Queue id=id"
    ));
    if is_before {
        model.communication_pairs[0].before = vec![sketch::point(&model, "p")];
    }
    model
}

/// Rounds of a thread: the preparation, which shows `value`, and after `pause` seconds the rest,
/// for which somebody else has asked.
fn rounds(n: usize, value: &str, pause: f64) -> String {
    let round = |i: usize| {
        let next = i as f64 + 0.5 + pause;
        let asked = format!("a u ask id=request_{i} asking@{i}.0");
        format!("{asked}\na t prepare {value} p@{i}.5\na t pass id=request_{i} passing@{next}\n")
    };
    (0..n).map(round).collect()
}

fn together(n: usize) -> String {
    (1..).step_by(3).take(n).map(|i| format!("{i} {} {} {i}>{1} {0}>{1}\n", i + 1, i + 2)).collect()
}

fn apart(n: usize) -> String {
    (1..).step_by(3).take(n).map(|i| format!("{i} {} {i}>{0}\n{}\n", i + 2, i + 1)).collect()
}

#[test]
fn a_thread_that_has_printed_a_state_goes_on_with_what_it_calls() {
    let lines = rounds(16, "size=4096", 0.001);
    check_model(&preparing(true, true), &lines, &together(16));
    check_model(&preparing(true, false), &lines, &together(16));
    // It can have printed that after the call too.
    check_model(&preparing(false, false), &lines, &apart(16));
}

#[test]
fn what_is_called_comes_at_once_and_nearly_always() {
    check_model(&preparing(true, false), &rounds(16, "size=4096", 0.5), &apart(16));
    check_model(&preparing(true, false), &rounds(15, "size=4096", 0.001), &apart(15));
}

#[test]
fn who_names_something_is_found_by_that() {
    check_model(&preparing(true, false), &rounds(16, "file=/data/a1", 0.001), &apart(16));
}

#[test]
fn who_names_another_thing_than_what_is_called_has_not_handed_over_to_the_caller() {
    let mut model = sketch::model(
        "point p
         point passing
         point asking
         top ask Task id=Request.id
           >asking
         top prepare IdentifierLoss size=Tree.size id=Request.id
           >p
         top pass EventHandler id=Request.id
           >passing
         pair prepare pass Call id=id
         pair ask prepare Queue id=id",
    );
    model.communication_pairs[0].before = vec![sketch::point(&model, "p")];
    let round = |i: usize, asked: usize| {
        let asked = format!("a u ask id=request_{asked} asking@{i}.499");
        format!("{asked}\na t prepare size=1 p@{i}.5\na t pass id=request_{i} passing@{i}.501\n")
    };
    let chain = |i: usize| format!("{} {} {} {0}>{1} {1}>{2}\n", 3 * i + 1, 3 * i + 2, 3 * i + 3);
    let last = |asked: usize| (0..16).map(|i| round(i, i)).chain([round(16, asked)]).collect::<String>();
    let all: String = (0..17).map(chain).collect();
    check_model(&model, &last(16), &all);
    let others = (0..16).map(chain).collect::<String>() + "49\n50 51 50>51\n";
    check_model(&model, &last(99), &others);
}

//! Callers that print nothing before their call.

use super::*;

/// A caller that prints `p`, only after its call if `is_after`, and can print `begins` before
/// it; what it calls prints `q`.
fn caller(kind: &str, is_after: bool) -> Model {
    let mut model = sketch::model(&format!(
        "point p
         point q
         point begins
         top save {kind}
           >p
           >begins p
         top flush Task
           >q
         pair save flush Call"
    ));
    if is_after {
        model.communication_pairs[0].after = vec![sketch::point(&model, "p")];
    }
    model
}

const SAVED: &str = "a t flush q@1.0\na t save p@1.1";

#[test]
fn who_prints_first_what_comes_after_its_call_has_called_what_its_thread_printed_before() {
    check_model(&caller("Task", true), SAVED, "1 2 2>1");
    // It prints that before its call, too.
    check_model(&caller("Task", false), SAVED, "1\n2");
    // It goes on soon.
    check_model(&caller("Task", true), &SAVED.replace("1.1", "2.1"), "1\n2");
}

#[test]
fn who_prints_first_after_its_call_has_called_nothing_of_another_thread() {
    check_model(&caller("Task", true), &SAVED.replace("t flush", "u flush"), "1\n2");
    check_model(&caller("Task", true), &SAVED.replace("a t flush", "b t flush"), "1\n2");
}

#[test]
fn a_dispatcher_that_goes_on_in_its_round_has_called_what_its_thread_printed_before() {
    check_model(&caller("Dispatcher", true), SAVED, "1 2 2>1");
    check_model(&caller("Dispatcher", false), SAVED, "1\n2");
    // Each round has called its own.
    let text = "a t flush q@1.0\na t save p@1.1\na t flush q@1.2\na t save p@1.3";
    check_model(&caller("Dispatcher", true), text, "1 2 2>1\n3 4 4>3");
}

#[test]
fn what_was_called_before_another_round_of_the_caller_is_that_rounds() {
    let text = "a t flush q@1.0\na t save p@1.1\na t save p@1.2";
    check_model(&caller("Task", true), text, "1 2 2>1\n3");
    let text = "a t save p@1.0\na t flush q@1.1\na t save p@1.2";
    check_model(&caller("Task", true), text, "1\n2 3 3>2");
    // That round may print before its call as well.
    let text = "a t flush q@1.0\na t save begins@1.1\na t save p@1.2";
    check_model(&caller("Task", true), text, "1\n2\n3");
}

#[test]
fn who_names_a_folder_without_a_thread_has_called_what_named_a_file_in_there() {
    let mut model = sketch::model(
        "point p
         point wiped
         top clear Dispatcher dir=File.path
           >p
         top wipe Task file=File.path
           >wiped
         pair clear wipe Call",
    );
    let text = "a - wipe file=/data/shop-17/1.log wiped@1.0
         a - wipe file=/data/shop-18/1.log wiped@1.1
         a - clear dir=/data/shop-17 p@1.2";
    // It can print that before its call, too.
    check_model(&model, text, "1\n2\n3");
    model.communication_pairs[0].after = vec![sketch::point(&model, "p")];
    check_model(&model, text, "1 3 3>1\n2");
    // Another folder, another node, and long ago.
    check_model(&model, &text.replace("dir=/data/shop-17", "dir=/data/shop-19"), "1\n2\n3");
    check_model(&model, &text.replace("a - clear", "b - clear"), "1\n2\n3");
    check_model(&model, &text.replace("@1.2", "@2.2"), "1\n2\n3");
}

/// Rounds of a dispatcher that looks up what it calls, 20 s apart; `n_more` of what it has
/// called are followed by nothing.
fn look_ups(n_rounds: usize, n_more: usize) -> String {
    let called = |i: usize| format!("a t flush q@{}.0", 20 * i);
    let rounds = (0..n_rounds).map(|i| format!("{}\na t save p@{}.1", called(i), 20 * i));
    let more = (n_rounds..n_rounds + n_more).map(called);
    rounds.chain(more).collect::<Vec<_>>().join("\n")
}

/// What a dispatcher looks up is one of many: a line that it can print before as well goes on
/// with it only if it always does.
#[test]
fn a_dispatcher_has_looked_up_what_its_line_always_follows() {
    let mut model = caller("Dispatcher", true);
    model.communication_pairs[0].kind = schema::LinkKind::Ask;
    check_model(&model, &look_ups(4, 0), "1 2 2>1\n3 4 4>3\n5 6 6>5\n7 8 8>7");
    check_model(&model, &look_ups(3, 0), "1\n2\n3\n4\n5\n6");
    check_model(&model, &look_ups(4, 1), "1\n2\n3\n4\n5\n6\n7\n8\n9");
    // It prints that before it looks something up.
    model.communication_pairs[0].after.clear();
    check_model(&model, &look_ups(4, 0), "1\n2\n3\n4\n5\n6\n7\n8");
}

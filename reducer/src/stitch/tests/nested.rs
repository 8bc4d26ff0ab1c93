//! What stands in the middle of a thread's work, and what only seems to.

use super::*;

/// A thread, from its first line to its last one, and rounds of its loop between them.
const LIFE: &str = "point p
     point q
     top live Task name=Thread.name
       >p q
       q<
     top clean DispatchTarget log=Log.name
       >p<";

#[test]
fn rounds_of_which_each_names_its_own_are_not_one_request() {
    let rounds = |names: [&str; 3]| {
        let round = |(i, name): (usize, &str)| format!("a t clean log={name} {0}.0-{0}.1\n", i + 2);
        "a t live p@1.0 q@9.0\n".to_owned() + &names.into_iter().enumerate().map(round).collect::<String>()
    };
    check(LIFE, &rounds(["log_11", "log_11", "log_11"]), "1 2 3 4 1>2 1>3 1>4\n");
    check(LIFE, &rounds(["log_11", "log_12", "log_11"]), "1\n2\n3\n4\n");
    // A thread that is named after what is done works on nothing else, whatever it meets.
    let own = rounds(["log_11", "log_12", "log_11"]).replace("a t live", "a t live name=task_7_of_9");
    check(LIFE, &own.replace(" t ", " worker_for_task_7_of_9 "), "1 2 3 4 1>2 1>3 1>4\n");
}

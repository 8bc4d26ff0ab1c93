//! Callers that have called before, or have left what they were at.

use super::*;

/// A caller prints `p` before its call and `r` after it; a task `tick` is given to threads.
const CALLER: &str = "
    point p
    point q
    point r
    top save Task
      >p r
      r
    top flush Task
      >q
    top tick Task
      >q
    top other Task
      >r
    pair save flush Call
";

fn caller() -> Model {
    let mut model = sketch::model(CALLER);
    model.communication_pairs[0].after = vec![sketch::point(&model, "r")];
    model
}

#[test]
fn who_has_printed_what_it_prints_after_its_call_has_called_before() {
    let past = "a t save p@1.0 r@1.1\na t flush q@1.2";
    check_model(&caller(), past, "1\n2");
    // It goes on after that.
    check_model(&caller(), "a t save p@1.0 r@1.3\na t flush q@1.2", "1 2 1>2");
    check_model(&caller(), "a t save p@1.0\na t flush q@1.2", "1 2 1>2");
    // It prints that before its call, too.
    check(CALLER, past, "1 2 1>2");
}

#[test]
fn what_stands_in_the_middle_of_a_thread_s_work_was_not_taken_from_a_queue() {
    let queue = "
        point p n=Id.n
        point q n=Id.n
        top send Task n=Id.n
          >p p
        top take DispatchTarget n=Id.n
          >q
        pair send take Queue n=n";
    let spans =
        |thread: &str, ends: &str| format!("a t send n=70001 p@1.0 p@{ends}\na {thread} take n=70001 q@1.2");
    check(queue, &spans("t", "1.3"), "1\n2");
    // Another thread can have, and so can this one when it is done with what it was at.
    check(queue, &spans("u", "1.3"), "1 2 1>2");
    check(queue, &spans("t", "1.1"), "1 2 1>2");
}

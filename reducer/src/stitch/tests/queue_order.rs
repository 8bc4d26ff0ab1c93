//! Which of several equal senders it was: the one that has put first, and never one that the log
//! shows behind.

use super::*;

/// Requests about the same thing, each handed over in a queue.
const QUEUE: &str = "
    point p
    point put
    point taken
    top ask Task owner=Job.owner
      >put
    top print Task owner=Job.owner
      >taken
    pair ask print Queue owner=owner";

#[test]
fn what_stands_behind_a_receiver_in_the_log_has_not_handed_it_over() {
    // All within one tick of the clock.
    check(
        QUEUE,
        "a - ask owner=ada_17 put@1.0
         a - print owner=ada_17 taken@1.2
         a - ask owner=ada_17 put@1.2
         a - print owner=ada_17 taken@1.3",
        "1 2 1>2
         3 4 3>4",
    );
}

/// What is taken names nothing, and what is put first is taken first.
const LINE: &str = "
    point put owner=Job.owner
    point after owner=Job.owner
    point p
    point taken
    top ask Task owner=Job.owner
      >put after
      after<
    top serve Dispatcher
      >taken<
    pair ask serve Queue in_order";

fn check_line(spans: &str, requests: &str) {
    let mut model = sketch::model(LINE);
    model.communication_pairs[0].before = vec![sketch::point(&model, "put")];
    model.communication_pairs[0].after = vec![sketch::point(&model, "after")];
    check_model(&model, spans, requests);
}

#[test]
fn what_is_put_first_is_taken_first() {
    // Who is nearest in time is the second one.
    check_line(
        "a - ask owner=ada_17 put@1.0 after@1.4
         a - ask owner=bob_18 put@1.1 after@1.2
         a - serve taken@1.3
         a - serve taken@1.5
         a - ask owner=eve_19 put@1.6",
        "1 3 1>3
         2 4 2>4
         5",
    );
}

#[test]
fn where_something_is_missing_nobody_knows_whose_turn_it_is() {
    // Taken before it was put.
    check_line(
        "a - serve taken@0.9
         a - ask owner=ada_17 put@1.0
         a - serve taken@1.1",
        "1
         2
         3",
    );
    // Put, and not taken, though others were.
    check_line(
        "a - ask owner=ada_17 put@1.0
         a - ask owner=bob_18 put@1.1
         a - serve taken@1.5",
        "1
         2
         3",
    );
}

//! Who has started a task that starts itself again, has started its first run.

use super::*;

const AGAIN: &str = "
    point p
    point asks
    point tries
    point fails
    point works
    top ask Task job=Job.id size=Job.size
      >asks
    top try Task job=Job.id size=Job.size
      >tries fails works
      fails<
      works<
    pair ask try Thread job=job size=size
    pair try try Thread job=job size=size";

#[test]
fn a_first_run_that_names_less_than_the_second_is_the_first() {
    check(
        AGAIN,
        "a - ask job=j_1017 size=s_144 asks@1.0
         a - try job=j_1017 tries@1.1 fails@1.1
         a - try job=j_1017 size=s_144 tries@1.3 works@1.4",
        "1 2 3 1>2 2>3",
    );
    check(
        AGAIN,
        "a - ask job=j_1017 size=s_144 asks@1.0
         a - try job=j_1017 tries@1.1 fails@1.1
         a - try job=j_1017 tries@1.3 fails@1.3
         a - try job=j_1017 size=s_144 tries@1.5 works@1.6",
        "1 2 3 4 1>2 2>3 3>4",
    );
}

#[test]
fn a_run_of_something_else_is_not_the_first() {
    check(
        AGAIN,
        "a - ask job=j_1017 size=s_144 asks@1.0
         a - try job=j_1018 tries@1.1 fails@1.1
         a - try job=j_1017 size=s_144 tries@1.3 works@1.4",
        "1 3 1>3
         2",
    );
}

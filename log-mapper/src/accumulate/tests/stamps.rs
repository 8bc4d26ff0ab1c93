//! What is stamped with the time.

use super::*;

const WRITES: &str = "
    point applying cell=Cell.name
    top apply Task
      >applying*<
";

#[test]
fn what_was_made_after_a_task_began_is_of_the_next_one() {
    let at =
        |second: u32, stamp: u32| format!("1000000000.{second:03} w applying cell=1000000000{stamp:03}\n");
    // A thread applies what two others have made, soon one after the other.
    check(WRITES, &(at(100, 99) + &at(110, 108)), "apply: 1 opens\napply: 2 opens");
    // All of one write was made at one time.
    check(WRITES, &(at(100, 99) + &at(110, 100)), "apply: 1 opens; 2 thread");
    // What was made long ago tells nothing.
    let old = "1000000000.110 w applying cell=0999999990000\n";
    check(WRITES, &(at(100, 99) + old), "apply: 1 opens; 2 thread");
    check(WRITES, &(old.replace("110", "099") + &at(110, 108)), "apply: 1 opens; 2 thread");
}

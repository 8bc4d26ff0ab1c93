//! Who asks, in its own thread, for work that begins a request of its own.

use super::*;

/// Flushes and moves ask for a compaction through one method, which hands it to a task.
const COMPACTIONS: &str = "
    point p
    top flush Task region=Region.name
      >p
    top move Task region=Region.name
      >p
    top ask DispatchTarget region=Region.name store=Store.name
      >p
    top compact Task region=Region.name store=Store.name
      >p
    pair flush ask Ask region=region many
    pair move ask Ask region=region many
    pair ask compact Thread region=region store=store
";

#[test]
fn who_asks_in_its_own_thread_has_asked() {
    check(
        COMPACTIONS,
        "a t1 flush region=users0001 1.0-1.0
         a t2 move region=users0001 1.005-1.005
         a t1 ask region=users0001 store=f0000001 1.01-1.01
         a t1 ask region=users0001 store=g0000001 1.02-1.02
         a c1 compact region=users0001 store=f0000001 1.03-1.04
         a c1 compact region=users0001 store=g0000001 1.05-1.06",
        "1 3 4 5 6 1>3 1>4 3>5 4>6\n2",
    );
}

#[test]
fn without_a_line_of_what_is_asked_nobody_has_asked() {
    // Anybody can have been who asked.
    let spans = |thread: &str| {
        format!(
            "a {thread} flush region=users0001 1.0-1.0
             a c1 compact region=users0001 store=f0000001 1.03-1.04"
        )
    };
    check(COMPACTIONS, &spans("t1"), "1\n2");
    // Where no thread is printed, nothing tells who it was.
    let spans = "a - flush region=users0001 1.0-1.0
                 a - ask region=users0001 store=f0000001 1.01-1.01";
    check(COMPACTIONS, spans, "1\n2");
}

#[test]
fn a_thread_that_has_printed_nothing_for_long_asks_for_something_else() {
    let asked = |at: &str| {
        format!(
            "a t1 flush region=users0001 1.0-1.0
             a t1 ask region=users0001 store=f0000001 {at}-{at}"
        )
    };
    check(COMPACTIONS, &asked("1.05"), "1 2 1>2");
    check(COMPACTIONS, &asked("4.0"), "1\n2");
}

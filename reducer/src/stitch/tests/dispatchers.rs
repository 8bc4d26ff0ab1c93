//! Who calls what a dispatcher, or a relay, works on.

use super::*;

#[test]
fn a_dispatcher_that_has_waited_works_on_something_else() {
    let model = "
        point p
        point q
        top follow Dispatcher
          >p
        top handle DispatchTarget id=Id.n
          >q
        pair follow handle Call many";
    let lines = |at: &str| format!("a t follow p@1.0\na t handle id=17 q@{at}");
    check(model, &lines("1.05"), "1 2 1>2");
    check(model, &lines("6.0"), "1\n2");
    let model = model.replace("Dispatcher", "Task");
    check(&model, &lines("6.0"), "1 2 1>2");
}

/// A dispatcher that prepares something in a round before it handles another thing.
const FOLLOWER: &str = "
    point p
    point q
    point r
    top follow Dispatcher
      >p
    top prepare DispatchTarget id=Id.n
      >q
    top handle DispatchTarget key=Key.n
      >r
    pair follow prepare Call many
    pair follow handle Call many";

/// What it calls in one round it calls one after the other: while its thread is at work on
/// the first, it has not waited for the next piece of work.
#[test]
fn a_dispatcher_that_works_on_something_has_not_waited() {
    let lines = |until: &str, thread: &str| {
        format!("a t follow p@1.0\na {thread} prepare id=17 q@1.05 q@{until}\na t handle key=18 r@2.0")
    };
    check(FOLLOWER, &lines("1.95", "t"), "1 2 3 1>2 1>3");
    // A pause in which it can have waited, or work of another thread.
    check(FOLLOWER, &lines("1.5", "t"), "1 2 1>2\n3");
    check(FOLLOWER, &lines("1.95", "u"), "1\n2\n3");
}

/// While it works on the first of what it calls in a round, no gap lies before the second,
/// however soon that comes in other rounds.
#[test]
fn what_is_called_between_is_no_gap() {
    let soon = |i: usize| format!("a t follow p@{}.0\na t handle key={} r@{0}.002\n", i * 10, i + 100);
    let rounds: String = (1..=40).map(soon).collect();
    let expected: String = (0..40).map(|i| format!("{0} {1} {0}>{1}\n", 2 * i + 1, 2 * i + 2)).collect();
    let late = |until: &str, thread: &str| {
        format!(
            "a t follow p@900.0\na {thread} prepare id=17 q@900.01 q@{until}\na t handle key=9 r@900.95\n"
        )
    };
    check(FOLLOWER, &(rounds.clone() + &late("900.94", "t")), &(expected.clone() + "81 82 83 81>82 81>83\n"));
    check(FOLLOWER, &(rounds + &late("900.94", "u")), &(expected + "81\n82\n83\n"));
}

/// What looks after a thing is of whoever calls it in its thread; without threads a call
/// tells no more than a hand-off does.
#[test]
fn what_looks_after_a_thing_is_of_who_calls_it() {
    let model = "
        point p
        point q
        top follow Dispatcher id=Dir.path?
          >p
        top make DispatchTarget id=Dir.path?
          >q
        pair follow make Call id=id many";
    check(model, "a t follow p@1.0\na t make id=/d q@1.05", "1 2 1>2");
    check(model, "a - follow p@1.0\na - make id=/d q@1.05", "1\n2");
    let queued = model.replace("Call", "Queue");
    check(&queued, "a t follow p@1.0\na t make id=/d q@1.05", "1\n2");
}

/// What is called comes back to its caller, whatever it hands out; what runs in a thread of
/// its own does not.
#[test]
fn a_dispatcher_that_is_called_is_of_its_caller() {
    let model = "
        point p
        point q
        top loop Dispatcher
          >p
        top follow Dispatcher
          >q
        pair loop follow Call many";
    let lines = |thread: &str| format!("a t loop p@1.0\na {thread} follow q@1.05");
    check(model, &lines("t"), "1 2 1>2");
    check(model, &lines("-"), "1\n2");
    check(&model.replace("Call", "Thread"), &lines("t"), "1\n2");
}

/// A request that is relayed by a silent handler on another node, and called on there.
const RELAY: &str = "
    point p
    top follow Task zxid=Txn.id
      >p
    top relay RpcHandler zxid=Txn.id
      >p
    top serve Task zxid=Txn.id session=Session.id
      >p
    top process Task zxid=Txn.id session=Session.id
      >p
    pair follow relay Socket zxid=zxid
    pair relay process Queue zxid=zxid
    pair serve process Call zxid=zxid session=session
";

#[test]
fn what_was_called_was_not_started_at_the_end_of_a_way_as_well() {
    let process = "b t process zxid=100000008 session=session-1 1.2-1.2";
    let follow = "a f follow zxid=100000008 1.0-1.4";
    check(RELAY, &format!("{follow}\n{process}"), "1 2 1>2");
    let serve = "b t serve zxid=100000008 session=session-1 1.1-1.3";
    check(RELAY, &format!("{follow}\n{process}\n{serve}"), "1\n3 2 3>2");
}

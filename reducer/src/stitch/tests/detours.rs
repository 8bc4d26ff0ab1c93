//! Ways through a sender on which it hands nothing over.

use super::*;

/// Who compares finds a difference and repairs it, or finds none.
const COMPARES: &str = "
    point equal
    point differs
    point p
    top compare Task
      >equal<
      >differs<
    top repair Task
      >p
    pair compare repair Call
";

#[test]
fn who_went_another_way_has_handed_nothing_over() {
    let mut model = sketch::model(COMPARES);
    let text = |found: &str| format!("a t compare {found}@1.0\na t repair p@1.01");
    // Where the hand-off stands is not known.
    check_model(&model, &text("equal"), "1 2 1>2");
    model.communication_pairs[0].before = vec![sketch::point(&model, "differs")];
    // It is made at several places, on the way to one of which that stands.
    check_model(&model, &text("equal"), "1 2 1>2");
    model.communication_pairs[0].beside = vec![sketch::point(&model, "equal")];
    check_model(&model, &text("equal"), "1\n2");
    check_model(&model, &text("differs"), "1 2 1>2");
    // In a loop around both every way leads to it.
    let mut model = sketch::model(&COMPARES.replace(">equal<\n      >differs<", ">equal|differs*<"));
    model.communication_pairs[0].before = vec![sketch::point(&model, "differs")];
    check_model(&model, &text("equal"), "1 2 1>2");
}

/// A task hands over, and prints something when all of that is done.
#[test]
fn who_is_seen_at_its_end_only_hands_over_nothing_that_begins_then() {
    let text = "
        point begins
        point done
        point p
        top work Task
          >begins done
          done<
        top close Task
          >p
        pair work close Thread
    ";
    let mut model = sketch::model(text);
    model.communication_pairs[0].after = vec![sketch::point(&model, "done")];
    check_model(&model, "a t work done@1.0\na u close p@1.01", "1\n2");
    // It had begun before.
    check_model(&model, "a u close p@1.0\na t work done@1.01", "1 2 2>1");
    check_model(&model, "a t work begins@0.9 done@1.0\na u close p@1.01", "1 2 1>2");
    // Who begins with what it prints after its hand-off may be faster than the receiver.
    let mut model = sketch::model(&text.replace(">begins done\n          done<", ">done<"));
    model.communication_pairs[0].after = vec![sketch::point(&model, "done")];
    check_model(&model, "a t work done@1.0\na u close p@1.01", "1 2 1>2");
}

#[test]
fn a_thread_that_printed_what_stands_beside_a_hand_off_has_handed_nothing_over() {
    let mut model = sketch::model(COMPARES);
    model.communication_pairs[0].beside = vec![sketch::point(&model, "equal")];
    let text =
        |thread: &str, found: &str| format!("a {thread} compare {found}@1.0\na {thread} repair p@1.01");
    check_model(&model, &text("t", "equal"), "1\n2");
    check_model(&model, &text("t", "differs"), "1 2 1>2");
    // Without threads whose lines they are is a guess itself.
    let links = |found: &str| {
        let spans = spans(&model, &text("-", found));
        print(&reduce(&model, outputs(&spans, |_, _| 0), &Config::default()))
    };
    assert_eq!(links("equal"), links("differs"));
}

#[test]
fn who_prints_what_it_prints_for_other_events_was_handed_another() {
    let mut model = sketch::model(
        "point p id=Id.n
         point opens id=Id.n
         point closes id=Id.n
         top ask Task id=Id.n
          >p<
         top take EventHandler id=Id.n
          >opens<
          >closes<
         pair ask take Queue id=id",
    );
    let opens = "a t ask id=10001 p@1.0\na u take id=10001 opens@1.01";
    check_model(&model, opens, "1 2 1>2");
    model.communication_pairs[0].elsewhere = vec![sketch::point(&model, "closes")];
    check_model(&model, opens, "1 2 1>2");
    model.communication_pairs[0].elsewhere = vec![sketch::point(&model, "opens")];
    check_model(&model, opens, "1\n2");
}

/// A handler that sends itself events, other than those of which it prints something.
#[test]
fn a_handler_of_events_has_sent_none_where_it_prints_what_it_prints_for_others() {
    let mut model = sketch::model(
        "point p
         point added id=Id.n
         point removed id=Id.n
         top take EventHandler id=Id.n
          >added<
          >removed<
         pair take take Queue id=id",
    );
    let text = "a t take id=10001 added@1.0\na t take id=10001 removed@1.5";
    check_model(&model, text, "1 2 1>2");
    let beside: Vec<_> = ["added", "removed"].map(|name| sketch::point(&model, name)).into();
    model.communication_pairs[0].beside = beside;
    check_model(&model, text, "1\n2");
}

#[test]
fn nor_has_who_went_another_way_sent_an_event_to_another_node() {
    let mut model = sketch::model(
        "point p id=Id.n
         point stored id=Id.n
         point q id=Id.n
         top work Task id=Id.n
          >p<
          >stored<
         top take EventHandler id=Id.n
          >q<
         pair work take Socket id=id",
    );
    let text = |line: &str| format!("a t work id=10001 {line}@1.0\nb u take id=10001 q@1.01");
    check_model(&model, &text("p"), "1 2 1>2");
    model.communication_pairs[0].beside = vec![sketch::point(&model, "p")];
    check_model(&model, &text("p"), "1\n2");
    check_model(&model, &text("stored"), "1 2 1>2");
}

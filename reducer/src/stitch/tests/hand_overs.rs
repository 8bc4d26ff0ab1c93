//! Who hands over by time: links expected of small logs.

use super::*;

/// Tasks that hand over to others, and name nothing.
const ASKS: &str = "
    point p
    point asked
    point worked
    top ask Task
      >asked
    top work Task
      >worked
    pair ask work Thread
";

#[test]
fn of_two_senders_the_one_that_has_just_printed_hands_over() {
    let lines = |first: &str| {
        format!(
            "a t1 ask asked@{first}
             a t2 ask asked@2.2
             a w work worked@2.201"
        )
    };
    check(ASKS, &lines("1.0"), "1\n2 3 2>3");
    // Two that printed at about the same time: either may be.
    check(ASKS, &lines("2.199"), "1\n2\n3");
}

#[test]
fn without_threads_a_caller_comes_before_what_it_calls() {
    let model = ASKS.replace("Thread", "Call");
    check(&model, "a - ask asked@1.0\na - work worked@1.0", "1 2 1>2");
    check(&model, "a - work worked@1.0\na - ask asked@1.0", "1\n2");
}

#[test]
fn what_can_be_something_else_is_handed_over_by_nobody_in_particular() {
    let model = format!("{ASKS}    top tick Task\n      >worked\n");
    let lines = |tops: &str| format!("a - ask asked@1.0\na - {tops} worked@1.01");
    check(&model, &lines("work"), "1 2 1>2");
    check(&model, &lines("tick|work"), "1\n2");
}

/// What is handed over first is begun first, where nothing else tells who has waited for how long.
#[test]
fn of_two_that_wait_the_first_is_taken_first() {
    let text = led_to(1..11, 5)
        + "a t11 ask asked@80.000
           a t12 ask asked@80.001
           a w11 work worked@80.005 worked@80.008
           a w12 work worked@80.006\n";
    check(ASKS, &text, &(pairs_of(1..11) + "21 23 21>23\n22 24 22>24\n"));
}

/// What it costs if it is wrong counts: two large requests become one only if that is sure.
#[test]
fn where_much_is_joined_more_has_to_speak_for_it() {
    let lines = |n: usize| (0..n).map(|i| format!(" p@{}.{:03}", 2 + i / 900, i % 900)).collect::<String>();
    let text = |n: usize| format!("a t ask asked@1.0{}\na w work worked@1.01{}", lines(n), lines(n));
    check(ASKS, &text(0), "1 2 1>2");
    check(ASKS, &text(200), "1\n2");
}

/// Senders, each with what it leads to after `ms`.
fn led_to(n: std::ops::Range<usize>, ms: usize) -> String {
    let one = |i: usize| format!("a t{i} ask asked@{}.0\na w{i} work worked@{}.{ms:03}\n", i * 7, i * 7);
    n.map(one).collect()
}

/// Expected of those.
fn pairs_of(n: std::ops::Range<usize>) -> String {
    n.map(|i| format!("{a} {b} {a}>{b}\n", a = 2 * i - 1, b = 2 * i)).collect()
}

#[test]
fn how_long_it_takes_is_learnt() {
    // Three hundred milliseconds are much, unless it always takes so long: of two that can have
    // handed over it is the earlier one.
    let text = led_to(1..11, 300) + "a t11 ask asked@77.0\na t12 ask asked@77.29\na w11 work worked@77.3\n";
    check(ASKS, &text, &(pairs_of(1..11) + "21 23 21>23\n22\n"));
}

/// Tasks of a timer begin beside somebody who prints all the time.
#[test]
fn what_begins_at_any_time_is_handed_over_by_nobody() {
    let busy: String = (0..100).map(|i| format!("a t ask asked@{}.{}00\n", 1 + i / 10, i % 10)).collect();
    let ticks: String =
        (0..10).map(|i| format!("a w{i} work worked@{}.{:03}\n", 1 + i, 30 + i * 7)).collect();
    let mut expected: Vec<usize> = (1..=110).collect();
    let at = |line: usize| if line <= 100 { (line - 1) * 100 } else { (line - 101) * 1007 + 30 };
    expected.sort_by_key(|line| at(*line));
    let expected: String = expected.into_iter().map(|line| format!("{line}\n")).collect();
    check(ASKS, &(busy + &ticks), &expected);
}

/// The same where the others print in bursts, in which such tasks begin, too.
#[test]
fn what_begins_in_bursts_of_others_is_handed_over_by_nobody() {
    let (mut lines, mut at_ms) = (String::new(), Vec::new());
    let mut add = |line: &str, ms: usize| {
        lines += &format!("a {line}@{}.{:03}\n", ms / 1_000, ms % 1_000);
        at_ms.push(ms);
    };
    for burst in 0..8 {
        let begin = 1_000 + burst * 60_000;
        (0..80).for_each(|i| add("t ask asked", begin + i * 100));
        add(&format!("w{burst} work worked"), begin + 4_007 + burst * 113);
    }
    let mut expected: Vec<usize> = (1..=at_ms.len()).collect();
    expected.sort_by_key(|line| at_ms[line - 1]);
    check(ASKS, &lines, &expected.into_iter().map(|line| format!("{line}\n")).collect::<String>());
}

/// A task that waits for a worker begins when that is done with what it is at.
#[test]
fn what_waits_for_its_worker_was_handed_over_before() {
    let text = led_to(1..11, 1)
        + "a t11 ask asked@80.0
           a w work worked@80.001 worked@80.400
           a t12 ask asked@80.1
           a w work worked@80.401\n";
    check(ASKS, &text, &(pairs_of(1..11) + "21 22 21>22\n23 24 23>24\n"));
}

/// A word of a text that both print tells which of two it was.
#[test]
fn a_word_that_both_print_tells() {
    let one = |i: usize| {
        let (t, other) = (i * 7, i + 50);
        format!(
            "a t{i} ask asked@{t}.000#job_{i}
             a u{i} ask asked@{t}.000#job_{other}
             a w{i} work worked@{t}.001#worker-for:job_{i}\n"
        )
    };
    let text: String = (1..11).map(one).collect();
    let expected: String =
        (1..11).map(|i| format!("{a} {c} {a}>{c}\n{b}\n", a = 3 * i - 2, b = 3 * i - 1, c = 3 * i)).collect();
    check(ASKS, &text, &expected);
}

/// Senders of one request speak for it together, whichever of them it was.
#[test]
fn several_senders_of_one_request_are_one() {
    let model = "
        point p
        point q
        point r
        top ask RpcHandler job=Job.id
          >p
        top open Task job=Job.id
          >q
        top load Task
          >r
        pair ask open Thread job=job many
        pair open load Thread";
    let text = |other: &str| {
        format!(
            "a - ask job=10f00001 p@1.0
             a - ask job=20f00002 p@1.0
             a - open job=10f00001 q@1.1
             a - open job={other} q@1.1
             a - load r@1.11"
        )
    };
    check(model, &text("10f00001"), "1 3 4 5 1>3 1>4 3>5\n2");
    check(model, &text("20f00002"), "1 3 1>3\n2 4 2>4\n5");
}

/// Who has started many things, each with a name of its own, is part of no request of theirs.
#[test]
fn who_starts_requests_is_of_none_of_them() {
    let model = "
        point p
        point started
        point noted
        top main Task
          >started
        top open Task build=Build.id
          >noted
        pair main open Thread many";
    let open = |i: usize| format!("a w{i} open build=10f0000{i} noted@1.0{i}\n");
    let text =
        |n: usize| (1..=n).map(open).fold("a m main started@1.0\n".to_owned(), |text, line| text + &line);
    check(model, &text(1), "1 2 1>2");
    check(model, &text(4), "1\n2\n3\n4\n5");
}

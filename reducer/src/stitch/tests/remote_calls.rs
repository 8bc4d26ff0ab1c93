//! Callers that wait for what they have asked for over HTTP, and callers that do not.

use super::*;

const SHOP: &str = "
    point p
    point before
    point between
    point after
    point lookup
    point looked
    top order RpcHandler order=Order.id
      >before between
      between after
      after<
    top find RpcHandler article=Article.id
      >lookup looked
      looked<
    pair order find Http waits call:GET/articles/{id},before..between call:GET/articles/{id},between..after
";

#[test]
fn what_lies_in_a_gap_of_one_caller_only_is_its() {
    check(
        SHOP,
        "a t1 order order=1 before@1.000 between@1.100 after@1.200
         a t2 order order=2 before@1.300 between@1.400 after@1.500
         b u1 find article=7 lookup@1.010 looked@1.090
         b u2 find article=8 lookup@1.110 looked@1.190
         b u1 find article=9 lookup@1.310 looked@1.390
         b u1 find article=9 lookup@1.600 looked@1.610",
        "1 3 4 1>3 1>4\n2 5 2>5\n6",
    );
}

#[test]
fn a_call_asks_once_so_that_all_gaps_together_tell() {
    // Both of find can lie in the first gap of the first caller; the one that begins earlier can
    // in no other.
    check(
        SHOP,
        "a t1 order order=1 before@1.000 between@1.100
         a t2 order order=2 before@1.040 between@1.095
         b u1 find article=7 lookup@1.010 looked@1.050
         b u2 find article=8 lookup@1.060 looked@1.090",
        "1 3 1>3\n2 4 2>4",
    );
}

#[test]
fn what_two_callers_can_have_asked_for_alike_stays_apart() {
    check(
        SHOP,
        "a t1 order order=1 before@1.000 between@1.100
         a t2 order order=2 before@1.000 between@1.100
         b u1 find article=7 lookup@1.010 looked@1.090",
        "1\n2\n3",
    );
}

/// Callers two by two at the same time, and what they have asked for; `show` says what a handler
/// prints, and `ahead` by how much its clock is.
fn pairs_of_callers(n: usize, ahead: f64, show: impl Fn(usize) -> String) -> String {
    let one = |i: usize| {
        let at = |ms: usize| (i / 2) as f64 + 1.0 + (ms + i % 2) as f64 / 1e3;
        let other = |ms: usize| at(ms) + ahead;
        format!(
            "a t{} order before@{}#o{i} between@{}\nb u{} find lookup@{}{} looked@{}\n",
            i % 2,
            at(0),
            at(100),
            i % 2,
            other(20),
            show(i),
            other(80),
        )
    };
    (0..n).map(one).collect()
}

fn together(n: usize) -> String {
    (0..n).map(|i| format!("{} {} {0}>{1}\n", 2 * i + 1, 2 * i + 2)).collect()
}

#[test]
fn values_that_are_equal_in_matches_tell_who_has_asked() {
    check(SHOP, &pairs_of_callers(24, 0.0, |i| format!("#o{i}")), &together(24));
    let apart: String =
        (0..12).map(|i| format!("{}\n{}\n{}\n{}\n", 4 * i + 1, 4 * i + 3, 4 * i + 2, 4 * i + 4)).collect();
    check(SHOP, &pairs_of_callers(24, 0.0, |_| String::new()), &apart);
}

#[test]
fn clocks_can_be_apart() {
    let shifted = pairs_of_callers(24, 0.06, |i| format!("#o{i}"));
    check(SHOP, &shifted, &together(24));
}

#[test]
fn a_handler_that_prints_nothing_is_passed_by() {
    check(
        "point p
         point before
         point after
         point lookup
         point never
         top order RpcHandler
           >before after
           after<
         top broker RpcHandler
           >never<
         top find RpcHandler
           >lookup<
         pair order broker Http waits call:GET/a,before..after
         pair broker find Http waits call:GET/b,never..",
        "a t1 order before@1.0 after@1.1
         a t2 order before@1.2 after@1.3
         b u1 find lookup@1.050
         b u1 find lookup@1.250",
        "1 3 1>3\n2 4 2>4",
    );
}

/// Two callers at a time that make two calls in one gap: of the first one it is told who has
/// asked for it, and the second begins where the first has ended.
#[test]
fn calls_of_one_gap_come_one_after_the_other() {
    let model = "
        point p
        point before
        point after
        point lookup
        point looked
        point count
        top order RpcHandler
          >before after
          after<
        top find RpcHandler
          >lookup looked
          looked<
        top stock RpcHandler
          >count<
        pair order find Http waits call:GET/a,before..after
        pair order stock Http waits call:GET/b,before..after
    ";
    let one = |i: usize| {
        let at = |ms: usize| (i / 2) as f64 + 1.0 + ms as f64 / 1e3;
        let late = i % 2 * 37;
        format!(
            "a t{0} order before@{1}#o{i} after@{2}\nb u{0} find lookup@{3}#o{i} looked@{4}\nc w{0} stock count@{5}\n",
            i % 2,
            at(0),
            at(160),
            at(5),
            at(40 + late),
            at(41 + late),
        )
    };
    let log: String = (0..40).map(one).collect();
    let all: String =
        (0..40).map(|i| format!("{0} {1} {2} {0}>{1} {0}>{2}\n", 3 * i + 1, 3 * i + 2, 3 * i + 3)).collect();
    check(model, &log, &all);
}

/// Half of what a handler does is asked for from outside while a caller could have asked too, in
/// a gap that can hold more: what begins and ends anywhere is no caller's.
#[test]
fn what_often_nobody_known_asks_for_need_not_be_anybodys() {
    let model = "
        point p
        point before
        point after
        point lookup
        top order RpcHandler
          >before after
          after<
        top find RpcHandler
          >lookup<
        pair order find Http waits call:GET/a,before..after*
    ";
    let one = |i: usize| {
        let at = |ms: usize| i as f64 + 1.0 + ms as f64 / 1e3;
        format!(
            "a t1 order before@{} after@{}\nb u1 find lookup@{}\nb u2 find lookup@{}\nb u3 find lookup@{}\n",
            at(0),
            at(400),
            at(398),
            at(30 + i * 5),
            at(600 + i * 3),
        )
    };
    let log: String = (0..40).map(one).collect();
    let all: String = (0..40)
        .map(|i| format!("{0} {1} {0}>{1}\n{2}\n{3}\n", 4 * i + 1, 4 * i + 2, 4 * i + 3, 4 * i + 4))
        .collect();
    check(model, &log, &all);
}

#[test]
fn who_does_not_wait_may_have_ended() {
    check(
        "point p
         point before
         point lookup
         top order RpcHandler
           >before<
         top find RpcHandler
           >lookup<
         pair order find Http call:POST/a,before..",
        "a t1 order before@1.0
         b u1 find lookup@1.050
         a t2 order before@2.0
         b u1 find lookup@2.050
         b u1 find lookup@0.5",
        "5\n1 2 1>2\n3 4 3>4",
    );
}

#[test]
fn what_a_server_runs_around_a_handler_is_of_the_same_request() {
    check(
        "point p
         point before
         point after
         point opens
         point closes
         point lookup
         top order RpcHandler
           >before after
           after<
         top filter EventHandler
           >opens closes
           closes<
         top find RpcHandler
           >lookup<
         pair order find Http waits call:GET/a,before..after",
        "a t1 order before@1.0 after@1.2
         b u1 filter opens@1.004 closes@1.190
         b u1 find lookup@1.006",
        "1 2 3 1>3 2>3",
    );
}

#[test]
fn who_does_not_wait_has_gone_on_when_it_is_heard() {
    check(
        "point p
         point before
         point after
         point lookup
         top order RpcHandler
           >before after
           after<
         top find RpcHandler
           >lookup<
         pair order find Http call:POST/a,before..after",
        "a t1 order before@1.0 after@1.010
         b u1 find lookup@1.050
         a t1 order before@20.0 after@20.010
         b u1 find lookup@20.050",
        "1 2 1>2\n3 4 3>4",
    );
}

#[test]
fn what_is_asked_for_again_and_again_costs_what_it_mostly_costs() {
    let log: Vec<String> = (1..=12)
        .map(|at| {
            format!(
                "a t1 order before@{at}.000 after@{at}.030
                 b u1 find lookup@{at}.005
                 b u1 find lookup@{at}.015
                 b u1 find lookup@{at}.025"
            )
        })
        .collect();
    let all: Vec<String> = (0..12)
        .map(|at| {
            let [caller, a, b, c] = [1, 2, 3, 4].map(|n| at * 4 + n);
            format!("{caller} {a} {b} {c} {caller}>{a} {caller}>{b} {caller}>{c}")
        })
        .collect();
    check(
        "point p
         point before
         point after
         point lookup
         top order RpcHandler
           >before after
           after<
         top find RpcHandler
           >lookup<
         pair order find Http waits call:GET/a,before..after*",
        &log.join("\n"),
        &all.join("\n"),
    );
}

const FAILING: &str = "
    point p
    point before
    point after
    point failed
    point lookup
    point busy
    top order RpcHandler
      >before after failed
      after<
      failed<
    top find RpcHandler
      >lookup< busy
      busy<
    pair order find Http waits call:GET/a,before..after|failed
";

#[test]
fn a_caller_goes_on_otherwise_where_what_it_has_asked_for_prints_nothing() {
    let one = |at: usize| {
        format!(
            "a t1 order before@{at}.000 failed@{at}.100\nb u1 find lookup@{at}.050\na t1 order before@{at}.5 after@{at}.6\n"
        )
    };
    let known: String = (1..=24).map(one).collect();
    let all: String =
        (0..24).map(|i| format!("{0} {1} {0}>{1}\n{2}\n", 3 * i + 1, 3 * i + 2, 3 * i + 3)).collect();
    let open =
        "a t1 order before@90.0 after@90.1\na t2 order before@90.0 failed@90.1\nb u1 find lookup@90.050\n";
    check(FAILING, &(known + open), &(all + "73\n74 75 74>75"));
}

#[test]
fn what_a_handler_ends_with_tells_how_its_caller_goes_on() {
    let one = |at: usize| {
        format!(
            "a t1 order before@{at}.000 failed@{at}.100\nb u1 find lookup@{at}.050 busy@{at}.051
             a t1 order before@{at}.500 after@{at}.600\nb u1 find lookup@{at}.550\n"
        )
    };
    let known: String = (1..=24).map(one).collect();
    let all: String = (0..24)
        .map(|i| format!("{0} {1} {0}>{1}\n{2} {3} {2}>{3}\n", 4 * i + 1, 4 * i + 2, 4 * i + 3, 4 * i + 4))
        .collect();
    let open = "a t1 order before@90.0 after@90.1\na t2 order before@90.0 failed@90.1
                b u1 find lookup@90.050 busy@90.051\nb u2 find lookup@90.050\n";
    check(FAILING, &(known + open), &(all + "97 100 97>100\n98 99 98>99"));
}

/// A handler without a line of its own, of which a library reports the failure, and what it has asked
/// for before: both were asked for from one gap.
#[test]
fn a_silent_handler_that_fails_and_what_it_asked_for_lie_in_one_gap() {
    let mut model = sketch::model(
        "point p
         point before
         point after
         point lookup
         top order RpcHandler
           >before after
           after<
         top broker RpcHandler
         top find RpcHandler
           >lookup<
         pair order broker Http waits call:GET/a,before..after
         pair broker find Http waits call:GET/b,^..$
         pair order find Http waits call:GET/a,before..after",
    );
    // What is asked for past the broker is asked for where that is.
    model.communication_pairs[2].remote_calls[0].order = model.communication_pairs[0].remote_calls[0].order;
    // By the clock of another node, after the failure.
    let one = |at: usize| {
        format!(
            "a t1 order before@{at}.000 after@{at}.100\nb u1 find lookup@{at}.080\nc v1 broker p@{at}.070\n"
        )
    };
    let mut spans = spans(&model, &(1..=12).map(one).collect::<String>());
    for span in spans.iter_mut().filter(|span| span.node == "c") {
        span.events[0].log_point = None;
    }
    let requests = reduce(&model, outputs(&spans, |_, _| 0), &Config::default());
    let all: String =
        (0..12).map(|i| format!("{0} {2} {1} {0}>{2} {0}>{1}\n", 3 * i + 1, 3 * i + 2, 3 * i + 3)).collect();
    assert_eq!(print(&requests), all);
}

/// Each round of a loop asks for something else: what a caller has asked for already is another one's.
#[test]
fn a_loop_asks_for_each_thing_once() {
    let model = "
        point p
        point before
        point after
        point lookup
        top order RpcHandler
          >before after
          after<
        top find RpcHandler
          >lookup<
        pair order find Http waits call:GET/a,before..after*
    ";
    let one = |at: usize| {
        format!(
            "a t1 order before@{at}.000 after@{at}.200\nb u1 find lookup@{at}.050#red
             b u1 find lookup@{at}.100#green\nb u1 find lookup@{at}.150#blue\n"
        )
    };
    let known: String = (1..=24).map(one).collect();
    let all: String = (0..24)
        .map(|i| {
            let [caller, a, b, c] = [1, 2, 3, 4].map(|n| 4 * i + n);
            format!("{caller} {a} {b} {c} {caller}>{a} {caller}>{b} {caller}>{c}\n")
        })
        .collect();
    let open = "a t1 order before@90.000 after@90.200\na t2 order before@90.060 after@90.260
                b u1 find lookup@90.050#red\nb u1 find lookup@90.105#red\nb u1 find lookup@90.220#blue\n";
    check(model, &(known + open), &(all + "97 99 97>99\n98 100 101 98>100 98>101"));
}

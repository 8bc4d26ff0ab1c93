//! What ids that logs carry tell of spans that have none.

use super::*;
use crate::id_lives::{self, IdLives};
use crate::requests::Linked;
use crate::skeleton::{Span as Skeleton, Stored};

const SHOP: &str = "
    point p
    point before
    point between
    point after
    point lookup
    point looked
    top order RpcHandler
      >before between
      between after
      after<
    top find RpcHandler
      >lookup looked
      looked<
    pair order find Http waits call:GET/articles/{id},before..between call:GET/articles/{id},between..after
";

#[test]
fn handlers_are_of_callers_of_their_own_id() {
    // All of the handlers can be of either of two callers that have no id.
    check(
        SHOP,
        "a t1 order before@1.000 between@1.100 after@1.200
         a t2 order before@1.000 between@1.100 after@1.200
         b u1 find id:4f lookup@1.030 looked@1.070
         b u2 find id:4f lookup@1.130 looked@1.170
         a t1 order id:4f before@0.900 between@0.920 after@0.950
         b u3 find id:7c lookup@1.031 looked@1.071
         a t3 order id:7c before@1.001 between@1.099 after@1.190",
        "5 3 4 5>3 5>4\n1\n2\n7 6 7>6",
    );
}

/// What a broker hands to one thread comes in the order in which it was sent: two messages without an
/// id stand between those with one.
#[test]
fn messages_between_known_ones_are_taken_in_turn() {
    let model = "
        point p
        point before
        point taken
        top order RpcHandler
          >before<
        top take EventHandler
          >taken<
        pair order take Message call:orders,before..
    ";
    let one = |i: usize| {
        let delay = 20 + i * 7 % 50;
        format!("a t1 order id:x{i} before@{0}.000\nb u1 take id:x{i} taken@{0}.0{delay}\n", i + 1)
    };
    let known: String = (0..12).map(one).collect();
    let all: String = (0..12).map(|i| format!("{0} {1} {0}>{1}\n", 2 * i + 1, 2 * i + 2)).collect();
    let open =
        "a t1 order before@90.000\na t2 order before@90.010\nb u1 take taken@90.050\nb u1 take taken@90.055
                a t1 order id:y before@91.000\nb u1 take id:y taken@91.050\n";
    check(model, &(known + open), &(all + "25 27 25>27\n26 28 26>28\n29 30 29>30"));
}

/// Where each thread does one request after the other, what stands between two lines of one is of it.
#[test]
fn what_a_thread_does_between_two_lines_of_an_id_is_of_that() {
    let model = "
        point p
        top work Task
          >p
        top other Task
          >p
    ";
    let between = "a t1 work id:4f 1.0-1.5\na t1 other 1.6-1.7\na t1 work id:4f 1.8-1.9\n";
    check(model, between, "1 2 3 1>2 1>3");
    // A thread of the node comes back to an id after another one.
    let back = "a t2 work id:7c 1.0-1.5\na t2 work id:8d 1.6-1.7\na t2 work id:7c 1.8-1.9\n";
    check(model, &format!("{between}{back}"), "1 3 1>3\n4 6 4>6\n2\n5");
}

/// How long it takes from one thread to the next one is learnt from hand-offs with ids on both sides.
#[test]
fn ids_teach_whose_a_step_of_another_thread_is() {
    let model = "
        point p
        point before
        point step
        top order RpcHandler
          >before<
        top go_on Task
          >step<
        pair order go_on Thread
    ";
    let one =
        |i: usize| format!("a t1 order id:x{i} before@{0}.000\na u1 go_on id:x{i} step@{0}.030\n", i + 1);
    let known: String = (0..24).map(one).collect();
    let all: String = (0..24).map(|i| format!("{0} {1} {0}>{1}\n", 2 * i + 1, 2 * i + 2)).collect();
    let open = "a t1 order before@90.000\na t2 order before@90.020\na u1 go_on step@90.030\na u2 go_on step@90.050\n";
    check(model, &(known + open), &(all + "49 51 49>51\n50 52 50>52"));
}

/// Requests are added as they come: what the first ones show of an id is revised when it comes again
/// in later ones, though those before are written and not looked at any more.
#[test]
fn ids_that_come_again_in_later_periods_are_not_used() {
    let model = sketch::model(SHOP);
    let mut lives = IdLives::default();
    let mut is_used = |minute: usize, ids: &[&str]| {
        let lines: Vec<String> = (ids.iter().enumerate())
            .map(|(at, id)| {
                let start = minute * 60 + at;
                format!("a t{at} order id:{id} before@{start}.0 between@{start}.1\nb u{at} find id:{id} lookup@{start}.05")
            })
            .collect();
        let spans = spans(&model, &lines.join("\n")).into_iter();
        let spans = spans.map(|span| Skeleton::new(span, Stored::default())).collect();
        let linked = Linked::new(&model, spans, &Config::default(), &lives);
        lives.end(id_lives::over(&linked.ids, &rustc_hash::FxHashSet::default()));
        linked.id_fields[0].is_used
    };
    assert!(is_used(1, &["4f", "7c"]) && is_used(3, &["01", "02", "03"]));
    // Most of them come again.
    assert!(!is_used(5, &["4f", "7c", "01", "02"]));
    assert!(!is_used(7, &["09"]));
    // Until as many do not.
    assert!(is_used(9, &["11", "12"]));
}

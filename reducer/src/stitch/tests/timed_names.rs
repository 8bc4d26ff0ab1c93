//! Names that say when they were made.

use super::*;

/// Who asks and who applies print what they were given; who receives knows its plan.
const MAKES: &str = "
    point p
    point q
    top ask RpcHandler
      >p
    top apply Task
      >q
    top receive Task plan=Plan.id
      >q
";

/// A time-based UUID that was made `ms` after the first span of a test begins.
fn name(ms: i64) -> String {
    let ticks = (1_000_000_000_000_i64 + ms) * 10_000 + 0x01b2_1dd2_1381_4000;
    let (low, mid, high) = (ticks & 0xffff_ffff, ticks >> 32 & 0xffff, ticks >> 48);
    format!("{low:08x}-{mid:04x}-1{high:03x}-b3c8-9f6bdeced846")
}

#[test]
fn what_shows_a_name_as_it_is_made_is_of_who_made_it() {
    let text = |made: &str, shown: &str, at: &str| {
        format!("a t1 ask p@1000000000.0#x:{made}\nb t2 apply q@100000000{at}#y:{shown}")
    };
    check(MAKES, &text(&name(0), &name(0), "0.4"), "1 2 1>2");
    // Later it can have been found in a table.
    check(MAKES, &text(&name(0), &name(0), "5.0"), "1\n2");
    // It was made long before, and both may have found it.
    check(MAKES, &text(&name(-9000), &name(-9000), "0.4"), "1\n2");
    check(MAKES, &text(&name(0), &name(1), "0.4"), "1\n2");
    // Who shows two of them has met another request.
    let two = format!("{}/{}", name(0), name(1));
    check(MAKES, &text(&name(0), &two, "0.4"), "1\n2");
    // No version that holds a time.
    let other = name(0).replace("-11d", "-41d");
    assert_ne!(other, name(0));
    check(MAKES, &text(&other, &other, "0.4"), "1\n2");
}

#[test]
fn what_is_asked_after_a_name_was_made_and_shown_has_learnt_it() {
    // Who applies is handed work by those who ask; nobody asks those but clients.
    let model = format!("{MAKES}    pair ask apply Queue\n");
    let name = name(100);
    let span = |node: &str, top: &str, start: &str, end: &str| {
        format!("{node} t {top} p@1000000000.{start} q@1000000000.{end}#x:{name}\n")
    };
    let maker = span("a", "ask", "00", "20");
    check(&model, &(maker.clone() + &span("b", "ask", "50", "60")), "1\n2");
    // It began before, and can have made it.
    check(&model, &(maker + &span("b", "ask", "05", "60")), "1 2 1>2");
    // Who prints nothing before it has made the name is the first to show it.
    let maker = span("a", "ask", "15", "20");
    check(&model, &(maker.clone() + &span("b", "apply", "50", "60")), "1 2 1>2");
    check(&model, &(maker + &span("b", "ask", "50", "60")), "1\n2");
}

#[test]
fn what_holds_the_name_of_a_request_from_its_birth_is_one_however_long_it_pauses() {
    let text = |name: &str, gap: u32| {
        let line = |node: &str, n: u32, ms: u32| {
            let at = 1_000_000_000 + n * gap;
            format!("{node} t{n} receive plan={name} q@{at}.{ms:03}#{name}\n")
        };
        line("a", 0, 0) + &line("b", 0, 500) + &line("a", 1, 0) + &line("b", 1, 500)
    };
    check(MAKES, &text(&name(0), 7), "1 2 3 4 1>2 2>3 3>4");
    check(MAKES, &text(&name(-9000), 7), "1\n2\n3\n4");
    // What is shown now and then names a thing.
    let alone = text(&name(0), 7).lines().step_by(2).collect::<Vec<_>>().join("\n");
    check(MAKES, &alone, "1\n2");
}

//! Who of those who wait has something within it.

use super::*;

/// Ten times a table is flushed, while two are at work that go on soon after it and have
/// printed `first` and `second`.
fn flushes(table: &str, first: &str, second: &str) -> String {
    let saver = |thread: &str, t: usize, text: &str| format!("a {thread} save p@{t}.0{text} p@{t}.2\n");
    let round = |i: usize| {
        let t = i * 100;
        let savers = saver("t1", t, first) + &saver("t3", t, second);
        format!("{savers}a t2 flush table={table} {t}.1-{t}.15\n")
    };
    (0..10).map(round).collect()
}

#[test]
fn who_waits_for_what_is_done_to_a_thing_has_named_it() {
    let model = "
        point p
        top save Task table=Table.name?
          >p
        top flush Task table=Table.name?
          >p
        pair save flush Thread table=table waits";
    let each = |lines: fn(usize, usize, usize) -> String| -> String {
        (0..10).map(|i| lines(3 * i + 1, 3 * i + 2, 3 * i + 3)).collect()
    };
    let apart = each(|a, b, c| format!("{a}\n{b}\n{c}\n"));
    let first = each(|a, b, c| format!("{a} {c} {a}>{c}\n{b}\n"));
    let second = each(|a, b, c| format!("{a}\n{b} {c} {b}>{c}\n"));
    check(model, &flushes("users", "#users", "#posts"), &first);
    check(model, &flushes("users", "", "#users"), &second);
    // None of them has, or both have.
    check(model, &flushes("users", "#posts", "#posts"), &apart);
    check(model, &flushes("users", "#users", "#users"), &apart);
    // A bare number is no name.
    check(model, &flushes("1234", "#1234", ""), &apart);
}

#[test]
fn where_no_thread_is_printed_who_waits_is_silent_meanwhile() {
    let model = "
        point p
        point q
        top save Task job=Job.id
          >p
        top flush Task
          >q
        pair save flush Thread waits";
    // Ten times two are at work while a task is done, and go on after it; they print in
    // between at `first` and `second`.
    let flushes = |first: &str, second: &str| -> String {
        let save = |i: usize, of: char, at: &str| {
            let t = i * 100;
            format!("a - save job=job_{i:03}{of} p@{t}.0 p@{t}{at} p@{t}.9\n")
        };
        let task = |i: usize| format!("a - flush q@{0}.6 q@{0}.8\n", i * 100);
        (0..10).map(|i| save(i, 'a', first) + &save(i, 'b', second) + &task(i)).collect()
    };
    let each = |lines: fn(usize, usize, usize) -> String| -> String {
        (0..10).map(|i| lines(3 * i + 1, 3 * i + 2, 3 * i + 3)).collect()
    };
    check(model, &flushes(".5", ".7"), &each(|a, b, c| format!("{a} {c} {a}>{c}\n{b}\n")));
    check(model, &flushes(".7", ".5"), &each(|a, b, c| format!("{a}\n{b} {c} {b}>{c}\n")));
    // Both can have waited.
    check(model, &flushes(".5", ".5"), &each(|a, b, c| format!("{a}\n{b}\n{c}\n")));
}

//! Who of those who wait has something within it.

use super::within::OPENERS;
use super::*;

/// Ten times two `main`s of a request are at work for nine seconds, in which each prints once
/// more after `again` seconds, and a task of one of them begins after 5.5.
fn mains(again: usize) -> String {
    let round = |i: usize| {
        let (t, job) = (i * 100, format!("10f0{i:04}"));
        let main = format!("a - main job={job} p@{t}.1 p@{}.1 p@{}.1\n", t + again, t + 9);
        format!("a - ask job={job} {t}.0-{t}.0\n{main}{main}a - load {0}.5-{0}.6\n", t + 5)
    };
    (0..10).map(round).collect()
}

/// The methods that open things are a program's `main`, or are no such thing.
fn openers(is_main: bool) -> Model {
    let mut model = sketch::model(&OPENERS.replace("open", "main"));
    let main = sketch::top(&model, "main").index();
    if is_main {
        model.top_level_methods[main].descriptor = "([Ljava/lang/String;)V".to_owned();
    }
    model
}

#[test]
fn nothing_is_within_a_main_that_has_long_been_silent() {
    let whole = |i: usize| {
        let [a, b, c, d] = [1, 2, 3, 4].map(|n| 4 * i + n);
        format!("{a} {b} {c} {d} {a}>{b} {a}>{c} {c}>{d}\n")
    };
    let apart = |i: usize| {
        let [a, b, c, d] = [1, 2, 3, 4].map(|n| 4 * i + n);
        format!("{a} {b} {c} {a}>{b} {a}>{c}\n{d}\n")
    };
    let (whole, apart) = ((0..10).map(whole).collect::<String>(), (0..10).map(apart).collect::<String>());
    check_model(&openers(true), &mains(1), &apart);
    // It has just printed.
    check_model(&openers(true), &mains(5), &whole);
    // What is no `main` works in silence.
    check_model(&openers(false), &mains(1), &whole);
}

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

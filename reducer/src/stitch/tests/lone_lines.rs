//! Lone lines: what always stands after one of a few lines of its thread.

use super::*;

/// Flushes, after each of which the thread prints a line that the model knows of
/// something else only.
fn with_lone_lines(gap: f64) -> String {
    let mut text = String::new();
    for n in 1..=16 {
        let (start, end) = (f64::from(n) * 10.0, f64::from(n) * 10.0 + gap);
        text += &format!("a t{} flush p@{start}\na t{} check r@{end}\n", n % 2, n % 2);
    }
    text
}

#[test]
fn a_lone_line_that_always_stands_after_another_is_of_the_same_work() {
    let model = "point p
         point r
         top flush Task
           >p
         top check Task
           >r";
    let line = |n: usize, is_one: bool| match is_one {
        true => format!("{n} {} {n}>{}\n", n + 1, n + 1),
        false => format!("{n}\n{}\n", n + 1),
    };
    let all = |is_one: bool| (0..16).map(|n| line(2 * n + 1, is_one)).collect::<String>();
    check(model, &with_lone_lines(0.002), &all(true));
    check(model, &with_lone_lines(0.5), &all(false));
}

#[test]
fn what_always_begins_directly_after_another_line_goes_on_with_it() {
    let model = "point p
         point r
         top flush Task
           >p
         top check Task
           >r";
    let text: String =
        (1..=16).map(|n| format!("a t0 flush p@{n}0.0\na t0 check r@{n}0.002 r@{n}0.5\n")).collect();
    let all: String = (0..16).map(|n| format!("{} {1} {0}>{1}\n", 2 * n + 1, 2 * n + 2)).collect();
    check(model, &text, &all);
    // Once in four rounds something else comes before it.
    let text: String = (1..=16)
        .map(|n| format!("a t{0} flush p@{n}0.0\na t0 check r@{n}0.002 r@{n}0.5\n", u32::from(n % 4 == 0)))
        .collect();
    let alone: String = (1..=32).map(|n| format!("{n}\n")).collect();
    check(model, &text, &alone);
}

#[test]
fn a_lone_line_that_names_what_the_one_before_it_does_goes_on_with_it() {
    let model = "point p
         point r
         top flush Task
           >p
         top check Task
           >r";
    // The check also stands alone, and the flush without it.
    let line = |n: u32, file: u32| {
        format!(
            "a t0 flush p@{n}0.0#/data/f{n}
             a t0 check r@{n}0.002#/data/f{file}
             a t0 check r@{n}3.0#/data/f{n}
             a t0 flush p@{n}6.0#/data/f{n}\n"
        )
    };
    let short = |name: &str| (10..26).map(|n| line(n, n).replace("/data/f", name)).collect::<String>();
    let all_apart = (1..=64).map(|n| format!("{n}\n")).collect::<String>();
    let joined = |n: u32| format!("{} {1} {0}>{1}\n{2}\n{3}\n", 4 * n + 1, 4 * n + 2, 4 * n + 3, 4 * n + 4);
    let text: String = (10..26).map(|n| line(n, n)).collect();
    check(model, &text, &(0..16).map(joined).collect::<String>());
    let text: String = (10..26).map(|n| line(n, n + n % 4)).collect();
    check(model, &text, &all_apart);
    // So does a short name, but no short number.
    check(model, &short("t0_1"), &(0..16).map(joined).collect::<String>());
    check(model, &short("3971"), &all_apart);
}

#[test]
fn a_lone_line_is_not_of_who_started_one_and_could_have_started_any() {
    let model = "point p
         point r
         point s
         top begin Task
           >s
         top flush Task
           >p
         top check Task
           >r
         pair begin check Thread";
    let text = with_lone_lines(0.002) + "a t9 begin s@5.0 s@200.0\n";
    let all: String = (0..16).map(|n| format!("{} {1} {0}>{1}\n", 2 * n + 1, 2 * n + 2)).collect();
    check(model, &text, &format!("33\n{all}"));
}

#[test]
fn a_lone_line_stands_after_any_of_a_few_lines() {
    // Flushes and compactions end with a check now and then.
    let model = "point p
         point q
         point r
         top flush Task
           >p
         top compact Task
           >q
         top check Task
           >r";
    let (mut text, mut expected) = (String::new(), String::new());
    for n in 0..16 {
        let at = f64::from(n) * 10.0 + 1.0;
        text += &format!("a t0 flush p@{at}\na t0 check r@{}\n", at + 0.002);
        text += &format!("a t0 compact q@{}\na t0 check r@{}\n", at + 2.0, at + 2.002);
        text += &format!("a t0 flush p@{}\na t0 compact q@{}\n", at + 4.0, at + 6.0);
        let first = 6 * n + 1;
        expected += &format!("{first} {0} {first}>{0}\n{1} {2} {1}>{2}\n", first + 1, first + 2, first + 3);
        expected += &format!("{}\n{}\n", first + 4, first + 5);
    }
    check(model, &text, &expected);
}

#[test]
fn what_is_an_execution_of_its_own_by_the_code_goes_on_with_nothing() {
    let points = "point p\npoint r\npoint s\n";
    let one = "top flush Task\n>p\n>r";
    let dispatched = "top loop Dispatcher\n>s\ntop flush DispatchTarget\n>p\ntop check DispatchTarget\n>r
         pair loop flush Call\npair loop check Call";
    let from_outside = "top flush Unreached\n>p\ntop check Unreached\n>r";
    let missed = "top flush Task\n>p\ntop check Unreached\n>r";
    let apart: String = (1..=32).map(|n| format!("{n}\n")).collect();
    let joined: String = (0..16).map(|n| format!("{} {1} {0}>{1}\n", 2 * n + 1, 2 * n + 2)).collect();
    let lines = with_lone_lines(0.002);
    let of_one = lines.replace(" check ", " flush ");
    for (model, text, expected) in [
        (one, &of_one, &apart),
        (dispatched, &lines, &apart),
        (from_outside, &lines, &apart),
        (missed, &lines, &joined),
    ] {
        check(&format!("{points}{model}"), text, expected);
    }
}

//! Companions: lines that always stand together, and those that go on with something.

use super::*;

/// Either line can begin the work as far as the code tells; the log shows them
/// together.
const COMPANIONS: &str = "
    point p
    point b
    point c
    top sort Task
      >b c
      >c
    top other Task
      >p";

/// So many spans that print `b`, each with a span after it that prints `c`.
fn in_turn(thread: &str, n: usize) -> String {
    let two = |i| format!("a {thread} sort b@{i}.000\na {thread} sort c@{i}.001\n");
    (0..n).map(two).collect()
}

#[test]
fn lines_that_always_stand_together_are_of_one_piece_of_work() {
    let together: String = (0..8).map(|i| format!("{0} {1} {0}>{1}\n", 2 * i + 1, 2 * i + 2)).collect();
    let apart = |n| (1..=n).map(|line| format!("{line}\n")).collect::<String>();
    check(COMPANIONS, &in_turn("-", 8), &together);
    check(COMPANIONS, &in_turn("-", 7), &apart(14));
    check(COMPANIONS, &in_turn("t", 8), &apart(16));
    // Both stand with others too.
    let others = "a - sort b@50.0\na - other 50.001-50.001\na - sort c@50.002\n";
    check(COMPANIONS, &(in_turn("-", 8) + others), &apart(19));
    // One is always followed by the other, which can come alone.
    let alone = "a - other 50.001-50.001\na - sort c@50.002\n";
    check(COMPANIONS, &(in_turn("-", 8) + alone), &(together.clone() + "17\n18\n"));
    // No method prints one after the other.
    let apart_in_code = COMPANIONS.replace(">b c", ">b");
    check(&apart_in_code, &in_turn("-", 8), &apart(16));
}

/// A thing and a part of it are not two things.
#[test]
fn what_goes_on_with_a_part_of_a_thing_is_of_that() {
    let named = |part: &str| -> String {
        let two =
            |i| format!("a - sort b@{i}.000 x=file_{i:03}\na - sort c@{i}.001 x={part}_{i:03}_block_0\n");
        (0..8).map(two).collect()
    };
    let model = COMPANIONS.replace("top sort Task", "top sort Task x=File.name");
    let together: String = (0..8).map(|i| format!("{0} {1} {0}>{1}\n", 2 * i + 1, 2 * i + 2)).collect();
    let apart: String = (1..=16).map(|line| format!("{line}\n")).collect();
    check(&model, &named("file"), &together);
    check(&model, &named("other"), &apart);
}

#[test]
fn lines_of_one_span_show_as_well_that_they_stand_together() {
    let whole = |i| format!("a - sort b@{i}.000 c@{i}.001+1\nb - other {i}.000-{i}.000\n");
    let text = |n| in_turn("-", 2) + &(2..n).map(whole).collect::<String>();
    let rest = |n: usize| (5..=2 * n).map(|line| format!("{line}\n")).collect::<String>();
    check(COMPANIONS, &text(8), &("1 2 1>2\n3 4 3>4\n".to_owned() + &rest(8)));
    check(COMPANIONS, &text(7), &("1\n2\n3\n4\n".to_owned() + &rest(7)));
    // Also with what.
    check(COMPANIONS, &text(40), &("1 2 1>2\n3 4 3>4\n".to_owned() + &rest(40)));
}

#[test]
fn what_stands_after_another_line_than_it_does_elsewhere_is_of_somebody_else() {
    let model = "
        point p
        point b
        point c
        point d
        top sort Task
          >b c d
          >d c
          >c";
    let together = |n| (0..n).map(|i| format!("{0} {1} {0}>{1}\n", 2 * i + 1, 2 * i + 2)).collect::<String>();
    let other = "a - sort d@50.000\na - sort c@50.001\n";
    check(model, &(in_turn("-", 16) + other), &(together(16) + "33\n34\n"));
    // That is no exception yet.
    check(model, &(in_turn("-", 15) + other), &together(16));
    // Nor is it where the other line is always followed so.
    let others: String = (200..208).map(|i| format!("a - sort d@{i}.000\na - sort c@{i}.001\n")).collect();
    check(model, &(in_turn("-", 136) + &others), &together(144));
}

#[test]
fn what_always_goes_on_begins_nothing_where_others_stand_between() {
    let ask = "
        top ask Task x=X.id
          >p
        pair ask sort Thread";
    let model = COMPANIONS.to_owned() + ask;
    let asked = "a - ask 50.000-50.000\na - sort c@50.001\n";
    let together = |n| (0..n).map(|i| format!("{0} {1} {0}>{1}\n", 2 * i + 1, 2 * i + 2)).collect::<String>();
    check(&model, &(in_turn("-", 16) + asked), &(together(16) + "33\n34\n"));
    check(&model, &(in_turn("-", 8) + asked), &(together(8) + "17\n18\n"));
    // Not so where something tells, as its thread or a name do.
    let threads = "a t ask 50.000-50.000\na u sort c@50.001\n";
    check(&model, &(in_turn("-", 16) + threads), &together(17));
    let named = COMPANIONS.replace("sort Task", "sort Task x=X.id") + ask + " x=x";
    let asked_by_name = "a - ask x=x_0001 50.000-50.000\na - sort x=x_0001 c@50.001\n";
    check(&named, &(in_turn("-", 16) + asked_by_name), &together(17));
    // Too few for links show it all the same.
    let apart: String = (1..=16).map(|line| format!("{line}\n")).collect();
    check(&model, &(in_turn("-", 7) + asked), &apart);
    // It may as well begin something.
    let alone = "a - other 80.000-80.000\na - sort c@90.000\n";
    check(&model, &(in_turn("-", 8) + asked + alone), &(together(9) + "19\n20\n"));
    // Nothing tells of those that stand after one of the same statement.
    let twice = |i| format!("a - sort b@{i}.000\na - sort c@{i}.001\na - sort c@{i}.002\n");
    let text: String = (0..16).map(twice).collect();
    let expected: String =
        (0..16).map(|i| format!("{0} {1} {0}>{1}\n{2}\n", 3 * i + 1, 3 * i + 2, 3 * i + 3)).collect();
    check(&model, &(text + asked), &(expected + "49\n50\n"));
}

#[test]
fn what_goes_on_with_one_line_ends_with_another() {
    // After each `b` stands a `c`, and another `b`; a third line follows that.
    let model = "
        point p
        point b
        point c
        point d
        top choose Task
          >b c d
          >c b
          >d
        top other Task
          >p";
    let run = |i: usize| {
        format!("a - choose b@{i}.000\na - choose c@{i}.001\na - choose b@{i}.002\na - choose d@{i}.003\n")
    };
    let text = |n: usize| (0..n).map(run).collect::<String>();
    let line = |i: usize| {
        let [a, b, c, d] = [1, 2, 3, 4].map(|k| 4 * i + k);
        format!("{a} {b} {c} {d} {a}>{b} {b}>{c} {c}>{d}\n")
    };
    check(model, &text(8), &(0..8).map(line).collect::<String>());
    // Too few.
    let line = |i: usize| {
        let [a, b, c, d] = [1, 2, 3, 4].map(|k| 4 * i + k);
        format!("{a}\n{b}\n{c}\n{d}\n")
    };
    check(model, &text(7), &(0..7).map(line).collect::<String>());
    // As often something else follows, and the line stands elsewhere too.
    let other = |i: usize| run(i).replace(&format!("choose d@{i}.003"), &format!("other {i}.003-{i}.003"));
    let text: String = (0..16).map(|i| if i % 2 == 0 { run(i) } else { other(i) }).collect();
    let elsewhere: String = (20..30).map(|i| format!("a - choose d@{i}.000\n")).collect();
    let line = |i: usize| {
        let [a, b, c, d] = [1, 2, 3, 4].map(|k| 4 * i + k);
        format!("{a} {b} {c} {a}>{b} {b}>{c}\n{d}\n")
    };
    let expected = (0..16).map(line).collect::<String>() + &apart(65, 10);
    check(model, &(text + &elsewhere), &expected);
}

#[test]
fn lines_that_say_the_same_in_a_row_are_of_the_work_that_goes_on_with_the_last() {
    let row = |i: usize, n: usize, text: &str| -> String {
        let lines = (0..n).map(|k| format!("a - sort b@{i}.00{k}#{}\n", text.replace('N', &k.to_string())));
        lines.chain([format!("a - sort c@{i}.00{n}\n")]).collect()
    };
    let rows = |n: usize, text: &str| (0..8).map(|i| row(i, n, text)).collect::<String>();
    let three: String = (0..8)
        .map(|i| 3 * i)
        .map(|i| format!("{0} {1} {2} {0}>{1} {1}>{2}\n", i + 1, i + 2, i + 3))
        .collect();
    // The code has a loop.
    let looped = COMPANIONS.replace(">b c", ">b* c");
    check(&looped, &rows(2, "node"), &three);
    // Each is about something else, and names what is gone on with.
    let named = |n: usize| {
        let line = |i: usize, k: usize| format!("a - sort b@{i}.00{k}#node_{i}\n");
        let row = |i: usize| (0..n).map(|k| line(i, k)).collect::<String>();
        (0..8).map(|i| row(i) + &format!("a - sort c@{i}.00{n}#node_{i}\n")).collect::<String>()
    };
    check(&looped, &named(2), &three);
    // Each says something else: several have begun.
    let two: String =
        (0..8).map(|i| 3 * i).map(|i| format!("{0}\n{1} {2} {1}>{2}\n", i + 1, i + 2, i + 3)).collect();
    check(COMPANIONS, &rows(2, "node_N"), &two);
    // Often one stands alone: then two are of two who begin.
    let mixed: String = (0..16).map(|i| row(i, 1 + i % 2, "node")).collect();
    let expected: String = (0..8)
        .map(|i| 5 * i)
        .map(|i| {
            let [a, b, c, d, e] = [1, 2, 3, 4, 5].map(|k| i + k);
            format!("{a} {b} {a}>{b}\n{c}\n{d} {e} {d}>{e}\n")
        })
        .collect();
    check(COMPANIONS, &mixed, &expected);
}

/// A loop that often turns once only, and prints the same each time.
#[test]
fn lines_that_say_the_same_at_once_are_turns_of_one_loop() {
    let looped = COMPANIONS.replace(">b c", ">b* c");
    let turns = |at: f64, n: usize, gap: f64| -> String {
        let line = |k: usize| format!("a - sort b@{:.4}#node\n", at + gap * k as f64);
        let last = format!("a - sort c@{:.4}\n", at + gap * n as f64);
        (0..n).map(line).chain([last]).collect()
    };
    let text_of = |n: usize, gap: f64, each: f64| -> String {
        (0..n).map(|i| turns(each * i as f64, 1 + i % 2, gap)).collect()
    };
    let text = |n: usize, gap: f64| text_of(n, gap, 0.4);
    let together = |n: usize| -> String {
        let line = |i: usize| match (5 * (i / 2), i % 2) {
            (at, 0) => format!("{0} {1} {0}>{1}\n", at + 1, at + 2),
            (at, _) => format!("{0} {1} {2} {0}>{1} {1}>{2}\n", at + 3, at + 4, at + 5),
        };
        (0..n).map(line).collect()
    };
    let first_apart = |n: usize| -> String {
        let line = |i: usize| match (5 * (i / 2), i % 2) {
            (at, 0) => format!("{0} {1} {0}>{1}\n", at + 1, at + 2),
            (at, _) => format!("{0}\n{1} {2} {1}>{2}\n", at + 3, at + 4, at + 5),
        };
        (0..n).map(line).collect()
    };
    check(&looped, &text(64, 0.0005), &together(64));
    // Two who begin can stand so far apart, and too few show nothing.
    check(&looped, &text(64, 0.004), &first_apart(64));
    check(&looped, &text(62, 0.0005), &first_apart(62));
    // As many would stand so close at other times.
    check(&looped, &text_of(64, 0.0005, 0.5), &first_apart(64));
}

/// So many lines of `c`, each after one of somebody else.
fn after_others(from: usize, n: usize) -> String {
    (from..from + n).map(|i| format!("a - other {i}.000-{i}.000\na - sort c@{i}.001\n")).collect()
}

fn apart(from: usize, n: usize) -> String {
    (from..from + n).map(|line| format!("{line}\n")).collect()
}

#[test]
fn what_stands_there_far_more_often_than_after_any_other_line_is_no_chance() {
    // Others stand between now and then.
    let between = |n| -> String {
        (0..n).map(|i| format!("a - sort b@{0}.000\na - other {0}.001-{0}.001\n", 100 + i)).collect()
    };
    let together = |n| (0..n).map(|i| format!("{0} {1} {0}>{1}\n", 2 * i + 1, 2 * i + 2)).collect::<String>();
    let others: String = (300..500).map(|i| format!("a - other {i}.000-{i}.000\n")).collect();
    let rare = after_others(200, 20) + &others;
    let text = |n, n_between| in_turn("-", n) + &between(n_between);
    check(COMPANIONS, &(text(60, 9) + &rare), &(together(60) + &apart(121, 18 + 240)));
    // It stands as often after any other line.
    check(COMPANIONS, &(text(60, 9) + &after_others(200, 200)), &apart(1, 138 + 400));
    // Mostly others stand there, or too few show it.
    check(COMPANIONS, &(text(60, 61) + &rare), &apart(1, 242 + 240));
    check(COMPANIONS, &(text(54, 9) + &rare), &apart(1, 126 + 240));
}

#[test]
fn of_lines_of_one_statement_in_a_row_only_the_last_one_shows_what_goes_on_with_it() {
    let run = |i| format!("a - sort b@{i}.000\na - sort b@{i}.001\na - sort c@{i}.002\n");
    let text: String = (0..70).map(run).collect();
    let row = |i| format!("{}\n{1} {2} {1}>{2}\n", 3 * i + 1, 3 * i + 2, 3 * i + 3);
    let expected: String = (0..70).map(row).collect();
    check(COMPANIONS, &(text + &after_others(100, 70)), &(expected + &apart(211, 140)));
}

/// What goes on with something late, where others stand between, is known by its name.
#[test]
fn what_goes_on_late_has_the_name_of_what_it_goes_on_with() {
    let model = COMPANIONS.replace("point b", "point b x=X.id").replace("point c", "point c x=X.id");
    let model = model.replace("top sort Task", "top sort Task x=X.id");
    let two = |i: usize| {
        format!("a - sort x=x_{i:04} b@{i}.000#x_{i:04}\na - sort x=x_{i:04} c@{i}.001#x_{i:04}\n")
    };
    let known: String = (0..16).map(two).collect();
    let together: String = (0..16).map(|i| format!("{0} {1} {0}>{1}\n", 2 * i + 1, 2 * i + 2)).collect();
    let late = "a - sort x=x_0050 b@50.000#x_0050
        a - other 50.001-50.001
        a - sort x=x_0050 c@58.0#x_0050\n";
    check(&model, &(known.clone() + late), &(together.clone() + "33 35 33>35\n34\n"));
    // It names another thing, or two wait for it.
    let other = late.replacen("x_0050", "x_0051", 2);
    check(&model, &(known.clone() + &other), &(together.clone() + "33\n34\n35\n"));
    let both = "a - sort x=x_0050 b@49.000#x_0050\na - other 49.001-49.001\n".to_owned() + late;
    check(&model, &(known + &both), &(together + "33\n34\n35\n36\n37\n"));
}

/// What others can have printed as well is of the method that goes on with it.
#[test]
fn a_line_is_of_the_method_of_what_goes_on_with_it() {
    let model = sketch::model(&(COMPANIONS.to_owned() + "\n    top also Task\n      >b"));
    let text = in_turn("-", 8).replace("sort b", "also|sort b");
    let requests = reduce(&model, outputs(&spans(&model, &text), |_, _| 0), &Config::default());
    let first = |request: &Accumulator| request.spans[0].top_levels[0];
    assert!(requests.iter().all(|request| first(request) == sketch::top(&model, "sort")));
}

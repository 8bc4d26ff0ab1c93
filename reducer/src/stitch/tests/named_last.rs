//! What everybody can have started.

use super::*;

/// Everybody hands a cleanup over through one helper.
const CLEANUP: &str = "
    point p
    top merge Task file=File.path
      >p
    top look Task file=File.path
      >p
    top helper DispatchTarget
    top clean Task path=Path
      >p
    pair helper clean Thread
";

#[test]
fn what_everybody_can_have_started_is_of_who_named_it_last() {
    let files = |look: &str| {
        format!(
            "a t1 merge file=/data/a1 p@1.0#/data/a1
             a t2 look file=/data/a1 p@{look}#/data/a1
             a t3 clean path=/data/a1 p@1.01#/data/a1
             b t3 clean path=/data/a1 p@1.02#/data/a1"
        )
    };
    // Named by another one a moment before, at the same time, and after.
    check(CLEANUP, &files("0.95"), "2\n1 3 1>3\n4");
    check(CLEANUP, &files("1.0"), "1\n2\n3\n4");
    check(CLEANUP, &files("1.015"), "1 3 1>3\n2\n4");
    // So does a short name, but no short number.
    check(CLEANUP, &files("0.95").replace("/data/a1", "/d/a1"), "2\n1 3 1>3\n4");
    check(CLEANUP, &files("0.95").replace("/data/a1", "39713"), "2\n1\n3\n4");
    // Somebody is known to start it.
    let known = format!("{CLEANUP}    pair look clean Thread\n");
    check(&known, &files("90.0"), "1\n3\n4\n2");
}

#[test]
fn what_hardly_ever_begins_after_a_line_began_there_by_chance() {
    let model = "
        point p
        point merged
        point cleaned
        top merge Task file=File.path
          >merged
        top helper DispatchTarget
        top clean Task path=Path
          >cleaned
        pair helper clean Thread";
    // So many files are merged, and the first of them is cleaned up.
    let files = |n: usize| {
        let merge = |i: usize| format!("a m{i} merge file=/data/b{i} merged@{}.0#/data/b{i}\n", 10 + i);
        (1..=n).map(merge).collect::<String>() + "a t clean path=/data/b1 cleaned@11.01#/data/b1"
    };
    let rest = |n: usize| (2..=n).map(|i| format!("{i}\n")).collect::<String>();
    check(model, &files(16), &format!("1 17 1>17\n{}", rest(16)));
    check(model, &files(17), &format!("1\n18\n{}", rest(17)));
}

#[test]
fn a_thread_that_works_off_a_row_keeps_its_last_task_waiting() {
    let row = |busy: &str| {
        format!(
            "a t1 merge file=/data/a1 p@1.0#/data/a1 p@1.0#/data/a2
             a t3 clean path=/data/a1 p@1.01 p@{busy}
             a t3 clean path=/data/a2 p@1.2"
        )
    };
    let file = |text: String| text.replace("file=/data/a1", "file=/data/a1 file=/data/a2");
    check(CLEANUP, &file(row("1.19")), "1 2 3 1>2 1>3");
    // It was handed over when the thread had begun already.
    let late = row("1.19").replace("p@1.0#/data/a2", "p@1.05#/data/a2");
    check(CLEANUP, &file(late), "1 2 1>2\n3");
    // The thread had nothing to do meanwhile.
    check(CLEANUP, &file(row("1.02")), "1 2 1>2\n3");
}

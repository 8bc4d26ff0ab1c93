//! Tasks that begin late.

use super::*;

const FLUSHES: &str = "
    point p
    top flush Task table=Table.name?
      >p
    top write Task table=Table.name? file=File.path
      >p
    pair flush write Thread table=table
";

/// Thirty-two flushes, of four tables in turn, and what comes then.
fn flushes(then: &str) -> String {
    let flush = |i: usize| {
        let (at, table) = (100.0 + i as f64 * 10.0, i % 4);
        let begun = at + 0.001;
        format!(
            "a t flush table=table{table} {at}-{at}\na w write table=table{table} file=f{i:05} {begun}-{begun}\n"
        )
    };
    (0..32).map(flush).collect::<String>() + then
}

fn expected(then: &str) -> String {
    let flush = |i: usize| format!("{a} {b} {a}>{b}\n", a = 2 * i + 1, b = 2 * i + 2);
    (0..32).map(flush).collect::<String>() + then
}

#[test]
fn a_task_that_stands_next_to_who_waits_for_it_is_his_however_late() {
    let late = "a t flush table=table1 900.0-900.0
        a w write table=table1 file=f99999 903.0-903.0";
    check(FLUSHES, &flushes(late), &expected("65 66 65>66"));
    // Somebody else stands between them, so that either can be meant.
    let between = "a t flush table=table1 900.0-900.0
        a t flush table=table1 900.5-900.5
        a t flush table=table1 901.0-901.0
        a v write table=table1 file=f99998 901.001-901.001
        a w write table=table1 file=f99999 903.0-903.0";
    check(FLUSHES, &flushes(between), &expected("65\n66\n67 68 67>68\n69"));
    // So long after it is no task of his.
    let later = late.replace("903.0", "963.0");
    check(FLUSHES, &flushes(&later), &expected("65\n66"));
}

#[test]
fn a_task_about_what_is_handed_over_once_can_wait_for_long() {
    let late = "a t flush table=table-new 900.0-900.0
        a w write table=table-new file=f99999 963.0-963.0";
    check(FLUSHES, &flushes(late), &expected("65 66 65>66"));
    let again = "a t flush table=table-new 900.0-900.0
        a w write table=table-new file=f99999 963.0-963.0
        a t flush table=table-new 970.0-970.0";
    check(FLUSHES, &flushes(again), &expected("65\n66\n67"));
}

/// Who prints something else than what stands before the hand-off does not wait for a task,
/// however many they are.
#[test]
fn who_is_not_at_the_hand_off_does_not_wait() {
    let mut model = sketch::model(&FLUSHES.replace("top flush", "point q\n    top flush").replacen(
        ">p\n",
        ">p\n      >q\n",
        1,
    ));
    let others: String = (0..8).map(|i| format!("a t flush table=table1 q@{i}.0\n")).collect();
    let late = "a t flush table=table1 900.0-900.0
        a w write table=table1 file=f99999 903.0-903.0";
    let lines = others + &flushes(late);
    let expected = |late: &str| {
        let flush = |i: usize| format!("{a} {b} {a}>{b}\n", a = 2 * i + 9, b = 2 * i + 10);
        (1..9).map(|n| format!("{n}\n")).chain((0..32).map(flush)).collect::<String>() + late
    };
    check_model(&model, &lines, &expected("73\n74"));
    model.communication_pairs[0].before = vec![sketch::point(&model, "p")];
    check_model(&model, &lines, &expected("73 74 73>74"));
}

/// Without threads, what names a late task can go on with a line that names nothing: that
/// is its first part.
#[test]
fn what_names_a_late_task_leads_to_its_first_part() {
    let model = FLUSHES.replace("point p", "point p\n    point e");
    let (before, write) = model.split_once("top write").expect("a task");
    let model = format!("{before}top write{}", write.replacen(">p", ">e p\n      >p", 1));
    let flush = |i: usize, later: f64, table: &str| {
        let (at, begun) = (100.0 + i as f64 * 10.0, 100.0 + i as f64 * 10.0 + later);
        format!(
            "a - flush table={table} {at}-{at}
             a - write e@{begun}
             a - write table={table} file=f{i:05} p@{:.3}\n",
            begun + 0.001
        )
    };
    let lines: String = (0..32).map(|i| flush(i, 0.001, &format!("table{}", i % 4))).collect();
    let whole = |i: usize| {
        let (a, b, c) = (3 * i + 1, 3 * i + 2, 3 * i + 3);
        format!("{a} {b} {c} {a}>{b} {b}>{c}\n")
    };
    let late = flush(99, 43.0, "table-new");
    check(&model, &(lines + &late), &(0..33).map(whole).collect::<String>());
}

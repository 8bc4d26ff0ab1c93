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

//! Numbers that one counter gives out, and numbers that only look like it.

use super::*;

/// A driver hands tasks out to workers, which tell a handler that hardly ever prints.
const TASKS: &str = "
    point p
    top hand Task task=Task.id
      >p
    top work Task task=Task.id
      >p
    top tell EventHandler task=Task.id
      >p
    top done Task task=Task.id
      >p
    pair hand work Socket task=task
    pair work tell Socket task=task
    pair tell done Thread task=task
";

/// Tasks of ten seconds each, one after the other, each by its number, after
/// another one that the handler prints.
fn tasks(n: usize, number: impl Fn(usize) -> usize) -> String {
    let task = |i: usize| {
        let (start, number) = (100.0 + 20.0 * i as f64, number(i));
        let (begun, done) = (start + 0.1, start + 10.0);
        format!(
            "a t hand task={number} {start}-{start}\nb u work task={number} {begun}-{begun}\n\
             a v done task={number} {done}-{done}\n"
        )
    };
    ["a w tell task=another 0-0\n".to_owned()].into_iter().chain((0..n).map(task)).collect()
}

/// Requests: what came before, and each of `n` tasks as a line of `task`, given the numbers of
/// its spans.
fn requests(n: usize, task: impl Fn([usize; 3]) -> String) -> String {
    let tasks = (0..n).map(|i| task([3 * i + 2, 3 * i + 3, 3 * i + 4]));
    ["1\n".to_owned()].into_iter().chain(tasks).collect()
}

fn whole(n: usize) -> String {
    requests(n, |[a, b, c]| format!("{a} {b} {c} {a}>{b} {a}>{c}\n"))
}

/// The tasks, and what is done when they have returned, apart.
fn cut(n: usize) -> String {
    requests(n, |[a, b, c]| format!("{a} {b} {a}>{b}\n{c}\n"))
}

#[test]
fn numbers_that_one_counter_gives_out_name_work_that_is_silent_in_between() {
    check(TASKS, &tasks(40, |i| i), &whole(40));
    // Too few to learn from.
    check(TASKS, &tasks(31, |i| i), &cut(31));
}

#[test]
fn numbers_in_no_order_name_nothing() {
    check(TASKS, &tasks(40, |i| i * 7 % 41), &cut(40));
    check(TASKS, &tasks(40, |i| i * 100), &cut(40));
}

#[test]
fn what_comes_back_is_no_work_that_goes_by() {
    let again: String = (0..40).map(|i| format!("a x done task={i} 2000-2000\n")).collect();
    let lone: String = (122..=161).map(|i| format!("{i}\n")).collect();
    check(TASKS, &(tasks(40, |i| i) + &again), &(cut(40) + &lone));
}

#[test]
fn what_each_node_counts_for_itself_names_nothing() {
    let counted = |i: usize| {
        let (node, start) = (["b", "c"][i % 2], 100.0 + 20.0 * i as f64);
        let done = start + 10.0;
        format!("{node} t hand task={i} {start}-{start}\n{node} v done task={i} {done}-{done}\n")
    };
    let text: String = (0..40).map(counted).collect();
    let lone: String = (2..=81).map(|i| format!("{i}\n")).collect();
    check(TASKS, &("a w tell task=another 0-0\n".to_owned() + &text), &("1\n".to_owned() + &lone));
}

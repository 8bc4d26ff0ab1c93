//! First lines: what all tasks of a pool begin with.

use super::*;

/// Everybody sets up; who opens says so when it is done.
const OPENS: &str = "
    point sets
    point opened region=Region.name
    top open Task region=Region.name
      >sets< opened
      >opened<
    top close Task region=Region.name
      >sets<";

/// So many regions, opened in turn by two threads of a name, and then two by one of them
/// without a pause.
fn records(name: &str, n: usize) -> String {
    let open = |i: usize| {
        let thread = format!("{name}{}", i % 2);
        format!("{}.0 {thread} sets\n{}.9 {thread} opened region=region_{i}\n", 10 * i, 10 * i)
    };
    let (t, now) = (format!("{name}0"), 10 * n);
    let last = format!(
        "{now}.0 {t} sets\n{now}.9 {t} opened region=region_1001\n{now}.91 {t} sets\n{}.8 {t} opened region=region_1002",
        now + 1
    );
    (0..n).map(open).collect::<String>() + &last
}

#[test]
fn what_does_not_begin_as_all_tasks_of_a_pool_do_goes_on_with_the_one_before() {
    let text = run(&sketch::model(OPENS), &records("opener-", 12));
    let n_opened = text.lines().filter(|line| line.split(';').count() == 2).count();
    assert_eq!((text.lines().count(), n_opened), (14, 14), "{text}");
}

/// What is done for each of several things, of which hardly any is lost.
const RESULTS: &str = "
    point done id=Task.id
    point lost id=Task.id
    top run Task id=Task.id
      >done< lost
      >lost<";

#[test]
fn what_names_another_one_does_not_go_on_with_the_one_before() {
    let done = |i: usize| format!("{}.0 getter-{} done id=task_{i}\n", 10 * i, i % 2);
    let last = "130.0 getter-0 done id=task_130\n130.2 getter-0 lost id=task_131";
    let text = run(&sketch::model(RESULTS), &((0..12).map(done).collect::<String>() + last));
    assert_eq!(text.lines().count(), 14, "{text}");
}

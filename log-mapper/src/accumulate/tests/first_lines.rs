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

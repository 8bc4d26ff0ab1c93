//! Lines that stand between two of one span.

use super::*;

/// What `place` prints between two lines, `scan` prints too.
const PLACES: &str = "
    point p
    point b
    point c
    point d
    top place Task
      >b d
      d* c
      >c
    top other Task
      >p
    top scan Task
      >d*";

fn apart(from: usize, n: usize) -> String {
    (from..from + n).map(|line| format!("{line}\n")).collect()
}

/// The four lines of a cut, by their time: the last begins with the first.
fn cut_apart(from: usize) -> String {
    format!("{from}\n{}\n{}\n{}\n", from + 3, from + 1, from + 2)
}

#[test]
fn a_line_directly_after_one_that_it_always_follows_is_of_that_where_that_goes_on() {
    let whole = |n: usize| -> String {
        let line = |i: usize, node: char| format!("{node} - other {i}.000-{i}.000\n");
        let span = |i: usize| format!("a - place b@{i}.000 d@{i}.001+1 c@{i}.002+2\n");
        (0..n).map(|i| span(i) + &line(i, 'b') + &line(i, 'c')).collect()
    };
    let cut = |top: &str| {
        format!(
            "a - place b@50.000 c@50.003+3
             a - {top} d@50.001
             a - {top} d@50.002
             b - other 50.000-50.000\n"
        )
    };
    check(PLACES, &(whole(8) + &cut("scan|place")), &(apart(1, 24) + "25 26 27 25>26 25>27\n28\n"));
    check(PLACES, &(whole(7) + &cut("scan|place")), &(apart(1, 21) + &cut_apart(22)));
    // It cannot be of that.
    check(PLACES, &(whole(8) + &cut("scan")), &(apart(1, 24) + &cut_apart(25)));
    // Others print the same after the same.
    let others = "a - place b@60.000\na - scan d@60.001 d@60.002+1\n";
    check(
        PLACES,
        &(whole(8) + &cut("scan|place") + others),
        &(apart(1, 24) + &cut_apart(25) + &apart(29, 2)),
    );
    // Somebody else stands between.
    let between = cut("scan|place").replacen("scan|place d", "other p", 1);
    check(PLACES, &(whole(8) + &between), &(apart(1, 24) + &cut_apart(25)));
}

//! Whom of those for whom equally many identifiers speak a record is of, without threads.

use super::*;

/// Two works on one table.
const WORKS: &str = "
    point begun table=Table.name
    point asked table=Table.name
    point step table=Table.name
    point note table=Table.name
    top work Task table=Table.name
      >begun step
      step note
      note step
    top serve Task table=Table.name
      >asked step
      step note
      note<";

#[test]
fn who_has_shown_a_digest_within_a_text_is_surer_than_who_printed_last() {
    let records = |one: &str, other: &str| {
        format!(
            "1.000 - begun table=users_77 /data/{one}/a
             1.100 - asked table=users_77 /data/{other}/a
             1.200 - step table=users_77 /data/{one}/b"
        )
    };
    let (one, other) = ("27d9e6758350b73e967e79da261bade8", "9b1c0a7d5f2e4836a1b2c3d4e5f60718");
    let first = "work: 1 opens; 3 1 id\nserve: 2 opens";
    let last = "work: 1 opens\nserve: 2 opens; 3 1 id";
    check(WORKS, &records(one, other), first);
    // Both have shown it, or what is none.
    check(WORKS, &records(one, one), last);
    check(WORKS, &records(&one.to_uppercase(), other), last);
    check(WORKS, &records(&"1234".repeat(8), other), last);
    check(WORKS, &records(&one[1..], other), last);
}

#[test]
fn of_two_at_work_it_is_who_has_not_printed_that_line_yet() {
    let records = |last: &str| {
        format!(
            "1.000 - begun table=users_77
             1.001 - step table=users_77
             1.002 - asked table=users_77
             1.003 - note table=users_77
             {last} - step table=users_77"
        )
    };
    check(WORKS, &records("1.022"), "work: 1 opens; 2 1 id; 4 1 id\nserve: 3 opens; 5 1 id");
    // It has been silent for longer than a moment.
    check(WORKS, &records("1.023"), "work: 1 opens; 2 1 id; 4 1 id; 5 1 id\nserve: 3 opens");
}

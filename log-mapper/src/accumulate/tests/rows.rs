//! Lines about one thing that stand one after the other, without threads.

use super::*;

/// Whoever cleans a folder up deletes its files and removes it; others only remove one.
const ROWS: &str = "
    point note path=Path.text
    point deletes path=Path.text
    point removes path=Path.text
    top look Task
      >note<
    top clean Task
      >deletes* removes
      removes<
    top sweep Task
      >removes<";

#[test]
fn lines_about_one_thing_at_once_are_of_who_waits_for_them() {
    let records = |last: &str| {
        format!(
            "1.000 - deletes path=/data/t1-77.old/a.log
             1.001 - deletes path=/data/t1-77.old/b.log
             {last}"
        )
    };
    let row = "order, names the same at once";
    let whole = format!("clean: 1 opens; 2 {row}; 3 {row}");
    check(ROWS, &records("1.002 - removes path=/data/t1-77.old"), &whole);
    // Directly after it also a moment later, but not after a pause.
    check(ROWS, &records("1.050 - removes path=/data/t1-77.old"), &whole);
    let apart = format!("clean: 1 opens; 2 {row}\nsweep: 3 opens");
    check(ROWS, &records("1.900 - removes path=/data/t1-77.old"), &apart);
    // Another thing.
    check(ROWS, &records("1.002 - removes path=/data/t1-88.old"), &apart);
}

#[test]
fn what_very_many_lines_name_is_no_row() {
    let notes: String = (0..40).map(|n| format!("0.{n:03} - note path=/data/t1-77.old/{n}\n")).collect();
    let row = "order, names the same at once";
    let last = |folder: &str| {
        let records = format!("1.000 - deletes path={folder}/a.log\n1.001 - removes path={folder}");
        let spans = run(&sketch::model(ROWS), &(notes.clone() + &records));
        spans.lines().last().map(str::to_owned)
    };
    assert_eq!(last("/data/t1-77.old"), Some("sweep: 42 opens".to_owned()));
    assert_eq!(last("/data/t1-88.old"), Some(format!("clean: 41 opens; 42 {row}")));
}

/// Of equal values the analysis knows whether they name the same: the second line is as well
/// somebody else's call for the same thing.
#[test]
fn equal_values_are_no_row() {
    let records = "1.000 - deletes path=/data/t1-77.old\n1.001 - removes path=/data/t1-77.old";
    check(ROWS, records, "clean: 1 opens\nsweep: 2 opens");
}

#[test]
fn of_several_it_is_who_names_more_of_it() {
    let records = "1.000 - deletes path=/data/t1-77.old/a1.log
                   1.001 - deletes path=/data/t1-88.old/c1.log
                   1.002 - removes path=/t1-88.old/t1-77.old/a1.log";
    let row = "order, names the same at once";
    check(ROWS, records, &format!("clean: 1 opens; 3 {row}\nclean: 2 opens"));
}

//! What follows as such lines do in this log, without threads and without names.

use std::collections::BTreeSet;

use schema::{Pass, Passes};

use super::*;

/// Work that can begin with any of its lines, as far as the code says: what is written for one
/// client, and what tidies up meanwhile.
const WORK: &str = "
    point asked
    point written
    point swept
    top serve Task
      >asked written
      >written<
    top sweep Task
      >swept<";

/// `n` times something is asked, and written at once; each third time what is written comes later,
/// and is something else. A good while after it something is swept up.
fn shown(n: usize) -> String {
    let one = |i: usize| {
        let written = if i.is_multiple_of(3) { "7" } else { "002" };
        let (first, then) = (format!("{i}.{written} - written\n"), format!("{i}.500 - swept\n"));
        format!("{i}.000 - asked\n{}", if i.is_multiple_of(3) { then + &first } else { first + &then })
    };
    (0..n).map(one).collect()
}

/// What is decided before a record begins a span, and not of all together at the end of a part.
fn spans(records: &str, without: Passes) -> Vec<String> {
    let model = sketch::model(WORK);
    let without = without.with(Pass::Continuations);
    let config = Config { node: "n".to_owned(), without, ..Config::default() };
    let spans = run_with(&model, &model, records, &config);
    spans.lines().map(str::to_owned).collect()
}

#[test]
fn a_line_that_can_begin_goes_on_where_the_log_shows_it() {
    let records = shown(42);
    let of = |without| spans(&records, without).into_iter().filter(|span| span.contains(';')).count();
    assert_eq!((of(Passes::default()), of(Passes::default().with(Pass::Decoder))), (28, 0));
}

#[test]
fn it_begins_a_span_where_it_comes_late_or_others_stand_between() {
    let last = |records: &str| spans(&(shown(42) + records), Passes::default()).pop();
    let at_once = "serve: 127 opens; 128 follows as such lines do";
    assert_eq!(last("90.0 - asked\n90.002 - written").as_deref(), Some(at_once));
    assert_eq!(last("90.0 - asked\n93.0 - written").as_deref(), Some("serve: 128 opens"));
    let between = "90.0 - swept\n".repeat(10);
    let last = last(&format!("90.0 - asked\n{between}90.4 - written"));
    assert_eq!(last.as_deref(), Some("serve: 138 opens"));
}

#[test]
fn of_two_that_can_go_on_alike_neither_does() {
    // The nearer one is asked for first; what that has printed then is not what the other waits for.
    let two = "90.000 - asked\n90.000 - asked\n90.001 - written\n90.001 - written\n";
    let spans = spans(&(shown(42) + two), Passes::default());
    assert!(spans.contains(&"serve: 127 opens".to_owned()), "{spans:?}");
    assert!(spans.contains(&"serve: 130 opens".to_owned()), "{spans:?}");
}

#[test]
fn the_result_does_not_depend_on_where_parts_end() {
    let model = sketch::model(WORK);
    let records = shown(200);
    let of = |part_records| {
        let without = Passes::default().with(Pass::Continuations);
        let config = Config { node: "n".to_owned(), part_records, without, ..Config::default() };
        let spans = run_with(&model, &model, &records, &config);
        spans.lines().map(str::to_owned).collect::<BTreeSet<_>>()
    };
    assert_eq!(of(64), of(100_000));
}

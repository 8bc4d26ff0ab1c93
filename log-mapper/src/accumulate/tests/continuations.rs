//! Without threads, what each span goes on with: decided of all together, by what the log shows.

use super::*;

/// A handler that prints as it begins and as it ends, and names nothing; something else can print
/// its last line too, so that while the log is read it begins a span.
const WORK: &str = "
    point asked
    point answered
    top serve RpcHandler
      >asked answered
      answered<
    top refuse RpcHandler
      >answered<
    point noted
    top note Task
      >noted<";

/// `n` runs, far apart, that take 40 ms; in the middle of each something else is printed.
fn apart(n: usize) -> String {
    (0..n).map(|i| format!("{i}.000 - asked\n{i}.01{} - noted\n{i}.040 - answered\n", i % 10)).collect()
}

/// The lines that each of the last `n` spans holds.
fn last(records: &str, n: usize) -> Vec<String> {
    last_of(WORK, records, n)
}

/// The same of the program `work`.
fn last_of(work: &str, records: &str, n: usize) -> Vec<String> {
    let without = schema::Passes::default().with(schema::Pass::Decoder);
    let config = Config { node: "n".to_owned(), without, ..Config::default() };
    let model = sketch::model(work);
    let spans = run_with(&model, &model, records, &config);
    let lines = |span: &str| {
        let (_, events) = span.split_once(": ").expect("a name");
        let lines = events.split("; ").map(|event| event.split(' ').next().expect("a line"));
        lines.collect::<Vec<_>>().join(" ")
    };
    let mut spans: Vec<String> = spans.lines().map(lines).collect();
    spans.split_off(spans.len() - n)
}

#[test]
fn several_that_wait_go_on_after_as_long_as_such_runs_take() {
    let two = "90.000 - asked\n90.020 - asked\n90.040 - answered\n90.060 - answered\n";
    assert_eq!(last(&(apart(20) + two), 2), ["61 63", "62 64"]);
    // What began last can have ended first, and what takes another time than all others is left apart.
    let within = "90.000 - asked\n90.200 - asked\n90.240 - answered\n90.500 - answered\n";
    assert_eq!(last(&(apart(20) + within), 3), ["61", "62 63", "64"]);
}

#[test]
fn of_two_that_began_at_once_nothing_tells() {
    let two = "90.000 - asked\n90.000 - asked\n90.040 - answered\n90.040 - answered\n";
    assert_eq!(last(&(apart(20) + two), 4), ["61", "62", "63", "64"]);
}

#[test]
fn what_two_methods_print_wholly_is_not_what_a_third_one_prints() {
    // One asks and another one refuses, always so long after: tasks of a pool take turns.
    let asks = format!("{WORK}\n    top ask Task\n      >asked<");
    let two = "90.000 - asked\n90.010 - noted\n90.040 - answered\n";
    assert_eq!(last_of(&asks, &(apart(20) + two), 3), ["61", "62", "63"]);
    assert_eq!(last(&(apart(20) + two), 2), ["61 63", "62"]);
}

#[test]
fn of_two_that_wait_one_goes_on_with_what_names_the_same() {
    let names = WORK
        .replace("point asked", "point asked about=Name.text")
        .replace("point answered", "point answered about=Name.text");
    let one = |i: i32| {
        format!("{i}.000 - asked about=a{i}\n{i}.01{} - noted\n{i}.040 - answered about=a{i}\n", i % 10)
    };
    let apart: String = (0..20).map(one).collect();
    // By time alone the first would go on first.
    let two = "90.000 - asked about=x1\n90.010 - asked about=x2\n90.040 - answered about=x2\n90.050 - answered about=x1\n";
    assert_eq!(last_of(&names, &(apart + two), 2), ["61 64", "62 63"]);
}

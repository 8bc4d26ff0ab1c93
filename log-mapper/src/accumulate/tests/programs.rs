//! Which program a log is of.

use super::*;

/// Two programs share a line that nothing names; each has a line of its own.
pub(super) fn two_programs() -> Model {
    let mut model = sketch::model(
        "point serving
         point opening
         point fixing
         top serve Task
           >serving
         top open Task
           >opening<
         top repair Task
           >opening fixing
           fixing<",
    );
    model.entry_points = vec!["Server".to_owned(), "Tool".to_owned()];
    for (top, program) in [("serve", 0), ("open", 0), ("repair", 1)] {
        let top = sketch::top(&model, top);
        model.top_level_methods[top.index()].entry_points = vec![program];
    }
    model
}

#[test]
fn a_program_prints_only_what_it_can_run() {
    let model = two_programs();
    let served: String = (0..64).map(|i| format!("{i}.0 s serving\n")).collect();
    let text = run(&model, &format!("{served}70.0 t1 opening"));
    assert_eq!(text.lines().last(), Some("open: 65 opens"));
    let fixed: String = (0..64).map(|i| format!("{i}.0 s opening\n{i}.5 s fixing\n")).collect();
    let text = run(&model, &format!("{fixed}170.0 t1 opening"));
    assert_eq!(text.lines().last(), Some("repair: 129 opens"));
    // A log of both programs restricts nothing: the tool's work stays whole.
    let both = |i: i32| format!("{i}.0 s serving\n{i}.5 t1 opening\n{i}.6 t1 fixing\n");
    let both: String = (0..64).map(both).collect();
    let repairs = run(&model, &both);
    let whole = repairs.lines().filter(|line| line.starts_with("repair") && line.contains(';'));
    assert_eq!(whole.count(), 64, "{repairs}");
}

/// A master that can run a whole server in its process has 24 lines of its own.
#[test]
fn of_two_programs_that_can_have_printed_all_the_smaller_one_did() {
    let names = |of: &str, n: usize| (0..n).map(|i| format!("{of}{i}")).collect::<Vec<_>>();
    let (served, own) = (names("served", 8), names("own", 24));
    let lines = |names: &[String]| names.iter().map(|name| format!("  >{name}\n")).collect::<String>();
    let points: String = served.iter().chain(&own).map(|name| format!("point {name}\n")).collect();
    let mut model = sketch::model(&format!(
        "{points}point opening\npoint closing\npoint stray\ntop adopt Task\n>opening closing\nclosing<\n{}\
         top open Task\n>opening<\ntop close Task\n>closing<\ntop stray Task\n>stray<\ntop serve Task\n{}",
        lines(&own),
        lines(&served),
    ));
    model.entry_points = vec!["Server".to_owned(), "Master".to_owned(), "Tool".to_owned()];
    let both = ["open", "close", "serve"].map(|top| (top, vec![0, 1]));
    for (top, programs) in [("adopt", vec![1]), ("stray", vec![2])].into_iter().chain(both) {
        let top = sketch::top(&model, top);
        model.top_level_methods[top.index()].entry_points = programs;
    }
    let log = |n_kinds: usize, more: &str| {
        let all = (0..64).map(|i| format!("{i}.0 s served{}\n", i % n_kinds)).collect::<String>();
        run(&model, &format!("0.0 t opening\n0.1 t closing\n{more}{all}"))
    };
    let is_adopted = |log: &str| log.contains("adopt: 1 opens; 2");
    let served = log(8, "");
    assert!(served.contains("close: 2 opens"), "{served}");
    // Here the master has shown itself, and here nothing is known of all lines.
    for shown in [log(8, "0.2 w own3\n"), log(8, "0.2 w stray\n")] {
        assert!(is_adopted(&shown), "{shown}");
    }
    // So few lines say little of what else would have been printed.
    let few = log(1, "");
    assert!(is_adopted(&few), "{few}");
}

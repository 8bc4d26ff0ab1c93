//! Late: what goes on with a line wherever it stands.

use super::*;

const RECEIVES: &str = "
    point finished
    point registering
    top receive IdentifierLoss
      >finished< registering
      >registering<";

/// 10 rounds that register at once, and one that does so later.
fn rounds(late_ms: u32) -> String {
    let at_once = (1..=10).map(|i| format!("{}.000 t finished\n{0}.001 t registering\n", 10 * i));
    at_once.collect::<String>() + &format!("200.000 t finished\n200.{late_ms} t registering\n")
}

fn last(records: &str, n: usize) -> Vec<String> {
    let found = run(&sketch::model(RECEIVES), records);
    let lines: Vec<String> = found.lines().map(str::to_owned).collect();
    lines[lines.len() - n..].to_vec()
}

#[test]
fn what_never_begins_anything_goes_on_after_a_pause() {
    assert_eq!(last(&rounds(700), 1), ["receive: 21 opens; 22 thread, goes on late"]);
}

#[test]
fn what_begins_something_elsewhere_begins_something_after_a_pause() {
    let alone: String = (1..=10).map(|i| format!("{}.000 t registering\n", 300 + 10 * i)).collect();
    let found = run(&sketch::model(RECEIVES), &(rounds(700) + &alone));
    assert!(found.contains("receive: 21 opens\nreceive: 22 opens\n"), "{found}");
}

#[test]
fn an_end_and_a_beginning_that_always_stand_together_are_two() {
    // Each round ends long before the next one begins.
    let text: String = (1..=10).map(|i| format!("{i}.000 t registering\n{i}.500 t finished\n")).collect();
    let found = run(&sketch::model(RECEIVES), &text);
    assert!(!found.contains("late"), "{found}");
}

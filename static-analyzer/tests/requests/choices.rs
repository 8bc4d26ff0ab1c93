//! Work that is handed over at one of several places (`Choices.java`).

use schema::LinkKind;

use super::pairs_of;

/// Whether a sender of the fixture hands over several tasks.
fn is_many(sender: &str) -> bool {
    let pairs = pairs_of("Choices$");
    let mut to_task = pairs.iter().filter(|(from, to, ..)| from == sender && to == "Choices$Task");
    match (to_task.next(), to_task.next()) {
        (Some((_, _, LinkKind::Thread, many)), None) => *many,
        _ => panic!("{sender}: {pairs:?}"),
    }
}

#[test]
fn a_task_that_is_handed_over_at_one_of_two_places_runs_once() {
    assert!(!is_many("Choices$Either"));
}

#[test]
fn a_task_that_is_handed_over_at_one_place_after_another_runs_twice() {
    for sender in ["Choices$Both", "Choices$Twice"] {
        assert!(is_many(sender), "{sender}");
    }
}

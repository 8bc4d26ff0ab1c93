//! Threads that wait for what others give them, and what is summed up (`Idle.java`).

use schema::TopLevelKind;
use static_analyzer::rules::Rules;

use super::analyze;

#[test]
fn who_goes_on_when_nothing_came_serves_whatever_ends_it() {
    let kinds = analyze(&Rules::default()).kinds();
    assert_eq!(kinds["Idle$Receiver.run"], TopLevelKind::Dispatcher);
    // Start-up runs it once, and each turn names something else.
    assert_eq!(kinds["Idle$Gatherer.run"], TopLevelKind::Dispatcher);
}

#[test]
fn what_others_set_ends_a_service_and_what_start_up_counts_down_are_rounds() {
    let kinds = analyze(&Rules::default()).kinds();
    assert_eq!(kinds["Idle$Observer.run"], TopLevelKind::Dispatcher);
    assert_eq!(kinds["Idle$Counter.run"], TopLevelKind::Dispatcher);
}

#[test]
fn what_is_added_to_names_nothing_and_what_is_counted_does() {
    let names: Vec<String> =
        analyze(&Rules::default()).strengths("Idle$Adder.run").into_iter().map(|(name, _)| name).collect();
    assert!(!names.contains(&"Idle$Sum.total".to_owned()), "{names:?}");
    assert!(names.contains(&"Idle$Sum.serial".to_owned()), "{names:?}");
}

#[test]
fn what_alone_is_given_as_an_identifier_is_one() {
    let names: Vec<String> =
        analyze(&Rules::default()).strengths("Idle$Adder.run").into_iter().map(|(name, _)| name).collect();
    assert!(names.contains(&"Idle$Sum.stamp".to_owned()), "{names:?}");
    assert!(!names.contains(&"Idle$Sum.length".to_owned()), "{names:?}");
}

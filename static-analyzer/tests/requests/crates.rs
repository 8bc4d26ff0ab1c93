//! Values that are one: handed over, taken, given back; and turns that are one request
//! (`Crates.java`).

use std::collections::BTreeSet;

use schema::{IdentifierStrength, TopLevelKind};
use static_analyzer::rules::Rules;

use super::{analyze, handed};

#[test]
fn a_number_that_is_handed_over_and_printed_on_both_sides_names_the_request() {
    assert_eq!(handed("Crates$Loader"), ["Crates$Packer.pack Queue Crates$Crate.part"]);
    let strengths = analyze(&Rules::default()).strengths("Crates$Packer.pack");
    assert_eq!(strengths, [("Crates$Crate.part".to_owned(), IdentifierStrength::Request)]);
}

#[test]
fn a_turn_that_shows_one_thing_that_it_took_is_one_request() {
    let kinds = analyze(&Rules::default()).kinds();
    assert_eq!(kinds["Crates$Porter.run"], TopLevelKind::Dispatcher);
    assert!(!kinds.contains_key("Crates$Porter.note"), "{kinds:?}");
    assert!(!kinds.contains_key("Crates$Porter.lower"), "{kinds:?}");
}

#[test]
fn what_a_method_makes_and_gives_back_is_one_value_in_both() {
    let analysis = analyze(&Rules::default());
    let members = &analysis.top("Crates$Clerk.serve").members;
    // The order is printed first by both lines.
    let orders: BTreeSet<_> = members.iter().map(|member| member.bindings.first().copied()).collect();
    assert_eq!((members.len(), orders.len()), (2, 1), "{members:?}");
    assert!(orders.iter().flatten().flatten().count() == 1, "{members:?}");
}

#[test]
fn lines_that_name_nothing_may_stand_around_the_rounds_of_a_main() {
    let kinds = analyze(&Rules::default()).kinds();
    assert!(kinds.contains_key("Crates$Quay.moor"), "{kinds:?}");
}

//! Handlers that requests make, and what names them (`Ledgers.java`).

use schema::TopLevelKind;
use static_analyzer::rules::Rules;

use super::analyze;

#[test]
fn what_changes_and_what_it_keeps_many_of_is_no_name_of_an_entity() {
    let kinds = analyze(&Rules::default()).kinds();
    assert_eq!(kinds["Ledgers$Named.handle"], TopLevelKind::Entity);
    assert_eq!(kinds["Ledgers$Moving.handle"], TopLevelKind::EventHandler);
    assert_eq!(kinds["Ledgers$Keeping.handle"], TopLevelKind::EventHandler);
}

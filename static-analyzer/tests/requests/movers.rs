//! Threads that hand out what is there already before they serve (`Movers.java`).

use schema::LinkKind;

use super::pairs_of;

#[test]
fn what_is_handed_out_one_by_one_before_the_rounds_is_a_request_each() {
    let pairs = pairs_of("Movers$");
    let calls = |caller: &str, called: &str| {
        pairs.iter().any(|(from, to, kind, _)| from == caller && to == called && *kind == LinkKind::Call)
    };
    assert!(!calls("Movers$Mover", "Movers$Shelf"), "{pairs:?}");
    // What a dispatcher was made for is its starter's.
    assert!(calls("Movers$Owner", "Movers$Shelf"), "{pairs:?}");
}

//! Remote calls for each of many things (`Given.java`).

use schema::LinkKind;

use super::pairs_of;

#[test]
fn a_task_calls_for_what_it_was_given_as_one_request() {
    let pairs = pairs_of("Given$");
    let calls = pairs.iter().filter(|(_, to, kind, _)| to == "Given$Shelf" && *kind == LinkKind::Rpc);
    let calls: Vec<_> = calls.map(|(from, .., many)| (from.as_str(), *many)).collect();
    // Who waits for more asks for the next thing with each call, whatever it was given.
    assert_eq!(calls, [("Given$Repair", true)], "{pairs:?}");
}

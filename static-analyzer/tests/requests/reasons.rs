//! What is only handed down (`Reasons.java`).

use super::analyze;
use static_analyzer::rules::Rules;

#[test]
fn what_is_only_handed_down_is_met_below_who_makes_it() {
    let analysis = analyze(&Rules::default());
    let expiry = ["Reasons$Expired.tell", "Reasons$Expiry.run", "Reasons$Store.remove"];
    for wanted in expiry {
        assert!(analysis.members("Reasons$Expiry.run").contains(&wanted.to_owned()), "{wanted}");
    }
    assert!(!analysis.members("Reasons$Expiry.run").contains(&"Reasons$Dropped.tell".to_owned()));
    assert!(analysis.members("Reasons$Drop.run").contains(&"Reasons$Dropped.tell".to_owned()));
    assert!(!analysis.members("Reasons$Drop.run").contains(&"Reasons$Expired.tell".to_owned()));
}

#[test]
fn what_is_kept_is_met_by_whoever_has_it() {
    let members = analyze(&Rules::default()).members("Reasons$Audit.run");
    assert_eq!(members, ["Reasons$Audit.run", "Reasons$Dropped.tell", "Reasons$Expired.tell"]);
}

//! Calls that can mean very many methods (`Plans.java`).

use static_analyzer::rules::Rules;

use super::analyze;

#[test]
fn who_goes_through_a_structure_does_one_work_whatever_it_is_made_of() {
    let analysis = analyze(&Rules::default());
    let kinds = analysis.kinds();
    assert!(!kinds.keys().any(|name| name.starts_with("Plans$Plan")), "{kinds:?}");
    let members = analysis.members("Plans$Runner.run");
    let parts = (0..10).map(|i| format!("Plans$Plan{i}.compute"));
    assert!(parts.clone().all(|part| members.contains(&part)), "{members:?}");
}

#[test]
fn one_of_many_that_leads_nowhere_back_is_a_handler() {
    let analysis = analyze(&Rules::default());
    let kinds = analysis.kinds();
    assert!(kinds.contains_key("Plans$Guest0.greet"));
    assert_eq!(analysis.members("Plans$Host.run"), ["Plans$Host.run"]);
}

#[test]
fn what_is_made_for_a_call_is_no_part_of_a_structure() {
    // Each errand leads to more of them, all made anew.
    let analysis = analyze(&Rules::default());
    assert!(analysis.kinds().contains_key("Plans$1.go"));
    assert!(!analysis.members("Plans$Mover.run").contains(&"Plans$1.go".to_owned()));
}

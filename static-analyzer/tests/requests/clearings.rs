//! Work that is done at once or handed over (`Clearings.java`).

use super::analyze;
use static_analyzer::rules::Rules;

#[test]
fn what_does_its_work_as_well_at_once_does_it_for_its_caller() {
    let analysis = analyze(&Rules::default());
    assert!(!analysis.kinds().contains_key("Clearings.clear"));
    assert_eq!(analysis.members("Clearings$B.run"), ["Clearings$B.run", "Clearings.wipe"]);
}

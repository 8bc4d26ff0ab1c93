//! Ways through a sender on which it hands nothing over.

use super::*;

/// Who compares finds a difference and repairs it, or finds none.
const COMPARES: &str = "
    point equal
    point differs
    point p
    top compare Task
      >equal<
      >differs<
    top repair Task
      >p
    pair compare repair Call
";

#[test]
fn who_went_another_way_has_handed_nothing_over() {
    let mut model = sketch::model(COMPARES);
    let text = |found: &str| format!("a t compare {found}@1.0\na t repair p@1.01");
    // Where the hand-off stands is not known.
    check_model(&model, &text("equal"), "1 2 1>2");
    model.communication_pairs[0].before = vec![sketch::point(&model, "differs")];
    check_model(&model, &text("equal"), "1\n2");
    check_model(&model, &text("differs"), "1 2 1>2");
    // In a loop around both every way leads to it.
    let mut model = sketch::model(&COMPARES.replace(">equal<\n      >differs<", ">equal|differs*<"));
    model.communication_pairs[0].before = vec![sketch::point(&model, "differs")];
    check_model(&model, &text("equal"), "1 2 1>2");
}

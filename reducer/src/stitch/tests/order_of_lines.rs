//! Which line of a method can come after which.

use super::super::pairs::Pairs;
use super::*;

#[test]
fn a_line_follows_itself_only_where_it_is_printed_again_and_again() {
    let model = sketch::model(
        "point once
         point again
         point one
         point other
         top work Task
           >once again
           again* one
           one|other<",
    );
    let pairs = Pairs::new(&model);
    let follows = |before: &str, after: &str| {
        let top = sketch::top(&model, "work");
        pairs.prints_after(top, sketch::point(&model, before), sketch::point(&model, after))
    };
    assert!(follows("once", "again") && follows("again", "again"));
    assert!(!follows("once", "once") && !follows("again", "once"));
    assert!(follows("one", "other") && !follows("one", "one"), "of one node, but printed once");
}

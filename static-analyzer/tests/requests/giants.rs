//! A thread that prints very much before it serves (`Giants.java`).

use super::{model, node_of, top_of};

#[test]
fn what_is_too_large_for_a_dispatcher_keeps_its_order_as_far_as_it_can() {
    let model = model();
    let giant = top_of(&model, "Giants$Giant", "run");
    let [prepares, first, later] =
        ["prepares 0", "stranger 0", "stranger 50"].map(|text| node_of(&model, giant, text));
    assert!(prepares < first && first < later, "{prepares} {first} {later}");
}

//! What is a part of one of several spans.

use super::within::OPENERS;
use super::*;

#[test]
fn what_is_of_one_of_several_spans_is_of_their_one_request() {
    // Nothing leads from an opener to what is loaded.
    let model = &OPENERS.replace("pair open load Thread", "");
    let openings = |second: &str| {
        format!(
            "a - ask job=10f00001 1.0-1.0
             a - ask job=20f00001 1.0-1.0
             a - load before:4 before:5 1.2-1.2
             a - open job=10f00001 1.3-1.3
             a - open job={second} 1.4-1.4"
        )
    };
    check(model, &openings("10f00001"), "1 3 4 5 1>4 1>5 4>3\n2\n");
    check(model, &openings("20f00001"), "1 4 1>4\n2 5 2>5\n3\n");
    // One of the spans is not known: it was read with an earlier log.
    let earlier = openings("10f00001").replace("before:5", "before:9");
    check(model, &earlier, "1 4 5 1>4 1>5\n2\n3\n");
}

//! Lines of a loop that say how often it has been around, without threads.

use super::*;

/// Who tries something prints how often he has.
const TRIES: &str = "
    point tried server=Server.name n=Try.n
    point asked
    top ask Task
      >asked tried
      tried tried
    top other Task
      >tried tried";

#[test]
fn who_tries_again_goes_on_counting() {
    let records = "1.0 - tried server=a n=0
                   2.0 - tried server=a n=1
                   3.0 - tried server=a n=2
                   4.0 - tried server=a n=3
                   5.0 - tried server=a n=0
                   6.0 - tried server=a n=1
                   6.1 - tried server=a n=4
                   7.0 - tried server=a n=2";
    let begun = "other: 1 opens; 2 order; 3 order; 4 order; 7 order";
    check(TRIES, records, &format!("{begun}\nother: 5 opens; 6 order; 8 order"));
}

#[test]
fn a_number_that_does_not_count_says_nothing() {
    let records = "1.0 - tried server=a n=7
                   2.0 - tried server=a n=3
                   3.0 - tried server=a n=9
                   4.0 - tried server=a n=2";
    check(TRIES, records, "other: 1 opens; 2 order; 3 order; 4 order");
}

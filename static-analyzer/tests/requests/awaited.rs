//! Who waits for what he has handed over (`Awaited.java`).

use super::model;

#[test]
fn who_asks_for_the_result_of_what_he_has_started_waits_for_it() {
    let model = model();
    let class = |top: schema::TopLevelId| model.top_level_methods[top.index()].class.as_str();
    let waits_for = |from: &str, task: &str| {
        let mut pairs = model.communication_pairs.iter();
        let pair = pairs.find(|pair| class(pair.from) == from && class(pair.to) == task);
        pair.expect("a pair").waits
    };
    let waits = |from: &str| waits_for(from, "Awaited$Flush");
    assert!(waits("Awaited$Saver"), "it is given the future back, and a helper asks");
    assert!(waits("Awaited$Closer"), "a helper asks for each of a list");
    assert!(!waits("Awaited$Leaver"), "nobody asks");
    assert!(waits_for("Awaited$Opener", "Awaited$Opening"), "it takes what is done from where it put it");
    assert!(!waits_for("Awaited$Preparer", "Awaited$Opening"), "nobody takes it");
}

//! What a span can begin with (`Preludes.java`, `Berths.java`, `Giants.java`).

use schema::{LogPointId, TopLevelId};

use super::{model, top_of};

/// The texts of the log points that a span of a method can begin with.
fn firsts(class: &str, method: &str) -> Vec<String> {
    let model = model();
    let is_it = |top: &schema::TopLevelMethod| top.class == class && top.method == method;
    let top = model.top_level_methods.iter().position(is_it).expect("a top-level method");
    let firsts = model.successors.firsts(TopLevelId::new(top)).expect("every method has them");
    let text = |id: &LogPointId| model.log_points[id.index()].templates[0].regex.clone();
    let mut texts: Vec<String> = firsts.iter().map(text).collect();
    texts.sort();
    texts
}

#[test]
fn what_has_no_order_begins_with_what_comes_first() {
    let model = model();
    let dag = &top_of(&model, "Preludes$Concert", "run").dag;
    let n_entries: usize = dag.entries.iter().map(|&node| dag.nodes[node as usize].points.len()).sum();
    assert_eq!(n_entries, 1, "the first line, at a level that logs usually do not show");
    let next = &dag.nodes[dag.entries[0] as usize].next;
    let n_next: usize = next.iter().map(|&node| dag.nodes[node as usize].points.len()).sum();
    assert_eq!(n_next, 210 + 1, "all of `play`, which has no order and so can be passed, and the last line");
    assert_eq!(firsts("Preludes$Concert", "run"), ["concert plays 0", "concert tunes"]);
}

#[test]
fn what_another_top_level_method_prints_is_not_its_own() {
    // In the thread of the operator `answer` prints first, in spans of its own.
    assert_eq!(firsts("Berths$Operator", "run"), ["the operator goes"]);
}

#[test]
fn each_round_of_a_dispatcher_begins_anew() {
    let firsts = firsts("Giants$Giant", "run");
    // A round waits for a guest first, and that can fail.
    assert_eq!(firsts.len(), 3, "{firsts:?}");
    assert!(firsts[1].starts_with("giant lets in "), "{firsts:?}");
    assert_eq!([&*firsts[0], &*firsts[2]], ["giant is stuck", "giant wakes"]);
}

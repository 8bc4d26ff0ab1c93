//! What initializes a class initializes those that it extends (`Initialized.java`).

use static_analyzer::rules::Rules;

use super::{analyze, model, node_of, top_of};

#[test]
fn who_needs_a_class_initializes_those_that_it_extends() {
    let members = analyze(&Rules::default()).members("Initialized$Worker.run");
    assert_eq!(members, ["Initialized$Base.announce", "Initialized$Worker.run"]);
}

#[test]
fn who_needs_it_is_only_now_and_then_the_first() {
    let model = model();
    let run = top_of(&model, "Initialized$Worker", "run");
    let node = |text: &str| node_of(&model, run, text);
    let (makes, made) = (node("worker makes"), node("worker made"));
    let base = node("initialized base");
    assert!(run.dag.nodes[makes as usize].next.contains(&made));
    // It comes whenever that is: nothing has to come after it.
    assert!(run.dag.nodes[base as usize].next.is_empty());
}

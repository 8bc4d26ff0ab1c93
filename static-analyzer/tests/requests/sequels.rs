//! A thread that keeps a number from round to round, and what it starts (`Sequels.java`).

use schema::{LogPointId, Model};

use super::{model, top_of};

fn point_of(model: &Model, text: &str) -> LogPointId {
    let prints = |point: &schema::LogPoint| {
        point.class.starts_with("Sequels") && point.templates.iter().any(|t| t.regex.contains(text))
    };
    LogPointId::new(model.log_points.iter().position(prints).expect("a log point"))
}

#[test]
fn what_tells_of_the_round_before_is_of_no_round() {
    let model = model();
    let follows = top_of(&model, "Sequels$Follows", "run");
    let is_outside = |text: &str| follows.outside_rounds.contains(&point_of(&model, text));
    assert!(is_outside("following") && is_outside("after"));
    assert!(!is_outside("is over") && !is_outside("in round") && !is_outside("took"));
    // It can come after whatever comes before the rounds.
    let prints = |node: &schema::DagNode, text: &str| {
        node.points.iter().any(|point| point.log_point == point_of(&model, text))
    };
    let nodes = &follows.dag.nodes;
    let first = nodes.iter().find(|node| prints(node, "following")).expect("a node");
    assert!(first.next.iter().any(|&next| prints(&nodes[next as usize], "after")));
    assert!(!first.next.iter().any(|&next| prints(&nodes[next as usize], "took")));
}

#[test]
fn what_is_started_before_the_rounds_is_started_outside_of_them() {
    let model = model();
    let class = |top: schema::TopLevelId| model.top_level_methods[top.index()].class.as_str();
    let is_outside = |to: &str| {
        let mut pairs = model.communication_pairs.iter();
        let pair = pairs.find(|pair| class(pair.from) == "Sequels$Follows" && class(pair.to) == to);
        pair.expect("a pair").outside_rounds
    };
    assert!(is_outside("Sequels$Connects") && !is_outside("Sequels$Stores"));
}

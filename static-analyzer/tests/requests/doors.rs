//! A thread that serves, what it does before that, and who starts it (`Doors.java`).

use schema::{LinkKind, LogPointId, Model, TopLevelKind, TopLevelMethod};
use static_analyzer::rules::Rules;

use super::{analyze, model, node_of, pairs_of, top_of};

/// The log point of `method` with `text` in its template.
fn point_of(model: &Model, method: &TopLevelMethod, text: &str) -> LogPointId {
    let node = &method.dag.nodes[node_of(model, method, text) as usize];
    let prints = |point: &LogPointId| {
        model.log_points[point.index()].templates.iter().any(|template| template.regex.contains(text))
    };
    node.points.iter().map(|point| point.log_point).find(prints).expect("a log point")
}

#[test]
fn what_a_stream_makes_is_started_through_a_reference_to_what_starts_it() {
    assert_eq!(analyze(&Rules::default()).starts("Doors$Porter.run"), ["Doors$Door.run"]);
}

#[test]
fn a_loop_that_serves_does_so_within_one_that_tries_again() {
    let kinds = analyze(&Rules::default()).kinds();
    assert_eq!(kinds["Doors$Door.open"], TopLevelKind::Dispatcher);
    // What ends by what it counts does not, nor what stands in it.
    assert_eq!(kinds["Doors$Painter.run"], TopLevelKind::Task);
}

#[test]
fn what_comes_before_the_rounds_is_no_part_of_the_first_one() {
    let model = model();
    let door = top_of(&model, "Doors$Door", "open");
    let (opens, enters) = (node_of(&model, door, "door is open"), node_of(&model, door, "door lets in"));
    assert!(!door.dag.nodes[opens as usize].next.contains(&enters));
    assert!(door.dag.entries.contains(&opens) && door.dag.entries.contains(&enters));
    let outside = |text: &str| door.outside_rounds.contains(&point_of(&model, door, text));
    assert!(outside("door is open") && outside("door is closed") && !outside("door lets in"));
}

#[test]
fn who_starts_a_thread_has_what_it_does_before_its_rounds() {
    let pairs = pairs_of("Doors$");
    let is_start = |(from, to, kind, _): &(String, String, LinkKind, bool)| {
        from == "Doors$Porter" && to == "Doors$Door" && *kind == LinkKind::Thread
    };
    assert!(pairs.iter().any(is_start), "{pairs:?}");
    let model = model();
    let door = top_of(&model, "Doors$Door", "open");
    let is_open = |pair: &&schema::CommunicationPair| {
        let tops = &model.top_level_methods;
        std::ptr::eq(&tops[pair.to.index()], door) && tops[pair.from.index()].class == "Doors$Porter"
    };
    let pair = model.communication_pairs.iter().find(is_open).expect("a start past what runs it");
    let is_elsewhere = |text: &str| pair.elsewhere.contains(&point_of(&model, door, text));
    assert!(is_elsewhere("door lets in") && !is_elsewhere("door is open"));
}

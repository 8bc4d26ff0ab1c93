//! Work that is handed over now and runs later (`Later.java`).

use schema::{LinkKind, Model, TopLevelKind};

use super::{analyze, model};
use static_analyzer::rules::Rules;

/// Who hands work to a method of the fixture, and how.
fn senders(model: &Model, method: &str) -> Vec<(String, LinkKind)> {
    let top = |id: schema::TopLevelId| &model.top_level_methods[id.index()];
    let is_it = |id: schema::TopLevelId| top(id).class.starts_with("Later") && top(id).method == method;
    let pairs = model.communication_pairs.iter().filter(|pair| is_it(pair.to));
    let mut found: Vec<_> = pairs.map(|pair| (top(pair.from).method.to_string(), pair.kind)).collect();
    found.sort();
    found.dedup();
    found
}

#[test]
fn what_runs_when_the_process_ends_was_caused_by_nobody() {
    let kinds = analyze(&Rules::default()).kinds();
    // Registered at once, and through a helper.
    for hook in ["Later.lambda$main$10", "Later.lambda$main$11"] {
        assert_eq!(kinds.get(hook), Some(&TopLevelKind::Task), "{kinds:?}");
    }
    let model = model();
    for hook in ["lambda$main$10", "lambda$main$11"] {
        assert_eq!(senders(&model, hook), [], "{hook}");
    }
    // Threads that are started are still the work of who starts them.
    assert!(!senders(&model, "lambda$serve$0").is_empty());
}

#[test]
fn a_task_within_a_closure_runs_with_the_closure() {
    let analysis = analyze(&Rules::default());
    // The scheduler wraps what it is given, and its pool runs the wrapper.
    assert!(analysis.starts("Later.serve").contains(&"Later.lambda$serve$0".to_owned()));
    assert!(!analysis.members("Later.main").contains(&"Later.clean".to_owned()));
    assert_eq!(analysis.members("Later.lambda$serve$0"), ["Later.clean"]);
}

#[test]
fn a_closure_in_a_crowded_queue_is_work_of_its_own() {
    let analysis = analyze(&Rules::default());
    for event in 1..=9 {
        let event = format!("Later.lambda$serve${event}");
        assert!(analysis.starts("Later.serve").contains(&event), "{event}");
        assert!(!analysis.members("Later.main").contains(&event), "{event}");
        assert!(analysis.kinds().contains_key(&event), "{event}");
    }
}

#[test]
fn an_object_in_a_queue_of_closures_is_run_as_they_are() {
    let analysis = analyze(&Rules::default());
    let renewal = "Later$Renewal.run".to_owned();
    assert!(analysis.starts("Later.serve").contains(&renewal));
    // One thread runs them, one after the other.
    for command in [renewal.as_str(), "Later.lambda$serve$1"] {
        assert_eq!(analysis.kinds().get(command), Some(&TopLevelKind::DispatchTarget), "{command}");
    }
}

#[test]
fn what_a_subclass_does_in_an_inherited_loop_is_one_round() {
    let kinds = analyze(&Rules::default()).kinds();
    for round in ["Later$Sender.round", "Later$Fetcher.round"] {
        assert_eq!(kinds.get(round), Some(&TopLevelKind::DispatchTarget), "{kinds:?}");
    }
    // Run once, it is all of the task.
    assert_eq!(kinds["Rounds$Dump.execute"], TopLevelKind::Task);
}

#[test]
fn who_gives_a_closure_to_be_called_at_once_calls_it() {
    let analysis = analyze(&Rules::default());
    let own = |class: &str| {
        [format!("{class}.lambda$round$0"), format!("{class}.round"), "Later.careful".to_owned()]
    };
    for class in ["Later$Sender", "Later$Fetcher"] {
        assert_eq!(analysis.members(&format!("{class}.round")), own(class));
    }
}

#[test]
fn who_asks_to_be_told_of_the_end_hands_over_nothing() {
    let analysis = analyze(&Rules::default());
    // Nine events call it, and something else is told when all is done.
    assert!(!analysis.kinds().contains_key("Later.done"));
    assert!(analysis.members("Later.lambda$serve$1").contains(&"Later.done".to_owned()));
    assert_eq!(analysis.kinds().get("Later.lambda$done$12"), Some(&TopLevelKind::Task));
}

#[test]
fn a_thread_that_goes_round_by_itself_is_of_no_connection() {
    let model = model();
    let audits = |id: schema::TopLevelId| model.top_level_methods[id.index()].class == "Wires$Audit";
    assert!(model.top_level_methods.iter().any(|top| top.class == "Wires$Audit"));
    let mut pairs = model.communication_pairs.iter();
    assert!(!pairs.any(|pair| pair.kind == LinkKind::Entity && audits(pair.to)));
}

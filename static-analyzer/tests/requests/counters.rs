//! Names that are put together, and who carries them: silent tasks, timers, unseen callers,
//! connections (`Counters.java`).

use schema::{IdentifierStrength, TopLevelKind};
use static_analyzer::rules::Rules;

use super::{analyze, handed, pairs_of};

#[test]
fn a_text_that_is_put_together_and_kept_is_one_value() {
    assert_eq!(handed("Counters$Desk"), ["Counters$Server.serve Queue Counters$Order.name"]);
    // What stands in it is a value besides.
    let strengths = analyze(&Rules::default()).strengths("Counters$Desk.book");
    let classes: Vec<&str> = strengths.iter().map(|(class, _)| class.as_str()).collect();
    assert_eq!(classes, ["Counters$Order.name", "incrementAndGet():J"]);
}

#[test]
fn a_task_that_prints_only_that_it_failed_passes_on_what_it_is_given() {
    let model = super::model();
    let top = |id: schema::TopLevelId| &model.top_level_methods[id.index()];
    let is_it = |pair: &&schema::CommunicationPair| {
        top(pair.from).class == "Counters$Window" && top(pair.to).class == "Counters$Sorter"
    };
    let pair = model.communication_pairs.iter().find(is_it).expect("a pair through the task");
    assert_eq!((pair.identifiers.len(), pair.many), (1, false));
}

#[test]
fn what_a_timer_does_again_and_again_is_not_of_who_has_set_it() {
    let kinds = analyze(&Rules::default()).kinds();
    assert!(kinds.keys().any(|name| name.starts_with("Counters$Clock.tick")), "{kinds:?}");
    assert_eq!(pairs_of("Counters$Clock"), []);
}

#[test]
fn what_a_wrapper_prints_for_callers_that_are_seen_is_theirs_alone() {
    let analysis = analyze(&Rules::default());
    let kinds = analysis.kinds();
    assert!(!kinds.contains_key("Counters$Journal.note"), "{kinds:?}");
    assert_eq!(kinds["Counters$Scribe.run"], TopLevelKind::Dispatcher);
}

#[test]
fn what_unseen_callers_have_done_in_a_task_is_about_one_request() {
    let strengths = analyze(&Rules::default()).strengths("Counters$Answer.run");
    assert_eq!(strengths, [("Counters$Answer.number".to_owned(), IdentifierStrength::Request)]);
}

#[test]
fn what_is_read_from_a_connection_asks_for_one_thing_after_the_other() {
    let kinds = analyze(&Rules::default()).kinds();
    assert!(kinds.contains_key("Counters$Line.call"), "{kinds:?}");
}

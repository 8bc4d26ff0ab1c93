//! Tasks that take from a queue until something else ends them (`Backlogs.java`).

use schema::{LinkKind, TopLevelKind};
use static_analyzer::rules::Rules;

use super::{analyze, model};

#[test]
fn whose_turns_have_nothing_to_do_with_each_other_works_off_what_others_have_asked_for() {
    let kinds = analyze(&Rules::default()).kinds();
    assert_eq!(kinds.get("Backlogs$Cleaner.run"), Some(&TopLevelKind::Dispatcher), "{kinds:?}");
    // Whatever ends them, start-up runs these once, and each turn is about another item
    // (lprof §4.2: the identifiers of `clear` are lost in its caller).
    assert_eq!(kinds.get("Backlogs$Bundler.run"), Some(&TopLevelKind::Dispatcher));
    assert_eq!(kinds.get("Backlogs$Gatherer.run"), Some(&TopLevelKind::Dispatcher));
}

#[test]
fn what_is_drained_from_a_queue_is_a_request_each_however_the_queue_is_asked() {
    let kinds = analyze(&Rules::default()).kinds();
    assert_eq!(kinds.get("Backlogs$Drainer.run"), Some(&TopLevelKind::Dispatcher), "{kinds:?}");
}

#[test]
fn a_round_comes_after_what_it_has_called_and_the_next_one_does_not() {
    let model = model();
    let is = |id: schema::TopLevelId, class: &str| model.top_level_methods[id.index()].class == class;
    let mut pairs = model.communication_pairs.iter().filter(|pair| {
        pair.kind == LinkKind::Call && is(pair.from, "Backlogs$Cleaner") && is(pair.to, "Backlogs$Item")
    });
    let pair = pairs.next().expect("a call");
    let text = |point: &schema::LogPointId| model.log_points[point.index()].templates[0].regex.clone();
    let texts = |points: &[schema::LogPointId]| points.iter().map(text).collect::<Vec<_>>();
    // Neither what ends the loop, nor what stands behind it.
    assert_eq!(texts(&pair.after), ["backlog has cleared (.*?)", "backlog keeps (.*?)"]);
    assert!(pair.before.is_empty() && pair.beside.is_empty(), "{:?}", texts(&pair.beside));
}

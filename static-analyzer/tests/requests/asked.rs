//! What a program that is not known calls (`Asked.java`).

use schema::TopLevelKind;
use static_analyzer::rules::Rules;

use super::{analyze, model};

#[test]
fn what_everybody_asks_for_begins_where_all_of_them_go_through() {
    let kinds = analyze(&Rules::default()).kinds();
    // `send` waits; `ask` alone calls it.
    assert_eq!(kinds.get("Asked.ask"), Some(&TopLevelKind::DispatchTarget), "{kinds:?}");
    assert!(!kinds.contains_key("Asked.send"));
    assert!(!kinds.keys().any(|name| name.starts_with("Asked.ask") && name != "Asked.ask"), "{kinds:?}");
}

#[test]
fn who_waits_for_what_he_has_started_himself_asks_nobody() {
    let kinds = analyze(&Rules::default()).kinds();
    assert!(!kinds.contains_key("Asked.work"), "{kinds:?}");
}

#[test]
fn a_parameter_is_called_as_what_all_its_values_are_copies_of() {
    let model = model();
    let class = |text: &str| {
        let mut points = model.log_points.iter();
        let point = points.find(|p| p.templates.iter().any(|t| t.regex.starts_with(text)));
        let class = point.expect("a log point").variables[0].value_class.expect("it is known");
        model.value_classes[class.index()].as_str()
    };
    assert_eq!(class("asked sends "), class("clerk is asked "));
    assert_eq!(class("asked sends "), "Asked$Ticket.ticketId");
}

#[test]
fn who_is_asked_for_by_what_nobody_calls_begins_anew() {
    let kinds = analyze(&Rules::default()).kinds();
    // `brag` announces as well, and asks nobody: one of the two stands for both.
    assert_eq!(kinds.get("Asked.loudly"), Some(&TopLevelKind::Unreached), "{kinds:?}");
    let model = model();
    let method = |id: schema::TopLevelId| &*model.top_level_methods[id.index()].method;
    let ends: Vec<_> =
        model.communication_pairs.iter().map(|pair| (method(pair.from), method(pair.to))).collect();
    assert!(!ends.contains(&("loudly", "ask")), "{ends:?}");
}

//! Events of a bus, and rounds of a loop (`Posted.java`).

use schema::{CommunicationPair, LogPoint, Model, TopLevelId};

use super::{model, top_of};

fn is(model: &Model, top: TopLevelId, class: &str) -> bool {
    model.top_level_methods[top.index()].class == class
}

fn point<'m>(model: &'m Model, text: &str) -> &'m LogPoint {
    let mut points = model.log_points.iter();
    points.find(|p| p.templates.iter().any(|t| t.regex.contains(text))).expect("a log point")
}

fn pair<'m>(model: &'m Model, from: &str, to: &str) -> &'m CommunicationPair {
    let mut pairs = model.communication_pairs.iter();
    pairs.find(|pair| is(model, pair.from, from) && is(model, pair.to, to)).expect("a pair")
}

#[test]
fn copies_of_one_number_are_of_one_value_class() {
    let model = model();
    let class = |text: &str| {
        let class = point(&model, text).variables[0].value_class.expect("it is known");
        model.value_classes[class.index()].as_str()
    };
    for text in ["posted wants to open", "posted opens", "posted wants to close", "posted closes"] {
        assert_eq!(class(text), class("posted serves"), "{text}");
    }
}

#[test]
fn what_is_read_from_a_stream_is_called_as_the_field_that_keeps_it() {
    let model = model();
    let note = &point(&model, "posted reads").variables[0];
    let class = note.value_class.expect("it is known");
    assert_eq!(model.value_classes[class.index()], "Posted$Note.noteId");
}

#[test]
fn who_takes_events_by_their_class_prints_for_each_only_what_that_leads_to() {
    let model = model();
    let elsewhere = |from: &str| -> Vec<&str> {
        let points = &pair(&model, from, "Posted$Desk").elsewhere;
        points.iter().map(|p| model.log_points[p.index()].templates[0].regex.as_str()).collect()
    };
    assert_eq!(elsewhere("Posted$Opener"), ["posted closes (-?[0-9]+)"]);
    assert_eq!(elsewhere("Posted$Closer"), ["posted opens (-?[0-9]+)"]);
}

#[test]
fn what_a_loop_gives_what_it_has_waited_for_is_a_round() {
    let model = model();
    assert!(top_of(&model, "Posted$Loop", "serve").is_round);
    assert!(!top_of(&model, "Posted$Loop", "run").is_round);
    assert!(!top_of(&model, "Posted$Opener", "run").is_round);
}

//! What is made, filled and used again: objects of one turn, numbers in queues, tasks that are
//! filled, partitions, loops of libraries (`Berths.java`).

use std::path::PathBuf;

use schema::{IdentifierStrength, TopLevelKind};
use static_analyzer::rules::Rules;

use super::{analyze, handed};

#[test]
fn a_turn_of_start_up_is_one_request_whatever_its_steps_lose() {
    let analysis = analyze(&Rules::default());
    assert!(!analysis.kinds().keys().any(|name| name.starts_with("Berths$Mooring.")));
    let number = ("Berths$Mooring.number".to_owned(), IdentifierStrength::Request);
    assert_eq!(analysis.strengths("Berths$Pilot.run"), [number]);
}

#[test]
fn a_number_in_a_queue_is_the_one_that_was_put_there() {
    assert_eq!(handed("Berths$Pilot"), ["Berths$Closer.run Queue take():Ljava.lang.Long;"]);
}

#[test]
fn what_a_thread_prints_if_its_loop_fails_is_no_other_work() {
    let kinds = analyze(&Rules::default()).kinds();
    assert_eq!(kinds["Berths$Operator.run"], TopLevelKind::Dispatcher);
    assert_eq!(kinds["Berths$Operator.answer"], TopLevelKind::DispatchTarget);
}

#[test]
fn a_task_that_is_filled_when_it_has_been_made_carries_what_it_is_filled_with() {
    let model = super::model();
    let top = |id: schema::TopLevelId| &model.top_level_methods[id.index()];
    let carried = |from: &str, to: &str| {
        let is_it =
            |pair: &&schema::CommunicationPair| top(pair.from).class == from && (top(pair.to).class == to);
        let pairs = model.communication_pairs.iter().filter(is_it);
        pairs.flat_map(|pair| &pair.identifiers).count()
    };
    assert_eq!(carried("Berths$Till", "Berths$Entry"), 1);
    assert_eq!(carried("Berths", "Berths$Till"), 1);
}

/// The model of these classes alone.
fn alone() -> schema::Model {
    let all = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/requests/classes");
    let folder = tempfile::tempdir().expect("a folder");
    for entry in std::fs::read_dir(all).expect("classes") {
        let path = entry.expect("readable").path();
        let name = path.file_name().expect("a file").to_string_lossy().into_owned();
        if name.starts_with("Berths") {
            std::fs::copy(&path, folder.path().join(name)).expect("room");
        }
    }
    let class_path = [folder.path().to_owned()];
    static_analyzer::analyze(&class_path, &Default::default()).expect("a model")
}

#[test]
fn where_nothing_else_names_the_work_one_of_several_that_last_does() {
    let model = alone();
    let fetch =
        model.top_level_methods.iter().find(|top| top.class == "Berths$Fetcher" && top.method == "fetch");
    let identifiers = &fetch.expect("a top-level method").identifiers;
    let of = |id: &schema::Identifier| (model.value_classes[id.value_class.index()].as_str(), id.strength);
    let identifiers: Vec<_> = identifiers.iter().map(of).collect();
    assert_eq!(identifiers, [("Berths$Fetcher.partition", IdentifierStrength::Request)]);
}

#[test]
fn a_loop_of_a_library_is_a_loop() {
    let kinds = analyze(&Rules::default()).kinds();
    assert_eq!(kinds["Berths$Courier.deliver"], TopLevelKind::DispatchTarget);
}

#[test]
fn a_text_that_is_made_only_if_it_is_printed_is_of_who_makes_it() {
    let analysis = analyze(&Rules::default());
    let texts = |method: &str| -> Vec<String> {
        let points = analysis.log_points.iter().filter(|p| analysis.name(p.frame) == method);
        points.flat_map(|p| p.templates.iter().map(|t| t.regex.clone())).collect()
    };
    assert_eq!(texts("Berths$Clerk.file"), ["files in shelf (.*?)"]);
    assert!(texts("Berths$Clerk.say").is_empty());
}

//! How a name gets from one place to another: addresses, tables, slots, batches, threads, and
//! order alone (`Lockers.java`).

use std::path::PathBuf;

use schema::{CommunicationPair, IdentifierStrength, Model, TopLevelKind, TopLevelMethod};

fn model() -> Model {
    model_of("Lockers")
}

/// The model of the classes whose names begin so, alone.
pub(super) fn model_of(front: &str) -> Model {
    let all = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/requests/classes");
    let folder = tempfile::tempdir().expect("a folder");
    for entry in std::fs::read_dir(all).expect("classes") {
        let path = entry.expect("readable").path();
        let name = path.file_name().expect("a file").to_string_lossy().into_owned();
        if name.starts_with(front) {
            std::fs::copy(&path, folder.path().join(name)).expect("room");
        }
    }
    static_analyzer::analyze(&[folder.path().to_owned()], &Default::default()).expect("a model")
}

fn top<'m>(model: &'m Model, name: &str) -> &'m TopLevelMethod {
    let is_it = |top: &&TopLevelMethod| format!("{}.{}", top.class, top.method) == name;
    model.top_level_methods.iter().find(is_it).unwrap_or_else(|| panic!("{name} is top-level"))
}

fn pair<'m>(model: &'m Model, from: &str, to: &str) -> Option<&'m CommunicationPair> {
    let of = |name: &str| {
        let at = model.top_level_methods.iter().position(|t| format!("{}.{}", t.class, t.method) == name);
        at.unwrap_or_else(|| panic!("{name} is top-level"))
    };
    let (from, to) = (of(from), of(to));
    model.communication_pairs.iter().find(|pair| (pair.from.index(), pair.to.index()) == (from, to))
}

/// The value classes that a pair carries, as the receiver prints them.
pub(super) fn carried<'m>(model: &'m Model, from: &str, to: &str) -> Vec<&'m str> {
    let receiver = top(model, to);
    let pair = pair(model, from, to).unwrap_or_else(|| panic!("{from} hands over to {to}"));
    let class = |&(_, theirs): &(schema::IdentifierId, schema::IdentifierId)| {
        &*model.value_classes[receiver.identifiers[theirs.index()].value_class.index()]
    };
    pair.identifiers.iter().map(class).collect()
}

/// For each log point of a top-level method, by line: whether it prints an identifier.
fn names(model: &Model, name: &str) -> Vec<(String, bool)> {
    let nodes = top(model, name).dag.nodes.iter();
    let points = nodes.flat_map(|node| &node.points);
    let mut found: Vec<(String, bool)> = points
        .map(|point| {
            let regex = model.log_points[point.log_point.index()].templates[0].regex.clone();
            (regex, point.bindings.iter().any(Option::is_some))
        })
        .collect();
    found.sort();
    found.dedup();
    found
}

#[test]
fn what_stands_under_a_name_in_an_address_is_what_was_put_there() {
    let model = model();
    // `asked.get("id")` and `asked.get("of")` are two things, not two of many.
    assert_eq!(top(&model, "Lockers$Desk.handle").identifiers.len(), 2);
    assert_eq!(carried(&model, "Lockers.lambda$main$0", "Lockers$Desk.handle").len(), 1);
}

#[test]
fn a_container_takes_the_address_apart_as_well() {
    let model = model();
    let till = top(&model, "Lockers$Till.doGet");
    assert_eq!(till.identifiers.len(), 2, "the locker and the guest");
    let paid = pair(&model, "Lockers.lambda$main$1", "Lockers$Till.doGet").expect("a pair");
    assert_eq!(paid.identifiers.len(), 1, "the guest is the same for all");
}

#[test]
fn what_is_found_by_a_key_knows_it_however_deep_it_is_wrapped() {
    let model = model();
    assert_eq!(carried(&model, "Lockers$Desk.handle", "Lockers$Keys.run"), ["Lockers$Parcel.number"]);
}

#[test]
fn what_a_thread_was_given_to_know_names_what_it_prints_later() {
    let model = model();
    let badge = top(&model, "Lockers.lambda$main$2");
    let named = names(&model, "Lockers.lambda$main$2");
    let of = |text: &str| named.iter().find(|(regex, _)| regex.contains(text)).map(|(_, named)| *named);
    assert_eq!((of("guest"), of("badge of")), (Some(true), Some(true)));
    let paths: Vec<&str> = badge.identifiers.iter().map(|id| &*id.path).collect();
    assert!(paths.iter().all(|path| *path == "AtomicLong.incrementAndGet()"), "{paths:?}");
}

#[test]
fn a_slot_that_a_turn_takes_is_its_own() {
    let model = model();
    assert_eq!(carried(&model, "Lockers$Wheel.fill", "Lockers$Wheel.run"), ["Lockers$Parcel.number"]);
    assert!(!top(&model, "Lockers$Wheel.run").identifiers[0].one_of_many);
}

#[test]
fn what_a_turn_fills_its_own_object_with_names_the_turn() {
    let model = model();
    let scale = top(&model, "Lockers$Scale.run");
    assert_eq!(names(&model, "Lockers$Scale.run").len(), 2, "both steps are of the turn");
    assert!(names(&model, "Lockers$Scale.run").iter().all(|(_, named)| *named));
    assert_eq!(scale.identifiers.len(), 1);
}

#[test]
fn each_element_of_what_a_turn_takes_is_a_request() {
    let model = model();
    let van = top(&model, "Lockers$Van.run");
    assert_eq!(van.kind, TopLevelKind::Dispatcher);
    assert_eq!(carried(&model, "Lockers$Van.send", "Lockers$Van.run"), ["Lockers$Parcel.number"]);
    let at = |text: &str| {
        let has = |point: &schema::DagPoint| {
            model.log_points[point.log_point.index()].templates[0].regex.contains(text)
        };
        van.dag.nodes.iter().position(|node| node.points.iter().any(has)).expect("a node") as u32
    };
    let next = |text: &str| van.dag.nodes[at(text) as usize].next.clone();
    // The turn passes by what it has taken, and no element follows another one.
    assert_eq!(next("loaded with"), [at("is empty")]);
    assert_eq!(next("brings"), [at("somebody signs")]);
    assert!(next("somebody signs").is_empty() && next("is empty").is_empty());
    let outside: Vec<usize> = van.outside_rounds.iter().map(|point| point.index()).collect();
    let is_outside = |text: &str| {
        let at = model.log_points.iter().position(|point| point.templates[0].regex.contains(text));
        outside.contains(&at.expect("a log point"))
    };
    assert!(is_outside("loaded with") && is_outside("is empty") && !is_outside("brings"));
}

#[test]
fn order_alone_tells_who_is_whose_where_one_takes_what_comes_first() {
    let model = model();
    let pair_of = |from: &str, to: &str| pair(&model, from, to).map(|pair| (pair.in_order, pair.many));
    assert_eq!(pair_of("Lockers$Line.join", "Lockers$Line.serve"), Some((true, false)));
    assert_eq!(pair_of("Lockers$Line.hurry", "Lockers$Line.rank"), None, "what matters most goes first");
}

#[test]
fn a_timer_and_a_thread_that_is_started_once_do_one_thing_at_a_time() {
    let model = model();
    let is_one = |name: &str| top(&model, name).is_one_at_a_time;
    assert!(is_one("Lockers$Line.look") && is_one("Lockers$Line.serve"));
    assert!(!is_one("Lockers$Line.clean"), "three threads");
    assert!(!is_one("Lockers$Line.join"), "a pool");
}

#[test]
fn the_parts_of_what_divides_itself_are_of_who_began() {
    let model = model();
    assert!(pair(&model, "Lockers$Share.compute", "Lockers$Share.compute").is_none());
    let whole = pair(&model, "Lockers$Share.divide", "Lockers$Share.compute").expect("a pair");
    assert!(whole.many);
    assert_eq!(carried(&model, "Lockers$Share.divide", "Lockers$Share.compute"), ["Lockers$Share.whole"]);
}

#[test]
fn a_step_that_names_nothing_is_of_the_turn_whose_lines_name_it() {
    let model = model();
    let lines: Vec<String> = names(&model, "Lockers$Teller.run").into_iter().map(|(line, _)| line).collect();
    assert!(lines.iter().any(|line| line.contains("is flushed")), "{lines:?}");
}

#[test]
fn a_text_that_is_printed_within_others_and_given_away_is_one_value() {
    let model = model();
    let strengths = top(&model, "Lockers$Scribe.write").identifiers.iter().map(|id| id.strength);
    assert_eq!(strengths.collect::<Vec<_>>(), [IdentifierStrength::Request; 2]);
    assert_eq!(carried(&model, "Lockers$Scribe.write", "Lockers$Scribe.lambda$send$0").len(), 1);
}

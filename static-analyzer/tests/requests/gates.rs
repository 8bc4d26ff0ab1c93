//! Objects attached to connections (`Gates.java`, `Wires.java`).

use schema::{LinkKind, Model};

use super::model;

/// The pairs of what carries an attached object: (from, to, names of what both call the same).
fn carried(model: &Model, fixture: &str) -> Vec<(String, String, Vec<String>)> {
    let top = |id: schema::TopLevelId| &model.top_level_methods[id.index()];
    let name = |id: schema::TopLevelId| top(id).class.split('$').next_back().unwrap_or_default().to_owned();
    let entities = model.communication_pairs.iter().filter(|pair| pair.kind == LinkKind::Entity);
    let of_fixture = entities.filter(|pair| top(pair.to).class.starts_with(fixture));
    let pairs = of_fixture.map(|pair| {
        let names = pair.identifiers.iter().map(|&(ours, theirs)| {
            let class = top(pair.from).identifiers[ours.index()].value_class;
            assert_eq!(class, top(pair.to).identifiers[theirs.index()].value_class);
            model.value_classes[class.index()].to_string()
        });
        (name(pair.from), name(pair.to), names.collect())
    });
    pairs.collect()
}

#[test]
fn who_hands_over_what_an_attached_object_is_made_of_has_begun_its_life() {
    let carried = carried(&model(), "Gates$");
    let begins = |name: &str| carried.iter().any(|(from, to, _)| from == name && to == "Tour");
    assert!(begins("Porter"), "{carried:?}");
    // A name is no connection, and nobody goes on with what is only begun.
    assert!(!begins("Clerk"), "{carried:?}");
    assert!(carried.iter().all(|(_, to, _)| to != "Porter"), "{carried:?}");
}

#[test]
fn what_an_attached_object_keeps_for_itself_names_it() {
    let carried = carried(&model(), "Gates$");
    let names = |from: &str| {
        let pair = carried.iter().find(|(other, to, _)| other == from && to == "Tour");
        pair.map(|(.., names)| names.clone()).unwrap_or_default()
    };
    assert_eq!(names("Tour"), ["Gates$Visit.guest"]);
    // It knows the connection by another name.
    assert!(names("Porter").is_empty(), "{carried:?}");
}

//! Messages of bytes, and messages that can be sent as they are (`Parcels.java`).

use schema::LinkKind;

use super::model;

/// The value classes that are carried from one class's top-level method to another's.
fn carried(from: &str, to: &str) -> Vec<(LinkKind, Vec<String>)> {
    let model = model();
    let top = |id: schema::TopLevelId| &model.top_level_methods[id.index()];
    let pairs = model.communication_pairs.iter();
    let pairs = pairs.filter(|pair| top(pair.from).class == from && top(pair.to).class == to);
    let class = |pair: &schema::CommunicationPair| {
        let theirs = pair.identifiers.iter().map(|&(_, i)| top(pair.to).identifiers[i.index()].value_class);
        theirs.map(|class| model.value_classes[class.index()].clone()).collect()
    };
    pairs.map(|pair| (pair.kind, class(pair))).collect()
}

#[test]
fn what_is_unpacked_from_the_bytes_of_a_message_was_packed_by_its_sender() {
    let carried_at = |from, to| carried(from, to).into_iter().flat_map(|(_, classes)| classes);
    let mut classes = carried_at("Parcels$Packer", "Parcels$Unpacker");
    assert!(classes.any(|class| class == "Parcels$Letter.letterId"));
    // What is looked up by a number of the message is another one, and so is what is
    // made of something else than the bytes.
    assert_eq!(carried_at("Parcels$Caller", "Parcels$Shelf").count(), 0);
    assert_eq!(carried_at("Parcels$Packer", "Parcels$Clerk").count(), 0);
}

#[test]
fn a_message_that_can_be_written_as_it_is_reaches_other_processes() {
    let kinds = |from, to| carried(from, to).into_iter().map(|(kind, _)| kind).collect::<Vec<_>>();
    assert_eq!(kinds("Parcels$Packer", "Parcels$Unpacker"), [LinkKind::Queue, LinkKind::Socket]);
    // What bears no mark cannot.
    assert_eq!(kinds("Parcels$Teller", "Parcels$Listener"), [LinkKind::Queue]);
}

#[test]
fn however_many_messages_of_one_class_are_sent_those_of_another_are_followed() {
    // Eight notes that carry nothing, and a slip.
    let carried = carried("Parcels$Packer", "Parcels$Unpacker");
    assert!(carried.iter().any(|(_, classes)| classes == &["Parcels$Letter.letterId"]), "{carried:?}");
}

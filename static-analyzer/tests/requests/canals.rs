//! Ways from thread to thread that are no queue in a field of one class (`Canals.java`).

use super::handed;

#[test]
fn who_was_given_two_queues_hands_on_from_one_to_the_other() {
    assert_eq!(handed("Canals$UpCaptain"), ["Canals$Climbing.climb Queue Canals$Boat.boatId"]);
    assert_eq!(handed("Canals$DownCaptain"), ["Canals$Descending.descend Queue Canals$Boat.boatId"]);
}

#[test]
fn what_a_method_gives_back_that_took_it_is_what_was_put() {
    assert_eq!(handed("Canals$Mate"), ["Canals$Quay$Crane.unload Queue Canals$Boat.boatId"]);
}

#[test]
fn a_slot_of_a_ring_holds_what_it_was_filled_with() {
    assert_eq!(handed("Canals$Shipper"), ["Canals$Ring$Weigher.weigh Queue Canals$Ring$Slot.slotId"]);
}

#[test]
fn a_field_under_a_monitor_hands_over_what_is_put_there() {
    assert_eq!(handed("Canals$Pilot"), ["Canals$Keeper.measure Queue Canals$Boat.boatId"]);
}

#[test]
fn what_is_only_removed_from_a_map_was_handed_to_nobody() {
    let [fetched] = &handed("Canals$Holder")[..] else { panic!("one receiver") };
    assert!(fetched.starts_with("Canals$Fetcher.run "), "{fetched}");
}

#[test]
fn an_event_goes_to_the_handler_of_its_kind_be_it_who_sends_it() {
    let to = |from: &str| {
        let handed = handed(from).into_iter();
        let mut receivers: Vec<String> =
            handed.filter_map(|to| Some(to.split_once(' ')?.0.to_owned())).collect();
        receivers.dedup();
        receivers
    };
    assert_eq!(to("Canals$Horn"), ["Canals$Entering.see"]);
    assert_eq!(to("Canals$Entering"), ["Canals$Leaving.see"]);
    assert_eq!(to("Canals$Leaving"), ["Canals$Leaving.see"]);
}

#[test]
fn what_is_put_under_a_name_is_taken_under_it() {
    assert_eq!(handed("Canals$Buyer"), ["Canals$South.board Queue ticketId:Ljava.lang.String;"]);
}

#[test]
fn who_exchanges_gets_what_the_other_gives() {
    assert_eq!(handed("Canals$Giver"), ["Canals$Getter.own Queue Canals$Boat.boatId"]);
    assert_eq!(handed("Canals$Seller"), ["Canals$Taker.haul Queue Canals$Boat.boatId"]);
}

#[test]
fn what_is_taken_out_of_a_slot_was_put_there_and_who_only_looks_is_handed_nothing() {
    assert_eq!(handed("Canals$Mooring"), ["Canals$Painter.paint Queue Canals$Boat.boatId"]);
}

#[test]
fn whom_reflection_calls_for_an_annotation_that_is_looked_for_handles_events() {
    assert_eq!(handed("Canals$Rain"), ["Canals$Warden.onFlood Queue Canals$Rain.floodId"]);
}

#[test]
fn who_uses_messages_of_one_class_alone_is_handed_no_others() {
    // Copies of the number go by the name of who had it first.
    assert_eq!(handed("Canals$Passer"), ["Canals$Opener.receive Queue Canals$Passer.gateId"]);
    assert_eq!(handed("Canals$Opener"), ["Canals$Closer.receive Queue Canals$Passer.gateId"]);
}

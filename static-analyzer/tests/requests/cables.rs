//! What goes over connections without a message of a class, or as it is (`Cables.java`).

use super::handed;

#[test]
fn what_was_put_into_a_line_is_cut_out_of_it() {
    let [answered] = &handed("Cables$Asking")[..] else { panic!("{:?}", handed("Cables$Asking")) };
    assert!(answered.starts_with("Cables$Answering.answer Socket "), "{answered}");
    // A file is no connection.
    assert_eq!(handed("Cables$Noting"), Vec::<String>::new());
}

#[test]
fn numbers_are_read_in_the_order_in_which_they_were_written() {
    // A letter has no label.
    assert_eq!(handed("Cables$Sending"), ["Cables$Receiving.parcel Socket parcelId:J"]);
}

#[test]
fn what_is_put_into_a_buffer_is_got_from_one() {
    assert_eq!(handed("Cables$Pouring"), ["Cables$Filling.fill Socket jugId:I"]);
}

#[test]
fn objects_that_wrappers_write_and_read_are_known_where_they_have_a_class() {
    // All its numbers are of who buys.
    assert_eq!(handed("Cables$Buying"), ["Cables$Selling.sell Socket Cables$Buying.orderId"]);
}

#[test]
fn what_stands_in_an_address_is_cut_out_of_what_was_asked_for() {
    let [shown] = &handed("Cables$Visiting")[..] else { panic!("{:?}", handed("Cables$Visiting")) };
    assert!(shown.starts_with("Cables$Pages.handle Socket "), "{shown}");
}

#[test]
fn a_text_that_is_sent_as_bytes_is_made_of_bytes_again() {
    assert_eq!(handed("Cables$Calling"), ["Cables$Hearing.hear Socket callId:Ljava.lang.String;"]);
}

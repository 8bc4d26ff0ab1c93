//! Messages that are sent, and read back from files (`Journals.java`).

use schema::LinkKind;

use super::pairs_of;

#[test]
fn what_is_read_back_from_a_file_was_sent_by_nobody() {
    let pairs = pairs_of("Journals$");
    let sent = pairs.iter().filter(|(_, _, kind, _)| *kind == LinkKind::Socket);
    let sent: Vec<_> = sent.map(|(from, to, ..)| (from.as_str(), to.as_str())).collect();
    assert_eq!(sent, [("Journals$Sender", "Journals$Receiver")], "{pairs:?}");
}

#[test]
fn an_event_made_of_what_was_read_back_is_none() {
    let pairs = pairs_of("Journals$");
    let told = pairs.iter().filter(|(_, to, ..)| to == "Journals$Keeper" || to == "Journals$Dropper");
    let told: Vec<_> = told.map(|(from, to, ..)| (from.as_str(), to.as_str())).collect();
    let expected = ["Journals$Dropper", "Journals$Keeper"].map(|to| ("Journals$Receiver", to));
    assert_eq!(told, expected, "{pairs:?}");
}

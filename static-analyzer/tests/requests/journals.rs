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

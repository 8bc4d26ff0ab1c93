//! Servers that name the node that they serve.

use super::*;

/// Each node prints its number, and the leader that of each node that it serves.
const QUORUM: &str = "
    point p
    point elects id=Peer.id
    top elect Task id=Peer.id!
      >elects
    top follow Task
      >p
    top serve Task sid=Server.sid
      >p
    top check Task
      >p";

/// Three nodes that have elected, and what the third one serves.
fn quorum(served: &str) -> String {
    let elected = ["a", "b", "c"].map(|node| format!("{node} e elect elects@1.0#{node}\n"));
    elected.concat() + served
}

fn lines(names: [&str; 3]) -> String {
    let [first, second, third] = names;
    let followed = "a t follow 10.0-10.5\nb t follow 10.0-10.5\na t follow 20.0-20.5\n";
    let of = |at: &str, thread: &str, name: &str| format!("c {thread} serve sid={name} {at}-{at}\n");
    quorum(
        &(followed.to_owned() + &of("10.2", "x", first) + &of("10.2", "y", second) + &of("20.2", "z", third)),
    )
}

#[test]
fn who_names_a_node_serves_who_is_at_work_there() {
    let whole = "1\n2\n3\n4 7 4>7\n5 8 5>8\n6 9 6>9";
    check(QUORUM, &lines(["a", "b", "a"]), whole);
    check(QUORUM, &lines(["b", "a", "a"]), "1\n2\n3\n4 8 4>8\n5 7 5>7\n6 9 6>9");
    let apart = "1\n2\n3\n4\n5\n7\n8\n6\n9";
    // One names its own node, or none, or always the same one.
    check(QUORUM, &lines(["a", "b", "c"]), apart);
    check(QUORUM, &lines(["a", "b", "d"]), apart);
    check(QUORUM, &lines(["a", "a", "a"]), apart);
    // Two nodes call themselves the same.
    check(QUORUM, &lines(["a", "b", "a"]).replace("#b", "#a"), apart);
}

#[test]
fn who_is_served_is_another_one_each_time() {
    // Somebody is at work all along.
    let follow = "a t follow 10.0-10.5\nb t follow 10.0-10.5\na t follow 20.0-20.5\n";
    let lines = lines(["a", "b", "a"]);
    let checks = "a u check 9.0-21.0\nb u check 9.0-10.5\nc u check 9.0-9.0\n";
    let apart = "1\n2\n3\n4\n5\n6\n7\n8\n9";
    check(QUORUM, &lines.replace(follow, checks), apart);
    // Two do different things each time.
    let both = lines.clone() + &follow.replace("t follow", "u check");
    check(QUORUM, &both, "1\n2\n3\n4\n10\n5\n11\n7\n8\n6\n12\n9");
}

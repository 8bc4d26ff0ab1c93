//! What the values of a kind do in the whole log: whether they are read back, and
//! whether they cross what is known to be apart.

use super::*;

const SESSIONS: &str = "
    point p
    top open Task session=Session.id
      >p
    top handle EventHandler session=Session.id
      >p
    top work Task session=Session.id
      >p
    top replay Task session=Session.id
      >p
    pair open handle Socket session=session
    pair handle work Thread session=session
";

/// Sixteen sessions, each opened on one node and worked on by another.
fn sessions() -> String {
    let session = |i: usize| {
        let start = (i + 1) as f64 * 100.0;
        let next = start + 0.2;
        format!(
            "a t open session=session-{i:02} {start}-{start}\nb u work session=session-{i:02} {next}-{next}\n"
        )
    };
    ["c v handle session=another 0-0\n".to_owned()].into_iter().chain((0..16).map(session)).collect()
}

fn pairs(n: usize) -> String {
    (0..n).map(|i| format!("{a} {b} {a}>{b}\n", a = 2 * i + 2, b = 2 * i + 3)).collect()
}

#[test]
fn what_a_node_reads_back_in_one_go_comes_back_once() {
    let again = |thread: &dyn Fn(usize) -> String, step: f64| -> String {
        let line = |i: usize| {
            let at = 5000.0 + i as f64 * step;
            format!("b {} replay session=session-{i:02} {at}-{at}\n", thread(i))
        };
        (0..4).map(line).collect()
    };
    let lone = |from: usize, to: usize| -> String { (from..=to).map(|i| format!("{i}\n")).collect() };
    let one = |_: usize| "r".to_owned();
    check(SESSIONS, &(sessions() + &again(&one, 0.1)), &(lone(1, 1) + &pairs(16) + &lone(34, 37)));
    // Used again: now and then, or by several.
    check(SESSIONS, &(sessions() + &again(&one, 30.0)), &lone(1, 37));
    check(SESSIONS, &(sessions() + &again(&|i| format!("r{i}"), 0.1)), &lone(1, 37));
}

#[test]
fn what_comes_back_more_than_once_is_a_folder_among_files() {
    let used = |n: usize| -> String {
        let line = |i: usize| {
            let at = 5000.0 + i as f64 * 1000.0;
            format!("a t open session=folder-7 {at}-{at}\nb u work session=folder-7 {at}-{at}\n")
        };
        (0..n).map(line).collect()
    };
    let lone = |n: usize| -> String { (34..34 + 2 * n).map(|i| format!("{i}\n")).collect() };
    check(SESSIONS, &(sessions() + &used(2)), &("1\n".to_owned() + &pairs(18)));
    check(SESSIONS, &(sessions() + &used(3)), &("1\n".to_owned() + &pairs(16) + &lone(3)));
}

#[test]
fn a_state_that_one_request_leaves_to_the_next_one_names_neither() {
    let model = "
        point p
        top open Task session=Session.id state=State.value
          >p
        top pass EventHandler session=Session.id state=State.value
          >p
        top work Task session=Session.id state=State.value
          >p
        top replay Task state=State.value
          >p
        pair open pass Socket session=session
        pair pass work Thread session=session
        pair work pass Socket state=state
        pair pass open Thread state=state
    ";
    let session = |i: usize| {
        let (start, next) = (100.0 + i as f64 * 0.5, 100.2 + i as f64 * 0.5);
        format!(
            "a t{i} open session=session-{i:02} state=state-{i:02} {start}-{start}\nb u{i} work session=session-{i:02} state=state-{n:02} {next}-{next}\n",
            n = i + 1
        )
    };
    let replay = |i: usize| format!("b r replay state=state-{i:02} 5000.{i}-5000.{i}\n");
    let first = ["c v pass session=another state=another 0-0\n".to_owned()];
    let lines: String = first.into_iter().chain((0..16).map(session)).collect();
    let expected = "1\n".to_owned() + &pairs(16);
    check(model, &lines, &expected);
    // Nor if it is read back in one go.
    let lines: String = std::iter::once(lines).chain((0..4).map(replay)).collect();
    check(model, &lines, &(expected + "34\n35\n36\n37\n"));
}

#[test]
fn who_starts_a_service_hands_it_nothing_of_what_it_serves() {
    let model = SESSIONS.replace("pair open handle Socket session=session", "pair open handle Thread");
    let served = model.replace("top handle EventHandler", "top handle Dispatcher");
    check(&model, &sessions(), &("1\n".to_owned() + &pairs(16)));
    check(&served, &sessions(), &(1..=33).map(|i| format!("{i}\n")).collect::<String>());
}

/// Writers print how far the log was written, which their senders do not know.
const WRITERS: &str = "
    point p
    top flush Task table=Table.name
      >p
    top write Task table=Table.name at=Position
      >p
    pair flush write Thread table=table many
";

/// Flushes of their own position each, and two with one position.
fn writers(thread: &str, part: &str) -> String {
    let flush = |i: usize| {
        let at = 100.0 + i as f64 * 100.0;
        let (then, w) = (at + 0.01, if thread == "-" { "-" } else { "w" });
        format!(
            "a {thread} flush table=table{i:02} {at}-{at}\na {w} write table=table{i:02} at=pos{i:05} {then}-{then}\n"
        )
    };
    let all: String = (0..16).map(flush).collect();
    let (v, w) = if thread == "-" { ("-", "-") } else { ("v", "w") };
    all + &format!(
        "a {thread} flush table=users1 5000.000-5000.000
         a {thread} flush table=blobs2 5000.001-5000.001
         a {w} write table=users1 at=pos99999 5000.002-5000.010
         a {v} write table=blobs2 at=pos99999 5000.003-5000.012
         a {w} write table={part} at=pos99999 5000.013-5000.014\n"
    )
}

#[test]
fn what_tasks_of_several_senders_name_tells_only_that_a_thread_goes_on() {
    let before: String =
        (0..16).map(|i| format!("{a} {b} {a}>{b}\n", a = 2 * i + 1, b = 2 * i + 2)).collect();
    check(WRITERS, &writers("t", "lists3"), &(before.clone() + "33 35 37 33>35 35>37\n34 36 34>36"));
    // Without threads it is who is at work on the whole, or nobody.
    check(WRITERS, &writers("-", "users1.lists3"), &(before.clone() + "33 35 37 33>35 35>37\n34 36 34>36"));
    check(WRITERS, &writers("-", "lists3"), &(before + "33 35 33>35\n34 36 34>36\n37"));
}

//! What a thing says of itself, and whose turn of a loop a line is.

use super::{check, run};
use schema::sketch;

/// Connections serve sessions and close themselves; who shuts down closes all of them.
const CONNECTIONS: &str = "
    point opened session=Session.id
    point closed session=Session.id
    point stopping
    point stopped
    top serve Task session=Session.id
      >opened closed
      closed<
    top shut Task all[*]=Session.id!
      >stopping closed stopped
      closed* stopped
      stopped<
";

/// So many sessions that come and go, three that stay, and who shuts down.
fn lines(n: usize) -> String {
    let session = |n: usize| {
        let id = format!("session-{n:03}");
        format!("{n}.1 io{n} opened session={id}\n{n}.2 io{n} closed session={id}\n")
    };
    let ended: String = (1..=n).map(session).collect();
    let open: String =
        (901..904).map(|n| format!("99.{} io{n} opened session=session-{n}\n", n - 900)).collect();
    let closed: String =
        (901..904).map(|n| format!("100.1 main-loop closed session=session-{n}\n")).collect();
    format!("{ended}{open}100.0 main-loop stopping\n{closed}100.2 main-loop stopped\n")
}

fn last(text: &str, n: usize) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len() - n..].iter().map(|line| (*line).to_owned()).collect()
}

#[test]
fn a_line_of_a_thing_is_of_its_request_whoever_makes_it_say_it() {
    let model = sketch::model(CONNECTIONS);
    let n = 40;
    let first = 2 * n + 4;
    let text = run(&model, &lines(n));
    let expected = vec![
        format!("shut: {first} opens; {} thread", first + 4),
        format!("serve: {} of what it names", first + 1),
        format!("serve: {} of what it names", first + 2),
        format!("serve: {} of what it names", first + 3),
    ];
    assert_eq!(last(&text, 4), expected);
    // So few do not show whose line it is.
    let n = 8;
    let first = 2 * n + 4;
    let text = run(&model, &lines(n));
    assert!(text.contains(&format!("shut: {first} opens; {} thread; {} thread", first + 1, first + 2)));
}

#[test]
fn what_a_program_finds_in_its_files_is_of_its_start() {
    let mut model = sketch::model(CONNECTIONS);
    model.top_level_methods[1].method = "main".to_owned();
    model.top_level_methods[1].descriptor = "([Ljava/lang/String;)V".to_owned();
    let n = 40;
    let first = 2 * n + 4;
    let text = run(&model, &lines(n));
    assert!(
        text.contains(&format!("main: {first} opens; {} thread; {} thread", first + 1, first + 2)),
        "{text}"
    );
}

#[test]
fn who_is_about_what_a_line_names_goes_on_with_it() {
    let model = CONNECTIONS.replace("all[*]=Session.id!", "session=Session.id");
    let n = 40;
    let first = 2 * n + 4;
    let text = run(&sketch::model(&model), &lines(n));
    assert!(text.contains(&format!("shut: {first} opens; {} thread", first + 1)), "{text}");
}

#[test]
fn a_loop_that_comes_round_to_another_thing_has_waited_for_it() {
    let model = "
        point bound
        point accepted peer=Peer.address
        point met peer=Peer.address
        top listen Task
          >bound accepted
          >accepted*<
        top serve Task peer=Peer.address
          >met<";
    let lines = |at: &str, peer: &str| {
        format!("1.0 t accepted peer=/127.0.0.1:58458\n{at} t accepted peer=/127.0.0.1:{peer}")
    };
    check(model, &lines("1.3", "58462"), "listen: 1 opens\nlisten: 2 opens");
    // At once it is one loop over what is there.
    check(model, &lines("1.01", "58462"), "listen: 1 opens; 2 thread");
}

#[test]
fn a_round_of_a_dispatcher_can_end_anywhere() {
    let model = |kind: &str| {
        format!(
            "point synced
             point got
             point packet id=Id.n
             top follow {kind} id=Id.n
               >synced packet got
               >packet got
               got<
             top handle DispatchTarget id=Id.n
               >packet<"
        )
    };
    let lines = "1.0 t synced\n3.0 t packet id=17";
    let run = |kind: &str| run(&sketch::model(&model(kind)), lines);
    assert!(run("Dispatcher").starts_with("follow: 1 opens\n"));
    assert_eq!(run("Task"), "follow: 1 opens; 2 thread\n");
}

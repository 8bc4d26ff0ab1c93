//! What threads do again and again: when it is the next turn, and when the next task.

use schema::sketch;

use super::programs::two_programs;
use super::{check, run};

/// A loop around the whole task is another top-level method, as a fallback of a
/// service often is; each turn may as well be a task of its own.
#[test]
fn what_is_complete_begins_again() {
    check(
        "point preparing
         point flushed file=File.path
         top flush Task file=File.path
           >preparing flushed
           flushed<
         top pressure Task
           >preparing flushed
           flushed preparing
           flushed<",
        "1.000 flusher preparing
         1.050 flusher flushed file=/a/b/c/1
         1.060 flusher preparing
         1.110 flusher flushed file=/a/b/c/2
         1.900 flusher preparing
         1.950 flusher flushed file=/a/b/c/3",
        "flush: 1 opens; 2 thread
         flush: 3 opens; 4 thread
         flush: 5 opens; 6 thread",
    );
}

/// Every round has a pool of its own, with threads of the same names, and each of the
/// tasks waits in a loop that prints.
#[test]
fn a_task_that_was_just_handed_out_is_another_one() {
    let mut model = sketch::model(
        "point begun
         point handing
         point waiting
         top work RpcHandler
           >begun handing
           handing<
         top wait Task
           >waiting*<
         pair work wait Thread many",
    );
    let round = "1.0 h begun\n1.1 h handing\n1.104 w-1 waiting\n1.4 w-1 waiting\n";
    let next = "1.5 h begun\n1.6 h handing\n1.604 w-1 waiting\n1.606 w-1 waiting";
    let records = format!("{round}{next}");
    let whole = "work: 1 opens; 2 thread\nwait: 3 opens; 4 thread; 7 thread; 8 thread\n";
    assert_eq!(run(&model, &records), format!("{whole}work: 5 opens; 6 thread\n"));
    model.communication_pairs[0].before = vec![sketch::point(&model, "handing")];
    let first = "work: 1 opens; 2 thread\nwait: 3 opens; 4 thread\n";
    let second = "work: 5 opens; 6 thread\nwait: 7 opens; 8 thread\n";
    assert_eq!(run(&model, &records), format!("{first}{second}"));
}

/// A machine is slow at times: what was handed out is begun late, and still much sooner
/// than after the last line of the thread before it.
#[test]
fn a_task_that_is_begun_late_is_of_whom_it_was_handed_out_by() {
    let mut model = sketch::model(
        "point handing
         point waiting
         top work RpcHandler
           >handing<
         top wait Task
           >waiting*<
         pair work wait Thread many",
    );
    model.communication_pairs[0].before = vec![sketch::point(&model, "handing")];
    let records =
        |begun: &str| format!("1.1 h handing\n1.104 w-1 waiting\n1.6 g handing\n{begun} w-1 waiting");
    let apart = "work: 1 opens\nwait: 2 opens\nwork: 3 opens\nwait: 4 opens\n";
    assert_eq!(run(&model, &records("1.72")), apart);
    // The task's own loop is as near.
    let whole = "work: 1 opens\nwait: 2 opens; 4 thread\nwork: 3 opens\n";
    assert_eq!(run(&model, &records("1.90")), whole);
    // What everybody prints tells nothing of a hand-off.
    let top = |n: usize| {
        let own = model.top_level_methods[0].clone();
        schema::TopLevelMethod { method: format!("other_{n}").as_str().into(), ..own }
    };
    let others: Vec<_> = (0..33).map(top).collect();
    model.top_level_methods.extend(others);
    let spans = run(&model, &records("1.72"));
    assert!(spans.contains("wait: 2 opens; 4 thread\n"), "{spans}");
}

/// A loop meets one of many after the other, as fast as loops turn.
#[test]
fn one_of_many_is_followed_by_the_next_one() {
    let mut model = sketch::model(
        "point deleting file=File.path
         point deleted
         top remove Task file=File.path
           >deleting* deleted
           deleted<",
    );
    let records = "1.000 t1 deleting file=/data/file_1
         1.002 t1 deleting file=/data/file_2
         1.500 t1 deleting file=/data/file_3";
    assert_eq!(run(&model, records), "remove: 1 opens\nremove: 2 opens\nremove: 3 opens\n");
    model.top_level_methods[0].identifiers[0].one_of_many = true;
    assert_eq!(run(&model, records), "remove: 1 opens; 2 thread\nremove: 3 opens\n");
}

/// Where nothing else is printed, and nobody knows whose loop it is, a slow turn of a
/// loop is the next task.
#[test]
fn what_prints_one_line_only_turns_fast() {
    check(
        "point applying
         top apply Task
           >applying*<
         top build Task
           >applying*<",
        "1.000 t1 applying
         1.005 t1 applying
         1.100 t1 applying",
        "apply: 1 opens; 2 thread
         apply: 3 opens",
    );
}

/// What can begin with the next line does not need the one before.
#[test]
fn what_begins_itself_takes_nothing_from_others() {
    check(
        "point processing id=Request.id
         point ignoring
         top serve Task id=Request.id
           >processing|ignoring*<",
        "1.000 t1 processing id=request_1
         1.001 t1 ignoring
         1.002 t1 processing id=request_2",
        "serve: 1 opens; 2 thread
         serve: 3 opens",
    );
}

/// A line that everybody prints, long after what can have ended, is of something else.
#[test]
fn what_can_have_ended_prints_nothing_that_everybody_prints() {
    let mut model = "point ended\npoint utility\n".to_owned();
    (0..33).for_each(|n| model += &format!("top other_{n} Task\n>utility<\n"));
    model += "top work Task\n>ended< utility\nutility<";
    check(
        &model,
        "1.00 t1 ended\n1.05 t1 utility\n1.20 t1 utility",
        "work: 1 opens; 2 thread\nwork: 3 opens",
    );
}

#[test]
fn a_round_goes_on_as_long_as_it_does_not_begin_anew() {
    let model = "
        point scanning
        point deleting region=Region.name
        point deleted
        top clean DispatchTarget region[*]=Region.name
          >scanning deleting
          >deleting deleted deleting
          deleted< deleting
        top repair DispatchTarget region=Region.name
          >scanning deleting
          >deleting deleted deleting
          deleted< deleting";
    let records = "1.000 t scanning
         1.001 t deleting region=region-1
         1.002 t deleted
         1.003 t deleting region=region-2
         1.004 t deleted";
    let text = run(&sketch::model(model), records);
    assert_eq!(text.lines().count(), 1, "{text}");
    // The first line once more: the next round.
    let text = run(&sketch::model(model), &records.replace("1.000 t scanning\n", ""));
    assert_eq!(text.lines().count(), 2, "{text}");
}

#[test]
fn a_thread_of_that_name_that_was_just_handed_a_task_is_another() {
    let mut model = sketch::model(
        "point loading
         point opening
         point opened
         top load Task
           >loading<
         top open Task
           >opening opened
           >opened<
         pair load open Thread many",
    );
    model.communication_pairs[0].before = vec![sketch::point(&model, "loading")];
    let records = "1.000 store loading\n1.001 file-1 opening\n1.002 file-1 opened\n1.500 store loading\n1.502 file-1 opened";
    let text = run(&model, records);
    assert_eq!(text.lines().filter(|line| line.starts_with("open:")).count(), 2, "{text}");
}

/// A call ends without a word; the next one that its thread is handed begins as it began.
#[test]
fn a_thread_that_serves_calls_is_soon_at_the_next_one() {
    let model = "point sought
         point added id=Id.n
         top add RpcHandler id=Id.n
           >sought*< added
           added<";
    check(
        model,
        "1.000 h1 sought
         1.001 h1 sought
         1.300 h1 sought
         1.301 h1 added id=1",
        "add: 1 opens; 2 thread
         add: 3 opens; 4 thread",
    );
    check(
        &model.replace("RpcHandler", "Task"),
        "1.000 t1 sought
         1.300 t1 sought
         1.301 t1 added id=1",
        "add: 1 opens; 2 thread; 3 thread",
    );
}

/// What only another program is seen to run is run here nonetheless, again and again.
#[test]
fn what_is_not_seen_to_be_run_does_not_run_inside_of_itself() {
    let model = two_programs();
    let served: String = (0..64).map(|i| format!("{i}.0 s serving\n")).collect();
    let text = run(&model, &format!("{served}70.0 t fixing\n70.001 t fixing"));
    let last: Vec<&str> = text.lines().rev().take(2).collect();
    assert_eq!(last, ["repair: 66 opens, start not seen", "repair: 65 opens, start not seen"]);
}

/// What nobody is known to run is printed inside of what its thread does, but not inside
/// of itself: it begins anew.
#[test]
fn nothing_is_printed_inside_of_itself() {
    check(
        "point begins
         point ends
         top init Unreached
           >begins ends
           ends<",
        "1.000 t begins
         1.001 t begins
         1.002 t ends",
        "init: 1 opens
         init: 2 opens; 3 thread",
    );
}

/// A handler is done when its thread is at something else: the next line that names
/// nothing is of the next event, though it could follow.
#[test]
fn an_event_that_its_thread_has_left_takes_no_nameless_beginning() {
    let model = "point preparing
         point updating
         point loading
         top publish EventHandler
           >preparing updating
           >updating<
         top load Task
           >loading<";
    let records = "1.0 t preparing\n1.1 t loading\n1.2 t updating";
    check(model, records, "publish: 1 opens\nload: 2 opens\npublish: 3 opens");
}

/// A server's thread answers one call after the other.
#[test]
fn a_call_that_can_have_ended_is_over_when_its_thread_names_another_thing() {
    let model = "
        point unfinished path=File.path
        point closed file=File.path
        top complete RpcHandler path=File.path file=File.path
          >unfinished< closed
          >closed<";
    let lines = |file: &str| format!("1.000 t unfinished path=file_0001\n1.050 t closed file={file}");
    check(model, &lines("file_0002"), "complete: 1 opens\ncomplete: 2 opens");
    check(model, &lines("file_0001"), "complete: 1 opens; 2 thread+1 id");
    // It is in the middle of something, or nobody calls it.
    let amid = model.replace("unfinished< closed", "unfinished closed");
    check(&amid, &lines("file_0002"), "complete: 1 opens; 2 thread");
    let task = model.replace("RpcHandler", "Task");
    check(&task, &lines("file_0002"), "complete: 1 opens; 2 thread");
}

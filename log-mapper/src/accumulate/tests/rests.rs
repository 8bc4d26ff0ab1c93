//! Rests: what has no start, and whose it is.

use super::*;

/// A round of one handler stores what others store as well.
const ROUND: &str = "
    point submitting job=Job.id
    point stored block=Block.id
    point submitted
    point refused job=Job.id
    top submit EventHandler job=Job.id block=Block.id
      >submitting< stored refused
      stored submitted
      refused<
      submitted<
    top keep Task block=Block.id
      >stored<";

#[test]
fn a_thread_goes_on_with_what_it_had_begun() {
    // That takes so long that it can be of something else, but what follows cannot.
    let records = "1.0 t submitting job=job_10001
                   3.0 t stored block=block_10001
                   3.1 t submitted";
    check(ROUND, records, "submit: 1 opens; 2 thread, the rest; 3 thread");
    // Another thread has begun nothing.
    let records = records.replace("1.0 t", "1.0 u");
    check(ROUND, &records, "submit: 1 opens\nsubmit: 2 opens; 3 thread");
}

#[test]
fn what_else_a_thread_has_printed_since_must_be_a_part_too() {
    let records = "1.0 t submitting job=job_10001
                   3.0 t stored block=block_10001
                   6.0 t stored block=block_10002
                   6.1 t submitted";
    let apart = "submit: 1 opens\nkeep: 2 opens\nsubmit: 3 opens; 4 thread";
    check(ROUND, records, apart);
}

#[test]
fn without_threads_the_only_one_that_can_have_come_to_it_goes_on() {
    let records = "1.0 - submitting job=job_10001
                   3.0 - stored block=block_10001
                   3.1 - submitted";
    check(ROUND, records, "submit: 1 opens; 2 order, the rest; 3 order, the rest");
    // Of two of them nothing tells which one.
    let two = format!("0.9 - submitting job=job_10002\n{records}");
    check(ROUND, &two, "submit: 1 opens\nsubmit: 2 opens\nkeep: 3 opens\nsubmit: 4 opens, start not seen");
    // What was begun since was begun by who had ended the other before.
    let anew = records.replace("3.0 -", "1.1 - submitting job=job_10002\n1.2 - refused job=job_10002\n3.0 -");
    let apart = "submit: 1 opens\nsubmit: 2 opens; 3 1 id\nkeep: 4 opens\nsubmit: 5 opens, start not seen";
    check(ROUND, &anew, apart);
    // Nor is it known which of two lines is a part of it.
    let parts = records.replace("3.0 -", "2.9 - stored block=block_10002\n3.0 -");
    check(ROUND, &parts, "submit: 1 opens\nkeep: 2 opens\nkeep: 3 opens\nsubmit: 4 opens, start not seen");
}

#[test]
fn without_threads_a_rest_is_about_the_same() {
    let model = "
        point submitting job=Job.n
        point submitted job=Job.n queue=Queue.name
        point asked job=Job.n
        top submit RpcHandler job=Job.n queue=Queue.name
          >submitting submitted
          submitted<
        top ask Task job=Job.n
          >asked<";
    // Small numbers that everybody shows speak for no request, but another one speaks
    // against it: what is left is the one that waits.
    let asked: String = (0..400).map(|n| format!("{n}.0 - asked job={}\n", n % 2 + 1)).collect();
    let records = "500.0 - submitting job=1\n500.0 - submitting job=2\n500.1 - submitted job=1 queue=q";
    let text = run(&sketch::model(model), &(asked + records));
    let last: Vec<&str> = text.lines().rev().take(2).collect();
    assert_eq!(last, ["submit: 402 opens", "submit: 401 opens; 403 follows as such lines do"]);
}

#[test]
fn what_a_rest_belongs_to_was_begun_itself() {
    let records = "1.0 - submitting job=job_10001
                   3.0 - stored block=block_10001
                   3.1 - submitted";
    let model = ROUND
        .replace("point stored", "point prepared\n    point stored")
        .replace(">submitting< stored", ">submitting< prepared stored")
        .replace("stored submitted\n", "stored submitted\n      prepared stored\n");
    let whole = "submit: 1 opens; 2 order, the rest; 3 order, the rest";
    let apart = "submit: 1 opens, start not seen\nkeep: 2 opens\nsubmit: 3 opens, start not seen";
    check(&model, records, whole);
    check(&model, &records.replace("submitting job=job_10001", "prepared"), apart);
}

#[test]
fn what_fills_the_way_to_a_rest_is_about_the_same() {
    let model = "
        point submitting
        point stored block=Block.id
        point submitted block=Block.id
        top submit EventHandler block=Block.id
          >submitting stored
          stored submitted
          submitted<
        top keep Task block=Block.id
          >stored<";
    let records = "1.0 - submitting
                   3.0 - stored block=block_10001
                   3.1 - submitted block=block_10002";
    check(model, records, "submit: 1 opens\nkeep: 2 opens\nsubmit: 3 opens, start not seen");
}

#[test]
fn a_thread_that_names_the_same_goes_on_with_what_can_only_come_next() {
    // What a flush writes others write as well; a handler that has paused can have been
    // called anew.
    let model = "
        point flushing region=Region.name
        point wrote file=File.path
        point flushed region=Region.name
        top flush RpcHandler region=Region.name
          >flushing< wrote
          wrote flushed
          flushed<
        top split RpcHandler region=Region.name
          >wrote flushed
          flushed<";
    let records = "1.0 t flushing region=0123456789abcdef0123456789abcdef
                   9.0 t wrote file=/data/0123456789abcdef0123456789abcdef/f1
                   9.1 t flushed region=0123456789abcdef0123456789abcdef";
    check(model, records, "flush: 1 opens; 2 thread, the rest; 3 thread+1 id");
    // Of another region.
    let other = records.replace("1.0 t flushing region=0", "1.0 t flushing region=1");
    check(model, &other, "flush: 1 opens\nsplit: 2 opens; 3 thread");
    // Who can begin with it once more does.
    let again = model.replace(
        "top flush RpcHandler region=Region.name\n          >flushing< wrote\n          wrote",
        "top flush RpcHandler region=Region.name\n          >flushing< wrote\n          >wrote",
    );
    check(&again, records, "flush: 1 opens\nflush: 2 opens; 3 thread+1 id");
}

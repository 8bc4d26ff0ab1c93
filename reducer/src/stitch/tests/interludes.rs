//! What stands amid something.

use super::*;

/// A call begins anew in the middle of a task.
const STEPS: &str = "
    point p
    top drop Task file=File.path
      >p
    top step Task file=File.path
      >p
    top evict Task other=Path
      >p
    pair drop step Call file=file
";

#[test]
fn what_a_thread_prints_amid_its_work_on_one_thing_is_of_it() {
    let lines = |file: &str, last: &str| {
        format!(
            "a t1 drop file=/data/f1 p@1.0
             a t1 evict other=/data/f9 p@1.001
             a t1 evict other=/data/f8 p@1.002
             a t1 step file={file} p@{last}"
        )
    };
    check(STEPS, &lines("/data/f1", "1.01"), "1 2 3 4 1>2 1>3 1>4");
    // Something else, and long after.
    check(STEPS, &lines("/data/f2", "1.01"), "1\n2\n3\n4");
    check(STEPS, &lines("/data/f1", "1.5"), "1 4 1>4\n2\n3");
}

#[test]
fn what_has_another_digest_for_a_name_is_not_amid() {
    let model =
        STEPS.replace("file=File.path", "file=File.path job=Job.id").replace("other=Path", "job=Job.id");
    let lines = |job: &str| {
        format!(
            "a t1 drop file=/data/f1 job=bcd0c650-e596-11f1-8e5c-4d68ff3ad20d p@1.0
             a t1 evict job={job} p@1.001
             a t1 step file=/data/f1 job=bcd0c650-e596-11f1-8e5c-4d68ff3ad20d p@1.01"
        )
    };
    check(&model, &lines("bccc0b60-e596-11f1-85df-4d68ff3ad20d"), "1 3 1>3\n2");
    check(&model, &lines("job-17"), "1 2 3 1>2 1>3");
}

#[test]
fn between_two_rounds_about_one_thing_others_are_handed_over() {
    let model = STEPS.replace("Call file=file", "Queue file=file many");
    check(
        &model,
        "a t2 drop file=/data/f1 p@1.0
         a t1 step file=/data/f1 p@1.01
         a t1 evict other=/data/f9 p@1.011
         a t1 step file=/data/f1 p@1.02",
        "1 2 4 1>2 1>4\n3",
    );
}

#[test]
fn the_same_done_to_another_thing_is_the_next_round() {
    check(
        STEPS,
        "a t1 drop file=/data/f1 p@1.0
         a t1 step file=/data/f2 p@1.001
         a t1 evict other=/data/f8 p@1.002
         a t1 step file=/data/f1 p@1.01",
        "1 3 4 1>3 1>4
         2",
    );
}

#[test]
fn without_a_thread_what_begins_as_something_else_is_not_the_middle_of_a_task() {
    let model = "
        point p
        point q
        point r
        top ask Task id=Id.n
          >p
        top work Task id=Id.n
          >q r
          r p
          p
        top again Task id=Id.n
          >r p
          p
        pair ask work Thread id=id";
    let spans = |tops: &str, thread: &str| {
        format!("a {thread} ask id=70001 p@1.0\na {thread}2 {tops} id=70001 r@1.1 p@1.2").replace("-2", "-")
    };
    check(model, &spans("again|work", "-"), "1\n2");
    // It is rather the task than the other, or a thread shows where it began.
    check(model, &spans("work|again", "-"), "1 2 1>2");
    check(model, &spans("again|work", "t"), "1 2 1>2");
}

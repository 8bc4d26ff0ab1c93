//! Called again: what nearly always ends what a thread does has ended it.

use super::*;

/// Who asks can go on with a note when it has its answer; notes are written otherwise, too.
const ASKS: &str = "
    point asks
    point gets job=Job.id
    point notes note=Note.id
    point closes
    top ask Asked job=Job.id
      >asks gets
      gets< notes
      notes<
    top write Unreached note=Note.id
      >notes<
    top keep Task note=Note.id
      >closes notes
      notes<";

/// 16 questions, after every so many of which a note is written.
fn questions(every: u32) -> String {
    let mut text = String::new();
    for i in 0..16_u32 {
        let (second, job) = (i + 1, 10_000 + i);
        text += &format!("{second}.000 t asks\n{second}.200 t gets job={job}\n");
        if (i + 1) % every == 0 {
            text += &format!("{second}.201 t notes note={}\n", 20_000 + i);
        }
    }
    text
}

fn spans(sketch: &str, records: &str) -> Vec<String> {
    run(&sketch::model(sketch), records).lines().skip(4).take(2).map(str::to_owned).collect()
}

#[test]
fn what_comes_after_the_usual_end_was_called_by_somebody_else() {
    let found = spans(ASKS, &questions(5));
    assert!(found[0].starts_with("ask: 9 opens; 10 thread"), "{found:?}");
    assert!(!found[0].contains("11"), "{found:?}");
    assert!(found[1].starts_with("write: 11 "), "{found:?}");
}

#[test]
fn what_often_goes_on_has_not_ended() {
    // Every second question is followed by a note.
    let found = run(&sketch::model(ASKS), &questions(2));
    assert!(!found.contains("write"), "{found}");
}

#[test]
fn a_known_thread_goes_on_with_its_own_work() {
    let known = ASKS.replace("top ask Asked", "top ask Task");
    let found = run(&sketch::model(&known), &questions(5));
    assert!(!found.contains("write"), "{found}");
}

#[test]
fn what_only_known_threads_print_is_called_by_nobody_else() {
    let known = ASKS.replace("top write Unreached", "top write Task");
    let found = run(&sketch::model(&known), &questions(5));
    assert!(!found.contains("write"), "{found}");
}

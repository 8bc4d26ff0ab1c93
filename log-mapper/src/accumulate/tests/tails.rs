//! Tails: what a span ends with and the next one begins with.

use super::*;

/// Who submits may register first, and may register again when it has.
const SUBMITS: &str = "
    point registers
    point gets job=Job.id
    point submits
    top submit Task job=Job.id
      >registers gets
      >gets submits
      submits< registers";

/// 32 rounds, every second one of which registers, so long after the last line of the one
/// before and so long before its own, ms.
fn rounds(after_ms: u32, before_ms: u32) -> String {
    let mut now_ms = 1_000;
    let mut text = String::new();
    let mut print = |now_ms: u32, line: &str| {
        text += &format!("{}.{:03} t {line}\n", now_ms / 1000, now_ms % 1000);
    };
    for i in 0..32 {
        if i % 2 == 1 {
            print(now_ms + after_ms, "registers");
        }
        now_ms += after_ms + before_ms;
        print(now_ms, &format!("gets job={}", 10_000 + i));
        print(now_ms, "submits");
    }
    text
}

/// The records of the first spans.
fn spans(records: &str) -> Vec<String> {
    run(&sketch::model(SUBMITS), records).lines().take(4).map(str::to_owned).collect()
}

#[test]
fn what_comes_next_tells_what_a_line_begins() {
    let moved = [
        "submit: 1 opens; 2 thread",
        "submit: 3 order, begins the next; 4 opens; 5 thread",
        "submit: 6 opens; 7 thread",
        "submit: 8 order, begins the next; 9 opens; 10 thread",
    ];
    assert_eq!(spans(&rounds(15, 1)), moved);
}

#[test]
fn what_stands_nearer_to_the_line_before_is_of_that() {
    let kept = [
        "submit: 1 opens; 2 thread; 3 thread",
        "submit: 4 opens; 5 thread",
        "submit: 6 opens; 7 thread; 8 thread",
        "submit: 9 opens; 10 thread",
    ];
    assert_eq!(spans(&rounds(1, 15)), kept);
}

#[test]
fn what_is_followed_by_anything_begins_nothing() {
    // Every second time somebody only submits.
    let records = rounds(15, 1);
    let mut n = 0;
    let lines = records.lines().map(|line| {
        let time = line.split(' ').next().expect("a time");
        n += u32::from(line.contains("registers"));
        let is_other = line.contains("registers") && n % 2 == 0;
        if is_other { format!("{line}\n{time} t submits\n") } else { format!("{line}\n") }
    });
    let records: String = lines.collect();
    let text = run(&sketch::model(SUBMITS), &records);
    assert!(!text.contains("begins the next"), "{text}");
}

/// Who adds a fetcher says that it has started; others start first, and add then.
const STARTS: &str = "
    point adds job=Job.id
    point started
    point leads job=Job.id
    top publish EventHandler job[*]=Job.id
      >adds started
      >started< leads
      >leads<";

#[test]
fn what_nearly_always_stands_after_a_line_ends_that() {
    let mut text = String::new();
    for i in 0..20 {
        let second = 10 * (i + 1);
        text += &format!("{second}.000 t adds job={}\n{second}.001 t started\n", 10_000 + i);
    }
    text += "300.000 t adds job=20000\n300.008 t started\n300.080 t leads job=30000\n";
    let found = run(&sketch::model(STARTS), &text);
    let ends = found.lines().rev().take(2).collect::<Vec<_>>();
    assert_eq!(ends, ["publish: 43 follows at once", "publish: 41 opens; 42 order, ends the one before"]);
}

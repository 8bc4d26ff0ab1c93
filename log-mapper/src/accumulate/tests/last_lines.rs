//! Last lines: what ends, and what begins after that.

use super::*;

const EVENTS: &str = "
    point finished
    point killing
    point registering
    point submitted
    top receive IdentifierLoss
      >finished killing
      killing< registering
      >registering submitted
      submitted<";

/// 20 events that finish something and `n_between` others between them and as many that register
/// something; then one of each directly after the other.
fn events(is_next: bool) -> String {
    let finish = |second: u32| format!("{second}.000 t finished\n{second}.001 t killing\n");
    let register = |second: u32| format!("{second}.000 t registering\n{second}.001 t submitted\n");
    let (mut text, mut second) = (String::new(), 0);
    let mut next = || {
        second += 10;
        second
    };
    for _ in 0..20 {
        text += &finish(next());
        text += &if is_next { String::new() } else { finish(next()) };
        text += &register(next());
        text += &if is_next { String::new() } else { register(next()) };
    }
    let second = next();
    text + &finish(second) + &format!("{second}.005 t registering\n{second}.006 t submitted\n")
}

#[test]
fn between_an_end_and_a_beginning_one_event_ends_and_another_begins() {
    let found = run(&sketch::model(EVENTS), &events(false));
    assert!(found.ends_with("receive: 161 opens; 162 thread\nreceive: 163 thread; 164 thread\n"), "{found}");
}

#[test]
fn what_mostly_comes_next_may_be_of_one_event() {
    let found = run(&sketch::model(EVENTS), &events(true));
    assert!(found.ends_with("receive: 81 opens; 82 thread; 83 thread; 84 thread\n"), "{found}");
}

#[test]
fn a_loop_comes_back_to_its_first_line_at_once() {
    let records = |gap_ms: u32| {
        let row = |second: u32, ms: u32| {
            format!("{second}.{ms:03} t registering\n{second}.{:03} t submitted\n", ms + 1)
        };
        let finish = |second: u32| format!("{second}.000 t finished\n{second}.001 t killing\n");
        let alone: String = (1..=20).map(|i| row(20 * i, 0) + &finish(20 * i + 10)).collect();
        alone + &row(500, 0) + &row(500, 1 + gap_ms)
    };
    let model = EVENTS.replace("submitted<", "submitted< registering");
    let found = |gap_ms| run(&sketch::model(&model), &records(gap_ms));
    let last = |text: &str| text.lines().last().unwrap_or_default().to_owned();
    assert_eq!(last(&found(3)).split(';').count(), 4, "{}", found(3));
    assert_eq!(last(&found(60)).split(';').count(), 2, "{}", found(60));
}

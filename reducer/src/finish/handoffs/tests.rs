//! Hand-offs of small requests: what stands before and after each span in its sender's.

use schema::model::{Level, Model};
use schema::{Accumulator, Event, Link, Name, PairId, Pass, Span, Values, sketch};

use super::HandOffs;

const MODEL: &str = "
    point Take
    point Send
    point Wait
    point Work
    point Done
    top serve Task
      >Take Send
      Send Wait
      Wait<
    top work Task
      >Work Done
      Done<
    pair serve work Thread
    pair serve work Call
    pair serve work Entity
    pair work work Queue
";

/// The model, with what the first pair's sender prints before and after its hand-off.
fn model(waits: bool) -> Model {
    let mut model = sketch::model(MODEL);
    let before = vec![sketch::point(&model, "Send")];
    let after = vec![sketch::point(&model, "Wait")];
    let pair = &mut model.communication_pairs[0];
    (pair.before, pair.after, pair.waits) = (before, after, waits);
    model
}

/// `top: Point@line Point@line`, one event each; the time is the line.
fn span(model: &Model, node: &str, thread: &str, text: &str) -> Span {
    let (top, events) = text.split_once(": ").expect("a top-level method and events");
    let event = |word: &str| {
        let (point, line) = word.split_once('@').expect("a point and a line");
        let line: u64 = line.parse().expect("a line");
        Event {
            file: 0,
            line,
            n_lines: 1,
            byte_offset: 0,
            ts_us: line.cast_signed(),
            late_us: 0,
            level: Some(Level::Info),
            log_point: Some(sketch::point(model, point)),
            values: Values::default(),
            reason: Name::from(""),
            pass: Pass::Opens,
        }
    };
    Span {
        node: Name::from(node),
        thread: Some(thread.into()),
        top_levels: vec![sketch::top(model, top)],
        identifiers: Vec::new(),
        events: events.split(' ').map(event).collect(),
        truncated: false,
        hosts: Vec::new(),
        n_alike: 1,
    }
}

/// `(before, after)` of the second span, which the first handed over to by a pair; whether
/// a log contradicts it.
#[track_caller]
fn check(model: &Model, pair: usize, spans: [Span; 2], expected: (Option<u32>, Option<u32>), conflict: bool) {
    let link = Link {
        from: 0,
        to: 1,
        pair: Some(PairId::new(pair)),
        by: Pass::Opens,
        probability: schema::Probability::default(),
    };
    let accumulator = Accumulator { spans: spans.to_vec(), links: vec![link] };
    let hand_offs = HandOffs::new(model, &accumulator, &[None, Some(link)]);
    assert_eq!(hand_offs.of_spans[0], None);
    let found = hand_offs.of_spans[1].expect("a hand-off");
    assert_eq!(((found.before, found.after), hand_offs.has_conflict), (expected, conflict));
}

#[test]
fn what_a_sender_prints_only_before_it_hands_over_precedes_the_receiver() {
    let model = model(false);
    let sender = span(&model, "a", "t1", "serve: Take@1 Send@2 Wait@5");
    let receiver = span(&model, "a", "t2", "work: Work@3 Done@4");
    check(&model, 0, [sender, receiver], (Some(2), None), false);
}

#[test]
fn a_sender_that_prints_nothing_before_has_begun_before() {
    let model = model(false);
    let sender = span(&model, "a", "t1", "serve: Take@1 Wait@5");
    let receiver = span(&model, "b", "t2", "work: Work@3");
    check(&model, 0, [sender, receiver], (Some(0), None), false);
}

#[test]
fn who_waits_prints_what_comes_after_that_later() {
    let model = model(true);
    let sender = span(&model, "a", "t1", "serve: Take@1 Send@2 Wait@5");
    let receiver = span(&model, "a", "t2", "work: Work@3 Done@4");
    check(&model, 0, [sender, receiver.clone()], (Some(2), Some(2)), false);
    // Nothing is printed after it: it is done before the sender is.
    let sender = span(&model, "a", "t1", "serve: Take@1 Send@2");
    check(&model, 0, [sender, receiver], (Some(2), Some(2)), false);
}

#[test]
fn a_receiver_that_begins_before_is_no_receiver() {
    let model = model(false);
    let sender = span(&model, "a", "t1", "serve: Take@1 Send@4");
    let receiver = span(&model, "a", "t2", "work: Work@3");
    check(&model, 0, [sender.clone(), receiver], (None, None), true);
    // On another node only its clock says so.
    let receiver = span(&model, "b", "t2", "work: Work@3");
    check(&model, 0, [sender, receiver], (Some(2), None), false);
}

#[test]
fn lines_of_a_call_stand_between_two_of_the_caller() {
    let model = model(false);
    let caller = span(&model, "a", "t1", "serve: Take@1 Send@2 Wait@5");
    let called = span(&model, "a", "t1", "work: Work@3 Done@4");
    check(&model, 1, [caller.clone(), called], (Some(2), Some(2)), false);
    // Not if a line of the caller stands between them, or another thread printed them.
    let torn = span(&model, "a", "t1", "work: Work@3 Done@6");
    check(&model, 1, [caller.clone(), torn], (None, None), false);
    let other = span(&model, "a", "t2", "work: Work@3 Done@4");
    check(&model, 1, [caller, other], (None, None), false);
}

#[test]
fn work_on_one_object_and_what_nobody_hands_over_is_not_ordered() {
    let model = model(false);
    let one = span(&model, "a", "t1", "serve: Take@1 Send@2");
    let other = span(&model, "a", "t2", "work: Work@3");
    check(&model, 2, [one, other], (None, None), false);
}

#[test]
fn a_way_past_somebody_silent_orders_only_that_it_began() {
    let model = model(false);
    // The pair is the last step: its sender prints nothing, and is not the one that is seen.
    let one = span(&model, "a", "t1", "serve: Take@1 Send@2");
    let other = span(&model, "a", "t2", "work: Work@3");
    check(&model, 3, [one, other], (Some(0), None), false);
}

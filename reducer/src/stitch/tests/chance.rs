//! What time alone finds, and would find at other times too.

use super::*;

/// The links from 40 calls within 100 s to 40 tasks that begin at the times of `task`, in 10 ms.
fn n_links(task: impl Fn(u64) -> u64) -> usize {
    let model = sketch::model(
        "point p
         top submit RpcHandler id=Id.n
           >p
         top work Task name=Name.text
           >p
         pair submit work Thread",
    );
    let line = |what: &str, at: u64| {
        let at = format!("{}.{:02}", 10 + at / 100, at % 100);
        format!("a - {what} {at}-{at}\n")
    };
    let calls = (0..40).map(|n| line(&format!("submit id={n}"), call(n)));
    let tasks = (0..40).map(|n| line(&format!("work name=x{n}"), task(n)));
    let spans = spans(&model, &calls.chain(tasks).collect::<String>());
    let requests = reduce(&model, outputs(&spans, |_, _| 0), &Config::default());
    requests.iter().map(|request| request.links.len()).sum()
}

/// When the call number `n` comes, in 10 ms, in no order.
fn call(n: u64) -> u64 {
    n * 7919 % 9973
}

#[test]
fn what_time_finds_as_often_at_other_times_is_chance() {
    assert_eq!(n_links(|n| call(n) + 2), 40);
    // Tasks that somebody else starts: a call stands before two of them.
    assert_eq!(n_links(|n| (n + 3) * 6007 % 9967), 0);
}

#[test]
fn what_comes_of_the_same_as_a_task_has_not_started_it() {
    let model = sketch::model(
        "point p
         top submit RpcHandler id=Id.n
           >p
         top note RpcHandler id=Note.n
           >p
         top work Task name=Name.text
           >p
         pair submit work Thread
         pair note work Thread",
    );
    let line = |what: &str, at: u64| {
        let at = format!("{}.{:02}", 10 + at / 100, at % 100);
        format!("a - {what} {at}-{at}\n")
    };
    let calls = (0..40).map(|n| line(&format!("submit id={n}"), call(n)));
    let tasks = (0..40).map(|n| line(&format!("work name=x{n}"), call(n) + 2));
    // Every second call is noted, just before the task begins.
    let notes = (0..20).map(|n| line(&format!("note id={n}"), call(2 * n) + 1));
    let spans = spans(&model, &calls.chain(tasks).chain(notes).collect::<String>());
    let requests = reduce(&model, outputs(&spans, |_, _| 0), &Config::default());
    let pairs: Vec<_> = requests.iter().flat_map(|request| &request.links).map(|link| link.pair).collect();
    assert!(pairs.iter().all(|pair| pair.is_some_and(|pair| pair.index() == 0)), "{pairs:?}");
    assert_eq!(pairs.len(), 40);
}

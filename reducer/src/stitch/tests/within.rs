//! What is within one request.

use super::*;

/// A request opens things; who opens one starts a task that names nothing.
const OPENERS: &str = "
    point p
    top ask RpcHandler job=Job.id
      >p
    top open Task job=Job.id
      >p
    top load Task
      >p
    pair ask open Thread job=job many
    pair open load Thread
";

/// Ten times two openers are at work at once, and a task of one of them begins: for one
/// job, or for `n_jobs` of two; the first `n_alone` tasks when nobody is at work.
fn openings(n_jobs: usize, n_alone: usize) -> String {
    let opening = |i: usize| {
        let (t, first) = (i * 100, format!("10f0{i:04}"));
        let second = if n_jobs == 1 { first.clone() } else { format!("20f0{i:04}") };
        let load = if i < n_alone { t + 50 } else { t };
        let asks = format!("a - ask job={first} {t}.0-{t}.0\n");
        let asks_too = format!("a - ask job={second} {t}.0-{t}.0\n");
        let asks = if n_jobs == 1 { asks } else { asks + &asks_too };
        format!(
            "{asks}
             a - open job={first} {t}.1-{t}.9
             a - open job={second} {t}.1-{t}.9
             a - load {load}.5-{load}.6\n"
        )
    };
    (0..10).map(opening).collect()
}

#[test]
fn a_task_of_any_of_several_openers_is_of_their_one_request() {
    let whole = |i: usize| {
        format!("{a} {b} {c} {d} {a}>{b} {a}>{c} {c}>{d}\n", a = i + 1, b = i + 2, c = i + 3, d = i + 4)
    };
    let expected: String = (0..10).map(|i| whole(4 * i)).collect();
    check(OPENERS, &openings(1, 0), &expected);
}

#[test]
fn a_task_of_one_of_two_requests_at_work_is_of_none() {
    let apart =
        |i: usize| format!("{} {c} {0}>{c}\n{} {d} {1}>{d}\n{}\n", i + 1, i + 2, i + 5, c = i + 3, d = i + 4);
    let expected: String = (0..10).map(|i| apart(5 * i)).collect();
    check(OPENERS, &openings(2, 0), &expected);
}

#[test]
fn what_often_begins_when_nobody_is_at_work_is_a_request_by_itself() {
    let opened =
        |i: usize| format!("{a} {b} {c} {a}>{b} {a}>{c}\n{d}\n", a = i + 1, b = i + 2, c = i + 3, d = i + 4);
    let expected: String = (0..10).map(|i| opened(4 * i)).collect();
    check(OPENERS, &openings(1, 3), &expected);
}

#[test]
fn what_only_may_be_an_opener_has_opened_nothing() {
    let model = format!("{OPENERS}    top other Task job=Job.id\n      >p\n");
    let text = openings(1, 0).replace("- open", "- other|open");
    let apart =
        |i: usize| format!("{a} {b} {c} {a}>{b} {a}>{c}\n{d}\n", a = i + 1, b = i + 2, c = i + 3, d = i + 4);
    check(&model, &text, &(0..10).map(|i| apart(4 * i)).collect::<String>());
}

#[test]
fn what_a_thread_only_may_be_at_is_handed_over_by_nobody() {
    let model = format!("{OPENERS}    top other Task job=Job.id\n      >p\n");
    let text = openings(1, 0).replace("- load", "t9 other|load");
    let apart =
        |i: usize| format!("{a} {b} {c} {a}>{b} {a}>{c}\n{d}\n", a = i + 1, b = i + 2, c = i + 3, d = i + 4);
    check(&model, &text, &(0..10).map(|i| apart(4 * i)).collect::<String>());
}

#[test]
fn who_looks_after_a_lasting_thing_is_within_nothing() {
    let model = OPENERS
        .replace("top load Task", "top load Task job=Job.id?")
        .replace("pair open load Thread", "pair open load Thread job=job");
    let apart =
        |i: usize| format!("{a} {b} {c} {a}>{b} {a}>{c}\n{d}\n", a = i + 1, b = i + 2, c = i + 3, d = i + 4);
    check(&model, &openings(1, 0), &(0..10).map(|i| apart(4 * i)).collect::<String>());
}

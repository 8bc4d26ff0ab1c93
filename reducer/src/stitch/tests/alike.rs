//! Senders that print what those print whom values tell.

use super::*;

/// Workers read from connections and queue what they have read.
const WORKERS: &str = "
    point read
    point state
    point p
    top work Task session=Session.id peer=Socket.peer
      >read|state
    top submit Task session=Session.id
      >p
    pair work submit Queue session=session";

/// The requests of so many sessions that values tell, and the last line of one at the end.
fn first_of_last(n: usize, last: &str) -> String {
    let session = |i: usize| {
        let at = 100 * i;
        format!(
            "a w{i} work session=session_{i:02} read@{at}.0\na s submit session=session_{i:02} {at}.1-{at}.1\n"
        )
    };
    let told: String = (1..=n).map(session).collect();
    let text = format!("{told}a w work {last}@9000.0\na s submit session=session_99 9000.1-9000.1");
    let model = sketch::model(WORKERS);
    let requests = reduce(&model, outputs(&spans(&model, &text), |_, _| 0), &Config::default());
    print(&requests).lines().last().unwrap_or_default().to_owned()
}

#[test]
fn who_prints_nothing_of_what_such_senders_print_has_gone_another_way() {
    let joined = |n: usize| format!("{0} {1} {0}>{1}", 2 * n + 1, 2 * n + 2);
    let apart = |n: usize| (2 * n + 2).to_string();
    let answers = "peer=/10.0.0.1:5001 state";
    assert_eq!(first_of_last(10, answers), apart(10));
    assert_eq!(first_of_last(10, "peer=/10.0.0.1:5001 read"), joined(10));
    // What names nothing can be a piece of the way.
    assert_eq!(first_of_last(10, "state"), joined(10));
    // So few do not show what is usual.
    assert_eq!(first_of_last(4, answers), joined(4));
}

//! What is within one request.

use super::*;

/// A request opens things; who opens one starts a task that names nothing.
pub(super) const OPENERS: &str = "
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
/// job, or for `n_jobs` of two.
fn openings(n_jobs: usize) -> String {
    let opening = |i: usize| {
        let (t, first) = (i * 100, format!("10f0{i:04}"));
        let second = if n_jobs == 1 { first.clone() } else { format!("20f0{i:04}") };
        let asks = format!("a - ask job={first} {t}.0-{t}.0\n");
        let asks_too = format!("a - ask job={second} {t}.0-{t}.0\n");
        let asks = if n_jobs == 1 { asks } else { asks + &asks_too };
        format!(
            "{asks}
             a - open job={first} {t}.1-{t}.9
             a - open job={second} {t}.1-{t}.9
             a - load {t}.5-{t}.6\n"
        )
    };
    (0..10).map(opening).collect()
}

#[test]
fn a_task_of_any_of_several_openers_is_of_their_one_request() {
    let whole = |i: usize| {
        format!("{a} {b} {c} {d} {a}>{b} {a}>{c} {b}>{d}\n", a = i + 1, b = i + 2, c = i + 3, d = i + 4)
    };
    let expected: String = (0..10).map(|i| whole(4 * i)).collect();
    check(OPENERS, &openings(1), &expected);
}

/// What is within a request can have handed on what that has named.
#[test]
fn a_task_of_openers_hands_on_what_their_request_has_named() {
    let model = OPENERS.replace("top load Task", "top load Task job=Job.id")
        + "    top serve RpcHandler job=Job.id\n      >p\n    pair load serve Rpc job=job\n";
    let serve = |i: usize| format!("b - serve job=10f0{i:04} {t}.55-{t}.56\n", t = i * 100);
    let text = openings(1) + &(0..10).map(serve).collect::<String>();
    let whole = |i: usize| {
        let (a, e) = (4 * i + 1, 41 + i);
        format!("{a} {b} {c} {d} {e} {a}>{b} {a}>{c} {b}>{d} {d}>{e}\n", b = a + 1, c = a + 2, d = a + 3)
    };
    check(&model, &text, &(0..10).map(whole).collect::<String>());
}

#[test]
fn a_task_of_one_of_two_requests_at_work_is_of_none() {
    let apart =
        |i: usize| format!("{} {c} {0}>{c}\n{} {d} {1}>{d}\n{}\n", i + 1, i + 2, i + 5, c = i + 3, d = i + 4);
    let expected: String = (0..10).map(|i| apart(5 * i)).collect();
    check(OPENERS, &openings(2), &expected);
}

#[test]
fn a_task_is_not_within_who_is_still_before_its_hand_off() {
    let mut model = sketch::model(&format!("point hands\n{OPENERS}"));
    model.communication_pairs[1].before = vec![sketch::point(&model, "hands")];
    let text = |load: &str, last: &str| -> String {
        let opening = |i: usize| {
            let (t, job, hands) = (i * 100, format!("10f0{i:04}"), if i == 9 { last } else { "3" });
            let open = |n: usize| format!("a o{n} open job={job} p@{t}.1 hands@{t}.{hands} p@{t}.9");
            let (first, second) = (open(1), open(2));
            format!("a h ask job={job} {t}.0-{t}.0\n{first}\n{second}\na {load} load {t}.5-{t}.6\n")
        };
        (0..10).map(opening).collect()
    };
    let whole =
        |a: usize, d: usize| format!("{a} {b} {c} {d} {a}>{b} {a}>{c} {b}>{d}\n", b = a + 1, c = a + 2);
    let all: String = (0..10).map(|i| whole(4 * i + 1, 4 * i + 4)).collect();
    check_model(&model, &text("t9", "3"), &all);
    let but_last: String = (0..9).map(|i| whole(4 * i + 1, 4 * i + 4)).collect();
    check_model(&model, &text("t9", "7"), &(but_last + "37 38 39 37>38 37>39\n40\n"));
}

#[test]
fn who_looks_after_a_lasting_thing_is_within_nothing() {
    let model = OPENERS
        .replace("top load Task", "top load Task job=Job.id?")
        .replace("pair open load Thread", "pair open load Thread job=job");
    let apart =
        |i: usize| format!("{a} {b} {c} {a}>{b} {a}>{c}\n{d}\n", a = i + 1, b = i + 2, c = i + 3, d = i + 4);
    check(&model, &openings(1), &(0..10).map(|i| apart(4 * i)).collect::<String>());
}

/// A compaction hands over a split when it has ended; another request at work can have
/// handed it over as well.
#[test]
fn who_begins_after_the_record_before_its_hand_off_is_not_at_work_on_it() {
    let mut model = sketch::model(
        "point p
         point q
         top compact Task region=Region.id
           >p
         top split Task region=Region.id
           >q
         pair compact split Thread region=region",
    );
    let requests = |model: &Model, text: &str| {
        print(&reduce(model, outputs(&spans(model, text), |_, _| 0), &Config::default()))
    };
    let after = "a - split region=77771 q@1.000\na - compact region=77771 p@1.001";
    let at_once = "a - split region=77771 q@1.000\na - compact region=77771 p@1.000";
    let before = "a - compact region=77771 p@1.000\na - split region=77771 q@1.000";
    assert_eq!(requests(&model, after), "1 2 2>1\n");
    assert_eq!(requests(&model, before), "1 2 1>2\n");
    model.communication_pairs[0].before = vec![sketch::point(&model, "p")];
    assert_eq!(requests(&model, after), "1\n2\n");
    assert_eq!(requests(&model, at_once), "1\n2\n");
    assert_eq!(requests(&model, before), "1 2 1>2\n");
}

/// Whoever saves a table has it flushed.
const SAVERS: &str = "
    point p
    top save Task table=Table.name?
      >p
    top flush Task table=Table.name?
      >p
    pair save flush Thread table=table";

/// Ten times a table is flushed, while `savers` are at work (`t` is the second of the round).
fn flushes(savers: &str) -> String {
    let round = |i: usize| {
        let savers = savers.replace("t.", &format!("{}.", i * 100));
        format!("{savers}\na t2 flush table=users {0}.1-{0}.15\n", i * 100)
    };
    (0..10).map(round).collect()
}

/// Ten rounds, of which each is of `spans` that are of one request or not.
fn rounds(requests: &str, n_spans: usize) -> String {
    let number = |word: &str, i: usize| -> String {
        let ends =
            word.split('>').map(|end| (end.parse::<usize>().expect("a span") + n_spans * i).to_string());
        ends.collect::<Vec<_>>().join(">")
    };
    let line =
        |line: &str, i: usize| line.split(' ').map(|word| number(word, i)).collect::<Vec<_>>().join(" ");
    (0..10).flat_map(|i| requests.split('/').map(move |one| line(one, i) + "\n")).collect()
}

#[test]
fn what_is_waited_for_is_of_the_only_one_who_goes_on_soon_after() {
    let waits = format!("{SAVERS} waits\n");
    let saver = flushes("a t1 save table=users t.0-t.2");
    check(&waits, &saver, &rounds("1 2 1>2", 2));
    // Nobody waits for it: it looks after the table.
    check(&format!("{SAVERS}\n"), &saver, &rounds("1/2", 2));
    // Who goes on much later has waited for something else.
    check(&waits, &flushes("a t1 save table=users t.0-t.9"), &rounds("1/2", 2));
    // Who has printed nothing yet may have waited as well.
    check(
        &waits,
        &flushes("a t1 save table=users t.0-t.2\na t3 save table=users t.2-t.9"),
        &rounds("1/3/2", 3),
    );
}

//! What only the whole log tells: lives of identifiers, who is left over, copies of
//! messages, what a request has named, nesting.

use super::*;

/// A session is opened on one node and worked on by another; the message between
/// is handled without a word.
const SESSIONS: &str = "
    point p
    top open Task session=Session.id
      >p
    top handle EventHandler session=Session.id
      >p
    top work Task session=Session.id
      >p
    top other Task session=Session.id
      >p
    pair open handle Socket session=session
    pair handle work Thread session=session
";

/// What handles one session shows it; then `n` sessions one after the other; in each, `second` on node b follows after
/// `gap` seconds.
fn sessions(n: usize, second: &str, gap: f64) -> String {
    let handled = "c v handle session=another 0-0\n";
    let session = |i: usize| {
        let start = (i + 1) as f64 * 100.0;
        let next = start + gap;
        format!(
            "a t open session=session-{i:02} {start}-{start}\nb u {second} session=session-{i:02} {next}-{next}\n"
        )
    };
    handled.chars().chain((0..n).map(session).collect::<String>().chars()).collect()
}

#[test]
fn an_identifier_that_comes_and_goes_with_its_request_joins_all_that_holds_it() {
    let pairs = (0..16).map(|i| format!("{a} {b} {a}>{b}\n", a = 2 * i + 2, b = 2 * i + 3));
    let together: String = ["1\n".to_owned()].into_iter().chain(pairs).collect();
    let apart = |n: usize| -> String { (1..=2 * n + 1).map(|i| format!("{i}\n")).collect() };
    check(SESSIONS, &sessions(16, "work", 0.2), &together);
    // One of them fell silent in between: its node has died, or what it printed is lost.
    let silent = "a t open session=session-16 1700-1700\nb u work session=session-16 1730-1730\n";
    check(SESSIONS, &(sessions(16, "work", 0.2) + silent), &(together + "34\n35\n"));
    // Too few to know what kind of identifier it is.
    check(SESSIONS, &sessions(14, "work", 0.2), &apart(14));
    // The name of a thing that somebody comes back to.
    check(SESSIONS, &sessions(16, "work", 30.0), &apart(16));
    // Nothing leads from the one to the other.
    check(SESSIONS, &sessions(16, "other", 0.2), &apart(16));
}

#[test]
fn a_session_is_one_request_although_its_parts_have_found_each_other_before() {
    // What answers prints the session by a name of its own, and has started the
    // latest of those that can have sent it.
    let model = "point p
        top open Task session=Session.id
          >p
        top work Task session=Session.id
          >p
        top answer Task session=Session.id
          >p
        pair open work Socket session=session
        pair work answer Socket session=session
        pair answer work Thread session=session";
    let mut text = String::new();
    let mut expected = String::new();
    for i in 0..16 {
        let (s, start) = (format!("session-{i:02}"), 100 * i);
        text += &format!(
            "a t open session={s} {start}-{start}
             b u answer session={s} {start}.2-{start}.2
             b v work session={s} {start}.21-{start}.3\n"
        );
        let line = 3 * i + 1;
        expected +=
            &format!("{line} {} {} {line}>{} {}>{}\n", line + 1, line + 2, line + 1, line + 1, line + 2);
    }
    check(model, &text, &expected);
}

/// Reads that three nodes are asked for at once, every `interval` or so.
fn asked_for(top: &str, interval: f64) -> String {
    let mut text = String::new();
    for n in 0..24 {
        let at = 10.0 + interval * (f64::from(n) + f64::from(n * n % 7) / 10.0);
        for (position, node) in ["a", "b", "c"].into_iter().enumerate() {
            let at = at + 0.002 * position as f64;
            text += &format!("{node} - {top} table=table_queue {at:.3}-{at:.3}\n");
        }
    }
    text
}

#[test]
fn copies_of_one_message_arrive_together() {
    let model = "point p
         top ask Task
           >p
         top read RpcHandler table=Table.name?
           >p
         top tick Task table=Table.name?
           >p
         pair ask read Socket many";
    let together: String = (0..24)
        .map(|n| 3 * n + 1)
        .map(|n| format!("{n} {} {} {n}>{} {}>{}\n", n + 1, n + 2, n + 1, n + 1, n + 2))
        .collect();
    let apart: String = (1..=72).map(|n| format!("{n}\n")).collect();
    check(model, &asked_for("read", 1.0), &together);
    // So many are asked for that chance brings as many together.
    check(model, &asked_for("read", 0.02), &apart);
    // What nodes do by themselves at one time is no request in common.
    check(model, &asked_for("tick", 1.0), &apart);
}

/// A task is given a list of what other tasks have made, and prints how long it is.
#[test]
fn what_a_request_has_named_each_of_its_spans_can_have_handed_on() {
    let model = "point p
                 top create Task table=Table.name
                   >p
                 top make Task table=Table.name region=Region.name
                   >p
                 top assign Task table=Table.name region=Region.name
                   >p
                 top open RpcHandler region=Region.name
                   >p
                 pair create make Thread table=table many
                 pair create assign Thread table=table many
                 pair assign open Rpc region=region many";
    let request = "a t create table=users7777 1.0-2.0
                   a u make table=users7777 region=r1234567 1.1-1.2
                   a v assign table=users7777 1.4-1.4";
    let check = |rest: &str, expected: &str| check(model, &format!("{request}\n{rest}"), expected);
    check("b w open region=r1234567 1.5-1.6", "1 2 3 4 1>2 1>3 3>4");
    check("b w open region=r7654321 1.5-1.6", "1 2 3 1>2 1>3\n4");
    // The request is done.
    check("b w open region=r1234567 2.1-2.2", "1 2 3 1>2 1>3\n4");
    // It is done as well, but was at work just before.
    let short = request.replace("1.0-2.0", "1.0-1.3");
    self::check(model, &format!("{short}\nb w open region=r1234567 1.45-1.6"), "1 2 3 4 1>2 1>3 3>4");
    self::check(model, &format!("{short}\nb w open region=r1234567 1.55-1.6"), "1 2 3 1>2 1>3\n4");
    // The sender names another one itself.
    let other = "a v assign table=users7777 region=r7654321 1.41-1.41";
    let text = request.replace("a v assign table=users7777 1.4-1.4", other);
    self::check(model, &format!("{text}\nb w open region=r1234567 1.5-1.6"), "1 2 3 1>2 1>3\n4");
    // Or something else that is not the same.
    let model = &model.replace("Region.name\n", "Region.name zone=Zone.name?\n");
    let text = request.replace("table=users7777 1.4", "table=users7777 zone=z1234567 1.4");
    let opened = |zone: &str| format!("{text}\nb w open region=r1234567 zone={zone} 1.5-1.6");
    self::check(model, &opened("z1234567"), "1 2 3 4 1>2 1>3 3>4");
    self::check(model, &opened("z7654321"), "1 2 3 1>2 1>3\n4");
    // Or another one of what the pair hands over, however short.
    let model = &model.replace("Rpc region=region", "Rpc region=region zone=zone");
    let opened = |zone: &str| opened(zone).replace("z1234567", "12");
    self::check(model, &opened("12"), "1 2 3 4 1>2 1>3 3>4");
    self::check(model, &opened("34"), "1 2 3 1>2 1>3\n4");
}

#[test]
fn what_is_printed_in_the_middle_is_a_part() {
    let model = sketch::model(
        "point p
         point q
         top serve RpcHandler
           >p q
           q<
         top trace Task
           >p<",
    );
    let requests = |text: &str| {
        let mut spans = spans(&model, text);
        let serves = spans.iter_mut().filter(|span| span.top_levels[0] == sketch::top(&model, "serve"));
        serves.for_each(|span| span.events[1].log_point = Some(sketch::point(&model, "q")));
        print(&reduce(&model, outputs(&spans, |_, _| 0), &Config::default()))
    };
    assert_eq!(requests("a t1 serve 1.0-2.0\na t1 trace 1.1-1.2"), "1 2 1>2\n");
    assert_eq!(requests("a t1 serve 1.0-2.0\na t2 trace 1.1-1.2"), "1\n2\n");
    // What begins anew has ended before.
    let again = "a t1 serve 1.0-2.0\na t1 trace 1.1-1.2\na t1 serve 1.3-1.4";
    assert_eq!(requests(again), "1\n2\n3\n");
    // What goes on afterwards was not in the middle.
    assert_eq!(requests("a t1 serve 1.0-2.0\na t1 trace 1.1-2.2"), "1\n2\n");
    // What names again what it began with is the same as before, whatever stands between.
    let mut named = spans(&model, again);
    named[0].events[1].log_point = Some(sketch::point(&model, "q"));
    for event in &mut named[0].events {
        event.values = [(0, "task_1_7")].into_iter().collect();
    }
    let joined = print(&reduce(&model, outputs(&named, |_, _| 0), &Config::default()));
    assert_eq!(joined, "1 2 3 1>2 1>3\n");
}

/// A task meets many things of a kind; only the name of its thread tells that it is at
/// work on nothing else.
#[test]
fn what_a_thread_named_after_its_task_prints_is_of_the_task() {
    let model = "point p
         point q
         top run Task name=Task.name block=Block.name
           >p q
           q<
         top store Task block=Block.name
           >p<";
    let lines = |thread: &str| {
        format!(
            "a {thread} run name=task_7_of_9 block=block_1 p@1.0 q@2.0
             a {thread} store block=block_2 1.1-1.2"
        )
    };
    check(model, &lines("worker_for_task_7_of_9"), "1 2 1>2");
    check(model, &lines("worker"), "1\n2");
    check(model, &lines("worker_for_task_7_of_99"), "1\n2");
}

#[test]
fn what_runs_without_main_is_not_mains() {
    let mut model = sketch::model(
        "point p
         top start Task
           >p<
         top tick Task
           >p<
         pair start tick Thread many",
    );
    let requests = |model: &Model, text: &str| {
        print(&reduce(model, outputs(&spans(model, text), |_, _| 0), &Config::default()))
    };
    let (once, again) = ("a m start 1.0-2.0\na t tick 1.5-1.5", "\na t tick 30.0-30.0");
    assert_eq!(requests(&model, &format!("{once}{again}")), "1 2 1>2\n3\n");
    let top = &mut model.top_level_methods[0];
    top.descriptor = "([Ljava/lang/String;)V".to_owned();
    top.method = "main".to_owned();
    let as_main = |text: &str| text.replace("start", "main");
    assert_eq!(requests(&model, &as_main(once)), "1 2 1>2\n");
    assert_eq!(requests(&model, &as_main(&format!("{once}{again}"))), "1 2 1>2\n3\n");
    // It has started what it runs, and waits.
    assert_eq!(requests(&model, "a m main 1.0-9.0\na t tick 2.9-2.9"), "1\n2\n");
}

#[test]
fn who_stands_in_line_waits_for_as_long_as_those_before_it_are_at_work() {
    let mut text = String::new();
    for n in 1..6 {
        text += &format!("a - ask table=t{n} {n}.0-{n}.0\na - flush table=t{n} {n}.01-{n}.02\n");
    }
    // The last one waits for nobody.
    text += "a - ask table=users 7.0-7.0
             a - flush table=users 7.01-7.5
             a - ask table=events 7.02-7.02
             a - flush table=events 7.51-7.6
             a - ask table=blobs 9.0-9.0
             a - flush table=blobs 9.5-9.6";
    check(
        "point p
         top ask Task table=Table.name
           >p
         top flush Task table=Table.name
           >p
         pair ask flush Thread table=table",
        &text,
        "1 2 1>2
         3 4 3>4
         5 6 5>6
         7 8 7>8
         9 10 9>10
         11 12 11>12
         13 14 13>14
         15
         16",
    );
}

#[test]
fn who_has_started_something_may_wait_for_that() {
    let mut text = String::new();
    for n in 1..6 {
        let lines = format!(
            "a - open region=region{n} N.0-N.01
             a - deploy region=region{n} N.02-N.03
             b - opened region=region{n} N.04-N.04\n"
        );
        text += &lines.replace('N', &n.to_string());
    }
    let model = "point p
         top ask Task region=Region.name?
           >p
         top open Task region=Region.name
           >p
         top deploy Task region=Region.name
           >p
         top opened EventHandler region=Region.name
           >p
         pair open deploy Thread region=region
         pair ask opened Store region=region
         pair open opened Store region=region";
    let usual = "1 2 3 1>2 1>3\n4 5 6 4>5 4>6\n7 8 9 7>8 7>9\n10 11 12 10>11 10>12\n13 14 15 13>14 13>15";
    let slow = "b - ask region=region9 8.0-8.0
         a - open region=region9 9.0-9.1
         a - deploy region=region9 9.15-9.9
         b - opened region=region9 9.95-9.95";
    check(model, &format!("{text}{slow}"), &format!("{usual}\n16\n17 18 19 17>18 17>19"));
    // It was done long before, or has nothing to do with that.
    for apart in [slow.replace("9.15-9.9", "9.15-9.3"), slow.replace("9.95-9.95", "10.4-10.4")] {
        check(model, &format!("{text}{apart}"), &format!("{usual}\n16\n17 18 17>18\n19"));
    }
}

#[test]
fn what_stands_between_lines_of_main_is_of_the_program() {
    let mut model = sketch::model(
        "point p
         point q
         top start Task
           >p<
         top step Task
           >q<",
    );
    let requests = |model: &Model, text: &str| {
        print(&reduce(model, outputs(&spans(model, text), |_, _| 0), &Config::default()))
    };
    // Any other task can have begun once more.
    let text = "a m start p@1.0 p@3.0\na m step q@2.0";
    assert_eq!(requests(&model, text), "1\n2\n");
    let top = &mut model.top_level_methods[0];
    top.descriptor = "([Ljava/lang/String;)V".to_owned();
    top.method = "main".to_owned();
    assert_eq!(requests(&model, &text.replace("start", "main")), "1 2 1>2\n");
}

#[test]
fn a_process_is_begun_by_nobody_over_the_network() {
    let mut model = sketch::model(
        "point p
         top run Task file=Config.file
           >p
         pair run run Socket file=file",
    );
    let requests = |model: &Model, text: &str| {
        print(&reduce(model, outputs(&spans(model, text), |_, _| 0), &Config::default()))
    };
    let text = "a m run file=cluster-1 1.0-2.0\nb m run file=cluster-1 1.5-2.5";
    assert_eq!(requests(&model, text), "1 2 1>2\n");
    let top = &mut model.top_level_methods[0];
    top.descriptor = "([Ljava/lang/String;)V".to_owned();
    top.method = "main".to_owned();
    assert_eq!(requests(&model, &text.replace("run", "main")), "1\n2\n");
}

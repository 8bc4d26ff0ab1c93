//! Sketches of models and spans in, requests out.

use schema::sketch;
use schema::{Accumulator, Event, Model, NodeOutput, Span, Value};

use crate::{Config, combine, reduce};

/// The spans written in `text`, one per line:
/// `NODE THREAD TOP[|TOP] NAME=VALUE... START-END [cut]`, times in seconds,
/// thread `-` where it is not known. Instead of `START-END`, `POINT@TIME...` are
/// events of other log points than `p`. The line number is the event's line.
fn spans(model: &Model, text: &str) -> Vec<Span> {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.enumerate().map(|(index, line)| span(model, index as u64 + 1, line)).collect()
}

fn span(model: &Model, line: u64, text: &str) -> Span {
    let mut words = text.split_whitespace();
    let node = words.next().expect("a node").to_owned();
    let thread = words.next().filter(|&thread| thread != "-").map(str::to_owned);
    let tops = words.next().expect("a top-level method");
    let top_levels: Vec<_> = tops.split('|').map(|name| sketch::top(model, name)).collect();
    let (mut identifiers, mut events, mut truncated) = (Vec::new(), Vec::new(), false);
    for word in words {
        if let Some((name, text)) = word.split_once('=') {
            let known = top_levels.iter().flat_map(|top| &model.top_level_methods[top.index()].identifiers);
            let known = known.clone().find(|id| id.path == name).expect("an identifier");
            identifiers.push(Value { value_class: known.value_class, text: text.to_owned() });
        } else if let Some((start, end)) = word.split_once('-') {
            events = vec![event(model, line, start), event(model, line, end)];
        } else if let Some((point, time)) = word.split_once('@') {
            let log_point = Some(sketch::point(model, point));
            events.push(Event { log_point, ..event(model, line, time) });
        } else {
            truncated = word == "cut";
        }
    }
    identifiers.sort();
    Span { node, thread, top_levels, identifiers, events, truncated }
}

fn event(model: &Model, line: u64, time: &str) -> Event {
    let seconds: f64 = time.parse().expect("a time");
    Event {
        file: 0,
        line,
        n_lines: 1,
        byte_offset: 0,
        ts_us: (seconds * 1e6) as i64,
        level: None,
        log_point: Some(sketch::point(model, "p")),
        values: Vec::new(),
        reason: String::new(),
    }
}

fn outputs(spans: &[Span], part_of: impl Fn(usize, &Span) -> usize) -> Vec<NodeOutput> {
    let mut outputs: Vec<NodeOutput> = Vec::new();
    for (index, span) in spans.iter().enumerate() {
        let part = part_of(index, span);
        outputs.resize_with(outputs.len().max(part + 1), NodeOutput::default);
        outputs[part].accumulators.push(Accumulator { spans: vec![span.clone()], links: Vec::new() });
    }
    outputs
}

/// Requests as lines of span numbers, with links `from>to`.
fn print(requests: &[Accumulator]) -> String {
    let line = |request: &Accumulator| {
        let name = |index: u32| request.spans[index as usize].events[0].line;
        let mut words: Vec<String> = (0..request.spans.len() as u32).map(|i| name(i).to_string()).collect();
        words.extend(request.links.iter().map(|link| format!("{}>{}", name(link.from), name(link.to))));
        words.join(" ") + "\n"
    };
    requests.iter().map(line).collect()
}

/// Holds the requests made of spans against `expected`, however the spans are
/// split and ordered, and whether or not nodes combine first.
fn check(model: &str, text: &str, expected: &str) {
    let model = sketch::model(model);
    let mut spans = spans(&model, text);
    let config = Config::default();
    let expected: String = expected
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .map(|line| format!("{line}\n"))
        .collect();
    for round in 0..6 {
        let whole = outputs(&spans, |_, _| 0);
        assert_eq!(print(&reduce(&model, whole, &config)), expected, "whole, round {round}");
        let per_node = outputs(&spans, |_, span| usize::from(span.node.as_bytes()[0] - b'a'));
        let combined = per_node.into_iter().map(|output| combine(&model, output, &config)).collect();
        assert_eq!(print(&reduce(&model, combined, &config)), expected, "combined, round {round}");
        let scattered = outputs(&spans, |index, _| index % 3);
        let combined = scattered.into_iter().map(|output| combine(&model, output, &config)).collect();
        assert_eq!(print(&reduce(&model, combined, &config)), expected, "scattered, round {round}");
        let n = spans.len();
        spans.rotate_left(1 % n);
        spans.swap(0, n / 2);
    }
}

const PIPELINE: &str = "
    point p
    point q
    top write RpcHandler block=Block.id client=Client.name?
      >p
    top respond Task block=Block.id
      >p
    pair write respond Thread block=block
    pair write write Socket block=block
";

#[test]
fn a_pipeline_over_three_nodes_is_one_request() {
    check(
        PIPELINE,
        "a - write block=1 1.0-1.0
         a - respond block=1 1.1-1.9
         b - write block=1 1.01-1.01
         b - respond block=1 1.12-1.85
         c - write block=1 1.02-1.02
         c - respond block=1 1.13-1.8
         a - write block=2 1.005-1.005
         c - respond block=2 1.2-1.3",
        "1 3 5 2 4 6 1>3 1>2 3>5 3>4 5>6
         7
         8",
    );
}

#[test]
fn the_nearest_in_time_tells_apart_requests_on_the_same_identifiers() {
    check(
        PIPELINE,
        "a - write block=1 1.0-1.0
         a - respond block=1 1.1-1.2
         a - write block=1 9.0-9.0
         a - respond block=1 9.1-9.2",
        "1 2 1>2
         3 4 3>4",
    );
}

#[test]
fn a_sender_has_one_receiver_unless_it_can_have_many() {
    let model = |many: &str| {
        format!(
            "point p
             top ask Task table=Table.name
               >p
             top open RpcHandler table=Table.name region=Region.name
               >p
             pair ask open Rpc table=table {many}"
        )
    };
    let spans = "a - ask table=t 1.0-3.0
                 b - open table=t region=1 1.1-1.2
                 c - open table=t region=2 1.3-1.4";
    check(&model("many"), spans, "1 2 3 1>2 1>3");
    check(&model(""), spans, "1 2 1>2\n3");
}

#[test]
fn without_a_shared_value_only_a_sole_sender_is_sure() {
    let model = "point p
                 top submit RpcHandler id=Id.n
                   >p
                 top work Task name=Name.text
                   >p
                 pair submit work Thread";
    check(model, "a - submit id=1 1.0-1.0\na - work name=x 1.1-1.2", "1 2 1>2");
    check(
        model,
        "a - submit id=1 1.0-1.0
         a - submit id=2 1.0-1.0
         a - work name=x 1.1-1.2",
        "1\n2\n3",
    );
    check(model, "a - submit id=1 1.0-1.0\nb - work name=x 1.1-1.2", "1\n2");
}

#[test]
fn conflicting_identifiers_keep_apart() {
    check(
        "point p
         top ask Task id=Id.n user=User.name?
           >p
         top answer RpcHandler id=Id.n user=User.name?
           >p
         pair ask answer Rpc id=id user=user",
        "a - ask id=1 user=u 1.0-2.0
         b - answer id=1 user=v 1.1-1.2
         b - answer id=2 user=u 1.1-1.2
         c - answer user=u 1.3-1.4",
        // A user is the same on all nodes: only values that tell cross them.
        "1
         2
         3
         4",
    );
}

#[test]
fn events_of_an_entity_are_one_request_for_as_long_as_it_lives() {
    check(
        "point p
         top handle Entity id=Id.n
           >p
         pair handle handle Queue id=id",
        "a d handle id=1 1.0-1.0
         a d handle id=2 1.1-1.1
         a d handle id=1 2.0-2.0
         a d handle id=1 200.0-200.0
         b d handle id=1 3.0-3.0",
        "1 3 4 1>3 3>4
         2
         5",
    );
}

#[test]
fn a_dispatcher_never_joins_what_it_dispatches() {
    check(
        "point p
         top loop Dispatcher
           >p
         top serve DispatchTarget id=Id.n
           >p
         pair loop serve Call many",
        "a t1 loop 1.0-5.0
         a t2 loop 1.1-5.0
         a t1 serve id=1 2.0-2.1
         a t2 serve id=2 2.0-2.1
         a t1 serve id=3 3.0-3.1",
        "1
         2 4 2>4
         3
         5",
    );
}

#[test]
fn clocks_of_nodes_may_be_apart() {
    check(
        PIPELINE,
        "a - write block=1 1.5-1.5
         b - write block=1 1.0-1.0",
        "2 1 2>1",
    );
}

#[test]
fn what_the_end_of_an_input_cut_is_joined() {
    check(
        "point p
         point q
         top work Task id=Id.n
           >q
           p",
        "a t work id=1 1.0-2.0 cut
         a t work id=1 3.0-4.0
         a t work id=2 3.5-4.0",
        "1 2 1>2
         3",
    );
}

/// Spans of few identifiers on few nodes, so that everything competes.
fn random_spans(model: &Model, seed: u64, n: usize, n_values: u64) -> Vec<Span> {
    let mut state = seed;
    let mut random = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let mut text = String::new();
    for _ in 0..n {
        let node = ["a", "b", "c"][random(3) as usize];
        let (top, name) =
            [("ask", "id"), ("serve", "id"), ("work", "name"), ("handle", "id"), ("ask|work", "id")]
                [random(5) as usize];
        let start = random(n as u64 * 20);
        let value = if random(3) > 0 { format!("{name}={}", random(n_values)) } else { String::new() };
        text +=
            &format!("{node} - {top} {value} {}.{:03}-{}.5\n", start / 1000, start % 1000, start / 1000 + 1);
    }
    spans(model, &text)
}

const MESH: &str = "
    point p
    top ask RpcHandler id=Id.n
      >p
    top serve RpcHandler id=Id.n
      >p
    top work Task name=Name.text
      >p
    top handle Entity id=Id.n
      >p
    pair ask serve Rpc id=id many
    pair serve work Thread
    pair serve serve Socket id=id
    pair work handle Queue
    pair handle handle Queue id=id
    pair handle ask Store
";

#[test]
fn the_result_is_a_function_of_the_set_of_spans() {
    let model = sketch::model(MESH);
    let config = Config::default();
    for seed in 0..40 {
        let mut spans = random_spans(&model, seed, 60, 5);
        let expected = reduce(&model, outputs(&spans, |_, _| 0), &config);
        let n_spans: usize = expected.iter().map(|request| request.spans.len()).sum();
        assert_eq!(n_spans, spans.len());
        for n_parts in [1, 2, 7] {
            spans.reverse();
            spans.rotate_left(n_parts);
            let parts = outputs(&spans, |index, _| index % n_parts);
            let parts = parts.into_iter().map(|output| combine(&model, output, &config)).collect();
            assert_eq!(reduce(&model, parts, &config), expected, "seed {seed}, {n_parts} parts");
        }
    }
}

#[test]
fn what_carries_a_connection_is_one_request_on_all_nodes() {
    check(
        "point p
         top accept Dispatcher peer=Socket.peer
           >p
         top serve Entity peer=Socket.peer session=Session.id
           >p
         top close Task peer=Conn.address session=Request.session
           >p
         pair serve serve Entity many
         pair serve close Entity many
         pair close serve Entity many
         pair close close Entity many",
        "a - serve peer=/10.0.0.1:5001 session=70001 1.0-1.1
         b - serve peer=/10.0.0.1:5001 session=70002 2.0-2.1
         c - close session=70001 90.0-90.0
         a - accept peer=/10.0.0.1:5001 100.0-100.0
         a - serve peer=/10.0.0.1:5001 session=70003 100.1-100.1
         a - close peer=/10.0.0.1:5001 101.0-101.0",
        "1 3 1>3
         2
         4
         5 6 5>6",
    );
}

#[test]
fn of_two_parts_of_a_connection_at_one_time_one_comes_first() {
    // The second and third share more than the first has with either.
    check(
        "point p
         top serve Entity peer=Socket.peer session=Session.id
           >p
         top close Task peer=Conn.address session=Request.session
           >p
         pair serve serve Entity many
         pair serve close Entity many
         pair close serve Entity many
         pair close close Entity many",
        "a - serve peer=/10.0.0.1:5001 1.0-1.0
         a - serve peer=/10.0.0.1:5001 session=70001 1.002-1.002
         a - close session=70001 1.002-1.002",
        "1 2 3 1>2 2>3",
    );
}

#[test]
fn who_meets_several_connections_works_on_none() {
    check(
        "point p
         top serve Entity peer=Socket.peer session=Session.id
           >p
         top stop Task peer=Socket.peer
           >p
         pair serve serve Entity many
         pair serve stop Entity many",
        "a - serve peer=/10.0.0.1:5001 1.0-1.0
         a - serve peer=/10.0.0.1:5002 2.0-2.0
         a - stop peer=/10.0.0.1:5001 peer=/10.0.0.1:5002 3.0-3.0",
        "1
         2
         3",
    );
}

#[test]
fn a_caller_in_the_same_thread_is_surer_than_who_knows_more() {
    // What another thread prints later names the session too.
    check(
        "point p
         top accept Task peer=Socket.peer
           >p
         top serve Task peer=Socket.peer session=Session.id
           >p
         top settle Task peer=Socket.peer session=Session.id
           >p
         pair accept serve Call peer=peer
         pair settle serve Queue peer=peer session=session",
        "a t1 accept peer=/10.0.0.1:5001 1.0-1.0
         a t1 serve peer=/10.0.0.1:5001 session=70001 1.0-1.0
         a t2 settle peer=/10.0.0.1:5001 session=70001 1.003-1.003",
        "1 2 1>2
         3",
    );
}

#[test]
fn who_has_just_printed_is_the_starter() {
    let model = "point p
         top ask Task
           >p
         top work Task
           >p
         pair ask work Thread";
    check(
        model,
        "a t1 ask 1.0-1.0
         a t2 ask 2.0-2.0
         a w work 2.001-2.1",
        "1
         2 3 2>3",
    );
    // Two that printed at about the same time: either may be.
    check(
        model,
        "a t1 ask 1.999-1.999
         a t2 ask 2.0-2.0
         a w work 2.001-2.1",
        "1
         2
         3",
    );
}

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

#[test]
fn a_thread_named_after_what_it_works_on_belongs_to_whoever_works_on_it() {
    let model = "point p
         top open Task region=Region.name
           >p
         top load Task
           >p
         pair open load Thread";
    check(
        model,
        "a w1 open region=users,1f29ab30 1.0-2.0
         a w2 open region=users,77c0de11 1.001-2.0
         a loader-users,77c0de11.-1 load 1.1-1.2
         a loader-users,1f29ab30.-1 load 1.101-1.2",
        "1 4 1>4
         2 3 2>3",
    );
}

#[test]
fn about_one_thing_what_is_handed_over_in_turn_is_taken_in_turn() {
    // The table's name comes back again and again: it tells nothing alone. What
    // flushes knows more of its request than the table, or it would serve that.
    let model = "point p
         top ask Task name=Table.name?
           >p
         top flush Task name=Table.name? up_to=Position.n
           >p
         top look Task name=Table.name?
           >p
         pair ask flush Thread name=name";
    let looks = "a z look name=t1 10-10
         a z look name=t1 20-20
         a z look name=t1 30-30
         a z look name=t1 40-40
         a z look name=t1 50-50\n";
    check(
        model,
        &format!(
            "{looks}
             a t ask name=t1 60.000-60.000
             a w1 flush name=t1 60.005-60.100
             a t ask name=t1 60.020-60.020
             a w2 flush name=t1 60.025-60.120"
        ),
        "1\n2\n3\n4\n5\n6 7 6>7\n8 9 8>9",
    );
    // Two are waiting: what is handed over first is taken first.
    check(
        model,
        &format!(
            "{looks}
             a t ask name=t1 60.000-60.000
             a u ask name=t1 60.002-60.002
             a w1 flush name=t1 60.005-60.100
             a w2 flush name=t1 60.006-60.120"
        ),
        "1\n2\n3\n4\n5\n6 8 6>8\n7 9 7>9",
    );
}

/// Sixteen attempts, each of one job of four: a state machine gets its events
/// from a queue, a cleaner names the attempt without the model knowing, and a
/// heartbeat looks through all of them.
#[test]
fn what_is_done_to_one_entity_is_one_request_and_the_innermost_entity_counts() {
    let model = "point p
         top state Entity this.attempt=Attempt.id this.job=Job.id
           >p
         top clean Task other=Attempt.id
           >p
         top beat Task this.attempts[*]=Attempt.id
           >p
         pair state state Queue this.attempt=this.attempt";
    let mut text = String::new();
    let mut expected = String::new();
    for n in 0..16 {
        let (attempt, job) = (format!("attempt_{n:02}"), format!("job_{}", n / 4));
        let start = 100 * n;
        text += &format!(
            "a t state this.attempt={attempt} this.job={job} {start}-{start}
             b t clean other={attempt} {}-{}
             a t state this.attempt={attempt} this.job={job} {}-{}
             c t beat this.attempts[*]={attempt} {}-{}\n",
            start + 20,
            start + 20,
            start + 50,
            start + 51,
            start + 60,
            start + 61,
        );
        let line = 4 * n + 1;
        expected += &format!("{line} {} {} {line}>{} {line}>{}\n", line + 1, line + 2, line + 1, line + 2);
        expected += &format!("{}\n", line + 3);
    }
    check(model, &text, &expected);
}

#[test]
fn an_event_that_names_nothing_of_its_entity_stays_apart() {
    let model = "point p
         top launch Task id=Attempt.id
           >p
         top state Entity this.id=Attempt.id
           >p
         pair launch state Queue id=this.id";
    check(
        model,
        "a t launch id=attempt_1 1.0-1.1
         a u state 1.101-1.2",
        "1\n2",
    );
}

#[test]
fn who_starts_after_a_receiver_does_not_crowd_out_its_sender() {
    let model = "point p
         top ask Task name=Table.name?
           >p
         top flush Task name=Table.name?
           >p
         pair ask flush Thread name=name";
    let mut text = "a t ask name=table_0 1.000-1.000
         a w1 flush name=table_0 1.005-1.100\n"
        .to_owned();
    let mut expected = "1 2 1>2\n".to_owned();
    for n in 0..30 {
        text += &format!("a u ask name=other_{n} 1.{:03}-1.{:03}\n", 200 + n, 200 + n);
        expected += &format!("{}\n", n + 3);
    }
    check(model, &text, &expected);
}

/// A region is opened and, long after, closed: the closing task fits both senders'
/// receivers, the opening one even better, but only the closing one was just asked.
#[test]
fn what_was_handed_over_long_ago_was_handed_over_by_somebody_else() {
    let model = "point p
         top asked_open RpcHandler region=Region.name
           >p
         top asked_close RpcHandler region=Region.name
           >p
         top open Task region=Region.name
           >p
         top close Task region=Region.name
           >p
         pair asked_open open Thread region=region
         pair asked_close close Thread region=region";
    check(
        model,
        "a t asked_open region=users_17 1.000-1.001
         a u asked_close region=users_17 14.000-14.001
         a w open|close region=users_17 14.010-14.100",
        "1\n2 3 2>3",
    );
}

#[test]
fn what_is_handed_a_lasting_thing_serves_it_and_not_who_named_it() {
    let model = |knows: &str| {
        format!(
            "point p
             top flush Task table=Table.name? position=Position.n
               >p
             top compact Task table=Table.name? {knows}
               >p
             pair flush compact Thread table=table"
        )
    };
    let spans = "a t flush table=table_users position=70001 1.0-1.1
         a w compact table=table_users 1.101-1.2";
    check(&model(""), spans, "1\n2");
    check(&model("task=Task.id"), spans, "1 2 1>2");
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

/// Sessions receive what they asked for, and wait until it is stored: one alone at
/// first, then two at once, of which one is through when the second is still storing.
#[test]
fn who_is_left_over_belongs_to_who_is_left_over() {
    let model = |many: &str| {
        format!(
            "point p
             top session Task plan=Plan.id
               >p
             top store Task plan=Plan.id
               >p
             pair session store Thread plan=plan{many}"
        )
    };
    let mut text = String::new();
    let mut expected = String::new();
    for n in 0..20 {
        let at = f64::from(n) * 100.0;
        text += &format!("a t session plan=plan_{n:04} {at}-{}\n", at + 2.0);
        text += &format!("a w store {}-{}\n", at + 1.0, at + 1.5);
        expected += &format!("{} {} {0}>{1}\n", 2 * n + 1, 2 * n + 2);
    }
    text += "a t session plan=plan_0101 5000.0-5001.0
             a t session plan=plan_0102 5000.1-5003.0
             a w store 5000.5-5000.9
             a w store 5000.6-5002.0
             a t session plan=plan_0201 6000.0-6003.0
             a t session plan=plan_0202 6000.1-6003.0
             a w store 6000.5-6000.9
             a w store 6000.6-6002.0";
    let told = "41 43 41>43\n42 44 42>44\n45\n46\n47\n48\n";
    check(&model(" many"), &text, &(expected + told));
}

/// The job of the process that was started for it says which tasks it has
/// completed, and not that it is the job.
#[test]
fn an_event_that_names_nothing_is_of_the_only_entity_of_its_kind() {
    let model = "point p
         top state Entity this.id=Job.id
           >p
         pair state state Queue this.id=this.id";
    check(
        model,
        "a d state this.id=job_0001 1.0-1.0
         a d state 5.0-5.0
         a d state this.id=job_0001 7.0-7.0
         a d state 9.0-9.0
         b d state 5.0-5.0",
        "1 2 3 4 1>2 1>3 3>4\n5",
    );
    // Of two of a kind it can be either.
    check(
        model,
        "a d state this.id=job_0001 1.0-1.0
         a d state 5.0-5.0
         a d state this.id=job_0001 7.0-7.0
         a d state this.id=job_0002 8.0-8.0",
        "1 3 1>3\n2\n4",
    );
    // One event that names it says nothing of others.
    check(model, "a d state this.id=job_0001 1.0-1.0\na d state 5.0-5.0", "1\n2");
}

/// A task that closes prints what a task that opens can print too, and the helper that
/// it starts is one of both: who asked for it decides.
#[test]
fn a_link_that_two_could_have_made_leaves_open_which_of_them_it_was() {
    let model = "point p
         top asked RpcHandler region=Region.name
           >p
         top open Task region=Region.name
           >p
         top close Task region=Region.name
           >p
         top store Task region=Region.name
           >p
         pair asked close Thread region=region
         pair open store Thread region=region
         pair close store Thread region=region";
    check(
        model,
        "a t asked region=users_17 1.000-1.001
         a w open|close region=users_17 1.010-1.100
         a v store region=users_17 1.050-1.060",
        "1 2 3 1>2 2>3",
    );
}

#[test]
fn requests_go_on_past_what_prints_nothing() {
    let model = "point p
         top ask RpcHandler region=Region.name
           >p
         top relay Task region=Region.name
           >p
         top serve RpcHandler region=Region.name
           >p
         pair ask relay Thread region=region
         pair relay serve Rpc region=region";
    let spans = "a t ask region=users_17 1.000-1.001
         b w serve region=users_17 1.010-1.100
         b w serve region=users_18 1.010-1.100";
    check(model, spans, "1 2 1>2\n3");
    // What relays shows: then it would have shown here too.
    let shown = format!("{spans}\n a r relay region=users_99 2.000-2.002");
    check(model, &shown, "1\n2\n3\n4");
}

#[test]
fn the_name_of_a_part_contains_that_of_the_whole() {
    let model = "point p
         top close_all Task table=Table.name
           >p
         top relay Task region=Region.name
           >p
         top close RpcHandler region=Region.name
           >p
         pair close_all relay Thread many
         pair relay close Rpc region=region";
    check(
        model,
        "a t close_all table=customers 1.000-2.000
         b u close region=customers,17 1.100-1.200
         c v close region=customers,18 1.100-1.200
         d w close region=customers2,17 1.100-1.200
         e w close region=customers,19 3.100-3.200",
        "1 2 3 1>2 1>3\n4\n5",
    );
}

#[test]
fn who_is_at_work_while_one_sender_is_belongs_to_it() {
    let model = "point p
         top session Task plan=Plan.id
           >p
         top store Task plan=Plan.id
           >p
         pair session store Thread plan=plan many";
    let spans = |stored: f64| {
        let round = |n: u32| {
            let at = f64::from(n) * 100.0;
            format!(
                "a t session plan=plan_1{n:04} {at:.1}-{:.1}\na t session plan=plan_2{n:04} {:.1}-{:.1}\n",
                at + 0.8,
                at + 0.6,
                at + 1.2
            ) + &format!("a w store {:.1}-{:.1}\n", at + stored, at + stored + 0.2)
        };
        (0..20).map(round).collect::<String>()
    };
    let inside = |n: u32| format!("{} {} {0}>{1}\n{}\n", 3 * n + 1, 3 * n + 3, 3 * n + 2);
    check(model, &spans(0.3), &(0..20).map(inside).collect::<String>());
    // Begun while one sender is at work, and ended when it is through: none waits.
    let apart = |n: u32| format!("{}\n{}\n{}\n", 3 * n + 1, 3 * n + 2, 3 * n + 3);
    check(model, &spans(1.1), &(0..20).map(apart).collect::<String>());
}

#[test]
fn without_threads_a_caller_comes_before_what_it_calls() {
    let model = "point p
         top run Task
           >p
         top step Task
           >p
         pair run step Call";
    check(model, "a - run 1.0-1.1\na - step 1.0-1.0", "1 2 1>2");
    check(model, "a - step 1.0-1.0\na - run 1.0-1.1", "1\n2");
}

#[test]
fn without_threads_what_goes_on_did_not_begin_now() {
    let model = "point p
         point q
         top ask Task
           >p
         top store Task
           >q p
           p
         pair ask store Thread";
    check(model, "a - ask 1.0-1.1\na - store 1.1-1.2", "1\n2");
    check(model, "a t ask 1.0-1.1\na w store 1.1-1.2", "1 2 1>2");
}

#[test]
fn without_threads_what_anybody_can_have_printed_is_handed_to_nobody_by_time() {
    let model = "point p
         top receive Task
           >p
         top scan Task id=Id.n
           >p
         pair receive scan Queue";
    check(model, "a - receive 1.0-1.1\na - scan|receive 1.2-1.2", "1\n2");
    check(model, "a - receive 1.0-1.1\na - scan|receive id=7 1.2-1.2", "1 2 1>2");
    check(model, "a - receive 1.0-1.1\na - scan 1.2-1.2", "1 2 1>2");
    check(model, "a t receive 1.0-1.1\na w scan|receive 1.2-1.2", "1 2 1>2");
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
    // The sender names another one itself.
    let other = "a v assign table=users7777 region=r7654321 1.41-1.41";
    let text = request.replace("a v assign table=users7777 1.4-1.4", other);
    self::check(model, &format!("{text}\nb w open region=r1234567 1.5-1.6"), "1 2 3 1>2 1>3\n4");
}

/// Two threads begin alike and show the name of their process.
#[test]
fn who_calls_itself_does_so_in_its_thread() {
    let model = "point p
                 top connect Task process=Process.name
                   >p
                 pair connect connect Call process=process";
    check(model, "a t connect process=7866@node 1.0-1.1\na t connect process=7866@node 2.0-2.1", "1 2 1>2");
    check(model, "a t connect process=7866@node 1.0-1.1\na w connect process=7866@node 2.0-2.1", "1\n2");
    let entity = model.replace("Task", "Entity");
    check(&entity, "a t connect process=7866@node 1.0-1.1\na w connect process=7866@node 2.0-2.1", "1 2 1>2");
}

/// An application is done and sends an event; its handler prints nothing and has
/// the application's files deleted.
#[test]
fn a_task_is_of_the_entity_that_it_names_although_a_silent_handler_started_it() {
    let model = "point p
         top state Entity this.app=App.id
           >p
         top clear EventHandler app=App.id
           >p
         top delete Task file=App.id
           >p
         pair state state Queue this.app=this.app
         pair state clear Queue this.app=app";
    let spans = "a t state this.app=app_0001 1.00-1.00
         a w delete file=app_0001 1.01-1.01
         a t state this.app=app_0002 2.00-2.00
         a w delete file=app_0003 2.05-2.05
         b w delete file=app_0002 2.06-2.06
         a w delete file=app_0002 5.00-5.00";
    check(&format!("{model}\npair clear delete Thread"), spans, "1 2 1>2\n3\n4\n5\n6");
    check(model, spans, "1\n2\n3\n4\n5\n6");
}

/// Who stores is handed the name of a lasting thing by one and nothing by the other:
/// the link says not which of them it was.
#[test]
fn who_serves_leaves_open_whom_it_serves() {
    let model = "point p
         top asked RpcHandler region=Region.name
           >p
         top open Task region=Region.name
           >p
         top close Task region=Region.name
           >p
         top store Task region=Region.name?
           >p
         pair asked close Thread region=region
         pair open store Thread region=region
         pair close store Thread";
    check(
        model,
        "a t asked region=users_17 1.000-1.001
         a w open|close region=users_17 1.010-1.100
         a v store region=users_17 1.050-1.060",
        "1 2 3 1>2 2>3",
    );
}

/// Either line can begin the work as far as the code tells; the log shows them
/// together.
const COMPANIONS: &str = "
    point p
    point b
    point c
    top sort Task
      >b c
      >c
    top other Task
      >p";

/// So many spans that print `b`, each with a span after it that prints `c`.
fn in_turn(thread: &str, n: usize) -> String {
    let two = |i| format!("a {thread} sort b@{i}.000\na {thread} sort c@{i}.001\n");
    (0..n).map(two).collect()
}

#[test]
fn lines_that_always_stand_together_are_of_one_piece_of_work() {
    let together: String = (0..8).map(|i| format!("{0} {1} {0}>{1}\n", 2 * i + 1, 2 * i + 2)).collect();
    let apart = |n| (1..=n).map(|line| format!("{line}\n")).collect::<String>();
    check(COMPANIONS, &in_turn("-", 8), &together);
    check(COMPANIONS, &in_turn("-", 7), &apart(14));
    check(COMPANIONS, &in_turn("t", 8), &apart(16));
    // Both stand with others too.
    let others = "a - sort b@50.0\na - other 50.001-50.001\na - sort c@50.002\n";
    check(COMPANIONS, &(in_turn("-", 8) + others), &apart(19));
    // One is always followed by the other, which can come alone.
    let alone = "a - other 50.001-50.001\na - sort c@50.002\n";
    check(COMPANIONS, &(in_turn("-", 8) + alone), &(together.clone() + "17\n18\n"));
    // No method prints one after the other.
    let apart_in_code = COMPANIONS.replace(">b c", ">b");
    check(&apart_in_code, &in_turn("-", 8), &apart(16));
}

/// Two calls are at work, and the second line of each piece of work names its call.
#[test]
fn a_piece_of_work_was_handed_over_once_when_it_began() {
    let model = "
        point p
        point b
        point c
        top ask Task x=X.id
          >p
        top sort Task x=X.id
          >b c
          >c
        pair ask sort Thread x=x";
    let (mut text, mut expected) = (String::new(), String::new());
    for i in 0..8 {
        text += &format!("a - ask x=name_{i} {i}.000-{i}.001\na - sort b@{i}.002\n");
        text += &format!("a - sort x=name_{i} c@{i}.003\n");
        let line = 3 * i + 1;
        expected +=
            &format!("{line} {} {} {line}>{} {}>{}\n", line + 1, line + 2, line + 1, line + 1, line + 2);
    }
    check(model, &text, &expected);
}

/// Everybody runs on the only host that there is: it joins no others' tasks.
#[test]
fn the_only_one_of_its_kind_joins_nobody_who_names_other_things() {
    let model = "point p
         top start Task task=Task.id host=Task.host job=Job.id
           >p
         top end Task task=Task.id host=Task.host job=Job.id
           >p
         pair start end Queue job=job";
    let spans = "a t start task=task_0001 host=worker 1.00-1.00
         a w end task=task_0002 host=worker 1.01-1.01";
    check(model, spans, "1\n2");
    let hosts = format!("{spans}\na v start task=task_0003 host=other 9.00-9.00");
    check(model, &hosts, "1 2 1>2\n3");
    let same = spans.replace("task_0002", "task_0001");
    check(model, &same, "1 2 1>2");
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
    assert_eq!(requests(&model, &as_main(&format!("{once}{again}"))), "1\n2\n3\n");
}

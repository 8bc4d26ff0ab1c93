//! Sketches of models and spans in, requests out.

use schema::sketch;
use schema::{Accumulator, Event, Model, NodeOutput, Span, Value};

use crate::{Config, combine, reduce};

mod in_turn;
mod things;
mod whole_log;

/// The spans written in `text`, one per line:
/// `NODE THREAD TOP[|TOP] NAME=VALUE... START-END [cut]`, times in seconds,
/// thread `-` where it is not known. Instead of `START-END`, `POINT@TIME...` are
/// events of other log points than `p`, `POINT@TIME#TEXT...` those that print a text
/// which is no identifier. The line number is the event's line.
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
            let (time, text) = time.split_once('#').unwrap_or((time, ""));
            let (time, later) = time.split_once('+').unwrap_or((time, "0"));
            let later: u64 = later.parse().expect("a number of lines");
            let values = Some((0, text.to_owned())).filter(|_| !text.is_empty());
            events.push(Event {
                log_point,
                values: values.into_iter().collect(),
                ..event(model, line + later, time)
            });
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
fn a_step_of_a_chain_shares_what_was_made_for_its_request() {
    check(
        PIPELINE,
        "a - write block=pool 1.0-1.0
         b - write block=pool 1.01-1.01",
        "1
         2",
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

#[test]
fn without_threads_what_begins_as_something_else_is_no_rest() {
    let model = "point p
         point q
         point r
         top work Task id=Id.n
           >q r
           r p
           p
         top again Task id=Id.n
           >r p
           p";
    let spans = |tops: &str, thread: &str| {
        format!("a {thread} work id=1 q@1.0 cut\na {thread} {tops} id=1 r@2.0 p@2.1")
    };
    check(model, &spans("work|again", "-"), "1 2 1>2");
    check(model, &spans("again|work", "-"), "1\n2");
    check(model, &spans("again|work", "t"), "1 2 1>2");
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

//! Sketches of models and spans in, requests out.

use schema::sketch;
use schema::{Accumulator, CallSite, Event, Model, Name, NodeOutput, Place, Span, Value, Values};

use crate::{Config, reduce};

mod answers;
mod asking;
mod at_work;
mod called_first;
mod callers;
mod calls_next;
mod creation_times;
mod cut_logs;
mod delays;
mod detours;
mod dispatchers;
mod entities;
mod hand_overs;
mod timed_names;

mod hosts;
mod in_turn;
mod lifetimes;
mod lone_lines;
mod mentions;
mod named_last;
mod nested;
mod numbered;
mod on_behalf;
mod on_disk;
mod on_the_way;
mod order_of_lines;
mod queue_order;
mod remote_calls;
mod same_ids;
mod senders;
mod series;
mod short_names;
mod starts;
mod things;
mod waiting;
mod whole_log;
mod within;
mod within_waiting;

/// The spans written in `text`, one per line:
/// `NODE THREAD TOP[|TOP] NAME=VALUE... START-END [cut]`, times in seconds,
/// thread `-` where it is not known. Instead of `START-END`, `POINT@TIME...` are
/// events of other log points than `p`, `POINT@TIME#TEXT...` those that print a text
/// which is no identifier. The line number is the event's line.
pub(in crate::stitch) fn spans(model: &Model, text: &str) -> Vec<Span> {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.enumerate().map(|(index, line)| span(model, index as u64 + 1, line)).collect()
}

fn span(model: &Model, line: u64, text: &str) -> Span {
    let mut words = text.split_whitespace();
    let node = Name::from(words.next().expect("a node"));
    let thread = words.next().filter(|&thread| thread != "-").map(Into::into);
    let tops = words.next().expect("a top-level method");
    let top_levels: Vec<_> = tops.split('|').map(|name| sketch::top(model, name)).collect();
    let (mut identifiers, mut events, mut truncated) = (Vec::new(), Vec::new(), false);
    let (mut hosts, mut trace) = (Vec::new(), None);
    for word in words {
        if let Some(line) = word.strip_prefix("before:") {
            hosts.push(Place { file: 0, line: line.parse().expect("a line") });
        } else if let Some(id) = word.strip_prefix("id:") {
            trace = Some(schema::TraceId { field: Name::from("traceId"), text: id.into() });
        } else if let Some((name, text)) = word.split_once('=') {
            let known = top_levels.iter().flat_map(|top| &model.top_level_methods[top.index()].identifiers);
            let known = known.clone().find(|id| id.path == name).expect("an identifier");
            identifiers.push(Value { value_class: known.value_class, text: text.into() });
        } else if let Some((point, time)) = word.split_once('@') {
            let log_point = Some(sketch::point(model, point));
            let (time, text) = time.split_once('#').unwrap_or((time, ""));
            let (time, later) = time.split_once('+').unwrap_or((time, "0"));
            let later: u64 = later.parse().expect("a number of lines");
            let values = Some((0, text)).filter(|_| !text.is_empty());
            events.push(Event {
                log_point,
                values: values.into_iter().collect(),
                ..event(model, line + later, time)
            });
        } else if let Some((start, end)) = word.split_once('-') {
            events = vec![event(model, line, start), event(model, line, end)];
        } else {
            truncated = word == "cut";
        }
    }
    identifiers.sort();
    Span { node, thread, top_levels, n_alike: 1, identifiers, trace, events, truncated, hosts }
}

fn event(model: &Model, line: u64, time: &str) -> Event {
    let seconds: f64 = time.parse().expect("a time");
    Event {
        file: 0,
        line,
        n_lines: 1,
        byte_offset: 0,
        // By a clock that is fine, also where the times of a sketch are whole seconds.
        ts_us: (seconds * 1e6) as i64 + 1,
        late_us: 0,
        level: None,
        log_point: Some(sketch::point(model, "p")),
        values: Values::default(),
        pass: schema::Pass::Opens,
        reason: Name::default(),
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
/// split and ordered.
fn check(model: &str, text: &str, expected: &str) {
    check_model(&sketch::model(model), text, expected);
}

/// The same of a model that no sketch can tell.
fn check_model(model: &Model, text: &str, expected: &str) {
    let mut spans = spans(model, text);
    let config = Config::default();
    let expected: String = expected
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .map(|line| format!("{line}\n"))
        .collect();
    for round in 0..6 {
        let whole = outputs(&spans, |_, _| 0);
        assert_eq!(print(&reduce(model, whole, &config)), expected, "whole, round {round}");
        let per_node = outputs(&spans, |_, span| usize::from(span.node.as_bytes()[0] - b'a'));
        assert_eq!(print(&reduce(model, per_node, &config)), expected, "per node, round {round}");
        let scattered = outputs(&spans, |index, _| index % 3);
        assert_eq!(print(&reduce(model, scattered, &config)), expected, "scattered, round {round}");
        let n = spans.len();
        spans.rotate_left(1 % n);
        spans.swap(0, n / 2);
    }
}

/// Makes the log point called `name` one that the initializer of a class prints.
fn initialize(model: &mut Model, name: &str) {
    let point = sketch::point(model, name);
    let site = CallSite { class: name.to_owned(), method: "<clinit>".to_owned(), source_line: 1 };
    model.log_points[point.index()].call_site = Some(site);
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
fn what_shares_an_id_is_one_request_and_what_differs_is_not() {
    check(
        PIPELINE,
        "a - write block=1 id:x 1.0-1.0
         b - write block=1 id:x 1.01-1.01
         a - respond block=1 id:y 1.1-1.9
         c - respond block=7 id:x 5.0-5.3",
        "1 2 4 1>2 2>4
         3",
    );
}

#[test]
fn ids_that_come_again_are_not_those_of_requests() {
    check(
        PIPELINE,
        "a - write block=1 id:x 1.0-1.1
         a - write block=2 id:y 2.0-2.1
         a - write block=3 id:x 9.0-9.1
         a - write block=4 id:y 19.0-19.1",
        "1
         2
         3
         4",
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

/// A block that comes back again and again is the name of a thing; but who hands it on at
/// that moment means it. Not so who hands over to somebody else, or long before.
#[test]
fn a_step_of_a_chain_shares_what_comes_back() {
    let back: String = (1..6).map(|n| format!("c - write block=1234567 {n}0.0-{n}0.0\n")).collect();
    let steps = "a - write block=1234567 70.00-70.00\nb - write block=1234567 70.01-70.01";
    let alone = "1\n2\n3\n4\n5\n";
    check(PIPELINE, &(back.clone() + steps), &format!("{alone}6 7 6>7"));
    let apart = "a - write block=1234567 70.00-70.00\nb - write block=1234567 71.00-71.00";
    check(PIPELINE, &(back + apart), &format!("{alone}6\n7"));
}

/// The usual delay is 10 ms. A step that begins late is no other request's if the one
/// before it, or what that has started, is still at work when it ends.
#[test]
fn who_hands_on_waits_for_a_step_that_begins_late() {
    let usual: String = (1..6)
        .map(|n| {
            format!("a - write block={n}00000 {n}0.0-{n}0.0\nb - write block={n}00000 {n}0.01-{n}0.02\n")
        })
        .collect();
    let begun = "1 2 1>2\n3 4 3>4\n5 6 5>6\n7 8 7>8\n9 10 9>10\n";
    let again = "c - write block=700000 60.0-60.0\n";
    let late = "a - write block=700000 70.0-70.0\na - respond block=700000 70.01-72.0\nb - write block=700000 71.0-71.5";
    check(PIPELINE, &(usual.clone() + again + late), &format!("{begun}11\n12 13 14 12>13 12>14"));
    let after = "a - write block=700000 70.0-70.0\na - respond block=700000 70.01-70.9\nb - write block=700000 71.0-71.5";
    check(PIPELINE, &(usual.clone() + again + after), &format!("{begun}11\n12 13 12>13\n14"));
    // It was done when the one before it went on, whatever it tidied up after that.
    let model = PIPELINE.replacen("point p\n", "point p\npoint done\npoint tidy\n", 1);
    let (before, respond) = model.split_once("top respond").expect("a responder");
    let respond = respond.replacen(">p\n", ">p done tidy\n>done tidy\n>tidy\n", 1);
    let model = format!("{before}top respond{respond}");
    let steps = |done: &str| {
        format!(
            "a - write block=700000 70.0-70.0
             a - respond block=700000 p@70.01 done@72.0
             b - write block=700000 71.5-71.5
             b - respond block=700000 p@71.51 done@{done} tidy@72.5"
        )
    };
    let whole = "12 13 14 15 12>13 12>14 14>15";
    check(&model, &(usual.clone() + again + &steps("71.9")), &format!("{begun}11\n{whole}"));
    let apart = "12 13 12>13\n14 15 14>15";
    check(&model, &(usual + again + &steps("72.1")), &format!("{begun}11\n{apart}"));
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
           p*",
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
            assert_eq!(reduce(&model, parts, &config), expected, "seed {seed}, {n_parts} parts");
        }
    }
}

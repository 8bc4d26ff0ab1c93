//! Sketches of models and records in, spans out.

use std::borrow::Cow;

use schema::sketch;
use schema::{CommunicationPair, IdentifierId, Level, LinkKind, LogPointId, Model};

use super::{Config, accumulate};
use crate::record::{Candidate, Record, Records};
use crate::said;

mod anew;
mod apart;
mod began;
mod begins_anew;
mod called_again;
mod continuations;
mod decoder;
mod digests;
mod familiar;
mod firsts;
mod late;
mod learnt;
mod library_lines;
mod new_names;
mod no_threads;
mod numbered;
mod one_at_a_time;
mod one_by_one;
mod owned;
mod pauses;
mod programs;
mod reported;
mod rests;
mod rounds;
mod rows;
mod stamps;
mod successors;
mod tails;
mod threads;
mod together;

/// Records written as `TIME THREAD POINT[|POINT] NAME=VALUE...`, one per line;
/// time in seconds, thread `-` where the layout has none. `ran:TOP` is what the stack trace of one shows
/// to have run.
struct Sketched<'a> {
    model: &'a Model,
    lines: std::iter::Enumerate<std::str::Lines<'a>>,
}

impl<'a> Sketched<'a> {
    fn record(model: &Model, index: usize, line: &'a str) -> Option<Record<'a>> {
        let mut words = line.split_whitespace();
        let time: f64 = words.next()?.parse().expect("a time");
        let thread = words.next().filter(|&thread| thread != "-");
        let names = words.next().expect("a log point");
        let ran = words.clone().filter_map(|word| word.strip_prefix("ran:"));
        let ran = ran.map(|top| sketch::top(model, top)).collect();
        let values: Vec<(&str, &str)> = words.filter_map(|word| word.split_once('=')).collect();
        let candidates: Vec<Candidate<'_>> = (names.split('|').filter(|&name| name != "?"))
            .map(|name| candidate(model, sketch::point(model, name), &values))
            .collect();
        let level = candidates.first().map(|c| model.log_points[c.log_point.index()].levels[0]);
        let mut words = Vec::new();
        if thread.is_none() {
            said::add_words(line.as_bytes(), &mut words);
        }
        Some(Record {
            file: 0,
            line: index as u64 + 1,
            n_lines: 1,
            byte_offset: 0,
            ts_us: (time * 1e6) as i64,
            late_us: 0,
            tick_us: 0,
            ids: [None, None],
            level: level.or(Some(Level::Info)),
            thread,
            text: line.as_bytes(),
            words: Cow::Owned(words),
            candidates,
            ran,
        })
    }
}

impl Records for Sketched<'_> {
    fn next(&mut self) -> Option<Record<'_>> {
        let (index, line) = self.lines.next()?;
        Self::record(self.model, index, line)
    }

    fn ahead(&mut self, n: u64, see: &mut dyn FnMut(&Record<'_>)) {
        let lines = self.lines.clone().take(n as usize);
        lines
            .filter_map(|(index, line)| Self::record(self.model, index, line))
            .for_each(|record| see(&record));
    }
}

fn candidate<'a>(model: &Model, log_point: LogPointId, values: &[(&str, &'a str)]) -> Candidate<'a> {
    let variables = &model.log_points[log_point.index()].variables;
    let position = |name: &str| variables.iter().position(|variable| variable.path == name);
    let values = values.iter().filter_map(|&(name, value)| Some((position(name)? as u32, value)));
    let values: Vec<(u32, &str)> = values.collect();
    let mut names = Vec::new();
    said::add_names(values.iter().map(|&(_, text)| text), &mut names);
    Candidate { log_point, values, names: Cow::Owned(names) }
}

fn run(model: &Model, records: &str) -> String {
    run_by_names(model, model, records)
}

/// As `run`; `names`: the model in which the log points have the names that `records` uses.
fn run_by_names(names: &Model, model: &Model, records: &str) -> String {
    run_with(names, model, records, &Config { node: "n".to_owned(), ..Config::default() })
}

fn run_with(names: &Model, model: &Model, records: &str, config: &Config) -> String {
    let records = records.trim().lines().map(str::trim).collect::<Vec<_>>().join("\n");
    let mut records = Sketched { model: names, lines: records.lines().enumerate() };
    let accumulated = accumulate(model, &mut records, config);
    let mut text = String::new();
    for accumulator in &accumulated.accumulators {
        let span = &accumulator.spans[0];
        let top = &model.top_level_methods[span.top_levels[0].index()].method;
        let events = span.events.iter().map(|event| format!("{} {}", event.line, event.reason));
        let hosts: String = span.hosts.iter().map(|place| format!(" {}", place.line)).collect();
        let before = if hosts.is_empty() { String::new() } else { format!(" | before{hosts}") };
        text += &format!("{top}: {}{before}\n", events.collect::<Vec<_>>().join("; "));
    }
    for event in &accumulated.unattributed {
        text += &format!("unattributed: {}\n", event.line);
    }
    text
}

/// Holds the spans made of `records` against `expected`.
fn check(model: &str, records: &str, expected: &str) {
    let spans = run(&sketch::model(model), records);
    let expected = expected.trim().lines().map(str::trim).collect::<Vec<_>>().join("\n");
    assert_eq!(spans.trim(), expected);
}

const STORE: &str = "
    point receiving block=Block.id
    point moved
    point failed block=Block.id
    point received block=Block.id size=Size.n
    point sent block=Block.id
    point closing
    top write RpcHandler block=Block.id
      >receiving moved failed received
      moved failed received
      failed closing
      received closing
      closing<
    top read RpcHandler block=Block.id
      >sent failed closing
      failed closing
      closing<
";

#[test]
fn one_thread_one_request_after_the_other() {
    check(
        STORE,
        "1.0 t1 receiving block=1
         1.1 t2 receiving block=2
         1.2 t1 moved
         1.3 t2 moved
         1.4 t1 received block=1
         1.5 t1 closing
         1.6 t1 sent block=1
         1.7 t2 received block=2
         1.8 t1 closing",
        "write: 1 opens; 3 thread; 5 thread+1 id; 6 thread
         write: 2 opens; 4 thread; 8 thread+1 id
         read: 7 opens; 9 thread",
    );
}

#[test]
fn the_same_identifier_again_is_another_request() {
    check(
        STORE,
        "1.0 - receiving block=1
         1.1 - received block=1
         2.0 - receiving block=1
         2.1 - received block=1",
        "write: 1 opens; 2 1 id
         write: 3 opens; 4 1 id",
    );
}

#[test]
fn a_window_of_silence_closes_a_span() {
    check(
        STORE,
        "1.0 - receiving block=1
         62.0 - received block=1",
        "write: 1 opens
         write: 2 opens, start not seen",
    );
}

#[test]
fn a_log_point_of_two_methods_goes_where_the_order_allows() {
    check(
        STORE,
        "1.0 t1 sent block=1
         1.1 t1 failed block=1
         1.2 t1 closing
         2.0 t1 receiving block=1
         2.1 t1 failed block=1
         2.2 t1 closing
         3.0 t1 ?",
        "read: 1 opens; 2 thread+1 id; 3 thread
         write: 4 opens; 5 thread+1 id; 6 thread; 7 thread, no log point",
    );
}

#[test]
fn a_dispatcher_owns_the_lines_between() {
    check(
        "point accepted
         point served id=Id.n
         point released
         point begin id=Id.n
         point end
         top loop Dispatcher
           >accepted served
           served* released
           released
         top serve DispatchTarget id=Id.n
           >begin end
           end<
         pair loop serve Call",
        "1.0 t accepted
         1.1 t begin id=1
         1.2 t end
         1.3 t served id=1
         1.4 t begin id=2
         1.5 t served id=2
         1.6 t released",
        // Its rounds are requests: what names another one begins another round.
        "loop: 1 opens; 4 thread
         serve: 2 opens; 3 thread
         serve: 5 opens
         loop: 6 opens, start not seen; 7 thread",
    );
}

#[test]
fn equal_texts_are_told_apart_by_their_surroundings() {
    check(
        "point a
         point b
         point x1
         point x2
         point c
         top one Task
           >a x1
           x1 c
           c<
         top two Task
           >b x2
           x2 c
           c<",
        "1.0 t1 b
         1.1 t1 x1|x2
         1.2 t1 c
         1.3 t2 a
         1.4 t2 x1|x2",
        "two: 1 opens; 2 thread; 3 thread
         one: 4 opens; 5 thread",
    );
}

/// The state may have changed in either of two places; only what comes after tells.
#[test]
fn of_equal_texts_in_the_middle_the_one_that_goes_on_may_be_either() {
    let model = "point asked
         point synchronized
         point connected
         point skipped
         point copying
         top follow Task
           >asked synchronized connected
           synchronized skipped
           connected copying
           skipped<
           copying<";
    let asked = "1.0 t1 asked\n1.1 t1 synchronized|connected";
    check(model, &format!("{asked}\n1.2 t1 copying"), "follow: 1 opens; 2 thread; 3 thread");
    check(model, &format!("{asked}\n1.2 t1 skipped"), "follow: 1 opens; 2 thread; 3 thread");
}

#[test]
fn of_equal_texts_the_one_outside_of_handlers_printed_it() {
    let mut model = sketch::model(
        "point begin id=Id.n
         point failed
         point ended
         top one Task id=Id.n
           >begin failed ended
           failed<
           ended<",
    );
    let [failed, ended] = ["failed", "ended"].map(|name| sketch::point(&model, name));
    model.log_points[failed.index()].in_handler = true;
    let text = "1.0 t1 begin id=1\n1.1 t1 failed|ended";
    let mut records = Sketched { model: &model, lines: text.lines().enumerate() };
    let accumulated = accumulate(&model, &mut records, &Config { node: "n".to_owned(), ..Config::default() });
    let events = &accumulated.accumulators[0].spans[0].events;
    assert_eq!(events.last().and_then(|event| event.log_point), Some(ended));
}

#[test]
fn levels_that_do_not_print_are_not_missed() {
    check(
        "point a debug
         point b
         point c debug
         point d
         top one Task
           >a b
           b c
           c d
           d<",
        "1.0 - b
         1.1 - d",
        "one: 1 opens; 2 order, the rest",
    );
}

#[test]
fn lines_of_a_logger_that_shows_nothing_are_not_missed() {
    let mut model = sketch::model(
        "point a
         point b
         point c
         top one Task
           >a b
           b c
           c<
         top other Task
           >c<",
    );
    let [a, b] = ["a", "b"].map(|name| sketch::point(&model, name));
    model.log_points[b.index()].loggers = vec!["Steps".to_owned()];
    let lines = "1.0 t a\n1.1 t c";
    assert_eq!(run(&model, lines), "one: 1 opens; 2 thread\n");
    // The log shows some line of it.
    let shown = format!("0.1 u a\n0.2 u b\n{lines}");
    assert_eq!(run(&model, &shown), "one: 1 opens; 2 thread\none: 3 opens\nother: 4 opens\n");
    // Or of a higher level alone.
    model.log_points[a.index()].loggers = vec!["Steps".to_owned()];
    model.log_points[b.index()].levels = vec![Level::Debug];
    assert_eq!(run(&model, lines), "one: 1 opens; 2 thread\n");
}

#[test]
fn the_result_does_not_depend_on_names_of_threads() {
    let records = "1.0 a receiving block=1\n1.1 b receiving block=1\n1.2 a moved\n1.3 b moved";
    let model = sketch::model(STORE);
    assert_eq!(run(&model, records), run(&model, &records.replace(" a ", " z ")));
}

const CONNECTION: &str = "
    point opened peer=Conn.peer
    point failed
    point closed peer=Conn.peer
    top event Entity peer=Conn.peer
      >opened failed closed
      >failed closed
      closed<";

#[test]
fn what_no_thread_leads_to_runs_inside_of_what_its_thread_does() {
    check(
        "point begins
         point ends
         point version
         top work Task
           >begins ends
           ends<
         top init Unreached
           >version<",
        "1.0 t begins
         1.001 t version
         1.002 t version
         2.0 t ends
         9.0 u version",
        "work: 1 opens; 2 thread, inside; 3 thread, inside; 4 thread
         init: 5 opens",
    );
}

/// Who restores an entity at start-up calls its handler, and is nobody's home else.
#[test]
fn what_an_entity_prints_is_left_to_it() {
    check(
        "point changed app=App.id
         point restored
         top handle Entity app=App.id
           >changed<
         top restore Unreached
           >changed restored
           >restored<",
        "1.0 t changed app=1
         1.001 t restored",
        "handle: 1 opens
         restore: 2 opens",
    );
}

/// An event for another entity is none of this one, whichever of the two names it.
#[test]
fn an_entity_is_one_thing_in_itself_and_in_its_events() {
    let mut model = sketch::model(
        "point changed event=App.id
         point launched own=App.id
         top handle Entity event=App.id own=App.id
           >changed launched
           launched<",
    );
    let handle = sketch::top(&model, "handle");
    for (id, path) in
        model.top_level_methods[handle.index()].identifiers.iter_mut().zip(["event.app", "this.app"])
    {
        id.path = path.to_owned();
    }
    let log = "1.0 t changed event=1
               1.1 t launched own=2";
    assert_eq!(run(&model, log).trim(), "handle: 1 opens; 2 thread");
    model.communication_pairs.push(CommunicationPair {
        from: handle,
        to: handle,
        kind: LinkKind::Queue,
        identifiers: vec![(IdentifierId::new(0), IdentifierId::new(1))],
        many: true,
        before: Vec::new(),
        after: Vec::new(),
        beside: Vec::new(),
        elsewhere: Vec::new(),
        waits: false,
        outside_rounds: false,
        in_order: false,
        remote_calls: Vec::new(),
        reason: String::new(),
    });
    assert_eq!(run(&model, log).trim(), "handle: 1 opens\nhandle: 2 opens, start not seen");
}

/// Two entities with one number: told apart by all that their identity has.
#[test]
fn an_object_is_compared_as_a_whole() {
    let mut model = sketch::model(
        "point changed app=App.id number=Attempt.number attempt=Attempt
         top handle Entity attempt=Attempt
           >changed* changed",
    );
    model.log_points[0].variables[2].parts = vec![0, 1];
    let spans = run(
        &model,
        "1.0 - changed app=1 number=1
         1.1 - changed app=2 number=1
         1.2 - changed app=1 number=2
         1.3 - changed app=2 number=1
         1.4 - changed app=1 number=1",
    );
    assert_eq!(spans.trim(), "handle: 1 opens; 5 1 id\nhandle: 2 opens; 4 1 id\nhandle: 3 opens");
}

/// What forty top-level methods print has no place in the order of one.
#[test]
fn lines_of_utilities_float() {
    let others: String = (0..40).map(|i| format!("top other{i} Task\n >warned\n")).collect();
    let model = format!(
        "point began\n point warned\n point ended\n {others}
         top work Task
           >warned began
           >began ended
           ended<"
    );
    check(
        &model,
        "1.0 t1 began
         1.1 t1 warned
         1.2 t1 ended",
        "work: 1 opens; 2 thread; 3 thread",
    );
}

#[test]
fn threads_of_a_pool_run_what_the_pool_runs() {
    let mut model = sketch::model(
        "point opening
         point loading
         point reading
         top load Task
           >opening<
           >loading<
         top read Task
           >opening<
           >reading<",
    );
    let records = "1.0 load-1 loading
         2.0 read-1 reading
         3.0 load-2 opening
         4.0 read-7 opening";
    assert_eq!(run(&model, records), "load: 1 opens\nread: 2 opens\nload: 3 opens\nread: 4 opens\n");
    // `main` runs in the thread of its name only.
    let load = sketch::top(&model, "load");
    let top = &mut model.top_level_methods[load.index()];
    (top.method, top.descriptor) = ("main".to_owned(), "([Ljava/lang/String;)V".to_owned());
    let records = "1.0 main opening\n2.0 pool-1 opening";
    assert_eq!(run(&model, records), "main: 1 opens\nread: 2 opens\n");
}

const LOCALIZER: &str = "
    point writing id=Container.id
    point starting
    point copying id=Container.id
    point other
    top localize Task id=Container.id
      >writing starting
      starting copying
      copying<
    top watch Task
      >other<
";

#[test]
fn a_record_of_an_unknown_library_is_of_what_its_thread_is_in_the_middle_of() {
    check(
        LOCALIZER,
        "1.000 t1 writing id=container_0001
         1.001 t1 ?
         1.002 t1 starting
         1.003 t1 copying id=container_0001
         1.004 t1 ?
         1.005 t2 ?",
        "localize: 1 opens; 2 thread, no log point; 3 thread; 4 thread+1 id; 5 thread, no log point
         unattributed: 6",
    );
}

#[test]
fn a_uuid_in_a_path_is_the_one_thing_of_its_kind_that_the_request_is_about() {
    let (a, b) = ("fb712f30-e596-11f1-bbf1-4d68ff3ad20d", "bcd3ac80-e596-11f1-8e5c-4d68ff3ad20d");
    check(
        "point opening path=File.path
         point sent session=Job.session
         top load Task
           >opening*<
         top send Task session=Job.session
           >sent<
         top validate Task session=Job.session
           >opening*<",
        &format!(
            "1.00 t2 sent session={a}
             1.10 t1 opening path=/data/{a}/1
             1.11 t1 opening path=/data/{a}/2
             1.12 t1 opening path=/data/{b}/1
             1.13 t1 opening path=/data/3"
        ),
        "send: 1 opens
         validate: 2 opens; 3 thread+1 id
         validate: 4 opens; 5 thread",
    );
}

/// Whoever is up is told of in a loop over all; each answer is a task of its own.
#[test]
fn who_is_at_once_at_the_same_thing_again_was_called_again() {
    let model = "
        point up peer=Peer.name?
        top hear Task
          >up*<
        top answer Task
          >up<";
    let records = |second: &str, at: &str| format!("1.000 w1 up peer=/10.0.0.1\n{at} w1 up peer={second}");
    check(model, &records("/10.0.0.1", "1.001"), "hear: 1 opens\nhear: 2 opens");
    // A loop names each once.
    check(model, &records("/10.0.0.2", "1.001"), "hear: 1 opens; 2 thread");
    // A count names nothing.
    let counts = "1.000 w1 up peer=1.666667\n1.001 w1 up peer=1.666667";
    check(model, counts, "hear: 1 opens; 2 thread");
}

#[test]
fn what_everybody_prints_belongs_together_if_it_is_printed_at_once() {
    let tops: String = (0..40).map(|n| format!("top t{n} Task\n>used read\nread<\n")).collect();
    check(
        &format!("point used\npoint read\n{tops}"),
        "1.000 w1 used
         1.001 w1 used
         1.010 w1 used
         1.012 w1 read
         1.050 w1 read",
        "t0: 1 opens; 2 thread
         t0: 3 opens; 4 thread
         t0: 5 opens",
    );
}

/// What is open at the end of a part goes on in the next one, and what is known of its values is
/// not forgotten before it ends.
#[test]
fn a_span_goes_on_across_the_end_of_a_part() {
    let model = sketch::model(STORE);
    let records = "1.0 t1 receiving block=11111\n1.1 t2 receiving block=22222\n1.2 t1 moved\n\
         1.3 t2 received block=22222 size=7\n1.4 t1 received block=11111 size=9";
    let whole = run(&model, records);
    assert_eq!(whole.lines().count(), 2, "two threads, two spans: {whole}");
    for part_records in 1..=6 {
        let config = Config { node: "n".to_owned(), part_records, ..Config::default() };
        let parts = run_with(&model, &model, records, &config);
        let sorted = |text: &str| text.lines().map(str::to_owned).collect::<std::collections::BTreeSet<_>>();
        assert_eq!(sorted(&parts), sorted(&whole), "{part_records} records");
    }
}

/// What is open is bounded by the window, whichever way the clock jumps.
#[test]
fn spans_from_before_the_clock_was_set_back_are_closed() {
    let model = sketch::model(STORE);
    let config = Config::default();
    let names_of_threads = super::ThreadNames::new(&model);
    let mut scan = super::Scan::new(&model, &config, &names_of_threads);
    let text = "8000.0 - receiving block=1\n8000.1 - receiving block=2\n1.0 - receiving block=3\n1.1 - moved";
    let mut records = Sketched { model: &model, lines: text.lines().enumerate() };
    let mut n_open = Vec::new();
    while let Some(record) = records.next() {
        scan.expire(record.ts_us);
        let choice = scan.place(&record).expect("a place");
        scan.apply(&record, choice);
        n_open.push(scan.open.all().len());
    }
    // The last one is of its own, until all that waits is decided together.
    assert_eq!(n_open, [1, 2, 3, 2]);
}

//! Names of threads, and what threads do again and again.

use schema::{Model, Template, ThreadName, ValueShape, Variable, sketch};

use super::{Config, Sketched, accumulate, check, run};

/// Two tasks that print alike, one with a region; the pool of openers runs one.
fn openers() -> Model {
    let mut model = sketch::model(
        "point opening region=Region.name
         point loading
         top open Task region=Region.name
           >opening loading
           loading<
         top repair Task region=Region.name
           >opening loading
           loading<
         top load Task
           >loading<
         top check Task
           >loading<",
    );
    let region = model.log_points[sketch::point(&model, "opening").index()].variables[0].value_class;
    let name = |regex: &str, top: &str| ThreadName {
        template: Template { regex: regex.to_owned(), captures: vec![0] },
        variables: vec![Variable {
            path: "region".to_owned(),
            value_class: region,
            shape: ValueShape::Text,
            parts: Vec::new(),
            in_text: false,
        }],
        n_letters: 6,
        runs: vec![sketch::top(&model, top)],
    };
    model.thread_names = vec![name(r"loader\-(.*?)\-1", "load"), name(r"checker\-(.*?)\-1", "check")];
    model
}

#[test]
fn a_threads_name_tells_what_it_runs() {
    let model = openers();
    let text = run(&model, "1.0 loader-users_1-1 loading\n2.0 checker-users_1-1 loading");
    assert_eq!(text.trim(), "load: 1 opens\ncheck: 2 opens");
    // What is known not to run there was printed all the same.
    let text = run(&model, "1.0 loader-users_1-1 opening region=users_1");
    assert_eq!(text.trim(), "open: 1 opens");
}

/// What a server calls by reflection is not known to run in its threads, but a task of
/// another pool is known to run elsewhere.
#[test]
fn a_task_of_other_threads_is_not_run_in_those_of_a_server() {
    let mut model = sketch::model(
        "point rolling
         point listening
         top check Task
           >rolling<
         top roll RpcHandler
           >rolling<
         top listen Dispatcher
           >listening<",
    );
    let name = |regex: &str, top: &str| ThreadName {
        template: Template { regex: regex.to_owned(), captures: Vec::new() },
        variables: Vec::new(),
        n_letters: 6,
        runs: vec![sketch::top(&model, top)],
    };
    model.thread_names = vec![name(r"checker\-\d+", "check"), name(r"server\-\d+", "listen")];
    assert_eq!(run(&model, "1.0 checker-1 rolling").trim(), "check: 1 opens");
    assert_eq!(run(&model, "1.0 other rolling").trim(), "check: 1 opens");
    assert_eq!(run(&model, "1.0 server-1 rolling").trim(), "roll: 1 opens");
}

/// The values of the spans of `records`, in order.
fn values(records: &str) -> Vec<Vec<String>> {
    let model = openers();
    let mut records = Sketched { model: &model, lines: records.lines().enumerate() };
    let accumulated = accumulate(&model, &mut records, &Config::default());
    let texts = |values: &[schema::Value]| values.iter().map(|value| value.text.clone()).collect();
    accumulated.accumulators.iter().map(|a| texts(&a.spans[0].identifiers)).collect()
}

#[test]
fn a_thread_made_for_a_request_is_named_after_it() {
    assert_eq!(values("1.0 loader-users_123-1 loading"), [["users_123"]]);
    // A thread that serves one request after the other was made for none.
    let served: Vec<String> = (0..8).map(|i| format!("{}.0 loader-users_123-1 loading", i * 10)).collect();
    let served = values(&served.join("\n"));
    assert_eq!(served.len(), 8);
    assert!(served.iter().all(Vec::is_empty), "{served:?}");
}

/// A loop around the whole task is another top-level method, as a fallback of a
/// service often is; each turn may as well be a task of its own.
#[test]
fn what_is_complete_begins_again() {
    check(
        "point preparing
         point flushed file=File.path
         top flush Task file=File.path
           >preparing flushed
           flushed<
         top pressure Task
           >preparing flushed
           flushed preparing
           flushed<",
        "1.000 flusher preparing
         1.050 flusher flushed file=/a/b/c/1
         1.060 flusher preparing
         1.110 flusher flushed file=/a/b/c/2
         1.900 flusher preparing
         1.950 flusher flushed file=/a/b/c/3",
        "flush: 1 opens; 2 thread
         flush: 3 opens; 4 thread
         flush: 5 opens; 6 thread",
    );
}

/// Every round has a pool of its own, with threads of the same names, and each of the
/// tasks waits in a loop that prints.
#[test]
fn a_task_that_was_just_handed_out_is_another_one() {
    let mut model = sketch::model(
        "point begun
         point handing
         point waiting
         top work RpcHandler
           >begun handing
           handing<
         top wait Task
           >waiting*<
         pair work wait Thread many",
    );
    let round = "1.0 h begun\n1.1 h handing\n1.104 w-1 waiting\n1.4 w-1 waiting\n";
    let next = "1.5 h begun\n1.6 h handing\n1.604 w-1 waiting\n1.606 w-1 waiting";
    let records = format!("{round}{next}");
    let whole = "work: 1 opens; 2 thread\nwait: 3 opens; 4 thread; 7 thread; 8 thread\n";
    assert_eq!(run(&model, &records), format!("{whole}work: 5 opens; 6 thread\n"));
    model.communication_pairs[0].before = vec![sketch::point(&model, "handing")];
    let first = "work: 1 opens; 2 thread\nwait: 3 opens; 4 thread\n";
    let second = "work: 5 opens; 6 thread\nwait: 7 opens; 8 thread\n";
    assert_eq!(run(&model, &records), format!("{first}{second}"));
}

/// A task calls its listener, which other processes call over the network, in its
/// own process and thread, and then goes on with what it has to print next.
#[test]
fn who_calls_a_handler_in_its_own_thread_goes_on_after_it() {
    let model = "point begun id=Attempt.id
         point status id=Attempt.id
         point progress
         point flushing
         top work Task id=Attempt.id
           >begun flushing
           flushing<
         top update RpcHandler id=Attempt.id
           >status< progress
           progress<
         top close Task
           >flushing<";
    let records = "1.00 t1 begun id=attempt_1
         4.00 t1 status id=attempt_1
         4.01 t1 flushing";
    let (called, apart) = (
        "work: 1 opens; 3 thread
         update: 2 opens",
        "work: 1 opens
         update: 2 opens
         close: 3 opens",
    );
    check(&format!("{model}\npair work update Rpc id=id"), records, called);
    check(model, records, apart);
    // Who has nothing more to do does not go on.
    let records = "1.00 t1 begun id=attempt_1
         1.01 t1 flushing
         4.00 t1 status id=attempt_1
         4.01 t1 flushing";
    check(
        &format!("{model}\npair work update Rpc id=id"),
        records,
        "work: 1 opens; 2 thread
         update: 3 opens
         close: 4 opens",
    );
}

/// `main` has to do with one thing after the other, and whatever runs in its
/// thread in between does so for it.
#[test]
fn the_thread_of_main_does_nothing_else() {
    let mut model = sketch::model(
        "point reading path=Config.path
         point provider name=Provider.name
         point serving
         top start Task path=Config.path
           >reading< reading serving
           >serving< serving
         top <clinit> Unreached name=Provider.name
           >provider<",
    );
    let records = "1.000 main reading path=/etc/server/1
         1.010 main provider name=standard
         1.500 main reading path=/etc/server/2
         5.000 main serving";
    let top = &mut model.top_level_methods[0];
    (top.method, top.descriptor) = ("main".to_owned(), "([Ljava/lang/String;)V".to_owned());
    assert_eq!(run(&model, records), "main: 1 opens; 2 thread, inside; 3 thread; 4 thread\n");
}

/// What a thread was at has ended when it is at something else that it was not
/// called for, whatever the next line names.
#[test]
fn a_thread_leaves_behind_what_it_was_at() {
    let model = "point begun file=File.path
         point done file=File.path
         point other
         point ended
         top read RpcHandler file=File.path
           >begun done
           done<
         top list RpcHandler file=File.path
           >other< ended
           ended<";
    let records = "1.00 t1 begun file=/a/file_1
         1.01 t1 other
         1.02 t1 done file=/a/file_1";
    check(model, records, "read: 1 opens\nlist: 2 opens\nread: 3 opens, start not seen");
    // Unless it has called that.
    let called = format!("{model}\npair read list Call file=file");
    check(&called, records, "read: 1 opens; 3 thread+1 id\nlist: 2 opens");
    // What everybody hands work to somebody else through can be called by everybody.
    let service = model.replace("top list RpcHandler", "top list DispatchTarget");
    check(&service, records, "read: 1 opens; 3 thread+1 id\nlist: 2 opens");
}

/// Two methods begin with the same text; how it goes on shows which one it was.
#[test]
fn what_follows_tells_which_of_equal_texts_it_began_with() {
    let model = sketch::model(
        "point starting
         point starting_approximate
         point finished
         point estimated
         top approximate RpcHandler
           >starting_approximate estimated
           estimated<
         top exact RpcHandler
           >starting finished
           finished<",
    );
    let first_points = |records: &str| -> Vec<(String, Option<schema::LogPointId>)> {
        let mut records = Sketched { model: &model, lines: records.lines().enumerate() };
        let accumulated = accumulate(&model, &mut records, &Config::default());
        let of_span = |span: &schema::Span| {
            let point = span.events[0].log_point;
            let top = &model.top_level_methods[span.top_levels[0].index()].method;
            (top.clone(), point)
        };
        accumulated.accumulators.iter().map(|a| of_span(&a.spans[0])).collect()
    };
    let found = first_points("1.0 t1 starting_approximate|starting\n1.1 t1 finished");
    let point = |name: &str| Some(sketch::point(&model, name));
    assert_eq!(found, [("exact".to_owned(), point("starting"))]);
    let found = first_points("1.0 t1 starting_approximate|starting\n1.1 t1 estimated");
    assert_eq!(found, [("approximate".to_owned(), point("starting_approximate"))]);
}

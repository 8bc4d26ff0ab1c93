//! Names of threads, and what threads are at.

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
        is_given_tasks: false,
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

/// What a thread is seen to run comes before what it may be given.
#[test]
fn a_thread_that_is_given_tasks_runs_what_it_is_seen_to_run() {
    let mut model = openers();
    for name in &mut model.thread_names {
        name.is_given_tasks = true;
    }
    let text = run(&model, "1.0 checker-users_1-1 loading\n2.0 loader-users_1-1 opening region=users_1");
    assert_eq!(text.trim(), "check: 1 opens\nopen: 2 opens");
}

/// Two who print `rolling`, a pool of which is known to run `check`, and a server.
fn rolling(kind: &str) -> Model {
    let mut model = sketch::model(&format!(
        "point rolling
         point listening
         top check {kind}
           >rolling<
         top roll RpcHandler
           >rolling<
         top listen Dispatcher
           >listening<"
    ));
    let name = |regex: &str, top: &str| ThreadName {
        template: Template { regex: regex.to_owned(), captures: Vec::new() },
        variables: Vec::new(),
        n_letters: 6,
        runs: vec![sketch::top(&model, top)],
        is_given_tasks: false,
    };
    model.thread_names = vec![name(r"checker\-\d+", "check"), name(r"server\-\d+", "listen")];
    model
}

/// What a server calls by reflection is not known to run in its threads, but a task of
/// another pool is known to run elsewhere.
#[test]
fn a_task_of_other_threads_is_not_run_in_those_of_a_server() {
    let model = rolling("Task");
    assert_eq!(run(&model, "1.0 checker-1 rolling").trim(), "check: 1 opens");
    assert_eq!(run(&model, "1.0 other rolling").trim(), "check: 1 opens");
    assert_eq!(run(&model, "1.0 server-1 rolling").trim(), "roll: 1 opens");
}

#[test]
fn what_only_tasks_of_other_threads_lead_to_is_not_run_in_those_of_a_server() {
    let mut model = rolling("IdentifierLoss");
    assert_eq!(run(&model, "1.0 server-1 rolling").trim(), "check: 1 opens", "anybody can call it");
    model.top_level_methods[0].only_in_tasks = true;
    assert_eq!(run(&model, "1.0 server-1 rolling").trim(), "roll: 1 opens");
    // It may be given that task, but nobody has seen it.
    model.thread_names[1].is_given_tasks = true;
    assert_eq!(run(&model, "1.0 server-1 rolling").trim(), "roll: 1 opens");
    assert_eq!(run(&model, "1.0 checker-1 rolling").trim(), "check: 1 opens");
}

#[test]
fn who_serves_one_call_of_a_class_serves_its_others() {
    let model = sketch::model(
        "point saved
         point told
         top copy Task
           >saved<
         top save RpcHandler
           >saved<
         top tell RpcHandler
           >told<",
    );
    assert_eq!(run(&model, "1.0 server-1 saved").trim(), "copy: 1 opens");
    assert_eq!(run(&model, "1.0 server-1 told\n2.0 server-2 saved").trim(), "tell: 1 opens\nsave: 2 opens");
    assert_eq!(run(&model, "1.0 server-1 told\n2.0 copier-2 saved").trim(), "tell: 1 opens\ncopy: 2 opens");
}

/// A step of an entity prints what goes on with it only until its caller prints again.
#[test]
fn what_has_returned_to_its_caller_prints_no_more_in_that_thread() {
    let text = "point begun n=Step.n
         point noted
         point done
         point idle
         top step Entity this.n=Step.n
           >begun noted
           noted<
         top work Dispatcher
           >done<
         top rest Dispatcher
           >idle<
         top other Task
           >noted<
         pair work step Ask";
    check(text, "1.0 t begun n=1\n1.1 t noted", "step: 1 opens; 2 thread");
    check(text, "1.0 t begun n=1\n1.1 t done\n1.2 t noted", "step: 1 opens\nwork: 2 opens\nother: 3 opens");
}

/// The values of the spans of `records`, in order.
fn values(records: &str) -> Vec<Vec<String>> {
    let model = openers();
    let mut records = Sketched { model: &model, lines: records.lines().enumerate() };
    let accumulated = accumulate(&model, &mut records, &Config::default());
    let texts = |values: &[schema::Value]| values.iter().map(|value| value.text.to_string()).collect();
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
/// called for, but for a line that begins nothing.
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
    check(model, records, "read: 1 opens; 3 thread+1 id\nlist: 2 opens");
    let begins = format!("{model}\ntop check Task\n>done<");
    let unnamed = "1.00 t1 begun file=/a/file_1\n1.01 t1 other\n1.02 t1 done";
    check(&begins, unnamed, "read: 1 opens\nlist: 2 opens\ncheck: 3 opens");
    // Unless it has called that.
    let called = format!("{model}\npair read list Call file=file");
    check(&called, records, "read: 1 opens; 3 thread+1 id\nlist: 2 opens");
    // What everybody hands work to somebody else through can be called by everybody.
    let service = model.replace("top list RpcHandler", "top list DispatchTarget");
    check(&service, records, "read: 1 opens; 3 thread+1 id\nlist: 2 opens");
    // Who asked it goes on too, even if the task that it hands over prints the same.
    let later = format!("{service}\ntop check Task\n>done<\ntop late Task\n>other<");
    check(&later, unnamed, "read: 1 opens\nlate: 2 opens\ncheck: 3 opens");
    let asked = format!("{later}\npair read list Ask file=file");
    check(&asked, unnamed, "read: 1 opens; 3 thread\nlate: 2 opens");
}

/// What has to come between can have been printed as something else: a task is gone on
/// with by what names it.
#[test]
fn a_thread_goes_on_with_what_it_left_behind() {
    let model = "point running task=Task.name
         point reading
         point finished task=Task.name
         point done
         point loading
         top work Task task=Task.name
           >running reading
           reading finished done
           finished<
           done<
         top load EventHandler
           >loading<
         top see EventHandler
           >reading<";
    let named = "1.0 t running task=task_1_7
         1.5 t loading
         2.0 t finished task=task_1_7";
    check(model, named, "work: 1 opens; 3 thread+1 id, skips\nload: 2 opens");
    let begun = format!("{model}\ntop end EventHandler\n>finished<");
    check(&begun, named, "work: 1 opens\nload: 2 opens\nend: 3 opens");
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

/// Below the usual level nobody knows what is printed, until a logger shows it: then
/// what comes first comes first.
#[test]
fn what_a_logger_shows_is_printed() {
    let mut model = sketch::model(
        "point begun debug
         point ended debug
         point other
         top serve Task
           >begun ended
           ended<
         top list Task
           >other<",
    );
    let records = "1.00 t1 begun\n1.01 t1 other\n1.02 t1 ended";
    assert_eq!(run(&model, records), "serve: 1 opens\nlist: 2 opens\nserve: 3 opens\n");
    model.log_points.iter_mut().for_each(|point| point.loggers = vec![point.class.clone()]);
    assert_eq!(run(&model, records), "serve: 1 opens; 3 thread\nlist: 2 opens\n");
}

/// What can be printed at any time says nothing of what comes after it.
#[test]
fn after_what_comes_at_any_time_the_order_goes_on() {
    check(
        "point begun
         point ended
         point extra
         top copy Task
           >begun ended extra
           ended< extra
           >extra*",
        "1.00 t1 begun
         1.01 t1 extra
         1.02 t1 extra
         1.03 t1 ended",
        "copy: 1 opens; 2 thread; 3 thread; 4 thread",
    );
}

#[test]
fn a_span_is_known_by_what_it_meets() {
    let model = sketch::model(
        "point loaded path=Path.name
         top load Task path[*]=Path.name?
           >loaded*<",
    );
    let records = "1.000 t loaded path=/files/17\n1.001 t loaded path=/files/18";
    let mut records = Sketched { model: &model, lines: records.lines().enumerate() };
    let accumulated = accumulate(&model, &mut records, &Config::default());
    let texts = |a: &schema::Accumulator| -> Vec<String> {
        a.spans[0].identifiers.iter().map(|value| value.text.to_string()).collect()
    };
    let texts: Vec<Vec<String>> = accumulated.accumulators.iter().map(texts).collect();
    assert_eq!(texts, [["/files/17", "/files/18"]]);
}

#[test]
fn who_has_handed_out_a_call_reports_how_that_has_failed() {
    let model = |kind: &str| {
        let text = "point accepted
             point begin peer=Conn.peer
             point end
             point failed peer=Conn.peer
             top loop Dispatcher peer=Conn.peer
               >accepted failed
               failed<
             top serve DispatchTarget peer=Conn.peer?
               >begin< end
               end<
             pair loop serve Call";
        let mut model = sketch::model(&text.replace("Call", kind));
        let failed = sketch::point(&model, "failed");
        model.log_points[failed.index()].in_handler = true;
        model
    };
    let records = "1.000 t1 begin peer=10.0.0.1:5001
         1.001 t2 begin peer=10.0.0.1:5002
         1.002 t1 failed peer=10.0.0.1:5001
         2.000 t2 failed peer=10.0.0.1:5002";
    let whole = "serve: 1 opens; 3 failure of what was called
         serve: 2 opens
         loop: 4 opens, start not seen";
    let lines = |text: &str| text.lines().map(str::trim).collect::<Vec<_>>().join("\n");
    assert_eq!(run(&model("Call"), &lines(records)).trim(), lines(whole));
    // Nobody has called it.
    let apart = run(&model("Thread"), &lines(records));
    assert_eq!(apart.lines().count(), 4, "{apart}");
    // Without threads it stands directly behind what it names.
    let records = "1.000 - begin peer=10.0.0.1:5001
         1.001 - failed peer=10.0.0.1:5001
         1.002 - begin peer=10.0.0.1:5002
         1.003 - failed peer=10.0.0.1:5003";
    let text = run(&model("Call"), &lines(records));
    assert_eq!(text.lines().next(), Some("serve: 1 opens; 2 failure of what was called"));
    assert_eq!(text.lines().count(), 3, "{text}");
}

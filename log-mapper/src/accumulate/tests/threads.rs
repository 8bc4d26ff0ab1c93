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

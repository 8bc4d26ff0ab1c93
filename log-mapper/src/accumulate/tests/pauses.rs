//! How long a thread pauses in the middle of its work, as the log shows it.

use schema::{Successors, sketch};

use super::{check, run};

/// Files that threads load, and calls of which nothing is named at first.
const LOADS: &str = "
    point begun file=File.path
    point filled
    point loaded file=File.path
    top load Task file=File.path
      >begun loaded filled
      filled loaded
      loaded<
    point sought
    point added
    top add RpcHandler id=Id.n
      >sought*< added
      added<
";

const CALL: &str = "1000.000 h1 sought
    1000.001 h1 sought
    1000.051 h1 sought
    1000.300 h1 sought
    1000.301 h1 added";
const WHOLE: &str = "add: 1 opens; 2 thread; 3 thread; 4 thread; 5 thread";
const CUT: &str = "add: 1 opens; 2 thread; 3 thread\nadd: 4 opens; 5 thread";

/// So many files, each of which prints `lines` as it is loaded: times after its beginning,
/// threads, and words in which `F` is the file.
fn loads(n: usize, lines: &str) -> String {
    let line = |i: usize, line: &str| {
        let (after, rest) = line.split_once(' ').expect("a time");
        let after: f64 = after.parse().expect("a time");
        format!("{} {}\n", i as f64 + after, rest.replace('F', &format!("/data/f{i}")))
    };
    (0..n).flat_map(|i| lines.lines().map(move |text| line(i, text.trim()))).collect()
}

/// Spans as [`check`] shows them, of lines that stand after so many others.
fn after(n: usize, spans: &str) -> String {
    let word = |word: &str| word.parse::<usize>().map_or(word.to_owned(), |line| (line + n).to_string());
    let span = |span: &str| span.split(' ').map(word).collect::<Vec<_>>().join(" ") + "\n";
    spans.lines().map(span).collect()
}

/// Holds the spans of `records`, which stand after `loads` of `spans` each, against
/// `expected`, in which lines are counted from the first of `records`.
fn check_after(model: &str, (loads, spans): (&str, &str), records: &str, expected: &str) {
    let n_each = spans.split(' ').filter(|word| word.parse::<usize>().is_ok()).count();
    let n = loads.lines().count();
    let spans: String = (0..n).step_by(n_each).map(|first| after(first, spans)).collect();
    check(model, &format!("{loads}{records}"), &(spans + &after(n, expected)));
}

const NAMED: &str = "load: 1 opens; 2 thread+1 id";

/// Files that are loaded for so many seconds each.
fn slow(n: usize, pause: f64) -> String {
    loads(n, &format!("0 l1 begun file=F\n{pause} l1 loaded file=F"))
}

#[test]
fn a_call_is_over_after_a_pause_that_its_node_does_not_make() {
    check_after(LOADS, (&slow(70, 0.3), NAMED), CALL, WHOLE);
    check_after(LOADS, (&slow(70, 0.06), NAMED), CALL, CUT);
    check_after(LOADS, (&slow(60, 0.3), NAMED), CALL, CUT);
    let all_apart = "add: 1 opens; 2 thread\nadd: 3 opens\nadd: 4 opens; 5 thread";
    check_after(LOADS, (&slow(70, 0.01), NAMED), CALL, all_apart);
}

#[test]
fn pauses_are_learnt_of_what_names_its_work_in_its_thread() {
    let nameless = loads(70, "0 l1 begun file=F\n0.3 l1 filled\n0.36 l1 loaded file=F");
    check_after(LOADS, (&nameless, "load: 1 opens; 2 thread; 3 thread+1 id"), CALL, CUT);
    let left = loads(70, "0 l1 begun file=F\n0.2 l1 sought\n0.3 l1 loaded file=F");
    check_after(LOADS, (&left, "load: 1 opens; 3 thread+1 id\nadd: 2 opens"), CALL, CUT);
}

#[test]
fn pauses_are_learnt_of_lines_that_only_go_on() {
    let mut model = sketch::model(LOADS);
    let [begun, filled, loaded] = ["begun", "filled", "loaded"].map(|name| sketch::point(&model, name));
    let mut next = vec![None; model.log_points.len()];
    next[begun.index()] = Some(vec![filled]);
    next[filled.index()] = Some(vec![loaded]);
    next[loaded.index()] = Some(Vec::new());
    let lines = loads(70, "0 l1 begun\n0.3 l1 filled") + CALL;
    assert!(run(&model, &lines).ends_with(&after(140, CUT)), "nothing is known of what can come next");
    model.successors = Successors::new(next, Vec::new(), [vec![begun], vec![loaded]], Default::default());
    assert!(run(&model, &lines).ends_with(&after(140, WHOLE)));
}

#[test]
fn a_call_that_has_lasted_can_pause_for_as_long() {
    let call =
        "1000.00 h1 sought\n1000.09 h1 sought\n1000.18 h1 sought\n1000.27 h1 sought\n1000.48 h1 sought";
    check_after(LOADS, (&slow(70, 0.1), NAMED), call, WHOLE);
}

#[test]
fn what_can_have_ended_prints_what_everybody_does_after_a_usual_pause() {
    let mut model = LOADS.to_owned() + "point ended\npoint utility\n";
    (0..33).for_each(|n| model += &format!("top other_{n} Task\n>utility<\n"));
    model += "top work Task\n>ended< utility\nutility<";
    let records = "1000.00 t1 ended\n1000.05 t1 utility\n1000.30 t1 utility";
    check_after(&model, (&slow(70, 0.3), NAMED), records, "work: 1 opens; 2 thread; 3 thread");
    check_after(&model, (&slow(70, 0.06), NAMED), records, "work: 1 opens; 2 thread\nwork: 3 opens");
}

#[test]
fn a_round_is_over_after_a_pause_that_is_usual_in_calls() {
    let model = LOADS.to_owned()
        + "point finished
           point looking
           top receive DispatchTarget
             >finished< looking
             >looking<";
    let records = "1000.000 t finished\n1000.250 t looking";
    check_after(&model, (&slow(70, 0.3), NAMED), records, "receive: 1 opens\nreceive: 2 opens");
}

/// A task that can go on with its first line, and by then can have ended.
const SERVED: &str = "
    point asked
    point answered
    top serve Task
      >asked< answered
      answered< asked
";

/// So many tasks in each of these threads, two seconds from each other.
fn served(threads: &[&str]) -> String {
    let line = |i: usize| format!("{} {} asked\n", 2 * i, threads[i % threads.len()]);
    (0..threads.len() * 4).map(line).collect()
}

/// Holds two tasks of thread `w-1` that follow each other soon, the other threads at work
/// before, against `expected`.
fn check_two(model: &str, threads: &[&str], first: &str, expected: &str) {
    let records =
        format!("1000.000 w-1 {first}\n1000.001 w-1 answered\n1000.051 w-1 {first}\n1000.052 w-1 answered");
    check_after(model, (&served(threads), "serve: 1 opens"), &records, expected);
}

#[test]
fn a_thread_that_is_given_tasks_begins_the_next_one_after_a_pause() {
    check_two(SERVED, &["w-1", "w-2"], "asked", "serve: 1 opens; 2 thread\nserve: 3 opens; 4 thread");
    // Its own work goes on.
    check_two(SERVED, &["w-1"], "asked", "serve: 1 opens; 2 thread; 3 thread; 4 thread");
}

#[test]
fn what_no_thread_has_begun_with_goes_on_after_a_pause() {
    // Who is asked may ask back; a task may begin with that too, but none has.
    let model = SERVED.replace("answered< asked", "answered< back\n>back<").replace("top", "point back\ntop");
    let records = "1000.000 w-1 asked\n1000.001 w-1 answered\n1000.051 w-1 back";
    let check = |before: &str, expected: &str| {
        check_after(&model, (before, "serve: 1 opens"), records, expected);
    };
    let before = served(&["w-1", "w-2"]);
    check(&before, "serve: 1 opens; 2 thread; 3 thread");
    check(&before.replacen("asked", "back", 1), "serve: 1 opens; 2 thread\nserve: 3 opens");
}

#[test]
fn what_everybody_prints_begins_the_next_task_where_it_began_the_one_before() {
    let mut model = "point utility\n".to_owned() + SERVED;
    model = model
        .replace(">asked<", ">utility answered\n>asked<")
        .replace("answered< asked", "answered< asked utility");
    (0..33).for_each(|n| model += &format!("top other_{n} RpcHandler\n>utility<\n"));
    let cut = "serve: 1 opens; 2 thread, skips\nserve: 3 opens; 4 thread, skips";
    check_two(&model, &["w-1", "w-2"], "utility", cut);
    check_two(&model, &["w-1"], "utility", "serve: 1 opens; 2 thread, skips; 3 thread; 4 thread, skips");
}

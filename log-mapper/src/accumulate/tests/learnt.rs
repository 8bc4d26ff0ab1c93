//! What is learnt from the log: parts and wholes, loops, rounds of dispatchers.

use schema::{Model, sketch};

use super::{check, run};

const FILES: &str = "
    point allocate block=Block.id file=File.path
    point dropped block=Block.id
    point deleted file=File.path
    point checked file=File.path
    top add RpcHandler block=Block.id file=File.path
      >allocate<
    top delete RpcHandler file=File.path
      >dropped* deleted
      deleted<
    top check RpcHandler file=File.path
      >checked dropped
      dropped<
";

/// Files of two blocks each are made, half a second apart.
fn made(n_files: u32) -> String {
    let block = |n: u32| {
        let (file, block) = (n / 2, 1000 + n);
        format!("{:.1} - allocate block=blk_{block} file=/files/{file}\n", f64::from(n) / 2.0)
    };
    (0..n_files * 2).map(block).collect()
}

fn last(model: &str, records: &str) -> String {
    let spans = run(&sketch::model(model), records);
    let apart = |line: &&str| !line.starts_with("add: ");
    spans.lines().filter(apart).collect::<Vec<_>>().join("\n")
}

#[test]
fn parts_of_one_whole_are_one_request_without_threads() {
    let records = made(20)
        + "100.000 - dropped block=blk_1010
           100.001 - dropped block=blk_1020
           100.002 - dropped block=blk_1011
           100.003 - deleted file=/files/5
           100.004 - dropped block=blk_1021
           100.005 - deleted file=/files/10";
    assert_eq!(
        last(FILES, &records),
        "delete: 41 opens; 43 1 id; 44 1 id\ndelete: 42 opens; 45 1 id; 46 1 id"
    );
    // Also after a record that names the whole.
    let records = made(20)
        + "100.000 - checked file=/files/5
           100.001 - checked file=/files/10
           100.002 - dropped block=blk_1010
           100.003 - dropped block=blk_1021";
    assert_eq!(last(FILES, &records), "check: 41 opens; 43 1 id\ncheck: 42 opens; 44 1 id");
}

#[test]
fn few_parts_teach_nothing() {
    let records = made(4)
        + "100.000 - dropped block=blk_1002
           100.001 - dropped block=blk_1003
           100.002 - deleted file=/files/1";
    assert_eq!(last(FILES, &records), "delete: 9 opens\ndelete: 10 opens\ndelete: 11 opens, start not seen");
}

const READS: &str = "
    point opened file=File.path
    top read RpcHandler file=File.path
      >opened*<
";

#[test]
fn a_loop_that_never_turns_twice_is_no_loop() {
    let once: String = (0..40).map(|n| format!("{n}.0 - opened file=/files/{n}\n")).collect();
    let two = "50.000 - opened file=/files/90\n50.005 - opened file=/files/90\n";
    let tail = |records: &str| {
        let spans = run(&sketch::model(READS), records);
        spans.lines().last().expect("a span").to_owned()
    };
    assert_eq!(tail(&(once + two)), "read: 42 opens");
    // One that does is one.
    let twice: String = (0..40)
        .map(|n| format!("{n}.000 - opened file=/files/{n}\n{n}.001 - opened file=/files/{n}\n"))
        .collect();
    assert_eq!(tail(&(twice + two)), "read: 81 opens; 82 1 id");
}

#[test]
fn a_loop_that_seems_to_turn_now_and_then_is_none() {
    // Two calls for one file follow each other at once now and then.
    let once = |n: u32| format!("{n}.000 - opened file=/files/{n}\n");
    let twice = |n: u32| format!("{}{n}.001 - opened file=/files/{n}\n", once(n));
    let records: String = (0..64).map(|n| if n % 16 == 0 { twice(n) } else { once(n) }).collect();
    let two = "70.000 - opened file=/files/90\n70.005 - opened file=/files/90\n";
    let spans = run(&sketch::model(READS), &(records + two));
    assert!(spans.ends_with("read: 69 opens\nread: 70 opens\n"), "{spans}");
}

#[test]
fn a_round_of_a_dispatcher_begins_with_its_first_line() {
    // The address is used again by another connection.
    check(
        "point accepted peer=Server.peer
         point rejected peer=Server.peer
         top accept Dispatcher peer=Server.peer?
           >accepted* rejected
           rejected<",
        "1.0 t1 accepted peer=10.0.0.1:5000
         1.1 t1 accepted peer=10.0.0.1:5001
         1.2 t1 rejected peer=10.0.0.1:5001
         9.0 t1 accepted peer=10.0.0.1:5000",
        "accept: 1 opens
         accept: 2 opens; 3 thread+1 weak id
         accept: 4 opens",
    );
}

#[test]
fn a_weak_value_tells_what_comes_next_in_a_crowded_log() {
    let model = "
        point begun block=Block.id
        point done block=Block.id
        point started key=Write.key
        point ended key=Write.key
        top update RpcHandler block=Block.id?
          >begun done
          done<
        top write RpcHandler key=Write.key
          >started ended
          ended<";
    // What the keys show: order alone is wrong, what began last is not done first.
    let mut records = String::new();
    for n in 0..60 {
        let (a, b) = (1000 + 2 * n, 1001 + 2 * n);
        records += &format!("{n}.0 - started key=key_{a}\n{n}.1 - started key=key_{b}\n");
        records += &format!("{n}.2 - ended key=key_{a}\n{n}.3 - ended key=key_{b}\n");
        records += &format!("{n}.4 - begun block=blk_{a}\n{n}.5 - begun block=blk_{b}\n");
        records += &format!("{n}.6 - done block=blk_{a}\n{n}.7 - done block=blk_{b}\n");
    }
    let spans = run(&sketch::model(model), &records);
    assert_eq!(spans.lines().count(), 240);
    assert!(spans.lines().all(|span| span.contains("; ")), "{spans}");
}

#[test]
fn rounds_about_one_thing_are_one_request() {
    let model = "
        point began id=Container.id
        point used id=Container.id
        point ended id=Container.id
        top watch Dispatcher id=Container.id
          >ended<
          >began used
          used*<";
    check(
        model,
        "1.0 - began id=container_1
         1.1 - used id=container_1
         4.0 - used id=container_1
         7.0 - ended id=container_1
         7.1 - ended id=container_2",
        "watch: 1 opens; 2 1 id; 3 1 id; 4 1 id, skips
         watch: 5 opens",
    );
}

#[test]
fn a_thread_goes_on_with_its_own_when_its_work_is_done() {
    check(
        "point served
         point stopped
         top serve DispatchTarget
           >served<
         top run Dispatcher
           >served stopped
           stopped<",
        "1.0 t1 served
         1.5 t1 stopped",
        // What the thread is known to run comes first.
        "run: 1 opens
         run: 2 opens, start not seen",
    );
}

#[test]
fn initializers_are_of_whoever_waits_for_them() {
    check(
        "point working
         point loaded
         point worked
         top work Task
           >working worked
           worked<
         top <clinit> Unreached
           >loaded<",
        "1.00 t1 working
         1.20 t1 loaded
         1.40 t1 loaded
         1.50 t1 worked
         1.60 t2 loaded",
        "work: 1 opens; 2 thread, inside; 3 thread, inside; 4 thread
         <clinit>: 5 opens",
    );
}

/// A task's process, whose `main` also prints what a helper thread prints, and a
/// server, whose `main` starts the thread and is done.
fn processes() -> Model {
    let mut model = sketch::model(
        "point begun
         point opened
         point spilt
         point done
         point asked
         top main Task
           >begun opened
           opened done
           done<
         top spill Task
           >spilt opened
           opened<
         top answer RpcHandler
           >asked<",
    );
    model.entry_points = vec!["Child".to_owned(), "Tool".to_owned()];
    for (top, programs) in [("main", vec![0]), ("spill", vec![0, 1]), ("answer", vec![0])] {
        let top = sketch::top(&model, top);
        model.top_level_methods[top.index()].entry_points = programs;
    }
    let main = sketch::top(&model, "main");
    model.top_level_methods[main.index()].descriptor = "([Ljava/lang/String;)V".to_owned();
    model
}

#[test]
fn a_process_that_ends_with_its_main_has_one_thing_to_do() {
    let model = processes();
    let text = run(&model, "1.0 - begun\n2.0 - spilt\n60.0 - opened\n61.0 - opened\n90.0 - done");
    let why = "of main, which is at work all along";
    assert_eq!(text, format!("main: 1 opens; 3 {why}; 4 {why}; 5 {why}\nspill: 2 opens\n"));
    // Who answers calls has more to do, however long its `main` waits.
    let text = run(&model, "1.0 - begun\n2.0 - asked\n60.0 - opened\n61.0 - opened\n90.0 - done");
    assert!(!text.contains(why), "{text}");
    // A server's goes on after its `main`.
    let text = run(&model, "1.0 - begun\n1.1 - opened\n1.2 - done\n2.0 - spilt\n60.0 - opened");
    assert!(text.ends_with("spill: 4 opens\nspill: 5 opens, start not seen\n"), "{text}");
    // Where threads are printed, they tell.
    let text = run(&model, "1.0 main begun\n2.0 t1 spilt\n60.0 t1 opened\n90.0 main done");
    assert!(text.contains("spill: 2 opens; 3"), "{text}");
}

#[test]
fn without_threads_what_contradicts_an_entity_is_of_another_one() {
    let model = "
        point moved file=File.path job=Job.id
        top state Entity file=File.path? job=Job.id
          >moved<
        top beat RpcHandler job=Job.id
          >moved*<";
    let records = "1.000 - moved file=done/a job=job_0001
         1.001 - moved file=done/b job=job_0001";
    check(model, records, "state: 1 opens\nstate: 2 opens");
    // Nobody but the loop prints it.
    let loop_only = model.replace("top state Entity", "top state Task").replace(">moved<", ">moved*<");
    check(&loop_only, records, "beat: 1 opens; 2 1 id");
}

#[test]
fn what_begins_in_the_middle_is_no_rival_of_what_has_begun() {
    check(
        "point stopping
         point stopped
         point exiting
         top finish Task
           >stopping stopped exiting
           stopped* exiting
           exiting<
         top stop Task
           >stopped<",
        "1.00 - stopping
         1.01 - stopped
         1.02 - exiting",
        "finish: 1 opens; 2 order, the rest; 3 order, the rest",
    );
}

/// A handler stops what there is, by ways that the analysis has not seen.
const STOPPING: &str = "
    point stopping
    point closed
    point stopped service=Service.name
    point exiting
    top finish EventHandler
      >stopping stopped exiting
      stopped* exiting
      exiting<
    top close Unreached
      >closed<
    top init Entity service=Service.name
      >stopped<";

#[test]
fn without_threads_what_no_log_point_prints_is_of_the_only_one_at_work() {
    check(
        STOPPING,
        "1.00 - stopping
         1.01 - closed
         1.02 - ?
         1.03 - stopped service=listener
         1.04 - exiting",
        "finish: 1 opens; 3 the only one at work, inside, no log point; 4 order, the rest; \
         5 order, the rest
         close: 2 opens",
    );
    // Two are at work.
    check(
        STOPPING,
        "1.00 - stopping
         1.00 - stopping
         1.01 - closed
         1.02 - ?",
        "finish: 1 opens\nfinish: 2 opens\nclose: 3 opens\nunattributed: 4",
    );
    // A thread that has begun can wait for work.
    check(
        &STOPPING.replace("EventHandler", "Task"),
        "1.00 - stopping\n1.01 - closed",
        "finish: 1 opens\nclose: 2 opens",
    );
    // Long after its last line, somebody else can have begun to work.
    check(STOPPING, "1.0 - stopping\n1.2 - closed", "finish: 1 opens\nclose: 2 opens");
}

#[test]
fn without_threads_a_digest_names_its_thing_in_any_text() {
    let (one, other) = ("27d9e6758350b73e967e79da261bade8", "3be017b53c16900681d4cae837cb61af");
    check(
        "point opened code=Region.code
         point writing path=File.path
         point wrote path=File.path
         top open RpcHandler code=Region.code
           >opened<
         top write Task
           >writing wrote
           >wrote<",
        &format!(
            "1.000 - opened code={one}
             1.001 - opened code={other}.
             2.000 - writing path=/data/{one}/a
             2.001 - writing path=/data/{other}/b
             2.002 - wrote path=/data/{one}/c
             2.003 - wrote path=/data/{other}/d"
        ),
        "open: 1 opens
         open: 2 opens
         write: 3 opens; 5 1 id
         write: 4 opens; 6 1 id",
    );
}

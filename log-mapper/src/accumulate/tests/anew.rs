//! What a process was at ends with it, and another one of its kind begins anew.

use schema::model::CallSite;
use schema::sketch;

use super::{run, run_by_names};

#[test]
fn what_initializes_a_class_again_is_of_another_process() {
    let model = "
        point registered
        point starting
        point started
        top main Task
          >registered*
          >starting started
          started registered";
    let mut model = sketch::model(model);
    let registered = sketch::point(&model, "registered");
    let lines = |name: &str, again: &str| {
        format!("1.0 main {name}\n1.5 main starting\n1.6 main started\n{again} main {name}")
    };
    // Any line can come once more.
    assert_eq!(
        run(&model, &lines("registered", "20.0")),
        "main: 1 opens\nmain: 2 opens; 3 thread; 4 thread\n"
    );
    // A class is initialized once, but its initializer can print something twice.
    model.log_points[registered.index()].method = "<clinit>".into();
    assert_eq!(run(&model, &lines("<clinit>", "1.7")), "main: 1 opens; 2 thread; 3 thread; 4 thread\n");
    assert_eq!(run(&model, &lines("<clinit>", "20.0")), "main: 1 opens; 2 thread; 3 thread\nmain: 4 opens\n");
}

#[test]
fn what_the_second_process_has_begun_goes_on() {
    let model = "
        point registered
        point starting
        point loaded
        point started
        top main Task
          >registered*<
          >starting loaded started
          loaded started
          started<";
    let names = sketch::model(model);
    let mut model = sketch::model(model);
    for name in ["registered", "loaded"] {
        model.log_points[sketch::point(&names, name).index()].method = "<clinit>".into();
    }
    // Both initializers show the second process, the second one in the middle of something.
    let both = |seconds: &str| {
        format!("{seconds}.0 main registered\n{seconds}.1 main starting\n{seconds}.2 main loaded\n")
    };
    let both = both("1") + &both("20");
    let expected = "main: 1 opens; 2 thread; 3 thread\nmain: 4 opens; 5 thread; 6 thread\n";
    assert_eq!(run_by_names(&names, &model, &both), expected);
    // Other threads can be of other processes that print into the same log.
    let others = "1.0 main registered\n19.0 worker starting\n20.0 main registered\n20.1 worker started";
    assert_eq!(
        run_by_names(&names, &model, others),
        "main: 1 opens\nmain: 2 opens; 4 thread\nmain: 3 opens\n"
    );
}

#[test]
fn a_process_runs_its_main_once() {
    let model = "
        point reading
        point told name=Name.text
        point starting
        point probed
        top main Task name=Name.text?
          >reading told starting
          told* starting
          starting<
        top probe Task
          >probed<";
    let mut model = sketch::model(model);
    // The first one would enclose the second one, and has named what that tells.
    let lines = "1.0 main reading\n1.1 main told name=logger-root\n20.0 main reading\n20.1 main probed\n\
                 20.2 main told name=logger-root\n20.3 main starting";
    model.top_level_methods[0].descriptor = "([Ljava/lang/String;)V".into();
    let text = run(&model, lines);
    assert!(text.starts_with("main: 1 opens; 2 thread\nmain: 3 opens; 5 "), "{text}");
}

/// The first line of a `main` can be another method's as well: that it began once more shows
/// when a class is initialized again, which is in its middle.
#[test]
fn what_is_initialized_again_is_of_the_main_that_has_begun_since() {
    let model = "
        point reading
        point registered
        point started
        top main Task
          >reading registered started
          registered started
          started<
        top check Task
          >reading<";
    let mut model = sketch::model(model);
    let registered = sketch::point(&model, "registered");
    model.log_points[registered.index()].method = "<clinit>".into();
    model.top_level_methods[0].descriptor = "([Ljava/lang/String;)V".into();
    let process = |seconds: &str| {
        format!("{seconds}.0 main reading\n{seconds}.1 main <clinit>\n{seconds}.2 main started\n")
    };
    assert_eq!(
        run(&model, &(process("1") + &process("20"))),
        "main: 1 opens; 2 thread; 3 thread\nmain: 4 opens; 5 thread; 6 thread\n"
    );
}

/// What an initializer prints through a wrapper is printed by the initializer: it comes in
/// the middle of the work of whoever needs the class first.
#[test]
fn what_initializes_a_class_can_do_so_through_a_wrapper() {
    let mut model = sketch::model(
        "point loaded
         point created
         top make DispatchTarget
           >loaded<
           >created<",
    );
    let lines = "1.00 t loaded\n1.01 t loaded\n1.06 t created";
    assert_eq!(run(&model, lines), "make: 1 opens\nmake: 2 opens\nmake: 3 opens\n");
    let site = CallSite { class: "Server".into(), method: "<clinit>".into(), source_line: 0 };
    model.log_points[0].call_site = Some(site);
    assert_eq!(run(&model, lines), "make: 1 opens; 2 thread; 3 thread\n");
}

/// Whoever has initialized a class loads the next ones, which takes its time on a busy machine;
/// but what comes much later can be at something else.
#[test]
fn what_has_initialized_a_class_goes_on_with_what_that_is_needed_for() {
    let mut model = sketch::model(
        "point loaded
         point created
         top make Task
           >loaded<
           >created<",
    );
    let site = CallSite { class: "Server".into(), method: "<clinit>".into(), source_line: 0 };
    model.log_points[0].call_site = Some(site);
    let lines = |created: &str| format!("1.0 t loaded\n{created} t created");
    assert_eq!(run(&model, &lines("1.6")), "make: 1 opens; 2 thread\n");
    assert_eq!(run(&model, &lines("2.6")), "make: 1 opens\nmake: 2 opens\n");
}

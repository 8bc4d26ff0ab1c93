//! What a process was at ends with it, and another one of its kind begins anew.

use schema::sketch;

use super::run;

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

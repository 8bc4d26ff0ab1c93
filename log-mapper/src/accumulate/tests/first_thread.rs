//! Who is there when a process begins, where no threads are printed.

use schema::{Model, sketch};

use super::run;

/// A server whose `main` prints what others print as well.
fn server() -> Model {
    let mut model = sketch::model(
        "point begun
         point reading path=File.path
         point bound
         point watching
         point ended
         point asked
         top main Task
           >begun reading
           reading* bound
           bound watching
           watching ended
           ended<
         top load Task path=File.path
           >reading bound
           bound<
         top answer RpcHandler
           >asked<",
    );
    let main = sketch::top(&model, "main");
    model.entry_points = vec!["Server".to_owned()];
    for top in &mut model.top_level_methods {
        top.entry_points = vec![0];
    }
    model.top_level_methods[main.index()].descriptor = "([Ljava/lang/String;)V".to_owned();
    model
}

const WHY: &str = "of main, nobody else is there yet";

#[test]
fn until_somebody_else_comes_all_is_of_main() {
    let records = "1.0 - begun
         3.0 - reading path=/etc/server/one
         5.0 - reading path=/etc/server/two
         6.0 - bound
         7.0 - asked
         8.0 - reading path=/etc/server/three
         9.0 - watching
         80.0 - ended";
    let text = run(&server(), records);
    // What only `main` prints is of it also later, but not after a long silence.
    let begun = format!("main: 1 opens; 2 {WHY}; 3 {WHY}; 4 {WHY}; 7 {WHY}");
    assert_eq!(text, format!("{begun}\nanswer: 5 opens\nload: 6 opens\nmain: 8 opens, start not seen\n"));
}

#[test]
fn a_log_that_begins_later_has_others_already() {
    let text =
        run(&server(), "1.0 - reading path=/etc/server/one\n2.0 - begun\n4.0 - reading path=/etc/server/two");
    assert!(!text.contains(WHY), "{text}");
}

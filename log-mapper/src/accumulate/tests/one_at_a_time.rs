//! What a process runs one at a time, without threads.

use super::*;

const WATCH: &str = "
    point begin
    point sees item=Item.name
    point done item=Item.name
    top watch Timer
      >begin sees
      sees*<
    top work Task item=Item.name
      >done<";

#[test]
fn what_begins_again_is_over() {
    let lines =
        "1.0 - begin\n1.1 - sees item=a_17\n2.0 - begin\n2.1 - sees item=a_17\n2.2 - sees item=b_17\n";
    let two = "watch: 1 opens; 2 order, the only run\n\
               watch: 3 opens; 4 order, the only run; 5 order, the only run\n";
    assert_eq!(run(&sketch::model(WATCH), lines), two);
    // Of what may run side by side, the first could have gone on as well.
    let tasks = WATCH.replace("watch Timer", "watch Task");
    assert_ne!(run(&sketch::model(&tasks), lines), two);
}

#[test]
fn whatever_it_names_nobody_else_can_print_it() {
    // Others are known by what it goes through.
    let lines = "1.0 - done item=a_17\n1.1 - begin\n1.2 - sees item=b_17\n1.3 - sees item=a_17\n";
    let spans = run(&sketch::model(WATCH), lines);
    assert!(spans.contains("watch: 2 opens; 3 order, the only run; 4 order, the only run\n"), "{spans}");
}

#[test]
fn what_can_begin_with_a_line_begins_with_it() {
    let model = WATCH.replace("sees*<", ">sees*<");
    let spans = run(&sketch::model(&model), "1.0 - begin\n3.0 - sees item=a_17\n");
    assert!(!spans.contains("the only run"), "{spans}");
}

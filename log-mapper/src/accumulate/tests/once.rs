//! Once: a line that hardly ever comes twice at once.

use super::*;

const PUBLISHES: &str = "
    point creates
    point updates topic=Topic.name
    top publish IdentifierLoss topic[*]=Topic.name
      >creates< updates
      >updates*<";

/// 40 rounds that create something and update it, of which `also` update another thing at once,
/// after 40 that only update; then one that updates two with a pause between.
fn rounds(also: u32) -> String {
    let mut text = String::new();
    for i in 1..=40_u32 {
        text += &format!("{}.000 t updates topic=topic_{i}\n", 2 * i);
    }
    for i in 1..=40_u32 {
        let second = 100 + 2 * i;
        text += &format!("{second}.000 t creates\n{second}.001 t updates topic=topic_{}\n", 100 + i);
        if i <= also {
            text += &format!("{second}.002 t updates topic=topic_{}\n", 200 + i);
        }
    }
    text + "300.000 t creates\n300.001 t updates topic=topic_301\n300.012 t updates topic=topic_302\n"
}

fn last(records: &str) -> String {
    let found = run(&sketch::model(PUBLISHES), records);
    found.lines().last().unwrap_or_default().to_owned()
}

#[test]
fn what_never_turns_at_once_begins_anew() {
    assert_eq!(last(&rounds(0)), "publish: 123 thread");
}

#[test]
fn a_loop_that_turns_turns_late_as_well() {
    assert_eq!(last(&rounds(20)), "publish: 141 opens; 142 thread; 143 thread");
}

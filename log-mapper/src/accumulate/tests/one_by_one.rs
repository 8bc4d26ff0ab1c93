//! Tasks that are worked off one by one.

use schema::{Pass, Passes};

use super::*;

const TASKS: &str = "
    point begin id=Task.id
    point stored block=Block.id
    point ended id=Task.id
    point idle
    top run Task id=Task.id
      >begin stored ended
      stored* ended
      ended<
    top keep Task block=Block.id
      >stored*
      stored<
    top wait Task
      >idle<";

/// Task `i` from one second to the next, in the middle of which a block is stored.
fn task(i: usize, block: usize) -> String {
    format!(
        "{i}.0 - begin id=task_{i:03}\n{i}.1 - stored block=block_{block:03}\n\
         {i}.2 - ended id=task_{i:03}\n{i}.6 - idle\n{i}.8 - idle\n"
    )
}

#[test]
fn what_comes_only_while_the_one_task_is_at_work_is_of_that() {
    // Two tasks in turn store the same block.
    let lines: String = (0..32).map(|i| task(i, i / 2)).collect();
    let model = sketch::model(TASKS);
    // The log shows soon that such lines follow each other, which tells the same.
    let without = Passes::default().with(Pass::Decoder);
    let config = Config { node: "n".to_owned(), without, ..Config::default() };
    let spans = run_with(&model, &model, &lines, &config);
    for i in 0..32 {
        let [begin, stored, ended] = [1, 2, 3].map(|line| 5 * i + line);
        let whole = format!("run: {begin} opens; {stored} order, amidst the only task; {ended} 1 id\n");
        assert!(spans.contains(&whole), "{whole}{spans}");
    }
}

#[test]
fn what_comes_at_other_times_as_well_is_not() {
    let elsewhere = |i: usize| format!("{i}.7 - stored block=other_{i:03}\n");
    let lines: String = (0..32).map(|i| task(i, i) + &elsewhere(i)).collect();
    assert!(!run(&sketch::model(TASKS), &lines).contains("the only task"));
    // Nor is what comes while several are at work.
    let other = |i: usize| {
        format!(
            "{i}.05 - begin id=next_{i:03}\n{i}.1 - stored block=b_{i:05}\n{i}.15 - ended id=task_{i:03}\n"
        )
    };
    let two = |i: usize| {
        format!("{i}.0 - begin id=task_{i:03}\n{}{i}.2 - ended id=next_{i:03}\n{i}.6 - idle\n", other(i))
    };
    let lines: String = (0..64).map(two).collect();
    assert!(!run(&sketch::model(TASKS), &lines).contains("the only task"));
}

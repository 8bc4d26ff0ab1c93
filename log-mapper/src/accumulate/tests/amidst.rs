//! Amidst: what stands between two lines of one task.

use super::*;

/// A task that can end early, and that prints a line which everybody prints.
fn runs() -> String {
    let mut model = "point running task=Task.name\npoint stored\npoint finished task=Task.name\n".to_owned();
    (0..33).for_each(|n| model += &format!("top other_{n} Task\n>stored<\n"));
    model
        + "top run Task task=Task.name\n>running< stored finished\nstored finished\nfinished<\n\
           top tell Task task=Task.name\n>stored finished\nfinished<"
}

#[test]
fn a_task_prints_what_its_thread_does_until_it_goes_on() {
    let text = "
        1.000 t running task=task_7
        1.500 t stored
        1.600 t finished task=task_7";
    check(&runs(), text, "run: 1 opens; 2 thread, amidst its task; 3 thread+1 id");
}

#[test]
fn what_a_thread_prints_outside_of_its_task_is_none_of_it() {
    let text = "
        1.000 t running task=task_7
        1.600 t finished task=task_7
        3.500 t stored";
    check(&runs(), text, "run: 1 opens; 2 thread+1 id\nrun: 3 opens");
}

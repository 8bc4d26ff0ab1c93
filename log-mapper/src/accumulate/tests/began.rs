//! Whose line it is that says how long its work took.

use schema::Template;

use super::*;

/// A job that names nothing; its last line says how many `unit` it took.
fn jobs(unit: &str) -> Model {
    let mut model = sketch::model(
        "point starts
         point done took=Took.time
         top job Task
           >starts done
           done<",
    );
    let done = sketch::point(&model, "done").index();
    let regex = format!("done in ([0-9.]+){unit}");
    model.log_points[done].templates = vec![Template { regex, captures: vec![0] }];
    model
}

#[test]
fn of_those_who_wait_it_is_who_was_there_when_the_work_began() {
    let job = |i: usize| format!("{i}.0 - starts\n{i}.5 - done took=0.5\n");
    let alone: String = (0..4).map(job).collect();
    let each = |i: usize| format!("job: {} opens; {} order, all together\n", 2 * i + 1, 2 * i + 2);
    let learnt: String = (0..4).map(each).collect();
    let two = "20.0 - starts\n21.0 - starts\n22.0 - done took=2\n22.5 - done took=1.49\n";
    let told = "job: 9 opens; 11 order+time\njob: 10 opens; 12 order+time\n";
    assert_eq!(run(&jobs(" s"), &(alone.clone() + two)), learnt.clone() + told);
    // What is not a time says nothing.
    assert!(!run(&jobs(" rows"), &(alone.clone() + two)).contains("time"));
    // Who began later has not printed it, even if nobody else waits.
    let late = "30.0 - starts\n31.0 - done took=5\n";
    let apart = "job: 9 opens\njob: 10 opens, start not seen\n";
    let as_learnt = learnt.replace("order, all together", "follows as such lines do");
    assert_eq!(run(&jobs(" s"), &(alone + late)), as_learnt + apart);
}

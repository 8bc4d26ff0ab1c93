//! Lines that say how long their work took.

use schema::Template;

use super::*;

/// A table is flushed on its own or when somebody asks for it; the last line says how long it
/// took, in `unit`.
fn flushes(unit: &str) -> Model {
    let mut model = sketch::model(
        "point asked table=Table.name
         point wrote table=Table.name
         point flushed table=Table.name took=Took.time
         top flush Task table=Table.name
           >wrote* flushed
           flushed<
         top ask RpcHandler table=Table.name
           >asked wrote
           wrote* flushed
           flushed<",
    );
    let flushed = sketch::point(&model, "flushed").index();
    let regex = format!("flushed (.*?) in (-?[0-9]+){unit}");
    model.log_points[flushed].templates = vec![Template { regex, captures: vec![0, 1] }];
    model
}

/// Somebody asks for what is being flushed since before, at line `n`.
fn late() -> String {
    let table = "table=users_0009";
    format!(
        "20.0 - wrote {table}\n20.1 - asked {table}\n20.2 - wrote {table}\n\
         20.3 - flushed {table} took=301\n"
    )
}

#[test]
fn who_began_later_has_not_printed_how_long_it_took() {
    let asks = |i: usize| {
        let table = format!("table=users_{i:04}");
        format!("{i}.0 - asked {table}\n{i}.1 - wrote {table}\n{i}.3 - flushed {table} took=200\n")
    };
    let lines = (0..5).map(asks).collect::<String>() + &late();
    let each = |i: usize| format!("ask: {} opens; {} 1 id; {} 1 id\n", 3 * i + 1, 3 * i + 2, 3 * i + 3);
    let rounds: String = (0..5).map(each).collect();
    let apart = rounds.clone() + "flush: 16 opens; 18 was at work so long; 19 1 id\nask: 17 opens\n";
    assert_eq!(run(&flushes("ms"), &lines), apart);
    // What is not a time says nothing.
    let mixed = rounds + "flush: 16 opens\nask: 17 opens; 18 1 id; 19 1 id\n";
    assert_eq!(run(&flushes(" rows"), &lines), mixed);
}

#[test]
fn what_calls_who_tells_the_time_comes_before_that() {
    let own = |i: usize| {
        let table = format!("table=posts_{i:04}");
        format!("{i}.0 - wrote {table}\n{i}.2 - flushed {table} took=200\n")
    };
    let lines = (0..5).map(own).collect::<String>() + &late();
    let apart = "flush: 11 opens; 13 was at work so long; 14 1 id\nasked: 12 opens\n";
    // The line is printed by the method itself that is asked.
    let mut model = flushes("ms");
    let ask = sketch::top(&model, "ask").index();
    model.top_level_methods[ask].method = "asked".to_owned();
    let asked = sketch::point(&model, "asked").index();
    model.log_points[asked].class = model.top_level_methods[ask].class.clone();
    assert!(run_by_names(&flushes("ms"), &model, &lines).ends_with(apart));
    // It has not been seen before the work.
    assert!(run(&flushes("ms"), &lines).ends_with("flush: 11 opens\nask: 12 opens; 13 1 id; 14 1 id\n"));
}

#[test]
fn what_began_with_the_work_is_over_some_time_after_it() {
    let flush = |i: usize| {
        let table = format!("table=users_{i:04}");
        format!("{i}.0 - wrote {table}\n{i}.1 - flushed {table} took=100\n{i}.7 - cleaned {table}\n")
    };
    let model = |unit: &str| {
        let mut model = sketch::model(
            "point wrote table=Table.name
             point flushed table=Table.name took=Took.time
             point cleaned table=Table.name
             top clean Task table=Table.name
               >cleaned
             top flush Task table=Table.name
               >wrote flushed
               flushed cleaned
               cleaned<",
        );
        let flushed = sketch::point(&model, "flushed").index();
        let regex = format!("flushed (.*?) in (-?[0-9]+){unit}");
        model.log_points[flushed].templates = vec![Template { regex, captures: vec![0, 1] }];
        model
    };
    let lines: String = (0..5).map(flush).collect();
    let each = |i: usize, text: fn([usize; 3]) -> String| text([3 * i + 1, 3 * i + 2, 3 * i + 3]);
    let apart = |i| each(i, |[a, b, c]| format!("flush: {a} opens; {b} 1 id\nclean: {c} 1 id\n"));
    assert_eq!(run(&model("ms"), &lines), (0..5).map(apart).collect::<String>());
    // What is no time ends nothing.
    let whole = |i| each(i, |[a, b, c]| format!("flush: {a} opens; {b} 1 id; {c} 1 id\n"));
    assert_eq!(run(&model(" rows"), &lines), (0..5).map(whole).collect::<String>());
}

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

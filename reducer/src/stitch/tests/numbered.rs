//! Numbers that stand for longer names.

use super::*;

/// Who gives out tasks prints numbers, who runs them names; nobody knows of the other.
const TASKS: &str = "
    point p
    point q
    top give Task
      >p
    top report Task name=Task.name
      >p
    top run Task name=Task.name
      >q
";

/// Every three seconds somebody prints a number, and somebody else works on what `name`
/// says of the number.
fn tasks(n: u64, number: impl Fn(u64) -> u64, name: impl Fn(u64) -> String) -> String {
    let task = |i: u64| {
        let second = 1000 + 3 * i;
        let (number, name) = (number(i), name(i));
        format!("a t1 give p@{second}.0#{number}\nb t2 run name={name} q@{second}.1\n")
    };
    (0..n).map(task).collect()
}

fn name(i: u64) -> String {
    format!("task_{}.0_of_9_{i}", i % 4)
}

fn joined(n: u64) -> String {
    (0..n).map(|i| format!("{a} {b} {a}>{b}\n", a = 2 * i + 1, b = 2 * i + 2)).collect()
}

fn alone(n: u64) -> String {
    (1..=n).map(|i| format!("{i}\n")).collect()
}

#[test]
fn a_number_stands_for_the_name_that_has_it() {
    check(TASKS, &tasks(18, |i| i, name), &joined(18));
    // Others count something else, and two names have one number.
    check(TASKS, &tasks(18, |i| i + 9, name), &alone(36));
    check(TASKS, &tasks(36, |i| i % 18, |i| format!("task_{i}.0_{}", i % 18)), &alone(72));
    // Too few.
    check(TASKS, &tasks(15, |i| i, name), &alone(30));
}

#[test]
fn a_number_beside_another_name_is_of_something_else() {
    let text = tasks(18, |i| i, name);
    let report = |(i, line): (usize, &str)| {
        let report = format!("report name={}", name((i as u64 / 2 + 5) % 18));
        line.replace("give", &report) + "\n"
    };
    let text: String = text.lines().enumerate().map(report).collect();
    check(TASKS, &text, &alone(36));
}

#[test]
fn a_part_of_a_name_is_none() {
    let mut model = sketch::model(&TASKS.replace("point p", "point p number=Task.number whole=Whole"));
    let give = sketch::point(&model, "p").index();
    check_model(&model, &tasks(18, |i| i, name), &joined(18));
    model.log_points[give].variables[1].parts = vec![0];
    check_model(&model, &tasks(18, |i| i, name), &alone(36));
}

#[test]
fn who_gives_out_several_is_of_all_of_them() {
    let two = |i: u64| {
        let (second, a, b) = (1000 + 3 * i, 2 * i, 2 * i + 1);
        format!(
            "a t1 give p@{second}.0#{a} p@{second}.01#{b}
             b t2 run name={} q@{second}.1
             b t3 run name={} q@{second}.2\n",
            name(a),
            name(b)
        )
    };
    let expected =
        |i: u64| format!("{a} {b} {c} {a}>{b} {a}>{c}\n", a = 3 * i + 1, b = 3 * i + 2, c = 3 * i + 3);
    let text: String = (0..9).map(two).collect();
    let expected: String = (0..9).map(expected).collect();
    check(TASKS, &text, &expected);
    // Who lists them later is of none.
    let list: String = (0..18).map(|i| format!("p@1100.0#{i} ")).collect();
    check(TASKS, &format!("{text}a t1 give {list}"), &(expected + "28\n"));
}

/// Two tasks each are of one request, and what is given out of every second pair is not found by
/// other means: beside the other name it stands for its own.
#[test]
fn a_request_can_have_several_names_and_lack_one() {
    let model = "
        point p
        point q
        top ask Task job=Job.id
          >p
        top give Task job=Job.id
          >p
        top run Task name=Task.name job=Job.id
          >q
        pair ask give Queue job=job many
        pair ask run Queue job=job many
    ";
    let job = |i: u64| {
        let (second, a, b) = (1000 + 10 * i, 2 * i, 2 * i + 1);
        let own = if i.is_multiple_of(2) { String::new() } else { format!("job={}", 50_000 + i) };
        format!(
            "a t0 ask job={job} {second}.0-{second}.1
             a t1 give job={job} p@{second}.2#{a}
             a t1 give job={job} p@{second}.3#{b}
             b t2 run name={} job={job} q@{second}.4
             b t3 run name={} {own} q@{second}.5\n",
            name(a),
            name(b),
            job = 50_000 + i,
        )
    };
    let text: String = (0..18).map(job).collect();
    let model = sketch::model(model);
    let outputs = outputs(&spans(&model, &text), |_, span| usize::from(&*span.node == "b"));
    let requests = reduce(&model, outputs, &Config::default());
    let sizes: Vec<usize> = requests.iter().map(|request| request.spans.len()).collect();
    assert_eq!(sizes, [5; 18]);
}

#[test]
fn a_text_of_several_lines_is_no_name() {
    let model = sketch::model(TASKS);
    let mut spans = spans(&model, &(tasks(18, |i| i, name) + "b t2 run name=failed q@1010.5"));
    let failed = spans.last_mut().expect("a span");
    failed.identifiers[0].text = format!("{}\nfailed", name(3)).into();
    let outputs = outputs(&spans, |_, span| usize::from(&*span.node == "b"));
    let requests = reduce(&model, outputs, &Config::default());
    assert_eq!(requests.len(), 19, "{}", print(&requests));
}

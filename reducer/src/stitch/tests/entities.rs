//! Entities and their events: what is done to one of them is one request.

use super::check;

#[test]
fn events_of_an_entity_are_one_request_for_as_long_as_it_lives() {
    check(
        "point p
         top handle Entity id=Id.n
           >p
         pair handle handle Queue id=id",
        "a d handle id=1 1.0-1.0
         a d handle id=2 1.1-1.1
         a d handle id=1 2.0-2.0
         a d handle id=1 200.0-200.0
         b d handle id=1 3.0-3.0",
        "1 3 4 1>3 3>4
         2
         5",
    );
}

/// Sixteen attempts, each of one job of four: a state machine gets its events
/// from a queue, a cleaner names the attempt without the model knowing, and a
/// heartbeat looks through all of them.
#[test]
fn what_is_done_to_one_entity_is_one_request_and_the_innermost_entity_counts() {
    let model = "point p
         top state Entity this.attempt=Attempt.id this.job=Job.id
           >p
         top clean Task other=Attempt.id
           >p
         top beat Task this.attempts[*]=Attempt.id
           >p
         pair state state Queue this.attempt=this.attempt";
    let mut text = String::new();
    let mut expected = String::new();
    for n in 0..16 {
        let (attempt, job) = (format!("attempt_{n:02}"), format!("job_{}", n / 4));
        let start = 100 * n;
        text += &format!(
            "a t state this.attempt={attempt} this.job={job} {start}-{start}
             b t clean other={attempt} {}-{}
             a t state this.attempt={attempt} this.job={job} {}-{}
             c t beat this.attempts[*]={attempt} {}-{}\n",
            start + 20,
            start + 20,
            start + 50,
            start + 51,
            start + 60,
            start + 61,
        );
        let line = 4 * n + 1;
        expected += &format!("{line} {} {} {line}>{} {line}>{}\n", line + 1, line + 2, line + 1, line + 2);
        expected += &format!("{}\n", line + 3);
    }
    check(model, &text, &expected);
}

/// A reader is about its file. The block that it reads at the moment is no part of what
/// it is, and what others do to blocks are requests of their own.
#[test]
fn what_an_entity_holds_is_not_its_name() {
    let model = "point p
         top seek Entity this.file=File.path this.block=Block.id
           >p
         top write Task block=Block.id
           >p
         top delete Task block=Block.id
           >p
         pair seek seek Queue this.file=this.file";
    let (mut text, mut expected) = (String::new(), String::new());
    for n in 0..16 {
        let start = 100 * n;
        text += &format!("a t write block=blk_{n:02} {start}-{start}\n");
        text += &format!("a t delete block=blk_{n:02} {}-{}\n", start + 50, start + 50);
        expected += &format!("{}\n{}\n", 2 * n + 1, 2 * n + 2);
    }
    check(model, &text, &expected);
}

/// A call has a name, and so has a file: they are not of one sort because of that.
#[test]
fn the_name_of_a_parameter_is_no_name_of_an_entity() {
    let all_is_one = |class: &str, is_one: bool| {
        let model = format!(
            "point p
             top call Entity this.name={class}
               >p
             top write Task name={class}
               >p
             top clean Task name={class}
               >p
             pair call call Queue this.name=this.name"
        );
        let (mut text, mut expected) = (String::new(), String::new());
        for n in 0..16 {
            let start = 100 * n;
            text += &format!("a t write name=file_{n:02} {start}-{start}\n");
            text += &format!("b t clean name=file_{n:02} {}-{}\n", start + 50, start + 50);
            let (one, two) = (2 * n + 1, 2 * n + 2);
            expected +=
                &if is_one { format!("{one} {two} {one}>{two}\n") } else { format!("{one}\n{two}\n") };
        }
        check(&model, &text, &expected);
    };
    all_is_one("Call.name", true);
    all_is_one("name:Ljava.lang.String;", false);
}

#[test]
fn an_event_that_names_nothing_of_its_entity_stays_apart() {
    let model = "point p
         top launch Task id=Attempt.id
           >p
         top state Entity this.id=Attempt.id
           >p
         pair launch state Queue id=this.id";
    check(
        model,
        "a t launch id=attempt_1 1.0-1.1
         a u state 1.101-1.2",
        "1\n2",
    );
}

/// The job of the process that was started for it says which tasks it has
/// completed, and not that it is the job.
#[test]
fn an_event_that_names_nothing_is_of_the_only_entity_of_its_kind() {
    let model = "point p
         top state Entity this.id=Job.id
           >p
         pair state state Queue this.id=this.id";
    check(
        model,
        "a d state this.id=job_0001 1.0-1.0
         a d state 5.0-5.0
         a d state this.id=job_0001 7.0-7.0
         a d state 9.0-9.0
         b d state 5.0-5.0",
        "1 2 3 4 1>2 1>3 3>4\n5",
    );
    // Of two of a kind it can be either.
    check(
        model,
        "a d state this.id=job_0001 1.0-1.0
         a d state 5.0-5.0
         a d state this.id=job_0001 7.0-7.0
         a d state this.id=job_0002 8.0-8.0",
        "1 3 1>3\n2\n4",
    );
    // One event that names it says nothing of others.
    check(model, "a d state this.id=job_0001 1.0-1.0\na d state 5.0-5.0", "1\n2");
}

/// A few jobs, each at work now and then: by what comes back so often nothing else is
/// joined, but events of one thing are its life.
#[test]
fn the_events_of_one_entity_are_one_request_however_often_it_is_silent() {
    check(
        "point p
         top state Entity this.id=Job.id arg0.id=Job.id
           >p
         pair state state Queue this.id=arg0.id",
        "a t state this.id=job_00001 0.0-0.0
         a t state this.id=job_00002 1.0-1.0
         a t state this.id=job_00001 10.0-10.0
         a t state this.id=job_00001 20.0-20.0
         a t state this.id=job_00001 30.0-30.0
         a t state this.id=job_00001 40.0-40.0
         a t state this.id=job_00001 90.0-90.0",
        "1 3 4 5 6 7 1>3 3>4 4>5 5>6 6>7
         2",
    );
}

#[test]
fn one_state_does_not_make_events_about_other_things_those_of_one_entity() {
    let model = "point p
         top serve Entity this.id=Request.id txn=Txn.id digest=Tree.digest
           >p
         pair serve serve Queue this.id=this.id";
    let spans = "a t serve txn=70001 digest=113571428152 1.0-1.0
         a t serve this.id=40001 txn=70002 digest=113571428152 1.1-1.1";
    check(model, spans, "1\n2");
    check(model, &spans.replace("70002", "70001"), "1 2 1>2");
}

/// Who sends an entity an event names it, where a thread shows what else is one work.
#[test]
fn time_alone_does_not_tell_who_sent_an_entity_an_event() {
    let model = "point p
         top kill Entity this.id=Task.id
           >p
         top node Entity this.id=Node.id
           >p
         pair kill node Queue";
    check(
        model,
        "a t kill this.id=task_00001 1.0-1.0
         a t node this.id=node_00001 1.1-1.1",
        "1
         2",
    );
    check(
        model,
        "a - kill this.id=task_00001 1.0-1.0
         a - node this.id=node_00001 1.1-1.1",
        "1 2 1>2",
    );
    // Without threads either, who prints only after it has been handled.
    check(
        model,
        "a - node this.id=node_00001 1.0-1.0
         a - kill this.id=task_00001 1.0-1.0",
        "1
         2",
    );
}

/// Sixteen attempts, each named after the one of four jobs that it was made for.
#[test]
fn what_is_done_for_what_a_thing_is_named_after_is_one_request() {
    let model = "point p
         top state Entity this.attempt=Attempt.id this.job=Job.id
           >p
         top done Entity this.job=Job.id
           >p
         top beat Task this.attempts[*]=Attempt.id job=Job.id
           >p
         top tell Task
           >p
         pair state state Queue this.attempt=this.attempt
         pair done done Queue this.job=this.job";
    let (mut text, mut expected) = (String::new(), String::new());
    for n in 0..16 {
        let (job, start) = (n / 4, 100 * n);
        text += &format!("a t state this.attempt=job_{job}0_{n:02} this.job=job_{job}0 {start}-{start}\n");
    }
    for job in 0..4 {
        text += &format!("b t done this.job=job_{job}0 {0}-{0}\n", 2000 + job);
        let line = 4 * job + 1;
        let [b, c, d, last] = [line + 1, line + 2, line + 3, 17 + job];
        expected += &format!("{line} {b} {c} {d} {last} {line}>{b} {b}>{c} {c}>{d} {d}>{last}\n");
    }
    check(model, &text, &expected);
    // Who looks through the parts works on none of the wholes.
    let beat = "c t beat this.attempts[*]=job_00_01 job=job_00 3000-3000";
    check(model, &format!("{text}{beat}"), &format!("{expected}21\n"));
    // An event that names what it is about is found by that name, not by the time.
    let told = format!("{text}b - tell 3000-3000\nb - done this.job=job_00 3000.1-3000.1");
    let with_it = expected.replacen("17 1>2 2>3 3>4 4>17", "17 22 1>2 2>3 3>4 4>17 17>22", 1);
    check(&format!("{model}\npair tell done Queue"), &told, &format!("{with_it}21\n"));
}

/// Sixteen attempts of four jobs, each job on a node of its own, and what happens to one
/// of the nodes: it is its life, and that of the job which is at work there. What happens
/// to a node that two jobs run on is a request each time.
#[test]
fn what_several_requests_run_on_is_of_none_of_them() {
    let model = "point p
         top state Entity this.attempt=Attempt.id this.job=Job.id node=Node.id
           >p
         top done Entity this.job=Job.id
           >p
         top node Entity this.node=Node.id arg0.node=Node.id
           >p
         pair state state Queue this.attempt=this.attempt
         pair done done Queue this.job=this.job
         pair node node Queue this.node=arg0.node";
    let (mut text, mut others) = (String::new(), String::new());
    for n in 0..16 {
        let (job, start) = (n / 4, 100 * n);
        text += &format!(
            "a t state this.attempt=job_{job}0_{n:02} this.job=job_{job}0 node=host_{} {start}-{start}\n",
            10 * (job + 1),
        );
    }
    for line in [5, 9, 13] {
        let [b, c, d] = [line + 1, line + 2, line + 3];
        others += &format!("{line} {b} {c} {d} {line}>{b} {b}>{c} {c}>{d}\n");
    }
    let lives = format!("{text}a t node this.node=host_10 3000-3000\na t node this.node=host_10 4000-4000");
    let first = "1 2 3 4 1>2 2>3 3>4";
    check(model, &lives, &format!("{first}\n{others}17 18 17>18"));
    check(model, &lives.replace("host_20", "host_10"), &format!("{first}\n{others}17\n18"));
    let sent = format!("{model}\npair state node Queue node=this.node");
    let work = format!(
        "{text}a t state this.attempt=job_00_00 this.job=job_00 3000-3001\na n node this.node=host_10 3000.5-3000.5"
    );
    let with_it = "1 2 3 4 17 18 1>2 1>17 2>3 3>4 17>18";
    check(&sent, &work, &format!("{with_it}\n{others}"));
    let without = "1 2 3 4 17 1>2 1>17 2>3 3>4";
    check(&sent, &work.replace("host_20", "host_10"), &format!("{without}\n{others}18"));
}

/// Sixteen units, each named in a list that somebody has filled, or in the path of a file
/// that somebody deletes.
#[test]
fn who_has_only_found_the_name_of_an_entity_works_on_none() {
    let model = "point p
         point list text=List.text
         top state Entity this.id=Unit.id
           >p
         top round DispatchTarget
           >list
         top clean Task this.path=List.text
           >list
         top name Task id=Unit.id
           >list
         pair state state Queue this.id=this.id";
    let (mut text, mut found, mut worked) = (String::new(), String::new(), String::new());
    for n in 0..16 {
        let (id, start) = (format!("1700000000/{n}/1"), 100 * n);
        text += &format!(
            "a t state this.id={id} {start}-{start}
             a t state this.id={id} {0}-{0}
             b r round|name id={id} list@{1}#unit_1700000000_{n:04}_01\n",
            start + 20,
            start + 40,
        );
        let [a, b, c] = [3 * n + 1, 3 * n + 2, 3 * n + 3];
        found += &format!("{a} {b} {a}>{b}\n{c}\n");
        worked += &format!("{a} {b} {c} {a}>{b} {b}>{c}\n");
    }
    check(model, &text, &found);
    check(model, &text.replace("round|name", "clean|name"), &worked);
    check(model, &text.replace("round|name", "name"), &worked);
}

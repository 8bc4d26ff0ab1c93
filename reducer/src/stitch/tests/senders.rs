//! Who of several senders it was: threads, names of threads, order, time.

use super::*;

#[test]
fn a_caller_in_the_same_thread_is_surer_than_who_knows_more() {
    // What another thread prints later names the session too.
    check(
        "point p
         top accept Task peer=Socket.peer
           >p
         top serve Task peer=Socket.peer session=Session.id
           >p
         top settle Task peer=Socket.peer session=Session.id
           >p
         pair accept serve Call peer=peer
         pair settle serve Queue peer=peer session=session",
        "a t1 accept peer=/10.0.0.1:5001 1.0-1.0
         a t1 serve peer=/10.0.0.1:5001 session=70001 1.0-1.0
         a t2 settle peer=/10.0.0.1:5001 session=70001 1.003-1.003",
        "1 2 1>2
         3",
    );
}

#[test]
fn a_caller_that_began_anew_is_not_who_called() {
    // The folder is that of all rounds, and only the first shows it.
    let model = "
        point p
        point q
        top turn Task folder=Folder.path
          >p
        top make Task folder=Folder.path
          >q
        pair turn make Call folder=folder";
    check(
        model,
        "a t1 turn folder=/data/v2 p@1.0
         a t1 turn p@9.0
         a t1 make folder=/data/v2 q@9.1",
        "1
         2 3 2>3",
    );
}

#[test]
fn a_thread_named_after_what_it_works_on_belongs_to_whoever_works_on_it() {
    let model = "point p
         top open Task region=Region.name
           >p
         top load Task
           >p
         pair open load Thread";
    check(
        model,
        "a w1 open region=users,1f29ab30 1.0-2.0
         a w2 open region=users,77c0de11 1.001-2.0
         a loader-users,77c0de11.-1 load 1.1-1.2
         a loader-users,1f29ab30.-1 load 1.101-1.2",
        "1 4 1>4
         2 3 2>3",
    );
}

#[test]
fn who_started_a_thread_that_goes_round_by_itself_waits() {
    let model = "point p
         top start Task server=Server.name?
           >p
         top work IdentifierLoss path=Task.path
           >p
         pair start work Thread many";
    let started = "a main start server=host,39713,1795 p@1.0 p@2.0 p@60.0\n";
    // What it does first is of who started it.
    check(model, &format!("{started}a worker work path=/tasks/1 2.5-2.6"), "1 2 1>2");
    check(model, &format!("{started}a worker work path=/tasks/1 30.0-30.1"), "1\n2");
    // The thread is named after the server that it is of.
    let named = "a worker-host,39713,1795 work path=/tasks/1 30.0-30.1";
    check(model, &format!("{started}{named}"), "1\n2");
    // A task is handed over at any time.
    let task = model.replace("IdentifierLoss", "Task");
    check(&task, &format!("{started}{named}"), "1 2 1>2");
}

#[test]
fn who_starts_after_a_receiver_does_not_crowd_out_its_sender() {
    let model = "point p
         top ask Task name=Table.name?
           >p
         top flush Task name=Table.name?
           >p
         pair ask flush Thread name=name";
    let mut text = "a t ask name=table_0 1.000-1.000
         a w1 flush name=table_0 1.005-1.100\n"
        .to_owned();
    let mut expected = "1 2 1>2\n".to_owned();
    for n in 0..30 {
        text += &format!("a u ask name=other_{n} 1.{:03}-1.{:03}\n", 200 + n, 200 + n);
        expected += &format!("{}\n", n + 3);
    }
    check(model, &text, &expected);
}

/// A region is opened and, long after, closed: the closing task fits both senders'
/// receivers, the opening one even better, but only the closing one was just asked.
#[test]
fn what_was_handed_over_long_ago_was_handed_over_by_somebody_else() {
    let model = "point p
         top asked_open RpcHandler region=Region.name
           >p
         top asked_close RpcHandler region=Region.name
           >p
         top open Task region=Region.name
           >p
         top close Task region=Region.name
           >p
         pair asked_open open Thread region=region
         pair asked_close close Thread region=region";
    check(
        model,
        "a t asked_open region=users_17 1.000-1.001
         a u asked_close region=users_17 14.000-14.001
         a w open|close region=users_17 14.010-14.100",
        "1\n2 3 2>3",
    );
}

/// A task that closes prints what a task that opens can print too, and the helper that
/// it starts is one of both: who asked for it decides.
#[test]
fn a_link_that_two_could_have_made_leaves_open_which_of_them_it_was() {
    let model = "point p
         top asked RpcHandler region=Region.name
           >p
         top open Task region=Region.name
           >p
         top close Task region=Region.name
           >p
         top store Task region=Region.name
           >p
         pair asked close Thread region=region
         pair open store Thread region=region
         pair close store Thread region=region";
    check(
        model,
        "a t asked region=users_17 1.000-1.001
         a w open|close region=users_17 1.010-1.100
         a v store region=users_17 1.050-1.060",
        "1 2 3 1>2 2>3",
    );
}

#[test]
fn who_is_at_work_while_one_sender_is_belongs_to_it() {
    let model = "point p
         top session Task plan=Plan.id
           >p
         top store Task plan=Plan.id
           >p
         pair session store Thread plan=plan many";
    let spans = |stored: f64| {
        let round = |n: u32| {
            let at = f64::from(n) * 100.0;
            format!(
                "a t session plan=plan_1{n:04} {at:.1}-{:.1}\na t session plan=plan_2{n:04} {:.1}-{:.1}\n",
                at + 0.8,
                at + 0.6,
                at + 1.2
            ) + &format!("a w store {:.1}-{:.1}\n", at + stored, at + stored + 0.2)
        };
        (0..20).map(round).collect::<String>()
    };
    let inside = |n: u32| format!("{} {} {0}>{1}\n{}\n", 3 * n + 1, 3 * n + 3, 3 * n + 2);
    check(model, &spans(0.3), &(0..20).map(inside).collect::<String>());
    // Begun while one sender is at work, and ended when it is through: none waits.
    let apart = |n: u32| format!("{}\n{}\n{}\n", 3 * n + 1, 3 * n + 2, 3 * n + 3);
    check(model, &spans(1.1), &(0..20).map(apart).collect::<String>());
}

/// Two threads begin alike and show the name of their process.
#[test]
fn who_calls_itself_does_so_in_its_thread() {
    let model = "point p
                 top connect Task process=Process.name
                   >p
                 pair connect connect Call process=process";
    check(model, "a t connect process=7866@node 1.0-1.1\na t connect process=7866@node 2.0-2.1", "1 2 1>2");
    check(model, "a t connect process=7866@node 1.0-1.1\na w connect process=7866@node 2.0-2.1", "1\n2");
    let entity = model.replace("Task", "Entity");
    check(&entity, "a t connect process=7866@node 1.0-1.1\na w connect process=7866@node 2.0-2.1", "1 2 1>2");
}

/// Everybody runs on the only host that there is: it joins no others' tasks.
#[test]
fn the_only_one_of_its_kind_joins_nobody_who_names_other_things() {
    let model = "point p
         top start Task task=Task.id host=Task.host job=Job.id
           >p
         top end Task task=Task.id host=Task.host job=Job.id
           >p
         pair start end Queue job=job";
    let spans = "a t start task=task_0001 host=worker 1.00-1.00
         a w end task=task_0002 host=worker 1.01-1.01";
    check(model, spans, "1\n2");
    let hosts = format!("{spans}\na v start task=task_0003 host=other 9.00-9.00");
    check(model, &hosts, "1 2 1>2\n3");
    let same = spans.replace("task_0002", "task_0001");
    check(model, &same, "1 2 1>2");
}

/// Twenty hand-offs at once, and one that takes its time.
#[test]
fn a_late_hand_off_of_what_nobody_else_names_is_one() {
    let model = "point p
         top write Task block=Block.id peer=Socket.peer?
           >p
         top respond Task block=Block.id peer=Socket.peer?
           >p
         top check Task block=Block.id peer=Socket.peer?
           >p
         pair write respond Thread block=block peer=peer";
    let quick = |i: usize| {
        let (block, t) = (format!("block_10{i:02}"), i * 10);
        format!(
            "a - write block={block} peer=/10.0.0.1:50{i:02} {t}.0-{t}.0
             a - respond block={block} peer=/10.0.0.1:50{i:02} {t}.001-{t}.002\n"
        )
    };
    // Blocks and connections come back: they are no requests.
    let back = "a - check block=block_1001 peer=/10.0.0.1:5001 290.0-290.0
         a - check block=block_1002 peer=/10.0.0.1:5002 291.0-291.0\n";
    let quick = (1..=20).map(quick).collect::<String>() + back;
    let known: String = (0..20).map(|i| format!("{0} {1} {0}>{1}\n", 2 * i + 1, 2 * i + 2)).collect();
    let late = "a - write block=block_2001 peer=/10.0.0.1:6001 300.0-300.0
         a - respond block=block_2001 peer=/10.0.0.1:6001 300.5-300.6\n";
    check(model, &(quick.clone() + late), &(known.clone() + "41\n42\n43 44 43>44\n"));
    // Others work on the block, on other connections, and one comes back.
    let others = "a - write block=block_2001 peer=/10.0.0.1:6001 400.0-400.0\n";
    check(model, &(quick + late + others), &(known + "41\n42\n43\n44\n45\n"));
}

/// A region is opened because it was asked for, and then deployed; whoever deploys it can
/// have opened it too.
#[test]
fn without_threads_who_hands_over_begins_before_whom_he_hands_over_to() {
    check(
        "point p
         top ask RpcHandler region=Region.name
           >p<
         top open Task region=Region.name
           >p<
         top deploy Task region=Region.name
           >p<
         pair ask open Thread region=region
         pair deploy open Thread region=region",
        "a - ask region=users_1 1.053-1.053
         a - open region=users_1 1.110-1.110
         a - deploy region=users_1 1.112-1.123",
        "1 2 1>2
         3",
    );
}

/// A task has one responder, of which two lines were seen apart.
#[test]
fn without_threads_one_receiver_can_be_seen_in_parts() {
    let model = "point p
         point q
         top write RpcHandler block=Block.id
           >p<
         top respond Task block=Block.id
           >p q
           >q<
         pair write respond Thread block=block";
    check(
        model,
        "a - write block=block_70001 1.0-1.0
         a - respond block=block_70001 p@1.1
         a - respond block=block_70001 q@1.2",
        "1 2 3 1>2 1>3",
    );
    // Twice the same is two of them.
    check(
        model,
        "a - write block=block_70001 1.0-1.0
         a - respond block=block_70001 p@1.1
         a - respond block=block_70001 p@1.2",
        "1 2 1>2
         3",
    );
}

#[test]
fn what_begins_as_a_call_does_is_not_the_middle_of_who_calls() {
    let model = "point begun
         point p
         top find RpcHandler file=File.path
           >p
         top check EventHandler file=File.path
           >begun p
           p
         top add RpcHandler file=File.path
           >p
         pair check add Rpc file=file many";
    check(
        model,
        "a h1 find|check file=/files/1 p@1.0
         a h2 add file=/files/1 1.1-1.1",
        "1
         2",
    );
    check(
        model,
        "a h1 check file=/files/1 begun@0.9 p@1.0
         a h2 add file=/files/1 1.1-1.1",
        "1 2 1>2",
    );
}

/// A server's number is in what it says of each of its regions.
#[test]
fn who_names_several_of_what_it_hands_over_has_handed_over_no_other() {
    let model = "point p
         top split Task region=Region.name server=Server.code
           >p
         top opened Task region=Region.name server=Server.code
           >p
         pair split opened Store region=region";
    let spans = |regions: &str, opened: &str| {
        format!(
            "a t split {regions} server=1795256950857 1.0-2.0
             b w opened region={opened} server=1795256950857 1.5-1.5"
        )
    };
    check(model, &spans("region=users,a region=users,m", "books,a"), "1\n2");
    check(model, &spans("region=users,a region=users,m", "users,m"), "1 2 1>2");
    // Unless they have something else in common that is handed over.
    let model = &model
        .replace("server=Server.code\n", "server=Server.code job=Job.id\n")
        .replace("region=region", "region=region job=job");
    let job = "job=job_10017";
    let spans = spans(&format!("region=users,a region=users,m {job}"), &format!("books,a {job}"));
    check(model, &spans, "1 2 1>2");
}

/// A task that starts another one of its kind hands over as to anybody else; the events of
/// an entity are of one life, however far apart they are.
#[test]
fn who_starts_its_like_hands_over_at_once() {
    let model = |kind: &str| {
        format!(
            "point p
             top run {kind} job=Job.id root=Root.id?
               >p
             pair run run Thread job=job many"
        )
    };
    let text = "a - run job=10f01 1.0-1.1
                a - run job=10f01 1.11-1.2
                a - run job=10f01 40.0-40.1";
    check(&model("Task"), text, "1 2 1>2\n3");
    check(&model("Entity"), text, "1 2 3 1>2 2>3");
    // What both were set up with says nothing.
    let text = "a - run root=files 1.0-1.1\na - run root=files 1.11-1.2";
    check(&model("Task"), text, "1\n2");
}

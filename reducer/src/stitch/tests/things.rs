//! Requests by the things that they work on: entities and their events, connections,
//! lasting things, parts and wholes, ways past what prints nothing.

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

#[test]
fn a_dispatcher_never_joins_what_it_dispatches() {
    check(
        "point p
         top loop Dispatcher
           >p
         top serve DispatchTarget id=Id.n
           >p
         pair loop serve Call many",
        "a t1 loop 1.0-5.0
         a t2 loop 1.1-5.0
         a t1 serve id=1 2.0-2.1
         a t2 serve id=2 2.0-2.1
         a t1 serve id=3 3.0-3.1",
        "1
         2
         3
         4
         5",
    );
}

#[test]
fn what_carries_a_connection_is_one_request_on_all_nodes() {
    check(
        "point p
         top accept Dispatcher peer=Socket.peer
           >p
         top serve Entity peer=Socket.peer session=Session.id
           >p
         top close Task peer=Conn.address session=Request.session
           >p
         pair serve serve Entity many
         pair serve close Entity many
         pair close serve Entity many
         pair close close Entity many",
        "a - serve peer=/10.0.0.1:5001 session=70001 1.0-1.1
         b - serve peer=/10.0.0.1:5001 session=70002 2.0-2.1
         c - close session=70001 90.0-90.0
         a - accept peer=/10.0.0.1:5001 100.0-100.0
         a - serve peer=/10.0.0.1:5001 session=70003 100.1-100.1
         a - close peer=/10.0.0.1:5001 101.0-101.0",
        "1 3 1>3
         2
         4
         5 6 5>6",
    );
}

#[test]
fn of_two_parts_of_a_connection_at_one_time_one_comes_first() {
    // The second and third share more than the first has with either.
    check(
        "point p
         top serve Entity peer=Socket.peer session=Session.id
           >p
         top close Task peer=Conn.address session=Request.session
           >p
         pair serve serve Entity many
         pair serve close Entity many
         pair close serve Entity many
         pair close close Entity many",
        "a - serve peer=/10.0.0.1:5001 1.0-1.0
         a - serve peer=/10.0.0.1:5001 session=70001 1.002-1.002
         a - close session=70001 1.002-1.002",
        "1 2 3 1>2 2>3",
    );
}

#[test]
fn who_meets_several_connections_works_on_none() {
    check(
        "point p
         top serve Entity peer=Socket.peer session=Session.id
           >p
         top stop Task peer=Socket.peer
           >p
         pair serve serve Entity many
         pair serve stop Entity many",
        "a - serve peer=/10.0.0.1:5001 1.0-1.0
         a - serve peer=/10.0.0.1:5002 2.0-2.0
         a - stop peer=/10.0.0.1:5001 peer=/10.0.0.1:5002 3.0-3.0",
        "1
         2
         3",
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

#[test]
fn what_is_handed_a_lasting_thing_serves_it_and_not_who_named_it() {
    let model = |knows: &str| {
        format!(
            "point p
             top flush Task table=Table.name? position=Position.n
               >p
             top compact Task table=Table.name? {knows}
               >p
             pair flush compact Thread table=table"
        )
    };
    let spans = "a t flush table=table_users position=70001 1.0-1.1
         a w compact table=table_users 1.101-1.2";
    check(&model(""), spans, "1\n2");
    check(&model("task=Task.id"), spans, "1 2 1>2");
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

#[test]
fn requests_go_on_past_what_prints_nothing() {
    let model = "point p
         top ask RpcHandler region=Region.name
           >p
         top relay Task region=Region.name
           >p
         top serve RpcHandler region=Region.name
           >p
         pair ask relay Thread region=region
         pair relay serve Rpc region=region";
    let spans = "a t ask region=users_17 1.000-1.001
         b w serve region=users_17 1.010-1.100
         b w serve region=users_18 1.010-1.100";
    check(model, spans, "1 2 1>2\n3");
    // What relays shows: then it would have shown here too.
    let shown = format!("{spans}\n a r relay region=users_99 2.000-2.002");
    check(model, &shown, "1\n2\n3\n4");
}

/// Who is asked to save a store leaves the task in a list of such, which starts it; the
/// task names the store by what describes it.
#[test]
fn a_task_that_only_a_silent_one_starts_is_of_who_names_the_same() {
    let model = "point p
         top save DispatchTarget store=Store.name?
           >p
         top collect Task store=Store.name
           >p
         top write Task store=Table.name?
           >p
         pair save collect Thread store=store many
         pair collect write Thread many";
    let spans = "a t save store=orders 1.0-1.0
         a u save store=suppliers 1.1-1.1
         a v save store=customers 1.2-1.2
         a w write store=suppliers 1.5-1.5
         a w write store=orders 1.6-1.6
         a x write store=customers 1.7-1.7
         b x write store=orders 1.8-1.8
         a x write store=orders 31.0-31.0";
    let apart: String = (1..=8).map(|i| format!("{i}\n")).collect();
    check(model, spans, "1 5 1>5\n2 4 2>4\n3 6 3>6\n7\n8");
    // What starts it shows: then it would have shown here too.
    let shown = format!("{spans}\na y collect store=accounts 90.0-90.0");
    check(model, &shown, &format!("{apart}9"));
    // Others start it as well.
    let others = format!("{model}\ntop load Task\n  >p\npair load write Thread");
    check(&others, spans, &apart);
}

#[test]
fn the_name_of_a_part_contains_that_of_the_whole() {
    let model = "point p
         top close_all Task table=Table.name
           >p
         top relay Task region=Region.name
           >p
         top close RpcHandler region=Region.name
           >p
         pair close_all relay Thread many
         pair relay close Rpc region=region";
    check(
        model,
        "a t close_all table=customers 1.000-2.000
         b u close region=customers,17 1.100-1.200
         c v close region=customers,18 1.100-1.200
         d w close region=customers2,17 1.100-1.200
         e w close region=customers,19 3.100-3.200",
        "1 2 3 1>2 1>3\n4\n5",
    );
}

/// An application is done and sends an event; its handler prints nothing and has
/// the application's files deleted.
#[test]
fn a_task_is_of_the_entity_that_it_names_although_a_silent_handler_started_it() {
    let model = "point p
         top state Entity this.app=App.id
           >p
         top clear EventHandler app=App.id
           >p
         top delete Task file=App.id
           >p
         pair state state Queue this.app=this.app
         pair state clear Queue this.app=app";
    let spans = "a t state this.app=app_0001 1.00-1.00
         a w delete file=app_0001 1.01-1.01
         a t state this.app=app_0002 2.00-2.00
         a w delete file=app_0003 2.05-2.05
         b w delete file=app_0002 2.06-2.06
         a w delete file=app_0002 5.00-5.00";
    check(&format!("{model}\npair clear delete Thread"), spans, "1 2 1>2\n3\n4\n5\n6");
    check(model, spans, "1\n2\n3\n4\n5\n6");
}

/// Who stores is handed the name of a lasting thing by one and nothing by the other:
/// the link says not which of them it was.
#[test]
fn who_serves_leaves_open_whom_it_serves() {
    let model = "point p
         top asked RpcHandler region=Region.name
           >p
         top open Task region=Region.name
           >p
         top close Task region=Region.name
           >p
         top store Task region=Region.name?
           >p
         pair asked close Thread region=region
         pair open store Thread region=region
         pair close store Thread";
    check(
        model,
        "a t asked region=users_17 1.000-1.001
         a w open|close region=users_17 1.010-1.100
         a v store region=users_17 1.050-1.060",
        "1 2 3 1>2 2>3",
    );
}

#[test]
fn who_has_looked_for_what_a_task_names_has_handed_it_over() {
    // All handlers look something up; what they print tells nothing of which it is.
    let others: String = (0..9).map(|i| format!("top ask{i} RpcHandler\n  >p\n")).collect();
    let model = format!(
        "point p
         {others}
         top change Task table=Table.name
           >p
         pair ask8 change Thread table=table"
    );
    let tops: Vec<String> = (0..9).map(|i| format!("ask{i}")).collect();
    let tops = tops.join("|");
    let spans = format!(
        "a t {tops} p@1.000#invoices_3,,
         a u {tops} p@1.050#orders_17,,
         a v {tops} p@1.060#orders_175,,
         a w change table=orders_17 1.100-1.200"
    );
    check(&model.replace("Thread table=table", "Thread"), &spans, "1\n2 4 2>4\n3");
}

#[test]
fn a_task_for_each_part_is_of_who_works_on_the_whole() {
    let model = "point p
         top close_all Task table=Table.name region[*]=Region.name
           >p
         top close Task region=Region.name
           >p
         pair close_all close Thread region[*]=region many";
    // That it looked into a list of others makes no difference.
    check(
        model,
        "a t close_all table=customers region[*]=meta_1 1.000-2.000
         a s close_all table=suppliers 1.000-2.000
         a u close region=customers,17 1.100-1.200
         a v close region=customers,18 1.100-1.200
         a w close region=suppliers,17 1.100-1.200",
        "1 3 4 1>3 1>4\n2 5 2>5",
    );
    // Who names one of its own parts would name this one.
    check(
        model,
        "a t close_all table=customers region[*]=customers,16 1.000-2.000
         a u close region=customers,17 1.100-1.200",
        "1\n2",
    );
}

#[test]
fn what_is_called_again_at_once_for_one_thing_was_called_by_one() {
    let model = "point p
         top request DispatchTarget region=Region.name? time=Request.time
           >p
         top loop Dispatcher
           >p";
    let spans = "a t request region=users_17 time=100001 1.000-1.001
         a t request region=users_17 time=100002 1.003-1.004
         a t request region=users_18 time=100003 1.006-1.007
         a t request region=users_18 time=100004 2.000-2.001
         a u request region=users_18 time=100005 2.001-2.002";
    check(model, spans, "1 2 1>2\n3\n4\n5");
    // The rounds of a dispatcher are requests each.
    check(&format!("{model}\npair loop request Call many"), spans, "1\n2\n3\n4\n5");
}

#[test]
fn a_thing_that_lives_on_is_meant_by_who_is_at_work_on_it() {
    let model = "point p
         top close Task region=Region.name?
           >p
         top handle Task region=Region.name?
           >p
         pair close handle Socket region=region";
    let region = "84bcc03bbd6d793920d26083ac062e01";
    // It comes back again and again.
    let lives: String = (0..6).map(|i| format!("c v close region={region} {0}-{0}\n", 10 * i)).collect();
    let (alone, at): (String, u32) = ((1..=6).map(|i| format!("{i}\n")).collect(), 100);
    let at_work =
        format!("{lives}a t close region={region} {at}-{at}.5\nb u handle region={region} {at}.4-{at}.5");
    check(model, &at_work, &format!("{alone}7 8 7>8"));
    let later =
        format!("{lives}a t close region={region} {at}-{at}.5\nb u handle region={region} {at}.9-{at}.9");
    check(model, &later, &format!("{alone}7\n8"));
}

#[test]
fn what_is_handed_on_is_meant_by_who_is_at_work_on_it_however_often_it_comes_back() {
    let model = "point p
         top transfer Task block=Block.id
           >p
         top write Task block=Block.id
           >p
         pair transfer write Socket block=block";
    // It is read, copied and deleted in the course of its life.
    let lives = |block: &str| {
        (0..6).map(|i| format!("c v write block={block} {0}-{0}\n", 10 * i)).collect::<String>()
    };
    let alone: String = (1..=6).map(|i| format!("{i}\n")).collect();
    let with = |block: &str, at: &str| {
        format!("{}a t transfer block={block} 100-100.5\nb u write block={block} {at}-101", lives(block))
    };
    check(model, &with("block_1073", "100.4"), &format!("{alone}7 8 7>8"));
    // It prints only what it has done, a moment later.
    check(model, &with("block_1073", "99.95"), &format!("{alone}8 7 7>8"));
    check(model, &with("block_1073", "99.8"), &format!("{alone}8\n7"));
    check(model, &with("block_1073", "100.9"), &format!("{alone}7\n8"));
    // A name that was set up is everybody's, and past others nobody hands over.
    check(model, &with("users", "100.4"), &format!("{alone}7\n8"));
}

#[test]
fn who_is_called_from_afar_is_of_who_names_the_same_and_waits() {
    // What the call carries came out of the answer to another one: no map tells of it.
    let model = "point p
         top recover Task block=Block.id?
           >p
         top update RpcHandler block=Block.id?
           >p
         pair recover update Rpc";
    let lives: String = (0..40).map(|i| format!("c v update block=block_1073 {0}-{0}\n", 10 * i)).collect();
    let alone: String = (1..=40).map(|i| format!("{i}\n")).collect();
    let with = |at: &str| {
        format!("{lives}a t recover block=block_1073 500-500.5\nb u update block=block_1073 {at}-501")
    };
    check(model, &with("500.4"), &format!("{alone}41 42 41>42"));
    // It does not wait any longer; and nobody waits for what is written to a socket.
    check(model, &with("500.9"), &format!("{alone}41\n42"));
    let written = model.replace("recover update Rpc", "recover update Socket");
    check(&written, &with("500.4"), &format!("{alone}41\n42"));
}

#[test]
fn what_cannot_follow_is_no_rest() {
    let model = "point p
         point a
         point b
         point c
         point d
         top write Task peer=Peer.address
           >a b
           b c
           c d
           d<";
    let spans = |rest: &str| {
        format!(
            "a - write peer=10.0.0.17:8020 b@1.0 c@1.1 cut
             a - write peer=10.0.0.17:8020 {rest}@2.0"
        )
    };
    check(model, &spans("d"), "1 2 1>2");
    check(model, &spans("b"), "1\n2");
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

/// What a dispatcher prints after it has called who works on a thing, of that very thing,
/// is of the call.
#[test]
fn a_line_of_a_round_is_of_who_was_called_in_it() {
    let model = "point p
         top loop Dispatcher id=Id.n
           >p
         top serve DispatchTarget id=Id.n
           >p
         pair loop serve Call many id=id";
    check(
        model,
        "a t serve id=task_10001 1.0-1.0
         a t loop id=task_10001 p@1.3
         a t serve id=task_10002 2.0-2.0
         a t loop id=task_10003 p@2.3
         a t serve id=task_10004 3.0-3.0
         a t loop id=task_10004 p@3.3 p@4.3",
        "1 2 2>1
         3
         4
         5
         6",
    );
}

#[test]
fn a_number_that_one_leaves_behind_and_the_next_one_finds_tells_nothing() {
    let model = |sum: &str, digest: &str| {
        format!(
            "point p
             top change Task sum=Hash.{sum}
               >p
             top find Task digest=Digest.{digest}
               >p
             pair change find Queue"
        )
    };
    let (mut text, mut together, mut apart) = (String::new(), String::new(), String::new());
    for i in 0..4 {
        text += &format!(
            "a t change sum=864{i:02}135 {i}00.0-{i}00.0
             a t change sum=975{i:02}246 {i}00.0-{i}00.0
             a u find digest=864{i:02}135 {i}20.0-{i}20.0\n"
        );
        let line = 3 * i + 1;
        together += &format!("{line} {0} {line}>{0}\n{1}\n", line + 2, line + 1);
        apart += &format!("{line}\n{}\n{}\n", line + 1, line + 2);
    }
    check(&model("value", "value"), &text, &together);
    check(&model("value?", "value"), &text, &apart);
    check(&model("value", "value?"), &text, &apart);
    check(&model("value?", "value"), &text.replace("=864", "=-864"), &apart);
}

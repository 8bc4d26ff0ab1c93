//! Requests by the things that they work on: connections, lasting things, parts and
//! wholes, ways past what prints nothing.

use schema::sketch;

use super::{check, check_model};

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
fn two_that_name_two_connections_share_only_what_outlives_them() {
    let model = |names: &str| {
        format!(
            "point p
             top serve Entity peer=Socket.peer session=Session.id path=File.path
               >p
             pair serve serve Entity {names} many"
        )
    };
    let spans = "a - serve session=s_70001 path=/files/n1 1.0-1.0
         a - serve session=s_70002 path=/files/n1 2.0-2.0
         a - serve session=s_70002 path=/files/n2 3.0-3.0";
    check(&model("session=session"), spans, "1\n2 3 2>3");
    // What tells connections apart is not known.
    check(&model(""), spans, "1 2 3 1>2 2>3");
    // One name of its own is enough, whatever else it is called.
    let moved = "a - serve session=s_70001 peer=/10.0.0.1:5001 1.0-1.0
         a - serve session=s_70001 peer=/10.0.0.1:5002 2.0-2.0";
    check(&model("peer=peer session=session"), moved, "1 2 1>2");
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

/// A thread that has work waiting takes the next call at once: that both are about one thing
/// does not say that one caller made them.
#[test]
fn what_is_called_again_at_once_is_a_call_of_its_own() {
    let model = "point p
         top request DispatchTarget region=Region.name? time=Request.time
           >p";
    let spans = "a t request region=users_17 time=100001 1.000-1.001
         a t request region=users_17 time=100002 1.003-1.004
         a t request region=users_18 time=100003 1.006-1.007
         a t request region=users_18 time=100004 2.000-2.001
         a u request region=users_18 time=100005 2.001-2.002";
    check(model, spans, "1\n2\n3\n4\n5");
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

#[test]
fn before_its_rounds_a_dispatcher_works_on_no_object_that_it_hands_out() {
    let mut model = sketch::model(
        "point synced zxid=Header.zxid
         point committed zxid=Header.zxid
         point p
         top follow Dispatcher zxid=Header.zxid
           >synced
           >committed
         top apply Task zxid=Header.zxid
           >p
         pair follow apply Entity many",
    );
    let spans = "a t follow zxid=0x1000000b2 synced@1.0
         a t follow zxid=0x1000000b2 committed@1.1
         a u apply zxid=0x1000000b2 p@1.2";
    model.top_level_methods[0].outside_rounds = vec![sketch::point(&model, "synced")];
    check_model(&model, spans, "1\n2 3 2>3");
}

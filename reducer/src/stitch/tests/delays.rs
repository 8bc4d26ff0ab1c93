//! Hand-offs that take longer than such hand-offs do.

use super::*;

/// Blocks come back: they are no requests.
fn back() -> String {
    (1..=9).map(|i| format!("a - check block=block_100{i} 29{i}.0-29{i}.0\n")).collect()
}

/// Twenty hand-offs, and what came back.
fn known() -> String {
    let handed: String = (0..20).map(|i| format!("{0} {1} {0}>{1}\n", 2 * i + 1, 2 * i + 2)).collect();
    handed + &(41..50).map(|line| format!("{line}\n")).collect::<String>()
}

/// Two that can have a block sent.
const STARTERS: &str = "point p
         point q
         point r
         point s
         top order Task block=Block.id
           >q
         top offer Task block=Block.id
           >s
         top send Task block=Block.id
           >r
         top check Task block=Block.id
           >p
         pair order send Thread block=block
         pair offer send Thread block=block";

/// A block that is ordered, and sent at once.
fn sent_at_once(i: usize) -> String {
    let (block, t) = (format!("block_10{i:02}"), i * 10);
    format!("a - order block={block} q@{t}.0\na - send block={block} r@{t}.001\n")
}

/// Twenty nodes that are asked at once, and one that answers late.
#[test]
fn who_is_asked_once_on_each_node_is_asked_by_the_only_one_who_names_it() {
    let model = "point p
         top recover Task block=Block.id
           >p
         top ask RpcHandler block=Block.id
           >p
         top check Task block=Block.id
           >p
         pair recover ask Rpc many block=block";
    let quick = |i: usize| {
        let (block, t) = (format!("block_10{i:02}"), i * 10);
        format!("a - recover block={block} {t}.0-{t}.0\nb - ask block={block} {t}.001-{t}.001\n")
    };
    let quick = (1..=20).map(quick).collect::<String>() + &back();
    let known = known();
    let late = "a - recover block=block_2001 300.0-300.0
         b - ask block=block_2001 300.001-300.001
         c - ask block=block_2001 308.0-308.0\n";
    check(model, &(quick.clone() + late), &(known.clone() + "50 51 52 50>51 50>52\n"));
    // One more comes to the node, or another one asks.
    let again = "c - ask block=block_2001 309.0-309.0\n";
    check(model, &(quick.clone() + late + again), &(known.clone() + "50 51 50>51\n52\n53\n"));
    let other = "d - recover block=block_2001 299.0-299.0\n";
    check(model, &(quick + late + other), &(known + "53\n50 51 50>51\n52\n"));
}

/// A task that begins late, of somebody whose thing others work on, too.
#[test]
fn what_begins_so_once_for_a_thing_is_started_by_who_names_it_once() {
    let model = "point p
         point q
         point r
         top order Task block=Block.id
           >q
         top send Task block=Block.id
           >r
         top check Task block=Block.id
           >p
         pair order send Thread block=block";
    let quick = (1..=20).map(sent_at_once).collect::<String>() + &back();
    let known = known();
    let late = "a - order block=block_2001 q@300.0
         a - send block=block_2001 r@300.5
         a - check block=block_2001 301.0-301.0\n";
    check(model, &(quick.clone() + late), &(known.clone() + "50 51 50>51\n52\n"));
    let again = "a - order block=block_2001 q@400.0\n";
    check(model, &(quick + late + again), &(known + "50\n51\n52\n53\n"));
}

/// A thing that is ordered twice, by two kinds of starters, and sent late both times.
#[test]
fn what_is_started_in_turn_is_started_by_who_names_it() {
    let quick = (1..=20).map(sent_at_once).collect::<String>() + &back();
    let late = |orders: &str| {
        format!(
            "a - order block=block_2001 q@300.0
             a - send block=block_2001 r@300.5
             {orders}
             a - send block=block_2001 r@400.5
             b - offer block=block_2002 s@500.0\n"
        )
    };
    let known = known();
    let in_turn = late("a - offer block=block_2001 s@400.0");
    check(STARTERS, &(quick.clone() + &in_turn), &(known.clone() + "50 51 50>51\n52 53 52>53\n54\n"));
    // Somebody has started one of them who is not seen, or two others have begun.
    check(STARTERS, &(quick.clone() + &late("")), &(known.clone() + "50\n51\n52\n53\n"));
    let twice = late("a - order block=block_2001 q@399.0\na - offer block=block_2001 s@400.0");
    check(STARTERS, &(quick.clone() + &twice), &(known.clone() + "50\n51\n52\n53\n54\n55\n"));
    // Who never prints anything can have started each of them.
    let silent =
        format!("{STARTERS}\n top ask RpcHandler block=Block.id\n >p\n pair ask send Thread block=block");
    check(&silent, &(quick + &in_turn), &(known + "50\n51\n52\n53\n54\n"));
}

/// Ten things that are stored by who names them, and thrown away later.
#[test]
fn who_sends_events_at_once_has_not_sent_those_that_never_come_so() {
    let model = "point p
         point stored
         point dropped
         top work Task block=Block.id
           >p
         top take EventHandler block=Block.id
           >stored<
           >dropped<
         pair work take Queue block=block many";
    let lines = |dropped: &str| -> String {
        let line = |i: usize| {
            let (block, t) = (format!("block_10{i:02}"), i * 10);
            format!(
                "a t work block={block} {t}.0-{t}.0
                 a u take block={block} stored@{t}.001
                 a u take block={block} dropped@{t}.{dropped}\n"
            )
        };
        (1..=10).map(line).collect()
    };
    let expected =
        |request: &dyn Fn(usize) -> String| -> String { (0..10).map(|i| request(3 * i + 1)).collect() };
    let both = |n: usize| format!("{n} {0} {1} {n}>{0} {n}>{1}\n", n + 1, n + 2);
    check(model, &lines("002"), &expected(&both));
    let stored = |n: usize| format!("{n} {0} {n}>{0}\n{1}\n", n + 1, n + 2);
    check(model, &lines("060"), &expected(&stored));
    // What somebody else prints as well tells no kind.
    let shared = format!("{model}\n top discard Task block=Block.id\n   >dropped<");
    check(&shared, &lines("060"), &expected(&both));
}

/// Who closes a thing prints when the threads that it has started, and named after the thing,
/// are done.
#[test]
fn who_starts_threads_named_after_its_thing_prints_as_late_as_it_prints() {
    let model = "point p
         point begun
         point done
         top close Task region=Region.name
           >begun done
           >done
         top flush Task
           >p
         pair close flush Thread many";
    let digest = |i: usize| format!("{i:02}c64cbf70b9efa717ceb246a1ba7654");
    let quick = |i: usize| {
        let (region, t) = (digest(i), i * 10);
        format!("a flush-{region} flush {t}.000-{t}.000\na c close region={region} done@{t}.002\n")
    };
    let quick = (1..=20).map(quick).collect::<String>();
    let known: String = (0..20).map(|i| format!("{0} {1} {1}>{0}\n", 2 * i + 1, 2 * i + 2)).collect();
    let late = |thread: &str, begins: &str| {
        let region = digest(30);
        format!(
            "a flush-{thread} flush 300.0-300.0\na c close region={region} {begins}@300.030 done@300.031\n"
        )
    };
    check(model, &(quick.clone() + &late(&digest(30), "done")), &(known.clone() + "41 42 42>41\n"));
    // A name that could be anybody's, and the rest of something.
    let named = late("users7777", "done").replace(&digest(30), "users7777");
    check(model, &(quick.clone() + &named), &(known.clone() + "41\n42\n"));
    let rest = model.replace(">begun done", ">begun p").replace(">done\n", "p done\n           done\n");
    check(&rest, &(quick + &late(&digest(30), "p")), &(known + "41\n42\n"));
}

/// What stands in line was handed over by who can be nothing but one who hands it over.
#[test]
fn who_can_be_something_else_has_nothing_that_stands_in_line() {
    let model = "point p
         top ask Task table=Table.name
           >p
         top query Task table=Table.name
           >p
         top look Task table=Table.name
           >p
         top flush Task table=Table.name
           >p
         pair ask flush Thread table=table
         pair query flush Thread table=table";
    let quick = |n: usize| format!("a - ask table=t{n} {n}.0-{n}.0\na - flush table=t{n} {n}.01-{n}.02\n");
    let quick: String = (1..6).map(quick).collect();
    let line = |sender: &str, thread: &str| {
        format!(
            "a - ask table=users 7.0-7.0
             a - flush table=users 7.01-7.5
             a {thread} {sender} table=events 7.02-7.02
             a {thread}f flush table=events 7.51-7.6"
        )
    };
    let known = "1 2 1>2\n3 4 3>4\n5 6 5>6\n7 8 7>8\n9 10 9>10\n11 12 11>12\n";
    let whole = format!("{known}13 14 13>14\n");
    let line = |sender: &str, thread: &str| quick.clone() + &line(sender, thread).replace("-f ", "- ");
    check(model, &line("ask|query", "-"), &whole);
    check(model, &line("ask|look", "-"), &format!("{known}13\n14\n"));
    // Its thread tells what it is.
    check(model, &line("ask|look", "t"), &whole);
}

/// Two are asked for something, and what the first one hands over has not printed anything yet when
/// the second one hands over: that stands in line behind it all the same.
#[test]
fn a_line_begins_with_what_has_been_handed_over_and_not_printed_yet() {
    let model = "point p
         top ask Task table=Table.name
           >p
         top flush Task table=Table.name
           >p
         pair ask flush Thread table=table";
    let quick = |n: usize| format!("a t ask table=t{n} {n}.0-{n}.0\na f flush table=t{n} {n}.01-{n}.02\n");
    let quick: String = (1..6).map(quick).collect();
    let line = |second: &str| {
        format!(
            "a t ask table=users 7.0-7.0
             a f flush table=users 7.05-7.5
             a t ask table=events {second}-{second}
             a g flush table=events 7.51-7.6"
        )
    };
    let known = "1 2 1>2\n3 4 3>4\n5 6 5>6\n7 8 7>8\n9 10 9>10\n";
    check(model, &(quick.clone() + &line("7.02")), &format!("{known}11 12 11>12\n13 14 13>14\n"));
    // Nothing was at work yet.
    check(model, &(quick + &line("6.9")), &format!("{known}13\n11 12 11>12\n14\n"));
}

/// Of two requests at work one has named the thing, though not where it would hand that on.
#[test]
fn who_is_of_a_request_has_not_sent_what_never_comes_at_once() {
    let model = "point p
         point stored
         point dropped
         top ask RpcHandler block=Block.id job=Job.id
           >p
         top work Task block=Block.id job=Job.id
           >p
         top take EventHandler block=Block.id
           >stored<
           >dropped<
         pair ask work Thread job=job
         pair work take Queue block=block many";
    let learn = |dropped: &str| -> String {
        let line = |i: usize| {
            let (block, t) = (format!("block_10{i:02}"), i * 10);
            format!(
                "a t work block={block} {t}.0-{t}.0
                 a u take block={block} stored@{t}.001
                 a u take block={block} dropped@{t}.{dropped}\n"
            )
        };
        (1..=10).map(line).collect()
    };
    let kin = |what: &str| {
        format!(
            "a h ask block=block_2001 job=job_11 300.0-300.5
             a t work job=job_11 300.1-300.4
             a h2 ask block=block_2002 job=job_12 300.01-300.5
             a t2 work job=job_12 300.11-300.4
             a u take block=block_2001 {what}@300.2"
        )
    };
    let at_once: String =
        (0..10).map(|i| format!("{0} {1} {2} {0}>{1} {0}>{2}\n", 3 * i + 1, 3 * i + 2, 3 * i + 3)).collect();
    let late: String =
        (0..10).map(|i| format!("{0} {1} {0}>{1}\n{2}\n", 3 * i + 1, 3 * i + 2, 3 * i + 3)).collect();
    let whole = "31 32 35 31>32 32>35\n33 34 33>34";
    check(model, &(learn("060") + &kin("stored")), &(late.clone() + whole));
    check(model, &(learn("060") + &kin("dropped")), &(late + "31 32 31>32\n33 34 33>34\n35"));
    // Those that come at once elsewhere come late here for a reason of their own.
    check(model, &(learn("002") + &kin("dropped")), &(at_once + whole));
}

/// Blocks are sent at once by who orders them; some are named long before by somebody else who
/// could have them sent too. What is tidied up later is no matter of those.
#[test]
fn a_task_stands_in_one_line_whoever_hands_it_over() {
    let tidied = "
         top begin Task file=File.name
           >q
         top tidy Task file=File.name
           >p
         pair begin tidy Thread file=file";
    let model = &format!("{STARTERS}{tidied}");
    let slow = |i: usize| {
        let (file, t) = (format!("file_10{i:02}"), 1_000 + i * 10);
        format!("a - begin file={file} q@{t}.0\na - tidy file={file} p@{}.0\n", t + 5)
    };
    // Whoever starts them does not take turns with them.
    let offered = |i: usize| {
        let (block, t) = (format!("block_20{i:02}"), 2_000 + i * 100);
        let named = |t: usize| format!("a - offer block={block} s@{t}.0\n");
        let sent = format!("a - send block={block} r@{}.0\na - check block={block} p@{}.0\n", t + 16, t + 50);
        named(t) + &named(t + 1) + &sent
    };
    let spans = (1..=20).map(sent_at_once).chain((1..=30).map(slow)).chain((1..=9).map(offered));
    let spans = spans.collect::<String>() + &back();
    let two = |n: usize| format!("{} {} {0}>{1}\n", 2 * n + 1, 2 * n + 2);
    let lines = |lines: std::ops::Range<usize>| lines.map(|line| format!("{line}\n")).collect::<String>();
    let sent: String = (0..20).map(two).collect::<String>() + &lines(137..146);
    let tidied: String = (20..50).map(two).collect();
    check(model, &spans, &(sent + &tidied + &lines(101..137)));
}

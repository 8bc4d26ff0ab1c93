//! Layouts that print no threads: identifiers, order, neighbours and words decide.

use super::*;

#[test]
fn without_threads_identifiers_then_order_decide() {
    check(
        STORE,
        "1.0 - receiving block=1
         1.1 - moved
         1.2 - receiving block=2
         1.3 - receiving block=3
         1.4 - received block=2
         1.5 - received block=1
         1.6 - closing
         2.0 - received block=3",
        "write: 1 opens; 2 order, the only one around; 6 1 id
         write: 3 opens; 5 1 id
         write: 4 opens; 8 1 id
         read: 7 opens, start not seen",
    );
}

#[test]
fn entities_without_threads_do_not_mix() {
    check(
        "point state id=Id.n
         point note
         top handle Entity id=Id.n
           >state* note
           note<",
        "1.0 - state id=1
         1.1 - state id=2
         1.2 - state id=1
         1.3 - state id=2
         1.4 - note
         1.5 - state id=1",
        "handle: 1 opens; 3 1 id; 6 1 id
         handle: 2 opens; 4 1 id
         handle: 5 opens, start not seen",
    );
}

/// A failure that has always gone on with something goes on with it after a silence too, if
/// that has not failed before; what is no failure may begin the next thing.
#[test]
fn a_failure_goes_on_after_a_silence() {
    let mut model = sketch::model(
        "point begin id=Id.n
         point failed id=Id.n
         top one Task id=Id.n
           >begin failed
           >failed*",
    );
    let learnt = |n: usize| -> (String, String) {
        let two = |i: usize| format!("{i}.0 - begin id=id_{i:03}\n{i}.1 - failed id=id_{i:03}\n");
        let span = |i: usize| format!("one: {} opens; {} 1 id\n", 2 * i + 1, 2 * i + 2);
        ((0..n).map(two).collect(), (0..n).map(span).collect())
    };
    let late = "20.0 - begin id=id_020\n25.0 - failed id=id_020\n";
    let (lines, spans) = learnt(8);
    let apart = spans.clone() + "one: 17 opens\none: 18 opens\n";
    assert_eq!(run(&model, &(lines.clone() + late)), apart);
    let failed = sketch::point(&model, "failed");
    model.log_points[failed.index()].in_handler = true;
    assert_eq!(run(&model, &(lines.clone() + late)), spans.clone() + "one: 17 opens; 18 1 id\n");
    let again = lines + late + "40.0 - failed id=id_020\n";
    assert_eq!(run(&model, &again), spans + "one: 17 opens; 18 1 id\none: 19 opens\n");
    // Too little is known.
    let (lines, spans) = learnt(7);
    assert_eq!(run(&model, &(lines + late)), spans + "one: 15 opens\none: 16 opens\n");
}

/// Requests of four records each, `n_open` of them at any time, in a fixed
/// shuffle of their records. A thread serves one request at a time.
fn crowd(n_requests: usize, n_open: usize, has_thread: bool) -> String {
    let mut text = String::new();
    let mut state: u64 = 7;
    let mut free: Vec<usize> = (0..n_open).collect();
    let mut open: Vec<(usize, usize, usize)> = Vec::new();
    let (mut next, mut time_ms) = (0, 0);
    while next < n_requests || !open.is_empty() {
        while next < n_requests
            && let Some(thread) = free.pop()
        {
            open.push((next, 0, thread));
            next += 1;
        }
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let at = (state >> 33) as usize % open.len();
        let (id, step, thread) = open[at];
        let what = ["receiving", "moved", "received", "closing"][step];
        let thread = if has_thread { format!("t{thread}") } else { "-".to_owned() };
        time_ms += 1;
        text += &format!("{}.{:03} {thread} {what} block={id}\n", time_ms / 1000, time_ms % 1000);
        open[at].1 += 1;
        if open[at].1 == 4 {
            free.push(open.swap_remove(at).2);
        }
    }
    text
}

/// (spans, spans of one whole request, records in a span of another request)
fn score(n_open: usize, has_thread: bool) -> (usize, usize, usize) {
    let model = sketch::model(STORE);
    let text = crowd(400, n_open, has_thread);
    let block_of = |line: &str| {
        let number: usize = line.parse().expect("a line number");
        text.lines().nth(number - 1).and_then(|line| line.split_once("block=")).expect("a block").1
    };
    let (mut n_spans, mut n_whole, mut n_wrong) = (0, 0, 0);
    for span in run(&model, &text).lines() {
        let lines = span.split([':', ';']).skip(1).filter_map(|event| event.split_whitespace().next());
        let blocks: Vec<&str> = lines.map(block_of).collect();
        let wrong = blocks.iter().filter(|&&block| block != blocks[0]).count();
        n_spans += 1;
        n_whole += usize::from(blocks.len() == 4 && wrong == 0);
        n_wrong += wrong;
    }
    (n_spans, n_whole, n_wrong)
}

#[test]
fn a_crowd_of_threads_comes_out_whole() {
    assert_eq!(score(100, true), (400, 400, 0));
}

#[test]
fn without_threads_one_at_a_time_comes_out_whole() {
    assert_eq!(score(1, false), (400, 400, 0));
}

#[test]
fn in_a_crowd_without_threads_order_soon_loses_its_trust() {
    let (_, _, n_wrong) = score(100, false);
    assert!(n_wrong <= 16, "{n_wrong} of 1600 records are in a request of another");
    let (_, _, n_wrong) = score(4, false);
    assert!(n_wrong <= 32, "{n_wrong} of 1600 records are in a request of another");
}

#[test]
fn a_line_that_names_nothing_begins_what_follows_at_once() {
    check(
        CONNECTION,
        "1.0 t opened peer=10.0.0.1:1
         1.1 t opened peer=10.0.0.1:2
         1.2 t failed
         1.2 t closed peer=10.0.0.1:1",
        "event: 1 opens
         event: 2 opens
         event: 3 opens; 4 follows at once",
    );
    check(
        CONNECTION,
        "1.0 - opened peer=10.0.0.1:1
         1.1 - opened peer=10.0.0.1:2
         1.2 - failed
         1.2 - closed peer=10.0.0.1:1",
        "event: 1 opens
         event: 2 opens
         event: 3 opens; 4 follows at once",
    );
}

/// A container is allocated and, later, released: the two have more in common than
/// the release has with its own first line.
#[test]
fn what_was_done_long_ago_does_not_stand_before_what_is_at_work() {
    let model = "point assigned id=Container.id host=Host.name port=Host.port
         point completed id=Container.id
         point released id=Container.id host=Host.name port=Host.port
         top handle EventHandler id=Container.id host=Host.name? port=Host.port?
           >assigned< completed released
           >completed released
           >released<";
    check(
        model,
        "1.0 - assigned id=container_0001 host=host-a port=27141
         9.0 - completed id=container_0001
         9.1 - released id=container_0001 host=host-a port=27141",
        "handle: 1 opens
         handle: 2 opens; 3 1 id",
    );
    check(
        model,
        "1.0 t1 assigned id=container_0001 host=host-a port=27141
         9.0 t1 completed id=container_0001
         9.1 t1 released id=container_0001 host=host-a port=27141",
        "handle: 1 opens
         handle: 2 opens; 3 thread+1 id",
    );
}

#[test]
fn without_threads_words_tell_which_of_those_that_wait_goes_on() {
    check(
        "point writing table=Table.name
         point flushed path=File.path
         top flush Task table=Table.name?
           >writing flushed
           flushed<",
        "1.0 - writing table=users
         1.1 - writing table=blobs
         1.2 - writing table=events
         1.3 - flushed path=/data/users-1
         1.4 - flushed path=/data/events-7
         9.0 - writing table=users
         9.1 - writing table=blobs
         9.2 - flushed path=/data/hits-9",
        "flush: 1 opens; 4 order+words
         flush: 2 opens
         flush: 3 opens; 5 order+words
         flush: 6 opens
         flush: 7 opens
         flush: 8 opens, start not seen",
    );
}

#[test]
fn what_some_readings_of_a_span_alone_can_print_words_do_not_tell_of() {
    let text = "1.0 - writing table=users
         1.1 - writing table=blobs
         1.2 - flushed path=/data/users-1";
    check(FLUSHES, text, "flush: 1 opens; 3 order+words\nflush: 2 opens");
    let model = format!("{FLUSHES}\n    top copy Task table=Table.name?\n      >writing<");
    check(&model, text, "copy: 1 opens\ncopy: 2 opens\nflush: 3 opens, start not seen");
}

/// Who writes a table prints what that is called, and then the file that it has become.
const FLUSHES: &str = "
    point writing table=Table.name
    point flushed path=File.path
    top flush Task table=Table.name?
      >writing flushed
      flushed<
";

#[test]
fn without_threads_names_that_were_made_outweigh_those_that_were_given() {
    check(
        "point received session=Job.session table=Job.table
         point asks session=Job.session table=Job.table
         point ends session=Job.session
         top handle Task table=Job.table
           >received asks
           asks<
         top end Task session=Job.session
           >ends<",
        "1.0 - received session=session-1 table=blobs
         1.1 - asks session=session-1 table=blobs
         2.0 - received session=session-2 table=blobs
         2.1 - asks session=session-3 table=blobs",
        "handle: 1 opens; 2 1 id+1 weak id
         handle: 3 opens
         handle: 4 opens, start not seen",
    );
}

/// What was closed long ago stays closed: what skips lines of it is of whoever has been
/// at work on the same thing since.
#[test]
fn what_was_silent_for_long_is_not_gone_on_with_by_skipping() {
    check(
        "point opened id=Region.id host=Host.name
         point moved
         point begun id=Region.id
         point updated id=Region.id host=Host.name
         point done id=Region.id
         top split Task id=Region.id host=Host.name?
           >opened moved
           moved updated
           updated done
           done<
         top deploy Task id=Region.id
           >begun updated
           updated done
           done<",
        "1.000 - opened id=region_0001 host=host-a
         9.000 - begun id=region_0001
         9.010 - updated id=region_0001 host=host-a
         9.011 - done id=region_0001",
        "split: 1 opens
         deploy: 2 opens; 3 1 id; 4 1 id",
    );
}

/// Two works on one thing, one after the other: the second was asked for in between.
#[test]
fn what_was_handed_over_since_is_of_the_next() {
    let model = "point asked id=Region.id
         point prepares
         point writes id=Region.id
         point closed id=Region.id
         point online id=Region.id
         top ask RpcHandler id=Region.id
           >asked<
         top merge Task id=Region.id
           >writes closed
           closed online
           online<
         top open Task id=Region.id
           >prepares online
           >online<
         pair ask open Thread id=id";
    // Who is handed it prints something first, which is not there: he has not begun.
    let mut begun_with_more = sketch::model(&model.replace(">online<", "online<"));
    begun_with_more.communication_pairs[0].before = vec![sketch::point(&begun_with_more, "asked")];
    let mut model = sketch::model(model);
    let records = "1.000 - writes id=region_0001
                   1.100 - closed id=region_0001
                   1.500 - asked id=region_0001
                   1.600 - online id=region_0001";
    assert_eq!(run(&model, records), "merge: 1 opens; 2 1 id; 4 1 id\nask: 3 opens\n");
    model.communication_pairs[0].before = vec![sketch::point(&model, "asked")];
    assert_eq!(run(&model, records), "merge: 1 opens; 2 1 id\nask: 3 opens\nopen: 4 opens\n");
    assert_eq!(run(&begun_with_more, records), "merge: 1 opens; 2 1 id; 4 1 id\nask: 3 opens\n");
}

/// A record names a thing in two ways that are one: its name and the digest within that.
#[test]
fn a_digest_and_the_name_beside_it_are_one_thing() {
    let (one, name) = ("27d9e6758350b73e967e79da261bade8", "users,1795256994914");
    let model = "point coded code=Region.code
         point flushed path=File.path
         point finished name=Region.name tail=Region.tail
         point starts name=Region.name tail=Region.tail
         point closed name=Region.name tail=Region.tail
         top know RpcHandler code=Region.code
           >coded<
         top flush Task
           >flushed finished
           finished< closed
           closed<
         top split Task name=Region.name
           >starts closed
           closed<";
    let records = format!(
        "1.000 - coded code={one}
         2.000 - flushed path=/data/{one}/a
         2.100 - finished name={name} tail=t.{one}
         2.800 - starts name={name} tail=t.{one}
         2.810 - closed name={name} tail=t.{one}"
    );
    check(
        model,
        &records,
        "know: 1 opens
         flush: 2 opens; 3 1 id
         split: 4 opens; 5 1 id",
    );
}

/// A name that was set up joins nobody to whoever shows it too, from the first record on.
#[test]
fn a_name_that_was_set_up_is_common_from_the_first_record_on() {
    let model = "point starts app=App.id queue=Queue.name
         point ends queue=Queue.name
         top work Task app=App.id queue=Queue.name
           >starts ends
           ends<";
    let group = |n: usize, queue: &str| {
        format!(
            "{n}.000 - starts app=app_{n}1 queue={queue}\n{n}.100 - starts app=app_{n}2 queue={queue}\n{n}.200 - ends queue={queue}\n"
        )
    };
    // By names alone: that the line comes so long after is another matter.
    let without = schema::Passes::default().with(schema::Pass::Continuations);
    let config = Config { node: "n".to_owned(), without, ..Config::default() };
    let second = |records: &str| {
        let model = sketch::model(model);
        let spans = run_with(&model, &model, records, &config);
        spans.lines().nth(1).expect("a second span").to_owned()
    };
    let shown = |queue: &dyn Fn(usize) -> String| (1..20).map(|n| group(n, &queue(n))).collect::<String>();
    assert_eq!(second(&shown(&|_| "default".to_owned())), "work: 2 opens");
    // What is another one each time names something.
    assert_eq!(second(&shown(&|n| format!("{}default", "x".repeat(n)))), "work: 2 opens; 3 1 id");
}

/// The only policy that there is joins nobody to whoever shows it too, however seldom.
#[test]
fn a_name_without_its_like_is_everybodys() {
    let model = "point chose policy=Policy.name
         point failed policy=Policy.name
         top choose RpcHandler policy=Policy.name
           >chose failed
           failed<
         point said text=Other.text
         top other RpcHandler text=Other.text
           >said<";
    let group = |n: usize, policy: &str| {
        let others: String = (0..60).map(|k| format!("{n}.5{k:02} - said text=text_{n}_{k}\n")).collect();
        format!(
            "{n}.000 - chose policy={policy}\n{n}.001 - chose policy={policy}\n{n}.002 - failed policy={policy}\n{others}"
        )
    };
    let second = |policy: &dyn Fn(usize) -> String| {
        let records: String = (1..10).map(|n| group(n, &policy(n))).collect();
        let spans = run(&sketch::model(model), &records);
        spans.lines().nth(1).expect("a second span").to_owned()
    };
    assert_eq!(second(&|_| "hot".to_owned()), "choose: 2 opens");
    // There is another one.
    assert_eq!(second(&|n| if n == 5 { "cold" } else { "hot" }.to_owned()), "choose: 2 opens; 3 1 id");
}

#[test]
fn who_has_fewer_words_than_several_others_is_not_meant_however_near() {
    let model = sketch::model(&format!("{FLUSHES}\n    point note\n    top other Task\n      >note<"));
    let last = |path: &str| {
        let notes: String = (0..8).map(|n| format!("1.01{n} - note\n")).collect();
        let text = format!(
            "1.000 - writing table=users\n1.001 - writing table=users\n{notes}\
             1.100 - writing table=events\n1.101 - flushed path=/data/{path}"
        );
        let spans = run(&model, &text);
        spans.lines().rfind(|span| span.starts_with("flush: 1")).unwrap_or_default().to_owned()
    };
    assert_eq!(last("users-1"), "flush: 12 opens, start not seen");
    // Where words tell nothing, nothing does.
    assert_eq!(last("hits-1"), "flush: 12 opens, start not seen");
    assert_eq!(last("events-1"), "flush: 11 opens; 12 order+words");
}

#[test]
fn a_value_of_several_that_take_turns_names_what_shows_nothing_else() {
    let model = "
        point fetching part=Part.n offset=Offset.n
        point received part=Part.n
        top fetch Task part=Part.n offset=Offset.n
          >fetching received
          received<";
    // Six partitions, all at work at a time, that are done in another order than they began.
    const N: usize = 80;
    let round = |n: usize| -> String {
        let begun = (0..6).map(|part| format!("{n}.1 - fetching part={part} offset=o_{}\n", n * 6 + part));
        let done = (0..6).map(|i| format!("{n}.2 - received part={}\n", (i * 5 + n) % 6));
        begun.chain(done).collect()
    };
    let text = run(&sketch::model(model), &(0..N).map(round).collect::<String>());
    let mut n_named = 0;
    for line in text.lines() {
        let numbers = line.split(|c: char| !c.is_ascii_digit()).filter_map(|word| word.parse::<usize>().ok());
        let numbers: Vec<usize> = numbers.collect();
        let &[begun, done, ..] = &numbers[..] else { panic!("not whole: {line}") };
        // Records count from 1, twelve in a round.
        let (n, part, i) = ((begun - 1) / 12, (begun - 1) % 12, (done - 1) % 12 - 6);
        assert_eq!(((done - 1) / 12, (i * 5 + n) % 6), (n, part), "{line}");
        // By name, and not only because no other one is left, when all have been shown often.
        n_named += usize::from(n >= N / 2 && line.ends_with(" 1 id"));
    }
    assert!(n_named > 6 * N / 4, "{n_named} of {}", 6 * N / 2);
    assert_eq!(text.lines().count(), 6 * N);
}

#[test]
fn a_line_of_the_source_names_nothing_but_is_one_in_a_run() {
    let model = "
        point started site=Site.line
        point finished site=Site.line
        top work Task site=Site.line
          >started finished
          finished<";
    let records = "1.0 - started site=Shop.java:10\n1.1 - finished site=Shop.java:";
    check(model, &format!("{records}10"), "work: 1 opens; 2 order, the rest");
    check(model, &format!("{records}20"), "work: 1 opens\nwork: 2 opens, start not seen");
}

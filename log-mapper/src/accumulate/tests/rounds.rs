//! When a round of a dispatcher goes on, and when the next one begins.

use schema::{ValueShape, sketch};

use super::{check, run};

#[test]
fn a_step_is_over_after_a_pause_much_longer_than_it_lasted() {
    let model = "
        point finished
        point looking
        point registering
        top receive IdentifierLoss
          >finished< looking registering
          looking< registering
          >registering<";
    let lines = |looking: &str, registering: &str| {
        format!("1.000 t finished\n{looking} t looking\n{registering} t registering")
    };
    check(model, &lines("1.001", "1.050"), "receive: 1 opens; 2 thread; 3 thread");
    check(model, &lines("1.001", "1.400"), "receive: 1 opens; 2 thread\nreceive: 3 opens");
    // It has taken its time before.
    check(model, &lines("1.100", "1.400"), "receive: 1 opens; 2 thread; 3 thread");
}

#[test]
fn what_was_printed_at_once_with_the_line_before_is_not_what_comes_long_after() {
    let model = "
        point lost
        point failing
        top serve DispatchTarget
          >lost|failing*<
        top tell EventHandler
          >failing< lost
          lost<";
    let lines = |failing: &str, again: &str| format!("1.000 t lost\n{failing} t failing\n{again} t lost");
    check(model, &lines("1.000", "1.500"), "serve: 1 opens; 2 thread\nserve: 3 opens");
    check(model, &lines("1.010", "1.200"), "serve: 1 opens\ntell: 2 opens; 3 follows at once");
}

#[test]
fn what_names_a_part_of_something_is_about_it() {
    let model = "
        point stored block=Block.name
        point written block=Block.name
        top receive EventHandler block[*]=Block.name
          >stored< written
          >written<";
    let lines = |written: &str| format!("1.000 t stored block=block_4\n1.002 t written block={written}");
    check(model, &lines("block_4_piece0"), "receive: 1 opens; 2 thread");
    check(model, &lines("block_41"), "receive: 1 opens\nreceive: 2 opens");
}

#[test]
fn what_another_round_has_named_is_not_of_a_round_that_has_not() {
    let model = "
        point submitting stage=Stage.id
        point finished stage=Stage.id
        top submit IdentifierLoss stage[*]=Stage.id
          >submitting finished
          finished<
        top complete IdentifierLoss stage=Stage.id
          >finished<";
    let lines = |stage: &str| {
        format!("1.000 t submitting stage=17\n1.500 u submitting stage=19\n1.501 u finished stage={stage}")
    };
    let apart = "submit: 1 opens\nsubmit: 2 opens\ncomplete: 3 opens";
    check(model, &lines("17"), apart);
    // Its own, and what nobody has named before, can be the next one that it meets.
    let together = "submit: 1 opens\nsubmit: 2 opens; 3 thread+1 weak id";
    check(model, &lines("19"), together);
    check(model, &lines("20"), "submit: 1 opens\nsubmit: 2 opens; 3 thread");
}

#[test]
fn what_is_printed_once_begins_the_next_round_when_it_comes_again() {
    let lines = "1.000 t applying
         1.001 t applied part=part_1
         1.002 t applied part=part_2
         1.050 t applying
         1.051 t applied part=part_3";
    let model = |node: &str| {
        format!(
            "point applying
             point applied part=Part.name
             top publish EventHandler part[*]=Part.name
               >{node}*<"
        )
    };
    let one = "publish: 1 opens; 2 thread; 3 thread; 4 thread; 5 thread";
    check(&model("applying|applied"), lines, one);
    let two = "publish: 1 opens; 2 thread; 3 thread\npublish: 4 opens; 5 thread";
    check(&model("applying!|applied"), lines, two);
    // Whoever can print it as something else goes on.
    let show = "top show Task part[*]=Part.name\n>applying|applied*<";
    let other = format!("{}\n{show}", model("applying!|applied"));
    check(&other, lines, "show: 1 opens; 2 thread; 3 thread; 4 thread; 5 thread");
}

/// What very many methods print comes in the middle of a round that has not printed a line of
/// its own yet.
#[test]
fn a_round_goes_on_until_it_has_printed_a_line_of_its_own() {
    let round = "
        point copies
        point size
        point checksum
        point rolled
        top roll IdentifierLoss
          >copies size
          size< rolled checksum
          >checksum< rolled
          >rolled<";
    let others = |n: usize| -> String {
        let other = |i: usize| {
            let point = ["copies", "size", "checksum"][i % 3];
            format!("\n        top other_{i:02} IdentifierLoss\n          >{point}<")
        };
        (0..n).map(other).collect()
    };
    let (everybodys, ours) = (round.to_owned() + &others(48), round.to_owned() + &others(24));
    let rolls = "1.000 t copies\n1.001 t size\n1.400 t rolled";
    check(&everybodys, rolls, "roll: 1 opens; 2 thread; 3 thread");
    check(&ours, rolls, "roll: 1 opens; 2 thread\nroll: 3 opens");
    // It has printed one, or what comes is everybody's as well.
    let again = format!("{rolls}\n1.900 t rolled");
    check(&everybodys, &again, "roll: 1 opens; 2 thread; 3 thread\nroll: 4 opens");
    check(&everybodys, &rolls.replace("rolled", "checksum"), "roll: 1 opens; 2 thread\nroll: 3 opens");
}

/// What everybody prints tells of another thing than what its thread was at, by the number
/// that is part of its text.
#[test]
fn what_a_utility_tells_of_another_thing_is_not_of_what_names_its_own() {
    let others = (0..40).map(|i| format!("\n        top other_{i:02} Task\n          >ending<"));
    let text = "
        point beginning session=Session.id
        point ending of=Bean.name
        top serve Task session=Session.id
          >beginning< ending
          >ending<"
        .to_owned();
    let mut model = sketch::model(&(text + &others.collect::<String>()));
    let beginning = sketch::point(&model, "beginning");
    model.log_points[beginning.index()].variables[0].shape = ValueShape::Hex;
    let lines = |of: &str| {
        let lines = format!(
            "1.000 t beginning session=100002125d70012
             2.000 u beginning session=100002125d70013
             2.002 u ending of={of}"
        );
        run(&model, &lines).trim().replace('\n', ", ")
    };
    let tops = |first: &str, ending: &str| format!("{first}: 1 opens, serve: 2 opens{ending}");
    assert_eq!(lines("bean:0x100002125d70013"), tops("serve", "; 3 thread+1 id"));
    assert_eq!(lines("bean:0x100002125d70012"), tops("serve", ", serve: 3 opens"));
    // Nobody has named that.
    assert_eq!(lines("bean:0x100002125d70014"), tops("serve", "; 3 thread"));
    assert_eq!(lines("bean:100002125d70012"), tops("serve", "; 3 thread"));
}

/// A dispatcher joins others before it serves, step by step, and each step can take long.
#[test]
fn what_comes_before_the_rounds_takes_as_long_as_it_takes() {
    let mut model = sketch::model(
        "point connecting
         point syncing
         top follow Dispatcher
           >connecting syncing
           syncing<
         top observe Task
           >syncing<",
    );
    let records = "1.0 t connecting\n1.5 t syncing";
    let whole = "follow: 1 opens; 2 thread\n";
    // As a round it is over after a pause.
    assert_ne!(run(&model, records), whole);
    let points = ["connecting", "syncing"].map(|name| sketch::point(&model, name));
    model.top_level_methods[0].outside_rounds = points.to_vec();
    assert_eq!(run(&model, records), whole);
    // So is a round that has begun by then.
    model.top_level_methods[0].outside_rounds.remove(0);
    assert_ne!(run(&model, records), whole);
}

/// A dispatcher has collected what is committed in its rounds too, before it comes to these.
#[test]
fn what_is_handed_out_before_the_rounds_is_of_its_own() {
    let mut model = sketch::model(
        "point synced
         point committed session=Session.id
         top follow Dispatcher session[*]=Session.id
           >synced committed
           >committed*<",
    );
    let records = |session: &str| format!("1.0 t synced\n1.001 t committed session={session}");
    let (whole, apart) = ("follow: 1 opens; 2 thread\n", "follow: 1 opens\nfollow: 2 opens\n");
    assert_eq!(run(&model, &records("0x2000021284e0011")), whole);
    model.top_level_methods[0].outside_rounds = vec![sketch::point(&model, "synced")];
    assert_eq!(run(&model, &records("0x2000021284e0011")), apart);
    // A state is no request.
    assert_eq!(run(&model, &records("none")), whole);
}

/// A process was started again, and its thread has the same name.
#[test]
fn what_comes_before_the_rounds_begins_something() {
    let mut model = sketch::model(
        "point entered
         point opened
         top door Dispatcher
           >entered opened
           >opened<",
    );
    let records = "1.0 t entered\n40.0 t opened";
    assert_eq!(run(&model, records), "door: 1 opens; 2 thread\n");
    model.top_level_methods[0].outside_rounds = vec![sketch::point(&model, "opened")];
    assert_eq!(run(&model, records), "door: 1 opens\ndoor: 2 opens\n");
}

/// Two programs begin alike: which of them it is, is not known yet.
#[test]
fn the_thread_of_main_is_at_nothing_else_however_long_it_pauses() {
    let mut model = sketch::model(
        "point read
         point cleaned
         top main Task
           >read<
           >cleaned<
         top tool Task
           >read cleaned
           cleaned<
         top clean Task
           >cleaned<",
    );
    model.top_level_methods[0].descriptor = "([Ljava/lang/String;)V".to_owned();
    let records = |thread: &str| format!("1.0 {thread} read\n9.0 {thread} cleaned");
    assert!(run(&model, &records("main")).contains("1 opens; 2 thread"));
    assert!(!run(&model, &records("t")).contains("1 opens; 2 thread"));
}

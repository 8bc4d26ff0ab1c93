//! What tells two pieces of work of one thread apart: names that many share, names of
//! things that live on, arguments of calls, and which classes are there at all.

use schema::{LinkKind, TopLevelKind, sketch};

use super::{Config, Sketched, accumulate, run};

/// What many records show joins nothing, but one job is not another.
#[test]
fn a_name_that_many_share_still_tells_from_another_one() {
    let model = sketch::model(
        "point begun job=Job.id
         point goes job=Job.id
         point noise job=Job.id
         top work Task job=Job.id
           >begun goes
           goes<
         top other Task job=Job.id
           >noise<",
    );
    let noise = |n: u32| format!("{n}.0 x{n} noise job=job_000{}\n", n % 2 + 1);
    let mut records: String = (0..120).map(noise).collect();
    records += "200.0 t begun job=job_0001\n200.1 t goes job=job_0002";
    let text = run(&model, &records);
    let last: Vec<&str> = text.lines().filter(|line| line.starts_with("work")).collect();
    assert_eq!(last, ["work: 121 opens", "work: 122 opens, start not seen"]);
}

/// Numbers of a few digits are sizes as often as names.
#[test]
fn two_sizes_are_no_names_of_different_things() {
    let model = sketch::model(
        "point placed used=Resource.size
         point queue all=Resource.size
         top commit IdentifierLoss used=Resource.size all=Resource.size
           >placed|queue*<",
    );
    let text = run(&model, "1.0 t placed used=256\n1.0 t queue all=4096");
    assert_eq!(text.trim(), "commit: 1 opens; 2 thread");
    let text = run(&model, "1.0 t placed used=100256\n1.0 t queue all=104096");
    assert_eq!(text.trim(), "commit: 1 opens\ncommit: 2 opens");
}

#[test]
fn two_fields_of_one_object_are_no_two_objects() {
    let model = |index: &str| {
        sketch::model(&format!(
            "point removing
             point log this.log=Path.text
             point index {index}=Path.text
             top remove Task
               >removing log
               >log|index*<
             top clean DispatchTarget this.log=Path.text {index}=Path.text
               >removing log
               >log|index*<"
        ))
    };
    let records = "1.0 t removing\n1.0 t log this.log=/a/000017.log\n1.0 t index ";
    let one = run(&model("this.index"), &format!("{records}this.index=/a/000017.index"));
    assert_eq!(one.lines().count(), 1, "{one}");
    let two = run(&model("file"), &format!("{records}file=/a/000017.index"));
    assert_eq!(two.lines().count(), 2, "{two}");
    // Nor are they if somebody else has named one of them before.
    let before =
        |index: &str| format!("0.5 u index {index}=/a/000017.index\n{records}{index}=/a/000017.index");
    let one = run(&model("this.index"), &before("this.index"));
    assert_eq!(one.lines().count(), 2, "{one}");
}

#[test]
fn who_has_named_several_of_a_kind_is_not_told_by_another_one() {
    let model = sketch::model(
        "point removing
         point log log=Path.text
         point index index=Path.text
         point snapshot snapshot=Path.text
         top remove DispatchTarget log=Path.text index=Path.text snapshot=Path.text
           >removing log
           log index snapshot
           index snapshot
           snapshot*<
         top sweep Task snapshot=Path.text
           >snapshot<",
    );
    let (first, last) =
        ("1.0 t removing\n1.0 t log log=/a/000017.log\n", "1.0 t snapshot snapshot=/a/000016.snap");
    let several = format!("{first}1.0 t index index=/a/000017.index\n{last}");
    assert_eq!(run(&model, &several).trim(), "remove: 1 opens; 2 thread; 3 thread; 4 thread");
    // It has named one, which this is not.
    assert_eq!(run(&model, &format!("{first}{last}")).trim(), "remove: 1 opens; 2 thread\nsweep: 3 opens");
    // Without threads the lines before can have been somebody else's.
    let bare = run(&model, &several.replace(" t ", " - "));
    assert!(bare.trim().ends_with("4 opens"), "{bare}");
}

/// That a loop of somebody else goes through both is the longer reading.
#[test]
fn calls_with_other_arguments_are_other_calls() {
    let model = sketch::model(
        "point got path=File.path
         top get RpcHandler path=File.path
           >got*<
         top look Task
           >got*<",
    );
    let text = run(&model, "1.0 h got path=/a/f00001\n1.005 h got path=/a/f00002");
    assert_eq!(text.trim(), "get: 1 opens\nget: 2 opens");
}

#[test]
fn what_met_an_entity_on_its_way_is_not_the_entitys() {
    let model = sketch::model(
        "point moved this.id=Thing.id
         point released thing=Thing.id
         point removed arg0.node=Node.name
         top state Entity this.id=Thing.id arg0.id=Thing.id
           >moved*<
         top handle EventHandler arg0.node=Node.name
           >released|removed*<
         pair state state Queue this.id=arg0.id",
    );
    assert_eq!(model.communication_pairs[0].kind, LinkKind::Queue);
    let text = run(&model, "1.0 t released thing=thing_00001\n1.001 t removed arg0.node=n1");
    assert_eq!(text.trim(), "handle: 1 opens\nhandle: 2 opens");
    // Not so if it was about something of its own before.
    let text = run(&model, "1.0 t removed arg0.node=n1\n1.001 t released thing=thing_00001");
    assert_eq!(text.trim(), "handle: 1 opens; 2 thread");
}

/// Two ways to place, of which the configuration chooses one.
#[test]
fn of_classes_that_do_the_same_the_one_is_there_that_prints_what_only_it_does() {
    let mut model = sketch::model(
        "point placed
         point queued
         point fit
         top fifo EventHandler
           >placed fit
           fit<
         top capacity EventHandler
           >placed queued
           queued<",
    );
    for (top, class) in model.top_level_methods.iter_mut().zip(["a.Fifo", "a.Capacity"]) {
        (top.class, top.method) = (class.to_owned(), "handle".to_owned());
        assert_eq!(top.kind, TopLevelKind::EventHandler);
    }
    let first_tops = |n: u32| {
        let records: String = (0..n).map(|n| format!("{n}.0 t placed\n{n}.1 t queued\n")).collect();
        let records = records + "900.0 t placed";
        let mut records = Sketched { model: &model, lines: records.lines().enumerate() };
        let accumulated = accumulate(&model, &mut records, &Config::default());
        accumulated.accumulators.last().map(|last| last.spans[0].top_levels.len())
    };
    assert_eq!(first_tops(4), Some(2));
    assert_eq!(first_tops(20), Some(1));
}

//! Lines that stand together, and lines for which something always waits, without
//! threads.

use schema::{Pass, Passes};

use super::*;

/// What names nothing (`prepares`), and what follows it at once in one thread, which
/// names a file (`writes`); `works` is at work on files meanwhile.
const TOGETHER: &str = "
    point begun file=File.id
    point prepares
    point writes file=File.id
    point done file=File.id
    top work Task file=File.id
      >begun prepares
      prepares writes
      writes done
      done<
    top store Task file=File.id
      >prepares writes
      >writes<";

/// Ten times: something is prepared and written, with nothing between.
fn shown_together() -> String {
    (0..10).map(|n| format!("{n}.000 - prepares\n{n}.001 - writes file=f_{n}4\n")).collect()
}

#[test]
fn what_stands_together_is_one_where_the_log_has_shown_it() {
    let records = "100.000 - prepares\n100.001 - writes file=f_77";
    check(TOGETHER, records, "store: 1 order, the only one around; 2 opens");
    let spans = run(&sketch::model(TOGETHER), &(shown_together() + records));
    assert_eq!(spans.lines().last(), Some("store: 21 opens; 22 stands together"));
}

#[test]
fn what_stands_together_goes_on_together_with_what_one_of_them_names() {
    let last_two = |records: &str| {
        let spans = run(&sketch::model(TOGETHER), &(shown_together() + records));
        spans.lines().rev().take(2).map(str::to_owned).collect::<Vec<_>>()
    };
    let records = "100.000 - begun file=f_77
                   100.001 - begun file=f_88
                   100.002 - prepares
                   100.003 - writes file=f_77
                   100.004 - done file=f_77";
    let whole = "work: 21 opens; 23 before a record with its ids; 24 ids, with records before; 25 1 id";
    assert_eq!(last_two(records), ["work: 22 opens", whole]);
    // What has been silent for long has prepared nothing now.
    let records = "100.000 - begun file=f_77
                   104.000 - prepares
                   104.001 - writes file=f_77";
    assert_eq!(last_two(records), ["store: 22 opens; 23 stands together", "work: 21 opens"]);
}

/// A run of lines that name nothing comes twice before what names a file: the last turn
/// is of whoever goes on with that, the one before it may be somebody else's.
#[test]
fn of_runs_that_begin_alike_the_last_one_only_goes_with_what_follows() {
    let model =
        TOGETHER.replace("prepares writes\n      writes done", "prepares prepares writes\n      writes done");
    let records = "100.000 - begun file=f_77
                   100.001 - begun file=f_88
                   100.002 - prepares
                   100.003 - prepares
                   100.004 - writes file=f_77
                   100.005 - done file=f_77";
    let spans = run(&sketch::model(&model), &(shown_together() + records));
    let last: Vec<&str> = spans.lines().rev().take(3).collect();
    let whole = "work: 21 opens; 24 before a record with its ids; 25 ids, with records before; 26 1 id";
    assert_eq!(last, ["store: 23 opens", "work: 22 opens", whole]);
}

/// A line that names nothing stands before every one that names a file: it is of whoever goes on
/// with that.
#[test]
fn what_names_nothing_is_of_the_only_one_that_goes_on_with_it() {
    let model = "
        point prepares
        point note n=Note.n
        point writes file=File.id
        top store Task file=File.id
          >prepares writes
          >writes<
        top other Task n=Note.n
          >note<";
    let one =
        |n: usize| format!("{n}.000 - prepares\n{n}.001 - note n=n_{n}77\n{n}.002 - writes file=f_{n}4\n");
    let records = |n: usize| (0..n).map(one).collect::<String>();
    let sole = |n: usize| {
        let (first, note, rest) = (3 * n + 1, 3 * n + 2, 3 * n + 3);
        format!("store: {first} order, the only one around; {rest} opens\nother: {note} opens\n")
    };
    check(model, &records(8), &(0..8).map(sole).collect::<String>());
    // Two wait at once.
    let two = "90.000 - prepares\n90.001 - prepares\n90.002 - note n=n_1\n90.003 - writes file=f_1\n90.004 - writes file=f_2";
    let spans = run(&sketch::model(model), &(records(30) + two));
    assert_eq!(spans.lines().last(), Some("store: 95 opens"));
}

/// A line that names nothing stands in the middle of two spans, of which one has printed
/// since what it prints instead.
#[test]
fn what_stands_in_the_middle_of_one_span_only_is_of_that() {
    let model = "
        point begun id=File.id
        point loads
        point done id=File.id
        point asked id=Copy.id
        point skips id=Copy.id
        point kept id=Copy.id
        top work Task id=File.id
          >begun loads done
          loads done
          done<
        top copy Task id=Copy.id
          >asked loads skips
          loads kept
          kept<
          skips<
        top load Task
          >loads kept
          kept<";
    let records = |last: &str| {
        format!(
            "1.000 - begun id=f_77771
             1.030 - asked id=c_88881
             1.060 - loads
             1.090 - {last} id=c_88881
             1.120 - done id=f_77771"
        )
    };
    check(
        model,
        &records("skips"),
        "work: 1 opens; 3 order, the only one around; 5 1 id
         copy: 2 opens; 4 1 id",
    );
    // The other one can have printed it as well.
    check(
        model,
        &records("kept"),
        "work: 1 opens; 5 1 id
         copy: 2 opens; 4 1 id, skips
         load: 3 opens | before 4 5",
    );
}

/// Two openers print what everybody does, and then each a line that names its file.
fn openers() -> String {
    let others: String = (0..40).map(|n| format!("top other{n} Task\n>loads\n>noted{n}<\n")).collect();
    let noted: String = (0..40).map(|n| format!("point noted{n}\n")).collect();
    format!(
        "point loads
         point opened file=File.id
         {noted}top open Task file=File.id
         >loads opened
         opened<
         {others}"
    )
}

#[test]
fn equal_parts_look_as_far_ahead_as_there_are_as_many_spans_as_parts() {
    let text = "1.000 - loads\n1.001 - loads\n1.300 - opened file=f_77771\n1.400 - opened file=f_88881";
    let hosts = |text: &str| {
        let spans = run(&sketch::model(&openers()), text);
        spans.lines().filter_map(|line| Some(line.split_once(" | ")?.1.to_owned())).collect::<Vec<_>>()
    };
    assert_eq!(hosts(text), ["before 3 4", "before 3 4"]);
    // Of three parts one belongs to neither.
    assert!(hosts(&text.replace("1.300", "1.002 - loads\n1.300")).is_empty());
    // One alone does not look so far.
    assert!(hosts(&text.replace("1.000 - loads\n", "")).is_empty());
}

#[test]
fn what_stands_together_is_not_torn_apart_by_what_follows_it() {
    let model = "
        point prepares
        point readies
        point copies file=File.id
        point done file=File.id
        top work Task file=File.id
          >prepares readies
          readies done
          done<
        top copy Task file=File.id
          >readies copies
          copies<";
    let shown = |n: u32| format!("{n}.000 - prepares\n{n}.001 - readies\n{n}.002 - done file=f_{n}4\n");
    let records = (10..20).map(shown).collect::<String>()
        + "100.000 - prepares\n100.001 - readies\n100.002 - copies file=f_77771";
    let spans = run(&sketch::model(model), &records);
    let last: Vec<&str> = spans.lines().rev().take(2).collect();
    assert_eq!(last, ["copy: 33 opens, start not seen", "work: 31 opens; 32 stands together"]);
}

/// What prints a text line by line, for whoever has one.
const TEXTS: &str = "
    point begins id=Id.n
    point line text=Text.t
    point done id=Id.n
    top work Task id=Id.n
      >begins line
      line* done
      done<
    top print Task text=Text.t
      >line*<";

fn printed(model: &str, records: &str) -> String {
    let mut model = sketch::model(model);
    let line = sketch::point(&model, "line");
    let template = schema::Template { regex: "(.*?)".to_owned(), captures: vec![0] };
    model.log_points[line.index()].templates = vec![template];
    run(&model, records)
}

#[test]
fn the_lines_of_one_text_stand_together() {
    let records = "1.000 - line text=a_100
                   1.000 - line text=b_100
                   9.000 - line text=c_100";
    assert_eq!(printed(TEXTS, records), "work: 1 opens; 2 stands together\nprint: 3 opens\n");
}

#[test]
fn a_line_of_a_text_is_of_who_prints_one_in_between() {
    let records = "1.000 - begins id=f_88
                   3.000 - begins id=f_77
                   3.300 - line text=a_100
                   3.300 - done id=f_77";
    let model = TEXTS.replace("print Task text=Text.t", "print Task");
    let expected = "work: 1 opens\nwork: 2 opens; 3 order, the only one around; 4 1 id, skips\n";
    assert_eq!(printed(&model, records), expected);
}

/// Two equal lines in a row are of one span if it has a place of its own for each; of one place
/// that is printed again and again, any of them can be somebody else's.
#[test]
fn equal_lines_at_one_place_are_of_who_prints_each_of_them_once() {
    let sketch = |again: &str| {
        let mut model = sketch::model(&format!(
            "point begin job=Job.id
             point set
             point again
             point end job=Job.id
             top work Task job=Job.id
               >begin set
               set{again}
               end<
             top other Task
               >set"
        ));
        let (set, again) = (sketch::point(&model, "set"), sketch::point(&model, "again"));
        let nodes = model.top_level_methods.iter_mut().flat_map(|top| &mut top.dag.nodes);
        nodes.flat_map(|node| &mut node.points).for_each(|point| {
            if point.log_point == again {
                point.log_point = set;
            }
        });
        model
    };
    let lines = "1.0 - begin job=job_0001\n1.5 - set\n1.7 - set\n1.9 - end job=job_0001\n";
    let whole = "work: 1 opens; 2 order, the only one around; 3 order, the only one around; 4 1 id, skips\n";
    assert_eq!(run(&sketch(" again end\nagain end"), lines), whole);
    let apart = "work: 1 opens; 4 1 id, skips\nother: 2 opens\nother: 3 opens\n";
    assert_eq!(run(&sketch("* end"), lines), apart);
}

/// A line that moves nearly always follow, though most moves are of somebody else.
const FOLLOWED: &str = "
    point asks n=Count.n
    point moves file=File.id
    point copies file=File.id
    point begun file=File.id
    top work Task
      >asks moves
      moves*<
    top move Task file=File.id
      >moves<
    top copy Task file=File.id
      >moves copies
      copies<
    top other Task file=File.id
      >begun moves
      moves<";

fn last_of_followed(n_shown: usize, records: &str) -> Vec<String> {
    let asked = (0..n_shown).map(|n| format!("{n}.000 - asks n=1\n{n}.001 - moves file=f_{n}4\n"));
    let alone = (0..2 * n_shown).map(|n| format!("{}.000 - moves file=f_{n}5\n", 100 + n));
    let shown: String = asked.chain(alone).collect();
    // The decoder needs less of it, where the code has the lines in this order.
    let without = Passes::default().with(Pass::Decoder);
    let config = Config { node: "n".to_owned(), without, ..Config::default() };
    let model = sketch::model(FOLLOWED);
    let spans = run_with(&model, &model, &(shown + records), &config);
    let first = 4 * n_shown + 1;
    let begins = |span: &&str| span.split_whitespace().nth(1).and_then(|n| n.parse().ok()) >= Some(first);
    spans.lines().filter(begins).map(str::to_owned).collect()
}

#[test]
fn what_nearly_always_follows_a_line_is_of_its_thread() {
    let records = "900.000 - asks n=2\n900.001 - moves file=f_771";
    assert_eq!(last_of_followed(10, records), ["work: 41 opens; 42 stands together"]);
    // The log has not shown it.
    assert_eq!(last_of_followed(2, records), ["work: 9 opens", "move: 10 opens"]);
    // Somebody is at work on what it names.
    let records = "900.000 - begun file=f_771\n900.001 - asks n=2\n900.002 - moves file=f_771";
    assert_eq!(last_of_followed(10, records), ["other: 41 opens; 43 1 id", "work: 42 opens"]);
}

#[test]
fn so_is_each_line_of_a_loop_whatever_comes_next() {
    let records = "900.000 - asks n=2\n900.001 - moves file=f_771\n900.001 - moves file=f_772";
    assert_eq!(last_of_followed(10, records), ["work: 41 opens; 42 stands together; 43 stands together"]);
    let records = format!("{records}\n900.002 - copies file=f_773");
    let work = "work: 41 opens; 42 stands together; 43 stands together";
    assert_eq!(last_of_followed(10, &records), [work, "copy: 44 opens, start not seen"]);
}

#[test]
fn a_loop_that_names_nothing_is_not_torn_apart_by_what_follows_it() {
    let model = FOLLOWED.replace("point moves file=File.id", "point moves");
    let shown: String = (0..10).map(|n| format!("{n}.000 - asks n=1\n{n}.001 - moves\n")).collect();
    let records = "900.000 - asks n=2\n900.001 - moves\n900.001 - moves\n900.002 - copies file=f_773";
    let spans = run(&sketch::model(&model), &(shown + records));
    let last: Vec<&str> = spans.lines().skip(10).collect();
    let work = "work: 21 opens; 22 stands together; 23 stands together";
    assert_eq!(last, [work, "copy: 24 opens, start not seen"]);
}

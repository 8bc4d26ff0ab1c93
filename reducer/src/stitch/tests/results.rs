//! Who begins with what others have done for him.

use super::*;

/// Who asks for a write prints the table, who writes the table and the file, and who has
/// started that nothing before it is done, but then a list of files; `is_after`: that is what
/// the analysis says.
fn model(is_after: bool) -> Model {
    let mut model = sketch::model(
        "point p
         point q
         point r
         top ask Task table=Table.name
           >r
         top flush Task table=Table.name
           >p
         top write Task table=Table.name file=File.name
           >q
         pair ask flush Thread table=table
         pair flush write Thread many",
    );
    if is_after {
        model.communication_pairs[1].after = vec![sketch::point(&model, "p")];
    } else {
        model.communication_pairs[1].before = vec![sketch::point(&model, "p")];
    }
    model
}

fn lines(thread: &str, at: &str, file: &str) -> String {
    format!(
        "a w write table=users-7 file=/data/part-0001 q@1.1 q@1.2
         a {thread} flush p@{at}#[Reader('{file}')]"
    )
}

#[test]
fn who_begins_with_what_tasks_have_made_has_started_them() {
    let file = "/data/part-0001";
    check_model(&model(true), &lines("f", "5.0", file), "1 2 2>1");
    // What can be printed before they are started tells nothing of what they have made.
    check_model(&model(false), &lines("f", "5.0", file), "1\n2");
    // Another file, one of which this is a part of the name, another node.
    check_model(&model(true), &lines("f", "5.0", "/data/part-0002"), "1\n2");
    check_model(&model(true), &lines("f", "5.0", "/data/part-0001-tmp"), "1\n2");
    check_model(&model(true), &lines("f", "5.0", file).replace("a f", "b f"), "1\n2");
}

#[test]
fn who_prints_nothing_before_he_starts_a_task_is_gone_past() {
    let text = "a c ask table=users-7 1.0-1.0\n".to_owned() + &lines("f", "5.0", "/data/part-0001");
    check_model(&model(true), &text, "1 2 3 1>2 1>3");
    // He would have been seen.
    check_model(&model(false), &text, "1 3 1>3\n2");
}

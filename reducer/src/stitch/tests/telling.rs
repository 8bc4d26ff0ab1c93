//! Who tells, within a text, of what is handed over.

use super::*;

#[test]
fn who_tells_of_each_of_several_tasks_hands_over_all_of_them() {
    let model = "
        point p
        top open Task region=Region.name
          >p
        top load Task file=File.name
          >p
        pair open load Thread many";
    let files = ["e14ea2733d624ec3bbe68c4fc8b7a583", "05fe1b0674a6409eb847c634ef67f2b0"];
    let told = |other: &str| {
        format!(
            "a t1 open region=r1 p@1.0 p@1.02#/data/{0} p@1.04#/data/{other}
             a l1 load file={0} 1.01-1.01
             a l2 load file={1} 1.03-1.03
             a t4 open region=r2 1.0-1.1",
            files[0], files[1]
        )
    };
    // That the two are called differently is why there are two.
    check(model, &told(files[1]), "1 2 3 1>2 1>3\n4");
    check(model, &told("another"), "1 2 1>2\n4\n3");
}

#[test]
fn a_main_that_waits_for_what_it_has_started_tells_of_nothing_any_more() {
    let model = sketch::model(
        "
        point p
        top main Task region=Region.name
          >p
        top load Task file=File.name
          >p
        pair main load Thread many",
    );
    let mut as_main = model.clone();
    let top = &mut as_main.top_level_methods[sketch::top(&model, "main").index()];
    top.method = "main".to_owned();
    top.descriptor = "([Ljava/lang/String;)V".to_owned();
    let loads = |at: &str| {
        let file = "e14ea2733d624ec3bbe68c4fc8b7a583";
        format!(
            "a t1 main region=r1 p@1.0 p@1.02#/data/{file} p@9.0
             a l1 load file={file} {at}-{at}
             a t4 main region=r2 1.0-9.0"
        )
    };
    check_model(&as_main, &loads("1.03"), "1 2 1>2\n3");
    check_model(&as_main, &loads("3.5"), "1\n3\n2");
    // A task goes on with its work in silence.
    check_model(&model, &loads("3.5"), "1 2 1>2\n3");
}

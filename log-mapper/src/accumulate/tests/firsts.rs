//! Which top-level method a span is of: what it can begin with, and what nothing tells apart.

use schema::{LinkKind, Model, Successors, sketch};

use super::{Config, Sketched, accumulate};

/// The methods of each span of `log` that nothing tells apart, best first.
fn alike(model: &Model, log: &str) -> Vec<String> {
    let mut records = Sketched { model, lines: log.lines().enumerate() };
    let accumulated = accumulate(model, &mut records, &Config::default());
    let spans = accumulated.accumulators.iter().flat_map(|accumulator| &accumulator.spans);
    let names = |span: &schema::Span| {
        let tops = span.top_levels[..span.n_alike as usize].iter();
        let names = tops.map(|top| &*model.top_level_methods[top.index()].method);
        names.collect::<Vec<&str>>().join(" ")
    };
    spans.map(names).collect()
}

/// What begins with `starts` and can print all else after it, in any order, since it is too large
/// for one; and what prints `stored` alone.
fn large(firsts: &[&str]) -> Model {
    let mut model = sketch::model(
        "point starts
         point stored
         point ends
         top activate RpcHandler
           >starts|stored|ends*<
         top report RpcHandler
           >stored ends
           ends<",
    );
    let firsts = firsts.iter().map(|name| vec![sketch::point(&model, name)]).collect();
    model.successors = Successors::new(Vec::new(), firsts, [Vec::new(), Vec::new()], Default::default());
    model
}

#[test]
fn what_begins_otherwise_has_not_printed_it() {
    assert_eq!(alike(&large(&["starts", "stored"]), "1.0 t stored"), ["report"]);
    assert_eq!(alike(&large(&["starts", "stored"]), "1.0 t starts\n1.1 t stored"), ["activate"]);
    // Of what nothing is known, the order alone says it.
    assert_eq!(alike(&large(&[]), "1.0 t stored"), ["activate report"]);
    // None can begin with it by the code: the order alone says it.
    assert_eq!(alike(&large(&["starts", "stored"]), "1.0 t ends"), ["activate"]);
}

/// Two tasks that flush a region, of which one knows which, and close it at last; by the code only
/// the other one begins with that.
fn region() -> Model {
    let mut model = sketch::model(
        "point opens
         point flushes region=Region.name
         point closes
         top open Task region=Region.name
           >opens|flushes|closes*<
         top close Task
           >flushes|closes*<",
    );
    let points = |names: &[&str]| names.iter().map(|name| sketch::point(&model, name)).collect();
    let firsts = vec![points(&["opens", "flushes"]), points(&["flushes", "closes"])];
    model.successors = Successors::new(Vec::new(), firsts, [Vec::new(), Vec::new()], Default::default());
    model
}

#[test]
fn what_other_pools_run_is_not_what_this_one_runs() {
    let flush = "3.0 closer-2 flushes region=users_1";
    assert_eq!(alike(&region(), flush), ["open"], "it names what that knows");
    let log = format!("1.0 closer-1 closes\n2.0 opener-1 opens\n{flush}");
    assert_eq!(alike(&region(), &log), ["close", "open", "close"]);
    // Nothing shows where the one runs that names it.
    assert_eq!(alike(&region(), &format!("1.0 closer-1 closes\n{flush}")), ["close", "open"]);
    // Of one pool that runs both, nothing but the names tells.
    let log = log.replace("opener-1", "closer-3");
    assert_eq!(alike(&region(), &log), ["open close", "open", "open"]);
}

/// Two that remote callers are served by, which print the same, and a task that does; of these
/// `asked` are asked for by a client.
fn served(asked: &[&str]) -> Model {
    let mut text = "point price
         top ask Task
         top find DispatchTarget
           >price<
         top remove DispatchTarget
           >price<
         top tell Task
           >price<"
        .to_owned();
    asked.iter().for_each(|top| text += &format!("\npair ask {top} Http"));
    let mut model = sketch::model(&text);
    for (top, verb) in [("find", "GET"), ("remove", "DELETE")] {
        let id = sketch::top(&model, top);
        model.top_level_methods[id.index()].serves = vec![format!("{verb} /prices/{{}}")];
    }
    assert!(model.communication_pairs.iter().all(|pair| pair.kind == LinkKind::Http));
    model
}

#[test]
fn of_what_is_served_that_is_meant_which_is_asked_for() {
    assert_eq!(alike(&served(&[]), "1.0 t price"), ["find remove tell"]);
    assert_eq!(alike(&served(&["find"]), "1.0 t price"), ["find tell"]);
    assert_eq!(alike(&served(&["remove"]), "1.0 t price"), ["remove tell"]);
    assert_eq!(alike(&served(&["find", "remove"]), "1.0 t price"), ["find remove tell"]);
}

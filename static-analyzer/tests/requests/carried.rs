//! Closures that get to who runs them inside of another one, and what calls them how
//! often (`Carried.java`).

use static_analyzer::rules::Rules;

use super::{analyze, model};

#[test]
fn a_closure_within_a_wrapper_of_many_runs_where_the_wrapper_does() {
    let analysis = analyze(&Rules::default());
    let members = analysis.members("Carried$Work.run");
    for told in ["Carried.lambda$tellA$", "Carried.lambda$tellM$"] {
        assert!(members.iter().any(|member| member.starts_with(told)), "{members:?}");
        assert!(!analysis.kinds().keys().any(|top| top.starts_with(told)));
    }
}

#[test]
fn what_holds_one_thing_at_most_calls_once() {
    let model = model();
    let is_it = |top: &&schema::TopLevelMethod| &*top.class == "Carried$Work" && &*top.method == "run";
    let top = model.top_level_methods.iter().find(is_it).expect("the top-level method");
    let repeats = |line: &str| {
        let point =
            model.log_points.iter().position(|p| p.templates.iter().any(|t| t.regex.starts_with(line)));
        let id = schema::LogPointId::new(point.expect("the log point"));
        top.dag.nodes.iter().filter(|n| n.points.iter().any(|p| p.log_point == id)).all(|n| n.repeats)
    };
    assert!(!repeats("found "));
    assert!(!repeats("keeps "));
    assert!(repeats("each "));
    // A method of the program shows how often it calls.
    assert!(repeats("over "));
    assert!(!repeats("once "));
}

#[test]
fn what_is_in_a_list_runs_where_the_list_is_gone_through() {
    let members = analyze(&Rules::default()).members("Carried$Work.run");
    assert!(members.contains(&"Carried.drop".to_owned()), "{members:?}");
}

#[test]
fn what_stands_on_the_other_branch_is_beside_the_hand_off() {
    let model = model();
    let class = |top: schema::TopLevelId| &*model.top_level_methods[top.index()].class;
    let mut pairs = model.communication_pairs.iter();
    let pair = pairs.find(|pair| class(pair.from) == "Carried$Work" && class(pair.to) == "Carried$Late");
    let pair = pair.expect("it starts the late one");
    let has = |points: &[schema::LogPointId], line: &str| {
        let mut templates = points.iter().flat_map(|point| &model.log_points[point.index()].templates);
        templates.any(|template| template.regex.starts_with(line))
    };
    assert!(has(&pair.beside, "does at once"));
    assert!(has(&pair.before, "puts off") && !has(&pair.beside, "puts off"));
    assert!(!has(&pair.beside, "works on ") && !has(&pair.beside, "each "));
}

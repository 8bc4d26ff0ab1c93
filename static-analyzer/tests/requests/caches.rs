//! Listeners that a cache keeps (`Caches.java`).

use static_analyzer::rules::Rules;

use super::{analyze, model};

#[test]
fn a_listener_that_a_cache_keeps_runs_within_the_calls_on_the_cache() {
    let analysis = analyze(&Rules::default());
    assert_eq!(analysis.members("Caches$Read.run"), ["Caches$Read.run", "Caches$Shelf$1.onRemoval"]);
    assert_eq!(analysis.members("Caches$Bind.run"), ["Caches$Bind.run", "Caches$Covers.onRemoval"]);
    let kinds = analysis.kinds();
    assert!(!kinds.contains_key("Caches$Shelf$1.onRemoval"), "begins no work of its own");
    assert!(!kinds.contains_key("Caches$Covers.onRemoval"), "begins no work of its own");
    assert!(kinds.contains_key("Caches$Lonely.onRemoval"), "no call on its cache is seen");
}

#[test]
fn what_a_cache_tells_its_listener_names_nothing_of_the_work_around() {
    let model = model();
    let classes_of = |class: &str| {
        let points = model.log_points.iter().filter(move |point| point.class == class);
        points.flat_map(|point| point.variables.iter().map(|v| v.value_class.is_some())).collect::<Vec<_>>()
    };
    assert_eq!(classes_of("Caches$Covers"), [false]);
    assert_eq!(classes_of("Caches$Lonely"), [true], "no keeper is seen to tell it anything");
}

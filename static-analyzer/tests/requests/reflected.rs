//! Objects that reflection makes (`Reflected.java`).

use static_analyzer::rules::Rules;

use super::analyze;

#[test]
fn reflection_can_make_what_nobody_else_makes_of_the_type_that_is_asked_for() {
    let analysis = analyze(&Rules::default());
    let made = analysis.graph.reflected.iter().map(|&(method, class)| {
        (analysis.name(method), analysis.program.classes[class.index()].name.to_string())
    });
    let made: Vec<_> = made.filter(|(method, _)| method.starts_with("Reflected.")).collect();
    assert_eq!(made, [("Reflected.plan".to_owned(), "Reflected$Daily".to_owned())]);
}

//! Lines that say that something came out of its turn (`Turns.java`).

use static_analyzer::rules::Rules;

use super::analyze;

/// Which line names what it prints, by the first words of its templates.
fn names(text: &str) -> bool {
    let analysis = analyze(&Rules::default());
    let prints = |regex: &str| regex.starts_with(text);
    let mut points = analysis.log_points.iter();
    let point = points.find(|point| point.templates.iter().any(|t| prints(&t.regex))).expect("a log point");
    assert!(!point.variables.is_empty());
    point.variables.iter().any(|variable| variable.value_class.is_some())
}

#[test]
fn a_line_about_the_turn_names_nothing() {
    assert!(!names("turns got "));
    assert!(!names("turns replays "));
}

#[test]
fn a_line_about_the_thing_names_it() {
    assert!(names("turns follows "));
    // The number is not the one due: it is no more than compared.
    assert!(names("turns not the highest "));
    // Nobody counts with what it is compared with.
    assert!(names("turns not above the highest "));
}

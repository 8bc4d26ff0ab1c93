//! What the variables of log points are called: a fixture's line `// names: A, B`
//! stands above `// sink:` and gives the access paths of the log call below it.

use std::path::Path;

use static_analyzer::log_points::{log_points, path_text};
use static_analyzer::program;

#[test]
fn variables_are_called_by_what_they_come_from() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/strings");
    let mut n_checked = 0;
    for (file, class) in [("Named", "sinks/Named"), ("Made", "sinks/made/Made")] {
        n_checked += check(&folder, file, class);
    }
    assert_eq!(n_checked, 21);
}

/// How many variables of a fixture were checked.
fn check(folder: &Path, file: &str, class: &str) -> usize {
    let source = std::fs::read_to_string(folder.join(format!("java/{file}.java")));
    let source = source.expect("a committed fixture");
    let lines: Vec<&str> = source.lines().collect();
    let mut n_checked = 0;
    for release in ["8", "11", "17"] {
        let program =
            program::load(&[folder.join("classes").join(release)], &Default::default()).expect("classes");
        let points = log_points(&program);
        for (i, line) in lines.iter().enumerate() {
            let Some(wanted) = line.trim_start().strip_prefix("// names: ") else { continue };
            let at = u32::try_from(i + 3).expect("a short file");
            let point = points.iter().find(|p| {
                let holder = &program.classes[program.methods[p.method.index()].class.index()];
                p.source_line == at && holder.name == class
            });
            let point = point.unwrap_or_else(|| panic!("no log point at line {at}"));
            let names: Vec<String> = point
                .variables
                .iter()
                .map(|v| {
                    v.path.as_ref().map_or_else(|| v.text.clone(), |p| path_text(&program, point.frame, p))
                })
                .collect();
            // Without names of parameters in the class they are numbered.
            assert_eq!(names.join(", ").replace("p1", "key"), wanted, "Java {release}, line {at}");
            n_checked += 1;
        }
    }
    n_checked
}

/// A class that keeps what its own static method makes in one field calls its objects by
/// it; what is put together of any characters is one value.
#[test]
fn what_a_class_keeps_is_of_one_kind_with_what_it_makes() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/strings/classes/17");
    let program = program::load(&[folder], &Default::default()).expect("classes");
    let points = log_points(&program);
    let class_in = |class: &str, method: &str| {
        let point = points.iter().find(|p| {
            let m = &program.methods[p.method.index()];
            m.name == method && program.classes[m.class.index()].name == class
        });
        let point = point.expect("a log point");
        assert_eq!(point.templates[0].regex.matches('(').count(), 1, "{:?}", point.templates);
        point.variables[0].value_class.map(|class| class.to_string())
    };
    assert_eq!(class_in("sinks/Kept", "found").as_deref(), Some("Kept.code"));
    // In two fields: nothing follows.
    assert_ne!(class_in("sinks/Kept", "cut").as_deref(), Some("Kept.code"));
    // What a call gives is called by the field that it was put into.
    assert_eq!(class_in("sinks/made/Made", "placed").as_deref(), Some("Made$Place.form"));
}

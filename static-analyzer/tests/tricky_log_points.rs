//! Log points of real systems that are hard to read, with lines they printed:
//! the template must match the whole line, and the captures must be the values.
//!
//! `fixtures/tricky/SYSTEM.txt` holds blocks of lines `point CLASS.METHOD:LINE`
//! (`from CLASS.METHOD:LINE` for wrappers), `line TEXT` (`\n`, `\t` and `\\` as
//! in Java) and `value PATH = TEXT`. The jars are looked for in `$LPROF_JARS` or
//! the user's cache; without them the test says so and does nothing.

use std::path::{Path, PathBuf};

use regex::RegexBuilder;
use static_analyzer::log_points::{log_points, path_text};
use static_analyzer::path::LogPoint;
use static_analyzer::program::{self, MethodId, Program};

struct Case {
    point: String,
    line: String,
    values: Vec<(String, String)>,
}

fn jars(system: &str) -> Option<Vec<PathBuf>> {
    let cache = std::env::var_os("LPROF_JARS").map(PathBuf::from).or_else(|| {
        let home = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
        let home = home.or_else(|| std::env::var_os("HOME").map(|h| Path::new(&h).join(".cache")));
        home.map(|h| h.join("lprof/jars"))
    })?;
    let files = std::fs::read_dir(cache.join(system)).ok()?;
    let mut jars: Vec<PathBuf> = files.filter_map(|f| f.ok().map(|f| f.path())).collect();
    jars.sort();
    (!jars.is_empty()).then_some(jars)
}

fn cases(text: &str) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    for line in text.lines().filter(|l| !l.is_empty() && !l.starts_with('#')) {
        let (word, rest) = line.split_once(' ').expect("a word and its text");
        match word {
            "point" => cases.push(Case { point: rest.to_string(), line: String::new(), values: Vec::new() }),
            "line" => cases.last_mut().expect("a point first").line = unescape(rest),
            "value" => {
                let (path, value) = rest.split_once(" = ").expect("PATH = TEXT");
                cases.last_mut().expect("a point first").values.push((path.to_string(), value.to_string()));
            }
            _ => panic!("unknown word `{word}`"),
        }
    }
    cases
}

fn unescape(text: &str) -> String {
    text.replace("\\n", "\n").replace("\\t", "\t").replace("\\\\", "\\")
}

fn site(program: &Program, method: MethodId, line: u32) -> String {
    let method = &program.methods[method.index()];
    let class = program.classes[method.class.index()].name;
    format!("{}.{}:{line}", class.rsplit('/').next().unwrap_or(&class), method.name)
}

fn name(program: &Program, point: &LogPoint) -> String {
    let own = site(program, point.method, point.source_line);
    match point.call_line {
        Some(line) => format!("{own} from {}", site(program, point.frame, line)),
        None => own,
    }
}

fn judge(program: &Program, points: &[LogPoint], case: &Case) -> Result<(), String> {
    let mut why = format!("{}: no such log point", case.point);
    for point in points.iter().filter(|p| name(program, p) == case.point) {
        why = format!("{}: no template matches `{}`", case.point, case.line);
        for template in &point.templates {
            let regex =
                RegexBuilder::new(&format!("^(?:{})$", template.regex)).dot_matches_new_line(true).build();
            let regex = regex.map_err(|e| e.to_string())?;
            let Some(captures) = regex.captures(&case.line) else { continue };
            let mut found = Vec::new();
            for (i, &variable) in template.captures.iter().enumerate() {
                let path = point.variables[variable as usize].path.as_ref();
                let path = path.map(|p| path_text(program, point.frame, p));
                found.extend(path.zip(captures.get(i + 1).map(|m| m.as_str().to_string())));
            }
            let missing = case.values.iter().find(|wanted| !found.contains(wanted));
            match missing {
                None => return Ok(()),
                Some((path, value)) => {
                    why = format!("{}: `{path}` is not `{value}` in {found:?}", case.point)
                }
            }
        }
    }
    Err(why)
}

fn check(system: &str, text: &str) {
    let Some(jars) = jars(system) else {
        eprintln!("{system}: skipped, no jars in the cache");
        return;
    };
    let program = program::load(&jars, &Default::default()).expect("readable jars");
    let points = log_points(&program);
    let faults: Vec<String> =
        cases(text).iter().filter_map(|case| judge(&program, &points, case).err()).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn hdfs_2_7_3() {
    check("hdfs-2.7.3", include_str!("fixtures/tricky/hdfs-2.7.3.txt"));
}

#[test]
fn yarn_2_0_2_alpha() {
    check("yarn-2.0.2-alpha", include_str!("fixtures/tricky/yarn-2.0.2-alpha.txt"));
}

#[test]
fn spark_3_5_1() {
    check("spark-3.5.1", include_str!("fixtures/tricky/spark-3.5.1.txt"));
}

//! Rules of this repository that a compiler does not hold: which crate may use
//! which, that files say what they are, that functions fit a screen, that nothing
//! is left over from work, and that documents tell the scores that are held and every file.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

#[path = "support/accuracy.rs"]
mod accuracy;

/// Lines of a function, from its signature to its closing brace.
const FUNCTION_LINES_MAX: usize = 70;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// All Rust files of the crates, tests and benches among them.
fn sources() -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for folder in ["src", "tests", "schema", "static-analyzer", "log-mapper", "reducer"] {
        walk(&root().join(folder), &mut found);
    }
    found.sort();
    assert!(found.len() > 50, "the crates have files");
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        (path, text)
    };
    found.into_iter().map(read).collect()
}

fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
        if entry.is_dir() && entry.file_name().is_some_and(|name| name != "target") {
            walk(&entry, found);
        } else if entry.extension().is_some_and(|e| e == "rs") {
            found.push(entry);
        }
    }
}

#[track_caller]
fn check(faults: Vec<String>) {
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n"));
}

fn at(path: &Path, line: usize, what: &str) -> String {
    format!("{}:{line}: {what}", path.strip_prefix(root()).unwrap_or(path).display())
}

#[test]
fn crates_meet_only_in_schema() {
    let ours = ["schema", "static-analyzer", "log-mapper", "reducer", "lprof"];
    let mut faults = Vec::new();
    for name in ours.iter().filter(|name| **name != "lprof") {
        let path = root().join(name).join("Cargo.toml");
        let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        for (i, line) in text.lines().enumerate() {
            let used = line.split(['.', ' ', '=']).next().unwrap_or_default();
            let may = used == "schema" && *name != "schema";
            if ours.contains(&used) && !may {
                faults.push(at(&path, i + 1, &format!("{name} may not use {used}")));
            }
        }
    }
    check(faults);
}

#[test]
fn heavy_crates_stay_where_they_belong() {
    let allowed = [
        ("cafebabe::", "static-analyzer/"),
        ("sled::", "reducer/src/catalog.rs"),
        ("arrow_array::", "schema/src/tables"),
        ("parquet::arrow", "schema/src/tables"),
        ("datafusion::", "src/query"),
        ("rustyline::", "src/query"),
        ("clap::", "src/args"),
        ("anyhow::", "src/commands"),
    ];
    let mut faults = Vec::new();
    for (path, text) in sources() {
        let relative = path.strip_prefix(root()).unwrap_or(&path).to_string_lossy().into_owned();
        for (i, line) in text.lines().enumerate() {
            for (name, home) in allowed {
                if names(line, name).next().is_some() && !relative.starts_with(home) {
                    faults.push(at(&path, i + 1, &format!("{name} belongs in {home}")));
                }
            }
        }
    }
    check(faults);
}

/// What follows `path` wherever a line of code names it.
fn names<'a>(line: &'a str, path: &'a str) -> impl Iterator<Item = &'a str> {
    let code = if line.trim_start().starts_with("//") { "" } else { line };
    let is_whole = |at: usize| !code[..at].ends_with(|c: char| c.is_alphanumeric() || "_:\"".contains(c));
    code.match_indices(path).filter(move |(at, _)| is_whole(*at)).map(|(at, _)| &code[at + path.len()..])
}

/// What each module at the top of the library uses of the others, and a place where it does.
type Uses = BTreeMap<String, BTreeMap<String, (PathBuf, usize)>>;

/// Finds them; what is named in another way than `crate::module` is a fault.
fn uses_of_modules(faults: &mut Vec<String>) -> Uses {
    let read =
        |path: &str| std::fs::read_to_string(root().join(path)).unwrap_or_else(|e| panic!("{path}: {e}"));
    let index = read("src/lib.rs");
    let module = |line: &str| {
        Some(line.trim_start_matches("pub ").strip_prefix("mod ")?.strip_suffix(';')?.to_owned())
    };
    let mut uses: Uses = index.lines().filter_map(module).map(|name| (name, BTreeMap::new())).collect();
    assert!(uses.len() > 10, "the library has modules");
    let known: BTreeSet<String> = uses.keys().cloned().collect();
    for (path, text) in sources() {
        let Ok(inner) = path.strip_prefix(root().join("src")) else { continue };
        let first = inner.iter().next().unwrap_or_default().to_string_lossy();
        let Some(of) = uses.get_mut(first.trim_end_matches(".rs")) else { continue };
        for (i, line) in text.lines().enumerate() {
            for rest in names(line, "crate::") {
                let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
                match known.contains(&name) {
                    true => _ = of.entry(name).or_insert_with(|| (path.clone(), i + 1)),
                    false => faults.push(at(&path, i + 1, &format!("`crate::{name}` names no module"))),
                }
            }
        }
    }
    uses
}

#[test]
fn modules_do_not_use_each_other_in_a_circle() {
    let mut faults = Vec::new();
    let uses = uses_of_modules(&mut faults);
    for (module, others) in &uses {
        for (other, (path, line)) in others.iter().filter(|(other, _)| *other != module) {
            let mut reached = BTreeSet::from([other.as_str()]);
            let mut rest = vec![other.as_str()];
            while let Some(next) = rest.pop() {
                rest.extend(uses[next].keys().map(String::as_str).filter(|name| reached.insert(name)));
            }
            if reached.contains(module.as_str()) {
                faults.push(at(path, *line, &format!("{module} uses {other}, which uses {module}")));
            }
        }
    }
    check(faults);
}

#[test]
fn files_say_what_they_are() {
    let faults = sources().into_iter().filter(|(_, text)| !text.starts_with("//! "));
    check(faults.map(|(path, _)| at(&path, 1, "no `//!` header")).collect());
}

#[test]
fn functions_fit_a_screen() {
    let mut faults = Vec::new();
    for (path, text) in sources() {
        let lines: Vec<&str> = text.lines().collect();
        for (i, line) in lines.iter().enumerate() {
            let Some(indent) = function_indent(line) else { continue };
            let closing = format!("{}}}", " ".repeat(indent));
            let is_body =
                |offset: usize| lines.get(i + offset).is_some_and(|line| line.trim_end().ends_with('{'));
            let Some(length) = lines[i..].iter().position(|line| *line == closing) else { continue };
            if length + 1 > FUNCTION_LINES_MAX && (0..10).any(is_body) {
                faults.push(at(&path, i + 1, &format!("a function of {} lines", length + 1)));
            }
        }
    }
    check(faults);
}

/// How far a line that begins a function is indented.
fn function_indent(line: &str) -> Option<usize> {
    let code = line.trim_start();
    let mut words = code.split(' ').skip_while(|word| {
        word.starts_with("pub")
            || matches!(*word, "const" | "async" | "unsafe" | "in")
            || word.ends_with("::")
    });
    let is_function = words.next() == Some("fn") && !code.ends_with(';') && !code.ends_with("{}");
    (is_function && !line.trim_end().ends_with('}')).then_some(line.len() - code.len())
}

#[test]
fn nothing_is_left_over() {
    // Spelled in two parts, so that this file does not find itself.
    let left = [
        concat!("dbg", "!("),
        concat!("FIX", "ME"),
        concat!("to", "do!("),
        concat!("XX", "X:"),
        concat!("HA", "CK"),
    ];
    let mut faults = Vec::new();
    for (path, text) in sources() {
        for (i, line) in text.lines().enumerate() {
            faults.extend(left.iter().filter(|word| line.contains(*word)).map(|word| at(&path, i + 1, word)));
        }
    }
    check(faults);
}

#[test]
fn the_manual_tells_the_scores() {
    let read =
        |name: &str| std::fs::read_to_string(root().join(name)).unwrap_or_else(|e| panic!("{name}: {e}"));
    let document = read("docs/accuracy.md");
    let told = accuracy::told(&document, &read("tests/systems/scores.tsv")).unwrap_or_else(|e| panic!("{e}"));
    if std::env::var_os("LPROF_UPDATE_SCORES").is_some() {
        std::fs::write(root().join("docs/accuracy.md"), told).expect("a document to write");
        return;
    }
    let differ = told.lines().filter(|line| !document.contains(&format!("{line}\n")));
    let differ: Vec<&str> = differ.collect();
    assert!(
        told == document,
        "docs/accuracy.md is of other scores (LPROF_UPDATE_SCORES=1 writes them):\n{}",
        differ.join("\n")
    );
}

#[test]
fn no_path_of_one_machine() {
    let mut faults = Vec::new();
    for (path, text) in sources() {
        for (i, line) in text.lines().enumerate() {
            let roots = [concat!("\"/wo", "rk"), concat!("\"/ho", "me/"), concat!("\"/ro", "ot")];
            faults
                .extend(roots.iter().filter(|word| line.contains(*word)).map(|word| at(&path, i + 1, word)));
        }
    }
    check(faults);
}

#[test]
fn the_code_map_names_every_file() {
    let map = std::fs::read_to_string(root().join("docs/code-map.md")).expect("a code map");
    let named: BTreeSet<&str> = map.split('`').skip(1).step_by(2).flat_map(|n| n.split('/')).collect();
    let is_code = |path: &Path| {
        let parts: Vec<_> = path.iter().collect();
        parts.contains(&"src".as_ref()) && !parts.iter().any(|part| *part == "tests" || *part == "tests.rs")
    };
    let files = sources().into_iter().map(|(path, _)| path).filter(|path| is_code(path));
    let is_named =
        |path: &PathBuf| path.file_stem().is_some_and(|stem| named.contains(&*stem.to_string_lossy()));
    check(files.filter(|path| !is_named(path)).map(|path| at(&path, 1, "not in docs/code-map.md")).collect());
}

//! The fixtures: every log call that follows a line `// sink: REGEX`, and the
//! list of those that are known not to be exact.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// A log call: source file and line.
pub(crate) type Sink = (String, u32);

/// Folders of the sources, each for its release and all later ones.
const SOURCES: [&str; 3] = ["java", "java17", "java21"];

/// Folder of the fixtures.
pub(crate) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/strings")
}

/// The wanted language of every sink compiled for `release`.
pub(crate) fn wanted(release: &str) -> BTreeMap<Sink, String> {
    let mut all = BTreeMap::new();
    let n_sources = match release {
        "21" => 3,
        "17" => 2,
        _ => 1,
    };
    for source in &SOURCES[..n_sources] {
        for entry in fs::read_dir(folder().join(source)).expect("the fixtures are committed") {
            let path = entry.expect("a readable folder").path();
            let name = path.file_name().expect("a file").to_string_lossy().into_owned();
            let text = fs::read_to_string(&path).expect("a readable file");
            for (i, line) in text.lines().enumerate() {
                // Blanks at the end belong to the regex.
                if let Some(regex) = line.trim_start().strip_prefix("// sink: ") {
                    let line = u32::try_from(i + 2).expect("a short file");
                    all.insert((name.clone(), line), regex.to_string());
                }
            }
        }
    }
    all
}

/// How far a sink is from exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Verdict {
    /// The very language.
    Exact,
    /// More than can be printed.
    Wide,
    /// Something that can be printed is missing; worse than `Wide`.
    Narrow,
    /// Nothing was found at the line.
    Missing,
}

impl Verdict {
    /// The word used in the list.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Verdict::Exact => "exact",
            Verdict::Wide => "wide",
            Verdict::Narrow => "narrow",
            Verdict::Missing => "missing",
        }
    }
}

/// The known verdicts that are not exact, of `expected_inexact.txt`: lines of
/// `RELEASES FILE:METHOD VERDICT REASON`, where `RELEASES` is `all` or e.g.
/// `8,11`, and `METHOD` may end in `#2` for the second sink of a method.
pub(crate) fn expected(release: &str) -> BTreeMap<String, String> {
    let path = folder().join("expected_inexact.txt");
    let text = fs::read_to_string(&path).expect("the list is committed");
    let mut all = BTreeMap::new();
    for line in text.lines().filter(|l| !l.is_empty() && !l.starts_with('#')) {
        let mut words = line.split_whitespace();
        let (Some(releases), Some(sink), Some(verdict)) = (words.next(), words.next(), words.next()) else {
            panic!("`{}`: expected `RELEASES FILE:METHOD VERDICT REASON`, got `{line}`", path.display());
        };
        assert!(words.next().is_some(), "`{sink}` has no reason");
        if releases == "all" || releases.split(',').any(|r| r == release) {
            assert!(all.insert(sink.to_string(), verdict.to_string()).is_none(), "`{sink}` is listed twice");
        }
    }
    all
}

/// Names of sinks that outlive edits of a file: `File:method`, with `#2` and on
/// for the later ones of a method.
pub(crate) fn names(sinks: &BTreeMap<Sink, String>) -> BTreeMap<Sink, String> {
    let mut names = BTreeMap::new();
    let mut counts: BTreeMap<String, u32> = BTreeMap::new();
    for (file, line) in sinks.keys() {
        let name = format!("{}:{}", file.trim_end_matches(".java"), method_above(file, *line));
        let count = counts.entry(name.clone()).or_insert(0);
        *count += 1;
        let name = if *count == 1 { name } else { format!("{name}#{count}") };
        names.insert((file.clone(), *line), name);
    }
    names
}

/// The member declaration (four blanks deep) nearest above a line.
fn method_above(file: &str, line: u32) -> String {
    let path = SOURCES.map(|f| folder().join(f).join(file)).into_iter().find(|p| p.exists());
    let text = fs::read_to_string(path.expect("a fixture")).expect("a readable file");
    let lines: Vec<&str> = text.lines().take(line as usize).collect();
    let declaration = lines
        .iter()
        .rev()
        .find(|l| l.starts_with("    ") && !l.starts_with("     ") && l.contains('(') && l.ends_with('{'));
    let before = declaration.and_then(|d| d.split('(').next()).unwrap_or_default();
    before.rsplit(' ').next().unwrap_or_default().to_string()
}

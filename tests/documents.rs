//! README and manual: every command of a `console` block is run, on the sample table, and prints what stands below
//! it. `...` alone in a line stands for any lines. `cargo run ... --` is the command that is tested.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A command of a document, and the lines that it is said to print.
struct Example {
    line: usize,
    command: String,
    printed: Vec<String>,
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// README first, then the manual.
fn documents() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(root().join("docs")).expect("a manual").flatten();
    let mut manual: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    manual.sort();
    [vec![root().join("README.md")], manual].concat()
}

/// The examples of a document: `$ ` begins a command, which ends where its quotes are closed.
fn examples(text: &str) -> Vec<Example> {
    let (mut found, mut is_console): (Vec<Example>, bool) = (Vec::new(), false);
    let is_open = |command: &str| ['\'', '"'].iter().any(|&quote| command.matches(quote).count() % 2 == 1);
    for (i, line) in text.lines().enumerate() {
        if line.starts_with("```") {
            is_console = line == "```console";
        } else if let Some(command) = line.strip_prefix("$ ").filter(|_| is_console) {
            let (command, printed) = (command.to_owned(), Vec::new());
            found.push(Example { line: i + 1, command, printed });
        } else if let Some(example) = found.last_mut().filter(|_| is_console) {
            if example.printed.is_empty() && is_open(&example.command) {
                example.command += &format!("\n{line}");
            } else {
                example.printed.push(line.to_owned());
            }
        }
    }
    found
}

/// Whether `got` is what is said, `...` being any lines.
fn is_printed(said: &[String], got: &[&str]) -> bool {
    match said.split_first() {
        None => got.is_empty(),
        Some((any, rest)) if any == "..." => (0..=got.len()).any(|skipped| is_printed(rest, &got[skipped..])),
        Some((line, rest)) => got.first() == Some(&line.as_str()) && is_printed(rest, &got[1..]),
    }
}

/// What a command prints, on standard output and standard error, in a folder that has the samples of the project.
fn output(command: &str, folder: &Path) -> (bool, String) {
    let command = match command.strip_prefix("cargo run ").and_then(|words| words.split_once("-- ")) {
        Some((_, arguments)) => format!("lprof {arguments}"),
        None => command.to_owned(),
    };
    let script = format!("exec 2>&1\nlprof() {{ '{}' \"$@\"; }}\n{command}", env!("CARGO_BIN_EXE_lprof"));
    let output = Command::new("sh").arg("-c").arg(script).current_dir(folder).output().expect("a shell");
    (output.status.success(), String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
#[cfg(unix)]
fn documents_print_what_they_say() {
    let mut n_examples = 0;
    for document in documents() {
        let text = std::fs::read_to_string(&document).expect("a document");
        let folder = tempfile::tempdir().expect("a temporary folder");
        for name in ["samples", "tests"] {
            std::os::unix::fs::symlink(root().join(name), folder.path().join(name)).expect("a link");
        }
        let sample = "lprof run --table target/sample samples/classes/java17/store.jar samples/logs/";
        if !document.ends_with("README.md") {
            assert!(output(sample, folder.path()).0, "the sample is read");
        }
        for Example { line, command, printed } in examples(&text) {
            let is_sql = command.starts_with("lprof sql") || command.starts_with("lprof query");
            if is_sql && !cfg!(feature = "sql") {
                continue;
            }
            n_examples += 1;
            let (is_done, got) = output(&command, folder.path());
            let at = format!("{}:{line}: {command}", document.display());
            assert!(is_done, "{at}\n{got}");
            let lines: Vec<&str> = got.lines().collect();
            assert!(is_printed(&printed, &lines), "{at}\nsays\n{}\nprints\n{got}", printed.join("\n"));
        }
    }
    assert!(n_examples > 5, "{n_examples} examples");
}

#[test]
fn documents_that_are_named_are_there() {
    for document in documents() {
        let text = std::fs::read_to_string(&document).expect("a document");
        let folder = document.parent().expect("a document in a folder");
        for (_, rest) in text.match_indices("](").map(|(at, _)| text.split_at(at + 2)) {
            let link = rest.split(')').next().unwrap_or_default();
            let path = link.split('#').next().unwrap_or_default();
            let is_there = path.is_empty() || path.contains("://") || folder.join(path).exists();
            assert!(is_there, "{}: no `{link}`", document.display());
        }
    }
}

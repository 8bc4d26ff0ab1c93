//! The layouts of the logs that were read, a line each: how many logs have it, and how much of
//! them it explains.

use std::collections::BTreeMap;

use anyhow::Result;
use log_mapper::Found;
use schema::InputAccount;

use crate::output::{Voice, grouped};
use crate::render::neutral;

/// Files that have one layout, and how it was found.
#[derive(Default)]
struct Files<'a> {
    /// Node and account of each.
    files: Vec<(&'a str, &'a InputAccount)>,
    /// What the layout explains of those of which it is counted.
    found: Option<Found>,
}

/// A line a layout; with `-v` each log with how its own was found.
pub(crate) fn print<'a>(
    out: &mut dyn std::io::Write,
    inputs: impl Iterator<Item = (&'a str, &'a InputAccount)>,
    voice: Voice,
) -> Result<()> {
    let mut by_layout: BTreeMap<String, Files<'_>> = BTreeMap::new();
    for (node, input) in inputs {
        let of_layout = by_layout.entry(shown(&input.layout)).or_default();
        of_layout.files.push((node, input));
        if let Some(found) = Found::parse(&input.layout_found) {
            *of_layout.found.get_or_insert_default() += found;
        }
    }
    for (layout, of_layout) in by_layout {
        writeln!(out, "layout `{}` ({})", neutral(&layout), how(&of_layout))?;
        for (node, input) in of_layout.files.iter().filter(|_| voice.verbose) {
            writeln!(out, "  {}: {} ({})", neutral(node), neutral(&input.file), input.layout_found)?;
        }
    }
    Ok(())
}

/// A layout as people write it.
fn shown(layout: &str) -> String {
    let each: Vec<&str> = layout.split(" || ").map(|one| one.trim_end_matches("%n")).collect();
    let layout = each.join(" || ");
    if layout.is_empty() { "none".to_owned() } else { layout.trim_end().to_owned() }
}

/// How the layout of files was found, or that some were told it.
fn how(of_layout: &Files<'_>) -> String {
    let Files { files, found } = of_layout;
    let first = &files[0].1.layout_found;
    if files.len() == 1 {
        return first.clone();
    }
    let n = grouped(files.len() as u64);
    match found {
        Some(found) => format!("found in {n} logs: {found}"),
        None if files.iter().all(|(_, input)| input.layout_found == *first) => {
            format!("{n} logs, {first}")
        }
        None => format!("{n} logs"),
    }
}

#[cfg(test)]
mod tests {
    use schema::InputAccount;

    use super::print;
    use crate::output::Voice;

    #[test]
    fn a_layout_is_a_line_however_many_logs_have_it() {
        let log = |file: &str, layout: &str, found: &str| InputAccount {
            file: file.to_owned(),
            layout: layout.to_owned(),
            layout_found: found.to_owned(),
            ..InputAccount::default()
        };
        let logs = [
            log("a.log", "%d %m%n", "found: 3 of 4 lines, 2 of 3 texts known"),
            log("b.log", "%d %m%n", "found: 10 of 10 lines, 9 of 10 texts known, another about byte 7"),
            log("c.log", "%p %m%n", "given"),
            log("d.log", "%p %m%n", "given"),
            log("e.log", "", "found: 7 records"),
        ];
        let text = |verbose| {
            let mut out = Vec::new();
            let voice = Voice { verbose, ..Voice::default() };
            print(&mut out, logs.iter().map(|log| ("n", log)), voice).expect("a vector takes all");
            String::from_utf8(out).expect("text")
        };
        let short = "layout `%d %m` (found in 2 logs: 13 of 14 lines, 11 of 13 texts known)\n\
                     layout `%p %m` (2 logs, given)\nlayout `none` (found: 7 records)\n";
        assert_eq!(text(false), short);
        assert!(text(true).contains("  n: b.log (found: 10 of 10 lines, 9 of 10 texts known, another"));
    }
}

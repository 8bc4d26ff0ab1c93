//! Logs with threads: what a program prints as `%d{ISO8601} %p %c: %m%n`, laid out as
//! `%d{ISO8601} %p [%t] %c: %m%n`. The truth of each record knows its thread by number; the
//! name that the program gave it is not told, so that a name says who, not what.

use std::collections::BTreeMap;

/// Date, time and level stand before the thread.
const BEFORE: usize = 3;

/// The log of `node` with the thread of each record, as `truth` has it.
///
/// # Errors
/// If the truth lacks a column, or a record does not begin as the layout says.
pub(crate) fn with_threads(log: &str, node: &str, truth: &str) -> Result<String, String> {
    let threads = threads(node, truth)?;
    let mut named = String::with_capacity(log.len() + log.len() / 4);
    for (number, line) in (1_usize..).zip(log.lines()) {
        match threads.get(&*number.to_string()) {
            None => named += line,
            Some(thread) => {
                let end = line.match_indices(' ').nth(BEFORE - 1).map(|(at, _)| at + 1);
                let end = end.ok_or_else(|| format!("{node}:{number}: no header: `{line}`"))?;
                named += &format!("{}[{thread}] {}", &line[..end], &line[end..]);
            }
        }
        named.push('\n');
    }
    Ok(named)
}

/// The thread of each record of `node`, by its line.
fn threads<'t>(node: &str, truth: &'t str) -> Result<BTreeMap<&'t str, &'t str>, String> {
    let mut rows = truth.lines().map(|row| row.split('\t').collect::<Vec<_>>());
    let header = rows.next().unwrap_or_default();
    let at = |name: &str| {
        header.iter().position(|column| *column == name).ok_or_else(|| format!("the truth has no `{name}`"))
    };
    let (of, line, thread) = (at("node")?, at("line")?, at("thread")?);
    Ok(rows.filter(|row| row[of] == node).map(|row| (row[line], row[thread])).collect())
}

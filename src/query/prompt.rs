//! A prompt for queries, with history and completion of words of SQL, tables
//! and columns. A query ends with `;`, and may have several lines.

use std::path::PathBuf;

use crate::error::Result;
use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::history::FileHistory;
use rustyline::{Context, Editor, Helper, Highlighter, Hinter, Validator};

use super::session::Session;
use crate::output;
use crate::render::{Format, neutral};

const WORDS: [&str; 36] = [
    "AND",
    "AS",
    "ASC",
    "BETWEEN",
    "BY",
    "CASE",
    "COUNT",
    "DESC",
    "DESCRIBE",
    "DISTINCT",
    "ELSE",
    "END",
    "EXPLAIN",
    "FROM",
    "GROUP",
    "HAVING",
    "IN",
    "IS",
    "JOIN",
    "LEFT",
    "LIKE",
    "LIMIT",
    "NOT",
    "NULL",
    "ON",
    "OR",
    "ORDER",
    "OVER",
    "SELECT",
    "SHOW TABLES",
    "THEN",
    "UNION",
    "WHEN",
    "WHERE",
    "WITH",
    "approx_percentile_cont",
];

/// Reads queries until the end of input and prints their rows.
pub(crate) fn run(session: &Session, format: Option<Format>) -> Result<()> {
    let mut words: Vec<String> = WORDS.iter().map(ToString::to_string).collect();
    for (table, columns) in &session.names {
        words.push(table.clone());
        words.extend(columns.iter().cloned());
    }
    words.sort();
    words.dedup();
    let mut editor: Editor<Words, FileHistory> = Editor::new()?;
    editor.set_helper(Some(Words { words }));
    let history = history_file();
    if let Some(path) = &history {
        // The first time there is none.
        let _ = editor.load_history(path);
    }
    println_tables(session);
    let mut query = String::new();
    loop {
        let prompt = if query.is_empty() { "lprof> " } else { "   ..> " };
        match editor.readline(prompt) {
            Ok(line) if query.is_empty() && matches!(line.trim(), "exit" | "quit" | "\\q") => break,
            Ok(line) => {
                query.push_str(&line);
                query.push('\n');
            }
            Err(ReadlineError::Interrupted) => query.clear(),
            Err(ReadlineError::Eof) => break,
            Err(error) => return Err(error.into()),
        }
        if query.trim().is_empty() {
            query.clear();
        } else if query.trim_end().ends_with(';') {
            let _ = editor.add_history_entry(query.trim());
            if let Err(error) = session.print(&query, output::format(format)) {
                output::Voice::default().say(&neutral(&format!("{error:#}")).to_string());
            }
            query.clear();
        }
    }
    if let Some(path) = &history {
        // A history that cannot be kept is no reason to fail.
        let _ = editor.save_history(path);
    }
    Ok(())
}

fn println_tables(session: &Session) {
    let names: Vec<&str> = session.names.iter().map(|(table, _)| table.as_str()).collect();
    output::Voice::default()
        .say(&format!("tables: {}; end a query with `;`, leave with ctrl-d", names.join(", ")));
}

fn history_file() -> Option<PathBuf> {
    let state = std::env::var_os("XDG_STATE_HOME").map(PathBuf::from);
    let folder =
        state.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".local/state")))?.join("lprof");
    std::fs::create_dir_all(&folder).ok()?;
    Some(folder.join("history"))
}

#[derive(Helper, Highlighter, Hinter, Validator)]
struct Words {
    words: Vec<String>,
}

impl Completer for Words {
    type Candidate = String;

    fn complete(&self, line: &str, at: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<String>)> {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let start = line[..at]
            .rfind(|c| !is_word(c))
            .map_or(0, |i| i + line[i..].chars().next().map_or(1, char::len_utf8));
        let typed = line[start..at].to_lowercase();
        let fits = |word: &&String| word.to_lowercase().starts_with(&typed);
        Ok((start, self.words.iter().filter(fits).cloned().collect()))
    }
}

//! Clients of PostgreSQL as they are: each runs a script of `tests/postgres/clients` against a served
//! sample, in the version that is pinned there. Where one cannot be fetched (no network, no Python, Node
//! or Java) its test says so and is skipped; `LPROF_REQUIRE_CLIENTS=1` makes that a failure. What clients
//! ask that cannot be run here is recorded in `tests/postgres/recorded`.
#![cfg(feature = "postgres")]

#[path = "support/command.rs"]
#[expect(dead_code, reason = "nothing fails here")]
mod command;
#[path = "support/postgres.rs"]
#[expect(dead_code, reason = "limits are tested with the protocol")]
mod postgres;
#[path = "support/sample.rs"]
mod sample;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Mutex, PoisonError};

use postgres::Server;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/postgres")
}

/// What runs the clients of `language`; none: they cannot be fetched, and the test is skipped.
#[track_caller]
fn fetched(language: &str, client: &str) -> Option<String> {
    // One at a time, since several take them from the same place.
    static FETCHING: Mutex<()> = Mutex::new(());
    let _fetching = FETCHING.lock().unwrap_or_else(PoisonError::into_inner);
    let output = Command::new(root().join("clients/fetch.sh")).arg(language).output();
    let reason = match output {
        Ok(output) if output.status.success() => {
            return Some(String::from_utf8_lossy(&output.stdout).trim().to_owned());
        }
        Ok(output) => String::from_utf8_lossy(&output.stderr).trim().to_owned(),
        Err(error) => error.to_string(),
    };
    assert!(std::env::var_os("LPROF_REQUIRE_CLIENTS").is_none(), "{client}: {reason}");
    eprintln!("postgres_clients: {client}: skipped: {reason}");
    None
}

/// Runs a client against a served sample.
#[track_caller]
fn passes(run: impl FnOnce(&str) -> std::io::Result<Output>) {
    let (_folder, table) = sample::table("java17");
    let server = Server::start(&table, &[]);
    let output = run(server.port()).expect("it starts");
    let said = [output.stdout, output.stderr].concat();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&said));
}

#[track_caller]
fn python(script: &str) {
    let Some(python) = fetched("python", script) else { return };
    passes(|port| Command::new(python).arg(root().join("clients").join(script)).arg(port).output());
}

#[test]
fn asyncpg_reads_rows_portions_and_copies() {
    python("asyncpg_client.py");
}

#[test]
fn psycopg_reads_rows_portions_and_copies() {
    python("psycopg_client.py");
}

#[test]
fn sqlalchemy_looks_at_the_tables() {
    python("sqlalchemy_client.py");
}

#[test]
fn adbc_reads_columns() {
    python("adbc_client.py");
}

#[test]
fn pandas_reads_frames() {
    python("pandas_client.py");
}

#[test]
fn pgjdbc_tells_of_the_database() {
    let Some(jar) = fetched("java", "pgjdbc") else { return };
    let client = root().join("clients/Client.java");
    passes(|port| Command::new("java").args(["-cp", &jar]).arg(client).arg(port).output());
}

#[test]
fn node_postgres_reads_rows_and_portions() {
    let Some(modules) = fetched("node", "node-postgres") else { return };
    let client = root().join("clients/node_client.js");
    passes(|port| Command::new("node").arg(client).arg(port).env("NODE_PATH", modules).output());
}

/// What each client asked when it was recorded, and what it must be told: files of queries, each with the
/// number of rows (`*`: any), and words that are among these.
#[test]
fn what_was_recorded_is_answered() {
    let (_folder, table) = sample::table("java17");
    let server = Server::start(&table, &[]);
    let mut client = server.connect();
    let numbers = [("{requests}", "'requests'::regclass"), ("{public}", "'public'::regnamespace")];
    let numbers = numbers.map(|(name, of)| (name, client.ask(&format!("SELECT {of}::oid")).text()));
    let mut n = 0;
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(root().join("recorded")).expect("a folder").flatten().map(|of| of.path()).collect();
    files.sort();
    for file in files {
        let text = std::fs::read_to_string(&file).expect("a file");
        for part in text.split("\n;\n").filter(|part| !part.trim().is_empty()) {
            let (expected, query) = recorded(part);
            let query = numbers.iter().fold(query, |query, (name, number)| query.replace(*name, number));
            let mut ways = vec![client.ask(&query)];
            ways.push(client.ask_with(&query, &[], false));
            for answer in ways {
                assert_eq!(answer.fault, None, "{}: {query}", file.display());
                let rows = answer.texts();
                expected.check(&rows, &format!("{}: {query}", file.display()));
                n += 1;
            }
        }
    }
    assert!(n > 40, "{n}");
}

/// What an answer must be.
struct Expected {
    n_rows: Option<usize>,
    words: Vec<String>,
}

impl Expected {
    #[track_caller]
    fn check(&self, rows: &[Vec<String>], of: &str) {
        if let Some(n_rows) = self.n_rows {
            assert_eq!(rows.len(), n_rows, "{of}: {rows:?}");
        }
        for word in &self.words {
            assert!(rows.iter().flatten().any(|value| value == word), "{word} in {of}: {rows:?}");
        }
    }
}

/// `-- 12 rows: requests, spans`, and then the query.
fn recorded(part: &str) -> (Expected, String) {
    let lines = part.trim().lines().skip_while(|line| line.starts_with("# "));
    let lines: Vec<&str> = lines.collect();
    let head = lines[0].strip_prefix("-- ").unwrap_or_else(|| panic!("no expectation in `{part}`"));
    let (n_rows, words) = head.split_once(" rows").unwrap_or_else(|| panic!("no rows in `{head}`"));
    let words = words.trim_start_matches(':').split(',').map(|word| word.trim().to_owned());
    let words = words.filter(|word| !word.is_empty()).collect();
    (Expected { n_rows: n_rows.parse().ok(), words }, lines[1..].join("\n"))
}

//! The page in a browser: all its views of tables of no request, one, a hundred and fifty, and 400,000, and
//! as one file, walked through by `web/look.mjs` with headless Chromium. Nothing is written to its console,
//! nothing is wider than its window, axe-core finds no fault. Pictures of a failing run are kept.
//!
//! Without Chromium (named by `CHROMIUM`, or `/usr/bin/chromium`), Node, or what `npm ci` fetches, each
//! says so and passes.
#![cfg(feature = "serve")]

#[path = "support/command.rs"]
mod command;
#[path = "support/many_requests.rs"]
mod many_requests;
#[path = "support/sample.rs"]
mod sample;

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use command::{done, fails, samples};
use reducer::table::{Addition, Writer};

fn web() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("web")
}

/// Why no browser can look; none: one can.
fn missing() -> Option<String> {
    let browser = std::env::var_os("CHROMIUM").unwrap_or_else(|| "/usr/bin/chromium".into());
    let has_node = Command::new("node").arg("--version").stdout(Stdio::null()).status().is_ok();
    if !Path::new(&browser).exists() {
        Some(format!("there is no {}", Path::new(&browser).display()))
    } else if !has_node {
        Some("there is no node".to_owned())
    } else if !web().join("node_modules/playwright-core").exists() {
        Some("web/node_modules is not there: `npm ci` in web/ fetches it".to_owned())
    } else {
        None
    }
}

/// Looks at all views at `address`; pictures are called after `name`.
#[expect(clippy::print_stdout, reason = "a test that was skipped says so")]
#[track_caller]
fn look(name: &str, address: &str) {
    if let Some(why) = missing() {
        println!("skipped: {name}: {why}");
        return;
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("page").join(name);
    let mut command = Command::new("node");
    command.arg(web().join("look.mjs")).arg(address).arg(&folder).current_dir(web());
    let output = command.output().expect("node starts");
    let said = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    assert!(output.status.success(), "{name}, pictures in {}:\n{}", folder.display(), said.concat());
}

/// A server, ended with the test.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Looks at all views of a table, which is served with these further flags.
#[track_caller]
fn look_at_table(name: &str, table: &str, flags: &[&str]) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lprof"));
    command.args(["serve", "--table", table, "--http", "127.0.0.1:0"]).args(flags).stdout(Stdio::piped());
    let mut server = Server(command.spawn().expect("lprof starts"));
    let mut line = String::new();
    BufReader::new(server.0.stdout.take().expect("a pipe")).read_line(&mut line).expect("an address");
    let address = line.trim().strip_prefix("page: ").unwrap_or_else(|| panic!("no address in `{line}`"));
    look(name, address);
}

fn look_at_many(name: &str, n_requests: u64) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let table = folder.path().join("t");
    Writer::open(&table).and_then(|mut writer| writer.commit(&Addition::default())).expect("a table");
    many_requests::make(&table, n_requests);
    look_at_table(name, &table.display().to_string(), &[]);
}

#[test]
fn a_table_of_no_request() {
    look_at_many("none", 0);
}

#[test]
fn a_table_of_one_request() {
    look_at_many("one", 1);
}

#[test]
fn a_table_of_many_requests() {
    if missing().is_none() {
        look_at_many("many", 400_000);
    }
}

#[test]
fn the_sample() {
    let (_folder, table) = sample::table("java17");
    look_at_table("sample", &table, &[]);
}

#[test]
fn a_profile_that_is_one_file() {
    let (folder, table) = sample::table("java17");
    let file = folder.path().join("profile.html");
    done(&["profile", "--table", &table, "--html", &file.display().to_string()]);
    let nowhere = folder.path().join("no such folder/profile.html").display().to_string();
    fails(1, &["profile", "--table", &table, "--html", &nowhere], "profile.html");
    look("file", &format!("file://{}", file.display()));
}

/// The sample beside the run in which one of its nodes was slow.
#[test]
fn a_comparison_served_and_as_one_file() {
    let (folder, before) = sample::table("java17");
    let after = folder.path().join("after").display().to_string();
    let [jar, logs] = ["classes/java17/store.jar", "diagnosis/logs"].map(|path| samples().join(path));
    done(&["run", "-q", "--table", &after, &jar.display().to_string(), &logs.display().to_string()]);
    look_at_table("compare", &after, &["--compare", &before]);
    let file = folder.path().join("compare.html");
    done(&["compare", &before, &after, "--html", &file.display().to_string()]);
    look("compare-file", &format!("file://{}", file.display()));
}

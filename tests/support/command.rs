//! The command as a program that is run, and the sample system that it is run on.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The folder of the sample.
pub(crate) fn samples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("samples")
}

/// What `lprof` with `arguments` comes to.
pub(crate) fn lprof(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_lprof")).args(arguments).output().expect("lprof starts")
}

/// What it prints; it must succeed.
#[track_caller]
pub(crate) fn done(arguments: &[&str]) -> String {
    let output = lprof(arguments);
    assert!(output.status.success(), "{arguments:?}\n{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// It must fail with an exit code, saying `expected`, and not by a panic.
#[track_caller]
pub(crate) fn fails(code: i32, arguments: &[&str], expected: &str) {
    let output = lprof(arguments);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{arguments:?}\n{said}");
    assert!(said.contains(expected), "{arguments:?}\nexpected {expected}\ngot      {said}");
    assert!(!said.contains("panicked"), "{said}");
}

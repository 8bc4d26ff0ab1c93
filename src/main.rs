//! `lprof`: class files and logs in, the requests of a distributed system out.
//! What was typed is in `args`, what it does in `commands`; this file turns the
//! result into an exit code: 0 done, 1 failed, 2 wrong usage. A closed pipe is
//! no failure: who reads has enough.

mod args;
mod commands;
mod evaluation;
mod nodes;
mod output;
mod profile;
mod progress;
#[cfg(feature = "sql")]
mod query;
mod render;

use std::io::Write as _;
use std::process::ExitCode;

use clap::Parser as _;

/// Analysis makes and drops millions of small values on all threads at once: a fifth
/// of its time went into the system's allocator.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let args = match args::Args::try_parse_from(args::typed(std::env::args_os())) {
        Ok(args) => args,
        Err(message) => {
            // Help and version are answers, not mistakes; clap knows which.
            let _ = message.print();
            return ExitCode::from(u8::try_from(message.exit_code()).unwrap_or(2));
        }
    };
    match commands::run(args) {
        Ok(code) => code,
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            let text = match error.downcast_ref::<commands::InText>() {
                Some(fault) => fault.0.clone(),
                None => sentence(&error),
            };
            let message = text.lines().map(render::neutral).collect::<Vec<_>>().join("\n");
            let _ = writeln!(std::io::stderr(), "lprof: {message}");
            ExitCode::from(if error.is::<commands::Usage>() { 2 } else { 1 })
        }
    }
}

/// The chain of causes in one line. Our own errors say their cause themselves,
/// so a cause that was just said is not said again.
fn sentence(error: &anyhow::Error) -> String {
    let mut message = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if message.is_empty() {
            message = cause;
        } else if !message.ends_with(&cause) {
            message = format!("{message}: {cause}");
        }
    }
    message
}

fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let is_pipe = |e: &std::io::Error| e.kind() == std::io::ErrorKind::BrokenPipe;
    error.chain().filter_map(|cause| cause.downcast_ref::<std::io::Error>()).any(is_pipe)
}

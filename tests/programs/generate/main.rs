//! The command of the generator of programs:
//!
//! ```text
//! cargo run --example generate-programs -- --seeds A..B --out DIR [--check LPROF [--minimize]]
//! ```

use std::path::PathBuf;
use std::process::ExitCode;

#[path = "generator.rs"]
mod generator;

const USAGE: &str =
    "usage: generate-programs --seed N | --seeds A..B  --out DIR [--check LPROF [--minimize]]";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let command = match parse(&arguments) {
        Ok(command) => command,
        Err(e) => {
            eprintln!("generate-programs: {e}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    if !generator::has_jdk() {
        eprintln!("generate-programs: no `javac` of Java 17 or later in JAVA_HOME or on the path");
        return ExitCode::FAILURE;
    }
    let done = generator::generate(&command, &mut |line| eprintln!("{line}"));
    let _ = std::fs::remove_dir_all(&command.scratch);
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("generate-programs: {e}");
            ExitCode::FAILURE
        }
    }
}

fn parse(arguments: &[String]) -> generator::Result<generator::Command> {
    let (mut seeds, mut out, mut check, mut minimize) = (None, None, None, false);
    let mut rest = arguments.iter();
    while let Some(option) = rest.next() {
        if option == "--minimize" {
            minimize = true;
            continue;
        }
        let value = rest.next().ok_or_else(|| format!("`{option}` needs a value"))?;
        let number = |text: &str| text.parse::<u64>().map_err(|e| format!("`{text}`: {e}"));
        match option.as_str() {
            "--seed" => seeds = Some((number(value)?, number(value)?)),
            "--seeds" => {
                let (first, last) = value.split_once("..").ok_or("`--seeds` takes A..B")?;
                seeds = Some((number(first)?, number(last)?));
            }
            "--out" => out = Some(PathBuf::from(value)),
            "--check" => check = Some(PathBuf::from(value)),
            _ => return Err(format!("`{option}` is unknown")),
        }
    }
    let (first, last) = seeds.ok_or("no seeds")?;
    let out = out.ok_or("no folder")?;
    if minimize && check.is_none() {
        return Err("`--minimize` needs `--check`".to_owned());
    }
    let scratch = std::env::temp_dir().join(format!("generate-programs-{}", std::process::id()));
    Ok(generator::Command { first, last, out, scratch, check, minimize })
}

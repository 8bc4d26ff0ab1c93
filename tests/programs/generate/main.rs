//! The command of the generator of programs:
//!
//! ```text
//! cargo run --example generate-programs -- --seeds A..B --out DIR [--pack] [--check LPROF [--minimize]]
//! cargo run --example generate-programs -- --packed DIR --check LPROF
//! ```

use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[path = "generator.rs"]
mod generator;

const USAGE: &str =
    "usage: generate-programs --seed N | --seeds A..B  --out DIR [--pack] [--check LPROF [--minimize]]
       generate-programs --packed DIR --check LPROF";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let what = match parse(&arguments) {
        Ok(what) => what,
        Err(e) => {
            eprintln!("generate-programs: {e}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    let scratch = std::env::temp_dir().join(format!("generate-programs-{}", std::process::id()));
    let done = run(what, &scratch);
    // Nothing is there where nothing was made.
    let _ = std::fs::remove_dir_all(&scratch);
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("generate-programs: {e}");
            ExitCode::FAILURE
        }
    }
}

/// What was asked for.
enum What {
    Make(generator::Command),
    CheckPacked { folder: PathBuf, lprof: PathBuf },
}

fn run(what: What, scratch: &Path) -> generator::Result<()> {
    match what {
        What::Make(_) if !generator::has_jdk() => {
            Err("no `javac` of Java 17 or later in JAVA_HOME or on the path".to_owned())
        }
        What::Make(command) => generator::generate(&command, scratch, &mut |line| eprintln!("{line}")),
        What::CheckPacked { folder, lprof } => {
            let checked = generator::check_packed(&lprof, &folder, scratch)?;
            for set in &checked {
                eprintln!("{}", set.score.row(&set.name));
            }
            eprintln!("{}", generator::shares(&checked));
            Ok(())
        }
    }
}

fn parse(arguments: &[String]) -> generator::Result<What> {
    let (mut seeds, mut out, mut check, mut packed) = (None, None, None, None);
    let (mut minimize, mut pack) = (false, false);
    let mut rest = arguments.iter();
    while let Some(option) = rest.next() {
        let mut value = || rest.next().ok_or_else(|| format!("`{option}` needs a value"));
        let number = |text: &str| text.parse::<u64>().map_err(|e| format!("`{text}`: {e}"));
        match option.as_str() {
            "--minimize" => minimize = true,
            "--pack" => pack = true,
            "--seed" => {
                let seed = number(value()?)?;
                seeds = Some((seed, seed));
            }
            "--seeds" => {
                let (first, last) = value()?.split_once("..").ok_or("`--seeds` takes A..B")?;
                seeds = Some((number(first)?, number(last)?));
            }
            "--out" => out = Some(PathBuf::from(value()?)),
            "--packed" => packed = Some(PathBuf::from(value()?)),
            "--check" => check = Some(PathBuf::from(value()?)),
            _ => return Err(format!("`{option}` is unknown")),
        }
    }
    if let Some(folder) = packed {
        let lprof = check.ok_or("`--packed` needs `--check`")?;
        return Ok(What::CheckPacked { folder, lprof });
    }
    if minimize && check.is_none() {
        return Err("`--minimize` needs `--check`".to_owned());
    }
    let (first, last) = seeds.ok_or("no seeds")?;
    let out = out.ok_or("no folder")?;
    Ok(What::Make(generator::Command { first, last, out, check, minimize, pack }))
}

//! `lprof thin`: old requests lose detail. Doing it again changes nothing.

use std::io::Write as _;
use std::process::ExitCode;

use anyhow::Result;
use reducer::table::thin::{Detail, Removed, Thinning, thin};
use reducer::table::{Manifest, Writer};

use super::Usage;
use super::progress::Progress;
use crate::args::{LeftArg, ThinArgs};
use crate::output::{self, Voice, grouped};

pub(crate) fn run(args: &ThinArgs, voice: Voice) -> Result<ExitCode> {
    if args.interval == 0 {
        return Err(Usage("--interval: an interval has a length".to_owned()).into());
    }
    // A folder that is no table is not made one.
    if let Some(damage) = Manifest::read(&args.table)?.damage {
        voice.say(&format!("warning: {damage}; the state before it is thinned"));
    }
    let progress = Progress::new(voice, "thinning");
    let mut writer = Writer::open(&args.table)?;
    let left = match args.keep {
        LeftArg::Spans => Detail::Spans,
        LeftArg::Requests => Detail::Requests,
        LeftArg::Intervals => Detail::Intervals,
    };
    let thinning = Thinning { before_us: args.before, left, interval_us: args.interval };
    let removed = thin(&mut writer, &thinning)?;
    drop(progress);
    if !voice.quiet {
        let mut out = output::stdout();
        print(&mut out, &removed)?;
        out.flush()?;
    }
    Ok(ExitCode::SUCCESS)
}

fn print(out: &mut dyn std::io::Write, removed: &Removed) -> Result<()> {
    let [before, after] = removed.bytes.map(grouped);
    if removed.number.is_none() {
        writeln!(out, "nothing to thin: the table has {after} bytes")?;
        return Ok(());
    }
    writeln!(out, "{before} bytes before, {after} after; taken out:")?;
    let rows =
        [(removed.n_events, "events"), (removed.n_spans, "spans"), (removed.n_requests, "requests, counted")];
    for (n, what) in rows {
        writeln!(out, "{:>12}  {what}", grouped(n))?;
    }
    Ok(())
}

//! Standard output and standard error, each by its own rules: rows go to the
//! first, in the format that fits a terminal or a pipe; words about the work go
//! to the second, as many as were asked for.

use std::io::{self, BufWriter, IsTerminal as _, Stdout, Write as _};

use crate::render::{Format, neutral};

/// How much to say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Voice {
    /// Errors only.
    pub(crate) quiet: bool,
    /// What is done, and why.
    pub(crate) verbose: bool,
}

impl Voice {
    /// Says something that a user should know unless he asked for silence.
    pub(crate) fn say(self, message: &str) {
        if !self.quiet {
            // Nowhere to complain if standard error is closed.
            let _ = writeln!(io::stderr(), "{}", neutral(message));
        }
    }

    /// Says something that a user asked to be told.
    pub(crate) fn tell(self, message: &str) {
        if self.verbose {
            self.say(message);
        }
    }
}

/// Standard output, buffered.
pub(crate) fn stdout() -> BufWriter<Stdout> {
    BufWriter::with_capacity(1 << 16, io::stdout())
}

/// The format that was asked for, or the one that fits.
pub(crate) fn format(asked: Option<Format>) -> Format {
    let fitting = if io::stdout().is_terminal() { Format::Table } else { Format::Csv };
    asked.unwrap_or(fitting)
}

/// `1234567` as `1,234,567`.
pub(crate) fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A time span in the unit that keeps it short.
pub(crate) fn duration(us: i64) -> String {
    let f = us as f64;
    match us.abs() {
        0..1_000 => format!("{us} us"),
        1_000..1_000_000 => format!("{:.1} ms", f / 1e3),
        1_000_000..60_000_000 => format!("{:.2} s", f / 1e6),
        60_000_000..3_600_000_000 => format!("{:.1} min", f / 6e7),
        _ => format!("{:.1} h", f / 3.6e9),
    }
}

#[cfg(test)]
mod tests {
    use super::{duration, grouped};

    #[test]
    fn numbers_are_grouped() {
        assert_eq!([0, 999, 1_000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
    }

    #[test]
    fn durations_are_short() {
        assert_eq!([0, 1_500, 2_000_000, 90_000_000].map(duration), ["0 us", "1.5 ms", "2.00 s", "1.5 min"]);
    }
}

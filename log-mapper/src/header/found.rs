//! How much a layout that was found explains of the lines that were looked at, as the accounts
//! of the files say it.

use std::fmt;
use std::ops::AddAssign;

/// Counts of one file, or of several that have one layout.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Lines that the layout reads.
    pub n_lines: u64,
    /// Lines that it could have read.
    pub n_starts: u64,
    /// Messages that the program's log points can have printed.
    pub n_known: u64,
    /// Messages that were compared with the program's.
    pub n_judged: u64,
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { n_lines, n_starts, n_known, n_judged } = self;
        write!(f, "{n_lines} of {n_starts} lines, {n_known} of {n_judged} texts known")
    }
}

impl AddAssign for Found {
    fn add_assign(&mut self, other: Self) {
        self.n_lines += other.n_lines;
        self.n_starts += other.n_starts;
        self.n_known += other.n_known;
        self.n_judged += other.n_judged;
    }
}

impl Found {
    /// What an account says of how the layout of its file was found, as far as that is counts.
    #[must_use]
    pub fn parse(layout_found: &str) -> Option<Self> {
        let text = layout_found.strip_prefix("found: ")?;
        let (lines, rest) = text.split_once(" lines, ")?;
        let (texts, _) = rest.split_once(" texts known")?;
        let two = |text: &str| {
            let (n, of) = text.split_once(" of ")?;
            Some((n.parse().ok()?, of.parse().ok()?))
        };
        let ((n_lines, n_starts), (n_known, n_judged)) = (two(lines)?, two(texts)?);
        Some(Self { n_lines, n_starts, n_known, n_judged })
    }
}

#[cfg(test)]
mod tests {
    use super::Found;

    #[test]
    fn what_is_said_is_read() {
        let found = Found { n_lines: 194, n_starts: 195, n_known: 48, n_judged: 49 };
        assert_eq!(Found::parse(&format!("found: {found}")), Some(found));
        assert_eq!(Found::parse(&format!("found: {found}, another about byte 7")), Some(found));
        assert_eq!(["given", "found: 7 records", ""].map(Found::parse), [None; 3]);
    }
}

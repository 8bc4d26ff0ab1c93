//! The sample of a file from which its layout is found.

use crate::lines::line_end;

/// The text of a sample, and its lines that are not empty.
pub(super) struct Sample<'a> {
    pub(super) text: &'a [u8],
    pub(super) lines: Vec<(usize, usize)>,
}

impl<'a> Sample<'a> {
    pub(super) fn new(text: &'a [u8], has_end: bool) -> Self {
        let mut lines = Vec::new();
        let mut at = 0;
        while at < text.len() {
            let end = line_end(text, at);
            // The last line may have been cut.
            if end > at && (end < text.len() || has_end || lines.is_empty()) {
                lines.push((at, end));
            }
            at = end + 1;
        }
        Self { text, lines }
    }

    pub(super) fn n_lines(&self) -> usize {
        self.lines.len()
    }

    pub(super) fn line(&self, i: usize) -> &'a [u8] {
        let (at, end) = self.lines[i];
        let line = &self.text[at..end];
        line.strip_suffix(b"\r").unwrap_or(line)
    }
}

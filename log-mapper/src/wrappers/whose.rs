//! Whose lines are: the process that a wrapper names for each, where it puts those of several into
//! one file.

use super::unwrap::{add_clean, inner_of, is_clean, unwrap};
use super::{Inner, Wrapper};
use crate::limits::HEADER_BYTES_MAX;
use crate::lines::line_end;

/// The lines of one process, among those of several in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Only {
    /// Which of the file's wrappers names processes.
    pub(crate) wrapper: usize,
    /// What it says of this one, in order: a process that was started again has another number.
    pub(crate) names: Vec<Vec<u8>>,
}

impl Only {
    fn is_name(&self, name: &[u8]) -> bool {
        self.names.binary_search_by(|known| known.as_slice().cmp(name)).is_ok()
    }

    /// Whether a line, of which the wrapper that names processes is the outermost that is left, is of
    /// it; none: no process is named.
    pub(super) fn holds_line(&self, wrappers: &[Wrapper], line: &[u8]) -> Option<bool> {
        Some(self.is_name(&name_of(&wrappers[self.wrapper], line)?))
    }

    /// Whether lines of a file, of which one holds several or that are put together, hold lines of it;
    /// none: no process is named.
    pub(crate) fn holds(&self, wrappers: &[Wrapper], lines: &[u8]) -> Option<bool> {
        let names = processes_of(wrappers, self.wrapper, lines);
        let mut names = names.iter().flatten().peekable();
        names.peek()?;
        Some(names.any(|name| self.is_name(name)))
    }

    /// Whether a line says that it is of another one.
    pub(super) fn is_of_another(&self, wrappers: &[Wrapper], line: &[u8]) -> bool {
        self.holds(wrappers, line) == Some(false)
    }

    /// Whether the line after `text` is of it, where the first line of `text` goes on with lines of it
    /// or not; only lines of their own say so.
    pub(crate) fn is_mine_after(&self, wrappers: &[Wrapper], text: &[u8], is_mine: bool) -> bool {
        if !self.has_sections(wrappers) {
            return true;
        }
        let mut end = text.len();
        loop {
            let start = memchr::memrchr(b'\n', &text[..end]).map_or(0, |n| n + 1);
            if let Some(is_it) = self.holds(wrappers, &text[start..end]) {
                return is_it;
            }
            if start == 0 {
                return is_mine;
            }
            end = start - 1;
        }
    }

    fn has_sections(&self, wrappers: &[Wrapper]) -> bool {
        wrappers.get(self.wrapper).is_some_and(Wrapper::has_sections)
    }

    /// Whether such lines say that they are of it, from the first one on.
    pub(crate) fn names(&self, wrappers: &[Wrapper], lines: &[u8]) -> bool {
        if self.has_sections(wrappers) {
            return true;
        }
        let names = processes_of(wrappers, self.wrapper, lines);
        names.first().is_some_and(Option::is_some) && names.iter().flatten().any(|name| self.is_name(name))
    }
}

/// What a wrapper says of the process that has printed a line.
fn name_of(wrapper: &Wrapper, line: &[u8]) -> Option<Vec<u8>> {
    let mut name = Vec::new();
    let mut clean = Vec::new();
    let line = match is_clean(line) {
        true => line,
        false => {
            add_clean(line, &mut clean);
            &clean
        }
    };
    wrapper.add_process(line, &mut name)?;
    (!name.is_empty()).then_some(name)
}

/// What the wrapper at `position` says of the processes that have printed `lines`, of each line that
/// is left by then.
pub(crate) fn processes_of(wrappers: &[Wrapper], position: usize, lines: &[u8]) -> Vec<Option<Vec<u8>>> {
    let Some(wrapper) = wrappers.get(position).filter(|wrapper| wrapper.names_processes()) else {
        return Vec::new();
    };
    let lines = lines.strip_suffix(b"\n").unwrap_or(lines);
    if position == 0 {
        return lines.split(|b| *b == b'\n').map(|line| name_of(wrapper, line)).collect();
    }
    let text = unwrap(&wrappers[..position], lines).text;
    let text = text.strip_suffix(b"\n").unwrap_or(&text);
    text.split(|b| *b == b'\n').map(|line| name_of(wrapper, line)).collect()
}

/// Where the lines end that are put together with the one at `at` of a file's text, as one object is
/// printed over them; none: `text` ends before.
pub(crate) fn joined_end(wrappers: &[Wrapper], text: &[u8], at: usize) -> Option<usize> {
    let mut end = line_end(text, at);
    let Some(joins) = wrappers.iter().position(|wrapper| wrapper.joins) else { return Some(end) };
    let (mut one, mut other) = (Vec::new(), Vec::new());
    let mut start = at;
    while inner_of(&wrappers[..=joins], &text[start..end], &mut one, &mut other) == Inner::Partial
        && end - at < HEADER_BYTES_MAX
    {
        start = end + 1;
        if start >= text.len() {
            return None;
        }
        end = line_end(text, start);
    }
    Some(end)
}

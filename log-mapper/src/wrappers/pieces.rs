//! Pieces: a line that a container runtime has cut, as it was too long. Lines of another stream can
//! stand between its pieces; those of one stream are put together, where the first one stands.

use super::unwrap::inner_of;
use super::{Inner, Wrapper};
use crate::lines::line_end;

/// Lines in which the pieces of one stand. What is cut within so many lines is never parted.
pub(super) const LINES_MAX: usize = 64;

/// Adds the rest of the line whose first piece is at `at` of `text`; where its pieces begin is
/// added to `taken`.
pub(super) fn add_rest(wrapper: &Wrapper, text: &[u8], at: usize, out: &mut Vec<u8>, taken: &mut Vec<usize>) {
    let Some(stream) = wrapper.stream else { return };
    let name_of = |line: &[u8]| {
        let mut name = Vec::new();
        stream(line, &mut name).map(|()| name)
    };
    let mut end = line_end(text, at);
    let Some(name) = name_of(&text[at..end]) else { return };
    let (mut one, mut other) = (Vec::new(), Vec::new());
    for _ in 0..LINES_MAX {
        let start = end + 1;
        if start >= text.len() {
            return;
        }
        end = line_end(text, start);
        let line = &text[start..end];
        if name_of(line).as_deref() != Some(&name[..]) || taken.contains(&start) {
            continue;
        }
        let inner = inner_of(std::slice::from_ref(wrapper), line, &mut one, &mut other);
        out.extend_from_slice(&one);
        taken.push(start);
        if inner != Inner::Partial {
            return;
        }
    }
}

/// Bytes at the start of `next` with the rest of the last line of `text`, if that is a piece and goes
/// on there: the lines up to the one that ends it.
pub(crate) fn rest_of(wrapper: &Wrapper, text: &[u8], next: &[u8]) -> usize {
    let Some(stream) = wrapper.stream else { return 0 };
    let lines = text.strip_suffix(b"\n").unwrap_or(text);
    let last = &lines[memchr::memrchr(b'\n', lines).map_or(0, |n| n + 1)..];
    let (mut one, mut other) = (Vec::new(), Vec::new());
    let mut inner_of = |line: &[u8]| inner_of(std::slice::from_ref(wrapper), line, &mut one, &mut other);
    let name_of = |line: &[u8]| {
        let mut name = Vec::new();
        stream(line, &mut name).map(|()| name)
    };
    let Some(name) = name_of(last).filter(|_| inner_of(last) == Inner::Partial) else { return 0 };
    let mut at = 0;
    for _ in 0..LINES_MAX {
        let end = line_end(next, at);
        if end == next.len() {
            return 0;
        }
        let line = &next[at..end];
        at = end + 1;
        if name_of(line).as_deref() == Some(&name[..]) && inner_of(line) != Inner::Partial {
            return at;
        }
    }
    0
}

#[cfg(test)]
mod tests {
    use super::rest_of;

    #[test]
    fn the_rest_of_a_line_stands_in_the_next_file() {
        let cri = crate::wrappers::by_name("cri").expect("a wrapper");
        let line =
            |stream: &str, flag: char, text: &str| format!("2025-03-29T11:54:05.1Z {stream} {flag} {text}\n");
        let open = [line("stdout", 'F', "a"), line("stdout", 'P', "b")].concat();
        let next = [line("stdout", 'P', "c"), line("stderr", 'F', "x"), line("stdout", 'F', "d")].concat();
        let rest = [&next[..], &line("stdout", 'F', "e")].concat();
        assert_eq!(rest_of(&cri, open.as_bytes(), rest.as_bytes()), next.len());
        let closed = line("stdout", 'F', "a");
        assert_eq!(rest_of(&cri, closed.as_bytes(), rest.as_bytes()), 0);
    }
}

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

//! Objects that are printed over several lines, as tools of the cloud do.

use super::super::Inner;

/// Lines of an object that is printed over several, indented by `BASE` blanks, to be put together.
pub(in crate::wrappers) fn pretty<const BASE: usize>(line: &[u8], out: &mut Vec<u8>) -> Option<Inner> {
    let line = line.trim_ascii_end();
    let text = line.trim_ascii_start();
    let depth = line.len() - text.len();
    match text {
        b"" | b"[" | b"]" | b"," if depth <= BASE => Some(Inner::Nothing),
        // The list is a value of an object.
        [b'{' | b'}' | b'[' | b']' | b'"', ..] if depth < BASE => Some(Inner::Nothing),
        b"{" | b"[{" | b", {" | b",{" if depth == BASE => {
            out.push(b'{');
            Some(Inner::Partial)
        }
        b"}" | b"}," | b"}]" if depth == BASE => {
            out.push(b'}');
            Some(Inner::Whole)
        }
        [b'"' | b'{' | b'}' | b'[' | b']' | b'0'..=b'9' | b'-' | b't' | b'f' | b'n', ..] if depth > BASE => {
            out.extend_from_slice(text);
            out.push(b' ');
            Some(Inner::Partial)
        }
        _ => None,
    }
}

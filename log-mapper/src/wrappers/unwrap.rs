//! Inner text: what is left of the lines of a file without what is around them, and where each line
//! of it stands.

use super::whose::Only;
use super::{BARE, Inner, Wrapper, pieces};
use crate::lines::line_end;

/// Inner text, and where each line of it stands.
#[derive(Clone, Debug, Default)]
pub(crate) struct Unwrapped {
    pub(crate) text: Vec<u8>,
    /// In order.
    pub(crate) places: Vec<Place>,
    /// Lines that the inner text has more, where one line holds a list of lines.
    pub(crate) n_added: u64,
}

/// Where inner text stands in the wrapped one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Place {
    /// Offset in the inner text.
    pub(crate) inner: u32,
    /// Offset of its line.
    pub(crate) start: u32,
    /// Lines before it.
    pub(crate) line: u32,
    /// Which it is of those that its line holds.
    pub(crate) nth: u32,
}

impl Unwrapped {
    /// Offset and number of lines before the line that `inner` stands in; each of those that one
    /// line holds is at a place of its own.
    pub(crate) fn place(&self, inner: usize) -> (usize, u64) {
        let place = self.place_of(inner);
        ((place.start + place.nth) as usize, u64::from(place.line + place.nth))
    }

    /// Where the line is that `inner` stands in.
    pub(crate) fn place_of(&self, inner: usize) -> Place {
        let n = self.places.partition_point(|place| place.inner as usize <= inner);
        self.places.get(n.saturating_sub(1)).copied().unwrap_or_default()
    }
}

/// Whether nothing has to be taken out of `text` to read it.
pub(crate) fn is_clean(text: &[u8]) -> bool {
    memchr::memchr2(0x1b, 0, text).is_none()
        && !text.starts_with(MARK)
        && memchr::memmem::find(text, LINE_MARK).is_none()
}

const MARK: &[u8] = b"\xef\xbb\xbf";
const LINE_MARK: &[u8] = b"\n\xef\xbb\xbf";

/// The inner text of `text`, which begins with a line. One wrapper after the other is taken off:
/// what one of them has cut into several lines is a line for the next.
pub(crate) fn unwrap(wrappers: &[Wrapper], text: &[u8]) -> Unwrapped {
    unwrap_only(wrappers, None, true, text)
}

/// The same of the lines of one process, which are told apart where the wrapper that names processes
/// is the next to be taken off. A line of which no process is named goes on with the one before it,
/// of which `is_mine` tells whether it was of that process.
pub(crate) fn unwrap_only(
    wrappers: &[Wrapper],
    only: Option<&Only>,
    is_mine: bool,
    text: &[u8],
) -> Unwrapped {
    let mut is_mine = is_mine;
    let mut is_wanted = |position: usize, line: &[u8]| {
        let Some(only) = only.filter(|only| only.wrapper == position) else { return true };
        is_mine = only.holds_line(wrappers, line).unwrap_or(is_mine);
        is_mine
    };
    let (outer, more) = wrappers.split_at(wrappers.len().min(1));
    let mut out = without(outer, text, &mut |line| is_wanted(0, line));
    for (position, wrapper) in (1..).zip(more.chunks(1)) {
        out = out.then(without(wrapper, &out.text, &mut |line| is_wanted(position, line)));
    }
    if !is_clean(&out.text) {
        out = out.then(without(&[], &out.text, &mut |_| true));
    }
    out
}

impl Unwrapped {
    /// Of this and of what was unwrapped of its text: the inner text, with the places here.
    pub(crate) fn then(&self, inner: Self) -> Self {
        let place = |place: &Place| {
            let outer = self.place_of(place.start as usize);
            Place { inner: place.inner, nth: outer.nth + place.nth, ..outer }
        };
        let places = inner.places.iter().map(place).collect();
        Self { places, text: inner.text, n_added: self.n_added + inner.n_added }
    }
}

/// `text` without a wrapper, or none, and without what is no text; of the lines that are wanted.
fn without(wrapper: &[Wrapper], text: &[u8], is_wanted: &mut dyn FnMut(&[u8]) -> bool) -> Unwrapped {
    let mut out = Unwrapped { text: Vec::with_capacity(text.len()), ..Unwrapped::default() };
    let is_list = wrapper.iter().any(|wrapper| LISTS.contains(&wrapper.name));
    let (mut one, mut other) = (Vec::new(), Vec::new());
    let mut at = 0;
    let mut line = 0;
    let mut is_open = false;
    // Lines that were put together with one before them.
    let mut taken: Vec<usize> = Vec::new();
    while at < text.len() {
        let end = line_end(text, at);
        let was_taken = taken.iter().position(|start| *start == at).map(|i| taken.swap_remove(i));
        if was_taken.is_none() && is_wanted(&text[at..end]) {
            let mut inner = inner_of(wrapper, &text[at..end], &mut one, &mut other);
            if inner != Inner::Nothing {
                if !is_open {
                    out.places.push(Place { inner: out.text.len() as u32, start: at as u32, line, nth: 0 });
                }
                if is_list {
                    let n_more = add_places(&one, &mut out, at, line);
                    (line, out.n_added) = (line + n_more, out.n_added + u64::from(n_more));
                }
                out.text.extend_from_slice(&one);
                if inner == Inner::Partial && wrapper.iter().any(|wrapper| wrapper.stream.is_some()) {
                    pieces::add_rest(&wrapper[0], text, at, &mut out.text, &mut taken);
                    inner = Inner::Whole;
                }
                is_open = inner == Inner::Partial;
                if !is_open && end < text.len() {
                    out.text.push(b'\n');
                }
            }
        }
        line += 1;
        at = end + 1;
    }
    out
}

/// Wrappers of which one line holds several.
const LISTS: [&str; 3] = ["json-list", "loki", "otlp"];

/// Adds a place for each further line of `inner`, the text of the line at `at`, and gives how many:
/// each is a line of its own, at a place of its own in the list.
fn add_places(inner: &[u8], out: &mut Unwrapped, at: usize, line: u32) -> u32 {
    let mut n = 0;
    for end in memchr::memchr_iter(b'\n', inner) {
        n += 1;
        out.places.push(Place { inner: (out.text.len() + end + 1) as u32, start: at as u32, line, nth: n });
    }
    n
}

/// Puts the inner text of `line` into `one`.
pub(super) fn inner_of(wrappers: &[Wrapper], line: &[u8], one: &mut Vec<u8>, other: &mut Vec<u8>) -> Inner {
    one.clear();
    add_clean(line.strip_suffix(b"\r").unwrap_or(line), one);
    for wrapper in wrappers {
        other.clear();
        match wrapper.take_inner(one, other) {
            Some(Inner::Nothing) => return Inner::Nothing,
            Some(inner) => {
                std::mem::swap(one, other);
                if inner == Inner::Partial {
                    return inner;
                }
            }
            // The rest of a stack trace goes on with the record before.
            None if !wrapper.layouts.is_empty() && !matches!(one.first(), Some(b' ' | b'\t')) => {
                one.insert(0, BARE);
                return Inner::Whole;
            }
            None => return Inner::Whole,
        }
    }
    Inner::Whole
}

/// Whether a line that begins before `at`, where another begins, goes on there or behind.
pub(crate) fn goes_on(wrappers: &[Wrapper], only: Option<&Only>, text: &[u8], at: usize) -> bool {
    let mut seen: Vec<Vec<u8>> = Vec::new();
    let mut end = at;
    for _ in 0..pieces::LINES_MAX {
        if end == 0 || wrappers.is_empty() {
            return false;
        }
        let start = memchr::memrchr(b'\n', &text[..end - 1]).map_or(0, |n| n + 1);
        let line = &text[start..end - 1];
        end = start;
        if only.is_some_and(|only| only.is_of_another(wrappers, line)) {
            continue;
        }
        let is_open = inner_of(wrappers, line, &mut Vec::new(), &mut Vec::new()) == Inner::Partial;
        let Some(stream) = wrappers[0].stream else { return is_open };
        let mut name = Vec::new();
        let is_last = stream(line, &mut name).is_some() && !seen.contains(&name);
        if is_open && is_last {
            return true;
        }
        seen.push(name);
    }
    false
}

/// Marks at the start of UTF-16, whose ASCII is read.
const WIDE_MARKS: [&[u8]; 2] = [b"\xff\xfe", b"\xfe\xff"];

/// Adds `line` without escape sequences, NUL bytes and a mark at its start.
pub(super) fn add_clean(line: &[u8], out: &mut Vec<u8>) {
    let line = line.strip_prefix(MARK).unwrap_or(line);
    let line = WIDE_MARKS.iter().find_map(|mark| line.strip_prefix(*mark)).unwrap_or(line);
    let mut at = 0;
    while let Some(n) = memchr::memchr2(0x1b, 0, &line[at..]) {
        out.extend_from_slice(&line[at..at + n]);
        at += n + 1;
        if line[at - 1] == 0x1b && line.get(at) == Some(&b'[') {
            let n = line[at + 1..].iter().take_while(|b| (0x20..0x40).contains(*b)).count();
            at = (at + n + 2).min(line.len());
        }
    }
    out.extend_from_slice(&line[at..]);
    if let Some(rest) = out.strip_prefix(MARK) {
        *out = rest.to_vec();
    }
}

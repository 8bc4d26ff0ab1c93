//! JSON as it stands in a line, read where it stands: objects, strings, values and paths to them.

/// A value as it stands there.
#[derive(Clone, Copy, Debug)]
pub(super) enum Value<'a> {
    /// Between the quotes, escapes not undone.
    String(&'a [u8]),
    /// A number or word.
    Bare(&'a [u8]),
    /// A list, with its brackets.
    List(&'a [u8]),
}

impl Value<'_> {
    /// Adds its text, with escapes undone; of a list of bytes those.
    pub(super) fn write(self, out: &mut Vec<u8>) -> Option<()> {
        match self {
            Self::String(text) => unescape(text, out),
            Self::Bare(text) => out.extend_from_slice(text),
            Self::List(list) => {
                let items = list.strip_prefix(b"[")?.strip_suffix(b"]")?;
                let start = out.len();
                for item in items.split(|b| *b == b',').map(<[u8]>::trim_ascii) {
                    let Some(byte) = std::str::from_utf8(item).ok().and_then(|n| n.parse().ok()) else {
                        out.truncate(start);
                        return None;
                    };
                    out.push(byte);
                }
            }
        }
        Some(())
    }
}

/// Whether `key` is the parts of `path` with points between them, in upper or lower case.
pub(super) fn is_path(key: &[u8], path: &[&[u8]]) -> bool {
    let mut rest = key;
    for (i, part) in path.iter().enumerate() {
        if !rest.get(..part.len()).is_some_and(|start| start.eq_ignore_ascii_case(part)) {
            return false;
        }
        let after = &rest[part.len()..];
        rest = if i + 1 < path.len() {
            let Some(after) = after.strip_prefix(b".") else { return false };
            after
        } else {
            after
        };
    }
    rest.is_empty()
}

/// Objects in objects that are looked into.
const DEPTH_MAX: usize = 3;

/// Calls `give` with the path and value of each field of the object at the start of `text`; gives
/// the length of the object.
fn walk<'a>(
    text: &'a [u8],
    path: &mut Vec<&'a [u8]>,
    give: &mut dyn FnMut(&[&'a [u8]], Value<'a>),
) -> Option<usize> {
    let mut at = 1 + blanks(text, 1);
    if text.get(at) == Some(&b'}') {
        return Some(at + 1);
    }
    loop {
        let (key, end) = string(text, at)?;
        at = end + blanks(text, end);
        (text.get(at) == Some(&b':')).then_some(())?;
        at += 1;
        at += blanks(text, at);
        match text.get(at)? {
            b'"' => {
                let (value, end) = string(text, at)?;
                path.push(key);
                give(path, Value::String(value));
                path.pop();
                at = end;
            }
            b'{' if path.len() < DEPTH_MAX => {
                path.push(key);
                at += walk(&text[at..], path, give)?;
                path.pop();
            }
            b'[' => {
                let end = nested_end(text, at)?;
                path.push(key);
                give(path, Value::List(&text[at..end]));
                path.pop();
                at = end;
            }
            b'{' => at = nested_end(text, at)?,
            _ => {
                let n =
                    text[at..].iter().position(|b| matches!(b, b',' | b'}') || b.is_ascii_whitespace())?;
                path.push(key);
                give(path, Value::Bare(&text[at..at + n]));
                path.pop();
                at += n;
            }
        }
        at += blanks(text, at);
        match text.get(at)? {
            b',' => at += 1 + blanks(text, at + 1),
            b'}' => return Some(at + 1),
            _ => return None,
        }
    }
}

pub(super) fn blanks(text: &[u8], at: usize) -> usize {
    text.get(at..).map_or(0, |rest| rest.iter().take_while(|b| b.is_ascii_whitespace()).count())
}

/// The string at `at`, between its quotes, and the end behind them.
pub(super) fn string(text: &[u8], at: usize) -> Option<(&[u8], usize)> {
    (text.get(at) == Some(&b'"')).then_some(())?;
    let mut end = at + 1;
    loop {
        end += memchr::memchr2(b'"', b'\\', text.get(end..)?)?;
        if text[end] == b'"' {
            return Some((&text[at + 1..end], end + 1));
        }
        end += 2;
    }
}

/// The end of the object or list at `at`.
pub(super) fn nested_end(text: &[u8], at: usize) -> Option<usize> {
    let mut depth = 0_usize;
    let mut end = at;
    loop {
        match text.get(end)? {
            b'"' => {
                end = string(text, end)?.1;
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth -= 1,
            _ => {}
        }
        end += 1;
        if depth == 0 {
            return Some(end);
        }
    }
}

/// Adds a string with its escapes undone.
pub(super) fn unescape(text: &[u8], out: &mut Vec<u8>) {
    let mut at = 0;
    while let Some(n) = memchr::memchr(b'\\', &text[at..]) {
        out.extend_from_slice(&text[at..at + n]);
        at += n + 2;
        match text.get(at - 1) {
            Some(b'n') => out.push(b'\n'),
            Some(b't') => out.push(b'\t'),
            Some(b'r') => out.push(b'\r'),
            Some(b'b' | b'f') | None => {}
            Some(b'u') => at += unescape_unicode(text, at, out),
            Some(other) => out.push(*other),
        }
        at = at.min(text.len());
    }
    out.extend_from_slice(&text[at..]);
}

/// Adds the character whose four digits stand at `at`, or eight of a pair; gives their length.
fn unescape_unicode(text: &[u8], at: usize, out: &mut Vec<u8>) -> usize {
    let unit = |at: usize| {
        let digits = std::str::from_utf8(text.get(at..at + 4)?).ok()?;
        u32::from_str_radix(digits, 16).ok()
    };
    let Some(first) = unit(at) else { return 0 };
    let second = if text.get(at + 4..at + 6) == Some(b"\\u") { unit(at + 6) } else { None };
    let (code, len) = match second {
        Some(low) if (0xd800..0xdc00).contains(&first) && (0xdc00..0xe000).contains(&low) => {
            (0x1_0000 + ((first - 0xd800) << 10) + (low - 0xdc00), 10)
        }
        _ => (first, 4),
    };
    let c = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
    out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
    len
}

/// The only object of a line, which can be an element of a list that has one on each line.
pub(super) fn object(line: &[u8]) -> Option<&[u8]> {
    let line = line.trim_ascii();
    let line = line.strip_prefix(b"[").or_else(|| line.strip_prefix(b",")).unwrap_or(line);
    let line = line.strip_suffix(b",").or_else(|| line.strip_suffix(b"]")).unwrap_or(line).trim_ascii();
    (line.starts_with(b"{") && line.ends_with(b"}")).then_some(line)
}

/// Gives the fields of an object that is all of `text`.
pub(super) fn walk_whole<'a>(text: &'a [u8], give: &mut dyn FnMut(&[&'a [u8]], Value<'a>)) -> Option<()> {
    (walk(text, &mut Vec::new(), give)? == text.len()).then_some(())
}

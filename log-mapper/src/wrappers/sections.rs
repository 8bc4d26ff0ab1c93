//! Lines of several files in one text, as tools of the command line print them: a file's name before
//! each line, or on a line of its own before all of them.

use super::Inner;

/// How names of logs go on behind their stem.
const ENDS: [&[u8]; 8] = [b".log", b".out", b".err", b".txt", b".json", b".jsonl", b".gz", b".zst"];

/// Whether a word is the path of a log: a name of digits alone is the end of a date.
fn is_path(word: &[u8]) -> bool {
    let is_of_path = |b: &u8| b.is_ascii_alphanumeric() || *b >= 0x80 || b"._-/\\~@+,=#%".contains(b);
    let is_log = word.contains(&b'/') || ENDS.iter().any(|end| memchr::memmem::find(word, end).is_some());
    !word.is_empty()
        && is_log
        && word.iter().all(is_of_path)
        && !word.ends_with(b"/")
        && word
            .rsplit(|b| b"/\\".contains(b))
            .next()
            .is_some_and(|name| name.iter().any(u8::is_ascii_alphabetic))
}

/// `==> logs/a.log <==`, as `head` and `tail` print it before the lines of each of several files.
pub(super) fn section(line: &[u8], _: &mut Vec<u8>) -> Option<Inner> {
    name_of_section(line).map(|_| Inner::Nothing)
}

pub(super) fn section_process(line: &[u8], out: &mut Vec<u8>) -> Option<()> {
    out.extend_from_slice(name_of_section(line)?);
    Some(())
}

fn name_of_section(line: &[u8]) -> Option<&[u8]> {
    let name = line.strip_suffix(b"\r").unwrap_or(line).strip_prefix(b"==> ")?.strip_suffix(b" <==")?;
    (!name.is_empty()).then_some(name)
}

/// `logs/a.log:text`, with the number of the line or without, as `grep` prints it for several files.
pub(super) fn grep(line: &[u8], out: &mut Vec<u8>) -> Option<Inner> {
    if line == b"--" {
        return Some(Inner::Nothing);
    }
    let (_, at) = name_of_file(line)?;
    out.extend_from_slice(&line[at..]);
    Some(Inner::Whole)
}

pub(super) fn grep_process(line: &[u8], out: &mut Vec<u8>) -> Option<()> {
    out.extend_from_slice(&line[..name_of_file(line)?.0]);
    Some(())
}

/// The end of the name that a line begins with, and the start of the text behind it.
fn name_of_file(line: &[u8]) -> Option<(usize, usize)> {
    if let Some(colon) = memchr::memchr(b':', line).filter(|colon| is_path(&line[..*colon])) {
        return Some((colon, behind_number(line, colon + 1, b':')));
    }
    // Lines about those that were looked for.
    let ends = ENDS.iter().filter_map(|end| {
        let at = memchr::memmem::find(line, end)? + end.len();
        (line.get(at) == Some(&b'-') && is_path(&line[..at])).then_some(at)
    });
    let end = ends.min()?;
    Some((end, behind_number(line, end + 1, b'-')))
}

/// Behind the number of a line at `at`, if there is one and not a time of day.
fn behind_number(line: &[u8], at: usize, sign: u8) -> usize {
    let n = line[at..].iter().take_while(|b| b.is_ascii_digit()).count();
    let rest = &line[at + n..];
    let goes_on = |b: Option<&u8>| b.is_some_and(u8::is_ascii_digit);
    // Of a time, or of a date with lines between.
    let is_more = n == 2 && goes_on(rest.get(1)) && goes_on(rest.get(2)) && rest.get(3) == Some(&sign);
    let is_date = n == 4 && sign == b'-' && goes_on(rest.get(1)) && goes_on(rest.get(2));
    if n > 0 && rest.first() == Some(&sign) && !is_more && !is_date { at + n + 1 } else { at }
}

/// What a file of that name is called, without what rotation and packing add.
pub(crate) fn stem(path: &str) -> &str {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    let cut = ENDS.iter().filter_map(|end| name.find(std::str::from_utf8(end).ok()?)).filter(|at| *at > 0);
    cut.min().map_or(name, |at| &name[..at])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expected: Option<(&str, &str)>) {
        let found = name_of_file(line.as_bytes()).map(|(end, at)| (&line[..end], &line[at..]));
        assert_eq!(found, expected, "{line}");
    }

    #[test]
    fn names_of_files_before_lines() {
        check("logs/a.log:2025-03-29 11:54:05 m", Some(("logs/a.log", "2025-03-29 11:54:05 m")));
        check("a.log:12:2025-03-29 m", Some(("a.log", "2025-03-29 m")));
        check("a.log:11:54:05 m", Some(("a.log", "11:54:05 m")));
        check("a.log.1:\tat x", Some(("a.log.1", "\tat x")));
        check("a.log-\tat x", Some(("a.log", "\tat x")));
        check("a.log-12-\tat x", Some(("a.log", "\tat x")));
        check("a.log-2025-03-29 m", Some(("a.log", "2025-03-29 m")));
        check("java.io.IOException: m", None);
        check("2025-03-29 11:54:05 m", None);
        check("A.java:12 m", None);
        check("21/Nov/2026:12:15:03 +0000 m", None);
        assert_eq!(["l/a.log.1", "b.out", "c"].map(stem), ["a", "b", "c"]);
    }

    #[test]
    fn sections() {
        assert_eq!(name_of_section(b"==> l/a.log <=="), Some(&b"l/a.log"[..]));
        assert_eq!(name_of_section(b"==> l/a.log"), None);
    }
}

//! Words that stand before each line, whoever has put them there: times, numbers, and the name of
//! who prints the line. What kind of word stands where is read off the lines; a header stands
//! before each record, what is around lines before each line.

use std::collections::BTreeSet;

use super::{Inner, Wrapper};
use crate::header::parse_level;
use crate::limits::{LAYOUT_LINES_MAX, PROCESSES_MAX};

/// Words before a line that are looked at: the time as `date` prints it, which are six, a host, a
/// program with the number of its process, and a sign.
const WORDS_MAX: usize = 9;

/// What a word is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// A time, a part of one, a number or a level: nobody's name.
    Aside,
    /// Neither letters nor digits.
    Sign,
    /// Of who prints the line.
    Name,
}

impl Kind {
    fn of(word: &[u8]) -> Self {
        if !word.iter().any(|b| b.is_ascii_alphanumeric() || !b.is_ascii()) {
            return Self::Sign;
        }
        let bare = word.trim_ascii();
        let is_mark = |b: &u8| matches!(b, b'[' | b']' | b'(' | b')' | b'<' | b'>' | b':' | b',' | b'|');
        let start = bare.iter().position(|b| !is_mark(b)).unwrap_or(bare.len());
        let end = bare.iter().rposition(|b| !is_mark(b)).map_or(start, |at| at + 1);
        let core = &bare[start..end];
        let is_number = core.iter().any(u8::is_ascii_digit)
            && core.iter().all(|b| b.is_ascii_digit() || b"TZ:.,+-_/@".contains(b));
        // Of `multilog`: seconds and nanoseconds.
        let is_label = core
            .strip_prefix(b"@")
            .is_some_and(|hex| hex.len() == 24 && hex.iter().all(u8::is_ascii_hexdigit));
        let is_level = matches!(parse_level(core), Some(Some(_))) && core.len() > 1;
        if is_number || is_label || is_level || CALENDAR.contains(&core) { Self::Aside } else { Self::Name }
    }

    fn letter(self) -> char {
        match self {
            Self::Aside => 'n',
            Self::Sign => 's',
            Self::Name => 'w',
        }
    }
}

/// Words of times.
const CALENDAR: [&[u8]; 24] = [
    b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec", b"Mon",
    b"Tue", b"Wed", b"Thu", b"Fri", b"Sat", b"Sun", b"AM", b"PM", b"UTC", b"GMT", b"Z",
];

/// The words before a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Words {
    kinds: [Kind; WORDS_MAX],
    n: usize,
}

impl Words {
    /// Of a name that [`Words::name`] gives.
    pub(super) fn parse(name: &str) -> Option<Self> {
        let letters = name.strip_prefix(PREFIX)?;
        let mut kinds = [Kind::Aside; WORDS_MAX];
        for (slot, letter) in kinds.iter_mut().zip(letters.chars()) {
            *slot = *[Kind::Aside, Kind::Sign, Kind::Name].iter().find(|kind| kind.letter() == letter)?;
        }
        let n = letters.len();
        (1..=WORDS_MAX).contains(&n).then_some(Self { kinds, n })
    }

    /// For people and for reading again.
    fn name(self) -> schema::Name {
        let letters: String = self.kinds[..self.n].iter().map(|kind| kind.letter()).collect();
        format!("{PREFIX}{letters}").as_str().into()
    }

    /// The first `n` words of a line.
    fn of(line: &[u8], n: usize) -> Option<Self> {
        let mut kinds = [Kind::Aside; WORDS_MAX];
        let mut at = 0;
        for kind in &mut kinds[..n] {
            let (start, end) = word(line, at)?;
            *kind = Kind::of(&line[start..end]);
            at = end;
        }
        Some(Self { kinds, n })
    }

    /// Adds what follows the words and one blank.
    pub(super) fn inner(self, line: &[u8], out: &mut Vec<u8>) -> Option<Inner> {
        let mut at = 0;
        for kind in &self.kinds[..self.n] {
            let (start, end) = word(line, at)?;
            (Kind::of(&line[start..end]) == *kind).then_some(())?;
            at = end;
        }
        out.extend_from_slice(line.get(at + 1..).unwrap_or_default());
        Some(Inner::Whole)
    }

    /// Adds the names among the words.
    pub(super) fn process(self, line: &[u8], out: &mut Vec<u8>) -> Option<()> {
        let mut at = 0;
        for kind in &self.kinds[..self.n] {
            let (start, end) = word(line, at)?;
            (Kind::of(&line[start..end]) == *kind).then_some(())?;
            at = end;
            if *kind == Kind::Name {
                if !out.is_empty() {
                    out.push(b'/');
                }
                out.extend_from_slice(bare(&line[start..end]));
            }
        }
        Some(())
    }

    pub(super) fn names_processes(self) -> bool {
        self.kinds[..self.n].contains(&Kind::Name)
    }
}

const PREFIX: &str = "words-";

/// Start and end of the word at `at`, or behind blanks there.
fn word(line: &[u8], at: usize) -> Option<(usize, usize)> {
    let is_blank = |b: &u8| matches!(b, b' ' | b'\t');
    let start = at + line.get(at..)?.iter().position(|b| !is_blank(b))?;
    Some((start, start + line[start..].iter().position(is_blank).unwrap_or(line.len() - start)))
}

/// A name without the brackets or the colon around it.
fn bare(word: &[u8]) -> &[u8] {
    let word = word.strip_suffix(b":").unwrap_or(word);
    let within = word.strip_prefix(b"[").and_then(|word| word.strip_suffix(b"]"));
    within.or_else(|| word.strip_prefix(b"(")?.strip_suffix(b")")).unwrap_or(word)
}

/// What stands before nearly all lines of `text`, one word, two, and so on. A few may be of nobody; a
/// header of one layout among several stands before most lines, too.
pub(crate) fn before_lines(text: &[u8]) -> Vec<Wrapper> {
    let lines: Vec<&[u8]> = text
        .split(|b| *b == b'\n')
        .filter(|line| !line.trim_ascii().is_empty())
        .take(LAYOUT_LINES_MAX)
        .collect();
    // Where n words have nothing in common, or too many names, more have not.
    (1..=WORDS_MAX).map_while(|n| common(&lines, n)).map(of_words).collect()
}

/// The wrapper of a kind of words.
pub(super) fn of_words(words: Words) -> Wrapper {
    Wrapper { words: Some(words), ..Wrapper::new(words.name().as_str(), |_, _| None) }
}

fn common(lines: &[&[u8]], n: usize) -> Option<Words> {
    let words: Vec<Option<Words>> = lines.iter().map(|line| Words::of(line, n)).collect();
    let n_of = |one: Words| words.iter().filter(|other| **other == Some(one)).count();
    let most = words.iter().flatten().copied().find(|one| n_of(*one) * 10 >= lines.len() * 9)?;
    let mut names = BTreeSet::new();
    for line in lines {
        let mut name = Vec::new();
        if most.process(line, &mut name).is_some() {
            names.insert(name);
        }
    }
    (names.len() <= PROCESSES_MAX).then_some(most)
}

/// Whether words stand before lines that begin no record as well, before most of them, with the names
/// that stand before those that do: before lines that do a header stands too.
pub(crate) fn are_around_lines(wrapper: &Wrapper, text: &[u8], begins: &dyn Fn(&[u8]) -> bool) -> bool {
    let Some(words) = wrapper.words else { return false };
    let (mut of_records, mut of_others): (BTreeSet<Vec<u8>>, Vec<Vec<u8>>) = Default::default();
    let mut n_without = 0;
    for line in text.split(|b| *b == b'\n').take(LAYOUT_LINES_MAX) {
        let mut name = Vec::new();
        let has_words = words.process(line, &mut name).is_some();
        if begins(line) {
            of_records.extend(has_words.then_some(name));
        } else if has_words {
            of_others.push(name);
        } else {
            n_without += usize::from(!line.trim_ascii().is_empty());
        }
    }
    of_others.len() > n_without && of_others.iter().all(|name| of_records.contains(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(lines: &str, expected: &str, process: &str, inner: &str) {
        let found: Vec<Wrapper> = before_lines(lines.as_bytes());
        let wrapper = found.iter().find(|wrapper| wrapper.name == expected);
        let names: Vec<&str> = found.iter().map(|wrapper| wrapper.name).collect();
        let words = wrapper.unwrap_or_else(|| panic!("{names:?}")).words.expect("words");
        assert_eq!(Words::parse(expected), Some(words));
        let (mut name, mut text) = (Vec::new(), Vec::new());
        words.process(lines.lines().next().expect("a line").as_bytes(), &mut name);
        words.inner(lines.lines().next().expect("a line").as_bytes(), &mut text);
        assert_eq!(
            (String::from_utf8_lossy(&name), String::from_utf8_lossy(&text)),
            (process.into(), inner.into())
        );
    }

    #[test]
    fn what_stands_before_lines() {
        check("Nov 21 12:15:03 m\nDec 21 12:15:04 \tat x\n", "words-nnn", "", "m");
        check("@4000000069205b9107270e00 m\n@4000000069205b9107270e01 n\n", "words-n", "", "m");
        check("1795263303.114 h java[4]: m\n1795263303.115 h java[4]: n\n", "words-nww", "h/java[4]", "m");
        check("[    1.114] h java[4]: m\n[    1.115] h java[4]: n\n", "words-snww", "h/java[4]", "m");
        check("12:15:03 a.1    | m\n12:15:03 b.1    | \tat x\n", "words-nws", "a.1", "m");
        check("[a]  m\n[b] n\n", "words-w", "a", " m");
        check("[INFO] m n\n[ERROR] o p\n", "words-n", "", "m n");
        check("Sat Nov 21 12:15:03 UTC 2026 h a[4] | m\n", "words-nnnnnnwws", "h/a[4]", "m");
        assert!(before_lines(b"INFO a\nat b\n1 c\n").is_empty());
    }

    #[test]
    fn words_are_around_lines_if_most_that_begin_no_record_have_them() {
        let is_around = |words: &str, text: &str| {
            let wrapper = of_words(Words::parse(words).expect("words"));
            are_around_lines(&wrapper, text.as_bytes(), &|line| line.ends_with(b"m"))
        };
        assert!(is_around("words-n", "1 m\n2 m\n3 at x\n"));
        assert!(is_around("words-n", "stray of nobody\n1 m\n2 at x\n3 at y\n\n"), "one is of nobody");
        assert!(!is_around("words-n", "1 m\n2 m\n"), "a header has them too");
        assert!(!is_around("words-n", "1 m\n\tat x\n\tat y\n2 at z\n"), "only a header has them");
        assert!(is_around("words-w", "a m\na at x\n"));
        assert!(!is_around("words-w", "a m\nb at x\n"), "of another name");
    }
}

//! The text of a query: its words one after the other, and faults that point into it.

use std::fmt;

/// What is wrong with a query, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    /// Byte of the text.
    pub(super) at: usize,
    pub(super) message: String,
}

impl Fault {
    pub(super) fn new(at: usize, message: impl Into<String>) -> Self {
        Self { at, message: message.into() }
    }

    /// The fault with its line, its column and the line itself.
    pub(crate) fn show(&self, text: &str) -> String {
        let at = self.at.min(text.len());
        let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
        let line = text[start..].lines().next().unwrap_or_default();
        let number = text[..start].matches('\n').count() + 1;
        let column = text[start..at].chars().count() + 1;
        let caret = " ".repeat(column - 1);
        format!("line {number}, column {column}: {}\n  {line}\n  {caret}^", self.message)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// A word or symbol of a query.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    /// A name or keyword, as written.
    Word(String),
    /// A number, as written.
    Number(String),
    /// A time span, µs.
    Span(i64),
    /// Text in quotes, without them.
    Text(String),
    Symbol(&'static str),
    End,
}

/// Longest first.
const SYMBOLS: [&str; 24] = [
    "->", "~>", ">>", "||", "<=", ">=", "!=", "<>", "==", "=", "<", ">", "(", ")", ",", ".", "*", "+", "-",
    "/", ":", ";", "%", "#",
];

const UNITS: [(&str, i64); 6] = [
    ("us", 1),
    ("ms", 1_000),
    ("s", 1_000_000),
    ("min", 60_000_000),
    ("m", 60_000_000),
    ("h", 3_600_000_000),
];

/// Reads a text word by word.
#[derive(Clone, Debug)]
pub(super) struct Reader<'t> {
    pub(super) text: &'t str,
    /// Where the next word begins, or blanks before it.
    pub(super) at: usize,
}

impl<'t> Reader<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, at: 0 }
    }

    /// Where the next word begins.
    pub(super) fn start(&mut self) -> usize {
        loop {
            let rest = &self.text[self.at..];
            let blank = rest.len() - rest.trim_start().len();
            self.at += blank;
            if !self.text[self.at..].starts_with("--") {
                return self.at;
            }
            self.at += self.text[self.at..].find('\n').unwrap_or(self.text.len() - self.at);
        }
    }

    /// The next word; it is read again unless it is taken.
    pub(super) fn peek(&mut self) -> Result<Token, Fault> {
        self.clone().take()
    }

    /// Takes the next word.
    pub(super) fn take(&mut self) -> Result<Token, Fault> {
        let start = self.start();
        let rest = &self.text[start..];
        let Some(first) = rest.chars().next() else { return Ok(Token::End) };
        if first == '_' || first.is_alphabetic() {
            let end = rest.find(|c: char| c != '_' && c != '$' && !c.is_alphanumeric()).unwrap_or(rest.len());
            self.at += end;
            return Ok(Token::Word(rest[..end].to_owned()));
        }
        if first.is_ascii_digit() {
            return self.number(rest);
        }
        if matches!(first, '\'' | '"' | '`') {
            return self.quoted(first, rest);
        }
        match SYMBOLS.into_iter().find(|symbol| rest.starts_with(symbol)) {
            Some(symbol) => {
                self.at += symbol.len();
                Ok(Token::Symbol(symbol))
            }
            None => Err(Fault::new(start, format!("`{first}` means nothing here"))),
        }
    }

    fn number(&mut self, rest: &str) -> Result<Token, Fault> {
        let start = self.at;
        let digits = |text: &str| text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let mut end = digits(rest);
        if rest[end..].starts_with('.') && rest[end + 1..].starts_with(|c: char| c.is_ascii_digit()) {
            end += 1 + digits(&rest[end + 1..]);
        }
        let unit_end = rest[end..].find(|c: char| !c.is_alphanumeric()).map_or(rest.len(), |n| end + n);
        self.at += unit_end;
        if unit_end == end {
            return Ok(Token::Number(rest[..end].to_owned()));
        }
        let unit = UNITS.into_iter().find(|(name, _)| *name == &rest[end..unit_end]);
        let us = unit.and_then(|(_, us)| rest[..end].parse::<i64>().ok()?.checked_mul(us));
        us.map(Token::Span).ok_or_else(|| {
            Fault::new(start, format!("`{}` is no time: write 500ms, 5s, 2min or 1h", &rest[..unit_end]))
        })
    }

    fn quoted(&mut self, quote: char, rest: &str) -> Result<Token, Fault> {
        let mut out = String::new();
        let mut chars = rest.char_indices().skip(1).peekable();
        while let Some((i, c)) = chars.next() {
            if c != quote {
                out.push(c);
            } else if chars.peek().is_some_and(|(_, next)| *next == quote) {
                out.push(quote);
                chars.next();
            } else {
                self.at += i + c.len_utf8();
                return Ok(Token::Text(out));
            }
        }
        Err(Fault::new(self.at, "this text has no end"))
    }
}

/// Of `names` the one that is written most like `wanted`, if one is.
pub(super) fn nearest<'n>(wanted: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let wanted = wanted.to_lowercase();
    let score = |name: &'n str| (distance(&wanted, &name.to_lowercase()), name);
    let (n, name) = names.map(score).min()?;
    let n_letters = wanted.chars().count();
    (n <= n_letters.max(3) / 3 && n < n_letters).then_some(name)
}

/// `; did you mean ...?`, if a name is near.
pub(super) fn hint<'n>(wanted: &str, names: impl Iterator<Item = &'n str>) -> String {
    nearest(wanted, names).map(|name| format!("; did you mean `{name}`?")).unwrap_or_default()
}

/// Letters to change, add or leave out to make one of the other (Levenshtein).
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, a) in a.chars().enumerate() {
        let mut above_left = std::mem::replace(&mut row[0], i + 1);
        for (j, b) in b.iter().enumerate() {
            let change = above_left + usize::from(a != *b);
            above_left = row[j + 1];
            row[j + 1] = change.min(row[j] + 1).min(above_left + 1);
        }
    }
    row[b.len()]
}

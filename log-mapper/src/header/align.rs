//! Alignment: what stands between the fields of lines that are laid out alike. Lines are cut into
//! words, signs and texts in brackets; where that gives the same shape for several lines, what
//! they have in common is the layout's, and what differs is a field of it. The one that looks
//! most like names of threads is the thread.

/// Words that names of threads are made of.
const THREAD_WORDS: &[&str] = &[
    "main",
    "thread",
    "pool",
    "worker",
    "exec",
    "scheduler",
    "scheduling",
    "timer",
    "dispatcher",
    "qtp",
    "nio-",
    "epoll",
    "reactor",
    "eventloop",
    "event-loop",
    "listener",
    "processor",
    "responder",
    "acceptor",
    "selector",
    "ForkJoin",
];

/// A piece of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// One blank or several.
    Blank,
    Word(&'a [u8]),
    /// A text with the brackets or quotes around it.
    Enclosed(u8, &'a [u8], u8),
    Sign(u8),
}

impl<'a> Token<'a> {
    /// What the token is, whatever it says.
    pub(super) fn shape(self) -> (u8, u8) {
        match self {
            Self::Blank => (0, 0),
            Self::Word(_) => (1, 0),
            Self::Enclosed(open, ..) => (2, open),
            Self::Sign(sign) => (3, sign),
        }
    }

    fn text(self) -> &'a [u8] {
        match self {
            Self::Word(text) | Self::Enclosed(_, text, _) => text,
            Self::Blank | Self::Sign(_) => b"",
        }
    }
}

/// The tokens of `text`, up to `max` of them, and where each one ends.
pub(super) fn tokens(text: &[u8], max: usize) -> Vec<(Token<'_>, usize)> {
    let mut out = Vec::new();
    let mut at = 0;
    while at < text.len() && out.len() < max {
        let rest = &text[at..];
        // Of brackets in brackets the outer ones are signs.
        let is_doubled = rest.len() > 1 && rest[0] == rest[1];
        let (token, len) = if rest[0] == b' ' {
            (Token::Blank, rest.iter().take_while(|b| **b == b' ').count())
        } else if let Some(len) = enclosed(rest).filter(|_| !is_doubled) {
            (Token::Enclosed(rest[0], &rest[1..len - 1], rest[len - 1]), len)
        } else {
            match word(rest) {
                0 => (Token::Sign(rest[0]), 1),
                len => (Token::Word(&rest[..len]), len),
            }
        };
        at += len;
        out.push((token, at));
    }
    out
}

/// The length of the word that `text` begins with: names with points, colons and the like in
/// them, but not at their end.
fn word(text: &[u8]) -> usize {
    let is_letter = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b >= 0x80;
    let goes_on = |b: &u8| is_letter(*b) || matches!(b, b'.' | b'$' | b'-' | b'/' | b'@' | b':' | b'#');
    if !text.first().is_some_and(|b| is_letter(*b) || *b == b'/') {
        return 0;
    }
    let len = text.iter().take_while(|b| goes_on(b)).count();
    text[..len].iter().rposition(|b| is_letter(*b)).map_or(0, |last| last + 1)
}

/// The length of a text in brackets at the start of `text`, with those within.
pub(super) fn enclosed(text: &[u8]) -> Option<usize> {
    let open = *text.first()?;
    let close = match open {
        b'[' => b']',
        b'(' => b')',
        b'{' => b'}',
        b'<' => b'>',
        b'"' => return memchr::memchr(b'"', &text[1..]).map(|n| n + 2),
        _ => return None,
    };
    let mut depth = 0_usize;
    for (i, b) in text.iter().enumerate() {
        depth += usize::from(*b == open);
        if *b == close {
            depth -= 1;
            if depth == 0 {
                return Some(i + 1);
            }
        }
    }
    None
}

/// What stands at one place of several lines.
#[derive(Clone, Debug)]
pub(super) struct Column<'a> {
    shape: Token<'a>,
    values: Vec<&'a [u8]>,
    /// A sign that follows names what comes behind it.
    is_label: bool,
}

/// The columns of lines of one shape, each line as its tokens.
pub(super) fn columns<'a>(lines: &[Vec<Token<'a>>]) -> Vec<Column<'a>> {
    let Some(first) = lines.first() else { return Vec::new() };
    let column = |(i, token): (usize, &Token<'a>)| {
        let next = first.get(i + 1).copied().map(Token::shape);
        Column {
            shape: *token,
            values: lines.iter().map(|line| line[i].text()).collect(),
            is_label: matches!(next, Some((2, _) | (3, b'=' | b':' | b'#' | b'['))),
        }
    };
    first.iter().enumerate().map(column).collect()
}

impl Column<'_> {
    pub(super) fn is_constant(&self) -> bool {
        self.values.windows(2).all(|pair| pair[0] == pair[1])
    }

    fn all(&self, is: impl Fn(&[u8]) -> bool) -> bool {
        self.values.iter().all(|value| is(value))
    }

    pub(super) fn is_field(&self) -> bool {
        match self.shape {
            Token::Word(_) => !(self.is_constant() && self.is_label && !self.all(has_digit)),
            Token::Enclosed(..) => true,
            Token::Blank | Token::Sign(_) => false,
        }
    }

    /// How much it looks like names of threads; 0: not at all.
    pub(super) fn thread_score(&self) -> usize {
        let is_none = |value: &[u8]| value.is_empty() || is_source(value);
        if !self.is_field() || self.values.iter().any(|value| is_none(value)) || self.all(is_numeric) {
            return 0;
        }
        let n = self.values.len();
        let count = |is: &dyn Fn(&[u8]) -> bool| self.values.iter().filter(|value| is(value)).count();
        let named = count(&is_thread_like);
        let is_id = |value: &[u8]| value.contains(&b'=') || (value.len() > 15 && value.iter().all(is_hex));
        if named == 0 && count(&is_id) > 0 {
            return 0;
        }
        let is_bracket = matches!(self.shape, Token::Enclosed(b'[' | b'(', ..));
        let varies = usize::from(!self.is_constant());
        // What is in brackets and differs is the best guess if no name says it.
        100 * named / n + 10 * varies * usize::from(is_bracket)
    }

    /// Adds it to a pattern; `is_thread`: as the thread.
    pub(super) fn write(&self, is_thread: bool, pattern: &mut String) {
        let field = if is_thread { "%t" } else { "%x" };
        match self.shape {
            Token::Blank if pattern.ends_with(' ') => {}
            Token::Blank => pattern.push(' '),
            Token::Sign(sign) => literal(sign, pattern),
            Token::Enclosed(open, _, close) => {
                literal(open, pattern);
                pattern.push_str(field);
                literal(close, pattern);
            }
            Token::Word(text) if !is_thread && !self.is_field() => {
                text.iter().for_each(|b| literal(*b, pattern));
            }
            Token::Word(_) if self.all(is_number) => pattern.push_str("%pid"),
            Token::Word(_) => pattern.push_str(field),
        }
    }

    /// Adds it to a pattern as the text that it always is.
    pub(super) fn write_text(&self, pattern: &mut String) {
        match self.shape {
            Token::Word(text) => text.iter().for_each(|b| literal(*b, pattern)),
            _ => self.write(false, pattern),
        }
    }

    /// Whether it can stand before a message without being of it, where `n` lines show it.
    pub(super) fn is_before_message(&self, n: usize) -> bool {
        match self.shape {
            Token::Word(_) => n > 2 && self.is_constant() || self.all(is_thread_like),
            _ => true,
        }
    }

    pub(super) fn is_thread_word(&self) -> bool {
        matches!(self.shape, Token::Word(_)) && self.all(is_thread_like)
    }

    pub(super) fn is_blank(&self) -> bool {
        matches!(self.shape, Token::Blank)
    }

    pub(super) fn is_word(&self) -> bool {
        matches!(self.shape, Token::Word(_))
    }
}

/// Adds a byte as a pattern writes it.
fn literal(b: u8, pattern: &mut String) {
    match b {
        b'%' => pattern.push_str("%%"),
        b'\\' | b'{' | b'}' | b'(' | b')' => {
            pattern.push('\\');
            pattern.push(char::from(b));
        }
        b'\t' => pattern.push_str("\\t"),
        b if b.is_ascii() => pattern.push(char::from(b)),
        _ if pattern.ends_with("%x") => {}
        _ => pattern.push_str("%x"),
    }
}

fn has_digit(text: &[u8]) -> bool {
    text.iter().any(u8::is_ascii_digit)
}

fn is_number(text: &[u8]) -> bool {
    !text.is_empty() && text.iter().all(u8::is_ascii_digit)
}

/// Whether a text is a number, with a fraction or blanks before it.
fn is_numeric(text: &[u8]) -> bool {
    has_digit(text) && text.iter().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b',' | b' '))
}

/// Whether a text names a place in a source file.
fn is_source(text: &[u8]) -> bool {
    [&b".java:"[..], b".scala:", b".kt:"].iter().any(|end| memchr::memmem::find(text, end).is_some())
}

fn is_hex(b: &u8) -> bool {
    b.is_ascii_hexdigit() || *b == b'-'
}

/// Whether a text is called as threads are.
fn is_thread_like(text: &[u8]) -> bool {
    let holds = |word: &str| text.windows(word.len()).any(|part| part.eq_ignore_ascii_case(word.as_bytes()));
    !text.starts_with(b"/")
        && text.iter().any(u8::is_ascii_alphabetic)
        && THREAD_WORDS.iter().any(|w| holds(w))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(lines: &[&str], expected: &str) {
        let tokens: Vec<Vec<Token<'_>>> = lines
            .iter()
            .map(|line| tokens(line.as_bytes(), 40).into_iter().map(|(token, _)| token).collect())
            .collect();
        let columns = columns(&tokens);
        let scores: Vec<usize> = columns.iter().map(Column::thread_score).collect();
        let most = scores.iter().copied().max().filter(|most| *most > 0);
        let thread = most.and_then(|most| scores.iter().position(|score| *score == most));
        let mut pattern = String::new();
        for (i, column) in columns.iter().enumerate() {
            column.write(thread == Some(i), &mut pattern);
        }
        assert_eq!(pattern, expected, "{lines:?}");
    }

    #[test]
    fn what_lines_have_in_common_is_literal() {
        check(&[" host app.jar[12] ", " host app.jar[12] "], " %x app.jar[%x] ");
        check(&[" [main] [r-1] ", " [worker-1] [r-2] "], " [%t] [%x] ");
        check(&[" [r-1] [main] ", " [r-2] [worker-1] "], " [%x] [%t] ");
        check(&[" SERVER[a] USER[-] ", " SERVER[a] USER[-] "], " SERVER[%x] USER[%x] ");
        check(&["  - [main:", " - [SyncThread:1:"], " - [%t:");
        check(&[" {a=1, b=2} ", " {a=2, b=3} "], " \\{%x\\} ");
        check(&[" <<main>> ", " <<worker-1>> "], " <<%t>> ");
        check(&[";", ";"], ";");
        check(&[" 12 ", " 13 "], " %pid ");
    }
}

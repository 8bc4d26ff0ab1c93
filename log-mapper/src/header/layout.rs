//! Layouts: a conversion pattern compiled to a list of parts.
//!
//! ```text
//! pattern    = { literal | conversion }
//! conversion = "%" [ "-" ] [ min ] [ "." [ "-" ] max ] ( name | [ name ] "(" pattern ")" ) { "{" option "}" }
//! ```
//! Names are those of log4j 1, log4j 2 and logback together; where they differ
//! in the text they print (ISO 8601 with `T` or blank), both texts are read.
//! Colours and replacements are looked through to the pattern inside. A word that
//! no library has is one of the user's own and prints any text.

use super::timestamp::TimeLayout;
use super::words::{self, Kind};
use crate::limits::LAYOUT_DEPTH_MAX;
use crate::patterns::Cut;

/// A compiled conversion pattern.
#[derive(Clone, Debug)]
pub struct Layout {
    pub(super) pattern: String,
    /// Lines that a header takes.
    pub(crate) n_header_lines: usize,
    /// Before the message.
    pub(super) prefix: Vec<Part>,
    /// Between the message and the end of its last line.
    pub(super) suffix: Vec<Part>,
    pub(super) mdc_keys: Vec<String>,
    /// Characters of the message that `%.Nm` (its end) or `%.-Nm` (its start)
    /// prints.
    pub(super) message_max: Option<(usize, Cut)>,
}

#[derive(Clone, Debug)]
pub(super) struct Part {
    pub(super) field: Field,
    /// Least width; shorter values are padded.
    pub(super) min: usize,
    /// Padded on the right.
    pub(super) left_justified: bool,
    /// Padded anyhow: of a layout that is being looked for.
    pub(super) any_padding: bool,
}

impl Part {
    /// The word of a field that is padded to a column.
    fn word(&self) -> Option<&'static str> {
        Some(match self.field {
            Field::Level => "p",
            Field::Thread => "t",
            Field::Logger => "c",
            Field::Class => "C",
            Field::File => "F",
            Field::Elapsed => "r",
            _ => return None,
        })
    }
}

/// Fields of a layout.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fields {
    pub(crate) level: bool,
    pub(crate) thread: bool,
    /// Logger, class or call site.
    pub(crate) place: bool,
}

#[derive(Clone, Debug)]
pub(super) enum Field {
    Literal(Box<[u8]>),
    Time(TimeLayout),
    Level,
    Logger,
    Thread,
    File,
    Line,
    Class,
    Method,
    /// `class.method(file:line)`
    Location,
    /// Position in the layout's MDC keys.
    Mdc(usize),
    /// Milliseconds since the program began: a time where the layout prints no other.
    Elapsed,
    /// Digits: process, sequence number.
    Number,
    /// Any text that is not kept.
    Text,
    /// Blanks, if any: padding of a group.
    Padding,
    /// The end of a line of the header.
    LineBreak,
    /// Nothing, or the throwable.
    Throwable,
    /// The next so many parts are there together or not at all.
    Optional(usize),
}

impl std::fmt::Display for Field {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let word = match self {
            Self::Literal(text) => return write!(f, "`{}`", String::from_utf8_lossy(text)),
            Self::Time(_) => "%d",
            Self::Level => "%p",
            Self::Logger => "%c",
            Self::Thread => "%t",
            Self::File => "%F",
            Self::Line => "%L",
            Self::Class => "%C",
            Self::Method => "%M",
            Self::Location => "%l",
            Self::Mdc(_) => "%X",
            Self::Number | Self::Elapsed => "a number",
            Self::Text | Self::Optional(_) => "a text",
            Self::Padding => "blanks",
            Self::LineBreak => "%n",
            Self::Throwable => "%ex",
        };
        f.write_str(word)
    }
}

impl Layout {
    /// Compiles a conversion pattern.
    ///
    /// # Errors
    /// It prints no message, or a date pattern is none.
    pub fn compile(pattern: &str) -> Result<Self, String> {
        let mut compiler = Compiler::default();
        compiler.pattern(pattern.as_bytes(), 0)?;
        if !compiler.seen_message {
            compiler = Compiler { split_words: true, ..Compiler::default() };
            compiler.pattern(pattern.as_bytes(), 0)?;
        }
        if !compiler.seen_message {
            return Err(format!("layout `{pattern}` prints no message (%m)"));
        }
        if compiler.prefix.is_empty() {
            return Err(format!(
                "layout `{pattern}` prints nothing before the message: records cannot be told apart"
            ));
        }
        let n_breaks = compiler.prefix.iter().filter(|p| matches!(p.field, Field::LineBreak)).count();
        Ok(Self {
            pattern: pattern.to_owned(),
            n_header_lines: n_breaks + 1,
            prefix: compiler.prefix,
            suffix: compiler.suffix,
            mdc_keys: compiler.mdc_keys,
            message_max: compiler.message_max,
        })
    }

    /// The same, its fields padded anyhow.
    pub(super) fn compile_any_padding(pattern: &str) -> Result<Self, String> {
        let mut layout = Self::compile(pattern)?;
        for part in layout.prefix.iter_mut().filter(|p| p.word().is_some() && p.min == 0) {
            part.any_padding = true;
        }
        Ok(layout)
    }

    /// The same, but for the fields of one word.
    pub(super) fn compile_any_padding_but(pattern: &str, word: &str) -> Option<Self> {
        let mut layout = Self::compile_any_padding(pattern).ok()?;
        for part in layout.prefix.iter_mut().filter(|p| p.word() == Some(word)) {
            part.any_padding = false;
        }
        Some(layout)
    }

    /// The layout of a line that begins as a record does up to its time, and then has any
    /// text; none if a record does not begin with its time.
    pub(super) fn start_only(&self) -> Option<Self> {
        let n = self.prefix.iter().position(|p| !matches!(p.field, Field::Literal(_)))?;
        let Field::Time(time) = &self.prefix[n].field else { return None };
        let before = match &self.prefix[..n] {
            [Part { field: Field::Literal(text), .. }] => String::from_utf8_lossy(text).into_owned(),
            _ => String::new(),
        };
        let pattern = format!("{before}%d{{{}}}%m%n", time.pattern());
        Self::compile(&pattern).ok()
    }

    /// The time that it prints.
    pub(crate) fn time(&self) -> Option<&TimeLayout> {
        self.prefix.iter().chain(&self.suffix).find_map(|p| match &p.field {
            Field::Time(time) => Some(time),
            _ => None,
        })
    }

    /// Which of the fields it prints that tell records apart.
    pub(crate) fn fields(&self) -> Fields {
        let has = |of: &dyn Fn(&Field) -> bool| self.prefix.iter().chain(&self.suffix).any(|p| of(&p.field));
        Fields {
            level: has(&|f| matches!(f, Field::Level)),
            thread: has(&|f| matches!(f, Field::Thread)),
            place: has(&|f| matches!(f, Field::Logger | Field::Class | Field::File | Field::Location)),
        }
    }

    /// The pattern, for people.
    #[must_use]
    pub fn pattern(&self) -> &str {
        &self.pattern
    }

    /// MDC keys whose values [`super::Header::mdc`] holds, in its order.
    #[must_use]
    pub fn mdc_keys(&self) -> &[String] {
        &self.mdc_keys
    }

    /// Characters to which the layout cuts a message, and what it leaves out:
    /// `%.Nm` the start, `%.-Nm` the end.
    #[must_use]
    pub fn message_max(&self) -> Option<(usize, Cut)> {
        self.message_max
    }

    /// How much of what we can use the layout prints: detection prefers more.
    pub(crate) fn n_fields(&self) -> usize {
        let useful = |p: &&Part| {
            let f = &p.field;
            !matches!(f, Field::Literal(_) | Field::Text | Field::Padding | Field::LineBreak)
                && !matches!(f, Field::Optional(_) | Field::Throwable | Field::Mdc(_))
        };
        self.prefix.iter().chain(&self.suffix).filter(useful).count()
    }

    /// Whether the layout prints a time of its own zone.
    #[must_use]
    pub fn zone(&self) -> Option<&jiff::tz::TimeZone> {
        self.prefix.iter().chain(&self.suffix).find_map(|p| match &p.field {
            Field::Time(t) => t.zone(),
            _ => None,
        })
    }
}

#[derive(Default)]
struct Compiler {
    prefix: Vec<Part>,
    suffix: Vec<Part>,
    mdc_keys: Vec<String>,
    /// Texts without a name so far.
    n_texts: usize,
    message_max: Option<(usize, Cut)>,
    seen_message: bool,
    /// After `%n` only a stack trace follows, which is continuation lines.
    done: bool,
    /// The last literal is another group's.
    apart: bool,
    /// An unknown word is a known one and more text.
    split_words: bool,
}

#[derive(Clone, Copy, Default)]
struct Modifier {
    min: usize,
    left_justified: bool,
    max: Option<usize>,
    /// What is longer than `max` loses its end, not its start.
    keeps_start: bool,
}

impl Compiler {
    fn pattern(&mut self, text: &[u8], depth: usize) -> Result<(), String> {
        if depth > LAYOUT_DEPTH_MAX {
            return Err(format!("layout nests deeper than {LAYOUT_DEPTH_MAX}"));
        }
        let mut at = 0;
        while let Some(&b) = text.get(at) {
            at = match (b, text.get(at + 1)) {
                (b'%', Some(b'%')) => self.literal(b"%", at + 2),
                (b'%', Some(_)) => self.conversion(text, at + 1, depth)?,
                (b'\\', Some(b't')) => self.literal(b"\t", at + 2),
                (b'\\', Some(b'n')) => self.new_line(at + 2),
                (b'\\', Some(&c @ (b'\\' | b'%' | b'(' | b')' | b'{' | b'}' | b'\'' | b'"'))) => {
                    self.literal(&[c], at + 2)
                }
                (b'\n', _) => self.new_line(at + 1),
                _ => self.literal(&[b], at + 1),
            };
        }
        Ok(())
    }

    fn conversion(&mut self, text: &[u8], start: usize, depth: usize) -> Result<usize, String> {
        let (modifier, mut at) = modifier(text, start);
        let kind = if text.get(at) == Some(&b'(') {
            Kind::Nested
        } else {
            let len = text[at..].iter().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count();
            let word = &text[at..at + len];
            let split = || words::known_start(word).filter(|_| self.split_words);
            let (len, kind) = match words::kind_of(word) {
                Some(kind) => (len, kind),
                None => split().unwrap_or((len, Kind::Text)),
            };
            at += len;
            kind
        };
        let mut nested = None;
        let has_group = matches!(kind, Kind::Nested | Kind::Optional | Kind::Enclosed);
        if text.get(at) == Some(&b'(') && has_group {
            let end = closing(text, at, b'(', b')').unwrap_or(text.len());
            nested = Some(&text[at + 1..end]);
            at = (end + 1).min(text.len());
        }
        let mut options: Vec<&[u8]> = Vec::new();
        while text.get(at) == Some(&b'{') {
            let Some(end) = closing(text, at, b'{', b'}') else { break };
            options.push(&text[at + 1..end]);
            at = end + 1;
        }
        let inner = nested.or(options.first().copied()).unwrap_or_default();
        if kind == Kind::Optional {
            self.optional(|compiler| compiler.pattern(inner, depth + 1))?;
            return Ok(at);
        }
        if kind == Kind::Enclosed {
            self.optional(|compiler| compiler.pattern(b"[%x] ", depth + 1))?;
            return Ok(at);
        }
        if kind == Kind::Nested {
            self.pattern(inner, depth + 1)?;
            if modifier.min > 0 {
                self.push(Field::Padding, Modifier::default());
            }
            return Ok(at);
        }
        self.field(kind, modifier, &options)?;
        Ok(at)
    }

    fn field(&mut self, kind: Kind, modifier: Modifier, options: &[&[u8]]) -> Result<(), String> {
        let option = |i: usize| options.get(i).and_then(|o| std::str::from_utf8(o).ok());
        let field = match kind {
            Kind::Time => Field::Time(time(option(0).unwrap_or_default(), option(1))?),
            Kind::Level => Field::Level,
            Kind::Logger => Field::Logger,
            Kind::Thread => Field::Thread,
            Kind::File => Field::File,
            Kind::Line => Field::Line,
            Kind::Class => Field::Class,
            Kind::Method => Field::Method,
            Kind::Location => Field::Location,
            Kind::Mdc => match option(0) {
                Some(key) if !key.contains(',') => self.mdc(key),
                _ => self.text(),
            },
            Kind::Elapsed => Field::Elapsed,
            Kind::Number => Field::Number,
            Kind::Text | Kind::Nested | Kind::Optional | Kind::Enclosed => self.text(),
            Kind::Throwable => Field::Throwable,
            Kind::Message => {
                self.seen_message = true;
                let side = if modifier.keeps_start { Cut::End } else { Cut::Start };
                self.message_max = modifier.max.map(|max| (max, side));
                return Ok(());
            }
            Kind::NewLine => {
                self.new_line(0);
                return Ok(());
            }
        };
        // Before the message it is of no use: what it prints has no end that could be told.
        if self.seen_message || !matches!(field, Field::Throwable) {
            self.push(field, modifier);
        }
        Ok(())
    }

    fn mdc(&mut self, key: &str) -> Field {
        let key = key.split(":-").next().unwrap_or(key);
        if self.mdc_keys.len() == crate::limits::MDC_KEYS_MAX {
            return Field::Text;
        }
        self.mdc_keys.push(key.to_owned());
        Field::Mdc(self.mdc_keys.len() - 1)
    }

    /// A text that has no name is known by its number, as far as there is room: it can hold an id.
    fn text(&mut self) -> Field {
        self.n_texts += 1;
        let key = format!("[{}]", self.n_texts);
        self.mdc(&key)
    }

    fn new_line(&mut self, next: usize) -> usize {
        if self.seen_message {
            self.done = true;
        } else {
            self.push(Field::LineBreak, Modifier::default());
        }
        next
    }

    /// Compiles a group that can be missing.
    fn optional(&mut self, inner: impl FnOnce(&mut Self) -> Result<(), String>) -> Result<(), String> {
        let seen_message = self.seen_message;
        let at = self.parts().len();
        self.push(Field::Optional(0), Modifier::default());
        inner(self)?;
        // A group that holds the message is there.
        if self.seen_message != seen_message {
            self.prefix.remove(at);
        } else if !self.done {
            let n = self.parts().len() - at - 1;
            self.parts()[at].field = Field::Optional(n);
        }
        self.apart = true;
        Ok(())
    }

    fn parts(&mut self) -> &mut Vec<Part> {
        if self.seen_message { &mut self.suffix } else { &mut self.prefix }
    }

    fn literal(&mut self, bytes: &[u8], next: usize) -> usize {
        if self.done {
            return next;
        }
        let is_apart = std::mem::take(&mut self.apart);
        if let Some(Part { field: Field::Literal(last), .. }) = self.parts().last_mut().filter(|_| !is_apart)
        {
            *last = [&**last, bytes].concat().into();
        } else {
            self.push(Field::Literal(bytes.into()), Modifier::default());
        }
        next
    }

    fn push(&mut self, field: Field, modifier: Modifier) {
        if self.done {
            return;
        }
        self.apart = false;
        let Modifier { min, left_justified, .. } = modifier;
        self.parts().push(Part { field, min, left_justified, any_padding: false });
    }
}

/// The time of a date option: log4j gives the zone as a second option, logback after a comma
/// and quotes a pattern that holds one.
fn time(option: &str, zone: Option<&str>) -> Result<TimeLayout, String> {
    let option = option.trim();
    for quote in ['"', '\''] {
        let Some((pattern, rest)) = option.strip_prefix(quote).and_then(|o| o.split_once(quote)) else {
            continue;
        };
        let rest = rest.trim();
        if rest.is_empty() || rest.starts_with(',') {
            let mut more = rest.split(',').map(str::trim).filter(|o| !o.is_empty());
            return TimeLayout::compile(pattern, zone.or_else(|| more.next()));
        }
    }
    if let Some((pattern, last)) = option.rsplit_once(',')
        && zone.is_none()
        && super::timestamp::parse_zone(last.trim()).is_ok()
    {
        return TimeLayout::compile(pattern, Some(last.trim()));
    }
    // `{HH:mm:ss, UTC, en}`: the last is a language.
    if let Some((rest, language)) = option.rsplit_once(',')
        && let Some((pattern, middle)) = rest.rsplit_once(',')
        && language.trim().chars().all(|c| c.is_ascii_alphabetic() || c == '-' || c == '_')
        && super::timestamp::parse_zone(middle.trim()).is_ok()
    {
        return TimeLayout::compile(pattern, Some(middle.trim()));
    }
    TimeLayout::compile(option, zone)
}

fn modifier(text: &[u8], start: usize) -> (Modifier, usize) {
    let mut at = start;
    let mut out = Modifier::default();
    let number = |at: &mut usize| {
        let mut n = None;
        while let Some(b) = text.get(*at).filter(|b| b.is_ascii_digit()) {
            n = Some((n.unwrap_or(0_usize) * 10 + usize::from(b - b'0')).min(1 << 20));
            *at += 1;
        }
        n
    };
    if text.get(at) == Some(&b'-') {
        out.left_justified = true;
        at += 1;
    }
    out.min = number(&mut at).unwrap_or(0);
    if text.get(at) == Some(&b'.') {
        at += 1;
        if text.get(at) == Some(&b'-') {
            out.keeps_start = true;
            at += 1;
        }
        out.max = number(&mut at);
    }
    (out, at)
}

/// Position of the bracket that closes the one at `open`.
fn closing(text: &[u8], open: usize, opening: u8, closing: u8) -> Option<usize> {
    let mut depth = 0_usize;
    let mut at = open;
    while let Some(&b) = text.get(at) {
        if b == b'\\' {
            at += 1;
        } else if b == opening {
            depth += 1;
        } else if b == closing {
            depth -= 1;
            if depth == 0 {
                return Some(at);
            }
        }
        at += 1;
    }
    None
}

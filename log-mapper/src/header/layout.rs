//! Layouts: a conversion pattern compiled to a list of parts.
//!
//! ```text
//! pattern    = { literal | conversion }
//! conversion = "%" [ "-" ] [ min ] [ "." [ "-" ] max ] ( name | [ name ] "(" pattern ")" ) { "{" option "}" }
//! ```
//! Names are those of log4j 1, log4j 2 and logback together; where they differ
//! in the text they print (ISO 8601 with `T` or blank), both texts are read.
//! Colours and replacements are looked through to the pattern inside.

use super::timestamp::TimeLayout;
use crate::limits::LAYOUT_DEPTH_MAX;
use crate::patterns::Cut;

/// A compiled conversion pattern.
#[derive(Clone, Debug)]
pub struct Layout {
    pub(super) pattern: String,
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
    /// Digits: relative time, process, sequence number.
    Number,
    /// Any text that is not kept.
    Text,
    /// Blanks, if any: padding of a group.
    Padding,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Time,
    Level,
    Logger,
    Thread,
    File,
    Line,
    Class,
    Method,
    Location,
    Mdc,
    Number,
    Text,
    Message,
    NewLine,
    /// Prints nothing or the stack trace.
    Throwable,
    /// The pattern is in the group or the first option.
    Nested,
}

/// Conversion words; the longest that fits is meant.
const WORDS: &[(&str, Kind)] = &[
    ("d", Kind::Time),
    ("date", Kind::Time),
    ("p", Kind::Level),
    ("le", Kind::Level),
    ("level", Kind::Level),
    ("c", Kind::Logger),
    ("lo", Kind::Logger),
    ("logger", Kind::Logger),
    ("t", Kind::Thread),
    ("tn", Kind::Thread),
    ("thread", Kind::Thread),
    ("threadName", Kind::Thread),
    ("F", Kind::File),
    ("file", Kind::File),
    ("L", Kind::Line),
    ("line", Kind::Line),
    ("C", Kind::Class),
    ("class", Kind::Class),
    ("M", Kind::Method),
    ("method", Kind::Method),
    ("l", Kind::Location),
    ("location", Kind::Location),
    ("caller", Kind::Location),
    ("X", Kind::Mdc),
    ("mdc", Kind::Mdc),
    ("MDC", Kind::Mdc),
    ("r", Kind::Number),
    ("relative", Kind::Number),
    ("pid", Kind::Number),
    ("processId", Kind::Number),
    ("sn", Kind::Number),
    ("sequenceNumber", Kind::Number),
    ("T", Kind::Number),
    ("tid", Kind::Number),
    ("threadId", Kind::Number),
    ("tp", Kind::Number),
    ("threadPriority", Kind::Number),
    ("N", Kind::Number),
    ("nano", Kind::Number),
    ("m", Kind::Message),
    ("msg", Kind::Message),
    ("message", Kind::Message),
    ("n", Kind::NewLine),
    ("ex", Kind::Throwable),
    ("exception", Kind::Throwable),
    ("throwable", Kind::Throwable),
    ("xEx", Kind::Throwable),
    ("xException", Kind::Throwable),
    ("xThrowable", Kind::Throwable),
    ("rEx", Kind::Throwable),
    ("rException", Kind::Throwable),
    ("rThrowable", Kind::Throwable),
    ("wEx", Kind::Throwable),
    ("wex", Kind::Throwable),
    ("nopex", Kind::Throwable),
    ("nopexception", Kind::Throwable),
    ("rootException", Kind::Throwable),
    ("highlight", Kind::Nested),
    ("style", Kind::Nested),
    ("replace", Kind::Nested),
    ("clr", Kind::Nested),
    ("maxLen", Kind::Nested),
    ("maxLength", Kind::Nested),
    ("enc", Kind::Nested),
    ("encode", Kind::Nested),
    ("black", Kind::Nested),
    ("red", Kind::Nested),
    ("green", Kind::Nested),
    ("yellow", Kind::Nested),
    ("blue", Kind::Nested),
    ("magenta", Kind::Nested),
    ("cyan", Kind::Nested),
    ("white", Kind::Nested),
    ("gray", Kind::Nested),
    ("boldRed", Kind::Nested),
    ("boldGreen", Kind::Nested),
    ("boldYellow", Kind::Nested),
    ("boldBlue", Kind::Nested),
    ("boldMagenta", Kind::Nested),
    ("boldCyan", Kind::Nested),
    ("boldWhite", Kind::Nested),
    ("x", Kind::Text),
    ("NDC", Kind::Text),
    ("K", Kind::Text),
    ("map", Kind::Text),
    ("MAP", Kind::Text),
    ("marker", Kind::Text),
    ("markerSimpleName", Kind::Text),
    ("u", Kind::Text),
    ("uuid", Kind::Text),
    ("contextName", Kind::Text),
    ("cn", Kind::Text),
    ("property", Kind::Text),
    ("kvp", Kind::Text),
    ("notEmpty", Kind::Text),
    ("varsNotEmpty", Kind::Text),
    ("variablesNotEmpty", Kind::Text),
    ("equals", Kind::Text),
    ("fqcn", Kind::Text),
    ("endOfBatch", Kind::Text),
    ("h", Kind::Text),
    ("hostName", Kind::Text),
    ("app", Kind::Text),
    ("applicationName", Kind::Text),
    ("correlationId", Kind::Text),
];

impl Layout {
    /// Compiles a conversion pattern.
    ///
    /// # Errors
    /// It prints no message, or a date pattern is none.
    pub fn compile(pattern: &str) -> Result<Self, String> {
        let mut compiler = Compiler::default();
        compiler.pattern(pattern.as_bytes(), 0)?;
        if !compiler.seen_message {
            return Err(format!("layout `{pattern}` prints no message (%m)"));
        }
        if compiler.prefix.is_empty() {
            return Err(format!(
                "layout `{pattern}` prints nothing before the message: records cannot be told apart"
            ));
        }
        Ok(Self {
            pattern: pattern.to_owned(),
            prefix: compiler.prefix,
            suffix: compiler.suffix,
            mdc_keys: compiler.mdc_keys,
            message_max: compiler.message_max,
        })
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
    pub(super) fn n_fields(&self) -> usize {
        let useful = |p: &&Part| !matches!(p.field, Field::Literal(_) | Field::Text | Field::Padding);
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
    message_max: Option<(usize, Cut)>,
    seen_message: bool,
    /// After `%n` only a stack trace follows, which is continuation lines.
    done: bool,
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
            let word = WORDS
                .iter()
                .filter(|(w, _)| text[at..].starts_with(w.as_bytes()))
                .max_by_key(|(w, _)| w.len());
            if let Some((word, kind)) = word {
                at += word.len();
                *kind
            } else {
                at += text[at..].iter().take_while(|b| b.is_ascii_alphanumeric()).count();
                Kind::Text
            }
        };
        let mut nested = None;
        if text.get(at) == Some(&b'(') && kind == Kind::Nested {
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
        if kind == Kind::Nested {
            let inner = nested.or(options.first().copied()).unwrap_or_default();
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
            Kind::Time => Field::Time(TimeLayout::compile(option(0).unwrap_or_default(), option(1))?),
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
                _ => Field::Text,
            },
            Kind::Number => Field::Number,
            Kind::Text | Kind::Nested => Field::Text,
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
            Kind::Throwable => return Ok(()),
        };
        self.push(field, modifier);
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

    fn new_line(&mut self, next: usize) -> usize {
        if self.seen_message {
            self.done = true;
        } else {
            self.literal(b"\n", next);
        }
        next
    }

    fn literal(&mut self, bytes: &[u8], next: usize) -> usize {
        let parts = if self.seen_message { &mut self.suffix } else { &mut self.prefix };
        if self.done {
            return next;
        }
        if let Some(Part { field: Field::Literal(last), .. }) = parts.last_mut() {
            *last = [&**last, bytes].concat().into();
        } else {
            parts.push(Part { field: Field::Literal(bytes.into()), min: 0, left_justified: false });
        }
        next
    }

    fn push(&mut self, field: Field, modifier: Modifier) {
        if self.done {
            return;
        }
        let parts = if self.seen_message { &mut self.suffix } else { &mut self.prefix };
        parts.push(Part { field, min: modifier.min, left_justified: modifier.left_justified });
    }
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

//! Format strings: `String.format`, `MessageFormat` and `{}` of logging
//! libraries. The format itself may be computed: conversions are looked for in
//! the constant parts of its term, so a format made by a format works.

use schema::ValueShape;

use super::apis::Filling;
use super::term::{Leaf, Node, Pattern, Term, Terms};
use super::{Evaluator, FrameId, types};
use crate::ir::{Const, Op, ValueId};
use crate::program::Name;

mod message_format;

/// Choices of a computed format that are told apart.
const FORMATS_MAX: usize = 16;

/// One argument of a format.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Argument {
    /// What it prints by itself.
    pub(crate) text: Term,
    /// Whether it is an exception.
    pub(crate) throwable: bool,
}

/// Arguments of a format, as far as they are known.
pub(crate) struct Arguments {
    pub(crate) known: Vec<Argument>,
    /// Whether `known` are all of them.
    pub(crate) complete: bool,
}

impl<'p> Evaluator<'p> {
    /// `String.format([locale], format, args...)`, `format.formatted(args)`
    pub(crate) fn format_call(
        &mut self,
        frame: FrameId,
        call: ValueId,
        args: &'p [ValueId],
        parameters: &[Name],
        is_static: bool,
    ) -> Option<Term> {
        let locale = usize::from(is_static && parameters.first().is_some_and(|p| p == "Ljava/util/Locale;"));
        let format = self.format_text(frame, *args.get(locale)?, call);
        let arguments = self.varargs(frame, *args.get(locale + 1)?, call);
        Some(self.printf(format, &arguments))
    }

    /// A format string. A field is a variable to everybody else; here its
    /// conversions matter, also where they come through a constructor.
    fn format_text(&mut self, frame: FrameId, format: ValueId, call: ValueId) -> Term {
        let string = Name::from("Ljava/lang/String;");
        let term = self.text(frame, format, string, call);
        let Op::GetField(field, object) = self.op(frame, format) else { return term };
        if !matches!(self.terms.node(term), Node::Leaf(_)) {
            return term;
        }
        let object = object.map(|o| self.place(frame, o));
        let written = self.written_formats(frame, object, *field, string);
        written.unwrap_or(term)
    }

    /// `MessageFormat.format(pattern, args...)`
    pub(crate) fn message_format_call(
        &mut self,
        frame: FrameId,
        call: ValueId,
        args: &'p [ValueId],
    ) -> Option<Term> {
        let format = self.text(frame, *args.first()?, Name::from("Ljava/lang/String;"), call);
        let arguments = self.varargs(frame, *args.get(1)?, call);
        Some(self.message_format(format, &arguments))
    }

    /// What an object prints that is made of a text with values, `new Message(text, values...)`.
    pub(crate) fn filled_text(&mut self, frame: FrameId, made: ValueId, filling: Filling) -> Option<Term> {
        let init = *self.facts.info(self.method_of(frame)).init.get(&made)?;
        let Op::Invoke { method, args, .. } = self.op(frame, init) else { return None };
        if filling == Filling::Between {
            let &[_, values, parts] = &args[..] else { return None };
            return self.text_between(frame, init, values, parts);
        }
        let (mut format, mut arguments) = (None, Arguments { known: Vec::new(), complete: true });
        for (&value, parameter) in args[1..].iter().zip(types::parameters(&method.descriptor)) {
            match parameter {
                "Ljava/util/Locale;" | "Ljava/util/ResourceBundle;" => {}
                "[Ljava/lang/Object;" => arguments = self.varargs(frame, value, init),
                "Ljava/lang/Throwable;" if format.is_some() => {}
                _ if format.is_none() => format = Some(self.text(frame, value, Name::from(parameter), init)),
                _ => arguments.known.push(self.argument(frame, value, init)),
            }
        }
        let format = format?;
        let filling = match filling {
            Filling::Either => asked_filling(&self.terms, format),
            filling => filling,
        };
        Some(match filling {
            Filling::Plain | Filling::Either | Filling::Between => format,
            Filling::Braces => self.braces(format, &arguments),
            Filling::Numbered => self.message_format(format, &arguments),
            Filling::Printf => self.printf(format, &arguments),
        })
    }

    /// The texts of an array, and between each two of them one of the values of another one.
    fn text_between(
        &mut self,
        frame: FrameId,
        init: ValueId,
        values: ValueId,
        parts: ValueId,
    ) -> Option<Term> {
        let (at, parts) = self.elements(frame, parts)?;
        let values = self.varargs(frame, values, init);
        // The last text can be left out.
        if !values.complete || !matches!(parts.len().checked_sub(values.known.len()), Some(0 | 1)) {
            return None;
        }
        let mut pieces = Vec::with_capacity(2 * parts.len());
        let mut values = values.known.into_iter();
        for part in parts {
            pieces.push(self.text(at, part?, Name::from("Ljava/lang/String;"), init));
            pieces.extend(values.next().map(|value| value.text));
        }
        Some(self.terms.cat(pieces))
    }

    /// The elements of an `Object[]` given for a variable number of arguments.
    pub(crate) fn varargs(&mut self, frame: FrameId, array: ValueId, at: ValueId) -> Arguments {
        if matches!(self.op(frame, array), Op::Const(Const::Null)) {
            return Arguments { known: Vec::new(), complete: true };
        }
        let Some((f, elements)) = self.elements(frame, array) else {
            return Arguments { known: Vec::new(), complete: false };
        };
        let mut known = Vec::new();
        for element in elements {
            known.push(match element {
                Some(value) => self.argument(f, value, if f == frame { at } else { value }),
                None => Argument { text: self.terms.text("null"), throwable: false },
            });
        }
        Arguments { known, complete: true }
    }

    /// One argument.
    pub(crate) fn argument(&mut self, frame: FrameId, value: ValueId, at: ValueId) -> Argument {
        let descriptor = self.descriptor_of(frame, value);
        let place = self.place(frame, value);
        let narrow = self.narrower(descriptor, self.place_descriptor(place));
        let throwable = types::class_of(&narrow).is_some_and(|c| self.facts.is_throwable(Name::from(c)));
        Argument { text: self.text(frame, value, Name::from("Ljava/lang/Object;"), at), throwable }
    }

    /// `java.util.Formatter`
    pub(crate) fn printf(&mut self, format: Term, arguments: &Arguments) -> Term {
        self.each_format(format, '%', |terms, format| {
            let mut state = Printf { next: 0, last: 0, arguments };
            format_parts(terms, format, &mut |terms, text, out| state.expand(terms, text, out))
        })
    }

    /// `java.text.MessageFormat`
    pub(crate) fn message_format(&mut self, format: Term, arguments: &Arguments) -> Term {
        self.each_format(format, '{', |terms, format| {
            format_parts(terms, format, &mut |terms, text, out| {
                message_format::parts(terms, text, arguments, out)
            })
        })
    }

    /// `{}` of slf4j and its kin; `escapes`: `\{}` prints `{}`.
    pub(crate) fn braces(&mut self, format: Term, arguments: &Arguments) -> Term {
        self.each_format(format, '{', |terms, format| {
            let mut next = 0;
            format_parts(terms, format, &mut |terms, text, out| {
                braces_parts(terms, text, arguments, &mut next, out);
                true
            })
        })
    }

    /// The same where the format has a place for an argument, else as it is (`java.util.logging`).
    pub(crate) fn message_format_if_asked(&mut self, format: Term, arguments: &Arguments) -> Term {
        match asked_filling(&self.terms, format) {
            Filling::Numbered => self.message_format(format, arguments),
            _ => format,
        }
    }

    /// `{}` of tinylog, where a pattern of numbers or choices can stand between the braces.
    pub(crate) fn tiny_braces(&mut self, format: Term, arguments: &Arguments) -> Term {
        self.each_format(format, '{', |terms, format| {
            let mut next = 0;
            format_parts(terms, format, &mut |terms, text, out| {
                message_format::tiny_parts(terms, text, arguments, &mut next, out);
                true
            })
        })
    }

    /// `f` of each format that `format` can be. Choices without `mark` hold no
    /// conversion: they are values of the text, whatever their number.
    fn each_format(
        &mut self,
        format: Term,
        mark: char,
        mut f: impl FnMut(&mut Terms, Term) -> Option<Term>,
    ) -> Term {
        let Some(formats) = self.terms.expand(format, FORMATS_MAX, mark) else { return self.terms.top() };
        let mut choices = Vec::new();
        for format in formats {
            let term = f(&mut self.terms, format);
            choices.push(term.unwrap_or_else(|| self.terms.top()));
        }
        self.terms.alt(choices)
    }
}

/// How the constants of a text ask for its values.
fn asked_filling(terms: &Terms, format: Term) -> Filling {
    let constants: String = terms.parts(format).iter().filter_map(|&part| terms.as_text(part)).collect();
    let mut pairs = constants.bytes().zip(constants.bytes().skip(1));
    if pairs.any(|(a, b)| a == b'{' && b.is_ascii_digit()) {
        Filling::Numbered
    } else if constants.split('%').skip(1).any(|behind| parse_conversion(behind).is_some()) {
        Filling::Printf
    } else {
        Filling::Braces
    }
}

/// Copies the values of a format and expands its constants.
fn format_parts(
    terms: &mut Terms,
    format: Term,
    expand: &mut dyn FnMut(&mut Terms, &str, &mut Vec<Term>) -> bool,
) -> Option<Term> {
    let mut out = Vec::new();
    for part in terms.parts(format) {
        match terms.node(part) {
            Node::Text(text) => {
                let text = text.to_string();
                if !expand(terms, &text, &mut out) {
                    return None;
                }
            }
            _ => out.push(part),
        }
    }
    Some(terms.cat(out))
}

struct Printf<'a> {
    next: usize,
    last: usize,
    arguments: &'a Arguments,
}

struct Conversion {
    left: bool,
    zero: bool,
    group: bool,
    plus: bool,
    alternate: bool,
    width: usize,
    precision: Option<usize>,
    letter: char,
}

impl Printf<'_> {
    fn expand(&mut self, terms: &mut Terms, text: &str, out: &mut Vec<Term>) -> bool {
        let mut rest = text;
        while let Some(at) = rest.find('%') {
            out.push(terms.text(&rest[..at]));
            rest = &rest[at + 1..];
            let Some((index, conversion, length)) = parse_conversion(rest) else { return false };
            rest = &rest[length..];
            match conversion.letter {
                'n' => out.push(terms.text("\n")),
                '%' => {
                    let percent = terms.text("%");
                    out.push(pad(terms, percent, &conversion));
                }
                _ => {
                    let index = match index {
                        Index::Next => {
                            self.next += 1;
                            self.next - 1
                        }
                        Index::Last => self.last,
                        Index::At(i) => i - 1,
                    };
                    self.last = index;
                    let value = match self.arguments.known.get(index) {
                        Some(argument) => argument.text,
                        // A missing argument throws.
                        None if self.arguments.complete => terms.never(),
                        None => terms.top(),
                    };
                    let value = convert(terms, value, &conversion);
                    out.push(pad(terms, value, &conversion));
                }
            }
        }
        out.push(terms.text(rest));
        true
    }
}

enum Index {
    Next,
    Last,
    At(usize),
}

fn parse_conversion(text: &str) -> Option<(Index, Conversion, usize)> {
    let bytes = text.as_bytes();
    let mut i = 0;
    let mut index = Index::Next;
    let digits = bytes.iter().take_while(|b| b.is_ascii_digit()).count();
    if digits > 0 && bytes.get(digits) == Some(&b'$') {
        index = Index::At(text[..digits].parse().ok().filter(|&n: &usize| n > 0)?);
        i = digits + 1;
    }
    let mut c = Conversion {
        left: false,
        zero: false,
        group: false,
        plus: false,
        alternate: false,
        width: 0,
        precision: None,
        letter: ' ',
    };
    while let Some(&b) = bytes.get(i) {
        match b {
            b'-' => c.left = true,
            b'0' => c.zero = true,
            b',' => c.group = true,
            b'+' | b' ' | b'(' => c.plus = true,
            b'#' => c.alternate = true,
            b'<' => index = Index::Last,
            _ => break,
        }
        i += 1;
    }
    let width = bytes[i..].iter().take_while(|b| b.is_ascii_digit()).count();
    if width > 0 {
        c.width = text[i..i + width].parse().ok()?;
        i += width;
    }
    if bytes.get(i) == Some(&b'.') {
        let digits = bytes[i + 1..].iter().take_while(|b| b.is_ascii_digit()).count();
        c.precision = Some(text[i + 1..i + 1 + digits].parse().ok()?);
        i += 1 + digits;
    }
    let letter = text[i..].chars().next()?;
    i += letter.len_utf8();
    c.letter = letter;
    if matches!(letter, 't' | 'T') {
        i += text[i..].chars().next()?.len_utf8();
    }
    "bBhHsScCdoxXeEfgGaAtT%n".contains(letter).then_some((index, c, i))
}

/// The term with each value's look changed.
fn relook(terms: &mut Terms, term: Term, pattern: &Pattern) -> Term {
    match terms.node(term).clone() {
        Node::Leaf(leaf) => terms.leaf(Leaf { pattern: pattern.clone(), ..*leaf }),
        Node::Alt(xs) => {
            let xs: Vec<Term> = xs
                .iter()
                .map(|&x| if terms.as_text(x) == Some("null") { x } else { relook(terms, x, pattern) })
                .collect();
            terms.alt(xs)
        }
        _ => terms.unknown(pattern.clone(), "java/lang/Number"),
    }
}

fn convert(terms: &mut Terms, value: Term, c: &Conversion) -> Term {
    let text = terms.as_text(value).map(str::to_string);
    match c.letter {
        's' => match c.precision {
            Some(n) => match terms.map(value, |t| Some(t.chars().take(n).collect())) {
                Some(term) => term,
                None => relook(terms, value, &Pattern::Text),
            },
            None => value,
        },
        'S' => super::text_ops::change_case(terms, value, true),
        'd' if c.group || c.plus => relook(terms, value, &GROUPED),
        'd' => match text {
            Some(text) if text.parse::<i64>().is_ok() || text == "null" => value,
            _ if terms.finite(value, 64).is_some() => value,
            _ => relook(terms, value, &Pattern::Integer),
        },
        'x' | 'X' | 'o' => radix(terms, value, text.as_deref(), c),
        'f' | 'e' | 'E' | 'g' | 'G' | 'a' | 'A' => relook(
            terms,
            value,
            &Pattern::Regex(r"[-+( ]?(?:[0-9][0-9,.]*(?:[eE][-+][0-9]+)?|NaN|Infinity)\)?"),
        ),
        'b' => match text.as_deref() {
            Some("true" | "false") => value,
            _ => relook(terms, value, &Pattern::Boolean),
        },
        'B' => relook(terms, value, &Pattern::Regex("TRUE|FALSE")),
        'c' => match text {
            Some(text) => {
                match text.parse::<u32>().ok().filter(|_| text.len() > 1).and_then(char::from_u32) {
                    Some(character) => terms.text(&character.to_string()),
                    None => value,
                }
            }
            None => relook(terms, value, &Pattern::Char),
        },
        'h' | 'H' => relook(terms, value, &Pattern::Hex),
        _ => relook(terms, value, &Pattern::Text),
    }
}

fn radix(terms: &mut Terms, value: Term, text: Option<&str>, c: &Conversion) -> Term {
    if let Some(number) = text.and_then(|t| t.parse::<i64>().ok()).filter(|&n| n >= 0) {
        let digits = match c.letter {
            'x' => format!("{number:x}"),
            'X' => format!("{number:X}"),
            _ => format!("{number:o}"),
        };
        return terms.text(&digits);
    }
    match (c.letter, c.alternate) {
        ('x', false) => relook(terms, value, &Pattern::Hex),
        ('x', true) => relook(terms, value, &Pattern::Number("0x[0-9a-f]+", ValueShape::Hex)),
        ('X', _) => relook(terms, value, &Pattern::Number("(?:0X)?[0-9A-F]+", ValueShape::Hex)),
        _ => relook(terms, value, &Pattern::Regex("0?[0-7]+")),
    }
}

fn pad(terms: &mut Terms, value: Term, c: &Conversion) -> Term {
    if c.width <= 1 {
        return value;
    }
    let number = matches!(c.letter, 'd' | 'x' | 'X' | 'o' | 'f' | 'e' | 'E' | 'g' | 'G');
    if let Some(term) = terms.map(value, |text| {
        let missing = c.width.saturating_sub(text.chars().count());
        Some(match (c.left, c.zero && number) {
            (true, _) => format!("{text}{}", " ".repeat(missing)),
            (false, true) => match text.strip_prefix('-') {
                Some(digits) => format!("-{}{digits}", "0".repeat(missing)),
                None => format!("{}{text}", "0".repeat(missing)),
            },
            (false, false) => format!("{}{text}", " ".repeat(missing)),
        })
    }) {
        return term;
    }
    if c.zero && number {
        return value;
    }
    let blank = terms.text(" ");
    let blanks = terms.star(blank);
    if c.left { terms.cat([value, blanks]) } else { terms.cat([blanks, value]) }
}

/// An integer with the separators of the locale.
const GROUPED: Pattern =
    Pattern::Number(r"[-+( ]?[0-9][0-9,.\x{a0}\x{202f}\x{2019}']*\)?", ValueShape::Integer);

fn braces_parts(terms: &mut Terms, text: &str, arguments: &Arguments, next: &mut usize, out: &mut Vec<Term>) {
    let mut rest = text;
    let mut plain = String::new();
    while let Some(at) = rest.find("{}") {
        let before = &rest[..at];
        let after = &rest[at + 2..];
        let value = arguments.known.get(*next).map(|a| a.text);
        if before.ends_with('\\') && !before.ends_with("\\\\") && (value.is_some() || !arguments.complete) {
            plain.push_str(&before[..at - 1]);
            plain.push_str("{}");
            rest = after;
            continue;
        }
        plain.push_str(if before.ends_with("\\\\") { &before[..at - 1] } else { before });
        match value {
            Some(value) => {
                out.push(terms.text(&std::mem::take(&mut plain)));
                out.push(value);
                *next += 1;
            }
            None if arguments.complete => plain.push_str("{}"),
            None => {
                out.push(terms.text(&std::mem::take(&mut plain)));
                let top = terms.top();
                out.push(top);
            }
        }
        rest = after;
    }
    plain.push_str(rest);
    out.push(terms.text(&plain));
}

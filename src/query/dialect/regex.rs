//! Regular expressions of PostgreSQL, the advanced ones of its manual (9.7.3), as those of Rust.
//!
//! Both say the same of most expressions. Translated is what is written otherwise: `\m`, `\M`, `\y` (words),
//! `\d` (ten digits), classes by name, `.` that is also the end of a line. Refused is what Rust has not:
//! references back, looking ahead, flags for lines.
//!
//! Where it matters *what* is matched, PostgreSQL takes the longest match that begins first, Rust the first
//! in the order of the alternatives. Expressions of which that is not the same are refused: by [`Matcher::new`]
//! where it can be seen, else at the first text of which it is not.

use datafusion::common::{Result, exec_datafusion_err, exec_err};
use regex::{Captures, Regex, RegexBuilder};
use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::{Anchored, Input, MatchKind};
use regex_syntax::hir::{Class, Hir, HirKind};

/// Largest compiled expression.
const BYTES_MAX: usize = 4 << 20;

/// What flags ask for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Flags {
    /// All matches, not the first one only.
    pub(super) is_global: bool,
    is_caseless: bool,
    is_spaced: bool,
}

impl Flags {
    /// By their letters.
    ///
    /// # Errors
    /// Letters that are none, and those that make lines of a text.
    pub(super) fn of(letters: &str) -> Result<Self> {
        let mut flags = Self::default();
        for letter in letters.chars() {
            match letter {
                'g' => flags.is_global = true,
                'i' => flags.is_caseless = true,
                'c' => flags.is_caseless = false,
                'x' => flags.is_spaced = true,
                's' | 'e' | 't' => {}
                other => return exec_err!("regular expression option \"{other}\" is not supported"),
            }
        }
        Ok(flags)
    }
}

/// `pattern` in the syntax of Rust.
pub(super) fn translated(pattern: &str, mut flags: Flags) -> Result<String> {
    let unsupported = |what: &str| exec_err!("regular expression with {what} is not supported: {pattern}");
    let mut rest = pattern;
    if pattern.starts_with("***") {
        return unsupported("a director (***)");
    }
    // `(?i)` at its very beginning.
    if let Some(letters) = rest.strip_prefix("(?").and_then(|rest| rest.split_once(')'))
        && !letters.0.is_empty()
        && letters.0.bytes().all(|byte| byte.is_ascii_lowercase())
    {
        let more = Flags::of(letters.0)?;
        (flags.is_caseless, flags.is_spaced) =
            (flags.is_caseless || more.is_caseless, flags.is_spaced || more.is_spaced);
        rest = letters.1;
    }
    let mut out = String::from("(?s");
    out.push_str(if flags.is_caseless { "i" } else { "" });
    out.push_str(if flags.is_spaced { "x)" } else { ")" });
    let mut characters = rest.chars().peekable();
    while let Some(c) = characters.next() {
        match c {
            '\\' => match characters.next() {
                Some(escaped) => escape(escaped, pattern, &mut characters, &mut out)?,
                None => return exec_err!("invalid regular expression: invalid escape \\ sequence"),
            },
            '(' if characters.peek() == Some(&'?') => {
                characters.next();
                match characters.next() {
                    Some(':') => out.push_str("(?:"),
                    _ => return unsupported("`(?`"),
                }
            }
            '{' if !characters.peek().is_some_and(char::is_ascii_digit) => out.push_str("\\{"),
            '[' => bracket(pattern, &mut characters, &mut out)?,
            c => out.push(c),
        }
    }
    Ok(out)
}

type Characters<'t> = std::iter::Peekable<std::str::Chars<'t>>;

/// What stands behind a backslash.
fn escape(escaped: char, pattern: &str, characters: &mut Characters<'_>, out: &mut String) -> Result<()> {
    match escaped {
        'd' => out.push_str("[0-9]"),
        'D' => out.push_str("[^0-9]"),
        'm' => out.push_str("\\b{start}"),
        'M' => out.push_str("\\b{end}"),
        'y' => out.push_str("\\b"),
        'Y' => out.push_str("\\B"),
        'Z' => out.push_str("\\z"),
        'b' => out.push_str("\\x08"),
        'B' => out.push_str("\\\\"),
        'e' => out.push_str("\\x1b"),
        'A' | 's' | 'S' | 'w' | 'W' | 'a' | 'f' | 'n' | 'r' | 't' | 'v' => out.extend(['\\', escaped]),
        'u' | 'U' => {
            let n_digits = if escaped == 'u' { 4 } else { 8 };
            let digits: String = characters.by_ref().take(n_digits).collect();
            out.push_str(&format!("\\u{{{digits}}}"));
        }
        c if c.is_ascii_alphanumeric() => {
            return exec_err!("regular expression with `\\{c}` is not supported: {pattern}");
        }
        c if c.is_ascii() => out.extend(['\\', c]),
        c => out.push(c),
    }
    Ok(())
}

/// A set of characters, up to its closing bracket.
fn bracket(pattern: &str, characters: &mut Characters<'_>, out: &mut String) -> Result<()> {
    out.push('[');
    if characters.next_if_eq(&'^').is_some() {
        out.push('^');
    }
    if characters.next_if_eq(&']').is_some() {
        out.push_str("\\]");
    }
    while let Some(c) = characters.next() {
        match c {
            ']' => {
                out.push(']');
                return Ok(());
            }
            '[' => match characters.peek() {
                Some(':') => {
                    characters.next();
                    let name: String = characters.by_ref().take_while(|c| *c != ':').collect();
                    let is_closed = characters.next() == Some(']');
                    match class(&name).filter(|_| is_closed) {
                        Some(class) => out.push_str(class),
                        None => return exec_err!("invalid regular expression: invalid character class"),
                    }
                }
                Some('.' | '=') => {
                    return exec_err!("regular expression with `[.` or `[=` is not supported: {pattern}");
                }
                _ => out.push_str("\\["),
            },
            '\\' => match characters.next() {
                Some('d') => out.push_str("0-9"),
                Some('D' | 'S' | 'W' | 'm' | 'M' | 'y' | 'Y' | 'A' | 'Z') | None => {
                    return exec_err!("invalid regular expression: invalid escape \\ sequence");
                }
                Some(escaped) => escape(escaped, pattern, characters, out)?,
            },
            '&' | '~' | '^' => out.extend(['\\', c]),
            c => out.push(c),
        }
    }
    exec_err!("invalid regular expression: brackets [] not balanced")
}

/// A class of characters, also of those that are not ASCII.
fn class(name: &str) -> Option<&'static str> {
    Some(match name {
        "alpha" => "\\p{Alphabetic}",
        "digit" => "0-9",
        "alnum" => "\\p{Alphabetic}0-9",
        "upper" => "\\p{Uppercase}",
        "lower" => "\\p{Lowercase}",
        "space" => "\\s",
        "word" => "\\w",
        "blank" => " \\t",
        "cntrl" => "\\p{Cc}",
        "xdigit" => "0-9A-Fa-f",
        "punct" => "\\p{P}\\p{S}",
        _ => return None,
    })
}

/// The expression that a pattern of `SIMILAR TO` is: of the whole text, with `%` and `_`.
pub(super) fn similar(pattern: &str, escape: Option<char>) -> Result<String> {
    let mut out = String::from("(?s)^(?:");
    let mut characters = pattern.chars();
    let mut is_in_bracket = false;
    while let Some(c) = characters.next() {
        if Some(c) == escape {
            match characters.next() {
                Some('"') => return exec_err!("SIMILAR TO with parts in quotes is not supported"),
                // What else is escaped has the meaning that it has in other expressions.
                Some(c) if c.is_ascii_alphanumeric() => {
                    let body = translated(&format!("\\{c}"), Flags::default())?;
                    out.push_str(&body["(?s)".len()..]);
                }
                Some(c) => out.push_str(&regex_syntax::escape(&c.to_string())),
                None => return exec_err!("invalid escape sequence"),
            }
            continue;
        }
        match c {
            '[' if is_in_bracket => out.push_str("\\["),
            '[' => {
                is_in_bracket = true;
                out.push('[');
            }
            ']' if is_in_bracket => {
                is_in_bracket = false;
                out.push(']');
            }
            '\\' => out.push_str("\\\\"),
            c if is_in_bracket && "&~".contains(c) => out.extend(['\\', c]),
            c if is_in_bracket => out.push(c),
            '%' => out.push_str(".*"),
            '_' => out.push('.'),
            '(' => out.push_str("(?:"),
            '.' | '^' | '$' => out.extend(['\\', c]),
            c => out.push(c),
        }
    }
    out.push_str(")$");
    Ok(out)
}

/// An expression that says what it matches.
pub(super) struct Matcher {
    regex: Regex,
    /// Finds the end of the longest match; none: there is only one, the shortest.
    longest: Option<(DFA, std::cell::RefCell<Cache>)>,
    pattern: String,
}

impl Matcher {
    /// That of `pattern`.
    ///
    /// # Errors
    /// What is no expression, and what may match something else than in PostgreSQL.
    pub(super) fn new(pattern: &str, flags: Flags) -> Result<Self> {
        let text = translated(pattern, flags)?;
        let wrong =
            |error: &dyn std::fmt::Display| exec_datafusion_err!("invalid regular expression: {error}");
        let regex = RegexBuilder::new(&text).size_limit(BYTES_MAX).build().map_err(|error| wrong(&error))?;
        let hir = regex_syntax::parse(&text).map_err(|error| wrong(&error))?;
        let mut found = Found::default();
        found.look(&hir);
        let refused = |why: &str| exec_err!("regular expression with {why} is not supported here: {pattern}");
        if found.n_lazy > 1 || found.n_lazy == 1 && (found.n_greedy > 0 || found.has_alternatives) {
            return refused("both the shortest and the longest match");
        }
        if found.has_similar_alternatives && regex.captures_len() > 1 {
            return refused("groups and alternatives that begin alike");
        }
        let longest = match found.n_lazy {
            0 => {
                let dfa = DFA::builder()
                    .configure(DFA::config().match_kind(MatchKind::All).skip_cache_capacity_check(true))
                    .thompson(regex_automata::nfa::thompson::Config::new().nfa_size_limit(Some(BYTES_MAX)))
                    .configure(DFA::config().match_kind(MatchKind::All).unicode_word_boundary(true))
                    .build(&text)
                    .map_err(|error| wrong(&error))?;
                let cache = std::cell::RefCell::new(dfa.create_cache());
                Some((dfa, cache))
            }
            _ => None,
        };
        Ok(Self { regex, longest, pattern: pattern.to_owned() })
    }

    /// The first match in `text` from byte `start`.
    pub(super) fn at<'t>(&self, text: &'t str, start: usize) -> Result<Option<Captures<'t>>> {
        let Some(found) = self.regex.captures_at(text, start) else { return Ok(None) };
        let Some((dfa, cache)) = &self.longest else { return Ok(Some(found)) };
        let all = found.get(0).expect("a match has an extent").range();
        let input = Input::new(text).range(all.start..).anchored(Anchored::Yes);
        let end = dfa.try_search_fwd(&mut cache.borrow_mut(), &input);
        match end {
            Ok(Some(end)) if end.offset() == all.end => Ok(Some(found)),
            _ => exec_err!(
                "regular expression is not supported here, its alternatives match in another order than the \
                 longest first: {}",
                self.pattern
            ),
        }
    }

    /// All of them, one behind the other.
    pub(super) fn all<'t>(&self, text: &'t str, mut start: usize) -> Result<Vec<Captures<'t>>> {
        let mut found = Vec::new();
        while start <= text.len() {
            let Some(one) = self.at(text, start)? else { break };
            let all = one.get(0).expect("a match has an extent").range();
            start = match all.is_empty() {
                true => all.end + text[all.end..].chars().next().map_or(1, char::len_utf8),
                false => all.end,
            };
            found.push(one);
        }
        Ok(found)
    }

    /// How many groups it has.
    pub(super) fn n_groups(&self) -> usize {
        self.regex.captures_len() - 1
    }
}

/// What decides between several matches.
#[derive(Default)]
struct Found {
    n_lazy: usize,
    n_greedy: usize,
    has_alternatives: bool,
    has_similar_alternatives: bool,
}

impl Found {
    fn look(&mut self, hir: &Hir) {
        match hir.kind() {
            HirKind::Repetition(of) => {
                if of.max != Some(of.min) {
                    *(if of.greedy { &mut self.n_greedy } else { &mut self.n_lazy }) += 1;
                }
                self.look(&of.sub);
            }
            HirKind::Capture(of) => self.look(&of.sub),
            HirKind::Concat(parts) => parts.iter().for_each(|part| self.look(part)),
            HirKind::Alternation(parts) => {
                self.has_alternatives = true;
                let firsts: Option<Vec<u8>> = parts.iter().map(first).collect();
                let is_distinct = firsts.is_some_and(|mut firsts| {
                    let n = firsts.len();
                    firsts.sort_unstable();
                    firsts.dedup();
                    firsts.len() == n
                });
                self.has_similar_alternatives |= !is_distinct;
                parts.iter().for_each(|part| self.look(part));
            }
            HirKind::Empty | HirKind::Literal(_) | HirKind::Class(_) | HirKind::Look(_) => {}
        }
    }
}

/// The byte that everything begins with that is matched.
fn first(hir: &Hir) -> Option<u8> {
    match hir.kind() {
        HirKind::Literal(literal) => literal.0.first().copied(),
        HirKind::Capture(of) => first(&of.sub),
        HirKind::Concat(parts) => first(parts.first()?),
        HirKind::Repetition(of) if of.min > 0 => first(&of.sub),
        HirKind::Class(Class::Bytes(class)) => match class.ranges() {
            [one] if one.start() == one.end() => Some(one.start()),
            _ => None,
        },
        _ => None,
    }
}

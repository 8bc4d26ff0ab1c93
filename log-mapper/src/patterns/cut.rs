//! Messages of which a layout printed only the end or the start: `%.1000m` and
//! `%.-1000m`. A template can have printed such a text if the text ends, or
//! begins, one of its messages; the suffixes (prefixes) of a regular language
//! are one again, and its regex is built from that of the template, linear in
//! its size. What is left of a value that was cut is no value.

use regex_automata::meta::Regex;
use regex_syntax::hir::{Hir, HirKind, Look, Repetition};

use crate::limits::{CUT_LITERAL_MAX, TEMPLATE_BYTES_MAX};

/// Which side of a message may be missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// The start: the end was kept.
    Start,
    /// The end: the start was kept.
    End,
}

impl Cut {
    /// The side that `text` may miss in a layout that keeps `max` characters.
    #[must_use]
    pub fn of(text: &[u8], max: usize, side: Cut) -> Option<Cut> {
        // A Java character is one to three bytes.
        let possible = text.len() >= max && text.len() <= 3 * max;
        let length = || String::from_utf8_lossy(text).encode_utf16().count();
        (possible && length() == max).then_some(side)
    }
}

/// The regex of all texts that are left of a match of `pattern`; none if it is
/// larger than the bound.
pub(super) fn regex(pattern: &str, unicode: bool, side: Cut) -> Option<Regex> {
    let mut parser = regex_syntax::ParserBuilder::new();
    let hir = parser.unicode(unicode).utf8(false).dot_matches_new_line(true).build().parse(pattern).ok()?;
    let hir = Hir::concat(vec![remaining(&hir, side), Hir::look(Look::End)]);
    let config = Regex::config().utf8_empty(false).nfa_size_limit(Some(TEMPLATE_BYTES_MAX));
    Regex::builder().configure(config).build_from_hir(&hir).ok()
}

/// What can be left of a text of `hir`, the longest first; nothing is too.
fn remaining(hir: &Hir, side: Cut) -> Hir {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => Hir::empty(),
        HirKind::Literal(literal) => remaining_literal(&literal.0, side),
        HirKind::Class(_) => optional(hir.clone()),
        HirKind::Repetition(repetition) => {
            // A cut turn, and whole ones before or behind it.
            let others = Hir::repetition(Repetition {
                min: 0,
                max: repetition.max.map(|max| max.saturating_sub(1)),
                greedy: repetition.greedy,
                sub: repetition.sub.clone(),
            });
            let cut = remaining(&repetition.sub, side);
            Hir::concat(if side == Cut::Start { vec![cut, others] } else { vec![others, cut] })
        }
        HirKind::Capture(capture) => {
            // Kept as a group: its bytes are not those of the template.
            let mut left = capture.clone();
            left.sub = Box::new(remaining(&capture.sub, side));
            Hir::capture(left)
        }
        HirKind::Alternation(choices) => {
            Hir::alternation(choices.iter().map(|choice| remaining(choice, side)).collect())
        }
        HirKind::Concat(parts) => {
            let mut parts: Vec<&Hir> = parts.iter().collect();
            if side == Cut::End {
                parts.reverse();
            }
            let mut left = Hir::empty();
            for part in parts {
                let pair = if side == Cut::Start { [left, part.clone()] } else { [part.clone(), left] };
                left = Hir::alternation(vec![Hir::concat(pair.into()), remaining(part, side)]);
            }
            left
        }
    }
}

/// `((a)?b)?c` for the ends of `abc`, and `a(b(c)?)?` for its starts.
fn remaining_literal(literal: &[u8], side: Cut) -> Hir {
    let mut left = Hir::empty();
    let add = |left: Hir, byte: u8| {
        let byte = Hir::literal([byte]);
        optional(Hir::concat(if side == Cut::Start { vec![left, byte] } else { vec![byte, left] }))
    };
    if side == Cut::Start {
        for &byte in &literal[literal.len().saturating_sub(CUT_LITERAL_MAX)..] {
            left = add(left, byte);
        }
    } else {
        for &byte in literal[..literal.len().min(CUT_LITERAL_MAX)].iter().rev() {
            left = add(left, byte);
        }
    }
    left
}

fn optional(hir: Hir) -> Hir {
    Hir::repetition(Repetition { min: 0, max: Some(1), greedy: true, sub: Box::new(hir) })
}

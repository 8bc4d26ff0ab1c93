//! Divisions without an empty value. Where what is printed can hold what stands
//! behind it, a text can be divided in several ways: `(.*?)/(.*?)` on `/rack/host`
//! is nothing and `rack/host`, or `/rack` and `host`. Programs print values that
//! say something, so that a division in which every value has a text is right
//! where there is one.
//!
//! Nothing tells where one value ends and the next begins if no constant stands
//! between them: such a division is left as it is.

use regex_automata::meta::Regex;
use regex_syntax::hir::{Hir, HirKind, Look};

use super::sequence::Sequence;
use crate::limits::TEMPLATE_BYTES_MAX;

/// A template of which no value is empty.
#[derive(Debug)]
pub(super) enum Filled {
    Sequence(Sequence),
    Regex(Regex),
}

impl Filled {
    /// None: no value of `pattern` can be empty, or it is larger than the bound.
    pub(super) fn of(pattern: &str, unicode: bool) -> Option<Self> {
        let mut parser = regex_syntax::ParserBuilder::new();
        let hir = parser.unicode(unicode).utf8(false).dot_matches_new_line(true).build().parse(pattern);
        let hir = hir.ok()?;
        let filled = fill(&hir);
        if filled == hir {
            return None;
        }
        if let Some(sequence) = (!unicode).then(|| Sequence::compile(&filled)).flatten() {
            return Some(Self::Sequence(sequence));
        }
        let whole = Hir::concat(vec![filled, Hir::look(Look::End)]);
        let config = Regex::config().utf8_empty(false).nfa_size_limit(Some(TEMPLATE_BYTES_MAX));
        Regex::builder().configure(config).build_from_hir(&whole).ok().map(Self::Regex)
    }
}

/// Whether a capture is empty and stands between constants.
pub(super) fn has_gap(slots: &[(u32, u32)]) -> bool {
    slots.iter().enumerate().any(|(i, &(start, end))| {
        let touches = |&(j, other): &(usize, &(u32, u32))| j != i && (other.0 == start || other.1 == start);
        start == end && start != u32::MAX && !slots.iter().enumerate().any(|slot| touches(&slot))
    })
}

/// `hir` with captures that take something.
fn fill(hir: &Hir) -> Hir {
    match hir.kind() {
        HirKind::Capture(capture) => {
            let mut capture = capture.clone();
            capture.sub = Box::new(match capture.sub.kind() {
                HirKind::Repetition(repetition) if repetition.min == 0 && repetition.max.is_none() => {
                    let mut repetition = repetition.clone();
                    repetition.min = 1;
                    Hir::repetition(repetition)
                }
                _ => fill(&capture.sub),
            });
            Hir::capture(capture)
        }
        HirKind::Repetition(repetition) => {
            let mut repetition = repetition.clone();
            repetition.sub = Box::new(fill(&repetition.sub));
            Hir::repetition(repetition)
        }
        HirKind::Concat(parts) => Hir::concat(parts.iter().map(fill).collect()),
        HirKind::Alternation(choices) => Hir::alternation(choices.iter().map(fill).collect()),
        HirKind::Empty | HirKind::Literal(_) | HirKind::Class(_) | HirKind::Look(_) => hir.clone(),
    }
}

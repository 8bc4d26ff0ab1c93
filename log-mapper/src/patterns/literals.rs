//! Literals of a regex: text that every match must begin with, end with, or
//! contain. Searches skip templates by them.

use regex_syntax::hir::literal::{ExtractKind, Extractor};
use regex_syntax::hir::{Hir, HirKind};

/// What every match of a regex has.
#[derive(Debug, Default)]
pub(super) struct Literals {
    /// One of these begins it; empty: anything can.
    pub(super) prefixes: Vec<Box<[u8]>>,
    /// This ends it.
    pub(super) suffix: Box<[u8]>,
    /// One of these is in it; empty: nothing need be.
    pub(super) needles: Vec<Box<[u8]>>,
}

/// Alternatives considered at one place; more are as good as none.
const N_ALTERNATIVES_MAX: usize = 32;

impl Literals {
    pub(super) fn of(hir: &Hir) -> Self {
        let mut extractor = Extractor::new();
        extractor.kind(ExtractKind::Prefix).limit_class(1).limit_repeat(1).limit_total(N_ALTERNATIVES_MAX);
        let sequence = extractor.extract(hir);
        let mut prefixes: Vec<Box<[u8]>> = match sequence.literals() {
            Some(literals) if literals.iter().all(|l| !l.as_bytes().is_empty()) => {
                literals.iter().map(|l| l.as_bytes().into()).collect()
            }
            _ => Vec::new(),
        };
        prefixes.sort();
        prefixes.dedup();
        let needles = required(hir).unwrap_or_default().into_iter().map(Vec::into_boxed_slice).collect();
        Self { prefixes, suffix: suffix(hir).into(), needles }
    }
}

/// A piece of a concatenation, captures looked through.
enum Piece<'h> {
    Literal(Vec<u8>),
    Other(&'h Hir),
}

fn pieces<'h>(hir: &'h Hir, out: &mut Vec<Piece<'h>>) {
    match hir.kind() {
        HirKind::Literal(literal) => match out.last_mut() {
            Some(Piece::Literal(bytes)) => bytes.extend_from_slice(&literal.0),
            _ => out.push(Piece::Literal(literal.0.to_vec())),
        },
        HirKind::Concat(parts) => parts.iter().for_each(|p| pieces(p, out)),
        HirKind::Capture(capture) => pieces(&capture.sub, out),
        HirKind::Empty | HirKind::Look(_) => {}
        _ => out.push(Piece::Other(hir)),
    }
}

fn suffix(hir: &Hir) -> Vec<u8> {
    let mut parts = Vec::new();
    pieces(hir, &mut parts);
    match parts.pop() {
        Some(Piece::Literal(bytes)) => bytes,
        _ => Vec::new(),
    }
}

/// Literals of which each match contains one; the set whose shortest is longest.
fn required(hir: &Hir) -> Option<Vec<Vec<u8>>> {
    let mut parts = Vec::new();
    pieces(hir, &mut parts);
    let of_piece = |piece: Piece<'_>| match piece {
        Piece::Literal(bytes) => Some(vec![bytes]),
        Piece::Other(hir) => required_of_one(hir),
    };
    let shortest = |set: &Vec<Vec<u8>>| set.iter().map(Vec::len).min().unwrap_or(0);
    parts.into_iter().filter_map(of_piece).max_by_key(shortest)
}

fn required_of_one(hir: &Hir) -> Option<Vec<Vec<u8>>> {
    match hir.kind() {
        HirKind::Alternation(branches) => {
            let mut all = Vec::new();
            for branch in branches {
                all.extend(required(branch)?);
            }
            all.sort();
            all.dedup();
            (all.len() <= N_ALTERNATIVES_MAX).then_some(all)
        }
        HirKind::Repetition(repetition) if repetition.min > 0 => required(&repetition.sub),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(regex: &str, expected: &str) {
        let hir = regex_syntax::ParserBuilder::new()
            .unicode(false)
            .utf8(false)
            .build()
            .parse(regex)
            .expect("regex");
        let literals = Literals::of(&hir);
        let text = |all: &[Box<[u8]>]| {
            all.iter().map(|b| String::from_utf8_lossy(b).into_owned()).collect::<Vec<_>>().join("/")
        };
        let got = format!(
            "{}|{}|{}",
            text(&literals.prefixes),
            String::from_utf8_lossy(&literals.suffix),
            text(&literals.needles)
        );
        assert_eq!(got, expected, "{regex}");
    }

    #[test]
    fn literals() {
        check(r"Receiving (.*?) src: (\d+) end", "Receiving | end|Receiving ");
        check(r"(.*): closed by (\d+)", "||: closed by ");
        check(r"(?:ab(\d+)|cd(.*))x", "ab/cd|x|ab/cd");
        check(r"(true|false) yes", "false yes/true yes| yes| yes");
        check(r"(.*)", "||");
        check(r"(?:abc)?(\d+)", "||");
    }
}

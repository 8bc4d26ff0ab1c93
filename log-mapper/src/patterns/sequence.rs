//! The direct matcher: most templates are literals with simple wildcards
//! between them, which a search for the literals matches many times faster than
//! a regex engine fills captures.
//!
//! It tries what leftmost-first regexes prefer, in their order (a lazy wildcard
//! from short to long, a greedy one from long to short, alternatives from left
//! to right), so that it gives the same captures. Steps are bounded; a text that
//! needs more is left to the engine, whose time is linear.

use memchr::memmem;
use regex_syntax::hir::{Class, Hir, HirKind, Repetition};

use crate::limits::MATCH_STEPS_MAX;

/// Operations of one template; longer ones are left to the engine.
const N_OPS_MAX: usize = 96;

/// A template without nested repetition.
#[derive(Debug)]
pub(super) struct Sequence {
    ops: Vec<Op>,
}

#[derive(Debug)]
enum Op {
    Literal(Box<memmem::Finder<'static>>),
    Open(usize),
    Close(usize),
    Repeat { set: Set, min: usize, max: usize, greedy: bool },
    Choice(Vec<Box<[u8]>>),
}

#[derive(Debug)]
enum Set {
    Any,
    Some(Box<[bool; 256]>),
}

impl Sequence {
    /// None: `hir` needs a regex engine.
    pub(super) fn compile(hir: &Hir) -> Option<Self> {
        let mut ops = Vec::new();
        let mut literal = Vec::new();
        compile(hir, &mut ops, &mut literal)?;
        flush(&mut ops, &mut literal);
        (ops.len() <= N_OPS_MAX).then_some(Self { ops })
    }

    /// Whether the whole of `text` matches; fills `slots`, one per capture.
    /// None: not decided within the bound.
    pub(super) fn matches(&self, text: &[u8], slots: &mut [(u32, u32)]) -> Option<bool> {
        let mut steps = MATCH_STEPS_MAX;
        step(&self.ops, text, 0, slots, &mut steps)
    }
}

fn flush(ops: &mut Vec<Op>, literal: &mut Vec<u8>) {
    if !literal.is_empty() {
        ops.push(Op::Literal(Box::new(memmem::Finder::new(literal).into_owned())));
        literal.clear();
    }
}

fn compile(hir: &Hir, ops: &mut Vec<Op>, literal: &mut Vec<u8>) -> Option<()> {
    match hir.kind() {
        HirKind::Empty => {}
        HirKind::Literal(bytes) => literal.extend_from_slice(&bytes.0),
        HirKind::Concat(parts) => {
            for part in parts {
                compile(part, ops, literal)?;
            }
        }
        HirKind::Capture(capture) => {
            let slot = capture.index as usize - 1;
            flush(ops, literal);
            ops.push(Op::Open(slot));
            compile(&capture.sub, ops, literal)?;
            flush(ops, literal);
            ops.push(Op::Close(slot));
        }
        HirKind::Class(class) => {
            flush(ops, literal);
            ops.push(Op::Repeat { set: set_of(class)?, min: 1, max: 1, greedy: true });
        }
        HirKind::Repetition(repetition) => {
            flush(ops, literal);
            ops.push(compile_repetition(repetition)?);
        }
        HirKind::Alternation(branches) => {
            flush(ops, literal);
            let literals = branches.iter().map(|b| match b.kind() {
                HirKind::Literal(bytes) => Some(bytes.0.clone()),
                HirKind::Empty => Some(Box::default()),
                _ => None,
            });
            ops.push(Op::Choice(literals.collect::<Option<_>>()?));
        }
        HirKind::Look(_) => return None,
    }
    Some(())
}

fn compile_repetition(repetition: &Repetition) -> Option<Op> {
    let set = match repetition.sub.kind() {
        HirKind::Class(class) => set_of(class)?,
        HirKind::Literal(bytes) => match &bytes.0[..] {
            [one] => {
                let mut set = Box::new([false; 256]);
                set[usize::from(*one)] = true;
                Set::Some(set)
            }
            _ => return None,
        },
        _ => return None,
    };
    let max = repetition.max.map_or(usize::MAX, |n| n as usize);
    Some(Op::Repeat { set, min: repetition.min as usize, max, greedy: repetition.greedy })
}

fn set_of(class: &Class) -> Option<Set> {
    let Class::Bytes(bytes) = class else { return None };
    let mut set = Box::new([false; 256]);
    for range in bytes.iter() {
        set[usize::from(range.start())..=usize::from(range.end())].fill(true);
    }
    Some(if set.iter().all(|b| *b) { Set::Any } else { Set::Some(set) })
}

/// Matches `ops` on the rest of `text` at `pos`.
fn step(ops: &[Op], text: &[u8], mut pos: usize, slots: &mut [(u32, u32)], steps: &mut u32) -> Option<bool> {
    for (i, op) in ops.iter().enumerate() {
        match op {
            Op::Literal(finder) => {
                let needle = finder.needle();
                if !text[pos..].starts_with(needle) {
                    return Some(false);
                }
                pos += needle.len();
            }
            Op::Open(slot) => slots[*slot].0 = pos as u32,
            Op::Close(slot) => slots[*slot].1 = pos as u32,
            Op::Choice(literals) => {
                for literal in literals.iter().filter(|l| text[pos..].starts_with(l)) {
                    *steps = steps.checked_sub(1)?;
                    if step(&ops[i + 1..], text, pos + literal.len(), slots, steps)? {
                        return Some(true);
                    }
                }
                return Some(false);
            }
            Op::Repeat { set, min, max, greedy } => {
                let rest = &text[pos..];
                let longest = match set {
                    Set::Any => rest.len(),
                    Set::Some(set) => rest.iter().take_while(|b| set[usize::from(**b)]).count(),
                };
                let lengths = (*min, longest.min(*max));
                if lengths.0 > lengths.1 {
                    return Some(false);
                }
                return repeat(&ops[i + 1..], text, pos, lengths, *greedy, slots, steps);
            }
        }
    }
    Some(pos == text.len())
}

/// Tries the lengths of a wildcard at `pos` after which `ops` can go on.
fn repeat(
    ops: &[Op],
    text: &[u8],
    pos: usize,
    (min, max): (usize, usize),
    greedy: bool,
    slots: &mut [(u32, u32)],
    steps: &mut u32,
) -> Option<bool> {
    let next = ops.iter().position(|op| !matches!(op, Op::Open(_) | Op::Close(_)));
    let Some(next) = next else {
        // Nothing follows: the wildcard takes all.
        let length = text.len() - pos;
        return if (min..=max).contains(&length) {
            step(ops, text, pos + length, slots, steps)
        } else {
            Some(false)
        };
    };
    let Op::Literal(finder) = &ops[next] else {
        for k in 0..=max - min {
            *steps = steps.checked_sub(1)?;
            let length = if greedy { max - k } else { min + k };
            if step(ops, text, pos + length, slots, steps)? {
                return Some(true);
            }
        }
        return Some(false);
    };
    let needle = finder.needle();
    let is_last = ops[next + 1..].iter().all(|op| matches!(op, Op::Close(_)));
    if is_last {
        let Some(end) =
            text.len().checked_sub(needle.len()).filter(|end| (pos + min..=pos + max).contains(end))
        else {
            return Some(false);
        };
        return step(ops, text, end, slots, steps);
    }
    let (low, high) = (pos + min, (pos + max + needle.len()).min(text.len()));
    if low > high {
        return Some(false);
    }
    let mut window = low..high;
    loop {
        let found = if greedy {
            memmem::rfind(&text[window.clone()], needle)
        } else {
            finder.find(&text[window.clone()])
        };
        let Some(at) = found.map(|n| window.start + n) else { return Some(false) };
        *steps = steps.checked_sub(1)?;
        if step(ops, text, at, slots, steps)? {
            return Some(true);
        }
        if greedy {
            window.end = at + needle.len() - 1;
        } else {
            window.start = at + 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The direct matcher and the regex engine give the same captures.
    #[test]
    fn equal_to_the_engine() {
        let regexes = [
            r"a(.*?)b(.*)c",
            r"(\d+)(.*?)",
            r"(-?\d+) (true|false)x?(.*?)ab",
            r"(.*?)a(.+?)b([^,]*),(.*)",
            r"([ab]+)b(.*?)",
            r"(.*)a(.*)b(.*)",
            r"x(a|ab|)(b?)(.*?)",
            r"(.*?)(.*)",
            r"a(\d{2,3})(\d*)b?",
            r"(?:(.*?) )([0-9a-f]+)",
        ];
        let alphabet = b"ab,1 0xc";
        let mut state = 1_u64;
        let mut n_matches = 0;
        for regex in regexes {
            let hir = regex_syntax::ParserBuilder::new()
                .unicode(false)
                .utf8(false)
                .dot_matches_new_line(true)
                .build()
                .parse(regex);
            let sequence = Sequence::compile(&hir.expect("regex")).expect("simple");
            let engine = regex::bytes::Regex::new(&format!(r"(?s-u)\A(?:{regex})\z")).expect("regex");
            for _ in 0..4000 {
                let mut text = Vec::new();
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                for i in 0..(state >> 60) {
                    text.push(alphabet[(state >> (3 * i)) as usize % alphabet.len()]);
                }
                let mut slots = vec![(u32::MAX, u32::MAX); engine.captures_len() - 1];
                let got = sequence.matches(&text, &mut slots).expect("short");
                let expected = engine.captures(&text);
                assert_eq!(got, expected.is_some(), "{regex} on {}", text.escape_ascii());
                if let Some(captures) = expected {
                    n_matches += 1;
                    let expected: Vec<_> = captures
                        .iter()
                        .skip(1)
                        .map(|c| c.map(|c| (c.start() as u32, c.end() as u32)))
                        .collect();
                    let got: Vec<_> = slots.into_iter().map(Some).collect();
                    assert_eq!(got, expected, "{regex} on {}", text.escape_ascii());
                }
            }
        }
        assert!(n_matches > 3000);
    }
}

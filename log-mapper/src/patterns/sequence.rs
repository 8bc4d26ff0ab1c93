//! The direct matcher: most templates are literals with simple wildcards
//! between them, and branches where an object prints itself in several ways, which
//! a search for the literals matches many times faster than a regex engine fills
//! captures.
//!
//! It tries what leftmost-first regexes prefer, in their order (a lazy wildcard
//! from short to long, a greedy one from long to short, alternatives from left
//! to right), so that it gives the same captures. Steps are bounded; a text that
//! needs more is left to the engine, whose time is linear.

use std::ops::Range;

use memchr::memmem;
use regex_syntax::hir::{Class, Hir, HirKind, Repetition};

use crate::limits::MATCH_STEPS_MAX;

/// Operations of one template; longer ones are left to the engine.
const N_OPS_MAX: usize = 1024;

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
    Repeat {
        set: Set,
        min: usize,
        max: usize,
        greedy: bool,
    },
    Choice(Vec<Box<[u8]>>),
    Split(Box<Split>),
    /// The end of a branch: goes on at this operation.
    Jump(usize),
}

/// One of several branches, the first that leads to a match.
#[derive(Debug)]
struct Split {
    /// The first operation of each.
    branches: Vec<usize>,
    /// The captures within them.
    slots: Range<usize>,
    /// What a text can go on with here; none: with anything.
    first: Option<Box<[bool; 256]>>,
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
        step(&self.ops, 0, text, 0, slots, &mut steps)
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
            match compile_repetition(repetition) {
                Some(op) => ops.push(op),
                None if (repetition.min, repetition.max) == (0, Some(1)) => {
                    let (some, none) = (&*repetition.sub, &Hir::empty());
                    split(if repetition.greedy { [some, none] } else { [none, some] }, ops)?;
                }
                None => return None,
            }
        }
        HirKind::Alternation(branches) => {
            flush(ops, literal);
            let literals = branches.iter().map(|b| match b.kind() {
                HirKind::Literal(bytes) => Some(bytes.0.clone()),
                HirKind::Empty => Some(Box::default()),
                _ => None,
            });
            match literals.collect::<Option<_>>() {
                Some(literals) => ops.push(Op::Choice(literals)),
                None => split(branches, ops)?,
            }
        }
        HirKind::Look(_) => return None,
    }
    (ops.len() <= N_OPS_MAX).then_some(())
}

/// Compiles `branches`, one of which matches.
fn split<'h>(branches: impl IntoIterator<Item = &'h Hir>, ops: &mut Vec<Op>) -> Option<()> {
    let at = ops.len();
    ops.push(Op::Jump(at));
    let (mut starts, mut ends) = (Vec::new(), Vec::new());
    for branch in branches {
        starts.push(ops.len());
        let mut literal = Vec::new();
        compile(branch, ops, &mut literal)?;
        flush(ops, &mut literal);
        ends.push(ops.len());
        ops.push(Op::Jump(0));
    }
    let after = ops.len();
    ends.into_iter().for_each(|end| ops[end] = Op::Jump(after));
    // Captures are numbered in the order in which they are opened.
    let mut opened =
        ops[at..].iter().filter_map(|op| if let Op::Open(slot) = op { Some(*slot) } else { None });
    let slots = opened.next().map_or(0..0, |first| first..opened.next_back().unwrap_or(first) + 1);
    let mut first = Some(Box::new([false; 256]));
    for start in &starts {
        first = first.and_then(|mut first| add_first(ops, *start, &mut first).map(|()| first));
    }
    ops[at] = Op::Split(Box::new(Split { branches: starts, slots, first }));
    Some(())
}

/// Adds what a text can go on with at an operation; none: with anything.
fn add_first(ops: &[Op], at: usize, first: &mut [bool; 256]) -> Option<()> {
    match ops.get(skip(ops, at))? {
        Op::Literal(finder) => first[usize::from(*finder.needle().first()?)] = true,
        Op::Repeat { set: Set::Some(set), min: 1.., .. } => {
            first.iter_mut().zip(&**set).for_each(|(first, is_in)| *first |= is_in);
        }
        Op::Choice(literals) => {
            for literal in literals {
                first[usize::from(*literal.first()?)] = true;
            }
        }
        Op::Split(split) => {
            let of_split = split.first.as_ref()?;
            first.iter_mut().zip(&**of_split).for_each(|(first, is_in)| *first |= is_in);
        }
        _ => return None,
    }
    Some(())
}

/// The next operation from `at` that takes text.
fn skip(ops: &[Op], mut at: usize) -> usize {
    loop {
        match ops.get(at) {
            Some(Op::Open(_) | Op::Close(_)) => at += 1,
            Some(Op::Jump(to)) => at = *to,
            _ => return at,
        }
    }
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
    let bytes = match class {
        Class::Bytes(bytes) => bytes,
        Class::Unicode(class) => &class.to_byte_class()?,
    };
    let mut set = Box::new([false; 256]);
    for range in bytes.iter() {
        set[usize::from(range.start())..=usize::from(range.end())].fill(true);
    }
    Some(if set.iter().all(|b| *b) { Set::Any } else { Set::Some(set) })
}

/// Matches the operations from `at` on the rest of `text` at `pos`.
fn step(
    ops: &[Op],
    mut at: usize,
    text: &[u8],
    mut pos: usize,
    slots: &mut [(u32, u32)],
    steps: &mut u32,
) -> Option<bool> {
    while let Some(op) = ops.get(at) {
        at += 1;
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
            Op::Jump(to) => at = *to,
            Op::Choice(literals) => {
                for literal in literals.iter().filter(|l| text[pos..].starts_with(l)) {
                    *steps = steps.checked_sub(1)?;
                    if step(ops, at, text, pos + literal.len(), slots, steps)? {
                        return Some(true);
                    }
                }
                return Some(false);
            }
            Op::Split(split) => {
                if !split.can_begin(text, pos) {
                    return Some(false);
                }
                for &branch in &split.branches {
                    *steps = steps.checked_sub(1)?;
                    // What a branch that led nowhere has captured is not in the match.
                    slots[split.slots.clone()].fill((u32::MAX, u32::MAX));
                    if step(ops, branch, text, pos, slots, steps)? {
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
                return repeat(ops, at, text, pos, lengths, *greedy, slots, steps);
            }
        }
    }
    Some(pos == text.len())
}

impl Split {
    /// Whether a branch can begin in `text` at `pos`.
    fn can_begin(&self, text: &[u8], pos: usize) -> bool {
        let is_first = |first: &[bool; 256]| text.get(pos).is_some_and(|byte| first[usize::from(*byte)]);
        self.first.as_ref().is_none_or(|first| is_first(first))
    }
}

/// Tries the lengths of a wildcard at `pos` after which the operations from `at` can go on.
#[expect(clippy::too_many_arguments, reason = "the state of one search, lent piece by piece")]
fn repeat(
    ops: &[Op],
    at: usize,
    text: &[u8],
    pos: usize,
    (min, max): (usize, usize),
    greedy: bool,
    slots: &mut [(u32, u32)],
    steps: &mut u32,
) -> Option<bool> {
    let next = skip(ops, at);
    let finder = match ops.get(next) {
        // Nothing follows: the wildcard takes all.
        None => {
            let length = text.len() - pos;
            let takes_all = (min..=max).contains(&length);
            return if takes_all { step(ops, at, text, text.len(), slots, steps) } else { Some(false) };
        }
        Some(Op::Literal(finder)) => finder,
        Some(op) => {
            for k in 0..=max - min {
                let length = if greedy { max - k } else { min + k };
                if matches!(op, Op::Split(split) if !split.can_begin(text, pos + length)) {
                    continue;
                }
                *steps = steps.checked_sub(1)?;
                if step(ops, at, text, pos + length, slots, steps)? {
                    return Some(true);
                }
            }
            return Some(false);
        }
    };
    let needle = finder.needle();
    if skip(ops, next + 1) == ops.len() {
        let end = text.len().checked_sub(needle.len());
        return match end.filter(|end| (pos + min..=pos + max).contains(end)) {
            Some(end) => step(ops, at, text, end, slots, steps),
            None => Some(false),
        };
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
        let Some(found) = found.map(|n| window.start + n) else { return Some(false) };
        *steps = steps.checked_sub(1)?;
        if step(ops, at, text, found, slots, steps)? {
            return Some(true);
        }
        if greedy {
            window.end = found + needle.len() - 1;
        } else {
            window.start = found + 1;
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
            r"a(?:b(.*?)c|(\d+)|null)(.*?)",
            r"(.*?)(?:a(b|c)|a(\d+)|x)(?:,(.*?))?b?",
            r"(.*?):?(?:(\d+)|(.*?),(?:0x([0-9a-f]+)|(.+)))",
            r"(.*)(?:a|(.*?)(?:b(.*)|))(?:,(\d)|(c))??",
            r"(?:(?:(a)|(b))(?:,|(.*)x)|(.*?)) ?(.*)",
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
            let sequence = Sequence::compile(&hir.expect("regex"));
            let sequence = sequence.unwrap_or_else(|| panic!("`{regex}` is not simple"));
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
                    let is_taken = |slot: &(u32, u32)| *slot != (u32::MAX, u32::MAX);
                    let got: Vec<_> = slots.into_iter().map(|slot| Some(slot).filter(is_taken)).collect();
                    assert_eq!(got, expected, "{regex} on {}", text.escape_ascii());
                }
            }
        }
        assert!(n_matches > 3000);
    }
}

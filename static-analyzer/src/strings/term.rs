//! String terms: regular languages over constants and printed values, as
//! hash-consed trees in normal form.
//!
//! A term over-approximates the texts a value can have; [`Terms::solve`] turns a
//! recursive equation into repetition, and finite languages can be taken apart
//! into their texts.

mod solve;
mod texts;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::limits;
use crate::path::AccessPath;
use crate::program::Name;

/// Position of a node in [`Terms`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Term(u32);

/// What a printed value looks like.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Pattern {
    /// Decimal integer.
    Integer,
    /// Hexadecimal digits.
    Hex,
    /// Floating point.
    Float,
    /// `true` or `false`.
    Boolean,
    /// One character.
    Char,
    /// Any text.
    Text,
    /// An exception's text.
    Throwable,
    /// One of some words (constants of an enum).
    Words(Box<[Name]>),
    /// A text that is put together, with the values in it.
    Composed(Term),
    /// A regex of library knowledge.
    Regex(&'static str),
    /// The same for a number in another notation.
    Number(&'static str, schema::ValueShape),
}

/// A printed value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Leaf {
    /// What it is, in the log point's frame.
    pub(crate) path: Option<AccessPath>,
    /// The same for people where there is no path.
    pub(crate) text: String,
    /// Value class, see [`crate::path::Variable::value_class`].
    pub(crate) class: Option<Name>,
    /// Declared type.
    pub(crate) descriptor: Name,
    /// How it looks.
    pub(crate) pattern: Pattern,
}

/// One node; children are other terms of the same arena.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Node {
    /// A constant, possibly empty.
    Text(Box<str>),
    /// Two or more parts in order, no nested `Cat`, no two adjacent `Text`s.
    Cat(Box<[Term]>),
    /// Two or more distinct choices, no nested `Alt`; none at all is the empty
    /// language.
    Alt(Box<[Term]>),
    /// Any number of times.
    Star(Term),
    /// A printed value.
    Leaf(Box<Leaf>),
    /// The unknown of an equation that is being solved.
    Open(u32),
}

struct Entry {
    node: Node,
    size: u32,
    open: bool,
}

/// The arena.
pub(crate) struct Terms {
    entries: Vec<Entry>,
    index: FxHashMap<Node, Term>,
}

impl Terms {
    /// An empty arena.
    pub(crate) fn new() -> Self {
        Self { entries: Vec::new(), index: FxHashMap::default() }
    }

    /// The node of a term.
    pub(crate) fn node(&self, term: Term) -> &Node {
        &self.entries[term.0 as usize].node
    }

    /// Number of nodes of the unfolded tree (saturating).
    pub(crate) fn size(&self, term: Term) -> u32 {
        self.entries[term.0 as usize].size
    }

    /// Whether the term holds an unsolved unknown.
    pub(crate) fn is_open(&self, term: Term) -> bool {
        self.entries[term.0 as usize].open
    }

    fn intern(&mut self, node: Node) -> Term {
        if let Some(&term) = self.index.get(&node) {
            return term;
        }
        let (size, open) = match &node {
            Node::Text(_) | Node::Leaf(_) => (1, false),
            Node::Open(_) => (1, true),
            Node::Star(x) => (self.size(*x).saturating_add(1), self.is_open(*x)),
            Node::Cat(xs) | Node::Alt(xs) => (
                xs.iter().fold(1, |n: u32, &x| n.saturating_add(self.size(x))),
                xs.iter().any(|&x| self.is_open(x)),
            ),
        };
        let term = Term(u32::try_from(self.entries.len()).expect("fewer than 2^32 terms"));
        self.entries.push(Entry { node: node.clone(), size, open });
        self.index.insert(node, term);
        term
    }

    /// A constant.
    pub(crate) fn text(&mut self, text: &str) -> Term {
        self.intern(Node::Text(text.into()))
    }

    /// The empty text.
    pub(crate) fn empty(&mut self) -> Term {
        self.text("")
    }

    /// No text at all: the value never exists.
    pub(crate) fn never(&mut self) -> Term {
        self.intern(Node::Alt(Box::new([])))
    }

    /// A printed value.
    pub(crate) fn leaf(&mut self, leaf: Leaf) -> Term {
        self.intern(Node::Leaf(Box::new(leaf)))
    }

    /// Any text, of which nothing is known.
    pub(crate) fn top(&mut self) -> Term {
        self.unknown(Pattern::Text, "java/lang/String")
    }

    /// A value of which only the look is known.
    pub(crate) fn unknown(&mut self, pattern: Pattern, class: &str) -> Term {
        self.leaf(Leaf {
            path: None,
            text: String::new(),
            class: None,
            descriptor: Name::from(&format!("L{class};")),
            pattern,
        })
    }

    /// The unknown number `id`.
    pub(crate) fn open(&mut self, id: u32) -> Term {
        self.intern(Node::Open(id))
    }

    /// The constant, if the term is one.
    pub(crate) fn as_text(&self, term: Term) -> Option<&str> {
        match self.node(term) {
            Node::Text(text) => Some(text),
            _ => None,
        }
    }

    /// What a composed text is made of; other terms as they are.
    pub(crate) fn decomposed(&self, term: Term) -> Term {
        match self.node(term) {
            Node::Leaf(leaf) => match leaf.pattern {
                Pattern::Composed(inner) => inner,
                _ => term,
            },
            _ => term,
        }
    }

    /// The same of all parts of a concatenation.
    pub(crate) fn decomposed_parts(&mut self, term: Term) -> Term {
        let parts: Vec<Term> = self.parts(term).into_iter().map(|part| self.decomposed(part)).collect();
        self.cat(parts)
    }

    /// Whether the term has no text.
    pub(crate) fn is_never(&self, term: Term) -> bool {
        matches!(self.node(term), Node::Alt(xs) if xs.is_empty())
    }

    /// Parts of a concatenation; the term itself if it is none.
    pub(crate) fn parts(&self, term: Term) -> Vec<Term> {
        match self.node(term) {
            Node::Cat(xs) => xs.to_vec(),
            Node::Text(text) if text.is_empty() => Vec::new(),
            _ => vec![term],
        }
    }

    /// One after the other.
    pub(crate) fn cat(&mut self, parts: impl IntoIterator<Item = Term>) -> Term {
        let mut flat: Vec<Term> = Vec::new();
        for part in parts {
            if self.is_never(part) {
                return part;
            }
            for part in self.parts(part) {
                if let (Some(&last), Some(text)) = (flat.last(), self.as_text(part))
                    && let Some(before) = self.as_text(last)
                {
                    let joined = format!("{before}{text}");
                    let joined = self.text(&joined);
                    *flat.last_mut().expect("just seen") = joined;
                } else {
                    flat.push(part);
                }
            }
        }
        match flat.len() {
            0 => self.empty(),
            1 => flat[0],
            _ => self.intern(Node::Cat(flat.into())),
        }
    }

    /// One of them. Equal heads and tails are factored out, integers that a
    /// number covers are dropped.
    pub(crate) fn alt(&mut self, choices: impl IntoIterator<Item = Term>) -> Term {
        let mut flat: Vec<Term> = Vec::new();
        let mut seen = FxHashSet::default();
        for choice in choices {
            let inner = match self.node(choice) {
                Node::Alt(xs) => xs.to_vec(),
                _ => vec![choice],
            };
            flat.extend(inner.into_iter().filter(|&x| seen.insert(x)));
        }
        self.absorb(&mut flat);
        if flat.len() > limits::ALTERNATIVES_MAX {
            return self.top();
        }
        match flat.len() {
            1 => return flat[0],
            0 => return self.never(),
            _ => {}
        }
        self.factor(&flat).unwrap_or_else(|| self.intern(Node::Alt(flat.into())))
    }

    fn absorb(&self, flat: &mut Vec<Term>) {
        let has = |flat: &[Term], want: &dyn Fn(&Pattern) -> bool| {
            flat.iter().any(|&x| matches!(self.node(x), Node::Leaf(l) if want(&l.pattern)))
        };
        if has(flat, &|p| *p == Pattern::Integer) {
            flat.retain(|&x| self.as_text(x).is_none_or(|t| t.parse::<i64>().is_err()));
        }
        if has(flat, &|p| *p == Pattern::Boolean) {
            flat.retain(|&x| self.as_text(x).is_none_or(|t| t != "true" && t != "false"));
        }
        // Of values that look the same a match can only name the first: one with
        // a path, if there is one.
        let mut kept: Vec<Term> = Vec::new();
        for &x in flat.iter() {
            let Node::Leaf(leaf) = self.node(x) else {
                kept.push(x);
                continue;
            };
            let same = |y: &Term| matches!(self.node(*y), Node::Leaf(l) if l.pattern == leaf.pattern);
            match kept.iter().position(same) {
                Some(i)
                    if leaf.path.is_some()
                        && matches!(self.node(kept[i]), Node::Leaf(l) if l.path.is_none()) =>
                {
                    kept[i] = x
                }
                Some(_) => {}
                None => kept.push(x),
            }
        }
        // Any text comes last: the first choice that matches is taken.
        let any = |x: &Term| matches!(self.node(*x), Node::Leaf(l) if matches!(l.pattern, Pattern::Text | Pattern::Throwable));
        let (last, mut first): (Vec<Term>, Vec<Term>) = kept.into_iter().partition(any);
        first.extend(last);
        *flat = first;
    }

    fn factor(&mut self, flat: &[Term]) -> Option<Term> {
        let lists: Vec<Vec<Term>> = flat.iter().map(|&x| self.parts(x)).collect();
        let shortest = lists.iter().map(Vec::len).min()?;
        let head = (0..shortest).take_while(|&i| lists.iter().all(|l| l[i] == lists[0][i])).count();
        let tail = (0..shortest - head)
            .take_while(|&i| lists.iter().all(|l| l[l.len() - 1 - i] == lists[0][lists[0].len() - 1 - i]))
            .count();
        if head + tail == 0 {
            return None;
        }
        let middles: Vec<Term> =
            lists.iter().map(|l| self.cat(l[head..l.len() - tail].iter().copied())).collect();
        let middle = self.alt(middles);
        let before = lists[0][..head].to_vec();
        let after = lists[0][lists[0].len() - tail..].to_vec();
        Some(self.cat(before.into_iter().chain([middle]).chain(after)))
    }

    /// One of some constants.
    pub(crate) fn one_of(&mut self, texts: &[String]) -> Term {
        let texts: Vec<Term> = texts.iter().map(|text| self.text(text.as_str())).collect();
        self.alt(texts)
    }

    /// The term or nothing.
    pub(crate) fn opt(&mut self, term: Term) -> Term {
        let empty = self.empty();
        self.alt([empty, term])
    }

    /// Any number of times.
    pub(crate) fn star(&mut self, term: Term) -> Term {
        let choices = match self.node(term) {
            Node::Star(_) => return term,
            Node::Text(text) if text.is_empty() => return term,
            Node::Alt(xs) => xs.to_vec(),
            _ => vec![term],
        };
        if choices.is_empty() {
            return self.empty();
        }
        let mut pieces = Vec::new();
        for choice in choices {
            match self.node(choice) {
                Node::Text(text) if text.is_empty() => {}
                Node::Star(inner) => pieces.push(*inner),
                _ => pieces.push(choice),
            }
        }
        let body = if pieces.is_empty() { return self.empty() } else { self.alt(pieces) };
        match self.node(body) {
            Node::Star(_) => body,
            _ => self.intern(Node::Star(body)),
        }
    }

    /// Whether any constant or named value is in the term: whether it says
    /// more than "some text".
    pub(crate) fn is_informative(&self, term: Term) -> bool {
        match self.node(term) {
            Node::Text(text) => !text.is_empty(),
            Node::Leaf(leaf) => leaf.path.is_some() || leaf.pattern != Pattern::Text,
            Node::Star(x) => self.is_informative(*x),
            Node::Cat(xs) => xs.iter().any(|&x| self.is_informative(x)),
            Node::Alt(xs) => xs.iter().all(|&x| self.as_text(x).is_some() || self.is_informative(x)),
            Node::Open(_) => true,
        }
    }

    /// The term, with `value` for each choice that can be any text and has a part
    /// that nothing names: where parts can be any text without a mark between
    /// them, a match cannot tell which part is which, and they are one value.
    pub(crate) fn with_any_text_as(&mut self, value: Term, term: Term) -> Term {
        let choices = match self.node(term) {
            Node::Alt(xs) => xs.to_vec(),
            _ => vec![term],
        };
        let blurred = |&x: &Term| self.is_any_text(x) && self.has_unnamed_text(x);
        if !choices.iter().any(blurred) {
            return term;
        }
        let kept: Vec<Term> = choices.iter().copied().filter(|x| !blurred(x)).collect();
        // Constants beside a value that can be any text tell nothing.
        if kept.iter().all(|&x| self.as_text(x).is_some()) {
            return value;
        }
        self.alt(kept.into_iter().chain([value]))
    }

    fn has_unnamed_text(&self, term: Term) -> bool {
        match self.node(term) {
            Node::Leaf(leaf) => leaf.path.is_none() && leaf.pattern == Pattern::Text,
            Node::Star(x) => self.is_any_char(*x) || self.has_unnamed_text(*x),
            Node::Cat(xs) | Node::Alt(xs) => xs.iter().any(|&x| self.has_unnamed_text(x)),
            Node::Text(_) | Node::Open(_) => false,
        }
    }

    fn is_any_text(&self, term: Term) -> bool {
        match self.node(term) {
            Node::Leaf(leaf) => leaf.pattern == Pattern::Text,
            Node::Star(x) => self.is_any_char(*x) || self.is_any_text(*x),
            Node::Alt(xs) => xs.iter().any(|&x| self.is_any_text(x)),
            Node::Cat(xs) => {
                xs.iter().any(|&x| self.is_any_text(x))
                    && xs.iter().all(|&x| self.is_any_text(x) || self.can_be_empty(x))
            }
            Node::Text(_) | Node::Open(_) => false,
        }
    }

    /// Whether it can be any one character, of which nothing is known: a text that is
    /// put together of such is any text.
    fn is_any_char(&self, term: Term) -> bool {
        match self.node(term) {
            Node::Leaf(leaf) => leaf.path.is_none() && leaf.pattern == Pattern::Char,
            Node::Alt(xs) => xs.iter().any(|&x| self.is_any_char(x)),
            Node::Text(_) | Node::Cat(_) | Node::Star(_) | Node::Open(_) => false,
        }
    }

    fn can_be_empty(&self, term: Term) -> bool {
        match self.node(term) {
            Node::Text(text) => text.is_empty(),
            Node::Leaf(leaf) => leaf.pattern == Pattern::Text,
            Node::Star(_) => true,
            Node::Cat(xs) => xs.iter().all(|&x| self.can_be_empty(x)),
            Node::Alt(xs) => xs.iter().any(|&x| self.can_be_empty(x)),
            Node::Open(_) => false,
        }
    }
}

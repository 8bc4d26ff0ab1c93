//! String terms: regular languages over constants and printed values, as
//! hash-consed trees in normal form.
//!
//! A term over-approximates the texts a value can have; [`Terms::solve`] turns a
//! recursive equation `X = f(X)` into repetition (Arden's rule where `X` stands
//! at one end, the Mohri-Nederhof widening to a star of all pieces elsewhere).

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
    /// A regex of library knowledge.
    Regex(&'static str),
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

/// A right-hand side as `base | prefix X suffix | ..`.
#[derive(Default)]
struct Split {
    base: Vec<Term>,
    around: Vec<(Term, Term)>,
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

    /// The unknowns in a term, ascending.
    pub(crate) fn unknowns(&self, term: Term) -> Vec<u32> {
        let (mut found, mut seen, mut todo) = (Vec::new(), FxHashSet::default(), vec![term]);
        while let Some(term) = todo.pop() {
            if !self.is_open(term) || !seen.insert(term) {
                continue;
            }
            match self.node(term) {
                Node::Open(id) => found.push(*id),
                Node::Star(x) => todo.push(*x),
                Node::Cat(xs) | Node::Alt(xs) => todo.extend(xs.iter()),
                Node::Text(_) | Node::Leaf(_) => {}
            }
        }
        found.sort_unstable();
        found
    }

    fn contains(&self, term: Term, id: u32) -> bool {
        self.is_open(term) && self.unknowns(term).binary_search(&id).is_ok()
    }

    /// The least solution of `unknown id = term` (or more, see the module).
    pub(crate) fn solve(&mut self, id: u32, term: Term) -> Term {
        if !self.contains(term, id) {
            return term;
        }
        let Some(split) = self.split(id, term) else { return self.widen(id, term) };
        let base = self.alt(split.base);
        let (prefix, suffix): (Vec<Term>, Vec<Term>) = split.around.into_iter().unzip();
        let (prefix, suffix) = (self.alt(prefix), self.alt(suffix));
        let (prefix, suffix) = (self.star(prefix), self.star(suffix));
        self.cat([prefix, base, suffix])
    }

    fn split(&mut self, id: u32, term: Term) -> Option<Split> {
        let mut out = Split::default();
        if !self.contains(term, id) {
            out.base.push(term);
            return Some(out);
        }
        match self.node(term).clone() {
            Node::Open(_) => {
                let empty = self.empty();
                out.around.push((empty, empty));
            }
            Node::Alt(xs) => {
                for x in xs {
                    let inner = self.split(id, x)?;
                    out.base.extend(inner.base);
                    out.around.extend(inner.around);
                }
            }
            Node::Cat(xs) => {
                let mut places = (0..xs.len()).filter(|&i| self.contains(xs[i], id));
                let place = places.next()?;
                if places.next().is_some() {
                    return None;
                }
                let before = self.cat(xs[..place].iter().copied());
                let after = self.cat(xs[place + 1..].iter().copied());
                let inner = self.split(id, xs[place])?;
                for base in inner.base {
                    let base = self.cat([before, base, after]);
                    out.base.push(base);
                }
                for (prefix, suffix) in inner.around {
                    let around = (self.cat([before, prefix]), self.cat([suffix, after]));
                    out.around.push(around);
                }
            }
            Node::Star(_) | Node::Text(_) | Node::Leaf(_) => return None,
        }
        Some(out)
    }

    fn widen(&mut self, id: u32, term: Term) -> Term {
        let (mut pieces, mut seen) = (Vec::new(), FxHashSet::default());
        let mut todo = vec![term];
        while let Some(term) = todo.pop() {
            if !seen.insert(term) {
                continue;
            }
            if !self.contains(term, id) {
                pieces.push(term);
                continue;
            }
            match self.node(term) {
                Node::Star(x) => todo.push(*x),
                Node::Cat(xs) | Node::Alt(xs) => todo.extend(xs.iter().rev()),
                Node::Open(_) | Node::Text(_) | Node::Leaf(_) => {}
            }
        }
        let body = self.alt(pieces);
        self.star(body)
    }

    /// All texts of a term without values and repetition, if at most `max`.
    pub(crate) fn finite(&self, term: Term, max: usize) -> Option<Vec<String>> {
        match self.node(term) {
            Node::Text(text) => Some(vec![text.to_string()]),
            Node::Alt(xs) => {
                let mut all = Vec::new();
                for &x in xs {
                    all.extend(self.finite(x, max)?);
                    if all.len() > max {
                        return None;
                    }
                }
                Some(all)
            }
            Node::Cat(xs) => {
                let mut all = vec![String::new()];
                for &x in xs {
                    let tails = self.finite(x, max)?;
                    if all.len() * tails.len() > max {
                        return None;
                    }
                    all = all.iter().flat_map(|h| tails.iter().map(move |t| format!("{h}{t}"))).collect();
                }
                Some(all)
            }
            Node::Star(_) | Node::Leaf(_) | Node::Open(_) => None,
        }
    }

    /// `f` of every text of a finite term.
    pub(crate) fn map(&mut self, term: Term, mut f: impl FnMut(&str) -> Option<String>) -> Option<Term> {
        let texts = self.finite(term, limits::ALTERNATIVES_MAX)?;
        let mut mapped = Vec::new();
        for text in texts {
            let text = f(&text)?;
            mapped.push(self.text(&text));
        }
        Some(self.alt(mapped))
    }

    /// Whether a constant of the term has this character.
    fn has_character(&self, term: Term, c: char) -> bool {
        match self.node(term) {
            Node::Text(text) => text.contains(c),
            Node::Cat(xs) | Node::Alt(xs) => xs.iter().any(|&x| self.has_character(x, c)),
            Node::Star(x) => self.has_character(*x, c),
            Node::Leaf(_) | Node::Open(_) => false,
        }
    }

    /// The alternatives of a term in which `mark` occurs, distributed over
    /// concatenation, if at most `max`.
    pub(crate) fn expand(&mut self, term: Term, max: usize, mark: char) -> Option<Vec<Term>> {
        match self.node(term).clone() {
            Node::Alt(xs) if self.has_character(term, mark) => {
                let mut all = Vec::new();
                for x in xs {
                    all.extend(self.expand(x, max, mark)?);
                }
                (all.len() <= max).then_some(all)
            }
            Node::Cat(xs) => {
                let mut all = vec![self.empty()];
                for x in xs {
                    let tails = self.expand(x, max, mark)?;
                    if all.len() * tails.len() > max {
                        return None;
                    }
                    let mut next = Vec::with_capacity(all.len() * tails.len());
                    for &head in &all {
                        for &tail in &tails {
                            next.push(self.cat([head, tail]));
                        }
                    }
                    all = next;
                }
                Some(all)
            }
            _ => Some(vec![term]),
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

    /// The term backwards.
    pub(crate) fn reverse(&mut self, term: Term) -> Term {
        match self.node(term).clone() {
            Node::Text(text) => {
                let text: String = text.chars().rev().collect();
                self.text(&text)
            }
            Node::Cat(xs) => {
                let xs: Vec<Term> = xs.iter().rev().map(|&x| self.reverse(x)).collect();
                self.cat(xs)
            }
            Node::Alt(xs) => {
                let xs: Vec<Term> = xs.iter().map(|&x| self.reverse(x)).collect();
                self.alt(xs)
            }
            Node::Star(x) => {
                let x = self.reverse(x);
                self.star(x)
            }
            Node::Leaf(_) | Node::Open(_) => self.top(),
        }
    }

    /// The term without its last `n` characters; where that cannot be said
    /// exactly, any text may stand for the end.
    pub(crate) fn chop(&mut self, term: Term, n: usize) -> Term {
        if n == 0 {
            return term;
        }
        match self.node(term).clone() {
            Node::Text(text) => {
                let keep = text.chars().count().saturating_sub(n);
                let text: String = text.chars().take(keep).collect();
                self.text(&text)
            }
            Node::Alt(xs) => {
                let xs: Vec<Term> = xs.iter().map(|&x| self.chop(x, n)).collect();
                self.alt(xs)
            }
            Node::Star(x) => {
                let last = self.chop(x, n);
                let repeated = self.cat([term, last]);
                self.opt(repeated)
            }
            Node::Cat(xs) => {
                let before = self.cat(xs[..xs.len() - 1].iter().copied());
                let last = xs[xs.len() - 1];
                match self.node(last).clone() {
                    Node::Text(text) if text.chars().count() < n => {
                        self.chop(before, n - text.chars().count())
                    }
                    Node::Star(x) => {
                        let none = self.chop(before, n);
                        let chopped = self.chop(x, n);
                        let some = self.cat([before, last, chopped]);
                        self.alt([none, some])
                    }
                    Node::Alt(ys) => {
                        let ys: Vec<Term> = ys
                            .iter()
                            .map(|&y| {
                                let whole = self.cat([before, y]);
                                self.chop(whole, n)
                            })
                            .collect();
                        self.alt(ys)
                    }
                    _ => {
                        let last = self.chop(last, n);
                        self.cat([before, last])
                    }
                }
            }
            Node::Leaf(_) | Node::Open(_) => self.top(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loop_becomes_a_star() {
        let mut t = Terms::new();
        let (x, a, b) = (t.open(0), t.text("a"), t.text("b"));
        let xb = t.cat([x, b]);
        let equation = t.alt([a, xb]);
        let solved = t.solve(0, equation);
        let star = t.star(b);
        assert_eq!(solved, t.cat([a, star]));
    }

    #[test]
    fn optional_append_in_a_loop() {
        let mut t = Terms::new();
        let (x, a, b, c) = (t.open(0), t.text("a"), t.text("b"), t.text("c"));
        let xb = t.cat([x, b]);
        let inner = t.alt([x, xb]);
        let xbc = t.cat([inner, c]);
        let equation = t.alt([a, xbc]);
        let solved = t.solve(0, equation);
        let bc = t.text("bc");
        let either = t.alt([c, bc]);
        let star = t.star(either);
        let want = t.cat([a, star]);
        let found = t.node(solved).clone();
        assert!(matches!(found, Node::Cat(_)), "{found:?} {:?}", t.node(want));
    }

    #[test]
    fn chop_reaches_into_a_repetition() {
        let mut t = Terms::new();
        let open = t.text("[");
        let item = t.text("x, ");
        let items = t.star(item);
        let list = t.cat([open, items]);
        let chopped = t.chop(list, 2);
        let Node::Alt(xs) = t.node(chopped) else { panic!("{:?}", t.node(chopped)) };
        assert_eq!(xs.len(), 2);
    }
}

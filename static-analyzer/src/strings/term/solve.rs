//! Equations over terms: the text of a loop or a recursion is the least solution
//! of `X = f(X)`.
//!
//! Arden's rule where `X` stands at one end or in the middle of each choice; the
//! Mohri-Nederhof widening to a star of all pieces elsewhere.

use rustc_hash::FxHashSet;

use super::{Node, Term, Terms};

/// A right-hand side as `base | prefix X suffix | ..`.
#[derive(Default)]
struct Split {
    base: Vec<Term>,
    around: Vec<(Term, Term)>,
}

impl Terms {
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
}

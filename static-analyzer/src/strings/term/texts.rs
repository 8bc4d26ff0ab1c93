//! Operations on the texts of a term: all of them if they are few, choices
//! distributed over concatenation, backwards, without its end.

use super::{Node, Term, Terms};
use crate::limits;

impl Terms {
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
    pub(crate) fn has_character(&self, term: Term, c: char) -> bool {
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

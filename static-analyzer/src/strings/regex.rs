//! Terms to regexes: the templates of a log point.
//!
//! Syntax of the `regex` crate, `s` mode, no anchors. Every capture group is one
//! printed value; everything else is in groups without capture. A repetition
//! that prints one value again and again is one group around the repetition.

use super::term::{Leaf, Node, Pattern, Term, Terms};
use crate::limits;
use crate::path::{Step, Template, Variable};

/// Collects the variables of a log point over its templates.
pub(crate) struct Emitter<'t> {
    terms: &'t Terms,
    /// Distinct variables in order of first appearance.
    pub(crate) variables: Vec<Variable>,
    captures: Vec<u32>,
    regex: String,
}

impl<'t> Emitter<'t> {
    /// An emitter without variables yet.
    pub(crate) fn new(terms: &'t Terms) -> Self {
        Self { terms, variables: Vec::new(), captures: Vec::new(), regex: String::new() }
    }

    /// One template.
    pub(crate) fn template(&mut self, term: Term) -> Template {
        self.regex.clear();
        self.captures.clear();
        let large = self.terms.size(term) > limits::MESSAGE_TERM_NODES_MAX;
        self.emit(term, large, 0);
        Template { regex: self.regex.clone(), captures: self.captures.clone() }
    }

    fn emit(&mut self, term: Term, large: bool, depth: u32) {
        match self.terms.node(term) {
            Node::Text(text) => self.regex.push_str(&regex_syntax::escape(text)),
            Node::Cat(xs) => {
                for &x in xs {
                    let cut =
                        large && depth > 0 && matches!(self.terms.node(x), Node::Alt(_) | Node::Star(_));
                    if cut { self.regex.push_str(".*?") } else { self.emit(x, large, depth + 1) }
                }
            }
            Node::Alt(xs) => self.emit_choices(xs, large, depth),
            Node::Star(x) => self.emit_star(*x, large, depth),
            Node::Leaf(leaf) => self.emit_leaf(leaf, large, depth),
            Node::Open(_) => self.regex.push_str(".*?"),
        }
    }

    fn emit_choices(&mut self, choices: &[Term], large: bool, depth: u32) {
        if choices.is_empty() {
            // Never printed: the empty class.
            self.regex.push_str(r"[^\x00-\x{10FFFF}]");
            return;
        }
        let empty = |x: &Term| self.terms.as_text(*x) == Some("");
        let optional = choices.iter().any(empty);
        let rest: Vec<Term> = choices.iter().copied().filter(|x| !empty(x)).collect();
        self.regex.push_str("(?:");
        for (i, &choice) in rest.iter().enumerate() {
            if i > 0 {
                self.regex.push('|');
            }
            self.emit(choice, large, depth + 1);
        }
        self.regex.push(')');
        if optional {
            self.regex.push('?');
        }
    }

    /// `(x)*`; if `x` prints exactly one value, the repetition is the capture.
    fn emit_star(&mut self, body: Term, large: bool, depth: u32) {
        let (start, first) = (self.regex.len(), self.captures.len());
        self.regex.push_str("(?:");
        self.emit(body, large, depth + 1);
        self.regex.push_str(")*?");
        let inside: Vec<u32> = self.captures.drain(first..).collect();
        if inside.is_empty() {
            return;
        }
        // Groups inside of a repetition would hold only its last turn.
        let plain = uncapture(&self.regex[start..]);
        self.regex.truncate(start);
        let same = inside.iter().all(|&v| v == inside[0]);
        let element = same.then(|| self.variables[inside[0] as usize].clone());
        match element {
            Some(mut variable) => {
                if let Some(path) = &mut variable.path
                    && path.steps.last() != Some(&Step::Element)
                    && path.steps.len() < limits::PATH_FIELDS_MAX
                {
                    path.steps.push(Step::Element);
                }
                variable.shape = schema::ValueShape::Text;
                let index = self.variable(variable);
                self.captures.push(index);
                self.regex.push('(');
                self.regex.push_str(&plain);
                self.regex.push(')');
            }
            None => self.regex.push_str(&plain),
        }
    }

    fn emit_leaf(&mut self, leaf: &Leaf, large: bool, depth: u32) {
        let index = self.variable(Variable {
            path: leaf.path.clone(),
            text: leaf.text.clone(),
            value_class: leaf.class,
            descriptor: leaf.descriptor,
            shape: shape(&leaf.pattern),
            parts: Vec::new(),
            in_text: false,
        });
        self.captures.push(index);
        self.regex.push('(');
        match leaf.pattern {
            Pattern::Composed(inner) => self.emit(inner, large, depth + 1),
            ref pattern => self.regex.push_str(&pattern_regex(pattern)),
        }
        self.regex.push(')');
    }

    fn variable(&mut self, variable: Variable) -> u32 {
        let known = self.variables.iter().position(|v| *v == variable && v.path.is_some());
        let index = known.unwrap_or_else(|| {
            self.variables.push(variable);
            self.variables.len() - 1
        });
        index as u32
    }
}

/// Turns the capture groups of a regex made here into plain groups.
fn uncapture(regex: &str) -> String {
    let mut out = String::with_capacity(regex.len());
    let mut chars = regex.chars().peekable();
    while let Some(c) = chars.next() {
        out.push(c);
        match c {
            '\\' => out.extend(chars.next()),
            '[' => {
                for c in chars.by_ref() {
                    out.push(c);
                    if c == ']' {
                        break;
                    }
                }
            }
            '(' if chars.peek() != Some(&'?') => out.push_str("?:"),
            _ => {}
        }
    }
    out
}

fn shape(pattern: &Pattern) -> schema::ValueShape {
    use schema::ValueShape;
    match pattern {
        Pattern::Integer => ValueShape::Integer,
        Pattern::Hex => ValueShape::Hex,
        Pattern::Float => ValueShape::Float,
        Pattern::Boolean => ValueShape::Boolean,
        Pattern::Words(_) => ValueShape::Enum,
        Pattern::Throwable => ValueShape::Throwable,
        Pattern::Number(_, shape) => *shape,
        Pattern::Char | Pattern::Text | Pattern::Composed(_) | Pattern::Regex(_) => ValueShape::Text,
    }
}

fn pattern_regex(pattern: &Pattern) -> String {
    match pattern {
        Pattern::Integer => "-?[0-9]+".to_string(),
        Pattern::Hex => "[0-9a-f]+".to_string(),
        Pattern::Float => r"-?[0-9]+\.[0-9]+(?:E-?[0-9]+)?|NaN|-?Infinity".to_string(),
        Pattern::Boolean => "true|false".to_string(),
        Pattern::Char => ".".to_string(),
        Pattern::Text | Pattern::Throwable | Pattern::Composed(_) => ".*?".to_string(),
        Pattern::Words(words) => {
            let words: Vec<String> = words.iter().map(|w| regex_syntax::escape(w)).collect();
            words.join("|")
        }
        Pattern::Regex(regex) | Pattern::Number(regex, _) => (*regex).to_string(),
    }
}

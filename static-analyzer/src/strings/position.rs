//! Positions in a text that are computed from the text itself
//! (`s.length() - 1`, `s.indexOf('.') + 1`), and the operations that take them:
//! `substring`, `split`, replacement.

use super::term::Term;
use super::{Evaluator, FrameId, text_ops};
use crate::ir::{Arithmetic, Const, Op, ValueId};
use crate::limits;
use crate::program::Name;

/// A position as a function of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Position {
    /// So many characters from the start.
    At(i32),
    /// So many characters before the end.
    BeforeEnd(i32),
    /// Where a text is found first or last, and so many characters on; -1 before
    /// that if it is not there.
    Found { needle: String, last: bool, plus: i32 },
}

impl Position {
    fn plus(self, n: i32) -> Self {
        match self {
            Position::At(at) => Position::At(at.saturating_add(n)),
            Position::BeforeEnd(back) => Position::BeforeEnd(back.saturating_sub(n)),
            Position::Found { needle, last, plus } => {
                Position::Found { needle, last, plus: plus.saturating_add(n) }
            }
        }
    }

    /// The position in one text (ASCII: positions are bytes); none if it lies
    /// outside.
    fn of(&self, text: &str) -> Option<usize> {
        let length = i32::try_from(text.len()).ok()?;
        let at = match self {
            Position::At(at) => *at,
            Position::BeforeEnd(back) => length.checked_sub(*back)?,
            Position::Found { needle, last, plus } => {
                let found = if *last { text.rfind(needle.as_str()) } else { text.find(needle.as_str()) };
                found.map_or(Some(-1), |at| i32::try_from(at).ok())?.checked_add(*plus)?
            }
        };
        usize::try_from(at).ok().filter(|&at| at <= text.len())
    }
}

impl<'p> Evaluator<'p> {
    /// The position `index` in the text `text`.
    fn position(&mut self, frame: FrameId, text: ValueId, index: ValueId) -> Option<Position> {
        if let Some(at) = self.int_of(frame, index) {
            return Some(Position::At(at));
        }
        match self.op(frame, index) {
            Op::Binary(kind @ (Arithmetic::Add | Arithmetic::Sub), a, b) => {
                if let Some(n) = self.int_of(frame, *b) {
                    let n = if *kind == Arithmetic::Sub { n.checked_neg()? } else { n };
                    return Some(self.position(frame, text, *a)?.plus(n));
                }
                let n = self.int_of(frame, *a).filter(|_| *kind == Arithmetic::Add)?;
                Some(self.position(frame, text, *b)?.plus(n))
            }
            Op::Invoke { method, args, .. }
                if method.class == "java/lang/String" && self.is_same(frame, *args.first()?, text) =>
            {
                match (method.name.as_str(), &args[1..]) {
                    ("length", []) => Some(Position::BeforeEnd(0)),
                    ("indexOf" | "lastIndexOf", &[needle]) => {
                        let last = method.name == "lastIndexOf";
                        Some(Position::Found { needle: self.needle(frame, needle)?, last, plus: 0 })
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn is_same(&mut self, frame: FrameId, a: ValueId, b: ValueId) -> bool {
        a == b || self.place(frame, a) == self.place(frame, b)
    }

    fn needle(&mut self, frame: FrameId, value: ValueId) -> Option<String> {
        match self.constant_of(frame, value)? {
            Const::Text(text) => Some(text.to_string()),
            Const::Int(c) => Some(char::from_u32(u32::try_from(c).ok()?)?.to_string()),
            _ => None,
        }
    }

    /// `text.substring(from)`, `text.substring(from, to)`
    pub(crate) fn substring_call(
        &mut self,
        frame: FrameId,
        call: ValueId,
        text: ValueId,
        bounds: &[ValueId],
        shown: Name,
    ) -> Option<Term> {
        let term = self.text(frame, text, shown, call);
        let from = self.position(frame, text, *bounds.first()?)?;
        let to = match bounds.get(1) {
            Some(&to) => self.position(frame, text, to)?,
            None => Position::BeforeEnd(0),
        };
        if let Some(texts) = self.terms.finite(term, limits::ALTERNATIVES_MAX)
            && texts.iter().all(|t| t.is_ascii())
        {
            // Bounds outside of a text throw: that choice prints nothing.
            let parts: Vec<String> =
                texts.iter().filter_map(|t| t.get(from.of(t)?..to.of(t)?).map(str::to_string)).collect();
            return Some(self.terms.one_of(&parts));
        }
        let Position::At(from) = from else { return None };
        let from = usize::try_from(from).ok()?;
        match to {
            Position::At(to) => {
                text_ops::substring(&mut self.terms, term, from, Some(usize::try_from(to).ok()?))
            }
            Position::BeforeEnd(back) => {
                let kept = self.terms.chop(term, usize::try_from(back).ok()?);
                text_ops::substring(&mut self.terms, kept, from, None)
            }
            Position::Found { .. } => None,
        }
    }

    /// `text.replace(from, to)`, and by regex where that is plain text.
    pub(crate) fn replace_call(
        &mut self,
        frame: FrameId,
        call: ValueId,
        args: &[ValueId],
        parameters: &[Name],
        regex: bool,
    ) -> Option<Term> {
        let [receiver, from, to] = *args else { return None };
        let term = self.text(frame, receiver, Name::from("Ljava/lang/String;"), call);
        let from = self.text(frame, from, *parameters.first()?, call);
        let to = self.text(frame, to, *parameters.get(1)?, call);
        let mut from = self.terms.as_text(from)?.to_string();
        let to = self.terms.as_text(to)?.to_string();
        let first_only =
            matches!(self.op(frame, call), Op::Invoke { method, .. } if method.name == "replaceFirst");
        if regex {
            from = plain_text(&from)?;
            if to.contains(['$', '\\']) {
                return None;
            }
        }
        let replaced = self.terms.map(term, |text| {
            Some(if first_only { text.replacen(&from, &to, 1) } else { text.replace(&from, &to) })
        });
        let one = (from.chars().count() == 1 && !first_only).then_some(from.as_str());
        let replaced = replaced.or_else(|| text_ops::replace_in_parts(&mut self.terms, term, one?, &to));
        replaced.or_else(|| Some(self.terms.top()))
    }

    /// `text.split(separator)[index]`, any element if the index is not known.
    pub(crate) fn split_element(&mut self, frame: FrameId, array: ValueId, index: ValueId) -> Option<Term> {
        let Op::Invoke { method, args, .. } = self.op(frame, array) else { return None };
        let &[text, separator] = &args[..] else { return None };
        if method.class != "java/lang/String" || method.name != "split" {
            return None;
        }
        let separator = plain_text(&self.needle(frame, separator)?).filter(|s| !s.is_empty())?;
        let term = self.text(frame, text, Name::from("Ljava/lang/String;"), array);
        let index = self.int_of(frame, index);
        let mut found = Vec::new();
        for text in self.terms.finite(term, limits::ALTERNATIVES_MAX)? {
            let mut parts: Vec<&str> = text.split(separator.as_str()).collect();
            // Empty parts at the end are left out.
            while parts.len() > 1 && parts.last().is_some_and(|p| p.is_empty()) {
                parts.pop();
            }
            match index {
                Some(i) => {
                    found.extend(usize::try_from(i).ok().and_then(|i| parts.get(i)).map(|p| p.to_string()))
                }
                None => found.extend(parts.into_iter().map(str::to_string)),
            }
        }
        Some(self.terms.one_of(&found))
    }
}

/// The text that a regex without operators matches.
fn plain_text(regex: &str) -> Option<String> {
    let mut text = String::new();
    let mut characters = regex.chars();
    while let Some(c) = characters.next() {
        match c {
            '\\' => text.push(characters.next().filter(|c| !c.is_alphanumeric())?),
            c if r"[](){}.*+?^$|".contains(c) => return None,
            c => text.push(c),
        }
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_functions_of_the_text() {
        let dot = Position::Found { needle: ".".to_string(), last: true, plus: 0 };
        assert_eq!(dot.of("a.b.c"), Some(3));
        assert_eq!(dot.clone().plus(1).of("a.b.c"), Some(4));
        assert_eq!(dot.clone().of("abc"), None);
        assert_eq!(dot.plus(1).of("abc"), Some(0));
        assert_eq!(Position::BeforeEnd(0).plus(-1).of("abc"), Some(2));
        assert_eq!(Position::BeforeEnd(4).of("abc"), None);
    }

    #[test]
    fn plain_regexes_are_texts() {
        assert_eq!(plain_text(r"a\.b").as_deref(), Some("a.b"));
        assert_eq!(plain_text("a.b"), None);
        assert_eq!(plain_text(r"\s"), None);
    }
}

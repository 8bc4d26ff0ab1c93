//! The methods of builders, on their content.

use super::builder::{Effect, appended};
use super::term::Term;
use super::{Evaluator, FrameId, text_ops, types};
use crate::ir::{Arithmetic, BlockId, Op, ValueId};
use crate::program::{MethodRef, Name};

impl<'p> Evaluator<'p> {
    fn position_of(&self, frame: FrameId, inst: ValueId) -> (BlockId, usize) {
        let info = self.facts.info(self.method_of(frame));
        (self.inst(frame, inst).block, info.position[inst.index()] as usize)
    }

    /// What a method called on the builder does to it.
    pub(crate) fn builder_effect(
        &mut self,
        frame: FrameId,
        object: ValueId,
        inst: ValueId,
        method: MethodRef,
        args: &'p [ValueId],
    ) -> Effect {
        let parameters = appended(&method);
        match method.name.as_str() {
            // A writer made for the builder goes on where it is.
            "<init>" if super::info::wraps(method.class) => Effect::None,
            "<init>" => self.init_effect(frame, inst, args, &parameters),
            "append" | "print" | "write" | "addString" | "$plus$plus$eq" | "$plus$eq" => {
                let Some(&value) = args.get(1) else { return Effect::None };
                if parameters.len() == 3 {
                    return Effect::Append(self.part_text(frame, inst, args, &parameters));
                }
                Effect::Append(self.appended_text(frame, inst, value, &method, &parameters))
            }
            "println" => {
                let line = self.terms.text("\n");
                let term = match args.get(1) {
                    Some(&value) => {
                        let value = self.appended_text(frame, inst, value, &method, &parameters);
                        self.terms.cat([value, line])
                    }
                    None => line,
                };
                Effect::Append(term)
            }
            "format" | "printf" => {
                let term = self.format_call(frame, inst, &args[1..], &parameters, true);
                Effect::Append(term.unwrap_or_else(|| self.terms.top()))
            }
            "appendCodePoint" => {
                let code =
                    args.get(1).and_then(|&v| self.int_of(frame, v)).and_then(|c| char::from_u32(c as u32));
                let term = code.map(|c| self.terms.text(&c.to_string()));
                Effect::Append(term.unwrap_or_else(|| self.terms.top()))
            }
            "setLength" | "delete" | "deleteCharAt" | "insert" | "replace" | "reverse" | "setCharAt"
            | "clear" | "reset" => {
                let (block, position) = self.position_of(frame, inst);
                let before = |e: &mut Self| e.content_of(frame, object, block, position);
                if matches!(method.name.as_str(), "clear" | "reset") {
                    return Effect::Set(self.terms.empty());
                }
                if method.name == "setLength" && args.get(1).and_then(|&v| self.int_of(frame, v)) == Some(0) {
                    return Effect::Set(self.terms.empty());
                }
                let content = before(self);
                let changed = self.changed(frame, object, inst, content, &method, args, &parameters);
                Effect::Set(changed.unwrap_or_else(|| self.terms.top()))
            }
            _ => Effect::None,
        }
    }

    fn content_of(&mut self, frame: FrameId, object: ValueId, block: BlockId, position: usize) -> Term {
        let at = self.block(frame, block).insts[position];
        self.content_at(frame, object, at)
    }

    fn init_effect(
        &mut self,
        frame: FrameId,
        inst: ValueId,
        args: &[ValueId],
        parameters: &[Name],
    ) -> Effect {
        let term = match (parameters.first(), args.get(1)) {
            (Some(p), Some(&value)) if p == "Ljava/lang/String;" || p == "Ljava/lang/CharSequence;" => {
                self.text(frame, value, *p, inst)
            }
            (Some(p), Some(_)) if p == "I" && parameters.get(1).is_some_and(|p| p.starts_with('L')) => {
                self.terms.top()
            }
            _ => self.terms.empty(),
        };
        Effect::Set(term)
    }

    fn appended_text(
        &mut self,
        frame: FrameId,
        inst: ValueId,
        value: ValueId,
        method: &MethodRef,
        parameters: &[Name],
    ) -> Term {
        let mut descriptor = parameters.first().copied().unwrap_or_else(|| Name::from("Ljava/lang/Object;"));
        if method.name == "write" && descriptor == "I" {
            descriptor = Name::from("C");
        }
        if descriptor.starts_with('[') {
            return self.characters(frame, value).unwrap_or_else(|| self.leaf(frame, value, descriptor));
        }
        self.text(frame, value, descriptor, inst)
    }

    /// `append(text, from, to)`
    fn part_text(&mut self, frame: FrameId, inst: ValueId, args: &[ValueId], parameters: &[Name]) -> Term {
        let bounds = (
            args.get(2).and_then(|&v| self.int_of(frame, v)),
            args.get(3).and_then(|&v| self.int_of(frame, v)),
        );
        let (Some(from), Some(mut to)) = bounds else { return self.terms.top() };
        let is_array = parameters[0].starts_with('[');
        if is_array || parameters.first().is_some_and(|p| p == "Ljava/lang/String;") {
            // Offset and count.
            to += from;
        }
        let text = if is_array {
            self.characters(frame, args[1])
        } else {
            Some(self.text(frame, args[1], parameters[0], inst))
        };
        let (Some(text), Ok(from), Ok(to)) = (text, usize::try_from(from), usize::try_from(to)) else {
            return self.terms.top();
        };
        text_ops::substring(&mut self.terms, text, from, Some(to)).unwrap_or_else(|| self.terms.top())
    }

    /// `builder.length() - n`
    fn end_distance(&mut self, frame: FrameId, object: ValueId, value: ValueId) -> Option<usize> {
        let info = self.facts.info(self.method_of(frame));
        let body = self.body(frame);
        let is_length = |v: ValueId| match body.op(v) {
            Op::Invoke { method, args, .. } => {
                matches!(method.name.as_str(), "length" | "size")
                    && args.len() == 1
                    && info.builder(body, args[0]) == object
            }
            _ => false,
        };
        if is_length(value) {
            return Some(0);
        }
        match body.op(value) {
            Op::Binary(Arithmetic::Sub, a, b) if is_length(*a) => {
                usize::try_from(self.int_of(frame, *b)?).ok()
            }
            Op::Binary(Arithmetic::Add, a, b) if is_length(*a) => {
                usize::try_from(-self.int_of(frame, *b)?).ok()
            }
            _ => None,
        }
    }

    #[expect(clippy::too_many_arguments, reason = "one call, taken apart")]
    fn changed(
        &mut self,
        frame: FrameId,
        object: ValueId,
        inst: ValueId,
        content: Term,
        method: &MethodRef,
        args: &[ValueId],
        parameters: &[Name],
    ) -> Option<Term> {
        let number = |e: &mut Self, i: usize| {
            args.get(i).and_then(|&v| e.int_of(frame, v)).and_then(|n| usize::try_from(n).ok())
        };
        match method.name.as_str() {
            "setLength" => {
                if let Some(n) = self.end_distance(frame, object, *args.get(1)?) {
                    return Some(self.terms.chop(content, n));
                }
                let length = number(self, 1)?;
                let exact = self.terms.map(content, |text| {
                    let have = text.encode_utf16().count();
                    if have >= length {
                        text_ops::utf16_slice(text, 0, length)
                    } else {
                        Some(format!("{text}{}", "\0".repeat(length - have)))
                    }
                });
                exact.or_else(|| text_ops::substring(&mut self.terms, content, 0, Some(length)))
            }
            "reverse" => Some(self.terms.reverse(content)),
            "deleteCharAt" => {
                if let Some(n) = self.end_distance(frame, object, *args.get(1)?) {
                    return (n == 1).then(|| self.terms.chop(content, 1));
                }
                let at = number(self, 1)?;
                self.delete(content, at, at + 1)
            }
            "delete" => self.deleted(frame, object, content, *args.get(1)?, *args.get(2)?),
            "insert" => {
                let value = self.text(frame, *args.get(2)?, *parameters.get(1)?, inst);
                if self.end_distance(frame, object, *args.get(1)?) == Some(0) {
                    return Some(self.terms.cat([content, value]));
                }
                let at = number(self, 1)?;
                self.splice(content, at, at, value)
            }
            "replace" => {
                let value = self.text(frame, *args.get(3)?, *parameters.get(2)?, inst);
                if self.end_distance(frame, object, *args.get(2)?) == Some(0)
                    && let Some(from) = number(self, 1)
                {
                    let kept = text_ops::substring(&mut self.terms, content, 0, Some(from))?;
                    return Some(self.terms.cat([kept, value]));
                }
                let (from, to) = (number(self, 1)?, number(self, 2)?);
                self.splice(content, from, to, value)
            }
            "setCharAt" => {
                let value = self.text(frame, *args.get(2)?, Name::from("C"), inst);
                let at = number(self, 1)?;
                self.splice(content, at, at + 1, value)
            }
            _ => None,
        }
    }

    /// `delete(from, to)`
    fn deleted(
        &mut self,
        frame: FrameId,
        object: ValueId,
        content: Term,
        from: ValueId,
        to: ValueId,
    ) -> Option<Term> {
        let to_end = self.end_distance(frame, object, to) == Some(0);
        if to_end && let Some(n) = self.end_distance(frame, object, from) {
            return Some(self.terms.chop(content, n));
        }
        let from = usize::try_from(self.int_of(frame, from)?).ok()?;
        match to_end {
            true if from == 0 => Some(self.terms.empty()),
            true => text_ops::substring(&mut self.terms, content, 0, Some(from)),
            false => {
                let to = usize::try_from(self.int_of(frame, to)?).ok()?;
                self.delete(content, from, to)
            }
        }
    }

    fn delete(&mut self, content: Term, from: usize, to: usize) -> Option<Term> {
        let empty = self.terms.empty();
        self.splice(content, from, to, empty)
    }

    /// `content` with the characters `from..to` replaced by `value`.
    fn splice(&mut self, content: Term, from: usize, to: usize, value: Term) -> Option<Term> {
        if let Some(texts) = self.terms.finite(content, 16) {
            let mut choices = Vec::new();
            for text in texts {
                let length = text.encode_utf16().count();
                if from > length {
                    continue;
                }
                let head = text_ops::utf16_slice(&text, 0, from)?;
                let tail = text_ops::utf16_slice(&text, to.min(length), length)?;
                let (head, tail) = (self.terms.text(&head), self.terms.text(&tail));
                choices.push(self.terms.cat([head, value, tail]));
            }
            return Some(self.terms.alt(choices));
        }
        let mut parts = self.terms.parts(content);
        if from == 0 && to == 0 {
            parts.insert(0, value);
            return Some(self.terms.cat(parts));
        }
        let first = self.terms.as_text(*parts.first()?)?.to_string();
        let length = first.encode_utf16().count();
        if to > length {
            return None;
        }
        let head = text_ops::utf16_slice(&first, 0, from)?;
        let tail = text_ops::utf16_slice(&first, to, length)?;
        let (head, tail) = (self.terms.text(&head), self.terms.text(&tail));
        parts[0] = tail;
        let rest = self.terms.cat(parts);
        Some(self.terms.cat([head, value, rest]))
    }

    /// What a method called on a builder returns.
    pub(crate) fn builder_call_text(
        &mut self,
        frame: FrameId,
        call: ValueId,
        method: MethodRef,
        args: &'p [ValueId],
    ) -> Option<Term> {
        let receiver = *args.first()?;
        match method.name.as_str() {
            "toString" | "result" => Some(self.content_at(frame, receiver, call)),
            "substring" | "subSequence" => {
                let content = self.content_at(frame, receiver, call);
                let info = self.facts.info(self.method_of(frame));
                let object = info.builder(self.body(frame), receiver);
                let from = self.int_of(frame, *args.get(1)?).and_then(|n| usize::try_from(n).ok());
                let Some(&to) = args.get(2) else {
                    return text_ops::substring(&mut self.terms, content, from?, None);
                };
                if let Some(n) = self.end_distance(frame, object, to) {
                    let kept = self.terms.chop(content, n);
                    return text_ops::substring(&mut self.terms, kept, from?, None);
                }
                let to = self.int_of(frame, to).and_then(|n| usize::try_from(n).ok())?;
                text_ops::substring(&mut self.terms, content, from?, Some(to))
            }
            "length" => {
                let content = self.content_at(frame, receiver, call);
                self.terms.map(content, |text| Some(text.encode_utf16().count().to_string()))
            }
            "charAt" => {
                let content = self.content_at(frame, receiver, call);
                let at = usize::try_from(self.int_of(frame, *args.get(1)?)?).ok()?;
                self.terms.map(content, |text| text_ops::utf16_slice(text, at, at + 1))
            }
            _ if types::result(&method.descriptor).starts_with('L') => {
                super::info::returns_receiver(&method).then(|| self.content_at(frame, call, call))
            }
            _ => None,
        }
    }
}

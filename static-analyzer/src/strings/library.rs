//! What library methods return: the models of [`apis`] applied to the texts of
//! the arguments.

use super::apis::{self, Model};
use super::term::{Pattern, Term};
use super::{Evaluator, FrameId, Place, text_ops, types};
use crate::ir::{Const, InvokeKind, Op, ValueId};
use crate::program::{MethodRef, Name};

impl<'p> Evaluator<'p> {
    /// What a call of a library method returns, if it is known.
    pub(crate) fn library_text(
        &mut self,
        frame: FrameId,
        call: ValueId,
        method: MethodRef,
        args: &'p [ValueId],
    ) -> Option<Term> {
        if method.name == "toString" && method.descriptor == "()Ljava/lang/String;" {
            let receiver = *args.first()?;
            if let Op::Invoke { kind: InvokeKind::Special, .. } = self.op(frame, call) {
                return self.super_text(frame, call, method, args);
            }
            let descriptor = self.descriptor_of(frame, receiver);
            // The content of a builder may well be the text "null".
            return Some(match self.is_builder(frame, receiver) {
                true => self.text(frame, receiver, descriptor, call),
                false => self.non_null(frame, receiver, descriptor, call),
            });
        }
        if matches!(method.name.as_str(), "getMessage" | "getLocalizedMessage") && args.len() == 1 {
            return self.message_text(frame, args[0]);
        }
        if method.name == "getClass" && method.descriptor == "()Ljava/lang/Class;" {
            let names = self.class_names(frame, call, false)?;
            let texts: Vec<String> = names.iter().map(|name| format!("class {name}")).collect();
            return Some(self.terms.one_of(&texts));
        }
        if method.name == "getName"
            && method.descriptor == "()Ljava/lang/String;"
            && let Some(&thread) = args.first()
            && self.facts.is_subtype(method.class, Name::from("java/lang/Thread"))
            && let Some(term) = self.thread_name(frame, call, thread)
        {
            return Some(term);
        }
        if apis::is_builder(method.class) {
            return self.builder_call_text(frame, call, method, args);
        }
        let model = match apis::model(method.class, method.name) {
            Some(model) => model,
            None if matches!(method.name.as_str(), "name" | "ordinal") && args.len() == 1 => {
                self.facts.supertypes(method.class).contains(&Name::from("java/lang/Enum")).then_some(())?;
                if method.name == "name" { Model::EnumName } else { return None }
            }
            None => return None,
        };
        let parameters: Vec<Name> =
            types::parameters(&method.descriptor).into_iter().map(Name::from).collect();
        let is_static = args.len() == parameters.len();
        self.model_text(frame, call, model, method, args, &parameters, is_static)
    }

    #[expect(clippy::too_many_arguments, reason = "one call, taken apart")]
    fn model_text(
        &mut self,
        frame: FrameId,
        call: ValueId,
        model: Model,
        method: MethodRef,
        args: &'p [ValueId],
        parameters: &[Name],
        is_static: bool,
    ) -> Option<Term> {
        let first = *args.first().unwrap_or(&call);
        let shown = if is_static {
            parameters.first().copied()
        } else {
            Some(Name::from(&format!("L{};", method.class)))
        };
        let shown = shown.unwrap_or_else(|| Name::from("Ljava/lang/Object;"));
        match model {
            Model::Image => Some(self.image_text(frame, call, method, args, shown)),
            Model::Same => Some(self.text(frame, first, self.descriptor_of(frame, first), call)),
            Model::ImageOr => self.image_or_text(frame, call, args, shown),
            Model::Concat => {
                let head = self.text(frame, first, shown, call);
                let tail = self.text(frame, *args.get(1)?, shown, call);
                Some(self.terms.cat([head, tail]))
            }
            Model::Format => self.format_call(frame, call, args, parameters, is_static),
            Model::FormatNumber => Some(self.number_text(frame, call, method, *args.get(1)?)),
            Model::MessageFormat => self.message_format_call(frame, call, args),
            Model::Join => self.join_call(frame, call, args, parameters),
            Model::Upper | Model::Lower | Model::Trim => {
                let term = self.text(frame, first, shown, call);
                Some(match model {
                    Model::Trim => text_ops::trim(&mut self.terms, term),
                    _ => text_ops::change_case(&mut self.terms, term, model == Model::Upper),
                })
            }
            Model::Substring => self.substring_call(frame, call, first, &args[1..], shown),
            Model::Replace => self.replace_call(frame, call, args, parameters, false),
            Model::ReplaceRegex => self.replace_call(frame, call, args, parameters, true),
            Model::CharAt | Model::Repeat => self.counted_text(frame, call, model, args, shown),
            Model::Length => {
                let term = self.text(frame, first, shown, call);
                self.terms.map(term, |text| Some(text.encode_utf16().count().to_string()))
            }
            Model::Hex | Model::Binary | Model::Octal => {
                Some(self.radix_text(frame, call, first, shown, model))
            }
            Model::ClassName | Model::SimpleClassName => {
                let names = self.class_names(frame, first, model == Model::SimpleClassName)?;
                Some(self.terms.one_of(&names))
            }
            Model::EnumName => self.enum_name(frame, first),
            Model::ArrayImage => Some(self.array_image(frame, call, first)),
            Model::LineSeparator => Some(self.terms.text("\n")),
            Model::Second
            | Model::FormatOf
            | Model::Interpolate
            | Model::StripMargin
            | Model::StripMarginOf => self.scala_text(frame, call, model, args, parameters),
            Model::Property => {
                let Op::Const(Const::Text(key)) = self.op(frame, first) else { return None };
                (key == "line.separator").then(|| self.terms.text("\n"))
            }
        }
    }

    /// `charAt(n)`, `repeat(n)`
    fn counted_text(
        &mut self,
        frame: FrameId,
        call: ValueId,
        model: Model,
        args: &[ValueId],
        shown: Name,
    ) -> Option<Term> {
        let count = usize::try_from(self.int_of(frame, *args.get(1)?)?).ok().filter(|&n| n <= 1024)?;
        let term = self.text(frame, *args.first()?, shown, call);
        self.terms.map(term, |text| match model {
            Model::Repeat => Some(text.repeat(count)),
            _ => text_ops::utf16_slice(text, count, count + 1),
        })
    }

    /// What Scala's texts in the clothes of collections are.
    fn scala_text(
        &mut self,
        frame: FrameId,
        call: ValueId,
        model: Model,
        args: &'p [ValueId],
        parameters: &[Name],
    ) -> Option<Term> {
        match model {
            Model::Second => Some(self.text(frame, *args.get(1)?, Name::from("Ljava/lang/String;"), call)),
            Model::FormatOf => self.format_call(frame, call, args.get(1..)?, parameters, false),
            Model::Interpolate => self.interpolated(frame, call, args),
            Model::StripMargin | Model::StripMarginOf => {
                let place = usize::from(model == Model::StripMarginOf);
                let term = self.text(frame, *args.get(place)?, Name::from("Ljava/lang/String;"), call);
                text_ops::strip_margins(&mut self.terms, term)
            }
            _ => None,
        }
    }

    /// `new StringContext(parts).s(arguments)`
    fn interpolated(&mut self, frame: FrameId, call: ValueId, args: &'p [ValueId]) -> Option<Term> {
        let &[context, values] = args else { return None };
        let place = self.place(frame, context);
        let Place::Value(f, made) = self.place_node(place) else { return None };
        let init = *self.facts.info(self.method_of(f)).init.get(&made)?;
        let Op::Invoke { args: given, .. } = self.op(f, init) else { return None };
        let (at, parts) = self.elements(f, *given.get(1)?)?;
        let values = self.varargs(frame, values, call);
        if !values.complete || parts.len() != values.known.len() + 1 {
            return None;
        }
        let mut pieces = Vec::with_capacity(2 * parts.len());
        let mut values = values.known.into_iter();
        for part in parts {
            let text = self.text(at, part?, Name::from("Ljava/lang/String;"), init);
            // Escapes are resolved at run time, after the compiler.
            let text = self.terms.as_text(text).map(text_ops::unescaped)?;
            pieces.push(self.terms.text(&text));
            pieces.extend(values.next().map(|v| v.text));
        }
        Some(self.terms.cat(pieces))
    }

    /// `valueOf`, `toString` and their kin.
    fn image_text(
        &mut self,
        frame: FrameId,
        call: ValueId,
        method: MethodRef,
        args: &[ValueId],
        shown: Name,
    ) -> Term {
        let string = Name::from("Ljava/lang/String;");
        let first = *args.first().unwrap_or(&call);
        if args.len() > 1 && !shown.starts_with('[') {
            // A second argument is a radix.
            if let Some(text) = self.in_radix(frame, first, args[1]) {
                return self.terms.text(&text);
            }
            return self.leaf_like(frame, call, string, Pattern::Text);
        }
        if shown.starts_with('[') {
            let text = self.characters(frame, first);
            return text.unwrap_or_else(|| self.leaf_like(frame, call, string, Pattern::Text));
        }
        if method.descriptor.starts_with("(Ljava/lang/String;)") && method.class != "java/lang/String" {
            // `Integer.valueOf(text)`: a number again.
            let pattern = match apis::kind(method.class) {
                Some(apis::Kind::Looks(look)) => look.pattern(),
                _ => Pattern::Text,
            };
            return self.leaf_like(frame, call, shown, pattern);
        }
        self.text(frame, first, shown, call)
    }

    /// A constant number to a constant base.
    fn in_radix(&mut self, frame: FrameId, number: ValueId, radix: ValueId) -> Option<String> {
        let radix = u32::try_from(self.int_of(frame, radix)?).ok().filter(|r| (2..=36).contains(r))?;
        let number = match self.constant_of(frame, number)? {
            Const::Int(n) => i64::from(n),
            Const::Long(n) => n,
            _ => return None,
        };
        let mut left = number.unsigned_abs();
        let mut digits = Vec::new();
        loop {
            digits.push(char::from_digit((left % u64::from(radix)) as u32, radix)?);
            left /= u64::from(radix);
            if left == 0 {
                break;
            }
        }
        digits.extend((number < 0).then_some('-'));
        Some(digits.into_iter().rev().collect())
    }

    /// `Objects.toString(value, other)`
    fn image_or_text(
        &mut self,
        frame: FrameId,
        call: ValueId,
        args: &[ValueId],
        shown: Name,
    ) -> Option<Term> {
        let first = *args.first()?;
        let Some(&other) = args.get(1) else { return Some(self.text(frame, first, shown, call)) };
        if let Op::Const(Const::Null) = self.op(frame, first) {
            return Some(self.text(frame, other, shown, call));
        }
        let image = self.non_null(frame, first, shown, call);
        let other = self.text(frame, other, shown, call);
        Some(self.terms.alt([image, other]))
    }

    /// A number printed by a format object: the number itself, for its identity.
    fn number_text(&mut self, frame: FrameId, call: ValueId, method: MethodRef, number: ValueId) -> Term {
        let integer = method.descriptor.starts_with("(J)");
        let pattern = if integer && self.has_plain_formats(frame) {
            Pattern::Integer
        } else {
            Pattern::Regex(apis::NUMBER)
        };
        let place = self.place(frame, number);
        let text = self.describe(frame, call);
        self.place_leaf(place, Name::from(if integer { "J" } else { "D" }), pattern, text)
    }

    /// Whether number formats of the frame's class and its inner classes are
    /// told not to group digits.
    fn has_plain_formats(&self, frame: FrameId) -> bool {
        let class = self.program().methods[self.method_of(frame).index()].class;
        let name = self.facts.class_name(class);
        let outer = name.split('$').next().unwrap_or(&name);
        let mut near = self.facts.supertypes(name).to_vec();
        near.extend(
            self.program()
                .classes
                .iter()
                .map(|c| c.name)
                .filter(|n| n.strip_prefix(outer).is_some_and(|r| r.starts_with('$'))),
        );
        near.iter().filter_map(|&n| self.program().class(n)).any(|c| {
            let methods = self.program().classes[c.index()].methods.clone();
            self.program().methods[methods].iter().filter_map(|m| m.body.as_ref()).any(|body| {
                body.iter().any(|(_, inst)| matches!(&inst.op, Op::Invoke { method, args, .. }
                    if method.name == apis::NUMBER_FORMAT_GROUPING && matches!(args.get(1).map(|&a| body.op(a)), Some(Op::Const(Const::Int(0))))))
            })
        })
    }

    fn radix_text(
        &mut self,
        frame: FrameId,
        call: ValueId,
        value: ValueId,
        descriptor: Name,
        model: Model,
    ) -> Term {
        if let Some(constant) = self.constant_of(frame, value) {
            let bits = match constant {
                Const::Int(i) => u64::from(i as u32),
                Const::Long(i) => i as u64,
                _ => 0,
            };
            let text = match model {
                Model::Hex => format!("{bits:x}"),
                Model::Octal => format!("{bits:o}"),
                _ => format!("{bits:b}"),
            };
            return self.terms.text(&text);
        }
        if let Some(choices) = self.radix_texts(frame, call, value, descriptor, model) {
            return self.terms.alt(choices);
        }
        let pattern = match model {
            Model::Hex => Pattern::Hex,
            Model::Octal => Pattern::Regex("[0-7]+"),
            _ => Pattern::Regex("[01]+"),
        };
        let place = self.place(frame, value);
        let text = self.describe(frame, call);
        self.place_leaf(place, descriptor, pattern, text)
    }

    /// Of each of the numbers that a value can be by itself: a constant that stands for
    /// none of the others is no value of theirs.
    fn radix_texts(
        &mut self,
        frame: FrameId,
        call: ValueId,
        value: ValueId,
        descriptor: Name,
        model: Model,
    ) -> Option<Vec<Term>> {
        let Op::Phi(operands) = self.op(frame, value) else { return None };
        // What goes round in a loop is one variable, as what is computed is.
        let is_phi = |&(_, v): &(_, ValueId)| matches!(self.op(frame, v), Op::Phi(_));
        if operands.iter().any(is_phi) || self.is_computed(frame, operands, "J") {
            return None;
        }
        let reach = self.reach(frame);
        let block = self.inst(frame, value).block;
        let mut choices = Vec::with_capacity(operands.len());
        for &(_, operand) in operands.iter().filter(|(from, _)| reach.edge(*from, block)) {
            choices.push(self.radix_text(frame, call, operand, descriptor, model));
        }
        (!choices.is_empty()).then_some(choices)
    }
}

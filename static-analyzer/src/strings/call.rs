//! What a call returns: library models, then the program's own methods.

use std::rc::Rc;

use super::apis::{self, Model};
use super::term::{Pattern, Term};
use super::{Arg, Evaluator, FrameId, Key, Place, text_ops, types};
use crate::ir::{Const, InvokeKind, Op, ValueId};
use crate::limits;
use crate::program::{ClassId, MethodId, MethodRef, Name};

/// A helper that returns a number or boolean is looked into only if small.
const NUMBER_HELPER_INSTS_MAX: usize = 40;

impl<'p> Evaluator<'p> {
    /// The program's methods that a call may run; empty if unknown or too many.
    pub(crate) fn targets(
        &mut self,
        frame: FrameId,
        kind: InvokeKind,
        method: MethodRef,
        args: &[ValueId],
    ) -> Vec<MethodId> {
        let MethodRef { class, name, descriptor } = method;
        if matches!(kind, InvokeKind::Static | InvokeKind::Special) || name == "<init>" {
            return self.facts.resolve(class, name, descriptor).into_iter().collect();
        }
        let Some(&receiver) = args.first() else { return Vec::new() };
        let (classes, closed) = self.classes_of(frame, receiver);
        if !closed {
            // Classes outside of the program may be called.
            return Vec::new();
        }
        let mut targets = Vec::new();
        for &id in &classes {
            match self.facts.resolve(self.facts.class_name(id), name, descriptor) {
                Some(target) if !targets.contains(&target) => targets.push(target),
                Some(_) => {}
                // Inherited from a class outside of the program.
                None => return Vec::new(),
            }
        }
        if targets.is_empty() {
            targets.extend(self.facts.resolve(class, name, descriptor));
        }
        if targets.len() > limits::TARGETS_MAX { Vec::new() } else { targets }
    }

    /// Allocated classes that a receiver can have, and whether it can have no
    /// others (its type is a class of the program).
    pub(crate) fn classes_of(&mut self, frame: FrameId, value: ValueId) -> (Vec<ClassId>, bool) {
        if let Op::Param(0) = self.op(frame, value)
            && let Some(classes) = &self.frame(frame).this_classes
        {
            return (classes.to_vec(), true);
        }
        let place = self.place(frame, value);
        if let Place::Value(f, v) = self.place_node(place) {
            match self.op(f, v) {
                Op::New(class) => {
                    let class = self.program().class(*class);
                    return (class.into_iter().collect(), class.is_some());
                }
                Op::Phi(_) => {
                    if let Some(classes) = self.made_classes(f, v) {
                        return (classes, true);
                    }
                }
                Op::Param(0) if (f, v) != (frame, value) => {
                    if let Some(classes) = &self.frame(f).this_classes {
                        return (classes.to_vec(), true);
                    }
                }
                _ => {}
            }
        }
        let used = self.descriptor_of(frame, value);
        let origin = self.place_descriptor(place);
        let narrow = self.narrower(used, origin);
        let Some(class) = types::class_of(&narrow).map(Name::from) else { return (Vec::new(), false) };
        (self.flowing(place, class), self.program().class(class).is_some())
    }

    /// The classes of the objects that a phi joins, if all are made here.
    fn made_classes(&self, frame: FrameId, phi: ValueId) -> Option<Vec<ClassId>> {
        let (mut classes, mut seen, mut todo) = (Vec::new(), vec![phi], vec![phi]);
        while let Some(value) = todo.pop() {
            match self.op(frame, value) {
                Op::Phi(operands) => {
                    for &(_, operand) in operands {
                        if !seen.contains(&operand) {
                            seen.push(operand);
                            todo.push(operand);
                        }
                    }
                }
                Op::Cast(_, inner) if !seen.contains(inner) => {
                    seen.push(*inner);
                    todo.push(*inner);
                }
                Op::Const(Const::Null) | Op::Cast(..) => {}
                Op::New(class) => classes.push(self.program().class(*class)?),
                _ => return None,
            }
        }
        classes.sort_unstable();
        classes.dedup();
        (!classes.is_empty()).then_some(classes)
    }

    /// Allocated classes at or below `class` that flow to a place.
    pub(crate) fn flowing(&mut self, place: super::PlaceId, class: Name) -> Vec<ClassId> {
        let all = self.facts.concrete(class);
        if all.len() <= 1 {
            return all.to_vec();
        }
        let flow = self.facts.flow();
        let held: Option<Vec<ClassId>> = match self.place_node(place) {
            Place::Field(_, field) | Place::Static(field) => flow.field(field).map(<[ClassId]>::to_vec),
            Place::Value(f, v) => match self.op(f, v) {
                Op::Param(i) => flow.param(self.method_of(f), *i).map(<[ClassId]>::to_vec),
                Op::Invoke { kind, method, args } => {
                    let targets = self.targets(f, *kind, *method, args);
                    let mut held = Vec::new();
                    let known = !targets.is_empty()
                        && targets.iter().all(|&t| flow.result(t).map(|c| held.extend(c)).is_some());
                    known.then_some(held)
                }
                _ => None,
            },
            _ => None,
        };
        match held {
            Some(held) if all.iter().any(|c| held.contains(c)) => {
                all.iter().copied().filter(|c| held.contains(c)).collect()
            }
            _ => all.to_vec(),
        }
    }

    /// Declared type of what is at a place.
    pub(crate) fn place_descriptor(&self, place: super::PlaceId) -> Name {
        match self.place_node(place) {
            Place::Value(f, v) => self.descriptor_of(f, v),
            Place::Field(_, field) | Place::Static(field) => field.descriptor,
            Place::Call(_, method) => Name::from(types::result(&method.descriptor)),
            Place::Element(array) => {
                let array = self.place_descriptor(array);
                array.strip_prefix('[').map_or_else(|| Name::from("Ljava/lang/Object;"), Name::from)
            }
        }
    }

    /// The more special of two types of one value.
    pub(crate) fn narrower(&self, a: Name, b: Name) -> Name {
        match (types::class_of(&a), types::class_of(&b)) {
            (Some(x), Some(y)) if x != y && self.facts.is_subtype(Name::from(y), Name::from(x)) => b,
            _ => a,
        }
    }

    /// What the result of a call prints.
    pub(crate) fn call_text(
        &mut self,
        frame: FrameId,
        call: ValueId,
        kind: InvokeKind,
        method: MethodRef,
        args: &'p [ValueId],
        descriptor: Name,
    ) -> Term {
        let result = Name::from(types::result(&method.descriptor));
        if let Some(term) = self.library_text(frame, call, method, args) {
            return term;
        }
        let place = self.place(frame, call);
        if let Place::Value(f, v) = self.place_node(place)
            && (f, v) != (frame, call)
        {
            return self.text(f, v, result, v);
        }
        let shown = if types::is_primitive(&result) { result } else { self.narrower(descriptor, result) };
        let is_text = is_text_type(&result);
        if !is_text && !types::is_primitive(&result) {
            return self.object(frame, call, shown);
        }
        if types::is_primitive(&result)
            && method.class.starts_with("java/lang/")
            && let Some(constant) = self.constant_of(frame, call)
        {
            return self.constant_text(constant, result);
        }
        let frames = self.frames_of(frame, call, kind, method, args);
        if let Some(term) = self.returned_text(frame, call, &frames, &result) {
            return term;
        }
        self.object(frame, call, shown)
    }

    /// What the targets of a call return, if that says more than the call's own
    /// name.
    fn returned_text(
        &mut self,
        frame: FrameId,
        call: ValueId,
        frames: &[FrameId],
        result: &str,
    ) -> Option<Term> {
        let number = types::is_primitive(result);
        let mut choices = Vec::with_capacity(frames.len());
        for &inner in frames {
            if number && self.body(inner).insts.len() > NUMBER_HELPER_INSTS_MAX {
                return None;
            }
            choices.push(self.returned(inner, Name::from(result)));
        }
        if choices.is_empty() {
            return None;
        }
        let term = self.terms.alt(choices);
        // Methods that only throw: what is done with the result never happens.
        if frames.iter().all(|&inner| self.facts.info(self.method_of(inner)).returns.is_empty()) {
            return Some(term);
        }
        if number {
            let known =
                self.terms.is_open(term) || self.terms.finite(term, limits::ALTERNATIVES_MAX).is_some();
            return known.then_some(term);
        }
        if self.terms.size(term) > limits::INLINED_TERM_NODES_MAX || self.terms.is_never(term) {
            return None;
        }
        let value = self.leaf(frame, call, Name::from(result));
        let term = self.terms.with_any_text_as(value, term);
        if self.terms.is_informative(term) {
            return Some(term);
        }
        // Some texts are known, others are not: these are what the call names.
        let super::term::Node::Alt(xs) = self.terms.node(term).clone() else { return None };
        let told = |e: &Self, x: Term| {
            matches!(e.terms.node(x), super::term::Node::Cat(_) | super::term::Node::Open(_))
                && e.terms.is_informative(x)
        };
        if !xs.iter().any(|&x| told(self, x)) {
            return None;
        }
        let mut kept: Vec<Term> = xs
            .iter()
            .copied()
            .filter(|&x| self.terms.is_informative(x) || self.terms.as_text(x).is_some())
            .collect();
        kept.push(value);
        Some(self.terms.alt(kept))
    }

    /// Frames of all methods that a call may run; empty if one is unknown.
    fn frames_of(
        &mut self,
        frame: FrameId,
        call: ValueId,
        kind: InvokeKind,
        method: MethodRef,
        args: &[ValueId],
    ) -> Vec<FrameId> {
        if let Some(inner) = self.lambda_frame(frame, call, method, args) {
            return vec![inner];
        }
        let mut frames = Vec::new();
        let targets = self.targets(frame, kind, method, args);
        let several = targets.len() > 1;
        for target in targets {
            let entered = match self.running(frame, target, method, args).filter(|_| several) {
                Some(classes) => {
                    let given = args.iter().map(|&v| Arg::At(frame, v)).collect();
                    self.make_frame(frame, Some((frame, call)), target, given, Some(classes))
                }
                None => self.enter(frame, call, target, args),
            };
            match entered {
                Some(inner) => frames.push(inner),
                None => return Vec::new(),
            }
        }
        frames
    }

    /// The classes of the receiver for which a call runs `target`.
    fn running(
        &mut self,
        frame: FrameId,
        target: MethodId,
        method: MethodRef,
        args: &[ValueId],
    ) -> Option<Rc<[ClassId]>> {
        let (classes, closed) = self.classes_of(frame, *args.first()?);
        let runs = |&c: &ClassId| {
            self.facts.resolve(self.facts.class_name(c), method.name, method.descriptor) == Some(target)
        };
        let classes: Vec<ClassId> = classes.into_iter().filter(runs).collect();
        (closed && !classes.is_empty()).then(|| classes.into())
    }

    /// What a frame returns.
    pub(crate) fn returned(&mut self, frame: FrameId, result: Name) -> Term {
        self.solved(Key::Returned(frame), |e| {
            let returns = &e.facts.info(e.method_of(frame)).returns;
            let reach = e.reach(frame);
            let mut choices = Vec::with_capacity(returns.len());
            for &(at, value) in returns {
                if !reach.block(e.inst(frame, at).block) {
                    continue;
                }
                choices.push(e.text(frame, value, result, at));
            }
            e.terms.alt(choices)
        })
    }

    fn library_text(
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
            Model::Upper | Model::Lower => {
                let term = self.text(frame, first, shown, call);
                Some(text_ops::change_case(&mut self.terms, term, model == Model::Upper))
            }
            Model::Trim => {
                let term = self.text(frame, first, shown, call);
                Some(text_ops::trim(&mut self.terms, term))
            }
            Model::Substring => self.substring_call(frame, call, first, &args[1..], shown),
            Model::Replace => self.replace_call(frame, call, args, parameters, false),
            Model::ReplaceRegex => self.replace_call(frame, call, args, parameters, true),
            Model::CharAt | Model::Repeat => {
                let count =
                    usize::try_from(self.int_of(frame, *args.get(1)?)?).ok().filter(|&n| n <= 1024)?;
                let term = self.text(frame, first, shown, call);
                self.terms.map(term, |text| match model {
                    Model::Repeat => Some(text.repeat(count)),
                    _ => text_ops::utf16_slice(text, count, count + 1),
                })
            }
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
            Model::Second => Some(self.text(frame, *args.get(1)?, Name::from("Ljava/lang/String;"), call)),
            Model::FormatOf => self.format_call(frame, call, args.get(1..)?, parameters, false),
            Model::Interpolate => self.interpolated(frame, call, args),
            Model::StripMargin | Model::StripMarginOf => {
                let place = usize::from(model == Model::StripMarginOf);
                let term = self.text(frame, *args.get(place)?, Name::from("Ljava/lang/String;"), call);
                self.terms.map(term, |text| Some(text_ops::strip_margin(text)))
            }
            Model::Property => {
                let Op::Const(Const::Text(key)) = self.op(frame, first) else { return None };
                (key == "line.separator").then(|| self.terms.text("\n"))
            }
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
        let pattern = match model {
            Model::Hex => Pattern::Hex,
            Model::Octal => Pattern::Regex("[0-7]+"),
            _ => Pattern::Regex("[01]+"),
        };
        let place = self.place(frame, value);
        let text = self.describe(frame, call);
        self.place_leaf(place, descriptor, pattern, text)
    }
}

/// Whether texts are passed around as this type.
pub(crate) fn is_text_type(descriptor: &str) -> bool {
    matches!(
        descriptor,
        "Ljava/lang/String;"
            | "Ljava/lang/CharSequence;"
            | "Ljava/lang/Object;"
            | "Ljava/lang/Comparable;"
            | "Ljava/io/Serializable;"
            | "Ljava/lang/StringBuilder;"
            | "Ljava/lang/StringBuffer;"
    )
}

//! What a value prints, by the instruction that defines it.

use super::term::{Leaf, Node, Pattern, Term};
use super::{Arg, Evaluator, FrameId, Key, Place, PlaceId, apis, text_ops, types};
use crate::ir::{Arithmetic, BootstrapArg, Const, Op, ValueId};
use crate::program::{FieldRef, Name, access};

impl<'p> Evaluator<'p> {
    /// What `value` prints when it is used as `descriptor` by instruction `at`
    /// (which matters for builders only: what they hold then).
    pub(crate) fn text(&mut self, frame: FrameId, value: ValueId, descriptor: Name, at: ValueId) -> Term {
        if let Op::Const(constant) = self.op(frame, value) {
            return self.constant_text(*constant, descriptor);
        }
        let builder = self.is_builder(frame, value);
        let key = Key::Text(frame, value, descriptor, builder.then_some(at));
        self.solved(key, |e| {
            if builder {
                return e.content_at(frame, value, at);
            }
            let term = e.find_text(frame, value, descriptor, at);
            e.composed(frame, value, term)
        })
    }

    /// Text of the value at `place`, where only the place is known.
    pub(crate) fn place_text(&mut self, frame: FrameId, place: PlaceId, descriptor: Name) -> Term {
        match self.place_node(place) {
            Place::Value(f, v) => self.text(f, v, descriptor, v),
            Place::Field(object, field) => {
                let term = self.written_text(frame, Some(object), field, descriptor);
                term.unwrap_or_else(|| self.object_at(frame, place, field.descriptor, None))
            }
            Place::Static(field) => {
                let term = self.written_text(frame, None, field, descriptor);
                term.unwrap_or_else(|| self.object_at(frame, place, field.descriptor, None))
            }
            Place::Call(_, method) => {
                let result = Name::from(types::result(&method.descriptor));
                self.object_at(frame, place, result, None)
            }
            Place::Element(_) => self.object_at(frame, place, descriptor, None),
        }
    }

    /// What a constant prints.
    pub(crate) fn constant_text(&mut self, constant: Const, descriptor: Name) -> Term {
        let text = match constant {
            Const::Null => "null".to_string(),
            Const::Int(i) => match descriptor.as_str() {
                "Z" => (i != 0).to_string(),
                "C" => char::from_u32(i as u32).unwrap_or(char::REPLACEMENT_CHARACTER).to_string(),
                _ => i.to_string(),
            },
            Const::Long(i) => i.to_string(),
            Const::Float(x) => text_ops::java_float(x),
            Const::Double(x) => text_ops::java_double(x),
            Const::Text(text) => return self.terms.text(&text),
            Const::Class(class) => {
                let class = class.as_str();
                let interface = self
                    .program()
                    .class(class.into())
                    .is_some_and(|c| self.program().classes[c.index()].access & access::INTERFACE != 0);
                format!("{} {}", if interface { "interface" } else { "class" }, types::binary_name(class))
            }
            Const::Other => return self.terms.top(),
        };
        self.terms.text(&text)
    }

    fn find_text(&mut self, frame: FrameId, value: ValueId, descriptor: Name, at: ValueId) -> Term {
        let primitive = types::is_primitive(&descriptor);
        match self.op(frame, value) {
            Op::Phi(operands) => self.phi_text(frame, value, operands, descriptor, at),
            Op::Param(i) => self.parameter_text(frame, value, *i, descriptor),
            Op::Cast(class, inner) => {
                let narrowed = if primitive { descriptor } else { types::descriptor_of(class) };
                self.text(frame, *inner, narrowed, at)
            }
            Op::Invoke { kind, method, args } => {
                self.call_text(frame, value, *kind, *method, args, descriptor)
            }
            Op::InvokeDynamic { bootstrap, descriptor: shape, args, .. } => {
                if bootstrap.method.class == "java/lang/invoke/StringConcatFactory" {
                    self.concat_text(frame, value, &bootstrap.args, *shape, args)
                } else if bootstrap.method.class == "java/lang/runtime/ObjectMethods"
                    && let Some(term) = self.record_text(frame, &bootstrap.args, args)
                {
                    term
                } else {
                    self.object(frame, value, descriptor)
                }
            }
            Op::GetField(field, object) => self.field_text(frame, value, *field, *object, descriptor),
            Op::ArrayLoad(array, index) => {
                if let Some(stored) = self.forwarded(frame, value) {
                    return self.text(frame, stored, descriptor, value);
                }
                let term = self.element_text(frame, *array, *index, descriptor);
                term.unwrap_or_else(|| self.object(frame, value, descriptor))
            }
            Op::Convert(..) | Op::Binary(..) | Op::Negate(_) | Op::ArrayLength(_) => {
                match self.constant_of(frame, value) {
                    Some(constant) => self.constant_text(constant, descriptor),
                    None => self.leaf(frame, value, descriptor),
                }
            }
            Op::Caught(_) => {
                let thrown = self.thrown_text(frame, value);
                thrown.unwrap_or_else(|| self.caught_text(frame, value, descriptor))
            }
            Op::New(class) if let Some(filling) = apis::filling(*class) => {
                let filled = self.filled_text(frame, value, filling);
                filled.unwrap_or_else(|| self.object(frame, value, descriptor))
            }
            Op::New(class) if apis::is_text_holder(*class) => {
                let copied = self.copied_text(frame, value);
                copied.unwrap_or_else(|| self.object(frame, value, descriptor))
            }
            _ => self.object(frame, value, descriptor),
        }
    }

    /// What a field prints where it is read.
    fn field_text(
        &mut self,
        frame: FrameId,
        value: ValueId,
        field: FieldRef,
        object: Option<ValueId>,
        descriptor: Name,
    ) -> Term {
        let primitive = types::is_primitive(&descriptor);
        let object = object.map(|o| self.place(frame, o));
        if let Some(stored) = self.forwarded(frame, value) {
            let used = if primitive { descriptor } else { field.descriptor };
            let own = self.text(frame, stored, used, value);
            return self.or_written_elsewhere(frame, object, field, used, own);
        }
        let place = self.place(frame, value);
        if let Place::Value(f, v) = self.place_node(place)
            && (f, v) != (frame, value)
        {
            return self.text(f, v, descriptor, v);
        }
        let used = if primitive { descriptor } else { field.descriptor };
        // A text that was put together has no place of its own.
        if let (Place::Call(..) | Place::Field(..), Some(object)) = (self.place_node(place), object)
            && let Place::Value(f, v) = self.place_node(object)
            && matches!(self.op(f, v), Op::New(_))
            && let Some((f, v)) = self.stored_by_constructor(f, v, field)
        {
            let is_named = self.place_unless_unnamed(f, v).is_some();
            let own = self.text(f, v, used, v);
            if is_named || !matches!(self.terms.node(own), Node::Leaf(_)) {
                return own;
            }
        }
        let term = self.written_text(frame, object, field, used);
        term.unwrap_or_else(|| self.object(frame, value, descriptor))
    }

    /// `new String(text)`
    fn copied_text(&mut self, frame: FrameId, value: ValueId) -> Option<Term> {
        let init = *self.facts.info(self.method_of(frame)).init.get(&value)?;
        let Op::Invoke { method, args, .. } = self.op(frame, init) else { return None };
        let parameters: Vec<Name> =
            types::parameters(&method.descriptor).into_iter().map(Name::from).collect();
        match (parameters.first(), args.get(1)) {
            (None, _) => Some(self.terms.empty()),
            (Some(p), Some(&given)) if parameters.len() == 1 && p.starts_with('L') => {
                Some(self.text(frame, given, *p, init))
            }
            (Some(p), Some(&given)) if parameters.len() == 1 && p == "[C" => self.characters(frame, given),
            (Some(p), Some(&given)) if parameters.len() == 3 && p == "[C" => {
                let from = usize::try_from(self.int_of(frame, *args.get(2)?)?).ok()?;
                let count = usize::try_from(self.int_of(frame, *args.get(3)?)?).ok()?;
                let text = self.characters(frame, given)?;
                text_ops::substring(&mut self.terms, text, from, Some(from + count))
            }
            _ => None,
        }
    }

    fn phi_text(
        &mut self,
        frame: FrameId,
        value: ValueId,
        operands: &'p [(crate::ir::BlockId, ValueId)],
        descriptor: Name,
        at: ValueId,
    ) -> Term {
        let place = self.place(frame, value);
        if let Place::Value(f, v) = self.place_node(place)
            && (f, v) == (frame, value)
            && self.is_computed(frame, operands, &descriptor)
        {
            return self.leaf(frame, value, descriptor);
        }
        let reach = self.reach(frame);
        let block = self.inst(frame, value).block;
        let mut choices = Vec::with_capacity(operands.len());
        for &(from, operand) in operands {
            if operand != value && reach.edge(from, block) {
                choices.push(self.text(frame, operand, descriptor, at));
            }
        }
        self.terms.alt(choices)
    }

    /// Whether one of the numbers that a phi joins is computed: then it is a
    /// counter or sum, and a single variable.
    pub(crate) fn is_computed(
        &self,
        frame: FrameId,
        operands: &[(crate::ir::BlockId, ValueId)],
        descriptor: &str,
    ) -> bool {
        matches!(descriptor, "I" | "J" | "S" | "B" | "F" | "D")
            && operands.iter().any(|&(_, v)| matches!(self.op(frame, v), Op::Binary(..)))
    }

    fn parameter_text(&mut self, frame: FrameId, value: ValueId, i: u16, descriptor: Name) -> Term {
        if frame == FrameId::ROOT {
            let known = self.captured_text(i, descriptor);
            let known = known.or_else(|| self.given_text(frame, i, descriptor));
            return known.unwrap_or_else(|| self.object(frame, value, descriptor));
        }
        let index = usize::from(i);
        let mut given = vec![self.frame(frame).args.get(index).copied().unwrap_or(Arg::Unknown)];
        for more in &self.frame(frame).extra {
            let arg = more.get(index).copied().unwrap_or(Arg::Unknown);
            if !given.contains(&arg) {
                given.push(arg);
            }
        }
        let mut choices = Vec::with_capacity(given.len());
        for arg in given {
            choices.push(self.argument_text(frame, value, i, arg, descriptor));
        }
        self.terms.alt(choices)
    }

    fn argument_text(&mut self, frame: FrameId, value: ValueId, i: u16, arg: Arg, descriptor: Name) -> Term {
        let declared = self.descriptor_of(frame, value);
        // The declared type says how bits are meant: a boolean given as 0 or 1.
        let used = if types::is_primitive(&declared) && types::is_primitive(&descriptor) {
            declared
        } else {
            descriptor
        };
        match arg {
            Arg::At(f, v) => {
                let at = self.frame(frame).caller.filter(|c| c.0 == f).map_or(v, |c| c.1);
                self.text(f, v, used, at)
            }
            Arg::Place(place) => {
                if let Place::Value(f, v) = self.place_node(place)
                    && (f, v) == (frame, value)
                {
                    return self.object(frame, value, descriptor);
                }
                match self.frame(frame).this_classes.clone() {
                    Some(classes) if i == 0 => self.object_at(frame, place, declared, Some(&classes)),
                    _ => self.place_text(frame, place, used),
                }
            }
            Arg::Text(text) => text,
            Arg::Unknown => {
                let given = self.given_text(frame, i, descriptor);
                given.unwrap_or_else(|| self.object(frame, value, descriptor))
            }
        }
    }

    /// `makeConcat` and `makeConcatWithConstants`.
    fn concat_text(
        &mut self,
        frame: FrameId,
        at: ValueId,
        constants: &[BootstrapArg],
        shape: Name,
        args: &[ValueId],
    ) -> Term {
        let types: Vec<Name> = types::parameters(&shape).into_iter().map(Name::from).collect();
        let mut values = Vec::with_capacity(args.len());
        for (i, &arg) in args.iter().enumerate() {
            let descriptor = types.get(i).copied().unwrap_or_else(|| Name::from("Ljava/lang/Object;"));
            values.push(self.text(frame, arg, descriptor, at));
        }
        let Some(BootstrapArg::Const(Const::Text(recipe))) = constants.first() else {
            return self.terms.cat(values);
        };
        let (mut values, mut constants) = (values.into_iter(), constants[1..].iter());
        let mut parts = Vec::new();
        for piece in recipe.split_inclusive(['\u{1}', '\u{2}']) {
            let text = piece.trim_end_matches(['\u{1}', '\u{2}']);
            parts.push(self.terms.text(text));
            if piece.ends_with('\u{1}') {
                parts.extend(values.next());
            } else if piece.ends_with('\u{2}') {
                let term = match constants.next() {
                    Some(BootstrapArg::Const(c)) => self.constant_text(*c, Name::from("Ljava/lang/Object;")),
                    _ => self.terms.top(),
                };
                parts.push(term);
            }
        }
        self.terms.cat(parts)
    }

    /// The value as one variable, looking like its descriptor.
    pub(crate) fn leaf(&mut self, frame: FrameId, value: ValueId, descriptor: Name) -> Term {
        self.leaf_like(frame, value, descriptor, Self::pattern_of(descriptor))
    }

    /// The value as one variable that looks like `pattern`.
    pub(crate) fn leaf_like(
        &mut self,
        frame: FrameId,
        value: ValueId,
        descriptor: Name,
        pattern: Pattern,
    ) -> Term {
        let place = match self.masked(frame, value) {
            Some(whole) => self.place(frame, whole),
            None => self.place(frame, value),
        };
        let text = self.describe(frame, value);
        self.place_leaf(place, descriptor, pattern, text)
    }

    fn is_lower_mask(&mut self, frame: FrameId, value: ValueId) -> bool {
        let mask = match self.constant_of(frame, value) {
            Some(Const::Int(mask)) => i64::from(mask),
            Some(Const::Long(mask)) => mask,
            _ => return false,
        };
        mask > 0 && mask & mask.wrapping_add(1) == 0
    }

    /// The number of which `value` is the lower digits: what is counted within
    /// another number's upper ones is called as the whole is.
    fn masked(&mut self, frame: FrameId, value: ValueId) -> Option<ValueId> {
        match self.op(frame, value) {
            Op::Convert(to, inner) if matches!(to.as_str(), "J" | "I") => self.masked(frame, *inner),
            Op::Binary(Arithmetic::And, a, b) => {
                let (a, b) = (*a, *b);
                if self.is_lower_mask(frame, b) { Some(a) } else { self.is_lower_mask(frame, a).then_some(b) }
            }
            _ => None,
        }
    }

    /// The object at `place` as one variable.
    pub(crate) fn place_leaf(
        &mut self,
        place: PlaceId,
        descriptor: Name,
        pattern: Pattern,
        text: String,
    ) -> Term {
        let path = self.path(place);
        let class = path.as_ref().and_then(|p| self.value_class(p, descriptor));
        let path = path.or_else(|| self.origin_path(place));
        let text = match path {
            Some(_) => String::new(),
            None => self.origin_name(place).unwrap_or(text),
        };
        self.terms.leaf(Leaf { path, text, class, descriptor, pattern })
    }

    /// Declared type of a value, as its instruction says.
    pub(crate) fn descriptor_of(&self, frame: FrameId, value: ValueId) -> Name {
        self.find_descriptor(frame, value, 0)
    }

    fn find_descriptor(&self, frame: FrameId, value: ValueId, depth: u32) -> Name {
        let object = || Name::from("Ljava/lang/Object;");
        match self.op(frame, value) {
            Op::Param(i) => self.parameter_descriptor(frame, *i),
            Op::Const(Const::Text(_)) => Name::from("Ljava/lang/String;"),
            Op::Const(Const::Class(_)) => Name::from("Ljava/lang/Class;"),
            Op::Const(Const::Int(_)) | Op::ArrayLength(_) => Name::from("I"),
            Op::Const(Const::Long(_)) => Name::from("J"),
            Op::Const(Const::Float(_)) => Name::from("F"),
            Op::Const(Const::Double(_)) => Name::from("D"),
            Op::New(class) | Op::Cast(class, _) => types::descriptor_of(class),
            Op::NewArray(element, _) => Name::from(&format!("[{element}")),
            Op::Invoke { method, .. } => Name::from(types::result(&method.descriptor)),
            Op::InvokeDynamic { descriptor, .. } => Name::from(types::result(descriptor)),
            Op::GetField(field, _) => field.descriptor,
            Op::ArrayLoad(array, _) => {
                let array = self.find_descriptor(frame, *array, depth + 1);
                array.strip_prefix('[').map_or_else(object, Name::from)
            }
            Op::InstanceOf(..) => Name::from("Z"),
            Op::Convert(to, _) => *to,
            Op::Binary(_, a, _) | Op::Negate(a) if depth < 20 => self.find_descriptor(frame, *a, depth + 1),
            Op::Caught(classes) => match classes[..] {
                [class] => types::descriptor_of(&class),
                _ => Name::from("Ljava/lang/Throwable;"),
            },
            Op::Phi(operands) if depth < 6 => {
                let mut common: Option<Name> = None;
                for &(_, v) in operands {
                    if v == value || matches!(self.op(frame, v), Op::Const(Const::Null)) {
                        continue;
                    }
                    let descriptor = self.find_descriptor(frame, v, depth + 1);
                    match common {
                        Some(known) if known != descriptor => return object(),
                        _ => common = Some(descriptor),
                    }
                }
                common.unwrap_or_else(object)
            }
            _ => object(),
        }
    }

    fn parameter_descriptor(&self, frame: FrameId, i: u16) -> Name {
        let method = &self.program().methods[self.method_of(frame).index()];
        let mut i = usize::from(i);
        if !method.is_static() {
            if i == 0 {
                return types::descriptor_of(&self.facts.class_name(method.class));
            }
            i -= 1;
        }
        types::parameters(&method.descriptor)
            .get(i)
            .map_or_else(|| Name::from("Ljava/lang/Object;"), |p| Name::from(p))
    }

    /// Whether the value is an object that collects text.
    pub(crate) fn is_builder(&self, frame: FrameId, value: ValueId) -> bool {
        let descriptor = self.descriptor_of(frame, value);
        types::class_of(&descriptor).is_some_and(|class| apis::is_builder(Name::from(class)))
    }
}

//! Arrays: elements stored in the frame that allocates them, or by a static
//! initializer.

use super::term::{Pattern, Term};
use super::{Arg, Evaluator, FrameId, apis, types};
use crate::ir::{Body, Const, InvokeKind, Op, ValueId};
use crate::limits;
use crate::program::{FieldRef, MethodId, Name, access};

impl<'p> Evaluator<'p> {
    /// The allocation of an array, if there is only one it can come from.
    pub(crate) fn array_origin(&mut self, frame: FrameId, value: ValueId) -> Option<(FrameId, ValueId)> {
        match self.op(frame, value) {
            Op::NewArray(..) => Some((frame, value)),
            Op::Cast(_, inner) => self.array_origin(frame, *inner),
            Op::Param(i) if frame != FrameId::ROOT => {
                match self.frame(frame).args.get(usize::from(*i)).copied()? {
                    Arg::At(f, v) => self.array_origin(f, v),
                    _ => None,
                }
            }
            Op::GetField(field, _) if self.facts.is_refilled(*field) => None,
            Op::GetField(field, None) => self.initial_array(frame, *field),
            Op::GetField(field, Some(_)) => {
                let place = self.place(frame, value);
                match self.place_node(place) {
                    super::Place::Value(f, v) if (f, v) != (frame, value) => self.array_origin(f, v),
                    _ => self.initial_array(frame, *field),
                }
            }
            Op::Invoke { method, args, .. } if wraps_array(&method.class, &method.name) => {
                self.array_origin(frame, *args.last()?)
            }
            Op::Invoke { kind, method, args } if method.descriptor.contains(")[") => {
                // Made by a helper for this call.
                let [target] = self.targets(frame, *kind, *method, args)[..] else { return None };
                let [(_, made)] = self.facts.info(target).returns[..] else { return None };
                let inner = self.enter(frame, value, target, args)?;
                self.array_origin(inner, made)
            }
            Op::ArrayLoad(rows, index) => {
                let (f, elements) = self.elements(frame, *rows)?;
                let index = usize::try_from(self.int_of(frame, *index)?).ok()?;
                let row = (*elements.get(index)?)?;
                self.array_origin(f, row)
            }
            _ => None,
        }
    }

    /// The array that the only write of a field stores, in an initializer.
    fn initial_array(&mut self, frame: FrameId, field: FieldRef) -> Option<(FrameId, ValueId)> {
        let [(method, put)] = *self.facts.writes(field) else { return None };
        let declared = self.facts.field(field)?.access;
        let is_open = declared & access::FINAL == 0 && declared & (access::PUBLIC | access::PROTECTED) != 0;
        let is_static = declared & access::STATIC != 0;
        if !self.facts.is_effectively_final(field) || is_open && !is_static {
            return None;
        }
        let owner = &self.program().methods[method.index()];
        let count = types::parameters(&owner.descriptor).len() + usize::from(!owner.is_static());
        let inner = self.make_frame(frame, None, method, vec![Arg::Unknown; count], None)?;
        let Op::PutField(_, _, stored) = self.op(inner, put) else { return None };
        self.array_origin(inner, *stored)
    }

    /// Whether nothing stores into an array but the stores that name it: no
    /// other name of it, no call it is given to.
    fn is_stable(&self, method: MethodId, array: ValueId, depth: u32) -> bool {
        let info = self.facts.info(method);
        let Some(body) = &self.program().methods[method.index()].body else { return false };
        let (mut seen, mut todo) = (vec![array], vec![array]);
        while let Some(value) = todo.pop() {
            if (value != array || depth > 0) && info.stores.contains_key(&value) {
                return false;
            }
            for &phi in info.joined.get(&value).into_iter().flatten() {
                if !seen.contains(&phi) {
                    seen.push(phi);
                    todo.push(phi);
                }
            }
            let given = info.given.get(&value).into_iter().flatten();
            if given.into_iter().any(|&call| self.may_fill(body, call, value, depth)) {
                return false;
            }
        }
        true
    }

    fn may_fill(&self, body: &Body, call: ValueId, array: ValueId, depth: u32) -> bool {
        let Op::Invoke { kind, method, args } = body.op(call) else { return false };
        let at = args.iter().enumerate().filter(|&(_, &v)| body.uncast(v) == array);
        let positions: Vec<usize> = at.map(|(i, _)| i).collect();
        if self.program().class(method.class).is_none() {
            return positions.iter().any(|&i| apis::fills_array(method, i));
        }
        let mut targets: Vec<MethodId> =
            self.facts.resolve(method.class, method.name, method.descriptor).into_iter().collect();
        if matches!(kind, InvokeKind::Virtual | InvokeKind::Interface) {
            let below = self.facts.concrete(method.class).iter();
            targets.extend(below.filter_map(|&c| {
                self.facts.resolve(self.facts.class_name(c), method.name, method.descriptor)
            }));
            targets.sort_unstable();
            targets.dedup();
        }
        if depth >= limits::FILLERS_DEPTH_MAX || targets.len() > limits::TARGETS_MAX {
            return true;
        }
        targets.iter().any(|&target| {
            let params = &self.facts.info(target).params;
            let inside = positions.iter().filter_map(|&i| params.get(&(i as u16)));
            inside.into_iter().any(|&param| !self.is_stable(target, param, depth + 1))
        })
    }

    /// Values stored per index, if all indexes and the length are constants and
    /// every element is stored at most once.
    pub(crate) fn elements(
        &mut self,
        frame: FrameId,
        array: ValueId,
    ) -> Option<(FrameId, Vec<Option<ValueId>>)> {
        let (frame, array) = self.array_origin(frame, array)?;
        let Op::NewArray(_, length) = self.op(frame, array) else { return None };
        if !self.is_stable(self.method_of(frame), array, 0) {
            return None;
        }
        let length = usize::try_from(self.int_of(frame, *length)?).ok().filter(|&n| n <= 1024)?;
        let mut elements = vec![None; length];
        let stores = self.facts.info(self.method_of(frame)).stores.get(&array);
        for &store in stores.into_iter().flatten() {
            let Op::ArrayStore(_, index, value) = self.op(frame, store) else { continue };
            let index = usize::try_from(self.int_of(frame, *index)?).ok()?;
            let slot = elements.get_mut(index)?;
            if slot.is_some() {
                return None;
            }
            *slot = Some(*value);
        }
        Some((frame, elements))
    }

    /// What element `index` of an array prints.
    pub(crate) fn element_text(
        &mut self,
        frame: FrameId,
        array: ValueId,
        index: ValueId,
        descriptor: Name,
    ) -> Option<Term> {
        if let Some(part) = self.split_element(frame, array, index) {
            return Some(part);
        }
        self.indexed_text(frame, array, (frame, index), descriptor)
    }

    fn indexed_text(
        &mut self,
        frame: FrameId,
        array: ValueId,
        (at, index): (FrameId, ValueId),
        descriptor: Name,
    ) -> Option<Term> {
        if let Op::ArrayLoad(rows, row) = self.op(frame, array)
            && self.int_of(frame, *row).is_none()
        {
            let (f, rows) = self.elements(frame, *rows)?;
            let mut choices = Vec::with_capacity(rows.len());
            for row in rows {
                choices.push(self.indexed_text(f, row?, (at, index), descriptor)?);
            }
            return Some(self.terms.alt(choices));
        }
        let (origin, allocation) = self.array_origin(frame, array)?;
        let Op::NewArray(element, _) = self.op(origin, allocation) else { return None };
        let used = if types::is_primitive(element) { *element } else { descriptor };
        if let Some((f, elements)) = self.elements(frame, array) {
            if let Some(i) = self.int_of(at, index) {
                let slot = *elements.get(usize::try_from(i).ok()?)?;
                return Some(self.slot_text(f, slot, used));
            }
            if elements.len() <= limits::ALTERNATIVES_MAX {
                let choices: Vec<Term> = elements.iter().map(|&slot| self.slot_text(f, slot, used)).collect();
                return Some(self.terms.alt(choices));
            }
        }
        if !self.is_stable(self.method_of(origin), allocation, 0) {
            return None;
        }
        let stores = self.facts.info(self.method_of(origin)).stores.get(&allocation)?;
        if stores.len() > limits::ALTERNATIVES_MAX {
            return None;
        }
        let mut choices = Vec::new();
        for &store in stores {
            let Op::ArrayStore(_, _, value) = self.op(origin, store) else { continue };
            choices.push(self.text(origin, *value, used, store));
        }
        Some(self.terms.alt(choices))
    }

    fn slot_text(&mut self, frame: FrameId, slot: Option<ValueId>, descriptor: Name) -> Term {
        match slot {
            Some(value) => self.text(frame, value, descriptor, value),
            None if types::is_primitive(&descriptor) => self.constant_text(Const::Int(0), descriptor),
            None => self.terms.text("null"),
        }
    }

    /// A `char[]` as text.
    pub(crate) fn characters(&mut self, frame: FrameId, array: ValueId) -> Option<Term> {
        if let Op::Invoke { method, args, .. } = self.op(frame, array)
            && method.class == "java/lang/String"
            && method.name == "toCharArray"
        {
            let text = self.text(frame, args[0], Name::from("Ljava/lang/String;"), array);
            // Somebody may have stored into a copy that has another name.
            let info = self.facts.info(self.method_of(frame));
            let stored = info.stores.contains_key(&array) || info.kept.contains(&array);
            return (!stored).then_some(text);
        }
        let (f, elements) = self.elements(frame, array)?;
        let mut parts = Vec::new();
        for slot in elements {
            parts.push(self.slot_text(f, slot, Name::from("C")));
        }
        Some(self.terms.cat(parts))
    }

    /// `[a, b]`
    pub(crate) fn array_image(&mut self, frame: FrameId, call: ValueId, array: ValueId) -> Term {
        let descriptor = self.descriptor_of(frame, array);
        let component =
            descriptor.strip_prefix('[').map_or_else(|| Name::from("Ljava/lang/Object;"), Name::from);
        let (open, close) = (self.terms.text("["), self.terms.text("]"));
        if let Some((f, elements)) = self.elements(frame, array) {
            let separator = self.terms.text(", ");
            let inner = self.joined(f, &elements, separator, component);
            return self.terms.cat([open, inner, close]);
        }
        let place = self.place(frame, array);
        let text = self.describe(frame, call);
        let pattern = match component.as_str() {
            "I" | "J" | "S" | "B" => Pattern::Regex("(?:-?[0-9]+(?:, -?[0-9]+)*)?"),
            "Z" => Pattern::Regex("(?:(?:true|false)(?:, (?:true|false))*)?"),
            _ => Pattern::Text,
        };
        let inner = self.place_leaf(place, descriptor, pattern, text);
        let all = self.terms.cat([open, inner, close]);
        let null = self.terms.text("null");
        self.terms.alt([all, null])
    }

    fn joined(
        &mut self,
        frame: FrameId,
        elements: &[Option<ValueId>],
        separator: Term,
        component: Name,
    ) -> Term {
        let mut parts = Vec::new();
        for (i, &slot) in elements.iter().enumerate() {
            if i > 0 {
                parts.push(separator);
            }
            parts.push(self.slot_text(frame, slot, component));
        }
        self.terms.cat(parts)
    }

    /// `String.join(delimiter, elements)`
    pub(crate) fn join_call(
        &mut self,
        frame: FrameId,
        call: ValueId,
        args: &'p [ValueId],
        parameters: &[Name],
    ) -> Option<Term> {
        let [separator, values] = *args else { return None };
        let separator = self.text(frame, separator, *parameters.first()?, call);
        let object = Name::from("Ljava/lang/Object;");
        if let Some((f, elements)) = self.elements(frame, values) {
            return Some(self.joined(f, &elements, separator, object));
        }
        None
    }
}

/// Library calls that hand an array on as it is.
fn wraps_array(class: &str, name: &str) -> bool {
    matches!(
        (class, name),
        ("java/util/Arrays" | "java/util/List", "asList" | "of")
            | ("scala/Predef$" | "scala/runtime/ScalaRunTime$", "wrapRefArray" | "genericWrapArray")
    )
}

//! Places: the canonical name of a value, and the access path it is in the
//! log point's frame.
//!
//! Getters, accessors, conversions, casts, parameters of inlined calls and
//! fields that a constructor fills are looked through; where several targets of
//! a getter disagree, the getter itself is the step.

use super::{Arg, Evaluator, FrameId, Place, PlaceId, apis, types};
use crate::call_graph;
use crate::identifiers::{in_loop, is_slot};
use crate::ir::{Const, InvokeKind, Op, ValueId};
use crate::limits;
use crate::path::{AccessPath, Root, Step};
use crate::program::{FieldRef, MethodId, MethodRef, Name, access};

/// Bodies of getters and conversions are small.
const GETTER_INSTS_MAX: usize = 120;

impl<'p> Evaluator<'p> {
    /// The place of a value.
    pub(crate) fn place(&mut self, frame: FrameId, value: ValueId) -> PlaceId {
        if let Some(&place) = self.place_memo.get(&(frame, value)) {
            return place;
        }
        let itself = self.intern_place(Place::Value(frame, value));
        if self.depth >= limits::EVALUATION_DEPTH_MAX || self.steps >= limits::EVALUATION_STEPS_MAX {
            return itself;
        }
        self.steps += 1;
        self.depth += 1;
        // A cycle of phis ends at the value itself.
        self.place_memo.insert((frame, value), itself);
        let place = self.find_place(frame, value, itself);
        self.depth -= 1;
        self.place_memo.insert((frame, value), place);
        if frame == FrameId::ROOT && matches!(self.place_node(place), Place::Value(f, _) if f != frame) {
            self.returned_objects.entry(place).or_insert(value);
        }
        place
    }

    fn find_place(&mut self, frame: FrameId, value: ValueId, itself: PlaceId) -> PlaceId {
        match self.op(frame, value) {
            Op::Param(i) if frame != FrameId::ROOT => {
                let index = usize::from(*i);
                let first = self.frame(frame).args.get(index).copied();
                let same = self.frame(frame).extra.iter().all(|more| more.get(index).copied() == first);
                match first {
                    // Recursive calls give other texts and numbers, never other objects.
                    _ if !same && is_text(&self.descriptor_of(frame, value)) => itself,
                    Some(Arg::At(f, v)) => self.place(f, v),
                    Some(Arg::Place(place)) => place,
                    Some(Arg::Text(_) | Arg::Unknown) | None => itself,
                }
            }
            Op::Cast(_, inner) => self.place(frame, *inner),
            Op::Convert(to, inner) if matches!(to.as_str(), "J" | "I") => self.place(frame, *inner),
            Op::GetField(field, Some(object)) => {
                let object = self.place(frame, *object);
                self.field_place(object, *field)
            }
            Op::GetField(field, None) => self.intern_place(Place::Static(*field)),
            // The element of this turn of the loop is a value of its own.
            Op::ArrayLoad(array, _) if frame == FrameId::ROOT && self.is_taken_slot(value, *array) => itself,
            Op::ArrayLoad(array, _) => {
                let array = self.place(frame, *array);
                self.intern_place(Place::Element(array))
            }
            Op::Phi(operands) => {
                let mut places = Vec::new();
                for &(_, v) in operands {
                    let place = self.place(frame, v);
                    if place != itself && !places.contains(&place) {
                        places.push(place);
                    }
                }
                if places.len() == 1 && !self.is_constant(places[0]) { places[0] } else { itself }
            }
            Op::Invoke { kind, method, args } => {
                self.call_place(frame, value, *kind, *method, args).unwrap_or(itself)
            }
            _ => itself,
        }
    }

    fn is_taken_slot(&self, load: ValueId, array: ValueId) -> bool {
        let body = self.body(FrameId::ROOT);
        is_slot(body, array) && in_loop(body, load)
    }

    fn is_constant(&self, place: PlaceId) -> bool {
        matches!(self.place_node(place), Place::Value(f, v) if matches!(self.op(f, v), Op::Const(_)))
    }

    /// Field of the object at `object`; what the constructor stored there, if
    /// the object is allocated in a frame we see.
    pub(crate) fn field_place(&mut self, object: PlaceId, field: FieldRef) -> PlaceId {
        if let Place::Value(f, v) = self.place_node(object)
            && matches!(self.op(f, v), Op::New(_))
            && let Some((f, v)) = self.stored_by_constructor(f, v, field)
            && let Some(place) = self.place_unless_unnamed(f, v)
        {
            return place;
        }
        self.intern_place(Place::Field(object, field))
    }

    /// The place of a value, unless the field that it is put into says more of it: it is the next
    /// of a stream, or a call below the root frame made it, which that has no name for.
    pub(crate) fn place_unless_unnamed(&mut self, frame: FrameId, value: ValueId) -> Option<PlaceId> {
        let place = self.place(frame, value);
        let Place::Value(f, v) = self.place_node(place) else { return Some(place) };
        let Op::Invoke { method, .. } = self.op(f, v) else { return Some(place) };
        let is_read = call_graph::apis::reads_stream(self.program(), *method);
        (!is_read && self.path(place).is_some()).then_some(place)
    }

    /// What the constructor of the object allocated at `object` stores into a
    /// field that nobody else writes.
    pub(crate) fn stored_by_constructor(
        &mut self,
        frame: FrameId,
        object: ValueId,
        field: FieldRef,
    ) -> Option<(FrameId, ValueId)> {
        if !self.facts.is_effectively_final(field) {
            return None;
        }
        let init = *self.facts.info(self.method_of(frame)).init.get(&object)?;
        self.stored_by(frame, init, field, 0)
    }

    fn stored_by(
        &mut self,
        frame: FrameId,
        init: ValueId,
        field: FieldRef,
        depth: u32,
    ) -> Option<(FrameId, ValueId)> {
        let Op::Invoke { method, args, .. } = self.op(frame, init) else { return None };
        let target = self.facts.resolve(method.class, method.name, method.descriptor)?;
        let inner = self.enter(frame, init, target, args)?;
        let body = self.body(inner);
        let info = self.facts.info(target);
        let this = info.params.get(&0).copied();
        let mut found = None;
        for &put in &info.puts {
            if let Op::PutField(f, Some(o), v) = body.op(put)
                && *f == field
                && Some(*o) == this
            {
                if found.is_some() {
                    return None;
                }
                found = Some((inner, *v));
            }
        }
        if found.is_some() || depth >= 4 {
            return found;
        }
        let above: Vec<ValueId> = body
            .iter()
            .filter(|(_, inst)| {
                matches!(&inst.op, Op::Invoke { kind: InvokeKind::Special, method, args }
                    if method.name == "<init>" && args.first().copied() == this && this.is_some())
            })
            .map(|(v, _)| v)
            .collect();
        above.into_iter().find_map(|call| self.stored_by(inner, call, field, depth + 1))
    }

    fn call_place(
        &mut self,
        frame: FrameId,
        value: ValueId,
        kind: InvokeKind,
        method: MethodRef,
        args: &'p [ValueId],
    ) -> Option<PlaceId> {
        if types::result(&method.descriptor) == "V" {
            return None;
        }
        if let Some(model) = apis::model(method.class, method.name)
            && apis::keeps_value(model)
            && let Some(&inner) = args.first()
            && !matches!(self.op(frame, inner), Op::Const(_))
        {
            return Some(self.place(frame, inner));
        }
        if let Some(place) = self.element_place(frame, method, args) {
            return Some(place);
        }
        let targets = self.targets(frame, kind, method, args);
        if let Some(place) = self.common_place(frame, value, &targets, args) {
            return Some(place);
        }
        let is_getter = args.len() == 1 && kind != InvokeKind::Static && !apis::is_changing(&method.name);
        let is_accessor = args.len() == 1 && kind == InvokeKind::Static && method.name.starts_with("access$");
        if !is_getter && !is_accessor {
            return None;
        }
        let named = self.facts.topmost(method.class, method.name, method.descriptor);
        let named = named.map_or(method, |id| self.method_ref(id));
        let receiver = self.place(frame, args[0]);
        if matches!(self.place_node(receiver), Place::Value(f, v) if matches!(self.op(f, v), Op::Const(_) | Op::New(_)))
        {
            return None;
        }
        Some(self.intern_place(Place::Call(receiver, named)))
    }

    fn method_ref(&self, id: MethodId) -> MethodRef {
        let method = &self.program().methods[id.index()];
        MethodRef {
            class: self.facts.class_name(method.class),
            name: method.name,
            descriptor: method.descriptor,
        }
    }

    /// Elements that library collections hand out, below the root frame; in the
    /// root frame the element of this turn of the loop is a value of its own.
    fn element_place(&mut self, frame: FrameId, method: MethodRef, args: &[ValueId]) -> Option<PlaceId> {
        if !method.class.starts_with("java/util/") {
            return None;
        }
        let collection = match method.name.as_str() {
            "get" if method.class.ends_with("List") && args.len() == 2 => args[0],
            "next" if frame != FrameId::ROOT => match self.op(frame, args[0]) {
                Op::Invoke { method, args, .. }
                    if matches!(method.name.as_str(), "iterator" | "listIterator") =>
                {
                    args[0]
                }
                _ => return None,
            },
            _ => return None,
        };
        let collection = self.place(frame, collection);
        Some(self.intern_place(Place::Element(collection)))
    }

    /// The one place that all targets of a call return, if it does not lie
    /// inside of them.
    fn common_place(
        &mut self,
        frame: FrameId,
        call: ValueId,
        targets: &[MethodId],
        args: &[ValueId],
    ) -> Option<PlaceId> {
        let mut common = None;
        for &target in targets {
            let body = self.program().methods[target.index()].body.as_ref()?;
            if body.insts.len() > GETTER_INSTS_MAX {
                return None;
            }
            let inner = self.enter(frame, call, target, args)?;
            let returns = &self.facts.info(target).returns;
            if returns.is_empty() || returns.len() > 4 {
                return None;
            }
            for &(_, value) in returns {
                if matches!(self.op(inner, value), Op::Const(Const::Null)) && returns.len() > 1 {
                    continue;
                }
                let place = self.place(inner, value);
                if self.is_inside(place, inner) || common.is_some_and(|c| c != place) {
                    return None;
                }
                common = Some(place);
            }
        }
        common
    }

    /// Whether a place has no better root than a value made in `frame` or below
    /// it. Objects allocated there are fine: their fields are known.
    fn is_inside(&self, mut place: PlaceId, frame: FrameId) -> bool {
        let mut steps = 0;
        loop {
            match self.place_node(place) {
                Place::Field(object, _) | Place::Element(object) | Place::Call(object, _) => place = object,
                Place::Static(_) => return false,
                Place::Value(f, v) => {
                    // Of objects of the program we know what the constructor stored.
                    let known =
                        matches!(self.op(f, v), Op::New(class) if self.program().class(*class).is_some());
                    return f >= frame && !(steps == 0 && known);
                }
            }
            steps += 1;
        }
    }

    /// The call of the root frame that gives back `value`, which a method below it makes.
    fn given_back(&self, mut frame: FrameId, mut value: ValueId) -> Option<ValueId> {
        while frame != FrameId::ROOT {
            let body = self.body(frame);
            let returns = &self.facts.info(self.method_of(frame)).returns;
            let is_all = !returns.is_empty() && returns.iter().all(|&(_, v)| body.uncast(v) == value);
            (frame, value) = self.frame(frame).caller.filter(|_| is_all)?;
        }
        Some(value)
    }

    /// The place as an access path of the root frame.
    pub(crate) fn path(&self, place: PlaceId) -> Option<AccessPath> {
        let mut steps = Vec::new();
        let mut place = place;
        let root = loop {
            match self.place_node(place) {
                Place::Static(field) => break Root::Static(field),
                Place::Value(FrameId::ROOT, value) => break self.root(value)?,
                Place::Value(frame, value) => {
                    let known = self.returned_objects.get(&place).copied();
                    break Root::Local(known.or_else(|| self.given_back(frame, value))?);
                }
                node => {
                    let (step, object) = node.last_step()?;
                    steps.push(step);
                    place = object;
                }
            }
        };
        // A long name leaves out the messages that objects keep themselves in.
        for at in (1..steps.len()).rev() {
            if steps.len() > limits::PATH_FIELDS_MAX && self.is_message(steps[at]) {
                steps.remove(at);
            }
        }
        if steps.len() > limits::PATH_FIELDS_MAX {
            return None;
        }
        steps.reverse();
        Some(AccessPath { root, steps })
    }

    /// Whether a field holds a generated message.
    fn is_message(&self, step: Step) -> bool {
        let Step::Field(field) = step else { return false };
        let class = types::class_of(&field.descriptor).and_then(|c| self.program().class(Name::from(c)));
        class.is_some_and(|class| {
            let above = self.program().classes[class.index()].super_name;
            above.is_some_and(|name| apis::MESSAGE_BASES.iter().any(|base| name.contains(base)))
        })
    }

    /// A name for a value that is made below the root frame: it was found by a
    /// key in a map that the root frame can name, or a static method made it of
    /// one value that the root frame can name. Such a name tells where the value
    /// comes from; two values of that name need not be equal.
    pub(crate) fn origin_path(&mut self, place: PlaceId) -> Option<AccessPath> {
        let mut steps = Vec::new();
        let (mut place, mut known) = (place, None);
        while steps.len() <= limits::PATH_FIELDS_MAX && known.is_none() {
            match self.place_node(place) {
                Place::Static(_) => return None,
                Place::Value(f, v) => {
                    let Op::Invoke { kind, method, args } = self.op(f, v) else { return None };
                    let &base = args.first()?;
                    if method.class.starts_with("java/util/") && is_map(method.class) && method.name == "get"
                    {
                        steps.push(Step::Element);
                    } else if *kind == InvokeKind::Static
                        && args.len() == 1
                        && !apis::is_changing(&method.name)
                    {
                        steps.push(Step::Call(*method));
                    } else {
                        return None;
                    }
                    place = self.place(f, base);
                    known = self.path(place);
                }
                node => {
                    let (step, object) = node.last_step()?;
                    steps.push(step);
                    place = object;
                }
            }
        }
        let AccessPath { root, steps: mut all } = known?;
        all.extend(steps.into_iter().rev());
        (all.len() <= limits::PATH_FIELDS_MAX).then_some(AccessPath { root, steps: all })
    }

    fn root(&self, value: ValueId) -> Option<Root> {
        match self.op(FrameId::ROOT, value) {
            Op::Param(i) => Some(Root::Param(*i)),
            Op::Const(_)
            | Op::Binary(..)
            | Op::Negate(_)
            | Op::ArrayLength(_)
            | Op::InstanceOf(..)
            | Op::Convert(..) => None,
            _ => Some(Root::Local(value)),
        }
    }

    /// Value class of a path, see [`crate::path::Variable::value_class`].
    pub(crate) fn value_class(&self, path: &AccessPath, descriptor: Name) -> Option<Name> {
        let class =
            |class: Name, member: Name| Some(Name::from(&format!("{}.{member}", types::simple_name(&class))));
        for step in path.steps.iter().rev() {
            match step {
                Step::Field(field) => return class(field.class, field.name),
                Step::Call(method) => return class(method.class, method.name),
                Step::Element => {}
            }
        }
        let weak = |name: &str| Some(Name::from(&format!("{name}:{descriptor}")));
        let comparable =
            types::is_primitive(&descriptor) || types::class_of(&descriptor).is_some_and(is_plain_text);
        match path.root {
            Root::Static(field) => class(field.class, field.name),
            Root::Param(i) if comparable => weak(self.parameter_name(i)?.as_str()),
            Root::Local(value) if comparable => match self.op(FrameId::ROOT, value) {
                Op::Invoke { method, .. } => match self.facts.kept_in(*method) {
                    Some(field) => class(field.class, field.name),
                    None => weak(&format!("{}()", method.name)),
                },
                _ => None,
            },
            Root::Param(_) | Root::Local(_) => None,
        }
    }

    fn parameter_name(&self, i: u16) -> Option<Name> {
        let method = &self.program().methods[self.method_of(FrameId::ROOT).index()];
        let shift = usize::from(method.access & access::STATIC == 0);
        *method.parameter_names.get(usize::from(i).checked_sub(shift)?)?
    }

    /// A short text for people of a value that has no path.
    pub(crate) fn describe(&self, frame: FrameId, value: ValueId) -> String {
        match self.op(frame, value) {
            Op::Invoke { method, .. } => format!("{}()", method.name),
            Op::GetField(field, _) => format!("{}.{}", types::simple_name(&field.class), field.name),
            Op::Binary(..) | Op::Negate(_) => "computed".to_string(),
            Op::ArrayLength(_) => "length".to_string(),
            Op::Caught(_) => "exception".to_string(),
            Op::New(class) => format!("new {}", types::simple_name(class)),
            _ => String::new(),
        }
    }
}

/// A class that finds values by keys.
fn is_map(class: Name) -> bool {
    class.ends_with("Map") || class.ends_with("Hashtable")
}

fn is_plain_text(class: &str) -> bool {
    matches!(
        class,
        "java/lang/String"
            | "java/lang/CharSequence"
            | "java/lang/Integer"
            | "java/lang/Long"
            | "java/lang/Short"
            | "java/lang/Object"
    ) || apis::VALUE_TYPES.contains(&class)
}

fn is_text(descriptor: &str) -> bool {
    types::is_primitive(descriptor) || matches!(descriptor, "Ljava/lang/String;" | "Ljava/lang/CharSequence;")
}

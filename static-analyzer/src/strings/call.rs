//! What a call returns: library models ([`super::library`]), then the program's
//! own methods.

use std::rc::Rc;

use super::term::Term;
use super::{Arg, Evaluator, FrameId, Key, Place, apis, types};
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

    /// Classes at or below `class` that flow to a place, and that the programs which
    /// run the log point make objects of.
    pub(crate) fn flowing(&mut self, place: super::PlaceId, class: Name) -> Vec<ClassId> {
        let flowing = self.flowing_anywhere(place, class);
        self.facts.met_in(self.method_of(FrameId::ROOT), flowing)
    }

    fn flowing_anywhere(&mut self, place: super::PlaceId, class: Name) -> Vec<ClassId> {
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
        if let Some(term) = self.given_closure_text(frame, args) {
            return term;
        }
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
    ) || types::class_of(descriptor).is_some_and(apis::is_message_type)
}

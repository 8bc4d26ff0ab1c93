//! Texts of fields through the writes of the whole program.
//!
//! Fields of objects that code outside of the program may set (public or
//! protected, not final) stay variables; static ones hold what the program
//! writes.

use super::term::{Node, Pattern, Term};
use super::{Arg, Evaluator, FrameId, Key, Place, PlaceId, types};
use crate::ir::{Const, Op, ValueId};
use crate::limits;
use crate::program::{FieldRef, Method, MethodId, Name, access};

impl Evaluator<'_> {
    /// What a field prints, if its writes say more than its name.
    pub(crate) fn written_text(
        &mut self,
        frame: FrameId,
        object: Option<PlaceId>,
        field: FieldRef,
        descriptor: Name,
    ) -> Option<Term> {
        let declared = self.facts.field(field)?;
        if declared.access & access::ENUM != 0 {
            return None;
        }
        let is_final = declared.access & access::FINAL != 0;
        if let (Some(constant), true, true) = (declared.constant, is_final, object.is_none()) {
            return Some(self.constant_text(constant, field.descriptor));
        }
        // The program is all there is; what sets fields from outside of it (beans
        // filled from a file) sets those of objects.
        if !is_final && object.is_some() && declared.access & (access::PUBLIC | access::PROTECTED) != 0 {
            return None;
        }
        if !holds_text(&field.descriptor) {
            return None;
        }
        let writes = self.facts.writes(field);
        // Who reads what nobody writes knows that a library sets it: from a file, or a message.
        if writes.is_empty() && object.is_some() {
            return None;
        }
        if writes.len() > limits::FIELD_WRITES_MAX {
            return None;
        }
        let key = Key::Field(object, field);
        let mut term = self.solved(key, |e| e.joined_writes(frame, object, field, descriptor));
        if object.is_none() && self.is_read_early(frame, field) {
            let zero = self.constant_text(zero_of(&field.descriptor), field.descriptor);
            term = self.terms.alt([term, zero]);
        }
        let enough = if types::is_primitive(&field.descriptor) {
            self.terms.is_open(term) || self.terms.finite(term, limits::ALTERNATIVES_MAX).is_some()
        } else {
            self.says_more(term)
        };
        (enough && !self.terms.is_never(term)).then_some(term)
    }

    /// `own` was stored in a field just before it is printed; in an object that
    /// others see, another thread may have stored something else since.
    pub(crate) fn or_written_elsewhere(
        &mut self,
        frame: FrameId,
        object: Option<PlaceId>,
        field: FieldRef,
        descriptor: Name,
        own: Term,
    ) -> Term {
        let fresh = object.is_some_and(
            |o| matches!(self.place_node(o), Place::Value(f, v) if matches!(self.op(f, v), Op::New(_))),
        );
        let method = self.method_of(frame);
        let elsewhere = |(m, _): &(MethodId, ValueId)| {
            *m != method && !self.program().methods[m.index()].name.starts_with('<')
        };
        if fresh || self.terms.as_text(own).is_none() || !self.facts.writes(field).iter().any(elsewhere) {
            return own;
        }
        let written = self.written_text(frame, object, field, descriptor);
        let written = written.filter(|&t| self.terms.finite(t, limits::FIELD_WRITES_MAX).is_some());
        match written {
            Some(others) => {
                let null = self.terms.text("null");
                let others: Vec<Term> = match self.terms.node(others) {
                    // The first value is gone: it was written here since.
                    Node::Alt(xs) => xs.iter().copied().filter(|&x| x != null).collect(),
                    _ => vec![others],
                };
                self.terms.alt([own].into_iter().chain(others))
            }
            None => own,
        }
    }

    /// What is written to a field that holds format strings. No format is null.
    pub(crate) fn written_formats(
        &mut self,
        frame: FrameId,
        object: Option<PlaceId>,
        field: FieldRef,
        descriptor: Name,
    ) -> Option<Term> {
        let declared = self.facts.field(field)?;
        let is_open = declared.access & access::FINAL == 0
            && declared.access & (access::PUBLIC | access::PROTECTED) != 0;
        if is_open || self.facts.writes(field).len() > limits::FIELD_WRITES_MAX {
            return None;
        }
        self.callers_in_full = true;
        let term = self.joined_writes(frame, object, field, descriptor);
        self.callers_in_full = false;
        let null = self.terms.text("null");
        let term = match self.terms.node(term).clone() {
            Node::Alt(xs) => self.terms.alt(xs.into_iter().filter(|&x| x != null)),
            _ => term,
        };
        self.terms.has_character(term, '%').then_some(term)
    }

    /// Whether a static field is read by a method that the static initializer of
    /// its class calls before it writes the field.
    fn is_read_early(&self, frame: FrameId, field: FieldRef) -> bool {
        let mut frame = frame;
        while let Some((caller, call)) = self.frame(frame).caller {
            let method = self.method_of(caller);
            let owner = &self.program().methods[method.index()];
            if owner.name == "<clinit>" && self.facts.class_name(owner.class) == field.class {
                let called = self.inst(caller, call).pc;
                let mut writes = self.facts.writes(field).iter();
                return writes.any(|&(m, put)| m == method && self.inst(caller, put).pc > called);
            }
            frame = caller;
        }
        false
    }

    fn joined_writes(
        &mut self,
        frame: FrameId,
        object: Option<PlaceId>,
        field: FieldRef,
        descriptor: Name,
    ) -> Term {
        let writes = self.facts.writes(field);
        let mut choices = Vec::new();
        let initializer = if object.is_some() { "<init>" } else { "<clinit>" };
        let initialized = writes.iter().any(|(m, _)| {
            let method = &self.program().methods[m.index()];
            method.name == initializer && self.facts.class_name(method.class) == field.class
        });
        if !initialized {
            choices.push(self.constant_text(zero_of(&field.descriptor), field.descriptor));
        }
        for &(method, put) in writes {
            let Some(term) = self.one_write(frame, object, method, put, field, descriptor) else {
                return self.terms.top();
            };
            choices.push(term);
        }
        self.terms.alt(choices)
    }

    fn one_write(
        &mut self,
        frame: FrameId,
        object: Option<PlaceId>,
        method: MethodId,
        put: ValueId,
        field: FieldRef,
        descriptor: Name,
    ) -> Option<Term> {
        let body = self.program().methods[method.index()].body.as_ref()?;
        let Op::PutField(_, target, value) = body.op(put) else { return None };
        let on_this = target.is_none_or(|t| matches!(body.op(t), Op::Param(0)));
        let args = self.writer_args(method, object.filter(|_| on_this), field);
        // A parameter stored as it is: what the callers give, if all give constants.
        if let Op::Param(i) = body.op(*value) {
            return self.callers_text(frame, method, *i, descriptor, object);
        }
        let inner = self.make_frame(frame, None, method, args, None)?;
        Some(self.text(inner, *value, descriptor, put))
    }

    /// Parameters of a method that writes fields of `object`: those that it
    /// stores in other fields of the object are known by these.
    fn writer_args(&mut self, method: MethodId, object: Option<PlaceId>, written: FieldRef) -> Vec<Arg> {
        let is_static = self.program().methods[method.index()].is_static();
        let count = types::parameters(&self.program().methods[method.index()].descriptor).len()
            + usize::from(!is_static);
        let mut args = vec![Arg::Unknown; count];
        let Some(object) = object.filter(|_| !is_static) else { return args };
        args[0] = Arg::Place(object);
        let constructor = self.program().methods[method.index()].name == "<init>";
        let Some(body) = self.program().methods[method.index()].body.as_ref() else { return args };
        for &put in &self.facts.info(method).puts {
            if let Op::PutField(field, Some(target), value) = body.op(put)
                && let (Op::Param(0), Op::Param(i)) = (body.op(*target), body.op(*value))
                && *field != written
                && args.get(usize::from(*i)) == Some(&Arg::Unknown)
                && (constructor && self.facts.is_effectively_final(*field)
                    || self.facts.writes(*field).iter().all(|(m, _)| *m == method))
            {
                args[usize::from(*i)] = Arg::Place(self.intern_place(super::Place::Field(object, *field)));
            }
        }
        args
    }

    /// What parameter `i` of the method of `frame` can be, if all its callers are
    /// seen and give constants.
    pub(crate) fn given_text(&mut self, frame: FrameId, i: u16, descriptor: Name) -> Option<Term> {
        let method = self.method_of(frame);
        let target = &self.program().methods[method.index()];
        // Calls that are bound late name other classes: they are not all seen.
        let bound_early = target.access & (access::STATIC | access::PRIVATE) != 0 || target.name == "<init>";
        let is_this = i == 0 && !target.is_static();
        let seen = bound_early
            && !is_this
            && !self.is_open_to_callers(target, None)
            && !self.facts.is_handed_on(target.name, target.descriptor);
        if !self.joins_callers || !seen || !holds_text(&descriptor) {
            return None;
        }
        let term = self.solved(Key::Given(method, i, descriptor), |e| {
            let term = e.callers_text(frame, method, i, descriptor, None);
            term.unwrap_or_else(|| e.terms.top())
        });
        self.terms.finite(term, limits::ALTERNATIVES_MAX).map(|_| term)
    }

    /// What all callers of a method pass as parameter `i`, where that is a
    /// finite set of constants.
    pub(crate) fn callers_text(
        &mut self,
        frame: FrameId,
        method: MethodId,
        i: u16,
        descriptor: Name,
        object: Option<PlaceId>,
    ) -> Option<Term> {
        let target = &self.program().methods[method.index()];
        let class = self.facts.class_name(target.class);
        let object = object.map(|o| self.place_descriptor(o));
        let made = object
            .as_deref()
            .and_then(types::class_of)
            .map(Name::from)
            .filter(|&c| c != class && self.facts.is_subtype(c, class));
        if self.is_open_to_callers(target, made) {
            return None;
        }
        let calls = self.facts.calls(target.name, target.descriptor);
        let in_full = std::mem::take(&mut self.callers_in_full);
        let mut choices = Vec::new();
        for &(caller, call) in calls {
            let body = self.program().methods[caller.index()].body.as_ref()?;
            let Op::Invoke { method: named, args, .. } = body.op(call) else { continue };
            if named.class != class
                && self.facts.resolve(named.class, named.name, named.descriptor) != Some(method)
            {
                continue;
            }
            if choices.len() >= limits::ALTERNATIVES_MAX {
                return None;
            }
            let by = self.facts.class_name(self.program().methods[caller.index()].class);
            if made.is_some_and(|c| !self.facts.is_subtype(c, by) && !self.facts.is_subtype(by, c)) {
                // A constructor of another branch of the hierarchy.
                continue;
            }
            let value = *args.get(usize::from(i))?;
            let count = args.len();
            let caller_method = &self.program().methods[caller.index()];
            let parameters =
                types::parameters(&caller_method.descriptor).len() + usize::from(!caller_method.is_static());
            // Passed on by the caller: one more step up would be another analysis.
            let inner =
                self.make_frame(frame, None, caller, vec![Arg::Unknown; parameters.max(count)], None)?;
            let term = self.text(inner, value, descriptor, call);
            let small = self.terms.size(term) <= limits::INLINED_TERM_NODES_MAX;
            if !(in_full && small && !self.terms.is_open(term)) {
                self.terms.finite(term, 8)?;
            }
            choices.push(term);
        }
        self.callers_in_full = in_full;
        if choices.is_empty() {
            return None;
        }
        Some(self.terms.alt(choices))
    }

    /// Whether code outside of the program may call a method; for a constructor
    /// of a superclass it is the constructors of the class made that count.
    fn is_open_to_callers(&self, target: &Method, made: Option<Name>) -> bool {
        let open = |m: &Method| {
            let owner = &self.program().classes[m.class.index()];
            m.access & (access::PUBLIC | access::PROTECTED) != 0 && owner.access & access::PUBLIC != 0
        };
        match made.filter(|_| target.name == "<init>").and_then(|c| self.program().class(c)) {
            Some(class) => {
                let methods = self.program().classes[class.index()].methods.clone();
                self.program().methods[methods].iter().any(|m| m.name == "<init>" && open(m))
            }
            None => open(target),
        }
    }

    /// Whether a text is better known by its parts than by the field's name.
    pub(crate) fn says_more(&self, term: Term) -> bool {
        let bare = |x: Term| matches!(self.terms.node(x), Node::Leaf(l) if l.pattern == Pattern::Text && l.path.is_none());
        match self.terms.node(term) {
            Node::Leaf(_) => false,
            Node::Alt(xs) => {
                !xs.iter().any(|&x| bare(x))
                    && xs.iter().any(|&x| {
                        !matches!(self.terms.node(x), Node::Leaf(_)) && self.terms.as_text(x) != Some("null")
                    })
                    || xs.iter().all(|&x| self.terms.as_text(x).is_some())
            }
            Node::Text(_) | Node::Open(_) => true,
            Node::Cat(xs) => xs.iter().any(|&x| self.terms.as_text(x).is_some()),
            Node::Star(_) => self.terms.is_informative(term),
        }
    }
}

/// What a field holds before it is written.
fn zero_of(descriptor: &str) -> Const {
    match descriptor.as_bytes().first() {
        Some(b'L' | b'[') => Const::Null,
        Some(b'J') => Const::Long(0),
        Some(b'F') => Const::Float(0.0),
        Some(b'D') => Const::Double(0.0),
        _ => Const::Int(0),
    }
}

fn holds_text(descriptor: &str) -> bool {
    types::is_primitive(descriptor)
        || matches!(
            descriptor,
            "Ljava/lang/String;"
                | "Ljava/lang/CharSequence;"
                | "Ljava/lang/Object;"
                | "Ljava/lang/Integer;"
                | "Ljava/lang/Long;"
                | "Ljava/lang/Boolean;"
                | "Ljava/lang/Character;"
        )
}

//! Messages of exceptions: of those made and caught in one method, and of those
//! that only the program makes.

use super::term::{Node, Term};
use super::{Arg, Evaluator, FrameId, Place, types};
use crate::ir::{InvokeKind, Op, ValueId};
use crate::limits;
use crate::program::{Method, MethodId, Name, access};

/// Classes of one handler that are told apart.
const CAUGHT_MAX: usize = 3;

/// Calls between the method that catches an exception and the one that makes it.
const CALLS_MAX: usize = 3;

impl Evaluator<'_> {
    /// `e.getMessage()`
    pub(crate) fn message_text(&mut self, frame: FrameId, exception: ValueId) -> Option<Term> {
        let mut choices = Vec::new();
        let Some(made) = self.exceptions(frame, exception) else {
            let descriptor = self.descriptor_of(frame, exception);
            let class = Name::from(types::class_of(&descriptor)?);
            return self.messages_of(frame, class);
        };
        for (f, object) in made {
            choices.push(self.given_message(f, object)?.1);
        }
        Some(self.terms.alt(choices))
    }

    /// All messages that the program gives to exceptions of `class` and below. Where
    /// nobody else can make one, `getMessage()` prints one of them.
    fn messages_of(&mut self, frame: FrameId, class: Name) -> Option<Term> {
        self.program().class(class)?;
        if !self.facts.is_throwable(class) || self.has_native_neighbours(class) {
            return None;
        }
        let mut choices = Vec::new();
        for made in self.facts.concrete(class) {
            let methods = self.program().classes[made.index()].methods.clone();
            for constructor in methods.map(MethodId::new) {
                let method = &self.program().methods[constructor.index()];
                if self.is_told_by_name(method) {
                    return None;
                }
                if method.name == "<init>" {
                    self.given_to(frame, constructor, &mut choices)?;
                }
            }
        }
        let message = self.terms.alt(choices);
        (!self.terms.is_never(message) && self.says_more(message)).then_some(message)
    }

    /// Whether native code belongs to the package of `class`: it makes the package's
    /// exceptions out of sight.
    fn has_native_neighbours(&self, class: Name) -> bool {
        let package = |name: Name| name.as_str().rsplit_once('/').map_or("", |(package, _)| package);
        let program = self.program();
        program
            .classes
            .iter()
            .filter(|c| package(c.name) == package(class))
            .any(|c| program.methods[c.methods.clone()].iter().any(|m| m.access & access::NATIVE != 0))
    }

    /// Whether others than the program can say what the message is: code that makes
    /// an exception again on another node knows its class's name and its text; the
    /// class itself may print something else.
    fn is_told_by_name(&self, method: &Method) -> bool {
        match method.name.as_str() {
            "<init>" => method.access & access::PUBLIC != 0 && method.descriptor == "(Ljava/lang/String;)V",
            name => matches!(name, "getMessage" | "getLocalizedMessage"),
        }
    }

    /// The messages of exceptions made by this constructor.
    fn given_to(&mut self, frame: FrameId, constructor: MethodId, choices: &mut Vec<Term>) -> Option<()> {
        let method = &self.program().methods[constructor.index()];
        let class = self.facts.class_name(method.class);
        for &(caller, call) in self.facts.calls(method.name, method.descriptor) {
            let body = self.program().methods[caller.index()].body.as_ref()?;
            let Op::Invoke { method: named, args, .. } = body.op(call) else { continue };
            let made = args.first().is_some_and(|&object| matches!(body.op(object), Op::New(_)));
            if named.class != class || !made {
                continue;
            }
            if choices.len() >= limits::EXCEPTION_SITES_MAX {
                return None;
            }
            let outer = match self.on_the_way(frame, caller, CALLS_MAX) {
                Some(outer) => outer,
                None => self.unknown_frame(frame, caller)?,
            };
            let given = args.iter().map(|&arg| Arg::At(outer, arg)).collect();
            let inner = self.make_frame(outer, Some((outer, call)), constructor, given, None)?;
            choices.push(self.message_in(inner)?);
        }
        Some(())
    }

    /// The frame of `maker` where the method at hand runs it, by calls within its
    /// class: what is thrown from there is about the same objects.
    fn on_the_way(&mut self, frame: FrameId, maker: MethodId, calls: usize) -> Option<FrameId> {
        let method = self.method_of(frame);
        if method == maker {
            return Some(frame);
        }
        let class = self.program().methods[method.index()].class;
        let body = self.program().methods[method.index()].body.as_ref().filter(|_| calls > 0)?;
        for (call, inst) in body.iter() {
            let Op::Invoke { method: named, args, .. } = &inst.op else { continue };
            let target = self.facts.resolve(named.class, named.name, named.descriptor);
            let Some(target) = target.filter(|t| self.program().methods[t.index()].class == class) else {
                continue;
            };
            let given = args.iter().map(|&arg| Arg::At(frame, arg)).collect();
            let inner = self.make_frame(frame, Some((frame, call)), target, given, None);
            if let Some(found) = inner.and_then(|inner| self.on_the_way(inner, maker, calls - 1)) {
                return Some(found);
            }
        }
        None
    }

    /// A frame of `method` of whose arguments nothing is known.
    fn unknown_frame(&mut self, parent: FrameId, method: MethodId) -> Option<FrameId> {
        let of = &self.program().methods[method.index()];
        let count = types::parameters(&of.descriptor).len() + usize::from(!of.is_static());
        self.make_frame(parent, None, method, vec![Arg::Unknown; count], None)
    }

    /// What the constructor of `frame` hands to the library's exception above it.
    fn message_in(&mut self, frame: FrameId) -> Option<Term> {
        let constructor = self.method_of(frame);
        let body = self.program().methods[constructor.index()].body.as_ref()?;
        let mut above = body.iter().filter_map(|(value, inst)| match &inst.op {
            Op::Invoke { kind: InvokeKind::Special, method, args, .. }
                if method.name == "<init>" && matches!(body.op(*args.first()?), Op::Param(0)) =>
            {
                Some((value, *method, args))
            }
            _ => None,
        });
        let (call, method, args) = above.next()?;
        let target = self.facts.resolve(method.class, method.name, method.descriptor);
        if let Some(target) = target {
            let given = args.iter().map(|&arg| Arg::At(frame, arg)).collect();
            let inner = self.make_frame(frame, Some((frame, call)), target, given, None)?;
            return self.message_in(inner);
        }
        let parameters = types::parameters(&method.descriptor);
        match parameters.first() {
            None => Some(self.terms.text("null")),
            Some(first) if *first == "Ljava/lang/String;" => {
                Some(self.text(frame, *args.get(1)?, Name::from(first), call))
            }
            Some(_) => None,
        }
    }

    /// `e.toString()` of a caught exception.
    pub(crate) fn thrown_text(&mut self, frame: FrameId, caught: ValueId) -> Option<Term> {
        let mut choices = Vec::new();
        for (f, object) in self.exceptions(frame, caught)? {
            let (class, message) = self.given_message(f, object)?;
            let name = self.terms.text(&format!("{}: ", types::binary_name(&class)));
            choices.push(self.terms.cat([name, message]));
        }
        Some(self.terms.alt(choices))
    }

    /// `e.toString()` of a caught exception of which nothing is known but what is
    /// caught: that class itself, or any below it. The class itself is told apart
    /// because of handlers with one text it names the one.
    pub(crate) fn caught_text(&mut self, frame: FrameId, caught: ValueId, descriptor: Name) -> Term {
        let any = self.object(frame, caught, descriptor);
        let Op::Caught(classes) = self.op(frame, caught) else { return any };
        if classes.len() > CAUGHT_MAX || !matches!(self.terms.node(any), Node::Leaf(_)) {
            return any;
        }
        let mut choices = Vec::new();
        for class in classes.iter().filter(|c| **c != "java/lang/Throwable") {
            let name = self.terms.text(&types::binary_name(class));
            let mark = self.terms.text(": ");
            let message = self.terms.cat([mark, any]);
            let message = self.terms.opt(message);
            choices.push(self.terms.cat([name, message]));
        }
        choices.push(any);
        self.terms.alt(choices)
    }

    /// Class and message of an exception of the library made with a message.
    fn given_message(&mut self, frame: FrameId, object: ValueId) -> Option<(Name, Term)> {
        let Op::New(class) = self.op(frame, object) else { return None };
        if self.program().class(*class).is_some() || !self.facts.is_throwable(*class) {
            return None;
        }
        let init = *self.facts.info(self.method_of(frame)).init.get(&object)?;
        let Op::Invoke { method, args, .. } = self.op(frame, init) else { return None };
        let parameters = types::parameters(&method.descriptor);
        let first = Name::from(parameters.first()?);
        if first != "Ljava/lang/String;" {
            return None;
        }
        Some((*class, self.text(frame, *args.get(1)?, first, init)))
    }

    /// All allocations that an exception can be, if nothing else can throw.
    fn exceptions(&mut self, frame: FrameId, value: ValueId) -> Option<Vec<(FrameId, ValueId)>> {
        let place = self.place(frame, value);
        let Place::Value(f, v) = self.place_node(place) else { return None };
        match self.op(f, v) {
            Op::New(_) => return Some(vec![(f, v)]),
            Op::Caught(_) => {}
            _ => return None,
        }
        let handler = self.inst(f, v).block;
        let mut all = Vec::new();
        for block in &self.body(f).blocks {
            if !block.handlers.iter().any(|h| h.block == handler) {
                continue;
            }
            for &inst in &block.insts {
                match self.op(f, inst) {
                    Op::Throw(thrown) if matches!(self.op(f, *thrown), Op::New(_)) => all.push((f, *thrown)),
                    Op::Invoke { method, .. }
                        if method.name == "<init>" && self.facts.is_throwable(method.class) => {}
                    _ if self.may_throw(f, inst) => return None,
                    _ => {}
                }
            }
        }
        (!all.is_empty()).then_some(all)
    }
}

//! Exceptions made and caught in one method: their messages are known.

use super::term::{Node, Term};
use super::{Evaluator, FrameId, Place, types};
use crate::ir::{Op, ValueId};
use crate::program::Name;

/// Classes of one handler that are told apart.
const CAUGHT_MAX: usize = 3;

impl Evaluator<'_> {
    /// `e.getMessage()`
    pub(crate) fn message_text(&mut self, frame: FrameId, exception: ValueId) -> Option<Term> {
        let mut choices = Vec::new();
        for (f, object) in self.exceptions(frame, exception)? {
            choices.push(self.given_message(f, object)?.1);
        }
        Some(self.terms.alt(choices))
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

//! Exceptions made and caught in one method: their messages are known.

use super::term::Term;
use super::{Evaluator, FrameId, Place, types};
use crate::ir::{Op, ValueId};
use crate::program::Name;

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

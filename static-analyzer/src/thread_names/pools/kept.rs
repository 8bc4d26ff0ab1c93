//! Pools that are kept in a collection: what is taken out of a field's is one of those that
//! methods of its class put into it.

use super::Pools;
use crate::call_graph::apis::{gives_kept, is_kept_by};
use crate::ir::{InvokeKind, Op, ValueId};
use crate::limits;
use crate::program::{FieldRef, MethodId};
use crate::strings::term::Term;
use crate::strings::{Evaluator, FrameId};

/// The field whose collection gives `value`, and its object.
pub(super) fn collection(
    e: &Evaluator<'_>,
    frame: FrameId,
    mut value: ValueId,
) -> Option<(FieldRef, Option<ValueId>)> {
    while let Op::Cast(_, inner) = e.op(frame, value) {
        value = *inner;
    }
    let Op::Invoke { kind, method, args } = e.op(frame, value) else { return None };
    let [held, ..] = args[..] else { return None };
    match e.op(frame, held) {
        Op::GetField(field, object) if *kind != InvokeKind::Static && gives_kept(&method.name) => {
            Some((*field, *object))
        }
        _ => None,
    }
}

impl Pools<'_, '_> {
    /// The names of the threads of the pools of which `pool` is taken out of a collection.
    pub(super) fn of_kept(&mut self, frame: FrameId, pool: ValueId) -> Vec<Term> {
        let Some((field, object)) = collection(self.e, frame, pool) else { return Vec::new() };
        let object = object.map(|object| self.e.place(frame, object));
        let puts = self.puts(field);
        if puts.len() > limits::POOL_WRITES_MAX {
            return Vec::new();
        }
        let mut terms = Vec::new();
        for (method, kept) in puts {
            for frame in self.writers(object, method, 0) {
                let place = self.e.place(frame, kept);
                terms.extend(self.of_pool(place));
            }
        }
        terms
    }

    /// What methods of its class put into the collection that `field` holds.
    fn puts(&self, field: FieldRef) -> Vec<(MethodId, ValueId)> {
        let program = self.e.program();
        let Some(class) = program.class(field.class) else { return Vec::new() };
        let mut puts = Vec::new();
        for method in program.classes[class.index()].methods.clone().map(MethodId::new) {
            let Some(body) = program.methods[method.index()].body.as_ref() else { continue };
            for (_, inst) in body.iter() {
                let Op::Invoke { method: called, args, .. } = &inst.op else { continue };
                let [held, .., kept] = args[..] else { continue };
                let is_held = matches!(body.op(held), Op::GetField(of, _) if *of == field);
                if is_held && is_kept_by(&called.name) {
                    puts.push((method, kept));
                }
            }
        }
        puts
    }
}

//! Names of threads: what a subclass of `Thread` calls itself in its
//! constructors or by `setName`.
//!
//! Over-approximates: any of the names may be the one. Under-approximates:
//! whoever holds the thread may rename it; only the class's own code is read.

use super::term::Term;
use super::{Arg, Evaluator, FrameId, types};
use crate::ir::{InvokeKind, Op, ValueId};
use crate::limits;
use crate::program::{ClassId, MethodId, Name};

const THREAD: &str = "java/lang/Thread";
const STRING: &str = "Ljava/lang/String;";

/// Where a thread gets its name: method, call, the name.
type Naming = (MethodId, ValueId, ValueId);

impl<'p> Evaluator<'p> {
    /// `thread.getName()`; none if the class of the thread gives it no name.
    pub(crate) fn thread_name(&mut self, frame: FrameId, call: ValueId, thread: ValueId) -> Option<Term> {
        let mut thread = thread;
        while let Op::Cast(_, inner) = self.op(frame, thread) {
            thread = *inner;
        }
        let current =
            matches!(self.op(frame, thread), Op::Invoke { method, .. } if method.name == "currentThread");
        let object = if current { self.own_thread(frame)? } else { thread };
        let (classes, _) = self.classes_of(frame, object);
        if classes.is_empty() || classes.len() > limits::TARGETS_MAX {
            return None;
        }
        let place = self.place(frame, object);
        let mut choices = Vec::new();
        for class in classes {
            for (method, at, name) in self.namings(class) {
                let body = self.program().methods[method.index()].body.as_ref()?;
                if let Op::Param(i) = body.op(name) {
                    let given = self.callers_text(frame, method, *i, Name::from(STRING), Some(place));
                    choices.push(given.unwrap_or_else(|| self.terms.top()));
                    continue;
                }
                let count = types::parameters(&self.program().methods[method.index()].descriptor).len() + 1;
                let mut args = vec![Arg::Unknown; count];
                args[0] = Arg::Place(place);
                let inner = self.make_frame(frame, None, method, args, None)?;
                choices.push(self.text(inner, name, Name::from(STRING), at));
            }
        }
        if choices.is_empty() {
            return None;
        }
        // Before it is named, or run by another thread, it has any name.
        choices.push(self.leaf(frame, call, Name::from(STRING)));
        Some(self.terms.alt(choices))
    }

    /// `this`, if the frame is the body of a thread class: the thread that runs
    /// it is normally the object itself.
    fn own_thread(&self, frame: FrameId) -> Option<ValueId> {
        let method = &self.program().methods[self.method_of(frame).index()];
        if method.is_static() || method.name != "run" || method.descriptor != "()V" {
            return None;
        }
        let class = self.facts.class_name(method.class);
        self.facts.is_subtype(class, Name::from(THREAD)).then_some(())?;
        self.facts.info(self.method_of(frame)).params.get(&0).copied()
    }

    /// Calls in the class and above it that name its threads.
    fn namings(&self, class: ClassId) -> Vec<Naming> {
        let mut found = Vec::new();
        for &name in self.facts.supertypes(self.facts.class_name(class)).iter() {
            let Some(class) = self.program().class(name) else { continue };
            for index in self.program().classes[class.index()].methods.clone() {
                self.namings_in(MethodId::new(index), &mut found);
            }
        }
        found
    }

    fn namings_in(&self, id: MethodId, found: &mut Vec<Naming>) {
        let method = &self.program().methods[id.index()];
        let Some(body) = method.body.as_ref().filter(|_| !method.is_static()) else { return };
        let this = self.facts.info(id).params.get(&0).copied();
        for (value, inst) in body.iter() {
            let Op::Invoke { kind, method: named, args } = &inst.op else { continue };
            if args.first().copied() != this || this.is_none() {
                continue;
            }
            let sets = named.name == "setName"
                && named.descriptor == "(Ljava/lang/String;)V"
                && self.facts.is_subtype(named.class, Name::from(THREAD));
            let makes = *kind == InvokeKind::Special && named.name == "<init>" && named.class == THREAD;
            if !sets && !makes {
                continue;
            }
            let position = types::parameters(&named.descriptor).iter().position(|p| *p == STRING);
            if let Some(&name) = position.and_then(|p| args.get(p + 1)) {
                found.push((id, value, name));
            }
        }
    }
}

//! Names of values that have no access path: what called methods made or found,
//! of a parameter, a static field or nothing at all.
//!
//! A name says where a value comes from and is for people only: two values of one
//! name need not be equal, so that no identity is taken from it.

use super::{Evaluator, FrameId, Place, PlaceId, types};
use crate::ir::{InvokeKind, Op, ValueId};
use crate::limits;
use crate::path::Step;

impl Evaluator<'_> {
    /// The name of the value at a place, from what the root frame can name, or
    /// else from the first call that is known.
    pub(crate) fn origin_name(&mut self, place: PlaceId) -> Option<String> {
        let mut first_call = None;
        self.named_from(place, &mut first_call).or(first_call)
    }

    fn named_from(&mut self, mut place: PlaceId, first_call: &mut Option<String>) -> Option<String> {
        let mut steps: Vec<Step> = Vec::new();
        let mut passed = Vec::new();
        while steps.len() <= limits::PATH_FIELDS_MAX && passed.len() <= limits::PATH_FIELDS_MAX {
            if let Some(path) = self.path(place) {
                return Some(named(path.name(self.program(), self.method_of(FrameId::ROOT)), &steps));
            }
            match self.place_node(place) {
                Place::Static(field) => {
                    return Some(named(
                        format!("{}.{}", types::simple_name(&field.class), field.name),
                        &steps,
                    ));
                }
                Place::Value(f, v) => match self.op(f, v) {
                    Op::Invoke { kind, method, args } => {
                        let called = format!("{}.{}()", types::simple_name(&method.class), method.name);
                        *first_call = Some(named(called, &steps));
                        // A static method of several values is not of one of them.
                        if *kind == InvokeKind::Static && args.len() != 1 {
                            return None;
                        }
                        steps.push(Step::Call(*method));
                        place = self.place(f, *args.first()?);
                    }
                    Op::New(class) if !steps.is_empty() => {
                        return Some(named(format!("new {}()", types::simple_name(class)), &steps));
                    }
                    Op::Phi(_) => {
                        passed.push((f, v));
                        place = self.before_loop(f, v, &passed)?;
                    }
                    _ => return None,
                },
                node => {
                    let (step, object) = node.last_step()?;
                    steps.push(step);
                    place = object;
                }
            }
        }
        None
    }

    /// What a value that goes around in a loop is at first: its other values are
    /// made of itself (the next of a list, the rest of it).
    fn before_loop(
        &mut self,
        frame: FrameId,
        phi: ValueId,
        passed: &[(FrameId, ValueId)],
    ) -> Option<PlaceId> {
        let Op::Phi(operands) = self.op(frame, phi) else { return None };
        let mut first = None;
        for &(_, v) in operands {
            let place = self.place(frame, v);
            if self.is_made_of(place, passed) || matches!(self.op(frame, v), Op::Const(_)) {
                continue;
            }
            if first.is_some_and(|known| known != place) {
                return None;
            }
            first = Some(place);
        }
        first
    }

    /// Whether one of the values `of` is on the way to a place.
    fn is_made_of(&mut self, mut place: PlaceId, of: &[(FrameId, ValueId)]) -> bool {
        for _ in 0..=limits::PATH_FIELDS_MAX {
            match self.place_node(place) {
                Place::Static(_) => return false,
                Place::Value(f, v) if of.contains(&(f, v)) => return true,
                Place::Value(f, v) => match self.op(f, v) {
                    Op::Invoke { args, .. } => match args.first() {
                        Some(&object) => place = self.place(f, object),
                        None => return false,
                    },
                    _ => return false,
                },
                node => match node.last_step() {
                    Some((_, object)) => place = object,
                    None => return false,
                },
            }
        }
        false
    }
}

fn named(root: String, steps: &[Step]) -> String {
    steps.iter().rev().fold(root, |name, step| step.after(name))
}

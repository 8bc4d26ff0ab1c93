//! What makes the logger of a call: followed back through fields, parameters and
//! results to where it is allocated, or given by a library.

use std::collections::BTreeSet;

use super::super::Site;
use super::FORMS_MAX;
use crate::ir::{Const, Op, ValueId};
use crate::limits;
use crate::program::{ClassId, FieldRef, MethodId, Name};
use crate::strings::{Arg, Evaluator, FrameId, types};

/// Steps from a logging call to the place where its logger is made.
const MADE_DEPTH_MAX: u32 = 8;

/// What makes the logger of a call.
#[derive(Default)]
pub(super) struct Makers {
    /// It can be one of the library's.
    pub(super) by_library: bool,
    /// It can be one of these classes of the program.
    pub(super) own: BTreeSet<ClassId>,
    /// It can be made in a way that is not seen.
    unknown: bool,
}

/// The program's own loggers that `receiver` can be; none if it has none.
pub(super) fn own_classes(
    e: &mut Evaluator<'_>,
    frame: FrameId,
    site: &Site<'_>,
    receiver: ValueId,
) -> Option<Makers> {
    let declared = e.descriptor_of(frame, receiver);
    let declared = Name::from(types::class_of(&declared)?);
    let own = &site.loggers.own;
    let fitting: Vec<ClassId> =
        own.iter().copied().filter(|&c| e.facts.is_subtype(e.facts.class_name(c), declared)).collect();
    if fitting.is_empty() {
        return None;
    }
    let mut makers = Makers::default();
    made_by(e, frame, receiver, MADE_DEPTH_MAX, &mut makers);
    makers.own.retain(|c| fitting.contains(c));
    if makers.unknown {
        makers.by_library = true;
        if fitting.len() <= FORMS_MAX {
            makers.own.extend(fitting);
        }
    }
    (!makers.own.is_empty()).then_some(makers)
}

fn made_by(e: &mut Evaluator<'_>, frame: FrameId, value: ValueId, depth: u32, makers: &mut Makers) {
    if depth == 0 {
        makers.unknown = true;
        return;
    }
    match e.op(frame, value) {
        Op::Cast(_, inner) => made_by(e, frame, *inner, depth - 1, makers),
        Op::Phi(operands) => {
            for &(_, v) in operands {
                if v != value {
                    made_by(e, frame, v, depth - 1, makers);
                }
            }
        }
        Op::Param(i) => match e.frame(frame).args.get(usize::from(*i)).copied() {
            Some(Arg::At(f, v)) => made_by(e, f, v, depth - 1, makers),
            None if frame == FrameId::ROOT => given_by(e, e.method_of(frame), *i, depth - 1, makers),
            _ => makers.unknown = true,
        },
        Op::GetField(field, _) => written_by(e, frame, *field, depth - 1, makers),
        Op::New(class) => match e.program().class(*class) {
            Some(class) => drop(makers.own.insert(class)),
            None => makers.by_library = true,
        },
        Op::Invoke { kind, method, args } => {
            let targets = e.targets(frame, *kind, *method, args);
            makers.unknown |= targets.is_empty() && e.program().class(method.class).is_some();
            makers.by_library |= targets.is_empty();
            for target in targets {
                let Some(inner) = e.enter(frame, value, target, args) else {
                    makers.unknown = true;
                    continue;
                };
                for &(_, result) in &e.facts.info(target).returns {
                    made_by(e, inner, result, depth - 1, makers);
                }
            }
        }
        Op::Const(Const::Null) => {}
        _ => makers.unknown = true,
    }
}

/// Makers of what is written to a field.
fn written_by(e: &mut Evaluator<'_>, frame: FrameId, field: FieldRef, depth: u32, makers: &mut Makers) {
    let writes = e.facts.writes(field);
    makers.unknown |= writes.is_empty() || writes.len() > limits::WRAPPER_CALLERS_MAX;
    for &(method, put) in writes.iter().take(limits::WRAPPER_CALLERS_MAX) {
        let Some(body) = &e.program().methods[method.index()].body else { continue };
        let Op::PutField(_, _, stored) = body.op(put) else { continue };
        if let Op::Param(i) = body.op(*stored) {
            given_by(e, method, *i, depth, makers);
        } else {
            made_in(e, frame, method, *stored, depth, makers);
        }
    }
}

/// Makers of what callers pass as parameter `i`.
fn given_by(e: &mut Evaluator<'_>, method: MethodId, i: u16, depth: u32, makers: &mut Makers) {
    let target = &e.program().methods[method.index()];
    if i == 0 && !target.is_static() || depth == 0 {
        makers.unknown = true;
        return;
    }
    let calls = e.facts.calls(target.name, target.descriptor);
    let mut seen = false;
    for &(caller, call) in calls.iter().take(limits::WRAPPER_CALLERS_MAX) {
        let Some(body) = &e.program().methods[caller.index()].body else { continue };
        let Op::Invoke { method: named, args, .. } = body.op(call) else { continue };
        if e.facts.resolve(named.class, named.name, named.descriptor) != Some(method) {
            continue;
        }
        let Some(&given) = args.get(usize::from(i)) else { continue };
        seen = true;
        match body.op(given) {
            Op::Param(j) => given_by(e, caller, *j, depth - 1, makers),
            _ => made_in(e, FrameId::ROOT, caller, given, depth - 1, makers),
        }
    }
    makers.unknown |= !seen || calls.len() > limits::WRAPPER_CALLERS_MAX;
}

/// Makers of a value of another method.
fn made_in(
    e: &mut Evaluator<'_>,
    frame: FrameId,
    method: MethodId,
    value: ValueId,
    depth: u32,
    makers: &mut Makers,
) {
    let of = &e.program().methods[method.index()];
    let count = types::parameters(&of.descriptor).len() + usize::from(!of.is_static());
    match e.make_frame(frame, None, method, vec![Arg::Unknown; count], None) {
        Some(inner) => made_by(e, inner, value, depth, makers),
        None => makers.unknown = true,
    }
}

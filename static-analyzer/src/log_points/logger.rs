//! Names of loggers: the logger of a call as a value, wherever it was made.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::apis::{self, Format};
use crate::ir::{Const, InvokeKind, Op, ValueId};
use crate::limits;
use crate::program::{ClassId, FieldRef, MethodId, MethodRef, Name};
use crate::strings::{Arg, Evaluator, FrameId, types};

/// Steps from the call to the place where the logger is made.
const LOGGER_DEPTH_MAX: u32 = 16;

/// A logger as it was made.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Made {
    name: String,
    /// How it fills in arguments, where that is not told by its class.
    format: Option<Format>,
}

impl Made {
    fn named(name: String) -> Self {
        Self { name, format: None }
    }
}

/// All names that the logger `value` can have; none: unknown.
pub(crate) fn names(e: &mut Evaluator<'_>, frame: FrameId, value: ValueId) -> Option<BTreeSet<String>> {
    Some(names_of(e, frame, value, 0)?.into_iter().map(|made| made.name).collect())
}

/// How the logger `value` was told to fill in arguments, if it was, wherever it was made.
pub(super) fn format(e: &mut Evaluator<'_>, frame: FrameId, value: ValueId) -> Option<Format> {
    let made = names_of(e, frame, value, 0)?;
    let format = made.first()?.format;
    format.filter(|_| made.iter().all(|other| other.format == format))
}

fn names_of(e: &mut Evaluator<'_>, frame: FrameId, value: ValueId, depth: u32) -> Option<BTreeSet<Made>> {
    if depth > LOGGER_DEPTH_MAX {
        return None;
    }
    match e.op(frame, value) {
        Op::Cast(_, inner) => names_of(e, frame, *inner, depth + 1),
        Op::Phi(operands) => {
            let mut all = BTreeSet::new();
            for &(_, v) in operands {
                if v != value && !matches!(e.op(frame, v), Op::Const(Const::Null)) {
                    all.extend(names_of(e, frame, v, depth + 1)?);
                }
            }
            Some(all)
        }
        Op::Param(i) => match e.frame(frame).args.get(usize::from(*i)).copied() {
            Some(Arg::At(f, v)) => names_of(e, f, v, depth + 1),
            Some(_) => None,
            None if frame == FrameId::ROOT => callers(e, e.method_of(frame), *i, depth + 1),
            None => None,
        },
        Op::GetField(field, object) => {
            let this = match object {
                Some(object) => e.classes_of(frame, *object).0,
                None => Vec::new(),
            };
            let found = field_names(e, frame, *field, &this, depth + 1);
            match (found, object) {
                // A logger of the program's own, about whose logger nothing is known: its own name.
                (None, Some(object)) if matches!(e.op(frame, *object), Op::Param(0)) => {
                    names_of(e, frame, *object, depth + 1)
                }
                (found, _) => found,
            }
        }
        Op::Invoke { kind, method, args } => called_names(e, frame, value, (*kind, *method, args), depth),
        Op::New(_) => {
            // A wrapper: the name of the logger it is made for.
            let init = *e.facts.info(e.method_of(frame)).init.get(&value)?;
            let Op::Invoke { args, .. } = e.op(frame, init) else { return None };
            args[1..].iter().find_map(|&arg| names_of(e, frame, arg, depth + 1))
        }
        _ => None,
    }
}

/// Loggers that a call gives: of a factory, of a holder, or of the program's own.
fn called_names(
    e: &mut Evaluator<'_>,
    frame: FrameId,
    value: ValueId,
    (kind, method, args): (InvokeKind, MethodRef, &[ValueId]),
    depth: u32,
) -> Option<BTreeSet<Made>> {
    if apis::is_factory(&method.name) {
        if let Some(found) = made_names(e, frame, value, args, &method.descriptor, kind, depth) {
            let format = apis::format_of_factory(&method, args.last().and_then(|&v| class_of(e, frame, v)));
            return Some(
                found.into_iter().map(|made| Made { format: made.format.or(format), ..made }).collect(),
            );
        }
    } else if method.name == "getRootLogger" {
        return Some(BTreeSet::from([Made::named("root".to_string())]));
    }
    if let Some(source) = apis::source_of(&method, args.len()) {
        return source_names(e, frame, value, *args.get(source)?);
    }
    if apis::is_holder(method.class) && kind != InvokeKind::Static {
        // What it is made for, or what it holds.
        let made = made_names(e, frame, value, args, &method.descriptor, kind, depth);
        return made.or_else(|| names_of(e, frame, *args.last()?, depth + 1));
    }
    let found = returned_names(e, frame, value, kind, method, args, depth);
    if found.is_none()
        && args.len() == 1
        && e.facts.supertypes(method.class).iter().any(|&c| apis::is_mixin(c))
    {
        return Some(mixin_names(e, frame, args[0]).into_iter().map(Made::named).collect());
    }
    found
}

/// Loggers that the program's methods return.
fn returned_names(
    e: &mut Evaluator<'_>,
    frame: FrameId,
    call: ValueId,
    kind: InvokeKind,
    method: MethodRef,
    args: &[ValueId],
    depth: u32,
) -> Option<BTreeSet<Made>> {
    let targets = e.targets(frame, kind, method, args);
    let mut all = BTreeSet::new();
    for target in targets {
        let inner = e.enter(frame, call, target, args)?;
        for &(_, result) in &e.facts.info(target).returns {
            if !matches!(e.op(inner, result), Op::Const(Const::Null)) {
                all.extend(names_of(e, inner, result, depth + 1)?);
            }
        }
    }
    (!all.is_empty()).then_some(all)
}

/// `getLogger(X.class)`, `getLogger("name")`, `wrapper.getLogger()`.
fn made_names(
    e: &mut Evaluator<'_>,
    frame: FrameId,
    call: ValueId,
    args: &[ValueId],
    descriptor: &str,
    kind: InvokeKind,
    depth: u32,
) -> Option<BTreeSet<Made>> {
    let parameters = types::parameters(descriptor);
    let shift = usize::from(kind != InvokeKind::Static);
    match parameters.first().copied() {
        Some("Ljava/lang/Class;") => {
            let names = e.class_names(frame, *args.get(shift)?, false)?;
            Some(names.into_iter().map(Made::named).collect())
        }
        Some("Ljava/lang/String;") => {
            let term = e.text(frame, *args.get(shift)?, Name::from("Ljava/lang/String;"), call);
            Some(e.terms.finite(term, limits::ALTERNATIVES_MAX)?.into_iter().map(Made::named).collect())
        }
        None if shift == 0 => {
            let class = e.program().methods[e.method_of(frame).index()].class;
            let name = types::binary_name(&e.facts.class_name(class));
            e.program().class(Name::from(&name.replace('.', "/")))?;
            Some(BTreeSet::from([Made::named(name)]))
        }
        None => names_of(e, frame, *args.first()?, depth + 1),
        Some(_) => None,
    }
}

/// Names of loggers that are made for a text, a class or an object of one.
fn source_names(
    e: &mut Evaluator<'_>,
    frame: FrameId,
    call: ValueId,
    source: ValueId,
) -> Option<BTreeSet<Made>> {
    let descriptor = e.descriptor_of(frame, source);
    let names: Vec<String> = match descriptor.as_str() {
        "Ljava/lang/String;" => {
            let term = e.text(frame, source, descriptor, call);
            e.terms.finite(term, limits::ALTERNATIVES_MAX)?
        }
        "Ljava/lang/Class;" => e.class_names(frame, source, false)?,
        _ => mixin_names(e, frame, source).into_iter().collect(),
    };
    (!names.is_empty()).then(|| names.into_iter().map(Made::named).collect())
}

/// The class of an object that is made here, or is held by a field of its own class.
fn class_of(e: &Evaluator<'_>, frame: FrameId, value: ValueId) -> Option<Name> {
    match e.op(frame, value) {
        Op::New(class) => Some(*class),
        Op::GetField(field, None) => Some(field.class),
        _ => None,
    }
}

/// Loggers written to a field, by objects of one of the classes `this`.
fn field_names(
    e: &mut Evaluator<'_>,
    frame: FrameId,
    field: FieldRef,
    this: &[ClassId],
    depth: u32,
) -> Option<BTreeSet<Made>> {
    let writes = e.facts.writes(field);
    if writes.is_empty() || writes.len() > limits::WRAPPER_CALLERS_MAX {
        return None;
    }
    let mut all = BTreeSet::new();
    for &(method, put) in writes {
        let body = e.program().methods[method.index()].body.as_ref()?;
        let Op::PutField(_, _, stored) = body.op(put) else { continue };
        if let Op::Param(i) = body.op(*stored) {
            all.extend(callers(e, method, *i, depth + 1)?);
            continue;
        }
        let classes: Option<Rc<[ClassId]>> = (!this.is_empty()).then(|| Rc::from(this));
        let count = parameter_count(e, method);
        let inner = e.make_frame(frame, None, method, vec![Arg::Unknown; count], classes)?;
        if matches!(e.op(inner, *stored), Op::Const(Const::Null)) {
            continue;
        }
        all.extend(names_of(e, inner, *stored, depth + 1)?);
    }
    Some(all)
}

fn parameter_count(e: &Evaluator<'_>, method: MethodId) -> usize {
    let method = &e.program().methods[method.index()];
    types::parameters(&method.descriptor).len() + usize::from(!method.is_static())
}

/// Loggers that the callers of `method` pass as parameter `i`.
fn callers(e: &mut Evaluator<'_>, method: MethodId, i: u16, depth: u32) -> Option<BTreeSet<Made>> {
    let target = &e.program().methods[method.index()];
    if i == 0 && !target.is_static() || depth > LOGGER_DEPTH_MAX {
        return None;
    }
    let calls = e.facts.calls(target.name, target.descriptor);
    let mut all = BTreeSet::new();
    for &(caller, call) in calls {
        let body = e.program().methods[caller.index()].body.as_ref()?;
        let Op::Invoke { method: named, args, .. } = body.op(call) else { continue };
        if e.facts.resolve(named.class, named.name, named.descriptor) != Some(method) {
            continue;
        }
        if all.len() > limits::WRAPPER_CALLERS_MAX {
            return None;
        }
        let value = *args.get(usize::from(i))?;
        if let Op::Param(j) = body.op(value) {
            all.extend(callers(e, caller, *j, depth + 1)?);
            continue;
        }
        let count = parameter_count(e, caller);
        let inner = e.make_frame(FrameId::ROOT, None, caller, vec![Arg::Unknown; count], None)?;
        all.extend(names_of(e, inner, value, depth + 1)?);
    }
    (!all.is_empty()).then_some(all)
}

/// Loggers of a mixin: named for the concrete classes of the receiver.
pub(crate) fn mixin_names(e: &mut Evaluator<'_>, frame: FrameId, receiver: ValueId) -> BTreeSet<String> {
    let (classes, _) = e.classes_of(frame, receiver);
    classes
        .iter()
        .map(|&c| types::binary_name(&e.facts.class_name(c)).trim_end_matches('$').to_string())
        .collect()
}

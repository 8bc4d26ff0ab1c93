//! Lambdas that print what they are given: the text is known where somebody
//! calls them, so the log point is repeated there, as for wrappers.
//!
//! The closure is followed from where it is made through parameters, private
//! fields and other closures that capture it. What it is handed to beyond that
//! (a library, a collection) may call it too; then the lambda's own log point
//! stays beside the others.

use rustc_hash::FxHashSet;

use super::wrapper::{self, Lifted};
use super::{Site, message, point};
use crate::ir::{BootstrapArg, Op, ValueId};
use crate::limits;
use crate::program::load::references;
use crate::program::{FieldRef, MethodId, MethodRef, Name, access};
use crate::strings::facts::Facts;
use crate::strings::term::Term;
use crate::strings::{Arg, Evaluator, FrameId, types};

/// Log points where the lambda that holds `site` is called with a text that says
/// something.
pub(super) fn lifted(e: &Evaluator<'_>, term: Term, site: &Site<'_>) -> Option<Lifted> {
    let (creator, made) = e.facts.lambda_site(site.method)?;
    let body = e.program().methods[creator.index()].body.as_ref()?;
    let Op::InvokeDynamic { name, args: captured, .. } = body.op(made) else { return None };
    if !wrapper::prints_parameter_from(e, term, captured.len()) {
        return None;
    }
    let mut ways =
        Ways { facts: e.facts, name: *name, calls: Vec::new(), complete: true, seen: FxHashSet::default() };
    ways.follow(creator, made, limits::CLOSURE_DEPTH_MAX);
    if ways.calls.is_empty() || ways.calls.len() > limits::CLOSURE_CALLS_MAX {
        return None;
    }
    let mut lifted = Lifted { points: Vec::new(), complete: ways.complete, all: false, all_seen: false };
    ways.calls.sort_unstable();
    for (caller, call) in ways.calls {
        match point_at(e.facts, site, (creator, captured), caller, call) {
            Some(point) => lifted.points.push(point),
            None => lifted.complete = false,
        }
    }
    Some(lifted)
}

/// The log point of a call of the lambda, if the text given there says more than
/// the lambda's own.
fn point_at(
    facts: &Facts<'_>,
    site: &Site<'_>,
    made: (MethodId, &[ValueId]),
    caller: MethodId,
    call: ValueId,
) -> Option<crate::path::LogPoint> {
    let mut e = Evaluator::new(facts, caller);
    let (creator, captured) = made;
    let method = &facts.program.methods[creator.index()];
    let count = types::parameters(&method.descriptor).len() + usize::from(!method.is_static());
    let around = e.make_frame(FrameId::ROOT, None, creator, vec![Arg::Unknown; count], None)?;
    let Op::Invoke { args, .. } = e.op(FrameId::ROOT, call) else { return None };
    let given = captured.iter().map(|&v| Arg::At(around, v));
    let given = given.chain(args[1..].iter().map(|&v| Arg::At(FrameId::ROOT, v))).collect();
    let frame = e.make_frame(FrameId::ROOT, Some((FrameId::ROOT, call)), site.method, given, None)?;
    let message = message::stable(&mut e, frame, site);
    if wrapper::letters(&e, message.term, 0) == 0 {
        return None;
    }
    let line = e.body(FrameId::ROOT).inst(call).line;
    let mut point = point::finish(&mut e, frame, site, &message, call, Some(line));
    if references::is_reference(&facts.program.methods[site.method.index()]) {
        // No code stands between the call and the logger.
        (point.method, point.source_line, point.call_line) = (caller, line, None);
    }
    Some(point)
}

/// Ways of a closure through the program.
struct Ways<'f, 'p> {
    facts: &'f Facts<'p>,
    /// The method of its interface.
    name: Name,
    calls: Vec<(MethodId, ValueId)>,
    /// It goes nowhere else.
    complete: bool,
    seen: FxHashSet<(MethodId, ValueId)>,
}

impl Ways<'_, '_> {
    /// Follows the value `closure` of `method`.
    fn follow(&mut self, method: MethodId, closure: ValueId, depth: u32) {
        let Some(body) = &self.facts.program.methods[method.index()].body else { return };
        if depth == 0 {
            self.complete = false;
            return;
        }
        if !self.seen.insert((method, closure)) {
            return;
        }
        for (user, inst) in body.iter() {
            match &inst.op {
                Op::Cast(_, v) if *v == closure => self.follow(method, user, depth - 1),
                Op::Invoke { method: named, args, .. } if args.contains(&closure) => {
                    if args[0] == closure && named.name == self.name && !args[1..].contains(&closure) {
                        self.calls.push((method, user));
                    } else {
                        self.passed(*named, args, closure, depth);
                    }
                }
                Op::InvokeDynamic { bootstrap, args, .. } if args.contains(&closure) => {
                    let target = bootstrap.args.iter().find_map(|arg| match arg {
                        BootstrapArg::Handle { target, .. } => Some(*target),
                        _ => None,
                    });
                    match target {
                        Some(target) => self.passed(target, args, closure, depth),
                        None => self.complete = false,
                    }
                }
                Op::PutField(field, _, v) if *v == closure => self.kept(*field, depth),
                Op::Phi(operands) if operands.iter().any(|o| o.1 == closure) => self.complete = false,
                Op::ArrayStore(_, _, v) if *v == closure => self.complete = false,
                Op::Return(Some(v)) if *v == closure => self.complete = false,
                _ => {}
            }
        }
    }

    /// It is an argument of a method that has no other implementation.
    fn passed(&mut self, named: MethodRef, args: &[ValueId], closure: ValueId, depth: u32) {
        let target = self.facts.resolve(named.class, named.name, named.descriptor);
        let target = target.filter(|t| {
            let method = &self.facts.program.methods[t.index()];
            let fixed = access::STATIC | access::PRIVATE | access::FINAL;
            let alone = || self.facts.concrete(named.class).len() <= 1;
            method.body.is_some() && (method.access & fixed != 0 || method.name == "<init>" || alone())
        });
        let Some(target) = target else {
            self.complete = false;
            return;
        };
        for (i, _) in args.iter().enumerate().filter(|&(_, &v)| v == closure) {
            self.follow(target, ValueId::new(i), depth - 1);
        }
    }

    /// It is written to a field: whoever reads it may call it.
    fn kept(&mut self, field: FieldRef, depth: u32) {
        let program = self.facts.program;
        let declared = self.facts.field(field).filter(|f| f.access & access::PRIVATE != 0);
        let Some(class) = program.class(field.class).filter(|_| declared.is_some()) else {
            self.complete = false;
            return;
        };
        for reader in program.classes[class.index()].methods.clone().map(MethodId::new) {
            let Some(body) = &program.methods[reader.index()].body else { continue };
            for (read, inst) in body.iter() {
                if matches!(&inst.op, Op::GetField(f, _) if *f == field) {
                    self.follow(reader, read, depth - 1);
                }
            }
        }
    }
}

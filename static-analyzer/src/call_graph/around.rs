//! What a library runs around a handler, in the same thread and for the same request: filters,
//! interceptors, advice, what answers for an exception.
//!
//! Nobody in the program calls it, but it begins nothing: what it prints before a handler, or after
//! it, is of the handler's request. What runs before or after is called by each handler, where that
//! begins or ends, if at all; what goes around calls each handler, where it goes on with the chain.
//!
//! Over-approximates: for which paths something is registered is not asked.

use std::collections::BTreeSet;

use schema::LinkKind;

use super::containers::given_away;
use super::resolve::{Resolver, signature};
use super::{Call, CallKind};
use crate::ir::{Body, InvokeKind, Op, ValueId};
use crate::program::{Annotation, MethodId, access};
use crate::services::handler_apis::{AROUND, AROUND_ANNOTATIONS, CHAINS, Runs};
use crate::services::{self, Handler};

/// A call that may be made, at most once: (caller, site, what is called).
pub(super) type AtMostOnce = (MethodId, ValueId, MethodId);

/// Adds the calls of handlers to what runs before and after them, and of what goes around to them.
pub(super) fn join(
    resolver: &Resolver<'_>,
    handlers: &[Handler],
    calls: &mut [Vec<Call>],
) -> Vec<AtMostOnce> {
    let program = resolver.program;
    let served: Vec<&Handler> =
        handlers.iter().filter(|h| h.kind == LinkKind::Http && h.is_certain).collect();
    let registered = services::around(resolver);
    given_away(program, registered.iter().map(|&(method, _, at)| (method, at)), calls);
    let methods = (0..program.methods.len()).map(MethodId::new);
    let found = methods.filter_map(|method| Some((method, runs(resolver, method)?, None)));
    let class = |method: MethodId| program.methods[method.index()].class;
    let (mut added, mut answers) = (Vec::new(), BTreeSet::new());
    for (method, runs, at) in
        found.chain(registered.iter().map(|&(method, runs, at)| (method, runs, Some(at))))
    {
        let Some(body) = &program.methods[method.index()].body else { continue };
        // What one class registers with a server it registers with the same one.
        let class_of = |handler: &Handler| handler.at.map(|(at, _)| class(at));
        let own = at.map(class).filter(|own| served.iter().any(|handler| class_of(handler) == Some(*own)));
        let is_of = |handler: &Handler| match own {
            Some(own) => class_of(handler) == Some(own),
            None => is_of_one_service(resolver, method, handler.method),
        };
        if runs == Runs::Answers {
            answers.insert(method);
        }
        for handler in served.iter().filter(|handler| is_of(handler)).map(|handler| handler.method) {
            let Some(own) = &program.methods[handler.index()].body else { continue };
            match runs {
                Runs::Around => added.extend(goes_on(body).map(|site| (method, site, handler))),
                Runs::Before => added.extend(begin(own).map(|site| (handler, site, method))),
                Runs::After | Runs::Answers => added.extend(ends(own).map(|site| (handler, site, method))),
            }
        }
    }
    added.sort_unstable();
    added.dedup();
    added.retain(|(caller, _, target)| caller != target);
    for &(caller, site, target) in &added {
        let m = &program.methods[target.index()];
        let n = signature(&m.descriptor).0.len() + usize::from(!m.is_static());
        let kind = if answers.contains(&target) { CallKind::Answer } else { CallKind::Callback };
        let call = Call { site, targets: vec![target], kind, args: vec![None; n] };
        calls[caller.index()].push(call);
    }
    for list in calls.iter_mut() {
        list.sort_by(|a, b| (a.site, a.kind, &a.targets).cmp(&(b.site, b.kind, &b.targets)));
    }
    added
}

/// When a library runs a method of the program, if it does so around handlers.
fn runs(resolver: &Resolver<'_>, method: MethodId) -> Option<Runs> {
    let m = &resolver.program.methods[method.index()];
    if m.is_static() || m.access & (access::SYNTHETIC | access::BRIDGE | access::PRIVATE) != 0 {
        return None;
    }
    let by_annotation = |annotation: &Annotation| {
        AROUND_ANNOTATIONS.iter().find(|row| (row.0, row.1) == annotation.name()).map(|row| row.2)
    };
    m.annotations.iter().find_map(by_annotation).or_else(|| {
        let mut rows = AROUND.iter().filter(|row| m.name == row.1).peekable();
        rows.peek()?;
        let supers = resolver.super_names(m.class);
        rows.find(|row| supers.iter().any(|name| name.as_str() == row.0)).map(|row| row.2)
    })
}

/// Whether both are of one service: what lies in a library of several is of all of them.
pub(super) fn is_of_one_service(resolver: &Resolver<'_>, method: MethodId, handler: MethodId) -> bool {
    let program = resolver.program;
    let entry = |method: MethodId| {
        let class = &program.classes[program.methods[method.index()].class.index()];
        program.entries[class.entry].name.as_str()
    };
    let (own, theirs) = (entry(method), entry(handler));
    own.contains('!') || own == theirs.split('!').next().unwrap_or(theirs)
}

/// Where a body goes on with the chain that it stands in.
fn goes_on(body: &Body) -> impl Iterator<Item = ValueId> {
    body.iter().filter_map(|(site, inst)| match &inst.op {
        Op::Invoke { kind: InvokeKind::Interface | InvokeKind::Virtual, method, .. } => {
            let name = method.class.rsplit(['/', '$']).next()?;
            CHAINS.iter().any(|chain| name.ends_with(chain)).then_some(site)
        }
        _ => None,
    })
}

/// The first instruction of a body that does something.
pub(super) fn begin(body: &Body) -> impl Iterator<Item = ValueId> {
    let does = |op: &Op| !matches!(op, Op::Param(_) | Op::Phi(_));
    body.iter().find(|(_, inst)| does(&inst.op)).map(|(site, _)| site).into_iter()
}

pub(super) fn ends(body: &Body) -> impl Iterator<Item = ValueId> {
    body.iter().filter(|(_, inst)| matches!(inst.op, Op::Return(_) | Op::Throw(_))).map(|(site, _)| site)
}

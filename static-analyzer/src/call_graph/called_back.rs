//! What libraries call back in the thread that calls them, of what a program gives them: who
//! finds users for a security library, what a template library runs for a tag, what reads a row.
//!
//! Nobody in the program calls it, but it begins nothing: a library does so while a call of it
//! runs, and what it prints stands between the lines around that call. Whoever serves requests calls
//! libraries too: after a handler, for its answer, and before it, unless handlers do that themselves.
//!
//! Over-approximates: all calls of a library can call back all that is made for it, in any order,
//! any number of times.

use std::collections::{BTreeMap, BTreeSet};

use super::around::{begin, ends, is_of_one_service};
use super::resolve::{Resolver, signature};
use super::{Call, CallKind};
use crate::ir::{Op, ValueId};
use crate::program::{ClassId, Method, MethodId, access};
use crate::services::Handler;
use crate::services::handler_apis::{self, CALLED_BACK, CalledBack, Runs};

/// A call that may be made, any number of times: (caller, site, what is called).
pub(super) type AnyTimes = (MethodId, ValueId, MethodId);

/// Adds the calls to what libraries call back.
pub(super) fn join(resolver: &Resolver<'_>, handlers: &[Handler], calls: &mut [Vec<Call>]) -> Vec<AnyTimes> {
    let program = resolver.program;
    let called = called_back(resolver, handlers, calls);
    let at_work = at_work(resolver, handlers, calls);
    if called.is_empty() || at_work.is_empty() {
        return Vec::new();
    }
    let (mut added, mut within) = (BTreeSet::new(), BTreeSet::new());
    for &caller in &at_work {
        let Some(body) = &program.methods[caller.index()].body else { continue };
        for (site, inst) in body.iter() {
            let Op::Invoke { method, .. } = &inst.op else { continue };
            let own = resolver.own_class(method.class);
            let supers = own.map_or_else(|| vec![method.class], |own| resolver.super_names(own));
            let calls = |row: &CalledBack| {
                row.by.iter().any(|package| supers.iter().any(|class| class.starts_with(package)))
            };
            for (&target, _) in called.iter().filter(|&(&target, row)| target != caller && calls(row)) {
                within.insert(target);
                added.insert((caller, site, target));
            }
        }
    }
    let served = handlers.iter().filter(|handler| handler.is_certain).map(|handler| handler.method);
    let served: BTreeSet<MethodId> = served.collect();
    for (&target, row) in &called {
        for &handler in served.iter().filter(|&&handler| is_of_one_service(resolver, target, handler)) {
            let Some(body) = &program.methods[handler.index()].body else { continue };
            match row.else_runs {
                Some(Runs::Before) if within.contains(&target) => {}
                Some(Runs::Before) => added.extend(begin(body).map(|site| (handler, site, target))),
                Some(Runs::After | Runs::Answers) => {
                    added.extend(ends(body).map(|site| (handler, site, target)))
                }
                Some(Runs::Around) | None => {}
            }
        }
    }
    for &(caller, site, target) in &added {
        let m = &program.methods[target.index()];
        let n = signature(&m.descriptor).0.len() + usize::from(!m.is_static());
        let call = Call { site, targets: vec![target], kind: CallKind::Callback, args: vec![None; n] };
        calls[caller.index()].push(call);
    }
    for list in calls.iter_mut() {
        list.sort_by(|a, b| (a.site, a.kind, &a.targets).cmp(&(b.site, b.kind, &b.targets)));
    }
    added.into_iter().collect()
}

/// The methods that nothing but a library calls, in the thread at hand.
fn called_back(
    resolver: &Resolver<'_>,
    handlers: &[Handler],
    calls: &[Vec<Call>],
) -> BTreeMap<MethodId, &'static CalledBack> {
    let program = resolver.program;
    let mut is_called = vec![false; program.methods.len()];
    for call in calls.iter().flatten().filter(|call| !call.kind.is_remote()) {
        call.targets.iter().for_each(|target| is_called[target.index()] = true);
    }
    handlers.iter().for_each(|handler| is_called[handler.method.index()] = true);
    let is_it = |m: &Method| {
        let is_hidden = m.access & access::SYNTHETIC != 0 && m.access & access::BRIDGE == 0;
        m.body.is_some()
            && !m.is_static()
            && !m.name.starts_with('<')
            && !is_hidden
            && m.access & access::PRIVATE == 0
            && !m.annotations.iter().any(|annotation| {
                let (package, name) = annotation.name();
                handler_apis::calls(package, name)
            })
    };
    let row = |class: usize| -> Option<&'static CalledBack> {
        let supers = resolver.super_names(ClassId::new(class));
        CALLED_BACK.iter().find(|row| supers.iter().any(|name| name.starts_with(row.of)))
    };
    let rows: Vec<Option<&CalledBack>> = (0..program.classes.len()).map(row).collect();
    let uncalled = program.methods.iter().enumerate().filter(|&(i, m)| !is_called[i] && is_it(m));
    uncalled.filter_map(|(i, m)| Some((MethodId::new(i), rows[m.class.index()]?))).collect()
}

/// The methods that threads run that are at work for a request: handlers, what containers call for
/// an annotation, and all that these call; sorted.
fn at_work(resolver: &Resolver<'_>, handlers: &[Handler], calls: &[Vec<Call>]) -> BTreeSet<MethodId> {
    let methods = &resolver.program.methods;
    let by_annotation = |m: &Method| {
        m.annotations.iter().any(|annotation| {
            let (package, name) = annotation.name();
            handler_apis::calls(package, name)
        })
    };
    let served = handlers.iter().filter(|handler| handler.is_certain).map(|handler| handler.method);
    let found = (0..methods.len()).filter(|&i| by_annotation(&methods[i])).map(MethodId::new);
    let mut todo: Vec<MethodId> = served.chain(found).collect();
    let mut seen = BTreeSet::new();
    while let Some(method) = todo.pop() {
        if seen.insert(method) {
            let local = calls[method.index()].iter().filter(|call| call.kind.is_local());
            todo.extend(local.flat_map(|call| &call.targets));
        }
    }
    seen
}

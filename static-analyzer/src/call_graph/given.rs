//! Given: objects that a caller makes for a method that calls them there and then.
//!
//! A method that calls its parameter, of a class of the program with many subclasses
//! (what is to be done under a lock, or once only), is a handler table to dispatch:
//! nobody is known to run any of them. But whoever makes the object knows which of them
//! runs, in his thread, at the call that he gives it to.

use rayon::prelude::*;
use rustc_hash::FxHashMap;
use schema::model::COMMAND;

use super::resolve::{Resolver, signature};
use super::{Call, CallKind};
use crate::ir::{Body, Op};
use crate::limits::DISPATCH_TARGETS_MAX;
use crate::program::{MethodId, MethodRef};

/// Per parameter of a method: what it calls on objects of classes that it cannot know.
#[derive(Debug, Default)]
pub(crate) struct Given(FxHashMap<(MethodId, usize), Vec<MethodRef>>);

impl Given {
    /// Of all methods, whose `calls` have all targets that they can mean.
    pub(crate) fn find(resolver: &Resolver<'_>, calls: &[Vec<Call>]) -> Self {
        let of_method = |i: usize| -> Vec<((MethodId, usize), MethodRef)> {
            let m = &resolver.program.methods[i];
            let Some(body) = &m.body else { return Vec::new() };
            let is_wide =
                |call: &&Call| call.kind == CallKind::Direct && call.targets.len() > DISPATCH_TARGETS_MAX;
            let called = calls[i].iter().filter(is_wide).filter_map(|call| {
                let Op::Invoke { method, args, .. } = body.op(call.site) else { return None };
                let Op::Param(param) = body.op(body.uncast(*args.first()?)) else { return None };
                let param = *param as usize;
                // A command is a program of its own, whoever runs it.
                if method.descriptor.starts_with(COMMAND) {
                    return None;
                }
                (m.is_static() || param > 0).then_some(((MethodId::new(i), param), *method))
            });
            called.collect()
        };
        let found: Vec<_> = (0..calls.len()).into_par_iter().map(of_method).collect();
        let mut given = Self::default();
        for (key, method) in found.into_iter().flatten() {
            given.0.entry(key).or_default().push(method);
        }
        given
    }

    /// The edges from a method with `calls` to what runs on the objects that it makes.
    pub(crate) fn edges(&self, resolver: &Resolver<'_>, body: &Body, calls: &[Call]) -> Vec<Call> {
        let mut edges = Vec::new();
        for call in calls.iter().filter(|call| call.kind == CallKind::Direct) {
            for &target in call.targets.iter().take(DISPATCH_TARGETS_MAX) {
                for (i, argument) in (0..).zip(&call.args) {
                    let Some((called, argument)) = self.0.get(&(target, i)).zip(*argument) else { continue };
                    let Op::New(class) = body.op(body.uncast(argument)) else { continue };
                    let Some(class) = resolver.own_class(*class) else { continue };
                    let runs = called.iter().filter_map(|m| resolver.lookup(class, m.name, m.descriptor));
                    edges.extend(runs.filter(|&m| resolver.has_body(m)).map(|m| {
                        let n = signature(resolver.program.methods[m.index()].descriptor.as_str()).0.len();
                        let mut args = vec![None; n + 1];
                        args[0] = Some(argument);
                        Call { site: call.site, targets: vec![m], kind: CallKind::Callback, args }
                    }));
                }
            }
        }
        edges
    }
}

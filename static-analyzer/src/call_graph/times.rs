//! How often a call runs what it was given to call back.
//!
//! What a library gives something with each call is called for each element of a
//! collection, but for what holds one thing at most. A method of the program shows
//! itself: it calls what it was given in a loop, or hands it on, wrapped or as it is, to
//! somebody who calls it so. Where that is not seen, it calls once.

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::closures::{Closure, Closures, closure_of};
use super::resolve::signature;
use super::starts::direct_targets;
use super::{Call, CallKind, Times, apis};
use crate::ir::{Body, InvokeKind, Op, ValueId};
use crate::program::{MethodId, MethodRef, Program};

/// How often what is given is handed on before somebody calls it.
const HANDED_ON_MAX: u32 = 4;

/// What is not called once: (caller, call, what is called).
pub(super) type AllTimes = FxHashMap<(MethodId, ValueId, MethodId), Times>;

/// How often each call runs what it calls back.
pub(super) fn find(program: &Program, closures: &Closures, calls: &[Vec<Call>]) -> AllTimes {
    let finder = Finder { program, closures, calls };
    let of_method = |i: usize| {
        let callbacks = calls[i].iter().filter(|call| call.kind == CallKind::Callback);
        let found = callbacks.flat_map(move |call| {
            let times = finder.times(MethodId::new(i), call);
            let targets = call.targets.iter().filter(move |_| times != Times::Once);
            targets.map(move |&target| ((MethodId::new(i), call.site, target), times))
        });
        found.collect::<Vec<_>>()
    };
    (0..calls.len()).into_par_iter().flat_map_iter(of_method).collect()
}

#[derive(Clone, Copy)]
struct Finder<'a> {
    program: &'a Program,
    closures: &'a Closures,
    calls: &'a [Vec<Call>],
}

impl<'a> Finder<'a> {
    fn body(&self, method: MethodId) -> Option<&'a Body> {
        self.program.methods[method.index()].body.as_ref()
    }

    fn times(&self, caller: MethodId, call: &Call) -> Times {
        let Some(body) = self.body(caller).filter(|_| call.args.contains(&None)) else { return Times::Once };
        let Op::Invoke { method, args, .. } = body.op(call.site) else { return Times::Any };
        let own = direct_targets(&self.calls[caller.index()], call.site);
        if own.is_empty() {
            return if is_of_one(*method) { Times::AtMostOnce } else { Times::Any };
        }
        let closure = |j: usize| {
            let made = closure_of(body, args[j])?;
            self.closures.made_at(caller, made).map(|id| self.closures.get(id))
        };
        let is_it = |&j: &usize| closure(j).is_some_and(|closure| closure.targets == call.targets);
        let given = (0..args.len()).find(is_it);
        let is_over = |j: usize| own.iter().any(|&callee| self.calls_over(callee, j, HANDED_ON_MAX));
        if given.is_some_and(is_over) { Times::Any } else { Times::Once }
    }

    /// Whether `method` calls what parameter `slot` gives it over and over.
    fn calls_over(&self, method: MethodId, slot: usize, depth: u32) -> bool {
        let Some(body) = self.body(method).filter(|_| depth > 0) else { return false };
        let is_it =
            |value: &ValueId| matches!(body.op(body.uncast(*value)), Op::Param(i) if usize::from(*i) == slot);
        body.iter().any(|(site, inst)| match &inst.op {
            Op::Invoke { args, .. } => {
                let mut at = (0..args.len()).filter(|&j| is_it(&args[j]));
                at.any(|j| self.runs_over(method, body, site, j, None, depth))
            }
            Op::InvokeDynamic { args, .. } if args.iter().any(is_it) => {
                self.closures.made_at(method, site).is_some_and(|id| {
                    let wrapper = self.closures.get(id);
                    let captured = (0..args.len()).filter(|&i| is_it(&args[i]));
                    let mut within = captured
                        .flat_map(|i| wrapper.targets.iter().map(move |&target| (target, wrapper.first + i)));
                    within.any(|(target, slot)| self.calls_over(target, slot, depth - 1))
                        || self.gives_over(method, body, site, wrapper, depth)
                })
            }
            _ => false,
        })
    }

    /// Whether the closure `wrapper`, made at `made`, is given to who calls it over and
    /// over.
    fn gives_over(
        &self,
        method: MethodId,
        body: &Body,
        made: ValueId,
        wrapper: &Closure,
        depth: u32,
    ) -> bool {
        body.iter().any(|(site, inst)| {
            let Op::Invoke { args, .. } = &inst.op else { return false };
            let mut at = (0..args.len()).filter(|&j| closure_of(body, args[j]) == Some(made));
            at.any(|j| self.runs_over(method, body, site, j, Some(wrapper), depth))
        })
    }

    /// Whether the call at `site` runs its argument `j` over and over. That is the
    /// closure `wrapper`, or what the method was given.
    fn runs_over(
        &self,
        method: MethodId,
        body: &Body,
        site: ValueId,
        j: usize,
        wrapper: Option<&Closure>,
        depth: u32,
    ) -> bool {
        if body.block(body.inst(site).block).loop_header.is_some() {
            return true;
        }
        let Op::Invoke { kind, method: called, .. } = body.op(site) else { return false };
        let own = direct_targets(&self.calls[method.index()], site);
        if !own.is_empty() {
            return own.iter().any(|&callee| self.calls_over(callee, j, depth - 1));
        }
        // What it calls is given something by a library.
        let is_given = |closure: &Closure| {
            let target = &self.program.methods[closure.targets[0].index()];
            let n_params = signature(&target.descriptor).0.len() + usize::from(!target.is_static());
            n_params > closure.first + closure.captured.len()
        };
        let is_argument = j > 0 || *kind == InvokeKind::Static;
        is_argument && !is_of_one(*called) && wrapper.is_some_and(is_given)
    }
}

/// Whether a method of a library has one thing at most to call something with.
fn is_of_one(method: MethodRef) -> bool {
    apis::AT_MOST_ONE.contains(&method.class.as_str()) || apis::OF_ONE_KEY.contains(&method.name.as_str())
}

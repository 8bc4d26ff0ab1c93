//! Waits: who hands something over and waits until it is done is at work all along, and
//! what it has handed over is a part of that.
//!
//! What a call hands over gives back what stands for it: a future, a started thread; or what
//! it is handed to does, if that gives back all that is done. It
//! is waited for where that is asked for its result: in the method itself, in one that
//! calls it and is given it back, or in a helper that it is given to, by itself or with
//! others in a list. A future that is kept in a field is waited for by nobody here.

use std::collections::BTreeMap;

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};
use schema::LinkKind;

use super::regions::{Region, Units};
use super::{Context, Key, Pairs, Sites, apis};
use crate::call_graph::apis as calls;
use crate::call_graph::resolve::signature;
use crate::ir::{Body, InvokeKind, Op, ValueId};
use crate::program::MethodId;

/// How many methods give back what stands for something before it is waited for, or hand
/// it to a helper.
const HANDED_ON_MAX: usize = 4;

/// Marks the pairs whose sender waits until what it has started is done.
pub(super) fn add(context: Context<'_>, units: &Units, sites: &BTreeMap<Key, Sites>, pairs: &mut Pairs) {
    let helpers = Helpers::find(context);
    let mut pairs: Vec<_> = pairs.iter_mut().filter(|(key, _)| key.2 == LinkKind::Thread).collect();
    pairs.par_iter_mut().for_each(|(key, pair)| {
        let region = units.region(pair.from);
        let sites = sites.get(key).map_or(&[][..], Vec::as_slice);
        pair.waits = sites.iter().any(|&site| helpers.waits(context, region, site));
    });
}

/// Methods that wait for what they are given.
#[derive(Debug, Default)]
struct Helpers {
    /// By parameter.
    waiting: FxHashSet<(MethodId, usize)>,
    /// The methods that wait for any of theirs.
    methods: FxHashSet<MethodId>,
}

impl Helpers {
    fn find(context: Context<'_>) -> Self {
        let mut helpers = Self::default();
        for _ in 0..HANDED_ON_MAX {
            let n_before = helpers.waiting.len();
            let n = context.program.methods.len();
            let found: Vec<_> =
                (0..n).into_par_iter().flat_map_iter(|i| helpers.params(context, MethodId::new(i))).collect();
            helpers.methods.extend(found.iter().map(|&(method, _)| method));
            helpers.waiting.extend(found);
            if helpers.waiting.len() == n_before {
                break;
            }
        }
        helpers
    }

    /// The parameters that a method waits for.
    fn params(&self, context: Context<'_>, method: MethodId) -> Vec<(MethodId, usize)> {
        let m = &context.program.methods[method.index()];
        let Some(body) = m.body.as_ref().filter(|body| self.may_wait(context, method, body)) else {
            return Vec::new();
        };
        let n = signature(m.descriptor.as_str()).0.len() + usize::from(!m.is_static());
        let waits = |param: usize| {
            let held = body.iter().filter(|(_, inst)| matches!(inst.op, Op::Param(i) if i as usize == param));
            self.is_waited_for(context, method, held.map(|(value, _)| value).collect()).0
        };
        (0..n).filter(|&param| waits(param)).map(|param| (method, param)).collect()
    }

    /// Whether a method calls anything that waits.
    fn may_wait(&self, context: Context<'_>, method: MethodId, body: &Body) -> bool {
        body.iter().any(|(_, inst)| match &inst.op {
            Op::Invoke { method, .. } => calls::waits_for(&method.class, &method.name),
            _ => false,
        }) || context.graph.calls(method).iter().any(|call| {
            call.kind.is_local() && call.targets.iter().any(|target| self.methods.contains(target))
        })
    }

    /// Whether somebody in `region` waits for what is handed over at a place.
    fn waits(&self, context: Context<'_>, region: &Region, (method, site): (MethodId, ValueId)) -> bool {
        let body = context.program.methods[method.index()].body.as_ref();
        let Some(Op::Invoke { method: called, args, kind, .. }) = body.map(|body| body.op(site)) else {
            return false;
        };
        if apis::returns_when_done(&called.name) {
            return true;
        }
        // A thread that is started, or what is made of a task, stands for it, and so does what
        // gives back what is done.
        let stands = matches!(called.name.as_str(), "start" | "<init>");
        let stands = stands || calls::stands_for_tasks(&called.class);
        let own = usize::from(*kind != InvokeKind::Static && !stands);
        let mut level: Vec<(MethodId, Vec<ValueId>)> =
            vec![(method, args.iter().skip(own).copied().chain([site]).collect())];
        for _ in 0..=HANDED_ON_MAX {
            let mut above = Vec::new();
            for (method, values) in level {
                let (waits, gives) = self.is_waited_for(context, method, values);
                if waits {
                    return true;
                }
                if gives {
                    above.extend(callers(context, region, method));
                }
            }
            above.sort_unstable();
            above.dedup();
            level = above.into_iter().map(|(method, site)| (method, vec![site])).collect();
        }
        false
    }

    /// Whether a method waits for what `values` hold, and whether it gives that back.
    fn is_waited_for(&self, context: Context<'_>, method: MethodId, values: Vec<ValueId>) -> (bool, bool) {
        let Some(body) = &context.program.methods[method.index()].body else { return (false, false) };
        let targets = targets(context, method);
        let mut held: FxHashSet<ValueId> = values.into_iter().collect();
        for _ in 0..HANDED_ON_MAX {
            let n_before = held.len();
            for (value, inst) in body.iter() {
                spread(value, &inst.op, &targets, &mut held);
            }
            if held.len() == n_before {
                break;
            }
        }
        let (mut waits, mut gives) = (false, false);
        for (value, inst) in body.iter() {
            match &inst.op {
                Op::Invoke { method: called, args, .. } => {
                    let mut given = args.iter().enumerate().filter(|(_, arg)| held.contains(arg));
                    let is_helper = |param: usize| {
                        let targets = targets.get(&value).map_or(&[][..], Vec::as_slice);
                        targets.iter().any(|&target| self.waiting.contains(&(target, param)))
                    };
                    let is_wait = calls::waits_for(&called.class, &called.name);
                    waits |= given.any(|(param, _)| is_wait || is_helper(param));
                }
                Op::Return(Some(value)) => gives |= held.contains(value),
                _ => {}
            }
        }
        (waits, gives)
    }
}

/// What each call of a method within its thread leads to in the program.
fn targets(context: Context<'_>, method: MethodId) -> FxHashMap<ValueId, Vec<MethodId>> {
    let mut targets: FxHashMap<ValueId, Vec<MethodId>> = FxHashMap::default();
    for call in context.graph.calls(method).iter().filter(|call| call.kind.is_local()) {
        targets.entry(call.site).or_default().extend(&call.targets);
    }
    targets
}

/// Adds what is made of what is `held`, or holds it: lists and their elements.
fn spread(
    value: ValueId,
    op: &Op,
    targets: &FxHashMap<ValueId, Vec<MethodId>>,
    held: &mut FxHashSet<ValueId>,
) {
    match op {
        Op::Cast(_, of) if held.contains(of) => _ = held.insert(value),
        Op::Phi(operands) if operands.iter().any(|(_, of)| held.contains(of)) => _ = held.insert(value),
        Op::Invoke { method, args, kind, .. } if !targets.contains_key(&value) => {
            let receiver = args.first().filter(|_| *kind != InvokeKind::Static);
            if calls::is_kept_by(&method.name) && args.iter().skip(1).any(|arg| held.contains(arg)) {
                held.extend(receiver);
            }
            if calls::gives_kept(&method.name) && receiver.is_some_and(|receiver| held.contains(receiver)) {
                held.insert(value);
            }
        }
        _ => {}
    }
}

/// Where the methods of `region` call one.
fn callers<'a>(
    context: Context<'a>,
    region: &'a Region,
    method: MethodId,
) -> impl Iterator<Item = (MethodId, ValueId)> + 'a {
    let calls = context.graph.callers[method.index()].iter();
    let calls = calls.map(move |&(caller, call)| (caller, &context.graph.calls(caller)[call]));
    calls
        .filter(|(caller, call)| region.contains(*caller) && call.kind.is_local())
        .map(|(caller, call)| (caller, call.site))
}

//! Passed: what can be met only below the method that makes it.
//!
//! An object that is only handed down, from parameter to parameter, and never kept in a
//! field or a collection (why something is done, how a step is to be taken), is met only
//! by what its maker calls. Who calls it further down is one method with many callers, and
//! means with each of them the objects that this one makes: a top-level method that makes
//! no object of a class, and is given none, does not run what such an object would.
//!
//! Over-approximates: whoever makes an object anywhere below a top-level method can hand
//! it to all that is called below that.

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::flow::{Flow, Frame};
use super::resolve::Resolver;
use super::starts::direct_targets;
use super::{Call, CallGraph, CallKind};
use crate::ir::{InvokeKind, Op, ValueId};
use crate::program::{ClassId, MethodId};

/// Calls on objects that are only handed down, and who has these.
#[derive(Clone, Debug, Default)]
pub(crate) struct Passed {
    /// Per method: the sites of such calls, sorted, each with what it can run on objects
    /// of which classes.
    calls: FxHashMap<MethodId, Vec<(ValueId, Targets)>>,
    /// Of the classes of such objects those that a method makes, sorted.
    makes: FxHashMap<MethodId, Vec<ClassId>>,
    /// Those that a method is given.
    given: FxHashMap<MethodId, Vec<ClassId>>,
    /// Those that a method gives back.
    returns: FxHashMap<MethodId, Vec<ClassId>>,
}

type Targets = Vec<(MethodId, Vec<ClassId>)>;

impl Passed {
    /// Of all methods, whose `calls` have all targets that they can mean.
    pub(super) fn find(resolver: &Resolver<'_>, flow: &Flow, calls: &[Vec<Call>]) -> Self {
        let methods = &resolver.program.methods;
        let kept = flow.of_kept(resolver);
        let of_method = |i: usize| -> Option<(MethodId, Vec<(ValueId, Targets)>)> {
            let method = MethodId::new(i);
            let body = methods[i].body.as_ref()?;
            let is_choice = |call: &&Call| call.kind == CallKind::Direct && call.targets.len() > 1;
            let choices = calls[i].iter().filter(is_choice);
            let targets = |v: ValueId| direct_targets(&calls[i], v);
            let frame = Frame { resolver, flow, method, body, targets: &targets };
            let found = choices.filter_map(|call| Some((call.site, handed(&frame, call, &kept)?)));
            let found: Vec<_> = found.collect();
            (!found.is_empty()).then_some((method, found))
        };
        let calls: FxHashMap<_, _> = (0..methods.len()).into_par_iter().filter_map(of_method).collect();
        let all = calls.values().flatten().flat_map(|(_, targets)| targets);
        let classes: FxHashSet<ClassId> = all.flat_map(|(_, classes)| classes.iter().copied()).collect();
        let mut passed = Self { calls, ..Self::default() };
        if classes.is_empty() {
            return passed;
        }
        for (i, m) in methods.iter().enumerate() {
            let method = MethodId::new(i);
            let add = |to: &mut FxHashMap<MethodId, Vec<ClassId>>, found: Vec<ClassId>| {
                let mut found: Vec<ClassId> = found.into_iter().filter(|c| classes.contains(c)).collect();
                if !found.is_empty() {
                    found.sort_unstable();
                    found.dedup();
                    to.insert(method, found);
                }
            };
            let ops = m.body.iter().flat_map(|body| body.iter());
            let made = ops.filter_map(|(_, inst)| match inst.op {
                Op::New(class) => resolver.own_class(class),
                _ => None,
            });
            add(&mut passed.makes, made.collect());
            let params = flow.params(resolver, method).filter(|&node| !kept[node as usize]);
            add(&mut passed.given, params.flat_map(|node| flow.types(node).classes.clone()).collect());
            add(&mut passed.returns, flow.types(flow.result(method)).classes.clone());
        }
        passed
    }

    /// The classes of objects that calls in `region` are for, but that `top`, whose region
    /// it is, does not meet: neither does it make any, nor is it given some, or gets some
    /// back from what it calls beyond. Sorted.
    pub(crate) fn unmet(&self, graph: &CallGraph, top: MethodId, region: &[MethodId]) -> Vec<ClassId> {
        let called = region.iter().filter_map(|method| self.calls.get(method)).flatten();
        let wanted = called.flat_map(|(_, targets)| targets).flat_map(|(_, classes)| classes);
        let mut unmet: Vec<ClassId> = wanted.copied().collect();
        unmet.sort_unstable();
        unmet.dedup();
        if unmet.is_empty() {
            return unmet;
        }
        let made = region.iter().filter_map(|method| self.makes.get(method));
        let called = region.iter().flat_map(|&method| graph.local_edges(method));
        let back = called.filter_map(|(_, target)| self.returns.get(&target));
        let met: FxHashSet<ClassId> =
            made.chain(back).chain(self.given.get(&top)).flatten().copied().collect();
        unmet.retain(|class| !met.contains(class));
        unmet
    }

    /// Whether a call of `caller` can run `target` where no objects of the classes
    /// `unmet`, which are sorted, are met.
    pub(crate) fn can_run(&self, caller: MethodId, call: &Call, target: MethodId, unmet: &[ClassId]) -> bool {
        let Some(calls) = self.calls.get(&caller).filter(|_| call.kind == CallKind::Direct) else {
            return true;
        };
        let Ok(at) = calls.binary_search_by_key(&call.site, |(site, _)| *site) else { return true };
        let mut of_target = calls[at].1.iter().filter(|(t, _)| *t == target);
        of_target.all(|(_, classes)| classes.iter().any(|class| unmet.binary_search(class).is_err()))
    }
}

/// What a call runs on objects of which classes, if all of them were only handed down.
fn handed(frame: &Frame<'_>, call: &Call, kept: &[bool]) -> Option<Targets> {
    let Op::Invoke { kind: InvokeKind::Virtual | InvokeKind::Interface, method, args } =
        frame.body.op(call.site)
    else {
        return None;
    };
    let sources = frame.sources(*args.first()?);
    let types = frame.flow.types_of(&sources);
    if types.open || types.classes.is_empty() || sources.iter().any(|s| s.is_kept(kept)) {
        return None;
    }
    let mut targets = Targets::new();
    for class in types.classes {
        let Some(target) = frame.resolver.lookup(class, method.name, method.descriptor) else { continue };
        match targets.iter_mut().find(|(t, _)| *t == target) {
            Some((_, classes)) => classes.push(class),
            None => targets.push((target, vec![class])),
        }
    }
    (targets.len() > 1).then_some(targets)
}

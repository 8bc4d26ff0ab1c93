//! State machines and other tables of callbacks that a class makes for itself.
//!
//! Principle: a class `E` that makes, in its static initializer, objects of
//! classes with a method that takes an `E` builds a table of its own steps; a
//! method of `E` that calls generic code which in the end calls that very
//! method (a dispatch too wide to follow) runs one of *these* steps, on `this`.
//! So the steps of one entity stay together, however generic the machine is.

use std::collections::BTreeMap;

use rayon::prelude::*;
use rustc_hash::FxHashSet;

use super::resolve::{Resolver, class_of, signature};
use super::{Call, CallKind};
use crate::ir::{Op, ValueId};
use crate::program::{ClassId, MethodId, Name, access};

/// Steps found: the edges to add per method, and the methods that they make
/// part of their entity (no longer handlers of their own).
#[derive(Debug, Default)]
pub(crate) struct Machines {
    pub(crate) edges: BTreeMap<MethodId, Vec<Call>>,
    pub(crate) steps: FxHashSet<MethodId>,
}

/// One step: its method and the parameter that is the entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Step {
    /// The method as the machine calls it (of the generic interface).
    called: MethodId,
    /// The method with the declared types.
    method: MethodId,
    /// Which parameter (0 is the step's `this`) is the entity.
    entity: usize,
}

impl Machines {
    pub(crate) fn find(resolver: &Resolver<'_>, calls: &[Vec<Call>]) -> Self {
        let n = resolver.program.classes.len();
        let found: Vec<(ClassId, Vec<Step>)> = (0..n)
            .into_par_iter()
            .map(ClassId::new)
            .map(|c| (c, steps_of(resolver, c)))
            .filter(|(_, steps)| !steps.is_empty())
            .collect();
        let mut machines = Self::default();
        for (entity, steps) in found {
            machines.add_entity(resolver, calls, entity, &steps);
        }
        machines
    }

    fn add_entity(&mut self, resolver: &Resolver<'_>, calls: &[Vec<Call>], entity: ClassId, steps: &[Step]) {
        let program = resolver.program;
        for i in program.classes[entity.index()].methods.clone() {
            let m = &program.methods[i];
            if m.is_static() || m.name.as_str().starts_with('<') || m.body.is_none() {
                continue;
            }
            let method = MethodId::new(i);
            for call in &calls[i] {
                if call.kind != CallKind::Direct || call.targets.is_empty() {
                    continue;
                }
                let tables = tables_below(calls, &call.targets);
                let mut reached: Vec<Step> =
                    steps.iter().filter(|s| tables.contains(&s.called)).copied().collect();
                reached.dedup();
                self.add_site(resolver, method, call, &reached);
            }
        }
    }

    fn add_site(&mut self, resolver: &Resolver<'_>, method: MethodId, call: &Call, steps: &[Step]) {
        let program = resolver.program;
        let this = program.methods[method.index()]
            .body
            .as_ref()
            .and_then(|body| body.iter().find(|(_, i)| matches!(i.op, Op::Param(0))).map(|(v, _)| v));
        let mut groups: BTreeMap<Vec<Option<ValueId>>, Vec<MethodId>> = BTreeMap::new();
        for step in steps {
            let descriptor = program.methods[step.method.index()].descriptor;
            let n = signature(descriptor.as_str()).0.len() + 1;
            let mut args = vec![None; n];
            for (i, arg) in args.iter_mut().enumerate().skip(1) {
                // The event is what the machine is given last.
                *arg = if i == step.entity { this } else { call.args.last().copied().flatten() };
            }
            groups.entry(args).or_default().push(step.method);
            self.steps.insert(step.method);
            self.steps.insert(step.called);
        }
        for (args, mut targets) in groups {
            targets.sort_unstable();
            targets.dedup();
            let call = Call { site: call.site, targets, kind: CallKind::Callback, args };
            self.edges.entry(method).or_default().push(call);
        }
    }
}

/// Targets of handler tables that are called below `from`, a few calls deep.
fn tables_below(calls: &[Vec<Call>], from: &[MethodId]) -> FxHashSet<MethodId> {
    let mut found = FxHashSet::default();
    let mut seen: FxHashSet<MethodId> = from.iter().copied().collect();
    let mut layer: Vec<MethodId> = from.to_vec();
    for _ in 0..8 {
        let mut next = Vec::new();
        for m in layer {
            for call in &calls[m.index()] {
                match call.kind {
                    CallKind::Table => {
                        found.extend(&call.targets);
                        // A short table is the machine's own.
                        if call.targets.len() <= crate::limits::DISPATCH_TARGETS_MAX {
                            next.extend(call.targets.iter().filter(|t| seen.insert(**t)));
                        }
                    }
                    CallKind::Direct => {
                        next.extend(call.targets.iter().filter(|t| seen.insert(**t)));
                    }
                    _ => {}
                }
            }
        }
        if seen.len() > 200 {
            break;
        }
        layer = next;
    }
    found
}

/// The steps that the static initializer of `entity` makes.
fn steps_of(resolver: &Resolver<'_>, entity: ClassId) -> Vec<Step> {
    let program = resolver.program;
    let (name, descriptor) = (Name::from("<clinit>"), Name::from("()V"));
    let Some(initializer) = resolver.declared(entity, name, descriptor) else { return Vec::new() };
    let Some(body) = &program.methods[initializer.index()].body else { return Vec::new() };
    let supers = resolver.super_names(entity);
    let mut classes: Vec<ClassId> = body
        .iter()
        .filter_map(|(_, inst)| match inst.op {
            Op::New(c) => resolver.own_class(c),
            _ => None,
        })
        .collect();
    classes.sort_unstable();
    classes.dedup();
    classes.into_iter().flat_map(|c| steps_in(resolver, c, &supers)).collect()
}

fn steps_in(resolver: &Resolver<'_>, class: ClassId, entity: &[Name]) -> Vec<Step> {
    let program = resolver.program;
    let mut steps = Vec::new();
    for owner in resolver.supertypes(class) {
        if resolver.is_interface(owner) {
            continue;
        }
        let methods = program.classes[owner.index()].methods.clone();
        for called in methods.clone().map(MethodId::new) {
            let bridge = &program.methods[called.index()];
            if bridge.access & access::BRIDGE == 0 {
                continue;
            }
            let n = signature(bridge.descriptor.as_str()).0.len();
            for method in methods.clone().map(MethodId::new) {
                let m = &program.methods[method.index()];
                let params = signature(m.descriptor.as_str()).0;
                let is_real = m.access & (access::BRIDGE | access::STATIC) == 0;
                if !is_real || m.name != bridge.name || params.len() != n || m.body.is_none() {
                    continue;
                }
                let at = params.iter().position(|p| {
                    class_of(p)
                        .is_some_and(|c| c != "java/lang/Object" && entity.iter().any(|s| s.as_str() == c))
                });
                if let Some(at) = at {
                    steps.push(Step { called, method, entity: at + 1 });
                }
            }
        }
    }
    steps
}

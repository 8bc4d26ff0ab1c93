//! Keepers: objects of libraries that call what they were given whenever they are used.
//!
//! A cache is given a loader and a listener of removals when it is made. Which call on the
//! cache runs them is the library's affair: a lookup loads, and any call may throw out what
//! has expired. They run in the thread of whoever calls the cache, in the middle of what he
//! does, and begin no work of their own. Which interfaces are called so is library
//! knowledge ([`KEPT_CALLBACKS`]).
//!
//! What is given away is followed through the library's builders into the field of the
//! program that keeps what they build; each call on what that field holds runs it.

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::apis::{KEPT_CALLBACKS, Task};
use super::closures::Closures;
use super::resolve::{Resolver, signature};
use super::starts::{direct_targets, matches};
use super::{Call, CallKind};
use crate::ir::{Body, InvokeKind, Op, ValueId};
use crate::limits::DISPATCH_TARGETS_MAX;
use crate::program::{ClassId, FieldRef, MethodId, Program, access};

/// How many methods hand on what was built before a field keeps it.
const HANDED_ON_MAX: usize = 3;

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Keepers {
    /// Per field: what a call on what it holds runs, sorted.
    fields: FxHashMap<FieldRef, Vec<MethodId>>,
}

impl Keepers {
    /// Of the whole program, whose methods make `calls`.
    pub(crate) fn find(resolver: &Resolver<'_>, closures: &Closures, calls: &[Vec<Call>]) -> Self {
        let callbacks: Vec<Vec<MethodId>> =
            (0..resolver.program.classes.len()).map(|i| callbacks(resolver, ClassId::new(i))).collect();
        let mut finder = Finder { resolver, closures, calls, callbacks, results: FxHashMap::default() };
        let mut keepers = Self::default();
        for _ in 0..=HANDED_ON_MAX {
            let n = calls.len();
            let found: Vec<Kept> =
                (0..n).into_par_iter().flat_map_iter(|i| finder.kept_by(MethodId::new(i))).collect();
            let mut grows = false;
            for kept in found {
                for field in kept.fields {
                    add(keepers.fields.entry(field).or_default(), &kept.callbacks);
                }
                if let Some(method) = kept.result {
                    grows |= add(finder.results.entry(method).or_default(), &kept.callbacks);
                }
            }
            if !grows {
                break;
            }
        }
        keepers.fields.retain(|_, callbacks| callbacks.len() <= DISPATCH_TARGETS_MAX);
        keepers
    }

    /// What keepers call that gives nothing back, sorted: it is told what has become of
    /// something, while who asks for a thing is given that.
    pub(crate) fn told(&self, program: &Program) -> Vec<MethodId> {
        let gives_nothing = |m: &MethodId| program.methods[m.index()].descriptor.ends_with(")V");
        let mut told: Vec<MethodId> = self.fields.values().flatten().copied().filter(gives_nothing).collect();
        told.sort_unstable();
        told.dedup();
        told
    }

    /// The edges of a method with `calls` to what its calls on keepers run.
    pub(crate) fn edges(&self, resolver: &Resolver<'_>, body: &Body, calls: &[Call]) -> Vec<Call> {
        if self.fields.is_empty() {
            return Vec::new();
        }
        let edges = body.iter().filter_map(|(site, inst)| {
            let Op::Invoke { args, .. } = &inst.op else { return None };
            let Op::GetField(field, _) = body.op(body.uncast(*args.first()?)) else { return None };
            let targets = self.fields.get(field).filter(|_| direct_targets(calls, site).is_empty())?;
            Some(targets.iter().map(move |&target| {
                let m = &resolver.program.methods[target.index()];
                let n = signature(m.descriptor.as_str()).0.len() + usize::from(!m.is_static());
                Call { site, targets: vec![target], kind: CallKind::Callback, args: vec![None; n] }
            }))
        });
        edges.flatten().collect()
    }
}

/// Adds what is not there yet; whether there was any.
fn add(to: &mut Vec<MethodId>, callbacks: &[MethodId]) -> bool {
    let before = to.len();
    to.extend(callbacks);
    to.sort_unstable();
    to.dedup();
    to.len() > before
}

/// The methods of a class that a keeper calls: its bridge, where it has one, for that is
/// what the library knows.
fn callbacks(resolver: &Resolver<'_>, class: ClassId) -> Vec<MethodId> {
    let supers = resolver.super_names(class);
    let rows = KEPT_CALLBACKS.iter().filter(|row| supers.iter().any(|s| s.as_str() == row.class));
    let rows: Vec<&Task> = rows.collect();
    if rows.is_empty() {
        return Vec::new();
    }
    let program = resolver.program;
    let methods = program.classes[class.index()].methods.clone().map(MethodId::new).filter(|&m| {
        let method = &program.methods[m.index()];
        resolver.has_body(m) && !method.is_static() && rows.iter().any(|row| matches(row.method, method.name))
    });
    let methods: Vec<MethodId> = methods.collect();
    let is_bridge = |m: &MethodId| program.methods[m.index()].access & access::BRIDGE != 0;
    let bridged = |m: &MethodId| {
        let name = program.methods[m.index()].name;
        methods.iter().any(|b| is_bridge(b) && program.methods[b.index()].name == name)
    };
    methods.iter().copied().filter(|m| is_bridge(m) || !bridged(m)).collect()
}

/// Where a method leaves what calls `callbacks`.
struct Kept {
    fields: Vec<FieldRef>,
    /// The method itself, if it gives that back.
    result: Option<MethodId>,
    callbacks: Vec<MethodId>,
}

struct Finder<'a> {
    resolver: &'a Resolver<'a>,
    closures: &'a Closures,
    calls: &'a [Vec<Call>],
    /// Per class: what is called on its objects.
    callbacks: Vec<Vec<MethodId>>,
    /// Per method: what a call on its result runs.
    results: FxHashMap<MethodId, Vec<MethodId>>,
}

impl Finder<'_> {
    /// What a method leaves where, for each thing that it gives away or is given back.
    fn kept_by(&self, method: MethodId) -> Vec<Kept> {
        let m = &self.resolver.program.methods[method.index()];
        let Some(body) = &m.body else { return Vec::new() };
        let given = body.iter().map(|(value, inst)| (value, self.given(method, value, &inst.op)));
        let given = given.filter(|(_, callbacks)| !callbacks.is_empty());
        given.map(|(value, callbacks)| self.left(method, body, value, callbacks)).collect()
    }

    /// Where a method leaves what has been given `value`, on which `callbacks` are called.
    fn left(&self, method: MethodId, body: &Body, value: ValueId, callbacks: Vec<MethodId>) -> Kept {
        let mut holds = FxHashSet::from_iter([value]);
        self.spread(method, body, &mut holds);
        let mut kept = Kept { fields: Vec::new(), result: None, callbacks };
        for (_, inst) in body.iter() {
            match &inst.op {
                Op::PutField(field, _, value) if holds.contains(value) => kept.fields.push(*field),
                Op::Return(Some(value)) if holds.contains(value) => kept.result = Some(method),
                _ => {}
            }
        }
        kept
    }

    /// What is called on a value once a library has it.
    fn given(&self, method: MethodId, value: ValueId, op: &Op) -> Vec<MethodId> {
        match op {
            Op::New(class) => {
                let class = self.resolver.own_class(*class);
                class.map_or_else(Vec::new, |class| self.callbacks[class.index()].clone())
            }
            Op::InvokeDynamic { .. } => {
                let closure = self.closures.made_at(method, value).map(|id| self.closures.get(id));
                let kept = |interface: &str| KEPT_CALLBACKS.iter().any(|row| row.class == interface);
                let closure = closure.filter(|closure| kept(closure.interface.as_str()));
                closure.map_or_else(Vec::new, |closure| closure.targets.clone())
            }
            Op::Invoke { .. } => {
                let targets = direct_targets(&self.calls[method.index()], value);
                targets.iter().filter_map(|target| self.results.get(target)).flatten().copied().collect()
            }
            _ => Vec::new(),
        }
    }

    /// Adds the objects of libraries that are given what `holds` has, or made of it.
    fn spread(&self, method: MethodId, body: &Body, holds: &mut FxHashSet<ValueId>) {
        let calls = &self.calls[method.index()];
        // What is built is built in the order of the code, but for a builder of its own.
        for _ in 0..=HANDED_ON_MAX {
            let before = holds.len();
            for (value, inst) in body.iter() {
                match &inst.op {
                    Op::Cast(_, of) if holds.contains(of) => {
                        holds.insert(value);
                    }
                    Op::Phi(operands) if operands.iter().any(|(_, of)| holds.contains(of)) => {
                        holds.insert(value);
                    }
                    Op::Invoke { kind, args, .. }
                        if args.iter().any(|a| holds.contains(a))
                            && direct_targets(calls, value).is_empty() =>
                    {
                        holds.insert(value);
                        holds.extend(args.first().filter(|_| *kind != InvokeKind::Static));
                    }
                    _ => {}
                }
            }
            if holds.len() == before {
                break;
            }
        }
    }
}

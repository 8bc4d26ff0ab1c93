//! Origins: which tasks a unit can hand over at a start site whose task came in
//! as a parameter: a wrapper of an executor starts every task of the program, a
//! unit that calls the wrapper only those that it made.

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::Context;
use super::regions::Region;
use crate::ir::{BootstrapArg, Op, ValueId};
use crate::limits::SUPERS_MAX;
use crate::program::{ClassId, Method, MethodId, MethodRef, Name};

/// Values looked at for one task.
const VALUES_MAX: usize = 300;

/// Where the task of a start site comes from, within one region.
#[derive(Debug, Default)]
pub(super) struct Origins {
    classes: Vec<Name>,
    lambdas: Vec<MethodRef>,
    /// Some of it comes from elsewhere.
    pub(super) unknown: bool,
}

impl Origins {
    /// Of `value` in `method`.
    pub(super) fn of(
        context: Context<'_>,
        region: &Region,
        method: MethodId,
        value: Option<ValueId>,
    ) -> Self {
        let mut origins = Origins { unknown: value.is_none(), ..Origins::default() };
        let mut stack: Vec<(MethodId, ValueId)> = value.map(|v| (method, v)).into_iter().collect();
        let mut seen: FxHashSet<(MethodId, ValueId)> = FxHashSet::default();
        while let Some((method, value)) = stack.pop() {
            if !seen.insert((method, value)) {
                continue;
            }
            let Some(body) = &context.program.methods[method.index()].body else { continue };
            if seen.len() > VALUES_MAX {
                origins.unknown = true;
                break;
            }
            match body.op(value) {
                Op::New(class) => origins.classes.push(*class),
                Op::InvokeDynamic { bootstrap, .. } => {
                    origins.lambdas.extend(bootstrap.args.iter().filter_map(|a| match a {
                        BootstrapArg::Handle { target, .. } => Some(*target),
                        _ => None,
                    }));
                }
                Op::Phi(operands) => stack.extend(operands.iter().map(|&(_, v)| (method, v))),
                Op::Cast(_, v) => stack.push((method, *v)),
                Op::Param(i) if method != region.root => {
                    for &(caller, call) in &context.graph.callers[method.index()] {
                        let call = &context.graph.calls(caller)[call];
                        if !call.kind.is_local() || !region.contains(caller) {
                            continue;
                        }
                        match call.args.get(*i as usize) {
                            Some(Some(v)) => stack.push((caller, *v)),
                            _ => origins.unknown = true,
                        }
                    }
                }
                _ => origins.unknown = true,
            }
        }
        origins
    }

    /// Whether a task that was made in the region runs `target`.
    pub(super) fn made(&self, context: Context<'_>, target: MethodId) -> bool {
        let method = &context.program.methods[target.index()];
        let name = context.program.classes[method.class.index()].name;
        let lambda =
            |l: &MethodRef| l.class == name && l.name == method.name && l.descriptor == method.descriptor;
        if self.lambdas.iter().any(lambda) {
            return true;
        }
        self.classes.iter().any(|class| runs(context, *class, method.class))
    }
}

/// Per method: the classes that it makes objects of, one for each place.
pub(super) fn made(context: Context<'_>) -> Vec<Vec<ClassId>> {
    let of = |method: &Method| {
        let insts = method.body.iter().flat_map(|body| body.iter());
        let made = insts.filter_map(|(_, inst)| match inst.op {
            Op::New(class) => context.program.class(class),
            _ => None,
        });
        made.collect()
    };
    context.program.methods.par_iter().map(of).collect()
}

/// Per class: the places where a region makes a task that runs what the class defines.
/// Each is another task, also where all are started at one place (the constructor of what
/// all extend).
pub(super) fn n_made(
    context: Context<'_>,
    made: &[Vec<ClassId>],
    region: &Region,
) -> FxHashMap<ClassId, usize> {
    let mut places: FxHashMap<ClassId, usize> = FxHashMap::default();
    for &class in region.methods.iter().flat_map(|method| &made[method.index()]) {
        *places.entry(class).or_default() += 1;
    }
    let mut n_made: FxHashMap<ClassId, usize> = FxHashMap::default();
    for (class, n) in places {
        for ancestor in with_ancestors(context, class) {
            *n_made.entry(ancestor).or_default() += n;
        }
    }
    n_made
}

/// Whether objects of `class` inherit from `ancestor`, or are of it: tasks can
/// inherit what they run.
fn runs(context: Context<'_>, class: Name, ancestor: ClassId) -> bool {
    context.program.class(class).is_some_and(|class| with_ancestors(context, class).any(|c| c == ancestor))
}

/// A class and those of the program that it extends.
fn with_ancestors(context: Context<'_>, class: ClassId) -> impl Iterator<Item = ClassId> {
    let above = move |class: &ClassId| {
        let name = context.program.classes[class.index()].super_name?;
        context.program.class(name)
    };
    std::iter::successors(Some(class), above).take(SUPERS_MAX)
}

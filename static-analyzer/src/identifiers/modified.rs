//! Modified variables (lprof: MV): field writes that can change a logged value
//! while a request runs.
//!
//! Not a modification: a write by the object's own constructor, to an object
//! made in the same method, of a final field, and a lazy cache (the method tests
//! the field before it sets it: whoever looks sees one value only).

use rayon::prelude::*;
use rustc_hash::FxHashSet;

use super::Bindings;
use crate::call_graph::resolve::class_of;
use crate::ir::{Body, Const, Op, ValueId};
use crate::limits::MODIFIED_MAX;
use crate::path::{AccessPath, LogPoint, Root, Step};
use crate::program::{FieldRef, MethodId, Name, Program};

/// Fields that stand on the path of some logged value.
fn logged_fields(log_points: &[LogPoint]) -> FxHashSet<FieldRef> {
    let paths = log_points.iter().flat_map(|p| &p.variables).filter_map(|v| v.path.as_ref());
    paths
        .flat_map(|p| {
            let root = match p.root {
                Root::Static(f) => Some(f),
                _ => None,
            };
            root.into_iter().chain(p.steps.iter().filter_map(|s| match s {
                Step::Field(f) => Some(*f),
                _ => None,
            }))
        })
        .collect()
}

/// What the body of each method itself modifies (index of [`MethodId`]), sorted.
pub(crate) fn own_writes(
    program: &Program,
    bindings: &Bindings<'_>,
    log_points: &[LogPoint],
) -> Vec<Vec<AccessPath>> {
    let logged = logged_fields(log_points);
    let methods = (0..program.methods.len()).into_par_iter();
    methods.map(|i| writes_of(program, bindings, &logged, MethodId::new(i))).collect()
}

fn writes_of(
    program: &Program,
    bindings: &Bindings<'_>,
    logged: &FxHashSet<FieldRef>,
    method: MethodId,
) -> Vec<AccessPath> {
    let m = &program.methods[method.index()];
    let Some(body) = &m.body else { return Vec::new() };
    let is_constructor = m.name.as_str() == "<init>";
    let mut found = Vec::new();
    for (_, inst) in body.iter() {
        let Op::PutField(f, Some(object), value) = &inst.op else { continue };
        // What is cleared is not another one.
        if matches!(body.op(*value), Op::Const(Const::Null)) {
            continue;
        }
        let pc = inst.pc;
        // Objects on the way to a logged value are replaced as a whole.
        let matters = logged.contains(f) || holds_objects(program, *f);
        if !matters || bindings.is_final(*f) || is_lazy(body, *f, pc) {
            continue;
        }
        let mut path = bindings.path(method, *object);
        let own = is_constructor && path.root == Root::Param(0) && path.steps.is_empty();
        if own || matches!(path.root, Root::Local(_)) {
            continue;
        }
        path.steps.push(Step::Field(*f));
        found.push(path);
    }
    found.sort();
    found.dedup();
    found.truncate(MODIFIED_MAX);
    found
}

fn holds_objects(program: &Program, f: FieldRef) -> bool {
    class_of(f.descriptor.as_str()).is_some_and(|c| program.class(Name::from(c)).is_some())
}

/// The method branches on the field itself (null or zero) before it sets it.
fn is_lazy(body: &Body, f: FieldRef, pc: u32) -> bool {
    body.iter().any(|(_, inst)| match &inst.op {
        Op::If(_, a, None) => inst.pc < pc && reads(body, *a, f),
        _ => false,
    })
}

fn reads(body: &Body, value: ValueId, f: FieldRef) -> bool {
    matches!(body.op(value), Op::GetField(g, _) if *g == f)
}

//! Owned objects: what an object makes in its constructor for itself knows it.
//! A session makes its connection handler with `new Handler(this)`, so the
//! handler's session is the session: `s.handler.session` is another name of `s`
//! (constructor-field aliases over two classes; captured variables of inner
//! classes are such fields too).

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::Bindings;
use crate::ir::{Op, ValueId};
use crate::path::{AccessPath, Root, Step};
use crate::program::{FieldRef, MethodId, Program};

/// `p.owner_field.owned_field` is `p` followed by these steps.
pub(super) type Owned = FxHashMap<(FieldRef, FieldRef), Vec<Step>>;

/// All owned objects of the program.
pub(super) fn find(bindings: &Bindings<'_>) -> Owned {
    let program = bindings.program;
    let rewritten = written_later(program);
    let found: Vec<((FieldRef, FieldRef), Vec<Step>)> = (0..program.methods.len())
        .into_par_iter()
        .filter(|&i| program.methods[i].name.as_str() == "<init>")
        .flat_map_iter(|i| owned_by(bindings, &rewritten, MethodId::new(i)))
        .collect();
    let mut all: FxHashMap<(FieldRef, FieldRef), Option<Vec<Step>>> = FxHashMap::default();
    for (key, steps) in found {
        // All constructors must agree.
        all.entry(key)
            .and_modify(|known| *known = known.take().filter(|known| *known == steps))
            .or_insert(Some(steps));
    }
    all.into_iter().filter_map(|(key, steps)| Some((key, steps?))).collect()
}

/// Fields that are written outside of constructors.
fn written_later(program: &Program) -> FxHashSet<FieldRef> {
    let methods = program.methods.par_iter().filter(|m| m.name.as_str() != "<init>");
    let written = methods.filter_map(|m| m.body.as_ref()).flat_map_iter(|body| {
        body.iter().filter_map(|(_, inst)| match &inst.op {
            Op::PutField(f, Some(_), _) => Some(*f),
            _ => None,
        })
    });
    written.collect()
}

/// What one constructor makes for its object.
fn owned_by(
    bindings: &Bindings<'_>,
    rewritten: &FxHashSet<FieldRef>,
    constructor: MethodId,
) -> Vec<((FieldRef, FieldRef), Vec<Step>)> {
    let mut found = Vec::new();
    let this = AccessPath { root: Root::Param(0), steps: Vec::new() };
    for ((object, owner), value) in bindings.stores(constructor) {
        let Some(made) = *value else { continue };
        if *object != this || rewritten.contains(owner) {
            continue;
        }
        for (field, argument) in made_with(bindings, constructor, made) {
            if rewritten.contains(&field) {
                continue;
            }
            let path = bindings.path(constructor, argument);
            let steps = match path.root {
                Root::Param(0) => Some(path.steps),
                Root::Param(_) if path.steps.is_empty() => kept(bindings, constructor, &path)
                    .filter(|f| !rewritten.contains(f))
                    .map(|f| vec![Step::Field(f)]),
                _ => None,
            };
            if let Some(steps) = steps.filter(|steps| steps.first() != Some(&Step::Field(*owner))) {
                found.push(((*owner, field), steps));
            }
        }
    }
    found
}

/// The fields of the object made at `made` that its constructor fills with
/// arguments.
fn made_with(bindings: &Bindings<'_>, method: MethodId, made: ValueId) -> Vec<(FieldRef, ValueId)> {
    let Some(body) = bindings.body(method) else { return Vec::new() };
    let Some(call) = bindings.construction(method, body, made) else { return Vec::new() };
    let Some(&target) = call.targets.first() else { return Vec::new() };
    let fields = bindings.constructed_fields(target);
    let filled = fields.into_iter().filter_map(|f| {
        let path = bindings.initial(target, f, 0)?;
        let Root::Param(i) = path.root else { return None };
        let argument = call.args.get(usize::from(i)).copied().flatten()?;
        (path.steps.is_empty() && i > 0).then_some((f, argument))
    });
    filled.collect()
}

/// The field in which a constructor keeps one of its parameters.
fn kept(bindings: &Bindings<'_>, constructor: MethodId, param: &AccessPath) -> Option<FieldRef> {
    let this = AccessPath { root: Root::Param(0), steps: Vec::new() };
    let stores = bindings.stores(constructor).iter();
    let mut fields: Vec<FieldRef> = stores
        .filter(|((object, _), value)| {
            *object == this && value.is_some_and(|v| bindings.path(constructor, v) == *param)
        })
        .map(|((_, f), _)| *f)
        .collect();
    fields.sort_unstable();
    fields.first().copied()
}

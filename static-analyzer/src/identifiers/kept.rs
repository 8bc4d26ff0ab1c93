//! What is kept under its own name: a table of sessions whose every entry is put
//! under the session's id gives, asked for an id, the session of that id. So
//! `sessions.get(id).id` is another name of `id`, and what the session prints of
//! itself is known to who only knows the key it was found by.

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::Bindings;
use super::bindings::{Walk, is_null};
use crate::call_graph::apis;
use crate::ir::{Body, InvokeKind, Op, ValueId};
use crate::limits::BINDING_DEPTH_MAX;
use crate::path::{AccessPath, Root, Step};
use crate::program::{FieldRef, MethodId};

/// Objects around what knows its key.
const ENVELOPES_MAX: usize = 3;

/// Tables whose values know their keys.
#[derive(Debug, Default)]
pub(super) struct Kept {
    /// For each field that holds such a table: ways from every value put there to
    /// the key that it is put under.
    tables: FxHashMap<FieldRef, Vec<Vec<Step>>>,
    /// First steps of all ways.
    steps: FxHashSet<Step>,
}

/// All tables of the program whose values know their keys.
pub(super) fn find(bindings: &Bindings<'_>) -> Kept {
    let puts: Vec<(FieldRef, Vec<Vec<Step>>)> = (0..bindings.program.methods.len())
        .into_par_iter()
        .flat_map_iter(|i| puts_of(bindings, MethodId::new(i)))
        .collect();
    let mut tables: FxHashMap<FieldRef, Vec<Vec<Step>>> = FxHashMap::default();
    for (table, ways) in puts {
        // All who put something there must agree.
        tables.entry(table).and_modify(|known| known.retain(|way| ways.contains(way))).or_insert(ways);
    }
    let steps = tables.values().flatten().filter_map(|way| way.first().copied()).collect();
    Kept { tables, steps }
}

fn puts_of(bindings: &Bindings<'_>, method: MethodId) -> Vec<(FieldRef, Vec<Vec<Step>>)> {
    let Some(body) = bindings.body(method) else { return Vec::new() };
    let mut found = Vec::new();
    for (_, inst) in body.iter() {
        let Op::Invoke { kind, method: callee, args } = &inst.op else { continue };
        let [table, key, value, ..] = args[..] else { continue };
        if *kind == InvokeKind::Static
            || !apis::TABLE_PUT.contains(&callee.name.as_str())
            || !bindings.is_library(callee.class)
        {
            continue;
        }
        if let Some(table) = field_of(&bindings.path(method, table)) {
            let mut ways = ways_to(bindings, (method, body), value, key, 0);
            ways.sort_unstable();
            ways.dedup();
            found.push((table, ways));
        }
    }
    found
}

/// The field that holds what a path leads to.
fn field_of(path: &AccessPath) -> Option<FieldRef> {
    match (path.root, path.steps.last()) {
        (_, Some(Step::Field(f))) => Some(*f),
        (Root::Static(f), None) => Some(f),
        _ => None,
    }
}

/// The steps from `value` to `key`. All elements of an array have one path: what is made of
/// one is not known to be made of the key.
fn ways_to(
    bindings: &Bindings<'_>,
    (method, body): (MethodId, &Body),
    value: ValueId,
    key: ValueId,
    depth: usize,
) -> Vec<Vec<Step>> {
    let (path, key_path) = (bindings.path(method, value), bindings.path(method, key));
    let mut ways: Vec<Vec<Step>> = rest_of(&key_path, &path).into_iter().collect();
    let made = body.uncast(value);
    if let Some(call) = bindings.construction(method, body, made)
        && let Some(&constructor) = call.targets.first()
    {
        for field in bindings.constructed_fields(constructor) {
            let Some(initial) = bindings.initial(constructor, field, 0) else { continue };
            let Root::Param(i) = initial.root else { continue };
            let Some(argument) = call.args.get(usize::from(i)).copied().flatten() else { continue };
            let mut given = bindings.path(method, argument);
            if given.steps.contains(&Step::Element) && body.uncast(argument) != body.uncast(key) {
                continue;
            }
            let is_whole = initial.steps.is_empty();
            given.steps.extend(initial.steps);
            let mut rests: Vec<Vec<Step>> = rest_of(&key_path, &given).into_iter().collect();
            // An envelope around what knows its key.
            if is_whole && rests.is_empty() && depth < ENVELOPES_MAX {
                rests = ways_to(bindings, (method, body), argument, key, depth + 1);
            }
            ways.extend(rests.into_iter().map(|rest| {
                let mut steps = vec![Step::Field(field)];
                steps.extend(rest);
                steps
            }));
        }
    }
    ways.retain(|steps| matches!(steps.first(), Some(Step::Field(_))));
    ways
}

/// What is left of `path` behind `prefix`.
fn rest_of(path: &AccessPath, prefix: &AccessPath) -> Option<Vec<Step>> {
    let rest = path.steps.strip_prefix(&prefix.steps[..])?;
    (path.root == prefix.root).then(|| rest.to_vec())
}

impl Walk<'_, '_> {
    /// What the given steps lead to from the argument or receiver `value`.
    pub(super) fn part_of(&mut self, value: ValueId, steps: &[Step], depth: usize) -> AccessPath {
        if let Some(path) = self.by_key(value, steps, depth) {
            return path;
        }
        let base = self.path(value, depth);
        self.extend(base, steps, depth)
    }

    /// The same, if `value` was found by a key that the steps lead to.
    pub(super) fn by_key(&mut self, value: ValueId, steps: &[Step], depth: usize) -> Option<AccessPath> {
        let bindings = self.bindings;
        if depth > BINDING_DEPTH_MAX || bindings.kept.tables.is_empty() {
            return None;
        }
        let value = self.body.uncast(value);
        if let Some((envelope, inner)) = self.taken_from(value) {
            let steps: Vec<Step> = inner.iter().chain(steps).copied().collect();
            return self.by_key(envelope, &steps, depth + 1);
        }
        if !steps.first().is_some_and(|step| bindings.kept.steps.contains(step)) {
            return None;
        }
        let Op::Invoke { kind, method: callee, args } = self.body.op(value) else { return None };
        let mut targets = bindings.targets(self.method, value);
        let Some((call, target)) = targets.next() else {
            let [table, key, ..] = args[..] else { return None };
            let is_lookup = *kind != InvokeKind::Static
                && apis::TABLE_GET.contains(&callee.name.as_str())
                && bindings.is_library(callee.class);
            let table = is_lookup.then(|| field_of(&self.path(table, depth + 1)))??;
            let ways = bindings.kept.tables.get(&table)?;
            let way = ways.iter().find(|way| steps.starts_with(way))?;
            return Some(self.part_of(key, &steps[way.len()..], depth + 1));
        };
        // A method that looks it up for its callers.
        if targets.next().is_some() || bindings.returned(target)?.steps.last() != Some(&Step::Element) {
            return None;
        }
        let body = bindings.body(target)?;
        let path = Walk::new(bindings, target, body).by_key(sole_return(body)?, steps, depth + 1)?;
        let Root::Param(i) = path.root else { return None };
        let argument = call.args.get(usize::from(i)).copied().flatten()?;
        Some(self.part_of(argument, &path.steps, depth + 1))
    }
}

impl Walk<'_, '_> {
    /// The object that a value is read from, by its fields or a getter, and how.
    fn taken_from(&self, value: ValueId) -> Option<(ValueId, Vec<Step>)> {
        match self.body.op(value) {
            Op::GetField(field, Some(object)) => Some((*object, vec![Step::Field(*field)])),
            Op::Invoke { args, .. } => {
                let mut targets = self.bindings.targets(self.method, value);
                let (Some((_, target)), None, &[object]) = (targets.next(), targets.next(), &args[..]) else {
                    return None;
                };
                let AccessPath { root, steps } = self.bindings.returned(target)?;
                let is_getter = *root == Root::Param(0) && matches!(steps[..], [Step::Field(_)]);
                is_getter.then(|| (object, steps.clone()))
            }
            _ => None,
        }
    }
}

/// The only value, but for null, that a body returns.
fn sole_return(body: &Body) -> Option<ValueId> {
    let returned = body.iter().filter_map(|(_, inst)| match inst.op {
        Op::Return(Some(value)) if !is_null(body, value) => Some(body.uncast(value)),
        _ => None,
    });
    let mut returned: Vec<ValueId> = returned.collect();
    returned.dedup();
    match returned[..] {
        [value] => Some(value),
        _ => None,
    }
}

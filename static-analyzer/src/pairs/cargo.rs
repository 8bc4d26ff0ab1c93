//! Cargo: what a hand-off can carry. Where values could not be followed, an
//! identifier of the same value class on both ends counts only if the cargo can
//! hold it: a message or task has a field of that name or of that class, the key
//! of a store was made from it.

use std::sync::{Arc, OnceLock};

use rustc_hash::{FxHashMap, FxHashSet};

use super::handoffs::{Entry, Handoff};
use super::regions::Edge;
use super::{Context, apis};
use crate::identifiers::{Identifier, plain};
use crate::ir::{Body, Op, ValueId};
use crate::path::Root;
use crate::program::{MethodId, Name, access};

/// How deep the fields of the fields of a message are looked at.
const FIELD_DEPTH_MAX: usize = 3;

/// Instructions looked at to find what a key is made from.
const SLICE_MAX: usize = 120;

/// What a hand-off can carry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Cargo {
    /// Unknown: anything.
    Any,
    /// An object of this class.
    Object(Name),
    /// The task that this is the method of, and its arguments.
    Task(MethodId),
    /// The arguments of this method: who serves it stays where it is.
    Arguments(MethodId),
    /// Values that were read from fields or getters of these names.
    Made(Arc<[Name]>),
}

/// What passes through all hand-offs of a way: known for the first that says
/// something.
pub(super) fn narrowest<'h>(way: &[&'h Handoff]) -> &'h Cargo {
    way.iter().map(|h| &h.cargo).find(|cargo| **cargo != Cargo::Any).unwrap_or(&Cargo::Any)
}

/// What is named by the fields of classes, looked up when asked for: most
/// hand-offs carry what was followed, and nobody asks.
pub(super) struct Manifest<'a> {
    context: Context<'a>,
    objects: FxHashMap<Name, OnceLock<FxHashSet<String>>>,
    tasks: FxHashMap<MethodId, OnceLock<FxHashSet<String>>>,
    arguments: FxHashMap<MethodId, OnceLock<FxHashSet<String>>>,
    /// Value classes that are declared in the program, as (class, field).
    declared: FxHashMap<Name, (String, String)>,
}

impl<'a> Manifest<'a> {
    /// The names that all these cargos can carry.
    pub(super) fn new<'c>(context: Context<'a>, cargos: impl Iterator<Item = &'c Cargo>) -> Self {
        let (mut objects, mut tasks) = (FxHashMap::default(), FxHashMap::default());
        let mut arguments = FxHashMap::default();
        for cargo in cargos {
            match cargo {
                Cargo::Object(class) => _ = objects.entry(*class).or_default(),
                Cargo::Task(method) => _ = tasks.entry(*method).or_default(),
                Cargo::Arguments(method) => _ = arguments.entry(*method).or_default(),
                Cargo::Any | Cargo::Made(_) => {}
            }
        }
        Manifest { context, objects, tasks, arguments, declared: declared(context) }
    }

    /// Whether the program declares a value class itself.
    pub(super) fn declares(&self, value_class: Name) -> bool {
        self.declared.contains_key(&value_class)
    }

    /// Whether values of this class are the same thing wherever they are printed,
    /// and `cargo` can hold one. What the program does not declare itself (text of
    /// exceptions, names of parameters) says nothing.
    pub(super) fn holds(&self, cargo: &Cargo, value_class: Name) -> bool {
        let Some((class, field)) = self.declared.get(&value_class) else { return false };
        let named = |names: &FxHashSet<String>| names.contains(field) || names.contains(class);
        let context = self.context;
        match cargo {
            Cargo::Any => true,
            Cargo::Object(name) => self
                .objects
                .get(name)
                .is_some_and(|names| named(names.get_or_init(|| object_names(context, *name)))),
            Cargo::Task(method) => self
                .tasks
                .get(method)
                .is_some_and(|names| named(names.get_or_init(|| task_names(context, *method)))),
            Cargo::Arguments(method) => self
                .arguments
                .get(method)
                .is_some_and(|names| named(names.get_or_init(|| argument_names(context, *method)))),
            Cargo::Made(names) => names.iter().map(simple_plain).any(|n| n == *field || n == *class),
        }
    }
}

/// The value classes that a receiver makes of the bytes that it was handed in a message:
/// whoever packed them knew the same thing by the same name. Of a message without bytes
/// everything can be followed.
pub(super) fn unpacked(
    context: Context<'_>,
    identifiers: &[Identifier],
    ways: &[Vec<&Handoff>],
) -> Vec<Name> {
    let mut found = Vec::new();
    for handoff in ways.iter().filter_map(|way| way.last()) {
        let (Cargo::Object(class), Entry::Channel { taken: Some(taken), .. }) =
            (&handoff.cargo, &handoff.entry)
        else {
            continue;
        };
        if !has_bytes(context, *class, FIELD_DEPTH_MAX) {
            continue;
        }
        let Some(body) = &context.program.methods[taken.0.index()].body else { continue };
        for identifier in identifiers.iter().filter(|identifier| identifier.place.frame == taken.0) {
            if let Root::Local(made) = identifier.place.path.root
                && is_made_of_part(body, made, *class, taken.1)
            {
                found.push(identifier.value_class);
            }
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// Whether an object of `class` keeps bytes, itself or in what it holds.
fn has_bytes(context: Context<'_>, class: Name, depth: usize) -> bool {
    let Some(id) = context.program.class(class) else { return false };
    let fields = &context.program.classes[id.index()].fields;
    fields.iter().filter(|field| field.access & access::STATIC == 0).any(|field| {
        let inner = field.descriptor.strip_prefix('L').and_then(|inner| inner.strip_suffix(';'));
        apis::BYTES.contains(&&*field.descriptor)
            || (depth > 0 && inner.is_some_and(|inner| has_bytes(context, Name::from(inner), depth - 1)))
    })
}

/// Whether the result of a call is made of a part of `message`, taken as `class`.
fn is_made_of_part(body: &Body, made: ValueId, class: Name, message: ValueId) -> bool {
    let Op::Invoke { args, .. } = body.op(body.uncast(made)) else { return false };
    let mut todo = args.to_vec();
    let mut n_looked_at = 0;
    while let Some(value) = todo.pop() {
        n_looked_at += 1;
        match body.op(value) {
            Op::Cast(cast, of) if *cast == class && body.uncast(*of) == message => return true,
            Op::Param(_) if value == message => return true,
            _ if n_looked_at > SLICE_MAX => return false,
            Op::Invoke { args, .. } => todo.extend(args.iter().copied()),
            Op::GetField(_, Some(object)) => todo.push(*object),
            Op::Cast(_, of) => todo.push(*of),
            _ => {}
        }
    }
    false
}

fn declared(context: Context<'_>) -> FxHashMap<Name, (String, String)> {
    let simple = |name: Name| name.rsplit('/').next().map(str::to_owned).unwrap_or_default();
    let classes: FxHashSet<String> = context.program.classes.iter().map(|c| simple(c.name)).collect();
    let identifiers = context.top_levels.methods.iter().flat_map(|t| &t.identifiers);
    let mut declared = FxHashMap::default();
    for identifier in identifiers {
        let name = identifier.value_class;
        // An object is named after its class alone.
        let (class, field) = name.rsplit_once('.').unwrap_or((&name, &name));
        if classes.contains(class) && !name.contains(':') && !name.contains('(') {
            declared.entry(name).or_insert_with(|| (plain(class), plain(field)));
        }
    }
    declared
}

/// A name, of a class without its package.
fn simple_plain(name: &Name) -> String {
    plain(name.rsplit('/').next().unwrap_or(name.as_str()))
}

fn object_names(context: Context<'_>, class: Name) -> FxHashSet<String> {
    let mut names = FxHashSet::default();
    add_class(context, class, FIELD_DEPTH_MAX, &mut names);
    names
}

/// Adds the names of a class, of its fields, and of what is in those.
fn add_class(context: Context<'_>, class: Name, depth: usize, names: &mut FxHashSet<String>) {
    let mut at = Some(class);
    while let Some(name) = at {
        names.insert(plain(&name));
        let Some(id) = context.program.class(name) else { return };
        let class = &context.program.classes[id.index()];
        for field in class.fields.iter().filter(|f| f.access & access::STATIC == 0) {
            names.insert(plain(&field.name));
            let element = field.descriptor.trim_start_matches('[');
            let inner = element.strip_prefix('L').and_then(|d| d.strip_suffix(';'));
            if let Some(inner) = inner.filter(|_| depth > 0) {
                add_class(context, Name::from(inner), depth - 1, names);
            }
        }
        at = class.super_name;
    }
}

fn task_names(context: Context<'_>, method: MethodId) -> FxHashSet<String> {
    let mut names = argument_names(context, method);
    let method = &context.program.methods[method.index()];
    if !method.is_static() {
        let own = context.program.classes[method.class.index()].name;
        add_class(context, own, FIELD_DEPTH_MAX, &mut names);
    }
    names
}

fn argument_names(context: Context<'_>, method: MethodId) -> FxHashSet<String> {
    let mut names = FxHashSet::default();
    let m = &context.program.methods[method.index()];
    for name in m.parameter_names.iter().flatten() {
        names.insert(plain(name));
    }
    let descriptor = m.descriptor.as_str();
    for part in descriptor[1..].split(')').next().unwrap_or_default().split(';') {
        if let Some((_, class)) = part.split_once('L') {
            add_class(context, Name::from(class), FIELD_DEPTH_MAX, &mut names);
        }
    }
    names
}

/// Names of the fields and getters that a value is made from, following
/// parameters up along the calls of `way`.
pub(super) fn made_from(context: Context<'_>, method: MethodId, value: ValueId, way: &[Edge]) -> Vec<Name> {
    let mut names = Vec::new();
    let mut stack = vec![(method, value, 0)];
    let mut seen = FxHashSet::default();
    while let Some((method, value, level)) = stack.pop() {
        if seen.len() > SLICE_MAX || !seen.insert((method, value)) {
            continue;
        }
        let Some(body) = &context.program.methods[method.index()].body else { continue };
        let mut push = |v: ValueId| stack.push((method, v, level));
        match body.op(value) {
            Op::GetField(field, object) => {
                names.push(field.name);
                object.iter().for_each(|&v| push(v));
            }
            Op::Invoke { method, args, .. } => {
                names.push(method.name);
                args.iter().for_each(|&v| push(v));
            }
            Op::InvokeDynamic { args, .. } => args.iter().for_each(|&v| push(v)),
            Op::Phi(operands) => operands.iter().for_each(|&(_, v)| push(v)),
            Op::Cast(_, v) | Op::Convert(_, v) | Op::ArrayLoad(v, _) => push(*v),
            Op::Param(i) => {
                let Some(&(caller, call, _)) = way.get(level) else { continue };
                let args = &context.graph.calls(caller)[call].args;
                if let Some(Some(v)) = args.get(*i as usize) {
                    stack.push((caller, *v, level + 1));
                }
            }
            _ => {}
        }
    }
    names.sort_unstable();
    names.dedup();
    names
}

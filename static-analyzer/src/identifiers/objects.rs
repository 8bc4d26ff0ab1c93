//! Objects: values that name something only together. A container is the
//! fourth of the second attempt of an application that started at some time; its
//! number alone names nothing. What has to be equal for two objects to be the
//! same is written in their `equals`: where a log point prints all of it, the
//! object itself is a variable, of the object's class, whose value is all parts.
//!
//! Where only a part of it is printed as values (the rest is chosen among
//! constants, by a flag or kind), the object's text stands for it.

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::Bindings;
use crate::ir::{Body, Op, ValueId};
use crate::limits::PATH_FIELDS_MAX;
use crate::path::{AccessPath, LogPoint, Root, Step, Variable};
use crate::program::{MethodId, MethodRef, Name, Program, access};

/// Own methods followed from `equals`.
const HELPER_DEPTH_MAX: usize = 2;

/// Adds to each log point the objects that it prints completely.
pub(crate) fn add(program: &Program, bindings: &Bindings<'_>, log_points: &mut [LogPoint]) {
    let identities = Identities::find(program, bindings);
    log_points.par_iter_mut().for_each(|point| {
        let found = printed_objects(program, bindings, &identities, point);
        point.variables.extend(found);
    });
}

/// A name without what conventions add to it: `getBlockId`, `blockId_` and
/// `blockId` are one.
pub(crate) fn plain(name: &str) -> String {
    let name = name.strip_prefix("get").filter(|rest| !rest.is_empty()).unwrap_or(name);
    let name = name.rsplit(['/', '$']).next().unwrap_or(name);
    name.chars().filter(|c| *c != '_' && *c != '(' && *c != ')').flat_map(char::to_lowercase).collect()
}

/// What makes objects of a class equal.
#[derive(Debug)]
struct Identity {
    class: Name,
    parts: BTreeSet<Part>,
}

/// One part of an identity: what the field and the getters that give it are
/// called, in plain names from the object on. A getter is also called after what
/// its implementations give back, which may lie in what the object wraps (a
/// message that was read): what prints the object reads it there.
type Part = BTreeSet<Vec<String>>;

/// Of all classes that say it.
#[derive(Debug, Default)]
struct Identities {
    of: FxHashMap<Name, Identity>,
}

impl Identities {
    fn find(program: &Program, bindings: &Bindings<'_>) -> Self {
        let found: Vec<Option<Identity>> = program
            .classes
            .par_iter()
            .map(|class| {
                let own = class.methods.clone().find(|&i| {
                    let m = &program.methods[i];
                    m.name.as_str() == "equals" && m.descriptor.as_str() == "(Ljava/lang/Object;)Z"
                })?;
                let parts = compared(program, bindings, MethodId::new(own));
                (!parts.is_empty()).then_some(Identity { class: class.name, parts })
            })
            .collect();
        Identities { of: found.into_iter().flatten().map(|i| (i.class, i)).collect() }
    }

    /// The identity of `class`, its own or inherited.
    fn of(&self, program: &Program, class: Name) -> Option<&Identity> {
        let mut at = Some(class);
        while let Some(name) = at {
            if let Some(identity) = self.of.get(&name) {
                return Some(identity);
            }
            at = program.class(name).and_then(|c| program.classes[c.index()].super_name);
        }
        None
    }
}

/// What `equals` reads of its own object, through helpers of its own.
fn compared(program: &Program, bindings: &Bindings<'_>, equals: MethodId) -> BTreeSet<Part> {
    let mut parts = BTreeSet::new();
    let mut todo = vec![(equals, 0)];
    let mut seen = FxHashSet::default();
    while let Some((method, depth)) = todo.pop() {
        let m = &program.methods[method.index()];
        let Some(body) = m.body.as_ref().filter(|_| seen.insert(method)) else { continue };
        for (value, inst) in body.iter() {
            let mut part = Part::new();
            match &inst.op {
                Op::GetField(..) => {}
                Op::InvokeDynamic { bootstrap, .. }
                    if bootstrap.method.class.as_str() == "java/lang/runtime/ObjectMethods" =>
                {
                    let fields = program.classes[m.class.index()].fields.iter();
                    let own = fields.filter(|f| f.access & access::STATIC == 0);
                    parts.extend(own.map(|f| Part::from([vec![plain(&f.name)]])));
                    continue;
                }
                Op::Invoke { method: callee, args, .. } => {
                    let on_this = args.first().is_some_and(|&a| matches!(body.op(a), Op::Param(0)));
                    if on_this && depth < HELPER_DEPTH_MAX && helps(callee.name.as_str()) {
                        let class = program.class(callee.class);
                        let own = class.and_then(|c| {
                            program.resolve_virtual(
                                program.classes[c.index()].name,
                                callee.name,
                                callee.descriptor,
                            )
                        });
                        todo.extend(own.map(|own| (own, depth + 1)));
                        continue;
                    }
                    if args.len() != 1 || !on_this || !is_getter(body, value) {
                        continue;
                    }
                    part.insert(vec![plain(&callee.name)]);
                    part.extend(given_back(program, bindings, *callee));
                }
                _ => continue,
            }
            part.extend(names_of(&bindings.path(method, value)));
            if !part.is_empty() {
                parts.insert(part);
            }
        }
    }
    parts
}

/// What implementations of a getter give back, in plain names: the fields of their
/// own in any return, though they fill them first; what all their returns are called.
fn given_back(program: &Program, bindings: &Bindings<'_>, getter: MethodRef) -> BTreeSet<Vec<String>> {
    let mut names = BTreeSet::new();
    for method in program.virtual_targets(getter.class, getter.name, getter.descriptor) {
        names.extend(bindings.returned(method).and_then(names_of));
        let Some(body) = &program.methods[method.index()].body else { continue };
        for (_, inst) in body.iter() {
            let Op::Return(Some(value)) = inst.op else { continue };
            if let Op::GetField(field, Some(object)) = body.op(value)
                && matches!(body.op(*object), Op::Param(0))
            {
                names.insert(vec![plain(&field.name)]);
            }
        }
    }
    names
}

/// The plain names of a path below the object at hand.
fn names_of(path: &AccessPath) -> Option<Vec<String>> {
    let names: Option<Vec<String>> = path.steps.iter().map(name_of).collect();
    names.filter(|names| path.root == Root::Param(0) && !names.is_empty())
}

fn helps(name: &str) -> bool {
    matches!(name, "equals" | "compareTo" | "canEqual")
}

/// A getter gives a part; `getClass` and tests do not.
fn is_getter(body: &Body, value: ValueId) -> bool {
    matches!(body.op(value), Op::Invoke { method, .. }
        if !matches!(method.name.as_str(), "getClass" | "hashCode") && !method.descriptor.ends_with(")Z"))
}

fn name_of(step: &Step) -> Option<String> {
    match step {
        Step::Field(field) => Some(plain(&field.name)),
        Step::Call(method) => Some(plain(&method.name)),
        Step::Element => None,
    }
}

/// What is printed below an object: by plain name, the step and, where it is the
/// value itself, its variable.
type Members = BTreeMap<String, (Step, Option<u32>)>;

/// The variables with a path, by its shortest name; as they are written where a
/// name is so long that it was cut, because parts of one object would fall
/// together.
fn printed_paths(bindings: &Bindings<'_>, point: &LogPoint) -> Vec<(u32, AccessPath)> {
    let written = (0u32..).zip(&point.variables).filter_map(|(i, v)| Some((i, v.path.clone()?)));
    let written: Vec<(u32, AccessPath)> = written.collect();
    let short: Vec<(u32, AccessPath)> =
        written.iter().map(|(i, path)| (*i, bindings.normalize(point.frame, path))).collect();
    let is_cut = |((_, a), (_, b)): (&(u32, AccessPath), &(u32, AccessPath))| {
        b.steps.len() >= PATH_FIELDS_MAX && a.steps.last() != b.steps.last()
    };
    if short.iter().zip(&written).any(|(b, a)| is_cut((a, b))) { written } else { short }
}

/// The objects that `point` prints, outermost last.
fn printed_objects(
    program: &Program,
    bindings: &Bindings<'_>,
    identities: &Identities,
    point: &LogPoint,
) -> Vec<Variable> {
    let mut below: BTreeMap<AccessPath, Members> = BTreeMap::new();
    for (index, path) in printed_paths(bindings, point) {
        for at in 0..path.steps.len() {
            let object = AccessPath { root: path.root, steps: path.steps[..at].to_vec() };
            let Some(name) = name_of(&path.steps[at]) else { continue };
            let leaf = (at + 1 == path.steps.len()).then_some(index);
            let known = below.entry(object).or_default().entry(name).or_insert((path.steps[at], leaf));
            known.1 = known.1.or(leaf);
        }
    }
    let mut objects: Vec<(&AccessPath, &Members)> = below.iter().collect();
    objects.sort_by_key(|(path, _)| std::cmp::Reverse(path.steps.len()));
    let mut known: BTreeMap<AccessPath, Printed> = BTreeMap::new();
    let mut found: Vec<Variable> = Vec::new();
    for (object, members) in objects {
        let types = declared_type(program, point.frame, object).into_iter();
        let owners = types.chain(members.values().filter_map(|(step, _)| owner(step)));
        let printed = owners.filter_map(|class| {
            let identity = identities.of(program, class)?;
            Some((identity, printed_parts(identity, object, &below, &known)))
        });
        // The class that says most of what is printed.
        let best = printed.max_by_key(|(_, printed)| (printed.is_complete, printed.parts.len()));
        let Some((identity, printed)) = best.filter(|(_, printed)| !printed.parts.is_empty()) else {
            continue;
        };
        if printed.parts.len() > 1 {
            if printed.is_complete {
                found.retain(|inner| !is_wrapped(inner, object, &printed));
            }
            found.push(variable(object, identity, &printed));
        }
        known.insert(object.clone(), printed);
    }
    found
}

/// Whether `inner` is only what a wrapper at `object` keeps all of itself in: the
/// wrapper says what is equal, the message in it compares more than anybody prints.
fn is_wrapped(inner: &Variable, object: &AccessPath, wrapper: &Printed) -> bool {
    let parts: BTreeSet<u32> = inner.parts.iter().copied().collect();
    let is_below = inner.path.as_ref().is_some_and(|path| {
        path.root == object.root && path.steps.starts_with(&object.steps) && path != object
    });
    inner.in_text && is_below && wrapper.parts.iter().copied().collect::<BTreeSet<u32>>() == parts
}

/// What is printed of an object.
#[derive(Debug, Default)]
struct Printed {
    parts: Vec<u32>,
    is_complete: bool,
}

fn owner(step: &Step) -> Option<Name> {
    match step {
        Step::Field(field) => Some(field.class),
        Step::Call(method) => Some(method.class),
        Step::Element => None,
    }
}

/// The printed variables that make up an object.
fn printed_parts(
    identity: &Identity,
    object: &AccessPath,
    below: &BTreeMap<AccessPath, Members>,
    known: &BTreeMap<AccessPath, Printed>,
) -> Printed {
    let mut printed = Printed { parts: Vec::new(), is_complete: true };
    for part in &identity.parts {
        match part.iter().find_map(|names| member(object, names, below)) {
            Some((_, Some(leaf))) => printed.parts.push(leaf),
            Some((inner, None)) => {
                let inner = known.get(&inner);
                printed.is_complete &= inner.is_some_and(|i| i.is_complete);
                printed.parts.extend(inner.map_or(&[][..], |i| &i.parts));
            }
            None => printed.is_complete = false,
        }
    }
    printed
}

/// What is printed of `object` under `names`: its path and, where it is the value
/// itself, its variable.
fn member(
    object: &AccessPath,
    names: &[String],
    below: &BTreeMap<AccessPath, Members>,
) -> Option<(AccessPath, Option<u32>)> {
    let mut at = object.clone();
    let mut leaf = None;
    for name in names {
        let (step, variable) = below.get(&at)?.get(name)?;
        at.steps.push(*step);
        leaf = *variable;
    }
    Some((at, leaf))
}

fn variable(object: &AccessPath, identity: &Identity, printed: &Printed) -> Variable {
    let simple = identity.class.rsplit('/').next().unwrap_or_default();
    let value_class =
        if printed.is_complete { Name::from(simple) } else { Name::from(&format!("{simple}.toString()")) };
    Variable {
        path: Some(object.clone()),
        text: String::new(),
        value_class: Some(value_class),
        descriptor: Name::from(&format!("L{};", identity.class)),
        shape: schema::ValueShape::Text,
        parts: printed.parts.clone(),
        in_text: !printed.is_complete,
    }
}

fn declared_type(program: &Program, frame: MethodId, object: &AccessPath) -> Option<Name> {
    let of = |descriptor: &str| {
        let class = descriptor.strip_prefix('L').and_then(|d| d.strip_suffix(';'));
        class.map(Name::from)
    };
    match (object.steps.last(), object.root) {
        (Some(Step::Field(field)), _) => of(&field.descriptor),
        (Some(Step::Call(method)), _) => of(method.descriptor.rsplit(')').next().unwrap_or_default()),
        (None, Root::Static(field)) => of(&field.descriptor),
        (None, Root::Param(0)) if !program.methods[frame.index()].is_static() => {
            Some(program.classes[program.methods[frame.index()].class.index()].name)
        }
        _ => None,
    }
}

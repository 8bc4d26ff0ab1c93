//! Homes: where a container was made that somebody puts into or takes from.
//!
//! A queue is one channel however many fields and parameters hold it: who is given it in
//! a constructor takes from where its maker puts. So the channel is named by the field
//! that was first to hold it, or by where it was made if no field does. What is looked up
//! in a table of queues is named by the table.
//!
//! Over-approximates: a field holds what any of its writers put there, whichever object
//! it is of. Where that came through a constructor, the place that constructed the object
//! tells which (see [`Object`]). With too many homes a container is named by what holds it.

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::{Context, apis, wires};
use crate::call_graph::apis as calls;
use crate::ir::{Body, InvokeKind, Op, ValueId};
use crate::limits::{HOME_STEPS_MAX, HOMES_MAX};
use crate::path::{AccessPath, Root, Step};
use crate::program::{FieldRef, MethodId, MethodRef, Name};

/// What names a container.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Home {
    /// The field that was first to hold it.
    Field(FieldRef),
    /// Where it was made, if it was only handed around.
    Made(MethodId, ValueId),
}

/// An object by its class and the place that constructs it: who was given two queues
/// there moves things from one to the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Object {
    class: Name,
    site: (MethodId, ValueId),
}

impl Object {
    /// Whether two ends can be of one object: unknown ones can, and so can those of
    /// different classes, which may know each other.
    pub(super) fn may_be(one: Option<Self>, other: Option<Self>) -> bool {
        match (one, other) {
            (Some(one), Some(other)) => one.class != other.class || one.site == other.site,
            _ => true,
        }
    }
}

/// A home that a container can have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) home: Home,
    /// The object that was given the container.
    pub(super) object: Option<Object>,
    /// Who handed it down to the method that uses it: it has this home in the units that
    /// these are of.
    pub(super) givers: Vec<MethodId>,
    /// The name under which it is in a table, if it is in one.
    pub(super) key: Option<(MethodId, ValueId)>,
}

/// Whose values containers are kept in: the places that write each field.
pub(super) struct Homes<'a> {
    context: Context<'a>,
    puts: FxHashMap<FieldRef, Vec<(MethodId, ValueId)>>,
}

/// What is put into the fields that are `wanted`, by field: where, and which value.
pub(super) fn puts_into(
    context: Context<'_>,
    wanted: impl Fn(&FieldRef) -> bool + Sync,
) -> FxHashMap<FieldRef, Vec<(MethodId, ValueId)>> {
    let of = |index: usize| {
        let insts = context.program.methods[index].body.iter().flat_map(Body::iter);
        let put = |(_, inst): (ValueId, &crate::ir::Inst)| match inst.op {
            Op::PutField(field, _, value) if wanted(&field) => Some((field, (MethodId::new(index), value))),
            _ => None,
        };
        insts.filter_map(put).collect::<Vec<_>>()
    };
    let found: Vec<_> = (0..context.program.methods.len()).into_par_iter().map(of).collect();
    let mut puts: FxHashMap<FieldRef, Vec<_>> = FxHashMap::default();
    for (field, put) in found.into_iter().flatten() {
        puts.entry(field).or_default().push(put);
    }
    puts
}

impl<'a> Homes<'a> {
    /// Of all fields that hold containers.
    pub(super) fn new(context: Context<'a>) -> Self {
        let holds = |field: &FieldRef| apis::is_container(&field.descriptor) || wires::holds_stream(field);
        let puts = puts_into(context, holds);
        Homes { context, puts }
    }

    /// The homes of the container that `value` of `method` is, in the order they are found.
    pub(super) fn of(&self, method: MethodId, value: ValueId) -> Vec<Found> {
        let at =
            At { method, value, object: None, constructs: false, is_kept: false, entered: None, key: None };
        let mut search = Search { homes: self, todo: vec![(at, Vec::new())], found: Vec::new() };
        let mut seen = FxHashSet::default();
        while let Some((at, givers)) = search.todo.pop() {
            if seen.len() >= HOME_STEPS_MAX || search.found.len() > HOMES_MAX {
                search.found.clear();
                break;
            }
            if seen.insert(at) {
                search.step(at, givers);
            }
        }
        let mut found = search.found;
        if found.is_empty() {
            let home = held_by(&self.context.bindings.path(method, value));
            found.extend(home.map(|home| Found { home, object: None, givers: Vec::new(), key: None }));
        }
        found
    }

    /// Who puts what into a field that holds a container or a stream.
    pub(super) fn puts(&self, field: FieldRef) -> &[(MethodId, ValueId)] {
        self.puts.get(&field).map_or(&[], Vec::as_slice)
    }

    /// Whether what is put first into the container of a home is taken first.
    pub(super) fn keep_order(&self, home: Home) -> bool {
        let is_it = |&(method, value): &(MethodId, ValueId)| {
            let Some(body) = self.body(method) else { return false };
            matches!(body.op(body.uncast(value)), Op::New(class) if apis::is_in_order(class))
        };
        match home {
            Home::Field(field) => {
                let puts = self.puts(field);
                !puts.is_empty() && puts.iter().all(is_it)
            }
            Home::Made(method, site) => is_it(&(method, site)),
        }
    }

    fn body(&self, method: MethodId) -> Option<&'a Body> {
        self.context.program.methods[method.index()].body.as_ref()
    }
}

/// The field that holds the object of a path, or what holds that.
pub(super) fn held_by(path: &AccessPath) -> Option<Home> {
    let held = path.steps.iter().rev().find(|step| **step != Step::Element);
    match (held, path.root) {
        (Some(Step::Field(field)), _) => Some(Home::Field(*field)),
        (None, Root::Static(field)) => Some(Home::Field(field)),
        _ => None,
    }
}

/// A value on its way back to where it was made.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct At {
    method: MethodId,
    value: ValueId,
    object: Option<Object>,
    /// `method` was reached as a constructor, of the first object that was given it.
    constructs: bool,
    /// It was in a field: who hands that down is nothing to the units.
    is_kept: bool,
    /// The call that `method` was entered by, to see what it gives back.
    entered: Option<(MethodId, ValueId)>,
    /// The name under which it is in a table.
    key: Option<(MethodId, ValueId)>,
}

/// Where something was put.
enum Stored {
    Field(FieldRef),
    /// An element of this container, under this key.
    Table(ValueId, Option<ValueId>),
}

struct Search<'h, 'a> {
    homes: &'h Homes<'a>,
    todo: Vec<(At, Vec<MethodId>)>,
    found: Vec<Found>,
}

impl Search<'_, '_> {
    fn step(&mut self, at: At, givers: Vec<MethodId>) {
        let Some(body) = self.homes.body(at.method) else { return };
        let mut go = |value| self.todo.push((At { value, ..at }, givers.clone()));
        match body.op(at.value) {
            Op::Cast(_, inner) => go(*inner),
            Op::Phi(operands) => operands.iter().for_each(|&(_, value)| go(value)),
            Op::ArrayLoad(array, _) => go(*array),
            Op::GetField(field, _) => self.kept(at, *field, givers),
            Op::New(_) | Op::NewArray(..) => self.made(body, at, givers),
            Op::Param(i) => self.given(at, usize::from(*i), givers),
            Op::Invoke { kind, method, args } => self.returned(body, at, (*kind, method, args), givers),
            _ => {}
        }
    }

    fn add(&mut self, home: Home, at: At, givers: Vec<MethodId>) {
        let found = Found { home, object: at.object, givers, key: at.key };
        if !self.found.contains(&found) {
            self.found.push(found);
        }
    }

    /// What a field holds: what was put there, and itself if that was made for it.
    fn kept(&mut self, at: At, field: FieldRef, givers: Vec<MethodId>) {
        let puts = self.homes.puts(field);
        let is_null = |&(method, value): &(MethodId, ValueId)| {
            self.homes.body(method).is_some_and(|body| matches!(body.op(value), Op::Const(_)))
        };
        let puts: Vec<_> = puts.iter().copied().filter(|put| !is_null(put)).collect();
        if puts.is_empty() {
            self.add(Home::Field(field), at, givers);
            return;
        }
        for (method, value) in puts {
            let Some(body) = self.homes.body(method) else { continue };
            let constructs = self.homes.context.program.methods[method.index()].name == "<init>";
            if self.is_given(body, method, value, field) {
                let constructs = constructs && at.object.is_none();
                let at = At { method, value, constructs, is_kept: true, ..at };
                self.todo.push((at, givers.clone()));
            } else {
                self.add(Home::Field(field), at, givers.clone());
            }
        }
    }

    /// Whether what is put into `field` was somewhere else before, and not made for it.
    fn is_given(&self, body: &Body, method: MethodId, value: ValueId, field: FieldRef) -> bool {
        match body.op(body.uncast(value)) {
            Op::Param(_) | Op::GetField(..) | Op::Phi(_) | Op::ArrayLoad(..) => true,
            Op::Invoke { .. } => {
                let holder = held_by(&self.homes.context.bindings.path(method, value));
                holder.is_some_and(|holder| holder != Home::Field(field))
            }
            _ => false,
        }
    }

    /// What is made here is named by the field that it is put in, by the table that it is
    /// put in, or by the place.
    fn made(&mut self, body: &Body, at: At, givers: Vec<MethodId>) {
        match self.stored(body, at.value) {
            Some(Stored::Field(field)) => self.add(Home::Field(field), at, givers),
            Some(Stored::Table(table, key)) => {
                let key = at.key.or_else(|| key.map(|key| self.outside(body, at, key)));
                self.todo.push((At { value: table, key, ..at }, givers));
            }
            None => self.add(Home::Made(at.method, at.value), at, givers),
        }
    }

    /// Where a body puts a value first.
    fn stored(&self, body: &Body, value: ValueId) -> Option<Stored> {
        body.iter().find_map(|(_, inst)| match &inst.op {
            Op::PutField(field, _, put) if body.uncast(*put) == value => Some(Stored::Field(*field)),
            Op::Invoke { kind, method, args }
                if *kind != InvokeKind::Static
                    && calls::COLLECTION_PUT.contains(&method.name.as_str())
                    && self.is_of_library(method)
                    && args.iter().skip(1).any(|&arg| body.uncast(arg) == value) =>
            {
                Some(Stored::Table(args[0], args.get(1).copied().filter(|_| args.len() == 3)))
            }
            _ => None,
        })
    }

    /// What a parameter is given by its callers, or by who constructs the object.
    fn given(&mut self, at: At, param: usize, givers: Vec<MethodId>) {
        let context = self.homes.context;
        for &(caller, i) in &context.graph.callers[at.method.index()] {
            let call = &context.graph.calls(caller)[i];
            let Some(Some(value)) = call.args.get(param) else { continue };
            let made = || {
                let class = context.program.methods[at.method.index()].class;
                Object { class: context.program.classes[class.index()].name, site: (caller, call.site) }
            };
            let is_handed_down = call.kind.is_local() && !at.is_kept;
            let object = match at.object {
                _ if at.constructs => Some(made()),
                None if !call.kind.is_local() => Some(made()),
                object => object,
            };
            // A constructor that calls the next one constructs the same object.
            let on = call.args.first().copied().flatten();
            let is_own = |body: &Body| on.is_some_and(|on| matches!(body.op(on), Op::Param(0)));
            let constructs = at.constructs && self.homes.body(caller).is_some_and(is_own);
            let mut givers = givers.clone();
            givers.extend(is_handed_down.then_some(caller));
            self.todo.push((At { method: caller, value: *value, object, constructs, ..at }, givers));
        }
    }

    /// What a call gives back: of the program's methods what they return, of a library
    /// an element of a table, the same container by another view, or a new one.
    fn returned(
        &mut self,
        body: &Body,
        at: At,
        (kind, method, args): (InvokeKind, &MethodRef, &[ValueId]),
        givers: Vec<MethodId>,
    ) {
        let context = self.homes.context;
        let calls = context.graph.calls(at.method).iter();
        let called = calls.filter(|call| call.site == at.value && call.kind.is_local());
        let targets: Vec<MethodId> = called.flat_map(|call| &call.targets).copied().collect();
        let mut is_new = false;
        for &target in &targets {
            let Some(body) = self.homes.body(target) else { continue };
            for (_, inst) in body.iter() {
                let Op::Return(Some(value)) = inst.op else { continue };
                let value = body.uncast(value);
                match body.op(value) {
                    // What is only passed through is found where it was given.
                    Op::Param(i) => {
                        let given = args.get(usize::from(*i)).map(|&value| At { value, ..at });
                        self.todo.extend(given.map(|at| (at, givers.clone())));
                    }
                    // Each call of a method that makes one makes another.
                    Op::New(_) | Op::NewArray(..) if self.stored(body, value).is_none() => is_new = true,
                    _ => {
                        let entered = Some((at.method, at.value));
                        let at = At { method: target, value, constructs: false, entered, ..at };
                        self.todo.push((at, givers.clone()));
                    }
                }
            }
        }
        if is_new {
            self.made(body, at, givers.clone());
        }
        if !targets.is_empty() {
            return;
        }
        let holder = args.first().copied().filter(|_| self.is_of_library(method));
        let is_element = kind != InvokeKind::Static && apis::gives_element(&method.class, &method.name);
        let is_view = kind == InvokeKind::Static && apis::wraps_container(&method.class, &method.name);
        let key = args.get(1).filter(|_| is_element && apis::is_by_key(&method.name));
        let key = at.key.or_else(|| key.map(|&key| self.outside(body, at, key)));
        match holder {
            Some(holder) if is_element || is_view => {
                self.todo.push((At { value: holder, key, ..at }, givers));
            }
            _ => self.made(body, at, givers),
        }
    }

    /// A value of the method at hand by what its caller has given for it, if it is that.
    fn outside(&self, body: &Body, at: At, value: ValueId) -> (MethodId, ValueId) {
        let given = at.entered.and_then(|(caller, site)| {
            let (Op::Param(i), Some(outer)) = (body.op(body.uncast(value)), self.homes.body(caller)) else {
                return None;
            };
            match outer.op(site) {
                Op::Invoke { args, .. } => Some((caller, *args.get(usize::from(*i))?)),
                _ => None,
            }
        });
        given.unwrap_or((at.method, value))
    }

    fn is_of_library(&self, method: &MethodRef) -> bool {
        self.homes.context.program.class(method.class).is_none()
    }
}

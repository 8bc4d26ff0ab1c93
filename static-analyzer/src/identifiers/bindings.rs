//! Bindings: what a value is called in a frame, and what a callee's path is
//! called in the caller's frame.
//!
//! Looks through getters, casts, boxes, constructors (`new C(a).f` is `a` if the
//! constructor stores its parameter), captured variables (they are constructor
//! fields), conversions (a method that returns an object built from parts of a
//! parameter), and fields stored once in the same method. Flow-insensitive:
//! a field stored once in a method is its value everywhere in that method.

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::Place;
use super::kept::{self, Kept};
use super::owned::{self, Owned};
use super::thread_locals::{self, ThreadLocals};
use crate::call_graph::{Call, CallGraph, CallKind, apis};
use crate::ir::{Body, InvokeKind, Op, ValueId};
use crate::limits::BINDING_DEPTH_MAX;
use crate::path::{AccessPath, Root, Step};
use crate::program::{FieldRef, MethodId, Name, Program, access};
use crate::top_level::batches;

mod walk;

pub(super) use walk::Walk;
pub(crate) use walk::is_slot;

/// A callee's place, seen from the caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Bound {
    /// It has a place there: rooted at a parameter, static field, a value made
    /// in the caller, or still the callee's own local.
    Place(Place),
    /// A constant of the program's text.
    Constant,
    /// Given by somebody else than the caller (another thread).
    Unknown,
}

/// Translates paths between frames; holds what constructors, getters and
/// conversion methods do. Immutable and `Sync`.
#[derive(Debug)]
pub struct Bindings<'a> {
    pub(super) program: &'a Program,
    pub(super) graph: &'a CallGraph,
    /// Per method: what it returns, in its own frame.
    returns: Vec<Option<AccessPath>>,
    /// Per method: values stored once into a field of an object.
    stores: Vec<Stores>,
    /// Other names of objects that their parts know.
    owned: Owned,
    /// Tables whose values know their keys.
    pub(super) kept: Kept,
    /// What methods set for their threads.
    pub(super) thread_locals: ThreadLocals,
    /// Elements of what was taken for several, as each method gets them.
    elements: FxHashSet<(MethodId, ValueId)>,
    /// The name of constructors.
    constructor: Name,
    /// Methods of libraries that give back what they are given: (class, name).
    same_value: FxHashSet<(Name, Name)>,
}

pub(super) type Stores = FxHashMap<(AccessPath, FieldRef), Option<ValueId>>;

impl<'a> Bindings<'a> {
    /// Reads constructors, getters and conversions of `program`.
    pub fn new(program: &'a Program, graph: &'a CallGraph) -> Self {
        let n = program.methods.len();
        let elements = |index: usize| {
            let elements = program.methods[index].body.iter().flat_map(batches::elements);
            elements.map(move |(next, _)| (MethodId::new(index), next)).collect::<Vec<_>>()
        };
        let elements: Vec<_> = (0..n).into_par_iter().flat_map_iter(elements).collect();
        let mut bindings = Self {
            elements: elements.into_iter().collect(),
            program,
            graph,
            returns: vec![None; n],
            stores: vec![Stores::default(); n],
            owned: Owned::default(),
            kept: Kept::default(),
            thread_locals: ThreadLocals::default(),
            constructor: Name::from("<init>"),
            same_value: apis::SAME_VALUE.iter().map(|&(c, n)| (Name::from(c), Name::from(n))).collect(),
        };
        for level in &graph.levels {
            let found: Vec<(MethodId, Stores)> = graph.components[level.clone()]
                .par_iter()
                .flatten()
                .map(|&m| (m, bindings.read_stores(m)))
                .collect();
            found.into_iter().for_each(|(m, s)| bindings.stores[m.index()] = s);
            let found: Vec<(MethodId, Option<AccessPath>)> = graph.components[level.clone()]
                .par_iter()
                .flatten()
                .map(|&m| (m, bindings.read_return(m)))
                .collect();
            found.into_iter().for_each(|(m, r)| bindings.returns[m.index()] = r);
        }
        bindings.owned = owned::find(&bindings);
        bindings.kept = kept::find(&bindings);
        bindings.thread_locals = thread_locals::find(&bindings);
        bindings
    }

    /// Whether a value is written in the code, or null.
    pub(super) fn is_constant(&self, method: MethodId, value: ValueId) -> bool {
        self.body(method).is_some_and(|body| matches!(body.op(body.uncast(value)), Op::Const(_)))
    }

    /// Values that `method` stores once into fields of objects.
    pub(super) fn stores(&self, method: MethodId) -> &Stores {
        &self.stores[method.index()]
    }

    pub(super) fn body(&self, method: MethodId) -> Option<&'a Body> {
        self.program.methods[method.index()].body.as_ref()
    }

    fn read_stores(&self, method: MethodId) -> Stores {
        let mut stores = Stores::default();
        let Some(body) = self.body(method) else { return stores };
        for (_, inst) in body.iter() {
            let Op::PutField(f, Some(object), value) = &inst.op else { continue };
            let key = (self.path(method, *object), *f);
            stores.entry(key).and_modify(|s| *s = None).or_insert(Some(*value));
        }
        for (object, f, value) in self.setter_calls(method) {
            let key = (self.path(method, object), f);
            stores.entry(key).and_modify(|s| *s = None).or_insert(Some(value));
        }
        stores
    }

    /// Calls of methods that store a parameter into a field of their object:
    /// (object, field, value) of this frame.
    fn setter_calls(&self, method: MethodId) -> Vec<(ValueId, FieldRef, ValueId)> {
        let this = AccessPath { root: Root::Param(0), steps: Vec::new() };
        let mut found = Vec::new();
        for call in self.graph.calls(method) {
            let [target] = call.targets[..] else { continue };
            let is_constructor = self.program.methods[target.index()].name == self.constructor;
            let Some(callee) = self.body(target) else { continue };
            if call.kind != CallKind::Direct || is_constructor || callee.insts.len() > 40 {
                continue;
            }
            let mut stored: Vec<(FieldRef, u16)> = self.stores[target.index()]
                .iter()
                .filter(|((object, _), _)| *object == this)
                .filter_map(|((_, f), value)| match callee.op((*value)?) {
                    Op::Param(i) => Some((*f, *i)),
                    _ => None,
                })
                .collect();
            stored.sort_unstable();
            for (f, i) in stored {
                let object = call.args.first().copied().flatten();
                let value = call.args.get(usize::from(i)).copied().flatten();
                found.extend(object.zip(value).map(|(o, v)| (o, f, v)));
            }
        }
        found
    }

    /// What a method gives back, in its own frame; none if it differs.
    pub(super) fn returned(&self, method: MethodId) -> Option<&AccessPath> {
        self.returns[method.index()].as_ref()
    }

    fn read_return(&self, method: MethodId) -> Option<AccessPath> {
        let body = self.body(method)?;
        let mut found: Option<AccessPath> = None;
        for (_, inst) in body.iter() {
            let Op::Return(Some(value)) = &inst.op else { continue };
            if is_null(body, *value) {
                continue;
            }
            let path = self.path(method, *value);
            match &found {
                Some(p) if *p != path => return None,
                _ => found = Some(path),
            }
        }
        found
    }

    /// The path of a value in the frame of `method`: getters, casts, boxes,
    /// captured variables, constructor fields and same-method stores looked
    /// through.
    pub fn path(&self, method: MethodId, value: ValueId) -> AccessPath {
        let Some(body) = self.body(method) else { return local(value) };
        Walk::new(self, method, body).path(value, 0)
    }

    /// The shortest name of the same value in the frame of `method`.
    pub fn normalize(&self, method: MethodId, path: &AccessPath) -> AccessPath {
        self.normalized(method, path, false)
    }

    /// The same of a part of what the method hands over: what it was filled with is known by where
    /// that was read.
    pub(crate) fn handed_over(&self, method: MethodId, path: &AccessPath) -> AccessPath {
        self.normalized(method, path, true)
    }

    fn normalized(&self, method: MethodId, path: &AccessPath, is_handed_over: bool) -> AccessPath {
        let Some(body) = self.body(method) else { return path.clone() };
        let mut walk = Walk::new(self, method, body);
        walk.is_handed_over = is_handed_over;
        match path.root {
            Root::Local(v) => walk.part_of(v, &path.steps, 0),
            root => walk.extend(AccessPath { root, steps: Vec::new() }, &path.steps, 0),
        }
    }

    /// What `place` of the frame of one of `call.targets` is in the frame of
    /// `caller`.
    pub fn bind(&self, caller: MethodId, call: &Call, place: &Place) -> Bound {
        let Some(body) = self.body(caller) else { return Bound::Unknown };
        let mut walk = Walk::new(self, caller, body);
        // Who starts a task hands over what that was filled with.
        walk.is_handed_over = matches!(call.kind, CallKind::Start(_));
        walk.bind(call, place, &in_loop)
    }

    /// The place of a value named by `path` in the frame of `method`, where it
    /// is used by the instruction `site`.
    pub(crate) fn place(
        &self,
        method: MethodId,
        path: &AccessPath,
        site: ValueId,
        in_loop: &dyn Fn(&Body, ValueId) -> bool,
    ) -> Place {
        let path = self.normalize(method, path);
        let looping = self.body(method).is_some_and(|body| loops(body, &path, site, in_loop));
        Place { path, frame: method, looping }
    }

    /// Whether a class is no part of the program.
    pub(super) fn is_library(&self, class: Name) -> bool {
        self.program.class(class).is_none()
    }

    /// The call of the constructor of the object that is made at `made`.
    pub(super) fn construction(&self, method: MethodId, body: &Body, made: ValueId) -> Option<&Call> {
        let is_new = matches!(body.op(made), Op::New(_));
        let mut calls = self.graph.calls(method).iter().filter(|_| is_new);
        calls.find(|call| {
            let is_special = matches!(body.op(call.site), Op::Invoke { kind: InvokeKind::Special, method, .. }
                if method.name.as_str() == "<init>");
            is_special && call.args.first() == Some(&Some(made))
        })
    }

    /// Plain targets of the call at `site`.
    pub(super) fn targets(&self, method: MethodId, site: ValueId) -> impl Iterator<Item = (&Call, MethodId)> {
        let calls = self.graph.calls(method);
        let from = calls.partition_point(|c| c.site < site);
        calls[from..]
            .iter()
            .take_while(move |c| c.site == site)
            .filter(|c| c.kind == CallKind::Direct)
            .flat_map(|c| c.targets.iter().map(move |&t| (c, t)))
    }
}

/// Whether a value of this path is another one in each round of a loop: made in
/// a loop, or an element taken in one.
fn loops(body: &Body, path: &AccessPath, used: ValueId, in_loop: &dyn Fn(&Body, ValueId) -> bool) -> bool {
    match path.root {
        Root::Local(v) => in_loop(body, v),
        _ => path.steps.contains(&Step::Element) && in_loop(body, used),
    }
}

/// Whether an instruction stands in a loop.
pub(crate) fn in_loop(body: &Body, value: ValueId) -> bool {
    body.block(body.inst(value).block).loop_header.is_some()
}

fn local(value: ValueId) -> AccessPath {
    AccessPath { root: Root::Local(value), steps: Vec::new() }
}

pub(super) fn is_null(body: &Body, value: ValueId) -> bool {
    matches!(body.op(value), Op::Const(crate::ir::Const::Null))
}

impl Bindings<'_> {
    /// What constructor `method` leaves in field `f` of `this`, in its own
    /// frame: stored by itself, by the constructor it calls on `this`.
    pub(super) fn initial(&self, method: MethodId, f: FieldRef, depth: usize) -> Option<AccessPath> {
        if depth > BINDING_DEPTH_MAX {
            return None;
        }
        let body = self.body(method)?;
        let this = AccessPath { root: Root::Param(0), steps: Vec::new() };
        let mut walk = Walk::new(self, method, body);
        if let Some(stored) = self.stores[method.index()].get(&(this, f)) {
            return (*stored).map(|v| walk.path(v, depth + 1));
        }
        for call in self.graph.calls(method) {
            let Op::Invoke { kind: InvokeKind::Special, method: callee, args } = body.op(call.site) else {
                continue;
            };
            let on_this = args.first().is_some_and(|a| matches!(body.op(*a), Op::Param(0)));
            if callee.name.as_str() != "<init>" || !on_this {
                continue;
            }
            let inner = self.initial(*call.targets.first()?, f, depth + 1)?;
            let Root::Param(i) = inner.root else { return None };
            let value = call.args.get(usize::from(i)).copied().flatten()?;
            let base = walk.path(value, depth + 1);
            return Some(walk.extend(base, &inner.steps, depth + 1));
        }
        None
    }

    /// Fields of `this` that a constructor and those it calls on `this` store
    /// once, sorted.
    pub(super) fn constructed_fields(&self, constructor: MethodId) -> Vec<FieldRef> {
        let this = AccessPath { root: Root::Param(0), steps: Vec::new() };
        let mut fields = Vec::new();
        let mut at = Some(constructor);
        for _ in 0..BINDING_DEPTH_MAX {
            let Some((method, body)) = at.and_then(|m| Some((m, self.body(m)?))) else { break };
            let own = self.stores[method.index()]
                .iter()
                .filter(|((object, _), value)| *object == this && value.is_some());
            fields.extend(own.map(|((_, f), _)| *f));
            at = self.graph.calls(method).iter().find_map(|call| match body.op(call.site) {
                Op::Invoke { kind: InvokeKind::Special, method: callee, args }
                    if callee.name.as_str() == "<init>"
                        && args.first().is_some_and(|a| matches!(body.op(*a), Op::Param(0))) =>
                {
                    call.targets.first().copied()
                }
                _ => None,
            });
        }
        fields.sort_unstable();
        fields.dedup();
        fields
    }

    /// Whether a field is never written outside of constructors of its class.
    pub(crate) fn is_final(&self, f: FieldRef) -> bool {
        self.program.class(f.class).is_some_and(|c| {
            self.program.classes[c.index()]
                .fields
                .iter()
                .any(|d| d.name == f.name && d.access & access::FINAL != 0)
        })
    }
}

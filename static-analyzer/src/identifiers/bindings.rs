//! Bindings: what a value is called in a frame, and what a callee's path is
//! called in the caller's frame.
//!
//! Looks through getters, casts, boxes, constructors (`new C(a).f` is `a` if the
//! constructor stores its parameter), captured variables (they are constructor
//! fields), conversions (a method that returns an object built from parts of a
//! parameter), and fields stored once in the same method. Flow-insensitive:
//! a field stored once in a method is its value everywhere in that method.

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::Place;
use super::owned::{self, Owned};
use crate::call_graph::resolve::signature;
use crate::call_graph::{Call, CallGraph, CallKind, apis};
use crate::ir::{Body, InvokeKind, Op, ValueId};
use crate::limits::{BINDING_DEPTH_MAX, PATH_FIELDS_MAX};
use crate::path::{AccessPath, Root, Step};
use crate::program::{FieldRef, MethodId, MethodRef, Name, Program, access};

/// A callee's place, seen from the caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Bound {
    /// It has a place there: rooted at a parameter, static field, a value made
    /// in the caller, or still the callee's own local.
    Place(Place),
    /// A constant of the program's text.
    Constant,
    /// Given by somebody else than the caller (library callback, other thread).
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
}

pub(super) type Stores = FxHashMap<(AccessPath, FieldRef), Option<ValueId>>;

impl<'a> Bindings<'a> {
    /// Reads constructors, getters and conversions of `program`.
    pub fn new(program: &'a Program, graph: &'a CallGraph) -> Self {
        let n = program.methods.len();
        let mut bindings = Self {
            program,
            graph,
            returns: vec![None; n],
            stores: vec![Stores::default(); n],
            owned: Owned::default(),
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
        bindings
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
            let is_constructor = self.program.methods[target.index()].name.as_str() == "<init>";
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
        Walk { bindings: self, method, body, visiting: Vec::new() }.path(value, 0)
    }

    /// The shortest name of the same value in the frame of `method`.
    pub fn normalize(&self, method: MethodId, path: &AccessPath) -> AccessPath {
        let Some(body) = self.body(method) else { return path.clone() };
        let mut walk = Walk { bindings: self, method, body, visiting: Vec::new() };
        let root = match path.root {
            Root::Local(v) => walk.path(v, 0),
            root => AccessPath { root, steps: Vec::new() },
        };
        walk.extend(root, &path.steps, 0)
    }

    /// What `place` of the frame of `target` (one of `call.targets`) is in the
    /// frame of `caller`.
    pub fn bind(&self, caller: MethodId, call: &Call, target: MethodId, place: &Place) -> Bound {
        self.bind_in(caller, call, target, place, &in_loop)
    }

    /// [`Self::bind`] with another notion of what a loop is.
    pub(crate) fn bind_in(
        &self,
        caller: MethodId,
        call: &Call,
        target: MethodId,
        place: &Place,
        in_loop: &dyn Fn(&Body, ValueId) -> bool,
    ) -> Bound {
        let Some(body) = self.body(caller) else { return Bound::Unknown };
        let site_loops = in_loop(body, call.site);
        match place.path.root {
            Root::Static(_) => Bound::Place(Place { frame: caller, ..place.clone() }),
            Root::Local(_) => {
                let _ = target;
                Bound::Place(Place { looping: place.looping || site_loops, ..place.clone() })
            }
            Root::Param(i) => {
                let Some(value) = call.args.get(usize::from(i)).copied().flatten() else {
                    return Bound::Unknown;
                };
                let mut walk = Walk { bindings: self, method: caller, body, visiting: Vec::new() };
                let base = walk.path(value, 0);
                let path = walk.extend(base, &place.path.steps, 0);
                if let Root::Local(v) = path.root
                    && matches!(body.op(v), Op::Const(_))
                {
                    return Bound::Constant;
                }
                let looping = place.looping || loops(body, &path, value, in_loop);
                Bound::Place(Place { path, frame: caller, looping })
            }
        }
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

    /// Plain targets of the call at `site`.
    fn targets(&self, method: MethodId, site: ValueId) -> impl Iterator<Item = (&Call, MethodId)> {
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

fn is_null(body: &Body, value: ValueId) -> bool {
    matches!(body.op(value), Op::Const(crate::ir::Const::Null))
}

/// One question about one frame.
struct Walk<'b, 'a> {
    bindings: &'b Bindings<'a>,
    method: MethodId,
    body: &'a Body,
    /// Values whose path is being asked for (phis are cyclic).
    visiting: Vec<ValueId>,
}

impl<'a> Walk<'_, 'a> {
    fn path(&mut self, value: ValueId, depth: usize) -> AccessPath {
        if depth > BINDING_DEPTH_MAX {
            return local(value);
        }
        match self.body.op(value) {
            Op::Param(i) => AccessPath { root: Root::Param(*i), steps: Vec::new() },
            Op::GetField(f, None) => AccessPath { root: Root::Static(*f), steps: Vec::new() },
            Op::GetField(f, Some(object)) => {
                let base = self.path(*object, depth + 1);
                self.project(base, Step::Field(*f), depth + 1).unwrap_or_else(|| local(value))
            }
            Op::Cast(_, o) | Op::Convert(_, o) => self.path(*o, depth + 1),
            Op::Phi(operands) => self.phi(value, operands, depth),
            Op::ArrayLoad(array, _) => {
                let base = self.path(*array, depth + 1);
                self.project(base, Step::Element, depth + 1).unwrap_or_else(|| local(value))
            }
            Op::Invoke { kind, method, args } => self.invoke(value, *kind, *method, args, depth),
            _ => local(value),
        }
    }

    fn phi(
        &mut self,
        value: ValueId,
        operands: &[(crate::ir::BlockId, ValueId)],
        depth: usize,
    ) -> AccessPath {
        if self.visiting.contains(&value) {
            return local(value);
        }
        self.visiting.push(value);
        let mut found: Option<AccessPath> = None;
        for &(_, o) in operands {
            if o == value || is_null(self.body, o) {
                continue;
            }
            let path = self.path(o, depth + 1);
            if path == local(value) {
                continue;
            }
            match &found {
                Some(p) if *p != path => {
                    found = None;
                    break;
                }
                _ => found = Some(path),
            }
        }
        self.visiting.pop();
        found.unwrap_or_else(|| local(value))
    }

    fn invoke(
        &mut self,
        value: ValueId,
        kind: InvokeKind,
        method: MethodRef,
        args: &[ValueId],
        depth: usize,
    ) -> AccessPath {
        let same = (method.class.as_str(), method.name.as_str());
        if !args.is_empty() && apis::SAME_VALUE.contains(&same) {
            return self.path(args[0], depth + 1);
        }
        let targets: Vec<(&Call, MethodId)> = self.bindings.targets(self.method, value).collect();
        if !targets.is_empty() {
            let mut found: Option<AccessPath> = None;
            for (call, target) in &targets {
                let bound = self.returned(call, *target, &[], depth);
                match (&found, bound) {
                    (None, Some(p)) => found = Some(p),
                    (Some(p), Some(q)) if *p == q => {}
                    _ => {
                        found = None;
                        break;
                    }
                }
            }
            if let Some(path) = found {
                return path;
            }
        } else if kind != InvokeKind::Static && !args.is_empty() {
            let name = method.name.as_str();
            if apis::COLLECTION_VIEW.contains(&name) && !name.starts_with("clone") {
                return self.path(args[0], depth + 1);
            }
            if apis::COLLECTION_GET.contains(&name) && self.is_library(method.class) {
                let base = self.path(args[0], depth + 1);
                return self.project(base, Step::Element, depth + 1).unwrap_or_else(|| local(value));
            }
        }
        if kind != InvokeKind::Static && args.len() == 1 && is_getter(method) {
            let base = self.path(args[0], depth + 1);
            if !matches!(base.root, Root::Local(_)) || !base.steps.is_empty() {
                return self.project(base, Step::Call(method), depth + 1).unwrap_or_else(|| local(value));
            }
        }
        local(value)
    }

    fn is_library(&self, class: Name) -> bool {
        self.bindings.program.class(class).is_none()
            || apis::LIBRARY_PREFIXES.iter().any(|p| class.as_str().starts_with(p))
    }

    /// What `target` returns, with `steps` taken from it, in this frame; none if
    /// it is not a part of what this frame gave it.
    fn returned(
        &mut self,
        call: &Call,
        target: MethodId,
        steps: &[Step],
        depth: usize,
    ) -> Option<AccessPath> {
        if depth > BINDING_DEPTH_MAX {
            return None;
        }
        let path = self.bindings.returns[target.index()].clone()?;
        let path = if steps.is_empty() {
            path
        } else {
            let body = self.bindings.body(target)?;
            let mut callee = Walk { bindings: self.bindings, method: target, body, visiting: Vec::new() };
            callee.extend(path, steps, depth + 1)
        };
        match path.root {
            Root::Static(_) => Some(path),
            Root::Local(_) => None,
            Root::Param(i) => {
                let value = call.args.get(usize::from(i)).copied().flatten()?;
                let base = self.path(value, depth + 1);
                Some(self.extend(base, &path.steps, depth + 1))
            }
        }
    }

    fn extend(&mut self, base: AccessPath, steps: &[Step], depth: usize) -> AccessPath {
        let mut path = base;
        for (i, step) in steps.iter().enumerate() {
            match self.project(path.clone(), *step, depth) {
                Some(p) => path = p,
                None => {
                    // Too long: keep the root, so that it stays a value of its own.
                    let _ = i;
                    return path;
                }
            }
        }
        path
    }

    /// `base.step`, by its shortest name; none if too long.
    fn project(&mut self, base: AccessPath, step: Step, depth: usize) -> Option<AccessPath> {
        if let Step::Field(f) = step
            && depth <= BINDING_DEPTH_MAX
            && let Some(path) = self.alias(&base, f, depth)
        {
            return Some(path);
        }
        let mut path = base;
        if let (Some(Step::Field(owner)), Step::Field(f)) = (path.steps.last(), step)
            && depth <= BINDING_DEPTH_MAX
            && let Some(steps) = self.bindings.owned.get(&(*owner, f))
        {
            path.steps.pop();
            return Some(self.extend(path, steps, depth + 1));
        }
        if path.steps.len() >= PATH_FIELDS_MAX {
            return None;
        }
        path.steps.push(step);
        Some(path)
    }

    fn alias(&mut self, base: &AccessPath, f: FieldRef, depth: usize) -> Option<AccessPath> {
        let is_constructor = self.bindings.program.methods[self.method.index()].name.as_str() == "<init>";
        let stored = self.bindings.stores[self.method.index()].get(&(base.clone(), f)).copied();
        if let Some(Some(value)) = stored
            && !self.visiting.contains(&value)
            && (is_constructor || is_handle(self.body, value))
        {
            self.visiting.push(value);
            let path = self.path(value, depth + 1);
            self.visiting.pop();
            return Some(path);
        }
        let Root::Local(v) = base.root else { return None };
        if !base.steps.is_empty() {
            return None;
        }
        match self.body.op(v) {
            Op::New(_) => self.constructed(v, f, depth),
            Op::Invoke { .. } => {
                let targets: Vec<(Call, MethodId)> =
                    self.bindings.targets(self.method, v).map(|(c, t)| (c.clone(), t)).collect();
                let [(call, target)] = &targets[..] else { return None };
                self.returned(call, *target, &[Step::Field(f)], depth + 1)
            }
            Op::Phi(operands) => {
                let operands = operands.clone();
                self.phi_field(v, &operands, f, depth)
            }
            _ => None,
        }
    }

    fn phi_field(
        &mut self,
        phi: ValueId,
        operands: &[(crate::ir::BlockId, ValueId)],
        f: FieldRef,
        depth: usize,
    ) -> Option<AccessPath> {
        if self.visiting.contains(&phi) {
            return None;
        }
        self.visiting.push(phi);
        let mut found: Option<AccessPath> = None;
        for &(_, o) in operands.iter().filter(|(_, o)| *o != phi && !is_null(self.body, *o)) {
            let base = self.path(o, depth + 1);
            let path = self.project(base, Step::Field(f), depth + 1);
            if path.is_none() || found.is_some() && found != path {
                found = None;
                break;
            }
            found = path;
        }
        self.visiting.pop();
        found
    }

    /// The field `f` of the object made by `new` at `made`, as its constructor
    /// leaves it.
    fn constructed(&mut self, made: ValueId, f: FieldRef, depth: usize) -> Option<AccessPath> {
        let calls = self.bindings.graph.calls(self.method);
        let call = calls.iter().find(|c| {
            c.args.first() == Some(&Some(made))
                && matches!(self.body.op(c.site), Op::Invoke { kind: InvokeKind::Special, method, .. }
                    if method.name.as_str() == "<init>")
        })?;
        let call = call.clone();
        let target = *call.targets.first()?;
        let path = self.bindings.initial(target, f, depth + 1)?;
        match path.root {
            Root::Static(_) => Some(path),
            Root::Local(_) => None,
            Root::Param(i) => {
                let value = call.args.get(usize::from(i)).copied().flatten()?;
                if value == made {
                    return None;
                }
                let base = self.path(value, depth + 1);
                Some(self.extend(base, &path.steps, depth + 1))
            }
        }
    }
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
        let mut walk = Walk { bindings: self, method, body, visiting: Vec::new() };
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

/// Values worth an alias when stored: objects made here or by a call, and
/// parameters.
fn is_handle(body: &Body, value: ValueId) -> bool {
    matches!(body.op(value), Op::New(_) | Op::Param(_) | Op::Invoke { .. })
}

/// A method that only gives something of its object, as far as its name says.
fn is_getter(method: MethodRef) -> bool {
    let name = method.name.as_str();
    let (params, result) = signature(method.descriptor.as_str());
    let named = ["get", "is", "to", "as"]
        .iter()
        .any(|p| name.strip_prefix(p).is_some_and(|rest| rest.starts_with(char::is_uppercase)));
    // Record style: one word that is no verb.
    let verbs = [
        "next",
        "take",
        "poll",
        "read",
        "run",
        "call",
        "accept",
        "create",
        "pop",
        "remove",
        "close",
        "start",
        "stop",
        "flush",
        "clear",
        "reset",
        "open",
        "init",
        "build",
        "clone",
        "fork",
        "join",
        "get",
        "increment",
        "decrement",
        "sync",
        "select",
        "await",
        "receive",
        "send",
    ];
    let plain = name.bytes().all(|b| b.is_ascii_lowercase()) && !verbs.contains(&name);
    params.is_empty() && result != "V" && (named || plain)
}

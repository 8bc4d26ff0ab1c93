//! Walks from a value of one frame to its shortest name there: through getters,
//! casts, boxes, constructors, conversions and fields stored once.

use rustc_hash::FxHashMap;

use super::{Bindings, Bound, in_loop, is_null, local, loops};
use crate::call_graph::{Call, CallKind, Times, apis};
use crate::identifiers::Place;
use crate::ir::{Body, InvokeKind, Op, ValueId};
use crate::limits::{BINDING_DEPTH_MAX, PATH_FIELDS_MAX};
use crate::path::{AccessPath, Root, Step};
use crate::program::{FieldRef, MethodId, MethodRef};
use crate::top_level::loops::is_take;

/// One question about one frame.
pub(in crate::identifiers) struct Walk<'b, 'a> {
    pub(in crate::identifiers) bindings: &'b Bindings<'a>,
    pub(in crate::identifiers) method: MethodId,
    pub(in crate::identifiers) body: &'a Body,
    is_constructor: bool,
    /// Whether a value that was put into an object made here goes by where it was read, too:
    /// right for the moment when the object is handed over.
    pub(in crate::identifiers) is_handed_over: bool,
    /// Values whose path is being asked for (phis are cyclic).
    visiting: Vec<ValueId>,
    /// Answers for calls, each as good as what it was asked among.
    known: FxHashMap<Asked, AccessPath>,
}

/// A value, the depth at which its path was asked for, and what was being
/// visited then: all that an answer depends on.
type Asked = (ValueId, usize, Vec<ValueId>);

impl<'b, 'a> Walk<'b, 'a> {
    pub(in crate::identifiers) fn new(bindings: &'b Bindings<'a>, method: MethodId, body: &'a Body) -> Self {
        let is_constructor = bindings.program.methods[method.index()].name == bindings.constructor;
        let (visiting, known) = (Vec::new(), FxHashMap::default());
        Self { bindings, method, body, is_constructor, is_handed_over: false, visiting, known }
    }

    /// What `place` of the frame of one of `call.targets` is in this frame;
    /// `in_loop` tells what a loop is.
    pub(in crate::identifiers) fn bind(
        &mut self,
        call: &Call,
        place: &Place,
        in_loop: &dyn Fn(&Body, ValueId) -> bool,
    ) -> Bound {
        let body = self.body;
        match place.path.root {
            Root::Static(_) => {
                let set = self.bindings.set_for_thread(self.method, &place.path);
                let path = set.unwrap_or_else(|| place.path.clone());
                Bound::Place(Place { path, frame: self.method, looping: place.looping })
            }
            Root::Local(v) => {
                let looping = place.looping || in_loop(body, call.site) || self.calls_over(call);
                // What a callee makes and gives back is the caller's from then on.
                let is_given_back = call.kind == CallKind::Direct
                    && call.targets == [place.frame]
                    && self.bindings.returned(place.frame).is_some_and(|path| *path == local(v));
                if is_given_back {
                    let path = AccessPath { root: Root::Local(call.site), steps: place.path.steps.clone() };
                    return Bound::Place(Place { path, frame: self.method, looping });
                }
                Bound::Place(Place { looping, ..place.clone() })
            }
            Root::Param(i) => {
                let Some(value) = call.args.get(usize::from(i)).copied().flatten() else {
                    return self.given_by_library(call, place, i);
                };
                let path = self.part_of(value, &place.path.steps, 0);
                if let Root::Local(v) = path.root
                    && matches!(body.op(v), Op::Const(_))
                {
                    return Bound::Constant;
                }
                let looping = place.looping || loops(body, &path, value, in_loop);
                Bound::Place(Place { path, frame: self.method, looping })
            }
        }
    }

    /// Whether what is called back runs any number of times: what it makes, it makes
    /// anew each time.
    fn calls_over(&self, call: &Call) -> bool {
        let graph = self.bindings.graph;
        call.targets.iter().any(|&target| graph.times(self.method, call, target) == Times::Any)
    }

    /// A callee's parameter that no argument of this frame is: what a library gives
    /// to whom it calls back is known there only.
    fn given_by_library(&self, call: &Call, place: &Place, i: u16) -> Bound {
        let callee = self
            .bindings
            .body(place.frame)
            .filter(|_| matches!(call.kind, CallKind::Answer | CallKind::Callback));
        let given =
            callee.and_then(|body| body.iter().find(|(_, inst)| matches!(inst.op, Op::Param(p) if p == i)));
        let Some((given, _)) = given else { return Bound::Unknown };
        let path = AccessPath { root: Root::Local(given), steps: place.path.steps.clone() };
        Bound::Place(Place { path, frame: place.frame, looping: true })
    }

    pub(in crate::identifiers) fn path(&mut self, value: ValueId, depth: usize) -> AccessPath {
        if depth > BINDING_DEPTH_MAX {
            return local(value);
        }
        if !matches!(self.body.op(value), Op::Invoke { .. }) {
            return self.walked(value, depth);
        }
        // A call with many targets asks for its arguments once for each, and so
        // does the call that made them: without the answers kept, a chain of
        // calls takes the number of targets to the power of its length.
        let asked = (value, depth, self.visiting.clone());
        if let Some(path) = self.known.get(&asked) {
            return path.clone();
        }
        let path = self.walked(value, depth);
        self.known.insert(asked, path.clone());
        path
    }

    fn walked(&mut self, value: ValueId, depth: usize) -> AccessPath {
        match self.body.op(value) {
            Op::Param(i) => AccessPath { root: Root::Param(*i), steps: Vec::new() },
            Op::GetField(f, None) => AccessPath { root: Root::Static(*f), steps: Vec::new() },
            Op::GetField(f, Some(object)) => {
                let step = Step::Field(*f);
                if let Some(path) = self.by_key(*object, &[step], depth + 1) {
                    return path;
                }
                let base = self.path(*object, depth + 1);
                self.project(base, step, depth + 1).unwrap_or_else(|_| local(value))
            }
            Op::Cast(_, o) | Op::Convert(_, o) => self.path(*o, depth + 1),
            Op::Phi(operands) => self.phi(value, operands, depth),
            // The parts of a text are no elements of one kind.
            Op::ArrayLoad(array, _) if self.is_split(*array) => local(value),
            Op::ArrayLoad(array, index) if self.is_const(*index) => local(self.first_load(*array, *index)),
            // What is taken out is the taker's own, and another one each time.
            Op::ArrayLoad(array, _) if is_slot(self.body, *array) && in_loop(self.body, value) => {
                local(value)
            }
            Op::ArrayLoad(array, _) => {
                let base = self.path(*array, depth + 1);
                self.project(base, Step::Element, depth + 1).unwrap_or_else(|_| local(value))
            }
            Op::Invoke { kind, method, args } => self.invoke(value, *kind, *method, args, depth),
            _ => local(value),
        }
    }

    fn is_const(&self, value: ValueId) -> bool {
        matches!(self.body.op(value), Op::Const(_))
    }

    /// The first place where the element of an array is read that stands at a constant position:
    /// such an array is a record of several things.
    fn first_load(&self, array: ValueId, index: ValueId) -> ValueId {
        let array = self.body.uncast(array);
        let is_same = |op: &Op| {
            matches!(op, Op::ArrayLoad(of, at)
            if self.body.uncast(*of) == array && self.body.op(*at) == self.body.op(index))
        };
        let loads = self.body.iter().filter(|(_, inst)| is_same(&inst.op));
        loads.map(|(load, _)| load).next().unwrap_or(array)
    }

    /// Whether a value was taken out of a collection in this turn of a loop, or is a part of that.
    fn is_taken(&self, value: ValueId) -> bool {
        let value = self.body.uncast(value);
        match self.body.op(value) {
            Op::ArrayLoad(array, index) if self.is_const(*index) => self.is_taken(*array),
            Op::GetField(_, Some(object)) => self.is_taken(*object),
            op => is_take(op) && in_loop(self.body, value),
        }
    }

    /// Whether a value is what a text was split into.
    fn is_split(&self, parts: ValueId) -> bool {
        matches!(self.body.op(self.body.uncast(parts)), Op::Invoke { method, .. } if apis::splits(method))
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
        if !args.is_empty() && self.bindings.same_value.contains(&(method.class, method.name)) {
            return self.path(args[0], depth + 1);
        }
        let bindings = self.bindings;
        let mut targets = bindings.targets(self.method, value).peekable();
        if targets.peek().is_some() {
            let mut found: Option<AccessPath> = None;
            for (call, target) in targets {
                let bound = self.returned(call, target, &[], depth);
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
            let is_part = || self.is_split(args[0]) || apis::is_named(self.body, &method, args);
            // What is taken out is the taker's own, and another one each time.
            let is_own = is_take(self.body.op(value)) && in_loop(self.body, value);
            if bindings.is_library(method.class)
                && (is_own || bindings.elements.contains(&(self.method, value)))
            {
                return local(value);
            }
            if apis::COLLECTION_GET.contains(&name) && bindings.is_library(method.class) && !is_part() {
                let base = self.path(args[0], depth + 1);
                return self.project(base, Step::Element, depth + 1).unwrap_or_else(|_| local(value));
            }
        }
        if kind != InvokeKind::Static && args.len() == 1 && is_getter(method) {
            let base = self.path(args[0], depth + 1);
            if !matches!(base.root, Root::Local(_)) || !base.steps.is_empty() {
                return self.project(base, Step::Call(method), depth + 1).unwrap_or_else(|_| local(value));
            }
        }
        local(value)
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
        let bindings = self.bindings;
        let returned = bindings.returns[target.index()].as_ref()?;
        let extended;
        let path = if steps.is_empty() {
            returned
        } else {
            let body = bindings.body(target)?;
            let mut callee = Walk::new(bindings, target, body);
            extended = callee.extend(returned.clone(), steps, depth + 1);
            &extended
        };
        match path.root {
            Root::Static(_) => Some(path.clone()),
            Root::Local(_) => None,
            Root::Param(i) => {
                let value = call.args.get(usize::from(i)).copied().flatten()?;
                Some(self.part_of(value, &path.steps, depth + 1))
            }
        }
    }

    pub(in crate::identifiers) fn extend(
        &mut self,
        base: AccessPath,
        steps: &[Step],
        depth: usize,
    ) -> AccessPath {
        let mut path = base;
        for step in steps {
            match self.project(path, *step, depth) {
                Ok(p) => path = p,
                // Too long: keep the root, so that it stays a value of its own.
                Err(kept) => return kept,
            }
        }
        path
    }

    /// `base.step`, by its shortest name; `base` if too long.
    fn project(&mut self, base: AccessPath, step: Step, depth: usize) -> Result<AccessPath, AccessPath> {
        let mut path = base;
        if let Step::Field(f) = step
            && depth <= BINDING_DEPTH_MAX
        {
            match self.alias(path, f, depth) {
                Ok(alias) => return Ok(alias),
                Err(kept) => path = kept,
            }
        }
        if let (Some(Step::Field(owner)), Step::Field(f)) = (path.steps.last(), step)
            && depth <= BINDING_DEPTH_MAX
            && let Some(steps) = self.bindings.owned.get(&(*owner, f))
        {
            path.steps.pop();
            return Ok(self.extend(path, steps, depth + 1));
        }
        if path.steps.len() >= PATH_FIELDS_MAX {
            return Err(path);
        }
        path.steps.push(step);
        Ok(path)
    }

    /// Another name of `base.f`; `base` if there is none.
    fn alias(&mut self, base: AccessPath, f: FieldRef, depth: usize) -> Result<AccessPath, AccessPath> {
        let stores = &self.bindings.stores[self.method.index()];
        let key = (base, f);
        let stored = if stores.is_empty() { None } else { stores.get(&key).copied().flatten() };
        let base = key.0;
        if let Some(value) = stored
            && !self.visiting.contains(&value)
            && (self.is_constructor
                || is_handle(self.body, value)
                || self.is_filled(&base)
                || self.is_taken(value))
        {
            self.visiting.push(value);
            let path = self.path(value, depth + 1);
            self.visiting.pop();
            return Ok(path);
        }
        let found = match base.root {
            Root::Local(v) if base.steps.is_empty() => self.field_of_made(v, f, depth),
            _ => None,
        };
        found.ok_or(base)
    }

    /// Whether a path is that of an object which is made here to be handed over.
    fn is_filled(&self, object: &AccessPath) -> bool {
        let is_made = |v: ValueId| matches!(self.body.op(v), Op::New(_));
        self.is_handed_over && object.steps.is_empty() && matches!(object.root, Root::Local(v) if is_made(v))
    }

    /// The field `f` of an object that is made in the frame.
    fn field_of_made(&mut self, made: ValueId, f: FieldRef, depth: usize) -> Option<AccessPath> {
        match self.body.op(made) {
            Op::New(_) => self.constructed(made, f, depth),
            Op::Invoke { .. } => {
                let bindings = self.bindings;
                let mut targets = bindings.targets(self.method, made);
                let (Some((call, target)), None) = (targets.next(), targets.next()) else { return None };
                self.returned(call, target, &[Step::Field(f)], depth + 1)
            }
            Op::Phi(operands) => self.phi_field(made, operands, f, depth),
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
            let path = self.project(base, Step::Field(f), depth + 1).ok();
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
        let bindings = self.bindings;
        let call = bindings.construction(self.method, self.body, made)?;
        let target = *call.targets.first()?;
        let path = bindings.initial(target, f, depth + 1)?;
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

/// Whether an array is one of objects that a field holds, so that others can put something there.
pub(crate) fn is_slot(body: &Body, array: ValueId) -> bool {
    matches!(body.op(body.uncast(array)), Op::GetField(field, Some(_)) if field.descriptor.starts_with("[L"))
}

/// Values worth an alias when stored: objects made here or by a call, and
/// parameters.
fn is_handle(body: &Body, value: ValueId) -> bool {
    matches!(body.op(value), Op::New(_) | Op::Param(_) | Op::Invoke { .. })
}

/// A method that only gives something of its object, as far as its name says.
fn is_getter(method: MethodRef) -> bool {
    let name = method.name.as_str();
    let descriptor = method.descriptor.as_str();
    if !descriptor.starts_with("()") || descriptor == "()V" {
        return false;
    }
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
    named || plain
}

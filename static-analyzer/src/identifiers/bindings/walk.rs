//! Walks from a value of one frame to its shortest name there: through getters,
//! casts, boxes, constructors, conversions and fields stored once.

use rustc_hash::FxHashMap;

use super::{Bindings, is_null, local};
use crate::call_graph::resolve::signature;
use crate::call_graph::{Call, apis};
use crate::ir::{Body, InvokeKind, Op, ValueId};
use crate::limits::{BINDING_DEPTH_MAX, PATH_FIELDS_MAX};
use crate::path::{AccessPath, Root, Step};
use crate::program::{FieldRef, MethodId, MethodRef, Name};

/// One question about one frame.
pub(super) struct Walk<'b, 'a> {
    pub(super) bindings: &'b Bindings<'a>,
    pub(super) method: MethodId,
    pub(super) body: &'a Body,
    /// Values whose path is being asked for (phis are cyclic).
    visiting: Vec<ValueId>,
    /// Answers for calls, each as good as what it was asked among.
    known: FxHashMap<Asked, AccessPath>,
}

/// A value, the depth at which its path was asked for, and what was being
/// visited then: all that an answer depends on.
type Asked = (ValueId, usize, Vec<ValueId>);

impl<'b, 'a> Walk<'b, 'a> {
    pub(super) fn new(bindings: &'b Bindings<'a>, method: MethodId, body: &'a Body) -> Self {
        Self { bindings, method, body, visiting: Vec::new(), known: FxHashMap::default() }
    }

    pub(super) fn path(&mut self, value: ValueId, depth: usize) -> AccessPath {
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
            let mut callee = Walk::new(self.bindings, target, body);
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

    pub(super) fn extend(&mut self, base: AccessPath, steps: &[Step], depth: usize) -> AccessPath {
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

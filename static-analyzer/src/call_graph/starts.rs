//! Objects with a method that somebody else calls: threads, tasks, callbacks.
//!
//! Principle: whoever *gives away* an object with a run-like method makes the
//! edge, at the site where it is given away. Giving away means: `start()` on a
//! thread, an argument to library code, storing it (own executors and queues
//! store what they run later), or an argument to a program method that gives
//! its parameter away. So wrappers (own thread classes, own pools, `doAs`) need
//! no table: the edge appears at their callers, where the object's class is
//! known.

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::apis::{self, Task};
use super::closures::{Closure, Closures};
use super::flow::{Flow, Frame, Node, Source};
use super::resolve::{Resolver, class_of, signature};
use super::{Call, CallKind};
use crate::ir::{Body, InvokeKind, Op, ValueId};
use crate::program::{ClassId, MethodId, MethodRef, Name};

mod captured;
mod carried;
mod commands;
mod edges;
mod exit;
mod kept;
mod run;

/// How a parameter is given away.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Gift {
    /// Called back before the method returns.
    Callback,
    /// Run when the process ends.
    Exit,
    /// Run later or elsewhere.
    Start,
}

/// Finds starts and callbacks.
pub(crate) struct Starts<'a> {
    resolver: &'a Resolver<'a>,
    flow: &'a Flow,
    closures: &'a Closures,
    instantiated: &'a [bool],
    /// Per class: the rows of the task table that it is a subtype of.
    tasks: Vec<Vec<&'static Task>>,
    gifts: FxHashMap<(MethodId, usize), Gift>,
    /// Nodes of captured values that are such parameters.
    lifted: FxHashSet<Node>,
    /// Per node of the flow: objects that it holds are run by somebody.
    run: Vec<bool>,
    /// Calls by which an inherited task body runs what its subclasses define.
    templates: FxHashSet<(MethodId, ValueId)>,
    /// Per method: its calls of closures that were kept somewhere.
    kept: Vec<Vec<Call>>,
    /// Per closure: whether there is one.
    is_kept: Vec<bool>,
    /// Interfaces of the program that closures implement, each with its method.
    functional: FxHashSet<(Name, Name)>,
    /// Per node of the flow: closures that it holds get to where they are kept,
    /// and called later.
    called_later: Vec<bool>,
    /// Methods that call the elements of a parameter, with what they call on them.
    called_elements: FxHashSet<(MethodId, usize, Name, Name)>,
}

/// One argument that may be given away at a site.
struct Pass {
    site: ValueId,
    argument: usize,
    /// Parameter of the caller that it is.
    param: Option<usize>,
}

impl<'a> Starts<'a> {
    pub(crate) fn new(
        resolver: &'a Resolver<'a>,
        flow: &'a Flow,
        closures: &'a Closures,
        instantiated: &'a [bool],
        calls: &[Vec<Call>],
    ) -> Self {
        let tasks = (0..resolver.program.classes.len())
            .into_par_iter()
            .map(|i| task_rows(resolver, ClassId::new(i)))
            .collect();
        let mut starts = Self {
            resolver,
            flow,
            closures,
            instantiated,
            tasks,
            gifts: FxHashMap::default(),
            lifted: FxHashSet::default(),
            run: Vec::new(),
            templates: FxHashSet::default(),
            kept: Vec::new(),
            is_kept: vec![false; closures.len()],
            functional: own_functional(resolver, closures),
            called_later: Vec::new(),
            called_elements: FxHashSet::default(),
        };
        starts.called_elements = starts.find_called_elements(calls);
        starts.called_later = starts.find_called_later(calls);
        starts.run = starts.find_run(calls);
        starts.find_gifts(calls);
        starts.find_lifted(calls);
        starts.find_templates(calls);
        starts.find_kept(calls);
        starts
    }

    /// Whether objects of `class` have a method that others run.
    pub(crate) fn is_task(&self, class: ClassId) -> bool {
        !self.tasks[class.index()].is_empty()
    }

    /// Whether parameter `i` of `method` is called back or run by what it is
    /// given to, so that calls on it are edges of the method's callers.
    pub(crate) fn is_gift(&self, method: MethodId, i: usize) -> bool {
        self.gifts.contains_key(&(method, i))
    }

    /// The bodies of the tasks of `class` with their rows.
    pub(crate) fn bodies(&self, class: ClassId) -> Vec<(&'static Task, Vec<MethodId>)> {
        self.tasks[class.index()]
            .iter()
            .map(|row| {
                let mut methods = self.task_methods(class, row);
                let templates: Vec<MethodId> = methods.clone();
                for m in templates {
                    methods.extend(self.defined(class, m).into_iter().map(|(_, _, t)| t));
                }
                methods.sort_unstable();
                methods.dedup();
                (*row, methods)
            })
            .filter(|(_, methods)| !methods.is_empty())
            .collect()
    }

    /// Whether the call at `site` runs what the subclass of a task defines; it
    /// is followed per class, from where the task is given away.
    pub(crate) fn is_template(&self, method: MethodId, site: ValueId) -> bool {
        self.templates.contains(&(method, site))
    }

    fn find_templates(&mut self, calls: &[Vec<Call>]) {
        let mut found = FxHashSet::default();
        for i in 0..self.resolver.program.classes.len() {
            let class = ClassId::new(i);
            if !self.instantiated[i] || !self.is_task(class) {
                continue;
            }
            for row in &self.tasks[i] {
                for m in self.task_methods(class, row) {
                    for (template, site, _) in self.defined(class, m) {
                        let targets = direct_targets(&calls[template.index()], site);
                        if targets.len() > 1 {
                            found.insert((template, site));
                        }
                    }
                }
            }
        }
        self.templates = found;
    }

    /// What an inherited task body (template method) runs in `class`: (template,
    /// site, method defined by the class), a few levels deep.
    fn defined(&self, class: ClassId, body_of: MethodId) -> Vec<(MethodId, ValueId, MethodId)> {
        let program = self.resolver.program;
        let mut found = Vec::new();
        let mut todo = vec![body_of];
        while let Some(template) = todo.pop() {
            let m = &program.methods[template.index()];
            let Some(body) = m.body.as_ref().filter(|_| m.class != class && found.len() < 8) else {
                continue;
            };
            for (site, inst) in body.iter() {
                let Op::Invoke { kind: InvokeKind::Virtual | InvokeKind::Interface, method, args } = &inst.op
                else {
                    continue;
                };
                let on_this = matches!(body.op(args[0]), Op::Param(0));
                if !on_this || !self.is_abstract(*method) {
                    continue;
                }
                let target = self.resolver.lookup(class, method.name, method.descriptor);
                if let Some(t) = target.filter(|&t| t != template && self.resolver.has_body(t))
                    && found.iter().all(|&(_, _, known)| known != t)
                {
                    found.push((template, site, t));
                    todo.push(t);
                }
            }
        }
        found
    }

    /// Declared without a body, and doing something (not giving a value).
    fn is_abstract(&self, method: MethodRef) -> bool {
        let result = signature(method.descriptor.as_str()).1;
        let does = result == "V" || result == "Ljava/lang/Object;";
        does && self
            .resolver
            .own_class(method.class)
            .and_then(|c| {
                self.resolver
                    .supertypes(c)
                    .into_iter()
                    .find_map(|c| self.resolver.declared(c, method.name, method.descriptor))
            })
            .is_some_and(|m| !self.resolver.has_body(m))
    }

    fn task_methods(&self, class: ClassId, row: &Task) -> Vec<MethodId> {
        let program = self.resolver.program;
        let mut found = Vec::new();
        for c in self.resolver.supertypes(class) {
            for i in program.classes[c.index()].methods.clone() {
                let m = &program.methods[i];
                let is_bridge = m.access & crate::program::access::BRIDGE != 0;
                if m.body.is_none() || m.is_static() || is_bridge || !matches(row.method, m.name) {
                    continue;
                }
                let overridden = found.iter().any(|&o: &MethodId| {
                    let o = &program.methods[o.index()];
                    o.name == m.name && o.descriptor == m.descriptor
                });
                if !overridden && fits(row, m.descriptor.as_str()) {
                    found.push(MethodId::new(i));
                }
            }
        }
        found.sort_unstable();
        found
    }

    fn frame<'b>(
        &'b self,
        method: MethodId,
        body: &'b Body,
        targets: &'b dyn Fn(ValueId) -> Vec<MethodId>,
    ) -> Frame<'b> {
        Frame { resolver: self.resolver, flow: self.flow, method, body, targets }
    }

    fn find_gifts(&mut self, calls: &[Vec<Call>]) {
        let methods = &self.resolver.program.methods;
        let passes: Vec<Vec<Pass>> =
            (0..methods.len()).into_par_iter().map(|i| self.passes(MethodId::new(i), calls)).collect();
        // A chain of wrappers longer than this does not occur.
        for _ in 0..6 {
            let mut new = Vec::new();
            for (i, list) in passes.iter().enumerate() {
                let method = MethodId::new(i);
                let Some(body) = &methods[i].body else { continue };
                for pass in list {
                    let Some(param) = pass.param else { continue };
                    let targets = |v: ValueId| direct_targets(&calls[i], v);
                    let gift = self.gift_of(&self.frame(method, body, &targets), pass, &calls[i]);
                    if gift > self.gifts.get(&(method, param)).copied() {
                        new.push(((method, param), gift));
                    }
                }
            }
            if new.is_empty() {
                break;
            }
            for (key, gift) in new {
                let old = self.gifts.get(&key).copied();
                self.gifts.extend(gift.max(old).map(|g| (key, g)));
            }
        }
    }

    /// Parameters of task types that `method` hands on, and how.
    fn passes(&self, method: MethodId, calls: &[Vec<Call>]) -> Vec<Pass> {
        let m = &self.resolver.program.methods[method.index()];
        let Some(body) = &m.body else { return Vec::new() };
        let offset = usize::from(!m.is_static());
        let (params, _) = signature(m.descriptor.as_str());
        let is_tasklike: Vec<bool> = params.iter().map(|p| self.is_task_type(p)).collect();
        // What a closure is given, or captures, comes from nobody's argument.
        if !is_tasklike.contains(&true) || self.closures.is_body(method) {
            return Vec::new();
        }
        let targets = |v: ValueId| direct_targets(&calls[method.index()], v);
        let frame = self.frame(method, body, &targets);
        let mut found = Vec::new();
        let mut push = |site: ValueId, argument: usize, value: ValueId| {
            for s in frame.sources(value) {
                for (i, _) in is_tasklike.iter().enumerate().filter(|(_, t)| **t) {
                    if s == Source::Node(self.flow.param(method, i + offset)) {
                        found.push(Pass { site, argument, param: Some(i + offset) });
                    }
                }
            }
        };
        for (v, inst) in body.iter() {
            match &inst.op {
                Op::Invoke { args, .. } => {
                    args.iter().enumerate().for_each(|(j, a)| push(v, j, *a));
                }
                Op::PutField(_, _, value) => push(v, 0, *value),
                Op::InvokeDynamic { args, .. } => {
                    args.iter().enumerate().for_each(|(j, a)| push(v, j, *a));
                }
                _ => {}
            }
        }
        found
    }

    /// Whether a declared type is (or is below) a row of the task table.
    fn is_task_type(&self, descriptor: &str) -> bool {
        let Some(class) = class_of(descriptor) else { return false };
        apis::TASKS.iter().any(|t| t.class == class)
            || self.resolver.own_class(Name::from(class)).is_some_and(|c| self.is_task(c))
            || self.functional.iter().any(|(interface, _)| interface.as_str() == class)
    }

    fn gift_of(&self, frame: &Frame<'_>, pass: &Pass, calls: &[Call]) -> Option<Gift> {
        let gift = self.given_at(frame, pass, calls);
        let waits_for_exit = gift == Some(Gift::Start) && exit::waits(frame.body, pass.site);
        if waits_for_exit { Some(Gift::Exit) } else { gift }
    }

    fn given_at(&self, frame: &Frame<'_>, pass: &Pass, calls: &[Call]) -> Option<Gift> {
        match frame.body.op(pass.site) {
            Op::PutField(..) => self.is_run_later(frame, pass.site).then_some(Gift::Start),
            Op::Invoke { kind: InvokeKind::Interface, method, .. }
                if pass.argument == 0 && self.functional.contains(&(method.class, method.name)) =>
            {
                Some(Gift::Callback)
            }
            Op::Invoke { kind, method, .. } => {
                let targets = direct_targets(calls, pass.site);
                if targets.is_empty() {
                    let gift = self.library_gift(*kind, *method, pass.argument);
                    return gift
                        .filter(|_| !self.is_put(*kind, *method) || self.is_run_later(frame, pass.site));
                }
                targets.iter().filter_map(|&t| self.gifts.get(&(t, pass.argument)).copied()).max()
            }
            Op::InvokeDynamic { .. } => self.run_with_closure(frame, pass, calls),
            _ => None,
        }
    }

    /// What the library does with argument `argument` of a call: runs it, or
    /// calls it back.
    fn library_gift(&self, kind: InvokeKind, method: MethodRef, argument: usize) -> Option<Gift> {
        let offset = usize::from(kind != InvokeKind::Static);
        let name = method.name.as_str();
        if argument < offset {
            // A call *on* the object.
            let starts_thread = name == "start" || name == "fork";
            let called = apis::TASKS
                .iter()
                .any(|t| t.class == method.class.as_str() && matches(t.method, method.name));
            return starts_thread.then_some(Gift::Start).or(called.then_some(Gift::Callback));
        }
        let (params, _) = signature(method.descriptor.as_str());
        let declared = class_of(params.get(argument - offset)?)?;
        if apis::ASYNC_RECEIVERS.contains(&method.class.as_str()) {
            return Some(Gift::Start);
        }
        if let Some(row) = apis::TASKS.iter().find(|t| t.class == declared) {
            let is_elsewhere = row.link.is_some() && !gives_back(row, method);
            return Some(if is_elsewhere { Gift::Start } else { Gift::Callback });
        }
        let is_put = apis::COLLECTION_PUT.contains(&name) && offset == 1;
        (declared == "java/lang/Object" && is_put).then_some(Gift::Start)
    }

    fn is_lifted(&self, method: MethodId, node: Node) -> bool {
        self.lifted.contains(&node)
            || (0..12).any(|i| self.flow.param(method, i) == node && self.is_gift(method, i))
    }

    fn n_params(&self, method: MethodId) -> usize {
        let m = &self.resolver.program.methods[method.index()];
        signature(m.descriptor.as_str()).0.len() + usize::from(!m.is_static())
    }
}

/// The row of the task table that a closure is.
fn task_row(closure: &Closure) -> Option<&'static Task> {
    apis::TASKS.iter().find(|t| t.class == closure.interface.as_str())
}

/// Whether a call gives back what a task has computed, which has been run by then: timers,
/// retries, breakers. What stands for that gives it back later.
fn gives_back(row: &Task, method: MethodRef) -> bool {
    row.method == "call" && signature(method.descriptor.as_str()).1 == "Ljava/lang/Object;"
}

fn own_functional(resolver: &Resolver<'_>, closures: &Closures) -> FxHashSet<(Name, Name)> {
    let own = closures.iter().filter(|closure| resolver.own_class(closure.interface).is_some());
    own.map(|closure| (closure.interface, closure.method)).collect()
}

fn task_rows(resolver: &Resolver<'_>, class: ClassId) -> Vec<&'static Task> {
    let supers = resolver.super_names(class);
    apis::TASKS.iter().filter(|t| supers.iter().any(|s| s.as_str() == t.class)).collect()
}

pub(crate) fn matches(pattern: &str, name: Name) -> bool {
    match pattern.strip_suffix('*') {
        Some(prefix) => name.as_str().starts_with(prefix),
        None => name.as_str() == pattern,
    }
}

/// `run()`, `call()` and `compute()` have no parameters; a method of that name
/// with parameters is another one (`Comparator.compare` and the like have some).
fn fits(row: &Task, descriptor: &str) -> bool {
    !matches!(row.method, "run" | "call" | "compute") || descriptor.starts_with("()")
}

/// Targets of the plain call at `site`.
pub(crate) fn direct_targets(calls: &[Call], site: ValueId) -> Vec<MethodId> {
    let from = calls.partition_point(|c| c.site < site);
    calls[from..]
        .iter()
        .take_while(|c| c.site == site)
        .filter(|c| c.kind == CallKind::Direct)
        .flat_map(|c| c.targets.iter().copied())
        .collect()
}

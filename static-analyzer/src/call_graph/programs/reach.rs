//! What one program reaches from its `main`. What each method does is found once;
//! the way of each program goes over numbers only.

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::call_graph::reflected::made_by;
use crate::call_graph::{Call, CallGraph};
use crate::ir::{Body, InvokeKind, Op};
use crate::program::{Class, ClassId, MethodId, Name, Program};

/// What a method does for whoever runs it, found once for all programs.
#[derive(Default)]
struct Steps {
    /// Classes that it makes objects of.
    makes: Vec<ClassId>,
    /// Methods that it runs.
    runs: Vec<MethodId>,
    /// Methods that it runs if there is an object of their class.
    runs_on_object: Vec<MethodId>,
}

impl Steps {
    fn of(program: &Program, graph: &CallGraph, initializers: &[Vec<MethodId>], method: MethodId) -> Self {
        let mut steps = Self::default();
        let body = program.methods[method.index()].body.as_ref();
        steps.makes = body.into_iter().flat_map(|body| made_by(program, body)).collect();
        let classes = body.into_iter().flat_map(|body| initialized_by(program, body));
        steps.runs = classes.flat_map(|class| &initializers[class.index()]).copied().collect();
        for call in graph.calls(method) {
            if call.kind.is_remote() {
                steps.makes.extend(body.and_then(|body| answer(program, body, call)));
                continue;
            }
            let is_virtual = body.is_none_or(|body| is_virtual(body, call));
            for &target in &call.targets {
                let needs_object = is_virtual && !program.methods[target.index()].is_static();
                if needs_object { &mut steps.runs_on_object } else { &mut steps.runs }.push(target);
            }
        }
        steps.makes.sort_unstable();
        steps.makes.dedup();
        for methods in [&mut steps.runs, &mut steps.runs_on_object] {
            methods.sort_unstable();
            methods.dedup();
        }
        steps
    }
}

/// Whether which method runs depends on the object: not for a call on the
/// object at hand or of a lambda's body.
fn is_virtual(body: &Body, call: &Call) -> bool {
    let special = matches!(
        body.op(call.site),
        Op::Invoke { kind: InvokeKind::Static | InvokeKind::Special, .. } | Op::InvokeDynamic { .. }
    );
    !(special && call.kind.is_local())
}

/// Classes that a body uses first, as far as it knows: whoever does so runs their
/// static initializers, in which singletons are made (each `object` of Scala).
fn initialized_by<'a>(program: &'a Program, body: &'a Body) -> impl Iterator<Item = ClassId> + 'a {
    let used = body.iter().filter_map(|(_, inst)| match &inst.op {
        Op::New(class) => Some(*class),
        Op::GetField(field, None) | Op::PutField(field, None, _) => Some(field.class),
        Op::Invoke { kind: InvokeKind::Static, method, .. } => Some(method.class),
        _ => None,
    });
    used.filter_map(|class| program.class(class))
}

/// Per class: its static initializer and those of what it extends.
fn initializers(program: &Program) -> Vec<Vec<MethodId>> {
    let own = |name: Name| {
        let class = &program.classes[program.class(name)?.index()];
        let is_initializer = |m: &MethodId| program.methods[m.index()].name == "<clinit>";
        class.methods.clone().map(MethodId::new).find(is_initializer)
    };
    let of = |class: &Class| program.supers(class.name).into_iter().filter_map(own).collect();
    program.classes.iter().map(of).collect()
}

/// The answer of a remote call is made by who calls: an object of the class that
/// it is declared to be, which reads what it consists of.
fn answer(program: &Program, body: &Body, call: &Call) -> Option<ClassId> {
    let Op::Invoke { method: called, .. } = body.op(call.site) else { return None };
    let class = called.descriptor.rsplit_once(")L").and_then(|(_, class)| class.strip_suffix(';'))?;
    program.class(Name::from(class))
}

/// What all programs are made of.
pub(super) struct Parts {
    /// Per method.
    steps: Vec<Steps>,
    /// Per class: those that it extends and implements.
    above: Vec<Vec<ClassId>>,
}

impl Parts {
    pub(super) fn new(program: &Program, graph: &CallGraph) -> Self {
        let methods = (0..program.methods.len()).into_par_iter();
        let initializers = initializers(program);
        let above = program.classes.iter().map(|class| {
            let above = class.super_name.iter().chain(&class.interfaces);
            above.filter_map(|&name| program.class(name)).collect()
        });
        let mut steps: Vec<Steps> =
            methods.map(|i| Steps::of(program, graph, &initializers, MethodId::new(i))).collect();
        for &(method, class) in &graph.reflected {
            steps[method.index()].makes.push(class);
        }
        Self { steps, above: above.collect() }
    }
}

/// What one program reaches.
pub(super) struct Reach<'a> {
    parts: &'a Parts,
    /// Of each method.
    class_of: &'a dyn Fn(MethodId) -> ClassId,
    /// Methods that others than the program call on objects of a class.
    called_back: &'a FxHashMap<ClassId, Vec<MethodId>>,
    /// Per method: whether it can run.
    pub(super) methods: Vec<bool>,
    /// Classes of which, or of a class below, there is an object.
    live: Vec<bool>,
    /// Classes of which exactly there is an object.
    pub(super) made: Vec<bool>,
    /// Per class: methods that run once there is an object of it.
    waiting: Vec<Vec<MethodId>>,
    todo: Vec<MethodId>,
}

impl<'a> Reach<'a> {
    pub(super) fn new(
        parts: &'a Parts,
        class_of: &'a dyn Fn(MethodId) -> ClassId,
        called_back: &'a FxHashMap<ClassId, Vec<MethodId>>,
    ) -> Self {
        let n_classes = parts.above.len();
        Self {
            parts,
            class_of,
            called_back,
            methods: vec![false; parts.steps.len()],
            live: vec![false; n_classes],
            made: vec![false; n_classes],
            waiting: vec![Vec::new(); n_classes],
            todo: Vec::new(),
        }
    }

    /// Adds what is run from `starts`.
    pub(super) fn run(&mut self, starts: &[MethodId]) {
        starts.iter().for_each(|&start| self.add(start));
        while let Some(method) = self.todo.pop() {
            let steps: &'a Steps = &self.parts.steps[method.index()];
            steps.makes.iter().for_each(|&class| self.make(class));
            steps.runs.iter().for_each(|&target| self.add(target));
            for &target in &steps.runs_on_object {
                let class = (self.class_of)(target);
                if self.live[class.index()] {
                    self.add(target);
                } else if !self.methods[target.index()] {
                    self.waiting[class.index()].push(target);
                }
            }
        }
    }

    fn add(&mut self, method: MethodId) {
        if !std::mem::replace(&mut self.methods[method.index()], true) {
            self.todo.push(method);
        }
    }

    fn make(&mut self, class: ClassId) {
        self.made[class.index()] = true;
        let mut todo = vec![class];
        while let Some(class) = todo.pop() {
            if std::mem::replace(&mut self.live[class.index()], true) {
                continue;
            }
            let ready = std::mem::take(&mut self.waiting[class.index()]);
            ready.into_iter().for_each(|method| self.add(method));
            let called_back = self.called_back;
            called_back.get(&class).into_iter().flatten().for_each(|&method| self.add(method));
            todo.extend(&self.parts.above[class.index()]);
        }
    }
}

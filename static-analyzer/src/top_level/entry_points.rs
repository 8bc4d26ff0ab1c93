//! Entry points: which programs can run which top-level methods.
//!
//! One class path holds many programs (two kinds of servers, their tools, tests
//! of speed), and one process runs one of them. What a program can run is found
//! from its `main`: methods called or started from there, of classes that it
//! makes objects of on the way (rapid type analysis per entry point), and what
//! such objects are called back by: handlers of events and of remote calls. A
//! class literal counts as an object, because reflection makes one of it.
//!
//! Over-approximates: configuration by names in files is not seen, so what no
//! `main` reaches can be run by any.

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::TopLevels;
use crate::call_graph::{Call, CallGraph, RootKind};
use crate::ir::{Const, InvokeKind, Op};
use crate::program::{ClassId, MethodId, Name, Program};

/// Programs of the class path, and who runs what.
#[derive(Debug, Default)]
pub struct EntryPoints {
    /// Their `main` methods, in order.
    pub mains: Vec<MethodId>,
    /// Per top-level method: positions in `mains`; empty: any.
    pub of: Vec<Vec<u16>>,
}

/// More programs than this are not told apart.
const MAINS_MAX: usize = 512;

/// Finds the programs and what each can run.
pub fn find(program: &Program, graph: &CallGraph, top_levels: &TopLevels) -> EntryPoints {
    let mut mains: Vec<MethodId> =
        graph.roots.iter().filter(|r| r.kind == RootKind::Main).map(|r| r.method).collect();
    mains.truncate(MAINS_MAX);
    let mut called_back: FxHashMap<ClassId, Vec<MethodId>> = FxHashMap::default();
    for root in &graph.roots {
        if !matches!(root.kind, RootKind::Main | RootKind::Uncalled) {
            let class = program.methods[root.method.index()].class;
            called_back.entry(class).or_default().push(root.method);
        }
    }
    let runs: Vec<Vec<bool>> = mains
        .par_iter()
        .map(|&main| {
            let mut reach = Reach::new(program, graph, &called_back);
            reach.run(main);
            top_levels.methods.iter().map(|top| reach.methods[top.method.index()]).collect()
        })
        .collect();
    let of = (0..top_levels.methods.len())
        .map(|top| {
            let programs = (0u16..).zip(&runs).filter(|(_, runs)| runs[top]).map(|(main, _)| main);
            let programs: Vec<u16> = programs.collect();
            if programs.len() == mains.len() { Vec::new() } else { programs }
        })
        .collect();
    EntryPoints { mains, of }
}

/// What one program reaches.
struct Reach<'a> {
    program: &'a Program,
    graph: &'a CallGraph,
    /// Methods that others than the program call on objects of a class.
    called_back: &'a FxHashMap<ClassId, Vec<MethodId>>,
    methods: Vec<bool>,
    /// Classes of which, or of a class below, there is an object.
    live: Vec<bool>,
    /// Methods that run once there is an object of their class.
    waiting: FxHashMap<ClassId, Vec<MethodId>>,
    todo: Vec<MethodId>,
}

impl<'a> Reach<'a> {
    fn new(
        program: &'a Program,
        graph: &'a CallGraph,
        called_back: &'a FxHashMap<ClassId, Vec<MethodId>>,
    ) -> Self {
        Self {
            program,
            graph,
            called_back,
            methods: vec![false; program.methods.len()],
            live: vec![false; program.classes.len()],
            waiting: FxHashMap::default(),
            todo: Vec::new(),
        }
    }

    fn run(&mut self, main: MethodId) {
        self.add(main);
        while let Some(method) = self.todo.pop() {
            self.makes(method);
            let calls: &'a [Call] = self.graph.calls(method);
            for call in calls.iter().filter(|call| call.kind != crate::call_graph::CallKind::Rpc) {
                let is_virtual = self.is_virtual(method, call);
                for &target in &call.targets {
                    let callee = &self.program.methods[target.index()];
                    let needs_object = is_virtual && !callee.is_static();
                    if needs_object && !self.live[callee.class.index()] {
                        self.waiting.entry(callee.class).or_default().push(target);
                    } else {
                        self.add(target);
                    }
                }
            }
        }
    }

    /// Whether which method runs depends on the object: not for a call on the
    /// object at hand or of a lambda's body.
    fn is_virtual(&self, method: MethodId, call: &Call) -> bool {
        let Some(body) = &self.program.methods[method.index()].body else { return true };
        let special = matches!(
            body.op(call.site),
            Op::Invoke { kind: InvokeKind::Static | InvokeKind::Special, .. } | Op::InvokeDynamic { .. }
        );
        !(special && call.kind.is_local())
    }

    fn add(&mut self, method: MethodId) {
        if !std::mem::replace(&mut self.methods[method.index()], true) {
            self.todo.push(method);
        }
    }

    /// Objects made by a method.
    fn makes(&mut self, method: MethodId) {
        let program = self.program;
        let Some(body) = &program.methods[method.index()].body else { return };
        for (_, inst) in body.iter() {
            match &inst.op {
                Op::New(class) | Op::Const(Const::Class(class)) => self.make(*class),
                _ => {}
            }
        }
    }

    fn make(&mut self, class: Name) {
        let mut todo = vec![class];
        while let Some(name) = todo.pop() {
            let Some(class) = self.program.class(name) else { continue };
            if std::mem::replace(&mut self.live[class.index()], true) {
                continue;
            }
            let ready = self.waiting.remove(&class).unwrap_or_default();
            let called_back = self.called_back.get(&class).cloned().unwrap_or_default();
            ready.into_iter().chain(called_back).for_each(|method| self.add(method));
            let class = &self.program.classes[class.index()];
            todo.extend(class.super_name.iter().chain(&class.interfaces));
        }
    }
}

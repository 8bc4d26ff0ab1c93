//! Programs of a class path: what each of its `main` methods can run, and which
//! objects it makes.
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

use super::{Call, CallGraph, CallKind, RootKind};
use crate::ir::{Const, InvokeKind, Op};
use crate::program::{ClassId, MethodId, Name, Program, access};

/// More programs than this are not told apart.
const MAINS_MAX: usize = 512;

/// See the module. Programs are numbered as `mains`; one more number stands for
/// whoever uses what no `main` reaches: other programs, of which the class path
/// is a library.
#[derive(Debug, Default)]
pub struct Programs {
    /// Their `main` methods, in order.
    pub mains: Vec<MethodId>,
    /// Methods that each can run.
    runs: Vec<Vec<bool>>,
    /// Per method and program, as above, if objects are also called back through
    /// every method that overrides one of a library.
    may_run: Bits,
    /// Per class and program: it makes an object of exactly this class.
    makes: Bits,
}

impl Programs {
    /// Finds the programs and what each can run.
    pub fn find(program: &Program, graph: &CallGraph) -> Self {
        let mains = graph.roots.iter().filter(|r| r.kind == RootKind::Main).map(|r| r.method);
        let mut mains: Vec<MethodId> = mains.collect();
        let all_seen = mains.len() <= MAINS_MAX;
        mains.truncate(MAINS_MAX);
        let mut called_back: FxHashMap<ClassId, Vec<MethodId>> = FxHashMap::default();
        for root in &graph.roots {
            if !matches!(root.kind, RootKind::Main | RootKind::Uncalled) {
                let class = program.methods[root.method.index()].class;
                called_back.entry(class).or_default().push(root.method);
            }
        }
        let reached = |called_back: &FxHashMap<_, _>, starts: &[MethodId]| {
            let mut reach = Reach::new(program, graph, called_back);
            reach.run(starts);
            (reach.methods, reach.made)
        };
        let runs = mains.par_iter().map(|&main| reached(&called_back, &[main]).0).collect();
        let mut found = Self { mains, runs, may_run: Bits::default(), makes: Bits::default() };
        if !all_seen {
            return found;
        }
        add_overrides(program, &mut called_back);
        let mut wide: Vec<(Vec<bool>, Vec<bool>)> =
            found.mains.par_iter().map(|&main| reached(&called_back, &[main])).collect();
        let unreached = (0..program.methods.len()).filter(|&m| wide.iter().all(|(methods, _)| !methods[m]));
        let unreached: Vec<MethodId> = unreached.map(MethodId::new).collect();
        wide.push(reached(&called_back, &unreached));
        found.may_run = Bits::new(program.methods.len(), wide.iter().map(|w| w.0.as_slice()));
        found.makes = Bits::new(program.classes.len(), wide.iter().map(|w| w.1.as_slice()));
        found
    }

    /// Positions in `mains` of the programs that run a method.
    pub fn running(&self, method: MethodId) -> Vec<u16> {
        let programs = (0u16..).zip(&self.runs).filter(|(_, runs)| runs[method.index()]);
        programs.map(|(main, _)| main).collect()
    }

    /// Whether a method can meet an object of a class: some program may run the
    /// one and makes the other, or nobody is seen to make it, or it can be made
    /// by its name.
    pub(crate) fn can_meet(&self, program: &Program, method: MethodId, class: ClassId) -> bool {
        let (runs, makes) = (self.may_run.row(method.index()), self.makes.row(class.index()));
        runs.iter().zip(makes).any(|(a, b)| a & b != 0)
            || runs.iter().all(|&bits| bits == 0)
            || makes.iter().all(|&bits| bits == 0)
            || is_made_by_name(program, class)
    }
}

/// Whether reflection can make an object of the class from its name alone.
fn is_made_by_name(program: &Program, class: ClassId) -> bool {
    let class = &program.classes[class.index()];
    let made = |m: &crate::program::Method| {
        m.name == "<init>" && m.descriptor == "()V" && m.access & access::PUBLIC != 0
    };
    class.access & access::PUBLIC != 0 && program.methods[class.methods.clone()].iter().any(made)
}

/// Methods of every object that libraries call.
const OF_OBJECTS: &[&str] = &["toString", "hashCode", "equals", "finalize"];

/// Adds the methods that override one of a class outside of the program: a library
/// may call them on every object that there is.
fn add_overrides(program: &Program, called_back: &mut FxHashMap<ClassId, Vec<MethodId>>) {
    for (i, class) in program.classes.iter().enumerate() {
        let mut above = program.supers(class.name).into_iter();
        let of_library = above.any(|n| program.class(n).is_none() && n != "java/lang/Object");
        let callable = class.methods.clone().map(MethodId::new).filter(|m| {
            let method = &program.methods[m.index()];
            let has_object = method.access & (access::STATIC | access::PRIVATE) == 0;
            let name = method.name.as_str();
            has_object && (of_library && !name.starts_with('<') || OF_OBJECTS.contains(&name))
        });
        called_back.entry(ClassId::new(i)).or_default().extend(callable);
    }
    for methods in called_back.values_mut() {
        methods.sort_unstable();
        methods.dedup();
    }
}

/// A table of yes and no: rows of one bit per column.
#[derive(Debug, Default)]
struct Bits {
    words: Vec<u64>,
    per_row: usize,
}

impl Bits {
    fn new<'a>(n_rows: usize, columns: impl ExactSizeIterator<Item = &'a [bool]>) -> Self {
        let per_row = columns.len().div_ceil(64);
        let mut words = vec![0; n_rows * per_row];
        for (i, column) in columns.enumerate() {
            for (row, _) in column.iter().enumerate().filter(|(_, set)| **set) {
                words[row * per_row + i / 64] |= 1 << (i % 64);
            }
        }
        Self { words, per_row }
    }

    /// Nothing, if the table is empty.
    fn row(&self, row: usize) -> &[u64] {
        self.words.get(row * self.per_row..(row + 1) * self.per_row).unwrap_or(&[])
    }
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
    /// Classes of which exactly there is an object.
    made: Vec<bool>,
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
            made: vec![false; program.classes.len()],
            waiting: FxHashMap::default(),
            todo: Vec::new(),
        }
    }

    fn run(&mut self, starts: &[MethodId]) {
        starts.iter().for_each(|&start| self.add(start));
        while let Some(method) = self.todo.pop() {
            self.makes(method);
            let calls: &'a [Call] = self.graph.calls(method);
            for call in calls {
                if call.kind == CallKind::Rpc {
                    self.makes_answer(method, call);
                    continue;
                }
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
                Op::Const(Const::Text(text)) if text.contains('.') => {
                    self.make(Name::from(text.replace('.', "/").as_str()));
                }
                _ => {}
            }
        }
    }

    /// The answer of a remote call is made by who calls: an object of the class that
    /// it is declared to be, which reads what it consists of.
    fn makes_answer(&mut self, method: MethodId, call: &Call) {
        let Some(body) = &self.program.methods[method.index()].body else { return };
        let Op::Invoke { method: called, .. } = body.op(call.site) else { return };
        let answer = called.descriptor.rsplit_once(")L").and_then(|(_, class)| class.strip_suffix(';'));
        answer.into_iter().for_each(|class| self.make(Name::from(class)));
    }

    fn make(&mut self, class: Name) {
        if let Some(class) = self.program.class(class) {
            self.made[class.index()] = true;
        }
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

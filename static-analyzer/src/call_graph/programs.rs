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

use super::{CallGraph, RootKind};
use crate::program::{ClassId, MethodId, Program, access};

mod reach;

use reach::{Parts, Reach};

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
            // A command is run by whoever makes one, too.
            let is_main = root.kind == RootKind::Main && program.methods[root.method.index()].is_static();
            if !is_main && root.kind != RootKind::Uncalled {
                let class = program.methods[root.method.index()].class;
                called_back.entry(class).or_default().push(root.method);
            }
        }
        add_unseen(program, graph, &mut called_back);
        let parts = Parts::new(program, graph);
        let class_of = |method: MethodId| program.methods[method.index()].class;
        let reached = |called_back: &FxHashMap<_, _>, starts: &[MethodId]| {
            let mut reach = Reach::new(&parts, &class_of, called_back);
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

/// Adds the methods of classes of which the call graph sees no object: what reflection
/// makes is called through a type above, and nothing in the code leads there.
fn add_unseen(program: &Program, graph: &CallGraph, called_back: &mut FxHashMap<ClassId, Vec<MethodId>>) {
    let unseen = program.classes.iter().enumerate().filter(|(i, _)| !graph.instantiated[*i]);
    for (i, class) in unseen.filter(|(_, class)| class.access & access::ABSTRACT == 0) {
        let callable = class.methods.clone().map(MethodId::new).filter(|m| {
            let method = &program.methods[m.index()];
            let above = program.supers(class.name).into_iter().skip(1);
            method.access & (access::STATIC | access::PRIVATE) == 0
                && !method.name.starts_with('<')
                && above
                    .filter_map(|name| program.class(name))
                    .any(|above| program.declared_method(above, method.name, method.descriptor).is_some())
        });
        called_back.entry(ClassId::new(i)).or_default().extend(callable);
    }
}

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

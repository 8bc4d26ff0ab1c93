//! Value flow: which classes of the program a field, parameter or result can
//! hold. One graph over the whole program, insensitive to context.
//!
//! A value of unknown origin opens a node, unless the declared type has few
//! allocated classes: then it can hold these. An open or empty node says nothing
//! and the allocated classes of the declared type are taken instead.

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::facts::Facts;
use super::types;
use crate::ir::{Body, BootstrapArg, InvokeKind, Op, ValueId};
use crate::program::{ClassId, FieldRef, MethodId, MethodRef, Name};

/// Classes a node can hold before it is open.
const CLASSES_MAX: usize = 12;

/// Allocated classes of a declared type that stand for an unknown value of it.
const CONE_MAX: usize = 6;

/// Targets of a virtual call that values flow through.
const TARGETS_MAX: usize = 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Node {
    Field(FieldRef),
    Param(MethodId, u16),
    Result(MethodId),
}

#[derive(Clone, Copy)]
enum Source {
    Class(ClassId),
    Node(Node),
    /// Anything of this class, or anything at all.
    Open(Option<Name>),
}

#[derive(Clone, Default)]
struct Types {
    classes: Vec<ClassId>,
    open: bool,
}

/// See the module.
#[derive(Default)]
pub(crate) struct Flow {
    index: FxHashMap<Node, usize>,
    types: Vec<Types>,
}

impl Flow {
    /// Solves the flow of a program.
    pub(crate) fn new(facts: &Facts<'_>) -> Self {
        let count = facts.program.methods.len();
        let moves: Vec<Vec<(Node, Source)>> =
            (0..count).into_par_iter().map(|i| moves_of(facts, MethodId::new(i))).collect();
        let mut flow = Self::default();
        let mut edges: Vec<Vec<usize>> = Vec::new();
        for (to, source) in moves.into_iter().flatten() {
            let to = flow.node(to, &mut edges);
            match source {
                Source::Class(class) => {
                    flow.types[to].add(class);
                }
                Source::Node(from) => {
                    let from = flow.node(from, &mut edges);
                    if from != to {
                        edges[from].push(to);
                    }
                }
                Source::Open(class) => flow.types[to].add_cone(facts, class),
            }
        }
        flow.solve(&edges);
        flow
    }

    fn node(&mut self, node: Node, edges: &mut Vec<Vec<usize>>) -> usize {
        let next = self.types.len();
        let index = *self.index.entry(node).or_insert(next);
        if index == next {
            self.types.push(Types::default());
            edges.push(Vec::new());
        }
        index
    }

    fn solve(&mut self, edges: &[Vec<usize>]) {
        let mut todo: Vec<usize> = (0..self.types.len()).rev().collect();
        let mut queued = vec![true; self.types.len()];
        while let Some(from) = todo.pop() {
            queued[from] = false;
            let held = self.types[from].clone();
            for &to in &edges[from] {
                if self.types[to].merge(&held) && !std::mem::replace(&mut queued[to], true) {
                    todo.push(to);
                }
            }
        }
    }

    fn closed(&self, node: Node) -> Option<&[ClassId]> {
        let types = &self.types[*self.index.get(&node)?];
        (!types.open && !types.classes.is_empty()).then_some(types.classes.as_slice())
    }

    /// All classes that a field can hold, if they are known.
    pub(crate) fn field(&self, field: FieldRef) -> Option<&[ClassId]> {
        self.closed(Node::Field(field))
    }

    /// All classes that a parameter can hold, if they are known.
    pub(crate) fn param(&self, method: MethodId, i: u16) -> Option<&[ClassId]> {
        self.closed(Node::Param(method, i))
    }

    /// All classes that a method can return, if they are known.
    pub(crate) fn result(&self, method: MethodId) -> Option<&[ClassId]> {
        self.closed(Node::Result(method))
    }
}

impl Types {
    fn add(&mut self, class: ClassId) -> bool {
        let Err(at) = self.classes.binary_search(&class) else { return false };
        if self.classes.len() >= CLASSES_MAX {
            return !std::mem::replace(&mut self.open, true);
        }
        self.classes.insert(at, class);
        true
    }

    fn merge(&mut self, other: &Self) -> bool {
        let mut changed = other.open && !std::mem::replace(&mut self.open, true);
        for &class in &other.classes {
            changed |= self.add(class);
        }
        changed
    }

    fn add_cone(&mut self, facts: &Facts<'_>, class: Option<Name>) {
        let known = class.filter(|&c| facts.program.class(c).is_some());
        match known.map(|c| facts.concrete(c)) {
            Some(cone) if cone.len() <= CONE_MAX => {
                for &class in cone {
                    self.add(class);
                }
            }
            _ => self.open = true,
        }
    }
}

fn is_tracked(facts: &Facts<'_>, descriptor: &str) -> bool {
    descriptor.starts_with('L')
        && types::class_of(descriptor).is_some_and(|c| facts.program.class(Name::from(c)).is_some())
}

fn moves_of(facts: &Facts<'_>, id: MethodId) -> Vec<(Node, Source)> {
    let method = &facts.program.methods[id.index()];
    let mut moves = Vec::new();
    let Some(body) = &method.body else { return moves };
    let mut add = |to: Node, value: ValueId| {
        for source in sources(facts, id, body, value) {
            moves.push((to, source));
        }
    };
    let mut others = Vec::new();
    let returns_tracked = is_tracked(facts, types::result(&method.descriptor));
    for (_, inst) in body.iter() {
        match &inst.op {
            Op::PutField(field, _, value) if is_tracked(facts, &field.descriptor) => {
                add(Node::Field(*field), *value)
            }
            Op::Return(Some(value)) if returns_tracked => add(Node::Result(id), *value),
            Op::Invoke { kind, method: named, args } => {
                let parameters = types::parameters(&named.descriptor);
                let shift = args.len() - parameters.len().min(args.len());
                if !parameters.iter().any(|p| is_tracked(facts, p)) {
                    continue;
                }
                for target in targets(facts, *kind, *named) {
                    for (i, parameter) in parameters.iter().enumerate() {
                        if is_tracked(facts, parameter) {
                            add(Node::Param(target, (i + shift) as u16), args[i + shift]);
                        }
                    }
                }
            }
            Op::InvokeDynamic { bootstrap, args, .. } => {
                for target in bootstrap.args.iter().filter_map(referred) {
                    for (to, captured) in given_by_closure(facts, target, args) {
                        match captured {
                            Some(value) => add(to.0, value),
                            None => others.push((to.0, Source::Open(Some(to.1)))),
                        }
                    }
                }
            }
            _ => {}
        }
    }
    moves.extend(others);
    moves
}

fn referred(arg: &BootstrapArg) -> Option<MethodRef> {
    match arg {
        BootstrapArg::Handle { target, .. } => Some(*target),
        _ => None,
    }
}

/// Parameters of a method that a lambda or a method reference runs, with their
/// declared classes: those that it captured have these values, the others are
/// given by whoever calls it through its interface, which is not seen.
fn given_by_closure(
    facts: &Facts<'_>,
    target: MethodRef,
    captured: &[ValueId],
) -> Vec<((Node, Name), Option<ValueId>)> {
    let mut given = Vec::new();
    for target in targets(facts, InvokeKind::Virtual, target) {
        let method = &facts.program.methods[target.index()];
        let shift = usize::from(!method.is_static());
        for (i, parameter) in types::parameters(&method.descriptor).into_iter().enumerate() {
            if let Some(class) = types::class_of(parameter).filter(|_| is_tracked(facts, parameter)) {
                let to = (Node::Param(target, (i + shift) as u16), Name::from(class));
                given.push((to, captured.get(i + shift).copied()));
            }
        }
    }
    given
}

/// Methods that a call can run, by hierarchy; empty if there are many.
fn targets(facts: &Facts<'_>, kind: InvokeKind, named: MethodRef) -> Vec<MethodId> {
    let MethodRef { class, name, descriptor } = named;
    if matches!(kind, InvokeKind::Static | InvokeKind::Special) {
        return facts.resolve(class, name, descriptor).into_iter().collect();
    }
    let mut targets: Vec<MethodId> = Vec::new();
    for &c in facts.concrete(class) {
        if let Some(target) = facts.resolve(facts.class_name(c), name, descriptor)
            && !targets.contains(&target)
        {
            targets.push(target);
        }
    }
    if targets.is_empty() {
        targets.extend(facts.resolve(class, name, descriptor));
    }
    targets
}

fn sources(facts: &Facts<'_>, id: MethodId, body: &Body, value: ValueId) -> Vec<Source> {
    let (mut found, mut seen, mut todo) = (Vec::new(), FxHashSet::default(), vec![(value, None)]);
    while let Some((value, cast)) = todo.pop() {
        if !seen.insert(value) {
            continue;
        }
        let open = |class: Option<&str>| Source::Open(cast.or(class.map(Name::from)));
        match body.op(value) {
            Op::Phi(operands) => todo.extend(operands.iter().map(|&(_, v)| (v, cast))),
            Op::Cast(class, inner) => todo.push((*inner, Some(cast.unwrap_or(*class)))),
            Op::Const(_) => {}
            Op::New(class) => match facts.program.class(*class) {
                Some(class) => found.push(Source::Class(class)),
                None => found.push(open(None)),
            },
            Op::GetField(field, _) if is_tracked(facts, &field.descriptor) => {
                found.push(Source::Node(Node::Field(*field)))
            }
            Op::GetField(field, _) => found.push(open(types::class_of(&field.descriptor))),
            Op::Param(i) => found.push(param_source(facts, id, *i, cast)),
            Op::Invoke { kind, method, .. } => {
                let result = types::result(&method.descriptor);
                let targets =
                    if is_tracked(facts, result) { targets(facts, *kind, *method) } else { Vec::new() };
                let all = targets.iter().all(|t| facts.program.methods[t.index()].body.is_some());
                if targets.is_empty() || targets.len() > TARGETS_MAX || !all {
                    found.push(open(types::class_of(result)));
                } else {
                    found.extend(targets.into_iter().map(|t| Source::Node(Node::Result(t))));
                }
            }
            _ => found.push(open(None)),
        }
    }
    found
}

fn param_source(facts: &Facts<'_>, id: MethodId, i: u16, cast: Option<Name>) -> Source {
    let method = &facts.program.methods[id.index()];
    let shift = u16::from(!method.is_static());
    if i < shift {
        return Source::Open(Some(facts.class_name(method.class)));
    }
    match types::parameters(&method.descriptor).get(usize::from(i - shift)) {
        Some(p) if is_tracked(facts, p) => Source::Node(Node::Param(id, i)),
        Some(p) => Source::Open(cast.or(types::class_of(p).map(Name::from))),
        None => Source::Open(None),
    }
}

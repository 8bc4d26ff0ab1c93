//! Value flow: which program classes can a parameter, a result or a field hold.
//!
//! One graph over the whole program, insensitive to context: a node per
//! parameter, result, field and collection made by the program, and for each a
//! second one for its *elements*. Sets have at most [`FLOW_TYPES_MAX`] classes;
//! wider or unknown ones are *open*, and dispatch falls back to instantiated
//! types. Collections of collections are flattened to one level.

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::apis;
use super::closures::{MAKES, closure_of, implementation};
use super::resolve::{Resolver, class_of, signature};
use crate::ir::{Body, InvokeKind, Op, ValueId};
use crate::limits::FLOW_TYPES_MAX;
use crate::program::{ClassId, FieldRef, Method, MethodId, MethodRef};

/// A node; the elements of node `n` are node `n + 1`.
pub(crate) type Node = u32;

/// Where a value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Source {
    /// `new` of this class, made here.
    New(ClassId, ValueId),
    /// What a node holds.
    Node(Node),
    /// The closure made here.
    Closure(ValueId),
    /// Anything.
    Open,
}

/// What gets into a node, and from where.
pub(crate) type Move = (Node, Source);

/// Edges from each node, one list for all: there are hundreds of thousands of nodes, and few
/// have many.
#[derive(Debug, Default)]
struct Edges {
    /// By node, where its edges begin; one more at the end.
    starts: Vec<u32>,
    ends: Vec<Node>,
}

impl Edges {
    /// Of (from, to), in the order in which they are given.
    fn new(n_nodes: usize, all: impl Iterator<Item = (Node, Node)> + Clone) -> Self {
        let mut starts = vec![0u32; n_nodes + 1];
        all.clone().for_each(|(from, _)| starts[from as usize] += 1);
        let mut n = 0;
        for start in &mut starts {
            n += std::mem::replace(start, n);
        }
        // Each start moves to the end of its own edges, where the next one begins.
        let mut ends = vec![0; n as usize];
        for (from, to) in all {
            ends[starts[from as usize] as usize] = to;
            starts[from as usize] += 1;
        }
        starts.rotate_right(1);
        starts[0] = 0;
        Self { starts, ends }
    }

    fn of(&self, node: Node) -> &[Node] {
        let [from, to] = [0, 1].map(|next| self.starts[node as usize + next] as usize);
        &self.ends[from..to]
    }

    /// The same, seen from where they lead.
    fn reversed(&self) -> Self {
        let n_nodes = self.starts.len() - 1;
        let all = (0..n_nodes as Node).flat_map(|from| self.of(from).iter().map(move |&to| (to, from)));
        Self::new(n_nodes, all)
    }
}

impl Source {
    /// Whether this is a node of which `kept` says that it holds what was kept.
    pub(crate) fn is_kept(&self, kept: &[bool]) -> bool {
        matches!(self, Source::Node(node) if kept[*node as usize])
    }
}

/// Classes that a node can hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Types {
    /// Sorted.
    pub(crate) classes: Vec<ClassId>,
    /// There can be others.
    pub(crate) open: bool,
}

impl Types {
    fn add(&mut self, class: ClassId) -> bool {
        let Err(at) = self.classes.binary_search(&class) else { return false };
        if self.classes.len() >= FLOW_TYPES_MAX {
            return !std::mem::replace(&mut self.open, true);
        }
        self.classes.insert(at, class);
        true
    }

    fn merge(&mut self, other: &Self) -> bool {
        let mut changed = other.open && !std::mem::replace(&mut self.open, true);
        for &c in &other.classes {
            changed |= self.add(c);
        }
        changed
    }
}

/// The nodes of a program and what they hold.
#[derive(Debug, Default)]
pub(crate) struct Flow {
    /// Per method: node of its result; parameters follow.
    methods: Vec<Node>,
    fields: FxHashMap<FieldRef, Node>,
    /// The first node of a field; those of parameters and results are before it.
    first_kept: Node,
    allocations: FxHashMap<(MethodId, ValueId), Node>,
    types: Vec<Types>,
    /// What was added; by node once that is complete.
    added: Vec<(Node, Node)>,
    edges: Edges,
}

impl Flow {
    /// Nodes without edges.
    pub(crate) fn new(resolver: &Resolver<'_>) -> Self {
        let program = resolver.program;
        let mut flow = Self::default();
        let mut next: Node = 0;
        for m in &program.methods {
            flow.methods.push(next);
            let n_params = signature(m.descriptor.as_str()).0.len() + usize::from(!m.is_static());
            next += 2 * (1 + u32::try_from(n_params).unwrap_or(255));
        }
        flow.first_kept = next;
        for class in &program.classes {
            for f in &class.fields {
                let field = FieldRef { class: class.name, name: f.name, descriptor: f.descriptor };
                flow.fields.insert(field, next);
                next += 2;
            }
        }
        let allocates = |op: &Op| {
            matches!(op, Op::New(c) if resolver.own_class(*c).is_none())
                || matches!(op, Op::NewArray(..))
                || mapped(resolver, op).is_some()
        };
        let allocations = |m: &Method| -> Vec<ValueId> {
            let insts = m.body.iter().flat_map(|body| body.iter());
            insts.filter(|(_, inst)| allocates(&inst.op)).map(|(v, _)| v).collect()
        };
        let allocations: Vec<Vec<ValueId>> = program.methods.par_iter().map(allocations).collect();
        for (i, allocations) in allocations.into_iter().enumerate() {
            for v in allocations {
                flow.allocations.insert((MethodId::new(i), v), next);
                next += 2;
            }
        }
        flow.types = vec![Types::default(); next as usize];
        flow
    }

    /// How many nodes there are.
    pub(crate) fn n_nodes(&self) -> usize {
        self.types.len()
    }

    /// The node of a parameter.
    pub(crate) fn param(&self, method: MethodId, i: usize) -> Node {
        self.methods[method.index()] + 2 * (1 + u32::try_from(i).unwrap_or(0))
    }

    /// The node of a field of the program.
    pub(crate) fn field(&self, field: FieldRef) -> Option<Node> {
        self.fields.get(&field).copied()
    }

    /// Whether a node is a place that keeps what it holds: a field, a collection.
    pub(crate) fn is_kept(&self, node: Node) -> bool {
        node >= self.first_kept || node & 1 == 1
    }

    /// The nodes of the parameters of a method, `this` included.
    pub(crate) fn params(&self, resolver: &Resolver<'_>, method: MethodId) -> impl Iterator<Item = Node> {
        let m = &resolver.program.methods[method.index()];
        let n = signature(m.descriptor.as_str()).0.len() + usize::from(!m.is_static());
        let first = self.param(method, 0);
        (0..n).map(move |i| first + 2 * u32::try_from(i).unwrap_or(255))
    }

    /// Per node: whether it can hold what somebody has kept before, or what comes from
    /// nobody knows where, and not only what was made for it or handed on to it.
    pub(crate) fn of_kept(&self, resolver: &Resolver<'_>) -> Vec<bool> {
        let mut kept = vec![false; self.n_nodes()];
        let methods = resolver.program.methods.iter().enumerate();
        let mut todo: Vec<Node> = (0..self.types.len() as u32)
            .filter(|&node| self.is_kept(node) || self.types(node).open)
            .collect();
        for (i, m) in methods {
            // `this` is any object that has the method.
            todo.extend((!m.is_static()).then(|| self.param(MethodId::new(i), 0)));
            todo.extend(m.body.is_none().then(|| self.result(MethodId::new(i))));
        }
        while let Some(node) = todo.pop() {
            if !std::mem::replace(&mut kept[node as usize], true) {
                todo.extend(self.edges(node));
            }
        }
        kept
    }

    /// Per node: whether what it holds can get into one of `ends`.
    pub(crate) fn leading_to(&self, ends: Vec<Node>) -> Vec<bool> {
        let back = self.edges.reversed();
        let mut leads = vec![false; self.n_nodes()];
        let mut todo = ends;
        while let Some(node) = todo.pop() {
            if !std::mem::replace(&mut leads[node as usize], true) {
                todo.extend(back.of(node));
            }
        }
        leads
    }

    /// Where what a node holds goes.
    pub(crate) fn edges(&self, node: Node) -> &[Node] {
        self.edges.of(node)
    }

    /// The node of the result of a method.
    pub(crate) fn result(&self, method: MethodId) -> Node {
        self.methods[method.index()]
    }

    /// What a node holds.
    pub(crate) fn types(&self, node: Node) -> &Types {
        &self.types[node as usize]
    }

    /// The classes of all sources together.
    pub(crate) fn types_of(&self, sources: &[Source]) -> Types {
        let mut types = Types { classes: Vec::new(), open: sources.is_empty() };
        for s in sources {
            match *s {
                Source::New(c, _) => {
                    types.add(c);
                }
                Source::Node(n) => {
                    let held = self.types(n);
                    types.merge(held);
                    types.open |= held.classes.is_empty();
                }
                Source::Closure(_) | Source::Open => types.open = true,
            }
        }
        types
    }

    /// What the body of `method` moves; `targets` gives the methods that an
    /// invoke can mean, none if unknown.
    pub(crate) fn moves(
        &self,
        resolver: &Resolver<'_>,
        method: MethodId,
        targets: &dyn Fn(ValueId) -> Vec<MethodId>,
    ) -> Vec<Move> {
        let Some(body) = &resolver.program.methods[method.index()].body else { return Vec::new() };
        let frame = Frame { resolver, flow: self, method, body, targets };
        let mut moves: Vec<Move> = Vec::new();
        for (v, inst) in body.iter() {
            match &inst.op {
                Op::PutField(f, _, value) if is_reference(f.descriptor.as_str()) => {
                    if let Some(&node) = self.fields.get(f) {
                        moves.extend(frame.sources(*value).into_iter().map(|source| (node, source)));
                    }
                }
                Op::ArrayStore(array, _, value) => {
                    let held = frame.sources(*value);
                    for s in frame.sources(*array) {
                        if let Source::Node(n) = s {
                            moves.extend(held.iter().map(|&source| (n | 1, source)));
                        }
                    }
                }
                Op::Return(Some(value)) => {
                    let result = self.result(method);
                    moves.extend(frame.sources(*value).into_iter().map(|source| (result, source)));
                }
                Op::Invoke { kind, method: callee, args } => {
                    let called = targets(v);
                    if !called.is_empty() {
                        let given: Vec<Vec<Source>> = args.iter().map(|a| frame.sources(*a)).collect();
                        for t in called {
                            let given = given.iter().enumerate();
                            moves.extend(given.flat_map(|(i, sources)| {
                                sources.iter().map(move |&source| (self.param(t, i), source))
                            }));
                        }
                    }
                    if let (Some(&made), Some(closure)) =
                        (self.allocations.get(&(method, v)), mapped(resolver, &inst.op))
                    {
                        moves.extend(frame.given_back(closure).map(|source| (made | 1, source)));
                    }
                    if *kind != InvokeKind::Static
                        && apis::COLLECTION_PUT.contains(&callee.name.as_str())
                        && resolver.own_class(callee.class).is_none()
                    {
                        frame.puts(args, &mut moves);
                    }
                }
                _ => {}
            }
        }
        moves
    }

    /// Adds one move.
    pub(crate) fn add_move(&mut self, (to, source): Move) {
        match source {
            Source::New(c, _) => {
                self.types[to as usize].add(c);
            }
            Source::Node(from) if from != to => {
                self.added.push((from, to));
                // Elements go along with their collection.
                if from & 1 == 0 && to & 1 == 0 {
                    self.added.push((from + 1, to + 1));
                    self.added.push((to + 1, from + 1));
                }
            }
            Source::Node(_) => {}
            Source::Closure(_) | Source::Open => self.types[to as usize].open = true,
        }
    }

    /// Adds a class to what a node holds.
    pub(crate) fn add_type(&mut self, node: Node, class: ClassId) {
        self.types[node as usize].add(class);
    }

    /// Marks what comes from outside.
    pub(crate) fn open(&mut self, node: Node) {
        self.types[node as usize].open = true;
    }

    /// Moves everything until nothing changes.
    pub(crate) fn solve(&mut self) {
        let mut added = std::mem::take(&mut self.added);
        added.par_sort_unstable();
        added.dedup();
        self.edges = Edges::new(self.n_nodes(), added.iter().copied());
        let mut todo: Vec<Node> =
            (0..self.types.len() as u32).filter(|&n| self.types[n as usize] != Types::default()).collect();
        let mut queued = vec![false; self.types.len()];
        while let Some(n) = todo.pop() {
            queued[n as usize] = false;
            // No node has an edge to itself.
            let held = std::mem::take(&mut self.types[n as usize]);
            for &to in self.edges.of(n) {
                if self.types[to as usize].merge(&held) && !queued[to as usize] {
                    queued[to as usize] = true;
                    todo.push(to);
                }
            }
            self.types[n as usize] = held;
        }
    }
}

/// Reads where values of one body come from.
pub(crate) struct Frame<'a> {
    pub(crate) resolver: &'a Resolver<'a>,
    pub(crate) flow: &'a Flow,
    pub(crate) method: MethodId,
    pub(crate) body: &'a Body,
    pub(crate) targets: &'a dyn Fn(ValueId) -> Vec<MethodId>,
}

impl Frame<'_> {
    fn puts(&self, args: &[ValueId], moves: &mut Vec<Move>) {
        for s in self.sources(args[0]) {
            if let Source::Node(n) = s {
                for a in &args[1..] {
                    moves.extend(self.sources(*a).into_iter().map(|source| (n | 1, source)));
                }
            }
        }
    }

    /// What the closure that `value` is gives back, if the program knows it.
    fn given_back(&self, value: ValueId) -> Option<Source> {
        let made = closure_of(self.body, value)?;
        let (kind, target) = implementation(self.body.op(made))?;
        let class = self.resolver.own_class(target.class)?;
        if kind == MAKES {
            return Some(Source::New(class, made));
        }
        let method = self.resolver.lookup(class, target.name, target.descriptor)?;
        Some(Source::Node(self.flow.result(method)))
    }

    /// Where `value` can come from, sorted.
    pub(crate) fn sources(&self, value: ValueId) -> Vec<Source> {
        self.origins(value, false)
    }

    /// Where the elements of `collection` can come from, sorted.
    pub(crate) fn elements(&self, collection: ValueId) -> Vec<Source> {
        self.origins(collection, true)
    }

    fn origins(&self, value: ValueId, element: bool) -> Vec<Source> {
        let mut found = Vec::new();
        let mut seen = vec![value];
        let mut todo = vec![(value, element)];
        while let Some((v, element)) = todo.pop() {
            self.step(v, element, &mut found, &mut |next, element| {
                if !seen.contains(&next) {
                    seen.push(next);
                    todo.push((next, element));
                }
            });
            if seen.len() > 64 {
                found.push(Source::Open);
                break;
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    fn step(&self, v: ValueId, element: bool, found: &mut Vec<Source>, go: &mut dyn FnMut(ValueId, bool)) {
        let node = |n: Node| Source::Node(if element { n | 1 } else { n });
        match self.body.op(v) {
            Op::Phi(operands) => operands.iter().for_each(|&(_, o)| go(o, element)),
            Op::Cast(_, o) => go(*o, element),
            Op::Param(i) => found.push(node(self.flow.param(self.method, usize::from(*i)))),
            Op::New(c) => match self.resolver.own_class(*c) {
                Some(class) if !element => found.push(Source::New(class, v)),
                _ => found.extend(self.flow.allocations.get(&(self.method, v)).map(|&n| node(n))),
            },
            Op::NewArray(..) => {
                found.extend(self.flow.allocations.get(&(self.method, v)).map(|&n| node(n)));
            }
            Op::GetField(f, _) => {
                found.push(self.flow.fields.get(f).map_or(Source::Open, |&n| node(n)));
            }
            Op::ArrayLoad(array, _) => go(*array, true),
            Op::Const(_) => {}
            Op::InvokeDynamic { .. } if !element && closure_of(self.body, v).is_some() => {
                found.push(Source::Closure(v));
            }
            Op::Invoke { kind, method, args } => {
                let targets = (self.targets)(v);
                if let Some(&made) = self.flow.allocations.get(&(self.method, v)) {
                    found.push(node(made));
                } else if targets.is_empty() {
                    self.library_result(*kind, *method, args, element, found, go);
                }
                found.extend(targets.iter().map(|&t| node(self.flow.result(t))));
            }
            _ => found.push(Source::Open),
        }
    }

    fn library_result(
        &self,
        kind: InvokeKind,
        method: MethodRef,
        args: &[ValueId],
        element: bool,
        found: &mut Vec<Source>,
        go: &mut dyn FnMut(ValueId, bool),
    ) {
        let name = method.name.as_str();
        let is_stream = method.class.as_str().starts_with(apis::STREAM_PACKAGE);
        if kind != InvokeKind::Static && is_stream && apis::STREAM_VIEW.contains(&name) {
            go(args[0], element);
        } else if kind != InvokeKind::Static && apis::COLLECTION_GET.contains(&name) {
            go(args[0], true);
        } else if kind != InvokeKind::Static && apis::COLLECTION_VIEW.contains(&name) {
            go(args[0], element);
        } else {
            found.push(Source::Open);
        }
    }
}

/// The closure with which a stream makes something else of each of its elements.
fn mapped(resolver: &Resolver<'_>, op: &Op) -> Option<ValueId> {
    let Op::Invoke { kind, method, args } = op else { return None };
    let maps = *kind != InvokeKind::Static
        && method.class.as_str().starts_with(apis::STREAM_PACKAGE)
        && apis::STREAM_MAP.contains(&method.name.as_str())
        && resolver.own_class(method.class).is_none();
    args.get(1).copied().filter(|_| maps)
}

/// Whether a descriptor names an object or array.
pub(crate) fn is_reference(descriptor: &str) -> bool {
    class_of(descriptor).is_some() || descriptor.starts_with('[')
}

#[cfg(test)]
mod tests {
    use super::Edges;

    #[test]
    fn edges_are_those_that_were_given_both_ways() {
        let all = [(0, 3), (2, 0), (2, 1), (2, 3), (4, 2)];
        let edges = Edges::new(5, all.into_iter());
        let lists = |edges: &Edges| (0..5).map(|node| edges.of(node).to_vec()).collect::<Vec<_>>();
        assert_eq!(lists(&edges), [vec![3], vec![], vec![0, 1, 3], vec![], vec![2]]);
        assert_eq!(lists(&edges.reversed()), [vec![2], vec![2], vec![4], vec![0, 2], vec![]]);
        assert_eq!(lists(&edges.reversed().reversed()), lists(&edges));
        assert!(Edges::new(0, std::iter::empty()).ends.is_empty());
    }
}

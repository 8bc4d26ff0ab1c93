//! Copies: fields whose values are all those of one other field, or of one method.
//!
//! What a thing is called by is copied from object to object: the number that a counter
//! gave is a field of the work, of its description and of the message about it. Each
//! field has a name of its own; their values are those of one. A graph over fields,
//! parameters and results says where values come from; what every way into a field passes
//! through (its dominator) is what the field is a copy of. What is read from a stream was
//! written by another process whose end is in the same graph: it proves nothing.

use petgraph::algo::dominators::{self, Dominators};
use petgraph::graph::{DiGraph, NodeIndex};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::Bindings;
use crate::call_graph::{CallGraph, apis};
use crate::ir::{Body, Op, ValueId};
use crate::limits::{BINDING_DEPTH_MAX, HANDED_ON_MAX};
use crate::path::{AccessPath, LogPoint, Root, Step};
use crate::program::{FieldRef, MethodId, Name, Program};
use crate::strings::types;

/// Package of what counts.
const COUNTERS: &str = "java/util/concurrent/atomic/";

/// A place that numbers and texts pass through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Node {
    Field(FieldRef),
    Param(MethodId, u16),
    Result(MethodId),
}

/// Where a value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Origin {
    Node(Node),
    /// Made or found there.
    Itself,
}

/// Which value class the values of a field, and of the calls that give them, belong to.
#[derive(Debug, Default)]
pub struct Copies {
    class_of: FxHashMap<Node, Name>,
    /// What the parameters are that a method puts into copies.
    put_into: FxHashMap<(MethodId, u16), Name>,
}

impl Copies {
    /// Reads where all numbers and texts of the program come from.
    pub fn find(program: &Program, graph: &CallGraph, bindings: &Bindings<'_>) -> Self {
        let flows = Flows { program, graph, bindings };
        let found: Vec<Found> =
            (0..program.methods.len()).into_par_iter().map(|i| flows.of(MethodId::new(i))).collect();
        let states: FxHashSet<FieldRef> = found.iter().flat_map(|found| &found.states).copied().collect();
        let edges: Vec<(Node, Origin)> = found.into_iter().flat_map(|found| found.edges).collect();
        let handed = handed(&edges);
        let groups = groups(edges, &states);
        let mut copies = Copies::default();
        for nodes in groups.into_iter().filter(|nodes| nodes.len() > 1) {
            // The field that the fewest copies were made for names them all.
            let name = nodes.iter().find_map(|(_, node)| match node {
                Node::Field(f) if is_plain(&f.descriptor) => Some(class_name(*f)),
                _ => None,
            });
            let Some(name) = name else { continue };
            copies.class_of.extend(nodes.into_iter().map(|(_, node)| (node, name)));
        }
        let params = handed.keys().filter_map(|node| match *node {
            Node::Param(method, i) => Some((method, i)),
            _ => None,
        });
        copies.put_into =
            params.filter_map(|(m, i)| Some(((m, i), copies.nearest(&handed, Node::Param(m, i))?))).collect();
        copies
    }

    /// The value class of the copies that a parameter is put into with the fewest calls on
    /// the way: a number that callers made of a text, or of a part of one, is what the
    /// message to be sent calls it. None where two classes are as near, or the nearest
    /// field is no copy of another one.
    fn nearest(&self, handed: &FxHashMap<Node, Vec<Node>>, param: Node) -> Option<Name> {
        let (mut met, mut layer) = (FxHashSet::from_iter([param]), vec![param]);
        for _ in 0..HANDED_ON_MAX {
            let next = layer.iter().filter_map(|node| handed.get(node)).flatten();
            let next: Vec<Node> = next.copied().filter(|&node| met.insert(node)).collect();
            let mut fields = next.iter().filter(|node| matches!(node, Node::Field(_)));
            if let Some(first) = fields.next() {
                let class = self.class_of.get(first)?;
                return fields.all(|other| self.class_of.get(other) == Some(class)).then_some(*class);
            }
            layer = next;
        }
        None
    }

    /// Gives the variables of log points the value classes of what they are copies of.
    pub fn rename(&self, bindings: &Bindings<'_>, log_points: &mut [LogPoint]) {
        log_points.par_iter_mut().for_each(|point| {
            let frame = point.frame;
            for variable in &mut point.variables {
                let Some(path) = variable.path.as_ref().filter(|_| variable.value_class.is_some()) else {
                    continue;
                };
                if let (Root::Param(i), true) = (path.root, path.steps.is_empty())
                    && let Some(class) = self.put_into.get(&(frame, i))
                {
                    variable.value_class = Some(*class);
                }
                let node = match (path.steps.last(), path.root) {
                    (Some(Step::Field(field)), _) => Some(Node::Field(*field)),
                    (None, Root::Local(value)) => given_by(bindings, frame, value),
                    _ => None,
                };
                if let Some(class) = node.and_then(|node| self.class_of.get(&node)) {
                    variable.value_class = Some(*class);
                }
            }
        });
    }
}

/// What a local value is that a call gives: the next of a counter, or the result of a
/// method whose values are known.
fn given_by(bindings: &Bindings<'_>, frame: MethodId, value: ValueId) -> Option<Node> {
    let counted = counter(&bindings.path(frame, value)).map(Node::Field);
    counted.or_else(|| only_target(bindings.graph, frame, value).map(Node::Result))
}

/// Which parameters and fields each parameter is handed on to.
fn handed(edges: &[(Node, Origin)]) -> FxHashMap<Node, Vec<Node>> {
    let mut handed: FxHashMap<Node, Vec<Node>> = FxHashMap::default();
    for &(to, origin) in edges {
        if let (Node::Param(..) | Node::Field(_), Origin::Node(from @ Node::Param(..))) = (to, origin) {
            handed.entry(from).or_default().push(to);
        }
    }
    handed
}

/// The one method that a call can mean.
fn only_target(graph: &CallGraph, frame: MethodId, site: ValueId) -> Option<MethodId> {
    let mut targets = targets(graph, frame, site);
    targets.next().filter(|_| targets.next().is_none())
}

fn targets(graph: &CallGraph, frame: MethodId, site: ValueId) -> impl Iterator<Item = MethodId> {
    let calls = graph.calls(frame);
    let from = calls.partition_point(|call| call.site < site);
    calls[from..].iter().take_while(move |call| call.site == site).flat_map(|call| &call.targets).copied()
}

/// The counter whose next number a path names.
fn counter(path: &AccessPath) -> Option<FieldRef> {
    let (Step::Call(called), before) = path.steps.split_last()? else { return None };
    let counter = match (before.last(), &path.root) {
        (Some(Step::Field(f)), _) | (None, Root::Static(f)) => f,
        _ => return None,
    };
    called.class.starts_with(COUNTERS).then_some(*counter)
}

fn class_name(field: FieldRef) -> Name {
    Name::from(&format!("{}.{}", types::simple_name(&field.class), field.name))
}

/// Nodes by what they are copies of, with the number of copies made on the way, the first
/// first.
fn groups(mut edges: Vec<(Node, Origin)>, states: &FxHashSet<FieldRef>) -> Vec<Vec<(usize, Node)>> {
    // What a thing says of itself later is no copy, nor are others copies of it.
    let is_state = |node: Node| matches!(node, Node::Field(f) if states.contains(&f));
    edges.retain(|&(to, _)| !is_state(to));
    for (_, origin) in &mut edges {
        if matches!(*origin, Origin::Node(node) if is_state(node)) {
            *origin = Origin::Itself;
        }
    }
    edges.sort_unstable();
    edges.dedup();
    let mut graph: DiGraph<Option<Node>, ()> = DiGraph::new();
    let source = graph.add_node(None);
    let mut index: FxHashMap<Node, NodeIndex> = FxHashMap::default();
    for (to, origin) in edges {
        let mut at = |graph: &mut DiGraph<Option<Node>, ()>, node: Node| {
            *index.entry(node).or_insert_with(|| graph.add_node(Some(node)))
        };
        let to = at(&mut graph, to);
        let from = match origin {
            Origin::Node(node) => at(&mut graph, node),
            Origin::Itself => source,
        };
        if let Origin::Node(Node::Field(f)) = origin
            && !is_plain(&f.descriptor)
        {
            // A counter.
            graph.update_edge(source, from, ());
        }
        graph.add_edge(from, to, ());
    }
    let dominators = dominators::simple_fast(&graph, source);
    let mut groups: FxHashMap<NodeIndex, Vec<(usize, Node)>> = FxHashMap::default();
    for n in graph.node_indices().filter(|&n| n != source) {
        if let (Some((first, depth)), Some(node)) = (first_dominator(&dominators, n), graph[n]) {
            groups.entry(first).or_default().push((depth, node));
        }
    }
    let mut groups: Vec<Vec<(usize, Node)>> = groups.into_values().collect();
    groups.iter_mut().for_each(|nodes| nodes.sort_unstable());
    groups.sort_unstable();
    groups
}

/// The dominator of a node that nothing but the source dominates, and how many stand
/// between.
fn first_dominator(dominators: &Dominators<NodeIndex>, node: NodeIndex) -> Option<(NodeIndex, usize)> {
    let (mut at, mut depth) = (node, 0);
    loop {
        let above = dominators.immediate_dominator(at)?;
        if above == dominators.root() {
            return Some((at, depth));
        }
        (at, depth) = (above, depth + 1);
    }
}

/// What one method does with numbers and texts.
#[derive(Debug, Default)]
struct Found {
    edges: Vec<(Node, Origin)>,
    /// Fields that it sets anew, other than from a stream.
    states: Vec<FieldRef>,
}

/// Where the values of methods come from and go to.
struct Flows<'a> {
    program: &'a Program,
    graph: &'a CallGraph,
    bindings: &'a Bindings<'a>,
}

impl Flows<'_> {
    /// What a method puts into fields, returns, and gives to what it calls.
    fn of(&self, method: MethodId) -> Found {
        let m = &self.program.methods[method.index()];
        let Found { mut edges, mut states } = Found::default();
        let Some(body) = &m.body else { return Found::default() };
        // What is given to a method can come back from it, of each caller another.
        let is_plain_result =
            types::parameters(&m.descriptor).is_empty() && is_plain(types::result(&m.descriptor));
        for (_, inst) in body.iter() {
            match &inst.op {
                Op::PutField(f, Some(_), value) if is_plain(&f.descriptor) => {
                    let n_before = edges.len();
                    self.add(Node::Field(*f), method, body, *value, &mut edges);
                    states.extend((m.name != "<init>" && edges.len() > n_before).then_some(*f));
                }
                Op::Return(Some(value)) if is_plain_result => {
                    self.add(Node::Result(method), method, body, *value, &mut edges);
                }
                _ => {}
            }
        }
        for call in self.graph.calls(method) {
            for &target in &call.targets {
                let t = &self.program.methods[target.index()];
                let own = usize::from(!t.is_static());
                let types = types::parameters(&t.descriptor);
                for (i, arg) in call.args.iter().enumerate().skip(own) {
                    if types.get(i - own).is_some_and(|t| is_plain(t)) {
                        let to = Node::Param(target, i as u16);
                        match arg {
                            Some(arg) => self.add(to, method, body, *arg, &mut edges),
                            None => edges.push((to, Origin::Itself)),
                        }
                    }
                }
            }
        }
        Found { edges, states }
    }

    fn add(&self, to: Node, method: MethodId, body: &Body, value: ValueId, edges: &mut Vec<(Node, Origin)>) {
        let mut seen = Vec::new();
        self.trace(method, body, value, &mut seen, &mut |origin| edges.push((to, origin)));
    }

    fn trace(
        &self,
        method: MethodId,
        body: &Body,
        value: ValueId,
        seen: &mut Vec<ValueId>,
        found: &mut dyn FnMut(Origin),
    ) {
        if seen.contains(&value) {
            return;
        }
        if seen.len() >= BINDING_DEPTH_MAX {
            return found(Origin::Itself);
        }
        seen.push(value);
        match body.op(value) {
            Op::Const(_) => return,
            Op::Convert(to, inner) if matches!(to.as_str(), "J" | "I") => {
                return self.trace(method, body, *inner, seen, found);
            }
            Op::Phi(operands) => {
                for &(_, operand) in operands {
                    self.trace(method, body, operand, seen, found);
                }
                return;
            }
            _ => {}
        }
        let path = self.bindings.path(method, value);
        if let Some(counter) = counter(&path) {
            return found(Origin::Node(Node::Field(counter)));
        }
        let AccessPath { root, steps } = path;
        match (steps.last(), root) {
            (Some(Step::Field(f)), _) if is_plain(&f.descriptor) => found(Origin::Node(Node::Field(*f))),
            (None, Root::Param(i)) if self.is_plain_parameter(method, i) => {
                found(Origin::Node(Node::Param(method, i)));
            }
            (None, Root::Local(v)) => self.local(method, body, v).into_iter().for_each(found),
            _ => self.local(method, body, value).into_iter().for_each(found),
        }
    }

    /// Where a value comes from that is made or asked for here; none: from outside.
    fn local(&self, method: MethodId, body: &Body, value: ValueId) -> Option<Origin> {
        let Op::Invoke { method: called, args, .. } = body.op(body.uncast(value)) else {
            return Some(Origin::Itself);
        };
        if apis::reads_stream(self.program, *called) {
            return None;
        }
        if targets(self.graph, method, value).next().is_none() {
            // What an object of a library holds was read from a document or a message.
            let is_held = args.len() == 1 && self.program.class(called.class).is_none();
            return (!is_held || called.class.starts_with("java/")).then_some(Origin::Itself);
        }
        let Some(target) = only_target(self.graph, method, value) else { return Some(Origin::Itself) };
        let descriptor = &self.program.methods[target.index()].descriptor;
        let is_known = types::parameters(descriptor).is_empty() && is_plain(types::result(descriptor));
        Some(if is_known { Origin::Node(Node::Result(target)) } else { Origin::Itself })
    }

    fn is_plain_parameter(&self, method: MethodId, i: u16) -> bool {
        let m = &self.program.methods[method.index()];
        let own = usize::from(!m.is_static());
        let types = types::parameters(&m.descriptor);
        usize::from(i).checked_sub(own).and_then(|i| types.get(i)).is_some_and(|t| is_plain(t))
    }
}

/// Whether a type holds numbers that name something, or texts.
fn is_plain(descriptor: &str) -> bool {
    matches!(descriptor, "I" | "J" | "Ljava/lang/String;")
}

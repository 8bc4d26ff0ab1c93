//! Closures: lambdas and method references, and where the program keeps them.
//!
//! Whoever hands a closure to a library has it called back, and whoever hands it
//! to a method that calls it calls it through that method ([`super::starts`]).
//! But what is kept, in a field or in another closure, is run by whoever calls
//! what is kept there, in his thread: this is the value flow of closures, over the
//! same nodes and edges as that of objects ([`super::flow`]). A place that holds
//! more than [`DISPATCH_TARGETS_MAX`] of them is not known to hold any.

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::flow::{Flow, Frame, Move, Node};
use super::resolve::{Resolver, class_of, signature};
use crate::ir::{Body, BootstrapArg, Op, ValueId};
use crate::limits::DISPATCH_TARGETS_MAX;
use crate::program::{Method, MethodId, MethodRef, Name};

/// Number of a closure.
pub(crate) type ClosureId = u32;

/// One lambda or method reference of the code.
#[derive(Clone, Debug)]
pub(crate) struct Closure {
    /// The functional interface that it implements.
    pub(crate) interface: Name,
    /// The method of that interface.
    pub(crate) method: Name,
    /// What can run; all have the same parameters.
    pub(crate) targets: Vec<MethodId>,
    /// The captured values.
    pub(crate) captured: Vec<ValueId>,
    /// The parameter of the targets that is the first captured value.
    pub(crate) first: usize,
}

/// All closures of a program, and what holds them.
#[derive(Debug, Default)]
pub(crate) struct Closures {
    all: Vec<Closure>,
    at: FxHashMap<(MethodId, ValueId), ClosureId>,
    /// Methods that are the body of one.
    bodies: FxHashSet<MethodId>,
    /// Parameters of theirs that are given what was captured.
    captured: FxHashSet<(MethodId, usize)>,
    /// Sorted.
    held: FxHashMap<Node, Vec<ClosureId>>,
}

impl Closures {
    /// The closures that the program makes; not yet where it keeps them.
    pub(crate) fn find(resolver: &Resolver<'_>, instantiated: &[bool]) -> Self {
        let made = |m: &Method| -> Vec<(ValueId, Closure)> {
            let insts = m.body.iter().flat_map(|body| body.iter());
            insts.filter_map(|(v, inst)| Some((v, closure(resolver, instantiated, &inst.op)?))).collect()
        };
        let made: Vec<_> = resolver.program.methods.par_iter().map(made).collect();
        let mut closures = Self::default();
        for (i, made) in made.into_iter().enumerate() {
            for (v, closure) in made {
                closures.at.insert((MethodId::new(i), v), closures.all.len() as ClosureId);
                closures.bodies.extend(&closure.targets);
                let params = closure.first..closure.first + closure.captured.len();
                let of = |&target: &MethodId| params.clone().map(move |param| (target, param));
                closures.captured.extend(closure.targets.iter().flat_map(of));
                closures.all.push(closure);
            }
        }
        closures
    }

    /// The closure that is made at a site.
    pub(crate) fn made_at(&self, method: MethodId, site: ValueId) -> Option<ClosureId> {
        self.at.get(&(method, site)).copied()
    }

    pub(crate) fn get(&self, id: ClosureId) -> &Closure {
        &self.all[id as usize]
    }

    /// All, in the order of their ids.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Closure> {
        self.all.iter()
    }

    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    /// Whether a method is the body of a closure: only who calls that gives it
    /// its parameters.
    pub(crate) fn is_body(&self, method: MethodId) -> bool {
        self.bodies.contains(&method)
    }

    /// Whether a parameter of the body of a closure is given what this has captured.
    pub(crate) fn captures(&self, method: MethodId, param: usize) -> bool {
        self.captured.contains(&(method, param))
    }

    /// What a node holds.
    pub(crate) fn held(&self, node: Node) -> &[ClosureId] {
        self.held.get(&node).map_or(&[], Vec::as_slice)
    }

    /// What the closures made in a body capture.
    pub(crate) fn moves(&self, frame: &Frame<'_>) -> Vec<Move> {
        let mut moves = Vec::new();
        if self.all.is_empty() {
            return moves;
        }
        for (v, _) in frame.body.iter().filter(|(_, inst)| matches!(inst.op, Op::InvokeDynamic { .. })) {
            let Some(closure) = self.made_at(frame.method, v).map(|id| self.get(id)) else { continue };
            for (i, &value) in closure.captured.iter().enumerate() {
                let sources = frame.sources(value);
                let params = closure.targets.iter().map(|&t| frame.flow.param(t, closure.first + i));
                moves.extend(params.flat_map(|param| sources.iter().map(move |&source| (param, source))));
            }
        }
        moves
    }

    /// Follows closures from where they are put to wherever that gets.
    pub(crate) fn solve(&mut self, flow: &Flow, put: &[(Node, ClosureId)]) {
        // Few nodes hold any: each has a list once it does; the first list is nobody's.
        let mut list_of: Vec<u32> = vec![0; flow.n_nodes()];
        let mut lists: Vec<Vec<ClosureId>> = vec![Vec::new()];
        let mut at = |node: Node, lists: &mut Vec<Vec<ClosureId>>| -> usize {
            let list = &mut list_of[node as usize];
            if *list == 0 {
                *list = lists.len() as u32;
                lists.push(Vec::new());
            }
            *list as usize
        };
        // Whether a node holds what was not taken further yet. It can be in the list more than once.
        let mut has_more = vec![false; flow.n_nodes()];
        let mut todo: Vec<Node> = Vec::new();
        for &(node, closure) in put {
            let list = at(node, &mut lists);
            if add(&mut lists[list], &[closure]) {
                has_more[node as usize] = true;
                todo.push(node);
            }
        }
        todo.sort_unstable();
        todo.dedup();
        while let Some(node) = todo.pop() {
            let is_known = !std::mem::replace(&mut has_more[node as usize], false);
            let list = at(node, &mut lists);
            if is_known || lists[list].len() > DISPATCH_TARGETS_MAX {
                continue;
            }
            let held = std::mem::take(&mut lists[list]);
            for &to in flow.edges(node).iter().filter(|&&to| to != node) {
                let there = at(to, &mut lists);
                let there = &mut lists[there];
                if there.len() <= DISPATCH_TARGETS_MAX && add(there, &held) {
                    has_more[to as usize] = true;
                    todo.push(to);
                }
            }
            lists[list] = held;
        }
        let held = (0..).zip(list_of).map(|(node, list)| (node, std::mem::take(&mut lists[list as usize])));
        self.held = held.filter(|(_, held)| (1..=DISPATCH_TARGETS_MAX).contains(&held.len())).collect();
    }
}

/// Adds closures to a sorted list; whether some were not in it.
fn add(to: &mut Vec<ClosureId>, closures: &[ClosureId]) -> bool {
    let before = to.len();
    for closure in closures {
        if let Err(at) = to.binary_search(closure) {
            to.insert(at, *closure);
        }
    }
    to.len() > before
}

/// The closure that an instruction makes.
fn closure(resolver: &Resolver<'_>, instantiated: &[bool], op: &Op) -> Option<Closure> {
    let Op::InvokeDynamic { name, descriptor, args, .. } = op else { return None };
    let (kind, target) = implementation(op)?;
    let interface = class_of(signature(descriptor.as_str()).1)?;
    let class = resolver.own_class(target.class)?;
    let declared = resolver.lookup(class, target.name, target.descriptor);
    let mut targets: Vec<MethodId> = declared.filter(|&m| resolver.has_body(m)).into_iter().collect();
    if targets.is_empty() && matches!(kind, 5 | 9) {
        targets = resolver.dispatch(target, instantiated);
        targets.truncate(DISPATCH_TARGETS_MAX);
    }
    // A constructor reference makes the receiver itself.
    let first = usize::from(kind == MAKES);
    (!targets.is_empty()).then(|| Closure {
        interface: Name::from(interface),
        method: *name,
        targets,
        captured: args.to_vec(),
        first,
    })
}

/// The kind of method handle that makes an object.
pub(crate) const MAKES: u8 = 8;

/// What runs when the closure that an instruction makes is called, of the program or of
/// a library: the kind of the method handle, and the method.
pub(crate) fn implementation(op: &Op) -> Option<(u8, MethodRef)> {
    let Op::InvokeDynamic { bootstrap, .. } = op else { return None };
    let handle = bootstrap.args.iter().find_map(|a| match a {
        BootstrapArg::Handle { kind, target } => Some((*kind, *target)),
        _ => None,
    });
    handle.filter(|_| is_lambda_factory(bootstrap.method.class))
}

/// Whether a bootstrap method makes closures.
fn is_lambda_factory(class: Name) -> bool {
    class.as_str() == "java/lang/invoke/LambdaMetafactory"
}

/// The instruction that makes the closure that a value is, through casts.
pub(crate) fn closure_of(body: &Body, value: ValueId) -> Option<ValueId> {
    let mut at = value;
    for _ in 0..4 {
        match body.op(at) {
            Op::InvokeDynamic { bootstrap, .. } => {
                return is_lambda_factory(bootstrap.method.class).then_some(at);
            }
            Op::Cast(_, o) => at = *o,
            _ => return None,
        }
    }
    None
}

/// A method of a functional interface without the mark of a variant that was made
/// for primitive types.
pub(crate) fn plain_name(name: Name) -> &'static str {
    let name = name.as_str();
    name.split_once("$mc").map_or(name, |(plain, _)| plain)
}

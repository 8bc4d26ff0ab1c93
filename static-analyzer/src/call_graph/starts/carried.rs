//! Closures that get to whoever runs them inside of something else: what wraps them
//! in a closure of its own (to give it the key and the value of an entry apart), or a
//! list that a method calls one after the other (to close all, whatever fails).
//!
//! They run where the carrier is given away. A wrapper is one method for all that it
//! ever wraps, and so is the method that calls lists, so that neither can tell whom it
//! calls; but whoever makes the closure and the carrier knows.

use rayon::prelude::*;
use rustc_hash::FxHashSet;

use super::{Gift, Starts, direct_targets};
use crate::call_graph::Call;
use crate::call_graph::closures::{ClosureId, closure_of, plain_name};
use crate::call_graph::flow::{Frame, Source};
use crate::ir::{Body, InvokeKind, Op, ValueId};
use crate::program::{MethodId, Name};

/// How deep closures are wrapped in closures.
const WRAPPERS_MAX: usize = 4;

impl Starts<'_> {
    /// The edges to what the closure `carrier`, made in `method`, captures and calls:
    /// it runs when that does.
    pub(super) fn wrapped_edges(
        &self,
        method: MethodId,
        body: &Body,
        site: ValueId,
        gift: Gift,
        carrier: ClosureId,
    ) -> Vec<Call> {
        let mut edges = Vec::new();
        let mut todo = vec![carrier];
        while let Some(id) = todo.pop() {
            let closure = self.closures.get(id);
            for (i, &captured) in closure.captured.iter().enumerate() {
                let made = closure_of(body, captured).and_then(|made| self.closures.made_at(method, made));
                if let Some(inner) = made.filter(|_| self.runs_captured(closure, i))
                    && !self.is_kept[inner as usize]
                    && edges.len() < WRAPPERS_MAX
                {
                    edges.push(self.closure_edge(site, gift, inner));
                    todo.push(inner);
                }
            }
        }
        edges
    }

    /// The edges to the closures that are put, in `frame`, into a list which the call
    /// at `site` gives as `argument` to a method that calls what is in it. Each runs
    /// where it is put: they run in that order.
    pub(super) fn listed_edges(
        &self,
        frame: &Frame<'_>,
        argument: (usize, ValueId),
        callees: &[MethodId],
    ) -> Vec<Call> {
        let calls = |interface: Name, method: Name| {
            let key = |&callee: &MethodId| (callee, argument.0, interface, Name::from(plain_name(method)));
            callees.iter().any(|callee| self.called_elements.contains(&key(callee)))
        };
        let Some(array) = listed(frame, argument.1).filter(|_| !callees.is_empty()) else {
            return Vec::new();
        };
        let put = frame.body.iter().filter_map(|(site, inst)| {
            let Op::ArrayStore(to, _, value) = &inst.op else { return None };
            let made = (frame.body.uncast(*to) == array).then(|| closure_of(frame.body, *value))??;
            let id = self.closures.made_at(frame.method, made)?;
            let closure = self.closures.get(id);
            let is_run = calls(closure.interface, closure.method) && !self.is_kept[id as usize];
            is_run.then(|| self.closure_edge(site, Gift::Callback, id))
        });
        put.collect()
    }

    /// Of all methods: the parameters whose elements they call, with what they call.
    pub(super) fn find_called_elements(
        &self,
        calls: &[Vec<Call>],
    ) -> FxHashSet<(MethodId, usize, Name, Name)> {
        let methods = &self.resolver.program.methods;
        let interfaces: FxHashSet<Name> = self.closures.iter().map(|closure| closure.interface).collect();
        let of_method = |i: usize| {
            let method = MethodId::new(i);
            let mut found = Vec::new();
            let Some(body) = methods[i].body.as_ref().filter(|_| !interfaces.is_empty()) else {
                return found;
            };
            let targets = |v: ValueId| direct_targets(&calls[i], v);
            let frame = self.frame(method, body, &targets);
            for (_, inst) in body.iter() {
                let Op::Invoke { kind: InvokeKind::Interface, method: called, args } = &inst.op else {
                    continue;
                };
                if !interfaces.contains(&called.class) {
                    continue;
                }
                let sources = frame.sources(args[0]);
                let is_element = |p: &usize| sources.contains(&Source::Node(self.flow.param(method, *p) | 1));
                let params = (0..self.n_params(method)).filter(is_element);
                found.extend(params.map(|p| (method, p, called.class, Name::from(plain_name(called.name)))));
            }
            found
        };
        (0..methods.len()).into_par_iter().flat_map_iter(of_method).collect()
    }
}

/// The array that a value is, or that a library makes a list of.
fn listed(frame: &Frame<'_>, value: ValueId) -> Option<ValueId> {
    let array = |v: ValueId| {
        let v = frame.body.uncast(v);
        matches!(frame.body.op(v), Op::NewArray(..)).then_some(v)
    };
    array(value).or_else(|| match frame.body.op(frame.body.uncast(value)) {
        Op::Invoke { kind: InvokeKind::Static, method, args } => {
            frame.resolver.own_class(method.class).is_none().then(|| args.iter().find_map(|&a| array(a)))?
        }
        _ => None,
    })
}

//! Tasks that a closure captures: an own pool or scheduler wraps what it is given
//! to run (to time it, to catch what it throws), and runs the wrapper.

use rustc_hash::FxHashSet;

use super::{Gift, Pass, Starts, direct_targets, matches};
use crate::call_graph::closures::{Closure, closure_of};
use crate::call_graph::flow::{Frame, Source};
use crate::call_graph::{Call, apis};
use crate::ir::{Body, Op, ValueId};
use crate::program::MethodId;

impl Starts<'_> {
    /// How the closure is run which captures what `pass` gives it, if it runs that:
    /// that is run then too.
    pub(super) fn run_with_closure(&self, frame: &Frame<'_>, pass: &Pass, calls: &[Call]) -> Option<Gift> {
        let made = pass.site;
        let closure = self.closures.get(self.closures.made_at(frame.method, made)?);
        if !self.runs_captured(closure, pass.argument) {
            return None;
        }
        let is_it = |value: ValueId| closure_of(frame.body, value) == Some(made);
        let mut found = None;
        for (site, inst) in frame.body.iter() {
            let argument = match &inst.op {
                Op::Invoke { args, .. } => args.iter().position(|&a| is_it(a)),
                Op::PutField(_, _, value) => is_it(*value).then_some(0),
                _ => None,
            };
            let gift = argument
                .and_then(|argument| self.gift_of(frame, &Pass { site, argument, param: None }, calls));
            found = found.max(gift);
        }
        found
    }

    /// Parameters of closures that are what a method which makes them was given: its
    /// callers run that.
    pub(super) fn find_lifted(&mut self, calls: &[Vec<Call>]) {
        let mut lifted = FxHashSet::default();
        for (i, m) in self.resolver.program.methods.iter().enumerate() {
            let Some(body) = &m.body else { continue };
            let method = MethodId::new(i);
            let targets = |v: ValueId| direct_targets(&calls[i], v);
            let frame = self.frame(method, body, &targets);
            for (v, _) in body.iter().filter(|(_, inst)| matches!(inst.op, Op::InvokeDynamic { .. })) {
                let Some(closure) = self.closures.made_at(method, v).map(|id| self.closures.get(id)) else {
                    continue;
                };
                for (at, &value) in closure.captured.iter().enumerate() {
                    let sources = frame.sources(value);
                    let is_given = |s: &Source| matches!(s, Source::Node(n) if self.is_lifted(method, *n));
                    if !sources.is_empty() && sources.iter().all(is_given) {
                        let targets = closure.targets.iter();
                        lifted.extend(targets.map(|&t| self.flow.param(t, closure.first + at)));
                    }
                }
            }
        }
        self.lifted = lifted;
    }

    /// Whether the body of a closure runs one of the captured values itself.
    pub(super) fn runs_captured(&self, closure: &Closure, captured: usize) -> bool {
        let slot = closure.first + captured;
        let methods = &self.resolver.program.methods;
        let bodies = closure.targets.iter().filter_map(|t| methods[t.index()].body.as_ref());
        let runs = |body: &Body| {
            body.iter().any(|(_, inst)| match &inst.op {
                Op::Invoke { kind, method, args } => {
                    let is_task = |row: &apis::Task| {
                        row.class == method.class.as_str() && matches(row.method, method.name)
                    };
                    let is_it = args.first().is_some_and(|&a| is_param(body, a, slot));
                    is_it
                        && (self.is_run(*kind, *method)
                            || self.functional.contains(&(method.class, method.name))
                            || apis::TASKS.iter().any(is_task))
                }
                _ => false,
            })
        };
        bodies.into_iter().any(runs)
    }
}

fn is_param(body: &Body, value: ValueId, slot: usize) -> bool {
    matches!(body.op(body.uncast(value)), Op::Param(i) if usize::from(*i) == slot)
}

//! Commands: objects that are given to where closures of the program's own interfaces are
//! kept and called later. A class that implements such an interface is such a closure
//! written out, and runs as one: an event in a queue of the program's own, which one
//! thread works off.

use rayon::prelude::*;
use schema::LinkKind;

use super::{Gift, Pass, Starts, direct_targets};
use crate::call_graph::closures::{ClosureId, closure_of};
use crate::call_graph::flow::{Frame, Source};
use crate::call_graph::resolve::{class_of, signature};
use crate::call_graph::{Call, CallKind};
use crate::ir::{Op, ValueId};
use crate::program::{ClassId, MethodId, Name};

impl Starts<'_> {
    /// The methods that run later because they were given to where commands are kept,
    /// sorted.
    pub(crate) fn commands(&self, calls: &[Vec<Call>]) -> Vec<MethodId> {
        let n = self.resolver.program.methods.len();
        let found = (0..n).into_par_iter().flat_map_iter(|i| self.commands_of(MethodId::new(i), &calls[i]));
        let mut found: Vec<MethodId> = found.collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    fn commands_of(&self, method: MethodId, calls: &[Call]) -> Vec<MethodId> {
        let mut found = Vec::new();
        let Some(body) = &self.resolver.program.methods[method.index()].body else { return found };
        let targets = |v: ValueId| direct_targets(calls, v);
        let frame = self.frame(method, body, &targets);
        for (site, inst) in body.iter() {
            let Op::Invoke { args, .. } = &inst.op else { continue };
            let callees = targets(site);
            for (argument, &value) in args.iter().enumerate() {
                let made = closure_of(body, value).and_then(|made| self.closures.made_at(method, made));
                if let Some(id) = made {
                    let is_command = !self.is_run_as_kept(id) && self.is_command(id);
                    let gift = self.gift_of(&frame, &Pass { site, argument, param: None }, calls);
                    if is_command && gift != Some(Gift::Callback) && self.is_called_later(&callees, argument)
                    {
                        found.extend(&self.closures.get(id).targets);
                    }
                } else {
                    let given = self.commands_given(&frame, &callees, argument, value);
                    found.extend(given.into_iter().map(|(target, _)| target));
                }
            }
        }
        found
    }

    /// Whether a closure is of an interface of the program's own, and is given nothing
    /// when it runs: what is told something then is a handler.
    fn is_command(&self, id: ClosureId) -> bool {
        let closure = self.closures.get(id);
        let n_taken = self.n_params(closure.targets[0]);
        self.resolver.own_class(closure.interface).is_some()
            && closure.first + closure.captured.len() == n_taken
    }

    /// The bodies of the commands that an argument of a call can be, each with the
    /// instruction that makes it.
    pub(super) fn commands_given(
        &self,
        frame: &Frame<'_>,
        callees: &[MethodId],
        argument: usize,
        value: ValueId,
    ) -> Vec<(MethodId, ValueId)> {
        if !self.is_called_later(callees, argument) {
            return Vec::new();
        }
        let mut found = Vec::new();
        for source in frame.sources(value) {
            if let Source::New(class, made) = source {
                let interfaces = callees.iter().filter_map(|&callee| self.param_class(callee, argument));
                let bodies = interfaces.filter_map(|interface| self.command_body(class, interface));
                found.extend(bodies.map(|target| (target, made)));
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// What `class` runs where closures of `interface` are called.
    fn command_body(&self, class: ClassId, interface: Name) -> Option<MethodId> {
        let own =
            self.resolver.own_class(interface).filter(|_| self.resolver.is_subtype(class, interface))?;
        let methods = &self.resolver.program.methods;
        let mut declared = self.resolver.program.classes[own.index()].methods.clone();
        let at = declared.find(|&i| {
            let is_told_nothing = methods[i].descriptor.starts_with("()");
            methods[i].body.is_none()
                && is_told_nothing
                && self.functional.contains(&(interface, methods[i].name))
        })?;
        let body = self.resolver.lookup(class, methods[at].name, methods[at].descriptor)?;
        self.resolver.has_body(body).then_some(body)
    }

    /// The class that a parameter of a method is declared as.
    fn param_class(&self, method: MethodId, param: usize) -> Option<Name> {
        let m = &self.resolver.program.methods[method.index()];
        let (params, _) = signature(m.descriptor.as_str());
        let at = param.checked_sub(usize::from(!m.is_static()))?;
        params.get(at).and_then(|param| class_of(param)).map(Name::from)
    }

    /// The edge to the body of a command that is given away at a site.
    pub(super) fn command_edge(&self, site: ValueId, (target, made): (MethodId, ValueId)) -> Call {
        let mut args = vec![None; self.n_params(target)];
        if let Some(receiver) = args.first_mut() {
            *receiver = Some(made);
        }
        Call { site, targets: vec![target], kind: CallKind::Start(LinkKind::Thread), args }
    }
}

//! The edges from who gives a task away to the task.

use schema::LinkKind;

use super::{Gift, Pass, Starts, direct_targets, task_row};
use crate::call_graph::apis::Task;
use crate::call_graph::closures::{Closure, ClosureId, closure_of, implementation};
use crate::call_graph::flow::{Frame, Source};
use crate::call_graph::{Call, CallKind};
use crate::ir::{Body, InvokeKind, Op, ValueId};
use crate::program::{ClassId, MethodId, Name};

impl Starts<'_> {
    /// The edges of `method` to tasks it starts and callbacks it gives.
    pub(crate) fn edges(&self, method: MethodId, calls: &[Call]) -> Vec<Call> {
        let Some(body) = &self.resolver.program.methods[method.index()].body else {
            return Vec::new();
        };
        let targets = |v: ValueId| direct_targets(calls, v);
        let frame = self.frame(method, body, &targets);
        let mut edges = Vec::new();
        for (v, inst) in body.iter() {
            match &inst.op {
                Op::Invoke { kind, method: called, args } => {
                    let is_static = *kind == InvokeKind::Static;
                    let is_store = !direct_targets(calls, v).is_empty() || self.is_put(*kind, *called);
                    for (j, &a) in args.iter().enumerate() {
                        let gift = self.gift_of(&frame, &Pass { site: v, argument: j, param: None }, calls);
                        if let Some(made) = closure_of(body, a) {
                            let id = self.closures.made_at(method, made);
                            let is_stored = gift != Some(Gift::Callback) && is_store;
                            let id = id.filter(|&id| !(is_stored && self.is_run_as_kept(id)));
                            let later = || self.is_called_later(&direct_targets(calls, v), j);
                            let gift =
                                gift.unwrap_or_else(|| if later() { Gift::Start } else { Gift::Callback });
                            if let Some(id) = id {
                                edges.push(self.closure_edge(v, gift, id));
                                edges.extend(self.wrapped_edges(method, body, v, gift, id));
                            } else if j > 0 && !is_static {
                                self.referred_edges(&frame, v, args[0], made, &mut edges);
                            }
                        } else if let Some(gift) = gift
                            && (j > 0 || is_static || self.starts_receiver(body, v))
                        {
                            self.object_edges(&frame, v, a, gift, &mut edges);
                        } else if gift.is_none() {
                            let callees = direct_targets(calls, v);
                            let given = self.commands_given(&frame, &callees, j, a);
                            edges.extend(given.iter().map(|&command| self.command_edge(v, command)));
                            edges.extend(self.listed_edges(&frame, (j, a), &callees));
                        }
                    }
                }
                Op::PutField(f, _, value)
                    if self.is_task_type(f.descriptor.as_str()) && self.is_run_later(&frame, v) =>
                {
                    if let Some(made) = closure_of(body, *value) {
                        let id = self.closures.made_at(method, made).filter(|&id| !self.is_run_as_kept(id));
                        edges.extend(id.map(|id| self.closure_edge(v, Gift::Start, id)));
                    } else {
                        self.stored_edges(&frame, v, *value, &mut edges);
                    }
                }
                _ => {}
            }
        }
        edges.extend_from_slice(&self.kept[method.index()]);
        edges.sort_by(|a, b| (a.site, a.kind, &a.targets).cmp(&(b.site, b.kind, &b.targets)));
        edges.dedup();
        edges
    }

    fn starts_receiver(&self, body: &Body, site: ValueId) -> bool {
        matches!(body.op(site), Op::Invoke { method, .. }
            if matches!(method.name.as_str(), "start" | "fork"))
    }

    fn object_edges(
        &self,
        frame: &Frame<'_>,
        site: ValueId,
        value: ValueId,
        gift: Gift,
        edges: &mut Vec<Call>,
    ) {
        let mut classes = self.classes_of(frame, &frame.sources(value), Some(value));
        if matches!(frame.body.op(value), Op::Param(0)) {
            // `this`: objects of this class or below.
            let own = self.resolver.program.methods[frame.method.index()].class;
            let name = self.resolver.program.classes[own.index()].name;
            let below = self.resolver.subtypes(name);
            classes
                .extend(below.into_iter().filter(|c| self.instantiated[c.index()]).map(|c| (c, Some(value))));
        }
        classes.sort_unstable();
        classes.dedup();
        for (class, made) in classes {
            self.class_edges(site, class, made, gift, edges);
        }
    }

    /// The classes of objects from `sources`, each with the value that it is, `value` if
    /// it was made elsewhere.
    fn classes_of(
        &self,
        frame: &Frame<'_>,
        sources: &[Source],
        value: Option<ValueId>,
    ) -> Vec<(ClassId, Option<ValueId>)> {
        let mut classes = Vec::new();
        for source in sources {
            match *source {
                Source::New(c, made) => classes.push((c, Some(made))),
                Source::Node(n) if !self.is_lifted(frame.method, n) => {
                    let held = self.flow.types(n);
                    if held.classes.len() <= crate::limits::DISPATCH_TARGETS_MAX {
                        classes.extend(held.classes.iter().map(|&c| (c, value)));
                    }
                }
                _ => {}
            }
        }
        classes
    }

    /// The edges to the elements of `collection`, if the closure made at `made` and given
    /// to a method of it is a library's own method that starts what it is given
    /// (`tasks.forEach(pool::submit)`): it is called with each of them.
    fn referred_edges(
        &self,
        frame: &Frame<'_>,
        site: ValueId,
        collection: ValueId,
        made: ValueId,
        edges: &mut Vec<Call>,
    ) {
        let op = frame.body.op(made);
        let (Op::InvokeDynamic { args, .. }, Some((handle, method))) = (op, implementation(op)) else {
            return;
        };
        let kind = match handle {
            5 => InvokeKind::Virtual,
            6 => InvokeKind::Static,
            9 => InvokeKind::Interface,
            _ => return,
        };
        let starts = self.library_gift(kind, method, args.len()) == Some(Gift::Start);
        if starts && !self.is_put(kind, method) {
            for (class, value) in self.classes_of(frame, &frame.elements(collection), None) {
                self.class_edges(site, class, value, Gift::Start, edges);
            }
        }
    }

    /// Only objects made here: what is stored in a field of a task type is run
    /// by whoever reads the field.
    fn stored_edges(&self, frame: &Frame<'_>, site: ValueId, value: ValueId, edges: &mut Vec<Call>) {
        for source in frame.sources(value) {
            if let Source::New(class, made) = source
                && !self.resolver.is_subtype(class, Name::from("java/lang/Thread"))
            {
                self.class_edges(site, class, Some(made), Gift::Start, edges);
            }
        }
    }

    fn class_edges(
        &self,
        site: ValueId,
        class: ClassId,
        value: Option<ValueId>,
        gift: Gift,
        edges: &mut Vec<Call>,
    ) {
        for (row, methods) in self.bodies(class) {
            for target in methods {
                let n_params = self.n_params(target);
                let mut args = vec![None; n_params];
                if let Some(receiver) = args.first_mut() {
                    *receiver = value;
                }
                edges.push(Call { site, targets: vec![target], kind: kind_of(gift, row), args });
            }
        }
    }

    /// The edge to a closure that is given away where it is made.
    pub(super) fn closure_edge(&self, site: ValueId, gift: Gift, id: ClosureId) -> Call {
        let closure = self.closures.get(id);
        let mut args = vec![None; self.n_params(closure.targets[0])];
        for (slot, value) in args.iter_mut().skip(closure.first).zip(&closure.captured) {
            *slot = Some(*value);
        }
        Call { site, targets: closure.targets.clone(), kind: closure_kind(gift, closure), args }
    }
}

pub(super) fn closure_kind(gift: Gift, closure: &Closure) -> CallKind {
    match (gift, task_row(closure)) {
        (Gift::Start, _) => CallKind::Start(LinkKind::Thread),
        (Gift::Exit, _) => CallKind::Exit,
        (Gift::Callback, Some(row)) => kind_of(gift, row),
        (Gift::Callback, None) => CallKind::Callback,
    }
}

fn kind_of(gift: Gift, row: &Task) -> CallKind {
    match (gift, row.link) {
        (Gift::Callback, _) => CallKind::Callback,
        (Gift::Exit, _) => CallKind::Exit,
        (Gift::Start, Some(link)) => CallKind::Start(link),
        (Gift::Start, None) => CallKind::Start(LinkKind::Thread),
    }
}

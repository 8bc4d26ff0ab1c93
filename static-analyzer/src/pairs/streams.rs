//! Streams: what a message that is read was made over. What a unit reads back from
//! files of its own node was sent by nobody: a journal that is replayed holds the
//! messages of all requests before it. But a message that nobody receives by another
//! way is left in a file by one for another to take.

use rustc_hash::{FxHashMap, FxHashSet};

use super::homes::puts_into;
use super::regions::Region;
use super::{Context, apis};
use crate::call_graph::apis::is_stream;
use crate::ir::{Body, InvokeKind, Op, ValueId};
use crate::program::{FieldRef, MethodId, MethodRef, Name};
use crate::strings::types;

/// Values looked at for one stream.
const VALUES_MAX: usize = 300;

/// Whose values streams and bytes are kept in: the places that write each field.
pub(super) struct Streams<'a> {
    context: Context<'a>,
    puts: FxHashMap<FieldRef, Vec<(MethodId, ValueId)>>,
}

impl<'a> Streams<'a> {
    /// Of all fields that hold streams.
    pub(super) fn new(context: Context<'a>) -> Self {
        let puts = puts_into(context, |field| apis::carries(context.program, &field.descriptor));
        Streams { context, puts }
    }

    /// Whether all that the call at `site` reads from comes from files, as far as
    /// `region` hands it there.
    pub(super) fn reads_files(&self, region: &Region, method: MethodId, site: ValueId) -> bool {
        let mut trace =
            Trace { streams: self, region, entered: Vec::new(), stack: Vec::new(), is_file: false };
        let at = At { method, frame: None };
        let mut is_known = self.body(method).is_some_and(|body| match body.op(site) {
            Op::Invoke { kind, method: called, args } => trace.push_carriers(at, (*kind, called), args),
            _ => false,
        });
        let mut seen = FxHashSet::default();
        while let Some((at, value)) = trace.stack.pop() {
            if !is_known || seen.len() >= VALUES_MAX {
                return false;
            }
            if seen.insert((at, value)) {
                is_known = trace.step(at, value);
            }
        }
        is_known && trace.is_file
    }

    fn body(&self, method: MethodId) -> Option<&'a Body> {
        self.context.program.methods[method.index()].body.as_ref()
    }
}

/// A method, and the call whose result is looked for in it, if it is one.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct At {
    method: MethodId,
    /// Position in [`Trace::entered`].
    frame: Option<usize>,
}

/// One stream traced back.
struct Trace<'s, 'a> {
    streams: &'s Streams<'a>,
    region: &'s Region,
    /// Calls whose results were looked for.
    entered: Vec<(At, ValueId)>,
    stack: Vec<(At, ValueId)>,
    /// A file was found.
    is_file: bool,
}

impl Trace<'_, '_> {
    /// Looks at one value; false if it comes from who knows where.
    fn step(&mut self, at: At, value: ValueId) -> bool {
        let Some(body) = self.streams.body(at.method) else { return false };
        match body.op(value) {
            Op::New(class) => self.is_over(*class) || self.made_over(body, at, value),
            Op::NewArray(..) => self.filled_from(body, at, value),
            Op::Invoke { kind, method: called, args } => {
                self.is_file(called) || self.returned(at, value, (*kind, called), args)
            }
            Op::Phi(operands) => {
                self.stack.extend(operands.iter().map(|&(_, v)| (at, v)));
                true
            }
            Op::Cast(_, v) => {
                self.stack.push((at, *v));
                true
            }
            Op::Const(_) => true,
            // What a stream keeps is what it was made over.
            Op::GetField(field, Some(stream)) if is_stream(self.streams.context.program, field.class) => {
                self.stack.push((at, *stream));
                true
            }
            Op::GetField(field, _) => self.kept(field),
            Op::Param(i) => self.given(at, usize::from(*i)),
            _ => false,
        }
    }

    fn is_over(&mut self, class: Name) -> bool {
        let program = &self.streams.context.program;
        let is_file = apis::FILES.iter().any(|file| program.is_subtype(class, Name::from(file)));
        self.is_file |= is_file;
        is_file
    }

    fn is_file(&mut self, called: &MethodRef) -> bool {
        let is_file = apis::opens_file(&called.class, &called.name);
        self.is_file |= is_file;
        is_file
    }

    /// What is made over streams is of what they are of.
    fn made_over(&mut self, body: &Body, at: At, made: ValueId) -> bool {
        let mut constructors = body.iter().filter_map(|(_, inst)| match &inst.op {
            Op::Invoke { kind: InvokeKind::Special, method: called, args }
                if called.name == "<init>" && args.first() == Some(&made) =>
            {
                Some((called, args))
            }
            _ => None,
        });
        constructors
            .next()
            .is_some_and(|(called, args)| self.push_carriers(at, (InvokeKind::Static, called), &args[1..]))
    }

    /// An array of bytes holds what was read into it.
    fn filled_from(&mut self, body: &Body, at: At, array: ValueId) -> bool {
        let mut is_known = false;
        for (_, inst) in body.iter() {
            let Op::Invoke { kind, method: called, args } = &inst.op else { continue };
            let is_read = called.name.starts_with("read") || called.name.starts_with("get");
            if is_read && *kind != InvokeKind::Static && args[1..].contains(&array) {
                let [stream, ..] = args[..] else { continue };
                self.stack.push((at, stream));
                is_known = true;
            }
        }
        is_known
    }

    /// What a call returns: of the program's methods what they do, of a library's
    /// what it is called on and given.
    fn returned(
        &mut self,
        at: At,
        site: ValueId,
        (kind, called): (InvokeKind, &MethodRef),
        args: &[ValueId],
    ) -> bool {
        let calls = self.streams.context.graph.calls(at.method).iter();
        let calls = calls.filter(|call| call.site == site && call.kind.is_local());
        let targets: Vec<MethodId> = calls.flat_map(|call| &call.targets).copied().collect();
        if targets.is_empty() {
            return self.push_carriers(at, (kind, called), args);
        }
        let frame = Some(self.frame(at, site));
        for method in targets {
            let body = self.streams.body(method).into_iter();
            let returns = body.flat_map(|body| body.iter()).filter_map(|(_, inst)| match inst.op {
                Op::Return(Some(value)) => Some((At { method, frame }, value)),
                _ => None,
            });
            self.stack.extend(returns);
        }
        true
    }

    /// The frame of what a call runs: one for each call, so that what calls itself
    /// ends.
    fn frame(&mut self, at: At, site: ValueId) -> usize {
        let is_it = |(by, entered): &(At, ValueId)| by.method == at.method && *entered == site;
        self.entered.iter().position(is_it).unwrap_or_else(|| {
            self.entered.push((at, site));
            self.entered.len() - 1
        })
    }

    /// What was put into a field: within the region if it is put there, else by whom
    /// it may be.
    fn kept(&mut self, field: &FieldRef) -> bool {
        let Some(puts) = self.streams.puts.get(field) else { return false };
        let puts = puts.iter().map(|&(method, value)| (At { method, frame: None }, value));
        let before = self.stack.len();
        self.stack.extend(puts.clone().filter(|(at, _)| self.region.contains(at.method)));
        if self.stack.len() == before {
            self.stack.extend(puts);
        }
        true
    }

    /// What the call that was entered gives, else what callers do: those of the
    /// region, of whom it runs in.
    fn given(&mut self, At { method, frame }: At, param: usize) -> bool {
        let graph = self.streams.context.graph;
        if let Some((caller, site)) = frame.map(|frame| self.entered[frame]) {
            let calls = graph.calls(caller.method).iter();
            let mut calls = calls.filter(|call| call.site == site && call.targets.contains(&method));
            let value = calls.next().and_then(|call| *call.args.get(param)?);
            self.stack.extend(value.map(|value| (caller, value)));
            return value.is_some();
        }
        if method == self.region.root {
            return false;
        }
        let is_inside = self.region.contains(method);
        let mut is_known = false;
        for &(caller, call) in &graph.callers[method.index()] {
            let call = &graph.calls(caller)[call];
            if is_inside && !(call.kind.is_local() && self.region.contains(caller)) {
                continue;
            }
            let Some(Some(value)) = call.args.get(param) else { return false };
            self.stack.push((At { method: caller, frame: None }, *value));
            is_known = true;
        }
        is_known
    }

    /// Goes on with the streams and bytes among the arguments of a call.
    fn push_carriers(&mut self, at: At, (kind, called): (InvokeKind, &MethodRef), args: &[ValueId]) -> bool {
        let before = self.stack.len();
        let (receiver, args) = match (kind, args) {
            (InvokeKind::Static, _) | (_, []) => (None, args),
            (_, [receiver, args @ ..]) => (Some(*receiver), args),
        };
        let program = self.streams.context.program;
        let is_stream = is_stream(program, called.class);
        self.stack.extend(receiver.filter(|_| is_stream).map(|receiver| (at, receiver)));
        let carriers = types::parameters(&called.descriptor)
            .into_iter()
            .zip(args)
            .filter(|(parameter, _)| apis::carries(program, parameter));
        self.stack.extend(carriers.map(|(_, &value)| (at, value)));
        self.stack.len() > before
    }
}

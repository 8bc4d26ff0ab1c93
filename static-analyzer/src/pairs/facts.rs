//! Facts: what each method writes into and reads from channels, found in one
//! scan of its body.

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::Context;
use super::apis::{self, Container, Part, Role, Typed};
use crate::ir::{Body, InvokeKind, Op, ValueId};
use crate::path::{AccessPath, Root, Step};
use crate::program::{FieldRef, MethodId, MethodRef, Name, access};

/// Something that one unit writes and another reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Channel {
    /// A queue held by a field.
    Queue(FieldRef),
    /// A collection held by a field.
    Collection(FieldRef),
    /// A map held by a field, at one key.
    Map(FieldRef),
    /// Messages of one serialized type.
    Message(Name),
    /// Messages with this constant of an enum as their type.
    Verb(FieldRef),
    /// An external store.
    Store(&'static str),
    /// A folder of an external store, by the field that holds its name.
    Folder(FieldRef),
}

/// One end of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fact {
    /// Which channel.
    pub(crate) channel: Channel,
    /// Which end.
    pub(crate) role: Role,
    /// The instruction.
    pub(crate) site: ValueId,
    /// What is put or taken, or the key of a map or store.
    pub(crate) value: Option<ValueId>,
}

/// What all methods do.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    /// By [`MethodId`].
    pub(crate) methods: Vec<Vec<Fact>>,
    /// Classes registered as handlers of a constant of an enum.
    pub(crate) handlers: FxHashMap<FieldRef, Vec<Name>>,
}

/// Scans the program.
pub(crate) fn scan(context: Context<'_>) -> Facts {
    let n = context.program.methods.len();
    let found: Vec<_> =
        (0..n).into_par_iter().map(|i| Scanner::new(context, MethodId::new(i)).scan()).collect();
    let mut facts = Facts::default();
    for (list, registered) in found {
        facts.methods.push(list);
        for (verb, handler) in registered {
            facts.handlers.entry(verb).or_default().push(handler);
        }
    }
    // Steps of a state machine are registered too, but nobody sends to them.
    let steps: FxHashSet<Name> = context
        .graph
        .steps
        .iter()
        .map(|s| context.program.classes[context.program.methods[s.index()].class.index()].name)
        .collect();
    facts.handlers.retain(|_, handlers| !handlers.iter().any(|h| steps.contains(h)));
    for handlers in facts.handlers.values_mut() {
        handlers.sort_unstable();
        handlers.dedup();
    }
    for list in &mut facts.methods {
        list.retain(|f| !matches!(f.channel, Channel::Verb(verb) if !facts.handlers.contains_key(&verb)));
    }
    facts
}

struct Scanner<'a> {
    context: Context<'a>,
    method: MethodId,
    facts: Vec<Fact>,
    registered: Vec<(FieldRef, Name)>,
}

impl<'a> Scanner<'a> {
    fn new(context: Context<'a>, method: MethodId) -> Self {
        Scanner { context, method, facts: Vec::new(), registered: Vec::new() }
    }

    fn scan(mut self) -> (Vec<Fact>, Vec<(FieldRef, Name)>) {
        let Some(body) = &self.context.program.methods[self.method.index()].body else {
            return (Vec::new(), Vec::new());
        };
        for (site, inst) in body.iter() {
            if let Op::Invoke { kind, method, args } = &inst.op {
                self.container(site, method, args);
                self.serializer(site, *kind, method, args);
                self.store(site, method, args);
                self.verbs(body, site, method, args);
            }
        }
        (self.facts, self.registered)
    }

    fn add(&mut self, channel: Channel, role: Role, site: ValueId, value: Option<ValueId>) {
        self.facts.push(Fact { channel, role, site, value });
    }

    fn container(&mut self, site: ValueId, method: &MethodRef, args: &[ValueId]) {
        let Some((container, role, part)) = apis::container_call(&method.class, &method.name) else { return };
        let Some(&receiver) = args.first() else { return };
        let Some(field) = last_field(&self.context.bindings.path(self.method, receiver)) else { return };
        let channel = match container {
            Container::Queue => Channel::Queue(field),
            Container::Collection => Channel::Collection(field),
            Container::Map => Channel::Map(field),
        };
        self.add(channel, role, site, part_of(part, site, args));
    }

    fn serializer(&mut self, site: ValueId, kind: InvokeKind, method: &MethodRef, args: &[ValueId]) {
        let Some((role, typed, part)) = apis::serializer_call(&method.name, &method.descriptor) else {
            return;
        };
        // `super.write(out)` inside a serializer belongs to the outer call.
        if kind == InvokeKind::Special || self.is_serializer_itself() {
            return;
        }
        let class = match typed {
            Typed::BuilderOf => method.class.strip_suffix(apis::BUILDER_SUFFIX).map(Name::from),
            Typed::Owner => Some(method.class),
            Typed::Serializer => args
                .first()
                .and_then(|&a| holder(&self.context.bindings.path(self.method, a)))
                .or(Some(method.class)),
        };
        let Some(class) = class else { return };
        let known = self.context.program.class(class).is_some_and(|c| {
            let flags = self.context.program.classes[c.index()].access;
            flags & (access::INTERFACE | access::ABSTRACT) == 0 || typed == Typed::BuilderOf
        });
        if known {
            self.add(Channel::Message(class), role, site, part_of(part, site, args));
        }
    }

    /// Serializers call those of their parts; only the outermost call is an end.
    fn is_serializer_itself(&self) -> bool {
        let method = &self.context.program.methods[self.method.index()];
        apis::serializer_call(&method.name, &method.descriptor).is_some()
            || self.context.program.classes[method.class.index()].name.ends_with(apis::BUILDER_SUFFIX)
    }

    fn store(&mut self, site: ValueId, method: &MethodRef, args: &[ValueId]) {
        let Some((store, role, key)) = apis::store_call(&method.class, &method.name) else { return };
        let value = if key == 0 { Some(site) } else { args.get(key).copied() };
        self.add(Channel::Store(store), role, site, value);
    }

    /// Constants of an enum given to a call: together with a fresh object it
    /// registers a handler, else it is the type of a message.
    fn verbs(&mut self, body: &Body, site: ValueId, method: &MethodRef, args: &[ValueId]) {
        let verbs: Vec<FieldRef> = args.iter().filter_map(|&a| self.enum_constant(body, a)).collect();
        if verbs.is_empty() || verbs.len() > 2 {
            return;
        }
        let fresh: Vec<Name> = args.iter().filter_map(|&a| fresh_class(body, a)).collect();
        let registers =
            method.name != "<init>" && fresh.iter().any(|&c| self.context.program.class(c).is_some());
        for verb in verbs {
            if registers {
                self.registered.extend(fresh.iter().map(|&c| (verb, c)));
            } else {
                self.add(Channel::Verb(verb), Role::Send, site, Some(site));
            }
        }
    }

    fn enum_constant(&self, body: &Body, value: ValueId) -> Option<FieldRef> {
        let Op::GetField(field, None) = body.op(value) else { return None };
        let class = self.context.program.class(field.class)?;
        let own = field.descriptor.strip_prefix('L').and_then(|d| d.strip_suffix(';'))
            == Some(field.class.as_str());
        (own && self.context.program.classes[class.index()].access & access::ENUM != 0).then_some(*field)
    }
}

fn part_of(part: Part, site: ValueId, args: &[ValueId]) -> Option<ValueId> {
    match part {
        Part::Arg(i) => args.get(i).copied(),
        Part::Result => Some(site),
    }
}

fn fresh_class(body: &Body, value: ValueId) -> Option<Name> {
    match body.op(value) {
        Op::New(class) => Some(*class),
        Op::Cast(_, inner) => fresh_class(body, *inner),
        _ => None,
    }
}

/// The field that holds the object of a path.
fn last_field(path: &AccessPath) -> Option<FieldRef> {
    match (path.steps.last(), path.root) {
        (Some(Step::Field(field)), _) => Some(*field),
        (None, Root::Static(field)) => Some(field),
        _ => None,
    }
}

/// The class whose static field holds a serializer.
fn holder(path: &AccessPath) -> Option<Name> {
    match (path.steps.is_empty(), path.root) {
        (true, Root::Static(field)) => Some(field.class),
        _ => None,
    }
}

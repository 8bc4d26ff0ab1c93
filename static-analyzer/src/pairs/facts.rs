//! Facts: what each method writes into and reads from channels, found in one
//! scan of its body.

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::apis::{self, Container, Part, Role, Typed};
use super::homes::{Found, Home, Homes, Object, held_by};
use super::regions::Region;
use super::wires::{self, Wires};
use super::{Context, mapped, places, texts};
use crate::call_graph::apis::{is_asked_for, is_parameter};
use crate::ir::{Body, BootstrapArg, Const, InvokeKind, Op, ValueId};
use crate::path::{AccessPath, Root, Step};
use crate::program::{FieldRef, MethodId, MethodRef, Name, access};
use crate::top_level::batches;

/// Something that one unit writes and another reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Channel {
    /// A queue.
    Queue(Home),
    /// A collection, a table of places that are written again and again, or a place that
    /// holds one thing at a time.
    Collection(Home),
    /// A map held by a field, at one key.
    Map(FieldRef),
    /// Messages of one serialized type.
    Message(Name),
    /// Messages with this constant of an enum as their type.
    Verb(FieldRef),
    /// Lines of text over connections.
    Line,
    /// Data over connections, by the types in a row as it is written and read, and by the
    /// position in what both have in common.
    Record(Name, u16),
    /// What a server is asked for by its address.
    Address,
    /// An external store.
    Store(&'static str),
    /// A folder of an external store, by the field that holds its name.
    Folder(FieldRef),
}

/// One end of a channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fact {
    /// Which channel.
    pub(crate) channel: Channel,
    /// Which end.
    pub(crate) role: Role,
    /// The instruction.
    pub(crate) site: ValueId,
    /// What is put or taken, or the key of a map or store.
    pub(crate) value: Option<ValueId>,
    /// The value is a list of what is put or taken.
    pub(crate) is_list: bool,
    /// What is put first is taken first.
    pub(crate) is_in_order: bool,
    /// The object that was given the channel, if one was.
    pub(crate) object: Option<Object>,
    /// Who handed the channel down to the method: only in their units it is this one.
    pub(crate) givers: Vec<MethodId>,
    /// The name of the channel in a table of such.
    pub(crate) key: Option<(MethodId, ValueId)>,
}

impl Fact {
    pub(super) fn new(channel: Channel, role: Role, site: ValueId, value: Option<ValueId>) -> Self {
        Fact {
            channel,
            role,
            site,
            value,
            is_list: false,
            is_in_order: false,
            object: None,
            givers: Vec::new(),
            key: None,
        }
    }
}

/// What all methods do.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    /// By [`MethodId`].
    pub(crate) methods: Vec<Vec<Fact>>,
    /// Classes registered as handlers of a constant of an enum.
    pub(crate) handlers: FxHashMap<FieldRef, Vec<Name>>,
    /// What is registered as a handler of a constant of an enum: a class, or a method.
    pub(crate) registered: Vec<(Registered, FieldRef)>,
}

/// A handler that is registered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Registered {
    /// An object of this class.
    Class(Name),
    /// A closure that is this method, or calls it.
    Method(MethodId),
}

impl Facts {
    /// The constants for which `method` is registered as a handler, or its class is.
    pub(super) fn verbs_of(&self, context: Context<'_>, method: MethodId) -> Vec<FieldRef> {
        let class = context.program.methods[method.index()].class;
        let class = Registered::Class(context.program.classes[class.index()].name);
        let is_it = |handler: &Registered| [class, Registered::Method(method)].contains(handler);
        let of = self.registered.iter().filter(|(handler, _)| is_it(handler));
        of.map(|&(_, verb)| verb).collect()
    }
}

/// Calls above the place where an object is put, to where it is made.
const MADE_LEVELS_MAX: usize = 3;

/// The constants of enums with which the objects are made that `value` can be, as far as
/// `region` makes them.
pub(super) fn made_with(
    context: Context<'_>,
    region: &Region,
    method: MethodId,
    value: ValueId,
) -> Vec<FieldRef> {
    let (mut verbs, mut level) = (Vec::new(), vec![(method, value)]);
    let mut seen = FxHashSet::default();
    for _ in 0..MADE_LEVELS_MAX {
        let mut above = Vec::new();
        while let Some((method, value)) = level.pop() {
            let Some(body) = &context.program.methods[method.index()].body else { continue };
            match body.op(value) {
                Op::New(_) => verbs.extend(constructed_with(context, body, value)),
                Op::Cast(_, inner) => level.push((method, *inner)),
                Op::Phi(operands) if seen.insert((method, value)) => {
                    level.extend(operands.iter().filter(|o| o.1 != value).map(|&(_, o)| (method, o)));
                }
                Op::Param(i) if method != region.root => {
                    let callers = context.graph.callers[method.index()].iter();
                    let callers = callers.filter(|(caller, _)| region.contains(*caller));
                    above.extend(callers.filter_map(|&(caller, call)| {
                        let args = &context.graph.calls(caller)[call].args;
                        Some((caller, (*args.get(usize::from(*i))?)?))
                    }));
                }
                _ => {}
            }
        }
        level = above;
    }
    verbs.sort_unstable();
    verbs.dedup();
    verbs
}

/// The constants of enums that the constructor of an object is given where it is made.
pub(super) fn constructed_with(context: Context<'_>, body: &Body, made: ValueId) -> Vec<FieldRef> {
    let given = body.iter().filter_map(|(_, inst)| match &inst.op {
        Op::Invoke { kind: InvokeKind::Special, args, .. } if args.first() == Some(&made) => Some(&args[1..]),
        _ => None,
    });
    given.flatten().filter_map(|&arg| enum_constant(context, body, arg)).collect()
}

/// Scans the program.
pub(crate) fn scan(context: Context<'_>) -> Facts {
    let n = context.program.methods.len();
    let homes = Homes::new(context);
    let wires = Wires::new(context, &homes);
    let found: Vec<_> = (0..n)
        .into_par_iter()
        .map(|i| Scanner::new(context, &homes, MethodId::new(i)).scan(&wires))
        .collect();
    let mut facts = Facts::default();
    let (mut records, mut above) = (Vec::new(), Vec::new());
    for scanned in found {
        let registered = scanned.registered;
        facts.methods.push(scanned.facts);
        records.extend(scanned.records);
        above.extend(scanned.above);
        for (verb, handler) in registered {
            if let Registered::Class(class) = handler {
                facts.handlers.entry(verb).or_default().push(class);
            }
            facts.registered.push((handler, verb));
        }
    }
    for (method, fact) in wires::matched(records).into_iter().chain(above) {
        facts.methods[method.index()].push(fact);
    }
    facts.registered.sort_unstable();
    facts.registered.dedup();
    // Steps of a state machine are registered too, but nobody sends to them.
    let steps: FxHashSet<Name> = context
        .graph
        .steps
        .iter()
        .map(|s| context.program.classes[context.program.methods[s.index()].class.index()].name)
        .collect();
    facts.handlers.retain(|_, handlers| !handlers.iter().any(|h| steps.contains(h)));
    facts.registered.retain(|(handler, _)| !matches!(handler, Registered::Class(c) if steps.contains(c)));
    for handlers in facts.handlers.values_mut() {
        handlers.sort_unstable();
        handlers.dedup();
    }
    for list in &mut facts.methods {
        list.retain(|f| !matches!(f.channel, Channel::Verb(verb) if !facts.handlers.contains_key(&verb)));
    }
    facts
}

struct Scanner<'h, 'a> {
    context: Context<'a>,
    homes: &'h Homes<'a>,
    method: MethodId,
    facts: Vec<Fact>,
    registered: Vec<(FieldRef, Registered)>,
    /// Ends in methods that call this one.
    above: Vec<(MethodId, Fact)>,
    /// Elements of what it takes for several, and where it takes them.
    elements: Vec<(ValueId, ValueId)>,
}

/// What was found in one method.
#[derive(Default)]
struct Scanned {
    facts: Vec<Fact>,
    registered: Vec<(FieldRef, Registered)>,
    records: Vec<wires::Record>,
    above: Vec<(MethodId, Fact)>,
}

impl<'h, 'a> Scanner<'h, 'a> {
    fn new(context: Context<'a>, homes: &'h Homes<'a>, method: MethodId) -> Self {
        let body = &context.program.methods[method.index()].body;
        let elements = body.as_ref().map(batches::elements).unwrap_or_default();
        let (facts, registered, above) = (Vec::new(), Vec::new(), Vec::new());
        Scanner { context, homes, method, facts, registered, above, elements }
    }

    fn scan(mut self, wires: &Wires<'_, '_>) -> Scanned {
        let Some(body) = &self.context.program.methods[self.method.index()].body else {
            return Scanned::default();
        };
        for (site, inst) in body.iter() {
            if let Op::Invoke { kind, method, args } = &inst.op {
                self.container(body, site, method, args);
                self.serializer(site, *kind, method, args);
                self.store(site, method, args);
                self.address(site, method, args);
                self.above.extend(mapped::facts(self.context, self.method, site, method, args));
                self.verbs(body, site, method, args);
            }
        }
        self.facts.extend(places::facts(self.context, self.homes, self.method, body));
        self.facts.extend(wires.lines(self.method, body));
        self.facts.extend(wires.texts(self.method, body));
        let records = wires.records(self.method, body);
        Scanned { facts: self.facts, registered: self.registered, records, above: self.above }
    }

    fn add(&mut self, channel: Channel, role: Role, site: ValueId, value: Option<ValueId>) {
        self.facts.push(Fact::new(channel, role, site, value));
    }

    fn container(&mut self, body: &Body, site: ValueId, method: &MethodRef, args: &[ValueId]) {
        for (container, role, part) in apis::container_calls(&method.class, &method.name) {
            let value = part_of(part, site, args);
            // Who gives nothing in exchange only takes.
            let is_nothing = |value| matches!(body.op(body.uncast(value)), Op::Const(Const::Null));
            if role == Role::Send && value.is_some_and(is_nothing) {
                continue;
            }
            self.contained(body, site, (container, role, part), (method, args));
        }
    }

    fn contained(
        &mut self,
        body: &Body,
        site: ValueId,
        (container, role, part): (Container, Role, Part),
        (called, args): (&MethodRef, &[ValueId]),
    ) {
        let Some(&receiver) = args.first() else { return };
        let value = part_of(part, site, args);
        if container == Container::Map {
            let field = last_field(&self.context.bindings.path(self.method, receiver));
            // What is only removed was not handed over: a lock is released, a place is free.
            let is_handed = role == Role::Send || is_used(body, site);
            if let Some(field) = field.filter(|_| is_handed) {
                self.add(Channel::Map(field), role, site, value);
            }
            return;
        }
        // Lists are everywhere: only those that fields hold hand anything over.
        let is_kept = || held_by(&self.context.bindings.path(self.method, receiver)).is_some();
        if container != Container::Queue && !is_kept() {
            return;
        }
        for found in self.homes.of(self.method, receiver) {
            let channel = match container {
                Container::Queue => Channel::Queue(found.home),
                Container::Collection | Container::Map | Container::Slot => Channel::Collection(found.home),
            };
            let is_list = matches!(part, Part::Elements(_));
            let is_in_order = apis::keeps_order(&called.name) && self.homes.keep_order(found.home);
            let Found { object, givers, key, .. } = found;
            // Whoever has the queue of somebody knows whose it is.
            if let Some((_, name)) = key.filter(|(method, _)| *method == self.method) {
                let fact = Fact::new(channel, role, site, Some(name));
                self.facts.push(Fact { object, givers: givers.clone(), key, ..fact });
            }
            let elements = || self.elements.iter().filter(|(_, taken)| *taken == site);
            if role == Role::Receive && elements().next().is_some() {
                self.facts.extend(elements().map(|&(element, _)| {
                    let fact = Fact::new(channel, role, element, Some(element));
                    Fact { object, givers: givers.clone(), key, ..fact }
                }));
                continue;
            }
            self.facts.push(Fact {
                is_list,
                is_in_order,
                object,
                givers,
                key,
                ..Fact::new(channel, role, site, value)
            });
        }
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

    /// A server is asked by its address, or looks at the one that it was asked by.
    fn address(&mut self, site: ValueId, method: &MethodRef, args: &[ValueId]) {
        if let Some(text) = texts::address(method, args) {
            self.add(Channel::Address, Role::Send, site, Some(text));
        } else if is_asked_for(method) {
            self.add(Channel::Address, Role::Receive, site, Some(site));
        } else if is_parameter(method) {
            self.add(Channel::Address, Role::Receive, site, args.first().copied());
        }
    }

    fn store(&mut self, site: ValueId, method: &MethodRef, args: &[ValueId]) {
        let Some((store, role, key)) = apis::store_call(&method.class, &method.name) else { return };
        let value = if key == 0 { Some(site) } else { args.get(key).copied() };
        self.add(Channel::Store(store), role, site, value);
    }

    /// Constants of an enum given to a call: together with a fresh object it
    /// registers a handler, else it is the type of a message.
    fn verbs(&mut self, body: &Body, site: ValueId, method: &MethodRef, args: &[ValueId]) {
        let verbs: Vec<FieldRef> =
            args.iter().filter_map(|&a| enum_constant(self.context, body, a)).collect();
        if verbs.is_empty() || verbs.len() > 2 {
            return;
        }
        let fresh: Vec<Name> = args.iter().filter_map(|&a| fresh_class(body, a)).collect();
        let is_own = |&c: &Name| self.context.program.class(c).is_some();
        let registers = method.name != "<init>" && fresh.iter().any(is_own);
        let closures = args.iter().filter_map(|&a| self.closure(body, a)).collect::<Vec<_>>();
        for verb in verbs {
            if registers {
                self.registered.extend(fresh.iter().map(|&c| (verb, Registered::Class(c))));
            } else {
                self.registered.extend(closures.iter().map(|&m| (verb, Registered::Method(m))));
                self.add(Channel::Verb(verb), Role::Send, site, Some(site));
            }
        }
    }

    /// The method of the program that a closure runs.
    fn closure(&self, body: &Body, value: ValueId) -> Option<MethodId> {
        let Op::InvokeDynamic { bootstrap, .. } = body.op(body.uncast(value)) else { return None };
        bootstrap.args.iter().find_map(|arg| match arg {
            BootstrapArg::Handle { target, .. } => {
                let class = self.context.program.class(target.class)?;
                self.context.program.declared_method(class, target.name, target.descriptor)
            }
            _ => None,
        })
    }
}

/// The constant of an enum of the program that a value is.
fn enum_constant(context: Context<'_>, body: &Body, value: ValueId) -> Option<FieldRef> {
    let Op::GetField(field, None) = body.op(value) else { return None };
    let class = context.program.class(field.class)?;
    let own =
        field.descriptor.strip_prefix('L').and_then(|d| d.strip_suffix(';')) == Some(field.class.as_str());
    (own && context.program.classes[class.index()].access & access::ENUM != 0).then_some(*field)
}

fn part_of(part: Part, site: ValueId, args: &[ValueId]) -> Option<ValueId> {
    match part {
        Part::Arg(i) | Part::Elements(i) => args.get(i).copied(),
        Part::Result => Some(site),
    }
}

/// Whether anything is done with a value but to ask whether there is one.
fn is_used(body: &Body, value: ValueId) -> bool {
    body.iter().any(|(_, inst)| match &inst.op {
        Op::Invoke { args, .. } | Op::InvokeDynamic { args, .. } => args.contains(&value),
        Op::Cast(_, of) | Op::GetField(_, Some(of)) | Op::Return(Some(of)) => *of == value,
        Op::PutField(_, _, of) | Op::ArrayStore(_, _, of) => *of == value,
        Op::Phi(operands) => operands.iter().any(|&(_, of)| of == value),
        _ => false,
    })
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

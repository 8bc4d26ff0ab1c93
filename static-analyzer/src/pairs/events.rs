//! Hand-offs by the class of an event: a unit makes an event object and gives it
//! away; the handlers that take events of that class work on it later, whatever
//! bus or dispatcher lies between. What a stream takes as it is can be handled in another
//! process as well.

use std::collections::BTreeMap;
use std::sync::Arc;

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};
use schema::{LinkKind, TopLevelKind};

use super::cargo::Cargo;
use super::channels::{self, Channels};
use super::facts::{self, Facts};
use super::handoffs::{Collector, Entry, Handoff, Lists, Rule};
use super::regions::{UnitId, Units, in_loop};
use super::{Context, apis};
use crate::call_graph::RootKind;
use crate::ir::{Body, InvokeKind, Op, ValueId};
use crate::limits::CHANNEL_HANDOFFS_MAX;
use crate::program::{FieldRef, Method, MethodId, Name, Program, access};
use crate::strings::types;

/// Who makes events and who takes them.
#[derive(Debug)]
pub(super) struct Events {
    /// For each class of events, the units that take it, with the parameter.
    handlers: BTreeMap<Name, Vec<(UnitId, ValueId)>>,
    /// Per unit: what it makes and gives away, sorted by class.
    makers: Vec<Vec<(Name, MethodId, ValueId)>>,
    /// Those that can reach handlers in other processes: the program writes objects to
    /// streams and reads them back, and these can be written.
    sent: FxHashSet<Name>,
    /// Constants of enums for which units are registered as handlers.
    verbs: FxHashMap<UnitId, Vec<FieldRef>>,
}

impl Events {
    /// Of all units.
    pub(super) fn new(context: Context<'_>, units: &Units, facts: &Facts) -> Self {
        let mut handlers = handlers(context, units);
        let n = context.program.methods.len();
        let made: Vec<Vec<(Name, ValueId)>> =
            (0..n).into_par_iter().map(|m| made(context, &handlers, MethodId::new(m))).collect();
        let of_unit = |unit| {
            let methods = units.region(unit).methods.iter();
            let all = |&m: &MethodId| made[m.index()].iter().map(move |&(class, value)| (class, m, value));
            let mut makes: Vec<(Name, MethodId, ValueId)> = methods.flat_map(all).collect();
            makes.sort_by_key(|&(class, ..)| class);
            makes
        };
        let makers: Vec<Vec<(Name, MethodId, ValueId)>> =
            (0..units.len()).into_par_iter().map(of_unit).collect();
        let mut n_makers: BTreeMap<Name, usize> = BTreeMap::new();
        for (class, ..) in makers.iter().flatten() {
            *n_makers.entry(*class).or_default() += 1;
        }
        handlers.retain(|class, takers| {
            n_makers.get(class).copied().unwrap_or_default() * takers.len() <= CHANNEL_HANDOFFS_MAX
        });
        let sent = sent(context.program, handlers.keys().copied());
        let takers = handlers.values().flatten().map(|&(unit, _)| unit);
        let verbs = takers.map(|unit| (unit, facts.verbs_of(context, units.region(unit).root)));
        let verbs = verbs.filter(|(_, verbs)| !verbs.is_empty()).collect();
        Events { handlers, makers, sent, verbs }
    }

    /// The hand-offs of one sender.
    pub(super) fn handoffs(
        &self,
        context: Context<'_>,
        units: &Units,
        channels: &Channels,
        handoffs: &mut Collector<'_>,
    ) {
        let region = units.region(handoffs.from);
        for &(class, method, value) in &self.makers[handoffs.from] {
            let Some(takers) = self.handlers.get(&class) else { continue };
            if is_of_files(context, channels, handoffs.from, (method, value)) {
                continue;
            }
            let many = region.is_looped(method) || in_loop(context, method, value);
            let is_sent = self.sent.contains(&class);
            let body = context.program.methods[method.index()].body.as_ref();
            let made_with =
                body.map(|body| facts::constructed_with(context, body, value)).unwrap_or_default();
            let kinds = [LinkKind::Queue, LinkKind::Socket].into_iter().take(1 + usize::from(is_sent));
            for (&(to, param), kind) in takers.iter().flat_map(|taker| kinds.clone().map(move |k| (taker, k)))
            {
                let is_meant = |verbs: &Vec<FieldRef>| channels::is_meant(&made_with, verbs);
                if !self.verbs.get(&to).is_none_or(is_meant) {
                    continue;
                }
                if !handoffs.wants_of(to, kind, is_sent.then_some(class)) {
                    continue;
                }
                let taken = Some((units.region(to).root, param));
                handoffs.found.push(Handoff {
                    from: handoffs.from,
                    to,
                    kind,
                    site: (method, value),
                    entry: Entry::Channel {
                        way: Arc::default(),
                        taken,
                        put: Some(value),
                        lists: Lists::default(),
                    },
                    many,
                    needs_identifier: true,
                    is_in_order: false,
                    followed_only: false,
                    by: None,
                    through: None,
                    cargo: Cargo::Object(class),
                    rule: Rule::Event(class),
                });
            }
        }
    }
}

/// Of `classes`, those whose objects the program can send as they are.
fn sent(program: &Program, classes: impl Iterator<Item = Name>) -> FxHashSet<Name> {
    let calls = |(class, name): (&str, &str)| {
        let is_it = |op: &Op| {
            matches!(op, Op::Invoke { method, .. }
                if method.class.as_str() == class && method.name.as_str() == name)
        };
        program.methods.iter().filter_map(|m| m.body.as_ref()).any(|b| b.iter().any(|(_, i)| is_it(&i.op)))
    };
    if !(calls(apis::WRITES_OBJECT) && calls(apis::READS_OBJECT)) {
        return FxHashSet::default();
    }
    let is_marked =
        |class: &Name| apis::SERIALIZABLE.iter().any(|&m| program.is_subtype(*class, Name::from(m)));
    classes.filter(is_marked).collect()
}

/// Whether an event is made again from what its unit has read back from files: what was
/// told long ago.
fn is_of_files(
    context: Context<'_>,
    channels: &Channels,
    unit: UnitId,
    (method, event): (MethodId, ValueId),
) -> bool {
    let Some(body) = &context.program.methods[method.index()].body else { return false };
    body.iter().any(|(_, inst)| match &inst.op {
        Op::Invoke { kind: InvokeKind::Special, method, args } if args.first() == Some(&event) => {
            let mut classes = parameter_types(&method.descriptor).into_iter().flatten();
            classes.any(|class| channels.is_read_back(unit, class))
        }
        _ => false,
    })
}

/// Events that a method makes and gives away, with all classes that somebody
/// takes them as.
fn made(
    context: Context<'_>,
    handlers: &BTreeMap<Name, Vec<(UnitId, ValueId)>>,
    method: MethodId,
) -> Vec<(Name, ValueId)> {
    let mut made = Vec::new();
    let Some(body) = &context.program.methods[method.index()].body else { return made };
    for (value, inst) in body.iter() {
        let Op::New(class) = inst.op else { continue };
        let mut taken = ancestors(context.program, class);
        taken.retain(|name| handlers.contains_key(name));
        if !taken.is_empty() && given_away(body, value) {
            made.extend(taken.into_iter().map(|name| (name, value)));
        }
    }
    made
}

/// For each class of events, the units that take it, with the parameter. A
/// handler that prints nothing itself passes on what it took.
fn handlers(context: Context<'_>, units: &Units) -> BTreeMap<Name, Vec<(UnitId, ValueId)>> {
    let mut handlers: BTreeMap<Name, Vec<(UnitId, ValueId)>> = BTreeMap::new();
    for unit in 0..units.len() {
        // Targets of other dispatchers take what they need as arguments; those of
        // queues are found with the queue.
        let root = units.region(unit).root;
        let is_handler = match units.top_level(unit) {
            Some(top) => matches!(
                context.top_levels.methods[top].kind,
                TopLevelKind::EventHandler | TopLevelKind::Entity
            ),
            None => context.graph.root(root).is_some_and(|r| r.kind == RootKind::EventHandler),
        };
        if !is_handler {
            continue;
        }
        let method = &context.program.methods[root.index()];
        let Some(body) = &method.body else { continue };
        for (class, param) in taken(method, body) {
            if context.program.class(class).is_some() {
                let list = handlers.entry(class).or_default();
                if !list.contains(&(unit, param)) {
                    list.push((unit, param));
                }
            }
        }
    }
    handlers
}

/// The classes of the parameters, with the parameters; of a bridge, those that it
/// casts them to.
fn taken(method: &Method, body: &Body) -> Vec<(Name, ValueId)> {
    let own = usize::from(!method.is_static());
    let types = parameter_types(&method.descriptor);
    let is_bridge = method.access & access::BRIDGE != 0;
    let found = body.iter().filter_map(|(value, inst)| match &inst.op {
        Op::Param(i) if !is_bridge => {
            types.get((*i as usize).wrapping_sub(own)).copied().flatten().map(|class| (class, value))
        }
        Op::Cast(class, inner) => {
            matches!(body.op(*inner), Op::Param(i) if *i as usize >= own).then_some((*class, *inner))
        }
        _ => None,
    });
    found.collect()
}

/// Where `handler` takes the events of `ways` for what they are, sorted; none if it takes
/// all alike, or takes something else as well.
pub(super) fn taken_at(
    context: Context<'_>,
    handler: MethodId,
    ways: &[Vec<&Handoff>],
) -> Vec<(MethodId, ValueId)> {
    let Some(body) = &context.program.methods[handler.index()].body else { return Vec::new() };
    let mut found = Vec::new();
    for way in ways {
        let Some(Rule::Event(class)) = way.last().map(|last| &last.rule) else { return Vec::new() };
        let n_before = found.len();
        found.extend(body.iter().filter_map(|(value, inst)| match &inst.op {
            Op::Cast(cast, inner) if cast == class && matches!(body.op(*inner), Op::Param(_)) => {
                Some((handler, value))
            }
            _ => None,
        }));
        if found.len() == n_before {
            return Vec::new();
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// Classes of the parameters (none: primitives and arrays).
fn parameter_types(descriptor: &str) -> Vec<Option<Name>> {
    let class = |parameter: &str| Some(Name::from(parameter.strip_prefix('L')?.trim_end_matches(';')));
    types::parameters(descriptor).into_iter().map(class).collect()
}

/// Whether a fresh object leaves the method: as an argument other than to its
/// own constructor, or into a field.
fn given_away(body: &Body, value: ValueId) -> bool {
    body.iter().any(|(_, inst)| match &inst.op {
        Op::Invoke { kind, args, .. } => {
            let receiver = usize::from(*kind != InvokeKind::Static);
            args.iter().skip(receiver).any(|&a| a == value)
        }
        Op::PutField(_, _, v) | Op::ArrayStore(_, _, v) | Op::Return(Some(v)) => *v == value,
        _ => false,
    })
}

/// The class and its ancestors within the program.
fn ancestors(program: &Program, class: Name) -> Vec<Name> {
    let mut seen = FxHashSet::default();
    let mut order = vec![class];
    let mut at = 0;
    while at < order.len() {
        let name = order[at];
        at += 1;
        let Some(id) = program.class(name) else { continue };
        let class = &program.classes[id.index()];
        for &parent in class.super_name.iter().chain(&class.interfaces) {
            if program.class(parent).is_some() && seen.insert(parent) {
                order.push(parent);
            }
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::parameter_types;

    #[test]
    fn parameters_that_are_objects() {
        let types = parameter_types("(ILa/B;[La/C;J[[ILd/E;)V");
        let names: Vec<Option<&str>> = types.iter().map(|t| t.as_ref().map(|n| n.as_str())).collect();
        assert_eq!(names, [None, Some("a/B"), None, None, None, Some("d/E")]);
        assert!(parameter_types("()V").is_empty());
    }
}

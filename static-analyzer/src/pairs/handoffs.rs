//! Hand-offs: one way from a unit to another, as the rules find them; those
//! along edges of the call graph are found here.
//!
//! There are hundreds of thousands, and few become pairs: a hand-off says where
//! it is, and what it carries is followed when a pair is made of it.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use schema::{LinkKind, TopLevelKind};

use super::cargo::Cargo;
use super::channels::{self, Channels};
use super::events::Events;
use super::facts::Channel;
use super::homes::Object;
use super::origins::{self, Origins};
use super::regions::{Edge, Region, UnitId, Units, in_loop};
use super::{Context, apis};
use crate::call_graph::{Call, CallKind, RootKind};
use crate::ir::{Op, ValueId};
use crate::limits::HANDOFFS_PER_PAIR_MAX;
use crate::program::{ClassId, MethodId, Name};

/// One way from a unit to another.
#[derive(Clone, Debug)]
pub(crate) struct Handoff {
    /// The sender.
    pub(crate) from: UnitId,
    /// The receiver.
    pub(crate) to: UnitId,
    /// How.
    pub(crate) kind: LinkKind,
    /// The sender's instruction.
    pub(crate) site: (MethodId, ValueId),
    /// How a value of the receiver's frame is reached from the site's method.
    pub(crate) entry: Entry,
    /// The sender can do it several times in one request.
    pub(crate) many: bool,
    /// Is no evidence of a common request unless an identifier is carried.
    pub(crate) needs_identifier: bool,
    /// What is handed over first is taken first, by one receiver, and each sender hands over once.
    pub(crate) is_in_order: bool,
    /// Equal value classes are no evidence: only values that were followed count.
    pub(crate) followed_only: bool,
    /// The object that hands over at the sender's end, if one is known by what it was given.
    pub(super) by: Option<Object>,
    /// The object that takes at the receiver's end.
    pub(super) through: Option<Object>,
    /// What it can carry.
    pub(super) cargo: Cargo,
    /// The rule, for people.
    pub(crate) rule: Rule,
}

/// How values get in at the receiver's end.
#[derive(Clone, Debug)]
pub(crate) enum Entry {
    /// As the arguments of a call of the site's method.
    Call(Edge),
    /// Out of a channel: what is reached from the value `taken` in a frame of
    /// the receiver is reached from the value `put` of the site's method. If one
    /// of them is not known, nothing can be followed.
    Channel {
        /// Edges from the receiver's first method up to where it is taken.
        way: Arc<[Edge]>,
        /// The received value.
        taken: Option<(MethodId, ValueId)>,
        /// The value sent.
        put: Option<ValueId>,
        /// The received value is a list of what was sent, or the value sent one of what is
        /// received.
        lists: Lists,
    },
}

/// Which end of a channel has a list of what goes through it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Lists {
    /// What is received is a list.
    pub(crate) taken: bool,
    /// What is sent is one.
    pub(crate) put: bool,
}

/// Which rule found a hand-off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    /// An edge of the call graph.
    Call(CallKind),
    /// A channel: what is written and read.
    Channel(Channel),
    /// The class of an event.
    Event(Name),
}

impl Rule {
    /// Whether the receiver is told a key of a store.
    pub(crate) fn tells_a_key(self) -> bool {
        matches!(self, Rule::Channel(Channel::Folder(_)))
    }

    /// Whether it is a part of what goes over a connection.
    pub(super) fn is_of_wires(self) -> bool {
        matches!(self, Rule::Channel(Channel::Line | Channel::Record(..) | Channel::Address))
    }
}

/// The rule and the place of hand-offs in a row, first to last, for people.
pub(super) fn reason(context: Context<'_>, units: &Units, hops: &[&Handoff]) -> String {
    let [first, passed @ ..] = hops else { return String::new() };
    let (method, site) = first.site;
    let line = context.program.methods[method.index()].body.as_ref().map_or(0, |b| b.inst(site).line);
    let links = passed.iter().map(|hop| name(context, units.region(hop.from).root));
    let through: String = links.map(|link| format!(" through {link}")).collect();
    format!("{}{through} at {}:{line}", rule_text(context, &first.rule), name(context, method))
}

fn rule_text(context: Context<'_>, rule: &Rule) -> String {
    match rule {
        Rule::Call(CallKind::Direct | CallKind::Answer | CallKind::Callback) => "calls it".to_owned(),
        Rule::Call(CallKind::Table) => "looks it up in a table".to_owned(),
        Rule::Call(CallKind::Start(_) | CallKind::Exit) => "starts it".to_owned(),
        Rule::Call(CallKind::Rpc) => "calls it remotely".to_owned(),
        Rule::Call(CallKind::Asks(_)) => "asks for it".to_owned(),
        Rule::Channel(channel) => channels::text(context, channel),
        Rule::Event(class) => format!("event {}", class.rsplit('/').next().unwrap_or(class.as_str())),
    }
}

pub(super) fn name(context: Context<'_>, method: MethodId) -> String {
    let m = &context.program.methods[method.index()];
    let class = context.program.classes[m.class.index()].name;
    let simple = class.rsplit('/').next().unwrap_or(class.as_str());
    format!("{simple}.{}", m.name)
}

/// Where hand-offs are looked for.
#[derive(Clone, Copy)]
pub(super) struct Sources<'a> {
    pub(super) context: Context<'a>,
    pub(super) units: &'a Units,
    pub(super) channels: &'a Channels,
    pub(super) events: &'a Events,
    /// Per method: what it makes, see [`origins::made`].
    pub(super) made: &'a [Vec<ClassId>],
}

impl Sources<'_> {
    /// The hand-offs of one sender to receivers that are `wanted`.
    pub(super) fn of(self, from: UnitId, wanted: &dyn Fn(UnitId) -> bool) -> Vec<Handoff> {
        let mut handoffs = Collector {
            from,
            wanted,
            found: Vec::new(),
            n: FxHashMap::default(),
            made: self.made,
            n_made: None,
        };
        along_calls(self.context, self.units, &mut handoffs);
        self.channels.handoffs(self.context.program, &mut handoffs);
        self.events.handoffs(self.context, self.units, self.channels, &mut handoffs);
        if self.units.is_silent_task(from) {
            handoffs.found.iter_mut().for_each(|handoff| handoff.needs_identifier = true);
        }
        handoffs.found
    }
}

/// Hand-offs of one sender found so far; of those to one receiver only the first
/// few are kept.
pub(super) struct Collector<'a> {
    /// The sender.
    pub(super) from: UnitId,
    wanted: &'a dyn Fn(UnitId) -> bool,
    /// In the order they were found.
    pub(super) found: Vec<Handoff>,
    n: FxHashMap<(UnitId, LinkKind, Option<Name>), usize>,
    made: &'a [Vec<ClassId>],
    /// [`origins::n_made`] of the sender, once it was asked for.
    n_made: Option<FxHashMap<ClassId, usize>>,
}

impl Collector<'_> {
    /// Whether one more to this receiver would be kept; counts it.
    pub(super) fn wants(&mut self, to: UnitId, kind: LinkKind) -> bool {
        self.wants_of(to, kind, None)
    }

    /// The same for a message of a class: each class carries what others do not.
    pub(super) fn wants_of(&mut self, to: UnitId, kind: LinkKind, message: Option<Name>) -> bool {
        if !(self.wanted)(to) {
            return false;
        }
        let n = self.n.entry((to, kind, message)).or_insert(0);
        *n += 1;
        *n <= HANDOFFS_PER_PAIR_MAX
    }

    /// Places where the sender, whose region is `region`, makes a task that runs `target`.
    fn n_made(&mut self, context: Context<'_>, region: &Region, target: MethodId) -> usize {
        let class = context.program.methods[target.index()].class;
        let n_made = self.n_made.get_or_insert_with(|| origins::n_made(context, self.made, region));
        n_made.get(&class).copied().unwrap_or_default()
    }
}

/// Hand-offs along edges of the call graph: starts, remote calls, table
/// look-ups, and plain calls into another top-level method.
fn along_calls(context: Context<'_>, units: &Units, handoffs: &mut Collector<'_>) {
    for &method in &units.region(handoffs.from).methods {
        for &call in units.exits(method) {
            along_call(context, units, (method, call as usize), handoffs);
        }
    }
}

fn along_call(
    context: Context<'_>,
    units: &Units,
    (method, i): (MethodId, usize),
    handoffs: &mut Collector<'_>,
) {
    let region = units.region(handoffs.from);
    let call = &context.graph.calls(method)[i];
    let targets: Vec<MethodId> = leaving(context, call).collect();
    let starts_task = matches!(call.kind, CallKind::Start(_));
    let body = context.program.methods[method.index()].body.as_ref();
    if body.is_some_and(|body| call.sets_timer(body)) {
        return;
    }
    let starts = starts_task && targets.len() > 1;
    let origins = starts.then(|| Origins::of(context, region, method, call.args.first().copied().flatten()));
    let kind = link_kind(call.kind);
    for target in targets {
        let made = origins.as_ref().is_none_or(|o| o.made(context, target));
        if !made && origins.as_ref().is_some_and(|o| !o.unknown) {
            continue;
        }
        let is_template = call.kind == CallKind::Table && is_template(context, method, target, call);
        // The rounds of a loop are no more of who started its thread than of each other.
        if (starts_task || is_template) && is_round(context, target) {
            continue;
        }
        let is_lookup = call.kind == CallKind::Table && !is_template;
        // What only passes on looks up for whoever came by: the entry is nobody's to tell.
        if is_lookup && units.top_level(handoffs.from).is_none() {
            continue;
        }
        let Some(to) = units.of(context, target) else { continue };
        if !handoffs.wants(to, kind) {
            continue;
        }
        let many = region.is_looped(method)
            || is_repeated(context, method, call)
            || (starts_task && handoffs.n_made(context, region, target) > 1);
        handoffs.found.push(Handoff {
            from: handoffs.from,
            to,
            kind,
            site: (method, call.site),
            entry: Entry::Call((method, i, target)),
            many,
            needs_identifier: call.kind == CallKind::Rpc || is_lookup || !made,
            is_in_order: false,
            followed_only: is_lookup || !made,
            by: None,
            through: None,
            cargo: cargo(call.kind, target),
            rule: Rule::Call(call.kind),
        });
    }
}

/// What a call hands over to: not what runs within the unit, nor at the end of the process.
pub(super) fn leaving<'a>(context: Context<'a>, call: &'a Call) -> impl Iterator<Item = MethodId> + 'a {
    let leaves = move |t: &MethodId| !call.kind.is_local() || context.top_levels.position(*t).is_some();
    call.targets.iter().copied().filter(move |t| call.kind != CallKind::Exit && leaves(t))
}

fn is_round(context: Context<'_>, method: MethodId) -> bool {
    let at = context.top_levels.position(method);
    at.is_some_and(|at| context.top_levels.methods[at].kind == TopLevelKind::DispatchTarget)
}

/// Whether the body of a task runs what its subclass defines: in the same thread
/// and for the same request.
fn is_template(context: Context<'_>, caller: MethodId, target: MethodId, call: &Call) -> bool {
    let method = &context.program.methods[caller.index()];
    let receiver = call.args.first().copied().flatten();
    let is_own = |value| method.body.as_ref().is_some_and(|body| matches!(body.op(value), Op::Param(0)));
    let is_task = |method: MethodId| {
        let root = context.graph.root(method);
        root.is_some_and(|root| matches!(root.kind, RootKind::Task | RootKind::Thread))
    };
    // Where others run the body, its object is known to be of their class only.
    let is_top = context.top_levels.position(caller).is_some();
    is_top && !method.is_static() && receiver.is_some_and(is_own) && is_task(caller) && is_task(target)
}

fn cargo(kind: CallKind, target: MethodId) -> Cargo {
    match kind {
        CallKind::Start(_) | CallKind::Exit => Cargo::Task(target),
        CallKind::Rpc | CallKind::Asks(_) => Cargo::Arguments(target),
        CallKind::Direct | CallKind::Answer | CallKind::Callback | CallKind::Table => Cargo::Any,
    }
}

fn link_kind(kind: CallKind) -> LinkKind {
    match kind {
        CallKind::Direct | CallKind::Answer | CallKind::Callback | CallKind::Table => LinkKind::Call,
        CallKind::Start(kind) => kind,
        CallKind::Exit => LinkKind::Thread,
        CallKind::Rpc => LinkKind::Rpc,
        CallKind::Asks(kind) => kind,
    }
}

/// Whether one run of `caller` can run the targets of `call` several times.
pub(crate) fn is_repeated(context: Context<'_>, caller: MethodId, call: &Call) -> bool {
    if in_loop(context, caller, call.site) {
        return true;
    }
    let Some(body) = &context.program.methods[caller.index()].body else { return false };
    match body.op(call.site) {
        Op::Invoke { method, .. } => call.kind != CallKind::Direct && apis::iterates(method.name.as_str()),
        _ => false,
    }
}

//! Hand-offs: one way from a unit to another, as the rules find them; those
//! along edges of the call graph are found here.

use rustc_hash::FxHashMap;
use schema::LinkKind;

use super::cargo::Cargo;
use super::carry::Carry;
use super::origins::Origins;
use super::regions::{UnitId, Units, in_loop};
use super::{Context, apis};
use crate::call_graph::{Call, CallKind};
use crate::ir::{Op, ValueId};
use crate::limits::HANDOFFS_PER_PAIR_MAX;
use crate::program::MethodId;

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
    /// Steps that take a value of the receiver's frame to the sender's frame.
    pub(crate) chain: Vec<Carry>,
    /// The sender can do it several times in one request.
    pub(crate) many: bool,
    /// Is no evidence of a common request unless an identifier is carried.
    pub(crate) needs_identifier: bool,
    /// Equal value classes are no evidence: only values that were followed count.
    pub(crate) followed_only: bool,
    /// What it can carry.
    pub(super) cargo: Cargo,
    /// The rule, for people.
    pub(crate) rule: Rule,
}

/// Which rule found a hand-off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    /// An edge of the call graph.
    Call(CallKind),
    /// A channel: what is written and read.
    Channel(String),
    /// Through a unit that only passes work on.
    Through(Box<Rule>, MethodId),
}

impl Handoff {
    /// The rule and the place, for people.
    pub(crate) fn reason(&self, context: Context<'_>) -> String {
        let (method, site) = self.site;
        let line = context.program.methods[method.index()].body.as_ref().map_or(0, |b| b.inst(site).line);
        format!("{} at {}:{line}", rule_text(context, &self.rule), name(context, method))
    }
}

fn rule_text(context: Context<'_>, rule: &Rule) -> String {
    match rule {
        Rule::Call(CallKind::Direct | CallKind::Callback) => "calls it".to_owned(),
        Rule::Call(CallKind::Table) => "looks it up in a table".to_owned(),
        Rule::Call(CallKind::Start(_)) => "starts it".to_owned(),
        Rule::Call(CallKind::Rpc) => "calls it remotely".to_owned(),
        Rule::Channel(what) => what.clone(),
        Rule::Through(first, unit) => {
            format!("{} through {}", rule_text(context, first), name(context, *unit))
        }
    }
}

fn name(context: Context<'_>, method: MethodId) -> String {
    let m = &context.program.methods[method.index()];
    let class = context.program.classes[m.class.index()].name;
    let simple = class.rsplit('/').next().unwrap_or(class.as_str());
    format!("{simple}.{}", m.name)
}

/// Hand-offs found so far; of those with equal ends only the first few are kept.
#[derive(Debug, Default)]
pub(super) struct Collector {
    /// In the order they were found.
    pub(super) found: Vec<Handoff>,
    n: FxHashMap<(UnitId, UnitId, LinkKind), usize>,
}

impl Collector {
    /// Whether one more between these ends would be kept; counts it.
    pub(super) fn wants(&mut self, from: UnitId, to: UnitId, kind: LinkKind) -> bool {
        let n = self.n.entry((from, to, kind)).or_insert(0);
        *n += 1;
        *n <= HANDOFFS_PER_PAIR_MAX
    }
}

/// Hand-offs along edges of the call graph: starts, remote calls, table
/// look-ups, and plain calls into another top-level method.
pub(super) fn along_calls(context: Context<'_>, units: &Units, handoffs: &mut Collector) {
    for from in 0..units.len() {
        let region = units.region(from);
        for &method in &region.methods {
            for i in 0..context.graph.calls(method).len() {
                along_call(context, units, from, (method, i), handoffs);
            }
        }
    }
}

fn along_call(
    context: Context<'_>,
    units: &Units,
    from: UnitId,
    (method, i): (MethodId, usize),
    handoffs: &mut Collector,
) {
    let region = units.region(from);
    let call = &context.graph.calls(method)[i];
    let leaves = |t: &&MethodId| !call.kind.is_local() || context.top_levels.position(**t).is_some();
    let targets: Vec<MethodId> = call.targets.iter().filter(leaves).copied().collect();
    if targets.is_empty() {
        return;
    }
    let starts = matches!(call.kind, CallKind::Start(_)) && targets.len() > 1;
    let origins = starts.then(|| Origins::of(context, region, method, call.args.first().copied().flatten()));
    let kind = link_kind(call.kind);
    for target in targets {
        let made = origins.as_ref().is_none_or(|o| o.made(context, target));
        if !made && origins.as_ref().is_some_and(|o| !o.unknown) {
            continue;
        }
        let Some(to) = units.of(context, target) else { continue };
        if !handoffs.wants(from, to, kind) {
            continue;
        }
        let mut chain = vec![Carry::Up((method, i, target))];
        chain.extend(region.way_up(method).into_iter().map(Carry::Up));
        handoffs.found.push(Handoff {
            from,
            to,
            kind,
            site: (method, call.site),
            chain,
            many: region.is_looped(method) || is_repeated(context, method, call),
            needs_identifier: matches!(call.kind, CallKind::Rpc | CallKind::Table) || !made,
            followed_only: call.kind == CallKind::Table || !made,
            cargo: cargo(call.kind, target),
            rule: Rule::Call(call.kind),
        });
    }
}

fn cargo(kind: CallKind, target: MethodId) -> Cargo {
    match kind {
        CallKind::Start(_) | CallKind::Rpc => Cargo::Arguments(target),
        CallKind::Direct | CallKind::Callback | CallKind::Table => Cargo::Any,
    }
}

fn link_kind(kind: CallKind) -> LinkKind {
    match kind {
        CallKind::Direct | CallKind::Callback | CallKind::Table => LinkKind::Call,
        CallKind::Start(kind) => kind,
        CallKind::Rpc => LinkKind::Rpc,
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

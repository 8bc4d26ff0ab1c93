//! Hand-offs: one way from a unit to another, as the rules find them; those
//! along edges of the call graph are found here.

use schema::LinkKind;

use super::cargo::Cargo;
use super::carry::Carry;
use super::regions::{UnitId, Units, in_loop};
use super::{Context, apis};
use crate::call_graph::{Call, CallKind};
use crate::ir::{Op, ValueId};
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
        Rule::Through(first, unit) => format!("{} through {}", rule_text(context, first), name(context, *unit)),
    }
}

fn name(context: Context<'_>, method: MethodId) -> String {
    let m = &context.program.methods[method.index()];
    let class = context.program.classes[m.class.index()].name;
    let simple = class.rsplit('/').next().unwrap_or(class.as_str());
    format!("{simple}.{}", m.name)
}

/// Hand-offs along edges of the call graph: starts, remote calls, table
/// look-ups, and plain calls into another top-level method.
pub(crate) fn along_calls(context: Context<'_>, units: &Units) -> Vec<Handoff> {
    let mut handoffs = Vec::new();
    for from in 0..units.len() {
        let region = units.region(from);
        for &method in &region.methods {
            for (i, call) in context.graph.calls(method).iter().enumerate() {
                let targets = call.targets.iter().filter(|&&t| {
                    !call.kind.is_local() || context.top_levels.position(t).is_some()
                });
                for &target in targets {
                    let Some(to) = units.of(context, target) else { continue };
                    let mut chain = vec![Carry::Up((method, i, target))];
                    chain.extend(region.way_up(method).into_iter().map(Carry::Up));
                    handoffs.push(Handoff {
                        from,
                        to,
                        kind: link_kind(call.kind),
                        site: (method, call.site),
                        chain,
                        many: region.is_looped(method) || is_repeated(context, method, call),
                        needs_identifier: matches!(call.kind, CallKind::Rpc | CallKind::Table),
                        followed_only: call.kind == CallKind::Table,
                        cargo: cargo(call.kind, target),
                        rule: Rule::Call(call.kind),
                    });
                }
            }
        }
    }
    handoffs
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

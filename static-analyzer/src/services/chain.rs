//! Chains of calls on one request: what makes it, what is said of it, and what sends it, within
//! one method.

use rustc_hash::FxHashSet;

use super::client_apis::{DEFAULT_VERBS, LATER, SENDS, SENDS_ASYNC, SENDS_BODY, SETS_VERB, WAITS};
use super::handler_apis::VERBS;
use super::{simple, verb_of};
use crate::call_graph::resolve::signature;
use crate::ir::{Body, Const, InvokeKind, Op, ValueId};
use crate::program::{MethodRef, Program};

/// Calls on one request, from what makes it to what sends it.
#[derive(Default)]
pub(super) struct Chain {
    /// Before the address is given: receivers of receivers.
    before: Vec<ValueId>,
    /// After it, in the order of the code.
    after: Vec<ValueId>,
}

impl Chain {
    /// Around the call at `site`.
    pub(super) fn new(program: &Program, body: &Body, site: ValueId) -> Self {
        let mut before = Vec::new();
        let mut at = receiver(body, site);
        while let Some(value) = at.filter(|_| before.len() < 16) {
            if !matches!(body.op(value), Op::Invoke { .. }) {
                break;
            }
            before.push(value);
            at = receiver(body, value);
        }
        let made = match body.op(site) {
            Op::Invoke { method, args, .. } if method.name == "<init>" => args.first().copied(),
            _ => None,
        };
        let mut held: FxHashSet<ValueId> = made.into_iter().chain([site]).collect();
        let mut after = Vec::new();
        let first = body.inst(site).pc;
        for (value, inst) in body.iter() {
            match &inst.op {
                Op::Invoke { method, args, .. }
                    if value != site && args.iter().any(|arg| held.contains(arg)) =>
                {
                    let is_plain = method.class.starts_with("java/lang/")
                        || crate::log_points::apis::is_listed(method.class);
                    if is_plain || inst.pc < first {
                        continue;
                    }
                    // What the program's own methods give back is the answer.
                    if program.class(method.class).is_none() {
                        held.insert(value);
                        if method.name == "<init>" {
                            held.insert(args[0]);
                        }
                    }
                    after.push(value);
                }
                Op::Cast(_, of) if held.contains(of) => _ = held.insert(value),
                _ => {}
            }
        }
        Chain { before, after }
    }

    fn names<'b>(&'b self, body: &'b Body) -> impl Iterator<Item = (&'b MethodRef, &'b [ValueId])> {
        self.after.iter().filter_map(|&value| match body.op(value) {
            Op::Invoke { method, args, .. } => Some((method, &args[..])),
            _ => None,
        })
    }

    /// The verb that the calls say.
    pub(super) fn verb(&self, body: &Body, site: ValueId) -> String {
        let Op::Invoke { method, args, .. } = body.op(site) else { return String::new() };
        if method.name == "<init>"
            && let Some(verb) = verb_of(simple(method.class))
        {
            return verb.to_owned();
        }
        let own = verb_in(body, method, args, true);
        let before = || {
            let calls = self.before.iter().filter_map(|&value| match body.op(value) {
                Op::Invoke { method, args, .. } => verb_in(body, method, args, false),
                _ => None,
            });
            calls.into_iter().next()
        };
        let after = || self.verb_behind(body);
        let default = || {
            let posts = self.names(body).any(|(method, _)| SENDS_BODY.contains(&method.name.as_str()));
            let row = DEFAULT_VERBS.iter().find(|row| row.0 == method.class.as_str());
            row.filter(|_| self.verb_value(body).is_none())
                .map(|row| if posts { "POST".to_owned() } else { row.1.to_owned() })
        };
        own.or_else(before).or_else(after).or_else(default).unwrap_or_default()
    }

    /// The verb that calls behind the address say.
    pub(super) fn verb_behind(&self, body: &Body) -> Option<String> {
        self.names(body).find_map(|(method, args)| verb_in(body, method, args, false))
    }

    /// The value that says the verb, if a call says one.
    pub(super) fn verb_value(&self, body: &Body) -> Option<ValueId> {
        let mut calls = self.names(body).filter(|(method, _)| SETS_VERB.contains(&method.name.as_str()));
        calls.find_map(|(_, args)| args.get(1).copied())
    }

    /// The call that sends: the first of the calls that do, else the first of the program's own
    /// that is handed the request.
    pub(super) fn sent_at(&self, body: &Body, site: ValueId) -> ValueId {
        let sends = |value: &&ValueId| {
            matches!(body.op(**value), Op::Invoke { method, .. }
                if SENDS.contains(&method.name.as_str()) || SENDS_ASYNC.contains(&method.name.as_str()))
        };
        self.after.iter().find(sends).copied().unwrap_or(site)
    }

    /// Whether whoever asks goes on only when there is an answer.
    pub(super) fn waits(&self, body: &Body, site: ValueId) -> bool {
        let own = match body.op(site) {
            Op::Invoke { method, .. } => Some(*method),
            _ => None,
        };
        let calls = || own.into_iter().chain(self.names(body).map(|(method, _)| *method));
        let is = |list: &[&str], method: &MethodRef| list.contains(&method.name.as_str());
        let waits = calls().any(|method| is(WAITS, &method) || is_future_get(&method));
        let later = |method: &MethodRef| {
            let result = signature(method.descriptor.as_str()).1;
            is(SENDS_ASYNC, method)
                || result
                    .strip_prefix('L')
                    .is_some_and(|class| LATER.iter().any(|later| class.starts_with(later)))
        };
        waits || !calls().any(|method| later(&method))
    }

    /// What can be the content of what is sent: arguments that are no addresses, classes or
    /// verbs, out of what is put around them.
    pub(super) fn bodies(
        &self,
        program: &Program,
        body: &Body,
        site: ValueId,
        address: ValueId,
    ) -> Vec<ValueId> {
        let mut found = Vec::new();
        for &call in self.before.iter().chain([&site]).chain(&self.after) {
            let Op::Invoke { args, kind, .. } = body.op(call) else { continue };
            let own = usize::from(*kind != InvokeKind::Static);
            for &arg in args.iter().skip(own).filter(|&&arg| arg != address) {
                found.extend(content(program, body, arg, 6));
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }
}

fn is_future_get(method: &MethodRef) -> bool {
    method.name == "get" && method.class.starts_with("java/util/concurrent/")
}

fn receiver(body: &Body, site: ValueId) -> Option<ValueId> {
    match body.op(site) {
        Op::Invoke { kind: InvokeKind::Virtual | InvokeKind::Interface, args, .. } => {
            args.first().map(|&value| body.uncast(value))
        }
        _ => None,
    }
}

/// The verb that a constant is.
pub(super) fn constant_verb(body: &Body, value: ValueId) -> Option<String> {
    match body.op(body.uncast(value)) {
        Op::Const(Const::Text(text)) if VERBS.contains(&text.as_str()) => Some(text.as_str().to_owned()),
        Op::GetField(field, None) if VERBS.contains(&field.name.as_str()) => {
            Some(field.name.as_str().to_owned())
        }
        _ => None,
    }
}

/// The verb that a call says by its name or its arguments. `is_own`: it is given the address.
fn verb_in(body: &Body, method: &MethodRef, args: &[ValueId], is_own: bool) -> Option<String> {
    let constant = args.iter().find_map(|&arg| constant_verb(body, arg));
    if constant.is_some() {
        return constant;
    }
    let name = method.name.as_str();
    if method.class.starts_with("java/util/") {
        return None;
    }
    if let Some(verb) = verb_of(name) {
        return Some(verb.to_owned());
    }
    let name = name.strip_prefix("prepare").unwrap_or(name);
    let begins = |verb: &&&str| {
        let front = name.get(..verb.len());
        let next = name[verb.len().min(name.len())..].chars().next();
        front.is_some_and(|front| front.eq_ignore_ascii_case(verb)) && next.is_none_or(char::is_uppercase)
    };
    VERBS.iter().filter(|_| is_own).find(begins).map(|verb| (*verb).to_owned())
}

/// The object of the program that a value is, or that is put into it on the way out.
fn content(program: &Program, body: &Body, value: ValueId, depth: usize) -> Vec<ValueId> {
    let Some(depth) = depth.checked_sub(1) else { return Vec::new() };
    let value = body.uncast(value);
    match body.op(value) {
        Op::New(class) if program.class(*class).is_none() => {
            let init = body.iter().find_map(|(_, inst)| match &inst.op {
                Op::Invoke { method, args, .. }
                    if method.name == "<init>" && args.first() == Some(&value) =>
                {
                    Some(&args[1..])
                }
                _ => None,
            });
            init.into_iter().flatten().flat_map(|&arg| content(program, body, arg, depth)).collect()
        }
        Op::New(_) | Op::Param(_) | Op::GetField(..) | Op::Phi(_) => vec![value],
        Op::Invoke { method, args, .. } => match program.class(method.class) {
            Some(_) => vec![value],
            None => args
                .iter()
                .skip(1)
                .chain(args.first().filter(|_| args.len() == 1))
                .flat_map(|&arg| content(program, body, arg, depth))
                .collect(),
        },
        _ => Vec::new(),
    }
}

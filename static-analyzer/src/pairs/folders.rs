//! Folders of external stores: who writes something under a key is followed by
//! who is told of the key (a node of a coordination service and its watchers).
//!
//! A program keeps things of many kinds in one store, each kind in a folder of
//! its own: the writer makes the key from the folder's name, which a field holds,
//! and from the name of the thing; everybody is told of every key, and looks
//! whether it begins with what the field of its folder holds. The field is what
//! both ends have in common.
//!
//! Over-approximates: what is told is not told apart by what was done to the key
//! (made, changed or deleted); who looks up a key is no receiver.

use std::collections::BTreeSet;
use std::sync::Arc;

use rustc_hash::FxHashSet;

use super::Context;
use super::apis::Role;
use super::facts::{Channel, Facts};
use super::regions::Region;
use crate::ir::{Body, Op, ValueId};
use crate::limits::{KEY_CALLERS_MAX, KEY_STEPS_MAX};
use crate::program::{FieldRef, MethodId, MethodRef, Name};

/// Calls that an event's key passes on its way to whom it concerns.
const TOLD_LEVELS_MAX: usize = 3;

const STRING: &str = "java/lang/String";
const STRING_DESCRIPTOR: &str = "Ljava/lang/String;";

/// Methods of text by which a key is compared.
const COMPARISONS: &[&str] = &["startsWith", "equals", "equalsIgnoreCase", "compareTo", "contains"];

/// Who is told of keys in which folders.
#[derive(Debug, Default)]
pub(super) struct Folders {
    /// (field that holds the folder's name, method that is given the key, parameter):
    /// where a piece of work begins, else where the key is compared.
    pub(super) listeners: BTreeSet<(FieldRef, MethodId, ValueId)>,
    /// Methods that hand on what they are told to those.
    dispatchers: FxHashSet<MethodId>,
}

/// What a key is made from.
#[derive(Clone, Debug, Default)]
pub(super) struct Key {
    /// Fields that hold text of it.
    fields: BTreeSet<FieldRef>,
}

impl Folders {
    /// Of the whole program; `is_unit` tells where a piece of work can begin.
    pub(super) fn new(context: Context<'_>, facts: &Facts, is_unit: &dyn Fn(MethodId) -> bool) -> Self {
        let mut folders = Folders::default();
        for (index, list) in facts.methods.iter().enumerate() {
            let method = MethodId::new(index);
            let told = list.iter().filter(|fact| is_told(fact.channel, fact.role));
            for key in told.filter_map(|fact| fact.value) {
                folders.follow(context, method, key, is_unit);
            }
        }
        folders
    }

    /// Whether a method only hands on what it is told.
    pub(super) fn dispatches(&self, method: MethodId) -> bool {
        self.dispatchers.contains(&method)
    }

    /// The folders that a key is in, each with the names of what it is made from
    /// otherwise.
    pub(super) fn of(&self, key: &Key) -> Vec<(FieldRef, Arc<[Name]>)> {
        let is_folder = |field: &FieldRef| self.listeners.iter().any(|(folder, ..)| folder == field);
        let (folders, others): (Vec<FieldRef>, Vec<FieldRef>) = key.fields.iter().partition(|f| is_folder(f));
        let names: BTreeSet<Name> = others.iter().flat_map(|field| [field.class, field.name]).collect();
        let names: Arc<[Name]> = names.into_iter().collect();
        folders.into_iter().map(|folder| (folder, Arc::clone(&names))).collect()
    }

    /// Follows a key from where it is told to who compares it.
    fn follow(
        &mut self,
        context: Context<'_>,
        dispatcher: MethodId,
        key: ValueId,
        is_unit: &dyn Fn(MethodId) -> bool,
    ) {
        let mut level = given(context, dispatcher, key).into_iter().map(|to| (to, None)).collect::<Vec<_>>();
        let mut seen = FxHashSet::default();
        for _ in 0..TOLD_LEVELS_MAX {
            let mut next = Vec::new();
            for ((method, param), begin) in level {
                if !seen.insert((method, param)) {
                    continue;
                }
                let begin = begin.or_else(|| is_unit(method).then_some((method, param)));
                let (listener, value) = begin.unwrap_or((method, param));
                for folder in compared(context, method, param) {
                    self.listeners.insert((folder, listener, value));
                    self.dispatchers.insert(dispatcher);
                }
                next.extend(given(context, method, param).into_iter().map(|to| (to, begin)));
            }
            level = next;
        }
    }
}

fn is_told(channel: Channel, role: Role) -> bool {
    matches!(channel, Channel::Store(_)) && role == Role::Receive
}

/// The parameters as which `value` is given to others.
fn given(context: Context<'_>, method: MethodId, value: ValueId) -> Vec<(MethodId, ValueId)> {
    let mut found = Vec::new();
    for call in context.graph.calls(method) {
        for (at, _) in call.args.iter().enumerate().filter(|(_, arg)| **arg == Some(value)) {
            let params = call.targets.iter().filter_map(|&target| {
                let body = context.program.methods[target.index()].body.as_ref()?;
                Some((target, param(body, at)?))
            });
            found.extend(params);
        }
    }
    found
}

fn param(body: &Body, at: usize) -> Option<ValueId> {
    let is_it = |op: &Op| matches!(op, Op::Param(i) if usize::from(*i) == at);
    body.iter().find(|(_, inst)| is_it(&inst.op)).map(|(value, _)| value)
}

/// Fields with whose text a method compares one of its parameters.
fn compared(context: Context<'_>, method: MethodId, param: ValueId) -> Vec<FieldRef> {
    let Some(body) = &context.program.methods[method.index()].body else { return Vec::new() };
    let mut fields = Vec::new();
    for (_, inst) in body.iter() {
        let Op::Invoke { method: MethodRef { class, name, .. }, args, .. } = &inst.op else { continue };
        let is_comparison = class.as_str() == STRING && COMPARISONS.contains(&name.as_str());
        if !is_comparison || !args.contains(&param) {
            continue;
        }
        fields.extend(args.iter().filter_map(|&arg| match body.op(arg) {
            Op::GetField(field, _) if is_text(field) => Some(*field),
            _ => None,
        }));
    }
    fields
}

fn is_text(field: &FieldRef) -> bool {
    field.descriptor.as_str() == STRING_DESCRIPTOR
}

/// A call that a value is looked at within.
struct Frame {
    caller: MethodId,
    args: Vec<Option<ValueId>>,
    outer: Option<usize>,
}

/// A key on the way from the store up to who made it.
struct Way {
    key: Key,
    method: MethodId,
    open: Vec<ValueId>,
    n_callers: usize,
}

/// The keys that `value` can be when `region` runs: stores are wrapped, and a
/// wrapper is given the keys of everybody, so that each way up to the region's
/// first method is a key of its own.
pub(super) fn keys(context: Context<'_>, region: &Region, method: MethodId, value: ValueId) -> Vec<Key> {
    let mut keys = Vec::new();
    let mut n_steps = 0;
    let mut ways = vec![Way { key: Key::default(), method, open: vec![value], n_callers: 0 }];
    while let Some(mut way) = ways.pop() {
        let params = look_into(context, &mut way, &mut n_steps);
        let ends = params.is_empty() || way.method == region.root || way.n_callers >= KEY_CALLERS_MAX;
        if ends || n_steps > KEY_STEPS_MAX {
            keys.push(way.key);
            continue;
        }
        for &(caller, call) in &context.graph.callers[way.method.index()] {
            let call = &context.graph.calls(caller)[call];
            if call.kind.is_local() && region.contains(caller) {
                let arg = |&i: &u16| call.args.get(usize::from(i)).copied().flatten();
                let open = params.iter().filter_map(arg).collect();
                ways.push(Way { key: way.key.clone(), method: caller, open, n_callers: way.n_callers + 1 });
            }
        }
    }
    keys
}

/// Adds to a way's key what its method and those that it calls put into it; the
/// parameters that come from its callers.
fn look_into(context: Context<'_>, way: &mut Way, n_steps: &mut usize) -> BTreeSet<u16> {
    let mut frames: Vec<Frame> = Vec::new();
    let mut params = BTreeSet::new();
    let mut seen = FxHashSet::default();
    let mut open: Vec<(MethodId, ValueId, Option<usize>)> =
        way.open.iter().map(|&value| (way.method, value, None)).collect();
    while let Some((method, value, frame)) = open.pop() {
        *n_steps += 1;
        if *n_steps > KEY_STEPS_MAX || !seen.insert((method, value, frame)) {
            continue;
        }
        let Some(body) = &context.program.methods[method.index()].body else { continue };
        match body.op(value) {
            Op::GetField(field, object) => {
                if is_text(field) {
                    way.key.fields.insert(*field);
                }
                open.extend(object.iter().map(|&object| (method, object, frame)));
            }
            Op::Phi(operands) => open.extend(operands.iter().map(|&(_, value)| (method, value, frame))),
            Op::Cast(_, inner) | Op::Convert(_, inner) | Op::ArrayLoad(inner, _) => {
                open.push((method, *inner, frame));
            }
            Op::Param(i) => match frame.map(|at| &frames[at]) {
                Some(frame) => {
                    let arg = frame.args.get(usize::from(*i)).copied().flatten();
                    open.extend(arg.map(|arg| (frame.caller, arg, frame.outer)));
                }
                None => _ = params.insert(*i),
            },
            Op::Invoke { args, .. } => {
                let call = context.graph.calls(method).iter().find(|call| call.site == value);
                let callee = call.filter(|call| call.kind.is_local() && call.targets.len() == 1);
                match callee.and_then(|call| Some((call, returned(context, call.targets[0])?))) {
                    Some((call, values)) => {
                        frames.push(Frame { caller: method, args: call.args.clone(), outer: frame });
                        let inner = Some(frames.len() - 1);
                        open.extend(values.into_iter().map(|value| (call.targets[0], value, inner)));
                    }
                    None => open.extend(args.iter().map(|&arg| (method, arg, frame))),
                }
            }
            _ => {}
        }
    }
    params
}

/// What a method of the program returns.
fn returned(context: Context<'_>, method: MethodId) -> Option<Vec<ValueId>> {
    let body = context.program.methods[method.index()].body.as_ref()?;
    let values = body.iter().filter_map(|(_, inst)| match inst.op {
        Op::Return(value) => value,
        _ => None,
    });
    Some(values.collect())
}

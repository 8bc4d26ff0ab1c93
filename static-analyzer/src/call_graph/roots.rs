//! Where threads enter the program.

use rustc_hash::{FxHashMap, FxHashSet};
use schema::LinkKind;
use schema::model::COMMAND;

use super::annotated::Looked;
use super::apis;
use super::resolve::{Resolver, class_of, signature};
use super::rpc::Rpc;
use super::starts::Starts;
use super::{Call, CallKind, Root, RootKind};
use crate::ir::{Op, ValueId};
use crate::program::{ClassId, MethodId, Name, access};
use crate::services::Handler;

/// What is known beforehand of who begins what.
pub(crate) struct Known<'a> {
    /// Interfaces served to remote callers.
    pub(crate) rpc: &'a Rpc,
    /// Methods that serve what others ask for.
    pub(crate) handlers: &'a [Handler],
    /// Steps of state machines.
    pub(crate) steps: &'a FxHashSet<MethodId>,
}

/// The roots, sorted by method; the most telling kind wins where a method is
/// several.
pub(crate) fn roots(
    resolver: &Resolver<'_>,
    known: &Known<'_>,
    starts: &Starts<'_>,
    instantiated: &[bool],
    calls: &[Vec<Call>],
) -> Vec<Root> {
    let mut found: FxHashMap<MethodId, Root> = FxHashMap::default();
    let mut add = |method: MethodId, kind: RootKind, why: String| {
        let root = Root { method, kind, why };
        match found.entry(method) {
            std::collections::hash_map::Entry::Vacant(e) => {
                e.insert(root);
            }
            std::collections::hash_map::Entry::Occupied(mut e) => {
                if rank(kind) < rank(e.get().kind) {
                    e.insert(root);
                }
            }
        }
    };
    let &Known { rpc, handlers, steps } = known;
    add_served(resolver, rpc, &mut add);
    add_handlers(handlers, &mut add);
    add_tasks(resolver, starts, instantiated, &mut add);
    add_lambdas(resolver, calls, &mut add);
    add_tables(resolver, calls, steps, &mut add);
    add_uncalled(resolver, calls, &mut add);
    let mut roots: Vec<Root> = found.into_values().collect();
    roots.sort_by_key(|r| r.method);
    roots
}

fn rank(kind: RootKind) -> u8 {
    match kind {
        RootKind::Rpc => 0,
        RootKind::Main => 1,
        RootKind::Thread => 2,
        RootKind::Task => 3,
        RootKind::EventHandler => 4,
        RootKind::Callback => 5,
        RootKind::Uncalled => 6,
    }
}

type Add<'a> = &'a mut dyn FnMut(MethodId, RootKind, String);

fn add_served(resolver: &Resolver<'_>, rpc: &Rpc, add: Add<'_>) {
    let program = resolver.program;
    let mut interfaces: Vec<_> = rpc.interfaces.keys().copied().collect();
    interfaces.sort_unstable();
    for interface in interfaces {
        let class = &program.classes[interface.index()];
        for i in class.methods.clone() {
            let m = &program.methods[i];
            if m.is_static() || m.name.as_str().starts_with('<') {
                continue;
            }
            for target in rpc.servers(resolver, interface, m.name, m.descriptor) {
                let why = format!("serves {}: {}", class.name, rpc.interfaces[&interface]);
                add(target, RootKind::Rpc, why);
            }
        }
    }
}

fn add_handlers(handlers: &[Handler], add: Add<'_>) {
    for handler in handlers.iter().filter(|handler| handler.is_certain) {
        let kind = match handler.kind {
            LinkKind::Message => RootKind::Callback,
            _ => RootKind::Rpc,
        };
        add(handler.method, kind, handler.why.clone());
    }
}

fn add_tasks(resolver: &Resolver<'_>, starts: &Starts<'_>, instantiated: &[bool], add: Add<'_>) {
    let thread = Name::from("java/lang/Thread");
    for (i, class) in resolver.program.classes.iter().enumerate() {
        let id = ClassId::new(i);
        if !instantiated[i] || !starts.is_task(id) {
            continue;
        }
        let is_thread = resolver.is_subtype(id, thread);
        for (row, methods) in starts.bodies(id) {
            for method in methods {
                // Callbacks without a known caller are found as uncalled.
                let kind = match row.link {
                    Some(_) if is_thread => RootKind::Thread,
                    Some(_) => RootKind::Task,
                    None => continue,
                };
                add(method, kind, format!("{} is a {}", class.name, row.class));
            }
        }
    }
}

/// Bodies of lambdas and method references have no class of their own to tell
/// that they are tasks: what is started is one.
fn add_lambdas(resolver: &Resolver<'_>, calls: &[Vec<Call>], add: Add<'_>) {
    for (i, list) in calls.iter().enumerate() {
        let caller = MethodId::new(i);
        let Some(body) = &resolver.program.methods[i].body else { continue };
        for call in list.iter().filter(|c| matches!(c.kind, CallKind::Start(_) | CallKind::Exit)) {
            let in_thread = matches!(body.op(call.site), Op::Invoke { method, .. }
                if method.class.as_str() == "java/lang/Thread");
            let kind = if in_thread { RootKind::Thread } else { RootKind::Task };
            for &target in &call.targets {
                add(target, kind, format!("started by {}", resolver.program.method_name(caller)));
            }
        }
    }
}

/// Handlers are given an event or message and give back nothing or a state;
/// steps of a state machine belong to their entity.
fn add_tables(resolver: &Resolver<'_>, calls: &[Vec<Call>], steps: &FxHashSet<MethodId>, add: Add<'_>) {
    for (i, list) in calls.iter().enumerate() {
        for call in list.iter().filter(|c| c.kind == CallKind::Table) {
            for &t in call.targets.iter().filter(|t| !steps.contains(t) && is_handler(resolver, **t)) {
                let caller = resolver.program.method_name(MethodId::new(i));
                let n = call.targets.len();
                let (kind, why) = match passes_on(resolver, MethodId::new(i), call) || !is_told(resolver, t) {
                    true => (RootKind::Callback, format!("one of {n} to which {caller} passes a call on")),
                    false => (RootKind::EventHandler, format!("one of {n} handlers called by {caller}")),
                };
                add(t, kind, why);
            }
        }
    }
}

/// Whether a method is told something: an event is an object, numbers are not.
fn is_told(resolver: &Resolver<'_>, method: MethodId) -> bool {
    let (params, _) = signature(resolver.program.methods[method.index()].descriptor.as_str());
    params.iter().any(|param| class_of(param).is_some())
}

/// Whether a method asks an object that it wraps to do what it was asked for itself: a
/// stream around a stream, a writer around a writer. It chooses no handler of an event.
fn passes_on(resolver: &Resolver<'_>, caller: MethodId, call: &Call) -> bool {
    let own = &resolver.program.methods[caller.index()];
    let Some(body) = own.body.as_ref().filter(|_| !own.is_static()) else { return false };
    let Op::Invoke { method, args, .. } = body.op(call.site) else { return false };
    let Some(&object) = args.first() else { return false };
    let is_own = |object: ValueId| matches!(body.op(object), Op::Param(0));
    let is_wrapped = match body.op(body.uncast(object)) {
        Op::GetField(_, of) => of.is_some_and(is_own),
        Op::Invoke { args, .. } => matches!(args[..], [of] if is_own(of)),
        _ => false,
    };
    is_wrapped && method.name == own.name && method.descriptor == own.descriptor
}

fn is_handler(resolver: &Resolver<'_>, method: MethodId) -> bool {
    let (params, result) = signature(resolver.program.methods[method.index()].descriptor.as_str());
    !params.is_empty() && (result == "V" || class_of(result).is_some())
}

fn add_uncalled(resolver: &Resolver<'_>, calls: &[Vec<Call>], add: Add<'_>) {
    let program = resolver.program;
    let mut is_called = vec![false; program.methods.len()];
    for list in calls {
        for call in list.iter().filter(|c| !c.kind.is_remote()) {
            call.targets.iter().for_each(|t| is_called[t.index()] = true);
        }
    }
    let looked = Looked::new(program);
    for (i, m) in program.methods.iter().enumerate() {
        let is_main = m.name.as_str() == "main"
            && m.descriptor.as_str() == "([Ljava/lang/String;)V"
            && m.access & access::STATIC != 0;
        if m.body.is_none() {
            continue;
        }
        // Commands are run by a launcher: `run(String[])` and the like.
        let is_command = !is_called[i] && m.descriptor.starts_with(COMMAND);
        if is_main || is_command {
            add(MethodId::new(i), RootKind::Main, format!("{} of a command", m.name));
        } else if !is_called[i] {
            let class = &program.classes[m.class.index()];
            let library_super = resolver
                .super_names(m.class)
                .into_iter()
                .find(|&s| apis::calls_back(s.as_str()) && resolver.own_class(s).is_none());
            let (kind, why) = match (looked.called_by(m), library_super) {
                (Some(annotation), _) => (RootKind::Callback, format!("found by its {annotation}")),
                (None, Some(s)) if !m.is_static() && m.access & access::PRIVATE == 0 => {
                    (RootKind::Callback, format!("{} is a {s}; no caller found", class.name))
                }
                (None, _) => (RootKind::Uncalled, "no caller found".to_owned()),
            };
            add(MethodId::new(i), kind, why);
        }
    }
}

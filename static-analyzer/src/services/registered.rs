//! Handlers by registration: a call of a library that is given a path and a closure, or an
//! object of a class of the program; `route.get("/orders").handler(closure)`, too.

use rayon::prelude::*;
use schema::LinkKind;

use super::client_apis::is_of_clients;
use super::handler_apis::{GIVEN, OF_PREFIXES, REGISTERED_AROUND, Runs, SERVLETS, VERBS};
use super::template::{Template, is_path};
use super::{Handler, Route, verb_of};
use crate::call_graph::resolve::{Resolver, class_of, signature};
use crate::ir::{Body, BootstrapArg, Const, Op, ValueId};
use crate::program::{ClassId, MethodId, MethodRef, Name, access};

/// Calls in a row in which a path stands before the handler.
const CHAIN_MAX: usize = 6;

/// All that is registered.
pub(super) fn find(resolver: &Resolver<'_>) -> Vec<Handler> {
    let methods = 0..resolver.program.methods.len();
    methods.into_par_iter().flat_map_iter(|method| of_method(resolver, MethodId::new(method))).collect()
}

fn of_method(resolver: &Resolver<'_>, method: MethodId) -> Vec<Handler> {
    let Some(body) = &resolver.program.methods[method.index()].body else { return Vec::new() };
    let mut found = Vec::new();
    if !body.iter().any(|(_, inst)| is_path_constant(&inst.op)) {
        return found;
    }
    for (site, inst) in body.iter() {
        let Op::Invoke { method: called, args, .. } = &inst.op else { continue };
        if !is_library(resolver, called) || runs_around(called).is_some() {
            continue;
        }
        let given = args.iter().flat_map(|&arg| handlers_in(resolver, body, arg));
        let mut given: Vec<(MethodId, &str)> = given.collect();
        given.sort_unstable();
        given.dedup();
        if given.is_empty() {
            continue;
        }
        let Some((verb, paths)) = path_of(body, called, args) else { continue };
        for (target, own_verb) in given {
            let verb = if own_verb.is_empty() { verb.as_str() } else { own_verb };
            let is_servlet = !own_verb.is_empty();
            let routes: Vec<Route> = paths.iter().map(|path| route(called, verb, path, is_servlet)).collect();
            let texts: Vec<String> = routes.iter().map(Route::text).collect();
            found.push(Handler {
                method: target,
                kind: LinkKind::Http,
                why: format!("serves {}", texts.join(", ")),
                routes,
                is_certain: true,
                at: Some((method, site)),
            });
        }
    }
    found
}

/// What is registered to run before or after handlers: what it is, when it runs, and where that stands.
pub(crate) fn around(resolver: &Resolver<'_>) -> Vec<(MethodId, Runs, MethodId)> {
    let of_method = |at: MethodId| {
        let body = resolver.program.methods[at.index()].body.as_ref();
        let calls = body.into_iter().flat_map(|body| body.iter().map(move |(_, inst)| (body, &inst.op)));
        calls.flat_map(move |(body, op)| {
            let Op::Invoke { method: called, args, .. } = op else { return Vec::new() };
            let Some(runs) = runs_around(called) else { return Vec::new() };
            let given = args.iter().flat_map(|&arg| handlers_in(resolver, body, arg));
            given.map(|(given, _)| (given, runs, at)).collect()
        })
    };
    (0..resolver.program.methods.len()).flat_map(|method| of_method(MethodId::new(method))).collect()
}

/// When a library runs what is registered by such a call, if it does so around handlers.
fn runs_around(called: &MethodRef) -> Option<Runs> {
    let mut rows = REGISTERED_AROUND.iter();
    rows.find(|row| called.class.starts_with(row.0) && called.name == row.1).map(|row| row.2)
}

fn route(called: &MethodRef, verb: &str, path: &str, is_servlet: bool) -> Route {
    let template = Template::new(&[path]);
    let template = if is_servlet { template.of_servlet() } else { template };
    let is_prefix = OF_PREFIXES.contains(&(called.class.as_str(), called.name.as_str()));
    let template = if is_prefix { template.with_rest() } else { template };
    Route { verb: verb.to_owned(), template, name: String::new() }
}

fn is_path_constant(op: &Op) -> bool {
    matches!(op, Op::Const(Const::Text(text)) if is_path(text.as_str()))
}

/// Whether a call is one of a library that can register something: not of the platform's own
/// collections and texts.
fn is_library(resolver: &Resolver<'_>, called: &MethodRef) -> bool {
    resolver.own_class(called.class).is_none()
        && !called.class.starts_with("java/")
        && !called.class.starts_with("scala/")
        && !called.class.starts_with("kotlin/")
        && !called.class.starts_with('[')
        && !crate::log_points::apis::is_listed(called.class)
        && !is_of_clients(called.class.as_str())
}

/// The verb and the paths that a call, or the one whose result it is called on, is given.
fn path_of(body: &Body, called: &MethodRef, args: &[ValueId]) -> Option<(String, Vec<String>)> {
    let (mut called, mut args) = (*called, args.to_vec());
    let mut verb = String::new();
    for _ in 0..CHAIN_MAX {
        let mut paths: Vec<String> = Vec::new();
        let mut named = verb_of(called.name.as_str()).map(str::to_owned);
        for &arg in &args {
            add_path(body, arg, &mut paths, &mut named);
        }
        if verb.is_empty() {
            verb = named.unwrap_or_default();
        }
        if !paths.is_empty() {
            return Some((verb, paths));
        }
        // `on("/a").handler(closure)`
        let Op::Invoke { method, args: before, .. } = body.op(body.uncast(*args.first()?)) else {
            return None;
        };
        (called, args) = (*method, before.to_vec());
    }
    None
}

/// Adds the path and the verb that an argument is: a constant, a list of constants, or the call
/// that makes a predicate of them.
fn add_path(body: &Body, arg: ValueId, paths: &mut Vec<String>, verb: &mut Option<String>) {
    match body.op(body.uncast(arg)) {
        Op::Const(Const::Text(text)) if is_path(text.as_str()) => paths.push(text.as_str().to_owned()),
        Op::Const(Const::Text(text)) if VERBS.contains(&text.as_str()) => {
            *verb = Some(text.as_str().to_owned());
        }
        Op::GetField(constant, None) if VERBS.contains(&constant.name.as_str()) => {
            *verb = Some(constant.name.as_str().to_owned());
        }
        Op::NewArray(..) => {
            let array = body.uncast(arg);
            let stored = body.iter().filter_map(|(_, inst)| match inst.op {
                Op::ArrayStore(of, _, value) if body.uncast(of) == array => Some(value),
                _ => None,
            });
            for value in stored {
                if let Op::Const(Const::Text(text)) = body.op(body.uncast(value))
                    && is_path(text.as_str())
                {
                    paths.push(text.as_str().to_owned());
                }
            }
        }
        // `GET("/a")` as a predicate.
        Op::Invoke { method, args, .. } if verb_of(method.name.as_str()).is_some() && args.len() == 1 => {
            let before = paths.len();
            add_path(body, args[0], paths, verb);
            if paths.len() > before {
                *verb = verb_of(method.name.as_str()).map(str::to_owned);
            }
        }
        _ => {}
    }
}

/// The methods that a library calls of what it is given, with the verbs of their own.
fn handlers_in(resolver: &Resolver<'_>, body: &Body, arg: ValueId) -> Vec<(MethodId, &'static str)> {
    let arg = body.uncast(arg);
    match body.op(arg) {
        Op::InvokeDynamic { bootstrap, descriptor, .. } => {
            // What makes an object or gives a value is no handler.
            let interface = class_of(signature(descriptor).1).unwrap_or_default();
            let handle = bootstrap.args.iter().find_map(|arg| match arg {
                BootstrapArg::Handle { target, .. } => Some(*target),
                _ => None,
            });
            let is_plain = interface.starts_with("java/util/") && !interface.ends_with("/Function");
            let target = handle.filter(|_| !is_plain).and_then(|target| {
                let class = resolver.own_class(target.class)?;
                resolver.lookup(class, target.name, target.descriptor).filter(|&m| resolver.has_body(m))
            });
            let takes = |&m: &MethodId| takes_request(resolver, m);
            target.filter(takes).map(|target| (target, "")).into_iter().collect()
        }
        Op::New(class) => match resolver.own_class(*class) {
            Some(class) => methods_of(resolver, class),
            // A holder around a handler.
            None => {
                held(body, arg).into_iter().flat_map(|inner| own_handlers(resolver, body, inner)).collect()
            }
        },
        Op::Invoke { method, .. } => {
            let result = class_of(signature(method.descriptor.as_str()).1).map(Name::from);
            result
                .and_then(|class| resolver.own_class(class))
                .map_or_else(Vec::new, |class| methods_of(resolver, class))
        }
        Op::GetField(field, _) => of_type(resolver, field.descriptor),
        Op::Const(Const::Class(class)) => {
            let class = resolver.own_class(*class);
            class
                .filter(|&class| is_servlet(resolver, class))
                .map_or_else(Vec::new, |class| methods_of(resolver, class))
        }
        _ => Vec::new(),
    }
}

fn own_handlers(resolver: &Resolver<'_>, body: &Body, value: ValueId) -> Vec<(MethodId, &'static str)> {
    match body.op(body.uncast(value)) {
        Op::New(class) | Op::Const(Const::Class(class)) => {
            let class = resolver.own_class(*class);
            class
                .filter(|&class| is_servlet(resolver, class))
                .map_or_else(Vec::new, |class| methods_of(resolver, class))
        }
        _ => Vec::new(),
    }
}

/// What a constructor was given.
fn held(body: &Body, object: ValueId) -> Vec<ValueId> {
    let init = body.iter().find_map(|(_, inst)| match &inst.op {
        Op::Invoke { method, args, .. } if method.name == "<init>" && args.first() == Some(&object) => {
            Some(args[1..].to_vec())
        }
        _ => None,
    });
    init.unwrap_or_default()
}

fn of_type(resolver: &Resolver<'_>, descriptor: Name) -> Vec<(MethodId, &'static str)> {
    let class = class_of(descriptor.as_str()).and_then(|class| resolver.own_class(Name::from(class)));
    class.map_or_else(Vec::new, |class| methods_of(resolver, class))
}

/// Whether a method is given a request, an exchange or the like of a library.
fn takes_request(resolver: &Resolver<'_>, method: MethodId) -> bool {
    let m = &resolver.program.methods[method.index()];
    let (params, _) = signature(m.descriptor.as_str());
    params.iter().any(|param| {
        class_of(param).is_some_and(|class| {
            let name = class.rsplit(['/', '$']).next().unwrap_or(class);
            !class.starts_with("java/")
                && resolver.own_class(Name::from(class)).is_none()
                && GIVEN.iter().any(|word| name.contains(word))
        })
    })
}

fn is_servlet(resolver: &Resolver<'_>, class: ClassId) -> bool {
    let supers = resolver.super_names(class);
    supers.iter().any(|name| SERVLETS.iter().any(|row| row.0 == name.as_str()))
}

/// The methods of a handler's class that a library can call: those that are given something of
/// a library, of a class that is something of a library.
fn methods_of(resolver: &Resolver<'_>, class: ClassId) -> Vec<(MethodId, &'static str)> {
    let program = resolver.program;
    let supers = resolver.super_names(class);
    let servlets: Vec<_> =
        SERVLETS.iter().filter(|row| supers.iter().any(|name| name.as_str() == row.0)).collect();
    let is_library = |name: &Name| {
        resolver.own_class(*name).is_none()
            && !name.starts_with("java/lang/")
            && !name.starts_with("java/io/")
    };
    if !supers.iter().any(is_library) {
        return Vec::new();
    }
    let mut found = Vec::new();
    for owner in resolver.supertypes(class) {
        for i in program.classes[owner.index()].methods.clone() {
            let m = &program.methods[i];
            let id = MethodId::new(i);
            let is_open = m.access & (access::PUBLIC | access::PROTECTED) != 0;
            let is_made = m.access & (access::STATIC | access::SYNTHETIC) != 0 || m.name.starts_with('<');
            if m.body.is_none() || is_made || !is_open || !takes_request(resolver, id) {
                continue;
            }
            match servlets.iter().find(|row| m.name == row.1) {
                Some(row) => found.push((id, row.2)),
                None if servlets.is_empty() && m.access & access::PUBLIC != 0 => found.push((id, "")),
                None => {}
            }
        }
    }
    found
}

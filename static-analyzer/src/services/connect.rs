//! Connects those who ask with those who serve: by verb and path, by the method of a service, by
//! topic. What is put into an address is the parameter of the handler that takes it out.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use schema::LinkKind;

use super::clients::{self, Client};
use super::declared;
use super::messages::{self, Sent};
use super::template::{Asked, Fit, Segment};
use super::{Handler, Request, Route};
use crate::call_graph::resolve::{Resolver, signature};
use crate::call_graph::{Call, CallGraph, CallKind};
use crate::ir::{Body, Op, ValueId};
use crate::limits;
use crate::program::{Method, MethodId, Name, Program};
use crate::strings::facts::Facts;

/// Handlers that an address of which only the end is known can mean; with more it says nothing.
const MEANT_MAX: usize = 4;

/// Annotations of parameters that are the content of a request.
const CONTENTS: &[&str] = &["RequestBody", "Body", "Payload", "Valid", "Validated"];

/// Adds the calls of those who ask to the call graph.
pub(crate) fn connect(resolver: &Resolver<'_>, graph: &mut CallGraph) {
    if !graph.handlers.iter().any(|handler| handler.is_certain) {
        return;
    }
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(rayon::current_num_threads())
        .stack_size(limits::STACK_BYTES)
        .build();
    let found = |graph: &CallGraph| found(resolver, graph);
    let all = match pool {
        Ok(pool) => pool.install(|| found(graph)),
        Err(_) => found(graph),
    };
    for (method, call, request) in all {
        let requests: &mut Vec<Request> = graph.requests.entry((method, call.site)).or_default();
        if !requests.contains(&request) {
            requests.push(request);
        }
        let calls = &mut graph.calls[method.index()];
        if !calls.contains(&call) {
            calls.push(call);
        }
    }
    for calls in &mut graph.calls {
        calls.sort_by(|a, b| (a.site, a.kind, &a.targets).cmp(&(b.site, b.kind, &b.targets)));
    }
    graph.set_callers();
}

type Found = (MethodId, Call, Request);

fn found(resolver: &Resolver<'_>, graph: &CallGraph) -> Vec<Found> {
    let program = resolver.program;
    let facts = Facts::new(program);
    let mut clients = clients::find(&facts, graph);
    clients.extend(declared::find(resolver));
    let of_http: Vec<&Handler> =
        graph.handlers.iter().filter(|h| h.kind == LinkKind::Http && h.is_certain).collect();
    let mut all = Vec::new();
    for client in &clients {
        all.extend(of_client(program, client, &of_http));
    }
    let mut by_name: BTreeMap<(LinkKind, &str), Vec<&Handler>> = BTreeMap::new();
    for handler in graph.handlers.iter().filter(|handler| handler.kind != LinkKind::Http) {
        for route in &handler.routes {
            by_name.entry((handler.kind, route.name.as_str())).or_default().push(handler);
        }
    }
    for sent in messages::find(&facts) {
        all.extend(of_sent(program, &sent, &by_name));
    }
    all
}

/// The calls of a message or of a service.
fn of_sent(
    program: &Program,
    sent: &Sent,
    by_name: &BTreeMap<(LinkKind, &str), Vec<&Handler>>,
) -> Vec<Found> {
    let mut found = Vec::new();
    for name in &sent.names {
        for handler in by_name.get(&(sent.kind, name.as_str())).into_iter().flatten() {
            let target = &program.methods[handler.method.index()];
            let body = program.methods[sent.method.index()].body.as_ref();
            let own = usize::from(!target.is_static());
            let (params, _) = signature(target.descriptor.as_str());
            let mut args = vec![None; own + params.len()];
            for (i, param) in params.iter().enumerate() {
                args[own + i] =
                    body.and_then(|body| content_of(program, body, sent.method, param, &sent.values));
            }
            let call = Call {
                site: sent.site,
                targets: vec![handler.method],
                kind: CallKind::Asks(sent.kind),
                args,
            };
            let request = Request {
                target: handler.method,
                verb: String::new(),
                template: name.clone(),
                asked: name.clone(),
                host: String::new(),
                waits: sent.waits,
            };
            found.push((sent.method, call, request));
        }
    }
    found
}

/// The calls of one client.
fn of_client(program: &Program, client: &Client, handlers: &[&Handler]) -> Vec<Found> {
    let mut found = Vec::new();
    for asked in &client.asked {
        for (handler, route) in meant(program, client, asked, handlers) {
            let args = arguments(program, client, asked, handler, route);
            let call = Call {
                site: client.site,
                targets: vec![handler.method],
                kind: CallKind::Asks(LinkKind::Http),
                args,
            };
            let verb = if route.verb.is_empty() { String::new() } else { client.verb.clone() };
            let request = Request {
                target: handler.method,
                verb,
                template: route.template.text(),
                asked: asked.text(),
                host: asked.host.clone(),
                waits: client.waits,
            };
            found.push((client.method, call, request));
        }
    }
    found
}

/// The handlers that serve best what is asked for.
fn meant<'h>(
    program: &Program,
    client: &Client,
    asked: &Asked,
    handlers: &[&'h Handler],
) -> Vec<(&'h Handler, &'h Route)> {
    let fits_by = |fit: &dyn Fn(&Route) -> Option<Fit>| {
        let mut fits: Vec<(Fit, bool, &'h Handler, &'h Route)> = Vec::new();
        for handler in handlers.iter().filter(|handler| handler.method != client.method) {
            let of_verb =
                |route: &&Route| route.verb.is_empty() || client.verb.is_empty() || route.verb == client.verb;
            let best = handler.routes.iter().filter(of_verb).filter_map(|route| {
                let is_exact = !route.verb.is_empty() && route.verb == client.verb;
                Some((fit(route)?, is_exact, *handler, route))
            });
            fits.extend(best.max_by(|a, b| (&a.0, a.1).cmp(&(&b.0, b.1))));
        }
        fits
    };
    let mut fits = fits_by(&|route| route.template.fit(asked));
    if fits.is_empty() {
        fits = fits_by(&|route| route.template.fit_behind(asked));
    }
    if !asked.host.is_empty() {
        let is_there = |handler: &Handler| is_host(program, handler.method, &asked.host);
        if fits.iter().any(|(_, _, handler, _)| is_there(handler)) {
            fits.retain(|(_, _, handler, _)| is_there(handler));
        }
    }
    let Some(best) = fits.iter().map(|(fit, is_exact, ..)| (fit.clone(), *is_exact)).max() else {
        return Vec::new();
    };
    let is_whole = best.0.0;
    fits.retain(|(fit, is_exact, ..)| (fit, *is_exact) == (&best.0, best.1));
    if !is_whole && fits.len() > MEANT_MAX {
        return Vec::new();
    }
    fits.into_iter().map(|(_, _, handler, route)| (handler, route)).collect()
}

/// Whether the jar of a method is that of a host: it is called so, but for its version.
fn is_host(program: &Program, method: MethodId, host: &str) -> bool {
    let class = program.methods[method.index()].class;
    let entry = &program.entries[program.classes[class.index()].entry].name;
    let jar = entry.split('!').next().unwrap_or(entry);
    let stem = jar.rsplit_once('.').map_or(jar, |(stem, _)| stem);
    let version =
        stem.match_indices('-').find(|(at, _)| stem[at + 1..].starts_with(|c: char| c.is_ascii_digit()));
    let name = version.map_or(stem, |(at, _)| &stem[..at]);
    name.eq_ignore_ascii_case(host) || stem.eq_ignore_ascii_case(host)
}

/// For each parameter of the handler what the client puts in for it.
fn arguments(
    program: &Program,
    client: &Client,
    asked: &Asked,
    handler: &Handler,
    route: &Route,
) -> Vec<Option<ValueId>> {
    let target = &program.methods[handler.method.index()];
    let own = usize::from(!target.is_static());
    let (params, _) = signature(target.descriptor.as_str());
    let body = program.methods[client.method.index()].body.as_ref();
    let variables = variables(client, asked, route);
    let mut args = vec![None; own + params.len()];
    for (i, param) in params.iter().enumerate() {
        let names = names_of_parameter(target, i);
        let by_name = |(name, _): &&(String, ValueId)| names.contains(name);
        let parameter = asked.parameters.iter().find(|(name, _)| names.contains(name));
        let found = variables.iter().find(by_name).map(|(_, value)| *value);
        let found = found.or_else(|| parameter.and_then(|(_, value)| *value));
        let found = found.or_else(|| client.filled.iter().find(by_name).map(|(_, value)| *value));
        args[own + i] = found.or_else(|| {
            is_content(target, i)
                .then(|| content_of(program, body?, client.method, param, &client.bodies))
                .flatten()
        });
    }
    args
}

/// The variables of a handler's path with what the client puts in.
fn variables(client: &Client, asked: &Asked, route: &Route) -> Vec<(String, ValueId)> {
    let own = &route.template.segments;
    let n_own = own.iter().filter(|segment| **segment != Segment::Rest).count();
    let skipped = if asked.is_open { n_own.saturating_sub(asked.segments.len()) } else { 0 };
    let is_behind = own.len() == n_own && route.template.fit(asked).is_none();
    let front = if is_behind { asked.segments.len().saturating_sub(n_own) } else { 0 };
    let mut found = Vec::new();
    for (at, segment) in own.iter().enumerate().skip(skipped) {
        let Segment::Variable(name) = segment else { continue };
        let there = at - skipped + front;
        let put = asked.values.iter().find(|(segment, _)| *segment == there).map(|(_, value)| *value);
        let named = || {
            let place = asked.names.iter().position(|(segment, _)| *segment == there)?;
            let called = &asked.names[place].1;
            let by_name = client.filled.iter().find(|(name, _)| name == called).map(|(_, value)| *value);
            by_name.or_else(|| client.in_order.get(place).copied())
        };
        found.extend(put.or_else(named).map(|value| (name.clone(), value)));
    }
    found
}

/// What a parameter is called, by those who ask: in its annotations, or as it is declared.
pub(super) fn names_of_parameter(method: &Method, i: usize) -> Vec<String> {
    let n = signature(method.descriptor.as_str()).0.len();
    let skipped = n.saturating_sub(method.parameter_annotations.len());
    let annotations = i.checked_sub(skipped).and_then(|at| method.parameter_annotations.get(at));
    let texts = annotations
        .into_iter()
        .flatten()
        .flat_map(|annotation| annotation.texts(&["value", "name"]).collect::<Vec<Name>>());
    let mut names: Vec<String> =
        texts.map(|text| text.as_str().to_owned()).filter(|text| !text.is_empty()).collect();
    if names.is_empty() {
        let declared = method.parameter_names.get(i).copied().flatten();
        names.extend(declared.map(|name| name.as_str().to_owned()));
    }
    names
}

/// Whether a parameter is the content of the request: annotated so, or not at all.
fn is_content(method: &Method, i: usize) -> bool {
    let n = signature(method.descriptor.as_str()).0.len();
    let skipped = n.saturating_sub(method.parameter_annotations.len());
    let annotations = i.checked_sub(skipped).and_then(|at| method.parameter_annotations.get(at));
    annotations.is_none_or(|all| all.iter().all(|annotation| CONTENTS.contains(&annotation.name().1)))
}

/// The value of what is sent that has the type of a parameter.
fn content_of(
    program: &Program,
    body: &Body,
    method: MethodId,
    param: &str,
    values: &[ValueId],
) -> Option<ValueId> {
    values.iter().copied().find(|&value| type_of(program, body, method, value).as_deref() == Some(param))
}

/// The type that the code says a value has.
fn type_of(program: &Program, body: &Body, method: MethodId, value: ValueId) -> Option<String> {
    let m = &program.methods[method.index()];
    match body.op(value) {
        Op::New(class) | Op::Cast(class, _) => Some(format!("L{class};")),
        Op::GetField(field, _) => Some(field.descriptor.as_str().to_owned()),
        Op::Invoke { method, .. } => Some(signature(method.descriptor.as_str()).1.to_owned()),
        Op::Param(i) => {
            let at = usize::from(*i).checked_sub(usize::from(!m.is_static()))?;
            signature(m.descriptor.as_str()).0.get(at).map(|param| (*param).to_owned())
        }
        Op::Phi(operands) => {
            operands.iter().find(|(_, operand)| *operand != value).and_then(|&(_, operand)| {
                (!matches!(body.op(operand), Op::Phi(_)))
                    .then(|| type_of(program, body, method, operand))
                    .flatten()
            })
        }
        Op::Const(crate::ir::Const::Text(_)) => Some("Ljava/lang/String;".to_owned()),
        _ => None,
    }
}

/// What is asked for at places of the program.
pub(crate) type Requests = FxHashMap<(MethodId, ValueId), Vec<Request>>;

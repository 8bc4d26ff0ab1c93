//! Services: who serves what others ask for over HTTP, gRPC and brokers, and who asks for it.
//!
//! A *handler* is a method that a library calls for what is asked: by an annotation, by what
//! its class extends, or because it was registered with a path. A *client call* is a call of a
//! library that is given an address. Both are known by tables ([`handler_apis`], [`client_apis`])
//! and, for libraries that are in none, by their shape: an annotation with a path on a method, a
//! path and a closure in one call, a text that begins as an address does.
//!
//! Over-approximates: where the front of an address is not known, any handler may be meant
//! whose path ends so. Under-approximates: addresses that nothing in the program tells of.

use schema::LinkKind;

use crate::call_graph::resolve::Resolver;
use crate::ir::ValueId;
use crate::program::{MethodId, Name, Program};

mod annotated;
mod chain;
mod client_apis;
mod clients;
mod connect;
mod declared;
pub(crate) mod handler_apis;
mod interfaces;
mod messages;
mod registered;
mod template;
mod urls;

pub(crate) use connect::{Requests, connect};
pub(crate) use registered::around;

use handler_apis::BASES;
use template::Template;

/// A verb and what it is asked of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Route {
    /// Empty: any.
    pub(crate) verb: String,
    /// A path; of other kinds than HTTP none.
    pub(crate) template: Template,
    /// The method of a service or the topic; of HTTP empty.
    pub(crate) name: String,
}

impl Route {
    /// `GET /orders/{id}`
    pub(crate) fn text(&self) -> String {
        match (self.name.as_str(), self.verb.as_str()) {
            ("", "") => self.template.text(),
            ("", verb) => format!("{verb} {}", self.template.text()),
            (name, _) => name.to_owned(),
        }
    }
}

/// A method that serves something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Handler {
    /// The method.
    pub(crate) method: MethodId,
    /// How it is asked.
    pub(crate) kind: LinkKind,
    /// What for.
    pub(crate) routes: Vec<Route>,
    /// It is known by what it is registered or annotated with.
    pub(crate) is_certain: bool,
    /// For people.
    pub(crate) why: String,
    /// Where it was registered; a closure made there does not run there.
    pub(crate) at: Option<(MethodId, ValueId)>,
}

/// One handler that a client call can mean.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Request {
    /// The handler.
    pub(crate) target: MethodId,
    /// The verb of both; empty: one of them does not say.
    pub(crate) verb: String,
    /// What the handler serves.
    pub(crate) template: String,
    /// What the client asks for.
    pub(crate) asked: String,
    /// The host.
    pub(crate) host: String,
    /// The client waits for the answer.
    pub(crate) waits: bool,
}

impl Request {
    /// What runs around a handler asks for it by a call in its thread.
    pub(crate) fn in_thread(target: MethodId) -> Self {
        let [verb, template, asked, host] = Default::default();
        Request { target, verb, template, asked, host, waits: true }
    }
}

/// All handlers of a program, sorted by method; each once.
pub(crate) fn handlers(resolver: &Resolver<'_>) -> Vec<Handler> {
    let mut found = annotated::find(resolver);
    found.extend(interfaces::find(resolver));
    found.extend(registered::find(resolver));
    found.iter_mut().for_each(|handler| add_base(resolver.program, handler));
    found.sort_by_key(|handler| (handler.method, !handler.is_certain, handler.kind));
    let mut all: Vec<Handler> = Vec::new();
    for handler in found {
        match all.last_mut() {
            Some(last) if last.method == handler.method && last.kind == handler.kind => {
                if handler.is_certain == last.is_certain {
                    last.routes.extend(handler.routes);
                }
                last.at = last.at.or(handler.at);
            }
            _ => all.push(handler),
        }
    }
    all
}

/// Puts what the configuration says that all paths of a service are below before those of a handler.
fn add_base(program: &Program, handler: &mut Handler) {
    if handler.kind != LinkKind::Http {
        return;
    }
    let class = program.methods[handler.method.index()].class;
    let entry = program.classes[class.index()].entry;
    let bases = BASES.iter().filter_map(|key| program.settings.get(entry, key));
    let base = Template::new(&bases.collect::<Vec<_>>().iter().map(String::as_str).collect::<Vec<_>>());
    for route in &mut handler.routes {
        route.template.segments.splice(0..0, base.segments.iter().cloned());
    }
}

/// Whether `name` is a verb, however it is written.
fn verb_of(name: &str) -> Option<&'static str> {
    let plain = name.trim_start_matches("Http").trim_end_matches("Mapping").trim_end_matches("Exchange");
    handler_apis::VERBS.iter().copied().find(|verb| verb.eq_ignore_ascii_case(plain))
}

/// `a/b/C` as the name of a class of a library, without its package.
fn simple(name: Name) -> &'static str {
    name.as_str().rsplit(['/', '$']).next().unwrap_or_default()
}

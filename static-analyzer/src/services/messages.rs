//! Messages to topics and queues of brokers, and calls of services that a compiler has made
//! stubs for.

use schema::LinkKind;

use super::client_apis::{MESSAGES, MESSAGES_ANSWERED};
use super::interfaces::{outer_of, service_name};
use super::template::Part;
use super::urls::Urls;
use crate::call_graph::resolve::signature;
use crate::ir::{Op, ValueId};
use crate::program::{MethodId, Name};
use crate::strings::facts::Facts;

/// Something is asked of a service, or sent to a topic.
#[derive(Clone, Debug)]
pub(super) struct Sent {
    pub(super) method: MethodId,
    pub(super) site: ValueId,
    pub(super) kind: LinkKind,
    /// The names of topics or queues that it can be, or the method of the service.
    pub(super) names: Vec<String>,
    /// What is sent can be one of these.
    pub(super) values: Vec<ValueId>,
    pub(super) waits: bool,
}

/// All of a program, by method.
pub(super) fn find(facts: &Facts<'_>) -> Vec<Sent> {
    use rayon::prelude::*;
    let methods = 0..facts.program.methods.len();
    methods.into_par_iter().flat_map_iter(|method| of_method(facts, MethodId::new(method))).collect()
}

fn of_method(facts: &Facts<'_>, method: MethodId) -> Vec<Sent> {
    let Some(body) = &facts.program.methods[method.index()].body else { return Vec::new() };
    let mut found = Vec::new();
    for (site, inst) in body.iter() {
        let Op::Invoke { method: called, args, .. } = &inst.op else { continue };
        let row = MESSAGES.iter().find(|row| row.0 == called.class.as_str() && row.1 == called.name.as_str());
        if let Some(&(_, name, at)) = row {
            let mut names = Vec::new();
            let mut urls = Urls::new(facts, method);
            for &topic in at.iter().filter_map(|&at| args.get(at)) {
                let addresses = urls.addresses(topic, site);
                names.extend(addresses.into_iter().filter_map(|parts| match &parts[..] {
                    [Part::Text(text)] => Some(text.clone()),
                    _ => None,
                }));
            }
            let rest = args.iter().enumerate().skip(1).filter(|(i, _)| !at.contains(i));
            let values = rest.map(|(_, &arg)| body.uncast(arg)).collect();
            let waits = MESSAGES_ANSWERED.contains(&name);
            found.push(Sent { method, site, kind: LinkKind::Message, names, values, waits });
        } else if let Some(outer) = stub_of(called.class) {
            let (params, result) = signature(called.descriptor.as_str());
            // What sets a stub up is no call of the service.
            let is_call = !params.is_empty() && !result.contains("Stub;") && !called.name.starts_with('<');
            if is_call {
                let name = service_name(facts.program, outer, called.name);
                let values = args.iter().skip(1).map(|&arg| body.uncast(arg)).collect();
                let waits = called.class.contains("Blocking");
                found.push(Sent { method, site, kind: LinkKind::Grpc, names: vec![name], values, waits });
            }
        }
    }
    found
}

/// `OrdersGrpc` of `OrdersGrpc$OrdersBlockingStub`.
fn stub_of(class: Name) -> Option<Name> {
    let (outer, inner) = class.split_once('$')?;
    (outer.ends_with("Grpc") && inner.ends_with("Stub")).then(|| outer_of(class))
}

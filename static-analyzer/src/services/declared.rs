//! Clients that are only declared: interfaces of which a library makes the objects, and asks
//! for what the annotations of their methods say.

use super::annotated::{host_of, is_client, is_of_clients, mapping_of, prefixes, routes};
use super::chain::Chain;
use super::client_apis::LATER;
use super::clients::Client;
use super::connect::names_of_parameter;
use super::template::{Asked, Part, SCHEMES};
use crate::call_graph::resolve::{Resolver, signature};
use crate::ir::{Op, ValueId};
use crate::program::{ClassId, MethodId, access};

/// Calls on such interfaces.
pub(super) fn find(resolver: &Resolver<'_>) -> Vec<Client> {
    use rayon::prelude::*;
    let program = resolver.program;
    let methods = 0..program.methods.len();
    methods
        .into_par_iter()
        .flat_map_iter(|i| {
            let body = program.methods[i].body.as_ref();
            let calls = body.into_iter().flat_map(|body| body.iter());
            let of = move |(site, inst): (ValueId, &crate::ir::Inst)| match &inst.op {
                Op::Invoke { method, args, .. } => {
                    let class = resolver.own_class(method.class)?;
                    let target = resolver
                        .supertypes(class)
                        .into_iter()
                        .find_map(|c| resolver.declared(c, method.name, method.descriptor))?;
                    client(resolver, class, target, (MethodId::new(i), site), args)
                }
                _ => None,
            };
            calls.filter_map(of).collect::<Vec<_>>()
        })
        .collect()
}

fn client(
    resolver: &Resolver<'_>,
    class: ClassId,
    target: MethodId,
    (method, site): (MethodId, ValueId),
    args: &[ValueId],
) -> Option<Client> {
    let program = resolver.program;
    let declared = &program.methods[target.index()];
    if declared.access & access::ABSTRACT == 0 {
        return None;
    }
    let supers = resolver.supertypes(class);
    let (declaring, mapping) = mapping_of(resolver, &supers, declared)?;
    let marked = supers.iter().find(|c| is_client(&program.classes[c.index()]));
    let is_made = || {
        let below = resolver.subtypes(program.classes[class.index()].name);
        below.into_iter().any(|c| !resolver.is_interface(c))
    };
    if !mapping.is_http || marked.is_none() && !is_of_clients(declared) && is_made() {
        return None;
    }
    let named = marked.and_then(|c| host_of(&program.classes[c.index()])).unwrap_or_default();
    let stripped = SCHEMES.iter().find_map(|scheme| named.strip_prefix(scheme)).unwrap_or(&named);
    let host = stripped.split([':', '/']).next().unwrap_or_default().to_owned();
    let routes = routes(&mapping, &prefixes(resolver, &supers, declaring));
    let asked = routes.iter().filter_map(|route| {
        let mut asked = Asked::new(&[Part::Text(route.template.text())])?;
        (asked.host, asked.is_open) = (host.clone(), true);
        (asked.is_known() || !host.is_empty()).then_some(asked)
    });
    let body = program.methods[method.index()].body.as_ref()?;
    let (params, result) = signature(declared.descriptor.as_str());
    let n = params.len();
    // What stands for an answer that is to come is sent by another call.
    let is_later =
        result.strip_prefix('L').is_some_and(|class| LATER.iter().any(|later| class.starts_with(later)));
    let chain = if is_later { Chain::new(program, body, site) } else { Chain::default() };
    let filled = (0..n).flat_map(|i| {
        let given = args.get(i + 1).copied();
        names_of_parameter(declared, i).into_iter().filter_map(move |name| Some((name, given?)))
    });
    Some(Client {
        method,
        site: chain.sent_at(body, site),
        verb: routes.first().map(|route| route.verb.clone()).unwrap_or_default(),
        asked: asked.collect(),
        filled: filled.collect(),
        verb_value: None,
        in_order: Vec::new(),
        bodies: args.iter().skip(1).map(|&arg| body.uncast(arg)).collect(),
        waits: chain.waits(body, site),
    })
}

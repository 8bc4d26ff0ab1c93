//! Handlers by what their class extends: servlets, handlers of network channels, and what
//! compilers of services make for who serves one.

use schema::LinkKind;

use super::handler_apis::{CHANNEL_HANDLERS, SERVICE_BASES, SERVLETS};
use super::template::Template;
use super::{Handler, Route, annotated};
use crate::call_graph::resolve::Resolver;
use crate::ir::Const;
use crate::program::{Class, ClassId, MethodId, Name, Program, access};

/// The handlers of all classes.
pub(super) fn find(resolver: &Resolver<'_>) -> Vec<Handler> {
    let mut found = Vec::new();
    for i in 0..resolver.program.classes.len() {
        let id = ClassId::new(i);
        let class = &resolver.program.classes[i];
        if class.access & access::INTERFACE != 0 {
            continue;
        }
        let supers = resolver.super_names(id);
        servlet(resolver, id, &supers, &mut found);
        channel(resolver, id, &supers, &mut found);
        service(resolver, id, &mut found);
    }
    found
}

/// `doGet` and its kin of a servlet; what it serves is told by an annotation, or where it is
/// registered.
fn servlet(resolver: &Resolver<'_>, id: ClassId, supers: &[Name], found: &mut Vec<Handler>) {
    let rows = SERVLETS.iter().filter(|row| supers.iter().any(|name| name.as_str() == row.0));
    let class = &resolver.program.classes[id.index()];
    for &(_, method, verb) in rows {
        for i in class.methods.clone() {
            let m = &resolver.program.methods[i];
            if m.name != method || m.body.is_none() || m.access & access::SYNTHETIC != 0 {
                continue;
            }
            let paths = annotated::prefixes(resolver, &resolver.supertypes(id), id);
            let mapping = annotated::Mapping {
                verbs: if verb.is_empty() { Vec::new() } else { vec![verb.to_owned()] },
                paths: paths.clone(),
                ..annotated::Mapping::default()
            };
            let mut routes = annotated::routes(&mapping, &[]);
            for route in &mut routes {
                route.template = std::mem::take(&mut route.template).of_servlet();
            }
            if paths.is_empty() {
                routes.iter_mut().for_each(|route| route.template = Template::any());
            }
            found.push(Handler {
                method: MethodId::new(i),
                kind: LinkKind::Http,
                is_certain: !paths.is_empty(),
                why: format!("serves {}", routes.iter().map(Route::text).collect::<Vec<_>>().join(", ")),
                routes,
                at: None,
            });
        }
    }
}

/// What finds out itself what is asked for.
fn channel(resolver: &Resolver<'_>, id: ClassId, supers: &[Name], found: &mut Vec<Handler>) {
    let class = &resolver.program.classes[id.index()];
    let rows = CHANNEL_HANDLERS.iter().filter(|row| supers.iter().any(|name| name.as_str() == row.0));
    for &(_, method, parameter) in rows {
        for i in class.methods.clone() {
            let m = &resolver.program.methods[i];
            let takes = m.name == method && m.descriptor.contains(parameter);
            if takes && m.body.is_some() && m.access & access::SYNTHETIC == 0 {
                let route = Route { verb: String::new(), template: Template::any(), name: String::new() };
                found.push(Handler {
                    method: MethodId::new(i),
                    kind: LinkKind::Http,
                    routes: vec![route],
                    is_certain: false,
                    why: format!("serves any path as a {method}"),
                    at: None,
                });
            }
        }
    }
}

/// The methods of a service whose base a compiler has made: `OrdersGrpc$OrdersImplBase`.
fn service(resolver: &Resolver<'_>, id: ClassId, found: &mut Vec<Handler>) {
    let program = resolver.program;
    let is_base =
        |name: Name| name.contains('$') && SERVICE_BASES.iter().any(|suffix| name.ends_with(suffix));
    let class = &program.classes[id.index()];
    if is_base(class.name) {
        return;
    }
    let supers = resolver.super_names(id);
    let Some(base) = supers.iter().copied().find(|&name| is_base(name)) else { return };
    let outer = outer_of(base);
    for i in class.methods.clone() {
        let m = &program.methods[i];
        let is_open = m.access & access::PUBLIC != 0 && m.access & (access::SYNTHETIC | access::STATIC) == 0;
        if m.body.is_none() || !is_open || m.name.starts_with('<') || !is_of_base(resolver, base, i) {
            continue;
        }
        let name = service_name(program, outer, m.name);
        found.push(Handler {
            method: MethodId::new(i),
            kind: LinkKind::Grpc,
            why: format!("serves {name}"),
            routes: vec![Route { verb: String::new(), template: Template::default(), name }],
            is_certain: true,
            at: None,
        });
    }
}

/// Whether the base declares a method, or is not known.
fn is_of_base(resolver: &Resolver<'_>, base: Name, method: usize) -> bool {
    let m = &resolver.program.methods[method];
    let Some(base) = resolver.own_class(base) else { return true };
    resolver.supertypes(base).iter().any(|&class| resolver.declared(class, m.name, m.descriptor).is_some())
}

/// `OrdersGrpc` of `OrdersGrpc$OrdersImplBase`.
pub(super) fn outer_of(class: Name) -> Name {
    Name::from(class.split('$').next().unwrap_or(class.as_str()))
}

/// `shop.Orders/find`: the service as its class names it, and the method.
pub(super) fn service_name(program: &Program, outer: Name, method: Name) -> String {
    let declared = program.class(outer).map(|class| &program.classes[class.index()]);
    let named = declared.and_then(name_of);
    let short = outer.replace('/', ".");
    let service = named.unwrap_or_else(|| short.strip_suffix("Grpc").unwrap_or(&short).to_owned());
    format!("{service}/{method}")
}

fn name_of(class: &Class) -> Option<String> {
    let field = class.fields.iter().find(|field| field.name == "SERVICE_NAME")?;
    match field.constant {
        Some(Const::Text(text)) => Some(text.as_str().to_owned()),
        _ => None,
    }
}

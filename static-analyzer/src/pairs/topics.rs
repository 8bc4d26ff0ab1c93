//! Topics: a table holds a queue for each of several names, and who puts under one name is
//! followed by who takes under it.
//!
//! The name is a constant somewhere above: who subscribes gives it together with the object
//! that is called with what is taken, so that the place of that call tells which object has
//! which name. A name that is not constant says nothing.

use std::collections::BTreeSet;

use super::Context;
use super::regions::{Edge, Region};
use crate::ir::{Body, BootstrapArg, Const, Op, ValueId};
use crate::program::{MethodId, Name};

/// Calls between where a name is used and where it is a constant.
const LEVELS_MAX: usize = 5;

/// Constants and objects looked at for one name.
const ORIGINS_MAX: usize = 64;

type Site = (MethodId, ValueId);

/// What a value is where it comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Is {
    Text(Name),
    Object(Name),
    Closure(MethodId),
    Unknown,
}

/// The names that a key can be within one unit; none if they are not all known.
pub(super) fn sent(context: Context<'_>, region: &Region, key: Site) -> Vec<Name> {
    texts(&origins(context, Some(region), key))
}

/// The names under which is taken what the unit that begins with `root` is called with along
/// `way`, from `taken` up to there; none if they are not all known.
pub(super) fn received(context: Context<'_>, key: Site, way: &[Edge], root: MethodId) -> Vec<Name> {
    let keys = origins(context, None, key);
    let texts = texts(&keys);
    let Some(&(caller, call, _)) = way.last().filter(|_| texts.len() > 1) else { return texts };
    let on = context.graph.calls(caller)[call].args.first().copied().flatten();
    let Some(on) = on else { return texts };
    let objects = origins(context, None, (caller, on));
    let class = context.program.classes[context.program.methods[root.index()].class.index()].name;
    let is_it = |is: &Is| match *is {
        Is::Object(made) => context.program.is_subtype(made, class),
        Is::Closure(method) => method == root,
        Is::Text(_) | Is::Unknown => false,
    };
    let known = objects.iter().filter(|(_, is)| is_it(is));
    let of = known.flat_map(|(sites, _)| keys.iter().filter(move |(others, _)| others == sites));
    let found: BTreeSet<Name> = of.filter_map(|(_, is)| text(is)).collect();
    if found.is_empty() { texts } else { found.into_iter().collect() }
}

fn text(is: &Is) -> Option<Name> {
    match is {
        Is::Text(text) => Some(*text),
        _ => None,
    }
}

fn texts(origins: &[(Vec<Site>, Is)]) -> Vec<Name> {
    let texts: Option<BTreeSet<Name>> = origins.iter().map(|(_, is)| text(is)).collect();
    texts.unwrap_or_default().into_iter().collect()
}

/// What a value is, with the calls on the way to where it is that.
fn origins(context: Context<'_>, region: Option<&Region>, from: Site) -> Vec<(Vec<Site>, Is)> {
    let mut found = Vec::new();
    let mut todo = vec![(from, Vec::new())];
    while let Some(((method, value), sites)) = todo.pop() {
        if found.len() + todo.len() > ORIGINS_MAX {
            return vec![(Vec::new(), Is::Unknown)];
        }
        let Some(body) = &context.program.methods[method.index()].body else { continue };
        let value = body.uncast(value);
        let is = match body.op(value) {
            Op::Const(Const::Text(text)) => Is::Text(*text),
            Op::GetField(constant, None) => {
                Is::Text(Name::from(&format!("{}.{}", constant.class, constant.name)))
            }
            Op::New(class) => Is::Object(*class),
            Op::InvokeDynamic { bootstrap, .. } => closure(context, &bootstrap.args),
            Op::Param(i) if sites.len() < LEVELS_MAX => {
                let region = region.filter(|region| region.contains(method) && method != region.root);
                let above = given(context, region, method, usize::from(*i));
                let is_known = !above.is_empty();
                todo.extend(above.into_iter().map(|(site, value)| ((site.0, value), with(&sites, site))));
                if is_known { continue } else { Is::Unknown }
            }
            Op::GetField(field, Some(_)) if sites.len() < LEVELS_MAX => {
                let above = kept(context, *field);
                let is_known = !above.is_empty();
                todo.extend(above.into_iter().map(|(site, value)| ((site.0, value), with(&sites, site))));
                if is_known { continue } else { Is::Unknown }
            }
            _ => Is::Unknown,
        };
        found.push((sites, is));
    }
    found
}

fn with(sites: &[Site], site: Site) -> Vec<Site> {
    sites.iter().copied().chain([site]).collect()
}

/// What callers give as a parameter, with the place of the call.
fn given(
    context: Context<'_>,
    region: Option<&Region>,
    method: MethodId,
    param: usize,
) -> Vec<(Site, ValueId)> {
    let callers = context.graph.callers[method.index()].iter();
    let callers = callers.filter(|(caller, _)| region.is_none_or(|region| region.contains(*caller)));
    let given = callers.filter_map(|&(caller, call)| {
        let call = &context.graph.calls(caller)[call];
        Some(((caller, call.site), call.args.get(param).copied().flatten()?))
    });
    given.collect()
}

/// What constructors are given for a field, with the place where they are called.
fn kept(context: Context<'_>, field: crate::program::FieldRef) -> Vec<(Site, ValueId)> {
    let Some(class) = context.program.class(field.class) else { return Vec::new() };
    let methods = context.program.classes[class.index()].methods.clone().map(MethodId::new);
    let constructors = methods.filter(|m| context.program.methods[m.index()].name == "<init>");
    let puts = |constructor: MethodId| {
        let body = context.program.methods[constructor.index()].body.iter();
        let body = body.flat_map(|body| body.iter().map(move |(_, inst)| (body, inst)));
        let params = body.filter_map(|(body, inst): (&Body, _)| match inst.op {
            Op::PutField(put, _, value) if put == field => match body.op(body.uncast(value)) {
                Op::Param(i) => Some(usize::from(*i)),
                _ => None,
            },
            _ => None,
        });
        params.flat_map(move |param| given(context, None, constructor, param)).collect::<Vec<_>>()
    };
    constructors.flat_map(puts).collect()
}

fn closure(context: Context<'_>, bootstrap_args: &[BootstrapArg]) -> Is {
    let method = bootstrap_args.iter().find_map(|arg| match arg {
        BootstrapArg::Handle { target, .. } => {
            let class = context.program.class(target.class)?;
            context.program.declared_method(class, target.name, target.descriptor)
        }
        _ => None,
    });
    method.map_or(Is::Unknown, Is::Closure)
}

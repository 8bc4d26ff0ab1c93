//! Client calls: where a program asks for an address over HTTP, by the table of libraries or
//! because a library is given a text that begins as an address does.
//!
//! What makes a request and what sends it are often several calls on one object: they are
//! followed within the method. Where the address is a parameter, the callers ask.

use rustc_hash::FxHashSet;

use super::chain::{Chain, constant_verb};
use super::client_apis::{CALLS, DIRECT, Row};
use super::template::{Asked, Part, SCHEMES};
use super::urls::{Urls, is_address_type};
use crate::call_graph::CallGraph;
use crate::call_graph::resolve::{class_of, signature};
use crate::ir::{Body, BootstrapArg, Const, InvokeKind, Op, ValueId};
use crate::limits::WRAPPER_CALLERS_MAX;
use crate::pairs::texts::{Piece, pieces};
use crate::program::{MethodId, MethodRef, Name, Program};
use crate::strings::facts::Facts;

/// Calls between what sends and who says what.
const LIFTS_MAX: usize = 4;

/// Somebody asks for something.
#[derive(Clone, Debug)]
pub(super) struct Client {
    /// Where.
    pub(super) method: MethodId,
    /// The call that sends, or leads to it.
    pub(super) site: ValueId,
    /// Empty: not known.
    pub(super) verb: String,
    /// What says the verb, where that is no constant.
    pub(super) verb_value: Option<ValueId>,
    /// What for: one of these.
    pub(super) asked: Vec<Asked>,
    /// What is filled into variables of these names.
    pub(super) filled: Vec<(String, ValueId)>,
    /// What is filled into variables in order.
    pub(super) in_order: Vec<ValueId>,
    /// What is sent, if it is one of these.
    pub(super) bodies: Vec<ValueId>,
    /// The caller waits for the answer.
    pub(super) waits: bool,
}

/// All client calls of a program, sorted by place.
pub(super) fn find(facts: &Facts<'_>, graph: &CallGraph) -> Vec<Client> {
    use rayon::prelude::*;
    let methods = 0..facts.program.methods.len();
    let found =
        methods.into_par_iter().flat_map_iter(|method| of_method(facts, graph, MethodId::new(method)));
    let mut found: Vec<Client> = found.collect();
    found.sort_by_key(|client| (client.method, client.site));
    found
}

fn of_method(facts: &Facts<'_>, graph: &CallGraph, method: MethodId) -> Vec<Client> {
    let Some(body) = &facts.program.methods[method.index()].body else { return Vec::new() };
    let has_address = body.iter().any(|(_, inst)| can_hold_address(&inst.op));
    let mut found = Vec::new();
    for (site, inst) in body.iter() {
        let Op::Invoke { kind, method: called, args } = &inst.op else { continue };
        if facts.program.class(called.class).is_some() {
            continue;
        }
        let row = row_of(*kind, called);
        let address = match row {
            Some(row) => address_of(*kind, called, args, row.address),
            None if has_address => address_by_shape(facts.program, body, *kind, called, args),
            None => None,
        };
        let Some(address) = address else { continue };
        let sends = DIRECT.contains(&called.class.as_str());
        found.extend(client(facts, graph, (method, site), address, sends));
    }
    // One object is given its address once.
    let mut seen = FxHashSet::default();
    found.retain(|client| {
        seen.insert((client.method, client.site, client.asked.iter().map(Asked::text).collect::<Vec<_>>()))
    });
    found
}

fn row_of(kind: InvokeKind, called: &MethodRef) -> Option<&'static Row> {
    let is = |pattern: &str, text: &str| match (pattern.strip_suffix('*'), pattern.strip_prefix('*')) {
        (Some(front), _) => text.starts_with(front),
        (None, Some(back)) => text.ends_with(back),
        (None, None) => pattern.is_empty() || pattern == text,
    };
    let row = CALLS
        .iter()
        .find(|row| is(row.class, called.class.as_str()) && is(row.method, called.name.as_str()))?;
    // What makes a request of an address is static; what is done to it then has it already.
    (row.address > 0 || !row.method.is_empty() || kind == InvokeKind::Static).then_some(row)
}

/// The argument that is the address, if it can be one.
fn address_of(kind: InvokeKind, called: &MethodRef, args: &[ValueId], at: usize) -> Option<ValueId> {
    let own = usize::from(kind != InvokeKind::Static);
    if at < own {
        return args.first().copied();
    }
    let (params, _) = signature(called.descriptor.as_str());
    is_address_type(params.get(at - own)?).then(|| args.get(at).copied()).flatten()
}

/// What a library is given that begins as an address does.
fn address_by_shape(
    program: &Program,
    body: &Body,
    kind: InvokeKind,
    called: &MethodRef,
    args: &[ValueId],
) -> Option<ValueId> {
    let class = called.class.as_str();
    let is_platform = class.starts_with("java/") || class.starts_with("javax/") || class.starts_with('[');
    if is_platform
        || crate::log_points::apis::is_listed(called.class)
        || program.class(called.class).is_some()
    {
        return None;
    }
    let (params, _) = signature(called.descriptor.as_str());
    let own = usize::from(kind != InvokeKind::Static);
    let mut given = params.iter().zip(args.iter().skip(own));
    given.find(|(param, arg)| is_address_type(param) && begins_as_address(body, **arg)).map(|(_, arg)| *arg)
}

/// Whether a text is put together behind the scheme of an address, or is a path behind something
/// that is known elsewhere: where most programs have the host from their settings.
fn begins_as_address(body: &Body, value: ValueId) -> bool {
    let pieces_of = pieces(body, value);
    match pieces_of.first() {
        Some(Piece::Value(_)) if is_path_behind(body, pieces_of.get(1)) => true,
        Some(Piece::Const(text)) => SCHEMES.iter().any(|scheme| text.starts_with(scheme)),
        Some(Piece::Value(first)) => match body.op(body.uncast(*first)) {
            Op::Phi(operands) => operands.iter().any(|&(_, operand)| {
                matches!(pieces(body, operand).first(), Some(Piece::Const(text))
                    if SCHEMES.iter().any(|scheme| text.starts_with(scheme)))
            }),
            _ => false,
        },
        _ => false,
    }
}

/// Whether what stands behind the front of a text is a path, or what callers give for one.
fn is_path_behind(body: &Body, piece: Option<&Piece>) -> bool {
    match piece {
        Some(Piece::Const(path)) => is_path(path),
        Some(Piece::Value(value)) => matches!(body.op(body.uncast(*value)), Op::Param(_)),
        _ => false,
    }
}

/// Whether a text looks like the path of an address: it names something.
fn is_path(text: &str) -> bool {
    text.strip_prefix('/').is_some_and(|rest| rest.starts_with(|c: char| c.is_alphabetic() || c == '{'))
}

fn can_hold_address(op: &Op) -> bool {
    // In the recipe of a text a control character stands for each value.
    let begins = |text: &Name| {
        let plain = text.trim_start_matches(char::is_control);
        SCHEMES.iter().any(|scheme| plain.starts_with(scheme))
            || is_path(plain)
            || plain.is_empty() && text.len() > 1
    };
    match op {
        Op::Const(Const::Text(text)) => begins(text),
        // What is appended can be an address that callers give.
        Op::Invoke { method, .. } => method.name == "toString" && method.class == "java/lang/StringBuilder",
        Op::InvokeDynamic { bootstrap, .. } => bootstrap
            .args
            .iter()
            .any(|arg| matches!(arg, BootstrapArg::Const(Const::Text(text)) if begins(text))),
        _ => false,
    }
}

/// The client call that is given `address` at `site`; the callers', if they say what is asked.
fn client(
    facts: &Facts<'_>,
    graph: &CallGraph,
    (method, site): (MethodId, ValueId),
    address: ValueId,
    sends: bool,
) -> Vec<Client> {
    let Some(body) = &facts.program.methods[method.index()].body else { return Vec::new() };
    let mut urls = Urls::new(facts, method);
    let addresses = urls.addresses(address, site);
    let chain = if sends { Chain::default() } else { Chain::new(facts.program, body, site) };
    let verb = chain.verb(body, site);
    let client = Client {
        method,
        site: chain.sent_at(body, site),
        verb_value: chain.verb_value(body).filter(|_| verb.is_empty()).map(|value| body.uncast(value)),
        verb,
        asked: asked(&addresses),
        in_order: in_order(&urls, body, site, address),
        filled: [std::mem::take(&mut urls.filled), named(body, site)].concat(),
        bodies: chain.bodies(facts.program, body, site, address),
        waits: chain.waits(body, site),
    };
    if !client.asked.is_empty() {
        return vec![client];
    }
    lifted(facts, graph, &client, &addresses)
}

/// What is known of addresses; none if one of them is not known at all.
fn asked(addresses: &[Vec<Part>]) -> Vec<Asked> {
    let all: Vec<Asked> = addresses.iter().filter_map(|parts| Asked::new(parts)).collect();
    all.into_iter().filter(Asked::is_known).collect()
}

/// The callers of a method that is given what it asks for.
fn lifted(facts: &Facts<'_>, graph: &CallGraph, client: &Client, addresses: &[Vec<Part>]) -> Vec<Client> {
    let mut found = Vec::new();
    let mut level = vec![(client.method, addresses.to_vec(), client.bodies.clone(), client.verb.clone())];
    for _ in 0..LIFTS_MAX {
        let mut above = Vec::new();
        for (method, addresses, bodies, verb) in level {
            let params = n_params(facts.program, method);
            let is_given = |part: &Part| matches!(part, Part::Value(Some(value)) if value.index() < params);
            if !addresses.iter().flatten().any(is_given) {
                continue;
            }
            let callers = &graph.callers[method.index()];
            for &(caller, at) in callers.iter().take(WRAPPER_CALLERS_MAX) {
                let call = &graph.calls(caller)[at];
                if !call.kind.is_local() || caller == method {
                    continue;
                }
                let arg = |value: ValueId| call.args.get(value.index()).copied().flatten();
                let mut urls = Urls::new(facts, caller);
                let addresses = substituted(&mut urls, &addresses, params, call.site, &arg);
                let given = bodies.iter().filter(|body| body.index() < params).filter_map(|&body| arg(body));
                let bodies: Vec<ValueId> = given.collect();
                let known = asked(&addresses);
                let own = facts.program.methods[caller.index()].body.as_ref();
                let given =
                    client.verb_value.filter(|value| value.index() < params && method == client.method);
                let given = given.and_then(|value| constant_verb(own?, arg(value)?));
                let handed_back =
                    || own.and_then(|own| verb_of_result(facts.program, own, method, call.site));
                let verb = match verb.is_empty() {
                    true => given.or_else(handed_back).unwrap_or_default(),
                    false => given.unwrap_or_else(|| verb.clone()),
                };
                if known.is_empty() {
                    above.push((caller, addresses, bodies, verb));
                    continue;
                }
                found.push(Client {
                    verb,
                    verb_value: None,
                    method: caller,
                    site: call.site,
                    asked: known,
                    filled: urls.filled,
                    in_order: Vec::new(),
                    bodies,
                    ..client.clone()
                });
            }
        }
        level = above;
        level.truncate(WRAPPER_CALLERS_MAX);
    }
    found
}

/// The verb that is said of a request which a method of the program hands back to its caller.
fn verb_of_result(program: &Program, body: &Body, called: MethodId, site: ValueId) -> Option<String> {
    let result = signature(program.methods[called.index()].descriptor.as_str()).1;
    let class = class_of(result).filter(|class| !class.starts_with("java/"))?;
    let is_library = program.class(Name::from(class)).is_none();
    let verb = is_library.then(|| Chain::new(program, body, site).verb_behind(body));
    verb.flatten()
}

/// Addresses with what the caller gives for parameters.
fn substituted(
    urls: &mut Urls<'_>,
    addresses: &[Vec<Part>],
    params: usize,
    site: ValueId,
    arg: &dyn Fn(ValueId) -> Option<ValueId>,
) -> Vec<Vec<Part>> {
    let mut found = Vec::new();
    for parts in addresses {
        let mut all: Vec<Vec<Part>> = vec![Vec::new()];
        for part in parts {
            let next = match part {
                Part::Value(Some(value)) if value.index() < params => match arg(*value) {
                    Some(given) => urls.addresses(given, site),
                    None => vec![vec![Part::Value(None)]],
                },
                Part::Value(_) => vec![vec![Part::Value(None)]],
                Part::Text(_) => vec![vec![part.clone()]],
            };
            all = all
                .iter()
                .flat_map(|head| next.iter().map(|tail| [head.clone(), tail.clone()].concat()))
                .collect();
            all.truncate(WRAPPER_CALLERS_MAX);
        }
        found.extend(all);
    }
    found
}

fn n_params(program: &Program, method: MethodId) -> usize {
    let m = &program.methods[method.index()];
    signature(m.descriptor.as_str()).0.len() + usize::from(!m.is_static())
}

/// What stands behind the address in the same call and is filled in, in order.
fn in_order(urls: &Urls<'_>, body: &Body, site: ValueId, address: ValueId) -> Vec<ValueId> {
    let Op::Invoke { args, .. } = body.op(site) else { return Vec::new() };
    let Some(last) = args.last().filter(|&&last| last != address) else { return Vec::new() };
    match body.op(body.uncast(*last)) {
        Op::NewArray(..) => urls.stored(*last),
        _ => Vec::new(),
    }
}

/// What is put into a map that stands in the same call, by name.
fn named(body: &Body, site: ValueId) -> Vec<(String, ValueId)> {
    let Op::Invoke { args, .. } = body.op(site) else { return Vec::new() };
    let text = |value: ValueId| match body.op(body.uncast(value)) {
        Op::Const(Const::Text(text)) => Some(text.as_str().to_owned()),
        _ => None,
    };
    let mut found = Vec::new();
    for &map in args.iter().skip(1) {
        let map = body.uncast(map);
        if let Op::Invoke { method, args, .. } = body.op(map)
            && method.name == "of"
        {
            let pairs = args.chunks_exact(2).filter_map(|pair| Some((text(pair[0])?, pair[1])));
            found.extend(pairs);
        }
        if matches!(body.op(map), Op::New(class) if class.ends_with("Map")) {
            let puts = body.iter().filter_map(|(_, inst)| match &inst.op {
                Op::Invoke { method, args, .. }
                    if method.name == "put" && args.len() == 3 && body.uncast(args[0]) == map =>
                {
                    Some((text(args[1])?, body.uncast(args[2])))
                }
                _ => None,
            });
            found.extend(puts);
        }
    }
    found
}

//! Peers: who names the node that it talks to is of who is at work there.
//!
//! The members of a system have names of their own: each node prints one, always the same,
//! and no two nodes the same. Who serves one of the others in a thread of its own names it,
//! and all of one kind of such servers are seen to: each names a node, and never its own. At
//! the other end of each there is somebody, then, at work while the server begins. Whom of
//! all that a node does the servers are the other end of, the log tells: what is at work
//! there each time, and each time another one.
//!
//! Under-approximates: what prints nothing just before and soon after the server begins is
//! not seen to be at work, and if there are two of a kind, or kinds of different requests, at
//! the other end, nothing is told.

use std::collections::{BTreeMap, BTreeSet};

use schema::{Pass, TopLevelId, ValueClassId};

use super::facts::Facts;
use super::intervals::Intervals;
use super::joined;
use super::pairs::Pairs;
use crate::merge::SpanLink;

/// Servers from which to learn.
const SERVERS_MIN: usize = 3;

/// Who is at work at the other end prints again within this time, µs.
const SOON_US: i64 = 1_000_000;

/// A server, and the node that it names.
type Server = (u32, u32);

/// Links between servers and those that they serve on the nodes that they name, in addition to
/// `links`.
pub(super) fn join(pairs: &Pairs<'_>, facts: &Facts<'_>, links: &[SpanLink]) -> Vec<SpanLink> {
    let nodes = names_of_nodes(pairs, facts);
    if nodes.is_empty() {
        return Vec::new();
    }
    let (mut sets, _) = joined(facts, links);
    let mut of_top: BTreeMap<TopLevelId, BTreeMap<u32, Vec<u32>>> = BTreeMap::new();
    for (index, fact) in facts.iter() {
        if let Some(&top) = fact.tops.first() {
            of_top.entry(top).or_default().entry(fact.node).or_default().push(index);
        }
    }
    let by_node = |spans: BTreeMap<u32, Vec<u32>>| -> BTreeMap<u32, Intervals> {
        spans.into_iter().map(|(node, spans)| (node, Intervals::new(facts, &spans))).collect()
    };
    let of_top: Vec<BTreeMap<u32, Intervals>> = of_top.into_values().map(by_node).collect();
    let mut out = Vec::new();
    for servers in servers(facts, &nodes) {
        let mut clients: BTreeMap<u32, BTreeSet<(u32, u32)>> = BTreeMap::new();
        for spans in &of_top {
            for (server, client) in one_each(facts, &servers, spans).into_iter().flatten() {
                clients.entry(server).or_default().insert((sets.root(client), client));
            }
        }
        for (server, found) in clients {
            let roots: BTreeSet<u32> = found.iter().map(|&(root, _)| root).collect();
            let client = found.first().map(|&(_, client)| client).filter(|_| roots.len() == 1);
            if let Some(client) = client.filter(|&client| sets.join(client, server)) {
                out.push(SpanLink { from: client, to: server, pair: None, by: Pass::Peers });
            }
        }
    }
    out
}

/// The nodes by their names: what each prints of a kind that the program does not take for a
/// name of requests is always the same, and another one on each node.
fn names_of_nodes<'s>(pairs: &Pairs<'_>, facts: &'s Facts<'_>) -> BTreeMap<&'s str, u32> {
    let classes = pairs.classes_of_nodes();
    let mut texts: BTreeMap<ValueClassId, BTreeSet<(u32, &str)>> = BTreeMap::new();
    for (_, fact) in facts.iter() {
        for event in fact.events {
            for (variable, text) in event.values.iter() {
                if let Some(class) = pairs.class_of(event, variable).filter(|class| classes.contains(class)) {
                    texts.entry(class).or_default().insert((fact.node, text));
                }
            }
        }
    }
    let mut names: BTreeMap<&str, BTreeSet<u32>> = BTreeMap::new();
    for of_class in texts.into_values() {
        let nodes: BTreeSet<u32> = of_class.iter().map(|&(node, _)| node).collect();
        let distinct: BTreeSet<&str> = of_class.iter().map(|&(_, text)| text).collect();
        if nodes.len() > 1 && nodes.len() == of_class.len() && distinct.len() == of_class.len() {
            of_class.into_iter().for_each(|(node, text)| _ = names.entry(text).or_default().insert(node));
        }
    }
    let only = |nodes: BTreeSet<u32>| nodes.first().copied().filter(|_| nodes.len() == 1);
    names.into_iter().filter_map(|(text, nodes)| Some((text, only(nodes)?))).collect()
}

/// The spans of each top-level method by one kind of values, if all of them name other nodes
/// than their own, and not always the same one.
fn servers(facts: &Facts<'_>, nodes: &BTreeMap<&str, u32>) -> Vec<Vec<Server>> {
    let mut all: BTreeMap<(TopLevelId, ValueClassId), Option<Vec<Server>>> = BTreeMap::new();
    for (index, fact) in facts.iter() {
        let Some(&top) = fact.tops.first() else { continue };
        let classes: BTreeSet<ValueClassId> = fact.values().iter().map(|value| value.value_class).collect();
        for class in classes {
            let named = match fact.values_of(class) {
                [value] => nodes.get(&*value.text).copied().filter(|&node| node != fact.node),
                _ => None,
            };
            let servers = all.entry((top, class)).or_insert_with(|| Some(Vec::new()));
            match named {
                Some(node) => servers.iter_mut().for_each(|servers| servers.push((index, node))),
                None => *servers = None,
            }
        }
    }
    let several = |servers: &Vec<Server>| {
        let named: BTreeSet<u32> = servers.iter().map(|&(_, node)| node).collect();
        servers.len() >= SERVERS_MIN && named.len() > 1
    };
    all.into_values().flatten().filter(several).collect()
}

/// Each of `servers` with the one of `spans`, which are by node, that is at work on the node that it
/// names, if there is another one for each.
fn one_each(
    facts: &Facts<'_>,
    servers: &[Server],
    spans: &BTreeMap<u32, Intervals>,
) -> Option<Vec<(u32, u32)>> {
    let mut found = Vec::new();
    for &(server, node) in servers {
        let begins_us = facts.get(server).start_us;
        let begun = spans.get(&node)?.at_work(begins_us, begins_us);
        let mut at_work = begun.filter(|&span| {
            let next = facts.get(span).first_from(begins_us);
            next.is_some_and(|event| event.ts_us - begins_us <= SOON_US)
        });
        match (at_work.next(), at_work.next()) {
            (Some(client), None) => found.push((server, client)),
            _ => return None,
        }
    }
    let clients: BTreeSet<u32> = found.iter().map(|&(_, client)| client).collect();
    (clients.len() == found.len()).then_some(found)
}

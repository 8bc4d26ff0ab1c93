//! The slow obvious way: every identifier of every receiver is followed anew over every call up
//! to the sender's first method, and compared there with each identifier of the sender.

use std::collections::BTreeSet;
use std::path::Path;

use super::*;
use crate::call_graph;
use crate::identifiers::Bindings;
use crate::log_points::log_points;
use crate::pairs::{channels, events, facts, handoffs, links, origins, regions};
use crate::program;
use crate::rules::Rules;
use crate::top_level;

/// Like [`Carrier::uncut`].
fn uncut(carrier: &mut Carrier<'_>, unit: UnitId, mut carried: Carried) -> Carried {
    for _ in 0..CUTS_MAX {
        let place = carried.place;
        carried = carrier.cut_anew(carried);
        if carried.place == place {
            break;
        }
        let frame = carrier.memory.place(carried.place).frame;
        let Some(place) = climb(carrier, unit, frame, carried.place) else { break };
        carried = Carried { place, ..carried };
        if carried.cuts == 0 {
            break;
        }
    }
    carried
}

fn climb(carrier: &mut Carrier<'_>, unit: UnitId, method: MethodId, id: PlaceId) -> Option<PlaceId> {
    if !matches!(carrier.memory.place(id).path.root, Root::Param(_)) {
        return Some(id);
    }
    let (context, mut way) = (carrier.context, carrier.units.region(unit).way_up(method).into_iter());
    way.try_fold(id, |at, edge| carrier.memory.bind(context, edge, at))
}

fn step(carrier: &mut Carrier<'_>, carried: Carried, handoff: &Handoff) -> Option<Carried> {
    let (context, (site, _)) = (carrier.context, handoff.site);
    let carried = uncut(carrier, handoff.to, carried);
    let mut at = carried;
    match &handoff.entry {
        Entry::Call(_) if carried.own => return Some(carried),
        Entry::Call(edge) => at.place = carrier.memory.bind(context, *edge, at.place)?,
        Entry::Channel { way, taken, put, lists } => {
            for edge in way.iter().filter(|_| !carried.own) {
                at.place = carrier.memory.bind(context, *edge, at.place)?;
                at = carrier.cut_anew(at);
            }
            let place = carrier.memory.place(at.place);
            let place = across(context, place, (*taken)?, (site, (*put)?), *lists)?;
            at.place = carrier.memory.id(place);
        }
    }
    let place = climb(carrier, handoff.from, site, at.place)?;
    let handed = Carried { place, own: false, ..at };
    Some(if handed.cuts == 0 { handed } else { uncut(carrier, handoff.from, handed) })
}

/// Where a place of the receiver's comes from, over one way.
fn followed(mut carrier: Carrier<'_>, place: &Place, way: &[&Handoff]) -> Option<Place> {
    let own = matches!(place.path.root, Root::Local(_));
    let mut carried = Carried { place: carrier.memory.id(place.clone()), cuts: 0, own };
    for handoff in way.iter().rev() {
        carried = step(&mut carrier, carried, handoff)?;
    }
    carried.end().map(|place| carrier.memory.place(place).clone())
}

/// The identifiers of the sender that are the value at `place`.
fn at_place(context: Context<'_>, sender: &[Identifier], place: &Place) -> Vec<u32> {
    let gotten = ungotten(context, place);
    let path = &gotten.as_ref().unwrap_or(place).path;
    let is_built = |c: &Identifier| {
        matches!((c.place.path.root, place.path.root), (Root::Local(_), Root::Local(_) | Root::Param(_)))
            && !c.place.path.steps.is_empty()
            && given_to_builder(context, c.place.frame, c.place.path.clone()) == place.path
    };
    let is_there = |c: &Identifier| {
        c.place.path == place.path
            || ungotten(context, &c.place).is_some_and(|c| c.path == *path)
            || is_built(c)
    };
    let same = |c: &Identifier| {
        is_there(c)
            && (c.place.frame == place.frame || !matches!(place.path.root, Root::Local(_)))
            && c.strength != IdentifierStrength::Node
    };
    let of = |is_one_of_many: bool| -> Vec<u32> {
        let same = |c: &Identifier| same(c) && c.is_one_of_many() == is_one_of_many;
        (0u32..).zip(sender).filter(|(_, c)| same(c)).map(|(i, _)| i).collect()
    };
    Some(of(false)).filter(|found| !found.is_empty()).unwrap_or_else(|| of(true))
}

/// Of a pair: which identifiers are one value, and of which every way tells that they are computed.
type Found = (BTreeSet<(u32, u32)>, BTreeSet<u32>);

fn slow(
    context: Context<'_>,
    units: &Units,
    members: &Members,
    ends: [usize; 2],
    ways: &[Vec<&Handoff>],
) -> Found {
    let [sender, receiver] = ends.map(|at| &context.top_levels.methods[at].identifiers);
    let (mut same, mut computed) = (BTreeSet::new(), BTreeSet::new());
    for (j, identifier) in (0u32..).zip(receiver) {
        if identifier.strength == IdentifierStrength::Node || identifier.is_one_of_many() {
            continue;
        }
        let follow =
            |way: &Vec<&Handoff>| followed(Carrier::new(context, units, members), &identifier.place, way);
        let places: BTreeSet<Place> = ways.iter().filter_map(follow).collect();
        let is_new = |place: &Place| is_computed(context, place);
        computed.extend((places.len() == ways.len() && places.iter().all(is_new)).then_some(j));
        same.extend(places.iter().flat_map(|place| at_place(context, sender, place)).map(|i| (i, j)));
    }
    (same, computed)
}

fn fast(context: Context<'_>, carrier: &mut Carrier<'_>, to: usize, ways: &[Vec<&Handoff>]) -> Found {
    let ends = carrier.ends(to, ways);
    let mut same = BTreeSet::new();
    for &(j, place) in &ends {
        same.extend(carrier.sender.at(context, &mut carrier.memory, place).iter().map(|&i| (i, j)));
    }
    let is_new = |&(_, place): &(u32, PlaceId)| is_computed(context, carrier.memory.place(place));
    let computed = ends.chunk_by(|a, b| a.0 == b.0).filter(|ends| ends.len() == ways.len());
    (same, computed.filter(|ends| ends.iter().all(is_new)).map(|ends| ends[0].0).collect())
}

fn forgets_all_that_is_too_much(mut carrier: Carrier<'_>) {
    let path = |n: usize| AccessPath { root: Root::Local(ValueId::new(n)), steps: Vec::new() };
    let meet = |carrier: &mut Carrier<'_>, n: usize| {
        carrier.memory.id(Place { path: path(n), frame: MethodId::new(0), looping: false });
    };
    (0..CARRIED_PLACES_MAX).for_each(|n| meet(&mut carrier, n));
    carrier.begin(0);
    assert_eq!(carrier.memory.n_places(), CARRIED_PLACES_MAX);
    meet(&mut carrier, CARRIED_PLACES_MAX);
    carrier.begin(0);
    assert_eq!(carrier.memory.n_places(), 0);
    let load = |n: usize| (0..n as u32).map(|n| (n, n)).collect();
    carrier.loads.id(load(CARRIED_ITEMS_MAX));
    carrier.begin(0);
    assert_eq!(carrier.loads.n_items(), CARRIED_ITEMS_MAX);
    carrier.loads.id(load(1));
    carrier.begin(0);
    assert_eq!(carrier.loads.n_items(), 0);
}

#[test]
fn what_is_remembered_is_what_is_followed_anew() {
    let (mut n_same, mut n_ways) = (0, 0);
    for fixtures in ["requests", "services"] {
        let classes =
            Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/fixtures/{fixtures}/classes"));
        let program = program::load(&[classes], &Default::default()).expect("readable classes");
        let graph = call_graph::build(&program);
        let (points, rules) = (log_points(&program), Rules::default());
        let bindings = Bindings::new(&program, &graph);
        let top_levels = top_level::find(&program, &graph, &bindings, &points, &rules);
        let context = Context {
            program: &program,
            graph: &graph,
            bindings: &bindings,
            log_points: &points,
            top_levels: &top_levels,
        };
        let units = regions::Units::new(context);
        let (facts, mut told) = (facts::scan(context), Vec::new());
        let channels = channels::Channels::new(context, &units, &facts, &mut told);
        let events = events::Events::new(context, &units, &facts);
        let made = origins::made(context);
        let sources =
            handoffs::Sources { context, units: &units, channels: &channels, events: &events, made: &made };
        let network = links::Network::new(sources, &mut told);
        let members = Members::new(context);
        let carriers = Carriers::new(context, &units, &members);
        forgets_all_that_is_too_much(Carrier::new(context, &units, &members));
        for from in 0..top_levels.methods.len() {
            let mut receivers = crate::pairs::Receivers::new();
            for (to, kind, way) in network.ways(from).iter(|to| units.top_level(to).is_some()) {
                receivers.entry((to, kind)).or_default().push(way);
            }
            for (&(to, _), ways) in &receivers {
                let found = carriers.lend(from, |carrier| fast(context, carrier, to, ways));
                assert_eq!(found, slow(context, &units, &members, [from, to], ways), "{from} to {to}");
                (n_same, n_ways) = (n_same + found.0.len(), n_ways + ways.len());
            }
        }
    }
    assert!(n_same > 200 && n_ways > 500, "{n_same} identifiers are handed over on {n_ways} ways");
}

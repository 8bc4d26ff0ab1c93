//! Bindings: what a log point binds at its places, as numbers. Hundreds of methods can print one log
//! point, and most of them bind the same of what it prints, or nothing: what a record binds is worked
//! out once for all of those.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;
use schema::{Identifier, IdentifierStrength, Model, TopLevelId, ValueClassId};

use super::roles::{Role, Roles};
use super::{Places, Position};

/// What a method is about, whatever it prints: the classes of its identifiers by which requests are
/// told apart, and those of them of which a request has one value.
type About<'m> = (BTreeSet<ValueClassId>, &'m [(ValueClassId, Role)]);

/// The number of what a log point binds at a place: of what it prints, and besides that of what is
/// known of things within its texts and of what they are parts of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::accumulate) struct Binding {
    pub(in crate::accumulate) of_printed: u32,
    pub(in crate::accumulate) of_all: u32,
}

/// Numbers what each log point binds at its places: two places have one number if a record binds
/// the same at both, whatever it shows. Returns how many numbers each log point has.
pub(super) fn number(model: &Model, roles: &Roles, places: &mut [Vec<Places>]) -> Vec<Binding> {
    let mut known: FxHashMap<About<'_>, u32> = FxHashMap::default();
    let about = model.top_level_methods.iter().enumerate().map(|(top, method)| {
        let about = (classes(&method.identifiers), roles.own(TopLevelId::new(top)));
        next(&mut known, about)
    });
    let about: Vec<u32> = about.collect();
    places.iter_mut().map(|places| number_of_point(model, roles, places, &about)).collect()
}

fn number_of_point(model: &Model, roles: &Roles, places: &mut [Places], about: &[u32]) -> Binding {
    let (mut printed, mut all) = (FxHashMap::default(), FxHashMap::default());
    for Places { top, at, bindings } in places {
        let of_place = |&at: &Position| {
            let of_printed = next(&mut printed, bound_at(model, roles, *top, at));
            let of_all = next(&mut all, (of_printed, about[top.index()]));
            Binding { of_printed, of_all }
        };
        *bindings = at.iter().map(of_place).collect();
    }
    let n = |n: usize| u32::try_from(n).expect("a model has fewer than 2^32 elements");
    Binding { of_printed: n(printed.len()), of_all: n(all.len()) }
}

/// The number of a key: the next one, if it has none.
fn next<K: Eq + std::hash::Hash>(numbers: &mut FxHashMap<K, u32>, key: K) -> u32 {
    let next = u32::try_from(numbers.len()).expect("a model has fewer than 2^32 elements");
    *numbers.entry(key).or_insert(next)
}

fn classes(identifiers: &[Identifier]) -> BTreeSet<ValueClassId> {
    let request = identifiers.iter().filter(|id| id.strength == IdentifierStrength::Request);
    request.map(|id| id.value_class).collect()
}

/// To what each variable of a log point is bound at one place; to none that the method knows is not
/// the same as to none.
fn bound_at(
    model: &Model,
    roles: &Roles,
    top: TopLevelId,
    (node, point): Position,
) -> Vec<Option<Option<Role>>> {
    let bindings =
        &model.top_level_methods[top.index()].dag.nodes[node as usize].points[point as usize].bindings;
    let mut all: Vec<Option<Option<Role>>> =
        bindings.iter().map(|id| id.map(|id| roles.of(top, id))).collect();
    all.truncate(all.iter().rposition(Option::is_some).map_or(0, |last| last + 1));
    all
}

//! Roles: what identifiers are to their methods. Hundreds of methods can print one log point and each
//! of them has identifiers of its own, but most of these look alike: of one value class and one
//! strength, of which a request has one value or many. Those have one number, so that what methods
//! have bound is compared, and shared, whatever method has bound it.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;
use schema::{
    CommunicationPair, Identifier, IdentifierId, IdentifierStrength, Model, TopLevelId, TopLevelKind,
    ValueClassId,
};

/// The number of identifiers that look alike; those of one method have different ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(in crate::accumulate) struct Role(u32);

/// The roles of all identifiers of a model.
#[derive(Debug)]
pub(super) struct Roles {
    /// Per top-level method and identifier.
    of: Vec<Vec<Role>>,
    /// Per role: one request can have several values, or makes them.
    may_differ: Vec<bool>,
    /// Per top-level method: those by which requests are told apart and of which each has one value
    /// only, with their value classes.
    own: Vec<Vec<(ValueClassId, Role)>>,
    /// Per top-level method: two roles of one value, smaller first.
    aliases: Vec<Vec<(Role, Role)>>,
}

impl Roles {
    pub(super) fn new(model: &Model) -> Self {
        let mut known: FxHashMap<_, Role> = FxHashMap::default();
        let mut may_differ = Vec::new();
        let mut of_method = |identifiers: &[Identifier]| -> Vec<Role> {
            let mut n_alike: FxHashMap<_, u32> = FxHashMap::default();
            let role = |id: &Identifier| {
                let looks = (id.value_class, id.strength, id.one_of_many || id.is_made());
                let n_alike = n_alike.entry(looks).or_default();
                *n_alike += 1;
                *known.entry((looks, *n_alike)).or_insert_with(|| {
                    may_differ.push(looks.2);
                    Role(u32::try_from(may_differ.len() - 1).expect("a model has fewer than 2^32 elements"))
                })
            };
            identifiers.iter().map(role).collect()
        };
        let tops = &model.top_level_methods;
        let of: Vec<Vec<Role>> = tops.iter().map(|top| of_method(&top.identifiers)).collect();
        let own = |(top, roles): (usize, &Vec<Role>)| {
            let is_own = |id: &Identifier| id.strength == IdentifierStrength::Request && !id.one_of_many;
            let own = tops[top].identifiers.iter().zip(roles).filter(|(id, _)| is_own(id));
            own.map(|(id, &role)| (id.value_class, role)).collect()
        };
        let one = |(top, roles): (usize, &Vec<Role>)| {
            let both = aliases(model, TopLevelId::new(top)).into_iter().map(|(a, b)| {
                let [a, b] = [a, b].map(|id| roles[id.index()]);
                (a.min(b), a.max(b))
            });
            both.collect()
        };
        let (own, aliases) =
            (of.iter().enumerate().map(own).collect(), of.iter().enumerate().map(one).collect());
        Self { of, may_differ, own, aliases }
    }

    /// The role of an identifier of a method, if the method has it.
    pub(super) fn of(&self, top: TopLevelId, id: IdentifierId) -> Option<Role> {
        self.of[top.index()].get(id.index()).copied()
    }

    /// Whether one request can have several values of a role, or makes them.
    pub(super) fn may_differ(&self, role: Role) -> bool {
        self.may_differ[role.0 as usize]
    }

    /// The roles of a method by which its requests are told apart and of which each has one value only,
    /// with their value classes.
    pub(super) fn own(&self, top: TopLevelId) -> &[(ValueClassId, Role)] {
        &self.own[top.index()]
    }

    /// Two roles of a method that are of one value, smaller first.
    pub(super) fn aliases(&self, top: TopLevelId) -> &[(Role, Role)] {
        &self.aliases[top.index()]
    }
}

/// Identifiers of one value; see [`super::Orders::is_one`].
fn aliases(model: &Model, top: TopLevelId) -> Vec<(IdentifierId, IdentifierId)> {
    let identifiers = &model.top_level_methods[top.index()].identifiers;
    let at_one_place = |first: IdentifierId| {
        let all = identifiers.iter().enumerate().map(|(at, known)| (IdentifierId::new(at), known));
        all.filter(move |&(id, known)| id == first || known.same_as == Some(first)).map(|(id, _)| id)
    };
    let places: BTreeSet<IdentifierId> = identifiers.iter().filter_map(|known| known.same_as).collect();
    let of_place = places.into_iter().flat_map(|first| {
        let ids: Vec<IdentifierId> = at_one_place(first).collect();
        ids.iter().flat_map(|&a| ids.iter().map(move |&b| (a, b))).filter(|(a, b)| a < b).collect::<Vec<_>>()
    });
    of_place.chain(own_names(model, top)).collect()
}

/// What the handler of an entity's events calls the entity, where its own name and
/// that in an event are the only two of their class.
fn own_names(model: &Model, top: TopLevelId) -> Vec<(IdentifierId, IdentifierId)> {
    let method = &model.top_level_methods[top.index()];
    if method.kind != TopLevelKind::Entity {
        return Vec::new();
    }
    let is_own = |pair: &&CommunicationPair| pair.from == top && pair.to == top;
    let own = model.communication_pairs.iter().filter(is_own).flat_map(|pair| &pair.identifiers);
    let mut names: BTreeMap<ValueClassId, BTreeSet<IdentifierId>> = BTreeMap::new();
    let is_field = |path: &str| path.matches('.').count() == 1 && !path.contains(['(', '[']);
    for id in own.flat_map(|&(a, b)| [a, b]) {
        if let Some(known) = method.identifiers.get(id.index()).filter(|known| is_field(&known.path)) {
            names.entry(known.value_class).or_default().insert(id);
        }
    }
    let of_itself = |id: &&IdentifierId| method.identifiers[id.index()].path.starts_with("this.");
    let two = names.into_values().filter(|ids| ids.len() == 2 && ids.iter().filter(of_itself).count() == 1);
    two.filter_map(|ids| Some((*ids.first()?, *ids.last()?))).collect()
}

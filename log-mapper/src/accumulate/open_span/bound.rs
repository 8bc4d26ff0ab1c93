//! Values that a span is known by: bound to an identifier of a top-level method,
//! or loose, and when two of them show one request.

use std::cell::OnceCell;
use std::hash::BuildHasher;
use std::sync::Arc;

use rustc_hash::FxBuildHasher;
use schema::kinds::{TELLING_MIN, is_digest};
use schema::{Identifier, IdentifierId, IdentifierStrength, LogPointId, TopLevelId, ValueClassId};

use super::bounds::Bounds;
use crate::accumulate::facts::{Fact, Uuid};
use crate::accumulate::names::is_name;
use crate::accumulate::orders::{Binding, Orders, Role};
use crate::accumulate::wholes::Whole;

/// A value that the span has printed: bound to an identifier of a top-level
/// method, or *loose*: of a class that tells requests apart, but found by the
/// method in a way that the analysis could not follow (looked up by a key, taken
/// from a collection). A loose value speaks for whoever has the same one; it
/// contradicts nobody, for a request may meet many.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::accumulate) struct Bound {
    /// None: loose.
    pub(super) identifier: Option<Role>,
    pub(in crate::accumulate) value_class: ValueClassId,
    pub(in crate::accumulate) strength: IdentifierStrength,
    pub(in crate::accumulate) text: Arc<str>,
    /// Different numbers are of different texts: a record is compared with many spans, most of
    /// which name something else.
    number: u32,
    /// Not printed, but something that is part of it: the class of that.
    pub(super) part: Option<ValueClassId>,
    /// It tells others too what the span is about.
    pub(super) is_shown: bool,
}

impl Bound {
    /// What a record prints itself, for all to see.
    fn printed(
        identifier: Option<Role>,
        value_class: ValueClassId,
        strength: IdentifierStrength,
        text: &Arc<str>,
    ) -> Self {
        let number = number_of(text);
        let (text, part, is_shown) = (Arc::clone(text), None, true);
        Self { identifier, value_class, strength, text, number, part, is_shown }
    }

    /// Different numbers are of different texts.
    pub(super) fn number(&self) -> u32 {
        self.number
    }

    /// Whether both have the same text.
    pub(super) fn is_called(&self, other: &Self) -> bool {
        self.number == other.number && self.text == other.text
    }

    pub(in crate::accumulate) fn is_request_identifier(&self) -> bool {
        self.identifier.is_some() && self.strength == IdentifierStrength::Request
    }
}

/// A number of a text, by which most others are told from it.
pub(super) fn number_of(text: &str) -> u32 {
    (FxBuildHasher.hash_one(text) >> u32::BITS) as u32
}

/// What a record binds, by the numbers of what is bound at places of its log point
/// ([`Orders::n_bindings`]), worked out once for all spans that could take it.
pub(in crate::accumulate) type BoundAt = OnceCell<Box<[OnceCell<Option<Bounds>>]>>;

/// What [`bind`] says of place `at.1` in the top-level method that is entry `at.0` of the log point.
pub(super) fn bind_once<'f>(
    orders: &Orders<'_>,
    top: TopLevelId,
    at: (usize, usize),
    fact: &'f Fact,
) -> Option<&'f Bounds> {
    let places = &orders.places(fact.log_point)[at.0];
    let is_of_printed = fact.wholes.is_empty() && fact.uuids.is_empty();
    let number = |of: Binding| if is_of_printed { of.of_printed } else { of.of_all };
    let bound_at = fact.bound_at.get_or_init(|| {
        let n = number(orders.n_bindings(fact.log_point));
        (0..n).map(|_| OnceCell::new()).collect()
    });
    let bind = || -> Option<Bounds> {
        bind(orders, top, places.at[at.1], fact).map(|bound| bound.into_iter().collect())
    };
    let bound = bound_at[number(places.bindings[at.1]) as usize].get_or_init(bind).as_ref();
    #[cfg(test)]
    assert_eq!(bound.map(|bound| &**bound), bind().as_deref(), "places of one number bind the same");
    bound
}

/// The values that `fact` binds at a place; none if it binds one identifier to
/// two values.
fn bind(orders: &Orders<'_>, top: TopLevelId, place: (u32, u32), fact: &Fact) -> Option<Vec<Bound>> {
    let bindings = &orders.dag_point(top, place).bindings;
    let identifiers = orders.identifiers(top);
    let mut bound: Vec<Bound> = Vec::new();
    for (variable, text) in &fact.values {
        let Some(Some(identifier)) = bindings.get(*variable as usize).copied() else {
            if let Some(value_class) = orders.key(fact.log_point, *variable) {
                let strength = of_whole(orders, fact.log_point, *variable, bindings, identifiers);
                bound.push(Bound::printed(None, value_class, strength, text));
            }
            continue;
        };
        let known = identifiers.get(identifier.index()).zip(orders.role(top, identifier));
        let Some((known, role)) = known else { continue };
        let whole = of_whole(orders, fact.log_point, *variable, bindings, identifiers);
        let strength = match known.strength.max(whole) {
            IdentifierStrength::Node => continue,
            // However many methods print it: a digest is no circumstance of requests.
            IdentifierStrength::Weak if is_digest(text) => IdentifierStrength::Request,
            strength => strength,
        };
        match bound.iter().find(|old| old.identifier == Some(role)) {
            Some(old) if old.text != *text => return None,
            Some(_) => {}
            None => bound.push(Bound::printed(Some(role), known.value_class, strength, text)),
        }
    }
    for (variable, text) in &fact.shared {
        let Some(Some(id)) = bindings.get(*variable as usize).copied() else { continue };
        let Some((known, role)) = identifiers.get(id.index()).zip(orders.role(top, id)) else { continue };
        if known.strength == IdentifierStrength::Node || bound.iter().any(|old| old.identifier == Some(role))
        {
            continue;
        }
        bound.push(Bound::printed(Some(role), known.value_class, IdentifierStrength::Node, text));
    }
    // What something is part of speaks for requests that are about such wholes.
    let is_about = |whole: &&Whole| {
        let class = whole.name.0;
        identifiers.iter().any(|id| id.value_class == class && id.strength == IdentifierStrength::Request)
    };
    let named = fact.named.iter().map(|named| (named, None));
    let wholes = fact.wholes.iter().filter(is_about).map(|whole| (&whole.name, Some(whole.part)));
    for ((value_class, text), part) in named.chain(wholes) {
        let known = Bound::printed(None, *value_class, IdentifierStrength::Request, text);
        bound.push(Bound { part, ..known });
    }
    for uuid in &fact.uuids {
        bind_uuid(orders, top, uuid, &mut bound)?;
    }
    Some(bound)
}

/// What the objects tell at most of which variable `variable` is a part: a part says
/// no more than what it is a part of (the port of a server no more than the server).
fn of_whole(
    orders: &Orders<'_>,
    point: LogPointId,
    variable: u32,
    bindings: &[Option<IdentifierId>],
    identifiers: &[Identifier],
) -> IdentifierStrength {
    let strength = |object: u32| {
        let identifier = bindings.get(object as usize).copied().flatten();
        identifier.and_then(|id| identifiers.get(id.index())).map(|known| known.strength)
    };
    let wholes = orders.wholes(point, variable).filter_map(strength);
    wholes.max().unwrap_or(IdentifierStrength::Request)
}

/// The one identifier of a UUID's class of which a request has one value only, with that class: a
/// text of such a request is about that.
pub(super) fn own_identifier(
    orders: &Orders<'_>,
    top: TopLevelId,
    uuid: &Uuid,
) -> Option<(ValueClassId, Role)> {
    let mut own = orders.own_roles(top).iter().filter(|(class, _)| uuid.classes.contains(class));
    let (first, second) = (own.next(), own.next());
    first.filter(|_| second.is_none()).copied()
}

/// Binds a UUID within a text; none if its identifier has another value.
fn bind_uuid(orders: &Orders<'_>, top: TopLevelId, uuid: &Uuid, bound: &mut Vec<Bound>) -> Option<()> {
    // What only its thread knows of a text contradicts nothing: it can name many things.
    let own = own_identifier(orders, top, uuid).filter(|_| uuid.is_shown);
    let Some((value_class, role)) = own else {
        let class = uuid.classes.first().filter(|_| is_digest(&uuid.text));
        bound.extend(class.map(|&value_class| Bound {
            is_shown: uuid.is_shown,
            ..Bound::printed(None, value_class, IdentifierStrength::Request, &uuid.text)
        }));
        return Some(());
    };
    match bound.iter().find(|old| old.identifier == Some(role)) {
        Some(old) if old.text != uuid.text => return None,
        Some(_) => {}
        None => bound.push(Bound::printed(Some(role), value_class, IdentifierStrength::Request, &uuid.text)),
    }
    Some(())
}

pub(super) fn is_small(text: &str) -> bool {
    text.len() < TELLING_MIN && text.bytes().all(|b| b.is_ascii_digit())
}

/// What it says that a span and a record have one value. `names`: whether the
/// record names something of a class.
pub(super) fn shared_strength(
    old: &Bound,
    new: &Bound,
    names: &dyn Fn(ValueClassId) -> bool,
) -> IdentifierStrength {
    // Who names a whole and, beside it, a part is about another part of it.
    let is_other = old.part.is_some_and(|part| new.part.is_none() && names(part));
    // Two loose values may both be by the way, unless they name one thing, or what
    // something is part of.
    let is_whole = old.part.is_some() || new.part.is_some();
    let both_loose = new.identifier.is_none() && old.identifier.is_none();
    // A small number known in two ways is equal by chance.
    let is_chance = old.identifier != new.identifier && is_small(&new.text);
    let by_the_way =
        is_other || is_chance || (both_loose && !is_whole && !is_name(&new.text) && !is_digest(&new.text));
    if by_the_way { new.strength.max(IdentifierStrength::Weak) } else { new.strength }
}

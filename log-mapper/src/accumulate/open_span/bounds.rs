//! Bounds: the values that methods have bound, each list made once and shared by all that have bound
//! the same: a record that hundreds of methods can have printed binds a few different lists, and
//! what such a list has in common with another one is worked out once for all of them.

use std::ops::Deref;
use std::rc::Rc;

use schema::IdentifierStrength;
use schema::ValueClassId;
use schema::kinds::is_digest;
use smallvec::SmallVec;

use super::bound::{Bound, shared_strength};
use super::text_set::TextSet;

/// What a record binds at one place, or what all of a span have bound.
#[derive(Clone, Debug, Default)]
pub(in crate::accumulate) struct Bounds(Option<Rc<Inside>>);

#[derive(Debug)]
struct Inside {
    all: SmallVec<[Bound; 2]>,
    texts: TextSet,
    has_identifiers: bool,
    /// Values of identifiers by which requests are told apart.
    n_request: usize,
}

impl FromIterator<Bound> for Bounds {
    fn from_iter<I: IntoIterator<Item = Bound>>(bounds: I) -> Self {
        let all: SmallVec<[Bound; 2]> = bounds.into_iter().collect();
        if all.is_empty() {
            return Self(None);
        }
        let texts = TextSet::of_numbers(all.iter().map(Bound::number));
        let has_identifiers = all.iter().any(|bound| bound.identifier.is_some());
        let n_request = all.iter().filter(|bound| bound.is_request_identifier()).count();
        Self(Some(Rc::new(Inside { all, texts, has_identifiers, n_request })))
    }
}

impl Deref for Bounds {
    type Target = [Bound];

    fn deref(&self) -> &[Bound] {
        self.0.as_ref().map_or(&[], |inside| &inside.all)
    }
}

impl Bounds {
    /// Whether both are one list.
    pub(super) fn is(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Some(one), Some(other)) => Rc::ptr_eq(one, other),
            (None, None) => true,
            _ => false,
        }
    }

    /// The texts of the values.
    pub(super) fn texts(&self) -> TextSet {
        self.0.as_ref().map_or_else(TextSet::default, |inside| inside.texts)
    }

    /// Whether any of the values is that of an identifier.
    pub(super) fn has_identifiers(&self) -> bool {
        self.0.as_ref().is_some_and(|inside| inside.has_identifiers)
    }

    /// How many of the values are of identifiers by which requests are told apart.
    pub(super) fn n_request(&self) -> usize {
        self.0.as_ref().map_or(0, |inside| inside.n_request)
    }

    /// Counts the values that a record, which binds `new`, has in common with what was bound before:
    /// (request, weak). Value classes decide what agrees: two paths can name the same thing.
    pub(super) fn shared(&self, new: &Self) -> (u32, u32) {
        if !self.texts().may_share(new.texts()) {
            return (0, 0);
        }
        let (mut n_request, mut n_weak, mut n_digests, mut n_weak_digests) = (0, 0, 0, 0);
        // What is known by its parts is no second evidence besides them.
        let is_part = |class: ValueClassId| new.iter().any(|new| new.part == Some(class));
        let names = |class| new.iter().any(|new| new.part.is_none() && new.value_class == class);
        for new in new.iter() {
            // What is made up as a digest names one thing, whatever that is called.
            let same = |old: &&Bound| {
                old.is_called(new) && (old.value_class == new.value_class || is_digest(&new.text))
            };
            let Some(old) = self.iter().find(same) else { continue };
            match shared_strength(old, new, &names) {
                // It is beside the name of what it is the digest of.
                IdentifierStrength::Request if is_digest(&new.text) => n_digests = 1,
                IdentifierStrength::Request => n_request += 1,
                IdentifierStrength::Weak if is_part(new.value_class) => {}
                IdentifierStrength::Weak if is_digest(&new.text) => n_weak_digests = 1,
                IdentifierStrength::Weak => n_weak += 1,
                IdentifierStrength::Node => {}
            }
        }
        // A digest and the name beside it are one thing, as sure as the surer of them.
        match (n_request, n_digests) {
            (0, 0) => (0, n_weak + n_weak_digests),
            (0, _) => (n_digests, n_weak.saturating_sub(1)),
            (_, _) => (n_request, n_weak),
        }
    }
}

/// Pairs of lists that are remembered: the methods of a span have few different ones.
const PAIRS_MAX: usize = 16;

/// What methods have in common with a record, by what both bind: (request, weak); none if they
/// contradict each other.
pub(super) type Agreed<'b> = Pairs<'b, Option<(u32, u32)>>;

/// What has been worked out of pairs of lists.
pub(super) struct Pairs<'b, T>(SmallVec<[(&'b Bounds, &'b Bounds, T); PAIRS_MAX]>);

impl<T> Default for Pairs<'_, T> {
    fn default() -> Self {
        Self(SmallVec::new())
    }
}

impl<'b, T: Clone> Pairs<'b, T> {
    /// What `make` says of two lists, which is asked once, as far as they are remembered.
    pub(super) fn get(&mut self, old: &'b Bounds, new: &'b Bounds, make: impl FnOnce() -> T) -> T {
        if let Some((.., known)) = self.0.iter().find(|(one, other, _)| one.is(old) && other.is(new)) {
            return known.clone();
        }
        let made = make();
        if self.0.len() < PAIRS_MAX {
            self.0.push((old, new, made.clone()));
        }
        made
    }
}

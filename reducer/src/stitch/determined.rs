//! Which kinds of things come with one of another kind only: a path that one session
//! has made, an address that one connection has had.
//!
//! Names are used again, by somebody else. Two that share such a name and differ in
//! what it otherwise always comes with have nothing in common: it has come back.
//! Whether it always comes with one is learnt from the log.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;
use schema::ValueClassId;
use schema::kinds::is_made;

use super::facts::{Fact, Facts};

/// Names of a kind from which to learn.
const NAMES_MIN: usize = 8;

/// At most one name in this many may come with several.
const EXCEPTIONS_SHARE: usize = 16;

/// Kinds and the kinds of which each of their names comes with one only.
#[derive(Debug, Default)]
pub(super) struct Determined(BTreeSet<(ValueClassId, ValueClassId)>);

impl Determined {
    /// What the spans of `facts` that `counts` show.
    pub(super) fn learn(facts: &Facts<'_>, counts: impl Fn(&Fact<'_>) -> bool) -> Self {
        // Per name and other kind: the only text of that kind so far, and in how many spans.
        let mut with: FxHashMap<(ValueClassId, &str, ValueClassId), (Option<&str>, usize)> =
            FxHashMap::default();
        for (_, fact) in facts.iter().filter(|(_, fact)| counts(fact)) {
            let mut names = fact.only_values();
            names.retain(|_, text| is_made(text));
            for (&kind, &name) in &names {
                for (&other, &text) in names.iter().filter(|&(&other, _)| other != kind) {
                    let (only, n) = with.entry((kind, name, other)).or_insert((Some(text), 0));
                    *only = only.filter(|&only| only == text);
                    *n += 1;
                }
            }
        }
        let mut n_names: BTreeMap<(ValueClassId, ValueClassId), (usize, usize)> = BTreeMap::new();
        for ((kind, _, other), (only, _)) in with.into_iter().filter(|(_, (_, n))| *n > 1) {
            let (n, n_several) = n_names.entry((kind, other)).or_default();
            *n += 1;
            *n_several += usize::from(only.is_none());
        }
        let is_rule = |&(n, n_several): &(usize, usize)| n >= NAMES_MIN && n_several * EXCEPTIONS_SHARE <= n;
        Self(n_names.into_iter().filter(|(_, n)| is_rule(n)).map(|(kinds, _)| kinds).collect())
    }

    /// Whether two spans that share a name of `kind` differ in what it comes with.
    pub(super) fn has_come_back(&self, kind: ValueClassId, a: &Fact<'_>, b: &Fact<'_>) -> bool {
        let differ = |(x, y): (&str, &str)| x != y && is_made(x) && is_made(y);
        let differs = |other| a.only_value(other).zip(b.only_value(other)).is_some_and(differ);
        let others = self.0.range((kind, ValueClassId::new(0))..).take_while(|kinds| kinds.0 == kind);
        others.into_iter().any(|&(_, other)| differs(other))
    }
}

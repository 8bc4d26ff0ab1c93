//! Same ids: what the ids that logs carry ([`crate::stitch::ids`]) say of who has asked.
//!
//! A caller is of one request. So what a match that is sure joins has the id of either end, and a
//! handler of another id is none of that caller's ([`SameIds::keep_apart`]). And what spans of one
//! id and method were asked for is told by all of them together: where none of the known callers
//! has their id, one without is found for each id by one assignment, each for one id only. Three
//! handlers of one id that may each be of two callers are of the one that fits all three.

use std::collections::BTreeMap;

use rustc_hash::FxHashSet;
use schema::TopLevelId;
use schema::assignment::{Edge, shares};

use super::gaps::Gaps;
use super::likelihood::Likelihood;
use super::{Handler, SURE_MIN, Shares, sure};
use crate::merge::{Sets, to_u32};
use crate::stitch::facts::Facts;

/// Times that what was found tells of more, at most: a chain of calls is as long.
const ROUNDS_MAX: usize = 8;

/// Spans that are known to be of one id, by now.
#[derive(Debug)]
pub(super) struct SameIds<'f> {
    facts: &'f Facts<'f>,
    sets: Sets,
}

/// Handlers of one method and one id, by the callers that all or some of them can be of: those that
/// each would take, as positions among the handlers and their matches.
type Callers = BTreeMap<u32, Vec<(usize, usize)>>;

impl<'f> SameIds<'f> {
    /// What is known before anything is matched; none: no ids are used.
    pub(super) fn new(facts: &'f Facts<'f>) -> Option<Self> {
        facts.ids().are_used().then(|| Self { facts, sets: facts.numbered_sets() })
    }

    /// Joins what matches of `share_min` at least join, and what handlers of one id together tell.
    pub(super) fn learn(
        &mut self,
        (gaps, likelihood): (&Gaps, &Likelihood<'_>),
        (handlers, known): (&[Handler], &Shares),
        share_min: f64,
    ) {
        self.sets = self.facts.numbered_sets();
        let sure = sure(gaps, handlers, known, SURE_MIN.max(share_min));
        for ((handler, _), sure) in handlers.iter().zip(sure) {
            sure.into_iter().for_each(|sure| _ = self.sets.join(gaps.get(sure.gap).span, *handler));
        }
        for _ in 0..ROUNDS_MAX {
            let groups = self.groups(gaps, handlers);
            if !self.join_groups(likelihood, (handlers, known), &groups, share_min) {
                break;
            }
        }
    }

    /// Handlers of one id and method of which no caller is known to be of that id.
    fn groups(&mut self, gaps: &Gaps, handlers: &[Handler]) -> BTreeMap<(u32, TopLevelId), Callers> {
        let mut groups: BTreeMap<(u32, TopLevelId), Callers> = BTreeMap::new();
        for (at, (handler, matches)) in handlers.iter().enumerate() {
            let root = self.sets.root(*handler);
            let top = self.facts.get(*handler).tops.first().filter(|_| self.sets.is_named(root));
            let has_caller = matches.iter().any(|one| self.sets.root(gaps.get(one.gap).span) == root);
            let Some(&top) = top.filter(|_| !has_caller) else { continue };
            for (choice, one) in matches.iter().enumerate() {
                let caller = gaps.get(one.gap).span;
                if !self.sets.are_apart(caller, *handler) {
                    let callers = groups.entry((root, top)).or_default();
                    callers.entry(caller).or_default().push((at, choice));
                }
            }
        }
        groups
    }

    /// Finds the caller of each group; whether there are any that are likely enough.
    fn join_groups(
        &mut self,
        likelihood: &Likelihood<'_>,
        (handlers, known): (&[Handler], &Shares),
        groups: &BTreeMap<(u32, TopLevelId), Callers>,
        share_min: f64,
    ) -> bool {
        let mut places: BTreeMap<(u32, TopLevelId), u32> = BTreeMap::new();
        let mut edges: Vec<Vec<Edge>> = Vec::new();
        for ((_, top), callers) in groups {
            let of = |(&caller, choices): (&u32, &Vec<(usize, usize)>)| {
                let next = to_u32(places.len());
                let place = *places.entry((caller, *top)).or_insert(next);
                Edge { place: Some(place), odds: together(likelihood, (handlers, known), choices) }
            };
            edges.push(callers.iter().map(of).collect());
        }
        let mut has_joined = false;
        for (((root, _), callers), shares) in groups.iter().zip(shares(&edges)) {
            let likely = callers.keys().zip(shares).filter(|(_, share)| *share >= share_min);
            for (&caller, _) in likely {
                has_joined |= self.sets.join(caller, *root);
            }
        }
        has_joined
    }

    /// Leaves no choice of a caller that is of another id, nor of any but those of its own if there
    /// is one. `odd` are the costs of all matches before.
    pub(super) fn keep_apart(&mut self, gaps: &Gaps, handlers: &mut [Handler], odd: &[Vec<f64>]) {
        for ((handler, matches), odd) in handlers.iter_mut().zip(odd) {
            let root = self.sets.root(*handler);
            let is_named = self.sets.is_named(root);
            let own: FxHashSet<u32> = matches
                .iter()
                .map(|one| gaps.get(one.gap).span)
                .filter(|caller| is_named && self.sets.root(*caller) == root)
                .collect();
            for (one, odd) in matches.iter_mut().zip(odd) {
                let caller = gaps.get(one.gap).span;
                let is_out =
                    self.sets.are_apart(caller, *handler) || !own.is_empty() && !own.contains(&caller);
                one.odd = if is_out { f64::INFINITY } else { *odd };
            }
        }
    }
}

/// How much likelier it is that all of these choices of handlers were made than that none was,
/// each place by one handler only.
fn together(
    likelihood: &Likelihood<'_>,
    (handlers, known): (&[Handler], &Shares),
    choices: &[(usize, usize)],
) -> f64 {
    let mut taken: FxHashSet<u32> = FxHashSet::default();
    let (mut sum, mut at) = (0.0, 0);
    while at < choices.len() {
        let handler = choices[at].0;
        let n = choices[at..].iter().take_while(|(other, _)| *other == handler).count();
        let edges = choices[at..at + n].iter().flat_map(|&(handler, choice)| {
            let (span, matches) = &handlers[handler];
            likelihood.edges(*span, &matches[choice], known[handler][choice])
        });
        let free = edges.filter(|edge| edge.place.is_none_or(|place| !taken.contains(&place)));
        if let Some(best) = free.max_by(|a, b| a.odds.total_cmp(&b.odds)).filter(|best| best.odds > 0.0) {
            taken.extend(best.place);
            sum += best.odds;
        }
        at += n;
    }
    sum
}

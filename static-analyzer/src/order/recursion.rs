//! Recursion: methods that call each other back have no order among what they print, but for
//! what each of them can print first.
//!
//! Which of them is called from outside decides that: who complains before it does anything
//! else begins with the complaint, however much can come after it. What logs usually do not
//! show can stand before that. Over-approximates: after the first line anything of what the
//! methods print can follow, in any order.

use std::collections::{BTreeMap, BTreeSet};

use super::Input;
use super::fragment::{Fragment, Node};
use super::method;
use crate::program::MethodId;

/// What a method can print first, and whether it can return without printing anything.
type First = (Vec<u32>, bool);

/// Methods that call each other back.
pub(super) struct Recursion<'a> {
    pub(super) input: &'a Input<'a>,
    /// The methods, sorted.
    pub(super) members: &'a [u32],
    /// Whom each method calls.
    pub(super) callees: &'a [Vec<u32>],
    /// The fragments of the methods below them.
    pub(super) fragments: &'a [Fragment],
}

impl Recursion<'_> {
    /// The fragments of the members.
    pub(super) fn fold(&self) -> Vec<Fragment> {
        let mut points: Vec<u32> = Vec::new();
        for &m in self.members {
            points.extend(self.input.sites[m as usize].iter().flat_map(|(_, points)| points));
            points.extend(self.below(m).flat_map(|callee| self.fragments[callee as usize].points()));
        }
        points.sort_unstable();
        points.dedup();
        if points.is_empty() {
            return vec![Fragment::empty(); self.members.len()];
        }
        let is_usual = |point: u32| self.input.is_usual(point);
        let all = self.firsts(&points, |_| true);
        let usual = self.firsts(&points, is_usual);
        let (often, seldom): (Vec<u32>, Vec<u32>) = points.iter().partition(|&&point| is_usual(point));
        let fold = |m: &u32| {
            let (first, silent) = &all[m];
            let begins = &usual[m].0;
            if first.is_empty() || begins.is_empty() || *begins == often {
                return Fragment::folded(points.clone());
            }
            let detail: Vec<u32> = first.iter().copied().filter(|&point| !is_usual(point)).collect();
            let of =
                |points: &[u32], repeats: bool| Node { points: points.to_vec(), repeats, ..Node::default() };
            let before =
                if detail.is_empty() { Vec::new() } else { vec![of(&detail, false), of(&seldom, true)] };
            let begins_so = first.iter().any(|&point| is_usual(point));
            Fragment::in_turn(before, (of(begins, false), begins_so), of(&points, true), *silent)
        };
        self.members.iter().map(fold).collect()
    }

    /// Whom a member calls that is none.
    fn below(&self, m: u32) -> impl Iterator<Item = u32> {
        let callees = self.callees[m as usize].iter().copied();
        callees.filter(|callee| self.members.binary_search(callee).is_err())
    }

    /// What each member can print first of the shown ones of `points`.
    fn firsts(&self, points: &[u32], is_shown: impl Fn(u32) -> bool) -> BTreeMap<u32, First> {
        // Nothing is known to come first, nor that anything comes back, until it is found.
        let begun = |(first, silent): First| Fragment::begun(first, points.to_vec(), silent);
        let unknown = |&m: &u32| (m, begun((Vec::new(), false)));
        let mut fragments: BTreeMap<u32, Fragment> = self.members.iter().map(unknown).collect();
        let mut callers: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for &m in self.members {
            for callee in self.below(m) {
                fragments
                    .entry(callee)
                    .or_insert_with(|| beginning(&self.fragments[callee as usize], &is_shown));
            }
            for callee in &self.callees[m as usize] {
                callers.entry(*callee).or_default().push(m);
            }
        }
        let mut todo: BTreeSet<u32> = self.members.iter().copied().collect();
        let mut found: BTreeMap<u32, First> = self.members.iter().map(|&m| (m, First::default())).collect();
        while let Some(m) = todo.pop_first() {
            let method = MethodId::new(m as usize);
            let Some(body) = &self.input.program.methods[method.index()].body else { continue };
            let of = |callee: MethodId| {
                let index = u32::try_from(callee.index()).expect("fewer than 2^32 methods");
                &fragments[&index]
            };
            let events = super::events(self.input, method, &of, usize::MAX);
            let first = method::first(body, &events, &is_shown);
            if found[&m] != first {
                fragments.insert(m, begun(first.clone()));
                found.insert(m, first);
                todo.extend(callers.get(&m).into_iter().flatten());
            }
        }
        found
    }
}

/// What a fragment can begin with, and the rest of it without order, of what is shown.
fn beginning(fragment: &Fragment, is_shown: impl Fn(u32) -> bool) -> Fragment {
    if fragment.nodes.is_empty() {
        return Fragment::empty();
    }
    let (mut first, mut silent) = (Vec::new(), fragment.silent);
    let mut seen = vec![false; fragment.nodes.len()];
    let mut todo = fragment.entries.clone();
    while let Some(node) = todo.pop() {
        if std::mem::replace(&mut seen[node as usize], true) {
            continue;
        }
        let points = &fragment.nodes[node as usize].points;
        first.extend(points.iter().copied().filter(|&point| is_shown(point)));
        if !points.iter().all(|&point| is_shown(point)) {
            silent |= fragment.returns.binary_search(&node).is_ok();
            todo.extend(&fragment.nodes[node as usize].next);
        }
    }
    first.sort_unstable();
    first.dedup();
    Fragment::begun(first, fragment.points(), silent)
}

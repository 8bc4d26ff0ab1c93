//! Recursion: methods that call each other back have no order among what they print, but for
//! what each of them can print first.
//!
//! Which of them is called from outside decides that: who complains before it does anything
//! else begins with the complaint, however much can come after it. Over-approximates: after the
//! first line anything of what the methods print can follow, in any order.

use std::collections::{BTreeMap, BTreeSet};

use super::Input;
use super::fragment::Fragment;
use super::method;
use crate::program::MethodId;

/// The fragments of `members`, which call each other back; `callees`: whom each method calls,
/// `fragments`: those of the methods below them.
pub(super) fn fold(
    input: &Input<'_>,
    members: &[u32],
    callees: &[Vec<u32>],
    fragments: &[Fragment],
) -> Vec<Fragment> {
    let below = |m: u32| callees[m as usize].iter().filter(|callee| members.binary_search(callee).is_err());
    let mut points: Vec<u32> = Vec::new();
    let mut begun: BTreeMap<u32, Fragment> = BTreeMap::new();
    for &m in members {
        points.extend(input.sites[m as usize].iter().flat_map(|(_, points)| points));
        for &callee in below(m) {
            points.extend(fragments[callee as usize].points());
            begun.entry(callee).or_insert_with(|| beginning(&fragments[callee as usize]));
        }
    }
    points.sort_unstable();
    points.dedup();
    if points.is_empty() {
        return vec![Fragment::empty(); members.len()];
    }
    // Nothing is known to come first, nor that anything comes back, until it is found.
    begun.extend(members.iter().map(|&m| (m, Fragment::begun(Vec::new(), points.clone(), false))));
    let mut callers: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for &m in members {
        let inner = callees[m as usize].iter().filter(|callee| members.binary_search(callee).is_ok());
        inner.for_each(|&callee| callers.entry(callee).or_default().push(m));
    }
    let mut todo: BTreeSet<u32> = members.iter().copied().collect();
    while let Some(m) = todo.pop_first() {
        let method = MethodId::new(m as usize);
        let Some(body) = &input.program.methods[method.index()].body else { continue };
        let of = |callee: MethodId| {
            let index = u32::try_from(callee.index()).expect("fewer than 2^32 methods");
            &begun[&index]
        };
        let (first, silent) = method::first(body, &super::events(input, method, &of, usize::MAX));
        let found = Fragment::begun(first, points.clone(), silent);
        if begun[&m] != found {
            begun.insert(m, found);
            todo.extend(callers.get(&m).into_iter().flatten());
        }
    }
    let folded = |m: &u32| {
        let fragment = &begun[m];
        let first = &fragment.nodes[0].points;
        if first.is_empty() || *first == points { Fragment::folded(points.clone()) } else { fragment.clone() }
    };
    members.iter().map(folded).collect()
}

/// What a fragment can begin with, and the rest of it without order.
fn beginning(fragment: &Fragment) -> Fragment {
    let entries = fragment.entries.iter().flat_map(|&entry| &fragment.nodes[entry as usize].points);
    let mut first: Vec<u32> = entries.copied().collect();
    first.sort_unstable();
    first.dedup();
    match fragment.nodes.is_empty() {
        true => Fragment::empty(),
        false => Fragment::begun(first, fragment.points(), fragment.silent),
    }
}

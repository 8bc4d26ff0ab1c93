//! Retries: a task that starts itself again.
//!
//! Who starts the first run can name less in common with it than with a later one, which goes
//! further before it prints: by what they share the later one is taken for the first, and the
//! real first one is left without a sender. But a run that another run can have started needs no
//! other starter, and what begins earlier was started first: the sender is that of the first run
//! which nobody else has started, and the run it was taken for is the next one after the last of
//! those that follow on that.

use rustc_hash::FxHashMap;

use super::evidence::Candidate;
use super::pairs::{Pair, Pairs};

/// Gives the senders of later runs among `taken` to the first ones, where `candidates` allow it.
/// Linear in the candidates of methods that start themselves, and in runs of one sender.
pub(super) fn begin_first<'c>(
    pairs: &Pairs<'_>,
    candidates: &'c [Candidate],
    taken: &mut Vec<&'c Candidate>,
) {
    let is_single = |pair: &Pair| !pair.many && !pair.is_way();
    let is_again = |candidate: &Candidate| {
        let pair = pairs.get(candidate.pair);
        !candidate.is_bare && pair.from == pair.to && is_single(pair)
    };
    let starts = |candidate: &Candidate| {
        let pair = pairs.get(candidate.pair);
        !candidate.is_bare && pair.from != pair.to && is_single(pair)
    };
    // Spans are numbered in the order in which they begin.
    let again: FxHashMap<(u32, u32), &Candidate> =
        candidates.iter().filter(|c| c.from < c.to && is_again(c)).map(|c| ((c.from, c.to), c)).collect();
    if again.is_empty() {
        return;
    }
    let mut before: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
    again.keys().for_each(|&(run, next)| before.entry(next).or_default().push(run));
    let known: FxHashMap<(u32, u32, u32), &Candidate> =
        candidates.iter().filter(|c| starts(c)).map(|c| ((c.pair, c.from, c.to), c)).collect();
    let mut runs = Runs::default();
    for (at, candidate) in taken.iter().enumerate() {
        runs.sender.insert(candidate.to, at);
        if is_again(candidate) {
            runs.next.insert(candidate.from, at);
        }
    }
    for at in 0..taken.len() {
        let own = taken[at];
        let Some(earlier) = before.get(&own.to).filter(|_| starts(own)) else { continue };
        let mut all = runs.after(taken, own.to);
        let is_free = |run: &&u32| {
            let is_started = known.contains_key(&(own.pair, own.from, **run));
            is_started && !runs.sender.contains_key(run)
        };
        all.extend(earlier.iter().filter(is_free).flat_map(|&run| runs.after(taken, run)));
        all.sort_unstable();
        all.dedup();
        let Some(&first) = known.get(&(own.pair, own.from, all[0])).filter(|first| first.to != own.to) else {
            continue;
        };
        let links: Option<Vec<&Candidate>> =
            all.windows(2).map(|pair| again.get(&(pair[0], pair[1])).copied()).collect();
        let Some(links) = links else { continue };
        // Their places are those of the links that they replace, and further ones.
        let mut places: Vec<usize> = all.iter().filter_map(|run| runs.next.remove(run)).collect();
        places.extend(taken.len()..taken.len() + links.len().saturating_sub(places.len()));
        taken[at] = first;
        runs.sender.insert(first.to, at);
        for (link, place) in links.into_iter().zip(places) {
            if place == taken.len() {
                taken.push(link);
            } else {
                taken[place] = link;
            }
            runs.sender.insert(link.to, place);
            runs.next.insert(link.from, place);
        }
    }
}

/// How runs of tasks that start themselves hang together: positions among what is taken.
#[derive(Default)]
struct Runs {
    /// By what was started.
    sender: FxHashMap<u32, usize>,
    /// Starts of the next run, by the run that starts it.
    next: FxHashMap<u32, usize>,
}

impl Runs {
    /// A run, and all that follow on it.
    fn after(&self, taken: &[&Candidate], run: u32) -> Vec<u32> {
        let mut all = vec![run];
        let mut last = run;
        while let Some(&at) = self.next.get(&last) {
            last = taken[at].to;
            if all.contains(&last) {
                break;
            }
            all.push(last);
        }
        all
    }
}

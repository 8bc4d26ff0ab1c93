//! What a record says besides what its log point prints, as numbers: the words of its message, and
//! the names within its values. Where no thread is printed, these tell whose a record is
//! ([`crate::accumulate`]); they are made by the threads that match, for the scan is one thread.

use std::hash::BuildHasher;

use rustc_hash::FxBuildHasher;

/// Characters of a word.
const WORD_MIN: usize = 4;

/// Words kept of one record, and of one span.
pub(crate) const WORDS_MAX: usize = 256;

/// Characters of a name.
const NAME_MIN: usize = 4;

/// A number of so many digits names something.
const NUMBER_MIN: usize = 12;

/// Names of one record that are looked at.
const NAMES_MAX: usize = 64;

/// Adds the words of a message, sorted: runs of letters, digits and underscores.
pub fn add_words(text: &[u8], all: &mut Vec<u64>) {
    add_hashes(runs(text).filter(|run| run.len() >= WORD_MIN), all);
}

/// Runs of letters, digits and underscores.
pub(crate) fn runs(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let is_within = |b: &u8| b.is_ascii_alphanumeric() || *b == b'_' || !b.is_ascii();
    text.split(move |b| !is_within(b))
}

/// Adds the numbers of words, sorted, each once.
pub(crate) fn add_hashes<'t>(words: impl Iterator<Item = &'t [u8]>, all: &mut Vec<u64>) {
    let start = all.len();
    all.extend(words.take(WORDS_MAX).map(|word| FxBuildHasher.hash_one(word)));
    sort_from(start, all);
}

/// Sorts what stands from `start` on, and keeps each of it once.
fn sort_from<T: Copy + Ord>(start: usize, all: &mut Vec<T>) {
    all[start..].sort_unstable();
    let mut end = start;
    for at in start..all.len() {
        if end == start || all[at] != all[end - 1] {
            all[end] = all[at];
            end += 1;
        }
    }
    all.truncate(end);
}

/// A name within a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NameOf {
    pub(crate) name: u64,
    /// The value.
    pub(crate) within: u64,
    /// The value ends with it: it is what the value names, and not where that is.
    pub(crate) is_last: bool,
}

/// What divides a list, a path or an address.
const MARKS: &str = ",;:=()[]{}<>\"'|/\\@";

/// Adds the names within values, sorted: runs with a digit of what is neither blank nor divides a
/// list, a path or an address; a number only if it is large.
pub fn add_names<'v>(values: impl Iterator<Item = &'v str>, all: &mut Vec<NameOf>) {
    // PERF: most of a value is letters and digits.
    let divides = |c: char| !c.is_ascii_alphanumeric() && (MARKS.contains(c) || c.is_whitespace());
    let is_around = |c: char| matches!(c, '.' | '-' | '_' | '#' | '$' | '!' | '?');
    let is_name = |run: &&str| {
        let n_digits = run.bytes().filter(u8::is_ascii_digit).count();
        let is_number = run.bytes().all(|b| b.is_ascii_digit() || b".%+-".contains(&b));
        run.len() >= NAME_MIN && n_digits > 0 && (!is_number || n_digits >= NUMBER_MIN)
    };
    let runs = |value: &'v str| {
        let runs = value.split(divides).map(|run| run.trim_matches(is_around));
        let within = FxBuildHasher.hash_one(value);
        let is_last = |run: &str| value.trim_end().ends_with(run);
        runs.filter(is_name).map(move |run| NameOf {
            name: FxBuildHasher.hash_one(run),
            within,
            is_last: is_last(run),
        })
    };
    let can_name = |value: &&str| value.len() >= NAME_MIN && value.bytes().any(|b| b.is_ascii_digit());
    let start = all.len();
    all.extend(values.filter(can_name).flat_map(runs).take(NAMES_MAX));
    sort_from(start, all);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &[u8]) -> Vec<u64> {
        let mut words = Vec::new();
        add_words(text, &mut words);
        words
    }

    #[test]
    fn words_are_what_names_consist_of() {
        assert_eq!(words(b"k1.users_cat at /data/users_cat-1 (12 of 4711)").len(), 3);
        assert_eq!(words(b"at users, users"), words(b"users"));
        assert!(words(b"a b: 1-2").is_empty());
    }

    #[test]
    fn what_is_added_is_sorted_by_itself() {
        let mut all = vec![u64::MAX];
        for text in [&b"users tables users"[..], b"tables", b"1 2 3", b"tables users"] {
            let mut slowly: Vec<u64> = runs(text)
                .filter(|run| run.len() >= WORD_MIN)
                .map(|run| FxBuildHasher.hash_one(run))
                .collect();
            slowly.sort_unstable();
            slowly.dedup();
            let start = all.len();
            add_words(text, &mut all);
            assert_eq!(all[start..], slowly);
        }
        assert_eq!(all[0], u64::MAX);
    }
}

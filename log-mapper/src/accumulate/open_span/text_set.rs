//! Texts, as far as it takes to see that two sets of them have none in common: a few words, so that
//! a record is held against many spans for next to nothing. Two sets may seem to share a text and do
//! not.

use super::TopState;
use super::bound::number_of;

/// A set of texts: a bit each, by the number of the text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::accumulate) struct TextSet([u64; N_WORDS]);

/// Of spans that have bound eight texts, and records that name three, one in eleven seems to share one.
const N_WORDS: usize = 4;

impl TextSet {
    /// The set of `texts`.
    pub(in crate::accumulate) fn of<'t>(texts: impl Iterator<Item = &'t str>) -> Self {
        Self::of_numbers(texts.map(number_of))
    }

    /// The set of texts with these numbers.
    pub(super) fn of_numbers(numbers: impl Iterator<Item = u32>) -> Self {
        let mut set = Self::default();
        numbers.for_each(|number| set.add(number));
        set
    }

    /// All that methods in these states have bound.
    pub(super) fn of_states(states: &[TopState]) -> Self {
        let mut set = Self::default();
        for state in states {
            set.0.iter_mut().zip(state.bound.texts().0).for_each(|(ours, theirs)| *ours |= theirs);
        }
        set
    }

    fn add(&mut self, number: u32) {
        let at = number as usize % (N_WORDS * u64::BITS as usize);
        self.0[at / u64::BITS as usize] |= 1 << (at % u64::BITS as usize);
    }

    /// Whether a text can be in both; if not, none is.
    pub(super) fn may_share(self, other: Self) -> bool {
        self.0.iter().zip(other.0).any(|(ours, theirs)| ours & theirs != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::TextSet;

    #[test]
    fn what_is_in_both_is_seen() {
        let texts: Vec<String> = (0..200).map(|n| format!("task_{n}")).collect();
        let of = |texts: &[String]| TextSet::of(texts.iter().map(String::as_str));
        for (at, text) in texts.iter().enumerate() {
            assert!(of(&texts[at.saturating_sub(3)..=at]).may_share(of(std::slice::from_ref(text))));
        }
        let n_apart = texts.iter().filter(|text| !of(&texts[..1]).may_share(of(std::slice::from_ref(text))));
        assert!(n_apart.count() > 150, "most are told from one");
        assert!(!TextSet::default().may_share(of(&texts)));
    }
}

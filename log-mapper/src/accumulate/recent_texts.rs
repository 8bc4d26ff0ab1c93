//! Recent texts: what is known of texts that the log has shown lately. A log shows new ones for
//! as long as it goes on; what one part of it has not shown is forgotten at its end, so that
//! memory is bounded by a part.

use std::sync::Arc;

use rustc_hash::FxHashMap;

/// What is known of each text that the part at hand has shown, or the one before.
#[derive(Debug)]
pub(super) struct RecentTexts<V> {
    now: FxHashMap<Arc<str>, V>,
    before: FxHashMap<Arc<str>, V>,
}

impl<V> Default for RecentTexts<V> {
    fn default() -> Self {
        Self { now: FxHashMap::default(), before: FxHashMap::default() }
    }
}

impl<V> RecentTexts<V> {
    /// Whether nothing is known of any.
    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What is known of a text.
    pub(super) fn get(&self, text: &str) -> Option<&V> {
        self.get_key_value(text).map(|(_, known)| known)
    }

    /// The same with the text as it was first shown.
    pub(super) fn get_key_value(&self, text: &str) -> Option<(&Arc<str>, &V)> {
        self.now.get_key_value(text).or_else(|| self.before.get_key_value(text))
    }

    /// What is known of a text, to be added to.
    pub(super) fn get_mut(&mut self, text: &str) -> Option<&mut V> {
        self.now.get_mut(text).or_else(|| self.before.get_mut(text))
    }

    /// What is known of a text that is shown now; `new`, if nothing is.
    pub(super) fn show(&mut self, text: &Arc<str>, new: impl FnOnce() -> V) -> &mut V {
        let Self { now, before } = self;
        now.entry(Arc::clone(text)).or_insert_with(|| before.remove(text).unwrap_or_else(new))
    }

    /// A part of the log ends: what it has not shown is forgotten.
    pub(super) fn end_part(&mut self) {
        self.before = std::mem::take(&mut self.now);
    }

    /// The same, as soon as something is known of more than `n_kept`.
    pub(super) fn end_part_beyond(&mut self, n_kept: u64) {
        if self.len() as u64 > n_kept {
            self.end_part();
        }
    }

    /// Of how many something is known.
    pub(super) fn len(&self) -> usize {
        self.now.len() + self.before.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_whole_part_has_not_shown_is_forgotten() {
        let mut texts = RecentTexts::default();
        let show = |texts: &mut RecentTexts<u32>, text: &str| *texts.show(&Arc::from(text), || 0) += 1;
        show(&mut texts, "block_1");
        show(&mut texts, "block_2");
        texts.end_part();
        assert_eq!(texts.get("block_1"), Some(&1));
        show(&mut texts, "block_1");
        texts.end_part();
        assert_eq!((texts.get("block_1"), texts.get("block_2")), (Some(&2), None));
        *texts.get_mut("block_1").expect("shown before") += 1;
        assert_eq!(texts.get("block_1"), Some(&3));
        texts.end_part();
        assert!(texts.is_empty());
    }

    #[test]
    fn as_many_as_are_to_be_kept_are() {
        let mut texts: RecentTexts<u32> = RecentTexts::default();
        // The fourth one is too many, and a part later what was not shown since is forgotten.
        for (n_shown, expected) in (1..).zip([(1, true), (2, true), (3, true), (4, true), (1, false)]) {
            texts.show(&Arc::from(format!("block_{n_shown}")), || 0);
            texts.end_part_beyond(3);
            assert_eq!((texts.len(), texts.get("block_1").is_some()), expected);
        }
    }
}

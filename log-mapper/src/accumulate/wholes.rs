//! Wholes: what a named thing is part of, learnt from records that name both.
//!
//! A record that makes a part says what it is made for (a block and its file, a
//! task and its job); later ones name the part alone, and others of the same
//! request the whole alone. Where the layout prints no thread, knowing the whole
//! of a part is what shows that they are one.
//!
//! A kind of values is part of another one if a value of it is always shown with
//! the same value of the other, and of those there are fewer: a whole has parts.

use std::collections::VecDeque;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use schema::ValueClassId;
use schema::kinds::TELLING_MIN;

use super::evidence;

/// Parts of which the whole is remembered, the last that were shown.
const PARTS_MAX: usize = 1 << 16;

/// A number of so many digits names something.
const NUMBER_MIN: usize = 12;

/// Values of a record that are looked at.
const VALUES_MAX: usize = 8;

/// A value under the class that tells requests apart by it.
pub(super) type Named = (ValueClassId, Arc<str>);

/// Something that a record does not name, but a part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Whole {
    pub(super) name: Named,
    /// The class of the part.
    pub(super) part: ValueClassId,
}

/// What is part of what.
#[derive(Debug, Default)]
pub(super) struct Wholes {
    /// Per part what it was shown with.
    of: FxHashMap<Named, Vec<Named>>,
    /// The parts, first shown first.
    shown: VecDeque<Named>,
    /// Per (part's class, whole's class).
    kinds: FxHashMap<(ValueClassId, ValueClassId), Kind>,
}

#[derive(Debug, Default)]
struct Kind {
    n_parts: u32,
    /// Parts that were shown with another whole too.
    n_torn: u32,
    wholes: FxHashSet<Arc<str>>,
}

impl Wholes {
    /// A record shows `values`.
    pub(super) fn learn(&mut self, values: &[Named]) {
        let telling = |value: &&Named| value.1.len() >= TELLING_MIN;
        let values: Vec<&Named> = values.iter().filter(telling).take(VALUES_MAX).collect();
        for part in &values {
            let others = values.iter().filter(|whole| whole.0 != part.0 && whole.1 != part.1);
            for whole in others.filter(|whole| !is_measure(&whole.1)) {
                self.learn_one(part, whole);
            }
        }
        while self.shown.len() > PARTS_MAX {
            let oldest = self.shown.pop_front();
            oldest.into_iter().for_each(|oldest| drop(self.of.remove(&oldest)));
        }
    }

    fn learn_one(&mut self, part: &Named, whole: &Named) {
        let kind = self.kinds.entry((part.0, whole.0)).or_default();
        if kind.is_torn() {
            return;
        }
        let known = self.of.entry(part.clone()).or_insert_with(|| {
            self.shown.push_back(part.clone());
            Vec::new()
        });
        match known.iter().find(|known| known.0 == whole.0) {
            Some(same) if same.1 == whole.1 => {}
            Some(_) => kind.n_torn += 1,
            None => {
                known.push(whole.clone());
                kind.n_parts += 1;
                if kind.wholes.len() < PARTS_MAX {
                    kind.wholes.insert(Arc::clone(&whole.1));
                }
            }
        }
    }

    /// What the things that a record names are parts of, if it does not name it
    /// itself.
    pub(super) fn of(&self, values: &[Named]) -> Vec<Whole> {
        let mut out: Vec<Whole> = Vec::new();
        for part in values {
            for whole in self.of.get(part).into_iter().flatten() {
                let is_whole = self.kinds.get(&(part.0, whole.0)).is_some_and(Kind::is_known);
                let is_known = out.iter().any(|known| known.name == *whole);
                if is_whole && values.iter().all(|own| own.0 != whole.0) && !is_known {
                    out.push(Whole { name: whole.clone(), part: part.0 });
                }
            }
        }
        out
    }
}

/// Whether a text is a number that is as well a size or a count.
fn is_measure(text: &str) -> bool {
    text.len() < NUMBER_MIN && text.bytes().all(|b| b.is_ascii_digit())
}

impl Kind {
    /// Whether too many parts were shown with several wholes.
    fn is_torn(&self) -> bool {
        evidence::is_torn(self.n_torn, self.n_parts)
    }

    fn is_known(&self) -> bool {
        let n_wholes = u32::try_from(self.wholes.len()).unwrap_or(u32::MAX);
        !self.is_torn() && evidence::has_parts(n_wholes, self.n_parts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(class: usize, text: &str) -> Named {
        (ValueClassId::new(class), Arc::from(text))
    }

    #[test]
    fn a_part_shows_its_whole() {
        let mut wholes = Wholes::default();
        for n in 10..50 {
            wholes.learn(&[named(0, &format!("part-{n}")), named(1, &format!("whole-{}", n / 2))]);
        }
        let whole = Whole { name: named(1, "whole-20"), part: ValueClassId::new(0) };
        assert_eq!(wholes.of(&[named(0, "part-41")]), [whole]);
        // A whole is not part of its parts.
        assert!(wholes.of(&[named(1, "whole-20")]).is_empty());
        // What a record says itself is not looked up.
        assert!(wholes.of(&[named(0, "part-41"), named(1, "whole-7")]).is_empty());
    }

    #[test]
    fn what_goes_from_one_to_another_is_no_part() {
        let mut wholes = Wholes::default();
        for n in 10..50 {
            wholes.learn(&[named(0, &format!("guest-{n}")), named(1, &format!("house-{}", n / 4))]);
            wholes.learn(&[named(0, &format!("guest-{n}")), named(1, &format!("house-{}", n / 5))]);
        }
        assert!(wholes.of(&[named(0, "guest-41")]).is_empty());
    }
}

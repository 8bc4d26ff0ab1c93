//! Soles: names of which there is one only. The policy, the pool or the queue that a log
//! shows again and again, and never another one of its class, is what was set up: it is
//! everybody's, and names no request, however seldom a line shows it. What was made while
//! the program ran names something even if nothing else of its class was made.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use schema::ValueClassId;
use schema::kinds::is_made;

/// Values of a class from which to learn that there is one only.
const SHOWN_MIN: u32 = 16;

/// The classes of which all values shown so far are one text.
#[derive(Debug, Default)]
pub(super) struct Soles {
    /// None: there are several, or what names one was made.
    classes: FxHashMap<ValueClassId, Option<(Arc<str>, u32)>>,
}

impl Soles {
    /// A value of `class` is shown. What was seen ahead counts again when its turn comes.
    pub(super) fn see(&mut self, class: ValueClassId, text: &str) {
        let known = self.classes.entry(class).or_insert_with(|| Some((Arc::from(text), 0)));
        match known {
            Some((sole, n)) if **sole == *text && !is_made(text) => *n = n.saturating_add(1),
            _ => *known = None,
        }
    }

    /// Whether values of `class` are those of the only one that there is.
    pub(super) fn is_sole(&self, class: ValueClassId) -> bool {
        self.classes.get(&class).is_some_and(|sole| sole.as_ref().is_some_and(|(_, n)| *n >= SHOWN_MIN))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_set_up_and_has_no_like_is_everybodys() {
        let is_sole = |texts: &[&str]| {
            let (class, mut soles) = (ValueClassId::new(0), Soles::default());
            for _ in 0..4 {
                texts.iter().for_each(|text| soles.see(class, text));
            }
            soles.is_sole(class)
        };
        assert!(is_sole(&["HOT"; 4]));
        assert!(is_sole(&["7"; 4]));
        // Too few.
        assert!(!is_sole(&["HOT"; 3]));
        // Another one, and a name that was made.
        assert!(!is_sole(&["HOT", "HOT", "HOT", "HOT", "COLD"]));
        assert!(!is_sole(&["block_17"; 4]));
    }
}

//! Kinds: which value classes name the same sort of thing, learnt from what the
//! logs show.
//!
//! One thing is printed from several fields and getters, so that its values come
//! under several value classes (`Server.getPeer`, `Socket.getPeerAddress`). The
//! code alone does not always say that they are one; the log does, when the same
//! telling texts come under both again and again.

use std::collections::BTreeMap;

use crate::ids::ValueClassId;

/// Characters from which texts can hardly be equal by chance.
pub const TELLING_MIN: usize = 5;

/// Whether a value can be the name of something that was made while the program
/// ran: such names are numbered. What has no digit was named when the program was
/// written or set up (a table, a user, a mode), and many requests share it.
#[must_use]
pub fn is_made(text: &str) -> bool {
    text.len() >= TELLING_MIN && text.bytes().any(|b| b.is_ascii_digit())
}

/// Whether a text contains another one, set apart from what stands beside it.
#[must_use]
pub fn contains_apart(text: &str, part: &str) -> bool {
    let is_apart = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
    text.match_indices(part).any(|(at, found)| {
        is_apart(text[..at].chars().next_back()) && is_apart(text[at + found.len()..].chars().next())
    })
}

/// Whether one of two names holds the other one, set apart from the rest: it is of a part
/// of the same thing (`file_7` and `file_7_block_0`).
#[must_use]
pub fn are_part_and_whole(a: &str, b: &str) -> bool {
    let (part, whole) = if a.len() > b.len() { (a, b) } else { (b, a) };
    part.len() > whole.len() && is_made(whole) && contains_apart(part, whole)
}

/// Whether one of two names is a folder that was made while the program ran, and the other
/// one a place in it: what lies in the folder of a thing is of that thing.
#[must_use]
pub fn are_folder_and_file(a: &str, b: &str) -> bool {
    let (file, folder) = if a.len() > b.len() { (a, b) } else { (b, a) };
    let rest = file.strip_prefix(folder);
    rest.is_some_and(|rest| rest.starts_with(['/', '\\']))
        && is_made(folder.rsplit(['/', '\\']).next().unwrap_or_default())
}

/// Digits of a digest: as many as a UUID has.
const DIGEST_LEN: usize = 32;

/// Whether a text is a digest, or a UUID without dashes: who has one has it by no
/// chance.
#[must_use]
pub fn is_digest(text: &str) -> bool {
    text.len() == DIGEST_LEN
        && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
        && text.bytes().any(|b| b.is_ascii_digit())
        && text.bytes().any(|b| b.is_ascii_lowercase())
}

/// Lengths of the parts of a UUID.
pub const UUID_PARTS: [usize; 5] = [8, 4, 4, 4, 12];

/// Characters of a UUID.
pub const UUID_LEN: usize = 36;

/// Whether a text is a UUID.
#[must_use]
pub fn is_uuid(text: &str) -> bool {
    text.len() == UUID_LEN
        && text.split('-').map(str::len).eq(UUID_PARTS)
        && text.bytes().all(|b| b == b'-' || b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
}

/// Whether nobody has a text by chance: a digest, or a UUID.
#[must_use]
pub fn is_unique(text: &str) -> bool {
    is_digest(text) || is_uuid(text)
}

/// A UUID without its dashes; none if a text is no UUID.
#[must_use]
pub fn without_dashes(text: &str) -> Option<String> {
    is_uuid(text).then(|| text.replace('-', ""))
}

/// Digits of the ms and of the µs since 1970, from 2001 to 2286.
const MILLIS_DIGITS: usize = 13;
const MICROS_DIGITS: usize = 16;

/// The numbers in a text that can be times, in µs.
pub fn stamps_us(text: &str) -> impl Iterator<Item = i64> {
    let runs = text.split(|c: char| !c.is_ascii_alphanumeric());
    runs.filter_map(|run| {
        let scale = match run.len() {
            MILLIS_DIGITS => 1_000,
            MICROS_DIGITS => 1,
            _ => return None,
        };
        run.parse::<i64>().ok()?.checked_mul(scale)
    })
}

/// Whether a text is a name that holds the time at which its thing was made: the next
/// one of that name has another.
#[must_use]
pub fn is_dated(text: &str) -> bool {
    text.bytes().any(|b| b.is_ascii_alphabetic()) && stamps_us(text).next().is_some()
}

/// Distinct texts that two classes must have in common.
const MEETINGS_MIN: u32 = 3;

/// Classes remembered per text.
const CLASSES_MAX: usize = 8;

/// Value classes that were found to name one sort of thing.
#[derive(Clone, Debug, Default)]
pub struct Kinds {
    /// The class that stands for each one's kind; beyond the end: itself.
    stands_for: Vec<ValueClassId>,
    met: BTreeMap<(ValueClassId, ValueClassId), u32>,
}

impl Kinds {
    /// A text that was seen under the classes `known` is now seen under `class`,
    /// which is added to them.
    pub fn learn(&mut self, known: &mut Vec<ValueClassId>, class: ValueClassId, text: &str) {
        if text.len() < TELLING_MIN || known.contains(&class) || known.len() >= CLASSES_MAX {
            return;
        }
        for &other in known.iter() {
            let n = self.met.entry((class.min(other), class.max(other))).or_default();
            *n += 1;
            if *n == MEETINGS_MIN {
                self.unite(class, other);
            }
        }
        known.push(class);
    }

    /// The class that stands for the kind of `class`.
    #[must_use]
    pub fn of(&self, class: ValueClassId) -> ValueClassId {
        self.stands_for.get(class.index()).copied().unwrap_or(class)
    }

    /// Makes the kinds of two classes one, for which the smallest class of it stands.
    fn unite(&mut self, a: ValueClassId, b: ValueClassId) {
        let known = self.stands_for.len();
        self.stands_for.extend((known..=a.index().max(b.index())).map(ValueClassId::new));
        let (a, b) = (self.of(a), self.of(b));
        self.stands_for.iter_mut().filter(|kind| **kind == a.max(b)).for_each(|kind| *kind = a.min(b));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_of_so_many_digits_can_be_a_time() {
        let stamps = |text: &str| stamps_us(text).collect::<Vec<i64>>();
        assert_eq!(stamps("[n:1@1795256680415000,]"), [1_795_256_680_415_000]);
        assert_eq!(
            stamps("t1,,1795256680415.x/1795256680416"),
            [1_795_256_680_415_000, 1_795_256_680_416_000]
        );
        assert_eq!(stamps("17952566804150001 179525668041 a1795256680415000"), Vec::<i64>::new());
    }

    #[test]
    fn a_name_with_a_time_is_dated() {
        assert!(is_dated("t1,,1795256680415"));
        for other in ["t1,,17952566804", "1795256680415", "t1"] {
            assert!(!is_dated(other), "{other}");
        }
    }

    #[test]
    fn the_name_of_a_part_holds_that_of_the_whole() {
        assert!(are_part_and_whole("file_7", "file_7_block_0"));
        assert!(are_part_and_whole("file_7_block_0", "file_7"));
        for (a, b) in [("file_7", "file_7"), ("file_7", "file_71"), ("table", "table_7"), ("f7", "f7_0")] {
            assert!(!are_part_and_whole(a, b), "{a} {b}");
        }
    }

    #[test]
    fn what_lies_in_the_folder_of_a_thing_is_of_that_thing() {
        let file = "/data/orders-10/0001.log";
        assert!(are_folder_and_file(file, "/data/orders-10"));
        assert!(are_folder_and_file("/data/orders-10", file));
        // Beside it, the folder of all, another folder, one whose name only begins so.
        for other in ["/data/orders-10/0001.index", "/data", "/data/orders-11", "/data/orders-1"] {
            assert!(!are_folder_and_file(file, other), "{other}");
        }
    }

    #[test]
    fn a_uuid_is_the_same_one_without_dashes() {
        let digest = without_dashes("7ad54392-bcdd-35a6-8417-4e047860b377");
        assert_eq!(digest.as_deref(), Some("7ad54392bcdd35a684174e047860b377"));
        for other in ["7ad54392-bcdd-35a6-8417-4e047860b37", "7ad54392-bcdd-35a6-84174-e047860b377", ""] {
            assert_eq!(without_dashes(other), None, "{other}");
        }
    }

    #[test]
    fn classes_that_show_the_same_texts_are_one_kind() {
        let mut kinds = Kinds::default();
        let (peer, address, user) = (ValueClassId::new(4), ValueClassId::new(2), ValueClassId::new(1));
        for (n, text) in ["/10.0.0.1:5001", "/10.0.0.1:5002", "/10.0.0.1:5003"].into_iter().enumerate() {
            assert_eq!(kinds.of(peer), if n < 3 { peer } else { address });
            let mut known = vec![];
            kinds.learn(&mut known, peer, text);
            kinds.learn(&mut known, peer, text);
            kinds.learn(&mut known, address, text);
        }
        assert_eq!(kinds.of(peer), address);
        assert_eq!(kinds.of(user), user);
        // Short texts are equal by chance.
        for text in ["1", "2", "3"] {
            let mut known = vec![];
            kinds.learn(&mut known, user, text);
            kinds.learn(&mut known, peer, text);
        }
        assert_eq!(kinds.of(user), user);
    }
}

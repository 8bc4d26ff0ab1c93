//! The ids of requests and spans: where in the logs they begin, in a form that packs well.
//!
//! ```text
//! span       16 hex digits: number of the file + line, lowest byte first
//! request    32 hex digits: that of its first span, then more of the number of the file, then
//!            two digits of a hash of that, so that requests can be sampled by them
//! ```
//! A record is in one span of one request, so no two of a file have the same. The number of a
//! file is a hash of what it is: those of two files are closer to each other than their
//! lines are many as rarely as two random numbers of 40 bits are equal, in files of 2^24 lines.
//! Ids of what begins close to each other differ in their first digits only, by which people
//! name them; random ones would be half of the bytes of a table.

use std::collections::BTreeMap;

use schema::tables::Text;
use schema::{InputAccount, Place, Span};
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use super::rows::text;

/// The numbers of all files, by node and position in its inputs.
#[derive(Debug)]
pub(super) struct Ids(BTreeMap<String, Vec<u128>>);

impl Ids {
    /// Of the `inputs` of each node.
    pub(super) fn new(inputs: &BTreeMap<String, Vec<InputAccount>>) -> Self {
        Self(inputs.iter().map(|(node, files)| (node.clone(), numbers(node, files))).collect())
    }

    /// 16 hex digits for a span, unique in its table.
    pub(super) fn span(&self, span: &Span) -> Text {
        Text::from(format!("{:016x}", self.place(&span.node, span.events[0].place()).0))
    }

    /// The number of which the 32 hex digits are for a request, unique in its table, by where its
    /// first span begins; the first 16 are as those of that.
    pub(super) fn request_number(&self, node: &str, first: Place) -> u128 {
        let (place, more) = self.place(node, first);
        let hash = xxh3_64(&place.to_le_bytes()) as u8;
        (u128::from(place) << 64) | u128::from(more >> 8 << 8) | u128::from(hash)
    }

    /// Where a span begins, and more of the number of its file.
    fn place(&self, node: &str, first: Place) -> (u64, u64) {
        let number = self.0.get(node).and_then(|files| files.get(first.file as usize)).copied();
        let number = number.unwrap_or_else(|| Number::new(node, "?").is(0));
        (((number >> 64) as u64).wrapping_add(first.line).swap_bytes(), number as u64)
    }
}

/// The numbers of the files of a node.
///
/// A file is known by its name, without its folder, which says where somebody put it, and by
/// its first time, which stays when it grows and is another one when it is begun anew; where
/// no times are printed, by its content. Files that are still alike are told apart by
/// their order.
pub(super) fn numbers(node: &str, files: &[InputAccount]) -> Vec<u128> {
    let mut n_alike: BTreeMap<u128, u64> = BTreeMap::new();
    let number = |account: &InputAccount| {
        let name = account.file.rsplit(['/', '\\']).next().unwrap_or_default();
        let mut number = Number::new(node, name);
        match account.first_us.filter(|&us| us != 0) {
            Some(us) => number.0.update(&us.to_le_bytes()),
            None => number.0.update(&account.digest.to_le_bytes()),
        }
        let nth = n_alike.entry(number.is(0)).or_default();
        *nth += 1;
        number.is(*nth - 1)
    };
    files.iter().map(number).collect()
}

/// The number of a file, as far as it is hashed.
struct Number(Xxh3);

impl Number {
    fn new(node: &str, name: &str) -> Self {
        let mut hash = Xxh3::new();
        text(&mut hash, node);
        text(&mut hash, name);
        Self(hash)
    }

    /// That of the `nth` of files that are alike.
    fn is(&self, nth: u64) -> u128 {
        let mut hash = self.0.clone();
        hash.update(&nth.to_le_bytes());
        hash.digest128()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::numbers;
    use schema::InputAccount;

    fn file(path: &str, first_us: Option<i64>, digest: u128) -> InputAccount {
        InputAccount { file: path.to_owned(), first_us, digest, ..InputAccount::default() }
    }

    #[test]
    fn a_file_keeps_its_number_where_it_lies_and_as_it_grows() {
        let known = numbers("n", &[file("logs/a.log", Some(7), 1)]);
        assert_eq!(numbers("n", &[file("C:\\other\\a.log", Some(7), 2)]), known);
        assert_eq!(numbers("n", &[file("b.log", Some(7), 3), file("a.log", Some(7), 2)])[1], known[0]);
    }

    #[test]
    fn other_files_have_other_numbers() {
        let all = [
            ("n", file("a.log", Some(7), 1)),
            ("m", file("a.log", Some(7), 1)),
            ("n", file("b.log", Some(7), 1)),
            ("n", file("a.log", Some(8), 1)),
            // No times are printed: only what is in them tells them apart.
            ("n", file("a.log", None, 1)),
            ("n", file("a.log", Some(0), 2)),
        ];
        let found: BTreeSet<u128> =
            all.iter().map(|(node, file)| numbers(node, std::slice::from_ref(file))[0]).collect();
        assert_eq!(found.len(), all.len());
        let alike = numbers("n", &[file("1/a.log", Some(7), 1), file("2/a.log", Some(7), 1)]);
        assert_ne!(alike[0], alike[1], "in two folders");
    }
}

//! Names within texts: a path, a command or a list that holds the name of an
//! object which other records print as a value (`.../container_17_04_01_02.tokens`
//! beside `Container container_17_04_01_02 starts`). Known are objects whose parts
//! are all numbers; their name is the run of these numbers. Known are large numbers
//! too that the program prints in hexadecimal; their name is what stands after `0x`,
//! the notation, which is no part of it. A UUID is made for one
//! thing and is nobody else's, so that it names the thing in whatever text it
//! stands (`.../snapshots/123e4567-e89b-12d3-a456-426614174000/data`), also before
//! any record has printed it as a value. So does a digest (32 hexadecimal digits)
//! that some record has printed as a value; there are others that nobody prints.

use std::fmt::Write;
use std::sync::Arc;

use schema::ValueClassId;
use schema::kinds::{UUID_LEN, UUID_PARTS, is_digest, is_uuid};

use super::recent_texts::RecentTexts;

/// A name has this many numbers...
const NUMBERS_MIN: usize = 2;

/// ... and so many characters, so that it is in a text on purpose.
const NAME_MIN: usize = 12;

/// What says that hexadecimal digits follow.
const HEX_PREFIX: &str = "0x";

/// Objects by their canonical texts: numbers without leading zeros, with `/`
/// between them.
#[derive(Debug, Default)]
pub(super) struct Names {
    known: RecentTexts<ValueClassId>,
    /// The run of numbers at hand.
    run: String,
}

/// Whether a canonical text is an object's name that is not equal to another's by
/// chance.
pub(super) fn is_name(text: &str) -> bool {
    text.len() >= NAME_MIN
        && text.bytes().all(|b| b.is_ascii_digit() || b == b'/')
        && text.split('/').count() >= NUMBERS_MIN
}

/// Whether a number has so many digits that it is equal to another's by no chance.
fn is_large(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    digits.len() >= NAME_MIN && digits.bytes().all(|b| b.is_ascii_digit())
}

impl Names {
    /// An object was printed.
    pub(super) fn learn(&mut self, text: &Arc<str>, class: ValueClassId) {
        if is_name(text) {
            self.known.show(text, || class);
        }
    }

    /// A number was printed in hexadecimal.
    pub(super) fn learn_hex(&mut self, text: &Arc<str>, class: ValueClassId) {
        if is_large(text) {
            self.known.show(text, || class);
        }
    }

    /// A part of the log ends: what it has not shown is forgotten.
    pub(super) fn end_part(&mut self) {
        self.known.end_part();
    }

    /// Appends the known objects whose names are in `text`.
    pub(super) fn find(&mut self, text: &str, found: &mut Vec<(ValueClassId, Arc<str>)>) {
        if text.len() < NAME_MIN || self.known.is_empty() {
            return;
        }
        let bytes = text.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            if !bytes[at].is_ascii_digit() {
                at += 1;
                continue;
            }
            let start = at;
            at = self.read_hex(text, at).unwrap_or_else(|| self.read_run(text, at));
            if at - start >= NAME_MIN
                && let Some((name, class)) = self.known.get_key_value(self.run.as_str())
                && found.iter().all(|(_, known)| known != name)
            {
                found.push((*class, Arc::clone(name)));
            }
        }
    }

    /// Reads a hexadecimal number that stands apart from what is beside it into `run`;
    /// where it ends.
    fn read_hex(&mut self, text: &str, start: usize) -> Option<usize> {
        let is_apart = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
        let digits = text[start..].strip_prefix(HEX_PREFIX)?;
        let end = digits.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(digits.len());
        let number = u64::from_str_radix(&digits[..end], 16).ok()?;
        let stands_apart =
            is_apart(text[..start].chars().next_back()) && is_apart(digits[end..].chars().next());
        self.run.clear();
        if stands_apart {
            write!(self.run, "{}", number.cast_signed()).ok()?;
        }
        Some(start + HEX_PREFIX.len() + end)
    }

    /// Reads numbers with one `_` or `-` between them into `run`; where it ends.
    fn read_run(&mut self, text: &str, start: usize) -> usize {
        let bytes = text.as_bytes();
        let (mut at, mut n_numbers) = (start, 0);
        self.run.clear();
        loop {
            let number = at;
            while bytes.get(at).is_some_and(u8::is_ascii_digit) {
                at += 1;
            }
            let digits = text[number..at].trim_start_matches('0');
            if n_numbers > 0 {
                self.run.push('/');
            }
            self.run.push_str(if digits.is_empty() { "0" } else { digits });
            n_numbers += 1;
            let joins = matches!(bytes.get(at), Some(b'_' | b'-'));
            if !joins || !bytes.get(at + 1).is_some_and(u8::is_ascii_digit) {
                break;
            }
            at += 1;
        }
        if n_numbers < NUMBERS_MIN {
            self.run.clear();
        }
        at
    }
}

/// The UUIDs in `text` that stand apart from what is beside them, and are not all
/// of it.
pub(super) fn uuids(text: &str) -> impl Iterator<Item = &str> {
    let bytes = text.as_bytes();
    let is_within = |b: Option<&u8>| b.is_some_and(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'));
    let first_dash = bytes.iter().enumerate().filter(|(_, b)| **b == b'-').map(|(at, _)| at);
    first_dash.filter_map(move |dash| {
        let start = dash.checked_sub(UUID_PARTS[0])?;
        let found = text.get(start..start.checked_add(UUID_LEN)?)?;
        let is_apart = !is_within(start.checked_sub(1).and_then(|before| bytes.get(before)))
            && !is_within(bytes.get(start + UUID_LEN));
        (is_apart && found.len() < text.len() && is_uuid(found)).then_some(found)
    })
}

/// The digests in `text` that stand apart from what is beside them, and are not all
/// of it.
pub(super) fn digests(text: &str) -> impl Iterator<Item = &str> {
    let runs = text.split(|c: char| !c.is_ascii_alphanumeric());
    runs.filter(move |run| run.len() < text.len() && is_digest(run))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uuid_names_its_thing_in_any_text() {
        let id = "fb712f30-e596-11f1-bbf1-4d68ff3ad20d";
        let found = |text: &str| uuids(text).map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(found(&format!("/data/t-87c5/snapshots/{id}/t-1-Data.db")), [id]);
        assert_eq!(found(&format!("é {id}, {id}")), [id, id]);
        // The whole text is a value of its own; a part of a longer name is none.
        assert!(found(id).is_empty());
        assert!(found(&format!("DS-{id}")).is_empty());
        assert!(found(&format!("{id}-1")).is_empty());
        assert!(found("----------- -").is_empty());
    }

    #[test]
    fn a_digest_stands_apart() {
        let id = "27d9e6758350b73e967e79da261bade8";
        let found = |text: &str| digests(text).map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(found(&format!("/data/t/{id}/.tmp/{id}")), [id, id]);
        assert!(found(id).is_empty());
        assert!(found(&format!("x{id}")).is_empty());
        assert!(found("/00000000000000000000000000000000").is_empty());
    }

    /// What is found in a text of what `learn` makes known.
    fn found_of(known: &[&str], learn: fn(&mut Names, &Arc<str>, ValueClassId), text: &str) -> Vec<String> {
        let mut names = Names::default();
        known.iter().for_each(|name| learn(&mut names, &Arc::from(*name), ValueClassId::new(0)));
        let mut found = Vec::new();
        names.find(text, &mut found);
        found.into_iter().map(|(_, name)| name.to_string()).collect()
    }

    fn found(known: &[&str], text: &str) -> Vec<String> {
        found_of(known, Names::learn, text)
    }

    #[test]
    fn a_path_holds_the_name_of_what_it_is_about() {
        let known = ["1795256194315/4/1/2", "1795256194315/4"];
        let path = "private/container_1795256194315_0004_01_000002.tokens";
        assert_eq!(found(&known, path), ["1795256194315/4/1/2"]);
        assert_eq!(found(&known, "app_1795256194315_0004/x, app_1795256194315_0004"), ["1795256194315/4"]);
        // Part of a longer name is another name; other numbers are no name.
        assert!(found(&known, "attempt_1795256194315_0004_7").is_empty());
        assert!(found(&known, "of 1795256194315 bytes, 4 are left").is_empty());
        assert!(found(&known, "1795256194315_").is_empty());
    }

    fn found_hex(known: &[&str], text: &str) -> Vec<String> {
        found_of(known, Names::learn_hex, text)
    }

    #[test]
    fn the_notation_of_a_number_is_no_part_of_its_name() {
        let known = ["72057736406695954", "-9151314442816847872", "255"];
        let text = "peers:name=[/127.0.0.1,0x100002125d70012]";
        assert_eq!(found_hex(&known, text), ["72057736406695954"]);
        assert_eq!(found_hex(&known, "session/0x8100000000000000"), ["-9151314442816847872"]);
        // A part of a longer name, what was written in decimal, what may be equal by chance.
        assert!(found_hex(&known, "a0x100002125d70012").is_empty());
        assert!(found_hex(&known, "0x100002125d70012x").is_empty());
        assert!(found_hex(&known, "0x100002125d700121").is_empty());
        assert!(found_hex(&known, "at 100002125d70012").is_empty());
        assert!(found_hex(&known, "flags 0x00000000ff").is_empty());
        assert!(found_hex(&known, "é0x, 0x").is_empty());
        assert!(found_hex(&known, "0x123456789012345678901234567890").is_empty());
    }

    #[test]
    fn a_short_number_names_nothing_within_a_text() {
        assert!(found(&["4/2"], "part-4-2").is_empty());
    }
}

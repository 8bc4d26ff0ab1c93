//! Warnings of many logs, a line a kind: what differs in numbers and in names only is one kind, of
//! which the first is told.

use std::collections::BTreeMap;

use crate::output::{Voice, grouped};

/// Says the first one of each kind of `warnings`, and how many more there are; with `-v` all.
pub(crate) fn tell(warnings: &[String], voice: Voice) {
    for line in lines(warnings, voice.verbose) {
        voice.say(&format!("warning: {line}"));
    }
}

fn lines(warnings: &[String], each: bool) -> Vec<String> {
    if each {
        return warnings.to_vec();
    }
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    let mut kinds: Vec<(&str, u64)> = Vec::new();
    for warning in warnings {
        let at = *places.entry(kind(warning)).or_insert(kinds.len());
        match kinds.get_mut(at) {
            Some((_, n_more)) => *n_more += 1,
            None => kinds.push((warning, 0)),
        }
    }
    let line = |(first, n_more): (&str, u64)| match n_more {
        0 => first.to_owned(),
        _ => format!("{first} (and {} more of this kind, which -v tells)", grouped(n_more)),
    };
    kinds.into_iter().map(line).collect()
}

/// What a warning says, of whatever: without what it quotes, its numbers, and the node before
/// the quoted file.
fn kind(warning: &str) -> String {
    let mut kind = String::new();
    let (_, said) = warning.split_once(": `").unwrap_or(("", warning));
    let is_of_node = said.len() < warning.len();
    // Every second piece stands between two quotes; that of a node begins within one.
    for (at, piece) in said.split('`').enumerate() {
        if (at % 2 == 0) == is_of_node {
            kind.push('`');
        } else {
            kind.extend(piece.chars().filter(|c| !c.is_ascii_digit()));
        }
    }
    kind
}

#[cfg(test)]
mod tests {
    use super::lines;

    #[test]
    fn one_kind_is_told_once() {
        let warnings = [
            "a: `a.log`: 3 lines are of another layout, the first is line 7",
            "`x.log` is the same file as `y.log`: it is read once",
            "b: `b.log`: 12 lines are of another layout, the first is line 1",
            "c: `c.log`: packed with xz",
            "`z.log` is the same file as `y.log`: it is read once",
            "d: `d.log`: 1 lines are of another layout, the first is line 2",
        ]
        .map(str::to_owned);
        let told = [
            "a: `a.log`: 3 lines are of another layout, the first is line 7 (and 2 more of this kind, which -v tells)",
            "`x.log` is the same file as `y.log`: it is read once (and 1 more of this kind, which -v tells)",
            "c: `c.log`: packed with xz",
        ];
        assert_eq!(lines(&warnings, false), told);
        assert_eq!(lines(&warnings, true), warnings);
    }
}

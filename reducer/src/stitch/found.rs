//! Found: things that a span names only because it has come across them.
//!
//! Whoever works on a thing was handed it, or prints it as what it is, or has its name in
//! a text that its own work is known by (the path of a file that it deletes). Who knows
//! none of its kind, and prints the name only within a text that nothing is known by (the
//! list of all that a round of a service has just filled), works on that one no more than
//! on the others, even where there happens to be one only.

use schema::{TopLevelId, ValueClassId};

use super::facts::{Fact, Facts};
use super::pairs::Pairs;

/// Whether the first top-level method of `fact` has only found what is called `name`.
pub(super) fn has_found(
    pairs: &Pairs<'_>,
    facts: &Facts<'_>,
    fact: &Fact<'_>,
    (kind, name): (ValueClassId, &str),
) -> bool {
    let Some(&top) = fact.tops.first() else { return false };
    let is_of_kind = |class: ValueClassId| facts.kind(class) == kind;
    let is_printed = || fact.events.iter().any(|event| pairs.classes_of(event).any(is_of_kind));
    !pairs.knows_one(top, is_of_kind) && !is_printed() && is_in_no_known_text(pairs, top, fact, name)
}

/// Whether `name` stands in texts, and `top` is known by none of them.
fn is_in_no_known_text(pairs: &Pairs<'_>, top: TopLevelId, fact: &Fact<'_>, name: &str) -> bool {
    let printed = fact.events.iter().flat_map(|event| {
        event.values.iter().map(move |(variable, text)| (pairs.class_of(event, variable), text))
    });
    let mut texts = printed.filter(|(_, text)| holds(text, name)).map(|(class, _)| class).peekable();
    texts.peek().is_some()
        && texts.all(|class| class.is_none_or(|class| pairs.strength(top, class).is_none()))
}

/// Whether a text holds the name of an object whose parts are all numbers: their run, as
/// it is kept with `/` between them.
fn holds(text: &str, name: &str) -> bool {
    text.split(|c: char| !c.is_ascii_digit() && !matches!(c, '_' | '-')).any(|run| {
        let mut numbers = run.split(['_', '-']).filter(|number| !number.is_empty());
        let mut parts = name.split('/');
        let is_equal = |part: &str| {
            numbers.next().is_some_and(|number| {
                let digits = number.trim_start_matches('0');
                part == if digits.is_empty() { "0" } else { digits }
            })
        };
        parts.all(is_equal) && numbers.next().is_none()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stands_in_a_text_as_a_run_of_its_numbers() {
        let name = "1795256194315/4/1/2";
        assert!(holds("container_1795256194315_0004_01_000002", name));
        assert!(holds("/private/container_1795256194315_0004_01_000002.tokens, b", name));
        for other in
            ["container_1795256194315_0004_01_000003", "x_1795256194315_0004_01_000002_7", "4/1/2", ""]
        {
            assert!(!holds(other, name), "{other}");
        }
        assert!(holds("part-0000-17", "0/17"));
    }
}

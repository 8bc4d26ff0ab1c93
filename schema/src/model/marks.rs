//! Marks: what stands before the numbers of one kind wherever the program prints them
//! (`pid=`), also in texts of which only the whole is known.

use std::collections::BTreeMap;

use super::Model;
use crate::ids::ValueClassId;

/// What stands before the numbers of a class, and mostly before nothing else.
#[derive(Clone, Debug, Default)]
pub struct Marks<'m>(Vec<&'m str>);

impl<'m> Marks<'m> {
    /// As the templates of `model` show it.
    #[must_use]
    pub fn of(model: &'m Model, class: ValueClassId) -> Self {
        Self(marks(model, class))
    }

    /// The numbers within a text that stand after a mark, in the order of the marks.
    pub fn numbers_in<'t>(&'t self, text: &'t str) -> impl Iterator<Item = u64> + 't {
        self.0.iter().flat_map(move |mark| {
            text.match_indices(*mark).filter_map(move |(at, _)| {
                let rest = &text[at + mark.len()..];
                let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
                let is_word = !text[..at].ends_with(|c: char| c.is_ascii_alphanumeric());
                rest[..end].parse().ok().filter(|_| is_word)
            })
        })
    }
}

/// What stands before numbers of the class in most of the templates where it stands.
fn marks(model: &Model, class: ValueClassId) -> Vec<&str> {
    let mut marks: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for point in &model.log_points {
        for template in &point.templates {
            for (mark, &variable) in marks_of(&template.regex).into_iter().zip(&template.captures) {
                let variable = point.variables.get(variable as usize);
                let is_number = variable.is_some_and(|variable| variable.value_class == Some(class));
                if let Some(mark) = mark {
                    let (n, n_numbers) = marks.entry(mark).or_default();
                    (*n, *n_numbers) = (*n + 1, *n_numbers + usize::from(is_number));
                }
            }
        }
    }
    let marks = marks.into_iter().filter(|&(_, (n, n_numbers))| n_numbers * 2 > n);
    marks.map(|(mark, _)| mark).collect()
}

/// For each capture group of a regex the word and the sign that stand directly before
/// it (`pid=`), if any do.
fn marks_of(regex: &str) -> Vec<Option<&str>> {
    let mut marks = Vec::new();
    let bytes = regex.as_bytes();
    let is_escaped = |at: usize| bytes[..at].iter().rev().take_while(|b| **b == b'\\').count() % 2 == 1;
    for at in (0..bytes.len()).filter(|&at| bytes[at] == b'(' && bytes.get(at + 1) != Some(&b'?')) {
        if is_escaped(at) {
            continue;
        }
        let before = &regex[..at];
        let word = before.strip_suffix(['=', ':']).map_or("", |word| word);
        let before_word = word.char_indices().rev().find(|(_, c)| !c.is_ascii_alphanumeric());
        let start = before_word.map_or(0, |(i, c)| i + c.len_utf8());
        marks.push(Some(&before[start..]).filter(|_| start < word.len()));
    }
    marks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_before_a_number_is_its_mark() {
        let marks = marks_of(r"\[\(id=(\d+), →name:(.*?) (\d+)\)");
        assert_eq!(marks, [Some("id="), Some("name:"), None]);
    }

    #[test]
    fn numbers_in_texts_stand_after_their_mark() {
        let marks = Marks(vec!["pid="]);
        let numbers: Vec<u64> = marks.numbers_in("[{pid=6, ppid=5}, {pid=7x, pid=}]").collect();
        assert_eq!(numbers, [6, 7]);
    }
}

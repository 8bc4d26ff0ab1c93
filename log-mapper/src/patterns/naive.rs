//! The oracle: every regex of the model on the record, by the words of the
//! rules, with another engine than the pattern set's. Slow; for tests.

use regex::bytes::RegexBuilder;
use schema::{LogPoint, LogPointId, Model};

use super::Query;

/// A log point and its captures, as `(variable, text)`.
pub type NaiveMatch = (LogPointId, Vec<(u32, Vec<u8>)>);

/// Most precise matches among the log points that `may` print the record, with
/// the number of their constant bytes.
#[must_use]
pub fn find_naively(
    model: &Model,
    query: &Query<'_>,
    may: &dyn Fn(&LogPoint) -> bool,
) -> (usize, Vec<NaiveMatch>) {
    let mut all: Vec<(usize, NaiveMatch)> = Vec::new();
    for (i, point) in model.log_points.iter().enumerate().filter(|(_, p)| may(p)) {
        let mut best: Option<(usize, NaiveMatch)> = None;
        for template in &point.templates {
            let Ok(regex) = RegexBuilder::new(&format!(r"\A(?:{})\z", template.regex))
                .unicode(false)
                .dot_matches_new_line(true)
                .build()
            else {
                continue;
            };
            let Some(captures) = regex.captures(query.text) else { continue };
            let mut values: Vec<(u32, Vec<u8>)> = Vec::new();
            let mut captured = vec![false; query.text.len()];
            for (group, &variable) in captures.iter().skip(1).zip(&template.captures) {
                let Some(group) = group else { continue };
                captured[group.range()].fill(true);
                if !values.iter().any(|(v, _)| *v == variable) {
                    values.push((variable, group.as_bytes().to_vec()));
                }
            }
            let constant = captured.iter().filter(|c| !**c).count();
            if best.as_ref().is_none_or(|(c, _)| constant > *c) {
                best = Some((constant, (LogPointId::new(i), values)));
            }
        }
        all.extend(best);
    }
    let best = all.iter().map(|(c, _)| *c).max().unwrap_or(0);
    let kept = all.into_iter().filter(|(c, _)| *c == best).map(|(_, m)| m).collect();
    (best, kept)
}

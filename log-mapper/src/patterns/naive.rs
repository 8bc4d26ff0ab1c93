//! The oracle: every regex of the model on the record, by the words of the
//! rules, with another engine than the pattern set's. Slow; for tests.

use regex::bytes::{Captures, RegexBuilder};
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
            let found = texts(query.text).find_map(|text| Some((text, captures(&template.regex, text)?)));
            let Some((text, captures)) = found else { continue };
            let mut values: Vec<(u32, Vec<u8>)> = Vec::new();
            let mut captured = vec![false; text.len()];
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
    let kept: Vec<NaiveMatch> = all.into_iter().filter(|(c, _)| *c == best).map(|(_, m)| m).collect();
    let statement = |id: LogPointId| {
        let point = &model.log_points[id.index()];
        (&point.class, &point.method, point.source_line)
    };
    let is_of_caller = |id: LogPointId| model.log_points[id.index()].call_site.is_some();
    let callers: Vec<LogPointId> = kept.iter().map(|(id, _)| *id).filter(|id| is_of_caller(*id)).collect();
    let is_own = |id| callers.iter().any(|caller| !is_of_caller(id) && statement(*caller) == statement(id));
    (best, kept.into_iter().filter(|(id, _)| !is_own(*id)).collect())
}

/// The text without white space at its end, with all of it, with all but the last of it.
fn texts(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let trimmed = text.trim_ascii_end();
    [trimmed, text, &text[..trimmed.len().max(text.len().saturating_sub(1))]].into_iter()
}

/// What `regex` captures of `text`, by a division without an empty value if what it
/// prefers leaves one empty between constants.
fn captures<'t>(regex: &str, text: &'t [u8]) -> Option<Captures<'t>> {
    let search = |regex: &str| {
        let mut builder = RegexBuilder::new(&format!(r"\A(?:{regex})\z"));
        builder.unicode(false).dot_matches_new_line(true).build().ok()?.captures(text)
    };
    let first = search(regex)?;
    let groups: Vec<_> = first.iter().skip(1).map(|group| group.map(|g| (g.start(), g.end()))).collect();
    let touches = |at: usize, i: usize| {
        let others = groups.iter().enumerate().filter(|(j, _)| *j != i);
        others.filter_map(|(_, g)| *g).any(|(start, end)| start == at || end == at)
    };
    let has_gap = groups.iter().enumerate().any(|(i, g)| g.is_some_and(|g| g.0 == g.1 && !touches(g.0, i)));
    let filled = has_gap.then(|| search(&regex.replace("(.*", "(.+"))).flatten();
    Some(filled.unwrap_or(first))
}

//! Looks: what a log shows of a log point, whatever it prints: its level, its
//! logger and the texts of its message. Log points that look the same are a
//! *tie*; only what stands around a record can tell which of them printed it.

use std::collections::{BTreeMap, BTreeSet};

use schema::tables::LogPointRow;

/// Looks of the log points of a table, by number and by place.
#[derive(Clone, Debug, Default)]
pub(crate) struct Looks<'a> {
    looks: BTreeMap<i64, Look<'a>>,
    places: BTreeMap<String, Vec<i64>>,
}

#[derive(Clone, Debug)]
struct Look<'a> {
    level: Option<&'a str>,
    /// None: not known, it can be any.
    loggers: Option<BTreeSet<&'a str>>,
    regexes: BTreeSet<&'a str>,
}

impl<'a> Looks<'a> {
    /// The looks of `points`. The place of a log point is its statement, and
    /// where that is a logging wrapper's also the caller.
    pub(crate) fn new(points: &'a [LogPointRow]) -> Self {
        let mut all = Self::default();
        for point in points {
            let look = Look {
                level: point.level.as_deref(),
                loggers: point.logger.as_deref().map(|names| names.split('|').collect()),
                regexes: point.templates.iter().map(|template| &*template.regex).collect(),
            };
            all.looks.insert(point.log_point_id, look);
            let statement = format!("{}.{}:{}", point.class, point.method, point.source_line);
            let caller = point.call_site.as_deref().map(str::to_owned);
            for place in [Some(statement), caller].into_iter().flatten() {
                all.places.entry(place).or_default().push(point.log_point_id);
            }
        }
        all
    }

    /// Whether a log point at `place` looks like `id`.
    pub(crate) fn is_tie(&self, id: i64, place: &str) -> bool {
        let Some(look) = self.looks.get(&id) else { return false };
        let there = self.places.get(place).into_iter().flatten();
        there.filter_map(|other| self.looks.get(other)).any(|other| look.is_like(other))
    }
}

impl Look<'_> {
    fn is_like(&self, other: &Self) -> bool {
        let loggers = match (&self.loggers, &other.loggers) {
            (Some(ours), Some(theirs)) => !ours.is_disjoint(theirs),
            _ => true,
        };
        loggers && self.level == other.level && self.regexes == other.regexes
    }
}

#[cfg(test)]
mod tests {
    use super::Looks;
    use schema::tables::{LogPointRow, TemplateRow};

    fn point(id: i64, method: &str, level: &str, logger: Option<&str>, regexes: &[&str]) -> LogPointRow {
        LogPointRow {
            log_point_id: id,
            class: "a.B".into(),
            method: method.into(),
            source_line: 1,
            n_sites: 1,
            level: Some(level.into()),
            logger: logger.map(Into::into),
            in_handler: false,
            call_site: (id == 9).then(|| "a.Caller.call:3".into()),
            templates: regexes
                .iter()
                .map(|r| TemplateRow { regex: (*r).into(), variables: Vec::new() })
                .collect(),
        }
    }

    #[test]
    fn ties_have_level_logger_and_texts_in_common() {
        let points = [
            point(1, "f", "INFO", Some("x|y"), &["a", "b"]),
            point(2, "same", "INFO", Some("y"), &["b", "a"]),
            point(3, "unknown", "INFO", None, &["a", "b"]),
            point(4, "level", "WARN", Some("y"), &["a", "b"]),
            point(5, "logger", "INFO", Some("z"), &["a", "b"]),
            point(6, "text", "INFO", Some("y"), &["a"]),
            point(9, "wrapper", "INFO", Some("y"), &["a", "b"]),
        ];
        let looks = Looks::new(&points);
        let like = |place: &str| looks.is_tie(1, place);
        assert!(like("a.B.same:1") && like("a.B.unknown:1") && like("a.Caller.call:3"));
        assert!(!like("a.B.level:1") && !like("a.B.logger:1") && !like("a.B.text:1") && !like("a.B.none:1"));
    }
}

//! Regions of code in words: class, method and lines of the log points at their ends.

use crate::error::Result;
use reducer::table::Manifest;
use rustc_hash::FxHashMap;
use schema::tables::LogPointRow;

use super::differences::Deed;
use super::groups::Groups;
use super::regions::{Edge, Region};
use super::slow::{SlowCalls, SlowText};
use crate::releases::Translation;
use crate::templates::text_of;

/// Where log points are in the code.
#[derive(Clone, Debug, Default)]
pub(crate) struct Code {
    /// Class, method and source line by number.
    places: FxHashMap<i64, (String, String, i64)>,
    /// What the first template of each looks like.
    messages: FxHashMap<i64, String>,
    slow: SlowCalls,
}

impl Code {
    /// The log points of a table and what can take time between them, and what of that could
    /// not be read.
    pub(crate) fn read(manifest: &Manifest) -> Result<(Self, Option<String>)> {
        let rows = manifest.rows::<LogPointRow>()?;
        let (slow, warning) = SlowCalls::read(manifest, &rows);
        let message = |row: &LogPointRow| Some((row.log_point_id, text_of(&row.templates.first()?.regex)));
        let messages = rows.iter().filter_map(message).collect();
        let place = |row: LogPointRow| {
            let class = row.class.rsplit(['.', '$']).next().unwrap_or(&row.class).to_owned();
            (row.log_point_id, (class, row.method.to_string(), row.source_line))
        };
        Ok((Self { places: rows.into_iter().map(place).collect(), messages, slow }, warning))
    }

    /// The same with the numbers of another release.
    pub(crate) fn translated(self, translation: &Translation) -> Self {
        let places = self.places.into_iter().map(|(point, place)| (translation.point(point), place));
        let messages = self.messages.into_iter().map(|(point, text)| (translation.point(point), text));
        Self {
            places: places.collect(),
            messages: messages.collect(),
            slow: self.slow.translated(translation),
        }
    }

    /// Knows the places of `other` too that it does not have itself.
    pub(crate) fn add_places(&mut self, other: &Self) {
        for (point, place) in &other.places {
            self.places.entry(*point).or_insert_with(|| place.clone());
        }
        for (point, message) in &other.messages {
            self.messages.entry(*point).or_insert_with(|| message.clone());
        }
    }

    /// What can take time in a region, in words, what usually takes longest first.
    pub(crate) fn slow(&self, region: &Region) -> Vec<&str> {
        self.slow.of(region).into_iter().map(|of| &*of.text).collect()
    }

    /// The same of a region of this release, each with whether `before` has it there too.
    pub(crate) fn slow_since(&self, before: &Self, region: &Region) -> Vec<(&str, bool)> {
        let known = before.slow.of(region);
        let is_known = |of: &SlowText| known.iter().any(|other| other.what == of.what);
        self.slow.of(region).into_iter().map(|of| (&*of.text, is_known(of))).collect()
    }

    /// A log point in words.
    pub(crate) fn point(&self, point: Option<i64>) -> String {
        match point.and_then(|point| self.places.get(&point)) {
            Some((class, method, line)) => format!("{class}.{method}:{line}"),
            None => "a line of no known log point".to_owned(),
        }
    }

    /// What a log point prints, with `*` for its values.
    pub(crate) fn message(&self, point: Option<i64>) -> Option<&str> {
        self.messages.get(&point?).map(String::as_str)
    }

    /// `X.m, lines 12 to 40`, or from where to where.
    pub(crate) fn region(&self, region: &Region) -> String {
        let Region { from, to, .. } = region;
        if let (Edge::Line(a), Edge::Line(b)) = (from, to) {
            let known = |point: &Option<i64>| point.and_then(|point| self.places.get(&point));
            if let (Some((class, method, first)), Some((other, also, last))) = (known(a), known(b))
                && (class, method) == (other, also)
            {
                return format!("{class}.{method}, lines {first} to {last}");
            }
        }
        let from = match from {
            Edge::Line(point) => format!("from {}", self.point(*point)),
            Edge::Begins(point) => format!("from the start of {}", self.point(*point)),
            Edge::Ends(point) => format!("from the return of {}", self.point(*point)),
        };
        let to = match to {
            Edge::Line(point) => format!("to {}", self.point(*point)),
            Edge::Begins(point) => format!("to the start of {}", self.point(*point)),
            Edge::Ends(point) => format!("to the return of {}", self.point(*point)),
        };
        format!("{from} {to}")
    }

    /// What one side does and the other one does not.
    pub(crate) fn deed(&self, groups: &Groups, deed: Deed) -> String {
        match deed {
            Deed::Operation(operation, 1) => groups.names.name(operation).to_owned(),
            Deed::Operation(operation, times) => {
                format!("{} {times} times or more", groups.names.name(operation))
            }
            Deed::Region(region) => {
                format!("{}: {}", groups.names.name(region.operation), self.region(&region))
            }
        }
    }
}

//! What a table knows of its log points: which there are, and what they print under which
//! names.

/// The log points of a table, and what is kept of its requests.
#[derive(Clone, Debug, Default)]
pub(crate) struct Catalog {
    pub(crate) points: Vec<Point>,
    /// The table holds events with their places in the order of their requests.
    pub(crate) has_positions: bool,
}

/// A log point.
#[derive(Clone, Debug)]
pub(crate) struct Point {
    /// Its number in the table.
    pub(crate) id: i64,
    /// Binary name of its class, with dots.
    pub(crate) class: String,
    pub(crate) method: String,
    pub(crate) line: i64,
    /// How its messages look, `*` for what they print.
    pub(crate) texts: Vec<String>,
    pub(crate) exports: Vec<Export>,
}

/// A value that a log point prints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Export {
    /// What it can be called, most precise first.
    pub(crate) names: Vec<String>,
    /// Its name in the column `values` of `events`.
    pub(crate) column: String,
    pub(crate) kind: Kind,
}

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Text,
    /// A whole number; of times apart µs.
    Whole,
    Number,
    Time,
    Truth,
}

impl Kind {
    /// What both are.
    pub(super) fn common(self, other: Self) -> Self {
        match (self, other) {
            (a, b) if a == b => a,
            (Kind::Whole, Kind::Number) | (Kind::Number, Kind::Whole) => Kind::Number,
            _ => Kind::Text,
        }
    }

    pub(super) fn is_number(self) -> bool {
        matches!(self, Kind::Whole | Kind::Number)
    }
}

impl Point {
    /// `Class.method:line` with the class named without its package.
    pub(super) fn short(&self) -> String {
        let class = self.class.rsplit('.').next().unwrap_or_default();
        format!("{class}.{}:{}", self.method, self.line)
    }
}

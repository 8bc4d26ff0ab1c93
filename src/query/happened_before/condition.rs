//! Conditions on two rows: the relations of events, and filters in time among those that
//! happened before one.

use std::fmt;

use schema::happened_before::{Label, Order, Stretch, is_ancestor, is_child, order};

/// A relation of two rows, each alone with its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Relation {
    /// The first must have happened before the second.
    HappenedBefore,
    /// Only clocks say that it did.
    MayHappenBefore,
    /// Nothing orders them.
    Concurrent,
    /// The request came to the second by way of the span of the first.
    Ancestor,
    /// The span of the second handed over to that of the first.
    Child,
}

/// A filter in time: of the rows of one side that must have happened before a row of the
/// other, the first or the most recent ones (Pivot Tracing, Table 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Filter {
    /// Those before which fewer than so many others of their side happened.
    First(usize),
    /// Those after which, and before the row, fewer than so many others happened.
    MostRecent(usize),
}

/// What a join asks of two rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Condition {
    /// A relation holds.
    Relation(Relation),
    /// The first is among what a filter leaves of its side for the second.
    Filter(Filter),
}

impl Relation {
    pub(crate) const ALL: [Self; 5] =
        [Self::HappenedBefore, Self::MayHappenBefore, Self::Concurrent, Self::Ancestor, Self::Child];

    /// Its name in SQL.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Relation::HappenedBefore => "happened_before",
            Relation::MayHappenBefore => "may_happen_before",
            Relation::Concurrent => "concurrent",
            Relation::Ancestor => "ancestor",
            Relation::Child => "child",
        }
    }

    /// Whether it holds for two rows.
    pub(crate) fn holds(self, a: (&Label, Stretch), b: (&Label, Stretch)) -> bool {
        match self {
            Relation::Ancestor => is_ancestor(a.0, b.0),
            Relation::Child => is_child(a.0, b.0),
            _ => self.holds_in_order(order(a, b)),
        }
    }

    /// Whether it holds for two rows that stand to each other like this.
    pub(crate) fn holds_in_order(self, order: Order) -> bool {
        match self {
            Relation::HappenedBefore => order == Order::Before,
            Relation::MayHappenBefore => order == Order::MayBefore,
            Relation::Concurrent => order == Order::Concurrent,
            Relation::Ancestor | Relation::Child => false,
        }
    }
}

impl Filter {
    /// Their names in SQL.
    pub(crate) const NAMES: [&'static str; 4] = ["first", "firstn", "mostrecent", "mostrecentn"];

    /// The filter called `name`, for `n`.
    pub(crate) fn named(name: &str, n: usize) -> Option<Self> {
        match name {
            "first" | "firstn" => Some(Filter::First(n)),
            "mostrecent" | "mostrecentn" => Some(Filter::MostRecent(n)),
            _ => None,
        }
    }

    /// The filter as it is written in SQL, of two positions.
    pub(crate) fn show(self, source: &dyn fmt::Display, target: &dyn fmt::Display) -> String {
        match self {
            Filter::First(n) => format!("firstn({source}, {target}, {n})"),
            Filter::MostRecent(n) => format!("mostrecentn({source}, {target}, {n})"),
        }
    }
}

//! A table as the page shows it: what it holds at all.

#[cfg(feature = "serve")]
use schema::tables::Text;
use serde::Serialize;

use crate::table::Table;

/// A table.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[cfg_attr(test, ts(rename = "Table"))]
pub(crate) struct TableShown {
    name: String,
    version: &'static str,
    n_requests: u64,
    types: Vec<TypeShown>,
    nodes: Vec<String>,
    flags: Vec<String>,
    /// Whether it is answered in SQL.
    sql: bool,
    damage: Option<String>,
    /// The table that it can be compared with.
    first: Option<String>,
    /// What old detail is no longer there, in sentences.
    thinned: Vec<String>,
}

/// A type of requests.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[cfg_attr(test, ts(rename = "TypeCount"))]
struct TypeShown {
    name: String,
    n: u64,
}

impl TableShown {
    /// `table` with so many requests of each of its types, and another one that it is compared with.
    #[cfg(feature = "serve")]
    pub(crate) fn new(
        (table, first): (&Table, Option<&Table>),
        types: Vec<(u64, String)>,
        nodes: &[Text],
        flags: &[Text],
    ) -> Self {
        let mut nodes: Vec<String> = nodes.iter().map(ToString::to_string).collect();
        nodes.sort_unstable();
        let flags = flags.iter().map(ToString::to_string).collect();
        let sql = cfg!(feature = "sql");
        let shown = Self { nodes, flags, sql, ..Self::of_requests(Some(table), types) };
        match first {
            Some(first) => shown.beside(&first.folder().display().to_string()),
            None => shown,
        }
    }

    /// The same, compared with a table of this name.
    pub(crate) fn beside(self, first: &str) -> Self {
        Self { first: Some(first.to_owned()), ..self }
    }

    /// So many requests of each type, of `table` or of traces of others.
    pub(crate) fn of_requests(table: Option<&Table>, mut types: Vec<(u64, String)>) -> Self {
        types.sort_by(|(n, name), (m, other)| m.cmp(n).then_with(|| name.cmp(other)));
        let note = |table: &Table| {
            let thinned = &table.manifest().thinned;
            ["events", "spans", "requests"].into_iter().filter_map(|of| thinned.note(of)).collect()
        };
        Self {
            name: table.map_or("traces".to_owned(), |table| table.folder().display().to_string()),
            version: env!("CARGO_PKG_VERSION"),
            n_requests: types.iter().map(|(n, _)| n).sum(),
            types: types.into_iter().map(|(n, name)| TypeShown { name, n }).collect(),
            nodes: Vec::new(),
            flags: Vec::new(),
            sql: false,
            damage: table.and_then(|table| table.damage().map(str::to_owned)),
            first: None,
            thinned: table.map(note).unwrap_or_default(),
        }
    }
}

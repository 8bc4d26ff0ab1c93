//! A table as the page shows it: what it holds at all.

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
    /// `table` with so many requests of each of its types.
    pub(crate) fn new(table: &Table, mut types: Vec<(u64, String)>, nodes: &[Text], flags: &[Text]) -> Self {
        types.sort_by(|(n, name), (m, other)| m.cmp(n).then_with(|| name.cmp(other)));
        let mut nodes: Vec<String> = nodes.iter().map(ToString::to_string).collect();
        nodes.sort_unstable();
        let thinned = &table.manifest().thinned;
        Self {
            name: table.folder().display().to_string(),
            version: env!("CARGO_PKG_VERSION"),
            n_requests: types.iter().map(|(n, _)| n).sum(),
            types: types.into_iter().map(|(n, name)| TypeShown { name, n }).collect(),
            nodes,
            flags: flags.iter().map(ToString::to_string).collect(),
            sql: cfg!(all(feature = "sql", feature = "serve")),
            damage: table.damage().map(str::to_owned),
            thinned: ["events", "spans", "requests"].into_iter().filter_map(|of| thinned.note(of)).collect(),
        }
    }
}

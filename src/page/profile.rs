//! A profile as the page shows it.

use serde::Serialize;

use crate::profile::json::ReportJson;

/// The profile of some requests.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[cfg_attr(test, ts(rename = "Profile"))]
pub(crate) struct ProfileShown {
    /// Chosen ones; the report may be of some of them.
    pub(crate) n: usize,
    pub(crate) report: ReportJson,
    pub(crate) warnings: Vec<String>,
    /// The condition that they meet, in SQL.
    #[serde(rename = "where")]
    pub(crate) sql: Option<String>,
}

//! The comparison of the table that is served with another one. Of very many requests only some are read, as
//! for a profile.

use super::Served;
use super::chosen::Chosen;
use super::http::Answer;
use super::profile::{SUPPORT, sampled};
use super::requests::Conditions;
use crate::compare::report::Report;
use crate::compare::tables::{Populations, Selected};
use crate::releases::Translation;
use crate::table::Table;

/// What differs between the requests of `first` and the `chosen` ones. Conditions on times and in SQL are of
/// these alone; the others hold for both.
pub(super) fn compare(
    served: &Served,
    first: &Table,
    conditions: &Conditions,
    chosen: &Chosen<'_>,
) -> Result<Report, Answer> {
    let manifests = [first.manifest(), served.table.manifest()];
    let translation = Translation::of_tables(manifests[0], manifests[1])?;
    let old_name = |name: &str| {
        let renamed = translation.renamed().find(|(_, new)| *new == name);
        renamed.map_or(name, |(old, _)| old).to_owned()
    };
    let of_first = Conditions {
        request_type: conditions.request_type.as_deref().map(old_name),
        from: None,
        to: None,
        sql: None,
        ..conditions.clone()
    };
    let indexes = first.indexes().expect("they were opened with the table");
    let (n_first, of_first) = sampled(&Chosen::new(indexes, &of_first, None))?;
    let (n_second, of_second) = sampled(chosen)?;
    let select =
        |at: usize, places| Selected { manifest: manifests[at], wanted: &|_| true, places: Some(places) };
    let tables = [select(0, &of_first), select(1, &of_second)];
    let populations = Populations::of_tables(tables, translation, true)?;
    let names = [first, &served.table].map(|table| table.folder().display().to_string());
    let mut report = Report::new(&populations, names, SUPPORT);
    report.first.n_of = n_first as u64;
    report.second.n_of = n_second as u64;
    Ok(report)
}

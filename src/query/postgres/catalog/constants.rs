//! Constants of PostgreSQL: its types, operators, functions, languages, and what is said of them. They
//! are `datafusion-postgres`'s, from a server; here they get the columns and types of the catalogs.

use std::sync::Arc;

use datafusion::arrow::array::{Array as _, AsArray as _, RecordBatch};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Float64Type, Int64Type};
use datafusion::catalog::MemoryCatalogProviderList;
use datafusion::common::Result;
use datafusion_postgres::datafusion_pg_catalog::pg_catalog::context::EmptyContextProvider;
use datafusion_postgres::datafusion_pg_catalog::pg_catalog::{
    PgCatalogSchemaProvider, PgCatalogStaticTables, PgCatalogTable,
};
use rustc_hash::{FxHashMap, FxHashSet};

use super::names::Names;
use super::relation::{Column, Relation};
use super::rows::{Cell, Rows};

/// Relations that say the same here as on each server.
const RELATIONS: [&str; 20] = [
    "pg_aggregate",
    "pg_am",
    "pg_amop",
    "pg_amproc",
    "pg_cast",
    "pg_collation",
    "pg_conversion",
    "pg_description",
    "pg_language",
    "pg_opclass",
    "pg_operator",
    "pg_opfamily",
    "pg_proc",
    "pg_range",
    "pg_tablespace",
    "pg_ts_config",
    "pg_ts_dict",
    "pg_ts_parser",
    "pg_ts_template",
    "pg_type",
];

/// What a server tells.
pub(super) struct Constants(FxHashMap<&'static str, Vec<RecordBatch>>);

impl Constants {
    /// Reads them.
    ///
    /// # Errors
    /// Files that are none.
    pub(super) fn new() -> Result<Self> {
        let nothing =
            Arc::new(MemoryCatalogProviderList::new()) as Arc<dyn datafusion::catalog::CatalogProviderList>;
        let tables = Arc::new(PgCatalogStaticTables::try_new()?);
        let provider = PgCatalogSchemaProvider::try_new(nothing, tables, EmptyContextProvider)?;
        let mut read = FxHashMap::default();
        for name in RELATIONS {
            if let Some(PgCatalogTable::Static(table)) = provider.build_table_by_name(name)? {
                read.insert(name, table.data().to_vec());
            }
        }
        Ok(Self(read))
    }

    /// The rows of `of`, none where nothing is known. Of functions those that the engine has.
    ///
    /// # Errors
    /// Values that are none of their type.
    pub(super) fn batch(
        &self,
        of: &Relation,
        names: &Names,
        functions: &FxHashSet<String>,
    ) -> Result<RecordBatch> {
        let mut rows = Rows::new(of);
        let batches = self.0.get(&*of.name).filter(|_| of.schema == "pg_catalog");
        for batch in batches.into_iter().flatten() {
            for row in 0..batch.num_rows() {
                let cells: Vec<Cell> = of.columns.iter().map(|of| cell(batch, row, of, names)).collect();
                let name = match cells.get(1) {
                    Some(Cell::Text(name)) => name,
                    _ => "",
                };
                if of.name != "pg_proc" || functions.contains(name) {
                    rows.push_whole(cells);
                }
            }
        }
        rows.batch()
    }

    /// Tells `take` of the texts and numbers of each row of a relation, in the order of `columns`.
    ///
    /// # Errors
    /// Values that are none of their type.
    pub(super) fn each(
        &self,
        relation: &str,
        columns: &[&str],
        take: &mut dyn FnMut(&[String]),
    ) -> Result<()> {
        for batch in self.0.get(relation).into_iter().flatten() {
            let columns: Vec<_> = columns.iter().filter_map(|name| batch.column_by_name(name)).collect();
            let texts: Vec<_> =
                columns.iter().map(|column| cast(column, &DataType::Utf8)).collect::<Result<_, _>>()?;
            for row in 0..batch.num_rows() {
                let row: Vec<String> =
                    texts.iter().map(|texts| texts.as_string::<i32>().value(row).to_owned()).collect();
                take(&row);
            }
        }
        Ok(())
    }
}

/// What `batch` says of a column in a row.
fn cell(batch: &RecordBatch, row: usize, of: &Column, names: &Names) -> Cell<'static> {
    let Some(column) = batch.column_by_name(&of.name).filter(|column| !column.is_null(row)) else {
        return Cell::Null;
    };
    match column.data_type() {
        DataType::Boolean => Cell::Flag(column.as_boolean().value(row)),
        DataType::Utf8 => {
            let text = column.as_string::<i32>().value(row);
            match of.of.starts_with("reg") {
                true => names.number("regproc", text.trim_start_matches("pg_catalog.")).unwrap_or(0).into(),
                false => text.to_owned().into(),
            }
        }
        of if of.is_floating() => {
            let value = cast(&column.slice(row, 1), &DataType::Float64);
            value.map_or(Cell::Null, |value| Cell::Fraction(value.as_primitive::<Float64Type>().value(0)))
        }
        _ => {
            let value = cast(&column.slice(row, 1), &DataType::Int64);
            value.map_or(Cell::Null, |value| Cell::Number(value.as_primitive::<Int64Type>().value(0)))
        }
    }
}

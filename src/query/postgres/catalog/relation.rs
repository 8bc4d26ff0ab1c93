//! A relation: its name, its number, and its columns with the types that PostgreSQL gives them.

use std::collections::HashMap;
use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, Field, IntervalUnit, Schema, TimeUnit};
use datafusion_postgres::arrow_pg::datatypes::into_pg_type;
use schema::tables::SchemaRef;

/// Under this a field says which type of names it is a number of (`oid`, `regclass`).
pub(crate) const ALIAS: &str = "pg.oid_alias";
/// Under this a field says which type it is sent as, where its values are texts.
pub(crate) const TYPE: &str = "pg.type";

/// The number of the first table that is none of the catalogs.
const FIRST: i32 = 16_384;
const FILE: &str = include_str!("relations.tsv");

/// A relation.
#[derive(Debug)]
pub(crate) struct Relation {
    pub(crate) schema: &'static str,
    pub(crate) name: String,
    pub(crate) number: i32,
    /// `r`: a table, `v`: a view.
    pub(crate) kind: &'static str,
    pub(crate) columns: Vec<Column>,
    /// Of its files.
    pub(crate) n_bytes: i64,
}

/// A table of a session.
pub(crate) struct Table {
    pub(crate) name: String,
    pub(crate) schema: SchemaRef,
    /// Of its files.
    pub(crate) n_bytes: i64,
}

/// A column.
#[derive(Debug)]
pub(crate) struct Column {
    pub(crate) name: String,
    /// By its name in the catalog, `_text` for a list of texts.
    pub(crate) of: String,
    pub(crate) is_needed: bool,
}

/// Those of PostgreSQL.
pub(super) fn all() -> Vec<Relation> {
    let lines = FILE.lines().filter(|line| !line.starts_with('#'));
    let relation = |line: &'static str| {
        let [schema, name, number, kind, columns] = line.split('\t').collect::<Vec<_>>().try_into().ok()?;
        let columns = columns.split(' ').filter_map(|column| {
            let (name, of) = column.split_once(':')?;
            let is_needed = of.ends_with('!');
            Some(Column { name: name.to_owned(), of: of.trim_end_matches('!').to_owned(), is_needed })
        });
        let number = number.parse().ok()?;
        let (name, columns) = (name.to_owned(), columns.collect());
        Some(Relation { schema, name, number, kind, columns, n_bytes: 0 })
    };
    lines.filter_map(relation).collect()
}

/// A table of a session, the `at`-th.
pub(super) fn of_table(table: &Table, at: i32) -> Relation {
    let Table { name, schema, n_bytes } = table;
    let column = |field: &Arc<Field>| Column {
        name: field.name().clone(),
        of: into_pg_type(field.data_type()).map_or_else(|_| "text".to_owned(), |of| of.name().to_owned()),
        is_needed: !field.is_nullable(),
    };
    let columns = schema.fields().iter().map(column).collect();
    Relation {
        schema: "public",
        name: name.clone(),
        number: FIRST + at,
        kind: "r",
        columns,
        n_bytes: *n_bytes,
    }
}

impl Relation {
    /// Its columns for the engine. All may be NULL there, since constants leave some out.
    pub(super) fn arrow(&self) -> SchemaRef {
        Arc::new(Schema::new(self.columns.iter().map(Column::field).collect::<Vec<_>>()))
    }
}

impl Column {
    fn field(&self) -> Field {
        let field = Field::new(&self.name, arrow(&self.of), true);
        let said = match &*self.of {
            "oid" => Some((ALIAS, "oid")),
            of if of.starts_with("reg") => Some((ALIAS, of)),
            of @ ("name" | "char" | "varchar" | "oidvector" | "int2vector") => Some((TYPE, of)),
            _ => None,
        };
        match said {
            None => field,
            Some((key, of)) => field.with_metadata(HashMap::from([(key.to_owned(), of.to_owned())])),
        }
    }
}

/// The type of the engine for one of PostgreSQL. What it has none for is text.
pub(super) fn arrow(of: &str) -> DataType {
    let list = |of: DataType| DataType::List(Arc::new(Field::new_list_field(of, true)));
    match of {
        "bool" => DataType::Boolean,
        "int2" => DataType::Int16,
        "int4" | "oid" | "xid" => DataType::Int32,
        of if of.starts_with("reg") => DataType::Int32,
        "int8" => DataType::Int64,
        "float4" => DataType::Float32,
        "float8" | "numeric" => DataType::Float64,
        "timestamptz" => DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
        "interval" => DataType::Interval(IntervalUnit::MonthDayNano),
        "bytea" => DataType::Binary,
        "int2vector" => list(DataType::Int16),
        "oidvector" => list(DataType::Int32),
        of => match of.strip_prefix('_') {
            Some(of) => list(arrow(of)),
            None => DataType::Utf8,
        },
    }
}

//! What the catalogs tell of a session: its schemas, its relations with their columns, its one role, its
//! database and its settings.

use super::super::functions::{SETTINGS, VERSION_NUMBER};
use super::names::Names;
use super::relation::{Column, Relation};
use super::rows::{Cell, Rows};
use crate::query::session::DATABASE;

/// Who has made all, and may read it.
pub(super) const ROLE: &str = DATABASE;
/// Its number.
pub(super) const ROLE_NUMBER: i32 = 10;
/// Schemas and their numbers.
pub(super) const SCHEMAS: [(&str, i32); 3] =
    [("pg_catalog", 11), ("public", 2200), ("information_schema", 13_000)];
/// The number of the database, and of UTF-8.
const DATABASE_NUMBER: i32 = 16_383;
const UTF8: i32 = 6;
const TABLESPACE: i32 = 1663;

/// The rows of `of`; none: nothing is told in it of a session.
pub(super) fn rows<'v>(of: &'v Relation, all: &[&'v Relation], names: &Names) -> Option<Rows<'v>> {
    let mut rows = Rows::new(of);
    match (of.schema, &*of.name) {
        ("pg_catalog", "pg_class") => all.iter().for_each(|relation| class(&mut rows, relation)),
        ("pg_catalog", "pg_attribute") => {
            for relation in all {
                let numbered = relation.columns.iter().zip(1..);
                numbered.for_each(|(column, at)| attribute(&mut rows, relation, column, at, names));
            }
        }
        ("pg_catalog", "pg_namespace") => {
            for (name, number) in SCHEMAS {
                let owner = ("nspowner", ROLE_NUMBER.into());
                rows.push([("oid", number.into()), ("nspname", name.into()), owner]);
            }
        }
        ("pg_catalog", "pg_database") => database(&mut rows),
        ("pg_catalog", "pg_roles" | "pg_authid") => role(&mut rows),
        ("pg_catalog", "pg_user") => {
            rows.push([("usename", ROLE.into()), ("usesysid", ROLE_NUMBER.into())]);
        }
        ("pg_catalog", "pg_tables") => {
            for relation in all.iter().filter(|relation| relation.kind == "r") {
                let owner = ("tableowner", ROLE.into());
                rows.push([("schemaname", relation.schema.into()), ("tablename", named(relation)), owner]);
            }
        }
        ("pg_catalog", "pg_views") => {
            for relation in all.iter().filter(|relation| relation.kind == "v") {
                let owner = ("viewowner", ROLE.into());
                rows.push([("schemaname", relation.schema.into()), ("viewname", named(relation)), owner]);
            }
        }
        ("pg_catalog", "pg_settings") => settings(&mut rows),
        ("information_schema", "schemata") => {
            for (name, _) in SCHEMAS {
                let owner = ("schema_owner", ROLE.into());
                rows.push([("catalog_name", DATABASE.into()), ("schema_name", name.into()), owner]);
            }
        }
        ("information_schema", "tables") => all.iter().for_each(|relation| table(&mut rows, relation)),
        ("information_schema", "columns") => {
            for relation in all {
                let numbered = relation.columns.iter().zip(1..);
                numbered.for_each(|(column, at)| column_row(&mut rows, relation, column, at, names));
            }
        }
        _ => return None,
    }
    Some(rows)
}

fn named<'v>(relation: &'v Relation) -> Cell<'v> {
    relation.name.as_str().into()
}

fn schema_number(name: &str) -> i32 {
    SCHEMAS.iter().find(|(of, _)| *of == name).map_or(0, |(_, number)| *number)
}

fn class<'v>(rows: &mut Rows<'v>, relation: &'v Relation) {
    let is_table = relation.kind == "r";
    rows.push([
        ("oid", relation.number.into()),
        ("relname", named(relation)),
        ("relnamespace", schema_number(relation.schema).into()),
        ("relowner", ROLE_NUMBER.into()),
        // The heap.
        ("relam", if is_table { 2 } else { 0 }.into()),
        ("relfilenode", if is_table { relation.number } else { 0 }.into()),
        // Nothing is known of how many there are.
        ("reltuples", (-1).into()),
        ("relpersistence", "p".into()),
        ("relkind", relation.kind.into()),
        ("relnatts", Cell::Number(relation.columns.len() as i64)),
        ("relispopulated", true.into()),
        ("relreplident", if relation.schema == "public" { "d" } else { "n" }.into()),
    ]);
}

fn attribute<'v>(rows: &mut Rows<'v>, relation: &Relation, column: &'v Column, at: i32, names: &Names) {
    let of = names.type_of(&column.of);
    rows.push([
        ("attrelid", relation.number.into()),
        ("attname", column.name.as_str().into()),
        ("atttypid", of.number.into()),
        ("attstattarget", (-1).into()),
        ("attlen", of.length.into()),
        ("attnum", at.into()),
        ("attndims", i32::from(column.of.starts_with('_')).into()),
        ("attcacheoff", (-1).into()),
        ("atttypmod", (-1).into()),
        ("attbyval", of.is_by_value.into()),
        ("attalign", of.align.into()),
        ("attstorage", of.storage.into()),
        ("attnotnull", column.is_needed.into()),
        ("attislocal", true.into()),
        ("attcollation", of.collation.into()),
    ]);
}

fn database(rows: &mut Rows<'_>) {
    rows.push([
        ("oid", DATABASE_NUMBER.into()),
        ("datname", DATABASE.into()),
        ("datdba", ROLE_NUMBER.into()),
        ("encoding", UTF8.into()),
        ("datlocprovider", "c".into()),
        ("datallowconn", true.into()),
        ("datconnlimit", (-1).into()),
        ("dattablespace", TABLESPACE.into()),
        ("datcollate", "C.UTF-8".into()),
        ("datctype", "C.UTF-8".into()),
    ]);
}

fn role(rows: &mut Rows<'_>) {
    rows.push([
        ("oid", ROLE_NUMBER.into()),
        ("rolname", ROLE.into()),
        ("rolinherit", true.into()),
        ("rolcanlogin", true.into()),
        ("rolconnlimit", (-1).into()),
    ]);
}

fn settings(rows: &mut Rows<'_>) {
    let version = ("server_version_num", VERSION_NUMBER);
    let others = SETTINGS.iter().copied().filter(|(name, _)| *name != version.0);
    for (name, value) in others.chain([version]) {
        rows.push([
            ("name", name.into()),
            ("setting", value.into()),
            ("category", "Preset Options".into()),
            ("short_desc", "".into()),
            ("context", "internal".into()),
            ("vartype", "string".into()),
            ("source", "default".into()),
            ("boot_val", value.into()),
            ("reset_val", value.into()),
            ("pending_restart", false.into()),
        ]);
    }
}

fn table<'v>(rows: &mut Rows<'v>, relation: &'v Relation) {
    let is_table = relation.kind == "r";
    rows.push([
        ("table_catalog", DATABASE.into()),
        ("table_schema", relation.schema.into()),
        ("table_name", named(relation)),
        ("table_type", if is_table { "BASE TABLE" } else { "VIEW" }.into()),
        ("is_insertable_into", "NO".into()),
        ("is_typed", "NO".into()),
    ]);
}

fn column_row<'v>(rows: &mut Rows<'v>, relation: &'v Relation, column: &'v Column, at: i32, names: &Names) {
    let of = names.type_of(&column.of);
    let is_list = column.of.starts_with('_');
    let shown = if is_list { "ARRAY".to_owned() } else { names.type_shown(of.number).unwrap_or_default() };
    let digits: Option<(i32, i32, i32)> = match &*column.of {
        "int2" => Some((16, 2, 0)),
        "int4" => Some((32, 2, 0)),
        "int8" => Some((64, 2, 0)),
        "float4" => Some((24, 2, -1)),
        "float8" => Some((53, 2, -1)),
        _ => None,
    };
    let number = |of: Option<i32>| of.map_or(Cell::Null, Cell::from);
    let is_time = matches!(&*column.of, "timestamp" | "timestamptz" | "time" | "timetz" | "interval");
    rows.push([
        ("table_catalog", DATABASE.into()),
        ("table_schema", relation.schema.into()),
        ("table_name", named(relation)),
        ("column_name", column.name.as_str().into()),
        ("ordinal_position", at.into()),
        ("is_nullable", if column.is_needed { "NO" } else { "YES" }.into()),
        ("data_type", shown.into()),
        ("character_octet_length", number((column.of == "text").then_some(1_073_741_824))),
        ("numeric_precision", number(digits.map(|of| of.0))),
        ("numeric_precision_radix", number(digits.map(|of| of.1))),
        ("numeric_scale", number(digits.map(|of| of.2).filter(|scale| *scale == 0))),
        ("datetime_precision", number(is_time.then_some(6))),
        ("udt_catalog", DATABASE.into()),
        ("udt_schema", "pg_catalog".into()),
        ("udt_name", column.of.as_str().into()),
        ("dtd_identifier", at.to_string().into()),
        ("is_self_referencing", "NO".into()),
        ("is_identity", "NO".into()),
        ("identity_cycle", "NO".into()),
        ("is_generated", "NEVER".into()),
        ("is_updatable", "NO".into()),
    ]);
}

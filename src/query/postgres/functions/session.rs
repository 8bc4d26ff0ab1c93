//! What a client asks of its session: who and where it is, settings, and what it may do, which is to read.

use datafusion::common::{Result, exec_err};
use serde_json::{Value, json};

use super::{Asked, Function, Gives};
use crate::query::session::DATABASE;

/// The version whose clients are answered, the one whose answers the dialect gives.
pub(super) const VERSION: &str = "15.18";
/// The same as a number.
pub(in super::super) const VERSION_NUMBER: &str = "150018";

/// Settings that clients ask for, beside those of their session.
pub(in super::super) const SETTINGS: [(&str, &str); 39] = [
    ("application_name", ""),
    ("block_size", "8192"),
    ("bytea_output", "hex"),
    ("client_encoding", "UTF8"),
    ("client_min_messages", "notice"),
    ("DateStyle", "ISO, MDY"),
    ("default_table_access_method", "heap"),
    ("default_tablespace", ""),
    ("default_transaction_deferrable", "off"),
    ("default_transaction_isolation", "repeatable read"),
    ("default_transaction_read_only", "on"),
    ("extra_float_digits", "1"),
    ("idle_in_transaction_session_timeout", "0"),
    ("in_hot_standby", "off"),
    ("integer_datetimes", "on"),
    ("IntervalStyle", "postgres"),
    ("is_superuser", "off"),
    ("jit", "off"),
    ("lc_collate", "C.UTF-8"),
    ("lc_ctype", "C.UTF-8"),
    ("lc_messages", "C.UTF-8"),
    ("lc_monetary", "C.UTF-8"),
    ("lc_numeric", "C.UTF-8"),
    ("lc_time", "C.UTF-8"),
    ("lock_timeout", "0"),
    ("max_connections", "128"),
    ("max_function_args", "100"),
    ("max_identifier_length", "63"),
    ("max_index_keys", "32"),
    ("row_security", "on"),
    ("search_path", "public"),
    ("server_encoding", "UTF8"),
    ("server_version", VERSION),
    ("session_authorization", DATABASE),
    ("standard_conforming_strings", "on"),
    ("TimeZone", "UTC"),
    ("transaction_deferrable", "off"),
    ("transaction_isolation", "repeatable read"),
    ("transaction_read_only", "on"),
];

/// The value of a setting.
pub(in super::super) fn setting(name: &str) -> Option<&'static str> {
    if name.eq_ignore_ascii_case("server_version_num") {
        return Some(VERSION_NUMBER);
    }
    SETTINGS.iter().find(|(of, _)| of.eq_ignore_ascii_case(name)).map(|(_, value)| *value)
}

const NAME: Gives = Gives::Sent("name");

/// The functions.
pub(super) const FUNCTIONS: &[Function] = &[
    Function::lax("version", (0, 0), Gives::Text, |_, _| {
        Ok(json!(format!("PostgreSQL {VERSION} (lprof {})", env!("CARGO_PKG_VERSION"))))
    }),
    Function::strict("current_setting", (1, 2), Gives::Text, current_setting),
    // What it changes is changed before the query is answered.
    Function::lax("set_config", (3, 3), Gives::Text, |_, of| Ok(of[1].clone())),
    Function::lax("current_database", (0, 0), NAME, |_, _| Ok(json!(DATABASE))),
    Function::lax("session_user", (0, 0), NAME, |_, _| Ok(json!(DATABASE))),
    Function::lax("user", (0, 0), NAME, |_, _| Ok(json!(DATABASE))),
    Function::lax("current_schema", (0, 0), NAME, |_, _| Ok(json!("public"))),
    Function::strict("current_schemas", (1, 1), Gives::Texts, |_, of| {
        Ok(if of[0] == true { json!(["pg_catalog", "public"]) } else { json!(["public"]) })
    }),
    Function::lax("getdatabaseencoding", (0, 0), NAME, |_, _| Ok(json!("UTF8"))),
    Function::lax("pg_client_encoding", (0, 0), NAME, |_, _| Ok(json!("UTF8"))),
    Function::strict("pg_encoding_to_char", (1, 1), NAME, |_, of| {
        Ok(json!(if of[0] == 6 { "UTF8" } else { "" }))
    }),
    Function::strict("pg_char_to_encoding", (1, 1), Gives::Number, |_, of| {
        let name = of[0].as_str().unwrap_or_default().to_lowercase().replace(['-', '_'], "");
        Ok(json!(if name == "utf8" || name == "unicode" { 6 } else { -1 }))
    }),
    Function::lax("pg_is_in_recovery", (0, 0), Gives::Flag, |_, _| Ok(json!(false))),
    Function::lax("pg_my_temp_schema", (0, 0), Gives::Named("oid"), |_, _| Ok(json!(0))),
    Function::lax("pg_is_other_temp_schema", (1, 1), Gives::Flag, |_, _| Ok(json!(false))),
    // Nothing is locked.
    Function::lax("pg_advisory_unlock_all", (0, 0), Gives::Text, |_, _| Ok(json!(""))),
    Function::lax("inet_server_addr", (0, 0), Gives::Text, |_, _| Ok(Value::Null)),
    Function::lax("inet_client_addr", (0, 0), Gives::Text, |_, _| Ok(Value::Null)),
    Function::lax("has_table_privilege", (2, 3), Gives::Flag, may),
    Function::lax("has_schema_privilege", (2, 3), Gives::Flag, may),
    Function::lax("has_database_privilege", (2, 3), Gives::Flag, may),
    Function::lax("has_any_column_privilege", (2, 3), Gives::Flag, may),
    Function::lax("has_column_privilege", (3, 4), Gives::Flag, may),
    Function::lax("has_function_privilege", (2, 3), Gives::Flag, may),
    Function::lax("has_sequence_privilege", (2, 3), Gives::Flag, may),
    Function::lax("has_type_privilege", (2, 3), Gives::Flag, may),
    Function::lax("has_language_privilege", (2, 3), Gives::Flag, may),
    Function::lax("has_tablespace_privilege", (2, 3), Gives::Flag, may),
    Function::lax("has_foreign_data_wrapper_privilege", (2, 3), Gives::Flag, may),
    Function::lax("has_server_privilege", (2, 3), Gives::Flag, may),
    Function::lax("pg_has_role", (2, 3), Gives::Flag, |_, of| {
        Ok(if of.iter().any(Value::is_null) { Value::Null } else { json!(true) })
    }),
];

fn current_setting(asked: &Asked, of: &[Value]) -> Result<Value> {
    let name = of[0].as_str().unwrap_or_default();
    if name.eq_ignore_ascii_case("timezone") {
        return Ok(json!(asked.config.execution.time_zone.as_deref().unwrap_or("UTC")));
    }
    match setting(name) {
        Some(value) => Ok(json!(value)),
        None if of.get(1) == Some(&json!(true)) => Ok(Value::Null),
        None => exec_err!("unrecognized configuration parameter \"{name}\""),
    }
}

/// Whether one of the privileges that are named last is one to read.
fn may(_: &Asked, of: &[Value]) -> Result<Value> {
    if of.iter().any(Value::is_null) {
        return Ok(Value::Null);
    }
    let named = of.last().and_then(Value::as_str).unwrap_or_default();
    let is_to_read = |of: &str| {
        ["select", "usage", "connect", "execute"].iter().any(|to| of.trim().eq_ignore_ascii_case(to))
    };
    Ok(json!(named.split(',').any(is_to_read)))
}

//! What the catalogs tell of things by their numbers: names, definitions, descriptions, sizes.

use datafusion::common::{Result, exec_err};
use serde_json::{Value, json};

use super::{Asked, Function, Gives};

/// The number in the catalogs of `pg_class`, in which columns are described.
const CLASSES: i32 = 1259;
const NAME: Gives = Gives::Sent("name");

macro_rules! named {
    ($kind:literal, $if_any:literal) => {
        [
            Function::strict($kind, (1, 1), Gives::Named($kind), |asked, of| number(asked, $kind, &of[0])),
            Function::strict($if_any, (1, 1), Gives::Named($kind), |asked, of| {
                Ok(number(asked, $kind, &of[0]).unwrap_or(Value::Null))
            }),
        ]
    };
}

macro_rules! name_of {
    ($kind:literal) => {
        (
            $kind,
            Function::strict(concat!("name_of_", $kind), (1, 1), Gives::Text, |asked, of| {
                Ok(json!(asked.names.shown($kind, oid(&of[0]))))
            }),
        )
    };
}

/// What a number of a thing becomes by a cast: its name, or a number that is none of a thing any more.
pub(super) const NAMES_OF: [(&str, Function); 7] = [
    name_of!("oid"),
    name_of!("regclass"),
    name_of!("regtype"),
    name_of!("regproc"),
    name_of!("regprocedure"),
    name_of!("regnamespace"),
    name_of!("regrole"),
];

const CLASS: [Function; 2] = named!("regclass", "to_regclass");
const TYPES: [Function; 2] = named!("regtype", "to_regtype");
const PROC: [Function; 2] = named!("regproc", "to_regproc");
const PROCEDURE: [Function; 2] = named!("regprocedure", "to_regprocedure");
const NAMESPACE: [Function; 2] = named!("regnamespace", "to_regnamespace");
const ROLE: [Function; 2] = named!("regrole", "to_regrole");

/// The functions.
pub(super) const FUNCTIONS: &[Function] = &[
    CLASS[0],
    CLASS[1],
    TYPES[0],
    TYPES[1],
    PROC[0],
    PROC[1],
    PROCEDURE[0],
    PROCEDURE[1],
    NAMESPACE[0],
    NAMESPACE[1],
    ROLE[0],
    ROLE[1],
    Function::strict("oid", (1, 1), Gives::Named("oid"), |_, of| match &of[0] {
        Value::String(text) => match text.trim().parse::<i32>() {
            Ok(number) => Ok(json!(number)),
            Err(_) => exec_err!("invalid input syntax for type oid: \"{text}\""),
        },
        number => Ok(number.clone()),
    }),
    // What a cast to a number becomes, which is then nothing that has a name.
    Function::strict("number_of", (1, 1), Gives::Number, |_, of| Ok(of[0].clone())),
    Function::strict("long_of", (1, 1), Gives::Long, |_, of| Ok(of[0].clone())),
    Function::strict("text_of", (1, 1), Gives::Text, |_, of| Ok(of[0].clone())),
    Function::lax("format_type", (2, 2), Gives::Text, format_type),
    Function::strict("pg_get_userbyid", (1, 1), NAME, |asked, of| {
        let name = asked.names.shown("regrole", oid(&of[0]));
        Ok(json!(if name.starts_with(|c: char| c.is_ascii_digit()) {
            format!("unknown (OID={name})")
        } else {
            name
        }))
    }),
    Function::strict("pg_table_is_visible", (1, 1), Gives::Flag, |asked, of| {
        Ok(json!(asked.names.is_visible(oid(&of[0]))))
    }),
    visible("pg_type_is_visible"),
    visible("pg_function_is_visible"),
    visible("pg_operator_is_visible"),
    visible("pg_opclass_is_visible"),
    visible("pg_opfamily_is_visible"),
    visible("pg_collation_is_visible"),
    visible("pg_conversion_is_visible"),
    visible("pg_ts_config_is_visible"),
    visible("pg_ts_dict_is_visible"),
    visible("pg_ts_parser_is_visible"),
    visible("pg_ts_template_is_visible"),
    visible("pg_statistics_obj_is_visible"),
    // There are no indexes, constraints, views, rules, triggers, defaults and partitions.
    nothing("pg_get_indexdef", (1, 3)),
    nothing("pg_get_constraintdef", (1, 2)),
    nothing("pg_get_viewdef", (1, 2)),
    nothing("pg_get_ruledef", (1, 2)),
    nothing("pg_get_triggerdef", (1, 2)),
    nothing("pg_get_expr", (2, 3)),
    nothing("pg_get_partkeydef", (1, 1)),
    nothing("pg_get_partition_constraintdef", (1, 1)),
    nothing("pg_get_statisticsobjdef", (1, 1)),
    nothing("pg_get_statisticsobjdef_columns", (1, 1)),
    nothing("pg_get_serial_sequence", (2, 2)),
    nothing("pg_get_function_sqlbody", (1, 1)),
    nothing("pg_tablespace_location", (1, 1)),
    nothing("pg_relation_filepath", (1, 1)),
    nothing("shobj_description", (2, 2)),
    Function::strict("pg_relation_is_publishable", (1, 1), Gives::Flag, |_, _| Ok(json!(false))),
    Function::strict("pg_get_function_result", (1, 1), Gives::Text, |asked, of| {
        Ok(json!(asked.names.result_shown(oid(&of[0]))))
    }),
    Function::strict("pg_get_function_arguments", (1, 1), Gives::Text, arguments),
    Function::strict("pg_get_function_identity_arguments", (1, 1), Gives::Text, arguments),
    Function::strict("obj_description", (1, 2), Gives::Text, |asked, of| {
        let relation = match of.get(1) {
            None => CLASSES,
            Some(name) => asked.names.number("regclass", name.as_str().unwrap_or_default()).unwrap_or(0),
        };
        Ok(json!(asked.names.description(oid(&of[0]), relation, 0)))
    }),
    Function::strict("col_description", (2, 2), Gives::Text, |asked, of| {
        Ok(json!(asked.names.description(oid(&of[0]), CLASSES, oid(&of[1]))))
    }),
    Function::strict("pg_relation_size", (1, 2), Gives::Long, size),
    Function::strict("pg_table_size", (1, 1), Gives::Long, size),
    Function::strict("pg_total_relation_size", (1, 1), Gives::Long, size),
    Function::strict("pg_indexes_size", (1, 1), Gives::Long, |_, _| Ok(json!(0))),
    Function::strict("pg_database_size", (1, 1), Gives::Long, |asked, _| Ok(json!(asked.names.whole_size()))),
    Function::strict("pg_tablespace_size", (1, 1), Gives::Long, |asked, _| {
        Ok(json!(asked.names.whole_size()))
    }),
    Function::strict("pg_size_pretty", (1, 1), Gives::Text, pretty),
];

const fn visible(name: &'static str) -> Function {
    Function::strict(name, (1, 1), Gives::Flag, |_, _| Ok(json!(true)))
}

const fn nothing(name: &'static str, takes: (usize, usize)) -> Function {
    Function::strict(name, takes, Gives::Text, |_, _| Ok(Value::Null))
}

fn oid(of: &Value) -> i32 {
    of.as_i64().and_then(|of| i32::try_from(of).ok()).unwrap_or(0)
}

/// A number by a name, or as it is.
fn number(asked: &Asked, kind: &str, of: &Value) -> Result<Value> {
    match of {
        Value::String(name) => Ok(json!(asked.names.asked(kind, name)?)),
        Value::Number(_) => Ok(of.clone()),
        other => exec_err!("invalid input syntax for type {kind}: \"{other}\""),
    }
}

/// A type with what bounds its values.
fn format_type(asked: &Asked, of: &[Value]) -> Result<Value> {
    let (Some(number), bound) = (of[0].as_i64(), of[1].as_i64().unwrap_or(-1)) else {
        return Ok(Value::Null);
    };
    let number = i32::try_from(number).unwrap_or(0);
    let Some(name) = asked.names.type_shown(number) else {
        return Ok(json!(if number == 0 { "-" } else { "???" }));
    };
    let bound = match number {
        1042 | 1043 if bound >= 4 => format!("({})", bound - 4),
        1700 if bound >= 4 => format!("({},{})", ((bound - 4) >> 16) & 0xffff, (bound - 4) & 0xffff),
        _ => String::new(),
    };
    Ok(json!(name + &bound))
}

fn arguments(asked: &Asked, of: &[Value]) -> Result<Value> {
    Ok(json!(asked.names.arguments_shown(oid(&of[0]))))
}

fn size(asked: &Asked, of: &[Value]) -> Result<Value> {
    let relation = match &of[0] {
        Value::String(name) => asked.names.asked("regclass", name)?,
        number => oid(number),
    };
    Ok(json!(asked.names.size(relation)))
}

/// Bytes in the unit in which there are fewer than 10 of 1024 of them.
fn pretty(_: &Asked, of: &[Value]) -> Result<Value> {
    let bytes = match &of[0] {
        Value::String(of) => of.parse().ok(),
        of => of.as_i64().or_else(|| of.as_f64().map(|of| of as i64)),
    };
    let Some(bytes) = bytes else { return exec_err!("invalid input syntax for type numeric: {}", of[0]) };
    let limit = 10 * 1024;
    if bytes.abs() < limit {
        return Ok(json!(format!("{bytes} bytes")));
    }
    // With a bit more, by which it is rounded.
    let mut halves = bytes >> 9;
    for unit in ["kB", "MB", "GB", "TB"] {
        if halves.abs() < 2 * limit - 1 || unit == "TB" {
            return Ok(json!(format!("{} {unit}", (halves + halves.signum()) / 2)));
        }
        halves >>= 10;
    }
    Ok(Value::Null)
}

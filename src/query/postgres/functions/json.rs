//! Values as JSON, with the spaces that PostgreSQL writes.

use datafusion::common::{Result, exec_err};
use serde_json::{Value, json};

use super::{Asked, Function, Gives, TYPE};

const JSON: Gives = Gives::Sent("json");
const JSONB: Gives = Gives::Sent("jsonb");
const ANY: usize = 128;

/// The functions.
pub(super) const FUNCTIONS: &[Function] = &[
    Function::lax("json_build_object", (0, ANY), JSON, |asked, of| {
        let pairs = pairs(asked, of)?;
        let pairs = pairs.iter().map(|(name, value)| format!("{} : {value}", json!(name)));
        Ok(json!(format!("{{{}}}", pairs.collect::<Vec<_>>().join(", "))))
    }),
    Function::lax("jsonb_build_object", (0, ANY), JSONB, sorted_object),
    Function::lax("json_build_array", (0, ANY), JSON, listed),
    Function::lax("jsonb_build_array", (0, ANY), JSONB, listed),
    Function::strict("to_json", (1, 1), JSON, |asked, of| Ok(json!(within(asked, 0, &of[0], false)))),
    Function::strict("to_jsonb", (1, 1), JSONB, |asked, of| Ok(json!(within(asked, 0, &of[0], true)))),
    Function::strict("array_to_json", (1, 1), JSON, |_, of| Ok(json!(of[0].to_string()))),
    // What `json_agg` becomes: of a list, whose items are JSON themselves or are not.
    Function::strict("json_of_list", (2, 2), JSON, |_, of| Ok(json!(aggregated(of)))),
    Function::strict("jsonb_of_list", (2, 2), JSONB, |_, of| Ok(json!(aggregated(of)))),
];

/// A value within JSON: what is JSON itself stays so.
fn within(asked: &Asked, at: usize, of: &Value, is_spaced: bool) -> String {
    let sent = asked.fields.get(at).and_then(|field| field.metadata().get(TYPE));
    match of {
        Value::String(text) if sent.is_some_and(|sent| sent.starts_with("json")) => text.clone(),
        of if is_spaced => spaced(of),
        of => of.to_string(),
    }
}

fn listed(asked: &Asked, of: &[Value]) -> Result<Value> {
    let items = of.iter().enumerate().map(|(at, value)| within(asked, at, value, true));
    Ok(json!(format!("[{}]", items.collect::<Vec<_>>().join(", "))))
}

/// The last of each name, shorter names first.
fn sorted_object(asked: &Asked, of: &[Value]) -> Result<Value> {
    let mut kept: Vec<(String, String)> = Vec::new();
    for (name, value) in pairs(asked, of)? {
        kept.retain(|(of, _)| *of != name);
        kept.push((name, value));
    }
    kept.sort_by(|(a, _), (b, _)| (a.len(), a).cmp(&(b.len(), b)));
    let pairs = kept.iter().map(|(name, value)| format!("{}: {value}", json!(name)));
    Ok(json!(format!("{{{}}}", pairs.collect::<Vec<_>>().join(", "))))
}

/// Names and values as JSON.
fn pairs(asked: &Asked, of: &[Value]) -> Result<Vec<(String, String)>> {
    if of.len() % 2 == 1 {
        return exec_err!("argument list must have even number of elements");
    }
    let name = |of: &Value| match of {
        Value::Null => exec_err!("null value not allowed for object key"),
        Value::String(name) => Ok(name.clone()),
        other => Ok(other.to_string()),
    };
    let pair = |(at, of): (usize, &[Value])| Ok((name(&of[0])?, within(asked, 2 * at + 1, &of[1], true)));
    of.chunks(2).enumerate().map(pair).collect()
}

/// With a space after each comma and colon.
fn spaced(of: &Value) -> String {
    match of {
        Value::Array(items) => {
            format!("[{}]", items.iter().map(spaced).collect::<Vec<_>>().join(", "))
        }
        Value::Object(fields) => {
            let fields = fields.iter().map(|(name, value)| format!("{}: {}", json!(name), spaced(value)));
            format!("{{{}}}", fields.collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}

fn aggregated(of: &[Value]) -> String {
    let Value::Array(items) = &of[0] else { return of[0].to_string() };
    let item = |item: &Value| match item {
        Value::String(text) if of[1] == true => text.clone(),
        other => spaced(other),
    };
    format!("[{}]", items.iter().map(item).collect::<Vec<_>>().join(", "))
}

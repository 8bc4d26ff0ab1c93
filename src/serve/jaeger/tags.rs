//! Tags that a trace is searched by: those of a span, and what its lines say, all of one span.

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

/// Tags and their values.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Tags(Vec<(String, String)>);

impl Tags {
    /// Those of `{"name":"value"}`, as Jaeger's page asks, or of `name:value`.
    ///
    /// # Errors
    /// A text that is neither.
    pub(super) fn new(text: &str) -> Result<Self> {
        if !text.trim_start().starts_with('{') {
            let (name, value) =
                text.split_once(':').with_context(|| format!("`{text}`: expected name:value"))?;
            return Ok(Self(vec![(name.to_owned(), value.to_owned())]));
        }
        let object: Value = serde_json::from_str(text).with_context(|| format!("`{text}`: no JSON"))?;
        let Value::Object(fields) = object else { bail!("`{text}`: expected names and values") };
        Ok(Self(fields.iter().map(|(name, value)| (name.clone(), text_of(value))).collect()))
    }

    /// Whether a span of `trace` has all of them.
    pub(super) fn are_in(&self, trace: &Value) -> bool {
        let spans = trace["spans"].as_array().map(Vec::as_slice).unwrap_or_default();
        spans.iter().any(|span| {
            let of_lines = span["logs"].as_array().into_iter().flatten();
            let of_lines = of_lines.filter_map(|line| line["fields"].as_array()).flatten();
            let of_span = span["tags"].as_array().into_iter().flatten();
            let said: Vec<&Value> = of_span.chain(of_lines).collect();
            self.0.iter().all(|(name, value)| {
                said.iter().any(|tag| tag["key"] == **name && text_of(&tag["value"]) == *value)
            })
        })
    }
}

fn text_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Tags;

    #[test]
    fn all_of_one_span() {
        let tag = |key: &str, value: &str| json!({"key": key, "type": "string", "value": value});
        let trace = json!({"spans": [
            {"tags": [tag("thread.name", "a")], "logs": [{"fields": [tag("level", "WARN")]}]},
            {"tags": [tag("thread.name", "b"), {"key": "n", "type": "int64", "value": 5}], "logs": []},
        ]});
        for (asked, expected) in [
            (r#"{"thread.name":"a"}"#, true),
            (r#"{"thread.name":"a","level":"WARN"}"#, true),
            (r#"{"thread.name":"b","level":"WARN"}"#, false),
            (r#"{"n":5}"#, true),
            (r#"{"n":"5"}"#, true),
            ("{}", true),
            ("level:WARN", true),
            ("level:ERROR", false),
        ] {
            assert_eq!(Tags::new(asked).expect("tags").are_in(&trace), expected, "{asked}");
        }
        for wrong in ["", "{", "[1]", "level"] {
            assert!(Tags::new(wrong).is_err(), "{wrong}");
        }
    }
}

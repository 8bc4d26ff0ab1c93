//! Tags that a trace is searched by: those of a span, and what its lines say, all of one span.

use crate::error::{Context as _, Result, bail};
use serde_json::Value;

/// Tags and their values.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Tags(pub(super) Vec<(String, String)>);

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
}

fn text_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::Tags;

    #[test]
    fn as_pages_and_people_ask() {
        let of = |text: &str| Tags::new(text).expect("tags").0;
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(of(r#"{"thread.name":"a","n":5}"#), [pair("n", "5"), pair("thread.name", "a")]);
        assert_eq!(of("level:WARN"), [pair("level", "WARN")]);
        assert_eq!(of("{}"), []);
        for wrong in ["", "{", "[1]", "level"] {
            assert!(Tags::new(wrong).is_err(), "{wrong}");
        }
    }
}

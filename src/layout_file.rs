//! The layout in a logging configuration: `log4j.properties`, `log4j.xml`,
//! `log4j2.xml`, `log4j2.properties`, `logback.xml`. Only the pattern is taken;
//! of several, the first that prints a time.

use std::path::Path;

use anyhow::{Context as _, Result, bail};

/// Replacements of one `${name}` by another before a pattern is given up.
const SUBSTITUTIONS_MAX: usize = 32;

/// The pattern that `path` configures.
pub(crate) fn read(path: &Path) -> Result<String> {
    let text = std::fs::read_to_string(path).with_context(|| format!("`{}`", path.display()))?;
    let found = patterns(&text);
    let with_time = found.iter().find(|pattern| pattern.contains("%d"));
    match with_time.or(found.first()) {
        Some(pattern) => Ok(pattern.clone()),
        None => bail!("`{}`: no pattern layout in this file", path.display()),
    }
}

fn patterns(text: &str) -> Vec<String> {
    let is_xml = text.trim_start().starts_with('<');
    let (raw, properties) = if is_xml { from_xml(text) } else { from_properties(text) };
    raw.into_iter().map(|pattern| substituted(pattern, &properties)).collect()
}

type Properties = Vec<(String, String)>;

fn from_properties(text: &str) -> (Vec<String>, Properties) {
    let joined = text.replace("\\\r\n", "").replace("\\\n", "");
    let lines = joined.lines().map(str::trim_start).filter(|line| !line.starts_with(['#', '!']));
    let pairs = lines.filter_map(|line| line.split_once('='));
    let properties: Properties =
        pairs.map(|(key, value)| (key.trim().to_owned(), value.trim_start().to_owned())).collect();
    let is_pattern = |key: &str| {
        let key = key.to_ascii_lowercase();
        key.ends_with("conversionpattern") || key.ends_with("layout.pattern")
    };
    let raw = properties.iter().filter(|(key, _)| is_pattern(key)).map(|(_, value)| value.clone()).collect();
    (raw, properties)
}

fn from_xml(text: &str) -> (Vec<String>, Properties) {
    let text = without_comments(text);
    let (mut raw, mut properties) = (Vec::new(), Properties::new());
    for tag in text.split('<').skip(1) {
        let (head, body) = tag.split_once('>').unwrap_or((tag, ""));
        let name = head.split([' ', '\t', '\n', '\r', '/']).next().unwrap_or_default().to_ascii_lowercase();
        let value = |key: &str| attribute(head, key);
        match name.as_str() {
            "pattern" if !body.trim().is_empty() => raw.push(unescaped(body.trim())),
            "patternlayout" => raw.extend(value("pattern")),
            "param" if value("name").is_some_and(|n| n.eq_ignore_ascii_case("ConversionPattern")) => {
                raw.extend(value("value"));
            }
            "property" | "variable" => {
                let text = value("value").or_else(|| Some(unescaped(body.trim())));
                properties.extend(value("name").zip(text));
            }
            _ => {}
        }
    }
    (raw, properties)
}

fn without_comments(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, comment)) = rest.split_once("<!--") {
        out.push_str(before);
        rest = comment.split_once("-->").map_or("", |(_, after)| after);
    }
    out + rest
}

fn attribute(head: &str, key: &str) -> Option<String> {
    let mut rest = head;
    loop {
        let at = rest.to_ascii_lowercase().find(&key.to_ascii_lowercase())?;
        let starts_word = rest[..at].ends_with(char::is_whitespace);
        rest = &rest[at + key.len()..];
        let value = rest.trim_start().strip_prefix('=').map(str::trim_start);
        if let Some(value) = value.filter(|_| starts_word) {
            let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''))?;
            return value[1..].split_once(quote).map(|(value, _)| unescaped(value));
        }
    }
}

fn unescaped(text: &str) -> String {
    let plain = text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&apos;", "'");
    plain.replace("&amp;", "&")
}

/// `${name}` and `${name:-default}` by their values, where the file says them.
fn substituted(mut pattern: String, properties: &Properties) -> String {
    for _ in 0..SUBSTITUTIONS_MAX {
        let Some(start) = pattern.find("${") else { break };
        let Some(length) = pattern[start..].find('}') else { break };
        let name = &pattern[start + 2..start + length];
        let (name, default) = name.split_once(":-").unwrap_or((name, ""));
        let known = properties.iter().find(|(key, _)| key == name || name.strip_prefix("sys:") == Some(key));
        let value = known.map_or(default, |(_, value)| value).to_owned();
        pattern.replace_range(start..=start + length, &value);
    }
    pattern
}

#[cfg(test)]
mod tests {
    use super::patterns;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        assert_eq!(patterns(text), expected);
    }

    #[test]
    fn properties() {
        check(
            "p=%m%n\n# x.ConversionPattern=no\nlog4j.appender.A.layout.ConversionPattern=%d{ISO8601} %p %c: ${p}\n",
            &["%d{ISO8601} %p %c: %m%n"],
        );
    }

    #[test]
    fn xml() {
        check(
            "<configuration><!-- <pattern>no</pattern> --><pattern>%level %date %msg%n</pattern></configuration>",
            &["%level %date %msg%n"],
        );
        check("<Configuration><PatternLayout pattern=\"%d &lt;%t&gt; %m%n\"/></Configuration>", &["%d <%t> %m%n"]);
        check("<a><param name='ConversionPattern' value='%d %m%n'/></a>", &["%d %m%n"]);
    }
}

//! Layouts from a logging configuration: the patterns in a log4j properties,
//! log4j 2 XML or properties, or logback XML file. Only patterns and the
//! variables they use are read; which appender wrote a log file is decided by
//! the file itself.

use std::collections::BTreeMap;

/// The conversion patterns of a logging configuration, in order, each once.
#[must_use]
pub fn patterns_of(configuration: &str) -> Vec<String> {
    let is_xml = configuration.trim_start_matches('\u{feff}').trim_start().starts_with('<');
    let (patterns, variables) = if is_xml { read_xml(configuration) } else { read_properties(configuration) };
    let mut out: Vec<String> = Vec::new();
    for pattern in patterns {
        let pattern = substitute(&pattern, &variables, 0);
        if pattern.contains('%') && !out.contains(&pattern) {
            out.push(pattern);
        }
    }
    out
}

type Variables = BTreeMap<String, String>;

fn read_properties(text: &str) -> (Vec<String>, Variables) {
    let mut patterns = Vec::new();
    let mut variables = Variables::new();
    let joined = text.replace("\\\r\n", "").replace("\\\n", "");
    for line in joined.lines() {
        let line = line.trim_start();
        if line.starts_with(['#', '!']) {
            continue;
        }
        let Some(at) = line.find(['=', ':']) else { continue };
        let key = line[..at].trim();
        let value = unescape_properties(line[at + 1..].trim_start());
        let last = key.rsplit('.').next().unwrap_or(key);
        if last.eq_ignore_ascii_case("ConversionPattern") || key.ends_with("layout.pattern") {
            patterns.push(value);
        } else {
            variables.insert(key.to_owned(), value.clone());
            if let Some(name) = key.strip_prefix("property.") {
                variables.insert(name.to_owned(), value);
            }
        }
    }
    (patterns, variables)
}

/// `\t` and the like; a pattern's own backslashes are doubled in such a file.
fn unescape_properties(value: &str) -> String {
    let mut out = String::new();
    let mut chars = value.chars();
    while let Some(c) = chars.next() {
        match (c, c == '\\') {
            (_, false) => out.push(c),
            _ => match chars.next() {
                Some('t') => out.push('\t'),
                Some('n') => out.push('\n'),
                Some(other) => out.push(other),
                None => {}
            },
        }
    }
    out
}

fn read_xml(text: &str) -> (Vec<String>, Variables) {
    let mut patterns = Vec::new();
    let mut variables = Variables::new();
    let text = without_comments(text);
    let mut rest = text.as_str();
    while let Some(open) = rest.find('<') {
        rest = &rest[open + 1..];
        let Some(close) = rest.find('>') else { break };
        let (tag, after) = (&rest[..close], &rest[close + 1..]);
        let name = tag.split([' ', '\t', '\n', '\r', '/']).next().unwrap_or_default();
        let body = after.split('<').next().unwrap_or_default();
        match name.to_ascii_lowercase().as_str() {
            "pattern" => patterns.push(unescape_xml(body.trim())),
            "patternlayout" => patterns.extend(attribute(tag, "pattern")),
            "param"
                if attribute(tag, "name").is_some_and(|n| n.eq_ignore_ascii_case("ConversionPattern")) =>
            {
                patterns.extend(attribute(tag, "value"));
            }
            "property" | "variable" => {
                let value = attribute(tag, "value").unwrap_or_else(|| unescape_xml(body.trim()));
                if let Some(name) = attribute(tag, "name") {
                    variables.insert(name, value);
                }
            }
            _ => {}
        }
        rest = after;
    }
    (patterns, variables)
}

fn without_comments(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("<!--") {
        out.push_str(&rest[..at]);
        rest = rest[at..].find("-->").map_or("", |end| &rest[at + end + 3..]);
    }
    out.push_str(rest);
    out
}

fn attribute(tag: &str, name: &str) -> Option<String> {
    let mut from = 0;
    while let Some(at) = tag[from..].to_ascii_lowercase().find(name).map(|n| from + n) {
        from = at + name.len();
        let starts = tag[..at].ends_with(|c: char| c.is_ascii_whitespace());
        let Some(value) = tag[from..].trim_start().strip_prefix('=') else { continue };
        let value = value.trim_start();
        let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''))?;
        if starts {
            return value[1..].split(quote).next().map(unescape_xml);
        }
    }
    None
}

fn unescape_xml(text: &str) -> String {
    text.replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&apos;", "'")
        .replace("&#10;", "\n")
        .replace("&amp;", "&")
}

/// Replaces `${name}`, `${name:-default}` and `${sys:name:-default}`; what is not
/// known becomes its default, or nothing.
fn substitute(text: &str, variables: &Variables, depth: usize) -> String {
    let Some(open) = text.find("${").filter(|_| depth < 16) else { return text.to_owned() };
    let mut level = 0_usize;
    let close = text[open..].char_indices().find_map(|(i, c)| {
        match c {
            '{' => level += 1,
            '}' => level -= 1,
            _ => return None,
        }
        (level == 0).then_some(open + i)
    });
    let Some(close) = close else { return text.to_owned() };
    let inside = text[open + 2..close].trim_start_matches('$');
    let (name, default) = inside.split_once(":-").unwrap_or((inside, ""));
    let short = name.rsplit(':').next().unwrap_or(name);
    let value = variables.get(name).or_else(|| variables.get(short)).map_or(default, String::as_str);
    let replaced = format!("{}{}{}", &text[..open], value, &text[close + 1..]);
    substitute(&replaced, variables, depth + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn properties() {
        let text = "# x\nroot=INFO\npat=%c{2}: %m%n\nlog4j.appender.A.layout.ConversionPattern=%d{ISO8601} %-5p ${pat}\n\
                    appender.b.layout.pattern = %d \\\n  %m%n\n#log4j.appender.C.layout.ConversionPattern=%m\n";
        assert_eq!(patterns_of(text), ["%d{ISO8601} %-5p %c{2}: %m%n", "%d   %m%n"]);
    }

    #[test]
    fn xml() {
        let text = r#"<?xml version="1.0"?><Configuration><Properties><Property name="P">%d %p</Property></Properties>
          <PatternLayout charset="x" pattern="${P} &lt;%t&gt; ${sys:Q:-%c} - %m%n"/><!-- <pattern>%x</pattern> -->
          <encoder><pattern>%-5level [%thread] %msg%n</pattern></encoder>
          <param name="ConversionPattern" value="%d %m%n"/></Configuration>"#;
        assert_eq!(patterns_of(text), ["%d %p <%t> %c - %m%n", "%-5level [%thread] %msg%n", "%d %m%n"]);
    }
}

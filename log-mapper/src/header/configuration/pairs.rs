//! Configurations that are keys and values: properties, YAML, JSON.

use super::{Found, jul, libraries};

/// Adds a value under its key: the parts of a path with points between them.
fn add(key: &str, value: String, line: usize, found: &mut Found) {
    let lower = key.to_ascii_lowercase();
    let last = lower.rsplit('.').next().unwrap_or(&lower);
    let is_of = |parts: &[&str]| parts.iter().any(|part| lower.contains(part));
    let is_pattern = match last {
        "conversionpattern" => true,
        "pattern" => is_of(&["layout.", "patternlayout", "formatter."]),
        "console" | "file" => lower.starts_with("logging.pattern."),
        "format" => lower.starts_with("quarkus.log.") || is_of(&["formatter."]),
        // Dropwizard's and Druid's
        "logformat" => true,
        _ => false,
    };
    if last == "formatter" || last == "class" {
        found.patterns.extend(libraries::formatter(value.trim()).map(|pattern| (pattern, line)));
    } else if is_pattern && value.contains("$s") {
        found.patterns.extend(jul::patterns_of(&value).into_iter().map(|pattern| (pattern, line)));
    } else if is_pattern {
        found.patterns.push((value, line));
    } else {
        libraries::add_setting(&lower, &value, line, found);
        if let Some((_, name)) = key.split_once("property.") {
            found.variables.insert(name.to_owned(), value.clone());
        }
        found.variables.insert(key.to_owned(), value);
    }
}

/// `key = value` lines, which a backslash at the end continues.
pub(super) fn read_properties(text: &str, found: &mut Found) {
    let mut lines = text.lines().enumerate();
    while let Some((i, first)) = lines.next() {
        let mut line = first.trim_start().to_owned();
        if line.starts_with(['#', '!']) {
            continue;
        }
        while line.trim_end_matches('\r').ends_with('\\') {
            line.truncate(line.trim_end_matches('\r').len() - 1);
            let Some((_, next)) = lines.next() else { break };
            line.push_str(next.trim_start());
        }
        let Some(at) = line.find(['=', ':']) else { continue };
        let value = unescape_properties(line[at + 1..].trim_start());
        add(line[..at].trim(), value, i + 1, found);
    }
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
                Some('u') => {
                    let code: String = chars.by_ref().take(4).collect();
                    out.extend(u32::from_str_radix(&code, 16).ok().and_then(char::from_u32));
                }
                Some(other) => out.push(other),
                None => {}
            },
        }
    }
    out
}

/// Whether the first line that says something is a key without a value, or one with a blank
/// after its colon.
pub(super) fn is_yaml(text: &str) -> bool {
    let first = text
        .lines()
        .map(str::trim_end)
        .find(|l| !l.trim_start().is_empty() && !l.trim_start().starts_with('#'));
    first.is_some_and(|line| {
        line == "---" || (!line.contains('=') && (line.ends_with(':') || line.contains(": ")))
    })
}

/// Whether it is a script of logback in Groovy.
pub(super) fn is_groovy(text: &str) -> bool {
    text.contains("appender(") && text.contains("encoder(")
}

/// `pattern = "..."` of each encoder.
pub(super) fn read_groovy(text: &str, found: &mut Found) {
    for (i, line) in text.lines().enumerate() {
        let Some((key, value)) = line.split_once('=') else { continue };
        let value = scalar(value.trim());
        match key.trim() {
            "pattern" => found.patterns.push((value, i + 1)),
            key => {
                let name = key.trim_start_matches("def ").trim();
                found.variables.insert(name.to_owned(), value);
            }
        }
    }
}

/// Keys that nest by indentation; an entry of a list with `name` and `value` is a variable.
pub(super) fn read_yaml(text: &str, found: &mut Found) {
    let mut path: Vec<(usize, String)> = Vec::new();
    let mut name: Option<String> = None;
    for (i, raw) in text.lines().enumerate() {
        let line = raw.trim_start();
        if line.is_empty() || line.starts_with('#') || line.starts_with("---") {
            continue;
        }
        let mut indent = raw.len() - line.len();
        let mut line = line;
        while let Some(rest) = line.strip_prefix("- ") {
            indent += 2;
            line = rest.trim_start();
            name = None;
        }
        let Some((key, value)) = line.split_once(':') else { continue };
        let key = key.trim().trim_matches(['"', '\'']).to_owned();
        path.retain(|(depth, _)| *depth < indent);
        let value = scalar(value.trim());
        if value.is_empty() {
            path.push((indent, key));
            continue;
        }
        let parts: Vec<&str> = path.iter().map(|(_, part)| part.as_str()).chain([key.as_str()]).collect();
        variable(&key, &value, &mut name, found);
        add(&parts.join("."), value, i + 1, found);
    }
}

/// Remembers a `name` and adds the `value` after it.
fn variable(key: &str, value: &str, name: &mut Option<String>, found: &mut Found) {
    match key {
        "name" => *name = Some(value.to_owned()),
        "value" => {
            if let Some(name) = name.take() {
                found.variables.insert(name, value.to_owned());
            }
        }
        _ => {}
    }
}

/// A value without its quotes and comment.
fn scalar(text: &str) -> String {
    if let Some(quoted) = text.strip_prefix('\'') {
        let end = quoted.replace("''", "\u{0}");
        return end.split('\'').next().unwrap_or_default().replace('\u{0}', "'");
    }
    if let Some(quoted) = text.strip_prefix('"') {
        return json_string(quoted).0;
    }
    text.split(" #").next().unwrap_or_default().trim().to_owned()
}

/// Strings of an object, whatever nests: a key is a string with a colon behind it.
pub(super) fn read_json(text: &str, found: &mut Found) {
    let mut keys: Vec<String> = Vec::new();
    let mut pending: Option<String> = None;
    let mut name: Option<String> = None;
    let mut at = 0;
    while let Some(b) = text.as_bytes().get(at) {
        at += 1;
        match b {
            b'"' => {
                let (string, len) = json_string(&text[at..]);
                at += len;
                if text[at..].trim_start().starts_with(':') {
                    pending = Some(string);
                } else if let Some(key) = pending.take() {
                    let line = text[..at].matches('\n').count() + 1;
                    let parts: Vec<&str> = keys.iter().map(String::as_str).chain([key.as_str()]).collect();
                    variable(&key, &string, &mut name, found);
                    add(&parts.join("."), string, line, found);
                }
            }
            b'{' => keys.push(pending.take().unwrap_or_default()),
            b'}' => drop(keys.pop()),
            _ => {}
        }
    }
}

/// The string up to its closing quote, unescaped, and the length up to behind that.
fn json_string(text: &str) -> (String, usize) {
    let mut out = String::new();
    let mut chars = text.char_indices();
    while let Some((i, c)) = chars.next() {
        match c {
            '"' => return (out, i + 1),
            '\\' => match chars.next().map(|(_, c)| c) {
                Some('n') => out.push('\n'),
                Some('t') => out.push('\t'),
                Some('u') => {
                    let code: String = chars.by_ref().take(4).map(|(_, c)| c).collect();
                    out.extend(u32::from_str_radix(&code, 16).ok().and_then(char::from_u32));
                }
                Some(other) => out.push(other),
                None => break,
            },
            c => out.push(c),
        }
    }
    (out, text.len())
}

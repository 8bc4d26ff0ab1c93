//! Configurations in XML: logback, log4j 1 and 2, WildFly.

use super::{Found, INCLUDE_DEPTH_MAX, libraries, read_into};

/// Adds what stands in `text`.
pub(super) fn read(text: &str, read_file: &dyn Fn(&str) -> Option<String>, depth: usize, found: &mut Found) {
    let text = without_comments(text);
    let mut at = 0;
    while let Some(open) = text[at..].find('<').map(|n| at + n + 1) {
        let line = text[..open].matches('\n').count() + 1;
        let Some(close) = tag_end(&text[open..]).map(|n| open + n) else { break };
        let (tag, after) = (&text[open..close], &text[close + 1..]);
        at = close + 1;
        let name = tag.split([' ', '\t', '\n', '\r', '/']).next().unwrap_or_default().to_ascii_lowercase();
        let body = || body_of(after);
        match name.as_str() {
            "pattern" | "conversionpattern" if !tag.ends_with('/') => found.patterns.push((body(), line)),
            "patternlayout" | "pattern-formatter" => {
                found.patterns.extend(attribute(tag, "pattern").map(|pattern| (pattern, line)));
            }
            "levelpatternselector" | "markerpatternselector" | "scriptpatternselector" => {
                found.patterns.extend(attribute(tag, "defaultpattern").map(|pattern| (pattern, line)));
            }
            "patternmatch" => {
                found.patterns.extend(attribute(tag, "pattern").map(|pattern| (pattern, line)));
            }
            "param"
                if attribute(tag, "name").is_some_and(|n| n.eq_ignore_ascii_case("ConversionPattern")) =>
            {
                found.patterns.extend(attribute(tag, "value").map(|pattern| (pattern, line)));
            }
            "property" | "variable" | "springproperty" => {
                let value = attribute(tag, "value").or_else(|| attribute(tag, "defaultvalue"));
                // What Spring's environment says is not known here.
                let value = value.or_else(|| (!tag.ends_with('/')).then(body));
                if let Some((name, value)) = attribute(tag, "name").zip(value) {
                    if name == "pattern" || name.ends_with(".pattern") {
                        found.patterns.push((value.clone(), line));
                    }
                    found.variables.insert(name, value);
                }
            }
            "include" | "xi:include" => include(tag, line, read_file, depth, found),
            _ => {}
        }
    }
}

/// Where the tag that `text` begins in ends: a value in quotes can hold the sign.
fn tag_end(text: &str) -> Option<usize> {
    let mut quote = None;
    text.bytes().position(|b| {
        match quote {
            Some(open) if open == b => quote = None,
            None if b == b'"' || b == b'\'' => quote = Some(b),
            _ => {}
        }
        b == b'>' && quote.is_none()
    })
}

fn include(
    tag: &str,
    line: usize,
    read_file: &dyn Fn(&str) -> Option<String>,
    depth: usize,
    found: &mut Found,
) {
    let name = ["resource", "file", "href", "url"].iter().find_map(|key| attribute(tag, key));
    let Some(name) = name else { return };
    if libraries::include(&name, line, found) {
        return;
    }
    match read_file(&name).filter(|_| depth < INCLUDE_DEPTH_MAX) {
        Some(text) => read_into(&text, read_file, depth + 1, found),
        None => found.problems.push(format!("line {line}: include `{name}` is not there")),
    }
}

/// The text of an element, after its tag.
fn body_of(after: &str) -> String {
    if let Some(data) = after.trim_start().strip_prefix("<![CDATA[") {
        return data.split("]]>").next().unwrap_or_default().trim().to_owned();
    }
    unescape(after.split('<').next().unwrap_or_default().trim())
}

/// Comments become as many line ends.
fn without_comments(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("<!--") {
        out.push_str(&rest[..at]);
        let end = rest[at..].find("-->").map_or(rest.len(), |end| at + end + 3);
        out.extend(rest[at..end].chars().filter(|c| *c == '\n'));
        rest = &rest[end..];
    }
    out.push_str(rest);
    out
}

/// The value of an attribute; `name` is in lower case.
fn attribute(tag: &str, name: &str) -> Option<String> {
    let lower = tag.to_ascii_lowercase();
    let mut from = 0;
    while let Some(at) = lower[from..].find(name).map(|n| from + n) {
        from = at + name.len();
        let starts = tag[..at].ends_with(|c: char| c.is_ascii_whitespace());
        let Some(value) = tag[from..].trim_start().strip_prefix('=') else { continue };
        let value = value.trim_start();
        let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''))?;
        if starts {
            return value[1..].split(quote).next().map(unescape);
        }
    }
    None
}

fn unescape(text: &str) -> String {
    text.replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&apos;", "'")
        .replace("&#10;", "\n")
        .replace("&#xA;", "\n")
        .replace("&#9;", "\t")
        .replace("&amp;", "&")
}

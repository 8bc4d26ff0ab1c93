//! Layouts from a logging configuration: log4j 1 and 2 (properties, XML, YAML, JSON), logback
//! with includes, Spring Boot, Quarkus, WildFly and `java.util.logging`. Only patterns and the
//! variables they use are read; which appender wrote a log file is decided by the file itself.

mod jul;
mod libraries;
mod pairs;
mod xml;

use std::collections::BTreeMap;

/// Files that include each other, one in the other.
const INCLUDE_DEPTH_MAX: usize = 8;
/// Variables within variables.
const VARIABLE_DEPTH_MAX: usize = 16;

/// What a configuration says of layouts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Configuration {
    /// Conversion patterns, in order, each once, with the line where each stands.
    pub patterns: Vec<(String, usize)>,
    /// What of it could not be used, for people.
    pub problems: Vec<String>,
}

/// A pattern or variable as it stands in a file.
#[derive(Clone, Debug, Default)]
struct Found {
    patterns: Vec<(String, usize)>,
    variables: BTreeMap<String, String>,
    problems: Vec<String>,
}

/// Reads a configuration. `read` gives the text of a file that it includes, by the name in it.
#[must_use]
pub fn read_configuration(text: &str, read: &dyn Fn(&str) -> Option<String>) -> Configuration {
    let mut found = Found::default();
    read_into(text, read, 0, &mut found);
    let mut out = Configuration { problems: found.problems, ..Configuration::default() };
    for (pattern, line) in found.patterns {
        for pattern in libraries::expanded(&pattern, &found.variables) {
            let pattern = substitute(&pattern, &found.variables, 0);
            if pattern.contains('%') && !out.patterns.iter().any(|(known, _)| *known == pattern) {
                out.patterns.push((pattern, line));
            }
        }
    }
    out
}

/// The conversion patterns of a configuration that includes no other, in order, each once.
#[must_use]
pub fn patterns_of(configuration: &str) -> Vec<String> {
    read_configuration(configuration, &|_| None).patterns.into_iter().map(|(pattern, _)| pattern).collect()
}

fn read_into(text: &str, read: &dyn Fn(&str) -> Option<String>, depth: usize, found: &mut Found) {
    let text = text.trim_start_matches('\u{feff}');
    let first = text.trim_start().chars().next();
    match first {
        Some('<') => xml::read(text, read, depth, found),
        Some('{') => pairs::read_json(text, found),
        _ if pairs::is_groovy(text) => pairs::read_groovy(text, found),
        _ if pairs::is_yaml(text) => pairs::read_yaml(text, found),
        _ => pairs::read_properties(text, found),
    }
}

/// Replaces `${name}`, `${name:-default}` and `${sys:name:-default}`. What is not known becomes
/// its default; without one any text stands there, as far as the layout can tell.
fn substitute(text: &str, variables: &BTreeMap<String, String>, depth: usize) -> String {
    let Some(open) = text.find("${").filter(|_| depth < VARIABLE_DEPTH_MAX) else { return text.to_owned() };
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
    let (name, default) = match inside.split_once(":-") {
        Some((name, default)) => (name, Some(default)),
        None => (inside, None),
    };
    let short = name.rsplit(':').next().unwrap_or(name);
    // Within an option a text is no conversion.
    let before = &text[..open];
    let is_option = before.matches('{').count() > before.matches('}').count() && !before.ends_with("%clr(");
    let value = match variables.get(name).or_else(|| variables.get(short)) {
        Some(value) => value.clone(),
        None if short == "PID" => "%pid".to_owned(),
        None => match default.map(str::trim) {
            Some(default) if is_option || !default.is_empty() => default.to_owned(),
            _ if is_option => String::new(),
            _ => format!("%property{{{short}}}"),
        },
    };
    let before = before.strip_suffix('$').unwrap_or(before);
    let replaced = format!("{before}{value}{}", &text[close + 1..]);
    substitute(&replaced, variables, depth + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn properties() {
        let text = "# x\nroot=INFO\npat=%c{2}: %m%n\nlog4j.appender.A.layout.ConversionPattern=%d{ISO8601} %-5p ${pat}\n\
                    appender.b.layout.pattern = %d \\\n  %m%n\n#log4j.appender.C.layout.ConversionPattern=%m\n";
        assert_eq!(patterns_of(text), ["%d{ISO8601} %-5p %c{2}: %m%n", "%d %m%n"]);
    }

    #[test]
    fn properties_of_programs() {
        assert_eq!(patterns_of("logging.pattern.file=%d %5p %m%n\n"), ["%d %5p %m%n"]);
        assert_eq!(
            patterns_of("quarkus.log.console.format=%d %p [%c] (%t) %s%e%n\n"),
            ["%d %p [%c] (%t) %s%e%n"]
        );
        assert_eq!(
            patterns_of("formatter.PATTERN.pattern=%d %-5p [%c] (%t) %s%e%n\n"),
            ["%d %-5p [%c] (%t) %s%e%n"]
        );
        assert_eq!(
            patterns_of(
                "java.util.logging.SimpleFormatter.format=[%1$tF %1$tT.%1$tL] %4$-7s [%3$s] %5$s%6$s%n\n"
            ),
            ["[%d{yyyy-MM-dd HH:mm:ss.SSS}] %-7p [%c] %m%n"]
        );
        assert_eq!(
            patterns_of("1catalina.formatter = org.apache.juli.OneLineFormatter\n"),
            ["%d{dd-MMM-yyyy HH:mm:ss.SSS} %p [%t] %C.%M %m%n"]
        );
    }

    #[test]
    fn xml() {
        let text = r#"<?xml version="1.0"?><Configuration><Properties><Property name="P">%d %p</Property></Properties>
          <PatternLayout charset="x" pattern="${P} &lt;%t&gt; ${sys:Q:-%c} - %m%n"/><!-- <pattern>%x</pattern> -->
          <encoder><pattern>%-5level [%thread] %msg%n</pattern></encoder>
          <encoder><pattern><![CDATA[%d <%t> %m%n]]></pattern></encoder>
          <param name="ConversionPattern" value="%d %m%n"/></Configuration>"#;
        let expected = ["%d %p <%t> %c - %m%n", "%-5level [%thread] %msg%n", "%d <%t> %m%n", "%d %m%n"];
        assert_eq!(patterns_of(text), expected);
        let formatter =
            r#"<formatter name="P"><pattern-formatter pattern="%d %p [%c] (%t) %s%e%n"/></formatter>"#;
        assert_eq!(patterns_of(formatter), ["%d %p [%c] (%t) %s%e%n"]);
    }

    #[test]
    fn patterns_in_other_places() {
        let selector = r#"<PatternLayout><LevelPatternSelector defaultPattern="%d > %m%n"><PatternMatch key="ERROR" pattern="%d %ex %m%n"/></LevelPatternSelector></PatternLayout>"#;
        assert_eq!(patterns_of(selector), ["%d > %m%n", "%d %ex %m%n"]);
        let groovy = "def p = \"%d %m%n\"\nappender('C', ConsoleAppender) {\n  encoder(PatternLayoutEncoder) {\n    pattern = \"${p}\"\n  }\n}\n";
        assert_eq!(patterns_of(groovy), ["%d %m%n"]);
    }

    #[test]
    fn includes() {
        let read = |name: &str| {
            (name == "more.xml").then(|| "<included><pattern>%d %m%n</pattern></included>".to_owned())
        };
        let got = read_configuration(
            "<configuration>\n<include file=\"more.xml\"/>\n<include resource=\"gone.xml\"/></configuration>",
            &read,
        );
        assert_eq!(got.patterns, [("%d %m%n".to_owned(), 1)]);
        assert_eq!(got.problems, ["line 3: include `gone.xml` is not there"]);
        let base = patterns_of(
            r#"<configuration><include resource="org/springframework/boot/logging/logback/base.xml"/></configuration>"#,
        );
        assert!(
            base.len() > 3 && base.iter().all(|p| crate::Layout::compile(p).is_ok() && p.contains("---")),
            "{base:?}"
        );
    }

    #[test]
    fn yaml_and_json() {
        let yaml = "Configuration:\n  Properties:\n    Property:\n      - name: \"p\"\n        value: \"[%d] %p %m (%c)%n\"\n  Appenders:\n    Console:\n      PatternLayout:\n        pattern: \"${p}\"\n";
        assert_eq!(patterns_of(yaml), ["[%d] %p %m (%c)%n"]);
        let spring =
            "logging:\n  pattern:\n    console: '%d %p ''x'' %m%n' # why\n  level:\n    root: INFO\n";
        assert_eq!(patterns_of(spring), ["%d %p 'x' %m%n"]);
        let json = r#"{"configuration": {"properties": {"property": [{"name": "p", "value": "%d"}]},
            "appenders": {"Console": {"PatternLayout": {"pattern": "${p} \"%t\" %m%n"}}}}}"#;
        assert_eq!(patterns_of(json), ["%d \"%t\" %m%n"]);
    }

    #[test]
    fn variables() {
        let check = |text: &str, expected: &str| {
            assert_eq!(substitute(text, &BTreeMap::new(), 0), expected);
        };
        check("%d{${F:-yyyy}} ${PID:- } ${L:-%5p} ${APP:-}[%t]", "%d{yyyy} %pid %5p %property{APP}[%t]");
        check("%d $${sys:x} %m", "%d %property{x} %m");
    }
}

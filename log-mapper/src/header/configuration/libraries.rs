//! Patterns that stand in no configuration because a library holds them.

use std::collections::BTreeMap;

use super::Found;

/// Patterns of Spring Boot, from 2 to 3.5, for the console and for files. A name in braces is a
/// variable that a configuration can set.
const SPRING_BOOT: &[&str] = &[
    "%d{${LOG_DATEFORMAT_PATTERN:-yyyy-MM-dd'T'HH:mm:ss.SSSXXX}} ${LOG_LEVEL_PATTERN:-%5p} %pid --- %esb{}%esb{}[%15.15t] %correlationId{}%-40.40logger{39} : %m%n",
    "%d{${LOG_DATEFORMAT_PATTERN:-yyyy-MM-dd'T'HH:mm:ss.SSSXXX}} ${LOG_LEVEL_PATTERN:-%5p} %pid --- %esb{}%esb{}[%t] %correlationId{}%-40.40logger{39} : %m%n",
    "%d{${LOG_DATEFORMAT_PATTERN:-yyyy-MM-dd HH:mm:ss.SSS}} ${LOG_LEVEL_PATTERN:-%5p} %pid --- [%15.15t] %-40.40logger{39} : %m%n",
    "%d{${LOG_DATEFORMAT_PATTERN:-yyyy-MM-dd HH:mm:ss.SSS}} ${LOG_LEVEL_PATTERN:-%5p} %pid --- [%t] %-40.40logger{39} : %m%n",
];

/// Variables that stand for these.
const SPRING_BOOT_VARIABLES: &[&str] = &["CONSOLE_LOG_PATTERN", "FILE_LOG_PATTERN"];

/// Resources of Spring Boot with appenders of these patterns.
const SPRING_BOOT_APPENDERS: &[&str] = &["base.xml", "console-appender.xml", "file-appender.xml"];

/// Its resource with the variables only.
const SPRING_BOOT_DEFAULTS: &str = "defaults.xml";

/// Formatters of `java.util.logging` by their class.
const FORMATTERS: &[(&str, &str)] = &[
    ("org.apache.juli.OneLineFormatter", "%d{dd-MMM-yyyy HH:mm:ss.SSS} %p [%t] %C.%M %m%n"),
    ("org.apache.juli.VerbatimFormatter", "%m%n"),
    ("java.util.logging.SimpleFormatter", "%d{MMM dd, yyyy h:mm:ss a} %C %M%n%p: %m%n"),
];

/// The pattern of a formatter's class.
pub(super) fn formatter(class: &str) -> Option<String> {
    FORMATTERS.iter().find(|(name, _)| *name == class).map(|(_, pattern)| (*pattern).to_owned())
}

/// Adds what a resource of a library holds; false: it is of none that is known.
pub(super) fn include(name: &str, line: usize, found: &mut Found) -> bool {
    if !name.contains("org/springframework/boot/logging/") {
        return false;
    }
    let file = name.rsplit('/').next().unwrap_or(name);
    if SPRING_BOOT_APPENDERS.contains(&file) {
        found.patterns.extend(SPRING_BOOT.iter().map(|pattern| ((*pattern).to_owned(), line)));
        return true;
    }
    file == SPRING_BOOT_DEFAULTS
}

/// Settings that change the patterns of a library.
pub(super) fn add_setting(key: &str, value: &str, line: usize, found: &mut Found) {
    let variable = match key {
        "logging.pattern.level" => "LOG_LEVEL_PATTERN",
        "logging.pattern.dateformat" => "LOG_DATEFORMAT_PATTERN",
        _ => return,
    };
    found.variables.insert(variable.to_owned(), value.to_owned());
    found.patterns.extend(SPRING_BOOT.iter().map(|pattern| ((*pattern).to_owned(), line)));
}

/// The patterns that `pattern` can be: a variable of a library stands for several.
pub(super) fn expanded(pattern: &str, variables: &BTreeMap<String, String>) -> Vec<String> {
    let is_variable =
        |name: &&&str| pattern.trim() == format!("${{{name}}}") && !variables.contains_key(**name);
    if SPRING_BOOT_VARIABLES.iter().any(|name| is_variable(&name)) {
        return SPRING_BOOT.iter().map(|pattern| (*pattern).to_owned()).collect();
    }
    vec![pattern.to_owned()]
}

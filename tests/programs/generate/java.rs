//! Java source: classes put together line by line, then indented and numbered as a
//! whole. Lines that hold `Truth.` serve the labels only.

use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Lines of Java. `throws`: whether a checked exception may leave them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Code {
    pub(crate) lines: Vec<String>,
    pub(crate) throws: bool,
}

impl Code {
    pub(crate) fn add(&mut self, more: Code) {
        self.lines.extend(more.lines);
        self.throws |= more.throws;
    }

    pub(crate) fn line(&mut self, line: impl Into<String>) {
        self.lines.push(line.into());
    }

    /// ` throws Exception` or nothing.
    pub(crate) fn clause(&self) -> &'static str {
        if self.throws { " throws Exception" } else { "" }
    }
}

/// The template with each `$name` replaced; a line that is nothing but a name of
/// `code` becomes the lines of that code, and what they throw the result throws.
/// Longer names first, so that `$a` is not found in `$ab`.
pub(crate) fn fill(template: &str, names: &[(&str, &str)], code: &[(&str, &Code)]) -> Code {
    let mut names: Vec<_> = names.to_vec();
    names.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
    let mut out = Code::default();
    for line in template.lines().map(str::trim).filter(|line| !line.is_empty()) {
        if let Some((_, lines)) = code.iter().find(|(name, _)| line.strip_prefix('$') == Some(name)) {
            out.lines.extend(lines.lines.iter().cloned());
            out.throws |= lines.throws;
            continue;
        }
        let mut text = line.to_owned();
        for (name, value) in &names {
            text = text.replace(&format!("${name}"), value);
        }
        assert!(!text.contains('$'), "a name without a value in `{text}`");
        if !text.is_empty() {
            out.lines.push(text);
        }
    }
    out
}

/// Fields, each behind `modifier`, and a constructor of `class` that sets them.
/// `fields` are pairs of type and name; `already`: lines before the constructor.
pub(crate) fn holder(class: &str, modifier: &str, fields: &[(&str, &str)], already: &[String]) -> Code {
    let mut code = Code::default();
    code.lines.extend(fields.iter().map(|(ty, name)| format!("{modifier}{ty} {name};")));
    code.lines.extend(already.iter().cloned());
    let parameters: Vec<String> = fields.iter().map(|(ty, name)| format!("{ty} {name}")).collect();
    code.line(format!("{class}({}) {{", parameters.join(", ")));
    code.lines.extend(fields.iter().map(|(_, name)| format!("this.{name} = {name};")));
    code.line("}");
    code
}

/// A top-level class.
#[derive(Clone, Debug, Default)]
pub(crate) struct Class {
    pub(crate) name: String,
    /// What stands between the class's name and its brace.
    pub(crate) heading: String,
    pub(crate) is_public: bool,
    /// Whether it belongs to the callers that the application's classes leave out.
    pub(crate) is_outside: bool,
    pub(crate) fields: Vec<String>,
    /// Parameters of the constructor, where there is one.
    pub(crate) parameters: String,
    pub(crate) constructor: Vec<String>,
    pub(crate) methods: Vec<String>,
    pub(crate) inner: Vec<String>,
    /// Whether it has a logger.
    pub(crate) says: bool,
    /// Whether a checked exception may leave what callers call.
    pub(crate) throws: bool,
    /// The components, where the class is a record.
    pub(crate) record: Option<String>,
    /// Names taken by members and locals, with how often.
    taken: BTreeMap<String, usize>,
}

impl Class {
    pub(crate) fn new(name: &str) -> Class {
        Class { name: name.to_owned(), ..Class::default() }
    }

    /// `name`, or `name2` and so on where the class has it already.
    pub(crate) fn fresh(&mut self, name: &str) -> String {
        let times = self.taken.entry(name.to_owned()).or_default();
        *times += 1;
        if *times == 1 { name.to_owned() } else { format!("{name}{times}") }
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.taken.contains_key(name)
    }

    pub(crate) fn method(&mut self, code: Code) {
        self.methods.extend(code.lines);
        self.methods.push(String::new());
    }

    pub(crate) fn nested(&mut self, code: Code) {
        self.inner.extend(code.lines);
        self.inner.push(String::new());
    }

    /// The source file.
    pub(crate) fn print(&self, package: &str, imports: &[&str], logger: &str) -> String {
        let mut lines = vec![format!("package {package};"), String::new()];
        lines.extend(imports.iter().map(|import| format!("import {import};")));
        lines.push(String::new());
        let public = if self.is_public { "public " } else { "" };
        lines.push(format!("{public}{} {{", self.declaration()));
        if self.says {
            lines.push(logger.replace("$class", &self.name));
        }
        lines.extend(self.fields.iter().cloned());
        lines.push(String::new());
        if !self.constructor.is_empty() || self.is_public {
            lines.push(format!("{public}{}({}) {{", self.name, self.parameters));
            lines.extend(self.constructor.iter().cloned());
            lines.push("}".to_owned());
            lines.push(String::new());
        }
        lines.extend(self.methods.iter().cloned());
        lines.extend(self.inner.iter().cloned());
        while lines.last().is_some_and(String::is_empty) {
            lines.pop();
        }
        lines.push("}".to_owned());
        indent(&lines)
    }

    fn declaration(&self) -> String {
        if let Some(components) = &self.record {
            return format!("record {}({components}){}", self.name, self.heading);
        }
        let kind = ["interface ", "abstract class ", "enum "].iter().any(|k| self.heading.starts_with(k));
        if kind { self.heading.clone() } else { format!("class {}{}", self.name, self.heading) }
    }
}

/// The lines indented by their braces; no two empty lines in a row.
fn indent(lines: &[String]) -> String {
    let mut out = String::new();
    let mut depth = 0_usize;
    let mut empty = false;
    for line in lines {
        let line = line.trim();
        if line.is_empty() {
            if !empty {
                out.push('\n');
            }
            empty = true;
            continue;
        }
        empty = false;
        let (mut opened, mut closed, mut quoted, mut escaped) = (0, 0, false, false);
        for letter in line.chars() {
            match letter {
                '"' if !escaped => quoted = !quoted,
                '{' if !quoted => opened += 1,
                '}' if !quoted => closed += 1,
                _ => {}
            }
            escaped = letter == '\\' && !escaped;
        }
        let first = usize::from(line.starts_with('}'));
        let at = depth.saturating_sub(first);
        writeln!(out, "{}{line}", "  ".repeat(at)).expect("a string takes all");
        depth = (depth + opened).saturating_sub(closed);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_takes_the_place_of_its_name() {
        let body = Code { lines: vec!["walk();".to_owned()], throws: true };
        let code = fill("void $name() {\n  $body\n}", &[("name", "run")], &[("body", &body)]);
        assert_eq!(code.lines, ["void run() {", "walk();", "}"]);
        assert!(code.throws);
    }

    #[test]
    fn braces_in_texts_do_not_indent() {
        let lines = ["a {", "say(\"} \\\" {\");", "} else {", "b", "}"].map(str::to_owned);
        assert_eq!(indent(&lines), "a {\n  say(\"} \\\" {\");\n} else {\n  b\n}\n");
    }
}

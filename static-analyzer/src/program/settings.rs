//! Settings: what the configuration file in a jar sets, and what annotations mean by it.
//!
//! `application.properties` and `application.yml` at the root of the classes, in `config/`, or in
//! the folder for classes of an archive. `${key:default}` in an annotation is replaced by what
//! stands there, so that nobody else has to know of it. Keys are compared without dashes,
//! underscores and case, as those who read them do. What a profile sets is not known, nor what
//! is set from outside when a program is started.

use rustc_hash::FxHashMap;

use super::bundles::properties;
use super::{Annotation, AnnotationValue, Name, Program};
use crate::class_path::Resource;

/// Names of files that hold settings, the later ones over the earlier ones.
const FILES: &[&str] = &[
    "bootstrap.yml",
    "bootstrap.yaml",
    "bootstrap.properties",
    "application.yml",
    "application.yaml",
    "application.properties",
];

/// Folders in which they lie.
const FOLDERS: &[&str] = &[
    "",
    "config/",
    "BOOT-INF/classes/",
    "BOOT-INF/classes/config/",
    "WEB-INF/classes/",
    "WEB-INF/classes/config/",
];

/// Keys that say that what stands beside them counts in some profile only.
const CONDITIONS: &[&str] = &["spring.profiles", "spring.config.activate"];

/// Placeholders within placeholders.
const DEPTH_MAX: usize = 8;

/// What the jars of a program set.
#[derive(Debug, Default)]
pub(crate) struct Settings {
    /// By jar, as the position of the outermost one that holds it.
    of: FxHashMap<usize, FxHashMap<String, String>>,
    /// By entry, the outermost one that holds it.
    outermost: Vec<usize>,
}

/// Whether a file of a class path holds settings.
pub(crate) fn is_settings(path: &str) -> bool {
    let file = path.rsplit('/').next().unwrap_or(path);
    FILES.contains(&file) && FOLDERS.contains(&&path[..path.len() - file.len()])
}

impl Settings {
    /// What the `resources` of entries of such names say.
    pub(super) fn new<'a>(names: impl Iterator<Item = &'a str>, resources: &[Resource]) -> Self {
        let mut settings = Settings::default();
        for (entry, name) in names.enumerate() {
            let before = settings.outermost.last().copied().unwrap_or_default();
            settings.outermost.push(if name.contains('!') { before } else { entry });
        }
        let rank = |resource: &&Resource| FILES.iter().position(|file| resource.path.ends_with(file));
        let mut files: Vec<&Resource> =
            resources.iter().filter(|resource| is_settings(&resource.path)).collect();
        files.sort_by_key(rank);
        for resource in files {
            let pairs = match resource.path.ends_with(".properties") {
                true => properties(&resource.text),
                false => yaml(&resource.text),
            };
            let outermost = settings.outermost.get(resource.entry).copied().unwrap_or_default();
            let of = settings.of.entry(outermost).or_default();
            of.extend(pairs.into_iter().map(|(key, value)| (plain(&key), value)));
        }
        settings
    }

    /// What `key` is set to for the classes of an entry, with what is meant by placeholders.
    pub(crate) fn get(&self, entry: usize, key: &str) -> Option<String> {
        self.filled(entry, self.raw(entry, key)?, DEPTH_MAX)
    }

    fn raw(&self, entry: usize, key: &str) -> Option<&str> {
        self.of.get(self.outermost.get(entry)?)?.get(&plain(key)).map(String::as_str)
    }

    /// `text` with what stands for its placeholders; none if one of them is not known.
    pub(crate) fn filled(&self, entry: usize, text: &str, depth: usize) -> Option<String> {
        let depth = depth.checked_sub(1)?;
        let Some((before, rest)) = text.split_once("${") else { return Some(text.to_owned()) };
        let end = closing(rest)?;
        let (key, default) = match rest[..end].split_once(':') {
            Some((key, default)) => (key, Some(default)),
            None => (&rest[..end], None),
        };
        let value = self.filled(entry, self.raw(entry, key.trim()).or(default)?, depth)?;
        let after = self.filled(entry, &rest[end + 1..], depth)?;
        Some(format!("{before}{value}{after}"))
    }
}

/// Where the brace is closed that is open at the beginning.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 1_usize;
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

/// A key without what need not be written the same.
fn plain(key: &str) -> String {
    key.chars().filter(|c| !matches!(c, '-' | '_')).flat_map(char::to_lowercase).collect()
}

/// Fills the placeholders in all annotations of a program.
pub(super) fn resolve(program: &mut Program) {
    let Program { classes, methods, settings, .. } = program;
    if settings.outermost.is_empty() {
        return;
    }
    for class in classes.iter_mut() {
        let of_fields = class.fields.iter_mut().flat_map(|field| &mut field.annotations);
        of_fields
            .chain(&mut class.annotations)
            .for_each(|annotation| fill(annotation, settings, class.entry));
        for method in &mut methods[class.methods.clone()] {
            let of_parameters = method.parameter_annotations.iter_mut().flatten();
            of_parameters
                .chain(&mut method.annotations)
                .for_each(|annotation| fill(annotation, settings, class.entry));
        }
    }
}

fn fill(annotation: &mut Annotation, settings: &Settings, entry: usize) {
    annotation.values.iter_mut().for_each(|(_, value)| fill_value(value, settings, entry));
}

fn fill_value(value: &mut AnnotationValue, settings: &Settings, entry: usize) {
    match value {
        AnnotationValue::Text(text) if text.contains("${") => {
            if let Some(filled) = settings.filled(entry, text.as_str(), DEPTH_MAX) {
                *text = Name::from(filled.as_str());
            }
        }
        AnnotationValue::List(all) => all.iter_mut().for_each(|one| fill_value(one, settings, entry)),
        AnnotationValue::Nested(annotation) => fill(annotation, settings, entry),
        _ => {}
    }
}

/// The keys and values of a YAML file, as far as it is made of maps and plain values.
fn yaml(text: &str) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for document in text.split("\n---") {
        let found = document_of(document);
        let is_conditional =
            found.iter().any(|(key, _)| CONDITIONS.iter().any(|condition| key.starts_with(condition)));
        if !is_conditional {
            all.extend(found);
        }
    }
    all
}

fn document_of(text: &str) -> Vec<(String, String)> {
    let mut open: Vec<(usize, String)> = Vec::new();
    let mut found = Vec::new();
    for line in text.lines() {
        let content = line.trim_start();
        let indent = line.len() - content.len();
        if content.is_empty() || content.starts_with(['#', '-', '%']) {
            continue;
        }
        let Some((key, value)) = key_and_value(content) else { continue };
        open.retain(|(level, _)| *level < indent);
        let front: Vec<&str> = open.iter().map(|(_, key)| key.as_str()).chain([key]).collect();
        match value {
            "" => {
                let key = key.to_owned();
                open.push((indent, key));
            }
            value => found.push((front.join("."), value.to_owned())),
        }
    }
    found
}

/// `key: value`, without quotes and comments.
fn key_and_value(content: &str) -> Option<(&str, &str)> {
    let (key, value) =
        content.split_once(": ").or_else(|| Some((content.trim_end().strip_suffix(':')?, "")))?;
    let value = value.trim();
    let quoted = ['"', '\''].into_iter().find_map(|quote| {
        let rest = value.strip_prefix(quote)?;
        Some(&rest[..rest.find(quote)?])
    });
    let value = quoted.unwrap_or_else(|| match value {
        _ if value.starts_with('#') => "",
        _ => value.split(" #").next().unwrap_or(value).trim_end(),
    });
    Some((key.trim().trim_matches(['"', '\'']), value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(path: &str, text: &str) -> Settings {
        let resource = Resource { entry: 0, path: path.to_owned(), text: text.to_owned() };
        Settings::new(["shop.jar", "shop.jar!lib/web.jar", "other.jar"].into_iter(), &[resource])
    }

    #[test]
    fn a_jar_and_what_lies_in_it_have_the_settings_of_its_file() {
        let text = "server:\n  servlet:\n    context-path: \"/shop\" # all of it\n  port: 80\nstock:\n  url: http://stock:${server.port}/s\n";
        let settings = settings("BOOT-INF/classes/application.yml", text);
        assert_eq!(settings.get(1, "server.servlet.contextPath").as_deref(), Some("/shop"));
        assert_eq!(settings.get(0, "stock.url").as_deref(), Some("http://stock:80/s"));
        assert_eq!(settings.get(2, "stock.url"), None);
        assert_eq!(settings.filled(0, "${api.prefix:/v${n:2}}/x", 8).as_deref(), Some("/v2/x"));
        assert_eq!(settings.filled(0, "${api.prefix}/x", 8), None);
    }

    #[test]
    fn what_a_profile_sets_is_not_known() {
        let text = "a: 1\n---\nspring:\n  profiles: test\na: 2\n---\nb:\n- 1\n- 2\n";
        let settings = settings("application.yml", text);
        assert_eq!(settings.get(0, "a").as_deref(), Some("1"));
        assert_eq!(settings.get(0, "b"), None);
        assert!(!is_settings("BOOT-INF/classes/application-dev.yml") && !is_settings("a/application.yml"));
    }
}

//! Texts of resource bundles: a key that code looks up in a `.properties` file of the class path
//! is the text that stands there.
//!
//! Such a call is rewritten into what it comes to: the text, or `MessageFormat.format` of it
//! where arguments are given, so that nobody else has to know of bundles. Who looks keys up is
//! a table ([`LOOKUPS`]), and methods of the program that hand their parameter to one of these.
//! The bundle is that of the caller's package, or of the nearest package above it that has the
//! key; else the text is known only if all bundles agree. Files of other languages are not
//! read. Under-approximates: keys that are put together, and bundles made by code.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::{MethodRef, Name, Program};
use crate::class_path::Resource;
use crate::ir::{Body, Const, InvokeKind, Op, ValueId};
use crate::log_points::apis;

/// Library methods that look a key up: (class, method). The key is the first text given; an
/// array of objects after it are arguments of a `MessageFormat`.
const LOOKUPS: &[(&str, &str)] = &[
    ("java/util/ResourceBundle", "getString"),
    ("org/apache/tomcat/util/res/StringManager", "getString"),
    ("org/openide/util/NbBundle", "getMessage"),
];
/// Rounds in which methods are found that hand a key to one found before.
const WRAPPERS_MAX: usize = 3;
const TEXT: &str = "Ljava/lang/String;";
const OBJECTS: &str = "[Ljava/lang/Object;";

/// How a method looks a key up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Lookup {
    /// Which argument is the key, the receiver included.
    key: usize,
    /// Which one holds the arguments of the format.
    arguments: Option<usize>,
}

/// What a lookup becomes.
struct Rewrite {
    call: ValueId,
    key: ValueId,
    text: Name,
    arguments: Option<ValueId>,
}

/// Puts the texts of `resources` where `program` looks them up.
pub(super) fn resolve(program: &mut Program, resources: &[Resource]) {
    let bundles = Bundles::read(resources);
    if bundles.keys.is_empty() {
        return;
    }
    let wrappers = wrappers(program);
    let calls = |body: &Body, is: fn(&MethodRef) -> bool| {
        body.iter().any(|(_, inst)| matches!(&inst.op, Op::Invoke { method, .. } if is(method)))
    };
    let mut bodies = program.methods.iter().filter_map(|method| method.body.as_ref());
    let loggers_have_bundles = bodies.any(|body| calls(body, apis::gives_bundle));
    for method in 0..program.methods.len() {
        let class = program.classes[program.methods[method].class.index()].name;
        let Some(body) = program.methods[method].body.as_mut() else { continue };
        for rewrite in rewrites(body, &wrappers, &bundles, &class) {
            apply(body, rewrite);
        }
        for (key, text) in printed_keys(body, loggers_have_bundles, &bundles, &class) {
            body.insts[key.index()].op = Op::Const(Const::Text(text));
        }
    }
}

/// The texts of all bundles.
struct Bundles {
    /// By key: package and text.
    keys: FxHashMap<String, Vec<(String, Name)>>,
}

impl Bundles {
    fn read(resources: &[Resource]) -> Self {
        let mut keys: FxHashMap<String, Vec<(String, Name)>> = FxHashMap::default();
        for resource in resources.iter().filter(|resource| resource.path.ends_with(".properties")) {
            let package = resource.path.rsplit_once('/').map_or("", |(package, _)| package);
            for (key, text) in properties(&resource.text) {
                keys.entry(key).or_default().push((package.to_owned(), Name::from(&text)));
            }
        }
        Self { keys }
    }

    /// The text of `key` for a class: that of its package, or of the nearest above.
    fn text(&self, key: &str, class: &str) -> Option<Name> {
        let all = self.keys.get(key)?;
        let mut package = class;
        while let Some((above, _)) = package.rsplit_once('/') {
            package = above;
            if let Some((_, text)) = all.iter().find(|(of, _)| of == package) {
                return Some(*text);
            }
        }
        let (_, first) = all.first()?;
        all.iter().all(|(_, text)| text == first).then_some(*first)
    }
}

/// How the method that a call names looks a key up; none: it does not.
fn lookup(method: &MethodRef, is_static: bool, wrappers: &BTreeMap<MethodRef, Lookup>) -> Option<Lookup> {
    if let Some(wrapper) = wrappers.get(method) {
        return Some(*wrapper);
    }
    let is_known = |(class, name): &(&str, &str)| method.class == *class && method.name == *name;
    if !LOOKUPS.iter().any(is_known) || !method.descriptor.ends_with(&format!("){TEXT}")) {
        return None;
    }
    places(&method.descriptor, is_static)
}

/// Where a method takes a key and the arguments of a format.
fn places(descriptor: &str, is_static: bool) -> Option<Lookup> {
    let parameters = crate::strings::types::parameters(descriptor);
    let first = usize::from(!is_static);
    let key = parameters.iter().position(|parameter| *parameter == TEXT)?;
    let arguments = parameters.iter().position(|parameter| *parameter == OBJECTS);
    Some(Lookup { key: first + key, arguments: arguments.map(|at| first + at) })
}

/// Methods of the program that look up what they are given.
fn wrappers(program: &Program) -> BTreeMap<MethodRef, Lookup> {
    let mut found: BTreeMap<MethodRef, Lookup> = BTreeMap::new();
    for _ in 0..WRAPPERS_MAX {
        let known = found.len();
        for method in &program.methods {
            let Some(body) = &method.body else { continue };
            let class = program.classes[method.class.index()].name;
            let named = MethodRef { class, name: method.name, descriptor: method.descriptor };
            if !method.descriptor.ends_with(&format!("){TEXT}")) || found.contains_key(&named) {
                continue;
            }
            let hands_on = body.iter().any(|(_, inst)| {
                let Op::Invoke { kind, method: called, args } = &inst.op else { return false };
                let lookup = lookup(called, *kind == InvokeKind::Static, &found);
                let key = lookup.and_then(|lookup| args.get(lookup.key).copied());
                key.is_some_and(|key| matches!(body.op(body.uncast(key)), Op::Param(_)))
            });
            if let (true, Some(mut lookup)) = (hands_on, places(&method.descriptor, method.is_static())) {
                if lookup.arguments.is_some() && !formats(body) && !hands_arguments_on(body, &found) {
                    lookup.arguments = None;
                }
                found.insert(named, lookup);
            }
        }
        if found.len() == known {
            break;
        }
    }
    found
}

/// Whether a body uses a `MessageFormat`.
fn formats(body: &Body) -> bool {
    body.iter().any(|(_, inst)| {
        matches!(&inst.op, Op::Invoke { method, .. } if method.class == "java/text/MessageFormat")
    })
}

/// Whether a body gives the arguments of a format to another one that looks up.
fn hands_arguments_on(body: &Body, found: &BTreeMap<MethodRef, Lookup>) -> bool {
    body.iter().any(|(_, inst)| {
        let Op::Invoke { kind, method, .. } = &inst.op else { return false };
        lookup(method, *kind == InvokeKind::Static, found).is_some_and(|lookup| lookup.arguments.is_some())
    })
}

/// The lookups of a body whose texts are known.
fn rewrites(
    body: &Body,
    wrappers: &BTreeMap<MethodRef, Lookup>,
    bundles: &Bundles,
    class: &str,
) -> Vec<Rewrite> {
    let mut found = Vec::new();
    for (call, inst) in body.iter() {
        let Op::Invoke { kind, method, args } = &inst.op else { continue };
        let Some(lookup) = lookup(method, *kind == InvokeKind::Static, wrappers) else { continue };
        let Some(&key) = args.get(lookup.key) else { continue };
        let Op::Const(Const::Text(name)) = body.op(key) else { continue };
        let Some(text) = bundles.text(name, class) else { continue };
        let arguments = lookup.arguments.and_then(|at| args.get(at).copied());
        // The constant becomes the text: nobody else may want the key.
        if arguments.is_none() || uses(body, key) == 1 {
            found.push(Rewrite { call, key, text, arguments });
        }
    }
    found
}

/// Keys that a body gives to loggers, with their texts.
fn printed_keys(
    body: &Body,
    loggers_have_bundles: bool,
    bundles: &Bundles,
    class: &str,
) -> Vec<(ValueId, Name)> {
    let mut found = Vec::new();
    for (_, inst) in body.iter() {
        let Op::Invoke { kind, method, args } = &inst.op else { continue };
        let Some((at, has_bundle)) = apis::key_of(method, *kind == InvokeKind::Static) else { continue };
        let Some(&key) = args.get(at).filter(|_| has_bundle || loggers_have_bundles) else { continue };
        let Op::Const(Const::Text(name)) = body.op(key) else { continue };
        if let Some(text) = bundles.text(name, class).filter(|_| uses(body, key) == 1) {
            found.push((key, text));
        }
    }
    found
}

fn uses(body: &Body, value: ValueId) -> usize {
    let mut n = 0;
    for (_, inst) in body.iter() {
        inst.op.for_each_operand(|operand| n += usize::from(operand == value));
    }
    n
}

fn apply(body: &mut Body, Rewrite { call, key, text, arguments }: Rewrite) {
    let text = Op::Const(Const::Text(text));
    let Some(arguments) = arguments else {
        body.insts[call.index()].op = text;
        return;
    };
    body.insts[key.index()].op = text;
    let method = MethodRef {
        class: Name::from("java/text/MessageFormat"),
        name: Name::from("format"),
        descriptor: Name::from("(Ljava/lang/String;[Ljava/lang/Object;)Ljava/lang/String;"),
    };
    body.insts[call.index()].op =
        Op::Invoke { kind: InvokeKind::Static, method, args: [key, arguments].into() };
}

/// Keys and texts of a `.properties` file, as `java.util.Properties` reads them; of a key that
/// is there twice the last text.
pub(super) fn properties(text: &str) -> Vec<(String, String)> {
    let mut found: BTreeMap<String, String> = BTreeMap::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let line = line.trim_start();
        if line.is_empty() || line.starts_with(['#', '!']) {
            continue;
        }
        let mut whole = line.to_owned();
        while ends_escaped(&whole) {
            whole.pop();
            match lines.next() {
                Some(next) => whole += next.trim_start(),
                None => break,
            }
        }
        let (key, value) = divided(&whole);
        found.insert(unescaped(key), unescaped(value));
    }
    found.into_iter().collect()
}

/// Whether a line goes on in the next one: an odd number of backslashes at its end.
fn ends_escaped(line: &str) -> bool {
    line.bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 1
}

/// A line at its first `=`, `:` or blank that is not escaped.
fn divided(line: &str) -> (&str, &str) {
    let mut is_escaped = false;
    for (at, c) in line.char_indices() {
        if !is_escaped && matches!(c, '=' | ':' | ' ' | '\t' | '\u{c}') {
            let rest = line[at..].trim_start();
            let rest = rest.strip_prefix(['=', ':']).unwrap_or(rest);
            return (&line[..at], rest.trim_start());
        }
        is_escaped = c == '\\' && !is_escaped;
    }
    (line, "")
}

fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some('r') => out.push('\r'),
            Some('f') => out.push('\u{c}'),
            Some('u') => {
                let digits: String = chars.by_ref().take(4).collect();
                let code = u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32);
                out.push(code.unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            Some(other) => out.push(other),
            None => {}
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn properties_as_java_reads_them() {
        let text = "# a comment\n! another\n\n a.b = one {0}\nc:two\\\n   and more\nd three\n\
                    e\\=f=\\u0041\\tx\nlast\\\\=back\\\\\na.b=again\nempty";
        let expected = [
            ("a.b", "again"),
            ("c", "twoand more"),
            ("d", "three"),
            ("e=f", "A\tx"),
            ("empty", ""),
            ("last\\", "back\\"),
        ];
        let expected = expected.map(|(key, text)| (key.to_owned(), text.to_owned()));
        assert_eq!(properties(text), expected);
    }

    #[test]
    fn the_nearest_package_counts() {
        let resource =
            |path: &str, text: &str| Resource { entry: 0, path: path.to_owned(), text: text.to_owned() };
        let bundles = Bundles::read(&[
            resource("a/b/L.properties", "k=near\nonly=here\nsame=x"),
            resource("a/L.properties", "k=far\nsame=x\ntwo=1"),
            resource("z/L.properties", "two=2"),
        ]);
        let text = |key: &str, class: &str| bundles.text(key, class).map(|text| text.to_string());
        assert_eq!(text("k", "a/b/C").as_deref(), Some("near"));
        assert_eq!(text("k", "a/c/C").as_deref(), Some("far"));
        assert_eq!(text("only", "q/C").as_deref(), Some("here"));
        assert_eq!(text("same", "q/C").as_deref(), Some("x"));
        assert_eq!(text("two", "q/C"), None, "two bundles say two things");
    }
}

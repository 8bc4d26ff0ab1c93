//! Class files to the [`Program`]: parsed, lifted, linked. One class at a time
//! on all cores; what cannot be read is skipped and named in the diagnostics.
//!
//! Two parsers stand behind one form ([`raw`]). A class goes to the second if
//! the first refuses it or panics.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Once;

use rayon::prelude::*;
use rustc_hash::FxHashMap;
use schema::model::ClassPathEntry;

use crate::class_path::{self, ClassFile, ClassPath, Config};
use crate::error::Error;
use crate::ir::{Op, lift};
use crate::program::settings::{self, Settings};
use crate::program::{Class, ClassId, Method, Name, Program, bundles, libraries};

pub(crate) mod applications;
mod cafebabe;
mod noak;
pub(crate) mod raw;
pub(crate) mod references;

use raw::{RawClass, RawCode, RawMethod};

/// Reads and lifts every class of the class path that is not a library's
/// ([`libraries`](super::libraries)).
///
/// # Errors
/// If a jar or folder cannot be read, breaks a bound, or no class is there.
pub fn load(paths: &[PathBuf], config: &Config) -> Result<Program, Error> {
    let mut class_path = class_path::read(paths, config)?;
    libraries::leave_out(&mut class_path, config);
    let mut program = link(class_path);
    let name = |class: &String| Name::from(&class.replace('.', "/"));
    program.loggers = config.loggers.iter().map(|(class, like)| (name(class), name(like))).collect();
    Ok(program)
}

/// A class with its lifted methods, before it is linked.
struct Loaded {
    class: Class,
    methods: Vec<Method>,
    failures: Vec<String>,
    /// xxh3-128 of the class file.
    digest: u128,
}

/// Lifts class files in memory, given with their names, as if they were one
/// jar.
pub fn load_classes(files: impl IntoIterator<Item = (String, Vec<u8>)>) -> Program {
    let mut class_path = ClassPath::default();
    class_path.entries.push(class_path::Entry { name: "memory".to_owned(), digest: 0 });
    let files = files.into_iter().map(|(path, bytes)| ClassFile { entry: 0, path, bytes: Ok(bytes) });
    class_path.files.extend(files);
    link(class_path)
}

fn link(class_path: ClassPath) -> Program {
    let ClassPath { entries, files, resources, mut diagnostics, .. } = class_path;
    let applications = applications::of_entries(&entries, &files);
    let settings = Settings::new(entries.iter().map(|entry| entry.name.as_str()), &resources);
    let mut entries: Vec<ClassPathEntry> = entries
        .into_iter()
        .map(|e| ClassPathEntry { name: e.name, n_classes: 0, n_skipped: 0, digest: e.digest })
        .collect();
    let loaded: Vec<_> = files.into_par_iter().map(|file| (file.entry, load_file(file))).collect();
    let mut met = applications::Met::default();
    // (entry of the copy, entry of the first): (copies, first name).
    let mut copies: FxHashMap<(usize, usize), (usize, Name)> = FxHashMap::default();
    let mut classes: Vec<Loaded> = Vec::with_capacity(loaded.len());
    for (entry, result) in loaded {
        match result {
            Ok(None) => {}
            Err(reason) => {
                entries[entry].n_skipped += 1;
                diagnostics.push(format!("class skipped: `{}`: {reason}", entries[entry].name));
            }
            Ok(Some(class)) => {
                let name = class.class.name;
                match met.copy_of(name, entry, applications[entry], class.digest) {
                    Some(first) => copies.entry((entry, first)).or_insert((0, name)).0 += 1,
                    None => {
                        entries[entry].n_classes += 1;
                        classes.push(class);
                    }
                }
            }
        }
    }
    met.rename(&mut classes, &applications);
    diagnostics.extend(copies.into_iter().map(|((copy, first), (n, name))| {
        let (copy, first) = (&entries[copy].name, &entries[first].name);
        format!("duplicate classes: `{copy}`: {n} classes that `{first}` has too are ignored, e.g. `{name}`")
    }));
    let mut program = assemble(classes, entries, diagnostics);
    program.find_supers();
    program.settings = settings;
    settings::resolve(&mut program);
    resolve_fields(&mut program);
    bundles::resolve(&mut program, &resources);
    program
}

/// None: no class but a description of a module or package.
fn load_file(file: ClassFile) -> Result<Option<Loaded>, String> {
    let named = |reason: String| format!("`{}`: {reason}", file.path);
    let base = file.path.rsplit('/').next().unwrap_or_default();
    if base == "module-info.class" || base == "package-info.class" {
        return Ok(None);
    }
    let bytes = file.bytes.as_ref().map_err(|e| named(e.clone()))?;
    let loaded = guarded(|| parse(bytes).map(|raw| lift_class(raw, file.entry)));
    let with_digest = |loaded| Loaded { digest: xxhash_rust::xxh3::xxh3_128(bytes), ..loaded };
    loaded.and_then(|r| r).map(with_digest).map(Some).map_err(named)
}

fn assemble(mut loaded: Vec<Loaded>, entries: Vec<ClassPathEntry>, mut diagnostics: Vec<String>) -> Program {
    loaded.sort_by_key(|l| l.class.name);
    let mut program = Program { entries, ..Program::default() };
    for mut l in loaded {
        let id = ClassId::new(program.classes.len());
        let start = program.methods.len();
        for mut method in l.methods {
            method.class = id;
            program.methods.push(method);
        }
        l.class.methods = start..program.methods.len();
        program.class_index.insert(l.class.name, id);
        for sup in l.class.super_name.iter().chain(&l.class.interfaces) {
            let below = program.subtypes.entry(*sup).or_default();
            if below.last() != Some(&id) {
                below.push(id);
            }
        }
        program.classes.push(l.class);
        diagnostics.extend(l.failures);
    }
    diagnostics.sort();
    program.diagnostics = diagnostics;
    program
}

/// Names the declaring class in all field accesses.
fn resolve_fields(program: &mut Program) {
    let mut methods = std::mem::take(&mut program.methods);
    let shared = &*program;
    methods.par_iter_mut().filter_map(|m| m.body.as_mut()).for_each(|body| {
        for inst in &mut body.insts {
            if let Op::GetField(field, _) | Op::PutField(field, _, _) = &mut inst.op
                && let Some(class) = shared.field_owner(field.class, field.name, field.descriptor)
            {
                field.class = class;
            }
        }
    });
    program.methods = methods;
}

/// Parses with the first parser that manages to.
fn parse(bytes: &[u8]) -> Result<RawClass, String> {
    // `cafebabe` reserves memory by counts in the code before it checks them,
    // and a failed allocation cannot be caught.
    let scanned = noak::scan(bytes);
    let first = match &scanned {
        Ok(()) => guarded(|| cafebabe::parse(bytes)).and_then(|r| r),
        Err(reason) => Err(reason.clone()),
    };
    first.or_else(|reason| noak::parse(bytes).map_err(|second| format!("{reason}; {second}")))
}

fn lift_class(raw: RawClass, entry: usize) -> Loaded {
    let mut failures = Vec::new();
    let mut methods = Vec::with_capacity(raw.methods.len());
    for method in raw.methods {
        let body = match &method.code {
            None => None,
            Some(Err(reason)) => Some(Err(reason.clone())),
            Some(Ok(code)) => Some(lift::lift(&method, code, &raw.bootstraps)),
        };
        let body = body.and_then(|result| match result {
            Ok(body) => Some(body),
            Err(reason) => {
                failures.push(format!(
                    "method skipped: `{}.{}{}`: {reason}",
                    raw.name, method.name, method.descriptor
                ));
                None
            }
        });
        methods.push(Method {
            class: ClassId::new(0),
            parameter_names: parameter_names(&method),
            name: method.name,
            descriptor: method.descriptor,
            signature: method.signature,
            access: method.access,
            exceptions: method.exceptions,
            annotations: method.annotations,
            parameter_annotations: method.parameter_annotations,
            body,
        });
    }
    references::write_out(raw.name, &mut methods);
    let class = Class {
        name: raw.name,
        super_name: raw.super_name,
        interfaces: raw.interfaces,
        access: raw.access,
        signature: raw.signature,
        source_file: raw.source_file,
        enclosing: raw.enclosing,
        annotations: raw.annotations,
        fields: raw.fields,
        methods: 0..0,
        entry,
    };
    Loaded { class, methods, failures, digest: 0 }
}

fn parameter_names(method: &RawMethod) -> Vec<Option<Name>> {
    let mut slot = u16::from(method.access & crate::program::access::STATIC == 0);
    let Some(widths) = lift::parameter_widths(&method.descriptor) else { return Vec::new() };
    let local = |slot: u16| match &method.code {
        Some(Ok(RawCode { names, .. })) => names.iter().find(|n| n.0 == slot).map(|n| n.1),
        _ => None,
    };
    let from_attribute = method.parameters.len() == widths.len();
    let mut names = Vec::with_capacity(widths.len());
    for (i, wide) in widths.into_iter().enumerate() {
        let declared = if from_attribute { method.parameters[i] } else { None };
        names.push(local(slot).or(declared));
        slot = slot.saturating_add(1 + u16::from(wide));
    }
    names
}

thread_local! {
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Runs `f`; a panic becomes an error and prints nothing.
fn guarded<T>(f: impl FnOnce() -> T) -> Result<T, String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let previous = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !QUIET.get() {
                previous(info);
            }
        }));
    });
    let before = QUIET.replace(true);
    let result = catch_unwind(AssertUnwindSafe(f));
    QUIET.set(before);
    result.map_err(|payload| {
        let text = payload.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("no message");
        format!("panic: {text}")
    })
}

/// Text of modified UTF-8; lone surrogates and bad bytes become U+FFFD.
fn mutf8_lossy(bytes: &[u8]) -> String {
    let mut units = Vec::with_capacity(bytes.len());
    let mut i = 0;
    while i < bytes.len() {
        let continuation =
            |n: usize| bytes.get(i + n).filter(|&&b| b & 0xc0 == 0x80).map(|&b| u16::from(b & 0x3f));
        let first = u16::from(bytes[i]);
        let (unit, n) = match (bytes[i], continuation(1), continuation(2)) {
            (0..=0x7f, ..) => (first, 1),
            (0xc0..=0xdf, Some(second), _) => ((first & 0x1f) << 6 | second, 2),
            (0xe0..=0xef, Some(second), Some(third)) => ((first & 0x0f) << 12 | second << 6 | third, 3),
            _ => (0xfffd, 1),
        };
        units.push(unit);
        i += n;
    }
    String::from_utf16_lossy(&units)
}

#[cfg(test)]
mod tests;

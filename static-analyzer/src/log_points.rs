//! Log points: every logging call of the program with level, logger, templates
//! and variables (lprof §4.1).
//!
//! A logging call is a call of a method of the table [`apis`] on a class that is
//! listed there, below one that is, or a copy of one in another package
//! ([`relocated`]); never a name alone. A method that passes
//! its own parameter on as the message is a wrapper: its log point is repeated
//! for each caller, with the caller's message ([`wrapper`]).

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::call_graph::programs::Programs;
use crate::ir::{InvokeKind, Op, ValueId};
use crate::limits;
use crate::path::LogPoint;
use crate::program::{Method, MethodId, MethodRef, Name, Program, access};
use crate::strings::facts::Facts;

pub(crate) mod apis;
mod closures;
mod given;
mod guard;
mod level;
mod logger;
mod message;
mod own;
pub(crate) mod point;
mod relocated;
mod shape_apis;
mod turns;
pub(crate) mod wrapper;

use apis::LogCall;
use own::Loggers;

/// A method that only hands its arguments on: three parameters, call, return.
const FORWARDER_INSTS_MAX: usize = 8;

/// A logging call in the code.
pub(crate) struct Site<'l> {
    pub(crate) method: MethodId,
    pub(crate) value: ValueId,
    pub(crate) call: LogCall,
    /// Call instructions with their calls, if the message ends in constants of
    /// callers: outermost first.
    pub(crate) args: Vec<ValueId>,
    /// All loggers of the program.
    pub(crate) loggers: &'l Loggers,
}

/// All log points, sorted by (class, method, line, call). Deterministic for any
/// number of threads.
pub fn log_points(program: &Program) -> Vec<LogPoint> {
    log_points_in(program, &Programs::default())
}

/// All log points, as [`log_points`], with late binding by the objects that the
/// programs which run a log point make.
pub fn log_points_in(program: &Program, programs: &Programs) -> Vec<LogPoint> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(rayon::current_num_threads())
        .stack_size(limits::STACK_BYTES)
        .build();
    match pool {
        Ok(pool) => pool.install(|| collect(program, programs)),
        Err(_) => collect(program, programs),
    }
}

fn collect(program: &Program, programs: &Programs) -> Vec<LogPoint> {
    let mut facts = Facts::new(program);
    facts.programs = Some(programs);
    let loggers = Loggers::new(&facts, listed_classes(&facts));
    let methods: Vec<MethodId> = (0..program.methods.len()).map(MethodId::new).collect();
    let found: Vec<Vec<LogPoint>> = methods
        .par_iter()
        .map(|&method| {
            // A mixin, or a logger of the program's own, prints what its callers
            // give: they are the log points.
            if apis::is_mixin(facts.class_name(program.methods[method.index()].class))
                || loggers.only_hands_on(method)
            {
                return Vec::new();
            }
            let sites = sites_of(&facts, &loggers, method);
            if sites.is_empty() { Vec::new() } else { point::points_of(&facts, method, &sites) }
        })
        .collect();
    point::merged(program, found.into_iter().flatten().collect())
}

/// The logging class that each class is, extends or is a copy of. A class may have its log
/// methods from a mixin through an interface that is not on the class path; then
/// it still has the methods that hand itself to the mixin.
pub(crate) fn listed_classes(facts: &Facts<'_>) -> FxHashMap<Name, Name> {
    let mut listed = facts.program.loggers.clone();
    let copies = relocated::copies(facts.program);
    for class in &facts.program.classes {
        let above = facts.supertypes(class.name);
        let told = &facts.program.loggers;
        let known = |n: &Name| told.get(n).or_else(|| copies.get(n)).copied();
        let is = |n: &Name| if apis::is_listed(*n) { Some(*n) } else { known(n) };
        if let Some(above) = above.iter().find_map(is) {
            listed.insert(class.name, above);
        }
    }
    for class in &facts.program.classes {
        let mut methods = facts.program.methods[class.methods.clone()].iter();
        if !listed.contains_key(&class.name)
            && let Some(mixin) = methods.find_map(handed_to)
        {
            listed.insert(class.name, mixin);
        }
    }
    listed
}

/// The mixin to whose method of the same name, with `$` behind it, the method
/// hands its object.
fn handed_to(method: &Method) -> Option<Name> {
    let body = method.body.as_ref().filter(|b| b.insts.len() <= FORWARDER_INSTS_MAX)?;
    body.iter().find_map(|(_, inst)| match &inst.op {
        Op::Invoke { kind: InvokeKind::Static, method: named, args } => {
            let is_own = named.name.strip_suffix('$') == Some(method.name.as_str())
                && !method.is_static()
                && args.first().is_some_and(|&this| matches!(body.op(this), Op::Param(0)));
            (is_own && apis::is_mixin(named.class)).then_some(named.class)
        }
        _ => None,
    })
}

/// Where the logging calls are: method, bytecode offset, source line. Copies of a
/// subroutine are one instruction. For comparison with other counts.
pub fn logging_calls(program: &Program) -> Vec<(MethodId, u32, u32)> {
    let facts = Facts::new(program);
    let loggers = Loggers::new(&facts, listed_classes(&facts));
    let mut calls = Vec::new();
    for id in (0..program.methods.len()).map(MethodId::new) {
        let Some(body) = &program.methods[id.index()].body else { continue };
        let sites = sites_of(&facts, &loggers, id);
        let mut found: Vec<_> =
            sites.iter().map(|s| body.inst(s.value)).map(|inst| (id, inst.pc, inst.line)).collect();
        found.sort_unstable();
        found.dedup();
        calls.append(&mut found);
    }
    calls
}

/// Logging calls of one method.
fn sites_of<'l>(facts: &Facts<'_>, loggers: &'l Loggers, method: MethodId) -> Vec<Site<'l>> {
    let Some(body) = &facts.program.methods[method.index()].body else { return Vec::new() };
    let mut sites = Vec::new();
    for (value, inst) in body.iter() {
        let Op::Invoke { kind, method: named, args } = &inst.op else { continue };
        let Some(call) = classify(&loggers.listed, named, *kind) else { continue };
        if is_helper(facts, named) {
            continue;
        }
        sites.push(Site { method, value, call, args: args.to_vec(), loggers });
    }
    sites
}

/// Whether what is called is a private method of the program: a logger's own helper may have the name and
/// the form of a method that its library declares, but nobody calls that through the library.
fn is_helper(facts: &Facts<'_>, named: &MethodRef) -> bool {
    facts
        .resolve(named.class, named.name, named.descriptor)
        .is_some_and(|method| facts.program.methods[method.index()].access & access::PRIVATE != 0)
}

fn classify(listed: &FxHashMap<Name, Name>, named: &MethodRef, kind: InvokeKind) -> Option<LogCall> {
    if kind == InvokeKind::Special && named.name.starts_with('<') {
        return None;
    }
    let class = if apis::is_listed(named.class) {
        named.class
    } else if let Some(&class) = listed.get(&named.class) {
        class
    } else {
        relocated::by_name(named)?
    };
    apis::classify(class, named, kind == InvokeKind::Static)
}

/// A log point as text, for people and tests.
pub fn print(program: &Program, point: &LogPoint) -> String {
    use std::fmt::Write;
    let mut out = String::new();
    let name = |m: MethodId| {
        let method = &program.methods[m.index()];
        format!("{}.{}", program.classes[method.class.index()].name.replace('/', "."), method.name)
    };
    let levels: Vec<&str> = point.levels.iter().map(|l| l.name()).collect();
    let _ =
        write!(out, "{}:{} {} {:?}", name(point.method), point.source_line, levels.join("|"), point.loggers);
    if let Some(line) = point.call_line {
        let _ = write!(out, " from {}:{line}", name(point.frame));
    }
    let _ = write!(out, " sites={}{}", point.sites.len(), if point.in_handler { " handler" } else { "" });
    let _ = writeln!(
        out,
        "{}{}",
        if point.has_throwable { " throwable" } else { "" },
        point.guard.map_or("", |g| g.name())
    );
    for template in &point.templates {
        let _ = writeln!(out, "  {}  {:?}", template.regex.replace('\n', "\\n"), template.captures);
    }
    for (i, variable) in point.variables.iter().enumerate() {
        let path = variable
            .path
            .as_ref()
            .map_or_else(|| format!("({})", variable.text), |p| path_text(program, point.frame, p));
        let class = variable.value_class.map_or("-", |c| c.as_str());
        let _ = writeln!(out, "    {i}: {path}  {class}  {:?}", variable.shape);
    }
    out
}

/// An access path as text, from the frame of `frame`.
pub fn path_text(program: &Program, frame: MethodId, path: &crate::path::AccessPath) -> String {
    use crate::path::Root;
    let method = &program.methods[frame.index()];
    let root = match path.root {
        Root::Param(0) if !method.is_static() => "this".to_string(),
        Root::Param(i) => {
            let index = usize::from(i) - usize::from(!method.is_static());
            method
                .parameter_names
                .get(index)
                .copied()
                .flatten()
                .map_or_else(|| format!("p{i}"), |n| n.to_string())
        }
        Root::Static(field) => format!("{}.{}", crate::strings::types::simple_name(&field.class), field.name),
        Root::Local(value) => format!("local{}", value.index()),
    };
    path.steps.iter().fold(root, |name, step| step.after(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn points_in(folder: &Path) -> Vec<LogPoint> {
        let program = crate::program::load(&[folder.to_path_buf()], &Default::default());
        log_points(&program.expect("a readable folder"))
    }

    fn sinks() -> std::path::PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/strings/classes/11/sinks")
    }

    /// Methods of one fixture that have log points, each with its loggers.
    fn printing(class: &str) -> Vec<(String, Vec<String>)> {
        let program = crate::program::load(&[sinks()], &Default::default()).expect("a readable folder");
        let of = |p: &LogPoint| {
            let method = &program.methods[p.method.index()];
            let is_of = program.classes[method.class.index()].name.ends_with(class);
            is_of.then(|| (method.name.to_string(), p.loggers.clone()))
        };
        log_points(&program).iter().filter_map(of).collect()
    }

    #[test]
    fn copies_of_a_logger_are_known_by_name_and_shape() {
        let named = |m: &str| (m.to_string(), vec!["sinks.Relocated".to_string()]);
        assert_eq!(printing("/Relocated"), ["arguments", "array", "exception"].map(named));
    }

    #[test]
    fn references_print_where_they_are_called() {
        let mut found: Vec<String> = printing("/References").into_iter().map(|p| p.0).collect();
        found.dedup();
        let wanted = [
            "each",
            "here",
            "lambda$lambda$0",
            "lambda$textGivenToLambda$1",
            "lambda$toLibrary$ref0",
            "report",
            "write",
        ];
        assert_eq!(found, wanted);
    }

    /// `fixtures/groovy`: calls that are decided at run time, and those of `@CompileStatic`.
    #[test]
    fn groovy_logs_texts_with_values() {
        let classes = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/groovy/classes");
        let found: Vec<(u32, String, String)> = points_in(&classes)
            .iter()
            .map(|p| (p.source_line, p.loggers.join(" "), p.templates[0].regex.clone()))
            .collect();
        let wanted = [
            (9, "shop.Stock", "Item (-?[0-9]+) is taken by (.*?)"),
            (10, "shop.Stock", "Item (-?[0-9]+) is low"),
            (11, "shop.Stock", "Shelf of (.*?) is checked"),
            (19, "shop.Till", "Bill (-?[0-9]+) is paid by (.*?)"),
            (20, "shop.Till", "Bill (-?[0-9]+) is late"),
            (24, "shop.Till", "Bill (-?[0-9]+) failed"),
        ];
        assert_eq!(found, wanted.map(|(line, logger, regex)| (line, logger.to_owned(), regex.to_owned())));
    }

    /// Classes with changed bytes give fewer or other log points, never a panic.
    #[test]
    fn damaged_classes_do_no_harm() {
        let folder = sinks();
        let files = std::fs::read_dir(&folder).expect("committed classes");
        let files = files.map(|f| f.expect("readable").path());
        let mut files: Vec<_> = files.filter(|path| path.is_file()).collect();
        files.sort();
        let classes: Vec<Vec<u8>> = files.iter().map(|f| std::fs::read(f).expect("readable")).collect();
        assert!(points_in(&folder).len() > 200);
        let mut seed = 7_u64;
        let mut next = |bound: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) as usize % bound
        };
        let damaged = tempfile::tempdir().expect("a folder");
        for _ in 0..40 {
            for (file, class) in files.iter().zip(&classes) {
                let mut class = class.clone();
                for _ in 0..1 + next(3) {
                    let at = next(class.len());
                    class[at] = next(256) as u8;
                }
                let name = file.file_name().expect("a file");
                std::fs::write(damaged.path().join(name), class).expect("room");
            }
            assert!(points_in(damaged.path()).iter().all(|p| !p.templates.is_empty()));
        }
    }
}

//! What the program makes again and again: numbers that count, objects made in loops, what is
//! handed over with a task.

use rustc_hash::FxHashSet;

use super::in_loop;
use crate::call_graph::{CallGraph, RootKind};
use crate::ir::{Body, Op, ValueId};
use crate::program::{ClassId, FieldRef, MethodId, MethodRef, Name, Program};
use crate::top_level::loops::{ServiceLoops, is_take};

/// Whether a call of the library gives each caller another value: it counts, or draws one at
/// random of so many that no two are equal.
pub(super) fn counts(method: MethodRef) -> bool {
    let name = method.name.as_str();
    let is_count = method.class.starts_with("java/util/concurrent/atomic/")
        && (name.ends_with("AndGet") || name.starts_with("getAnd"));
    is_count || method.class == "java/util/UUID" && name == "randomUUID"
}

/// Whether a value is the one of a field that the body counts up, before that or after.
pub(super) fn is_counted(body: &Body, value: ValueId) -> bool {
    let is_stored = |field: FieldRef, new: ValueId| {
        let mut stored = body.iter().filter_map(|(_, inst)| match inst.op {
            Op::PutField(f, _, stored) if f == field => Some(body.uncast(stored)),
            _ => None,
        });
        stored.any(|stored| stored == new)
    };
    let read = |value: ValueId| match body.op(body.uncast(value)) {
        Op::GetField(field, _) => Some(*field),
        _ => None,
    };
    let is_step = |value: ValueId| matches!(body.op(value), Op::Const(_));
    match body.op(value) {
        Op::Binary(_, a, b) => [(*a, *b), (*b, *a)]
            .into_iter()
            .any(|(old, step)| is_step(step) && read(old).is_some_and(|field| is_stored(field, value))),
        Op::GetField(field, _) => body.iter().any(|(new, inst)| {
            matches!(inst.op, Op::Binary(_, a, b) if body.uncast(a) == value && is_step(b))
                && is_stored(*field, new)
        }),
        _ => false,
    }
}

/// The values that a text is put together of; none: it is no such text.
pub(super) fn parts_of_text(body: &Body, text: ValueId) -> Vec<ValueId> {
    let mut parts = Vec::new();
    let mut at = match body.op(text) {
        Op::InvokeDynamic { bootstrap, args, .. }
            if bootstrap.method.class == "java/lang/invoke/StringConcatFactory" =>
        {
            return args.iter().map(|&arg| body.uncast(arg)).collect();
        }
        Op::Invoke { method, args, .. }
            if method.name == "toString" && method.class == "java/lang/StringBuilder" =>
        {
            let [builder] = args[..] else { return parts };
            builder
        }
        _ => return parts,
    };
    // javac appends to what the append before gives back.
    while let Op::Invoke { method, args, .. } = body.op(body.uncast(at)) {
        let [builder, part] = args[..] else { break };
        if method.name != "append" {
            break;
        }
        parts.push(body.uncast(part));
        at = builder;
    }
    parts
}

/// Per class: whether objects of it are made in a loop.
pub(super) fn in_loops(program: &Program) -> Vec<bool> {
    let mut made = vec![false; program.classes.len()];
    for body in program.methods.iter().filter_map(|method| method.body.as_ref()) {
        for (value, inst) in body.iter() {
            if let Op::New(class) = &inst.op
                && let Some(class) = program.class(*class).filter(|_| in_loop(body, value))
            {
                made[class.index()] = true;
            }
        }
    }
    made
}

/// The classes of which service loops take objects from collections.
pub(super) fn handed_to_loops(program: &Program, loops: &[ServiceLoops]) -> Vec<ClassId> {
    let mut taken: FxHashSet<Name> = FxHashSet::default();
    for (method, loops) in program.methods.iter().zip(loops).filter(|(_, loops)| loops.any) {
        let Some(body) = &method.body else { continue };
        let is_taken = |v: ValueId| {
            let op = body.op(v);
            is_take(op) && matches!(op, Op::Invoke { method, .. } if program.class(method.class).is_none())
        };
        taken.extend(body.iter().filter_map(|(_, inst)| match inst.op {
            Op::Cast(class, of) if loops.contains(body, of) && is_taken(of) => Some(class),
            _ => None,
        }));
    }
    let is_one = |class: &Name| taken.iter().any(|above| program.is_subtype(*class, *above));
    let classes = (0..program.classes.len()).map(ClassId::new);
    classes.filter(|class| is_one(&program.classes[class.index()].name)).collect()
}

/// The value classes (`Class.field`) of what is handed over with tasks and threads.
pub(super) fn fields_of_tasks(program: &Program, graph: &CallGraph) -> FxHashSet<Name> {
    let tasks = graph.roots.iter().filter(|root| matches!(root.kind, RootKind::Task | RootKind::Thread));
    let classes: FxHashSet<ClassId> = tasks.map(|root| program.methods[root.method.index()].class).collect();
    let mut found = FxHashSet::default();
    for class in classes.iter().map(|class| &program.classes[class.index()]) {
        let simple = class.name.as_str().rsplit('/').next().unwrap_or_default();
        found.extend(class.fields.iter().map(|field| Name::from(&format!("{simple}.{}", field.name))));
    }
    found
}

/// Adds to `is_met`, per method, what `starts` run, in whatever thread of their process.
pub(super) fn reach(graph: &CallGraph, is_met: &mut [bool], starts: Vec<MethodId>) {
    let mut todo = starts;
    todo.iter().for_each(|method| is_met[method.index()] = true);
    while let Some(method) = todo.pop() {
        for call in graph.calls(method).iter().filter(|call| !call.kind.is_remote()) {
            for &target in &call.targets {
                if !std::mem::replace(&mut is_met[target.index()], true) {
                    todo.push(target);
                }
            }
        }
    }
}

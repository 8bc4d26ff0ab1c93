//! Static initializers that log: whoever touches the class first prints their
//! lines, inside of its own request.
//!
//! Only initializers that call a logger themselves or in a static method of
//! their own class are followed; the others would make one big component of the
//! program.

use rustc_hash::FxHashMap;

use super::resolve::Resolver;
use super::{Call, CallKind};
use crate::ir::{InvokeKind, Op};
use crate::limits;
use crate::program::{ClassId, MethodId, Name};

/// Per class: its initializer, if it may print.
#[derive(Debug, Default)]
pub(crate) struct Initializers {
    printing: FxHashMap<ClassId, MethodId>,
}

impl Initializers {
    pub(crate) fn find(resolver: &Resolver<'_>) -> Self {
        let mut found = Self::default();
        let (name, descriptor) = (Name::from("<clinit>"), Name::from("()V"));
        for i in 0..resolver.program.classes.len() {
            let class = ClassId::new(i);
            let initializer = resolver.declared(class, name, descriptor);
            if let Some(m) = initializer.filter(|&m| prints(resolver, class, m, 1)) {
                found.printing.insert(class, m);
            }
        }
        found
    }

    /// One edge per class that `method` touches first, where it does.
    pub(crate) fn edges(&self, resolver: &Resolver<'_>, method: MethodId) -> Vec<Call> {
        let m = &resolver.program.methods[method.index()];
        let Some(body) = &m.body else { return Vec::new() };
        let mut edges: Vec<Call> = Vec::new();
        if self.printing.is_empty() {
            return edges;
        }
        for (site, inst) in body.iter() {
            let mut above = touched(&inst.op);
            for _ in 0..limits::SUPERS_MAX {
                let Some(class) = above.and_then(|name| resolver.program.class(name)) else { break };
                above = resolver.program.classes[class.index()].super_name;
                let Some(&target) = self.printing.get(&class).filter(|_| class != m.class) else { continue };
                if edges.iter().all(|e| e.targets != [target]) {
                    edges.push(Call {
                        site,
                        targets: vec![target],
                        kind: CallKind::Callback,
                        args: Vec::new(),
                    });
                }
            }
        }
        edges
    }
}

/// The class that an instruction needs initialized (JVMS 5.5): with it, those that it
/// extends are, before it.
pub(crate) fn touched(op: &Op) -> Option<Name> {
    match op {
        Op::New(class) => Some(*class),
        Op::GetField(field, None) | Op::PutField(field, None, _) => Some(field.class),
        Op::Invoke { kind: InvokeKind::Static, method, .. } => Some(method.class),
        _ => None,
    }
}

fn prints(resolver: &Resolver<'_>, class: ClassId, method: MethodId, depth: usize) -> bool {
    let Some(body) = &resolver.program.methods[method.index()].body else { return false };
    body.iter().any(|(_, inst)| {
        let Op::Invoke { kind, method: callee, .. } = &inst.op else { return false };
        let is_log = matches!(
            callee.name.as_str(),
            "trace" | "debug" | "info" | "warn" | "error" | "fatal" | "log" | "severe" | "warning"
        ) && callee.descriptor.as_str().ends_with(")V")
            && resolver.own_class(callee.class).is_none();
        let own = resolver.program.class(callee.class) == Some(class);
        is_log
            || depth > 0
                && own
                && *kind == InvokeKind::Static
                && resolver
                    .declared(class, callee.name, callee.descriptor)
                    .is_some_and(|m| prints(resolver, class, m, depth - 1))
    })
}

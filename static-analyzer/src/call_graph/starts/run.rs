//! Which stored objects are run: an object with a run-like method is started by
//! whoever stores it only if somebody runs what is stored there.

use rayon::prelude::*;

use super::{Starts, direct_targets, matches};
use crate::call_graph::Call;
use crate::call_graph::apis;
use crate::call_graph::flow::{Frame, Source};
use crate::ir::{InvokeKind, Op, ValueId};
use crate::program::{MethodId, MethodRef};

impl Starts<'_> {
    /// What holds objects that are run: what is handed to the library to run,
    /// and what a run-like method is called on, traced back to where it was kept.
    pub(super) fn find_run(&self, calls: &[Vec<Call>]) -> Vec<bool> {
        let methods = &self.resolver.program.methods;
        let ends = (0..methods.len()).into_par_iter().flat_map_iter(|i| {
            let mut found = Vec::new();
            let Some(body) = &methods[i].body else { return found };
            let targets = |v: ValueId| direct_targets(&calls[i], v);
            let frame = self.frame(MethodId::new(i), body, &targets);
            for (v, inst) in body.iter() {
                let Op::Invoke { kind, method, args } = &inst.op else { continue };
                for (j, &a) in args.iter().enumerate() {
                    let by_library = targets(v).is_empty()
                        && self.library_gift(*kind, *method, j).is_some()
                        && !self.is_put(*kind, *method);
                    if by_library || (j == 0 && self.is_run(*kind, *method)) {
                        let nodes = frame.sources(a).into_iter().filter_map(|s| match s {
                            Source::Node(n) => Some([n, n | 1]),
                            _ => None,
                        });
                        found.extend(nodes.flatten());
                    }
                }
            }
            found
        });
        self.flow.leading_to(ends.collect())
    }

    /// Whether a call runs its receiver: a task's body by its own name.
    pub(super) fn is_run(&self, kind: InvokeKind, method: MethodRef) -> bool {
        let is_virtual = matches!(kind, InvokeKind::Virtual | InvokeKind::Interface);
        let rows = self.resolver.own_class(method.class).map(|c| &self.tasks[c.index()][..]);
        let own = rows.unwrap_or_default().iter().any(|row| matches(row.method, method.name));
        let library =
            apis::TASKS.iter().any(|t| t.class == method.class.as_str() && matches(t.method, method.name));
        is_virtual && (own || library || matches!(method.name.as_str(), "start" | "fork"))
    }

    pub(super) fn is_put(&self, kind: InvokeKind, method: MethodRef) -> bool {
        kind != InvokeKind::Static && apis::COLLECTION_PUT.contains(&method.name.as_str())
    }

    /// Whether what is stored by the instruction at `site` is run later by
    /// whoever takes it out. An object kept for other reasons (the outer object
    /// of an inner class, a session in a table) is not.
    pub(super) fn is_run_later(&self, frame: &Frame<'_>, site: ValueId) -> bool {
        match frame.body.op(site) {
            Op::PutField(f, _, _) => self.flow.field(*f).is_none_or(|n| self.run[n as usize]),
            Op::Invoke { args, .. } => frame.sources(args[0]).iter().any(|s| match s {
                Source::Node(n) => self.run[(n | 1) as usize],
                Source::Closure(_) | Source::Open => true,
                Source::New(..) => false,
            }),
            _ => false,
        }
    }
}

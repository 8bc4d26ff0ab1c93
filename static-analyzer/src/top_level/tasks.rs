//! What only tasks lead to: methods that nothing runs but bodies of tasks and threads.
//!
//! Under-approximates: who is called by what nobody is known to call, or by more methods than
//! are looked at, can be run by anybody.

use rustc_hash::FxHashSet;

use crate::call_graph::{CallGraph, CallKind, RootKind};
use crate::limits::TASK_CALLERS_MAX;
use crate::program::MethodId;

/// Whether whoever runs `method` runs the body of a task or a thread.
pub(crate) fn lead_alone_to(graph: &CallGraph, method: MethodId) -> bool {
    let mut seen = FxHashSet::from_iter([method]);
    let mut todo = vec![method];
    while let Some(at) = todo.pop() {
        match graph.root(at).map(|root| root.kind) {
            Some(RootKind::Task | RootKind::Thread) => continue,
            Some(_) => return false,
            None => {}
        }
        let callers = &graph.callers[at.index()];
        let runs = |&&(caller, i): &&(MethodId, usize)| {
            let kind = graph.calls(caller)[i].kind;
            kind.is_local() || kind == CallKind::Table
        };
        if !callers.iter().any(|caller| runs(&caller)) {
            return false;
        }
        todo.extend(
            callers.iter().filter(runs).map(|&(caller, _)| caller).filter(|&caller| seen.insert(caller)),
        );
        if seen.len() > TASK_CALLERS_MAX {
            return false;
        }
    }
    true
}

//! One at a time: top-level methods that a process runs in one thread, one run after the other.
//!
//! A timer does not run its task while that still runs; a thread that start-up starts once, and
//! `main`, do one thing at a time. So where no thread is printed, what begins there ends what
//! was there before.
//!
//! Under-approximates: every way to the method is followed up to where a thread begins, and one
//! that is not known, or a second thread, is enough to leave it.

use crate::call_graph::{CallGraph, RootKind};
use crate::identifiers::in_loop;
use crate::program::{MethodId, Program};

/// Calls on the way up to `main`.
const LEVELS_MAX: usize = 12;

/// Which threads run what.
pub(super) struct Threads<'a> {
    program: &'a Program,
    graph: &'a CallGraph,
    /// Per method: the only root of a thread that leads to it, and whether there are several.
    of: Vec<Option<(MethodId, bool)>>,
}

impl<'a> Threads<'a> {
    pub(super) fn new(program: &'a Program, graph: &'a CallGraph) -> Self {
        let mut threads = Threads { program, graph, of: vec![None; program.methods.len()] };
        for root in graph.roots.iter().map(|root| root.method) {
            threads.add(root);
        }
        // Who is called by nobody that is seen is called by anybody.
        for method in (0..program.methods.len()).map(MethodId::new) {
            if graph.root(method).is_none()
                && !graph.callers[method.index()].iter().any(|c| threads.is_local(c))
            {
                threads.add(method);
            }
        }
        threads
    }

    fn is_local(&self, &(caller, call): &(MethodId, usize)) -> bool {
        self.graph.calls(caller)[call].kind.is_local()
    }

    fn add(&mut self, root: MethodId) {
        let mut todo = vec![root];
        while let Some(method) = todo.pop() {
            let known = &mut self.of[method.index()];
            match known {
                Some((other, false)) if *other != root => *known = Some((*other, true)),
                Some(_) => continue,
                None => *known = Some((root, false)),
            }
            todo.extend(self.graph.local_edges(method).map(|(_, target)| target));
        }
    }

    /// Whether one thread alone runs `method`, and a process has one of these.
    pub(super) fn run_one_at_a_time(&self, method: MethodId) -> bool {
        matches!(self.of[method.index()], Some((root, false)) if self.is_one(root))
    }

    /// Whether a process has one thread that begins with `root`.
    fn is_one(&self, root: MethodId) -> bool {
        let kind = self.graph.root(root).map(|root| root.kind);
        if kind == Some(RootKind::Main) {
            return true;
        }
        let is_thread = matches!(kind, Some(RootKind::Thread | RootKind::Task));
        let &[(caller, at)] = &self.graph.callers[root.index()][..] else { return false };
        let call = &self.graph.calls(caller)[at];
        is_thread && !call.kind.is_local() && self.is_once((caller, at), LEVELS_MAX)
    }

    /// Whether a process comes to a call once.
    fn is_once(&self, (caller, at): (MethodId, usize), n_levels: usize) -> bool {
        let call = &self.graph.calls(caller)[at];
        let Some(body) = &self.program.methods[caller.index()].body else { return false };
        if n_levels == 0 || in_loop(body, call.site) {
            return false;
        }
        if self.graph.root(caller).is_some_and(|root| root.kind == RootKind::Main)
            || self.program.methods[caller.index()].name == "<clinit>"
        {
            return true;
        }
        match self.graph.callers[caller.index()][..] {
            [above] => self.is_local(&above) && self.is_once(above, n_levels - 1),
            // What makes the objects that the program makes none of (a container) makes one.
            [] => self.program.methods[caller.index()].name == "<init>",
            _ => false,
        }
    }
}

//! The call graph: who calls, starts or remotely invokes whom.
//!
//! Over-approximates dispatch by the types that the program instantiates (rapid
//! type analysis, refined by the types that flow into the receiver where that is
//! known), up to [`crate::limits::DISPATCH_TARGETS_MAX`] targets; wider dispatch
//! is a *handler table* and becomes [`CallKind::Table`]. Under-approximates: no
//! dispatch through receivers declared by the JDK other than tasks, and no
//! reflection except `ldc Class` of a class with a no-argument constructor.

use schema::LinkKind;

use crate::ir::{Body, Op, ValueId};
use crate::program::{ClassId, MethodId, Name};
use crate::services::{Handler, Requests};

mod annotated;
pub mod apis;
mod around;
mod build;
mod called_back;
mod closures;
mod containers;
pub(crate) mod flow;
mod given;
pub(crate) mod initializers;
mod keepers;
mod machines;
pub(crate) mod passed;
pub mod programs;
mod recursion;
mod reflected;
mod reflection;
pub(crate) mod resolve;
mod roots;
mod rpc;
mod scc;
mod starts;
mod times;

pub use build::build;

/// How control gets from a call site to its targets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CallKind {
    /// Plain call, dispatched if virtual; same thread.
    Direct,
    /// What answers for an exception: before all else that a library runs where a handler ends.
    Answer,
    /// An object or lambda handed to code outside of the program that calls it
    /// back before it returns (`doAs`, `forEach`, comparators); same thread.
    Callback,
    /// One of many handlers looked up in a table (event type to handler, verb to
    /// handler); same thread, but each target is work of its own.
    Table,
    /// A task handed to another thread: thread start, executor, timer, future
    /// callback.
    Start(LinkKind),
    /// A task registered to run when the process ends: work of its own, which
    /// nobody who runs before has caused.
    Exit,
    /// Remote procedure call: the call is on a proxy, the targets are the
    /// methods that serve it in another process.
    Rpc,
    /// Something is asked for that the targets serve: a path, a method of a service, a topic.
    Asks(LinkKind),
}

impl CallKind {
    /// Whether the target's lines are printed by the calling thread, inside of
    /// the call: only these edges are inlined.
    pub fn is_local(self) -> bool {
        matches!(self, CallKind::Direct | CallKind::Answer | CallKind::Callback)
    }

    /// Whether the targets run in another process, and are known by what they serve.
    pub fn is_remote(self) -> bool {
        matches!(self, CallKind::Rpc | CallKind::Asks(_))
    }
}

/// How often one run of a call runs what it calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Times {
    /// Exactly once.
    Once,
    /// Not at all, or once.
    AtMostOnce,
    /// Any number of times.
    Any,
}

/// One call site with the targets that take the same arguments. A site can
/// have several of these (e.g. a direct call that also starts a task).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The instruction of the caller.
    pub site: ValueId,
    /// Methods with a body that can run, sorted.
    pub targets: Vec<MethodId>,
    /// How.
    pub kind: CallKind,
    /// For each parameter of the targets (0 is `this` of instance methods) the
    /// caller's value; none: given by somebody else (library, other thread).
    pub args: Vec<Option<ValueId>>,
}

impl Call {
    /// Whether it makes a timer run its targets again and again: each run is a request, and none
    /// is more of who has set the timer than the others are. `body` is the caller's.
    pub(crate) fn sets_timer(&self, body: &Body) -> bool {
        matches!(self.kind, CallKind::Start(_))
            && matches!(body.op(self.site), Op::Invoke { method, .. }
                if apis::repeats(&method.name, &method.descriptor))
    }
}

/// What makes a method the first one of a thread's work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RootKind {
    /// `main`
    Main,
    /// Body of a thread (`Thread` subclass, or the class extends it).
    Thread,
    /// Body of a task for an executor, timer, or future callback.
    Task,
    /// Served to remote callers.
    Rpc,
    /// Looked up in a table by the type of an event or message.
    EventHandler,
    /// Called by code outside of the program (interface of a library).
    Callback,
    /// No caller is known.
    Uncalled,
}

/// A method at which threads enter the program's work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Root {
    /// The method.
    pub method: MethodId,
    /// What makes it one.
    pub kind: RootKind,
    /// For people: which interface or which start site.
    pub why: String,
}

/// Who calls whom.
#[derive(Clone, Debug, Default)]
pub struct CallGraph {
    /// Per method (index of [`MethodId`]): its calls in order of the sites.
    pub calls: Vec<Vec<Call>>,
    /// Per method: (caller, position in the caller's `calls`), sorted.
    pub callers: Vec<Vec<(MethodId, usize)>>,
    /// What is not called once of all that is called back.
    times: times::AllTimes,
    /// Where threads enter, sorted by method.
    pub roots: Vec<Root>,
    /// What is given away to be kept and called later by the program itself, sorted:
    /// commands in a queue of its own.
    pub commands: Vec<MethodId>,
    /// Listeners that libraries tell something in the middle of other work, sorted.
    pub told: Vec<MethodId>,
    /// Calls on objects that are only handed down.
    pub(crate) passed: passed::Passed,
    /// Steps of state machines, sorted: run by the machine for its entity.
    pub steps: Vec<MethodId>,
    /// Per class: whether the program makes objects of it.
    pub instantiated: Vec<bool>,
    /// Methods with the classes that reflection makes an object of for whoever runs
    /// them, sorted.
    pub reflected: Vec<(MethodId, ClassId)>,
    /// Strongly connected components over local edges
    /// ([`CallKind::is_local`]), callees before callers; each sorted.
    pub components: Vec<Vec<MethodId>>,
    /// Components that can be worked on in parallel: ranges of `components`,
    /// each depending on earlier ranges only.
    pub levels: Vec<std::ops::Range<usize>>,
    /// Methods that serve what others ask for, sorted by method.
    pub(crate) handlers: Vec<Handler>,
    /// What is asked for where a call asks.
    pub(crate) requests: Requests,
    /// Interfaces whose methods are served to remote callers (internal names),
    /// sorted, each with the reason.
    pub rpc_interfaces: Vec<(Name, String)>,
}

impl CallGraph {
    /// The calls of `method`.
    pub fn calls(&self, method: MethodId) -> &[Call] {
        &self.calls[method.index()]
    }

    /// The local calls of `method`, flattened to (call, target).
    pub fn local_edges(&self, method: MethodId) -> impl Iterator<Item = (&Call, MethodId)> {
        self.calls(method)
            .iter()
            .filter(|c| c.kind.is_local())
            .flat_map(|c| c.targets.iter().map(move |&t| (c, t)))
    }

    /// How often the call at `site` of `method` runs one of its targets.
    pub(crate) fn times(&self, method: MethodId, call: &Call, target: MethodId) -> Times {
        let is_callback = matches!(call.kind, CallKind::Answer | CallKind::Callback);
        let known = self.times.get(&(method, call.site, target)).filter(|_| is_callback);
        known.copied().unwrap_or(Times::Once)
    }

    /// Sets who calls whom by the calls.
    pub(crate) fn set_callers(&mut self) {
        self.callers = vec![Vec::new(); self.calls.len()];
        for (i, list) in self.calls.iter().enumerate() {
            for (at, call) in list.iter().enumerate() {
                call.targets.iter().for_each(|t| self.callers[t.index()].push((MethodId::new(i), at)));
            }
        }
    }

    /// What is served by `method`, if anything.
    pub(crate) fn handler(&self, method: MethodId) -> Option<&Handler> {
        let from = self.handlers.partition_point(|handler| handler.method < method);
        self.handlers.get(from).filter(|handler| handler.method == method && handler.is_certain)
    }

    /// The root entry of `method`, if threads enter there.
    pub fn root(&self, method: MethodId) -> Option<&Root> {
        let at = self.roots.binary_search_by_key(&method, |r| r.method).ok()?;
        Some(&self.roots[at])
    }
}

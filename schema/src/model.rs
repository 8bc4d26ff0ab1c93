//! The model: everything the analysis knows of one release of a program
//! (lprof §4.5, Figure 9). Made once per release by `static-analyzer`, sent to
//! every log node, read by `log-mapper` and `reducer`.
//!
//! The file format is in [`crate::version`]. Nothing here is an index for
//! matching; those are built when a model is loaded.

use serde::{Deserialize, Serialize};

use crate::ids::{IdentifierId, LogPointId, TopLevelId, ValueClassId};

mod file;
mod identities;
mod marks;
mod remote_calls;
mod slow_calls;
mod successors;

pub use file::StoredModel;
pub use marks::Marks;
pub use remote_calls::RemoteCall;
pub use slow_calls::{SlowCall, SlowKind};
pub use successors::{RunSuccessors, Successors};

/// What the analysis found in one class path.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Model {
    /// The jars and folders analysed, in class-path order.
    pub inputs: Vec<ClassPathEntry>,
    /// Names of the value classes, e.g. `Block.blockId`; a [`ValueClassId`] is
    /// a position here.
    pub value_classes: Vec<String>,
    /// All log points, sorted by (class, method, source line, call site).
    pub log_points: Vec<LogPoint>,
    /// All top-level methods, sorted by (class, method). Every log point is in
    /// the DAG of at least one of them.
    pub top_level_methods: Vec<TopLevelMethod>,
    /// All communication pairs, sorted by (from, to, kind).
    pub communication_pairs: Vec<CommunicationPair>,
    /// Programs of the class path: classes with a `main`, binary names.
    pub entry_points: Vec<String>,
    /// Names that the program gives to its threads, sorted by how they look.
    pub thread_names: Vec<ThreadName>,
    /// What can take time between log points, sorted.
    pub slow_calls: Vec<SlowCall>,
    /// Which log point one thread can print directly after which other one.
    pub successors: Successors,
    /// Threads and tasks that log nothing: candidates for more logging, and
    /// the gaps through which requests cannot be followed (lprof §7(1)).
    pub silent_threads: Vec<String>,
    /// How many methods begin a thread or task, those that log nothing included.
    pub n_threads: u32,
    /// What was skipped or approximated, for people.
    pub diagnostics: Vec<String>,
}

/// One jar, war or folder of the class path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClassPathEntry {
    /// File name without its folder, so that a model does not depend on where
    /// the jar lay.
    pub name: String,
    /// Classes read from it.
    pub n_classes: u32,
    /// Classes that could not be read; each is named in the diagnostics.
    pub n_skipped: u32,
    /// xxh3-128 of its bytes.
    pub digest: u128,
}

/// Severity of a log record, by its common name. `FATAL` and `SEVERE` are kept
/// apart from `ERROR` because layouts print them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Level {
    /// `TRACE`, `FINEST`, `FINER`
    Trace,
    /// `DEBUG`, `FINE`
    Debug,
    /// `INFO`, `CONFIG`, `NOTICE`
    Info,
    /// `WARN`, `WARNING`
    Warn,
    /// `ERROR`, `SEVERE`
    Error,
    /// `FATAL`
    Fatal,
}

impl Level {
    /// The name log4j and logback print.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Level::Trace => "TRACE",
            Level::Debug => "DEBUG",
            Level::Info => "INFO",
            Level::Warn => "WARN",
            Level::Error => "ERROR",
            Level::Fatal => "FATAL",
        }
    }

    /// The level that a printed name stands for, in any logging library.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Some(match name.to_ascii_uppercase().as_str() {
            "TRACE" | "FINEST" | "FINER" | "ALL" => Level::Trace,
            "DEBUG" | "FINE" => Level::Debug,
            "INFO" | "CONFIG" | "NOTICE" => Level::Info,
            "WARN" | "WARNING" => Level::Warn,
            "ERROR" | "SEVERE" => Level::Error,
            "FATAL" | "OFF" => Level::Fatal,
            _ => return None,
        })
    }
}

/// A place in source code: `class.method:line`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct CallSite {
    /// Binary name with dots, `a.b.C$D`.
    pub class: String,
    /// Method name, `<init>` for constructors.
    pub method: String,
    /// Source line, 0 where the class has no line table.
    pub source_line: u32,
}

/// A statement that prints a log message (lprof §3.1). Identity is (class,
/// method, source line, message tree): compiler copies of one line are one log
/// point; a logging wrapper has one log point per caller, told apart by
/// `call_site`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LogPoint {
    /// Binary name with dots of the class that holds the statement.
    pub class: String,
    /// Method that holds it.
    pub method: String,
    /// Source line, 0 where the class has no line table.
    pub source_line: u32,
    /// Source file name as the class file gives it (`%F`), if it does.
    pub source_file: Option<String>,
    /// The caller that gave the message, where the statement is inside a
    /// logging wrapper that prints its own parameter.
    pub call_site: Option<CallSite>,
    /// Merged call instructions (copies made by the compiler).
    pub n_sites: u32,
    /// Possible levels, sorted; empty: chosen at run time.
    pub levels: Vec<Level>,
    /// Possible logger names, sorted; empty: unknown.
    pub loggers: Vec<String>,
    /// Stands in an exception handler.
    pub in_handler: bool,
    /// A `Throwable` is given: a stack trace may follow the message.
    pub has_throwable: bool,
    /// What the message prints; captures of the templates point here.
    pub variables: Vec<Variable>,
    /// The ways the message can look; several when late binding allows several
    /// (lprof §4.1).
    pub templates: Vec<Template>,
}

/// The method that initializes a class (JVMS 2.9.2).
pub const CLASS_INITIALIZER: &str = "<clinit>";

impl LogPoint {
    /// Whether the initializer of a class prints it, itself or through a wrapper: it comes
    /// in the middle of the work of whoever needs the class first.
    #[must_use]
    pub fn initializes(&self) -> bool {
        let printer = self.call_site.as_ref().map_or(&self.method, |site| &site.method);
        printer == CLASS_INITIALIZER
    }
}

/// One way a message can look.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Template {
    /// Regex of the whole message, without anchors, in the syntax of the
    /// `regex` crate with `s` mode meant (`.` matches a line feed). Every
    /// variable is one capture group, and every group is a variable, in order.
    pub regex: String,
    /// For each capture group, in order: position in the log point's `variables`.
    pub captures: Vec<u32>,
}

/// One way the names of some of the program's threads look, and what these
/// threads run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadName {
    /// Regex of the whole name, as of a message.
    pub template: Template,
    /// What the name shows; captures of the template point here.
    pub variables: Vec<Variable>,
    /// Letters and digits of the constant part: of several names that a thread
    /// can have, the one with more is meant.
    pub n_letters: u32,
    /// What can run in these threads, sorted; empty: anything.
    pub runs: Vec<TopLevelId>,
    /// They also run tasks that they are given, whatever these are.
    pub is_given_tasks: bool,
}

/// What a printed value looks like; the regex of a capture is made from it, and
/// values are made comparable by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ValueShape {
    /// Decimal integer.
    Integer,
    /// Hexadecimal integer without prefix.
    Hex,
    /// Floating point.
    Float,
    /// `true` or `false`.
    Boolean,
    /// A constant of an enum.
    Enum,
    /// Any text.
    Text,
    /// Text of an exception.
    Throwable,
}

/// A printed value: an access path and what kind of thing it names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Variable {
    /// Access path from the method's frame, e.g. `this.block.poolId`,
    /// `src`, `BlockManager.getReplication()`; opaque parts end in `()`.
    pub path: String,
    /// Its value class, e.g. `Block.blockId`; none for computed values.
    pub value_class: Option<ValueClassId>,
    /// How it is printed.
    pub shape: ValueShape,
    /// Of an object that no template captures as one value: the variables of
    /// the log point that name it together, in the same order wherever objects
    /// of this class are printed. Empty for what is captured itself.
    pub parts: Vec<u32>,
    /// The parts are not all that tells the objects apart (the rest is chosen
    /// among constants): the value is the text from the first to the last part.
    pub in_text: bool,
}

/// The first method of a thread's work on a single request (lprof §3.1).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TopLevelMethod {
    /// Binary name with dots.
    pub class: String,
    /// Method name.
    pub method: String,
    /// JVM descriptor, to tell overloads apart.
    pub descriptor: String,
    /// What makes it one.
    pub kind: TopLevelKind,
    /// Values that do not change within one request of this method (§4.2).
    pub identifiers: Vec<Identifier>,
    /// Order in which its log points can appear (§4.3).
    pub dag: Dag,
    /// Programs that can run it: positions in [`Model::entry_points`], sorted;
    /// empty: any.
    pub entry_points: Vec<u16>,
    /// A service loop gives it what it has waited for: each call is a round of its own, not
    /// a step of something longer.
    pub is_round: bool,
    /// Programs that are not known ask for it, and wait for the answer, in threads of their
    /// own: each call is a request.
    pub is_asked_for: bool,
    /// A process runs it in one thread, one run (a round, of a dispatcher) after the other.
    pub is_one_at_a_time: bool,
    /// Only tasks and threads lead to it: whoever runs it runs one of them.
    pub only_in_tasks: bool,
    /// Of a dispatcher: its lines that no round of its service loop prints, sorted. They come
    /// before and after the rounds, once.
    pub outside_rounds: Vec<LogPointId>,
    /// What remote callers ask for it by, sorted: `GET /orders/{id}`, `shop.Orders/Find`, the
    /// name of a topic or queue.
    pub serves: Vec<String>,
    /// Why it is a top-level method: the rule, the edge, the identifiers lost.
    pub reason: String,
}

/// How the descriptors of `main`, and of commands that a launcher runs, begin.
pub const COMMAND: &str = "([Ljava/lang/String;)";

impl TopLevelMethod {
    /// Whether it is a program's `main`.
    #[must_use]
    pub fn is_main(&self) -> bool {
        self.method == "main" && self.descriptor.starts_with(COMMAND)
    }
}

/// The rule by which a method became top-level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum TopLevelKind {
    /// Identifiers are lost on the way to its caller (lprof §4.2).
    IdentifierLoss,
    /// One target of a dispatch loop, switch or handler table.
    DispatchTarget,
    /// A method that remote callers invoke.
    RpcHandler,
    /// A handler of events, each of which is a request.
    EventHandler,
    /// A handler of the events of one object that requests make and that has an
    /// identity of its own (a state machine): the object's life is the request.
    Entity,
    /// Body of a task or thread without a dispatch loop.
    Task,
    /// The lines that a dispatcher prints itself, outside of any request it
    /// dispatches.
    Dispatcher,
    /// A method that no known thread reaches: its log points need a home.
    Unreached,
}

/// How far an identifier tells requests apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum IdentifierStrength {
    /// Same value within a request, other values in other requests.
    Request,
    /// Same value within a request, but also in many others: conflicting
    /// values separate, equal values are weak evidence (user, client, pool).
    Weak,
    /// Same value for the life of the process; names the node, not a request.
    Node,
}

/// A variable that keeps its value within one request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identifier {
    /// Access path from the frame of the top-level method.
    pub path: String,
    /// Its value class: identifiers of different top-level methods are
    /// comparable if their value classes are equal.
    pub value_class: ValueClassId,
    /// How far it tells requests apart.
    pub strength: IdentifierStrength,
    /// A request meets many such values (elements of a collection, rounds of a
    /// loop): a hand-off carries one of them, and different ones are no
    /// contradiction.
    pub one_of_many: bool,
    /// The first identifier of the method that is at the same place and prints its value
    /// alike, if that is another one: one value under two value classes.
    pub same_as: Option<IdentifierId>,
}

impl Identifier {
    /// Whether it names what the program allocates on the way: whoever comes by again
    /// makes another one.
    #[must_use]
    pub fn is_made(&self) -> bool {
        self.path.starts_with("new ")
    }
}

/// Order in which the log points of a top-level method can appear (lprof §4.3):
/// the condensed control flow of log points, loops folded to repeatable nodes.
/// Whether a level is printed is for the log to say: a node of which nothing is
/// printed is passed as if it were not there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dag {
    /// Nodes in topological order.
    pub nodes: Vec<DagNode>,
    /// Nodes at which an execution can start (first log point printed).
    pub entries: Vec<u32>,
    /// Nodes after which an execution can end.
    pub exits: Vec<u32>,
}

/// Log points without an order among themselves; which of them can follow which in one run is
/// known of most ([`Successors::in_run`]).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DagNode {
    /// The log points of the node.
    pub points: Vec<DagPoint>,
    /// May print again and again (loop or recursion).
    pub repeats: bool,
    /// Those of its log points that one request prints at most once although the node
    /// repeats, sorted.
    pub once: Vec<LogPointId>,
    /// Nodes whose log points can be printed next (already skipping optional
    /// ones), as positions in [`Dag::nodes`], sorted; a repeating node does
    /// not list itself.
    pub next: Vec<u32>,
}

/// A log point in a DAG.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DagPoint {
    /// Which log point.
    pub log_point: LogPointId,
    /// For each variable of the log point, in order: the identifier of this
    /// top-level method that it prints, if it prints one.
    pub bindings: Vec<Option<IdentifierId>>,
}

/// How a request gets from one thread to another (column `link` of `spans`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum LinkKind {
    /// Called by its dispatcher in the same thread.
    Call,
    /// A thread started or a task submitted.
    Thread,
    /// Put into a queue, map or other shared object and taken from it.
    Queue,
    /// Remote procedure call.
    Rpc,
    /// Message over a socket.
    Socket,
    /// Written to an external store and read from it by key.
    Store,
    /// No hand-off: both work on one object that outlives them (a connection, a
    /// session), whose identifier tells.
    Entity,
    /// Called, by one of very many, to begin work of its own: a call that only the thread
    /// and what both ends name show.
    Ask,
    /// Asked for by a verb and a path, over HTTP.
    Http,
    /// Asked for by a service and a method of it, over gRPC.
    Grpc,
    /// Sent to a topic or queue of a broker and taken from there.
    Message,
}

impl LinkKind {
    /// The word used in tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            LinkKind::Call => "call",
            LinkKind::Thread => "thread",
            LinkKind::Queue => "queue",
            LinkKind::Rpc => "rpc",
            LinkKind::Socket => "socket",
            LinkKind::Store => "store",
            LinkKind::Entity => "entity",
            LinkKind::Ask => "ask",
            LinkKind::Http => "http",
            LinkKind::Grpc => "grpc",
            LinkKind::Message => "message",
        }
    }

    /// Whether the two ends can be on different nodes.
    #[must_use]
    pub fn crosses_nodes(self) -> bool {
        matches!(self, LinkKind::Rpc | LinkKind::Socket | LinkKind::Store | LinkKind::Entity)
            || self.is_served()
    }

    /// Whether the receiver is found by what the sender asks for: a path, a method of a
    /// service, a topic.
    #[must_use]
    pub fn is_served(self) -> bool {
        matches!(self, LinkKind::Http | LinkKind::Grpc | LinkKind::Message)
    }
}

/// Senders that may hand to one receiver without carrying an identifier; with
/// more, the receiver serves the whole program, and a hand-off to it tells
/// nothing alone (helpers have more than eight callers in real systems).
pub const SENDERS_MAX: usize = 8;

/// A log point that more than one in so many top-level methods print, and more
/// than so many, is printed by a utility (a configuration, a cache of names).
const UTILITY_SHARE: usize = 8;
const UTILITY_MIN: usize = 32;

/// Of so many top-level methods, how many print what only requests print: a log
/// point that more of them print has no place in any order.
#[must_use]
pub fn floats_from(n_top_levels: usize) -> usize {
    (n_top_levels / UTILITY_SHARE).max(UTILITY_MIN)
}

/// Two top-level methods that can work on one request (lprof §4.4).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommunicationPair {
    /// The sender.
    pub from: TopLevelId,
    /// The receiver.
    pub to: TopLevelId,
    /// How.
    pub kind: LinkKind,
    /// Identifiers that carry one value on both ends: (sender's, receiver's).
    pub identifiers: Vec<(IdentifierId, IdentifierId)>,
    /// One sender can reach several receivers in one request (`M2*`).
    pub many: bool,
    /// Log points of the sender that must have been printed before the
    /// hand-off, for happened-before.
    pub before: Vec<LogPointId>,
    /// Log points of the sender that are only printed after the hand-off.
    pub after: Vec<LogPointId>,
    /// Log points of the sender that are printed neither before nor after the hand-off:
    /// they stand on other ways through its code.
    pub beside: Vec<LogPointId>,
    /// Log points of the receiver that it prints only when it is handed something else.
    pub elsewhere: Vec<LogPointId>,
    /// The sender waits until what it has started, or asked for, is done.
    pub waits: bool,
    /// The sender is a dispatcher that hands this over before or after its rounds only.
    pub outside_rounds: bool,
    /// What is handed over first is taken first, by what runs one at a time, and each sender hands
    /// over once: the order tells who is whose, whatever they print.
    pub in_order: bool,
    /// Of the kinds http, grpc and message: where the sender asks, and what for, sorted.
    pub remote_calls: Vec<RemoteCall>,
    /// Which rule found it, and where the hand-off is.
    pub reason: String,
}

//! The plan of a program: which ingredients it has and how they hang together.
//! Random plans are in `draw`, smaller ones in `minimize`, the Java in `write`.
//!
//! A program has kinds of request. A request begins somewhere, gets an identifier,
//! and goes through steps; a step prints, or hands over to further steps that
//! another method, thread or process does.

use std::collections::BTreeSet;

use super::random::Random;

/// The logging library a program is written against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Library {
    Slf4j,
    Log4j1,
    Log4j2,
    Commons,
    Jdk,
}

/// Who begins requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Begin {
    /// Threads that `main` starts; each calls the service in a loop.
    ClientThreads,
    /// The same with a class of its own for such a thread.
    ClientClass,
    /// A task for each request, in a pool.
    TaskEach,
    /// One loop in `main`.
    MainLoop,
    /// A timer calls the service at a fixed rate.
    Timer,
    /// Callers that are not part of the application's classes.
    Unseen,
    /// Lines of text from a connection; who sends them is not part of the classes.
    Connection,
}

/// What names a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Id {
    /// `++last` under the service's monitor.
    Counter,
    /// `AtomicLong.incrementAndGet`.
    Atomic,
    /// A random UUID.
    Uuid,
    /// A number that the client counts and passes.
    Given,
    /// A text made of a word and a counter.
    Text,
    /// A long number, printed in hex here and in decimal there.
    Hex,
    /// An object of two parts with `equals`, `hashCode` and `toString`.
    Composite,
    /// What another component made, printed and returned.
    Returned,
    /// A path out of a few; one request at a time for each.
    Path,
    /// The smallest free slot, used again as soon as it is free.
    Slot,
}

impl Id {
    /// Whether later requests have the same value again.
    pub(crate) fn comes_again(self) -> bool {
        matches!(self, Id::Path | Id::Slot)
    }
}

/// How the identifier and what goes with it travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Carry {
    /// As values one by one.
    Values,
    /// In an object with getters and a `toString`.
    Getters,
    /// In an object whose fields are read.
    Fields,
    /// In an object made by a builder.
    Builder,
    /// In an object inside of another.
    Nested,
    /// In a record (Java 17).
    Record,
}

/// How a message is put together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    Concat,
    /// `{}`, or `{0}` with the JDK's logger; concatenation where the library has neither.
    Places,
    Format,
    Builder,
    /// The whole message is one of two.
    Ternary,
    /// A method gives the text.
    Helper,
    /// The application's own facade prints.
    Wrapper,
    /// A text of the class stands before each message.
    Prefix,
    /// The same text at several statements.
    Same,
}

/// Which values a line shows beside the words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shows {
    Id,
    IdWhat,
    IdAmount,
    /// A boolean beside the identifier.
    IdFlag,
    /// The carried object as its `toString` puts it; the identifier where values travel.
    Object,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Say {
    pub(crate) style: Style,
    pub(crate) shows: Shows,
}

impl Say {
    pub(crate) const PLAIN: Say = Say { style: Style::Concat, shows: Shows::Id };
}

/// What a step does beside handing over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Line,
    /// Printed in some requests only.
    Optional,
    /// Printed several times.
    Loop,
    /// An attempt that may fail is made again.
    Retry,
    /// A method that calls itself.
    Recursion,
    /// A line printed by what all kinds of request share.
    Shared,
    /// Lines without identifier by what all share, between two lines, under its monitor.
    SharedWithoutId,
    /// An exception caught and printed with its trace.
    Caught,
    /// A line in a `finally`.
    Finally,
    /// One of three ways.
    Choice,
    /// Lines that the log's level leaves out.
    Debug,
    /// The identifier in the first line only, the others under the same lock.
    Locked,
    /// The same where a single worker does them, without a lock.
    Quiet,
    /// The identifier comes out of a thread-local.
    ThreadLocal,
    /// The steps of an abstract class's method.
    Template,
    /// A loop with a wait in it.
    Progress,
}

/// The way to another thread, method or process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// A method of another component.
    Call,
    /// A method behind an interface with two implementations.
    Interface,
    /// `ExecutorService.execute` or `submit` of a lambda.
    PoolLambda,
    /// The same of an object of a task class.
    PoolTask,
    /// A `Callable` whose result is waited for.
    Callable,
    /// `CompletableFuture.supplyAsync` and what follows.
    Completable,
    /// A thread for each.
    Thread,
    /// A subclass of `Thread` for each.
    ThreadClass,
    /// A thread of the application's own class around the task.
    Daemon,
    /// A `BlockingQueue` and threads that take from it; the loop calls a method.
    Queue,
    /// The same where the elements are tasks with a method of their own.
    QueueOfTasks,
    /// The same where the elements are text that the receiver takes apart.
    QueueOfText,
    /// The same where the queue is found by its name in a map.
    Topic,
    /// The queue holds the identifier only; the rest waits in a map.
    QueueOfKeys,
    /// A queue with one receiver whose lines do not show the identifier: order decides.
    Fifo,
    /// A `PriorityBlockingQueue`.
    Priority,
    /// A list guarded by its monitor.
    Monitor,
    /// A dispatcher thread and a `switch` over the events' types.
    Events,
    /// A dispatcher thread and a map of handlers.
    Handlers,
    /// `ScheduledExecutorService.schedule`.
    Delay,
    /// `java.util.Timer`.
    JdkTimer,
    /// A fork/join task that forks two.
    ForkJoin,
    /// A task for each of some replicas and a latch.
    FanOut,
    /// `invokeAll`.
    InvokeAll,
    /// A queue emptied by `drainTo`, many requests at once.
    Batch,
    /// Slots of an array, used again and again.
    Ring,
    /// A future in a map, completed by the worker.
    ReplyMap,
    /// Another process; how, says the server's protocol.
    Remote(u8),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hand {
    pub(crate) way: Way,
    /// Whether the sender goes on only when the receiver is done.
    pub(crate) waits: bool,
    /// A single receiving thread instead of several.
    pub(crate) single: bool,
    /// Whether values have another name at the receiver.
    pub(crate) renames: bool,
}

impl Hand {
    pub(crate) const CALL: Hand = Hand { way: Way::Call, waits: true, single: false, renames: false };
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Do(Form, Say),
    Over(Hand, Vec<Step>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Kind {
    pub(crate) begin: Begin,
    pub(crate) id: Id,
    pub(crate) carry: Carry,
    pub(crate) requests: usize,
    /// Whether a thread prints all requests in progress from time to time.
    pub(crate) watched: bool,
    pub(crate) steps: Vec<Step>,
}

/// How processes talk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Protocol {
    /// `DataOutputStream`, field by field.
    Data,
    /// Messages that write and read their own fields.
    Writable,
    /// Lines of text.
    Text,
    /// `ObjectOutputStream`.
    Objects,
    /// The JDK's HTTP server and `HttpURLConnection`.
    Http,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Program {
    pub(crate) seed: u64,
    pub(crate) library: Library,
    /// Java release compiled for.
    pub(crate) release: u32,
    /// Whether requests of several kinds have the same identifiers at the same time.
    pub(crate) same_ids: bool,
    pub(crate) kinds: Vec<Kind>,
    pub(crate) servers: Vec<Protocol>,
}

impl Program {
    /// All ingredients, as `group/name`, sorted.
    pub(crate) fn ingredients(&self) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        let mut add = |group: &str, name: String| {
            found.insert(format!("{group}/{}", dashed(&name)));
        };
        add("library", format!("{:?}", self.library));
        add("release", self.release.to_string());
        add("kinds", self.kinds.len().to_string());
        if self.same_ids {
            add("id", "SameInKinds".to_owned());
        }
        for kind in &self.kinds {
            if kind.watched {
                add("order", "Watched".to_owned());
            }
            add("begin", format!("{:?}", kind.begin));
            add("id", format!("{:?}", kind.id));
            add("carry", format!("{:?}", kind.carry));
            for step in flat(&kind.steps) {
                match step {
                    Step::Do(form, say) => {
                        add("order", format!("{form:?}"));
                        add("message", format!("{:?}", say.style));
                        add("shows", format!("{:?}", say.shows));
                    }
                    Step::Over(hand, _) => {
                        match hand.way {
                            Way::Remote(server) => {
                                add("process", format!("{:?}", self.servers[usize::from(server)]));
                            }
                            way => add("hand-over", format!("{way:?}")),
                        }
                        let waits = if hand.waits { "Waits" } else { "DoesNotWait" };
                        add("hand-over", waits.to_owned());
                        if hand.renames {
                            add("hand-over", "Renames".to_owned());
                        }
                    }
                }
            }
        }
        found
    }
}

/// Every step, outer ones first.
pub(crate) fn flat(steps: &[Step]) -> Vec<&Step> {
    let mut found = Vec::new();
    for step in steps {
        found.push(step);
        if let Step::Over(_, inner) = step {
            found.extend(flat(inner));
        }
    }
    found
}

/// `ClientThreads` as `client-threads`.
fn dashed(name: &str) -> String {
    let mut out = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !out.is_empty() {
            out.push('-');
        }
        out.extend(letter.to_lowercase());
    }
    out
}

impl Way {
    /// Ways that give the result back to the sender by their nature.
    pub(crate) fn always_waits(self) -> bool {
        use Way::{Call, Callable, FanOut, ForkJoin, Interface, InvokeAll, Remote, ReplyMap};
        matches!(self, Call | Interface | Callable | ForkJoin | FanOut | InvokeAll | ReplyMap | Remote(_))
    }

    /// Ways that never do.
    pub(crate) fn never_waits(self) -> bool {
        matches!(
            self,
            Way::Events
                | Way::Handlers
                | Way::Ring
                | Way::QueueOfText
                | Way::Topic
                | Way::Fifo
                | Way::JdkTimer
        )
    }

    /// Ways on which one thread alone may receive.
    pub(crate) fn may_be_single(self) -> bool {
        use Way::{Monitor, PoolLambda, PoolTask, Priority, Queue, QueueOfKeys, QueueOfTasks, QueueOfText};
        matches!(
            self,
            Monitor | PoolLambda | PoolTask | Priority | Queue | QueueOfKeys | QueueOfTasks | QueueOfText
        )
    }

    /// Ways on which one thread alone receives.
    pub(crate) fn is_single(self) -> bool {
        matches!(self, Way::Events | Way::Handlers | Way::Ring | Way::JdkTimer | Way::Batch | Way::Fifo)
    }
}

/// Lines of one kind of request in a log, about: enough to mislead, few enough to read.
const LINES_MAX: usize = 450;
const REQUESTS_MIN: usize = 12;

/// Lines that a request prints, about.
fn lines(steps: &[Step]) -> usize {
    let of = |step: &Step| match step {
        Step::Do(Form::Line | Form::Optional, _) => 1,
        Step::Do(Form::Debug, _) => 0,
        Step::Do(Form::SharedWithoutId, _) => 4,
        Step::Do(..) => 2,
        Step::Over(hand, inner) => match hand.way {
            Way::FanOut => 3 * (1 + lines(inner)),
            Way::InvokeAll | Way::ForkJoin => 2 * (1 + lines(inner)),
            _ => lines(inner),
        },
    };
    steps.iter().map(of).sum::<usize>().max(1)
}

/// Makes a plan one whose log decides what belongs together, and whose program ends:
/// * where an identifier comes again, a request ends with its last step, so nothing
///   may go on beside the sender;
/// * lines without identifier need a lock or a single worker.
pub(crate) fn settle(program: &mut Program) {
    program.kinds.truncate(3);
    let outside = program.kinds.iter().any(|k| matches!(k.begin, Begin::Unseen | Begin::Connection));
    program.same_ids &= program.kinds.len() > 1;
    let same_ids = program.same_ids;
    let mut in_main = false;
    for kind in &mut program.kinds {
        if outside && !matches!(kind.begin, Begin::Unseen | Begin::Connection | Begin::Timer) {
            kind.begin = Begin::Unseen;
        }
        if kind.begin == Begin::MainLoop && std::mem::replace(&mut in_main, true) {
            kind.begin = Begin::ClientThreads;
        }
        if kind.id == Id::Given && kind.begin == Begin::Timer {
            kind.id = Id::Counter;
        }
        if kind.carry == Carry::Record && program.release < 17 {
            kind.carry = Carry::Getters;
        }
        let single = matches!(kind.begin, Begin::MainLoop | Begin::Timer);
        let place =
            Place { comes_again: kind.id.comes_again(), waited: false, single, many: false, same_ids };
        settle_steps(&mut kind.steps, place);
        if !matches!(kind.steps.first(), Some(Step::Do(Form::Line, _))) {
            kind.steps.insert(0, Step::Do(Form::Line, Say::PLAIN));
        }
        kind.requests = kind.requests.min(LINES_MAX / lines(&kind.steps)).max(REQUESTS_MIN);
    }
    drop_unused_servers(program);
}

/// Where steps stand.
#[derive(Clone, Copy)]
struct Place {
    comes_again: bool,
    /// The sender of these steps waits for them.
    waited: bool,
    /// One thread alone does them.
    single: bool,
    /// One request does them several times at once.
    many: bool,
    /// What all kinds share could not tell them apart.
    same_ids: bool,
}

fn settle_steps(steps: &mut [Step], place: Place) {
    let last = steps.len().saturating_sub(1);
    for (i, step) in steps.iter_mut().enumerate() {
        match step {
            Step::Do(form, say) => {
                if *form == Form::Quiet && !place.single {
                    *form = Form::Locked;
                }
                if place.same_ids && *form == Form::Shared {
                    *form = Form::Line;
                }
                if *form != Form::Line && say.style == Style::Ternary {
                    say.style = Style::Concat;
                }
            }
            Step::Over(hand, inner) => {
                if place.many && matches!(hand.way, Way::ReplyMap | Way::QueueOfKeys) {
                    hand.way = Way::Queue;
                }
                hand.waits = !hand.way.never_waits() && (hand.waits || hand.way.always_waits());
                if place.comes_again && !hand.waits && (place.waited || i != last) {
                    if hand.way.never_waits() {
                        hand.way = Way::PoolTask;
                    }
                    hand.waits = true;
                }
                hand.single = hand.way.is_single() || (hand.single && hand.way.may_be_single());
                let is_call = matches!(hand.way, Way::Call | Way::Interface);
                let inside = Place {
                    comes_again: place.comes_again,
                    waited: place.waited || hand.waits,
                    single: hand.single || (place.single && is_call),
                    many: place.many || matches!(hand.way, Way::FanOut | Way::InvokeAll | Way::ForkJoin),
                    same_ids: place.same_ids,
                };
                settle_steps(inner, inside);
                let begins_well = |step: &Step| match step {
                    Step::Do(form, _) => matches!(form, Form::Line | Form::Quiet | Form::Locked),
                    // A thread may be silent and only hand on.
                    Step::Over(..) => true,
                };
                if hand.way == Way::Fifo {
                    inner.clear();
                } else if !inner.first().is_some_and(begins_well) && !is_call {
                    inner.insert(0, Step::Do(Form::Line, Say::PLAIN));
                }
                if inner.is_empty() && hand.way != Way::Fifo {
                    inner.push(Step::Do(Form::Line, Say::PLAIN));
                }
            }
        }
    }
}

fn drop_unused_servers(program: &mut Program) {
    let used: BTreeSet<u8> = program
        .kinds
        .iter()
        .flat_map(|kind| flat(&kind.steps))
        .filter_map(|step| match step {
            Step::Over(Hand { way: Way::Remote(server), .. }, _) => Some(*server),
            _ => None,
        })
        .collect();
    if used.len() < program.servers.len() {
        program.servers = used.iter().map(|&server| program.servers[usize::from(server)]).collect();
        for kind in &mut program.kinds {
            renumber(&mut kind.steps, &used);
        }
    }
}

fn renumber(steps: &mut [Step], used: &BTreeSet<u8>) {
    for step in steps {
        if let Step::Over(hand, inner) = step {
            if let Way::Remote(server) = &mut hand.way {
                let place = used.iter().position(|is| is == server).expect("a used server");
                *server = u8::try_from(place).expect("few servers");
            }
            renumber(inner, used);
        }
    }
}

/// A stream of numbers for everything about a program that is not its plan.
pub(crate) fn details(program: &Program) -> Random {
    Random::new(program.seed ^ 0x5eed)
}

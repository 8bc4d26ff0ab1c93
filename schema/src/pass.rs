//! A pass: one of the steps that decide which records are of one span, and
//! which spans of one request. Everything that is joined says which pass joined
//! it, and any pass can be left out, so that what each of them earns can be
//! measured. What a pass decides, and how, is not here.

use serde::{Deserialize, Serialize};

/// The stage a pass is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    /// Records to spans (lprof §5, Map).
    Span,
    /// Spans to requests (lprof §5, Combine and Reduce).
    Link,
    /// It joins nothing itself: it takes out hand-offs that others propose, or lets others
    /// find more.
    Aid,
}

/// Declares the passes, each with its stage and stable name.
macro_rules! passes {
    ($( $(#[$doc:meta])* $stage:ident $pass:ident = $name:literal ),* $(,)?) => {
        /// A pass, by the name of the module or function that it is. Passes are in the order in
        /// which they run, as far as they have one.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum Pass {
            $( $(#[$doc])* $pass ),*
        }

        impl Pass {
            /// All passes, in order.
            pub const ALL: &[Pass] = &[$( Pass::$pass ),*];

            /// Its name: lower case, never changed while the pass is the same.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $( Pass::$pass => $name ),* }
            }

            /// What it decides.
            #[must_use]
            pub fn stage(self) -> Stage {
                match self { $( Pass::$pass => Stage::$stage ),* }
            }
        }
    };
}

passes! {
    /// None: the record is in no span.
    Span Unattributed = "unattributed",
    /// No open span takes a record: it begins one.
    Span Opens = "opens",
    /// A record reports that what was called has failed.
    Span Failed = "failed",
    /// Lines that stand directly one after the other by no chance.
    Span Beside = "beside",
    /// A line tells how long its work took, and so when that began.
    Span ByBeginning = "by_beginning",
    /// The event of an entity begins with a line that names nothing.
    Span AtOnce = "at_once",
    /// Messages with words in common.
    Span ByWords = "by_words",
    /// All the evidence that one span has against the others.
    Span Judge = "judge",
    /// A line before, given to another span because it named nothing.
    Span Taking = "taking",
    /// What a thing says of itself is of its own request.
    Span OfItsOwn = "of_its_own",
    /// Who names the same at once.
    Span InRow = "in_row",
    /// What follows as such lines do in this log.
    Span Decoder = "decoder",
    /// What no known thread leads to is printed inside of what its thread is at.
    Span Inside = "inside",
    /// A line of no known log point, inside of what its thread is at.
    Span NoLogPoint = "no_log_point",
    /// A process that ends with its `main`.
    Span Errands = "errands",
    /// The only run of what a process runs one at a time.
    Span Running = "running",
    /// One task of a kind at a time.
    Span OneByOne = "one_by_one",
    /// The middle of the one span that has room for it.
    Span Between = "between",
    /// What programs that are not known ask for has ended.
    Span CalledAgain = "called_again",
    /// The line that a span ends with begins the next one, or the other way around.
    Span Tails = "tails",
    /// What goes on with a line wherever it stands.
    Span Late = "late",
    /// What each span goes on with, all together, without threads.
    Span Continuations = "continuations",
    /// The rest of what began in another span.
    Span Rests = "rests",

    /// Work that is numbered from one counter.
    Link Labels = "labels",
    /// The logs carry an id of the request.
    Link Ids = "ids",
    /// A number that is counted within a thing.
    Aid Counted = "counted",
    /// Past methods that print nothing.
    Aid Ways = "ways",
    /// All that is done to one thing.
    Link ByEntity = "by_entity",
    /// The name of a thread tells who started it.
    Link ByName = "by_name",
    /// A value that both name.
    Link ByValues = "by_values",
    /// The latest that names what the receiver names, along a way of starts.
    Link ByKind = "by_kind",
    /// Only time tells.
    Link ByTime = "by_time",
    /// Who asks somebody who hands work to a task.
    Link ByAsking = "by_asking",
    /// What lies in the gap in which a caller waits for it.
    Link RemoteCalls = "remote_calls",
    /// What a queue hands over in order is taken in this order.
    Link QueueOrder = "queue_order",
    /// What always stands after one of a few lines of its thread.
    Link LoneLines = "lone_lines",
    /// Who has printed nothing but a state before a call.
    Link CallsNext = "calls_next",
    /// Events name what they are sent to.
    Aid Entities = "entities",
    /// Hand-offs take as long as they usually take.
    Aid Delays = "delays",
    /// Another node is at work on the thing.
    Aid AtWork = "at_work",
    /// Who went another way through its code.
    Aid Detours = "detours",
    /// What a thread prints in the middle of something.
    Link Nested = "nested",
    /// Who goes on only after a call has called what was printed before.
    Link CalledFirst = "called_first",
    /// Identifiers that come and go with a request.
    Link Lifetimes = "lifetimes",
    /// Events that do not name the only one of its kind.
    Link Sole = "sole",
    /// A name that says when it was made.
    Link TimedNames = "timed_names",
    /// A number that stands for a longer name.
    Link Numbered = "numbered",
    /// Rounds of a quorum.
    Link Rounds = "rounds",
    /// Copies of one message arrive together.
    Link Coincidence = "coincidence",
    /// So do the answers of several.
    Link Answers = "answers",
    /// Who has just named what it works on.
    Link NamedLast = "named_last",
    /// What is stamped with a time is of who began then.
    Link CreationTimes = "creation_times",
    /// A part of one of several spans of one request.
    Link Hosts = "hosts",
    /// What only one request waits for.
    Link Within = "within",
    /// What a request has named each of its spans can have handed on.
    Link Mentions = "mentions",
    /// What always comes while somebody waits.
    Link Waiting = "waiting",
    /// What a server does to a thing on behalf of another node.
    Link OnBehalf = "on_behalf",
}

impl Pass {
    /// The pass of a name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|pass| pass.name() == name)
    }
}

/// A set of passes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Passes(u128);

impl Passes {
    /// The set with one more.
    #[must_use]
    pub fn with(self, pass: Pass) -> Self {
        Self(self.0 | 1 << pass as u32)
    }

    /// Whether a pass is in it.
    #[inline]
    #[must_use]
    pub fn contains(self, pass: Pass) -> bool {
        self.0 & (1 << pass as u32) != 0
    }
}

#[cfg(test)]
mod tests {
    use super::{Pass, Passes};

    #[test]
    fn names_are_those_of_one_pass_each() {
        assert!(Pass::ALL.len() <= 128, "a set has a bit for each");
        for &pass in Pass::ALL {
            assert_eq!(Pass::named(pass.name()), Some(pass));
        }
        assert_eq!(Pass::named("Opens"), None);
    }

    #[test]
    fn sets_hold_what_was_put_into_them() {
        let (first, last) = (Pass::Unattributed, *Pass::ALL.last().expect("passes"));
        let set = Passes::default().with(first).with(last);
        let held: Vec<Pass> = Pass::ALL.iter().copied().filter(|pass| set.contains(*pass)).collect();
        assert_eq!(held, [first, last]);
    }
}

//! What can take time between two log points: a profile names it where time passes.

use serde::{Deserialize, Serialize};

use crate::ids::LogPointId;

/// Something in a method that prints which can take time.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SlowCall {
    /// What can take time.
    pub kind: SlowKind,
    /// Source line, 0 where the class has no line table.
    pub source_line: u32,
    /// What is called, `Class.method` without package; empty: it is no call.
    pub call: String,
    /// The library's method that this comes to, `Class.method`; empty: none.
    pub comes_to: String,
    /// Log points of the method after which it can come, with no other one between, sorted.
    pub after: Vec<LogPointId>,
    /// Log points of the method that can come after it, with no other one between, sorted.
    pub before: Vec<LogPointId>,
}

/// What can take time; what usually takes longest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum SlowKind {
    /// Asks another process and waits for the answer.
    Rpc,
    /// Reads from a connection, or opens one.
    Socket,
    /// Waits for another thread, for a time, or for a process.
    Wait,
    /// Reads or writes files or streams, or asks a database.
    Io,
    /// Waits until nobody else holds a lock.
    Lock,
    /// Goes round, as often as it takes.
    Loop,
}

impl SlowKind {
    /// The word for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            SlowKind::Rpc => "rpc",
            SlowKind::Socket => "socket",
            SlowKind::Wait => "wait",
            SlowKind::Io => "i/o",
            SlowKind::Lock => "lock",
            SlowKind::Loop => "loop",
        }
    }
}

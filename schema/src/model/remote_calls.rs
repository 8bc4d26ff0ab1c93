//! Remote calls by what they ask for: a verb and a path, a method of a service, a topic.

use serde::{Deserialize, Serialize};

use super::CommunicationPair;
use crate::ids::LogPointId;

/// One place where the sender of a pair of the kinds http, grpc and message asks for what the
/// receiver serves, or what runs around a handler calls it (kind call), on one way through the sender: a helper that asks and is called twice is two.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RemoteCall {
    /// Its place among all such calls of the sender, in the order in which one run comes to
    /// them. Those of which one run makes one only can have the same.
    pub order: u32,
    /// `GET`; empty: one end does not say, or it is no HTTP.
    pub verb: String,
    /// What the receiver serves: `/orders/{id}`, `shop.Orders/Find`, the name of a topic or
    /// queue.
    pub template: String,
    /// What the sender asks for, as far as it is known, without the host: `/orders/{}`.
    pub asked: String,
    /// The host or service that the sender asks, if it is constant; else empty.
    pub host: String,
    /// The sender waits for the answer: what the receiver does lies between the sender's lines
    /// before and after the call.
    pub waits: bool,
    /// One run of the sender can do it several times.
    pub repeats: bool,
    /// Log points of the sender after which it can come, with no other one between, sorted.
    pub after: Vec<LogPointId>,
    /// It can come before the sender prints anything.
    pub is_first: bool,
    /// Log points of the sender that can come after it, with no other one between, sorted.
    pub before: Vec<LogPointId>,
    /// It can come after all that the sender prints.
    pub is_last: bool,
}

impl RemoteCall {
    /// What is asked for in words: `GET /orders/{id}`.
    #[must_use]
    pub fn request(&self) -> String {
        let words = [self.verb.as_str(), self.template.as_str()];
        words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
    }
}

impl CommunicationPair {
    /// What the sender asks the receiver for in words, each once, sorted.
    #[must_use]
    pub fn requests(&self) -> Vec<String> {
        let requests = self.remote_calls.iter().map(RemoteCall::request);
        requests.collect::<std::collections::BTreeSet<_>>().into_iter().collect()
    }
}

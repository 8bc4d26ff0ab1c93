//! `relations`: other requests that have to do with one, without being it.

use super::cell::{Text, Time, record};
use super::events::NameValue;

record! {
    /// A request that has to do with another one, and what says so.
    RelationRow = "relations" {
        /// The request; it is the later one of both, unless it went on for longer.
        request_id: Text,
        /// The other one.
        other_id: Text,
        /// `made there, used here`, `made here, used there`, `same thing at once`, `same
        /// connection`, `same thread of a client`.
        how: Text,
        /// What they share is a value of this class, as the request names it; `thread`: they
        /// share a thread.
        value_class: Text,
        /// What they share.
        value: Text,
        /// How many times as likely it is that they share it for a reason than by chance.
        odds: Option<f64>,
    }
}

record! {
    /// What of a request decides on its relations.
    RequestValues = "requests" {
        /// 32 hex digits.
        request_id: Text,
        /// First event.
        start_ts: Time,
        /// Values of its identifiers, by name.
        identifiers: Vec<NameValue>,
    }
}

record! {
    /// Which requests a relation is between.
    RelationEnds = "relations" {
        /// The request.
        request_id: Text,
        /// The other one.
        other_id: Text,
    }
}

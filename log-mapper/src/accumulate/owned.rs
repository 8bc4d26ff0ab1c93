//! Owned lines: what a thing says of itself is of its request, whoever makes it say it.
//!
//! Things that many hold on to (connections, sessions, files) have lines of their own: how
//! one of them ends is printed where it is ended, mostly by who works on it alone. But who
//! shuts down what holds them all goes through all of them, and each prints its line in
//! that thread. The model says that he meets many of them and is about none; the log says
//! that the line is one of things that have requests of their own: nearly all that have
//! printed it are about what it names. Then it is of that one's request, and its thread
//! goes on with what it was at.
//!
//! The `main` of a program goes through what an earlier process has left in its files: what
//! is told of that is the program's start, whatever it names.
//!
//! Only where the layout prints threads: elsewhere no thread claims such a line.

use schema::kinds::{TELLING_MIN, is_made};
use schema::{LogPointId, Pass};

use super::facts::Fact;
use super::open_span::{After, Bound, Next, opening_any};
use super::open_spans::SpanIndex;
use super::{Goes, Scan};

/// Lines of those that are about what they name, from which to learn that they nearly
/// always are, and the share of the others.
const OWN_MIN: u32 = 32;
const OTHERS_SHARE: u32 = 16;

/// How often each log point was printed by who is about what it names, and by others.
#[derive(Debug, Default)]
pub(super) struct Owned(Vec<(u32, u32)>);

impl Owned {
    /// Learns whether a record with `fact`, of a span of which the methods that it can be have
    /// `bound` values, names what that is about.
    pub(super) fn learn<'b>(&mut self, fact: &Fact, bound: impl IntoIterator<Item = &'b [Bound]>) {
        if !names_something(fact) {
            return;
        }
        let point = fact.log_point.index();
        if self.0.len() <= point {
            self.0.resize(point + 1, (0, 0));
        }
        let (n_own, n_others) = &mut self.0[point];
        let is_own = bound.into_iter().any(|bound| is_about(bound, fact));
        *(if is_own { n_own } else { n_others }) += 1;
    }

    /// Whether who prints `point` is about what that names.
    fn is_rule(&self, point: LogPointId) -> bool {
        let (n_own, n_others) = self.0.get(point.index()).copied().unwrap_or_default();
        n_own >= OWN_MIN && n_others.saturating_mul(OTHERS_SHARE) <= n_own
    }
}

impl Scan<'_> {
    /// What a record opens that is a line of another thing, which has a request already,
    /// while its thread is at `span`, which would be that `after` it; none if it is not.
    pub(super) fn of_its_own(
        &mut self,
        thread: Option<u32>,
        fact: &Fact,
        span: SpanIndex,
        after: &After,
    ) -> Option<Goes> {
        if self.leaves_out(Pass::OfItsOwn) {
            return None;
        }
        thread?;
        let goes = self.apart(fact, span, after);
        if goes.is_none() {
            self.owned.learn(fact, after.tops().iter().map(Next::bound));
        }
        goes
    }

    fn apart(&mut self, fact: &Fact, span: SpanIndex, after: &After) -> Option<Goes> {
        let is_told = || after.n_request > 0 || after.n_weak > 0;
        if !self.owned.is_rule(fact.log_point) || is_told() || self.is_main(span) {
            return None;
        }
        if after.tops().iter().any(|next| is_about(next.bound(), fact)) {
            return None;
        }
        let open = self.open.get(span);
        let has_shown =
            |text: &str| open.events.iter().any(|event| event.values.iter().any(|(_, own)| own == text));
        let is_known = |text: &str| self.shown.get(text).is_some_and(|shown| shown.spread.is_repeated());
        let is_others = |text: &str| is_known(text) && !has_shown(text);
        if !telling(fact).any(is_others) {
            return None;
        }
        let mut tops = opening_any(&self.orders, &[fact]);
        tops.retain(|state| is_about(&state.bound, fact));
        (!tops.is_empty()).then_some(Goes::Apart(tops))
    }
}

/// What a record names that was made while the program ran.
fn telling(fact: &Fact) -> impl Iterator<Item = &str> {
    let texts = fact.values.iter().map(|(_, text)| &**text);
    texts.filter(|text| text.len() >= TELLING_MIN && is_made(text))
}

fn names_something(fact: &Fact) -> bool {
    telling(fact).next().is_some()
}

/// Whether a method is about something that the record names.
fn is_about(bound: &[Bound], fact: &Fact) -> bool {
    let mut own = bound.iter().filter(|bound| bound.is_request_identifier());
    own.any(|bound| telling(fact).any(|text| *bound.text == *text))
}

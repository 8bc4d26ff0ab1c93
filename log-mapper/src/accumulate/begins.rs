//! Which lines begin nothing, as the log shows, where it prints no threads.
//!
//! A line that the code can begin with, as far as the analysis can tell, is apart from what
//! named the same long ago: that was another request about the same thing. But who reports
//! a failure was at work all along, however long nothing came of it: on a slow machine, or
//! waiting for somebody who has died. So the line of a failure that has always gone on with
//! what names the same goes on with it after a silence too. What is no failure may be the next
//! thing that is done about something that lives on.

use rustc_hash::FxHashMap;
use schema::LogPointId;

use super::evidence;

/// How often lines went on with something, by what they name, and how often they began.
#[derive(Debug, Default)]
pub(super) struct Begins {
    seen: FxHashMap<LogPointId, (u32, u32)>,
}

impl Begins {
    /// A line of `point` went on with what names the same.
    pub(super) fn goes_on(&mut self, point: LogPointId) {
        self.seen.entry(point).or_default().0 += 1;
    }

    /// A line of `point` began something, as far as is known.
    pub(super) fn begins(&mut self, point: LogPointId) {
        self.seen.entry(point).or_default().1 += 1;
    }

    /// Whether lines of `point` go on with what names the same.
    pub(super) fn is_rest(&self, point: LogPointId) -> bool {
        self.seen.get(&point).is_some_and(|&(n_gone_on, n_begun)| evidence::is_rest(n_gone_on, n_begun))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_begun_something_now_and_then_begins() {
        let mut begins = Begins::default();
        let [rest, first] = [LogPointId::new(0), LogPointId::new(1)];
        for _ in 0..64 {
            begins.goes_on(rest);
            begins.goes_on(first);
        }
        assert!(begins.is_rest(rest) && begins.is_rest(first));
        (0..8).for_each(|_| begins.begins(first));
        assert!(begins.is_rest(rest) && !begins.is_rest(first));
        assert!(!begins.is_rest(LogPointId::new(2)), "nothing is known of it");
    }
}

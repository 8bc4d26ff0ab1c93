//! Answers for which all requests were looked at. What is served is one state of a table, so they are
//! kept for those who ask the same; and only so many are computed at a time, which bounds the
//! memory that it takes however many ask.

use std::sync::{Mutex, PoisonError};

use super::connections::{Place, Places};
use super::http::Answer;

/// Bytes of answers that are kept.
const KEPT_BYTES_MAX: usize = 16 << 20;

/// Answers by what was asked, the latest last.
pub(super) struct Kept {
    places: Places,
    answers: Mutex<Vec<(String, Answer)>>,
}

impl Kept {
    /// None yet; so many are computed at a time.
    pub(super) fn new(n_at_a_time: usize) -> Self {
        Self { places: Places::new(n_at_a_time), answers: Mutex::new(Vec::new()) }
    }

    /// Waits until it can be computed.
    pub(super) fn place(&self) -> Place<'_> {
        self.places.take()
    }

    /// What was answered before.
    pub(super) fn get(&self, asked: &str) -> Option<Answer> {
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        let at = answers.iter().position(|(key, _)| key == asked)?;
        let found = answers.remove(at);
        let answer = found.1.clone();
        answers.push(found);
        Some(answer)
    }

    /// Keeps an answer, and forgets those that nobody has asked for since longest.
    pub(super) fn put(&self, asked: String, answer: &Answer) {
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        answers.retain(|(key, _)| *key != asked);
        answers.push((asked, answer.clone()));
        let mut bytes = 0;
        let size = |(key, answer): &(String, Answer)| key.len() + answer.len();
        let n_kept = answers
            .iter()
            .rev()
            .take_while(|of| {
                bytes += size(of);
                bytes <= KEPT_BYTES_MAX
            })
            .count();
        let n_forgotten = answers.len() - n_kept;
        answers.drain(..n_forgotten);
    }
}

#[cfg(test)]
mod tests {
    use super::super::http::Answer;
    use super::{KEPT_BYTES_MAX, Kept};

    #[test]
    fn who_asks_the_same_gets_the_same_while_there_is_room() {
        let kept = Kept::new(1);
        let answer = |n: usize| Answer::new("text/plain", vec![b'x'; n]);
        assert!(kept.get("a").is_none());
        kept.put("a".to_owned(), &answer(1));
        kept.put("b".to_owned(), &answer(KEPT_BYTES_MAX / 2));
        assert_eq!(kept.get("a").map(|answer| answer.len()), Some(1));
        // Now `b` is the one that nobody has asked for since longest.
        kept.put("c".to_owned(), &answer(KEPT_BYTES_MAX / 2));
        assert_eq!([kept.get("a").is_some(), kept.get("b").is_some()], [true, false]);
        kept.put("d".to_owned(), &answer(KEPT_BYTES_MAX + 1));
        assert!(["a", "c", "d"].iter().all(|key| kept.get(key).is_none()), "too long to be kept");
    }
}

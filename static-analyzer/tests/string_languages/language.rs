//! Languages of regexes, compared exactly: two automata, one breadth-first walk
//! over the pairs of their states. Only ASCII texts are compared; `.` is any
//! character, also a line feed.

use std::collections::{HashSet, VecDeque};

use regex_automata::dfa::{Automaton, StartKind, dense};
use regex_automata::nfa::thompson;
use regex_automata::util::primitives::StateID;
use regex_automata::util::{start, syntax};
use regex_automata::{Anchored, MatchKind};

/// A whole-text language.
pub(crate) struct Language(dense::DFA<Vec<u32>>);

/// How a language differs from the wanted one.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Difference {
    /// A shortest text that is accepted but not wanted.
    pub(crate) too_wide: Option<String>,
    /// A shortest text that is wanted but not accepted.
    pub(crate) too_narrow: Option<String>,
}

impl Language {
    /// All texts that one of the regexes matches from end to end.
    pub(crate) fn union<S: AsRef<str>>(regexes: &[S]) -> Result<Self, String> {
        let choices: Vec<String> = regexes.iter().map(|r| format!("(?:{})", r.as_ref())).collect();
        // No regex at all: the language without texts, not the empty text.
        let all = if choices.is_empty() { r"[^\x00-\x{10FFFF}]".to_string() } else { choices.join("|") };
        dense::Builder::new()
            // Every match counts, not the preferred one: lazy and greedy are the same language.
            .configure(dense::Config::new().match_kind(MatchKind::All).start_kind(StartKind::Anchored))
            .syntax(syntax::Config::new().dot_matches_new_line(true).utf8(false))
            .thompson(thompson::Config::new().utf8(false))
            .build(&all)
            .map(Self)
            .map_err(|e| format!("`{all}`: {e}"))
    }

    fn start(&self) -> StateID {
        let anchored = start::Config::new().anchored(Anchored::Yes);
        self.0.start_state(&anchored).expect("the automaton is built with an anchored start")
    }

    fn accepts_at(&self, state: StateID) -> bool {
        self.0.is_match_state(self.0.next_eoi_state(state))
    }

    /// Where `self` is wider and where it is narrower than `wanted`.
    pub(crate) fn difference(&self, wanted: &Self) -> Difference {
        let first = (self.start(), wanted.start());
        let mut seen = HashSet::from([first]);
        let mut todo = VecDeque::from([(first, String::new())]);
        let mut found = Difference::default();
        while let Some(((ours, theirs), text)) = todo.pop_front() {
            match (self.accepts_at(ours), wanted.accepts_at(theirs)) {
                (true, false) if found.too_wide.is_none() => found.too_wide = Some(text.clone()),
                (false, true) if found.too_narrow.is_none() => found.too_narrow = Some(text.clone()),
                _ => {}
            }
            if found.too_wide.is_some() && found.too_narrow.is_some() {
                break;
            }
            for byte in readable_first() {
                let next = (self.0.next_state(ours, byte), wanted.0.next_state(theirs, byte));
                if seen.insert(next) {
                    let mut longer = text.clone();
                    longer.push(char::from(byte));
                    todo.push_back((next, longer));
                }
            }
        }
        found
    }
}

/// ASCII with letters and digits first, so that the texts found can be read.
fn readable_first() -> impl Iterator<Item = u8> {
    let readable = |b: &u8| b.is_ascii_alphanumeric();
    (b'a'..=b'z').chain(b'0'..=b'9').chain(b'A'..=b'Z').chain((0..128).filter(move |b| !readable(b)))
}

#[test]
fn equal_languages_have_no_difference() {
    for (a, b) in [("ab*", "a|abb*?"), ("a(?:b|)", "ab??"), (".*", r"(?:.|\n)*?")] {
        let (a, b) = (Language::union(&[a]).expect("valid"), Language::union(&[b]).expect("valid"));
        assert_eq!(a.difference(&b), Difference::default());
    }
}

#[test]
fn differences_have_shortest_witnesses() {
    let (a, b) = (Language::union(&["a*", "c"]).expect("valid"), Language::union(&["a?|bb"]).expect("valid"));
    let found = a.difference(&b);
    assert_eq!((found.too_wide.as_deref(), found.too_narrow.as_deref()), (Some("c"), Some("bb")));
    let none = Language::union::<&str>(&[]).expect("valid");
    assert_eq!(none.difference(&a).too_narrow.as_deref(), Some(""));
}

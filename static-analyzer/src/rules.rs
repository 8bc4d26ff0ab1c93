//! Rules: what a user knows better than the analysis. One rule a line, `#`
//! starts a comment:
//!
//! ```text
//! top-level a.b.C.m            this method begins requests
//! not-top-level a.b.C.m        it does not
//! identifier Block.blockId     values of this class tell requests apart
//! not-identifier Node.port     they do not
//! pair a.b.C.m a.b.D.n [kind]  the first hands requests to the second
//! library a.b                  classes below this package are a library's: not read
//! not-library a.b              they are the program's, well-known library or not
//! logger a.b.Log org.slf4j.Logger   calls of the first class log as those of the second do
//! ```
//!
//! Methods are named by class (binary name with dots) and method; a rule is for
//! all overloads.

use schema::LinkKind;

use crate::class_path::Config;
use crate::log_points;
use crate::program::Name;

/// Forced decisions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    /// Methods that begin requests.
    pub top_level: Vec<String>,
    /// Methods that do not.
    pub not_top_level: Vec<String>,
    /// Value classes that tell requests apart.
    pub identifier: Vec<String>,
    /// Value classes that do not.
    pub not_identifier: Vec<String>,
    /// Communication pairs: sender, receiver, kind.
    pub pairs: Vec<(String, String, LinkKind)>,
    /// Packages of libraries.
    pub library: Vec<String>,
    /// Packages of the program that would be taken for a library's.
    pub not_library: Vec<String>,
    /// Logging classes that only the user knows, and the well-known ones that they are like.
    pub loggers: Vec<(String, String)>,
}

/// A line that is no rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleError {
    /// Line number, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub detail: String,
}

impl std::fmt::Display for RuleError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {}: {}", self.line, self.detail)
    }
}

impl std::error::Error for RuleError {}

impl Rules {
    /// Reads the text of a rules file.
    ///
    /// # Errors
    /// The first line that is no rule.
    pub fn parse(text: &str) -> Result<Self, RuleError> {
        let mut rules = Self::default();
        for (i, line) in text.lines().enumerate() {
            let words: Vec<&str> = line.split('#').next().unwrap_or_default().split_whitespace().collect();
            rules.add(&words).map_err(|detail| RuleError { line: i + 1, detail })?;
        }
        Ok(rules)
    }

    /// How a class path is read by these rules.
    pub(crate) fn class_path(&self, config: &Config) -> Config {
        let mut config = config.clone();
        config.library.extend(self.library.iter().cloned());
        config.not_library.extend(self.not_library.iter().cloned());
        config.loggers.extend(self.loggers.iter().cloned());
        config
    }

    fn add(&mut self, words: &[&str]) -> Result<(), String> {
        match *words {
            [] => {}
            ["top-level", m] => self.top_level.push(m.to_owned()),
            ["not-top-level", m] => self.not_top_level.push(m.to_owned()),
            ["identifier", c] => self.identifier.push(c.to_owned()),
            ["not-identifier", c] => self.not_identifier.push(c.to_owned()),
            ["library", p] => self.library.push(p.to_owned()),
            ["not-library", p] => self.not_library.push(p.to_owned()),
            ["logger", class, like] if log_points::apis::is_listed(Name::from(&like.replace('.', "/"))) => {
                self.loggers.push((class.to_owned(), like.to_owned()));
            }
            ["logger", _, like] => return Err(format!("`{like}` is no logging class that is known")),
            ["pair", a, b] => self.pairs.push((a.to_owned(), b.to_owned(), LinkKind::Queue)),
            ["pair", a, b, kind] => {
                self.pairs.push((a.to_owned(), b.to_owned(), link_kind(kind)?));
            }
            [rule, ..] => {
                return Err(format!(
                    "expected `top-level M`, `not-top-level M`, `identifier C`, \
                     `not-identifier C`, `library P`, `not-library P`, `logger C LIKE` or `pair A B [KIND]`, got `{rule}` with {} words",
                    words.len() - 1
                ));
            }
        }
        Ok(())
    }
}

fn link_kind(word: &str) -> Result<LinkKind, String> {
    let kinds = [
        LinkKind::Call,
        LinkKind::Thread,
        LinkKind::Queue,
        LinkKind::Rpc,
        LinkKind::Socket,
        LinkKind::Store,
        LinkKind::Entity,
        LinkKind::Ask,
        LinkKind::Http,
        LinkKind::Grpc,
        LinkKind::Message,
    ];
    kinds.into_iter().find(|k| k.name() == word).ok_or_else(|| {
        format!(
            "expected a kind of link (call, thread, queue, rpc, socket, store, entity, ask), got `{word}`"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_every_rule() {
        let text = "# forced\ntop-level a.B.c\nnot-top-level a.B.d # why\n\nidentifier B.id\n\
                    not-identifier B.port\nlibrary a.net\nnot-library io.a\npair a.B.c a.C.run thread\npair a.B.c a.D.run\n";
        let rules = Rules::parse(text).unwrap();
        assert_eq!(rules.top_level, ["a.B.c"]);
        assert_eq!(rules.not_top_level, ["a.B.d"]);
        assert_eq!(rules.identifier, ["B.id"]);
        assert_eq!(rules.not_identifier, ["B.port"]);
        assert_eq!(
            (&rules.library[..], &rules.not_library[..]),
            (&["a.net".into()][..], &["io.a".into()][..])
        );
        assert_eq!(rules.pairs[0].2, LinkKind::Thread);
        assert_eq!(rules.pairs[1].2, LinkKind::Queue);
    }

    #[test]
    fn a_logger_is_like_one_that_is_known() {
        let rules = Rules::parse("logger a.b.Log org.slf4j.Logger\n").unwrap();
        assert_eq!(rules.loggers, [("a.b.Log".to_owned(), "org.slf4j.Logger".to_owned())]);
        let error = Rules::parse("logger a.b.Log a.b.Other\n").unwrap_err();
        assert!(error.to_string().contains("`a.b.Other`"), "{error}");
    }

    #[test]
    fn names_the_line_of_a_bad_rule() {
        let error = Rules::parse("\ntoplevel a.B.c\n").unwrap_err();
        assert_eq!(error.line, 2);
        let error = Rules::parse("pair a b lan\n").unwrap_err();
        assert!(error.to_string().contains("got `lan`"), "{error}");
    }
}

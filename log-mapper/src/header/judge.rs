//! What the model says of messages: whether a log point can have printed one, and which loggers it
//! knows.

use super::{Header, Layout};
use crate::matched::query;
use crate::patterns::{PatternSet, Scratch};

/// Constant bytes by which a message is known whose logger is not printed.
const CONSTANT_MIN: u32 = 8;

/// What the model says of messages.
pub(crate) struct Judge<'a> {
    patterns: Option<&'a PatternSet>,
    libraries: &'static [&'static str],
    scratch: Scratch,
}

impl<'a> Judge<'a> {
    /// With the log points of a model, and what names of libraries' classes begin with.
    pub(crate) fn new(patterns: &'a PatternSet, libraries: &'static [&'static str]) -> Self {
        Self { patterns: Some(patterns), libraries, scratch: patterns.scratch() }
    }

    /// That knows nothing.
    pub(crate) fn without() -> Self {
        Self { patterns: None, libraries: &[], scratch: Scratch::default() }
    }

    /// Whether there is a model.
    pub(super) fn has_model(&self) -> bool {
        self.patterns.is_some()
    }

    pub(super) fn knows_logger(&mut self, name: &[u8]) -> bool {
        self.patterns.is_some_and(|patterns| patterns.knows_logger(name, &mut self.scratch))
    }

    /// Whether a library prints under the name, be it for the class with the `main`, which logs
    /// nothing itself, as frameworks do that start it: such lines stand in the logs of every program
    /// that uses the library.
    pub(super) fn is_of_library(&mut self, name: &[u8]) -> bool {
        let is_program = self.patterns.is_some_and(|patterns| patterns.is_program(name));
        self.libraries.iter().any(|package| is_below(name, package))
            || (is_program && !self.knows_logger(name))
    }

    /// Whether a log point can have printed the record, by a text of its own.
    pub(super) fn explains(&mut self, layout: &Layout, rest: &[u8], header: &Header<'_>) -> bool {
        let Some(patterns) = self.patterns else { return false };
        let mut header = *header;
        if header.logger.is_some_and(|logger| !self.knows_logger(logger)) {
            return false;
        }
        let query = query(rest, &mut header, layout);
        let has_place = header.logger.is_some() || header.line.is_some() || header.method.is_some();
        patterns.find(&mut self.scratch, &query);
        let n_blanks = rest.iter().take_while(|b| **b == b' ').count();
        if n_blanks > 0 && self.scratch.constant() == 0 {
            let query = self::query(&rest[n_blanks..], &mut header, layout);
            patterns.find(&mut self.scratch, &query);
        }
        let constant = self.scratch.constant();
        constant >= CONSTANT_MIN.min(query.text.len() as u32).max(1) || (has_place && constant > 0)
    }
}

/// Whether `shown`, which can be abbreviated, is `package` (`org/slf4j/`) or the name of a class below
/// it. A package of one part is not abbreviated: one letter says nothing.
fn is_below(shown: &[u8], package: &str) -> bool {
    let may_shorten = package.bytes().filter(|b| *b == b'/').count() > 1;
    let mut parts = shown.split(|b| *b == b'.');
    let mut whole = package.split_terminator('/').map(str::as_bytes);
    let fits = |part: &[u8], whole: &[u8]| {
        part == whole || (may_shorten && !part.is_empty() && whole.starts_with(part))
    };
    whole.all(|whole| parts.next().is_some_and(|part| fits(part, whole)))
}

#[cfg(test)]
mod tests {
    use super::is_below;

    #[test]
    fn packages_of_libraries() {
        let check = |shown: &str, package| is_below(shown.as_bytes(), package);
        assert!(check("org.springframework.boot.Boot", "org/springframework/"));
        assert!(check("o.s.b.w.embedded.tomcat.TomcatWebServer", "org/springframework/"));
        assert!(check("o.apache.catalina.core.StandardService", "org/apache/catalina/"));
        assert!(check("io.quarkus", "io/quarkus/") && check("reactor.core.Flux", "reactor/"));
        assert!(!check("o.shop.Main", "org/springframework/"));
        assert!(!check("r.shop.Main", "reactor/") && !check("reactors.shop.Main", "reactor/"));
        assert!(!check("", "org/springframework/"));
    }
}

//! Logging classes under another name: builds that put their libraries into one
//! jar move them to packages of their own, so that they do not clash with those
//! of others. The package's front part changes, the rest and the methods stay.
//!
//! A class is such a copy if its name ends as the original's does, at least with
//! the last package and the class, and if it declares what the original declares
//! ([`shape_apis`](super::shape_apis)). A copy that is not on the class path is recognised by
//! the original's whole name behind its package: nothing else shows what it looks like.

use rustc_hash::FxHashMap;

use super::apis;
use super::shape_apis::SHAPES;
use crate::program::{Class, MethodRef, Name, Program};

/// Parts of a name that must be the original's: package and class.
const COMMON_PARTS_MIN: usize = 2;

/// The listed class of which each class is a copy.
pub(super) fn copies(program: &Program) -> FxHashMap<Name, Name> {
    let classes = program.classes.iter().filter(|class| !apis::is_listed(class.name));
    classes.filter_map(|class| Some((class.name, original(program, class)?))).collect()
}

/// The original with most parts of the name in common; the first of equals.
fn original(program: &Program, class: &Class) -> Option<Name> {
    let mut best: Option<(usize, &str)> = None;
    for &(listed, shape) in SHAPES {
        let common = common_parts(&class.name, listed);
        if common >= COMMON_PARTS_MIN && best.is_none_or(|b| b.0 < common) && declares(program, class, shape)
        {
            best = Some((common, listed));
        }
    }
    best.map(|(_, listed)| Name::from(listed))
}

/// The original of the class of a call, by its whole name, `a/shaded/org/slf4j/Logger`.
pub(super) fn by_name(called: &MethodRef) -> Option<Name> {
    let is_whole = |of: &str| called.class.strip_suffix(of).is_some_and(|package| package.ends_with('/'));
    let original = apis::moved_names().find(|class| is_whole(class));
    original.filter(|_| apis::is_log_method(&called.name)).map(Name::from)
}

fn common_parts(a: &str, b: &str) -> usize {
    a.rsplit('/').zip(b.rsplit('/')).take_while(|(a, b)| a == b).count()
}

fn declares(program: &Program, class: &Class, shape: &[&str]) -> bool {
    let methods = &program.methods[class.methods.clone()];
    shape.iter().all(|wanted| {
        methods.iter().any(|m| wanted.strip_prefix(m.name.as_str()) == Some(m.descriptor.as_str()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_compared_from_behind() {
        assert_eq!(common_parts("a/shaded/org/slf4j/Logger", "org/slf4j/Logger"), 3);
        assert_eq!(common_parts("a/jetty/util/log/Logger", "org/eclipse/jetty/util/log/Logger"), 4);
        assert_eq!(common_parts("a/b/MyLogger", "org/slf4j/Logger"), 0);
    }

    #[test]
    fn a_copy_that_is_nowhere_is_known_by_its_whole_name() {
        let called = |class: &str, name: &str| {
            by_name(&MethodRef { class: class.into(), name: name.into(), descriptor: "()V".into() })
        };
        assert_eq!(called("a/shaded/org/slf4j/Logger", "info"), Some(Name::from("org/slf4j/Logger")));
        assert_eq!(called("a/shaded/org/slf4j/Logger", "getName"), None);
        assert_eq!(called("a/slf4j/Logger", "info"), None);
        assert_eq!(called("xorg/slf4j/Logger", "info"), None);
    }

    #[test]
    fn shapes_are_of_listed_classes() {
        for (class, shape) in SHAPES {
            assert!(apis::is_listed(Name::from(class)) && !shape.is_empty(), "{class}");
        }
    }
}

//! What is rewritten, and what must be read of it.

use super::sample_log::Write;
use super::text_layouts::{self, Keeps};
use super::{folders, json_layouts, wrapped};

/// One rewriting.
pub(crate) struct Case {
    /// Its kind and name.
    pub(crate) name: String,
    /// The files that it makes.
    pub(crate) write: Write,
    /// Flags without which it cannot be read.
    pub(crate) flags: Vec<&'static str>,
    /// What the processes `a`, `b` and `c` are called.
    pub(crate) nodes: [&'static str; 3],
    /// What it leaves of times.
    pub(crate) keeps: Keeps,
    /// What is said instead, or as well.
    pub(crate) said: Option<&'static str>,
}

/// What the sample's processes are called.
pub(crate) const NODES: [&str; 3] = ["a", "b", "c"];

/// Those that print a thread, which is made up, or lines of somebody else between two records, so
/// that other records belong together.
const OTHERS_TOGETHER: [&str; 3] = ["log4j XML", "java.util.logging XML", "the console of a JVM amid"];

/// All of them.
pub(crate) fn cases() -> Vec<Case> {
    let mut all = Vec::new();
    let case = |kind: &str, name: &str, write| Case {
        name: format!("{kind}: {name}"),
        write,
        flags: Vec::new(),
        nodes: NODES,
        keeps: if OTHERS_TOGETHER.contains(&name) { Keeps::Records } else { Keeps::Milliseconds },
        said: None,
    };
    all.extend(wrapped::PER_FILE.iter().map(|(name, write)| case("wrapper", name, *write)));
    all.extend(
        wrapped::TOGETHER
            .iter()
            .map(|(name, nodes, write)| Case { nodes: *nodes, ..case("together", name, *write) }),
    );
    all.extend(json_layouts::JSON.iter().map(|(name, write)| case("fields", name, *write)));
    for (kind, rows) in [("stamp", text_layouts::STAMPS), ("layout", text_layouts::ARRANGEMENTS)] {
        all.extend(rows.iter().map(|(name, keeps, flags, write)| Case {
            keeps: *keeps,
            flags: flags.to_vec(),
            ..case(kind, name, *write)
        }));
    }
    all.extend(
        folders::FOLDERS
            .iter()
            .map(|(name, said, write)| Case { said: *said, ..case("folder", name, *write) }),
    );
    all
}

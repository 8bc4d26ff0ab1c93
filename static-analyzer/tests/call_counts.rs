//! Logging calls found in real jars, against a count made with the disassembler:
//! instructions that call a method of a logger, and places of them (class,
//! method, source line).
//!
//! The jars are looked for by name below `$LPROF_JARS` or the user's cache; those
//! that are not there are named and skipped.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use static_analyzer::log_points::logging_calls;
use static_analyzer::program;

/// One jar: name, calls and places by the disassembler, calls and places that are
/// found, and why these differ.
struct Row {
    jar: &'static str,
    counted: (usize, usize),
    found: (usize, usize),
    why: &'static str,
}

const fn same(jar: &'static str, counted: (usize, usize)) -> Row {
    Row { jar, counted, found: counted, why: "" }
}

const ROWS: [Row; 9] = [
    same("hadoop-hdfs-2.7.3.jar", (1955, 1894)),
    Row {
        jar: "hadoop-common-2.7.3.jar",
        counted: (934, 917),
        found: (928, 911),
        why: "six calls of LogAdapter, which is no logger but has the methods of one: its own calls \
              of the two loggers behind it are counted, and their log points are the six callers",
    },
    same("cassandra-all-2.1.0.jar", (944, 942)),
    same("hbase-0.94.18.jar", (2430, 2298)),
    same("zookeeper-3.4.6.jar", (735, 717)),
    // 203 of slf4j and 1,413 that take the message by name.
    same("kafka_2.13-3.7.1.jar", (1616, 1498)),
    same("kafka-clients-3.7.1.jar", (1193, 1172)),
    Row {
        jar: "spark-core_2.12-3.5.1.jar",
        // 81 of slf4j and java.util.logging, 1,584 by name, 1,581 of a logging interface
        // that was moved to another package.
        counted: (3246, 3184),
        found: (3245, 3183),
        why: "not one call Logger.log(LogRecord): it prints a record that another method filled, and has \
              neither level nor message of its own",
    },
    same("hadoop-core-1.0.4.jar", (1988, 1918)),
];

/// The jar of that name in the cache.
fn find(jar: &str) -> Option<PathBuf> {
    let cache = std::env::var_os("LPROF_JARS").map(PathBuf::from).or_else(|| {
        let home = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
        let home = home.or_else(|| std::env::var_os("HOME").map(|h| Path::new(&h).join(".cache")));
        home.map(|h| h.join("lprof/jars"))
    })?;
    let mut folders: Vec<PathBuf> =
        std::fs::read_dir(cache).ok()?.filter_map(|f| Some(f.ok()?.path())).collect();
    folders.sort();
    folders.into_iter().map(|folder| folder.join(jar)).find(|file| file.is_file())
}

fn count(jar: &Path) -> (usize, usize) {
    let program = program::load(&[jar.to_path_buf()], &Default::default()).expect("a readable jar");
    let calls = logging_calls(&program);
    let places: BTreeSet<_> = calls
        .iter()
        .map(|(method, _, line)| {
            let method = &program.methods[method.index()];
            (method.class, method.name, *line)
        })
        .collect();
    (calls.len(), places.len())
}

#[test]
fn calls_are_those_that_the_disassembler_shows() {
    let mut wrong = Vec::new();
    for row in ROWS {
        assert_eq!(row.counted == row.found, row.why.is_empty(), "{}: a difference has a reason", row.jar);
        let Some(jar) = find(row.jar) else {
            eprintln!("{}: skipped, not in the cache", row.jar);
            continue;
        };
        let found = count(&jar);
        if found != row.found {
            wrong.push(format!("{}: {found:?} calls and places, not {:?}", row.jar, row.found));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

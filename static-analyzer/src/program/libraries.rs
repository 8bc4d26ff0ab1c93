//! Libraries: code that the program uses, and that decides nothing about its requests.
//!
//! Who is asked for the jars of a system gives the whole class path. A program must be
//! read alike with and without the jars that it uses: with the code of a network library,
//! every message would be handed to whatever that library can call, and nothing could be
//! told apart any more. So classes of well-known libraries ([`library_apis`]) are left out,
//! and what the program gives them is called back, as it is where their jars are not given.
//! A class path of nothing but libraries is a program of its own.
//!
//! Under-approximates: log points of libraries are not found. What they print counts as
//! printed by no known log point.
//!
//! [`library_apis`]: super::library_apis

use std::collections::BTreeMap;

use super::library_apis::LIBRARY_PREFIXES;
use crate::class_path::{ClassFile, ClassPath, Config};

/// Folders of an archive below which its classes are.
const CLASS_FOLDERS: &[&str] = &["BOOT-INF/classes/", "WEB-INF/classes/"];

/// Takes the classes of libraries out of `class_path`; a diagnostic names each entry that
/// had some.
pub(super) fn leave_out(class_path: &mut ClassPath, config: &Config) {
    let is_library = |file: &ClassFile| is_library(&file.path, config);
    if !class_path.files.iter().any(|file| is_of_program(&file.path, config)) {
        return;
    }
    let mut left_out: BTreeMap<usize, usize> = BTreeMap::new();
    class_path.files.retain(|file| {
        let is_library = is_library(file);
        if is_library {
            *left_out.entry(file.entry).or_default() += 1;
        }
        !is_library
    });
    let told = left_out.iter().map(|(&entry, n)| {
        format!(
            "libraries: `{}`: {n} classes of well-known libraries are not read",
            class_path.entries[entry].name
        )
    });
    class_path.diagnostics.extend(told);
}

/// Whether a class file describes a module or a package, and holds no code (JVMS 4.1).
fn is_descriptor(path: &str) -> bool {
    matches!(path.rsplit('/').next(), Some("module-info.class" | "package-info.class"))
}

/// Whether the class file at `path` within its entry is a program's own: where one is, libraries
/// are not read.
pub(crate) fn is_of_program(path: &str, config: &Config) -> bool {
    !is_library(path, config) && !is_descriptor(path)
}

/// Whether the class file at `path` within its entry is a library's: as the user
/// says, else by the table.
pub(crate) fn is_library(path: &str, config: &Config) -> bool {
    let own = CLASS_FOLDERS.iter().find_map(|folder| path.strip_prefix(folder));
    let path = own.unwrap_or(path);
    let is_below = |package: &String| {
        let rest = package.split('.').try_fold(path, |rest, part| rest.strip_prefix(part)?.strip_prefix('/'));
        rest.is_some()
    };
    if config.library.iter().any(is_below) {
        return true;
    }
    // What is built into an application is its own, however its packages are called.
    own.is_none()
        && LIBRARY_PREFIXES.iter().any(|prefix| path.starts_with(prefix))
        && !config.not_library.iter().any(is_below)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::class_path::Entry;
    use crate::rules::Rules;

    fn class_path(paths: &[&str]) -> ClassPath {
        let file = |path: &&str| ClassFile { entry: 0, path: (*path).to_owned(), bytes: Ok(Vec::new()) };
        let mut class_path = ClassPath::default();
        class_path.entries.push(Entry { name: "app.jar".to_owned(), digest: 0 });
        class_path.files.extend(paths.iter().map(file));
        class_path
    }

    #[track_caller]
    fn check(paths: &[&str], rules: &str, kept: &[&str]) {
        let config = Rules::parse(rules).unwrap().class_path(&Config::default());
        let mut class_path = class_path(paths);
        leave_out(&mut class_path, &config);
        let found: Vec<&str> = class_path.files.iter().map(|file| &*file.path).collect();
        assert_eq!(found, kept);
        assert_eq!(class_path.diagnostics.is_empty(), paths.len() == kept.len());
    }

    #[test]
    fn classes_of_well_known_libraries_are_no_part_of_a_program() {
        check(&["a/Main.class", "io/netty/channel/Channel.class"], "", &["a/Main.class"]);
        let boot = [
            "BOOT-INF/classes/org/springframework/samples/Main.class",
            "org/springframework/boot/Loader.class",
        ];
        check(&boot, "", &boot[..1]);
        // A copy in a package of the program's own is the program's.
        let copy = ["a/Main.class", "a/shaded/io/netty/channel/Channel.class", "io/nettyx/A.class"];
        check(&copy, "", &copy);
    }

    #[test]
    fn a_library_alone_is_a_program() {
        let netty = ["io/netty/channel/Channel.class", "io/netty/util/Timer.class"];
        check(&netty, "", &netty);
        let with_descriptor = ["module-info.class", netty[0], "META-INF/versions/9/module-info.class"];
        check(&with_descriptor, "", &with_descriptor);
    }

    #[test]
    fn rules_know_better() {
        let paths = ["a/Main.class", "b/wire/Frame.class", "io/netty/channel/Channel.class"];
        check(&paths, "library b.wire\nnot-library io.netty\n", &["a/Main.class", paths[2]]);
        check(&paths, "library b.wir\n", &["a/Main.class", paths[1]]);
    }
}

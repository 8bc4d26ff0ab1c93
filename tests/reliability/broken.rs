//! Broken inputs: what is committed, changed by a generator that gives the same in every run, is
//! read or refused, and nothing panics. `SECONDS` and `SEED` choose for how long each kind is
//! tried, and where the generator begins.

use std::path::{Path, PathBuf};

use crate::command::{done, samples};
use crate::random::{fuzz, model};

#[test]
fn layouts_and_configurations() {
    let corpus: Vec<Vec<u8>> = [
        "%d{yyyy-MM-dd HH:mm:ss,SSS}{UTC} %-5p [%t] %c{1.}: %m%n%throwable",
        "%clr(%d{ISO8601}){faint} %5level %replace(%msg){'a','b'} %X{a:-b} %notEmpty{[%x] }%m%n",
        "<configuration><appender><encoder><pattern>%d %p %m%n</pattern></encoder></appender></configuration>",
        "log4j.appender.A.layout.ConversionPattern=%d{ABSOLUTE} %p %c - %m%n\nlogging.pattern.file=%d %m%n",
        "Configuration:\n  Appenders:\n    Console:\n      PatternLayout:\n        pattern: \"%d %p %m%n\"\n",
        "java.util.logging.SimpleFormatter.format=%1$tY-%1$tm-%1$td %4$s %3$s %5$s%6$s%n",
    ]
    .map(|text| text.as_bytes().to_vec())
    .into();
    fuzz(&corpus, &mut |bytes| {
        let text = String::from_utf8_lossy(bytes);
        let _ = log_mapper::Layout::compile(&text);
        let _ = log_mapper::read_configuration(&text, &|_| None);
    });
}

#[test]
fn class_files() {
    let jar = std::fs::File::open(samples().join("classes/java17/store.jar")).expect("the sample's jar");
    let mut jar = zip::ZipArchive::new(jar).expect("a jar");
    let mut classes = Vec::new();
    for at in 0..jar.len() {
        let mut entry = jar.by_index(at).expect("an entry");
        if entry.name().is_ok_and(|name| name.ends_with(".class")) {
            let mut bytes = Vec::new();
            std::io::Read::read_to_end(&mut entry, &mut bytes).expect("a class");
            classes.push(bytes);
        }
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (at, bytes) in classes.iter().enumerate() {
        std::fs::write(folder.path().join(format!("C{at}.class")), bytes).expect("a class");
    }
    let jars = [folder.path().to_owned()];
    let mut at = 0;
    fuzz(&classes, &mut |bytes| {
        let path = folder.path().join(format!("C{at}.class"));
        std::fs::write(&path, bytes).expect("a class");
        let _ = static_analyzer::analyze(&jars, &static_analyzer::Config::default());
        std::fs::write(&path, &classes[at]).expect("a class");
        at = (at + 1) % classes.len();
    });
}

/// All files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for path in std::fs::read_dir(folder).expect("a folder").flatten().map(|entry| entry.path()) {
        if path.is_dir() { all.extend(files(&path)) } else { all.push(path) }
    }
    all.sort();
    all
}

/// Changes one file after the other of a folder and reads it.
fn fuzz_files(folder: &Path, read: &mut dyn FnMut()) {
    let paths = files(folder);
    let whole: Vec<Vec<u8>> = paths.iter().map(|path| std::fs::read(path).expect("a file")).collect();
    let mut at = 0;
    fuzz(&whole, &mut |changed| {
        // What was changed may be of another file: that is a fault as well.
        std::fs::write(&paths[at], changed).expect("a file");
        read();
        std::fs::write(&paths[at], &whole[at]).expect("a file");
        at = (at + 1) % paths.len();
    });
}

#[test]
fn outputs_of_maps() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (model, _) = model(folder.path());
    let (model, out) = (model.display().to_string(), folder.path().join("o"));
    let log = samples().join("logs/a.log").display().to_string();
    done(&["map", "-q", "--model", &model, "--node", "a", &log, "-o", &out.display().to_string()]);
    fuzz_files(&out, &mut || {
        let _ = schema::Model::read(&out.join("model"));
        for path in schema::tables::node_outputs(&out).into_iter().flatten() {
            let _ = schema::tables::read_node_output(&path);
        }
    });
}

#[test]
fn tables_and_their_manifests() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (model, _) = model(folder.path());
    let table = folder.path().join("t");
    let logs = samples().join("logs").display().to_string();
    done(&[
        "run",
        "-q",
        "--table",
        &table.display().to_string(),
        "--model",
        &model.display().to_string(),
        &logs,
    ]);
    fuzz_files(&table, &mut || {
        let Ok(table) = lprof::Table::open(&table) else { return };
        let _ = table.model();
        for request in table.requests(&lprof::Filter::All).into_iter().flatten() {
            let Ok(request) = request else { break };
            let _ = request.critical_path();
        }
    });
}

//! Class paths, whole and damaged, in and their class files or errors out.

use std::io::Write;

use super::*;

const CLASS: &[u8] = &[0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 52];

/// A jar of these files.
fn jar(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default();
    for (name, bytes) in files {
        writer.start_file(*name, options).expect("a new file");
        writer.write_all(bytes).expect("room");
    }
    writer.finish().expect("a whole jar").into_inner()
}

/// Writes files into a folder of their own.
fn folder(files: &[(&str, &[u8])]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, bytes) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        std::fs::write(path, bytes).expect("a file");
    }
    folder
}

fn with_byte(last: u8) -> Vec<u8> {
    [CLASS, &[last]].concat()
}

/// What is read of one jar, as `entry path last-byte`.
fn listing(class_path: &ClassPath) -> Vec<String> {
    let line = |f: &ClassFile| {
        let last = f.bytes.as_ref().map_or(0, |b| b[b.len() - 1]);
        format!("{} {} {last}", class_path.entries[f.entry].name, f.path)
    };
    class_path.files.iter().map(line).collect()
}

fn read_one(name: &str, bytes: &[u8], config: &Config) -> Result<ClassPath, Error> {
    let folder = folder(&[(name, bytes)]);
    read(&[folder.path().join(name)], config)
}

#[test]
fn jars_in_jars_are_opened_down_to_a_depth() {
    let inner = jar(&[("x/X.class", &with_byte(2))]);
    let deepest = jar(&[("l.jar", &jar(&[("m.jar", &jar(&[("n.jar", &inner)]))]))]);
    let files: &[(&str, &[u8])] = &[
        ("BOOT-INF/classes/A.class", &with_byte(1)),
        ("BOOT-INF/lib/x.jar", &inner),
        ("BOOT-INF/lib/deep.jar", &deepest),
        ("readme.txt", b"text"),
    ];
    let read = read_one("app.jar", &jar(files), &Config::default()).expect("a jar");
    assert_eq!(
        listing(&read),
        ["app.jar BOOT-INF/classes/A.class 1", "app.jar!BOOT-INF/lib/x.jar x/X.class 2"]
    );
    assert!(read.diagnostics.iter().any(|d| d.contains("n.jar`: nested too deep")), "{:?}", read.diagnostics);
}

#[test]
fn multi_release_jars_give_the_highest_version_asked_for() {
    let manifest: &[u8] = b"Manifest-Version: 1.0\r\nMulti-Release: true\r\n";
    let files = |manifest| {
        jar(&[
            ("META-INF/MANIFEST.MF", manifest),
            ("META-INF/versions/9/A.class", &with_byte(9)),
            ("META-INF/versions/17/A.class", &with_byte(17)),
            ("META-INF/versions/25/A.class", &with_byte(25)),
            ("META-INF/versions/17/New.class", &with_byte(17)),
            ("A.class", &with_byte(1)),
        ])
    };
    let versions = |java_release, manifest| {
        let read = read_one("a.jar", &files(manifest), &Config { java_release, ..Config::default() })
            .expect("a jar");
        listing(&read).iter().map(|l| l["a.jar ".len()..].to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(versions(21, manifest), ["A.class 17", "New.class 17"]);
    assert_eq!(versions(11, manifest), ["A.class 9"]);
    assert_eq!(versions(8, manifest), ["A.class 1"]);
    assert_eq!(versions(21, b"Manifest-Version: 1.0\n"), ["A.class 1"]);
}

#[test]
fn folders_give_their_classes_then_their_jars() {
    let folder = folder(&[
        ("b/B.class", &with_byte(1)),
        ("A.class", &with_byte(2)),
        ("lib/l.jar", &jar(&[("L.class", &with_byte(3))])),
        ("lib/broken.jar", b"no zip"),
    ]);
    let read = read(&[folder.path().to_path_buf()], &Config::default()).expect("a folder");
    let listed: Vec<_> =
        listing(&read).iter().map(|l| l.split_once(' ').expect("words").1.to_owned()).collect();
    assert_eq!(listed, ["A.class 2", "b/B.class 1", "L.class 3"]);
    assert_eq!(read.diagnostics.len(), 1);
    assert!(read.diagnostics[0].contains("broken.jar"), "{:?}", read.diagnostics);
}

#[test]
fn what_cannot_be_read_is_an_error_that_names_the_file() {
    let kind = |name: &str, bytes: &[u8]| {
        let error = read_one(name, bytes, &Config::default()).expect_err("unreadable");
        assert!(error.to_string().contains(name), "{error}");
        error.kind()
    };
    let good = jar(&[("A.class", CLASS)]);
    assert_eq!(kind("empty.jar", b""), ErrorKind::Empty);
    assert_eq!(kind("none.jar", &jar(&[])), ErrorKind::Empty);
    assert_eq!(kind("text.jar", &jar(&[("a.txt", b"a")])), ErrorKind::Empty);
    assert_eq!(kind("half.jar", &good[..good.len() / 2]), ErrorKind::Format);
    assert_eq!(kind("text.txt", b"hello"), ErrorKind::Format);
    let missing = read(&[PathBuf::from("missing.jar")], &Config::default()).expect_err("missing");
    assert_eq!(missing.kind(), ErrorKind::Io);
}

#[test]
fn files_that_swell_are_skipped() {
    let bomb = vec![0; usize::try_from(limits::CLASS_BYTES_MAX).expect("small") + 1];
    let read = read_one("a.jar", &jar(&[("A.class", &bomb), ("B.class", CLASS)]), &Config::default())
        .expect("a jar");
    assert!(read.files[0].bytes.as_ref().is_err_and(|e| e.contains("too many")));
    assert!(read.files[1].bytes.is_ok());
}

#[test]
fn odd_names_are_only_names() {
    let files: &[(&str, &[u8])] =
        &[("../../X.class", &with_byte(1)), ("/etc/Y.class", &with_byte(2)), ("C:\\Z.class", &with_byte(3))];
    let read = read_one("a.jar", &jar(files), &Config::default()).expect("a jar");
    assert_eq!(read.files.len(), 3);
}

#[test]
fn jars_that_a_manifest_names_are_read_after_it() {
    let lib = jar(&[("x/X.class", &with_byte(2))]);
    // Lines of a manifest are cut at 72 bytes, wherever that is.
    let manifest = b"Manifest-Version: 1.0\r\nClass-Path: lib/a.JAR lib/gone.jar li\r\n b/b.jar\r\n\r\n";
    let app = jar(&[("META-INF/MANIFEST.MF", manifest), ("A.class", &with_byte(1))]);
    let folder = folder(&[("app.jar", &app), ("lib/a.JAR", &lib), ("lib/b.jar", &lib)]);
    let read = read(&[folder.path().join("app.jar")], &Config::default()).expect("jars");
    assert_eq!(listing(&read), ["app.jar A.class 1", "a.JAR x/X.class 2", "b.jar x/X.class 2"]);
    assert!(read.diagnostics.iter().any(|told| told.contains("`lib/gone.jar`")), "{:?}", read.diagnostics);
}

#[test]
fn enterprise_applications_are_opened() {
    let lib = jar(&[("x/X.class", &with_byte(2))]);
    let war = jar(&[("WEB-INF/lib/x.jar", &lib)]);
    let read = read_one("app.ear", &jar(&[("app.war", &war)]), &Config::default()).expect("an ear");
    assert_eq!(listing(&read), ["app.ear!app.war!WEB-INF/lib/x.jar x/X.class 2"]);
}

#[test]
fn libraries_in_a_jar_of_a_program_are_not_kept() {
    let library = jar(&[("org/slf4j/Logger.class", &with_byte(2)), ("shop/Own.class", &with_byte(3))]);
    let files: &[(&str, &[u8])] =
        &[("BOOT-INF/classes/shop/Main.class", &with_byte(1)), ("BOOT-INF/lib/log.jar", &library)];
    let of = |class_path: &ClassPath| -> Vec<usize> {
        class_path.files.iter().map(|file| file.bytes.as_ref().map_or(0, Vec::len)).collect()
    };
    let read = read_one("app.jar", &jar(files), &Config::default()).expect("a jar");
    assert_eq!(of(&read), [CLASS.len() + 1, 0, CLASS.len() + 1]);
    // A library alone is read as a program.
    let alone = jar(&[("org/slf4j/Logger.class", &with_byte(2))]);
    assert_eq!(of(&read_one("slf4j.jar", &alone, &Config::default()).expect("a jar")), [CLASS.len() + 1]);
}

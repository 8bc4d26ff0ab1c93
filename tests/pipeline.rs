//! The library makes tables as the commands do: by its own threads, from readers, by way of a folder;
//! it says how far it has come, and what kind of fault there is.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use lprof::pipeline::{self, Inputs, Layouts, Mapped, Mapper, Options, Progress, Step, Threads, Zone};
use lprof::{ErrorKind, Filter, Model, Result, Table};

fn sample(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("samples").join(path)
}

fn model_of(jar: &str, options: &Options) -> Model {
    pipeline::analyze(&[sample(jar)], options).expect("a model of the sample")
}

fn model(options: &Options) -> Model {
    model_of("classes/java17/store.jar", options)
}

fn logs() -> Inputs {
    let mut inputs = Inputs::new();
    inputs.add(None, &sample("logs")).expect("logs of the sample");
    inputs
}

/// All that a table holds of requests, in its order.
fn requests(table: &Path) -> Vec<String> {
    let table = Table::open(table).expect("a table");
    let requests = table.requests(&Filter::All).expect("requests");
    let whole = |request: Result<lprof::Request>| {
        let request = request.expect("a request");
        format!("{:?} {:?}", request.row(), request.spans())
    };
    requests.map(whole).collect()
}

#[test]
fn a_table_is_the_same_whichever_way_it_is_made() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let [by_command, at_once, by_folder] = ["a", "b", "c"].map(|name| folder.path().join(name));
    let jar = sample("classes/java17/store.jar");
    let words = ["lprof", "run", "-q", "--table"].map(std::ffi::OsString::from);
    lprof::run(words.into_iter().chain([by_command.clone().into(), jar.into(), sample("logs").into()]));
    let expected = requests(&by_command);
    assert_eq!(expected.len(), 149);

    for n in [1, 3] {
        let options = Options { threads: Threads::new(n).expect("threads"), ..Options::default() };
        let model = model(&options);
        let mapper = Mapper::new(&model, &options);
        let mapped = mapper.map(&mapper.look(logs()).expect("logs"), &at_once).expect("spans");
        let appended = pipeline::append(&at_once, &model, mapped, &options).expect("a table");
        // With another number of threads all of it is there already.
        assert_eq!(appended.run.is_some(), n == 1);
        assert_eq!(requests(&at_once), expected);
    }

    let options = Options::default();
    let model_path = folder.path().join("m");
    model(&options).write(&model_path).expect("a model is written");
    let read = Model::read(&model_path).expect("a model");
    let mapper = Mapper::new(&read, &options);
    let out = folder.path().join("out");
    let written = mapper.write(&mapper.look(logs()).expect("logs"), &out).expect("an output");
    assert_eq!(written.inputs.iter().map(|(_, input)| input.n_records).sum::<u64>(), 646);
    let mapped = Mapped::read(&[out], &read, &by_folder, &options).expect("an output");
    pipeline::append(&by_folder, &read, mapped, &options).expect("a table");
    assert_eq!(requests(&by_folder), expected);
}

#[test]
fn a_reader_is_a_log_like_any_other() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let table = folder.path().join("t");
    let options = Options::default();
    let model = model(&options);
    let mapper = Mapper::new(&model, &options);
    let mut mapped: Option<Mapped> = None;
    for node in ["a", "b", "c"] {
        let file = std::fs::File::open(sample("logs").join(format!("{node}.log"))).expect("a log");
        // Packed, which is seen, and a piece at a time.
        let packed = flate2::read::GzEncoder::new(file, flate2::Compression::fast());
        let mut inputs = Inputs::new();
        inputs.add_reader(node, &format!("{node}.log"), Slow(packed));
        assert!(!inputs.is_empty());
        let nodes = mapper.look(inputs).expect("logs");
        assert_eq!(nodes.names().collect::<Vec<_>>(), [node]);
        let of_node = mapper.map(&nodes, &table).expect("spans");
        assert_eq!(of_node.check().expect("records"), Vec::<String>::new());
        match &mut mapped {
            Some(mapped) => mapped.add(of_node).expect("spans of one model"),
            None => mapped = Some(of_node),
        }
        // What is read once is over.
        assert!(mapper.map(&nodes, &table).is_err());
    }
    let mapped = mapped.expect("spans");
    assert_eq!(mapped.inputs().map(|(_, input)| input.n_records).sum::<u64>(), 646);
    let appended = pipeline::append(&table, &model, mapped, &options).expect("a table");
    assert_eq!(appended.requests.len(), 149);
}

/// Gives a few bytes at a time.
struct Slow<R>(R);

impl<R: Read> Read for Slow<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let n = buffer.len().min(100);
        self.0.read(&mut buffer[..n])
    }
}

#[derive(Default)]
struct Seen {
    steps: Mutex<Vec<Option<Step>>>,
    n_bytes: AtomicU64,
}

impl Progress for Seen {
    fn begins(&self, step: Step) {
        self.steps.lock().expect("no panic").push(Some(step));
    }

    fn reads(&self, n_bytes: u64) {
        self.n_bytes.fetch_add(n_bytes, Ordering::Relaxed);
    }

    fn ends(&self) {
        self.steps.lock().expect("no panic").push(None);
    }
}

#[test]
fn steps_and_bytes_are_told() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let seen = Arc::new(Seen::default());
    let options = Options { progress: Arc::clone(&seen) as Arc<dyn Progress>, ..Options::default() };
    let model = model(&options);
    let mapper = Mapper::new(&model, &options);
    let nodes = mapper.look(logs()).expect("logs");
    let mapped = mapper.map(&nodes, folder.path()).expect("spans");
    pipeline::append(folder.path(), &model, mapped, &options).expect("a table");
    let sizes = ["a.log", "b.log", "c.log"].map(|name| sample("logs").join(name).metadata().expect("a log"));
    let n_bytes = sizes.iter().map(std::fs::Metadata::len).sum();
    let steps = [Step::Analyze, Step::Compile, Step::Look, Step::Read { n_bytes }, Step::Stitch];
    let expected: Vec<Option<Step>> = steps.into_iter().flat_map(|step| [Some(step), None]).collect();
    assert_eq!(*seen.steps.lock().expect("no panic"), expected);
    assert_eq!(seen.n_bytes.load(Ordering::Relaxed), n_bytes);
}

/// Faults are of a kind, and say what they are about.
#[track_caller]
fn check<T>(result: Result<T>, kind: ErrorKind, about: &str) {
    let error = result.err().expect("a fault");
    assert_eq!(error.kind(), kind, "{error}");
    assert!(error.to_string().contains(about), "{error}");
}

#[test]
fn faults_have_kinds() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (path, options) = (|name: &str| folder.path().join(name), Options::default());
    std::fs::write(path("text.jar"), "no jar").expect("a file");
    std::fs::write(path("no.log"), "what is this?\n").expect("a file");
    check(pipeline::analyze(&[path("none.jar")], &options), ErrorKind::NotFound, "none.jar");
    check(pipeline::analyze(&[path("text.jar")], &options), ErrorKind::NotOurs, "text.jar");
    check(pipeline::analyze(&[sample("logs")], &options), ErrorKind::Empty, "logs");
    check(Model::read(&path("text.jar")), ErrorKind::NotOurs, "text.jar");
    check(Layouts::pattern("%d{"), ErrorKind::Invalid, "%d{");
    check("Middle/Earth".parse::<Zone>(), ErrorKind::Invalid, "Middle/Earth");
    check(Inputs::new().add(None, &path("gone.log")), ErrorKind::NotFound, "gone.log");
    check(Table::open(&path("text.jar")), ErrorKind::NotOurs, "text.jar");

    let model = model(&options);
    let mapper = Mapper::new(&model, &options);
    let mut inputs = Inputs::new();
    inputs.add(Some("a"), &path("no.log")).expect("a log");
    let nodes = mapper.look(inputs).expect("a log");
    let mapped = mapper.map(&nodes, &path("t")).expect("an account");
    check(mapped.check(), ErrorKind::Empty, "no.log");
    check(mapper.write(&nodes, &path("out")).map(drop), ErrorKind::Empty, "no.log");

    let nodes = mapper.look(logs()).expect("logs");
    let map = || mapper.map(&nodes, &path("t")).expect("spans");
    let other = model_of("classes/java8/store.jar", &options);
    check(pipeline::append(&path("t"), &other, map(), &options), ErrorKind::Mismatch, "another");
    let writer = reducer::table::Writer::open(&path("t")).expect("a table");
    check(pipeline::append(&path("t"), &model, map(), &options), ErrorKind::Busy, "another lprof");
    drop(writer);
    pipeline::append(&path("t"), &model, map(), &options).expect("a table");
    // The same logs, read with another model.
    let mapper = Mapper::new(&other, &options);
    let mapped = mapper.map(&mapper.look(logs()).expect("logs"), &path("t")).expect("spans");
    check(pipeline::append(&path("t"), &other, mapped, &options), ErrorKind::Mismatch, "already");
}

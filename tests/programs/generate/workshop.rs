//! The workshop: compiles a written program twice, with the lines that label its work
//! and without them, runs it, and gathers its jar, logs and truth. Needs a JDK.

use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};
use std::{fs, thread};

use super::Result;
use super::pack;
use super::plan::Program;
use super::write::{self, Node, Source};

/// Files of the harness: what carries the truth, and stand-ins for the logging
/// libraries, so that nothing has to be fetched.
const HARNESS: &[(&str, &str)] = &[
    ("Braces.java", include_str!("harness/Braces.java")),
    ("Compile.java", include_str!("harness/Compile.java")),
    ("Jul.java", include_str!("harness/Jul.java")),
    ("Objects.java", include_str!("harness/Objects.java")),
    ("Sink.java", include_str!("harness/Sink.java")),
    ("Start.java", include_str!("harness/Start.java")),
    ("Truth.java", include_str!("harness/Truth.java")),
    ("Words.java", include_str!("harness/Words.java")),
    ("org/apache/commons/logging/Log.java", include_str!("harness/org/apache/commons/logging/Log.java")),
    (
        "org/apache/commons/logging/LogFactory.java",
        include_str!("harness/org/apache/commons/logging/LogFactory.java"),
    ),
    ("org/apache/log4j/Logger.java", include_str!("harness/org/apache/log4j/Logger.java")),
    (
        "org/apache/logging/log4j/LogManager.java",
        include_str!("harness/org/apache/logging/log4j/LogManager.java"),
    ),
    ("org/apache/logging/log4j/Logger.java", include_str!("harness/org/apache/logging/log4j/Logger.java")),
    ("org/slf4j/Logger.java", include_str!("harness/org/slf4j/Logger.java")),
    ("org/slf4j/LoggerFactory.java", include_str!("harness/org/slf4j/LoggerFactory.java")),
];

/// A server that has not begun to listen by then does not.
const LISTEN_S: u64 = 30;
/// A program that prints less says nothing.
const RECORDS_MIN: usize = 50;
/// The harness ends every program before.
const RUN_S: u64 = 70;

/// A JDK, the compiled harness, and a compiler that stays.
#[derive(Debug)]
pub(crate) struct Workshop {
    scratch: PathBuf,
    java: PathBuf,
    compiler: Child,
    say: ChildStdin,
    hear: BufReader<ChildStdout>,
}

/// Whether there is a JDK of release 17 or later.
pub(crate) fn has_jdk() -> bool {
    let Ok(output) = Command::new(tool("javac")).arg("-version").output() else { return false };
    let text =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    let major = text.trim().trim_start_matches("javac ").split(['.', '-']).next().map(str::parse::<u32>);
    matches!(major, Some(Ok(17..)))
}

fn tool(name: &str) -> PathBuf {
    std::env::var_os("JAVA_HOME")
        .map_or_else(|| PathBuf::from(name), |home| Path::new(&home).join("bin").join(name))
}

impl Workshop {
    /// `scratch`: a folder of its own.
    pub(crate) fn open(scratch: &Path) -> Result<Workshop> {
        let (source, harness) = (scratch.join("harness-source"), scratch.join("harness"));
        for (name, text) in HARNESS {
            put(&source.join(name), text.as_bytes())?;
        }
        let mut javac = Command::new(tool("javac"));
        javac.args(["-nowarn", "-d"]).arg(&harness).args(HARNESS.iter().map(|(name, _)| source.join(name)));
        said(&mut javac)?;
        let java = tool("java");
        let mut command = Command::new(&java);
        command
            .args(["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp"])
            .arg(&harness)
            .arg("truth.Compile");
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut compiler = command.spawn().map_err(|e| format!("{command:?}: {e}"))?;
        let say = compiler.stdin.take().ok_or("the compiler does not listen")?;
        let hear = BufReader::new(compiler.stdout.take().ok_or("the compiler does not answer")?);
        Ok(Workshop { scratch: scratch.to_path_buf(), java, compiler, say, hear })
    }

    /// Writes, compiles, runs and labels a program; its set is in `out` afterwards.
    pub(crate) fn make(&mut self, program: &Program, out: &Path) -> Result<()> {
        let source = write::write(program);
        let work = self.scratch.join("work");
        clear(&work)?;
        clear(out)?;
        let (run, app) = (work.join("run"), work.join("app"));
        self.compile(program, &source, &work.join("run-source"), &run, |text| text.to_owned())?;
        self.compile(program, &source, &work.join("app-source"), &app, without_truth)?;
        put(&out.join("app.jar"), &jar(&app.join(source.package.replace('.', "/")), &source.package)?)?;
        for (name, text) in &source.files {
            put(&out.join("source").join(name), text.as_bytes())?;
        }
        let list: Vec<String> = program.ingredients().into_iter().collect();
        put(&out.join("ingredients.tsv"), (list.join("\n") + "\n").as_bytes())?;
        self.run(&source, &work, &run)?;
        gather(&source, &work, out)
    }

    fn compile(
        &mut self,
        program: &Program,
        source: &Source,
        folder: &Path,
        classes: &Path,
        edit: impl Fn(&str) -> String,
    ) -> Result<()> {
        let mut words = vec!["-g", "-nowarn", "-Xlint:-options", "-proc:none", "--release"];
        let release = program.release.to_string();
        let harness = self.scratch.join("harness").display().to_string();
        let to = classes.display().to_string();
        words.extend([release.as_str(), "-cp", &harness, "-d", &to]);
        let mut words: Vec<String> = words.into_iter().map(str::to_owned).collect();
        for (name, text) in &source.files {
            let path = folder.join(name);
            put(&path, edit(text).as_bytes())?;
            words.push(path.display().to_string());
        }
        writeln!(self.say, "{}", words.join("\t")).map_err(|e| format!("the compiler: {e}"))?;
        let mut told = String::new();
        loop {
            let from = told.len();
            let n = self.hear.read_line(&mut told).map_err(|e| format!("the compiler: {e}"))?;
            match told[from..].trim_end() {
                "ok" => return Ok(()),
                "failed" => return Err(format!("seed {}: does not compile\n{told}", program.seed)),
                _ if n == 0 => return Err(format!("the compiler ended: {told}")),
                _ => {}
            }
        }
    }

    /// Starts the servers, then the last process, and waits for its end.
    fn run(&self, source: &Source, work: &Path, classes: &Path) -> Result<()> {
        let mut ports = Vec::new();
        for node in &source.nodes {
            ports.extend(node.port.clone().map(|property| free_port().map(|port| (property, port))));
        }
        let ports: Vec<(String, u16)> = ports.into_iter().collect::<Result<_>>()?;
        let (last, servers) = source.nodes.split_last().ok_or("no process")?;
        let mut started = Servers(Vec::new());
        for node in servers {
            started.0.push(self.start(source, node, &ports, work, classes)?);
        }
        for (property, port) in &ports {
            listens(*port).ok_or_else(|| format!("{property}: nobody listens"))?;
        }
        let mut front = self.start(source, last, &ports, work, classes)?;
        let code = ended(&mut front)?;
        if !servers.is_empty() {
            thread::sleep(Duration::from_millis(150));
        }
        drop(started);
        let words: Result<Vec<String>> =
            source.nodes.iter().map(|node| read(&work.join(format!("{}.out", node.name)))).collect();
        let words = words?.concat();
        if code != Some(0) || !words.trim().is_empty() {
            return Err(format!("the program ended with {code:?}\n{words}"));
        }
        Ok(())
    }

    fn start(
        &self,
        source: &Source,
        node: &Node,
        ports: &[(String, u16)],
        work: &Path,
        classes: &Path,
    ) -> Result<Child> {
        let path = work.join(format!("{}.out", node.name));
        let told = |e: std::io::Error| format!("`{}`: {e}", path.display());
        let out = fs::File::create(&path).map_err(told)?;
        let mut command = Command::new(&self.java);
        command.args(["-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]);
        command.args(ports.iter().map(|(property, port)| format!("-D{property}={port}")));
        command.arg(format!("-Dtruth.app={}.", source.package));
        command.arg(format!("-Dtruth.node={}", node.name));
        command.arg(format!("-Dtruth.folder={}", work.display()));
        command.args(source.wrapper.iter().map(|wrapper| format!("-Dtruth.wrapper={wrapper}")));
        let class_path =
            std::env::join_paths([classes, &self.scratch.join("harness")]).map_err(|e| e.to_string())?;
        command.arg("-cp").arg(class_path).arg("truth.Start").arg(&node.main);
        command.stdin(Stdio::null()).stdout(out.try_clone().map_err(told)?).stderr(out);
        command.spawn().map_err(|e| format!("{command:?}: {e}"))
    }
}

impl Drop for Workshop {
    fn drop(&mut self) {
        // What is not there any more needs no end.
        let _ = self.compiler.kill();
        let _ = self.compiler.wait();
    }
}

/// Processes that end with this value.
struct Servers(Vec<Child>);

impl Drop for Servers {
    fn drop(&mut self) {
        for server in &mut self.0 {
            let _ = server.kill();
            let _ = server.wait();
        }
    }
}

/// The text with the lines that serve the labels emptied; the others keep their numbers.
fn without_truth(text: &str) -> String {
    let serves = |line: &str| line.contains("Truth.") || line.contains("import truth");
    let lines: Vec<&str> = text.split('\n').map(|line| if serves(line) { "" } else { line }).collect();
    lines.join("\n")
}

/// The jar of the application's package.
fn jar(folder: &Path, package: &str) -> Result<Vec<u8>> {
    let mut classes = Vec::new();
    for path in files(folder)? {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let bytes = fs::read(&path).map_err(|e| format!("`{}`: {e}", path.display()))?;
        classes.push((format!("{}/{name}", package.replace('.', "/")), bytes));
    }
    pack::jar(&classes)
}

/// Copies logs, with and without threads, and puts the rows of the truth together.
fn gather(source: &Source, work: &Path, out: &Path) -> Result<()> {
    let mut names: Vec<&str> = source.nodes.iter().map(|node| node.name.as_str()).collect();
    names.sort_unstable();
    let mut truth = String::from("node\tline\tn_lines\tthread\tlog_point\tlevel\tunit\top");
    truth += if source.wrapper.is_some() { "\tcall_site\n" } else { "\n" };
    for name in names {
        let log = read(&work.join("plain").join(format!("{name}.log")))?;
        let rows = read(&work.join("truth").join(format!("{name}.tsv")))?;
        covers(name, &log, &rows)?;
        put(&out.join(format!("{name}.log")), log.as_bytes())?;
        let threads = read(&work.join("threads").join(format!("{name}.log")))?;
        put(&out.join("threads").join(format!("{name}.log")), threads.as_bytes())?;
        for row in rows.lines() {
            let row =
                if source.wrapper.is_some() { row } else { row.rsplit_once('\t').unwrap_or((row, "")).0 };
            truth += row;
            truth.push('\n');
        }
    }
    let records = truth.lines().count() - 1;
    if records < RECORDS_MIN {
        return Err(format!("the program printed {records} records only"));
    }
    put(&out.join("truth.tsv"), truth.as_bytes())
}

/// Every line of a log belongs to one row of its truth, in order.
fn covers(name: &str, log: &str, rows: &str) -> Result<()> {
    let mut next = 1;
    for row in rows.lines() {
        let cells: Vec<&str> = row.split('\t').collect();
        let number = |at: usize| cells.get(at).and_then(|cell: &&str| cell.parse::<usize>().ok());
        let (Some(line), Some(n_lines)) = (number(1), number(2)) else {
            return Err(format!("{name}: no row of a truth: `{row}`"));
        };
        if line != next || cells.len() != 9 {
            return Err(format!("{name}: line {next} of the log has no row, but `{row}`"));
        }
        next += n_lines;
    }
    let lines = log.lines().count();
    if next != lines + 1 {
        Err(format!("{name}: the truth has {next} lines, the log {lines}"))
    } else {
        Ok(())
    }
}

fn free_port() -> Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(|e| e.to_string())?;
    Ok(listener.local_addr().map_err(|e| e.to_string())?.port())
}

fn listens(port: u16) -> Option<()> {
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(LISTEN_S) {
        if TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_ok() {
            return Some(());
        }
        thread::sleep(Duration::from_millis(10));
    }
    None
}

fn ended(process: &mut Child) -> Result<Option<i32>> {
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(RUN_S) {
        if let Some(status) = process.try_wait().map_err(|e| e.to_string())? {
            return Ok(status.code());
        }
        thread::sleep(Duration::from_millis(5));
    }
    let _ = process.kill();
    let _ = process.wait();
    Err("the program does not end".to_owned())
}

/// Standard output of a command that must succeed.
pub(crate) fn said(command: &mut Command) -> Result<String> {
    let output = command.output().map_err(|e| format!("{command:?}: {e}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let words =
        String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
    Err(format!("{command:?}: {}\n{words}", output.status))
}

pub(crate) fn put(path: &Path, bytes: &[u8]) -> Result<()> {
    let told = |e: std::io::Error| format!("`{}`: {e}", path.display());
    fs::create_dir_all(path.parent().unwrap_or(Path::new("."))).map_err(told)?;
    fs::write(path, bytes).map_err(told)
}

pub(crate) fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).map_err(|e| format!("`{}`: {e}", path.display()))
}

/// Files of a folder, sorted.
pub(crate) fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).map_err(|e| format!("`{}`: {e}", folder.display()))?;
    let mut files: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.retain(|path| path.is_file());
    files.sort();
    Ok(files)
}

pub(crate) fn clear(folder: &Path) -> Result<()> {
    match fs::remove_dir_all(folder) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(format!("`{}`: {e}", folder.display())),
        _ => Ok(()),
    }
}

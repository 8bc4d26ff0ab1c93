//! The class path: jars, wars and folders to the bytes of class files. The only
//! place of this crate that reads files; nothing is ever written.
//!
//! Jars inside jars (`BOOT-INF/lib`, `WEB-INF/lib`, `lib`), and those that the manifest of a
//! named jar lists as its `Class-Path`, are entries of their own, after the jar that holds or
//! names them. Of a multi-release jar, the classes of
//! the highest version up to [`Config::java_release`] are taken. The order is
//! that of the class path; inside folders and jars by name, so that the result
//! does not depend on the file system.

use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};
use zip::ZipArchive;

use crate::error::{Error, ErrorKind};
use crate::limits;
use crate::program::libraries::{is_library, is_of_program};
use crate::program::settings::is_settings;

/// How a class path is read.
#[derive(Clone, Debug)]
pub struct Config {
    /// The Java release whose classes are taken from multi-release jars; 8 or
    /// less: always the base version. By default 21: programs that need a newer
    /// JVM are rare, and the versions differ in little that logs.
    pub java_release: u32,
    /// Packages of libraries, beside the well-known ones: their classes are not read.
    pub library: Vec<String>,
    /// Packages of the program that would be taken for a well-known library's.
    pub not_library: Vec<String>,
    /// Logging classes that are not known, each with the known one that it is like.
    pub loggers: Vec<(String, String)>,
}

impl Default for Config {
    fn default() -> Self {
        Self { java_release: 21, library: Vec::new(), not_library: Vec::new(), loggers: Vec::new() }
    }
}

/// The text of a small file that the user wrote, e.g. of rules.
///
/// # Errors
/// If it cannot be read or is not UTF-8.
pub(crate) fn read_text(path: &Path) -> Result<String, Error> {
    std::fs::read_to_string(path).map_err(|e| Error::io(path, e))
}

/// Extensions of files that hold classes or further such files: libraries, web applications,
/// enterprise applications and what they are made of.
const ARCHIVES: &[&str] = &["jar", "war", "ear", "rar", "sar", "har"];

/// One jar, war or folder.
#[derive(Debug)]
pub(crate) struct Entry {
    /// File name without its folder; for nested jars `app.jar!lib/x.jar`.
    pub(crate) name: String,
    /// xxh3-128 of its bytes (folders: of names and bytes of the classes).
    pub(crate) digest: u128,
}

/// One class file.
#[derive(Debug)]
pub(crate) struct ClassFile {
    /// Position in [`ClassPath::entries`].
    pub(crate) entry: usize,
    /// Name inside the entry.
    pub(crate) path: String,
    /// Its content, or why it could not be read; of libraries that are left out it can be empty.
    pub(crate) bytes: Result<Vec<u8>, String>,
}

/// A `.properties` file in the program's own language, or another one that holds settings.
#[derive(Debug)]
pub(crate) struct Resource {
    /// Position in [`ClassPath::entries`].
    pub(crate) entry: usize,
    /// Name inside its entry.
    pub(crate) path: String,
    pub(crate) text: String,
}

/// All class files, in class-path order.
#[derive(Debug, Default)]
pub(crate) struct ClassPath {
    pub(crate) entries: Vec<Entry>,
    pub(crate) files: Vec<ClassFile>,
    pub(crate) resources: Vec<Resource>,
    pub(crate) diagnostics: Vec<String>,
    bytes_total: u64,
    /// A class of a program was read: what is known for a library's from then on is not.
    has_program: bool,
    /// Jars that are read, or will be: a jar that another one names is read once.
    known: FxHashSet<PathBuf>,
}

/// Reasons that are told where nothing could be read.
const DETAILS_MAX: usize = 4;

/// Reads all class files of `paths` into memory.
pub(crate) fn read(paths: &[PathBuf], config: &Config) -> Result<ClassPath, Error> {
    let mut class_path = ClassPath::default();
    class_path.known.extend(paths.iter().filter_map(|path| path.canonicalize().ok()));
    for path in paths {
        let metadata = std::fs::metadata(path).map_err(|e| Error::io(path, e))?;
        if metadata.is_dir() {
            read_folder(&mut class_path, path, config)?;
        } else {
            read_file(&mut class_path, path, config)?;
        }
    }
    if class_path.files.is_empty() {
        let first = paths.first().map_or(Path::new(""), |p| p);
        let mut detail = "there are no classes on the class path".to_owned();
        for diagnostic in class_path.diagnostics.iter().take(DETAILS_MAX) {
            detail = format!("{detail}; {diagnostic}");
        }
        return Err(Error::new(ErrorKind::Empty, first, detail));
    }
    Ok(class_path)
}

fn file_name(path: &Path) -> String {
    let canonical = || path.canonicalize().ok()?.file_name().map(|n| n.to_string_lossy().into_owned());
    match path.file_name() {
        Some(name) => name.to_string_lossy().into_owned(),
        None => canonical().unwrap_or_else(|| path.display().to_string()),
    }
}

impl ClassPath {
    fn add_bytes(&mut self, path: &Path, n: u64) -> Result<(), Error> {
        self.bytes_total = self.bytes_total.saturating_add(n);
        if self.bytes_total > limits::CLASS_PATH_BYTES_MAX {
            let detail = format!("more than {} bytes of classes", limits::CLASS_PATH_BYTES_MAX);
            return Err(Error::new(ErrorKind::Limit, path, detail));
        }
        Ok(())
    }
}

/// Reads a jar or a single class file named on the class path.
fn read_file(class_path: &mut ClassPath, path: &Path, config: &Config) -> Result<(), Error> {
    let size = std::fs::metadata(path).map_err(|e| Error::io(path, e))?.len();
    if size > limits::CLASS_PATH_BYTES_MAX {
        return Err(Error::new(ErrorKind::Limit, path, format!("{size} bytes are too many for a jar")));
    }
    let bytes = std::fs::read(path).map_err(|e| Error::io(path, e))?;
    let name = file_name(path);
    if bytes.starts_with(&[0xca, 0xfe, 0xba, 0xbe]) {
        class_path.add_bytes(path, bytes.len() as u64)?;
        let entry = class_path.entries.len();
        class_path.entries.push(Entry { name: name.clone(), digest: digest(&bytes) });
        class_path.files.push(ClassFile { entry, path: name, bytes: Ok(bytes) });
        return Ok(());
    }
    read_jar(class_path, path, name, &bytes, config, 0)?;
    read_named(class_path, path, &bytes, config)
}

/// Reads what the manifest of a jar names as its class path, beside it. What is not there is told.
fn read_named(class_path: &mut ClassPath, path: &Path, bytes: &[u8], config: &Config) -> Result<(), Error> {
    let Ok(mut archive) = Archive::new(Cursor::new(bytes)) else { return Ok(()) };
    let manifest = archive.index_for_name(MANIFEST);
    let Some(Ok(manifest)) = manifest.map(|i| inflate(&mut archive, i, 1 << 20)) else { return Ok(()) };
    let mut missing = Vec::new();
    for name in attribute(&manifest, "Class-Path").unwrap_or_default().split_ascii_whitespace() {
        let name = name.strip_prefix("file:").unwrap_or(name).replace("%20", " ");
        let named = path.parent().unwrap_or(Path::new("")).join(&name);
        let Ok(real) = named.canonicalize() else {
            missing.push(name);
            continue;
        };
        if !class_path.known.insert(real.clone()) {
            continue;
        }
        // A folder that is named may be the one that all jars lie in: its classes alone are meant.
        let is_read = real.is_file() && has_extension(&named, ARCHIVES);
        let read = if is_read { read_file(class_path, &named, config) } else { Ok(()) };
        match read {
            Err(error) if error.kind() == ErrorKind::Limit => return Err(error),
            Err(error) => class_path.diagnostics.push(format!("jar skipped: {error}")),
            Ok(()) => {}
        }
    }
    if let Some(first) = missing.first() {
        class_path.diagnostics.push(format!(
            "class path: the manifest of `{}` names {} files that are not there, the first is `{first}`",
            file_name(path),
            missing.len()
        ));
    }
    Ok(())
}

const MANIFEST: &str = "META-INF/MANIFEST.MF";

/// A main attribute of a manifest: lines of at most 72 bytes, which go on behind a blank.
fn attribute(manifest: &[u8], name: &str) -> Option<String> {
    let text = String::from_utf8_lossy(manifest).replace("\r\n", "\n").replace('\r', "\n");
    let main = text.split("\n\n").find(|section| !section.trim().is_empty())?;
    let whole = main.replace("\n ", "");
    whole.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        key.trim().eq_ignore_ascii_case(name).then(|| value.trim().to_owned())
    })
}

fn digest(bytes: &[u8]) -> u128 {
    xxhash_rust::xxh3::xxh3_128(bytes)
}

/// All files below a folder, sorted; linked folders are not entered.
fn walk(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for item in std::fs::read_dir(&folder).map_err(|e| Error::io(&folder, e))? {
            let item = item.map_err(|e| Error::io(&folder, e))?;
            let kind = item.file_type().map_err(|e| Error::io(&item.path(), e))?;
            if kind.is_dir() {
                folders.push(item.path());
            } else {
                files.push(item.path());
            }
        }
        if files.len() > limits::JAR_ENTRIES_MAX {
            let detail = format!("more than {} files", limits::JAR_ENTRIES_MAX);
            return Err(Error::new(ErrorKind::Limit, &folder, detail));
        }
    }
    files.sort();
    Ok(files)
}

fn has_extension(path: &Path, extensions: &[&str]) -> bool {
    path.extension().is_some_and(|e| extensions.iter().any(|x| e.eq_ignore_ascii_case(x)))
}

fn read_folder(class_path: &mut ClassPath, folder: &Path, config: &Config) -> Result<(), Error> {
    let files = walk(folder)?;
    let entry = class_path.entries.len();
    let mut hasher = xxhash_rust::xxh3::Xxh3::new();
    class_path.entries.push(Entry { name: file_name(folder), digest: 0 });
    let before = class_path.files.len();
    for path in files.iter().filter(|p| has_extension(p, &["class"])) {
        let name = path.strip_prefix(folder).unwrap_or(path).to_string_lossy().into_owned();
        let size = std::fs::metadata(path).map_err(|e| Error::io(path, e))?.len();
        let bytes = if size > limits::CLASS_BYTES_MAX {
            Err(too_large(size))
        } else {
            class_path.add_bytes(path, size)?;
            std::fs::read(path).map_err(|e| e.to_string())
        };
        hasher.update(name.as_bytes());
        hasher.update(bytes.as_deref().unwrap_or_default());
        class_path.files.push(ClassFile { entry, path: name, bytes });
    }
    for path in files.iter().filter(|p| is_resource(&p.strip_prefix(folder).unwrap_or(p).to_string_lossy())) {
        let name = path.strip_prefix(folder).unwrap_or(path).to_string_lossy().into_owned();
        let size = std::fs::metadata(path).map_err(|e| Error::io(path, e))?.len();
        if size <= limits::RESOURCE_BYTES_MAX
            && let Ok(bytes) = std::fs::read(path)
        {
            hasher.update(name.as_bytes());
            hasher.update(&bytes);
            class_path.resources.push(Resource { entry, path: name, text: text_of(bytes) });
        }
    }
    class_path.entries[entry].digest = hasher.digest128();
    if class_path.files.len() == before {
        class_path.entries.pop();
    }
    for path in files.iter().filter(|p| has_extension(p, ARCHIVES)) {
        let is_known = path.canonicalize().is_ok_and(|real| !class_path.known.insert(real));
        if is_known {
            continue;
        }
        if let Err(error) = read_file(class_path, path, config) {
            match error.kind() {
                ErrorKind::Limit => return Err(error),
                _ => class_path.diagnostics.push(format!("jar skipped: {error}")),
            }
        }
    }
    Ok(())
}

/// Whether a file holds texts in the program's own language: `a/Texts.properties`, not
/// `a/Texts_fr.properties`.
fn is_resource(name: &str) -> bool {
    if is_settings(name) {
        return true;
    }
    let Some(stem) = name.strip_suffix(".properties") else { return false };
    let base = stem.rsplit('/').next().unwrap_or(stem);
    let is_language = |part: &str| part.len() == 2 && part.bytes().all(|byte| byte.is_ascii_lowercase());
    !base.split('_').skip(1).any(is_language) && !name.starts_with("META-INF/")
}

/// UTF-8, as since Java 9, or Latin 1, as before.
fn text_of(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|e| e.as_bytes().iter().map(|&byte| char::from(byte)).collect())
}

fn too_large(size: u64) -> String {
    format!("{size} bytes are too many for a class file (at most {})", limits::CLASS_BYTES_MAX)
}

/// What of a jar is to be read.
#[derive(Default)]
struct Contents {
    /// (name without prefix of the version, position), sorted by name.
    classes: Vec<(String, usize)>,
    jars: Vec<(String, usize)>,
    resources: Vec<(String, usize)>,
    manifest: Option<usize>,
}

type Archive<'a> = ZipArchive<Cursor<&'a [u8]>>;

fn read_jar(
    class_path: &mut ClassPath,
    path: &Path,
    name: String,
    bytes: &[u8],
    config: &Config,
    depth: usize,
) -> Result<(), Error> {
    let format =
        |detail: String| Error::new(ErrorKind::Format, path, format!("not a readable jar: {detail}"));
    if bytes.is_empty() {
        return Err(Error::new(ErrorKind::Empty, path, "the file is empty"));
    }
    let mut archive = Archive::new(Cursor::new(bytes)).map_err(|e| format(e.to_string()))?;
    if archive.is_empty() {
        return Err(Error::new(ErrorKind::Empty, path, "the jar is empty"));
    }
    if archive.len() > limits::JAR_ENTRIES_MAX {
        let detail = format!("{} files in a jar (at most {})", archive.len(), limits::JAR_ENTRIES_MAX);
        return Err(Error::new(ErrorKind::Limit, path, detail));
    }
    if archive.has_overlapping_entries().map_err(|e| format(e.to_string()))? {
        return Err(format("files overlap".to_owned()));
    }
    let contents = contents(&mut archive, config);
    let entry = class_path.entries.len();
    class_path.entries.push(Entry { name: name.clone(), digest: digest(bytes) });
    if contents.classes.is_empty() && contents.jars.is_empty() {
        class_path.diagnostics.push(format!("`{name}`: no classes"));
    }
    class_path.add_bytes(path, declared_bytes(&mut archive, &contents.classes))?;
    class_path.has_program |= contents.classes.iter().any(|(path, _)| is_of_program(path, config));
    let has_program = class_path.has_program;
    let files: Vec<ClassFile> = contents
        .classes
        .into_par_iter()
        .map_init(
            || archive.clone(),
            |archive, (path, i)| {
                let bytes = match has_program && is_library(&path, config) {
                    true => Ok(Vec::new()),
                    false => inflate(archive, i, limits::CLASS_BYTES_MAX),
                };
                ClassFile { entry, path, bytes }
            },
        )
        .collect();
    class_path.files.extend(files);
    class_path.resources.extend(resources(&mut archive, entry, contents.resources));
    for (inner, i) in contents.jars {
        let label = format!("{name}!{inner}");
        if depth + 1 > limits::JAR_DEPTH_MAX {
            class_path.diagnostics.push(format!("`{label}`: nested too deep"));
            continue;
        }
        let result = match inflate(&mut archive, i, limits::NESTED_JAR_BYTES_MAX) {
            Ok(bytes) => read_jar(class_path, path, label.clone(), &bytes, config, depth + 1),
            Err(detail) => Err(Error::new(ErrorKind::Format, path, detail)),
        };
        match result {
            Err(error) if error.kind() == ErrorKind::Limit => return Err(error),
            Err(error) => class_path.diagnostics.push(format!("jar `{label}` skipped: {error}")),
            Ok(()) => {}
        }
    }
    Ok(())
}

/// How many bytes the classes of a jar say that they have, of each as many as are read.
fn declared_bytes(archive: &mut Archive<'_>, classes: &[(String, usize)]) -> u64 {
    let size = |&(_, i): &(String, usize)| {
        archive.by_index_raw(i).map_or(0, |file| file.size().min(limits::CLASS_BYTES_MAX))
    };
    classes.iter().map(size).fold(0, u64::saturating_add)
}

/// The files of texts of a jar. What is too large or damaged is not missed: its keys stay unknown.
fn resources(archive: &mut Archive<'_>, entry: usize, files: Vec<(String, usize)>) -> Vec<Resource> {
    let read = |(path, i)| {
        let bytes = inflate(archive, i, limits::RESOURCE_BYTES_MAX).ok()?;
        Some(Resource { entry, path, text: text_of(bytes) })
    };
    files.into_iter().filter_map(read).collect()
}

/// Decompresses one file of a jar, at most `max` bytes of it.
fn inflate(archive: &mut Archive<'_>, index: usize, max: u64) -> Result<Vec<u8>, String> {
    let file = archive.by_index(index).map_err(|e| e.to_string())?;
    let size = file.size();
    if size > max {
        return Err(format!("{size} bytes are too many (at most {max})"));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
    file.take(max + 1).read_to_end(&mut bytes).map_err(|e| e.to_string())?;
    if bytes.len() as u64 > max {
        return Err(format!("more than {max} bytes"));
    }
    Ok(bytes)
}

fn contents(archive: &mut Archive<'_>, config: &Config) -> Contents {
    let mut contents = Contents::default();
    // Name without version: (version, position).
    let mut versions: FxHashMap<String, (u32, usize)> = FxHashMap::default();
    let mut versioned = Vec::new();
    for i in 0..archive.len() {
        let Some(Ok(name)) = archive.name_for_index(i) else { continue };
        let name = name.trim_start_matches('/').to_owned();
        if name == MANIFEST {
            contents.manifest = Some(i);
        } else if name.ends_with(".class") {
            match name.strip_prefix("META-INF/versions/").and_then(|rest| rest.split_once('/')) {
                Some((version, rest)) => {
                    versioned.push((version.parse().unwrap_or(u32::MAX), rest.to_owned(), i))
                }
                // The JVM takes the first of files with one name.
                None => _ = versions.entry(name).or_insert((0, i)),
            }
        } else if is_resource(&name) {
            contents.resources.push((name, i));
        } else if has_extension(Path::new(&name), ARCHIVES) {
            contents.jars.push((name, i));
        }
    }
    if !versioned.is_empty() && is_multi_release(archive, contents.manifest) {
        for (version, name, i) in versioned {
            let known = versions.get(&name).map_or(0, |v| v.0);
            if version <= config.java_release && version > known.max(8) {
                versions.insert(name, (version, i));
            }
        }
    }
    contents.classes = versions.into_iter().map(|(name, (_, i))| (name, i)).collect();
    contents.classes.sort();
    contents.resources.sort();
    contents.jars.sort();
    contents
}

fn is_multi_release(archive: &mut Archive<'_>, manifest: Option<usize>) -> bool {
    let Some(Ok(bytes)) = manifest.map(|i| inflate(archive, i, 1 << 20)) else { return false };
    attribute(&bytes, "Multi-Release").is_some_and(|value| value.eq_ignore_ascii_case("true"))
}

#[cfg(test)]
mod tests;

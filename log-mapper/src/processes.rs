//! Processes: who has printed the lines of a file. A container runtime or a log shipper can put
//! lines of several processes into one file and name each of them; each is a node of its own then.

use rustc_hash::FxHashMap;

use crate::input::{Input, Source};
use crate::limits::PROCESSES_MAX;
use crate::reading::Reading;
use crate::wrappers::{self, Only, Wrapper, joined_end};

/// Bytes read at once.
const READ_BYTES: usize = 1 << 20;

/// A process among those of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Process {
    /// Its name, for people.
    pub(crate) name: String,
    pub(crate) only: Only,
}

/// First and last line of a name, counted in lines that have one.
type Lines = (u64, u64);

/// The processes of `source`, which is read so, by name, if there are several; why they cannot be
/// told apart.
pub(crate) fn processes_of(
    source: &Source,
    reading: &Reading,
    input_bytes_max: u64,
) -> Result<Vec<Process>, String> {
    if reading.wrappers.first().is_some_and(|wrapper| wrapper.name == EXPORT) {
        return one_unit(source, input_bytes_max);
    }
    let Some(wrapper) = reading.wrappers.iter().position(Wrapper::names_processes) else {
        return Ok(Vec::new());
    };
    let mut names: FxHashMap<Vec<u8>, Lines> = FxHashMap::default();
    let Ok(mut input) = Input::open(source, input_bytes_max) else { return Ok(Vec::new()) };
    let mut text = Vec::new();
    let mut n_lines = 0;
    while !input.ended() {
        input.read(&mut text, READ_BYTES);
        let end = if input.ended() { text.len() } else { memchr::memrchr(b'\n', &text).map_or(0, |n| n + 1) };
        let mut at = 0;
        while at < end {
            let joined = joined_end(&reading.wrappers, &text[..end], at);
            let Some(joined) = joined.or(input.ended().then_some(end)) else { break };
            for name in wrappers::processes_of(&reading.wrappers, wrapper, &text[at..joined]) {
                let Some(name) = name else { continue };
                n_lines += 1;
                names.entry(name).or_insert((n_lines, n_lines)).1 = n_lines;
            }
            at = (joined + 1).min(end);
        }
        text.drain(..at);
        if names.len() > PROCESSES_MAX * PROCESSES_MAX {
            break;
        }
    }
    if reading.wrappers[wrapper].names_files() {
        return of_files(names.into_keys().collect(), wrapper);
    }
    let groups = started_again(names.into_iter().collect());
    if groups.len() > PROCESSES_MAX {
        return Err(format!(
            "lines of more than {PROCESSES_MAX} processes are in it, which are read as of one node: give a file for each"
        ));
    }
    let name_of = |names: &Vec<Vec<u8>>| {
        let name = String::from_utf8_lossy(&names[0]).into_owned();
        if names.len() > 1 { without_number(&name).to_owned() } else { name }
    };
    let process = |names: Vec<Vec<u8>>| Process { name: name_of(&names), only: Only { wrapper, names } };
    let mut out: Vec<Process> =
        if groups.len() > 1 { groups.into_iter().map(process).collect() } else { Vec::new() };
    shorten(&mut out);
    Ok(out)
}

/// The processes of several files in one: those of one stem are of one process, and each is read by
/// itself, as what is rotated stands in any order.
fn of_files(mut names: Vec<Vec<u8>>, wrapper: usize) -> Result<Vec<Process>, String> {
    names.sort();
    if names.len() < 2 {
        return Ok(Vec::new());
    }
    if names.len() > PROCESSES_MAX {
        return Err(format!(
            "lines of more than {PROCESSES_MAX} files are in it, which are read as of one node: give the files"
        ));
    }
    let paths: Vec<String> = names.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect();
    let folder = |path: &str| path.rsplit_once(['/', '\\']).map_or("", |(folder, _)| folder).to_owned();
    let is_one_folder = paths.iter().all(|path| folder(path) == folder(&paths[0]));
    let name_of = |path: &String| {
        let stem = wrappers::stem(path);
        if is_one_folder { stem.to_owned() } else { folder(path) + "/" + stem }
    };
    let process = |(path, name): (&String, Vec<u8>)| Process {
        name: name_of(path),
        only: Only { wrapper, names: vec![name] },
    };
    Ok(paths.iter().zip(names).map(process).collect())
}

/// A form that says of whom a record is in lines of their own, in any order.
const EXPORT: &str = "journal-export";

/// Why records of such a form cannot be told apart, if they are of several units or hosts.
fn one_unit(source: &Source, input_bytes_max: u64) -> Result<Vec<Process>, String> {
    let Ok(mut input) = Input::open(source, input_bytes_max) else { return Ok(Vec::new()) };
    let mut first: [Option<Vec<u8>>; 2] = [None, None];
    let mut text = Vec::new();
    while !input.ended() {
        input.read(&mut text, READ_BYTES);
        let end = if input.ended() { text.len() } else { memchr::memrchr(b'\n', &text).map_or(0, |n| n + 1) };
        for line in text[..end].split(|b| *b == b'\n') {
            for (key, known) in [&b"_SYSTEMD_UNIT="[..], b"_HOSTNAME="].iter().zip(&mut first) {
                let Some(value) = line.strip_prefix(*key) else { continue };
                if known.get_or_insert_with(|| value.to_vec()) != value {
                    return Err("records of several units or hosts are in it, which are read as of one node: export each by itself".to_owned());
                }
            }
        }
        text.drain(..end);
    }
    Ok(Vec::new())
}

/// Numbers of processes that no other process has the name of say nothing.
fn shorten(processes: &mut [Process]) {
    let short: Vec<String> =
        processes.iter().map(|process| without_number(&process.name).to_owned()).collect();
    for (i, process) in processes.iter_mut().enumerate() {
        if short.iter().filter(|name| **name == short[i]).count() == 1 {
            process.name.clone_from(&short[i]);
        }
    }
}

/// `a/b` of `a/b[12]`
fn without_number(name: &str) -> &str {
    let number = name.strip_suffix(']').and_then(|rest| rest.rsplit_once('['));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    number
        .filter(|(before, number)| !before.is_empty() && is_number(number))
        .map_or(name, |(before, _)| before)
}

/// Names in groups, sorted: those that differ in the number of the process and are not at work at
/// one time are of one that was started again.
fn started_again(names: Vec<(Vec<u8>, Lines)>) -> Vec<Vec<Vec<u8>>> {
    let mut by_name: std::collections::BTreeMap<String, Vec<(Lines, Vec<u8>)>> =
        std::collections::BTreeMap::new();
    for (name, lines) in names {
        let text = String::from_utf8_lossy(&name).into_owned();
        by_name.entry(without_number(&text).to_owned()).or_default().push((lines, name));
    }
    let mut out = Vec::new();
    for mut runs in by_name.into_values() {
        runs.sort();
        let is_one = runs.windows(2).all(|pair| pair[0].0.1 < pair[1].0.0);
        let mut names: Vec<Vec<u8>> = runs.into_iter().map(|(_, name)| name).collect();
        names.sort();
        if is_one {
            out.push(names);
        } else {
            out.extend(names.into_iter().map(|name| vec![name]));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wrappers::by_name;

    #[track_caller]
    fn check(wrappers: &[&str], text: &str, expected: &[&str]) {
        let wrappers = wrappers.iter().map(|name| by_name(name).expect("a wrapper")).collect();
        let reading = Reading { wrappers, ..Reading::default() };
        let processes = processes_of(&Source::bytes("x", text.as_bytes()), &reading, u64::MAX).expect("few");
        let names: Vec<&str> = processes.iter().map(|process| process.name.as_str()).collect();
        assert_eq!(names, expected, "{text}");
    }

    #[test]
    fn who_printed_what() {
        check(&["compose"], "a-1  | x\nb-1  | y\na-1  | z\n", &["a-1", "b-1"]);
        check(&["compose"], "a-1  | x\na-1  | y\n", &[]);
        check(&["kubectl-prefix"], "[pod/a/c] x\n[pod/b/c] y\n", &["a/c", "b/c"]);
        check(&["stern"], "a-1 c x\nb-1 c y\n", &["a-1/c", "b-1/c"]);
        check(
            &["logcli"],
            "2025-03-29T11:54:05Z {app=\"x\", level=\"a\"} m\n2025-03-29T11:54:05Z {app=\"x\", level=\"b\"} m\n",
            &[],
        );
        check(
            &["logcli"],
            "2025-03-29T11:54:05Z {app=\"x\", pod=\"a\"} m\n2025-03-29T11:54:05Z {app=\"x\", pod=\"b\"} m\n",
            &["a/x", "b/x"],
        );
        let pod = |pod: &str| format!("{{\"log\":\"m\",\"kubernetes\":{{\"pod_name\":\"{pod}\"}}}}\n");
        check(&["json-message"], &[pod("a"), pod("b")].concat(), &["a", "b"]);
        let pretty = |pod: &str| {
            let at = "  \"kubernetes\": {\n    \"pod_name\": ";
            format!("{{\n  \"log\": \"m\",\n{at}\"{pod}\"\n  }}\n}}\n")
        };
        check(
            &["json-lines", "json-message"],
            &[pretty("a"), pretty("b"), pretty("a")].concat(),
            &["a", "b"],
        );
        let of = |pod: &str| format!("{{\"stream\":{{\"pod\":\"{pod}\"}},\"values\":[[\"1\",\"m\"]]}}");
        let answer = format!("{{\"data\":{{\"result\":[{},{}]}}}}\n", of("a"), of("b"));
        check(&["loki", "json-message"], &answer, &["a", "b"]);
    }

    #[test]
    fn what_was_started_again_is_the_same() {
        let line = |host: &str, pid: u32| format!("Mar 29 11:54:05 {host} java[{pid}]: m\n");
        check(&["syslog-3164"], &[line("h", 1), line("h", 1), line("h", 2)].concat(), &[]);
        check(
            &["syslog-3164"],
            &[line("h", 1), line("h", 2), line("h", 1)].concat(),
            &["h/java[1]", "h/java[2]"],
        );
        check(&["syslog-3164"], &[line("h", 1), line("g", 1), line("h", 2)].concat(), &["g/java", "h/java"]);
    }
}

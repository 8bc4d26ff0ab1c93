//! Wrappers: what a container runtime, a service manager or a log shipper puts around each line.
//! A wrapper gives the inner text of a line; records, stack traces and layouts are those of the
//! inner text, places those of the line in the file. Colours of a terminal, NUL bytes and marks
//! of a byte order are no text at all.

mod encoding;
mod json;
mod lines;
mod pieces;
mod sections;
mod tables;
mod unwrap;
mod whose;
mod words;

pub(crate) use encoding::encoding;
pub(crate) use pieces::rest_of;
pub(crate) use sections::stem;
pub(crate) use unwrap::{Place, Unwrapped, goes_on, is_clean, unwrap, unwrap_only};
pub(crate) use whose::{Only, joined_end, processes_of};
pub(crate) use words::{are_around_lines, before_lines};

use crate::header::civil::Civil;
use unwrap::add_clean;
use words::Words;

/// What a line holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Inner {
    /// A line.
    Whole,
    /// The start of a line, whose rest is in the next one.
    Partial,
    /// Nothing of the program's.
    Nothing,
}

/// Reads the time that a wrapper says of a line.
type Stamp = fn(&[u8]) -> Option<Civil>;
/// Adds what a wrapper says of where a line is from; none: it says nothing.
type From = fn(&[u8], &mut Vec<u8>) -> Option<()>;

/// One wrapper.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wrapper {
    /// Its name, for people and for reading again.
    pub(crate) name: &'static str,
    /// Adds the inner text of a line; none: the line is not wrapped so.
    inner: fn(&[u8], &mut Vec<u8>) -> Option<Inner>,
    /// Patterns of the inner text where the wrapper itself tells the fields apart.
    pub(crate) layouts: &'static [&'static str],
    /// The time that it says, for layouts that print none.
    stamp: Option<Stamp>,
    /// The process that has printed the line, where it puts lines of several into one file.
    process: Option<From>,
    /// The stream that the line is of, where it cuts lines: the pieces of one are of one stream.
    stream: Option<From>,
    /// One object is printed over several lines, which are put together.
    joins: bool,
    /// A line of its own says of whom the lines after it are.
    has_sections: bool,
    /// Names of processes that can be names of threads as well: of a line that has another one.
    is_like_thread: bool,
    /// Words before each line, as they were seen there, instead of all this.
    words: Option<Words>,
}

impl Wrapper {
    const fn new(name: &'static str, inner: fn(&[u8], &mut Vec<u8>) -> Option<Inner>) -> Self {
        Self {
            name,
            inner,
            layouts: &[],
            stamp: None,
            process: None,
            stream: None,
            joins: false,
            has_sections: false,
            is_like_thread: false,
            words: None,
        }
    }

    const fn with_layouts(self, layouts: &'static [&'static str]) -> Self {
        Self { layouts, ..self }
    }

    const fn with_stamp(self, stamp: Stamp) -> Self {
        Self { stamp: Some(stamp), ..self }
    }

    const fn with_process(self, process: From) -> Self {
        Self { process: Some(process), ..self }
    }

    const fn with_stream(self, stream: From) -> Self {
        Self { stream: Some(stream), ..self }
    }

    const fn joining(self) -> Self {
        Self { joins: true, ..self }
    }

    const fn in_sections(self) -> Self {
        Self { has_sections: true, ..self }
    }

    const fn like_threads(self) -> Self {
        Self { is_like_thread: true, ..self }
    }

    /// Whether a line of its own says of whom the lines after it are.
    pub(crate) fn has_sections(&self) -> bool {
        self.has_sections
    }

    /// Whether its names can be those of threads.
    pub(crate) fn is_like_thread(&self) -> bool {
        self.is_like_thread
    }

    /// Whether objects over several lines are put together, which stand within others.
    pub(crate) fn joins(&self) -> bool {
        self.joins
    }

    /// Whether it is words before each line, as they were seen there.
    pub(crate) fn is_words(&self) -> bool {
        self.words.is_some()
    }

    /// Whether its names are those of files.
    pub(crate) fn names_files(&self) -> bool {
        matches!(self.name, "grep" | "sections")
    }

    /// Whether what is put together of the lines of `text` begins as an object does.
    pub(crate) fn begins_object_in(&self, text: &[u8]) -> bool {
        let mut out = Vec::new();
        let mut lines = text.split(|b| *b == b'\n').filter(|line| !line.trim_ascii().is_empty());
        lines.any(|line| self.take_inner(line, &mut out) != Some(Inner::Nothing)) && out.starts_with(b"{")
    }

    /// Whether a line of `text` says of whom the lines after it are; where sections are all there is
    /// around the lines, the first one does.
    pub(crate) fn has_section_in(&self, text: &[u8]) -> bool {
        let mut lines = text.split(|b| *b == b'\n').filter(|line| !line.trim_ascii().is_empty());
        let names = |line: &[u8]| self.add_process(line, &mut Vec::new()).is_some();
        if self.joins { lines.any(names) } else { lines.next().is_some_and(names) }
    }

    /// Whether it can say which process has printed a line.
    pub(crate) fn names_processes(&self) -> bool {
        self.words.map_or(self.process.is_some(), Words::names_processes)
    }

    /// Adds the inner text of a line; none: the line is not wrapped so.
    fn take_inner(&self, line: &[u8], out: &mut Vec<u8>) -> Option<Inner> {
        match self.words {
            Some(words) => words.inner(line, out),
            None => (self.inner)(line, out),
        }
    }

    /// Adds what it says of the process that has printed a line.
    fn add_process(&self, line: &[u8], out: &mut Vec<u8>) -> Option<()> {
        match self.words {
            Some(words) => words.process(line, out),
            None => self.process?(line, out),
        }
    }
}

/// The wrappers that are known; those that say more first.
pub(crate) const WRAPPERS: &[Wrapper] = &[
    Wrapper::new("docker-json", json::docker).with_stamp(json::docker_stamp).with_stream(json::stream),
    Wrapper::new("cri", lines::cri).with_stamp(lines::stamp_at_start).with_stream(lines::cri_stream),
    Wrapper::new("syslog-5424", lines::syslog_5424)
        .with_stamp(lines::syslog_stamp)
        .with_process(lines::syslog_5424_process),
    Wrapper::new("syslog-3164", lines::syslog_3164).with_process(lines::syslog_3164_process),
    Wrapper::new("journal", lines::journal)
        .with_stamp(lines::stamp_at_start)
        .with_process(lines::journal_process),
    Wrapper::new("journal-full", lines::journal_full).with_process(lines::journal_full_process),
    Wrapper::new("journal-export", lines::journal_export),
    Wrapper::new("sections", sections::section).with_process(sections::section_process).in_sections(),
    Wrapper::new("grep", sections::grep).with_process(sections::grep_process),
    Wrapper::new("kail", lines::kail).with_process(lines::kail_process),
    Wrapper::new("kubetail", lines::kubetail).with_process(lines::kubetail_process).like_threads(),
    Wrapper::new("pdsh", lines::pdsh).with_process(lines::pdsh_process).like_threads(),
    Wrapper::new("kubectl-prefix", lines::kubectl_prefix).with_process(lines::kubectl_process),
    Wrapper::new("compose", lines::compose).with_process(lines::compose_process),
    Wrapper::new("service-wrapper", lines::service_wrapper),
    Wrapper::new("cloudfoundry", lines::cloud_foundry)
        .with_stamp(lines::stamp_at_start)
        .with_process(lines::cloud_foundry_process),
    Wrapper::new("heroku", lines::heroku)
        .with_stamp(lines::stamp_at_start)
        .with_process(lines::heroku_process),
    Wrapper::new("logcli", lines::logcli)
        .with_stamp(lines::stamp_at_start)
        .with_process(lines::logcli_process),
    Wrapper::new("grafana", lines::grafana).with_stamp(lines::grafana_stamp),
    Wrapper::new("fluentd", lines::fluentd)
        .with_stamp(lines::fluentd_stamp)
        .with_process(lines::fluentd_process)
        .with_stream(json::stream),
    Wrapper::new("stern", lines::stern).with_process(lines::stern_process),
    Wrapper::new("timestamps", lines::timestamps).with_stamp(lines::stamp_at_start),
    Wrapper::new("timestamps-colon", lines::timestamps_colon).with_stamp(lines::stamp_at_start),
    Wrapper::new("loki-lines-pod", json::loki_lines)
        .with_process(json::loki_process::<0>)
        .joining()
        .in_sections(),
    Wrapper::new("loki-lines-instance", json::loki_lines)
        .with_process(json::loki_process::<1>)
        .joining()
        .in_sections(),
    Wrapper::new("loki-lines-service", json::loki_lines)
        .with_process(json::loki_process::<2>)
        .joining()
        .in_sections(),
    Wrapper::new("loki-lines", json::loki_lines).joining(),
    Wrapper::new("json-lines-12", json::pretty::<12>).joining(),
    Wrapper::new("json-lines-10", json::pretty::<10>).joining(),
    Wrapper::new("json-lines-8", json::pretty::<8>).joining(),
    Wrapper::new("json-lines-6", json::pretty::<6>).joining(),
    Wrapper::new("json-lines-4", json::pretty::<4>).joining(),
    Wrapper::new("json-lines-2", json::pretty::<2>).joining(),
    Wrapper::new("json-lines", json::pretty::<0>).joining(),
    Wrapper::new("json-list", json::list),
    Wrapper::new("loki", json::loki),
    Wrapper::new("otlp", json::otlp),
    Wrapper::new("fluent-bit", json::fluent_bit).with_process(json::fluent_bit_process),
    Wrapper::new("csv", tables::csv).with_stamp(tables::csv_stamp),
    Wrapper::new("log4j-xml", tables::log4j_xml).with_layouts(tables::EVENT_LAYOUTS),
    Wrapper::new("logging-xml", tables::logging_xml).with_layouts(tables::RECORD_LAYOUTS),
    Wrapper::new("json", json::fields).with_layouts(json::LAYOUTS).with_process(json::process),
    Wrapper::new("json-message", json::message)
        .with_stamp(json::stamp)
        .with_process(json::process)
        .with_stream(json::stream),
    Wrapper::new("logfmt", json::logfmt).with_layouts(json::LAYOUTS),
];

/// What stands at the end of each line and is no part of it, so that messages over several lines
/// have lines that end as the program has printed them: `%m %n`, and files of Windows.
const LINE_ENDS: [(Wrapper, &[u8]); 2] = [
    (Wrapper::new("trailing-blank", lines::trailing_blank), b" "),
    (Wrapper::new("carriage-return", lines::carriage_return), b"\r"),
];

/// What most lines of `text` end with besides a line feed; none: nothing.
pub(crate) fn line_ends(text: &[u8]) -> Option<Wrapper> {
    let lines = || text.split(|b| *b == b'\n').filter(|line| !line.is_empty());
    let n = lines().count();
    let is_of_most = |end: &[u8]| 2 * lines().filter(|line| line.ends_with(end)).count() > n;
    LINE_ENDS.iter().find(|(_, end)| is_of_most(end)).map(|(wrapper, _)| *wrapper)
}

/// Whether a wrapper is nothing but the end of each line.
pub(crate) fn is_line_end(wrapper: &Wrapper) -> bool {
    LINE_ENDS.iter().any(|(end, _)| end.name == wrapper.name)
}

/// Whether a wrapper is nothing but a time, or words, before each line.
pub(crate) fn is_before_lines(wrapper: &Wrapper) -> bool {
    wrapper.words.is_some() || wrapper.name.starts_with("timestamps")
}

/// Begins a line that is in no wrapper, where the wrapper tells the fields apart.
pub(crate) const BARE: u8 = 0x1e;

/// The wrapper of a name.
pub(crate) fn by_name(name: &str) -> Option<Wrapper> {
    let known =
        WRAPPERS.iter().chain(LINE_ENDS.iter().map(|(wrapper, _)| wrapper)).chain([&encoding::WINDOWS_1252]);
    known.copied().find(|wrapper| wrapper.name == name).or_else(|| Some(words::of_words(Words::parse(name)?)))
}

/// Whether `line` is wrapped so.
pub(crate) fn fits(wrapper: &Wrapper, line: &[u8], scratch: &mut Vec<u8>) -> bool {
    scratch.clear();
    let mut clean = Vec::new();
    let line = if is_clean(line) {
        line
    } else {
        add_clean(line, &mut clean);
        &clean
    };
    wrapper.take_inner(line, scratch).is_some()
}

/// Whether one of `wrappers` says the time.
pub(crate) fn has_stamp(wrappers: &[Wrapper]) -> bool {
    wrappers.iter().any(|wrapper| wrapper.stamp.is_some())
}

/// The time that one of `wrappers` says of a line, or of the `nth` of those that it holds.
pub(crate) fn stamp(wrappers: &[Wrapper], line: &[u8], nth: usize) -> Option<Civil> {
    let n = wrappers.iter().rposition(|wrapper| wrapper.stamp.is_some())?;
    let text = unwrap(&wrappers[..n], line).text;
    (wrappers[n].stamp?)(text.split(|b| *b == b'\n').nth(nth)?)
}

/// Of text whose first line is a JSON object: what has none of the keys that are known for it.
pub(crate) fn missing_keys(text: &[u8]) -> Option<String> {
    text.split(|b| *b == b'\n').find(|line| !line.trim_ascii().is_empty()).and_then(json::missing_keys)
}

/// Whether the message of a JSON object is a pattern, and its values are not there.
pub(crate) fn lacks_arguments(line: &[u8]) -> bool {
    json::lacks_arguments(line)
}

/// Whether one of `wrappers` tells the fields of a record apart by names of their own.
pub(crate) fn has_names(wrappers: &[Wrapper]) -> bool {
    wrappers.iter().any(|wrapper| !wrapper.layouts.is_empty())
}

/// The value of `key` in the diagnostic context of a record, which is one line, of `wrappers`
/// of which the last one has names.
pub(crate) fn context(wrappers: &[Wrapper], record: &[u8], key: &str) -> Option<Vec<u8>> {
    let n = wrappers.iter().position(|wrapper| !wrapper.layouts.is_empty())?;
    let text = unwrap(&wrappers[..n], record).text;
    json::context(text.split(|b| *b == b'\n').next()?, key)
}

#[cfg(test)]
mod tests;

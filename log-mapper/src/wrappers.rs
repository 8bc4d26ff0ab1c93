//! Wrappers: what a container runtime, a service manager or a log shipper puts around each line.
//! A wrapper gives the inner text of a line; records, stack traces and layouts are those of the
//! inner text, places those of the line in the file. Colours of a terminal, NUL bytes and marks
//! of a byte order are no text at all.

mod encoding;
mod json;
mod lines;
mod pieces;
mod tables;
mod words;

pub(crate) use encoding::encoding;
pub(crate) use words::{are_around_lines, before_lines};

use crate::header::civil::Civil;
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
    /// Words before each line, as they were seen there, instead of all this.
    words: Option<Words>,
}

impl Wrapper {
    const fn new(name: &'static str, inner: fn(&[u8], &mut Vec<u8>) -> Option<Inner>) -> Self {
        Self { name, inner, layouts: &[], stamp: None, process: None, stream: None, words: None }
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
    Wrapper::new("grafana", lines::grafana),
    Wrapper::new("fluentd", lines::fluentd).with_process(lines::fluentd_process).with_stream(json::stream),
    Wrapper::new("stern", lines::stern).with_process(lines::stern_process),
    Wrapper::new("timestamps", lines::timestamps).with_stamp(lines::stamp_at_start),
    Wrapper::new("timestamps-colon", lines::timestamps_colon).with_stamp(lines::stamp_at_start),
    Wrapper::new("json-lines-8", json::pretty::<8>),
    Wrapper::new("json-lines-4", json::pretty::<4>),
    Wrapper::new("json-lines-2", json::pretty::<2>),
    Wrapper::new("json-lines", json::pretty::<0>),
    Wrapper::new("json-list", json::list),
    Wrapper::new("loki", json::loki),
    Wrapper::new("otlp", json::otlp),
    Wrapper::new("fluent-bit", json::fluent_bit).with_process(json::fluent_bit_process),
    Wrapper::new("csv", tables::csv),
    Wrapper::new("log4j-xml", tables::log4j_xml).with_layouts(tables::EVENT_LAYOUTS),
    Wrapper::new("logging-xml", tables::logging_xml).with_layouts(tables::RECORD_LAYOUTS),
    Wrapper::new("json", json::fields).with_layouts(json::LAYOUTS).with_process(json::process),
    Wrapper::new("json-message", json::message).with_process(json::process).with_stream(json::stream),
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

/// Inner text, and where each line of it stands.
#[derive(Clone, Debug, Default)]
pub(crate) struct Unwrapped {
    pub(crate) text: Vec<u8>,
    /// In order.
    pub(crate) places: Vec<Place>,
    /// Lines that the inner text has more, where one line holds a list of lines.
    pub(crate) n_added: u64,
}

/// Where inner text stands in the wrapped one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// Offset in the inner text.
    pub(crate) inner: u32,
    /// Offset of its line.
    pub(crate) start: u32,
    /// Lines before it.
    pub(crate) line: u32,
}

impl Unwrapped {
    /// Offset and number of lines before the line that `inner` stands in.
    pub(crate) fn place(&self, inner: usize) -> (usize, u64) {
        let n = self.places.partition_point(|place| place.inner as usize <= inner);
        self.places.get(n.saturating_sub(1)).map_or((0, 0), |p| (p.start as usize, u64::from(p.line)))
    }
}

/// Whether nothing has to be taken out of `text` to read it.
pub(crate) fn is_clean(text: &[u8]) -> bool {
    memchr::memchr2(0x1b, 0, text).is_none()
        && !text.starts_with(MARK)
        && memchr::memmem::find(text, LINE_MARK).is_none()
}

const MARK: &[u8] = b"\xef\xbb\xbf";
const LINE_MARK: &[u8] = b"\n\xef\xbb\xbf";

/// The lines of one process, among those of several in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Only {
    /// Which of the file's wrappers names processes.
    pub(crate) wrapper: usize,
    /// What it says of this one, in order: a process that was started again has another number.
    pub(crate) names: Vec<Vec<u8>>,
}

impl Only {
    /// Whether a line is of it; none: no process is named.
    pub(crate) fn holds(&self, wrappers: &[Wrapper], line: &[u8]) -> Option<bool> {
        let name = process_of(wrappers, self.wrapper, line)?;
        Some(self.names.binary_search(&name).is_ok())
    }

    /// Whether a line says that it is of it.
    pub(crate) fn names(&self, wrappers: &[Wrapper], line: &[u8]) -> bool {
        self.holds(wrappers, line) == Some(true)
    }
}

/// What the wrapper at `position` says of the process that has printed a line.
pub(crate) fn process_of(wrappers: &[Wrapper], position: usize, line: &[u8]) -> Option<Vec<u8>> {
    let mut name = Vec::new();
    let wrapper = &wrappers[position];
    wrapper.names_processes().then_some(())?;
    if position == 0 && is_clean(line) {
        wrapper.add_process(line, &mut name)?;
    } else {
        let text = unwrap(&wrappers[..position], line).text;
        wrapper.add_process(text.split(|b| *b == b'\n').next()?, &mut name)?;
    }
    (!name.is_empty()).then_some(name)
}

/// The inner text of `text`, which begins with a line. One wrapper after the other is taken off:
/// what one of them has cut into several lines is a line for the next.
pub(crate) fn unwrap(wrappers: &[Wrapper], text: &[u8]) -> Unwrapped {
    unwrap_only(wrappers, None, text)
}

/// The same of the lines of one process. A line of which no process is named goes on with the one
/// before it.
pub(crate) fn unwrap_only(wrappers: &[Wrapper], only: Option<&Only>, text: &[u8]) -> Unwrapped {
    let (outer, more) = wrappers.split_at(wrappers.len().min(1));
    let mut is_mine = true;
    let mut out = without(outer, text, &mut |line| {
        is_mine = only.and_then(|only| only.holds(wrappers, line)).unwrap_or(is_mine);
        is_mine
    });
    for wrapper in more.chunks(1) {
        out = out.then(without(wrapper, &out.text, &mut |_| true));
    }
    if !is_clean(&out.text) {
        out = out.then(without(&[], &out.text, &mut |_| true));
    }
    out
}

impl Unwrapped {
    /// Of this and of what was unwrapped of its text: the inner text, with the places here.
    fn then(&self, inner: Self) -> Self {
        let place = |place: &Place| {
            let (start, line) = self.place(place.start as usize);
            Place { inner: place.inner, start: start as u32, line: line as u32 }
        };
        let places = inner.places.iter().map(place).collect();
        Self { places, text: inner.text, n_added: self.n_added + inner.n_added }
    }
}

/// `text` without a wrapper, or none, and without what is no text; of the lines that are wanted.
fn without(wrapper: &[Wrapper], text: &[u8], is_wanted: &mut dyn FnMut(&[u8]) -> bool) -> Unwrapped {
    let mut out = Unwrapped { text: Vec::with_capacity(text.len()), ..Unwrapped::default() };
    let is_list = wrapper.iter().any(|wrapper| LISTS.contains(&wrapper.name));
    let (mut one, mut other) = (Vec::new(), Vec::new());
    let mut at = 0;
    let mut line = 0;
    let mut is_open = false;
    // Lines that were put together with one before them.
    let mut taken: Vec<usize> = Vec::new();
    while at < text.len() {
        let end = crate::lines::line_end(text, at);
        let was_taken = taken.iter().position(|start| *start == at).map(|i| taken.swap_remove(i));
        if was_taken.is_none() && is_wanted(&text[at..end]) {
            let mut inner = inner_of(wrapper, &text[at..end], &mut one, &mut other);
            if inner != Inner::Nothing {
                if !is_open {
                    out.places.push(Place { inner: out.text.len() as u32, start: at as u32, line });
                }
                if is_list {
                    let n_more = add_places(&one, &mut out, at, line);
                    (line, out.n_added) = (line + n_more, out.n_added + u64::from(n_more));
                }
                out.text.extend_from_slice(&one);
                if inner == Inner::Partial && wrapper.iter().any(|wrapper| wrapper.stream.is_some()) {
                    pieces::add_rest(&wrapper[0], text, at, &mut out.text, &mut taken);
                    inner = Inner::Whole;
                }
                is_open = inner == Inner::Partial;
                if !is_open && end < text.len() {
                    out.text.push(b'\n');
                }
            }
        }
        line += 1;
        at = end + 1;
    }
    out
}

/// Wrappers of which one line holds several.
const LISTS: [&str; 3] = ["json-list", "loki", "otlp"];

/// Adds a place for each further line of `inner`, the text of the line at `at`, and gives how many:
/// each is a line of its own, at a place of its own in the list.
fn add_places(inner: &[u8], out: &mut Unwrapped, at: usize, line: u32) -> u32 {
    let mut n = 0;
    for end in memchr::memchr_iter(b'\n', inner) {
        n += 1;
        out.places.push(Place {
            inner: (out.text.len() + end + 1) as u32,
            start: at as u32 + n,
            line: line + n,
        });
    }
    n
}

/// Whether one of `wrappers` says the time.
pub(crate) fn has_stamp(wrappers: &[Wrapper]) -> bool {
    wrappers.iter().any(|wrapper| wrapper.stamp.is_some())
}

/// The time that one of `wrappers` says of a line.
pub(crate) fn stamp(wrappers: &[Wrapper], line: &[u8]) -> Option<Civil> {
    let n = wrappers.iter().position(|wrapper| wrapper.stamp.is_some())?;
    let text = unwrap(&wrappers[..n], line).text;
    (wrappers[n].stamp?)(text.split(|b| *b == b'\n').next()?)
}

/// Of text whose first line is a JSON object: what has none of the keys that are known for it.
pub(crate) fn missing_keys(text: &[u8]) -> Option<String> {
    text.split(|b| *b == b'\n').find(|line| !line.trim_ascii().is_empty()).and_then(json::missing_keys)
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

/// Puts the inner text of `line` into `one`.
fn inner_of(wrappers: &[Wrapper], line: &[u8], one: &mut Vec<u8>, other: &mut Vec<u8>) -> Inner {
    one.clear();
    add_clean(line.strip_suffix(b"\r").unwrap_or(line), one);
    for wrapper in wrappers {
        other.clear();
        match wrapper.take_inner(one, other) {
            Some(Inner::Nothing) => return Inner::Nothing,
            Some(inner) => {
                std::mem::swap(one, other);
                if inner == Inner::Partial {
                    return inner;
                }
            }
            // The rest of a stack trace goes on with the record before.
            None if !wrapper.layouts.is_empty() && !matches!(one.first(), Some(b' ' | b'\t')) => {
                one.insert(0, BARE);
                return Inner::Whole;
            }
            None => return Inner::Whole,
        }
    }
    Inner::Whole
}

/// Whether a line that begins before `at`, where another begins, goes on there or behind.
pub(crate) fn goes_on(wrappers: &[Wrapper], only: Option<&Only>, text: &[u8], at: usize) -> bool {
    let mut seen: Vec<Vec<u8>> = Vec::new();
    let mut end = at;
    for _ in 0..pieces::LINES_MAX {
        if end == 0 || wrappers.is_empty() {
            return false;
        }
        let start = memchr::memrchr(b'\n', &text[..end - 1]).map_or(0, |n| n + 1);
        let line = &text[start..end - 1];
        end = start;
        if only.is_some_and(|only| only.holds(wrappers, line) == Some(false)) {
            continue;
        }
        let is_open = inner_of(wrappers, line, &mut Vec::new(), &mut Vec::new()) == Inner::Partial;
        let Some(stream) = wrappers[0].stream else { return is_open };
        let mut name = Vec::new();
        let is_last = stream(line, &mut name).is_some() && !seen.contains(&name);
        if is_open && is_last {
            return true;
        }
        seen.push(name);
    }
    false
}

/// Marks at the start of UTF-16, whose ASCII is read.
const WIDE_MARKS: [&[u8]; 2] = [b"\xff\xfe", b"\xfe\xff"];

/// Adds `line` without escape sequences, NUL bytes and a mark at its start.
fn add_clean(line: &[u8], out: &mut Vec<u8>) {
    let line = line.strip_prefix(MARK).unwrap_or(line);
    let line = WIDE_MARKS.iter().find_map(|mark| line.strip_prefix(*mark)).unwrap_or(line);
    let mut at = 0;
    while let Some(n) = memchr::memchr2(0x1b, 0, &line[at..]) {
        out.extend_from_slice(&line[at..at + n]);
        at += n + 1;
        if line[at - 1] == 0x1b && line.get(at) == Some(&b'[') {
            let n = line[at + 1..].iter().take_while(|b| (0x20..0x40).contains(*b)).count();
            at = (at + n + 2).min(line.len());
        }
    }
    out.extend_from_slice(&line[at..]);
    if let Some(rest) = out.strip_prefix(MARK) {
        *out = rest.to_vec();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(names: &[&str], text: &str, expected: &str) {
        let wrappers: Vec<Wrapper> = names.iter().map(|name| by_name(name).expect("a wrapper")).collect();
        let got = unwrap(&wrappers, text.as_bytes());
        assert_eq!(String::from_utf8_lossy(&got.text), expected, "{names:?} {text}");
        for place in &got.places {
            let before = &text.as_bytes()[..place.start as usize];
            assert_eq!(memchr::memchr_iter(b'\n', before).count(), place.line as usize);
        }
    }

    #[test]
    fn container_runtimes() {
        let cri = "2025-03-29T11:54:05.123456789Z";
        check(&["cri"], &format!("{cri} stdout F a b\n{cri} stderr F \tat c\n"), "a b\n\tat c\n");
        check(&["cri"], &format!("{cri} stdout P a \n{cri} stdout F b\n{cri} stdout F c\n"), "a b\nc\n");
        check(&["cri"], "bare\n", "bare\n");
        check(
            &["docker-json"],
            "{\"log\":\"a \\\"b\\\"\\n\",\"stream\":\"stdout\",\"time\":\"x\"}\n",
            "a \"b\"\n",
        );
        check(
            &["docker-json"],
            "{\"log\":\"a\",\"stream\":\"stdout\"}\n{\"log\":\"b\\u00e4\\n\",\"stream\":\"stdout\"}\n",
            "ab\u{e4}\n",
        );
        check(&["timestamps"], &format!("{cri} a b\n"), "a b\n");
        check(&["kubectl-prefix", "timestamps"], &format!("[pod/x-1/y] {cri} a\n"), "a\n");
        check(&["compose"], "app-1  | a | b\n", "a | b\n");
        check(&["stern"], "web-5f7 app a b\n", "a b\n");
    }

    #[test]
    fn what_was_cut_is_one_line_for_the_next_wrapper() {
        let record = r#"{"level":"INFO","message":"a long text","timestamp":"2025-03-29T11:54:05Z"}"#;
        let (head, rest) = record.split_at(20);
        let stamp = "2025-03-29T11:54:05.123456789Z";
        check(
            &["cri", "json"],
            &format!("{stamp} stdout P {head}\n{stamp} stdout F {rest}\n"),
            "2025-03-29T11:54:05Z\u{1f}INFO\u{1f}\u{1f}\u{1f}\u{1f}\u{1f}a long text\n",
        );
        let pretty = record.replace(",", ",\n  ").replace('{', "{\n  ").replace('}', "\n}");
        for (text, n) in [(format!("{pretty}\n"), 1), (format!("[\n{pretty},\n{pretty}\n]\n"), 2)] {
            let one = "2025-03-29T11:54:05Z\u{1f}INFO\u{1f}\u{1f}\u{1f}\u{1f}\u{1f}a long text\n";
            check(&["json-lines", "json"], &text, &one.repeat(n));
        }
        let indented = pretty.lines().map(|line| format!("  {line}\n")).collect::<String>();
        check(
            &["json-lines-2", "json"],
            &format!("[\n{indented}]\n"),
            "2025-03-29T11:54:05Z\u{1f}INFO\u{1f}\u{1f}\u{1f}\u{1f}\u{1f}a long text\n",
        );
        // Several objects of one line are no record.
        check(&["json"], &format!("{record},{record}\n"), &format!("\u{1e}{record},{record}\n"));
        check(
            &["json"],
            &format!("[{record},\n"),
            "2025-03-29T11:54:05Z\u{1f}INFO\u{1f}\u{1f}\u{1f}\u{1f}\u{1f}a long text\n",
        );
    }

    #[test]
    fn services() {
        check(&["syslog-3164"], "<34>Mar  9 11:54:05 host app[12]: a\n", "a\n");
        check(&["syslog-3164"], "Mar 29 11:54:05 host app: a\n", "a\n");
        check(&["syslog-5424"], "<34>1 2025-03-29T11:54:05.1Z host app 12 - [x y=\"]z\"] a\n", "a\n");
        check(&["syslog-5424"], "<34>1 2025-03-29T11:54:05.1Z host app 12 ID - a b\n", "a b\n");
        check(&["journal"], "2025-03-29T11:54:05+0100 host app[12]: a b\n", "a b\n");
        check(
            &["syslog-5424"],
            "<34>1 2025-03-29T11:54:05.1Z host app 12 - - a#012#011at b\n",
            "a\n\tat b\n",
        );
        check(&["journal-full"], "Sat 2025-03-29 11:54:05 UTC host app[12]: a b\n", "a b\n");
        check(&["service-wrapper"], "INFO   | jvm 1    | 2025/03/29 11:54:05 | a | b\n", "a | b\n");
        check(&["service-wrapper"], "jvm 1    | a | b\n", "a | b\n");
        check(&["cloudfoundry"], "   2025-03-29T11:54:05.12+0000 [APP/PROC/WEB/0] OUT a b\n", "a b\n");
        check(&["logcli"], "2025-03-29T11:54:05Z {app=\"x\", pod=\"y\"} a {b}\n", "a {b}\n");
        check(&["grafana"], "1743249245123000000\t2025-03-29T11:54:05.123Z\ta\tb\n", "a\tb\n");
        check(
            &["fluentd"],
            "2025-03-29T11:54:05+00:00\tkube.app\t{\"log\":\"a b\",\"stream\":\"stdout\"}\n",
            "a b\n",
        );
        check(&["compose"], "web.1.abc@host1    | a\n", "a\n");
        check(&["journal-export"], "__CURSOR=1\nMESSAGE=a b\nPRIORITY=6\n\nMESSAGE=c\n", "a b\nc\n");
    }

    #[test]
    fn contexts_of_records() {
        let value = |names: &[&str], text: &str, key: &str| {
            let wrappers: Vec<Wrapper> = names.iter().map(|name| by_name(name).expect("a wrapper")).collect();
            context(&wrappers, text.as_bytes(), key).map(|value| String::from_utf8_lossy(&value).into_owned())
        };
        let line = r#"{"message":"m","mdc":{"order":"o-1","n":7},"tenant":"t\"2","nested":{"order":"no"}}"#;
        assert_eq!(value(&["json"], line, "order").as_deref(), Some("o-1"));
        assert_eq!(value(&["json"], line, "n").as_deref(), Some("7"));
        assert_eq!(value(&["json"], line, "tenant").as_deref(), Some("t\"2"));
        assert_eq!(value(&["json"], line, "nested"), None);
        let cri = format!("2025-03-29T11:54:05.1Z stdout F {line}\n");
        assert_eq!(value(&["cri", "json"], &cri, "order").as_deref(), Some("o-1"));
        let pairs = r#"time=1 level=info msg="a b" order=o-2"#;
        assert_eq!(value(&["logfmt"], pairs, "order").as_deref(), Some("o-2"));
        assert_eq!(value(&["cri"], &cri, "order"), None);
    }

    #[test]
    fn ends_of_lines() {
        check(&["trailing-blank"], "a \nb  \nc\n", "a\nb \nc\n");
        check(&["carriage-return"], "a\r\nb\n", "a\nb\n");
        check(&["compose", "trailing-blank"], "app-1  | a \r\n", "a\n");
        let ends = |text: &[u8]| line_ends(text).map(|wrapper| wrapper.name);
        assert_eq!(ends(b"a \n\nb \nc"), Some("trailing-blank"));
        assert_eq!(ends(b"a\r\nb\r\n"), Some("carriage-return"));
        assert_eq!(ends(b"a \nb\n\n"), None);
        assert_eq!(ends(b""), None);
    }

    #[test]
    fn no_text() {
        check(&[], "\u{1b}[32ma\u{1b}[0m b\u{1b}[1;31mc\u{1b}[m\n", "a bc\n");
        check(&[], "\0\0a\n\u{feff}b\n", "a\nb\n");
        let wide = unwrap(&[], b"\xff\xfea\0\n\0b\0\n\0");
        assert_eq!(wide.text, b"a\nb\n");
    }

    #[test]
    fn json_layouts() {
        let check = |line: &str, expected: &str| {
            check(&["json"], &format!("{line}\n"), &format!("{}\n", expected.replace('|', "\u{1f}")))
        };
        check(
            r#"{"@timestamp":"2025-03-29T11:54:05.123Z","log.level":"INFO","message":"a\tb","process.thread.name":"main","log.logger":"a.B","trace.id":"t"}"#,
            "2025-03-29T11:54:05.123Z|INFO|main|a.B|t||a\tb",
        );
        check(
            r#"{"instant":{"epochSecond":1743249245,"nanoOfSecond":123000000},"thread":"main","level":"WARN","loggerName":"a.B","message":"m","thrown":{"extendedStackTrace":"x.E: y\n\tat z"},"contextMap":{"traceId":"t"}}"#,
            "1743249245123|WARN|main|a.B|t||m\nx.E: y\n\tat z",
        );
        check(
            r#"{"version":"1.1","short_message":"m","timestamp":1743249245.123,"level":3,"_thread":"t1","_logger":"a.B"}"#,
            "1743249245123|ERROR|t1|a.B|||m",
        );
        check(r#"{"a":1}"#, "\u{1e}{\"a\":1}");
        let logfmt = |line: &str, expected: &str| {
            super::tests::check(
                &["logfmt"],
                &format!("{line}\n"),
                &format!("{}\n", expected.replace('|', "\u{1f}")),
            )
        };
        logfmt(
            "ts=2025-03-29T11:54:05Z level=info logger=a.B thread=main msg=\"a \\\"b\\\"\"",
            "2025-03-29T11:54:05Z|info|main|a.B|||a \"b\"",
        );
    }
}

//! Options: how a table is made. The same ones go to each step, so that what has to be the same in
//! two of them is.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use log_mapper::Layout;
use reducer::finish::Keep;
use schema::Passes;

use super::progress::{Progress, Step, Stepping};
use super::threads::Threads;
use crate::error::{Context as _, Error, ErrorKind, Result};

/// How a table is made; all of it has a sane default.
///
/// ```
/// use std::time::Duration;
/// use lprof::pipeline::{Layouts, Options, Threads};
///
/// let options = Options {
///     layouts: Layouts::pattern("%d{ISO8601} %-5p [%t] %c: %m%n")?,
///     zone: Some("Europe/Berlin".parse()?),
///     window: Duration::from_secs(30),
///     threads: Threads::new(2)?,
///     ..Options::default()
/// };
/// assert!("Middle/Earth".parse::<lprof::pipeline::Zone>().is_err());
/// # drop(options);
/// # Ok::<(), lprof::Error>(())
/// ```
#[derive(Clone)]
pub struct Options {
    /// A file of rules that force or forbid top-level methods, pairs and identifiers.
    pub rules: Option<PathBuf>,
    /// How lines of logs begin.
    pub layouts: Layouts,
    /// Zone of time stamps that name none; none: UTC.
    pub zone: Option<Zone>,
    /// Year, month and day of a first time stamp without a day; none: by when its file was last
    /// written.
    pub date: Option<(i16, u8, u8)>,
    /// Fields of the logs that hold ids of requests, or do not, as far as that is known.
    pub ids: KnownIds,
    /// Longest silence within a request.
    pub window: Duration,
    /// Detail that the table keeps of each request.
    pub keep: Keep,
    /// Bytes of memory for what is decided side by side as requests are made; none: as much as there
    /// are threads. It changes nothing of the table.
    pub memory_bytes: Option<u64>,
    /// Threads that work on it. They change nothing of the table.
    pub threads: Threads,
    /// Is told how far it has come.
    pub progress: Arc<dyn Progress>,
    /// Passes that are left out, to see what they earn.
    #[doc(hidden)]
    pub without: Passes,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            rules: None,
            layouts: Layouts::default(),
            zone: None,
            date: None,
            ids: KnownIds::default(),
            window: Duration::from_mins(1),
            keep: Keep::default(),
            memory_bytes: None,
            threads: Threads::default(),
            progress: Arc::new(()),
            without: Passes::default(),
        }
    }
}

impl Options {
    /// Says that a step has begun; it is over when what is returned is dropped.
    pub(super) fn begin(&self, step: Step) -> Stepping<'_> {
        Stepping::new(&*self.progress, step)
    }

    fn window_us(&self) -> i64 {
        i64::try_from(self.window.as_micros()).unwrap_or(i64::MAX)
    }

    /// What the mapper goes by, but for the node.
    pub(super) fn mapping(&self) -> log_mapper::Config {
        let mut config = log_mapper::Config::new("");
        config.layouts.clone_from(&self.layouts.given);
        config.may_detect = self.layouts.may_detect;
        if let Some(zone) = &self.zone {
            config.zone.clone_from(&zone.0);
            config.zone_is_given = true;
        }
        config.date = self.date;
        config.libraries = static_analyzer::LIBRARY_PREFIXES;
        config.ids = log_mapper::Fields { with: self.ids.with.clone(), without: self.ids.without.clone() };
        config.accumulate.window_us = self.window_us();
        config.accumulate.without = self.without;
        config
    }

    /// What the reducer goes by.
    pub(crate) fn reducing(&self) -> reducer::Config {
        // Of a field behind which values stand in messages the name.
        let fields = |fields: &[String]| {
            fields.iter().map(|field| log_mapper::name_of_field(field).to_owned()).collect()
        };
        let ids = reducer::ByHand { with: fields(&self.ids.with), without: fields(&self.ids.without) };
        reducer::Config {
            window_us: self.window_us(),
            without: self.without,
            ids,
            memory_bytes: self.memory_bytes,
            ..reducer::Config::default()
        }
    }
}

/// Fields of the logs of which it is known whether they hold ids of requests: an MDC key, a position
/// `[n]` in the layout, a key of JSON, a name before values in messages (`key=`). Of others it is found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KnownIds {
    /// Requests are told by these, whatever is found of them.
    pub with: Vec<String>,
    /// By these they are not.
    pub without: Vec<String>,
}

/// How lines of logs begin; the default: it is found from the first records.
#[derive(Clone, Debug)]
pub struct Layouts {
    given: Vec<Arc<Layout>>,
    /// Others are looked for where these do not fit.
    may_detect: bool,
    warnings: Vec<String>,
}

impl Default for Layouts {
    fn default() -> Self {
        Self { given: Vec::new(), may_detect: true, warnings: Vec::new() }
    }
}

impl Layouts {
    /// As `pattern` says, of log4j, log4j 2 or logback.
    ///
    /// # Errors
    /// It is no such pattern.
    pub fn pattern(pattern: &str) -> Result<Self> {
        let layout = Layout::compile(pattern)
            .map_err(|error| Error::new(ErrorKind::Invalid, format!("`{pattern}`: {error}")))?;
        Ok(Self { given: vec![Arc::new(layout)], may_detect: false, warnings: Vec::new() })
    }

    /// As a logging configuration says: properties, XML, YAML or JSON. Where nothing of it can be used,
    /// layouts are found in the logs.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn configuration(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).with_context(|| format!("`{}`", path.display()))?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let read = |name: &str| {
            let name = name.trim_start_matches("classpath:").trim_start_matches("file:");
            let beside = Path::new(name).file_name().map(|file| folder.join(file));
            let whole = std::fs::read_to_string(folder.join(name)).ok();
            whole.or_else(|| std::fs::read_to_string(beside?).ok())
        };
        let configuration = log_mapper::read_configuration(&text, &read);
        let mut problems = configuration.problems;
        let mut given = Vec::new();
        for (pattern, line) in configuration.patterns {
            match Layout::compile(&pattern) {
                Ok(layout) => given.push(Arc::new(layout)),
                // Some appenders of a configuration print no message; those that do are enough.
                Err(e) => problems.push(format!("line {line}: {e}")),
            }
        }
        if given.is_empty() {
            problems.push("no pattern of a layout in it: the layout is looked for in the logs".to_owned());
        }
        let warnings = problems.into_iter().map(|problem| format!("`{}`: {problem}", path.display()));
        Ok(Self { given, may_detect: true, warnings: warnings.collect() })
    }

    /// What of a configuration could not be used.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }
}

/// A zone of time stamps, by its IANA name, as `UTC`, or as an offset such as `+02:00`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Zone(jiff::tz::TimeZone);

impl FromStr for Zone {
    type Err = Error;

    /// # Errors
    /// No such zone.
    fn from_str(name: &str) -> Result<Self> {
        log_mapper::parse_zone(name).map(Self).map_err(|why| Error::new(ErrorKind::Invalid, why))
    }
}

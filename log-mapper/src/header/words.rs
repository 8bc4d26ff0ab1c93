//! Conversion words: what each word of a pattern prints, of log4j 1, log4j 2, logback, JBoss
//! LogManager and Spring Boot together. Where two of them mean different things by one word, the
//! wider meaning is kept: a text can be a number, too.

/// What a conversion word prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Time,
    Level,
    Logger,
    Thread,
    File,
    Line,
    Class,
    Method,
    Location,
    Mdc,
    /// Milliseconds since the program began.
    Elapsed,
    Number,
    Text,
    Message,
    NewLine,
    /// Nothing, or the throwable.
    Throwable,
    /// The pattern is in the group or the first option.
    Nested,
    /// So it is, and all of it can be missing.
    Optional,
    /// A text in brackets and a blank, or nothing.
    Enclosed,
}

/// Words of each kind.
const WORDS: &[(Kind, &[&str])] = &[
    (Kind::Time, &["d", "date"]),
    (Kind::Level, &["p", "le", "level"]),
    (Kind::Logger, &["c", "lo", "logger"]),
    (Kind::Thread, &["t", "tn", "thread", "threadName"]),
    (Kind::File, &["F", "file"]),
    (Kind::Line, &["L", "line"]),
    (Kind::Class, &["C", "class"]),
    (Kind::Method, &["M", "method"]),
    (Kind::Location, &["l", "location", "caller"]),
    (Kind::Mdc, &["X", "mdc", "MDC"]),
    (Kind::Elapsed, &["r", "relative"]),
    (
        Kind::Number,
        &[
            "pid",
            "processId",
            "i",
            "sn",
            "sequenceNumber",
            "T",
            "tid",
            "threadId",
            "tp",
            "threadPriority",
            "nano",
            "ms",
        ],
    ),
    (Kind::Message, &["m", "msg", "message", "s"]),
    (Kind::NewLine, &["n"]),
    (
        Kind::Throwable,
        &[
            "e",
            "E",
            "ex",
            "exception",
            "throwable",
            "xEx",
            "xException",
            "xThrowable",
            "xwEx",
            "xwex",
            "rEx",
            "rException",
            "rThrowable",
            "wEx",
            "wex",
            "nopex",
            "nopexception",
            "rootException",
        ],
    ),
    (
        Kind::Nested,
        &[
            "highlight",
            "style",
            "replace",
            "clr",
            "maxLen",
            "maxLength",
            "enc",
            "encode",
            "prefix",
            "equals",
            "equalsIgnoreCase",
            "black",
            "red",
            "green",
            "yellow",
            "blue",
            "magenta",
            "cyan",
            "white",
            "gray",
            "faint",
            "boldRed",
            "boldGreen",
            "boldYellow",
            "boldBlue",
            "boldMagenta",
            "boldCyan",
            "boldWhite",
        ],
    ),
    (Kind::Optional, &["notEmpty", "varsNotEmpty", "variablesNotEmpty"]),
    (Kind::Enclosed, &["esb", "applicationName", "applicationGroup", "correlationId"]),
    (
        Kind::Text,
        &[
            "x",
            "NDC",
            "K",
            "map",
            "MAP",
            "marker",
            "markerSimpleName",
            "u",
            "uuid",
            "contextName",
            "cn",
            "property",
            "kvp",
            "fqcn",
            "endOfBatch",
            "h",
            "H",
            "N",
            "D",
            "v",
            "k",
            "z",
            "hostName",
            "app",
        ],
    ),
];

/// What `word` prints; none: it is a word of the user's own, declared elsewhere.
pub(super) fn kind_of(word: &[u8]) -> Option<Kind> {
    WORDS.iter().find(|(_, words)| words.iter().any(|w| w.as_bytes() == word)).map(|(kind, _)| *kind)
}

/// The longest known word that `text` begins with: log4j reads `%mEOL` as `%m` and `EOL`.
pub(super) fn known_start(text: &[u8]) -> Option<(usize, Kind)> {
    (1..=text.len()).rev().find_map(|n| Some((n, kind_of(&text[..n])?)))
}

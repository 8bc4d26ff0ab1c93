//! The logging libraries: which classes are loggers, and how their methods take
//! level, message, arguments and exception. One row per class.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;
use schema::Level;

use crate::program::{MethodRef, Name};
use crate::strings::types;

/// How a library fills arguments into a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Format {
    /// Printed as it is.
    Plain,
    /// `{}`
    Braces,
    /// `{0}`, only if there are arguments.
    Numbered,
    /// The same, only if the text has such a place: else quotes stay.
    NumberedIfAsked,
    /// `%s`
    Printf,
    /// `{}`, also with the pattern of a number in it, `{0.00}`.
    Tiny,
}

/// One logging class.
#[derive(Clone, Copy, Debug)]
struct Row {
    class: &'static str,
    format: Format,
    /// The logger is named for the class of the receiver.
    mixin: bool,
    /// Its methods are static, and the logger is named for the class that calls them.
    facade: bool,
}

const fn row(class: &'static str, format: Format) -> Row {
    Row { class, format, mixin: false, facade: false }
}

const fn facade(class: &'static str, format: Format) -> Row {
    Row { class, format, mixin: false, facade: true }
}

const fn mixin(class: &'static str) -> Row {
    Row { class, format: Format::Plain, mixin: true, facade: false }
}

const ROWS: &[Row] = &[
    row("org/apache/commons/logging/Log", Format::Plain),
    row("org/apache/log4j/Category", Format::Plain),
    row("org/apache/log4j/Logger", Format::Plain),
    row("org/slf4j/Logger", Format::Braces),
    row("org/slf4j/spi/LocationAwareLogger", Format::Braces),
    row("org/slf4j/ext/LoggerWrapper", Format::Braces),
    row("org/slf4j/ext/XLogger", Format::Braces),
    row("ch/qos/logback/classic/Logger", Format::Braces),
    row("org/apache/logging/log4j/Logger", Format::Braces),
    row("org/apache/logging/log4j/core/Logger", Format::Braces),
    row("org/apache/logging/log4j/spi/AbstractLogger", Format::Braces),
    row("org/apache/logging/log4j/spi/ExtendedLogger", Format::Braces),
    row(JUL, Format::NumberedIfAsked),
    row("java/lang/System$Logger", Format::NumberedIfAsked),
    row("sun/util/logging/PlatformLogger", Format::NumberedIfAsked),
    row("org/apache/juli/logging/Log", Format::Plain),
    row("org/apache/avalon/framework/logger/Logger", Format::Plain),
    facade("org/tinylog/Logger", Format::Tiny),
    row("org/tinylog/TaggedLogger", Format::Tiny),
    facade("org/pmw/tinylog/Logger", Format::Tiny),
    facade("io/quarkus/logging/Log", Format::Plain),
    row("io/vertx/core/logging/Logger", Format::NumberedIfAsked),
    row("io/vertx/core/impl/logging/Logger", Format::Plain),
    row("io/vertx/core/internal/logging/Logger", Format::Plain),
    row("org/osgi/service/log/LogService", Format::Plain),
    row("org/osgi/service/log/Logger", Format::Braces),
    row("org/osgi/service/log/FormatterLogger", Format::Printf),
    row("org/mortbay/log/Log", Format::Braces),
    row("org/mortbay/log/Logger", Format::Braces),
    row("org/eclipse/jetty/util/log/Logger", Format::Braces),
    row("org/eclipse/jetty/util/log/Log", Format::Braces),
    row("org/jboss/logging/BasicLogger", Format::Plain),
    row("org/jboss/logging/DelegatingBasicLogger", Format::Plain),
    row("org/jboss/logging/Logger", Format::Plain),
    row("org/jboss/netty/logging/InternalLogger", Format::Plain),
    row("io/netty/util/internal/logging/InternalLogger", Format::Braces),
    row("io/netty/logging/InternalLogger", Format::Plain),
    row("com/google/common/flogger/LoggingApi", Format::Printf),
    row("com/google/common/flogger/GoogleLogger$Api", Format::Printf),
    row("com/google/common/flogger/FluentLogger$Api", Format::Printf),
    row("org/slf4j/spi/LoggingEventBuilder", Format::Braces),
    row("org/apache/logging/log4j/LogBuilder", Format::Braces),
    row("grizzled/slf4j/Logger", Format::Plain),
    row("com/typesafe/scalalogging/Logger", Format::Braces),
    row("akka/event/DiagnosticLoggingAdapter", Format::Braces),
    row("akka/event/LoggingAdapter", Format::Braces),
    row("akka/event/MarkerLoggingAdapter", Format::Braces),
    row("org/apache/pekko/event/DiagnosticLoggingAdapter", Format::Braces),
    row("org/apache/pekko/event/LoggingAdapter", Format::Braces),
    row("org/apache/pekko/event/MarkerLoggingAdapter", Format::Braces),
    row("mu/KLogger", Format::Braces),
    row("io/github/oshai/kotlinlogging/KLogger", Format::Braces),
    mixin("org/apache/spark/Logging"),
    mixin("org/apache/spark/Logging$class"),
    mixin("org/apache/spark/internal/Logging"),
    mixin("org/apache/spark/internal/Logging$class"),
    mixin("kafka/utils/Logging"),
    mixin("kafka/utils/Logging$class"),
    mixin("grizzled/slf4j/Logging"),
];

/// Method names and levels.
const LEVELS: &[(&str, Level)] = &[
    ("trace", Level::Trace),
    ("finest", Level::Trace),
    ("finer", Level::Trace),
    ("debug", Level::Debug),
    ("fine", Level::Debug),
    ("info", Level::Info),
    ("config", Level::Info),
    ("notice", Level::Info),
    ("warn", Level::Warn),
    ("warning", Level::Warn),
    ("error", Level::Error),
    ("severe", Level::Error),
    ("fatal", Level::Fatal),
    ("fatalError", Level::Fatal),
];

/// Methods that take the level as an argument, or from the chain of calls.
const LEVELLED: &[&str] =
    &["log", "logp", "logrb", "logf", "logv", "printf", "logMessage", "logIfEnabled", "logVarargs"];

/// Methods that print a text of their own, and behind it what they are given after the names of a
/// class and a method: class, method, level, text.
const OWN_TEXTS: &[(&str, &str, Level, &str)] = &[
    (JUL, "entering", Level::Trace, "ENTRY"),
    (JUL, "exiting", Level::Trace, "RETURN"),
    (JUL, "throwing", Level::Trace, "THROW"),
    ("org/slf4j/ext/XLogger", "throwing", Level::Error, "throwing"),
    ("org/slf4j/ext/XLogger", "catching", Level::Error, "catching"),
    ("org/apache/logging/log4j/Logger", "throwing", Level::Error, "Throwing"),
    ("org/apache/logging/log4j/Logger", "catching", Level::Error, "Catching"),
];

const JUL: &str = "java/util/logging/Logger";
const THROWABLE: &str = "Ljava/lang/Throwable;";
const STRING: &str = "Ljava/lang/String;";
const BUNDLE: &str = "Ljava/util/ResourceBundle;";

/// Where the level comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LevelFrom {
    /// The method's name.
    Name(Level),
    /// An argument, by position among receiver and arguments.
    Argument(usize),
    /// An earlier call of the chain (`atInfo().log(..)`).
    Chain,
}

/// A logging call, taken apart. Positions count receiver and arguments.
#[derive(Clone, Debug)]
pub(crate) struct LogCall {
    pub(crate) level: LevelFrom,
    /// None: given earlier in the chain of calls.
    pub(crate) message: Option<usize>,
    /// What the method prints by itself, with the values behind it.
    pub(crate) text: Option<&'static str>,
    pub(crate) format: Format,
    /// The message is a closure that makes the text.
    pub(crate) closure: bool,
    /// Arguments one by one.
    pub(crate) values: Vec<usize>,
    /// Arguments as an array.
    pub(crate) array: Option<usize>,
    /// The array is one of closures that make the arguments.
    pub(crate) closures: bool,
    /// The exception.
    pub(crate) throwable: Option<usize>,
    /// Receiver is a value (not a static facade).
    pub(crate) has_receiver: bool,
    /// The logger is named for the class of the receiver.
    pub(crate) mixin: bool,
    /// The logger is named for the class that calls.
    pub(crate) facade: bool,
}

impl LogCall {
    fn new(row: &Row, level: LevelFrom, format: Format, has_receiver: bool) -> Self {
        Self {
            level,
            message: None,
            text: None,
            format,
            closure: false,
            values: Vec::new(),
            array: None,
            closures: false,
            throwable: None,
            has_receiver,
            mixin: row.mixin,
            facade: row.facade,
        }
    }
}

static INDEX: LazyLock<FxHashMap<Name, &'static Row>> =
    LazyLock::new(|| ROWS.iter().map(|row| (Name::from(row.class), row)).collect());

/// Whether this class is a row of the table.
pub(crate) fn is_listed(class: Name) -> bool {
    INDEX.contains_key(&class)
}

/// Names of the classes that builds move to other packages: those of libraries.
pub(crate) fn moved_names() -> impl Iterator<Item = &'static str> {
    ROWS.iter().filter(|row| !row.mixin && !row.class.starts_with("java/")).map(|row| row.class)
}

/// Whether classes get their own logger from this one.
pub(crate) fn is_mixin(class: Name) -> bool {
    INDEX.get(&class).is_some_and(|row| row.mixin)
}

/// Takes a call apart, `listed` being the logging class that the method's owner
/// is or extends.
pub(crate) fn classify(listed: Name, method: &MethodRef, is_static: bool) -> Option<LogCall> {
    let row = INDEX.get(&listed)?;
    let parameters = types::parameters(&method.descriptor);
    let shift = usize::from(!is_static);
    if let Some(call) = own_text(row, method, &parameters, shift) {
        return Some(call);
    }
    if types::result(&method.descriptor) != "V" || parameters.is_empty() && method.name != "log" {
        return None;
    }
    let name = method.name.as_str();
    let (by_name, mut format) = level_of(name, row.format);
    let mut next = usize::from(row.mixin && is_static);
    skip_markers(&parameters, &mut next);
    let level = match by_name {
        Some(level) => LevelFrom::Name(level),
        None if LEVELLED.contains(&name) => match level_at(listed, &parameters, next) {
            Some(at) => {
                next = at + 1;
                LevelFrom::Argument(at + shift)
            }
            None if is_chained(listed) => LevelFrom::Chain,
            None => return None,
        },
        None => return None,
    };
    skip_markers(&parameters, &mut next);
    next = match name {
        "logp" => next + 2,
        // The bundle behind the names of a class and a method, or alone.
        "logrb" if parameters.get(next) != Some(&BUNDLE) => next + 3,
        "logMessage" => parameters.iter().position(|p| is_object(p)).unwrap_or(next),
        _ => next + usize::from(parameters.get(next) == Some(&BUNDLE)),
    };
    match name {
        "printf" | "logf" => format = Format::Printf,
        "logv" => format = Format::Numbered,
        "logrb" => next += usize::from(parameters.get(next) == Some(&BUNDLE)),
        _ => {}
    }
    // Mixins take the message by name; what else is called so in a class that has
    // its log methods from one is its own.
    finish(row, level, format, &parameters, next, shift).filter(|call| !row.mixin || call.closure)
}

/// Where a method takes its level: an object, or a number before the text, also behind the class
/// that calls.
fn level_at(listed: Name, parameters: &[&str], next: usize) -> Option<usize> {
    let numbers = || {
        let number = (next..next + 2).find(|&at| parameters.get(at) == Some(&"I"))?;
        let is_text = parameters.get(number + 1) == Some(&STRING);
        (is_text && !is_chained(listed)).then_some(number)
    };
    parameters.iter().position(|p| is_level(p)).or_else(numbers)
}

fn skip_markers(parameters: &[&str], next: &mut usize) {
    *next += usize::from(parameters.get(*next).is_some_and(|p| p.ends_with("Marker;")));
}

/// A call of a method that prints a text of its own.
fn own_text(row: &Row, method: &MethodRef, parameters: &[&str], shift: usize) -> Option<LogCall> {
    let is_it = |t: &&(&str, &str, _, _)| t.0 == row.class && method.name == t.1;
    let &(_, _, level, text) = OWN_TEXTS.iter().find(is_it)?;
    let mut call = LogCall::new(row, LevelFrom::Name(level), Format::Numbered, shift == 1);
    call.text = Some(text);
    let mut names = 2;
    for (i, parameter) in parameters.iter().enumerate() {
        match *parameter {
            STRING if names > 0 && row.class == JUL => names -= 1,
            THROWABLE => call.throwable = Some(i + shift),
            "[Ljava/lang/Object;" => call.array = Some(i + shift),
            p if p.ends_with("Level;") => {}
            _ => call.values.push(i + shift),
        }
    }
    Some(call)
}

fn finish(
    row: &Row,
    level: LevelFrom,
    format: Format,
    parameters: &[&str],
    mut next: usize,
    shift: usize,
) -> Option<LogCall> {
    let mut call = LogCall::new(row, level, format, shift == 1);
    let Some(message) = parameters.get(next) else {
        return (level == LevelFrom::Chain).then_some(call);
    };
    // The exception before the message, or before the closure that makes it.
    if *message == THROWABLE
        && let Some(behind) = parameters.get(next + 1)
        && (*behind == STRING || is_closure(behind))
    {
        call.throwable = Some(next + shift);
        next += 1;
    }
    let message = *parameters.get(next)?;
    if !is_message(message) {
        return None;
    }
    call.message = Some(next + shift);
    call.closure = is_closure(message);
    for (i, parameter) in parameters.iter().enumerate().skip(next + 1) {
        match *parameter {
            "[Ljava/lang/Object;" => call.array = Some(i + shift),
            array if array.strip_prefix('[').is_some_and(is_closure) => {
                call.array = Some(i + shift);
                call.closures = true;
            }
            THROWABLE => call.throwable = Some(i + shift),
            _ => call.values.push(i + shift),
        }
    }
    if message == THROWABLE {
        call.throwable = call.message;
    }
    Some(call)
}

/// Whether logging methods are called so, in some library.
pub(crate) fn is_log_method(name: &str) -> bool {
    LEVELLED.contains(&name) || level_of(name, Format::Plain).0.is_some()
}

fn level_of(name: &str, format: Format) -> (Option<Level>, Format) {
    let find = |name: &str| LEVELS.iter().find(|(n, _)| *n == name).map(|&(_, l)| l);
    if let Some(level) = find(name) {
        return (Some(level), format);
    }
    // JBoss: `infof`, `infov`; mixins: `logInfo`.
    if let Some(level) = name.strip_suffix('f').and_then(find) {
        return (Some(level), Format::Printf);
    }
    if let Some(level) = name.strip_suffix('v').and_then(find) {
        return (Some(level), Format::Numbered);
    }
    // Akka: `notifyError`.
    let rest = name.strip_prefix("log").or_else(|| name.strip_prefix("notify"));
    let capital = rest.filter(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase()));
    (capital.and_then(|rest| find(&rest.to_ascii_lowercase())), format)
}

fn is_level(descriptor: &str) -> bool {
    descriptor.ends_with("/Level;") || descriptor.ends_with("/Priority;") || descriptor.ends_with("$Level;")
}

fn is_chained(class: Name) -> bool {
    class.ends_with("Builder") || class.contains("/flogger/")
}

fn is_message(descriptor: &str) -> bool {
    matches!(descriptor, STRING | "Ljava/lang/Object;" | "Ljava/lang/CharSequence;" | THROWABLE)
        || is_object(descriptor)
        || is_closure(descriptor)
}

/// An object that is a message with its arguments.
fn is_object(descriptor: &str) -> bool {
    descriptor.ends_with("/logging/log4j/message/Message;")
}

/// Closures that make a message.
pub(crate) fn is_closure(descriptor: &str) -> bool {
    matches!(
        descriptor,
        "Lscala/Function0;"
            | "Ljava/util/function/Supplier;"
            | "Lkotlin/jvm/functions/Function0;"
            | "Ljava/util/concurrent/Callable;"
    ) || descriptor.ends_with("/tinylog/Supplier;")
        || descriptor.ends_with("/logging/log4j/util/Supplier;")
        || descriptor.ends_with("/logging/log4j/util/MessageSupplier;")
}

/// Whether a call of a chain (Flogger) tells something that is printed behind the message, as
/// `[CONTEXT key=value ]`: how often it is printed at most, and pairs.
pub(crate) fn is_context(name: &str) -> bool {
    matches!(name, "every" | "onAverageEvery" | "atMostEvery" | "per" | "perUnique" | "with")
}

/// Whether a method wraps a closure that makes an argument.
pub(crate) fn is_lazy(method: &MethodRef) -> bool {
    method.class == "com/google/common/flogger/LazyArgs" && method.name == "lazy"
}

/// Whether a class was generated for an interface whose methods print a message each (JBoss's
/// `@MessageLogger`), also for one language.
pub(crate) fn is_generated(class: &str) -> bool {
    class
        .rsplit_once("_$logger")
        .is_some_and(|(_, language)| language.is_empty() || language.starts_with('_'))
}

/// Where a logging call takes a key, if its text can be one of a resource bundle, and whether it is
/// given the bundle with it; else its logger may have one.
pub(crate) fn key_of(method: &MethodRef, is_static: bool) -> Option<(usize, bool)> {
    if method.class != JUL && method.class != "java/lang/System$Logger" {
        return None;
    }
    let call = classify(method.class, method, is_static)?;
    let has_bundle = method.name == "logrb" || types::parameters(&method.descriptor).contains(&BUNDLE);
    Some((call.message.filter(|_| !call.closure)?, has_bundle))
}

/// Whether a call makes a logger that has a bundle of texts.
pub(crate) fn gives_bundle(method: &MethodRef) -> bool {
    let last = types::parameters(&method.descriptor).last().copied();
    match (method.class.as_str(), method.name.as_str()) {
        (JUL, "getLogger") => method.descriptor.starts_with("(Ljava/lang/String;Ljava/lang/String;)"),
        (JUL, "setResourceBundle") => true,
        ("java/lang/System", "getLogger") => last == Some(BUNDLE),
        _ => false,
    }
}

/// Which argument names the logger that a call makes, of factories that take others, too: Akka's
/// are made for an actor or class, JBoss's messages are printed by a logger that is given by name.
pub(crate) fn source_of(method: &MethodRef, n_args: usize) -> Option<usize> {
    let parameters = types::parameters(&method.descriptor);
    let shift = n_args.checked_sub(parameters.len())?;
    let last_text = || parameters.iter().rposition(|p| *p == STRING).map(|i| i + shift);
    match method.class.rsplit_once('/') {
        Some(("akka/event" | "org/apache/pekko/event", "Logging" | "Logging$")) => {
            let makes = matches!(method.name.as_str(), "getLogger" | "apply");
            let source = parameters.iter().rposition(|p| !p.ends_with("/LogSource;"));
            source.filter(|_| makes).map(|i| i + shift)
        }
        Some(("org/jboss/logging", "Logger")) if method.name == "getMessageLogger" => last_text(),
        _ => None,
    }
}

/// How loggers of `method`, a factory, fill in arguments, where it is told so: by its name, or by
/// the last of its arguments (a class, in `given`).
pub(crate) fn format_of_factory(method: &MethodRef, given: Option<Name>) -> Option<Format> {
    if method.name == "getFormatterLogger" {
        return Some(Format::Printf);
    }
    let factory = given.filter(|_| method.name == "getLogger")?;
    let (_, class) = factory.rsplit_once('/')?;
    MESSAGE_FACTORIES.iter().find(|(name, _)| *name == class).map(|&(_, format)| format)
}

/// Factories of messages of log4j 2.
const MESSAGE_FACTORIES: &[(&str, Format)] = &[
    ("StringFormatterMessageFactory", Format::Printf),
    ("MessageFormatMessageFactory", Format::Numbered),
    ("ParameterizedMessageFactory", Format::Braces),
    ("SimpleMessageFactory", Format::Plain),
];

/// Name and descriptor of a closure's method.
pub(crate) const CLOSURE_METHODS: &[(&str, &str)] = &[
    ("apply", "()Ljava/lang/Object;"),
    ("get", "()Ljava/lang/Object;"),
    ("invoke", "()Ljava/lang/Object;"),
    ("call", "()Ljava/lang/Object;"),
];

/// Whether a call has a closure make its text.
pub(crate) fn makes_text(called: &MethodRef) -> bool {
    let is_method =
        |&(name, descriptor): &(&str, &str)| called.name == name && called.descriptor == descriptor;
    CLOSURE_METHODS.iter().any(is_method) && is_closure(&format!("L{};", called.class))
}

/// Loggers around a logger, and what makes them: the logger that they are made
/// for, or hold.
pub(crate) fn is_holder(class: Name) -> bool {
    matches!(
        class.as_str(),
        "com/typesafe/scalalogging/Logger"
            | "com/typesafe/scalalogging/Logger$"
            | "grizzled/slf4j/Logger"
            | "grizzled/slf4j/Logger$"
    )
}

/// Names of methods that make or find a logger.
pub(crate) fn is_factory(name: &str) -> bool {
    matches!(
        name,
        "getLogger"
            | "getLog"
            | "getInstance"
            | "forEnclosingClass"
            | "logger"
            | "getFormatterLogger"
            | "getContextLogger"
    )
}

/// Level of a guard `isXEnabled`.
pub(crate) fn guard_level(name: &str) -> Option<Level> {
    let inner = name.strip_prefix("is")?.strip_suffix("Enabled")?;
    LEVELS.iter().find(|(n, _)| n.eq_ignore_ascii_case(inner)).map(|&(_, l)| l)
}

/// Level of a call that starts a chain, `atInfo`.
pub(crate) fn chain_level(name: &str) -> Option<Level> {
    let inner = name.strip_prefix("at")?;
    LEVELS.iter().find(|(n, _)| n.eq_ignore_ascii_case(inner)).map(|&(_, l)| l)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(class: &str, name: &str, descriptor: &str) -> Option<LogCall> {
        let method = MethodRef { class: class.into(), name: name.into(), descriptor: descriptor.into() };
        classify(class.into(), &method, false)
    }

    #[test]
    fn mixins_take_closures() {
        let mixin = "org/apache/spark/internal/Logging";
        assert!(call(mixin, "logInfo", "(Lscala/Function0;)V").is_some());
        assert!(call(mixin, "error", "(Ljava/lang/String;)V").is_none());
    }

    #[test]
    fn takes_calls_apart() {
        let c =
            call("org/slf4j/Logger", "info", "(Ljava/lang/String;Ljava/lang/Object;)V").expect("a log call");
        assert_eq!((c.message, c.values.as_slice()), (Some(1), &[2][..]));
        let c = call(
            "org/apache/log4j/Logger",
            "log",
            "(Ljava/lang/String;Lorg/apache/log4j/Priority;Ljava/lang/Object;Ljava/lang/Throwable;)V",
        );
        let c = c.expect("a log call");
        assert_eq!((c.level, c.message, c.throwable), (LevelFrom::Argument(2), Some(3), Some(4)));
        assert!(call("org/slf4j/Logger", "isInfoEnabled", "()Z").is_none());
        let c = call(
            "java/util/logging/Logger",
            "logp",
            "(Ljava/util/logging/Level;Ljava/lang/String;Ljava/lang/String;Ljava/lang/String;)V",
        );
        assert_eq!(c.expect("a log call").message, Some(4));
    }
}

//! The logging libraries: which classes are loggers, and how their methods take
//! level, message, arguments and exception. One row per class.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;
use schema::Level;

use crate::program::{MethodRef, Name};
use crate::strings::types;

/// How a library fills arguments into a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// Printed as it is.
    Plain,
    /// `{}`
    Braces,
    /// `{0}`, only if there are arguments.
    Numbered,
    /// `%s`
    Printf,
}

/// One logging class.
#[derive(Clone, Copy, Debug)]
struct Row {
    class: &'static str,
    format: Format,
    /// The logger is named for the class of the receiver.
    mixin: bool,
}

const fn row(class: &'static str, format: Format) -> Row {
    Row { class, format, mixin: false }
}

const fn mixin(class: &'static str) -> Row {
    Row { class, format: Format::Plain, mixin: true }
}

const ROWS: &[Row] = &[
    row("org/apache/commons/logging/Log", Format::Plain),
    row("org/apache/log4j/Category", Format::Plain),
    row("org/apache/log4j/Logger", Format::Plain),
    row("org/slf4j/Logger", Format::Braces),
    row("org/slf4j/spi/LocationAwareLogger", Format::Braces),
    row("ch/qos/logback/classic/Logger", Format::Braces),
    row("org/apache/logging/log4j/Logger", Format::Braces),
    row("org/apache/logging/log4j/core/Logger", Format::Braces),
    row("java/util/logging/Logger", Format::Numbered),
    row("java/lang/System$Logger", Format::Numbered),
    row("org/apache/juli/logging/Log", Format::Plain),
    row("org/mortbay/log/Log", Format::Braces),
    row("org/mortbay/log/Logger", Format::Braces),
    row("org/eclipse/jetty/util/log/Logger", Format::Braces),
    row("org/eclipse/jetty/util/log/Log", Format::Braces),
    row("org/jboss/logging/BasicLogger", Format::Plain),
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
    row("akka/event/LoggingAdapter", Format::Braces),
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
];

/// Methods that take the level as an argument, or from the chain of calls.
const LEVELLED: &[&str] = &["log", "logp", "logrb", "logf", "logv", "printf", "logMessage"];

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
}

static INDEX: LazyLock<FxHashMap<Name, &'static Row>> =
    LazyLock::new(|| ROWS.iter().map(|row| (Name::from(row.class), row)).collect());

/// Whether this class is a row of the table.
pub(crate) fn is_listed(class: Name) -> bool {
    INDEX.contains_key(&class)
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
    if types::result(&method.descriptor) != "V" || parameters.is_empty() && method.name != "log" {
        return None;
    }
    let shift = usize::from(!is_static);
    let mut next = 0;
    let name = method.name.as_str();
    let (by_name, mut format) = level_of(name, row.format);
    if row.mixin && is_static {
        next += 1;
    }
    if parameters.get(next).is_some_and(|p| p.ends_with("/Marker;")) {
        next += 1;
    }
    let level = match by_name {
        Some(level) => LevelFrom::Name(level),
        None if LEVELLED.contains(&name) => {
            let at = parameters.iter().position(|p| is_level(p));
            // The location-aware form gives class, number of level, format.
            let counts = !is_chained(listed) && parameters.get(next + 1) == Some(&"I");
            let at = at.or_else(|| counts.then_some(next + 1));
            match at {
                Some(at) => {
                    next = at + 1;
                    LevelFrom::Argument(at + shift)
                }
                None if is_chained(listed) => LevelFrom::Chain,
                None => return None,
            }
        }
        None => return None,
    };
    next += match name {
        "logp" => 2,
        "logrb" => 3,
        _ => 0,
    };
    match name {
        "printf" | "logf" => format = Format::Printf,
        "logv" => format = Format::Numbered,
        _ => {}
    }
    // Mixins take the message by name; what else is called so in a class that has
    // its log methods from one is its own.
    finish(row, level, format, &parameters, next, shift).filter(|call| !row.mixin || call.closure)
}

fn finish(
    row: &Row,
    level: LevelFrom,
    format: Format,
    parameters: &[&str],
    next: usize,
    shift: usize,
) -> Option<LogCall> {
    let mut call = LogCall {
        level,
        message: None,
        format,
        closure: false,
        values: Vec::new(),
        array: None,
        closures: false,
        throwable: None,
        has_receiver: shift == 1,
        mixin: row.mixin,
    };
    let Some(message) = parameters.get(next) else {
        return (level == LevelFrom::Chain).then_some(call);
    };
    if !is_message(message) {
        return None;
    }
    // The exception before the closure that makes the message.
    if *message == "Ljava/lang/Throwable;"
        && let Some(made) = parameters.get(next + 1)
        && is_closure(made)
    {
        call.throwable = Some(next + shift);
        call.message = Some(next + 1 + shift);
        call.closure = true;
        return Some(call);
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
            "Ljava/lang/Throwable;" => call.throwable = Some(i + shift),
            _ => call.values.push(i + shift),
        }
    }
    if *message == "Ljava/lang/Throwable;" {
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
    let capital = name.strip_prefix("log").filter(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase()));
    (capital.and_then(|rest| find(&rest.to_ascii_lowercase())), format)
}

fn is_level(descriptor: &str) -> bool {
    descriptor.ends_with("/Level;") || descriptor.ends_with("/Priority;") || descriptor.ends_with("$Level;")
}

fn is_chained(class: Name) -> bool {
    class.ends_with("Builder") || class.contains("/flogger/")
}

fn is_message(descriptor: &str) -> bool {
    matches!(
        descriptor,
        "Ljava/lang/String;" | "Ljava/lang/Object;" | "Ljava/lang/CharSequence;" | "Ljava/lang/Throwable;"
    ) || descriptor.ends_with("/logging/log4j/message/Message;")
        || is_closure(descriptor)
}

/// Closures that make a message.
pub(crate) fn is_closure(descriptor: &str) -> bool {
    matches!(
        descriptor,
        "Lscala/Function0;"
            | "Ljava/util/function/Supplier;"
            | "Lkotlin/jvm/functions/Function0;"
            | "Ljava/util/concurrent/Callable;"
    ) || descriptor.ends_with("/logging/log4j/util/Supplier;")
        || descriptor.ends_with("/logging/log4j/util/MessageSupplier;")
}

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

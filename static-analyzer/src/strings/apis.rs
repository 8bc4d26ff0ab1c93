//! What string evaluation knows of library methods and classes: one row each.
//!
//! A method that is not listed gives an unknown value of its declared type; that
//! is never wrong, only less exact.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use super::term::Pattern;
use super::types;
use crate::program::{MethodRef, Name};

/// What a library method computes, as far as texts are concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Model {
    /// Text of the first argument, by the parameter's descriptor.
    Image,
    /// The receiver or first argument itself.
    Same,
    /// Text of the first argument, or of the second if it is null.
    ImageOr,
    /// `a.concat(b)`
    Concat,
    /// `String.format(String, Object...)`
    Format,
    /// `NumberFormat.format(number)`
    FormatNumber,
    /// `MessageFormat.format(String, Object...)`
    MessageFormat,
    /// Delimiter, then elements.
    Join,
    /// Upper case.
    Upper,
    /// Lower case.
    Lower,
    /// Without blanks at the ends.
    Trim,
    /// `substring`, `subSequence`
    Substring,
    /// Literal replacement of all.
    Replace,
    /// Replacement by regex.
    ReplaceRegex,
    /// `charAt`
    CharAt,
    /// `length`
    Length,
    /// `repeat`
    Repeat,
    /// Unsigned hexadecimal digits of an integer.
    Hex,
    /// Binary digits.
    Binary,
    /// Octal digits.
    Octal,
    /// `Class.getName`
    ClassName,
    /// `Class.getSimpleName`
    SimpleClassName,
    /// `Enum.name`
    EnumName,
    /// `[a, b]` of an array.
    ArrayImage,
    /// The platform's line separator.
    LineSeparator,
    /// A system property.
    Property,
    /// The argument behind the receiver itself.
    Second,
    /// Like `Format`, with the format behind a receiver that is nobody.
    FormatOf,
    /// Parts of the receiver with the arguments between them.
    Interpolate,
    /// Each line from its first bar on.
    StripMargin,
    /// The same, of the argument behind a receiver that is nobody.
    StripMarginOf,
}

/// Looks that rows can name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    /// Decimal integer.
    Integer,
    /// Floating point.
    Float,
    /// `true` or `false`.
    Boolean,
    /// UUID.
    Uuid,
    /// Any text.
    Text,
}

impl Look {
    /// The same as a pattern.
    pub(crate) fn pattern(self) -> Pattern {
        match self {
            Look::Integer => Pattern::Integer,
            Look::Float => Pattern::Float,
            Look::Boolean => Pattern::Boolean,
            Look::Uuid => Pattern::Regex(UUID),
            Look::Text => Pattern::Text,
        }
    }
}

/// A number as the formats of the platform print it.
pub(crate) const NUMBER: &str = r"-?[0-9][0-9,.\x{a0}\x{202f}' ]*%?";
const UUID: &str = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}";

const STRING: &str = "java/lang/String";

/// Class, method, model.
const METHODS: &[(&str, &str, Model)] = &[
    (STRING, "valueOf", Model::Image),
    (STRING, "copyValueOf", Model::Image),
    (STRING, "toString", Model::Same),
    (STRING, "intern", Model::Same),
    (STRING, "concat", Model::Concat),
    (STRING, "format", Model::Format),
    (STRING, "formatted", Model::Format),
    (STRING, "join", Model::Join),
    (STRING, "toUpperCase", Model::Upper),
    (STRING, "toLowerCase", Model::Lower),
    (STRING, "trim", Model::Trim),
    (STRING, "strip", Model::Trim),
    (STRING, "substring", Model::Substring),
    (STRING, "subSequence", Model::Substring),
    (STRING, "replace", Model::Replace),
    (STRING, "replaceAll", Model::ReplaceRegex),
    (STRING, "replaceFirst", Model::ReplaceRegex),
    (STRING, "charAt", Model::CharAt),
    (STRING, "length", Model::Length),
    (STRING, "repeat", Model::Repeat),
    ("java/lang/CharSequence", "toString", Model::Image),
    ("java/lang/Integer", "toString", Model::Image),
    ("java/lang/Integer", "valueOf", Model::Image),
    ("java/lang/Integer", "toHexString", Model::Hex),
    ("java/lang/Integer", "toBinaryString", Model::Binary),
    ("java/lang/Integer", "toOctalString", Model::Octal),
    ("java/lang/Integer", "intValue", Model::Image),
    ("java/lang/Integer", "longValue", Model::Image),
    ("java/lang/Long", "toString", Model::Image),
    ("java/lang/Long", "valueOf", Model::Image),
    ("java/lang/Long", "toHexString", Model::Hex),
    ("java/lang/Long", "toBinaryString", Model::Binary),
    ("java/lang/Long", "toOctalString", Model::Octal),
    ("java/lang/Long", "longValue", Model::Image),
    ("java/lang/Short", "toString", Model::Image),
    ("java/lang/Short", "valueOf", Model::Image),
    ("java/lang/Short", "shortValue", Model::Image),
    ("java/lang/Byte", "toString", Model::Image),
    ("java/lang/Byte", "valueOf", Model::Image),
    ("java/lang/Byte", "byteValue", Model::Image),
    ("java/lang/Boolean", "toString", Model::Image),
    ("java/lang/Boolean", "valueOf", Model::Image),
    ("java/lang/Boolean", "booleanValue", Model::Image),
    ("java/lang/Character", "toString", Model::Image),
    ("java/lang/Character", "valueOf", Model::Image),
    ("java/lang/Character", "charValue", Model::Image),
    ("java/lang/Float", "toString", Model::Image),
    ("java/lang/Float", "valueOf", Model::Image),
    ("java/lang/Float", "floatValue", Model::Image),
    ("java/lang/Double", "toString", Model::Image),
    ("java/lang/Double", "valueOf", Model::Image),
    ("java/lang/Double", "doubleValue", Model::Image),
    ("java/util/Objects", "toString", Model::ImageOr),
    ("java/util/Objects", "requireNonNull", Model::Same),
    ("com/google/common/base/Preconditions", "checkNotNull", Model::Same),
    ("com/google/common/base/Strings", "nullToEmpty", Model::Same),
    ("com/google/common/base/Strings", "emptyToNull", Model::Same),
    // An escaped text is the text, but for rare characters.
    ("org/apache/commons/lang/StringEscapeUtils", "escapeJava", Model::Same),
    ("org/apache/commons/lang3/StringEscapeUtils", "escapeJava", Model::Same),
    ("org/apache/commons/text/StringEscapeUtils", "escapeJava", Model::Same),
    ("java/lang/Class", "getName", Model::ClassName),
    ("java/lang/Class", "getCanonicalName", Model::ClassName),
    ("java/lang/Class", "getTypeName", Model::ClassName),
    ("java/lang/Class", "getSimpleName", Model::SimpleClassName),
    ("java/lang/Enum", "name", Model::EnumName),
    ("java/text/MessageFormat", "format", Model::MessageFormat),
    ("java/text/NumberFormat", "format", Model::FormatNumber),
    ("java/text/DecimalFormat", "format", Model::FormatNumber),
    ("java/util/Arrays", "toString", Model::ArrayImage),
    ("java/util/Arrays", "deepToString", Model::ArrayImage),
    ("java/lang/System", "lineSeparator", Model::LineSeparator),
    ("java/lang/System", "getProperty", Model::Property),
    ("scala/runtime/BoxesRunTime", "boxToBoolean", Model::Image),
    ("scala/runtime/BoxesRunTime", "boxToCharacter", Model::Image),
    ("scala/runtime/BoxesRunTime", "boxToByte", Model::Image),
    ("scala/runtime/BoxesRunTime", "boxToShort", Model::Image),
    ("scala/runtime/BoxesRunTime", "boxToInteger", Model::Image),
    ("scala/runtime/BoxesRunTime", "boxToLong", Model::Image),
    ("scala/runtime/BoxesRunTime", "boxToFloat", Model::Image),
    ("scala/runtime/BoxesRunTime", "boxToDouble", Model::Image),
    ("scala/runtime/BoxesRunTime", "unboxToBoolean", Model::Image),
    ("scala/runtime/BoxesRunTime", "unboxToChar", Model::Image),
    ("scala/runtime/BoxesRunTime", "unboxToByte", Model::Image),
    ("scala/runtime/BoxesRunTime", "unboxToShort", Model::Image),
    ("scala/runtime/BoxesRunTime", "unboxToInt", Model::Image),
    ("scala/runtime/BoxesRunTime", "unboxToLong", Model::Image),
    ("scala/runtime/BoxesRunTime", "unboxToFloat", Model::Image),
    ("scala/runtime/BoxesRunTime", "unboxToDouble", Model::Image),
    ("scala/Predef$", "augmentString", Model::Second),
    ("scala/Predef$", "wrapString", Model::Second),
    ("scala/collection/immutable/StringOps", "format", Model::Format),
    ("scala/collection/immutable/StringOps", "toString", Model::Same),
    ("scala/collection/immutable/StringOps", "stripMargin", Model::StripMargin),
    ("scala/collection/StringOps$", "format$extension", Model::FormatOf),
    ("scala/collection/StringOps$", "stripMargin$extension", Model::StripMarginOf),
    ("scala/StringContext", "s", Model::Interpolate),
];

/// Class, how its objects print. Subclasses print alike unless they are in the
/// program and override `toString`.
const CLASSES: &[(&str, Look)] = &[
    ("java/lang/Integer", Look::Integer),
    ("java/lang/Long", Look::Integer),
    ("java/lang/Short", Look::Integer),
    ("java/lang/Byte", Look::Integer),
    ("java/lang/Boolean", Look::Boolean),
    ("java/lang/Float", Look::Float),
    ("java/lang/Double", Look::Float),
    ("java/math/BigInteger", Look::Integer),
    ("java/util/concurrent/atomic/AtomicInteger", Look::Integer),
    ("java/util/concurrent/atomic/AtomicLong", Look::Integer),
    ("java/util/concurrent/atomic/LongAdder", Look::Integer),
    ("java/util/concurrent/atomic/AtomicBoolean", Look::Boolean),
    ("java/util/UUID", Look::Uuid),
    ("java/lang/Object", Look::Text),
    ("java/lang/Thread", Look::Text),
];

/// Collections print as `[a, b]`.
const COLLECTIONS: &[&str] = &[
    "java/util/Collection",
    "java/util/List",
    "java/util/Set",
    "java/util/SortedSet",
    "java/util/NavigableSet",
    "java/util/Queue",
    "java/util/Deque",
    "java/util/ArrayList",
    "java/util/LinkedList",
    "java/util/HashSet",
    "java/util/LinkedHashSet",
    "java/util/TreeSet",
    "java/util/EnumSet",
    "java/util/Vector",
    "java/util/ArrayDeque",
    "java/util/PriorityQueue",
    "java/util/concurrent/CopyOnWriteArrayList",
    "java/util/concurrent/ConcurrentLinkedQueue",
    "java/util/concurrent/LinkedBlockingQueue",
];

/// Maps print as `{k=v, k=v}`.
const MAPS: &[&str] = &[
    "java/util/Map",
    "java/util/SortedMap",
    "java/util/NavigableMap",
    "java/util/HashMap",
    "java/util/LinkedHashMap",
    "java/util/TreeMap",
    "java/util/EnumMap",
    "java/util/Hashtable",
    "java/util/Properties",
    "java/util/concurrent/ConcurrentMap",
    "java/util/concurrent/ConcurrentHashMap",
    "java/util/concurrent/ConcurrentSkipListMap",
];

/// Classes whose objects collect text by appending.
const BUILDERS: &[&str] = &[
    "java/lang/StringBuilder",
    "java/lang/StringBuffer",
    "java/lang/AbstractStringBuilder",
    "java/io/StringWriter",
    "java/io/CharArrayWriter",
    "java/io/PrintWriter",
    "java/util/Formatter",
    "scala/collection/mutable/StringBuilder",
];

/// First words of method names whose results differ from call to call: such a
/// call is no step of an access path.
const CHANGING: &[&str] = &[
    "next",
    "poll",
    "take",
    "read",
    "remove",
    "pop",
    "accept",
    "increment",
    "decrement",
    "generate",
    "create",
    "new",
    "open",
    "await",
    "getAnd",
    "incr",
    "decr",
    "nano",
    "currentTime",
    "clone",
    "copy",
    "iterator",
    "listIterator",
    "elements",
    "hashCode",
    "build",
];

/// Class (empty: any), method, position of an array that it stores into.
const FILLERS: &[(&str, &str, usize)] = &[
    ("java/util/Arrays", "fill", 0),
    ("java/util/Arrays", "setAll", 0),
    ("java/util/Arrays", "sort", 0),
    ("java/util/Arrays", "parallelSort", 0),
    ("java/util/Arrays", "parallelSetAll", 0),
    ("java/util/Arrays", "parallelPrefix", 0),
    ("java/util/Collections", "shuffle", 0),
    ("java/lang/System", "arraycopy", 2),
    ("", "getChars", 3),
    ("", "toArray", 1),
    ("", "copyInto", 1),
    ("", "read", 1),
    ("", "readFully", 1),
    ("", "readNBytes", 1),
    ("", "nextBytes", 1),
    ("java/nio/ByteBuffer", "get", 1),
    ("java/nio/CharBuffer", "get", 1),
];

static METHOD_INDEX: LazyLock<FxHashMap<(Name, Name), Model>> = LazyLock::new(|| {
    METHODS.iter().map(|&(class, name, model)| ((Name::from(class), Name::from(name)), model)).collect()
});

static CLASS_INDEX: LazyLock<FxHashMap<Name, Kind>> = LazyLock::new(|| {
    let looks = CLASSES.iter().map(|&(class, look)| (class, Kind::Looks(look)));
    let collections = COLLECTIONS.iter().map(|&class| (class, Kind::Collection));
    let maps = MAPS.iter().map(|&class| (class, Kind::Map));
    let builders = BUILDERS.iter().map(|&class| (class, Kind::Builder));
    looks.chain(collections).chain(maps).chain(builders).map(|(c, k)| (Name::from(c), k)).collect()
});

/// What is known of a library class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Prints like this.
    Looks(Look),
    /// Prints as `[a, b]`.
    Collection,
    /// Prints as `{k=v}`.
    Map,
    /// Collects text.
    Builder,
}

/// Packages of libraries that builds move into their own.
const MOVED: &[&str] = &["/com/google/common/", "/org/apache/commons/"];

/// The model of a method, if it is known; also where a build has moved its library.
pub(crate) fn model(class: Name, name: Name) -> Option<Model> {
    let moved = || {
        let at = MOVED.iter().find_map(|package| class.find(package))?;
        METHOD_INDEX.get(&(Name::from(&class[at + 1..]), name))
    };
    METHOD_INDEX.get(&(class, name)).or_else(moved).copied()
}

/// What is known of a class.
pub(crate) fn kind(class: Name) -> Option<Kind> {
    CLASS_INDEX.get(&class).copied()
}

/// Whether a library method keeps what it is given, for whoever asks for it.
pub(crate) fn collects(method: &MethodRef) -> bool {
    method.class.starts_with("java/util/")
        && matches!(
            method.name.as_str(),
            "add"
                | "addFirst"
                | "addLast"
                | "offer"
                | "put"
                | "putIfAbsent"
                | "push"
                | "set"
                | "of"
                | "asList"
        )
        || method.class == "java/lang/ThreadLocal" && method.name == "set"
        || method.class == "java/util/concurrent/atomic/AtomicReference"
}

/// Whether a method of a builder throws where a position is outside of the text.
pub(crate) fn checks_bounds(name: Name) -> bool {
    matches!(
        name.as_str(),
        "charAt" | "substring" | "deleteCharAt" | "delete" | "insert" | "replace" | "setCharAt" | "setLength"
    )
}

/// Whether a library method stores into the array it is given at this position.
pub(crate) fn fills_array(method: &MethodRef, position: usize) -> bool {
    FILLERS.iter().any(|&(class, name, at)| {
        at == position && method.name == name && (class.is_empty() || method.class == class)
    })
}

/// Whether an object of this class is the text that it is made of.
pub(crate) fn is_text_holder(class: Name) -> bool {
    matches!(class.as_str(), "java/lang/String" | "scala/collection/immutable/StringOps")
}

/// How the values of a text are put into it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Filling {
    /// Not at all.
    Plain,
    /// `{}`
    Braces,
    /// `{0}`
    Numbered,
    /// `%s`
    Printf,
    /// In whichever of these ways the text asks for.
    Either,
    /// Between the texts of a list.
    Between,
}

/// Messages of log4j 2: objects that hold a text with its values.
const MESSAGES: &[(&str, Filling)] = &[
    ("ParameterizedMessage", Filling::Braces),
    ("StringFormattedMessage", Filling::Printf),
    ("MessageFormatMessage", Filling::Numbered),
    ("LocalizedMessage", Filling::Either),
    ("FormattedMessage", Filling::Either),
    ("SimpleMessage", Filling::Plain),
    ("ObjectMessage", Filling::Plain),
];

/// Texts with values of Groovy: made of a list of values and one of the texts around them.
const GROOVY_TEXT: &str = "org/codehaus/groovy/runtime/GStringImpl";

const MESSAGE_PACKAGE: &str = "org/apache/logging/log4j/message/";

/// Whether objects of this class print a text with the values that they are made of.
pub(crate) fn filling(class: Name) -> Option<Filling> {
    if class == GROOVY_TEXT {
        return Some(Filling::Between);
    }
    let name = class.strip_prefix(MESSAGE_PACKAGE)?;
    MESSAGES.iter().find(|(message, _)| *message == name).map(|&(_, filling)| filling)
}

/// Whether this is a type of messages that are objects.
pub(crate) fn is_message_type(class: &str) -> bool {
    class.strip_prefix(MESSAGE_PACKAGE).is_some_and(|name| name.ends_with("Message"))
}

/// Whether objects of this class print their elements, in a form that is theirs
/// to choose; also where the library is on the class path. Texts in the clothes
/// of a collection print as they are.
pub(crate) fn prints_elements(class: Name) -> bool {
    class.starts_with("scala/collection/") && !class.contains("String")
}

/// Whether objects of this class collect text.
pub(crate) fn is_builder(class: Name) -> bool {
    kind(class) == Some(Kind::Builder)
}

/// Whether a library method runs what it is given, or is such a function itself.
pub(crate) fn calls_back(method: &MethodRef) -> bool {
    const FUNCTIONS: [&str; 6] = [
        "java/util/function/",
        "java/lang/Runnable",
        "java/util/concurrent/",
        "java/util/stream/",
        "scala/",
        "kotlin/",
    ];
    let is_function = |class: &str| FUNCTIONS.iter().any(|f| class.starts_with(f));
    is_function(&method.class)
        || types::parameters(&method.descriptor)
            .into_iter()
            .any(|p| types::class_of(p).is_some_and(is_function))
}

/// Whether a parameter of this class can be given a builder.
pub(crate) fn takes_builder(class: Name) -> bool {
    is_builder(class)
        || matches!(
            class.as_str(),
            "java/lang/CharSequence" | "java/lang/Appendable" | "java/lang/Object" | "java/io/Writer"
        )
}

/// Whether a method of this name gives another result each time.
pub(crate) fn is_changing(name: &str) -> bool {
    CHANGING.iter().any(|word| {
        name.strip_prefix(word).is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_lowercase()))
    })
}

/// Whether the model keeps the value that is printed (a conversion).
pub(crate) fn keeps_value(model: Model) -> bool {
    matches!(
        model,
        Model::Image
            | Model::Same
            | Model::ImageOr
            | Model::Trim
            | Model::Upper
            | Model::Lower
            | Model::EnumName
    )
}

/// `NumberFormat.setGroupingUsed`: called with false, integers are digits only.
pub(crate) const NUMBER_FORMAT_GROUPING: &str = "setGroupingUsed";

/// What generated messages extend, wherever a build moves the library to.
pub(crate) const MESSAGE_BASES: &[&str] = &["protobuf/GeneratedMessage"];

/// Immutable types of the JDK whose text is what they are equal by: a parameter
/// or local of such a type names something as a string does.
pub(crate) const VALUE_TYPES: &[&str] = &[
    "java/util/UUID",
    "java/net/URI",
    "java/net/InetAddress",
    "java/net/Inet4Address",
    "java/net/InetSocketAddress",
    "java/net/SocketAddress",
    "java/io/File",
    "java/nio/file/Path",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_is_known_where_a_build_has_moved_it() {
        let of = |class: &str, name: &str| model(Name::from(class), Name::from(name));
        let own = "org/example/shaded/com/google/common/base/Preconditions";
        assert_eq!(of(own, "checkNotNull"), Some(Model::Same));
        assert_eq!(of("org/apache/commons/lang3/StringEscapeUtils", "escapeJava"), Some(Model::Same));
        assert_eq!(of("org/example/Preconditions", "checkNotNull"), None);
        assert_eq!(of(own, "checkState"), None);
    }
}

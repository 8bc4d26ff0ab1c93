//! What logging classes look like: methods that every version of a class of the
//! table [`super::apis`] declares, by types of the platform alone. A copy that a
//! build moved to another package still declares them.

/// Class, and the methods by which a copy of it is known.
pub(crate) const SHAPES: &[(&str, &[&str])] = &[
    ("org/slf4j/Logger", SLF4J),
    (
        "org/slf4j/spi/LoggingEventBuilder",
        &["log(Ljava/lang/String;)V", "log(Ljava/lang/String;[Ljava/lang/Object;)V"],
    ),
    ("org/apache/commons/logging/Log", COMMONS),
    ("org/apache/juli/logging/Log", COMMONS),
    (
        "org/apache/log4j/Category",
        &[
            "debug(Ljava/lang/Object;)V",
            "error(Ljava/lang/Object;Ljava/lang/Throwable;)V",
            "fatal(Ljava/lang/Object;)V",
            "info(Ljava/lang/Object;)V",
            "isDebugEnabled()Z",
        ],
    ),
    (
        "org/apache/logging/log4j/Logger",
        &[
            "debug(Ljava/lang/String;[Ljava/lang/Object;)V",
            "fatal(Ljava/lang/Object;)V",
            "info(Ljava/lang/String;Ljava/lang/Throwable;)V",
            "isFatalEnabled()Z",
        ],
    ),
    (
        "org/apache/logging/log4j/LogBuilder",
        &["log(Ljava/lang/String;)V", "log(Ljava/lang/String;[Ljava/lang/Object;)V"],
    ),
    (
        "org/mortbay/log/Logger",
        &[
            "info(Ljava/lang/String;Ljava/lang/Object;Ljava/lang/Object;)V",
            "isDebugEnabled()Z",
            "warn(Ljava/lang/String;Ljava/lang/Throwable;)V",
        ],
    ),
    (
        "org/eclipse/jetty/util/log/Logger",
        &[
            "debug(Ljava/lang/String;[Ljava/lang/Object;)V",
            "info(Ljava/lang/String;Ljava/lang/Throwable;)V",
            "isDebugEnabled()Z",
            "warn(Ljava/lang/Throwable;)V",
        ],
    ),
    (
        "org/jboss/logging/BasicLogger",
        &[
            "debugf(Ljava/lang/String;[Ljava/lang/Object;)V",
            "infov(Ljava/lang/String;[Ljava/lang/Object;)V",
            "isTraceEnabled()Z",
        ],
    ),
    (
        "io/netty/util/internal/logging/InternalLogger",
        &[
            "debug(Ljava/lang/String;[Ljava/lang/Object;)V",
            "error(Ljava/lang/String;Ljava/lang/Throwable;)V",
            "info(Ljava/lang/String;Ljava/lang/Object;Ljava/lang/Object;)V",
            "isTraceEnabled()Z",
        ],
    ),
    ("io/netty/logging/InternalLogger", NETTY_3),
    ("org/jboss/netty/logging/InternalLogger", NETTY_3),
    (
        "com/google/common/flogger/LoggingApi",
        &["log()V", "log(Ljava/lang/String;)V", "log(Ljava/lang/String;Ljava/lang/Object;)V"],
    ),
    (
        "akka/event/LoggingAdapter",
        &[
            "error(Ljava/lang/Throwable;Ljava/lang/String;)V",
            "info(Ljava/lang/String;Ljava/lang/Object;)V",
            "isDebugEnabled()Z",
        ],
    ),
];

const SLF4J: &[&str] = &[
    "debug(Ljava/lang/String;Ljava/lang/Object;Ljava/lang/Object;)V",
    "error(Ljava/lang/String;Ljava/lang/Throwable;)V",
    "info(Ljava/lang/String;[Ljava/lang/Object;)V",
    "isTraceEnabled()Z",
];

const COMMONS: &[&str] = &[
    "debug(Ljava/lang/Object;)V",
    "fatal(Ljava/lang/Object;)V",
    "info(Ljava/lang/Object;Ljava/lang/Throwable;)V",
    "isDebugEnabled()Z",
];

const NETTY_3: &[&str] = &[
    "debug(Ljava/lang/String;)V",
    "info(Ljava/lang/String;)V",
    "isDebugEnabled()Z",
    "warn(Ljava/lang/String;Ljava/lang/Throwable;)V",
];

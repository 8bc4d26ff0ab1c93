//! Keys that JSON layouts have for each field of a record, and numbers that they have for levels:
//! data alone.

/// What a field of a record is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Time = 0,
    Level = 1,
    Thread = 2,
    Logger = 3,
    Trace = 4,
    Span = 5,
    /// The id of a request that is no trace.
    Request = 11,
    Message = 6,
    Throwable = 7,
    /// Seconds, and what is to be added to them.
    Seconds = 8,
    Nanos = 9,
    /// Values of a message that is a pattern.
    Arguments = 10,
}

pub(super) const N_ROLES: usize = 12;

/// Keys of each role, with points between those of nested objects; the first that is there is
/// meant. Of ECS, logstash in both of its forms, log4j 2, GELF, logback, Quarkus, WildFly, Spring
/// Boot, Trino.
pub(super) const KEYS: &[(Role, &[&str])] = &[
    (
        Role::Time,
        &[
            "@timestamp",
            "timestamp",
            "time",
            "ts",
            "timeMillis",
            "date",
            "datetime",
            "@time",
            "@fields.timestamp",
            "ibm_datetime",
            "eventTime",
            "timeUnixNano",
            "timeInMillis",
            "instant",
        ],
    ),
    (
        Role::Level,
        &[
            "log.level",
            "level",
            "severity",
            "levelname",
            "lvl",
            "loglevel",
            "log_level",
            "logLevel",
            "level_name",
            "@fields.level",
            "@fields.priority",
            "priority",
            "severityText",
            "_level_name",
            "attributes.level",
            "logging.googleapis.com/labels.levelName",
        ],
    ),
    (
        Role::Thread,
        &[
            "process.thread.name",
            "thread_name",
            "threadName",
            "thread",
            "_thread",
            "_thread_name",
            "_threadName",
            "_process_thread_name",
            "thread.name",
            "@fields.threadName",
            "@fields.thread_name",
            "@fields.thread",
            "attributes.thread.name",
            "logging.googleapis.com/labels.threadName",
        ],
    ),
    (
        Role::Logger,
        &[
            "log.logger",
            "logger_name",
            "loggerName",
            "logger",
            "component",
            "_logger",
            "_logger_name",
            "_loggerName",
            "category",
            "_log_logger",
            "logger.name",
            "log_logger",
            "@fields.loggerName",
            "@fields.logger_name",
            "@fields.logger",
            "logging.googleapis.com/labels.loggerName",
            "instrumentationScope",
            "scope.name",
            "attributes.logger.name",
            "attributes.log.logger",
            "attributes.code.namespace",
            "module",
            "class",
            "source.class",
            "@fields.class",
        ],
    ),
    (
        Role::Trace,
        &[
            "trace.id",
            "traceId",
            "trace_id",
            "_traceId",
            "_trace_id",
            "mdc.traceId",
            "contextMap.traceId",
            "mdc.trace_id",
            "contextMap.trace_id",
            "labels.trace_id",
            "attributes.trace_id",
            "context.traceId",
            "properties.traceId",
            "dd.trace_id",
            "mdc.dd.trace_id",
            "contextMap.dd.trace_id",
            "X-B3-TraceId",
            "mdc.X-B3-TraceId",
            "contextMap.X-B3-TraceId",
            "logging.googleapis.com/trace",
            "AWS-XRAY-TRACE-ID",
            "xray_trace_id",
            "traceparent",
            "mdc.traceparent",
            "@fields.traceId",
            "@fields.trace_id",
        ],
    ),
    (
        Role::Request,
        &[
            "correlationId",
            "correlation_id",
            "correlation.id",
            "mdc.correlationId",
            "contextMap.correlationId",
            "_correlationId",
            "X-Correlation-ID",
            "x-correlation-id",
            "requestId",
            "request_id",
            "http.request.id",
            "mdc.requestId",
            "mdc.request_id",
            "contextMap.requestId",
            "_requestId",
            "_request_id",
            "X-Request-ID",
            "x-request-id",
            "AWSRequestId",
            "transaction.id",
        ],
    ),
    (
        Role::Span,
        &[
            "span.id",
            "spanId",
            "span_id",
            "_spanId",
            "_span_id",
            "mdc.spanId",
            "contextMap.spanId",
            "mdc.span_id",
            "contextMap.span_id",
            "labels.span_id",
            "dd.span_id",
            "mdc.dd.span_id",
            "contextMap.dd.span_id",
            "X-B3-SpanId",
            "mdc.X-B3-SpanId",
            "contextMap.X-B3-SpanId",
            "logging.googleapis.com/spanId",
        ],
    ),
    (
        Role::Message,
        &[
            "formattedMessage",
            "message",
            "@message",
            "msg",
            "short_message",
            "full_message",
            "LogMessage",
            "body",
            "body.stringValue",
        ],
    ),
    (
        Role::Throwable,
        &[
            "error.stack_trace",
            "stack_trace",
            "stackTrace",
            "thrown.extendedStackTrace",
            "stacktrace",
            "exception",
            "throwable",
            "@fields.exception.stacktrace",
            "_stackTrace",
            "_StackTrace",
        ],
    ),
    (Role::Seconds, &["instant.epochSecond", "timestampSeconds", "timestamp.seconds"]),
    (Role::Arguments, &["arguments", "argumentArray", "params", "parameters"]),
    (Role::Nanos, &["instant.nanoOfSecond", "timestampNanos", "timestamp.nanos"]),
];

/// Keys under which shippers and stores have the record that they have parsed.
pub(super) const PARSED: &[&[u8]] =
    &[b"_source", b"jsonPayload", b"content", b"app", b"log_processed", b"parsed", b"json", b"data"];

/// Levels of syslog, which GELF has, by number.
pub(super) const SYSLOG: [&[u8]; 8] =
    [b"FATAL", b"FATAL", b"FATAL", b"ERROR", b"WARN", b"INFO", b"INFO", b"DEBUG"];

/// The level of a number as the libraries count, in tens or in ten thousands.
pub(super) fn level_of(number: &[u8]) -> &[u8] {
    match number {
        b"10" | b"5000" => b"TRACE",
        b"20" | b"10000" => b"DEBUG",
        b"30" | b"20000" => b"INFO",
        b"40" | b"30000" => b"WARN",
        b"50" | b"40000" => b"ERROR",
        b"60" | b"50000" => b"FATAL",
        other => other,
    }
}

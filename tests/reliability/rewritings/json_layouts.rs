//! Records as layouts of JSON, XML and names with values write them.

use super::sample_log::{Record, Write, quoted};

fn utc(record: &Record) -> String {
    format!("{}.{:03}Z", record.at("%Y-%m-%dT%H:%M:%S"), record.ms())
}

/// `,"KEY":"the stack trace"`, if there is one.
fn trace(record: &Record, key: &str) -> String {
    record.trace().map_or(String::new(), |trace| format!(",\"{key}\":{}", quoted(&trace)))
}

fn message(record: &Record) -> String {
    quoted(&record.lines[0])
}

/// By who writes them.
pub(crate) const JSON: &[(&str, Write)] = &[
    ("logstash encoder", |s| {
        s.each(".json", |r| format!(
        "{{\"@timestamp\":\"{}\",\"@version\":\"1\",\"message\":{},\"logger_name\":\"{}\",\"level\":\"{}\",\"level_value\":20000{}}}\n",
        utc(r), message(r), r.logger, r.level, trace(r, "stack_trace")
    ))
    }),
    ("logstash encoder, zone of its own", |s| {
        s.each(".json", |r| format!(
        "{{\"@timestamp\":\"{}.{:03}+01:00\",\"@version\":1,\"message\":{},\"logger_name\":\"{}\",\"level\":\"{}\"{}}}\n",
        r.at_in("Europe/Berlin", "%Y-%m-%dT%H:%M:%S"), r.ms(), message(r), r.logger, r.level, trace(r, "stack_trace")
    ))
    }),
    ("ECS", |s| {
        s.each(".json", |r| format!(
        "{{\"@timestamp\":\"{}\",\"log.level\":\"{:>5}\",\"message\":{},\"ecs.version\":\"1.2.0\",\"service.name\":\"store\",\"event.dataset\":\"store\",\"log.logger\":\"{}\"{}}}\n",
        utc(r), r.level, message(r), r.logger, trace(r, "error.stack_trace")
    ))
    }),
    ("Spring Boot, ECS nested", |s| {
        s.each(".json", |r| format!(
        "{{\"@timestamp\":\"{}.{:06}Z\",\"log\":{{\"level\":\"{}\",\"logger\":\"{}\"}},\"process\":{{\"pid\":42}},\"service\":{{\"name\":\"store\"}},\"message\":{},\"ecs\":{{\"version\":\"8.11\"}}}}\n",
        r.at("%Y-%m-%dT%H:%M:%S"), r.us % 1_000_000, r.level, r.logger, message(r)
    ))
    }),
    ("GELF", |s| {
        s.each(".json", |r| format!(
        "{{\"version\":\"1.1\",\"host\":\"h\",\"short_message\":{},\"timestamp\":{}.{:03},\"level\":{},\"_logger_name\":\"{}\"}}\n",
        message(r), r.us / 1_000_000, r.ms(), if r.level == "INFO" { 6 } else { 4 }, r.logger
    ))
    }),
    ("Spring Boot, GELF", |s| {
        s.each(".json", |r| format!(
        "{{\"version\":\"1.1\",\"short_message\":{},\"timestamp\":{}.{:03},\"level\":{},\"_level_name\":\"{}\",\"_process_pid\":42,\"host\":\"store\",\"_log_logger\":\"{}\"}}\n",
        message(r), r.us / 1_000_000, r.ms(), if r.level == "INFO" { 6 } else { 4 }, r.level, r.logger
    ))
    }),
    ("log4j 2 JsonLayout", |s| {
        s.each(".json", |r| format!(
        "{{\"instant\":{{\"epochSecond\":{},\"nanoOfSecond\":{}}},\"level\":\"{}\",\"loggerName\":\"{}\",\"message\":{},\"endOfBatch\":false,\"loggerFqcn\":\"org.apache.logging.slf4j.Log4jLogger\",\"threadPriority\":5}}\n",
        r.us / 1_000_000, r.us % 1_000_000 * 1000, r.level, r.logger, message(r)
    ))
    }),
    ("log4j 2 JsonLayout, not compact", |s| {
        s.each(".json", |r| format!(
        "{{\n  \"timeMillis\" : {},\n  \"level\" : \"{}\",\n  \"loggerName\" : \"{}\",\n  \"message\" : {},\n  \"endOfBatch\" : false\n}}\n",
        r.us / 1000, r.level, r.logger, message(r)
    ))
    }),
    ("log4j 2 JsonLayout, one list", |s| {
        s.each(".json", |r| format!(
        "{}{{\n  \"timeMillis\" : {},\n  \"level\" : \"{}\",\n  \"loggerName\" : \"{}\",\n  \"message\" : {}\n}}\n",
        if r.number == 0 { "[\n" } else { ", " }, r.us / 1000, r.level, r.logger, message(r)
    ))
    }),
    ("log4j 2 template, GcpLayout", |s| {
        s.each(".json", |r| format!(
        "{{\"timestamp\":\"{}\",\"severity\":\"{}\",\"message\":{},\"logging.googleapis.com/insertId\":\"1\",\"_exception\":{{}},\"_thread\":\"\",\"_logger\":\"{}\"}}\n",
        utc(r), r.level, message(r), r.logger
    ))
    }),
    ("logback JsonEncoder", |s| {
        s.each(".json", |r| format!(
        "{{\"sequenceNumber\":{},\"timestamp\":{},\"nanoseconds\":{},\"level\":\"{}\",\"loggerName\":\"{}\",\"context\":{{\"name\":\"default\",\"birthdate\":1700000000000,\"properties\":{{}}}},\"mdc\":{{}},\"message\":\"{{}} {{}}\",\"arguments\":[\"x\"],\"formattedMessage\":{},\"throwable\":null}}\n",
        r.number, r.us / 1000, r.us % 1_000_000 * 1000, r.level, r.logger, message(r)
    ))
    }),
    ("logback-contrib JsonLayout", |s| {
        s.each(".json", |r| format!(
        "{{\"timestamp\":\"{}\",\"level\":\"{}\",\"logger\":\"{}\",\"message\":{},\"context\":\"default\"{}}}\n",
        r.at("%Y-%m-%d %H:%M:%S.%3f"), r.level, r.logger, message(r), trace(r, "exception")
    ))
    }),
    ("Quarkus", |s| {
        s.each(".json", |r| format!(
        "{{\"timestamp\":\"{}.{:06}Z\",\"sequence\":{},\"loggerClassName\":\"org.jboss.logging.Logger\",\"loggerName\":\"{}\",\"level\":\"{}\",\"message\":{},\"threadId\":1,\"mdc\":{{}},\"ndc\":\"\",\"hostName\":\"h\",\"processName\":\"store\",\"processId\":42}}\n",
        r.at("%Y-%m-%dT%H:%M:%S"), r.us % 1_000_000, r.number, r.logger, r.level, message(r)
    ))
    }),
    ("Dropwizard", |s| {
        s.each(".json", |r| {
            format!(
                "{{\"level\":\"{}\",\"logger\":\"{}\",\"message\":{},\"timestamp\":{}}}\n",
                r.level,
                r.logger,
                message(r),
                r.us / 1000
            )
        })
    }),
    ("Google Cloud in the container", |s| {
        s.each(".json", |r| format!(
        "{{\"message\":{},\"severity\":\"{}\",\"timestampSeconds\":{},\"timestampNanos\":{},\"logger\":\"{}\"}}\n",
        message(r), r.level, r.us / 1_000_000, r.us % 1_000_000 * 1000, r.logger
    ))
    }),
    ("Google Cloud, a time in an object", |s| {
        s.each(".json", |r| format!(
        "{{\"severity\":\"{}\",\"timestamp\":{{\"seconds\":{},\"nanos\":{}}},\"message\":{},\"logger\":\"{}\"}}\n",
        r.level, r.us / 1_000_000, r.us % 1_000_000 * 1000, message(r), r.logger
    ))
    }),
    ("WebLogic Remote Console or Helidon", |s| {
        s.each(".json", |r| format!(
        "{{\"timestamp\":\"{}\",\"level\":\"{}\",\"logger\":\"{}\",\"message\":{},\"timeInMillis\":{}}}\n",
        r.at("%Y.%m.%d %H:%M:%S.%3f"), r.level, r.logger, message(r), r.us / 1000
    ))
    }),
    ("Elasticsearch's server", |s| {
        s.each(".json", |r| format!(
        "{{\"type\": \"server\", \"timestamp\": \"{}\", \"level\": \"{}\", \"component\": \"{}\", \"cluster.name\": \"x\", \"node.name\": \"n\", \"message\": {}  }}\n",
        r.at("%Y-%m-%dT%H:%M:%S,%3f+0000"), r.level, r.logger, message(r)
    ))
    }),
    ("WildFly with names of its own", |s| {
        s.each(".json", |r| format!(
        "{{\"@timestamp\":\"{}\",\"@version\":\"1\",\"@source_host\":\"h\",\"logger_name\":\"{}\",\"level\":\"{}\",\"message\":{}}}\n",
        utc(r), r.logger, r.level, message(r)
    ))
    }),
    ("Serilog-like keys", |s| {
        s.each(".json", |r| {
            format!(
                "{{\"Timestamp\":\"{}\",\"Level\":\"{}\",\"LoggerName\":\"{}\",\"Message\":{}}}\n",
                utc(r),
                r.level,
                r.logger,
                message(r)
            )
        })
    }),
    ("short keys", |s| {
        s.each(".json", |r| {
            format!(
                "{{\"ts\":{}.{:06},\"lvl\":\"{}\",\"logger\":\"{}\",\"msg\":{}}}\n",
                r.us / 1_000_000,
                r.us % 1_000_000,
                r.level,
                r.logger,
                message(r)
            )
        })
    }),
    ("seconds as a text", |s| {
        s.each(".json", |r| {
            format!(
                "{{\"time\":\"{}.{:03}\",\"level\":\"{}\",\"logger\":\"{}\",\"message\":{}}}\n",
                r.us / 1_000_000,
                r.ms(),
                r.level,
                r.logger,
                message(r)
            )
        })
    }),
    ("milliseconds as a text", |s| {
        s.each(".json", |r| {
            format!(
                "{{\"time\":\"{}\",\"level\":\"{}\",\"logger\":\"{}\",\"message\":{}}}\n",
                r.us / 1000,
                r.level,
                r.logger,
                message(r)
            )
        })
    }),
    ("nanoseconds", |s| {
        s.each(".json", |r| {
            format!(
                "{{\"timestamp\":{}000,\"level\":\"{}\",\"logger\":\"{}\",\"message\":{}}}\n",
                r.us,
                r.level,
                r.logger,
                message(r)
            )
        })
    }),
    ("logstash encoder within docker's", |s| {
        s.each(".json", |r| {
            let text = format!(
                "{{\"@timestamp\":\"{}\",\"message\":{},\"logger_name\":\"{}\",\"level\":\"{}\"}}\n",
                utc(r),
                message(r),
                r.logger,
                r.level
            );
            format!("{{\"log\":{},\"stream\":\"stdout\",\"time\":\"{}\"}}\n", quoted(&text), utc(r))
        })
    }),
    ("ECS within CRI", |s| {
        s.each(".json", |r| format!(
        "{} stdout F {{\"@timestamp\":\"{}\",\"log.level\":\"{}\",\"message\":{},\"log.logger\":\"{}\"}}\n", utc(r), utc(r), r.level, message(r), r.logger
    ))
    }),
    ("parsed by a shipper, under a key", |s| {
        s.each(".json", |r| format!(
        "{{\"@timestamp\":\"{}\",\"stream\":\"stdout\",\"kubernetes\":{{\"host\":\"x\"}},\"app\":{{\"timestamp\":\"{}\",\"level\":\"{}\",\"logger\":\"{}\",\"message\":{}}}}}\n",
        utc(r), utc(r), r.level, r.logger, message(r)
    ))
    }),
    ("Stackdriver, JSON payload", |s| {
        s.each(".json", |r| format!(
        "{{\"insertId\":\"1\",\"jsonPayload\":{{\"message\":{},\"logger\":\"{}\",\"level\":\"{}\"}},\"severity\":\"{}\",\"timestamp\":\"{}\"}}\n",
        message(r), r.logger, r.level, r.level, utc(r)
    ))
    }),
    ("Elasticsearch, hits", |s| {
        s.each(".json", |r| format!(
        "{{\"_index\":\"x\",\"_id\":\"1\",\"_score\":null,\"_source\":{{\"@timestamp\":\"{}\",\"message\":{},\"logger_name\":\"{}\",\"level\":\"{}\"}}}}\n",
        utc(r), message(r), r.logger, r.level
    ))
    }),
    ("Datadog, attributes", |s| {
        s.each(".json", |r| format!(
        "{{\"id\":\"1\",\"content\":{{\"timestamp\":\"{}\",\"host\":\"h\",\"service\":\"store\",\"message\":{},\"attributes\":{{\"level\":\"{}\",\"logger\":{{\"name\":\"{}\"}}}}}}}}\n",
        utc(r), message(r), r.level, r.logger
    ))
    }),
    ("OpenTelemetry, agent's console", |s| {
        s.each(".json", |r| format!(
        "{{\"timestamp\":\"{}\",\"severityText\":\"{}\",\"body\":{},\"instrumentationScope\":\"{}\"}}\n", utc(r), r.level, message(r), r.logger
    ))
    }),
    ("logfmt", |s| {
        s.each(".log", |r| {
            format!(
                "time={} level={} logger={} msg={}\n",
                utc(r),
                r.level.to_lowercase(),
                r.logger,
                message(r)
            )
        })
    }),
    ("logfmt with ts and a quoted time", |s| {
        s.each(".log", |r| {
            format!(
                "ts=\"{}\" level={} logger={} message={}\n",
                r.at("%Y-%m-%d %H:%M:%S.%3f"),
                r.level,
                r.logger,
                message(r)
            )
        })
    }),
    ("log4j XML", |s| {
        s.each(".xml", |r| format!(
        "<log4j:event logger=\"{}\" timestamp=\"{}\" level=\"{}\" thread=\"main\">\n<log4j:message><![CDATA[{}]]></log4j:message>\n</log4j:event>\n\n",
        r.logger, r.us / 1000, r.level, r.lines[0]
    ))
    }),
    ("java.util.logging XML", |s| {
        s.each(".xml", |r| format!(
        "{}<record>\n  <date>{}</date>\n  <millis>{}</millis>\n  <sequence>{}</sequence>\n  <logger>{}</logger>\n  <level>{}</level>\n  <thread>1</thread>\n  <message>{}</message>\n</record>\n",
        if r.number == 0 { "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"no\"?>\n<!DOCTYPE log SYSTEM \"logger.dtd\">\n<log>\n" } else { "" },
        r.at("%Y-%m-%dT%H:%M:%S"), r.us / 1000, r.number, r.logger, r.level.replace("WARN", "WARNING"), r.lines[0].replace('<', "&lt;")
    ))
    }),
];

//! Lines as container runtimes, service managers and log shippers hold them.

use super::sample_log::{Files, NODES, Record, Sample, Write, quoted};

/// When a runtime got a line: after it was printed.
fn got(record: &Record) -> String {
    record.at("%Y-%m-%dT%H:%M:%S.") + &format!("{:03}456789Z", record.ms())
}

fn seconds(record: &Record) -> String {
    format!("{}.{:06}", record.us / 1_000_000, record.us % 1_000_000)
}

/// In the order of who writes them.
pub(crate) const PER_FILE: &[(&str, Write)] = &[
    ("docker json-file", |s| {
        s.each_line(".json.log", |r, line| {
            let log = quoted(&format!("{line}\n"));
            format!("{{\"log\":{log},\"stream\":\"stdout\",\"time\":\"{}\"}}", got(r))
        })
    }),
    ("docker json-file with attributes, of a terminal", |s| {
        s.each_line(".json.log", |r, line| {
            let log = quoted(&format!("{line}\r\n"));
            format!(
                "{{\"log\":{log},\"stream\":\"stdout\",\"attrs\":{{\"tag\":\"x\"}},\"time\":\"{}\"}}",
                got(r)
            )
        })
    }),
    ("docker local driver, logs -t", |s| s.each_line(".log", |r, line| format!("{} {line}", got(r)))),
    ("CRI", |s| s.each_line(".log", |r, line| format!("{} stdout F {line}", got(r)))),
    ("CRI in pieces", |s| {
        s.each_line(".log", |r, line| {
            let (one, two) = line.split_at(line.len() / 2);
            format!("{} stdout P {one}\n{} stdout F {two}", got(r), got(r))
        })
    }),
    ("journal short-iso", |s| {
        s.each_line(".log", |r, line| format!("{} h java[42]: {line}", r.at("%Y-%m-%dT%H:%M:%S+0000")))
    }),
    ("journal short-iso-precise", |s| {
        s.each_line(".log", |r, line| {
            format!("{}.{:06}+0000 h java[42]: {line}", r.at("%Y-%m-%dT%H:%M:%S"), r.us % 1_000_000)
        })
    }),
    ("journal short", |s| {
        s.each_line(".log", |r, line| format!("{} h java[42]: {line}", r.at("%b %d %H:%M:%S")))
    }),
    ("journal short-precise", |s| {
        s.each_line(".log", |r, line| {
            format!("{}.{:06} h java[42]: {line}", r.at("%b %d %H:%M:%S"), r.us % 1_000_000)
        })
    }),
    ("journal short-full", |s| {
        s.each_line(".log", |r, line| format!("{} h java[42]: {line}", r.at("%a %Y-%m-%d %H:%M:%S UTC")))
    }),
    ("journal with-unit", |s| {
        s.each_line(".log", |r, line| {
            format!("{} h store.service[42]: {line}", r.at("%a %Y-%m-%d %H:%M:%S UTC"))
        })
    }),
    ("journal short-unix", |s| s.each_line(".log", |r, line| format!("{} h java[42]: {line}", seconds(r)))),
    ("journal short-monotonic", |s| {
        s.each_line(".log", |r, line| {
            format!("[{:12.6}] h java[42]: {line}", (r.us % 1_000_000_000) as f64 / 1e6)
        })
    }),
    ("journal export", |s| {
        s.each_line(".export", |r, line| {
            format!(
                "__CURSOR=s=1;i={}\n__REALTIME_TIMESTAMP={}\n_HOSTNAME=h\n_PID=42\nMESSAGE={line}\n",
                r.number, r.us
            )
        })
    }),
    ("journal json", |s| {
        s.each_line(".json", |r, line| {
            format!(
                "{{\"__REALTIME_TIMESTAMP\":\"{}\",\"_HOSTNAME\":\"h\",\"PRIORITY\":\"6\",\"_PID\":\"42\",\"MESSAGE\":{}}}",
                r.us, quoted(line)
            )
        })
    }),
    ("syslog of RFC 3164", |s| {
        s.each_line(".log", |r, line| format!("<14>{} h java[42]: {line}", r.at("%b %e %H:%M:%S")))
    }),
    ("rsyslog, a file of its own form", |s| {
        s.each_line(".log", |r, line| {
            format!(
                "{}.{:06}+00:00 h java[42]: {}",
                r.at("%Y-%m-%dT%H:%M:%S"),
                r.us % 1_000_000,
                line.replace('\t', "#011")
            )
        })
    }),
    ("syslog of RFC 5424", |s| {
        s.each_line(".log", |r, line| {
            format!("<14>1 {}.{:03}Z h store 42 - - {line}", r.at("%Y-%m-%dT%H:%M:%S"), r.ms())
        })
    }),
    ("syslog of RFC 5424 with data and a mark", |s| {
        s.each_line(".log", |r, line| {
            format!(
                "<14>1 {}.{:03}Z h store 42 ID7 [x@1 a=\"b]\" c=\"d\"][y@2 e=\"f\"] \u{feff}{line}",
                r.at("%Y-%m-%dT%H:%M:%S"),
                r.ms()
            )
        })
    }),
    ("syslog with octets counted", |s| {
        s.each_line(".log", |r, line| {
            let text = format!("<14>1 {}.{:03}Z h store 42 - - {line}", r.at("%Y-%m-%dT%H:%M:%S"), r.ms());
            format!("{} {text}", text.len())
        })
    }),
    ("fluentd to a file", |s| {
        s.each_line(".log", |r, line| {
            format!(
                "{}\tapp.store\t{{\"log\":{},\"stream\":\"stdout\"}}",
                r.at("%Y-%m-%dT%H:%M:%S+00:00"),
                quoted(line)
            )
        })
    }),
    ("Fluent Bit to standard output", |s| {
        s.each_line(".log", |r, line| {
            format!(
                "[{}] app.store: [[{}, {{}}], {{\"log\"=>{}, \"stream\"=>\"stdout\"}}]",
                r.number,
                seconds(r),
                quoted(line)
            )
        })
    }),
    ("Fluent Bit to standard output, old", |s| {
        s.each_line(".log", |r, line| {
            format!("[{}] app.store: [{}, {{\"log\"=>{}}}]", r.number, seconds(r), quoted(line))
        })
    }),
    ("Fluent Bit, JSON lines", |s| {
        s.each_line(".log", |r, line| {
            format!("{{\"date\":{},\"stream\":\"stdout\",\"log\":{}}}", seconds(r), quoted(line))
        })
    }),
    ("Vector", |s| {
        s.each_line(".log", |r, line| {
            format!(
                "{{\"file\":\"/var/log/{0}.log\",\"host\":\"h\",\"message\":{1},\"source_type\":\"file\",\"timestamp\":\"{2}\"}}",
                r.node, quoted(line), got(r)
            )
        })
    }),
    ("Filebeat", |s| {
        s.each_line(".ndjson", |r, line| {
            format!(
                "{{\"@timestamp\":\"{}.{:03}Z\",\"@metadata\":{{\"beat\":\"filebeat\"}},\"log\":{{\"offset\":7,\"file\":{{\"path\":\"/l/x.log\"}}}},\"message\":{},\"input\":{{\"type\":\"log\"}},\"ecs\":{{\"version\":\"8.0.0\"}},\"host\":{{\"name\":\"h\"}},\"agent\":{{\"name\":\"h\",\"type\":\"filebeat\"}}}}",
                r.at("%Y-%m-%dT%H:%M:%S"), r.ms(), quoted(line)
            )
        })
    }),
    ("Loki, logcli", |s| {
        s.each_line(".log", |r, line| {
            format!("{}.{:03}Z {{app=\"store\"}} {line}", r.at("%Y-%m-%dT%H:%M:%S"), r.ms())
        })
    }),
    ("Loki, logcli as JSON lines", |s| {
        s.each_line(".jsonl", |r, line| {
            format!(
                "{{\"labels\":{{\"app\":\"store\"}},\"line\":{},\"timestamp\":\"{}\"}}",
                quoted(line),
                got(r)
            )
        })
    }),
    ("Loki, answer of its API", |s| {
        s.each(".json", |_| String::new()).into_iter().map(|(name, _)| {
            let node = name.chars().next().unwrap_or('a');
            let values: Vec<String> = s.of(node).flat_map(|r| r.plain().into_iter().map(move |line| format!("[\"{}000\",{}]", r.us, quoted(&line)))).collect();
            let text = format!("{{\"status\":\"success\",\"data\":{{\"resultType\":\"streams\",\"result\":[{{\"stream\":{{\"app\":\"store\"}},\"values\":[{}]}}]}}}}\n", values.join(","));
            (name, text.into())
        }).collect()
    }),
    ("Grafana, download as text", |s| {
        s.each_line(".txt", |r, line| {
            format!("{}000\t{}.{:03}Z\t{line}", r.us, r.at("%Y-%m-%dT%H:%M:%S"), r.ms())
        })
    }),
    ("CloudWatch, aws logs tail", |s| {
        s.each_line(".log", |r, line| {
            format!("{}.{:06}+00:00 ecs/store/0a1b {line}", r.at("%Y-%m-%dT%H:%M:%S"), r.us % 1_000_000)
        })
    }),
    ("CloudWatch, aws logs tail in the short form", |s| {
        s.each_line(".log", |r, line| format!("{} {line}", r.at("%Y-%m-%dT%H:%M:%S")))
    }),
    ("CloudWatch, export to S3", |s| {
        s.each_line(".log", |r, line| format!("{}.{:03}Z {line}", r.at("%Y-%m-%dT%H:%M:%S"), r.ms()))
    }),
    ("CloudWatch Insights, CSV", |s| {
        csv(s, "@timestamp,@message", |r| r.at("%Y-%m-%d %H:%M:%S.") + &format!("{:03}", r.ms()))
    }),
    ("Kibana, CSV", |s| csv(s, "\"@timestamp\",message", |r| quoted(&r.at("%b %e, %Y @ %H:%M:%S.%3f")))),
    ("CloudWatch, get-log-events", |s| {
        NODES.map(|node| {
            let events: Vec<String> = s.of(node).map(|r| format!(
                "        {{\n            \"timestamp\": {},\n            \"message\": {},\n            \"ingestionTime\": {}\n        }}",
                r.us / 1000, quoted(&r.plain().join("\n")), r.us / 1000 + 9
            )).collect();
            (format!("{node}.json"), format!("{{\n    \"events\": [\n{}\n    ],\n    \"nextForwardToken\": \"f/1\"\n}}\n", events.join(",\n")).into())
        }).into()
    }),
    ("Stackdriver, a list of text payloads", |s| {
        NODES.map(|node| {
            let events: Vec<String> = s.of(node).map(|r| format!(
                "  {{\n    \"insertId\": \"{}\",\n    \"labels\": {{\n      \"k\": \"v\"\n    }},\n    \"severity\": \"INFO\",\n    \"textPayload\": {},\n    \"timestamp\": \"{}\"\n  }}",
                r.number, quoted(&r.plain().join("\n")), got(r)
            )).collect();
            (format!("{node}.json"), format!("[\n{}\n]\n", events.join(",\n")).into())
        }).into()
    }),
    ("Splunk, JSON of results", |s| {
        s.each(".json", |r| {
            format!(
                "{{\"preview\":false,\"result\":{{\"_raw\":{},\"_time\":\"{}\"}}}}\n",
                quoted(&r.plain().join("\n")),
                r.us / 1_000_000
            )
        })
    }),
    ("Splunk, JSON of one list", |s| {
        NODES
            .map(|node| {
                let rows: Vec<String> = s
                    .of(node)
                    .map(|r| {
                        format!(
                            "{{\"_raw\":{},\"_time\":\"{}\"}}",
                            quoted(&r.plain().join("\n")),
                            r.us / 1_000_000
                        )
                    })
                    .collect();
                (
                    format!("{node}.json"),
                    format!("{{\"preview\":false,\"init_offset\":0,\"results\":[{}]}}\n", rows.join(","))
                        .into(),
                )
            })
            .into()
    }),
    ("OpenTelemetry, file exporter", |s| {
        NODES.map(|node| {
            let text: String = s.of(node).map(|r| format!(
                "{{\"resourceLogs\":[{{\"resource\":{{\"attributes\":[{{\"key\":\"host.name\",\"value\":{{\"stringValue\":\"h\"}}}}]}},\"scopeLogs\":[{{\"scope\":{{}},\"logRecords\":[{{\"timeUnixNano\":\"{}000\",\"body\":{{\"stringValue\":{}}}}}]}}]}}]}}\n",
                r.us, quoted(&r.plain().join("\n"))
            )).collect();
            (format!("{node}.json"), text.into())
        }).into()
    }),
    ("moreutils ts", |s| s.each_line(".log", |r, line| format!("{} {line}", r.at("%b %d %H:%M:%S")))),
    ("runit svlogd", |s| {
        s.each_line(".log", |r, line| {
            format!("{}.{:05} {line}", r.at("%Y-%m-%d_%H:%M:%S"), r.us % 1_000_000 / 10)
        })
    }),
    ("multilog", |s| {
        s.each_line(".log", |r, line| {
            format!(
                "@{:016x}{:08x} {line}",
                0x4000_0000_0000_000a + r.us / 1_000_000,
                r.us % 1_000_000 * 1000
            )
        })
    }),
    ("Heroku", |s| {
        s.each_line(".log", |r, line| {
            format!("{}.{:06}+00:00 app[web.1]: {line}", r.at("%Y-%m-%dT%H:%M:%S"), r.us % 1_000_000)
        })
    }),
    ("pm2", |s| s.each_line(".log", |_, line| format!("0|store    | {line}"))),
    ("Maven, a test run", |s| s.each_line(".log", |_, line| format!("[INFO] {line}"))),
    ("a console of Jenkins", |s| {
        s.each_line(".log", |r, line| format!("[{}.{:03}Z] {line}", r.at("%Y-%m-%dT%H:%M:%S"), r.ms()))
    }),
    ("GitHub Actions", |s| {
        s.each_line(".log", |r, line| {
            format!("store\tRun it\t{}.{:07}Z {line}", r.at("%Y-%m-%dT%H:%M:%S"), r.us % 1_000_000 * 10)
        })
    }),
];

/// Rows of which the second column is the text.
fn csv(s: &Sample, header: &str, time: impl Fn(&Record) -> String) -> Files {
    NODES
        .map(|node| {
            let row = |r: &Record| format!("{},\"{}\"\n", time(r), r.plain().join("\n").replace('"', "\"\""));
            let text: String = std::iter::once(format!("{header}\n")).chain(s.of(node).map(row)).collect();
            (format!("{node}.csv"), text.into())
        })
        .into()
}

/// All processes in one file, and what each is called there.
pub(crate) const TOGETHER: &[(&str, [&str; 3], Write)] = &[
    ("docker compose", ["a-1", "b-1", "c-1"], |s| {
        s.one("all.log", |r, line| format!("{}-1  | {line}", r.node))
    }),
    ("docker compose, times and colours", ["a-1", "b-1", "c-1"], |s| {
        s.one("all.log", |r, line| format!("\u{1b}[36m{}-1  | \u{1b}[0m{} {line}", r.node, got(r)))
    }),
    ("docker compose, of old", ["a_1", "b_1", "c_1"], |s| {
        let mut files = s.one("all.log", |r, line| format!("\u{1b}[33m{}_1  |\u{1b}[0m {line}", r.node));
        let text = [b"Attaching to a_1, b_1, c_1\n", files[0].1.as_slice()].concat();
        files[0].1 = text;
        files
    }),
    ("docker compose, a container that ends", ["a-1", "b-1", "c-1"], |s| {
        let mut files = s.one("all.log", |r, line| format!("{}-1     | {line}", r.node));
        files[0].1.extend_from_slice(b"b-1 exited with code 143\n");
        files
    }),
    ("swarm", ["store_a.1.k3j9@n1", "store_b.1.x2m1@n2", "store_c.1.q7w8@n1"], |s| {
        s.one("all.log", |r, line| {
            let task = match r.node {
                'a' => "a.1.k3j9@n1",
                'b' => "b.1.x2m1@n2",
                _ => "c.1.q7w8@n1",
            };
            format!("store_{task}    | {line}")
        })
    }),
    ("swarm with times", ["store_a.1.k3j9@n1", "store_b.1.x2m1@n2", "store_c.1.q7w8@n1"], |s| {
        s.one("all.log", |r, line| {
            let task = match r.node {
                'a' => "a.1.k3j9@n1",
                'b' => "b.1.x2m1@n2",
                _ => "c.1.q7w8@n1",
            };
            format!("{} store_{task}    | {line}", got(r))
        })
    }),
    ("kubectl logs --prefix", ["store-a/store", "store-b/store", "store-c/store"], |s| {
        s.one("all.log", |r, line| format!("[pod/store-{}/store] {line}", r.node))
    }),
    ("kubectl logs --prefix --timestamps", ["store-a/store", "store-b/store", "store-c/store"], |s| {
        s.one("all.log", |r, line| format!("[pod/store-{}/store] {} {line}", r.node, got(r)))
    }),
    ("stern", ["store-a-0/store", "store-b-0/store", "store-c-0/store"], |s| {
        s.one("all.log", |r, line| format!("store-{}-0 store {line}", r.node))
    }),
    (
        "stern with colours and what it says itself",
        ["store-a-0/store", "store-b-0/store", "store-c-0/store"],
        |s| {
            let mut files = s.one("all.log", |r, line| {
                format!("\u{1b}[91mstore-{}-0\u{1b}[0m \u{1b}[31mstore\u{1b}[0m {line}", r.node)
            });
            let said = "+ store-a-0 › store\n+ store-b-0 › store\n+ store-c-0 › store\n";
            files[0].1 = [said.as_bytes(), &files[0].1].concat();
            files
        },
    ),
    ("stern with times", ["store-a-0/store", "store-b-0/store", "store-c-0/store"], |s| {
        s.one("all.log", |r, line| format!("store-{}-0 store {} {line}", r.node, got(r)))
    }),
    (
        "stern with names of spaces",
        ["prod/store-a-0/store", "prod/store-b-0/store", "prod/store-c-0/store"],
        |s| s.one("all.log", |r, line| format!("prod store-{}-0 store {line}", r.node)),
    ),
    ("stern as JSON", ["store-a-0/store", "store-b-0/store", "store-c-0/store"], |s| {
        s.one("all.json", |r, line| {
            format!("{{\"message\":{},\"nodeName\":\"n\",\"namespace\":\"prod\",\"podName\":\"store-{}-0\",\"containerName\":\"store\"}}", quoted(line), r.node)
        })
    }),
    ("kail", ["prod/store-a/store", "prod/store-b/store", "prod/store-c/store"], |s| {
        s.one("all.log", |r, line| format!("prod/store-{}[store]: {line}", r.node))
    }),
    ("kubetail", ["store-a", "store-b", "store-c"], |s| {
        s.one("all.log", |r, line| format!("[store-{}] {line}", r.node))
    }),
    ("syslog of several hosts", ["ha/java", "hb/java", "hc/java"], |s| {
        s.one("all.log", |r, line| format!("{} h{} java[42]: {line}", r.at("%b %d %H:%M:%S"), r.node))
    }),
    ("syslog of one host", ["h/store-a", "h/store-b", "h/store-c"], |s| {
        s.one("all.log", |r, line| format!("{} h store-{}: {line}", r.at("%b %d %H:%M:%S"), r.node))
    }),
    ("journal of several units as JSON", ["h/a.service", "h/b.service", "h/c.service"], |s| {
        s.one("all.json", |r, line| {
            format!("{{\"__REALTIME_TIMESTAMP\":\"{}\",\"_HOSTNAME\":\"h\",\"_SYSTEMD_UNIT\":\"{}.service\",\"_PID\":\"7\",\"MESSAGE\":{}}}", r.us, r.node, quoted(line))
        })
    }),
    ("Fluent Bit of several pods", ["store-a/store", "store-b/store", "store-c/store"], |s| {
        s.one("all.json", |r, line| {
            format!("{{\"time\":\"{}\",\"stream\":\"stdout\",\"_p\":\"F\",\"log\":{},\"kubernetes\":{{\"pod_name\":\"store-{}\",\"namespace_name\":\"prod\",\"container_name\":\"store\"}}}}", got(r), quoted(line), r.node)
        })
    }),
    ("Vector of several pods", ["store-a/store", "store-b/store", "store-c/store"], |s| {
        s.one("all.json", |r, line| {
            format!("{{\"file\":\"/x\",\"kubernetes\":{{\"container_name\":\"store\",\"pod_name\":\"store-{}\",\"pod_labels\":{{\"app\":\"x\"}}}},\"message\":{},\"stream\":\"stdout\",\"timestamp\":\"{}\"}}", r.node, quoted(line), got(r))
        })
    }),
    ("Vector of several hosts", ["ha", "hb", "hc"], |s| {
        s.one("all.json", |r, line| {
            format!("{{\"file\":\"/x/app.log\",\"host\":\"h{}\",\"message\":{},\"source_type\":\"file\",\"timestamp\":\"{}\"}}", r.node, quoted(line), got(r))
        })
    }),
    ("logcli of several pods", ["store-a/store/x", "store-b/store/x", "store-c/store/x"], |s| {
        s.one("all.log", |r, line| {
            format!(
                "{}Z {{app=\"x\", container=\"store\", pod=\"store-{}\"}} {line}",
                r.at("%Y-%m-%dT%H:%M:%S"),
                r.node
            )
        })
    }),
    ("logcli of several pods as JSON lines", ["store-a/store", "store-b/store", "store-c/store"], |s| {
        s.one("all.jsonl", |r, line| {
            format!("{{\"labels\":{{\"container\":\"store\",\"pod\":\"store-{}\"}},\"line\":{},\"timestamp\":\"{}\"}}", r.node, quoted(line), got(r))
        })
    }),
    ("aws logs tail of several streams", ["ecs/store/a1", "ecs/store/b1", "ecs/store/c1"], |s| {
        s.one("all.log", |r, line| {
            format!(
                "{}.{:06}+00:00 ecs/store/{}1 {line}",
                r.at("%Y-%m-%dT%H:%M:%S"),
                r.us % 1_000_000,
                r.node
            )
        })
    }),
    ("Stackdriver, lines of several pods", ["store-a/store", "store-b/store", "store-c/store"], |s| {
        s.one("all.json", |r, line| {
            format!("{{\"insertId\":\"1\",\"resource\":{{\"type\":\"k8s_container\",\"labels\":{{\"pod_name\":\"store-{}\",\"container_name\":\"store\"}}}},\"severity\":\"INFO\",\"textPayload\":{},\"timestamp\":\"{}\"}}", r.node, quoted(line), got(r))
        })
    }),
    ("Cloud Foundry", ["APP/PROC/WEB/0", "APP/PROC/WEB/1", "APP/PROC/WEB/2"], |s| {
        s.one("all.log", |r, line| {
            format!(
                "   {}.12+0000 [APP/PROC/WEB/{}] OUT {line}",
                r.at("%Y-%m-%dT%H:%M:%S"),
                r.node as u32 - 'a' as u32
            )
        })
    }),
    ("pm2 of several", ["0|store-a", "1|store-b", "2|store-c"], |s| {
        s.one("all.log", |r, line| format!("{}|store-{} | {line}", r.node as u32 - 'a' as u32, r.node))
    }),
    ("supervisor or foreman", ["a.1", "b.1", "c.1"], |s| {
        s.one("all.log", |r, line| format!("{} {}.1    | {line}", r.at("%H:%M:%S"), r.node))
    }),
    ("ansible or parallel ssh", ["ha", "hb", "hc"], |s| {
        s.one("all.log", |r, line| format!("h{}: {line}", r.node))
    }),
];

//! The server as browsers, and those who attack them, meet it: answers, limits, and who is refused.
//! On a table whose names and values are markup, colours for terminals and marks that turn text.
#![cfg(feature = "serve")]

#[path = "support/command.rs"]
mod command;
#[path = "support/sample.rs"]
mod sample;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use command::fails;
use reducer::table::{Addition, Writer};
use schema::tables::{EventRow, NameValue, NodeTime, RequestNodeRow, RequestRow, SpanRow, Text, Time};
use serde_json::Value;

const HOSTILE: [&str; 6] = [
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "<svg/onload=alert(1)>",
    "a\u{1b}[2J\u{9b}31m",
    "\u{202e}txt.exe",
    "' OR 1=1; DROP TABLE requests --",
];

/// A server, ended with the test.
struct Server {
    child: Child,
    host: String,
}

impl Server {
    fn start(table: &str) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lprof"));
        command.args(["serve", "--table", table, "--http", "127.0.0.1:0", "--timeout", "20s"]);
        let mut child = command.stdout(Stdio::piped()).spawn().expect("lprof starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut line).expect("an address");
        let host = line.trim().strip_prefix("page: http://").and_then(|rest| rest.strip_suffix('/'));
        let host = host.unwrap_or_else(|| panic!("no address in `{line}`")).to_owned();
        Self { child, host }
    }

    /// Status, head and body of the answer to `request`.
    fn send(&self, request: &str) -> (u16, String, String) {
        let mut stream = TcpStream::connect(&self.host).expect("a connection");
        stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a timeout");
        // It may have been refused before all was said.
        let _ = stream.write_all(request.as_bytes());
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head.split(' ').nth(1).and_then(|word| word.parse().ok()).unwrap_or(0);
        (status, head.to_ascii_lowercase(), body.to_owned())
    }

    fn ask(&self, method: &str, path: &str, headers: &str, body: &str) -> (u16, String, String) {
        let host = if headers.to_ascii_lowercase().contains("host:") {
            String::new()
        } else {
            format!("Host: {}\r\n", self.host)
        };
        let length =
            if body.is_empty() { String::new() } else { format!("Content-Length: {}\r\n", body.len()) };
        self.send(&format!(
            "{method} {path} HTTP/1.1\r\n{host}{headers}{length}Connection: close\r\n\r\n{body}"
        ))
    }

    fn get(&self, path: &str) -> (u16, String, String) {
        self.ask("GET", path, "", "")
    }

    #[track_caller]
    fn json(&self, path: &str) -> Value {
        let (status, head, body) = self.get(path);
        assert_eq!(status, 200, "{path}: {body}");
        assert!(head.contains("content-type: application/json"), "{head}");
        serde_json::from_str(&body).expect("JSON")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A table in which every text is one of those.
fn hostile() -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let table = folder.path().join("t");
    let mut addition = Addition::default();
    for (number, text) in (0_i64..).zip(HOSTILE) {
        let (id, text) = (Text::from(format!("{number:032x}")), Text::from(text));
        let value = NameValue { name: text.clone(), value: text.clone() };
        let time = Time(1_000_000 * number);
        addition.rows.requests.push(RequestRow {
            request_id: id.clone(),
            request_type: text.clone(),
            start_ts: time,
            end_ts: time,
            n_nodes: 1,
            n_spans: 1,
            n_events: 1,
            log_sequence_id: text.clone(),
            nodes: vec![NodeTime { node: text.clone(), start_ts: time, end_ts: time }],
            identifiers: vec![value.clone()],
            ..RequestRow::default()
        });
        let node = RequestNodeRow {
            request_id: id.clone(),
            node: text.clone(),
            n_events: 1,
            start_ts: time,
            end_ts: time,
        };
        addition.rows.request_nodes.push(node);
        addition.rows.spans.push(SpanRow {
            request_id: id.clone(),
            span_id: format!("{number:016x}").into(),
            node: text.clone(),
            thread: Some(text.clone()),
            top_level_method: text.clone(),
            start_ts: time,
            end_ts: time,
            n_events: 1,
            ..SpanRow::default()
        });
        addition.rows.events.push(EventRow {
            request_id: Some(id),
            span_id: Some(format!("{number:016x}").into()),
            node: text.clone(),
            file: text.clone(),
            values: vec![value],
            ts: time,
            ..EventRow::default()
        });
    }
    Writer::open(&table).expect("a table").commit(&addition).expect("a table");
    (folder, table.display().to_string())
}

#[test]
fn the_sample_is_served() {
    let (_folder, table) = sample::table("java17");
    let server = Server::start(&table);
    let (status, head, page) = server.get("/");
    assert_eq!(status, 200);
    assert!(head.contains("content-security-policy: default-src 'none'; script-src 'self'"), "{head}");
    assert!(!page.contains("http://") && !page.contains("https://"), "nothing is loaded from elsewhere");
    for asset in ["/assets/page.js", "/assets/page.css"] {
        assert!(page.contains(asset) && server.get(asset).0 == 200, "{asset}");
    }
    let about = server.json("/api/table");
    assert_eq!((&about["n_requests"], &about["nodes"]), (&149.into(), &serde_json::json!(["a", "b", "c"])));
    let overview = &server.json("/api/overview?steps=10")["overview"];
    let sum = |of: &str| -> u64 {
        let series = overview[of].as_array().expect("series");
        series.iter().map(|of| of["total"]["n"].as_u64().expect("a number")).sum()
    };
    assert_eq!((sum("types"), overview["n"].as_u64()), (149, Some(149)));
    let write = server.json("/api/requests?type=ClientHandler.writeBlock&sort=duration&limit=3");
    assert_eq!((&write["n"], write["requests"].as_array().map(Vec::len)), (&48.into(), Some(3)));
    assert_eq!(write["requests"][0]["duration"], 54_000);
    let id = write["requests"][0]["id"].as_str().expect("an id");
    let request = server.json(&format!("/api/requests/{id}"));
    assert_eq!(request["id"], id);
    let path: i64 = request["path"]
        .as_array()
        .expect("a path")
        .iter()
        .map(|part| part["to"].as_i64().unwrap_or(0) - part["from"].as_i64().unwrap_or(0))
        .sum();
    assert_eq!(path, 54_000, "the critical path lasts as long as the request");
    let order = server.json(&format!("/api/requests/{id}/order?span=0&event=0"));
    assert_eq!(order["order"][0][0], "this");
    let inputs = server.json("/api/coverage");
    let records: i64 =
        inputs["inputs"].as_array().expect("inputs").iter().filter_map(|of| of["n_records"].as_i64()).sum();
    assert_eq!(records, 646);
}

#[test]
fn jaeger_finds_traces() {
    let (_folder, table) = sample::table("java17");
    let server = Server::start(&table);
    assert_eq!(server.json("/api/services")["data"], serde_json::json!(["a", "b", "c"]));
    let operations = server.json("/api/services/a/operations");
    assert!(operations["data"].as_array().expect("operations").contains(&"ClientHandler.readBlock".into()));
    let found =
        server.json("/api/traces?service=a&operation=ClientHandler.writeBlock&minDuration=50ms&limit=5");
    let traces = found["data"].as_array().expect("traces");
    assert!(!traces.is_empty() && traces.len() <= 5);
    let id = traces[0]["traceID"].as_str().expect("an id");
    // Jaeger leaves out zeros at the beginning.
    let one = server.json(&format!("/api/traces/{}", id.trim_start_matches('0')));
    assert_eq!(one["data"][0]["traceID"], id);
    assert_eq!(server.get("/api/traces/ffffffffffffffffffffffffffffffff").0, 404);
    assert_eq!(server.get("/api/traces?service=a&minDuration=soon").0, 400);
}

#[test]
fn hostile_texts_are_data() {
    let (_folder, table) = hostile();
    let server = Server::start(&table);
    let about = server.json("/api/table");
    let nodes: Vec<&str> =
        about["nodes"].as_array().expect("nodes").iter().filter_map(Value::as_str).collect();
    assert_eq!(nodes.len(), HOSTILE.len());
    for (number, text) in HOSTILE.iter().enumerate() {
        assert!(nodes.contains(text), "{text:?} comes as it is, in JSON");
        let request = server.json(&format!("/api/requests/{number:032x}"));
        assert_eq!(request["spans"][0]["node"], *text);
        let encoded: String = text.bytes().map(|byte| format!("%{byte:02x}")).collect();
        let found = server.json(&format!("/api/requests?type={encoded}&node={encoded}"));
        assert_eq!(found["n"], 1, "{text:?}");
        let services = server.json(&format!("/api/services/{encoded}/operations"));
        assert_eq!(services["data"], serde_json::json!([text]));
    }
    let (_, head, _) = server.get("/api/services");
    assert!(head.contains("x-content-type-options: nosniff"), "{head}");
}

#[test]
fn nobody_gets_out_of_what_is_served() {
    let (_folder, table) = hostile();
    let server = Server::start(&table);
    for path in [
        "/assets/../Cargo.toml",
        "/assets/..%2f..%2fCargo.toml",
        "/assets/%2e%2e/page.js",
        "/../../etc/passwd",
        "/assets/page.js%00",
        "/api/requests/..%2f..%2fmanifest-1.json",
        "/api/requests/%00",
        "/manifest-1.json",
        "/api/requests/' OR 1=1",
        "/api/traces/+1",
        "/api/traces/..%2f..",
        "//etc/passwd",
        "/assets//etc/passwd",
    ] {
        let (status, _, body) = server.get(path);
        assert!((400..500).contains(&status), "{path}: {status} {body}");
        assert!(!body.contains("[package]") && !body.contains("root:"), "{path}");
    }
}

#[test]
fn other_hosts_and_sites_are_refused() {
    let (_folder, table) = hostile();
    let server = Server::start(&table);
    let host = &server.host;
    for headers in [
        "Host: evil.example\r\n".to_owned(),
        "Host: 127.0.0.1.evil.example\r\n".to_owned(),
        format!("Host: {host}\r\nHost: evil.example\r\n"),
        format!("Host: {host}\r\nOrigin: http://evil.example\r\n"),
        format!("Host: {host}\r\nOrigin: null\r\n"),
        format!("Host: {host}\r\nSec-Fetch-Site: cross-site\r\n"),
        format!("Host: {host}\r\nSec-Fetch-Site: same-site\r\nSec-Fetch-Mode: cors\r\n"),
    ] {
        let (status, _, body) = server.ask("GET", "/api/table", &headers, "");
        assert!(matches!(status, 400 | 403) && !body.contains("n_requests"), "{headers}: {status} {body}");
        let (status, ..) = server.ask(
            "POST",
            "/api/sql",
            &format!("{headers}Content-Type: application/json\r\n"),
            r#"{"query": "SELECT 1"}"#,
        );
        assert!(matches!(status, 400 | 403), "{headers}: {status}");
    }
    assert_eq!(
        server.ask("GET", "/api/table", &format!("Host: {host}\r\nOrigin: http://{host}\r\n"), "").0,
        200
    );
    // What a form of another site can send without asking first is no JSON.
    for kind in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"] {
        let (status, ..) =
            server.ask("POST", "/api/sql", &format!("Content-Type: {kind}\r\n"), r#"{"query": "SELECT 1"}"#);
        assert_eq!(status, 415, "{kind}");
    }
    for method in ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"] {
        assert_eq!(server.ask(method, "/api/table", "", "").0, 405, "{method}");
    }
}

#[test]
fn what_is_too_much_is_refused_and_harms_nobody() {
    let (_folder, table) = hostile();
    let server = Server::start(&table);
    let json = "Content-Type: application/json\r\n";
    let huge = format!(r#"{{"query": "SELECT '{}'"}}"#, "x".repeat(2 << 20));
    assert!(matches!(server.ask("POST", "/api/sql", json, &huge).0, 0 | 413), "a body of two megabytes");
    let head = format!("X: {}\r\n", "y".repeat(1 << 20));
    assert!(matches!(server.ask("GET", "/api/table", &head, "").0, 0 | 431), "a head of a megabyte");
    for body in ["{", "[]", r#"{"query": 1}"#, "\u{0}"] {
        assert!(matches!(server.ask("POST", "/api/sql", json, body).0, 400 | 422), "{body}");
    }
    for path in [
        "/api/overview?from=x",
        "/api/overview?steps=-1",
        "/api/requests?limit=x",
        "/api/requests?offset=-1",
        "/api/requests/0/order?span=a",
    ] {
        assert_eq!(server.get(path).0, 400, "{path}");
    }
    for path in [
        "/api/overview?steps=99999999",
        "/api/requests?limit=99999999&offset=99999999999",
        "/api/overview?from=9223372036854775807&to=-9223372036854775808",
    ] {
        assert_eq!(server.get(path).0, 200, "{path}");
    }
    // Who says nothing holds up nobody else.
    let silent: Vec<TcpStream> =
        (0..50).map(|_| TcpStream::connect(&server.host).expect("a connection")).collect();
    let mut slow = TcpStream::connect(&server.host).expect("a connection");
    slow.write_all(b"GET /api/ta").expect("sent");
    assert_eq!(server.json("/api/table")["n_requests"], HOSTILE.len());
    drop((silent, slow));
}

#[test]
fn only_this_machine_is_served() {
    let (_folder, table) = hostile();
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:0"] {
        fails(1, &["serve", "--table", &table, "--http", address], "no password");
    }
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = taken.local_addr().expect("an address").to_string();
    fails(1, &["serve", "--table", &table, "--http", &address], &address);
    fails(2, &["serve", "--table", &table, "--http", "localhost"], "--http");
    fails(1, &["serve", "--table", "no-such-table", "--http", "127.0.0.1:0"], "no-such-table");
}

#[cfg(feature = "sql")]
#[test]
fn sql_can_only_read() {
    let (_folder, table) = hostile();
    let server = Server::start(&table);
    let ask = |query: &str| {
        let body = serde_json::json!({"query": query}).to_string();
        server.ask("POST", "/api/sql", "Content-Type: application/json\r\n", &body)
    };
    let (status, _, body) = ask("SELECT request_type FROM requests ORDER BY request_id");
    let answer: Value = serde_json::from_str(&body).expect("JSON");
    assert_eq!((status, answer["rows"].as_array().map(Vec::len)), (200, Some(HOSTILE.len())));
    assert_eq!(answer["rows"][0][0], HOSTILE[0]);
    let cut: Value = serde_json::from_str(&ask("SELECT * FROM generate_series(1, 20000)").2).expect("JSON");
    assert_eq!((&cut["is_cut"], cut["rows"].as_array().map(Vec::len)), (&true.into(), Some(10_000)));
    for query in [
        "DROP TABLE requests",
        "DELETE FROM requests",
        "INSERT INTO requests SELECT * FROM requests",
        "SET a = 1",
        "CREATE TABLE x AS SELECT 1",
        "COPY requests TO 'x.parquet'",
        "SELECT 1; SELECT 2",
        "",
        "CREATE EXTERNAL TABLE x STORED AS CSV LOCATION '/etc/passwd'",
        "SELECT * FROM 'x.parquet'",
        "nonsense",
        &format!("SELECT {}1{}", "(".repeat(500), ")".repeat(500)),
    ] {
        let (status, _, body) = ask(query);
        assert_eq!(status, 400, "{query}: {body}");
    }
    let found = server.json("/api/requests?where=n_nodes+%3D+1+--+a+comment");
    assert_eq!(found["n"], HOSTILE.len());
    assert_eq!(server.get("/api/requests?where=1)%3B+DROP+TABLE+requests+--").0, 400);
}

//! Attacks: each against a running server, which afterwards answers as before and whose table holds
//! the same files.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::Server;
use super::command::done;
use super::hostile::{self, TEXTS};

/// All files below a folder, with their sizes.
fn files(folder: &Path) -> BTreeMap<String, u64> {
    let mut all = BTreeMap::new();
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        match entry.metadata() {
            Ok(of) if of.is_dir() => all.extend(files(&entry.path())),
            Ok(of) => drop(all.insert(entry.path().display().to_string(), of.len())),
            Err(_) => {}
        }
    }
    all
}

/// A server of a hostile table, attacked by `attack`.
fn attacked(attack: impl Fn(&Server)) {
    let (folder, table) = hostile::table();
    let before = files(folder.path());
    let mut server = Server::start_with(&table, &["--timeout", "3s", "--compare", &table]);
    attack(&server);
    let start = Instant::now();
    assert_eq!(server.json("/api/table")["n_requests"], TEXTS.len());
    assert!(start.elapsed() < Duration::from_secs(5), "others are answered");
    assert!(matches!(server.child.try_wait(), Ok(None)), "it runs");
    assert_eq!(files(folder.path()), before, "nothing was written");
}

/// What must not come out of anything.
fn is_of_another_file(body: &str) -> bool {
    body.contains("root:") || body.contains("[package]") || body.contains("\"files\":")
}

/// 18 texts: as data wherever they go, never as anything else.
#[test]
fn texts_are_data() {
    let (_folder, table) = hostile::table();
    let server = Server::start(&table);
    let about = server.json("/api/table");
    let nodes: Vec<&str> =
        about["nodes"].as_array().expect("nodes").iter().filter_map(Value::as_str).collect();
    assert_eq!(nodes.len(), TEXTS.len());
    for (number, text) in TEXTS.iter().enumerate() {
        assert!(nodes.contains(text), "{text:?} comes as it is, in JSON");
        let id = format!("{number:032x}");
        let (status, head, _) = server.get(&format!("/api/requests/{id}"));
        assert_eq!(status, 200);
        assert!(head.contains("content-type: application/json") && head.contains("nosniff"), "{head}");
        assert!(head.contains("content-security-policy: default-src 'none'"), "{head}");
        let request = server.json(&format!("/api/requests/{id}"));
        let span = &request["spans"][0];
        let event = &span["events"][0];
        for said in [&request["type"], &span["node"], &span["thread"], &span["method"], &event["level"]] {
            assert_eq!(said, text);
        }
        assert_eq!((&event["values"][0]["value"], &event["text"]), (&(*text).into(), &(*text).into()));
        let encoded: String = text.bytes().map(|byte| format!("%{byte:02x}")).collect();
        let found = server.json(&format!("/api/requests?type={encoded}&node={encoded}"));
        assert_eq!(found["n"], 1, "{text:?}");
        let services = server.json(&format!("/api/services/{encoded}/operations"));
        assert_eq!(services["data"], serde_json::json!([text]));
        // On a terminal they are spelled out.
        let shown = done(&["show", "request", "--table", &table, &id]);
        let turns = |c: char| matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}');
        let is_harmful = |c: char| c != '\n' && (c.is_control() || turns(c));
        assert!(!shown.contains(is_harmful), "{shown:?}");
    }
}

/// 20 paths: none leads out of what is served.
#[test]
fn paths_lead_nowhere() {
    attacked(|server| {
        for path in [
            "/assets/../Cargo.toml",
            "/assets/..%2f..%2fCargo.toml",
            "/assets/%2e%2e/page.js",
            "/assets/%252e%252e/page.js",
            "/assets/..%5c..%5cpage.js",
            "/assets/..%c0%af..%c0%afetc/passwd",
            "/../../etc/passwd",
            "/assets/page.js%00",
            "/assets/page.js/",
            "/assets//etc/passwd",
            "//etc/passwd",
            "/file:///etc/passwd",
            "/api/requests/..%2f..%2fmanifest-1.json",
            "/api/requests/%00",
            "/api/requests/' OR 1=1",
            "/api/requests/%25",
            "/manifest-1.json",
            "/api/traces/+1",
            "/api/traces/..%2f..",
            "/api/table/..;/sql",
        ] {
            let (status, _, body) = server.get(path);
            assert!((400..500).contains(&status), "{path}: {status} {body}");
            assert!(!is_of_another_file(&body), "{path}");
        }
    });
}

/// 17 ways to ask from elsewhere, for the table and by SQL: names of other hosts (DNS rebinding), pages of
/// other sites, and what their forms can send.
#[test]
fn other_hosts_and_sites_are_refused() {
    attacked(|server| {
        let host = &server.host;
        let port = host.rsplit(':').next().expect("a port");
        for headers in [
            "Host: evil.example\r\n".to_owned(),
            format!("Host: evil.example:{port}\r\n"),
            format!("Host: 127.0.0.1.evil.example:{port}\r\n"),
            format!("Host: localhost.evil.example:{port}\r\n"),
            format!("Host: evil.example@{host}\r\n"),
            format!("Host: {host}.\r\n"),
            format!("Host: 0.0.0.0:{port}\r\n"),
            format!("Host: {host}\r\nHost: evil.example\r\n"),
            format!("Host: evil.example\r\nX-Forwarded-Host: {host}\r\n"),
            format!("Host: {host}\r\nOrigin: http://evil.example\r\n"),
            format!("Host: {host}\r\nOrigin: null\r\n"),
            format!("Host: {host}\r\nOrigin: http://{host}.evil.example\r\n"),
            format!("Host: {host}\r\nSec-Fetch-Site: cross-site\r\n"),
            format!("Host: {host}\r\nSec-Fetch-Site: same-site\r\nSec-Fetch-Mode: cors\r\n"),
        ] {
            let (status, head, body) = server.ask("GET", "/api/table", &headers, "");
            assert!(
                matches!(status, 400 | 403) && !body.contains("n_requests"),
                "{headers}: {status} {body}"
            );
            assert!(!head.contains("access-control-allow"), "{head}");
            let json = format!("{headers}Content-Type: application/json\r\n");
            let (status, ..) = server.ask("POST", "/api/sql", &json, r#"{"query": "SELECT 1"}"#);
            assert!(matches!(status, 400 | 403), "{headers}: {status}");
        }
        let own = format!("Host: {host}\r\nOrigin: http://{host}\r\n");
        assert_eq!(server.ask("GET", "/api/table", &own, "").0, 200);
        // What a form of another site can send without asking first is no JSON.
        for kind in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"] {
            let kind_of = format!("Content-Type: {kind}\r\n");
            assert_eq!(server.ask("POST", "/api/sql", &kind_of, r#"{"query": "SELECT 1"}"#).0, 415, "{kind}");
        }
        for method in ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"] {
            assert_eq!(server.ask(method, "/api/table", "", "").0, 405, "{method}");
        }
    });
}

/// 24 requests that are none, too long, or could be understood in two ways.
#[test]
fn what_is_no_request_is_refused() {
    attacked(|server| {
        let host = format!("Host: {}\r\n", server.host);
        let get = |rest: &str| format!("GET /api/table HTTP/1.1\r\n{rest}\r\n\r\n").into_bytes();
        let json = format!("{host}Content-Type: application/json\r\n");
        let post = |rest: &str| format!("POST /api/sql HTTP/1.1\r\n{json}{rest}").into_bytes();
        let query = r#"{"query":"SELECT 1"}"#;
        for request in [
            b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03".repeat(9_000),
            b"\0".repeat(100_000),
            b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec(),
            b"GET /api/table\r\n\r\n".to_vec(),
            b"GET http://evil.example/ HTTP/1.1\r\n\r\n".to_vec(),
            b"CONNECT evil.example:80 HTTP/1.1\r\n\r\n".to_vec(),
            b"GET /api/table HTTP/1.1\nHost: localhost\n\n\r\n\r\n".to_vec(),
            get("Host : localhost"),
            get(" Host: localhost"),
            get(&format!("{host}X: a\nSec-Fetch-Site: none")),
            get(&format!("X: {}", "y".repeat(1 << 20))),
            get(&"A: b\r\n".repeat(20_000)),
            format!("GET /{} HTTP/1.1\r\n{host}\r\n", "a/".repeat(100_000)).into_bytes(),
            post(&format!("Content-Length: 5\r\nContent-Length: 20\r\n\r\n{query}")),
            post(&format!("Content-Length: -1\r\n\r\n{query}")),
            post(&format!("Content-Length: 0x14\r\n\r\n{query}")),
            post(&format!("Content-Length: 99999999999999999999\r\n\r\n{query}")),
            post(&format!(
                "Transfer-Encoding: chunked\r\nContent-Length: 20\r\n\r\n14\r\n{query}\r\n0\r\n\r\n"
            )),
            post(&format!("Transfer-Encoding: identity, chunked\r\n\r\n{query}")),
            post("Content-Length: 4\r\n\r\n\u{0}\u{0}\u{0}\u{0}"),
            post("Content-Length: 1\r\n\r\n{"),
            post(&format!("Content-Length: 100000\r\n\r\n{}", "[".repeat(100_000))),
            post("Content-Length: 12\r\n\r\n{\"query\": 1}"),
            post("Content-Length: 2\r\n\r\n[]"),
        ] {
            let (status, _, body) = server.send(&request);
            let begin = String::from_utf8_lossy(&request[..request.len().min(60)]).into_owned();
            assert!(status == 0 || status >= 400, "{begin:?}: {status} {body}");
        }
        // What comes after a request is none.
        let (_, _, body) = server.send([get(host.trim_end()), get(host.trim_end())].concat());
        assert_eq!(body.matches("n_requests").count(), 1);
        for path in [
            "/api/overview?from=x",
            "/api/overview?steps=-1",
            "/api/requests?limit=x",
            "/api/requests?offset=-1",
            "/api/requests/0/order?span=a",
            "/api/profile?min=1e9",
            "/api/compare?from=x",
        ] {
            assert_eq!(server.get(path).0, 400, "{path}");
        }
        for path in [
            "/api/overview?steps=99999999",
            "/api/requests?limit=99999999&offset=99999999999",
            "/api/overview?from=9223372036854775807&to=-9223372036854775808",
            "/api/profile?from=9223372036854775807&to=-9223372036854775808",
            "/api/compare?from=9223372036854775807&to=-9223372036854775808",
            "/api/traces?service=a&limit=99999999&end=9223372036854775807",
        ] {
            assert_eq!(server.get(path).0, 200, "{path}");
        }
    });
}

/// 6 ways to be slow, or many.
#[test]
fn who_is_slow_holds_up_nobody() {
    let (_folder, table) = hostile::table();
    let server = Server::start(&table);
    let connect = || TcpStream::connect(&server.host).expect("a connection");
    let begun = |text: &str| {
        let mut stream = connect();
        stream.write_all(text.as_bytes()).expect("sent");
        stream
    };
    let head = format!("POST /api/sql HTTP/1.1\r\nHost: {}\r\nContent-Length: 1000\r\n", server.host);
    let long = format!("GET /api/overview?steps=1000 HTTP/1.1\r\nHost: {}\r\n\r\n", server.host);
    let held: Vec<TcpStream> = (0..20)
        .flat_map(|_| {
            [connect(), begun("GET /api/ta"), begun(&head), begun(&format!("{head}\r\n{{")), begun(&long)]
        })
        .collect();
    let start = Instant::now();
    assert_eq!(server.json("/api/table")["n_requests"], TEXTS.len());
    assert!(start.elapsed() < Duration::from_secs(3), "{:?}", start.elapsed());
    // A byte now and then is no way to stay longer.
    let mut dribbling = begun("GET /api/table HTTP/1.1\r\nX: ");
    let start = Instant::now();
    while dribbling.write_all(b"x").is_ok() && start.elapsed() < Duration::from_secs(30) {
        std::thread::sleep(Duration::from_millis(200));
    }
    assert!(start.elapsed() < Duration::from_secs(20), "it is closed");
    drop(held);
    // More than are answered at a time: others wait no longer than these may be silent.
    let many: Vec<TcpStream> = (0..300).map(|_| connect()).collect();
    let start = Instant::now();
    assert_eq!(server.json("/api/table")["n_requests"], TEXTS.len());
    assert!(start.elapsed() < Duration::from_secs(35), "{:?}", start.elapsed());
    drop(many);
    let mut closed = connect();
    closed.set_read_timeout(Some(Duration::from_secs(20))).expect("a timeout");
    let _ = closed.read(&mut [0]);
    assert_eq!(server.json("/api/table")["n_requests"], TEXTS.len());
}

/// 34 statements: what does more than read, what reads something else, and what takes too much.
#[cfg(feature = "sql")]
#[test]
fn sql_can_only_read() {
    attacked(|server| {
        let ask = |query: &str| {
            let body = serde_json::json!({"query": query}).to_string();
            server.ask("POST", "/api/sql", "Content-Type: application/json\r\n", &body)
        };
        let (status, _, body) = ask("SELECT request_type FROM requests ORDER BY request_id");
        let answer: Value = serde_json::from_str(&body).expect("JSON");
        assert_eq!((status, answer["rows"].as_array().map(Vec::len)), (200, Some(TEXTS.len())));
        assert_eq!(answer["rows"][0][0], TEXTS[0]);
        let cut: Value =
            serde_json::from_str(&ask("SELECT * FROM generate_series(1, 20000)").2).expect("JSON");
        assert_eq!((&cut["is_cut"], cut["rows"].as_array().map(Vec::len)), (&true.into(), Some(10_000)));
        for query in STATEMENTS {
            let (status, _, body) = ask(query);
            assert_eq!(status, 400, "{query}: {body}");
            assert!(!is_of_another_file(&body), "{query}: {body}");
        }
        for huge in [
            format!("SELECT {}1{}", "(".repeat(500), ")".repeat(500)),
            format!("SELECT {}", "NOT ".repeat(100_000)),
            format!("SELECT 1 WHERE {}1=1", "1=1 OR ".repeat(100_000)),
            format!("SELECT '{}'", "x".repeat(2 << 20)),
            "SELECT ".repeat(100_000),
            format!("SELECT 1 {}", "UNION ALL SELECT 1 ".repeat(30_000)),
            format!("SELECT * FROM {}requests", "requests, ".repeat(2_000)),
        ] {
            let (status, _, body) = ask(&huge);
            assert!(
                status == 0 || status >= 400,
                "{}: {status} {}",
                &huge[..40],
                &body[..body.len().min(200)]
            );
        }
        // What is only long is answered, if there is time for it.
        let (status, _, body) = ask(&format!("SELECT 1 IN ({}1)", "1,".repeat(200_000)));
        let answer: Value = serde_json::from_str(&body).unwrap_or_default();
        let is_right = status == 200 && answer["rows"] == serde_json::json!([[true]]);
        assert!(is_right || status == 400, "{status} {}", &body[..body.len().min(200)]);
        let found = server.json("/api/requests?where=n_nodes+%3D+1+--+a+comment");
        assert_eq!(found["n"], TEXTS.len());
        for condition in
            ["1)%3B+DROP+TABLE+requests+--", "1%3D1)+UNION+SELECT+file+FROM+events+--", "1%3D1+%2F*"]
        {
            assert_eq!(server.get(&format!("/api/requests?where={condition}")).0, 400, "{condition}");
        }
    });
}

#[cfg(feature = "sql")]
const STATEMENTS: [&str; 23] = [
    "DROP TABLE requests",
    "DELETE FROM requests",
    "UPDATE requests SET n_nodes = 0",
    "INSERT INTO requests SELECT * FROM requests",
    "TRUNCATE TABLE requests",
    "ALTER TABLE requests ADD COLUMN x INT",
    "SET datafusion.execution.batch_size = 1",
    "CREATE TABLE x AS SELECT 1",
    "CREATE VIEW x AS SELECT 1",
    "CREATE EXTERNAL TABLE x STORED AS CSV LOCATION '/etc/passwd'",
    "CREATE FUNCTION f() RETURNS INT RETURN 1",
    "COPY requests TO 'x.parquet'",
    "COPY (SELECT 1) TO '/tmp/x.csv'",
    "EXPLAIN ANALYZE INSERT INTO requests SELECT * FROM requests",
    "SELECT 1; SELECT 2",
    "SELECT 1; DROP TABLE requests",
    "",
    "nonsense",
    "SELECT * FROM 'x.parquet'",
    "SELECT * FROM '/etc/passwd'",
    "SELECT * FROM read_csv('/etc/passwd')",
    "SELECT pg_read_file('/etc/passwd')",
    "SELECT count(*) FROM generate_series(1, 9000000000000)",
];

//! The server as browsers, and those who attack them, meet it: answers, limits, and who is refused.
#![cfg(feature = "serve")]

#[path = "support/command.rs"]
mod command;
#[path = "support/many_requests.rs"]
mod many_requests;
#[path = "support/older.rs"]
mod older;
#[path = "support/sample.rs"]
mod sample;

#[path = "serve/attacks.rs"]
mod attacks;
#[path = "serve/hostile.rs"]
mod hostile;
#[path = "serve/large.rs"]
mod large;
#[path = "serve/lines.rs"]
mod lines;
#[path = "serve/lists.rs"]
mod lists;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use command::{done, fails};
use serde_json::Value;

/// A server, ended with the test.
struct Server {
    child: Child,
    host: String,
}

impl Server {
    fn start(table: &str) -> Self {
        Self::start_with(table, &["--timeout", "20s"])
    }

    fn start_with(table: &str, flags: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lprof"));
        command.args(["serve", "--table", table, "--http", "127.0.0.1:0"]).args(flags);
        let mut child = command.stdout(Stdio::piped()).spawn().expect("lprof starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut line).expect("an address");
        let host = line.trim().strip_prefix("page: http://").and_then(|rest| rest.strip_suffix('/'));
        let host = host.unwrap_or_else(|| panic!("no address in `{line}`")).to_owned();
        Self { child, host }
    }

    /// Status, head and body of the answer to `request`.
    fn send(&self, request: impl AsRef<[u8]>) -> (u16, String, String) {
        let mut stream = TcpStream::connect(&self.host).expect("a connection");
        stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a timeout");
        // It may have been refused before all was said.
        let _ = stream.write_all(request.as_ref());
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
        self.send(format!(
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
    assert!(request["related"].as_array().is_some_and(|all| !all.is_empty()), "{request}");
    let is_sure = |of: &Value| of["probability"].as_f64().is_some_and(|of| of > 0.9);
    assert!(request["spans"].as_array().is_some_and(|spans| spans[1..].iter().all(is_sure)));
    let order = server.json(&format!("/api/requests/{id}/order?span=0&event=0"));
    assert_eq!(order["order"][0][0], "this");
    let profile = server.json("/api/profile");
    let printed: Value =
        serde_json::from_str(&done(&["profile", "--table", &table, "--format", "json"])).expect("JSON");
    assert!(printed["lines"].as_array().is_some_and(|lines| lines.len() > 5));
    assert_eq!((&profile["n"], &profile["report"]), (&149.into(), &printed), "as the command says");
    let slow = server.json("/api/profile?type=ClientHandler.writeBlock&min=20000");
    assert_eq!(slow["n"], server.json("/api/requests?type=ClientHandler.writeBlock&min=20000")["n"]);
    assert_eq!((&slow["report"]["n_requests"], &slow["report"]["n_types"]), (&slow["n"], &1.into()));
    let inputs = server.json("/api/coverage");
    let records: i64 =
        inputs["inputs"].as_array().expect("inputs").iter().filter_map(|of| of["n_records"].as_i64()).sum();
    assert_eq!(records, 646);
}

/// Of few requests the server reads all, and says what the command says.
#[test]
fn two_tables_are_compared() {
    let (folder, before) = sample::table("java17");
    let after = folder.path().join("after").display().to_string();
    let [jar, logs] = ["classes/java17/store.jar", "diagnosis/logs"]
        .map(|path| command::samples().join(path).display().to_string());
    done(&["run", "-q", "--table", &after, &jar, &logs]);
    let server = Server::start_with(&after, &["--compare", &before]);
    assert_eq!(server.json("/api/table")["first"], before);
    let said: Value =
        serde_json::from_str(&done(&["compare", &before, &after, "--format", "json"])).expect("JSON");
    let found = server.json("/api/compare");
    assert_eq!(found, said);
    assert_eq!(found["changes"].as_array().map(Vec::len), Some(1));
    // Conditions hold for both tables, but those on times.
    let writes = server.json("/api/compare?type=ClientHandler.writeBlock&from=1795263305000000");
    assert_eq!(writes["types"].as_array().map(Vec::len), Some(1), "{writes}");
    assert_eq!((&writes["first"]["n_requests"], &writes["second"]["n_requests"]), (&48.into(), &16.into()));
    let (status, _, body) = Server::start(&before).get("/api/compare");
    assert!(status == 404 && body.contains("--compare"), "{status} {body}");
    fails(
        1,
        &["serve", "--table", &after, "--compare", "no-such-table", "--http", "127.0.0.1:0"],
        "no-such-table",
    );
}

#[test]
fn a_table_that_goes_on_is_served_as_it_is_by_then() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let jar = command::samples().join("classes/java17/store.jar").display().to_string();
    let (table, logs) = (path("t"), path("logs"));
    std::fs::create_dir(&logs).expect("a folder");
    let add = |part: usize| {
        for node in ["a", "b", "c"] {
            let log = command::samples().join(format!("logs/{node}.log"));
            let text = std::fs::read_to_string(log).expect("a log");
            let text: String = text.split_inclusive('\n').take(text.lines().count() * part / 4).collect();
            std::fs::write(format!("{logs}/{node}.log"), text).expect("a log");
        }
        done(&["run", "-q", "--table", &table, &jar, &logs]);
        lprof::Table::open(std::path::Path::new(&table)).expect("a table").n_requests()
    };
    let mut n_requests = add(1);
    let server = Server::start(&table);
    assert_eq!(server.json("/api/table")["n_requests"], n_requests);
    for part in 2..=4 {
        let before = std::mem::replace(&mut n_requests, add(part));
        assert!(before < n_requests);
        let start = std::time::Instant::now();
        loop {
            let seen = server.json("/api/table")["n_requests"].as_u64().expect("a number");
            assert!(seen == before || seen == n_requests, "{before}, {seen}, {n_requests}");
            // The list is of one state too, though nobody says of which.
            let listed = server.json("/api/requests?limit=1000");
            let listed = (listed["n"].as_u64(), listed["requests"].as_array().map(|all| all.len() as u64));
            assert!(
                listed.0 == listed.1 && [Some(before), Some(n_requests)].contains(&listed.0),
                "{listed:?}"
            );
            if seen == n_requests {
                break;
            }
            assert!(start.elapsed() < Duration::from_secs(60), "not seen after {:?}", start.elapsed());
            std::thread::sleep(Duration::from_millis(50));
        }
    }
    assert_eq!(n_requests, 149);
    done(&["thin", "-q", "--table", &table, "--before", "2030-01-01", "--keep", "requests"]);
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
fn only_this_machine_is_served() {
    let (_folder, table) = hostile::table();
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:0"] {
        fails(1, &["serve", "--table", &table, "--http", address], "no password");
    }
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = taken.local_addr().expect("an address").to_string();
    fails(1, &["serve", "--table", &table, "--http", &address], &address);
    fails(2, &["serve", "--table", &table, "--http", "localhost"], "--http");
    fails(1, &["serve", "--table", "no-such-table", "--http", "127.0.0.1:0"], "no-such-table");
}

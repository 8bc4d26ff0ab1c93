//! What a server of many requests answers, and how long that takes.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use super::{command, figures, say};

/// Answers of each kind that are asked.
const ASKED: usize = 20;
/// Clients side by side.
const CLIENTS: usize = 32;

/// A server, ended with this.
struct Server {
    child: Child,
    host: String,
}

impl Server {
    fn start(table: &Path) -> Self {
        let mut command = command();
        command.args(["serve", "--http", "127.0.0.1:0", "--table"]).arg(table).stdout(Stdio::piped());
        let mut child = command.spawn().expect("lprof starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut line).expect("an address");
        let host = line.trim().trim_start_matches("page: http://").trim_end_matches('/').to_owned();
        Self { child, host }
    }

    /// How long it takes to answer.
    fn ask(&self, path: &str) -> Duration {
        self.send(path, &format!("GET {path} HTTP/1.1\r\nHost: {}\r\n\r\n", self.host))
    }

    fn sql(&self, query: &str) -> Duration {
        let body = serde_json::json!({"query": query}).to_string();
        let head = format!("POST /api/sql HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json", self.host);
        self.send(query, &format!("{head}\r\nContent-Length: {}\r\n\r\n{body}", body.len()))
    }

    fn send(&self, what: &str, request: &str) -> Duration {
        let start = Instant::now();
        let mut stream = TcpStream::connect(&self.host).expect("a connection");
        stream.write_all(request.as_bytes()).expect("sent");
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).expect("an answer");
        assert!(answer.starts_with(b"HTTP/1.1 200"), "{what}: {}", String::from_utf8_lossy(&answer));
        start.elapsed()
    }

    /// Asks for `path` with another condition each time, so that no answer is one that was kept.
    fn often(&self, name: &str, path: &str) {
        let join = if path.contains('?') { '&' } else { '?' };
        figures(
            name,
            (0..ASKED).map(|n| self.ask(&format!("{path}{join}max={}", 1_000_000_000 + n))).collect(),
        );
    }

    fn memory(&self, when: &str) {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap_or_default();
        let most = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or(" not known").trim();
        say(&format!("memory of the server {when}, at most: {most}"));
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Measures all views of the page.
pub(crate) fn measure(table: &Path, ids: &[String]) {
    let start = Instant::now();
    let server = Server::start(table);
    say(&format!("serve, until it listens: {:.2} s", start.elapsed().as_secs_f64()));
    server.memory("as it listens");
    figures("what is there", (0..ASKED).map(|_| server.ask("/api/table")).collect());
    server.often("overview", "/api/overview");
    server.often("overview of slow ones", "/api/overview?min=1000");
    server.often("overview of a type on a node", "/api/overview?type=Handler.put&node=n2");
    figures("overview, asked again", (0..ASKED).map(|_| server.ask("/api/overview")).collect());
    server.often("overview, times", "/api/overview?from=100000000&to=700000000");
    server.often("list by duration", "/api/requests?sort=duration");
    server.often("list by start, far behind", "/api/requests?sort=start&offset=500000");
    server.often("profile", "/api/profile");
    server.often("profile of slow ones", "/api/profile?min=1000");
    figures("coverage", (0..ASKED).map(|_| server.ask("/api/coverage")).collect());
    let of_ids = |path: &str| ids.iter().map(|id| server.ask(&path.replace("ID", id))).collect();
    figures("a request", of_ids("/api/requests/ID"));
    figures("traces for Jaeger", (0..ASKED).map(|_| server.ask("/api/traces?service=n1&limit=20")).collect());
    if cfg!(feature = "sql") {
        server.often("overview, where in SQL", "/api/overview?where=n_spans+%3E+5");
        let types = "SELECT request_type, count(*), approx_percentile_cont(duration_us, 0.99) FROM requests GROUP BY 1";
        figures("SQL, quantiles by type", (0..ASKED).map(|_| server.sql(types)).collect());
        let points = "SELECT log_point_id, count(*) AS n FROM events GROUP BY 1 ORDER BY n DESC LIMIT 20";
        figures("SQL, busiest log points", (0..ASKED).map(|_| server.sql(points)).collect());
    }
    server.memory("then");
    side_by_side(&server, "the same overview, 32 clients", &|_, _| "/api/overview?min=7".to_owned());
    side_by_side(&server, "other overviews, 32 clients", &|client, n| {
        format!("/api/overview?max={}", 2_000_000_000 + client * ASKED + n)
    });
    side_by_side(&server, "all views, 32 clients", &|client, n| {
        let (other, id) = (3_000_000_000_usize + client * ASKED + n, &ids[(client * ASKED + n) % ids.len()]);
        match n % 5 {
            0 => format!("/api/overview?max={other}"),
            1 => format!("/api/requests?sort=duration&max={other}"),
            2 => format!("/api/requests/{id}"),
            3 if n == 3 => format!("/api/profile?max={other}"),
            _ => "/api/coverage".to_owned(),
        }
    });
    server.memory("after all");
}

/// What `CLIENTS` ask at the same time, by client and number.
fn side_by_side(server: &Server, name: &str, path: &(dyn Fn(usize, usize) -> String + Sync)) {
    let ask = |client| -> Vec<Duration> { (0..ASKED).map(|n| server.ask(&path(client, n))).collect() };
    let ask = &ask;
    let took: Vec<Duration> = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS).map(|client| scope.spawn(move || ask(client))).collect();
        clients.into_iter().flat_map(|client| client.join().expect("answers")).collect()
    });
    figures(name, took);
}

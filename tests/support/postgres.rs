//! A client of the protocol of PostgreSQL, as small as it can be and without any of the server's
//! code: simple and extended queries, values as text or as bytes; and a server to ask.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// A server, ended with the test.
pub(crate) struct Server {
    child: Child,
    /// Address of the page.
    pub(crate) page: String,
    /// Address of the protocol.
    pub(crate) postgres: String,
}

impl Server {
    /// Serves `table` at free ports.
    #[track_caller]
    pub(crate) fn start(table: &str, more: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lprof"));
        command.args(["serve", "--table", table, "--http", "127.0.0.1:0", "--postgres", "127.0.0.1:0"]);
        let mut child = command.args(more).stdout(Stdio::piped()).spawn().expect("lprof starts");
        let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        let mut line = |name: &str| {
            let line = lines.next().expect("a line").expect("a line");
            line.strip_prefix(name).unwrap_or_else(|| panic!("no {name} in `{line}`")).to_owned()
        };
        let page = line("page: http://").trim_end_matches('/').to_owned();
        let postgres = line("postgres: ");
        Self { child, page, postgres }
    }

    /// Connects to it.
    #[track_caller]
    pub(crate) fn connect(&self) -> Client {
        Client::connect(&self.postgres)
    }

    /// Its port.
    pub(crate) fn port(&self) -> &str {
        self.postgres.rsplit(':').next().expect("a port")
    }

    /// The most memory that it has held, in bytes.
    pub(crate) fn memory_max(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap_or_default();
        let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap_or_default();
        line.split_whitespace().nth(1).and_then(|kb| kb.parse::<u64>().ok()).unwrap_or(0) * 1024
    }

    /// Whether it still runs.
    pub(crate) fn is_alive(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What came of a message.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    /// Names and types of the columns.
    pub(crate) columns: Vec<(String, u32)>,
    /// Values as they came; none: NULL.
    pub(crate) rows: Vec<Vec<Option<Vec<u8>>>>,
    /// What was done, by statement.
    pub(crate) tags: Vec<String>,
    /// What was copied.
    pub(crate) copied: String,
    /// SQLSTATE and message of a fault.
    pub(crate) fault: Option<(String, String)>,
}

impl Answer {
    /// Its rows as texts.
    #[track_caller]
    pub(crate) fn texts(&self) -> Vec<Vec<String>> {
        assert_eq!(self.fault, None);
        let text = |value: &Option<Vec<u8>>| match value {
            Some(bytes) => String::from_utf8(bytes.clone()).expect("UTF-8"),
            None => "NULL".to_owned(),
        };
        self.rows.iter().map(|row| row.iter().map(text).collect()).collect()
    }

    /// Its only value.
    #[track_caller]
    pub(crate) fn text(&self) -> String {
        self.texts().into_iter().flatten().next().expect("a value")
    }

    /// The code of its fault, or nothing.
    pub(crate) fn code(&self) -> &str {
        self.fault.as_ref().map_or("", |(code, _)| code)
    }
}

/// A connection.
pub(crate) struct Client {
    stream: TcpStream,
    /// Process and key, by which it is told to stop.
    pub(crate) key: [u8; 8],
    /// `I`dle, in a `T`ransaction, in a failed one (`E`).
    pub(crate) status: u8,
}

impl Client {
    /// Connects without a password.
    #[track_caller]
    pub(crate) fn connect(address: &str) -> Self {
        let stream = TcpStream::connect(address).expect("a connection");
        stream.set_read_timeout(Some(Duration::from_secs(120))).expect("a timeout");
        let mut client = Self { stream, key: [0; 8], status: 0 };
        let mut startup = 196_608_u32.to_be_bytes().to_vec();
        startup.extend(b"user\0somebody\0database\0lprof\0\0");
        client.send(None, &startup);
        let answer = client.answer();
        assert_eq!(answer.fault, None);
        client
    }

    /// Sends a message.
    pub(crate) fn send(&mut self, kind: Option<u8>, body: &[u8]) {
        let mut message: Vec<u8> = kind.into_iter().collect();
        message.extend(u32::try_from(body.len() + 4).expect("short").to_be_bytes());
        message.extend(body);
        // It may have been closed meanwhile, which the answer tells.
        let _ = self.stream.write_all(&message);
    }

    /// The next message, unless the connection was closed.
    pub(crate) fn receive(&mut self) -> Option<(u8, Vec<u8>)> {
        let mut head = [0; 5];
        self.stream.read_exact(&mut head).ok()?;
        let length = u32::from_be_bytes([head[1], head[2], head[3], head[4]]) as usize;
        let mut body = vec![0; length - 4];
        self.stream.read_exact(&mut body).ok()?;
        Some((head[0], body))
    }

    /// All until the server is ready again.
    pub(crate) fn answer(&mut self) -> Answer {
        let mut answer = Answer::default();
        loop {
            let Some((kind, body)) = self.receive() else {
                let closed = || ("closed".to_owned(), "the connection was closed".to_owned());
                answer.fault.get_or_insert_with(closed);
                return answer;
            };
            match kind {
                b'T' => answer.columns = columns(&body),
                b'D' => answer.rows.push(row(&body)),
                b'C' => answer.tags.push(String::from_utf8_lossy(&body[..body.len() - 1]).into_owned()),
                b'd' => answer.copied.push_str(&String::from_utf8_lossy(&body)),
                b'E' => answer.fault = Some(fault(&body)),
                b'K' => self.key.copy_from_slice(&body),
                b'R' => assert_eq!(body, [0, 0, 0, 0], "no password is asked for"),
                b'Z' => {
                    self.status = body[0];
                    return answer;
                }
                _ => {}
            }
        }
    }

    /// Asks by the simple protocol; values come as text.
    pub(crate) fn ask(&mut self, query: &str) -> Answer {
        self.send(Some(b'Q'), &[query.as_bytes(), &[0]].concat());
        self.answer()
    }

    /// Asks by the extended protocol, with parameters as texts; values come as text, or as bytes.
    pub(crate) fn ask_with(&mut self, query: &str, parameters: &[&str], as_bytes: bool) -> Answer {
        self.send(Some(b'P'), &[&[0], query.as_bytes(), &[0, 0, 0]].concat());
        self.send(Some(b'D'), b"S\0");
        let count = u16::try_from(parameters.len()).expect("few").to_be_bytes();
        let mut bind = [&[0_u8, 0, 0, 0][..], &count].concat();
        for parameter in parameters {
            bind.extend(u32::try_from(parameter.len()).expect("short").to_be_bytes());
            bind.extend(parameter.as_bytes());
        }
        bind.extend([0, 1, 0, u8::from(as_bytes)]);
        self.send(Some(b'B'), &bind);
        self.send(Some(b'E'), &[0, 0, 0, 0, 0]);
        self.send(Some(b'S'), &[]);
        self.answer()
    }
}

fn columns(body: &[u8]) -> Vec<(String, u32)> {
    let mut rest = &body[2..];
    let mut found = Vec::new();
    while let Some(end) = rest.iter().position(|byte| *byte == 0) {
        let name = String::from_utf8_lossy(&rest[..end]).into_owned();
        let at = end + 7;
        let oid = u32::from_be_bytes(rest[at..at + 4].try_into().expect("four bytes"));
        found.push((name, oid));
        rest = &rest[end + 19..];
    }
    found
}

fn row(body: &[u8]) -> Vec<Option<Vec<u8>>> {
    let mut rest = &body[2..];
    let mut found = Vec::new();
    while let Some((length, after)) = rest.split_first_chunk::<4>() {
        let length = i32::from_be_bytes(*length);
        let Ok(length) = usize::try_from(length) else {
            found.push(None);
            rest = after;
            continue;
        };
        found.push(Some(after[..length].to_vec()));
        rest = &after[length..];
    }
    found
}

fn fault(body: &[u8]) -> (String, String) {
    let field = |kind: u8| {
        let part = body.split(|byte| *byte == 0).find(|part| part.first() == Some(&kind));
        String::from_utf8_lossy(part.map_or(&[][..], |part| &part[1..])).into_owned()
    };
    (field(b'C'), field(b'M'))
}

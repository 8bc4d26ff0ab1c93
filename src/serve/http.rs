//! As much of HTTP/1.1 as a page on the same machine needs: one request a connection, whose head and
//! body are read whole, within limits, before anything is done, and one answer. What is said twice or
//! in a way that two readers could understand differently is refused.

use std::io::{self, Read, Write};
use std::sync::Arc;
use std::time::Instant;

use serde::{Deserialize, Serialize};

/// Bytes of a head.
const HEAD_BYTES_MAX: usize = 64 << 10;
/// Bytes of a body: a query is the only one.
const BODY_BYTES_MAX: usize = 1 << 20;
/// Bytes that are written between two looks at the clock.
const WRITTEN_AT_A_TIME: usize = 64 << 10;

/// A request.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Asked {
    /// `GET`, `POST` or whatever it says.
    pub(super) method: String,
    /// Parts of the path, decoded.
    pub(super) path: Vec<String>,
    /// Parameters, decoded, in their order.
    parameters: Vec<(String, String)>,
    /// Names in lower case.
    headers: Vec<(String, String)>,
    /// The body.
    pub(super) body: Vec<u8>,
}

/// An answer.
#[derive(Clone, Debug)]
pub(super) struct Answer {
    /// The status.
    pub(super) status: u16,
    /// What the body is.
    kind: &'static str,
    body: Arc<Vec<u8>>,
}

/// What went wrong.
#[derive(Debug, Deserialize, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(super) struct Fault {
    error: String,
}

impl Answer {
    /// With this body.
    pub(super) fn new(kind: &'static str, body: Vec<u8>) -> Self {
        Self { status: 200, kind, body: Arc::new(body) }
    }

    /// JSON.
    pub(super) fn json(value: &impl Serialize) -> Self {
        let body = serde_json::to_vec(value).expect("names of fields are texts");
        Self::new("application/json", body)
    }

    /// What went wrong, as JSON.
    pub(super) fn fault(status: u16, why: &str) -> Self {
        Self { status, ..Self::json(&Fault { error: why.to_owned() }) }
    }

    /// The same with another status.
    pub(super) fn with_status(self, status: u16) -> Self {
        Self { status, ..self }
    }

    /// Bytes of its body.
    pub(super) fn len(&self) -> usize {
        self.body.len()
    }

    /// What a fault says.
    pub(super) fn said(&self) -> String {
        serde_json::from_slice(&self.body).map(|fault: Fault| fault.error).unwrap_or_default()
    }

    /// Writes it, with `headers`, if that is done before `until`; of `HEAD` without its body.
    pub(super) fn write(
        &self,
        out: &mut dyn Write,
        headers: &[(&str, &str)],
        is_head: bool,
        until: Instant,
    ) -> io::Result<()> {
        let mut head = format!(
            "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\n",
            self.status,
            reason(self.status),
            self.kind,
            self.body.len()
        );
        headers.iter().for_each(|(name, value)| head.push_str(&format!("{name}: {value}\r\n")));
        head.push_str("\r\n");
        out.write_all(head.as_bytes())?;
        for part in self.body.chunks(WRITTEN_AT_A_TIME).filter(|_| !is_head) {
            if Instant::now() > until {
                return Err(io::ErrorKind::TimedOut.into());
            }
            out.write_all(part)?;
        }
        out.flush()
    }
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        408 => "Request Timeout",
        413 => "Content Too Large",
        415 => "Unsupported Media Type",
        431 => "Request Header Fields Too Large",
        500 => "Internal Server Error",
        501 => "Not Implemented",
        _ => "Bad Request",
    }
}

impl Asked {
    /// Reads a request that is there before `until`. The error is what to answer.
    pub(super) fn read(from: &mut dyn Read, until: Instant) -> Result<Self, Answer> {
        let mut bytes = Vec::new();
        let end = loop {
            // A head ends with an empty line; that may have begun in what came before.
            let begin = bytes.len().saturating_sub(3);
            more(from, &mut bytes, until)?;
            if let Some(at) = bytes[begin..].windows(4).position(|four| four == b"\r\n\r\n") {
                break begin + at;
            }
            if bytes.len() > HEAD_BYTES_MAX {
                return Err(Answer::fault(431, "the head is too long"));
            }
        };
        let head = std::str::from_utf8(&bytes[..end]).ok().and_then(Self::parse);
        let mut asked = head.ok_or_else(|| Answer::fault(400, "this is no request"))?;
        if asked.header("transfer-encoding").is_some() {
            return Err(Answer::fault(501, "a body has a length"));
        }
        let length = match asked.header("content-length") {
            None => 0,
            Some(text) if !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()) => {
                text.parse().unwrap_or(usize::MAX)
            }
            Some(_) => return Err(Answer::fault(400, "the length is no number")),
        };
        if length > BODY_BYTES_MAX {
            return Err(Answer::fault(413, "the body is too long"));
        }
        asked.body = bytes.split_off(end + 4);
        while asked.body.len() < length {
            more(from, &mut asked.body, until)?;
        }
        asked.body.truncate(length);
        Ok(asked)
    }

    /// The head of a request; none: it is not one.
    fn parse(head: &str) -> Option<Self> {
        let mut lines = head.split("\r\n");
        let mut words = lines.next()?.split(' ');
        let (method, target, version) = (words.next()?, words.next()?, words.next()?);
        let is_version = matches!(version, "HTTP/1.1" | "HTTP/1.0");
        if words.next().is_some() || !is_version || !target.starts_with('/') || !is_token(method) {
            return None;
        }
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let path = path[1..].split('/').map(|part| decoded(part, false)).collect::<Option<Vec<_>>>()?;
        let pair = |pair: &str| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            Some((decoded(name, true)?, decoded(value, true)?))
        };
        let pairs = query.split('&').filter(|pair| !pair.is_empty());
        let parameters = pairs.map(pair).collect::<Option<Vec<_>>>()?;
        let header = |line: &str| {
            let (name, value) = line.split_once(':')?;
            let is_plain = !value.contains(|c: char| c.is_control() && c != '\t');
            (is_token(name) && is_plain).then(|| (name.to_ascii_lowercase(), value.trim().to_owned()))
        };
        let headers = lines.map(header).collect::<Option<Vec<_>>>()?;
        let once = ["host", "content-length", "content-type", "origin", "transfer-encoding"];
        let n_times = |name: &&str| headers.iter().filter(|(other, _)| other == name).count();
        if once.iter().any(|name| n_times(name) > 1) {
            return None;
        }
        Some(Self { method: method.to_owned(), path, parameters, headers, body: Vec::new() })
    }

    /// Path and parameters, of which two are equal only if the same is asked.
    pub(super) fn key(&self) -> String {
        format!("{:?} {:?}", self.path, self.parameters)
    }

    /// A header, by its name in lower case.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
    }

    /// A parameter that is there and not empty.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        let found = self.parameters.iter().find(|(other, _)| other == name);
        found.map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
    }

    /// A parameter that is a number, if it is there.
    pub(super) fn number<N: std::str::FromStr>(&self, name: &str) -> Result<Option<N>, Answer> {
        let number =
            |text: &str| text.parse().map_err(|_| Answer::fault(400, &format!("`{name}`: no number")));
        self.text(name).map(number).transpose()
    }
}

/// Reads what comes next.
fn more(from: &mut dyn Read, bytes: &mut Vec<u8>, until: Instant) -> Result<(), Answer> {
    let mut buffer = [0; 8 << 10];
    if Instant::now() > until {
        return Err(Answer::fault(408, "this takes too long"));
    }
    match from.read(&mut buffer) {
        Ok(0) => Err(Answer::fault(400, "the request ends in the middle")),
        Ok(n) => {
            bytes.extend(&buffer[..n]);
            Ok(())
        }
        Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(()),
        Err(_) => Err(Answer::fault(408, "this takes too long")),
    }
}

/// Whether `text` can be the name of a method or a header.
fn is_token(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b))
}

/// A part of an address without its `%`; none: it is not UTF-8, or cut.
fn decoded(text: &str, plus_is_blank: bool) -> Option<String> {
    let digit = |byte: Option<u8>| char::from(byte?).to_digit(16).map(|digit| digit as u8);
    let mut bytes = text.bytes();
    let mut out = Vec::with_capacity(text.len());
    while let Some(byte) = bytes.next() {
        out.push(match byte {
            b'%' => digit(bytes.next())? << 4 | digit(bytes.next())?,
            b'+' if plus_is_blank => b' ',
            other => other,
        });
    }
    String::from_utf8(out).ok()
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::Asked;

    fn read(text: &str) -> Result<Asked, u16> {
        let until = Instant::now() + Duration::from_secs(10);
        Asked::read(&mut text.as_bytes(), until).map_err(|answer| answer.status)
    }

    #[test]
    fn requests_are_read() {
        let asked =
            read("POST /a%2fb/c?x=1+2&y=%C3%A9&z HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nabc")
                .expect("one");
        assert_eq!((asked.method.as_str(), asked.path), ("POST", vec!["a/b".to_owned(), "c".to_owned()]));
        let asked = read("GET /?x=1+2&y=%C3%A9&z&n=7 HTTP/1.1\r\nHost: h\r\n\r\n").expect("one");
        assert_eq!((asked.text("x"), asked.text("y"), asked.text("z")), (Some("1 2"), Some("é"), None));
        assert_eq!((asked.number::<i64>("n").ok(), asked.number::<i64>("x").is_err()), (Some(Some(7)), true));
    }

    #[test]
    fn what_two_could_read_differently_is_refused() {
        let head = |rest: &str| format!("GET / HTTP/1.1\r\n{rest}\r\n\r\n");
        for (text, status) in [
            (head("Host: a\r\nHost: b"), 400),
            (head("Host : a"), 400),
            (head("Content-Length: 1\r\nContent-Length: 2"), 400),
            (head("Content-Length: +1"), 400),
            (head("Content-Length: -1"), 400),
            (head("Content-Length: 99999999999999999999999"), 413),
            (head("Transfer-Encoding: chunked"), 501),
            (head("A: b\nHost: c"), 400),
            (head(" folded: a"), 400),
            ("GET /%zz HTTP/1.1\r\n\r\n".to_owned(), 400),
            ("GET /%ff HTTP/1.1\r\n\r\n".to_owned(), 400),
            ("GET /%2 HTTP/1.1\r\n\r\n".to_owned(), 400),
            ("GET http://evil.example/ HTTP/1.1\r\n\r\n".to_owned(), 400),
            ("GET / HTTP/2.0\r\n\r\n".to_owned(), 400),
            ("GET / a HTTP/1.1\r\n\r\n".to_owned(), 400),
            ("GET /".to_owned(), 400),
            (String::new(), 400),
            (head(&format!("A: {}", "x".repeat(100_000))), 431),
        ] {
            assert_eq!(read(&text).map(|_| ()), Err(status), "{}", &text[..text.len().min(80)]);
        }
    }
}

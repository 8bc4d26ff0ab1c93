//! Who is answered: those who ask this machine by one of its own names, and no page but ours. What
//! is answered may be used by our page alone, and runs nothing that does not come from here.

use std::net::SocketAddr;

use super::http::Asked;

/// How all answers may be used.
pub(super) const HEADERS: [(&str, &str); 6] = [
    (
        "Content-Security-Policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "no-referrer"),
    ("X-Frame-Options", "DENY"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("Cache-Control", "no-store"),
];

/// Why a request that came to `address` is not answered; none: it is.
pub(super) fn refusal(asked: &Asked, address: SocketAddr) -> Option<&'static str> {
    let host = asked.header("host").unwrap_or_default();
    if !is_here(host, address) {
        return Some("this is not the host that was asked for");
    }
    let other_site = Some("pages of other sites are not answered");
    if asked.header("origin").is_some_and(|origin| origin.strip_prefix("http://") != Some(host)) {
        return other_site;
    }
    // Following a link to the page is what anybody may do; to ask the API is not.
    let is_page = asked.method == "GET" && asked.path == [""];
    let is_navigation = is_page && asked.header("sec-fetch-mode") == Some("navigate");
    match asked.header("sec-fetch-site") {
        None | Some("same-origin" | "none") => None,
        Some(_) if is_navigation => None,
        Some(_) => other_site,
    }
}

/// Whether `host`, a name with or without a port, is a name of this machine for itself.
fn is_here(host: &str, address: SocketAddr) -> bool {
    let names = [address.ip().to_string(), format!("[{}]", address.ip()), "localhost".to_owned()];
    let loopback = ["127.0.0.1".to_owned(), "[::1]".to_owned()];
    let is_port = |rest: &str| {
        rest.is_empty() || rest.strip_prefix(':').is_some_and(|port| port.parse::<u16>().is_ok())
    };
    let mut names = names.iter().chain(&loopback);
    names.any(|name| {
        host.get(..name.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(name))
            && is_port(&host[name.len()..])
    })
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::super::http::Asked;
    use super::{is_here, refusal};

    const ADDRESS: &str = "127.0.0.1:8088";

    #[test]
    fn only_names_of_this_machine() {
        let address = ADDRESS.parse().expect("an address");
        for host in ["127.0.0.1:8088", "localhost", "LocalHost:8088", "[::1]:9", "127.0.0.1"] {
            assert!(is_here(host, address), "{host}");
        }
        for host in [
            "",
            "evil.example",
            "evil.example:8088",
            "localhost.evil.example",
            "127.0.0.1.evil.example:8088",
            "localhost:80x",
            "localhost:",
            "localhost@evil.example",
            "127.0.0.1:8088, evil",
            "é",
            "0.0.0.0",
            "localhost:99999",
            "[::1",
            "192.168.0.1:8088",
        ] {
            // A name that ends in a colon is refused too: it names no port.
            assert!(!is_here(host, address), "{host}");
        }
    }

    fn refused(path: &str, headers: &[(&str, &str)]) -> bool {
        let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let text = format!("GET {path} HTTP/1.1\r\n{headers}\r\n");
        let asked = Asked::read(&mut text.as_bytes(), Instant::now() + Duration::from_secs(10));
        refusal(&asked.expect("a request"), ADDRESS.parse().expect("an address")).is_some()
    }

    #[test]
    fn no_page_but_ours() {
        let host = ("host", "localhost:8088");
        assert!(!refused("/api/table", &[host]));
        assert!(!refused("/api/table", &[host, ("origin", "http://localhost:8088")]));
        assert!(!refused("/api/table", &[host, ("sec-fetch-site", "same-origin")]));
        let link = [host, ("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate")];
        assert!(!refused("/", &link) && refused("/api/table", &link));
        assert!(refused("/api/table", &[]));
        for origin in [
            "null",
            "http://evil.example",
            "http://localhost:8089",
            "https://localhost:8088",
            "http://localhost:8088.evil",
        ] {
            assert!(refused("/api/table", &[host, ("origin", origin)]), "{origin}");
        }
        for site in ["cross-site", "same-site"] {
            assert!(refused("/api/table", &[host, ("sec-fetch-site", site)]), "{site}");
        }
    }
}

//! What PostgreSQL means by its SQL: a table of expressions with the answers of PostgreSQL 15, most of
//! them examples of its manual. Each is answered so, or refused; and in the same way over the protocol,
//! in the page and by `lprof sql`.
#![cfg(feature = "postgres")]

#[path = "support/command.rs"]
#[expect(dead_code, reason = "nothing fails here")]
mod command;
#[path = "support/postgres.rs"]
#[expect(dead_code, reason = "limits are tested with the protocol")]
mod postgres;
#[path = "support/sample.rs"]
mod sample;

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use command::done;
use postgres::{Answer, Client, Server};
use serde_json::Value;

/// `expression => answer`, with `; ` between rows and ` | ` between columns. `error`: PostgreSQL has none
/// either; `refused`: it has one that is not known here; `a, here b`: this is another one, and known to be.
const EXPRESSIONS: &str = include_str!("dialect/expressions.txt");

/// (expression, answer)
fn expressions() -> impl Iterator<Item = (&'static str, &'static str)> {
    let lines = EXPRESSIONS.lines().filter(|line| !line.is_empty() && !line.starts_with("# "));
    lines.map(|line| line.split_once(" => ").unwrap_or_else(|| panic!("no answer in `{line}`")))
}

fn query(expression: &str) -> String {
    let is_query = expression.starts_with("SELECT ") || expression.starts_with("WITH ");
    if is_query { expression.to_owned() } else { format!("SELECT {expression}") }
}

fn rows(answer: &Answer) -> String {
    let rows: Vec<String> = answer.texts().iter().map(|row| row.join(" | ")).collect();
    rows.join("; ").replace('\n', "\\n")
}

/// Numbers are the same however many zeros are written, and to 15 digits; all else to the letter.
fn is_same(found: &str, expected: &str) -> bool {
    let parts = |text: &str| -> Vec<String> {
        text.split([';', '|', '{', '}', ',']).map(|part| part.trim().to_owned()).collect()
    };
    let (found_parts, expected_parts) = (parts(found), parts(expected));
    let same = |(a, b): (&String, &String)| match (a.parse::<f64>(), b.parse::<f64>()) {
        (Ok(a), Ok(b)) => a == b || a.is_nan() && b.is_nan() || (a - b).abs() <= 1e-14 * a.abs(),
        _ => a == b,
    };
    let is_numeric = found_parts.iter().all(|part| part.parse::<f64>().is_ok() || part.is_empty());
    found == expected
        || (is_numeric || expected.contains(" | ") || expected.contains("; "))
            && found_parts.len() == expected_parts.len()
            && found_parts.iter().zip(&expected_parts).all(same)
}

/// What is wrong about an answer.
fn fault(answer: &Answer, expected: &str) -> Option<String> {
    let code = answer.code();
    match expected {
        // It says so, and is no failure of the engine.
        "error" | "refused" if code.is_empty() => Some(rows(answer)),
        "error" | "refused" if code == "XX000" || code == "closed" => Some(format!("{:?}", answer.fault)),
        "error" | "refused" => None,
        _ if !code.is_empty() => Some(format!("{:?}", answer.fault)),
        _ => {
            let expected = expected.split_once(", here ").map_or(expected, |(_, here)| here);
            Some(rows(answer)).filter(|found| !is_same(found, expected))
        }
    }
}

#[test]
fn expressions_are_right_or_refused() {
    let (_folder, table) = sample::table("java17");
    let server = Server::start(&table, &[]);
    let mut client = server.connect();
    let mut faults = Vec::new();
    let mut n = 0;
    for (expression, expected) in expressions() {
        n += 1;
        for answer in [client.ask(&query(expression)), client.ask_with(&query(expression), &[], false)] {
            if let Some(found) = fault(&answer, expected) {
                faults.push(format!("{expression} => {expected}\n    found {found}"));
            }
        }
    }
    assert!(n > 600, "{n}");
    assert!(faults.is_empty(), "{} of {n}:\n{}", faults.len(), faults.join("\n"));
}

/// The rows of a query in the page, values as JSON.
fn page(server: &Server, query: &str) -> Value {
    let mut stream = TcpStream::connect(&server.page).expect("a connection");
    let head = format!("POST /api/sql HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n", server.page);
    let body = serde_json::json!({ "query": query }).to_string();
    let rest = format!("Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    stream.write_all(format!("{head}{rest}").as_bytes()).expect("sent");
    let mut text = String::new();
    stream.read_to_string(&mut text).expect("an answer");
    serde_json::from_str(text.split("\r\n\r\n").nth(1).unwrap_or_default()).unwrap_or_default()
}

#[test]
fn all_ways_in_mean_the_same() {
    let (_folder, table) = sample::table("java17");
    let server = Server::start(&table, &[]);
    let mut client = server.connect();
    let is_value = |(expression, expected): &(&str, &str)| {
        let is_query = expression.starts_with("SELECT ") || expression.starts_with("WITH ");
        let is_one = !expression.starts_with("generate_series") && !expression.contains("bytea");
        !is_query && is_one && !matches!(*expected, "error" | "refused") && !expected.contains(", here ")
    };
    // Catalogs of PostgreSQL, JSON, and quotes of its protocol are its server's.
    let is_common = |(expression, _): &(&str, &str)| {
        ![
            "array_upper",
            "array_lower",
            "quote_ident",
            "parse_ident",
            "current_user",
            "ANY",
            "\\n",
            "decode",
            "'{",
            "json",
            "array(SELECT",
        ]
        .iter()
        .any(|of| expression.contains(of))
    };
    let values: Vec<_> = expressions().filter(is_value).filter(is_common).collect();
    assert!(values.len() > 350, "{}", values.len());
    for some in values.chunks(40) {
        let columns = some.iter().enumerate();
        let columns: Vec<String> =
            columns.map(|(i, (of, _))| format!("CAST(({of}) AS text) AS c{i}")).collect();
        let query = format!("SELECT {}", columns.join(", "));
        let expected = client.ask(&query).texts().remove(0);
        let json = done(&["sql", "--table", &table, "--format", "json", &query]);
        let row = serde_json::from_str::<Value>(&json).expect("JSON")[0].clone();
        let paged = page(&server, &query);
        for (i, (expression, _)) in some.iter().enumerate() {
            let text = |value: &Value| value.as_str().map_or_else(|| "NULL".to_owned(), str::to_owned);
            assert_eq!(text(&row[format!("c{i}")]), expected[i], "{expression} by `lprof sql`");
            assert_eq!(text(&paged["rows"][0][i]), expected[i], "{expression} in the page");
        }
    }
}

#[test]
fn queries_in_the_place_of_values_are_asked() {
    let (_folder, table) = sample::table("java17");
    let server = Server::start(&table, &[]);
    let mut client = server.connect();
    let of_type = "SELECT (SELECT count(*) FROM requests b WHERE b.request_type = a.request_type) AS n \
                   FROM requests a WHERE a.request_type = 'ClientHandler.writeBlock' LIMIT 1";
    let most = "SELECT (SELECT max(requests.duration_us) FROM requests) = max(duration_us) FROM requests";
    for (query, expected) in [(of_type, "48"), (most, "t")] {
        assert_eq!(client.ask(query).text(), expected, "{query}");
        assert_eq!(client.ask_with(query, &[], false).text(), expected, "{query}");
    }
    let query = "SELECT (SELECT count(*) FROM requests WHERE request_type = $1) AS n";
    assert_eq!(client.ask_with(query, &["ClientHandler.writeBlock"], false).text(), "48");
    // What lies between two times, where there is none.
    let gaps =
        "SELECT start_ts - lag(start_ts) OVER (ORDER BY start_ts) FROM requests ORDER BY start_ts LIMIT 2";
    for as_bytes in [false, true] {
        let rows = client.ask_with(gaps, &[], as_bytes).rows;
        assert_eq!((rows[0][0].as_ref(), rows[1][0].is_some()), (None, true));
    }
    // Each column has its own name, whatever it is made of.
    let named =
        client.ask("SELECT start_ts, end_ts - start_ts, end_ts - start_ts AS took FROM requests LIMIT 1");
    assert_eq!((named.fault, named.columns.len(), &*named.columns[2].0), (None, 3, "took"));
    // An average of integers, and a share of their sum, have fractions.
    let mean = "SELECT sum(duration_us) / count(*) = avg(duration_us) FROM requests";
    assert_eq!(client.ask(mean).text(), "t");
}

/// What a session of a client in `zone` answers.
fn in_zone(client: &mut Client, zone: &str, query: &str) -> String {
    assert_eq!(client.ask(&format!("SET TIME ZONE '{zone}'")).fault, None);
    let simple = client.ask(query).text();
    assert_eq!(client.ask_with(query, &[], false).text(), simple, "{query}");
    simple
}

#[test]
fn times_are_those_of_the_zone_of_a_session() {
    let (_folder, table) = sample::table("java17");
    let server = Server::start(&table, &[]);
    let mut client = server.connect();
    let noon = "timestamptz '2024-07-01 12:00:00+00'";
    let late = "timestamptz '2024-07-01 23:00:00+00'";
    for (expression, expected) in [
        (noon.to_owned(), "2024-07-01 14:00:00+02"),
        ("timestamptz '2024-07-01 12:00'".to_owned(), "2024-07-01 12:00:00+02"),
        (format!("date_trunc('day', {late})"), "2024-07-02 00:00:00+02"),
        (format!("extract(hour from {noon})"), "14"),
        (format!("extract(timezone from {noon})"), "7200"),
        (format!("({late})::date"), "2024-07-02"),
        (format!("({late})::text"), "2024-07-02 01:00:00+02"),
        (format!("({late})::timestamp"), "2024-07-02 01:00:00"),
        (format!("to_char({noon}, 'HH24:MI TZ OF')"), "14:00 CEST +02"),
        ("'2024-07-01 23:00'::timestamp::timestamptz".to_owned(), "2024-07-01 23:00:00+02"),
        ("timestamptz '2024-03-30 12:00:00+00' + interval '1 day'".to_owned(), "2024-03-31 13:00:00+02"),
        ("timestamptz '2024-03-30 12:00:00+00' + interval '24 hours'".to_owned(), "2024-03-31 14:00:00+02"),
        (format!("{noon} > '2024-07-01 13:00'"), "t"),
        (format!("{noon} > timestamp '2024-07-01 13:00'"), "t"),
        (format!("{late} BETWEEN '2024-07-02' AND '2024-07-03'"), "t"),
        ("to_timestamp(0)".to_owned(), "1970-01-01 01:00:00+01"),
        (format!("{noon} AT TIME ZONE 'Asia/Kolkata'"), "2024-07-01 17:30:00"),
        ("current_date - (now() AT TIME ZONE 'Europe/Berlin')::date".to_owned(), "0"),
    ] {
        assert_eq!(
            in_zone(&mut client, "Europe/Berlin", &format!("SELECT {expression}")),
            expected,
            "{expression}"
        );
    }
    assert_eq!(in_zone(&mut client, "Asia/Kolkata", &format!("SELECT {noon}")), "2024-07-01 17:30:00+05:30");
    assert_eq!(client.ask("SHOW timezone").text(), "Asia/Kolkata");
    let hours = "SELECT bool_and(extract(hour FROM start_ts) = \
                 extract(hour FROM start_ts AT TIME ZONE 'Asia/Kolkata')) FROM requests";
    assert_eq!(in_zone(&mut client, "UTC", hours), "f");
    assert_eq!(in_zone(&mut client, "Asia/Kolkata", hours), "t", "columns of tables too");
    // A zone that is none changes nothing; and it is the client's own.
    assert_eq!(client.ask("SET timezone TO 'Nowhere/There'").code(), "22023");
    assert_eq!(client.ask("SHOW timezone").text(), "Asia/Kolkata");
    assert_eq!(server.connect().ask(&format!("SELECT {noon}")).text(), "2024-07-01 12:00:00+00");
    assert_eq!(client.ask("RESET timezone").fault, None);
    assert_eq!(client.ask(&format!("SELECT {noon}")).text(), "2024-07-01 12:00:00+00");
    // Bytes are instants, in whatever zone.
    assert_eq!(client.ask("SET timezone = 'Asia/Kolkata'").fault, None);
    let bytes = client.ask_with(&format!("SELECT {noon}"), &[], true).rows[0][0].clone().expect("a value");
    let since_2000 = i64::from_be_bytes(bytes.try_into().expect("eight bytes"));
    assert_eq!(since_2000, 1_719_835_200_000_000 - 946_684_800_000_000);
}

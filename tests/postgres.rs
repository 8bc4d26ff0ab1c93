//! The protocol of PostgreSQL as its clients meet it: rows and their types, what psql and Grafana
//! ask, limits, who is let in, and what is refused.
#![cfg(feature = "postgres")]

#[path = "support/command.rs"]
mod command;
#[path = "support/postgres.rs"]
mod postgres;
#[path = "support/sample.rs"]
mod sample;

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::Command;
use std::time::{Duration, Instant};

use command::{done, fails, samples};
use postgres::{Client, Server};
use serde_json::Value;

/// When the sample ran, as Grafana says it.
const FROM: &str = "'2026-01-01T00:00:00Z'";
const TO: &str = "'2027-01-01T00:00:00Z'";
const TABLES: [&str; 12] = [
    "requests",
    "request_nodes",
    "spans",
    "events",
    "relations",
    "log_points",
    "top_level_methods",
    "communication_pairs",
    "log_sequences",
    "intervals",
    "inputs",
    "runs",
];

#[test]
fn values_have_their_types() {
    let (_folder, table) = sample::table("java17");
    let server = Server::start(&table, &[]);
    let mut client = server.connect();
    let answer = client.ask(
        "SELECT request_type, start_ts, duration_us, CAST(NULL AS text) AS nothing, 1.5 AS ratio, true AS so \
         FROM requests ORDER BY duration_us DESC, request_id LIMIT 1",
    );
    let (text, bigint, timestamptz, double, boolean) = (25, 20, 1184, 701, 16);
    let types: Vec<u32> = answer.columns.iter().map(|(_, oid)| *oid).collect();
    assert_eq!(types, [text, timestamptz, bigint, text, double, boolean]);
    let row = &answer.texts()[0];
    let line = "SELECT request_type, duration_us, start_ts FROM requests ORDER BY 2 DESC, request_id LIMIT 1";
    let csv = done(&["sql", "--table", &table, "--format", "csv", line]);
    let expected: Vec<&str> = csv.lines().nth(1).expect("a row").split(',').collect();
    assert_eq!((&*row[0], &*row[2]), (expected[0], expected[1]));
    assert_eq!((&*row[3], &*row[4], &*row[5]), ("NULL", "1.5", "t"));
    // 2026-11-20 10:00:00.123000+00 for 2026-11-20T10:00:00.123000Z
    let said = row[1].replace(' ', "T");
    assert!(said.starts_with(expected[2].trim_end_matches('Z').trim_end_matches('0')), "{said} {csv}");
    assert!(said.contains("+00"), "{said}: the zone is told");
    // With parameters, and as bytes.
    let answer = client.ask_with(
        "SELECT count(*) FROM requests WHERE request_type = $1 AND duration_us >= $2",
        &["ClientHandler.writeBlock", "0"],
        true,
    );
    assert_eq!(answer.fault, None);
    assert_eq!(answer.rows[0][0].as_deref(), Some(&48_i64.to_be_bytes()[..]));
}

#[test]
fn every_table_can_be_read_whole() {
    let (_folder, table) = sample::table("java17");
    let server = Server::start(&table, &[]);
    let mut client = server.connect();
    for name in TABLES {
        let n: usize = client.ask(&format!("SELECT count(*) FROM {name}")).text().parse().expect("a number");
        for as_bytes in [false, true] {
            let all = client.ask_with(&format!("SELECT * FROM {name}"), &[], as_bytes);
            assert_eq!((all.fault.as_ref(), all.rows.len()), (None, n), "{name}");
        }
        assert_eq!(client.ask(&format!("SELECT * FROM {name}")).rows.len(), n, "{name}");
    }
}

#[test]
fn what_happened_before_can_be_asked() {
    let (_folder, table) = sample::table("java17");
    let server = Server::start(&table, &[]);
    let query = "SELECT count(*) FROM events a JOIN events b \
                 ON a.request_id = b.request_id AND happened_before(a, b)";
    let expected = done(&["sql", "--table", &table, "--format", "csv", query]);
    let expected = expected.lines().nth(1).expect("a row");
    assert_ne!(expected, "0");
    assert_eq!(server.connect().ask(query).text(), expected);
    assert_eq!(server.connect().ask_with(query, &[], false).text(), expected);
}

/// What psql 15 asks for `\l`, `\dt`, `\d`, `\dn`, `\df` and `\du`.
const PSQL: &str = include_str!("support/psql.sql");

#[test]
fn what_psql_asks_of_the_catalogs_is_answered() {
    let (_folder, table) = sample::table("java17");
    let server = Server::start(&table, &[]);
    let mut client = server.connect();
    let mut n = 0;
    for query in PSQL.split("\n;\n").filter(|query| !query.trim().is_empty()) {
        let answer = client.ask(query);
        assert_eq!(answer.fault, None, "{query}");
        n += answer.rows.len();
    }
    assert!(n > 10, "tables and columns are told: {n}");
}

#[test]
fn psql_shows_tables_and_their_columns() {
    let (_folder, table) = sample::table("java17");
    let server = Server::start(&table, &[]);
    let psql = |command: &str| {
        let mut psql = Command::new("psql");
        psql.args(["-X", "-h", "127.0.0.1", "-p", server.port(), "-U", "somebody", "-d", "lprof", "-c"]);
        let output = psql.arg(command).output().ok()?;
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success() && said.is_empty(), "{command}: {said}");
        Some(String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let Some(tables) = psql("\\dt") else { return };
    for name in TABLES {
        assert!(tables.contains(name), "{name} in\n{tables}");
    }
    assert!(psql("\\d").expect("psql").contains("requests"));
    let columns = psql("\\d requests").expect("psql");
    assert!(columns.contains("start_ts") && columns.contains("timestamp with time zone"), "{columns}");
    assert!(psql("\\l").expect("psql").contains("lprof"));
    assert!(psql("\\x").is_some());
    let n = psql("SELECT count(*) AS n FROM requests").expect("psql");
    assert!(n.contains("149"), "{n}");
}

/// `sql` as Grafana sends it.
fn expanded(sql: &str) -> String {
    let mut out = sql.replace("$__interval_ms", "60000").replace("$__interval", "'1m'");
    out = out.replace("$__timeFrom()", FROM).replace("$__timeTo()", TO);
    while let Some((at, name, arguments, end)) = macro_call(&out) {
        let becomes = match name.as_str() {
            "$__timeFilter" => format!("{arguments} BETWEEN {FROM} AND {TO}"),
            "$__timeGroupAlias" | "$__timeGroup" => {
                let column = arguments.split(',').next().unwrap_or_default();
                let alias = if name.ends_with("Alias") { " AS \"time\"" } else { "" };
                format!("floor(extract(epoch from {column})/60)*60{alias}")
            }
            "$__time" => format!("{arguments} AS \"time\""),
            "$__timeEpoch" => format!("extract(epoch from {arguments}) as \"time\""),
            "$__unixEpochFilter" => format!("{arguments} >= 1767225600 AND {arguments} <= 1798761600"),
            other => panic!("{other} is no macro of Grafana"),
        };
        out.replace_range(at..end, &becomes);
    }
    out = out.replace("${type:sqlstring}", "'ClientHandler.writeBlock','ClientHandler.readBlock'");
    out.replace("${node:sqlstring}", "'a','b','c'")
}

/// Where a macro is called, its name and arguments, and where that ends.
fn macro_call(sql: &str) -> Option<(usize, String, String, usize)> {
    let at = sql.find("$__")?;
    let open = at + sql[at..].find('(')?;
    let close = open + sql[open..].find(')')?;
    Some((at, sql[at..open].to_owned(), sql[open + 1..close].to_owned(), close + 1))
}

#[test]
fn the_dashboard_of_grafana_has_rows() {
    let (_folder, table) = sample::table("java17");
    let server = Server::start(&table, &[]);
    let mut client = server.connect();
    let text = std::fs::read_to_string(samples().join("grafana/requests.json")).expect("a dashboard");
    let dashboard: Value = serde_json::from_str(&text).expect("JSON");
    let panels = dashboard["panels"].as_array().expect("panels");
    let mut n = 0;
    for target in panels.iter().flat_map(|panel| panel["targets"].as_array().expect("targets")) {
        let sql = expanded(target["rawSql"].as_str().expect("SQL"));
        assert!(!sql.contains('$'), "{sql}");
        for answer in [client.ask(&sql), client.ask_with(&sql, &[], true)] {
            assert_eq!(answer.fault, None, "{sql}");
            // The sample has no errors, but warnings.
            assert!(!answer.rows.is_empty() || sql.contains("ERROR"), "{sql}");
            if target["format"] == "time_series" {
                assert_eq!(answer.columns[0].0, "time");
                assert!(matches!(answer.columns[0].1, 701 | 1184), "{:?}", answer.columns);
            }
        }
        let warnings = sql.replace("'ERROR'", "'WARN'");
        assert!(!client.ask(&warnings).rows.is_empty(), "{warnings}");
        n += 1;
    }
    for variable in dashboard["templating"]["list"].as_array().expect("variables") {
        if variable["type"] == "query" {
            let sql = variable["query"].as_str().expect("SQL");
            assert!(!client.ask(sql).texts().is_empty(), "{sql}");
            n += 1;
        }
    }
    assert_eq!(n, 11, "all were asked");
    // A request leads to its page, which is at the address that the server prints.
    assert!(text.contains("${page}/#/request/${__data.fields.request_id}"));
}

#[test]
fn what_grafana_and_others_ask_first_is_answered() {
    let (_folder, table) = sample::table("java17");
    let server = Server::start(&table, &[]);
    let mut client = server.connect();
    for query in include_str!("support/grafana.sql").split("\n;\n").filter(|query| !query.trim().is_empty()) {
        let answer = client.ask(query);
        assert_eq!(answer.fault, None, "{query}");
        assert!(!answer.rows.is_empty(), "{query}");
    }
    assert!(client.ask("SELECT version()").text().starts_with("PostgreSQL 15"));
    assert_eq!(client.ask("SELECT current_database()").text(), "lprof");
    // What psycopg asks of a type for SQLAlchemy, with which pandas reads.
    let query = "SELECT typname AS name, oid, typarray AS array_oid, oid::regtype::text AS regtype, \
                 typdelim AS delimiter FROM pg_type t WHERE t.oid = to_regtype($1) ORDER BY t.oid";
    let types = |name: &str| server.connect().ask_with(query, &[name], false).texts();
    assert!(types("hstore").is_empty(), "there is no such type");
    assert_eq!((types("int8").len(), &*types("int8")[0][1]), (1, "20"));
    for query in [
        "SELECT count(*) FROM requests WHERE start_ts BETWEEN '2026-01-01T00:00:00Z' AND '2027-01-01T00:00:00Z'",
        "SELECT count(*) FROM requests WHERE extract(epoch from start_ts) >= 1767225600 AND extract(epoch from start_ts) <= 1798761600",
    ] {
        assert_eq!(client.ask(query).text(), "149", "{query}");
    }
}

#[test]
fn sessions_are_the_clients_own() {
    let (_folder, table) = sample::table("java17");
    let server = Server::start(&table, &[]);
    let mut client = server.connect();
    for statement in [
        "SET application_name = 'x'",
        "SET client_encoding TO 'UTF8'",
        "SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY",
        "SET TIME ZONE 'Europe/Berlin'",
        "SET client_min_messages TO warning",
        "BEGIN",
        "SAVEPOINT a",
        "RELEASE SAVEPOINT a",
        "COMMIT",
        "DISCARD ALL",
        "RESET ALL",
        "DEALLOCATE ALL",
    ] {
        assert_eq!(client.ask(statement).fault, None, "{statement}");
        assert_eq!(client.ask_with(statement, &[], false).fault, None, "{statement}");
    }
    // Whatever one sets is not another one's.
    let other = server.connect().ask("SELECT start_ts FROM requests LIMIT 1").text();
    assert!(other.ends_with("+00") || other.ends_with("+00:00"), "{other}");
    assert_eq!(server.connect().ask("SET datafusion.execution.batch_size = 1").code(), "25006");
    assert_eq!(server.connect().ask("SET datafusion.runtime.memory_limit = '1G'").code(), "25006");
    // A transaction in which something failed takes nothing more.
    assert_eq!(client.ask("BEGIN").tags, ["BEGIN"]);
    assert_eq!(client.ask("SELECT nothing FROM requests").code(), "42703");
    assert_eq!(client.status, b'E');
    assert_eq!(client.ask("SELECT 1").code(), "25P02");
    assert_eq!(client.ask("ROLLBACK").fault, None);
    assert_eq!(client.ask("SELECT 1").text(), "1");
    // Rows by the name of a cursor.
    assert_eq!(client.ask("BEGIN").fault, None);
    assert_eq!(client.ask("DECLARE c CURSOR FOR SELECT request_id FROM requests").fault, None);
    assert_eq!(client.ask("FETCH FORWARD 100 FROM c").rows.len(), 100);
    assert_eq!(client.ask("FETCH ALL FROM c").rows.len(), 49);
    assert_eq!(client.ask("CLOSE c").fault, None);
    // The same by the extended protocol, in which columns are told before.
    assert_eq!(
        client
            .ask_with("DECLARE d CURSOR FOR SELECT request_id, duration_us FROM requests", &[], false)
            .fault,
        None
    );
    let fetched = client.ask_with("FETCH FORWARD 7 FROM d", &[], false);
    let names: Vec<&str> = fetched.columns.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!((names, fetched.rows.len()), (vec!["request_id", "duration_us"], 7));
    let bytes = client.ask_with("FETCH 1 FROM d", &[], true);
    assert_eq!(bytes.rows[0][1].as_ref().map(Vec::len), Some(8), "as bytes: {bytes:?}");
    assert_eq!(client.ask("ROLLBACK").fault, None);
    assert_eq!(client.ask("BEGIN").fault, None);
    assert_eq!(client.ask("COMMIT").fault, None);
}

#[test]
fn all_that_does_not_only_read_is_refused() {
    let (folder, table) = sample::table("java17");
    let server = Server::start(&table, &[]);
    let mut client = server.connect();
    let out = folder.path().join("out.csv").display().to_string();
    let before: Vec<_> = files(folder.path());
    for statement in [
        "INSERT INTO requests SELECT * FROM requests",
        "DELETE FROM requests",
        "UPDATE requests SET duration_us = 1",
        "DROP TABLE requests",
        "CREATE TABLE x AS SELECT 1",
        "CREATE VIEW x AS SELECT 1",
        "TRUNCATE requests",
        "ALTER TABLE requests ADD COLUMN x int",
        &format!("COPY requests TO '{out}'"),
        &format!("COPY (SELECT 1) TO '{out}'"),
        "COPY requests FROM STDIN",
        "COPY requests TO PROGRAM 'cat'",
        "GRANT ALL ON requests TO somebody",
        "VACUUM",
        "PREPARE p AS SELECT 1",
        "LISTEN x",
    ] {
        for answer in [client.ask(statement), client.ask_with(statement, &[], false)] {
            assert!(matches!(answer.code(), "25006" | "42601" | "0A000"), "{statement}: {:?}", answer.fault);
        }
    }
    for statement in [
        "CREATE EXTERNAL TABLE x STORED AS CSV LOCATION '/etc/passwd'",
        "DECLARE c CURSOR FOR INSERT INTO requests SELECT * FROM requests",
        "EXPLAIN ANALYZE INSERT INTO requests SELECT * FROM requests",
        "WITH x AS (INSERT INTO requests SELECT * FROM requests) SELECT 1",
        "SELECT 1; DROP TABLE requests",
        "SELECT * FROM '/etc/passwd'",
        "SELECT * FROM \"/etc/passwd\"",
    ] {
        assert_ne!(client.ask(statement).code(), "", "{statement}");
        assert_ne!(client.ask_with(statement, &[], false).code(), "", "{statement}");
    }
    assert_eq!(files(folder.path()), before, "nothing was written");
    assert_eq!(client.ask("SELECT count(*) FROM requests").text(), "149");
}

fn files(folder: &std::path::Path) -> Vec<(std::path::PathBuf, u64)> {
    let mut found = Vec::new();
    let mut rest = vec![folder.to_owned()];
    while let Some(folder) = rest.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
            match entry.metadata().expect("a file") {
                of if of.is_dir() => rest.push(entry.path()),
                of => found.push((entry.path(), of.len())),
            }
        }
    }
    found.sort();
    found
}

#[test]
fn rows_are_copied_to_the_client() {
    let (folder, table) = sample::table("java17");
    let server = Server::start(&table, &[]);
    let mut client = server.connect();
    let rows = "(SELECT * FROM (VALUES (1, 'a,b', NULL, true), (2, E'c\\\\d', '', false), (3, E'x\\ny', '\"q\"', NULL)) \
                AS v(a, b, c, d) ORDER BY a)";
    // As PostgreSQL copies them.
    for (options, expected) in [
        ("", "1\ta,b\t\\N\tt\n2\tc\\\\d\t\tf\n3\tx\\ny\t\"q\"\t\\N\n"),
        ("WITH (FORMAT csv, HEADER)", "a,b,c,d\n1,\"a,b\",,t\n2,c\\d,\"\",f\n3,\"x\ny\",\"\"\"q\"\"\",\n"),
        ("WITH CSV HEADER", "a,b,c,d\n1,\"a,b\",,t\n2,c\\d,\"\",f\n3,\"x\ny\",\"\"\"q\"\"\",\n"),
        (
            "(FORMAT csv, DELIMITER ';', NULL 'none')",
            "1;a,b;none;t\n2;c\\d;;f\n3;\"x\ny\";\"\"\"q\"\"\";none\n",
        ),
    ] {
        let answer = client.ask(&format!("COPY {rows} TO STDOUT {options}"));
        assert_eq!((answer.fault, &*answer.copied), (None, expected), "{options}");
        assert_eq!(answer.tags, ["COPY 3"]);
    }
    let values = "COPY (SELECT 1.5::float8, timestamptz '2024-07-01 12:00+00', array[1, 2]) TO STDOUT";
    assert_eq!(client.ask(values).copied, "1.5\t2024-07-01 12:00:00+00\t{1,2}\n");
    let copied = client.ask("COPY requests (request_id, duration_us) TO STDOUT").copied;
    assert_eq!(copied.lines().count(), 149);
    assert_eq!(client.ask("COPY no_such_table TO STDOUT").code(), "42P01");
    let file = folder.path().join("copied.csv").display().to_string();
    let mut psql = Command::new("psql");
    psql.args(["-X", "-h", "127.0.0.1", "-p", server.port(), "-U", "somebody", "-d", "lprof", "-c"]);
    let copy =
        format!("\\copy (SELECT request_id, start_ts FROM requests) TO '{file}' WITH (FORMAT csv, HEADER)");
    let Ok(output) = psql.arg(copy).output() else { return };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "COPY 149");
    assert_eq!(std::fs::read_to_string(file).expect("a file").lines().count(), 150);
}

#[test]
fn faults_have_codes() {
    let (_folder, table) = sample::table("java17");
    let server = Server::start(&table, &[]);
    let mut client = server.connect();
    for (query, code) in [
        ("SELEC 1", "42601"),
        ("SELECT * FROM no_such_table", "42P01"),
        ("SELECT no_such_column FROM requests", "42703"),
        ("SELECT no_such_function(1)", "42883"),
        ("SELECT 1 / 0", "22012"),
        ("FETCH ALL FROM no_such_cursor", "34000"),
        (&format!("SELECT {}1{}", "(".repeat(500), ")".repeat(500)), "54001"),
    ] {
        for answer in [client.ask(query), client.ask_with(query, &[], false)] {
            assert_eq!(answer.code(), code, "{query}: {:?}", answer.fault);
        }
        assert_eq!(client.ask("SELECT 1").text(), "1", "it goes on after {query}");
    }
}

const ENDLESS: &str = "SELECT sum(value) FROM generate_series(1, 1000000000000)";

#[test]
fn time_and_memory_are_limited() {
    let (_folder, table) = sample::table("java17");
    let mut server = Server::start(&table, &["--timeout", "1s", "--memory", "16MB"]);
    let mut client = server.connect();
    for is_simple in [true, false] {
        let answer = if is_simple { client.ask(ENDLESS) } else { client.ask_with(ENDLESS, &[], false) };
        assert_eq!(answer.code(), "57014", "{:?}", answer.fault);
    }
    let much = "SELECT count(*) FROM (SELECT value, count(*) FROM generate_series(1, 2000000) \
                GROUP BY value HAVING count(*) > 0) AS t JOIN generate_series(1, 2000000) AS u(value) ON t.value = u.value";
    let answer = client.ask(much);
    assert!(matches!(answer.code(), "53200" | "57014"), "{:?}", answer.fault);
    // A client may want to wait less long, but not longer.
    assert_eq!(client.ask("SET statement_timeout = '100ms'").fault, None);
    let start = Instant::now();
    assert_eq!(client.ask(ENDLESS).code(), "57014");
    assert!(start.elapsed() < Duration::from_secs(20));
    assert_eq!(client.ask("SET statement_timeout = '1h'").fault, None);
    assert_eq!(client.ask(ENDLESS).code(), "57014");
    assert_eq!(client.ask("SELECT count(*) FROM requests").text(), "149");
    // Nor may who never reads.
    for _ in 0..8 {
        let mut silent = server.connect();
        silent.send(Some(b'Q'), b"SELECT * FROM generate_series(1, 1000000000000)\0");
        std::mem::forget(silent);
    }
    std::thread::sleep(Duration::from_millis(2500));
    assert_eq!(server.connect().ask("SELECT count(*) FROM requests").text(), "149");
    assert!(server.is_alive());
}

#[test]
fn who_asks_what_looks_at_no_clock_waits_no_longer() {
    let (_folder, table) = sample::table("java17");
    let server = Server::start(&table, &["--timeout", "1s"]);
    let crossed = "SELECT count(*) FROM events a, events b, events c, events d \
                   WHERE a.line * b.line > c.line * d.line";
    let start = Instant::now();
    let answer = server.connect().ask(crossed);
    assert_eq!(answer.code(), "57014", "{:?}", answer.fault);
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
}

#[test]
fn a_query_can_be_cancelled() {
    let (_folder, table) = sample::table("java17");
    let server = Server::start(&table, &["--timeout", "60s"]);
    let mut client = server.connect();
    let key = client.key;
    client.send(Some(b'Q'), &[ENDLESS.as_bytes(), &[0]].concat());
    std::thread::sleep(Duration::from_millis(300));
    let start = Instant::now();
    let mut other = TcpStream::connect(&server.postgres).expect("a connection");
    let cancel = [&16_u32.to_be_bytes()[..], &80_877_102_u32.to_be_bytes(), &key].concat();
    other.write_all(&cancel).expect("sent");
    let answer = client.answer();
    assert_eq!(answer.code(), "57014", "{:?}", answer.fault);
    assert!(start.elapsed() < Duration::from_secs(20));
    assert_eq!(client.ask("SELECT 1").text(), "1");
}

#[test]
fn who_speaks_something_else_harms_nobody() {
    let (_folder, table) = sample::table("java17");
    let mut server = Server::start(&table, &[]);
    let http = format!("POST / HTTP/1.1\r\nHost: {}\r\nContent-Length: 9\r\n\r\nSELECT 1;", server.postgres);
    let mut deep = b"Q\0\0\0\0SELECT 1".to_vec();
    deep.extend(b"+1".repeat(500_000));
    for bytes in [
        http.into_bytes(),
        vec![0; 4096],
        vec![0xff; 4096],
        b"\x7f\xff\xff\xff\0\x03\0\0".to_vec(),
        b"\0\0\0\x04".to_vec(),
        b"\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03".to_vec(),
        b"Q\0\0\0\x0dSELECT 1\0".to_vec(),
        deep,
    ] {
        let mut stream = TcpStream::connect(&server.postgres).expect("a connection");
        stream.set_read_timeout(Some(Duration::from_secs(2))).expect("a timeout");
        let _ = stream.write_all(&bytes);
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        let text = String::from_utf8_lossy(&answer);
        assert!(!text.contains("SELECT 1\0") && !text.contains("149"), "{text}");
    }
    let mut client = server.connect();
    let long = format!("SELECT 1{}", "+1".repeat(300_000));
    let answer = client.ask(&long);
    assert_ne!(answer.code(), "", "too long a chain is refused");
    let huge = format!("SELECT '{}'", "x".repeat(2 << 20));
    assert_eq!(client.ask(&huge).code(), "54001");
    let silent: Vec<TcpStream> =
        (0..50).map(|_| TcpStream::connect(&server.postgres).expect("a connection")).collect();
    assert_eq!(server.connect().ask("SELECT count(*) FROM requests").text(), "149");
    drop(silent);
    assert!(server.is_alive());
}

#[test]
fn many_ask_at_once() {
    let (_folder, table) = sample::table("java17");
    let server = Server::start(&table, &[]);
    std::thread::scope(|scope| {
        for number in 0..32 {
            let server = &server;
            scope.spawn(move || {
                let mut client = server.connect();
                for _ in 0..5 {
                    let query = format!("SELECT count(*) + {number} FROM requests");
                    assert_eq!(client.ask(&query).text(), (149 + number).to_string());
                    let query = "SELECT request_type, approx_percentile_cont(duration_us, 0.99) \
                                 FROM requests GROUP BY 1 ORDER BY 1";
                    assert_eq!(client.ask_with(query, &[], true).rows.len(), 6);
                }
            });
        }
    });
    assert!(server.memory_max() < 500_000_000, "{}", server.memory_max());
}

#[test]
fn other_machines_need_a_password_and_tls() {
    let (folder, table) = sample::table("java17");
    let password = folder.path().join("password").display().to_string();
    std::fs::write(&password, "secret\n").expect("a file");
    let serve = ["serve", "--table", &table, "--http", "127.0.0.1:0", "--postgres"];
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:0"] {
        fails(1, &[&serve[..], &[address]].concat(), "password and TLS");
        fails(1, &[&serve[..], &[address, "--password-file", &password]].concat(), "password and TLS");
    }
    let empty = folder.path().join("empty").display().to_string();
    std::fs::write(&empty, "\n").expect("a file");
    fails(1, &[&serve[..], &["127.0.0.1:0", "--password-file", &empty]].concat(), "empty");
    let no_certificate = ["127.0.0.1:0", "--tls-certificate", &password, "--tls-key", &password];
    fails(1, &[&serve[..], &no_certificate].concat(), "no certificate");
    fails(2, &["serve", "--table", &table, "--password-file", &password], "--postgres");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = taken.local_addr().expect("an address").to_string();
    fails(1, &[&serve[..], &[&address]].concat(), &address);
}

#[test]
fn a_password_is_asked_for() {
    let (folder, table) = sample::table("java17");
    let file = |name: &str| folder.path().join(name).display().to_string();
    std::fs::write(file("password"), "pass w\u{f6}rd\n").expect("a file");
    let made = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=localhost"])
        .args(["-keyout", &file("key"), "-out", &file("certificate")])
        .output();
    let server = Server::start(&table, &["--password-file", &file("password")]);
    // Who does not say it is told nothing.
    let mut stream = TcpStream::connect(&server.postgres).expect("a connection");
    stream.write_all(b"\0\0\0\x17\0\x03\0\0user\0somebody\0\0").expect("sent");
    stream.write_all(b"Q\0\0\0\x0dSELECT 1\0").expect("sent");
    stream.set_read_timeout(Some(Duration::from_secs(2))).expect("a timeout");
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    let text = String::from_utf8_lossy(&answer);
    assert!(text.contains("SCRAM-SHA-256") && !text.contains("SELECT 1"), "{text}");
    let psql = |server: &Server, password: &str, mode: &str| {
        let mut psql = Command::new("psql");
        let target = format!("host=127.0.0.1 port={} user=u dbname=lprof sslmode={mode}", server.port());
        psql.args(["-X", "-w", "-At", "-d", &target, "-c", "SELECT count(*) FROM requests"]);
        let output = psql.env("PGPASSWORD", password).output().ok()?;
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        output
            .status
            .success()
            .then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
            .or(Some(said))
    };
    let right = "pass w\u{f6}rd";
    let Some(found) = psql(&server, right, "disable") else { return };
    assert_eq!(found, "149");
    for wrong in ["wrong", ""] {
        assert!(psql(&server, wrong, "disable").expect("psql").contains("assword"), "`{wrong}`");
    }
    if !made.is_ok_and(|made| made.status.success()) {
        return;
    }
    let (certificate, key) = (file("certificate"), file("key"));
    let tls = ["--password-file", &file("password"), "--tls-certificate", &certificate, "--tls-key", &key];
    let server = Server::start(&table, &tls);
    assert_eq!(psql(&server, right, "require").as_deref(), Some("149"));
    assert!(psql(&server, "wrong", "require").expect("psql").contains("assword"));
    assert!(psql(&server, right, "disable").expect("psql").contains("without TLS"));
}

#[test]
fn both_addresses_serve_one_table() {
    let (_folder, table) = sample::table("java17");
    let server = Server::start(&table, &[]);
    let mut stream = TcpStream::connect(&server.page).expect("a connection");
    let request = format!("GET /api/table HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", server.page);
    stream.write_all(request.as_bytes()).expect("sent");
    let mut text = String::new();
    stream.read_to_string(&mut text).expect("an answer");
    assert!(text.contains("\"n_requests\":149"), "{text}");
    let mut client = Client::connect(&server.postgres);
    assert_eq!(client.ask("SELECT count(*) FROM requests").text(), "149");
}

//! What a session of the protocol of PostgreSQL holds from one statement to the next: cursors that go both
//! ways, portals that are read in portions, savepoints; and answers in other forms: copies, explanations,
//! and queries of the catalogs that depend on their rows.
#![cfg(feature = "postgres")]

#[path = "support/command.rs"]
#[expect(dead_code, reason = "nothing fails here")]
mod command;
#[path = "support/postgres.rs"]
#[expect(dead_code, reason = "limits are tested with the protocol")]
mod postgres;
#[path = "support/sample.rs"]
mod sample;

use postgres::{Answer, Client, Server};

/// Rows of one column as one text.
#[track_caller]
fn only(answer: &Answer) -> String {
    answer.texts().iter().map(|row| row[0].clone()).collect::<Vec<_>>().join(" ")
}

#[track_caller]
fn done(client: &mut Client, statement: &str) {
    assert_eq!(client.ask(statement).fault, None, "{statement}");
}

/// Ten rows, as long as PostgreSQL's own: what each statement gives there.
const MOVES: [(&str, &str); 20] = [
    ("FETCH 3 FROM c", "1 2 3"),
    ("FETCH NEXT FROM c", "4"),
    ("FETCH FROM c", "5"),
    ("FETCH c", "6"),
    ("FETCH PRIOR FROM c", "5"),
    ("FETCH BACKWARD 3 FROM c", "4 3 2"),
    ("FETCH RELATIVE 2 FROM c", "4"),
    ("FETCH RELATIVE 0 FROM c", "4"),
    ("FETCH ABSOLUTE 9 FROM c", "9"),
    ("FETCH ABSOLUTE -2 FROM c", "9"),
    ("FETCH FORWARD ALL FROM c", "10"),
    ("FETCH NEXT IN c", ""),
    ("FETCH PRIOR FROM c", "10"),
    ("FETCH FIRST FROM c", "1"),
    ("FETCH LAST FROM c", "10"),
    ("FETCH BACKWARD ALL FROM c", "9 8 7 6 5 4 3 2 1"),
    ("FETCH PRIOR FROM c", ""),
    ("FETCH 2 FROM c", "1 2"),
    ("FETCH -1 FROM c", "1"),
    ("FETCH ABSOLUTE 20 FROM c", ""),
];

#[test]
fn cursors_go_both_ways() {
    let (_folder, table) = sample::table("java17");
    let server = Server::start(&table, &[]);
    let mut client = server.connect();
    let query = "SELECT n::text AS x FROM generate_series(1, 10) AS t(n) ORDER BY n";
    assert_eq!(client.ask(&format!("DECLARE c CURSOR FOR {query}")).code(), "25P01", "no transaction");
    done(&mut client, "BEGIN");
    done(&mut client, &format!("DECLARE c SCROLL CURSOR FOR {query}"));
    for (statement, expected) in MOVES {
        assert_eq!(only(&client.ask(statement)), expected, "{statement}");
    }
    assert_eq!(client.ask("MOVE ABSOLUTE 4 FROM c").tags, ["MOVE 1"]);
    assert_eq!(client.ask("MOVE 3 FROM c").tags, ["MOVE 3"]);
    assert_eq!(client.ask("FETCH 1 FROM c").tags, ["FETCH 1"]);
    assert_eq!(client.ask("DECLARE c CURSOR FOR SELECT 1").code(), "42P03", "there is one");
    done(&mut client, "ROLLBACK");
    // One that was not told to go back does not.
    done(&mut client, "BEGIN");
    done(&mut client, &format!("DECLARE d CURSOR FOR {query}"));
    assert_eq!(only(&client.ask("FETCH 4 FROM d")), "1 2 3 4");
    assert_eq!(client.ask("MOVE 2 FROM d").tags, ["MOVE 2"]);
    assert_eq!(only(&client.ask("FETCH FORWARD 1 FROM d")), "7");
    assert_eq!(client.ask("FETCH PRIOR FROM d").code(), "55000");
    done(&mut client, "ROLLBACK");
    // It ends with its transaction, unless it is held.
    done(&mut client, "BEGIN");
    done(&mut client, &format!("DECLARE e CURSOR FOR {query}"));
    done(&mut client, &format!("DECLARE h CURSOR WITH HOLD FOR {query}"));
    done(&mut client, "COMMIT");
    assert_eq!(client.ask("FETCH 1 FROM e").code(), "34000");
    assert_eq!(only(&client.ask("FETCH 2 FROM h")), "1 2");
    done(&mut client, "CLOSE h");
    assert_eq!(client.ask("CLOSE h").code(), "34000");
}

#[test]
fn cursors_take_parameters_and_give_bytes() {
    let (_folder, table) = sample::table("java17");
    let server = Server::start(&table, &[]);
    let mut client = server.connect();
    done(&mut client, "BEGIN");
    let declare = "DECLARE c CURSOR FOR SELECT duration_us FROM requests WHERE request_type = $1";
    assert_eq!(client.ask_with(declare, &["ClientHandler.writeBlock"], false).fault, None);
    let rows = client.ask_with("FETCH 10 FROM c", &[], true);
    assert_eq!((rows.fault, rows.rows.len()), (None, 10));
    assert!(rows.rows.iter().all(|row| row[0].as_ref().is_some_and(|bytes| bytes.len() == 8)));
    assert_eq!(client.ask_with("FETCH ALL FROM c", &[], false).rows.len(), 38);
    done(&mut client, "COMMIT");
}

#[test]
fn savepoints_lead_back_from_what_failed() {
    let (_folder, table) = sample::table("java17");
    let server = Server::start(&table, &[]);
    let mut client = server.connect();
    assert_eq!(client.ask("SAVEPOINT a").code(), "25P01", "no transaction");
    let fails = |client: &mut Client| {
        assert_eq!(client.ask("SELECT nothing FROM requests").code(), "42703");
        assert_eq!(client.status, b'E');
        assert_eq!(client.ask("SELECT 1").code(), "25P02");
    };
    for is_extended in [false, true] {
        let ask = |client: &mut Client, statement: &str| match is_extended {
            true => client.ask_with(statement, &[], false),
            false => client.ask(statement),
        };
        done(&mut client, "BEGIN");
        assert_eq!(ask(&mut client, "SAVEPOINT a").tags, ["SAVEPOINT"]);
        assert_eq!(ask(&mut client, "SAVEPOINT b").tags, ["SAVEPOINT"]);
        fails(&mut client);
        assert_eq!(ask(&mut client, "SAVEPOINT c").code(), "25P02");
        assert_eq!(ask(&mut client, "ROLLBACK TO SAVEPOINT b").tags, ["ROLLBACK"]);
        assert_eq!(client.status, b'T');
        assert_eq!(client.ask("SELECT 1").text(), "1");
        fails(&mut client);
        assert_eq!(ask(&mut client, "ROLLBACK TO a").tags, ["ROLLBACK"]);
        assert_eq!(client.ask("SELECT 1").text(), "1");
        assert_eq!(ask(&mut client, "ROLLBACK TO b").code(), "3B001", "it ended with the first");
        assert_eq!(client.status, b'E');
        assert_eq!(ask(&mut client, "ROLLBACK TO a").tags, ["ROLLBACK"]);
        assert_eq!(ask(&mut client, "RELEASE a").tags, ["RELEASE"]);
        assert_eq!(ask(&mut client, "RELEASE a").code(), "3B001");
        assert_eq!(ask(&mut client, "COMMIT").tags, ["ROLLBACK"], "it had failed");
        assert_eq!(client.status, b'I');
    }
}

#[test]
fn rows_are_copied_as_bytes() {
    let (_folder, table) = sample::table("java17");
    let server = Server::start(&table, &[]);
    let mut client = server.connect();
    let copy = "COPY (SELECT 7::int4 AS a, 'x' AS b, NULL::text AS c) TO STDOUT WITH (FORMAT binary)";
    let expected = "PGCOPY\n\u{fffd}\r\n\0\0\0\0\0\0\0\0\0\0\u{3}\0\0\0\u{4}\0\0\0\u{7}\0\0\0\u{1}x\
                    \u{fffd}\u{fffd}\u{fffd}\u{fffd}\u{fffd}\u{fffd}";
    for answer in [client.ask(copy), client.ask_with(copy, &[], false)] {
        assert_eq!((answer.fault, answer.copied.as_str()), (None, expected));
        assert_eq!(answer.tags, ["COPY 1"]);
    }
    let lines = client.ask_with("COPY requests (request_id) TO STDOUT", &[], false).copied;
    assert_eq!(lines.lines().count(), 149);
}

#[test]
fn plans_are_explained_as_clients_read_them() {
    let (_folder, table) = sample::table("java17");
    let server = Server::start(&table, &[]);
    let mut client = server.connect();
    let query = "SELECT request_type, count(*) FROM requests GROUP BY request_type";
    for answer in [
        client.ask(&format!("EXPLAIN {query}")),
        client.ask_with(&format!("EXPLAIN (ANALYZE, COSTS off) {query}"), &[], false),
    ] {
        assert_eq!(answer.columns, [("QUERY PLAN".to_owned(), 25)]);
        assert!(answer.texts().iter().any(|line| line[0].contains("->  AggregateExec")), "{answer:?}");
    }
    let answer = client.ask(&format!("EXPLAIN (ANALYZE, FORMAT JSON) {query}"));
    assert_eq!(answer.columns, [("QUERY PLAN".to_owned(), 114)]);
    let plan: serde_json::Value = serde_json::from_str(&answer.text()).expect("JSON");
    assert_eq!(plan[0]["Plan"]["Actual Rows"], 6, "{plan}");
    assert!(plan[0]["Plan"]["Plans"][0]["Node Type"].is_string() && plan[0]["Execution Time"].is_number());
    assert_eq!(client.ask(&format!("EXPLAIN (FORMAT xml) {query}")).code(), "0A000");
}

/// Queries of the catalogs, and what PostgreSQL 15 tells of the same tables.
const CATALOGS: [(&str, &str); 15] = [
    ("SELECT 'requests'::regclass::oid = (SELECT oid FROM pg_class WHERE relname = 'requests')", "t"),
    ("SELECT 'pg_class'::regclass::oid, 'pg_catalog'::regnamespace::oid, 'int8'::regtype::oid", "1259 11 20"),
    (
        "SELECT 20::oid::regtype, 1184::regtype::text, 1009::oid::regtype::text",
        "bigint timestamp with time zone text[]",
    ),
    (
        "SELECT format_type(1043, 14), format_type(1700, 655366), format_type(0, NULL)",
        "character varying(10) numeric(10,2) -",
    ),
    ("SELECT to_regclass('nothing'), to_regclass('public.spans')", "NULL spans"),
    (
        "SELECT pg_size_pretty(10239::bigint), pg_size_pretty(10240::bigint), pg_size_pretty(123456789::bigint)",
        "10239 bytes 10 kB 118 MB",
    ),
    (
        "SELECT json_build_object('a', 1, 'b', json_build_array('x', NULL, true))",
        r#"{"a" : 1, "b" : ["x", null, true]}"#,
    ),
    ("SELECT jsonb_build_object('bb', 1, 'a', 2, 'bb', 3)", r#"{"a": 2, "bb": 3}"#),
    (
        "SELECT (SELECT count(*) FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 12) FROM pg_class c WHERE c.relname = 'requests'",
        "2",
    ),
    (
        "SELECT (SELECT d.adbin FROM pg_attrdef d WHERE d.adrelid = a.attrelid AND a.atthasdef) FROM pg_attribute a WHERE a.attrelid = 'requests'::regclass AND attnum = 1",
        "NULL",
    ),
    (
        "SELECT array(SELECT attname FROM pg_attribute a WHERE a.attrelid = c.oid AND attnum <= 2 ORDER BY attnum DESC) FROM pg_class c WHERE relname = 'requests'",
        "{request_type,request_id}",
    ),
    (
        "SELECT EXISTS (SELECT 1 FROM pg_index i WHERE i.indrelid = c.oid AND c.relkind = 'r') FROM pg_class c WHERE relname = 'requests'",
        "f",
    ),
    (
        "SELECT obj_description('int4pl'::regproc::oid, 'pg_proc'), col_description('requests'::regclass, 1)",
        "implementation of + operator NULL",
    ),
    (
        "SELECT data_type, udt_name, is_nullable FROM information_schema.columns WHERE table_name = 'requests' AND column_name = 'flags'",
        "ARRAY _text NO",
    ),
    ("SELECT has_table_privilege('requests', 'SELECT'), has_table_privilege('requests', 'UPDATE')", "t f"),
];

#[test]
fn catalogs_tell_what_postgresql_does() {
    let (_folder, table) = sample::table("java17");
    let server = Server::start(&table, &[]);
    let mut client = server.connect();
    for (query, expected) in CATALOGS {
        for answer in [client.ask(query), client.ask_with(query, &[], false)] {
            let rows: Vec<String> = answer.texts().into_iter().flatten().collect();
            assert_eq!(rows.join(" "), expected, "{query}");
        }
    }
    let several = "SELECT (SELECT a.attname FROM pg_attribute a WHERE a.attrelid = c.oid) FROM pg_class c";
    assert!(matches!(client.ask(several).code(), "21000" | "42000"), "more than one row");
    assert_eq!(client.ask("SELECT 'nothing'::regclass").code(), "42P01");
    assert_eq!(client.ask("SELECT current_setting('nothing')").code(), "42704");
    // As PostgreSQL names columns.
    let names =
        |answer: Answer| answer.columns.into_iter().map(|(name, _)| name).collect::<Vec<_>>().join(" ");
    let query = "SELECT count(*), count(*), 1, max(duration_us)::text, CASE WHEN true THEN 1 END, 1::bigint FROM requests";
    assert_eq!(names(client.ask(query)), "count count ?column? max case int8");
}

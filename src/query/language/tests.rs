//! Queries as text: what they become, and what is said of wrong ones.

use super::catalog::{Catalog, Export, Kind, Point};
use super::compile;

mod fuzz;
mod rewrites;

fn export(names: &[&str], column: &str, kind: Kind) -> Export {
    Export { names: names.iter().map(ToString::to_string).collect(), column: column.to_owned(), kind }
}

fn catalog() -> Catalog {
    let point = |id, class: &str, method: &str, text: &str, exports| Point {
        id,
        class: format!("store.{class}"),
        method: method.to_owned(),
        line: 10 + id,
        texts: vec![text.to_owned()],
        exports,
    };
    let block = || export(&["Block.id", "id"], "Block.id", Kind::Whole);
    let size = || export(&["this.size", "size"], "this.size", Kind::Whole);
    let points = vec![
        point(0, "Handler", "write", "Receiving block *", vec![block()]),
        point(1, "Handler", "write", "Received block * of size *", vec![block(), size()]),
        point(
            2,
            "Handler",
            "read",
            "Serving * to *",
            vec![block(), export(&["client"], "client", Kind::Text)],
        ),
        point(3, "Disk", "put", "Wrote * bytes", vec![export(&["n"], "n", Kind::Whole)]),
    ];
    Catalog { points, has_positions: true }
}

#[track_caller]
fn sql(text: &str) -> String {
    compile(text, &catalog(), true).unwrap_or_else(|fault| panic!("{}", fault.show(text))).sql
}

#[track_caller]
fn fails(text: &str, expected: &str) {
    let fault = compile(text, &catalog(), true).expect_err("a fault");
    assert_eq!(fault.show(text), expected);
}

#[test]
fn one_source() {
    assert_eq!(
        sql("From w In Disk.put GroupBy w.host Select w.host, SUM(w.n)"),
        "SELECT \"w\".\"host\" AS \"w.host\", SUM(\"w\".\"n\") AS \"SUM(w.n)\" \
         FROM (SELECT e.position AS position, e.node AS \"host\", \
         TRY_CAST(value_of(e.values, 'n') AS BIGINT) AS \"n\" FROM events AS e \
         WHERE e.position IS NOT NULL AND e.log_point_id IN (3)) AS \"w\" \
         GROUP BY \"w\".\"host\" ORDER BY \"w.host\", \"SUM(w.n)\""
    );
}

#[test]
fn joins() {
    let text = "from w in Disk join r in First(Handler.write, \"Serving\") on r -> w where r.id = 7 and w.n > 5 select w.n";
    let sql = sql(text);
    assert!(
        sql.contains("e.log_point_id IN (0, 1, 2)) AS \"r\" ON firstn(\"r\".position, \"w\".position, 1)"),
        "{sql}"
    );
    // What is asked of the filtered side comes after the filter, the rest before the join.
    assert!(sql.contains("IN (3)) AS \"w\" WHERE (\"w\".\"n\" > 5)) AS \"w\""), "{sql}");
    assert!(sql.contains(" WHERE (\"r\".\"id\" = 7) ORDER BY"), "{sql}");
}

#[test]
fn anti_left_and_concurrent_joins() {
    let anti = sql("From w In Disk Join r In Handler On not r -> w Select w.n");
    assert!(anti.contains("LEFT ANTI JOIN"), "{anti}");
    let left = sql("From w In Disk Left Join r In Handler On r || w within 5s Select w.n, r.id");
    assert!(
        left.contains("LEFT JOIN") && left.contains("concurrent(\"r\".position, \"w\".position) AND ABS("),
        "{left}"
    );
    assert!(left.contains("<= 5000000"), "{left}");
}

#[test]
fn queries_by_name() {
    let text = "Took: From b In Handler.read Join a In MostRecent(Handler.write) On a -> b
                Select b.time - a.time As took
                From w In Disk Join t In Took On t -> w GroupBy w.host Select w.host, AVERAGE(t), COUNT";
    let compiled = compile(text, &catalog(), true).expect("a query");
    assert!(
        compiled.rules.iter().any(|rule| rule.starts_with("aggregation of t before")),
        "{:?}",
        compiled.rules
    );
    assert!(compiled.sql.contains("COALESCE(SUM(\"t\".\"#n\"), 0) AS \"COUNT\""), "{}", compiled.sql);
    let plain = compile(text, &catalog(), false).expect("a query");
    assert!(plain.rules.is_empty() && !plain.sql.contains('#'), "{}", plain.sql);
}

#[test]
fn faults_point_at_the_text() {
    fails(
        "From w In Dsik.put Select w.n",
        "line 1, column 11: `Dsik.put` is no class, method or log point that prints in this table, and no query before; did you mean `Disk.put`?\n  \
         From w In Dsik.put Select w.n\n            ^",
    );
    fails(
        "From w In Disk.put\nSelect w.hst",
        "line 2, column 8: `w` exports no `hst`; did you mean `host`?\n  Select w.hst\n         ^",
    );
    fails(
        "From w In Disk Join r In Handler On r -> v Select COUNT",
        "line 1, column 37: no event before this is called `v`\n  \
         From w In Disk Join r In Handler On r -> v Select COUNT\n                                      ^",
    );
    fails(
        "From w In Disk Were w.n > 1 Select COUNT",
        "line 1, column 16: expected `Select`, got `Were`; did you mean `Where`?\n  \
         From w In Disk Were w.n > 1 Select COUNT\n                 ^",
    );
}

#[test]
fn other_faults() {
    for (text, expected) in [
        ("", "the query is empty"),
        ("From w In First(Disk) Select COUNT", "is of what is joined"),
        ("From w In Disk Select SUM(SUM(w.n))", "an aggregate of an aggregate"),
        ("From w In Disk GroupBy w.host Select w.n", "differs within a group"),
        ("From w In Disk Having COUNT > 1 Select w.n", "`Having` is asked of groups"),
        ("From w In Disk Join w In Disk On w -> w Select COUNT", "already stands for something"),
        ("From w In Disk Join r In Handler On w -> w Select COUNT", "how `r` stands to another event"),
        ("From w In Disk Join r In MostRecent(Handler) On w -> r Select COUNT", "is of what happened before"),
        ("From w In Disk Join r In Handler On not r -> w Select r.id", "exports nothing"),
        ("From w In Disk Select MEDIAN(w.n)", "`MEDIAN` is no aggregate"),
        ("From w In Disk Select 'x", "this text has no end"),
        ("From w In Disk Where w.time > 5x Select w.n", "`5x` is no time"),
        (
            "G: From w In Disk Select COUNT From v In Disk Join g In G On g -> v Select v.n",
            "no place in time",
        ),
        ("From w In Disk Select w.n From v In Disk Select v.n", "needs a name"),
        ("From w In Disk Select w.n w.m", "expected the end of the query"),
        ("From w In \"no such text\" Select COUNT", "no log point of this table prints such a text"),
        ("From w In Disk Where COUNT > 1 Select COUNT", "aggregates are asked for in `Having`"),
    ] {
        let fault = compile(text, &catalog(), true).expect_err(text);
        assert!(fault.to_string().contains(expected), "{text}\n{fault}");
    }
    let empty = Catalog { has_positions: false, ..catalog() };
    let fault = compile("From w In Disk Select COUNT", &empty, true).expect_err("no events");
    assert!(fault.to_string().contains("--keep events"), "{fault}");
}

#[test]
fn what_is_selected_can_be_asked_for_by_its_name() {
    let sql = sql(
        "From w In Disk Where kb > 2 GroupBy h Select w.host As h, w.n / 1024 As kb, w.n OrderBy kb Desc"
            .replace("GroupBy h ", "")
            .as_str(),
    );
    assert!(sql.contains("(CAST(\"w\".\"n\" AS DOUBLE) / 1024) > 2"), "{sql}");
    assert!(sql.ends_with("ORDER BY \"kb\" DESC, \"h\", \"w.n\""), "{sql}");
    // A name stands for what is selected under it, not for another name.
    fails(
        "From w In Disk Select b As a, a As b",
        "line 1, column 23: no event here is called `b`\n  From w In Disk Select b As a, a As b\n                        ^",
    );
}

#[test]
fn long_expressions_have_an_end() {
    let sum = format!("From w In Disk Select w.n{}", " + 1".repeat(3_000));
    let fault = compile(&sum, &catalog(), true).expect_err("too long");
    assert!(fault.to_string().contains("more than 2000 operators"), "{fault}");
    let signs = format!("From w In Disk Select {}w.n As x", "- ".repeat(100_001));
    assert!(sql(&signs).starts_with("SELECT (0 - \"w\".\"n\") AS \"x\""));
    let brackets = format!("From w In Disk Select {}w.n", "(".repeat(100_000));
    let fault = compile(&brackets, &catalog(), true).expect_err("too deep");
    assert!(fault.to_string().contains("levels deep"), "{fault}");
    let many = format!("From w In Disk Where w.n = 0{} Select COUNT", " Or w.n = 7".repeat(500));
    let deepest = sql(&many).bytes().fold((0_i32, 0), |(depth, deepest), byte| {
        let depth = depth + i32::from(byte == b'(') - i32::from(byte == b')');
        (depth, deepest.max(depth))
    });
    assert!(deepest.1 < 10, "{deepest:?}");
}

#[test]
fn names_are_quoted() {
    let sql = sql("From w In Disk Where w.host = 'it''s \"' Select w.host As \"a\"\"b\"");
    assert!(sql.contains("= 'it''s \"'") && sql.contains("AS \"a\"\"b\""), "{sql}");
}

#[test]
fn any_text_is_a_query_or_a_fault() {
    let words = [
        "From", "w", "In", "Disk", "Join", "(", ")", "On", "->", "Select", "'", "1", ".", "COUNT", "*", "ü",
        ":",
    ];
    let mut state = 1_u64;
    for _ in 0..20_000 {
        let mut text = String::new();
        for _ in 0..12 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            text.push_str(words[(state >> 33) as usize % words.len()]);
            text.push_str(if state >> 63 == 0 { " " } else { "" });
        }
        if let Err(fault) = compile(&text, &catalog(), true) {
            let _ = fault.show(&text);
        }
    }
}

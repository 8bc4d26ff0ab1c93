//! Relations of small hand-made sets of requests.

use std::collections::BTreeMap;

use schema::tables::{NameValue, RequestRow, SpanRow, Text, Time};

use super::chance::{Shared, is_small};
use super::{Fact, Relations, facts};
use crate::finish::Rows;

const SECOND_US: i64 = 1_000_000;

/// A request at a second: its number, and `class=value ...`, `@thread` where its first span ran.
fn request(second: i64, number: i64, what: &str) -> Rows {
    let request_id = Text::from(format!("{number:032x}"));
    let mut identifiers = Vec::new();
    let mut thread = None;
    for word in what.split_whitespace() {
        match (word.split_once('='), word.strip_prefix('@')) {
            (Some((name, value)), _) => {
                identifiers.push(NameValue { name: name.into(), value: value.into() });
            }
            (None, name) => thread = name.map(Text::from),
        }
    }
    let row = RequestRow {
        request_id: request_id.clone(),
        start_ts: Time(second * SECOND_US),
        identifiers,
        ..RequestRow::default()
    };
    let span = SpanRow { request_id, node: "n".into(), thread, ..SpanRow::default() };
    Rows { requests: vec![row], spans: vec![span], ..Rows::default() }
}

/// Relations, and the requests that were added since these were decided on.
struct Added(Relations, Vec<Fact>);

impl Added {
    fn add(&mut self, rows: &Rows) {
        self.1.extend(facts(rows));
    }
}

fn relations(n_values_max: u64) -> Added {
    Added(Relations { kept: Vec::new(), n_values_max }, Vec::new())
}

/// `request -> other: how, class=value`, of what is decided now; what is open ends with `open`.
fn decide(Added(relations, added): &mut Added) -> Vec<String> {
    let number = |id: &str| i64::from_str_radix(id, 16).expect("a number");
    let mut found = Vec::new();
    for (rows, open) in relations.decide(std::mem::take(added)).into_iter().zip(["", " open"]) {
        for row in rows.into_values().flatten() {
            let (id, other) = (number(&row.request_id), number(&row.other_id));
            found.push(format!("{id} -> {other}: {}, {}={}{open}", row.how, row.value_class, row.value));
        }
    }
    found
}

/// Requests of a hundred blocks, one a second, each with its own.
fn many(relations: &mut Added) {
    (0..100).for_each(|n| relations.add(&request(n, n, &format!("Block.id=blk_{n}"))));
}

#[test]
fn a_thing_is_made_used_and_used_again() {
    let mut relations = relations(1 << 17);
    many(&mut relations);
    for (number, second) in [(500, 101), (501, 102), (502, 103)] {
        relations.add(&request(second, number, "Block.id=blk_x1"));
    }
    assert_eq!(
        decide(&mut relations),
        [
            "501 -> 500: made there, used here, Block.id=blk_x1",
            "502 -> 501: same thing at once, Block.id=blk_x1",
            "502 -> 500: made there, used here, Block.id=blk_x1",
        ]
    );
}

#[test]
fn what_all_share_relates_nothing() {
    let mut relations = relations(1 << 17);
    (0..50).for_each(|n| relations.add(&request(n, n, "Cluster.id=cluster_1")));
    assert_eq!(decide(&mut relations), Vec::<String>::new());
}

#[test]
fn one_thing_has_many_names() {
    let mut relations = relations(1 << 17);
    many(&mut relations);
    // Three blocks are known under both classes: these are one kind.
    for n in 0..3 {
        relations.add(&request(200 + n, 200 + n, &format!("Replica.block=blk_{n}")));
    }
    relations.add(&request(300, 300, "Replica.block=blk_77"));
    let found = decide(&mut relations);
    assert!(
        found.contains(&"300 -> 77: made there, used here, Replica.block=blk_77".to_owned()),
        "{found:#?}"
    );
}

#[test]
fn what_was_there_before_the_log_was_not_made_in_it() {
    let mut relations = relations(1 << 17);
    relations.add(&request(0, 500, "Block.id=blk_x1"));
    (1..100).for_each(|n| relations.add(&request(n, n, &format!("Block.id=blk_{n}"))));
    relations.add(&request(100, 501, "Block.id=blk_x1"));
    assert_eq!(decide(&mut relations), Vec::<String>::new());
}

#[test]
fn requests_are_related_over_the_end_of_a_period() {
    for (n_values_max, expected) in
        [(50, vec!["501 -> 500: made there, used here, Block.id=blk_x1"]), (0, vec![])]
    {
        let mut relations = relations(n_values_max);
        many(&mut relations);
        relations.add(&request(101, 500, "Block.id=blk_x1"));
        assert_eq!(decide(&mut relations), Vec::<String>::new());
        assert!(relations.0.kept.len() as u64 <= n_values_max);
        relations.add(&request(102, 501, "Block.id=blk_x1"));
        assert_eq!(decide(&mut relations), expected);
        // What is decided is not told again.
        assert_eq!(decide(&mut relations), Vec::<String>::new());
    }
}

#[test]
fn a_request_that_goes_on_is_related_to_what_was_over_before() {
    let mut relations = relations(1 << 17);
    many(&mut relations);
    let open = |rows: Rows| Rows { is_open: true, ..rows };
    relations.add(&open(request(101, 500, "Block.id=blk_x1")));
    relations.add(&request(102, 501, "Block.id=blk_x1"));
    let how = "500 -> 501: made here, used there, Block.id=blk_x1";
    assert_eq!(decide(&mut relations), [format!("{how} open")]);
    relations.add(&request(101, 500, "Block.id=blk_x1"));
    assert_eq!(decide(&mut relations), [how]);
}

#[test]
fn few_of_many_relations_are_told() {
    let mut relations = relations(1 << 17);
    let names = |n: i64| (0..8).map(|k| format!("K{k}.id=k{k}_{n:03} ")).collect::<String>();
    (0..100).for_each(|n| relations.add(&request(n, n, &names(n))));
    for k in 0..8 {
        relations.add(&request(200 + k, 200 + k, &format!("K{k}.id=k{k}_xxx1")));
    }
    let all: String = (0..8).map(|k| format!("K{k}.id=k{k}_xxx1 ")).collect();
    relations.add(&request(300, 300, &all));
    assert_eq!(decide(&mut relations).len(), super::best::RELATIONS_MAX);
}

#[test]
fn ends_of_connections_are_told_as_such() {
    let mut relations = relations(1 << 17);
    (0..100).for_each(|n| relations.add(&request(n, n, &format!("S.peer=/10.0.0.1:{}", 40_000 + n))));
    relations.add(&request(100, 100, "S.peer=/10.0.0.1:40099"));
    assert_eq!(decide(&mut relations), ["100 -> 99: same connection, S.peer=/10.0.0.1:40099"]);
}

/// Calls of ten clients, four at a time each, by turns. Client c works on `c` in threads of `name`.
fn clients(name: impl Fn(i64, i64) -> String) -> Vec<String> {
    let mut relations = relations(1 << 17);
    for n in 0..200 {
        let client = (n * 7) % 10;
        // Every fourth call names nothing.
        let user = if n % 4 == 3 { String::new() } else { format!("U.id=user_{client}_{}", n / 40) };
        relations.add(&request(n, n, &format!("{user} @{}", name(client, n))));
    }
    decide(&mut relations)
}

#[test]
fn threads_of_clients_are_sessions_and_those_of_a_pool_are_not() {
    let is_session = |row: &&String| row.contains("same thread of a client");
    let of_clients = clients(|client, _| format!("client-{client}"));
    assert!(of_clients.iter().filter(is_session).count() > 40, "{of_clients:#?}");
    let of_pool = clients(|_, n| format!("pool-{}", (n * 3) % 8));
    assert_eq!(of_pool.iter().filter(is_session).count(), 0, "{of_pool:#?}");
}

/// The same as [`super::best::of`] of values, from the definitions.
fn obvious(facts: &[Fact]) -> Vec<(u32, u32)> {
    let holds = |fact: &Fact, class: &str, text: &str| {
        fact.values.iter().any(|(of, value)| **of == *class && **value == *text)
    };
    let number = |class: &str, at: usize| {
        facts[..=at].iter().filter(|fact| fact.values.iter().any(|(of, _)| **of == *class)).count() as u32
    };
    let mut found = Vec::new();
    for (later, fact) in facts.iter().enumerate() {
        let mut best: BTreeMap<u32, f64> = BTreeMap::new();
        for (class, text) in &fact.values {
            let holders: Vec<usize> = (0..facts.len()).filter(|&at| holds(&facts[at], class, text)).collect();
            let shared = Shared {
                n_holders: holders.len() as u32,
                n_of_kind: number(class, facts.len() - 1),
                life: (number(class, holders[0]), number(class, holders[holders.len() - 1])),
            };
            let before: Vec<usize> = holders.iter().copied().filter(|&at| at < later).collect();
            let (Some(&first), Some(&last)) = (before.first(), before.last()) else { continue };
            let n = number(class, later) - number(class, last);
            for (other, chance) in [(first, shared.made()), (last, shared.at_once(n))] {
                if is_small(chance) {
                    let known = best.entry(other as u32).or_insert(chance);
                    *known = known.min(chance);
                }
            }
        }
        let mut best: Vec<(f64, u32)> = best.into_iter().map(|(other, chance)| (chance, other)).collect();
        best.sort_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
        found.extend(
            best.into_iter().take(super::best::RELATIONS_MAX).map(|(_, other)| (later as u32, other)),
        );
    }
    found
}

#[test]
fn relations_are_what_the_definitions_say() {
    let mut state = 7_u64;
    let mut below = |n: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % n
    };
    for n_things in [3, 20, 60] {
        let mut relations = relations(1 << 17);
        for n in 0..150 {
            // Short texts, so that no two classes become one kind.
            let words: Vec<String> =
                (0..below(4)).map(|_| format!("K{}.id={}", below(3), below(n_things))).collect();
            relations.add(&request(n, n, &words.join(" ")));
        }
        let facts = relations.1.clone();
        let found: Vec<(u32, u32)> =
            super::best::of(&facts).into_iter().map(|related| (related.owner, related.other)).collect();
        assert!(n_things < 20 || !found.is_empty());
        assert_eq!(found, obvious(&facts), "{n_things} things");
    }
}

#[test]
fn the_order_in_which_requests_are_added_decides_nothing() {
    let what = |n: i64| format!("Block.id=blk_{} File.path=/d/f_{}", n % 17, n % 23);
    let rows = |numbers: Vec<i64>| {
        let mut relations = relations(1 << 17);
        numbers.into_iter().for_each(|n| relations.add(&request(n / 3, n, &what(n))));
        decide(&mut relations)
    };
    let found = rows((0..60).collect());
    assert!(!found.is_empty());
    assert_eq!(rows((0..60).rev().collect()), found);
}

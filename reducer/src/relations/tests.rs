//! Relations of small hand-made sets of requests.

use schema::tables::{NameValue, RequestRow, SpanRow, Text, Time};

use super::{Classes, Relations};
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

fn relations(n_values_max: u64) -> Relations {
    Relations { classes: Classes::default(), kept: Vec::new(), new: Vec::new(), n_values_max }
}

/// `request -> other: how, class=value`, of what is decided now; what may go on ends with `open`.
fn decide(relations: &mut Relations) -> Vec<String> {
    let number = |id: &str| i64::from_str_radix(id, 16).expect("a number");
    let mut found = Vec::new();
    for (rows, open) in relations.decide().into_iter().zip(["", " open"]) {
        for row in rows.into_values().flatten() {
            let (id, other) = (number(&row.request_id), number(&row.other_id));
            found.push(format!("{id} -> {other}: {}, {}={}{open}", row.how, row.value_class, row.value));
        }
    }
    found
}

/// Requests of a hundred blocks, one a second, each with its own.
fn many(relations: &mut Relations) {
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
            "501 -> 500: same thing at once, Block.id=blk_x1",
            "502 -> 501: same thing at once, Block.id=blk_x1",
            "502 -> 500: made there, used here, Block.id=blk_x1",
        ]
    );
}

//! Relations: other requests that have to do with one, without being it.
//!
//! A request is what one call from outside caused, as the code shows it. Other requests can work
//! on the same thing, before and after it, and no code leads from one to the other: what they
//! share is a value that both print, or a thread. Such requests stay apart, and what they share
//! stands in the table, with how unlikely it is by chance ([`chance`]).
//!
//! ```text
//! requests of a period ─┐
//!                       ├─ by value: maker, user, user, ... ─ the best of each ──▶ rows
//! those kept of before ─┘  by thread: call, call, ...  (sessions)
//! ```
//! Of each value a request is related to the one that showed it first and to the one that showed
//! it last: all that hold a value hang together so, and more would only repeat it.
//!
//! What is kept between periods are the values of the last requests, as many as a period has
//! events; between appends they are read from the table's `requests`. What is longer ago is not
//! related to. Threads are not in `requests`: sessions end with an append.

use schema::Result;
use schema::tables::{Batches, NameValue, RelationRow, RequestValues, Row as _, Text};
use serde::{Deserialize, Serialize};

use self::best::Related;
use crate::finish::{Rows, day_of};
use crate::table::{DataFile, Manifest, RelationRows};

mod best;
mod chance;
mod held;
mod threads;

/// What of a request decides on its relations.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Fact {
    id: Text,
    start_us: i64,
    /// Values of its identifiers, each with its class.
    values: Box<[(Text, Text)]>,
    /// Node and thread of its first span.
    thread: Option<(Text, Text)>,
    /// Its relations are not decided yet.
    is_new: bool,
    /// It is open.
    is_open: bool,
}

/// Requests whose relations are told period after period.
pub(crate) struct Relations {
    /// By start: those of before.
    kept: Vec<Fact>,
    /// As many values are kept.
    n_values_max: u64,
}

/// What decides on the relations of the requests of these rows.
pub(crate) fn facts(rows: &Rows) -> Vec<Fact> {
    let mut spans = rows.spans.iter().peekable();
    let mut facts = Vec::new();
    for row in &rows.requests {
        let first = spans.next_if(|span| span.request_id == row.request_id);
        while spans.next_if(|span| span.request_id == row.request_id).is_some() {}
        let thread = first.and_then(|span| Some((span.node.clone(), span.thread.clone()?)));
        if !row.identifiers.is_empty() || thread.is_some() {
            let fact = Fact::new(&row.request_id, row.start_ts.0, &row.identifiers);
            facts.push(Fact { thread, is_open: rows.is_open, ..fact });
        }
    }
    facts
}

impl Fact {
    fn new(id: &Text, start_us: i64, identifiers: &[NameValue]) -> Self {
        let values = identifiers.iter().map(|of| (of.name.clone(), of.value.clone())).collect();
        Self { id: id.clone(), start_us, values, thread: None, is_new: true, is_open: false }
    }
}

impl Relations {
    /// Those that can be related to requests of the table of `manifest`, of which the last ones
    /// are kept, so that `n_values_max` values are; requests that `are_replaced` are made again.
    ///
    /// # Errors
    /// Files that are not there or damaged.
    pub(crate) fn of_table(
        manifest: &Manifest,
        n_values_max: u64,
        are_replaced: impl Fn(&DataFile) -> bool,
    ) -> Result<Self> {
        let mut all = Self { kept: Vec::new(), n_values_max };
        let mut n_values = 0;
        let files = manifest.files.iter().rev();
        for file in files.filter(|file| file.table == RequestValues::TABLE && !are_replaced(file)) {
            for rows in Batches::<RequestValues>::open(&manifest.folder.join(&file.path))? {
                for row in rows? {
                    n_values += row.identifiers.len() as u64;
                    let fact = Fact::new(&row.request_id, row.start_ts.0, &row.identifiers);
                    all.kept.push(Fact { is_new: false, ..fact });
                }
            }
            if n_values >= n_values_max {
                break;
            }
        }
        all.keep_last();
        Ok(all)
    }

    /// The relations of requests that begin later than those of before, to each other and to those.
    pub(crate) fn decide(&mut self, mut new: Vec<Fact>) -> RelationRows {
        let mut facts = std::mem::take(&mut self.kept);
        facts.append(&mut new);
        facts.sort_by(|a, b| (a.start_us, &a.id).cmp(&(b.start_us, &b.id)));
        let mut decided = RelationRows::default();
        for related in best::of(&facts) {
            let owner = &facts[related.owner as usize];
            let rows = &mut decided[usize::from(owner.is_open)];
            rows.entry(day_of(owner.start_us)).or_default().push(row(&facts, related));
        }
        facts.retain(|fact| !fact.is_open);
        facts.iter_mut().for_each(|fact| fact.is_new = false);
        self.kept = facts;
        self.keep_last();
        decided
    }

    /// Keeps the last ones.
    fn keep_last(&mut self) {
        self.kept.sort_by(|a, b| (a.start_us, &a.id).cmp(&(b.start_us, &b.id)));
        let mut n_values = 0;
        let too_many = |fact: &Fact| {
            n_values += fact.values.len().max(1) as u64;
            n_values > self.n_values_max
        };
        let n_out = self.kept.iter().rev().position(too_many).map_or(0, |n_kept| self.kept.len() - n_kept);
        self.kept.drain(..n_out);
        self.kept.shrink_to_fit();
    }
}

fn row(facts: &[Fact], related: Related) -> RelationRow {
    let id = |at: u32| facts[at as usize].id.clone();
    RelationRow {
        request_id: id(related.owner),
        other_id: id(related.other),
        how: Text::from(related.how.name()),
        value_class: related.class.unwrap_or_else(|| Text::from(threads::CLASS)),
        value: related.value,
        odds: Some(chance::odds(related.chance)),
    }
}

#[cfg(test)]
mod tests;

//! Logs in which each request has a thread of a name of its own.

use std::sync::{Arc, Weak};

use schema::sketch;

use super::Sketched;
use crate::accumulate::parts::{KnownThreads, PartEnds};
use crate::accumulate::thread_names::ThreadNames;
use crate::accumulate::{Config, Scan};

/// Records of a part.
const PART: u64 = 64;

/// The most that is held of threads at the end of a part, of so many records in a thread of its own
/// each: entries of tables, and names that somebody still has.
fn most_held(n_records: u32) -> usize {
    let model = sketch::model("point kept\ntop run RpcHandler\n  >kept<");
    let config = Config { node: "n".to_owned(), part_records: PART, ..Config::default() };
    let names = ThreadNames::new(&model);
    let (mut scan, mut known) = (Scan::new(&model, &config, &names), KnownThreads::new(&model, &names));
    let mut ends = PartEnds::new(PART);
    let (mut held, mut most): (Vec<Weak<str>>, usize) = (Vec::new(), 0);
    for n in 0..n_records {
        // By a number, or by a word, with which pools are told apart.
        let word: String = format!("{n}").bytes().map(|digit| char::from(digit - b'0' + b'a')).collect();
        let thread = if n.is_multiple_of(2) { format!("request-{n}") } else { word };
        let line = format!("{n} {thread} kept");
        let record = Sketched::record(&model, n as usize, &line).expect("a record");
        if ends.comes_before(record.ts_us) {
            let accumulators = scan.split_part().finish(&mut known, &config);
            let spans = accumulators.iter().flat_map(|accumulator| &accumulator.spans);
            held.extend(spans.map(|span| Arc::downgrade(span.thread.as_ref().expect("a thread"))));
            drop(accumulators);
            let n_held = held.iter().filter(|name| name.strong_count() > 0).count();
            most = most.max(scan.threads.n_entries() + known.n_entries() + n_held);
        }
        scan.accumulate(&record);
        assert!(scan.unattributed.is_empty(), "it is of the log point");
    }
    let mut last = scan.into_last_part().finish(&mut known, &config);
    let threads = last.drain(..).flat_map(|accumulator| accumulator.spans).map(|span| span.thread);
    assert_eq!(held.len() + threads.flatten().count(), n_records as usize, "none is lost");
    most
}

#[test]
fn names_of_threads_are_let_go() {
    let few = most_held(1_000);
    assert!(few > 2 * PART as usize, "as many as a part has are kept: {few}");
    assert_eq!(most_held(40_000), most_held(4_000));
}

//! Shuffle keys: accumulators that can merge have equal keys, so that any
//! engine can spread the rest (lprof §5, Reduce).
//!
//! The key is the component of the graph of those communication pairs that can
//! cross nodes: combine has done the others. An accumulator whose top-level
//! methods have no such pair is final; its key is its own, and it goes where
//! there is room. This over-approximates: accumulators of one component may
//! share no value.

use schema::{Accumulator, Model, TopLevelId};
use xxhash_rust::xxh3::xxh3_64;

/// The shuffle keys of one model.
#[derive(Clone, Debug)]
pub struct ShuffleKeys {
    /// For each top-level method, the least one it is connected with; none:
    /// nothing on another node is.
    component: Vec<Option<u32>>,
}

impl ShuffleKeys {
    /// Components of the network pairs of `model`.
    #[must_use]
    pub fn new(model: &Model) -> Self {
        let n = model.top_level_methods.len();
        let mut parent: Vec<usize> = (0..n).collect();
        let mut is_paired = vec![false; n];
        for pair in &model.communication_pairs {
            let (from, to) = (pair.from.index(), pair.to.index());
            if pair.kind.crosses_nodes() {
                is_paired[from] = true;
                is_paired[to] = true;
            }
            let (from, to) = (root(&mut parent, from), root(&mut parent, to));
            parent[from.max(to)] = from.min(to);
        }
        // A component counts if any of its methods reaches another node.
        let mut reaches = vec![false; n];
        for (method, paired) in is_paired.iter().enumerate() {
            let root = root(&mut parent, method);
            reaches[root] |= paired;
        }
        let of = |method: usize| {
            let root = root(&mut parent, method);
            reaches[root].then(|| u32::try_from(root).expect("ids have 32 bits"))
        };
        Self { component: (0..n).map(of).collect() }
    }

    /// The key of `accumulator`.
    #[must_use]
    pub fn of(&self, accumulator: &Accumulator) -> i64 {
        let component = |id: &TopLevelId| self.component.get(id.index()).copied().flatten();
        let components = accumulator.spans.iter().flat_map(|span| &span.top_levels).filter_map(component);
        let hash = match components.min() {
            Some(component) => xxh3_64(&component.to_le_bytes()),
            None => xxh3_64(own_name(accumulator).as_bytes()),
        };
        hash.cast_signed()
    }
}

/// Where the first record of the accumulator stands.
fn own_name(accumulator: &Accumulator) -> String {
    let first = accumulator.spans.first();
    first.map_or_else(String::new, |span| {
        let line = span.events.first().map_or((0, 0), |event| (event.file, event.line));
        format!("{}\0{}\0{}", span.node, line.0, line.1)
    })
}

fn root(parent: &mut [usize], mut i: usize) -> usize {
    while parent[i] != i {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    i
}

#[cfg(test)]
mod tests {
    use super::ShuffleKeys;
    use schema::{Accumulator, Event, Name, Span, Values, sketch};

    fn accumulator(top: schema::TopLevelId, line: u64) -> Accumulator {
        let event = Event {
            file: 0,
            line,
            n_lines: 1,
            byte_offset: 0,
            ts_us: 0,
            late_us: 0,
            level: None,
            log_point: None,
            values: Values::default(),
            pass: schema::Pass::Opens,
            reason: Name::default(),
        };
        let span = Span {
            node: Name::from("n"),
            thread: None,
            top_levels: vec![top],
            identifiers: vec![],
            events: vec![event],
            truncated: false,
            hosts: vec![],
        };
        Accumulator { spans: vec![span], links: vec![] }
    }

    #[test]
    fn what_can_meet_has_one_key_and_the_rest_spreads() {
        let model = sketch::model(
            "point A\ntop serve RpcHandler\n>A<\ntop relay RpcHandler\n>A<\ntop work Task\n>A<\npair serve relay Rpc\n",
        );
        let keys = ShuffleKeys::new(&model);
        let key = |name: &str, line| keys.of(&accumulator(sketch::top(&model, name), line));
        assert_eq!(key("serve", 1), key("relay", 2));
        assert_ne!(key("serve", 1), key("work", 1));
        assert_ne!(key("work", 1), key("work", 2));
    }
}

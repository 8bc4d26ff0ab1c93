//! Calls: which top-level method can run in the middle of which other one, in one thread.
//!
//! What very many call to begin work of its own is called all the same, and so is an RPC to the own
//! process. Spans that many methods can have printed are asked for all pairs of these: a bit each.

use fixedbitset::FixedBitSet;
use schema::{LinkKind, Model, TopLevelId};

/// See the module.
#[derive(Debug)]
pub(super) struct Calls {
    /// Per calling method, with room for no more than the last one that it calls.
    called: Vec<FixedBitSet>,
    is_empty: bool,
}

impl Calls {
    /// Those of a model.
    pub(super) fn new(model: &Model) -> Self {
        let mut called = vec![FixedBitSet::new(); model.top_level_methods.len()];
        let waits = |kind| matches!(kind, LinkKind::Call | LinkKind::Ask | LinkKind::Rpc);
        for pair in model.communication_pairs.iter().filter(|pair| waits(pair.kind)) {
            if let Some(called) = called.get_mut(pair.from.index()) {
                called.grow_and_insert(pair.to.index());
            }
        }
        let is_empty = called.iter().all(FixedBitSet::is_empty);
        Self { called, is_empty }
    }

    /// Whether no method calls another one.
    pub(super) fn is_empty(&self) -> bool {
        self.is_empty
    }

    /// Whether one method calls another one.
    pub(super) fn contains(&self, caller: TopLevelId, called: TopLevelId) -> bool {
        self.called.get(caller.index()).is_some_and(|all| all.contains(called.index()))
    }
}

#[cfg(test)]
mod tests {
    use schema::sketch;

    use super::*;

    const MODEL: &str = "
        point read
        top serve RpcHandler
          >read<
        top find Task
          >read<
        top load Task
          >read<
        pair serve find Call
        pair serve load Thread many
        pair load serve Rpc";

    #[test]
    fn a_bit_is_a_pair_that_waits() {
        let model = sketch::model(MODEL);
        let calls = Calls::new(&model);
        let all = || (0..model.top_level_methods.len()).map(TopLevelId::new);
        let is_so: Vec<bool> = all()
            .flat_map(|from| all().map(move |to| (from, to)))
            .map(|(from, to)| calls.contains(from, to))
            .collect();
        let waits = |kind| matches!(kind, LinkKind::Call | LinkKind::Rpc);
        let pairs = || model.communication_pairs.iter().filter(|pair| waits(pair.kind));
        let expected = all().flat_map(|from| all().map(move |to| (from, to)));
        let expected: Vec<bool> =
            expected.map(|(from, to)| pairs().any(|pair| (pair.from, pair.to) == (from, to))).collect();
        assert_eq!(is_so, expected);
        assert_eq!(is_so.iter().filter(|is_so| **is_so).count(), 2);
        assert!(!calls.is_empty() && Calls::new(&sketch::model("point read")).is_empty());
    }
}

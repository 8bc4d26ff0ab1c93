//! A fragment as the DAG of a top-level method.

use schema::{Dag, DagNode, DagPoint, IdentifierId, LogPointId};

use super::fragment::Fragment;

/// The DAG of a top-level method: `id` gives the position of a log point in the
/// model, `bindings` what its variables are to the top-level method.
pub(crate) fn dag(
    fragment: &Fragment,
    id: impl Fn(u32) -> LogPointId,
    mut bindings: impl FnMut(u32) -> Vec<Option<IdentifierId>>,
) -> Dag {
    let mut nodes = Vec::with_capacity(fragment.nodes.len());
    for node in &fragment.nodes {
        let mut points: Vec<DagPoint> =
            node.points.iter().map(|&p| DagPoint { log_point: id(p), bindings: bindings(p) }).collect();
        points.sort_by_key(|p| p.log_point);
        let mut once: Vec<LogPointId> = node.once.iter().map(|&p| id(p)).collect();
        once.sort_unstable();
        nodes.push(DagNode { points, repeats: node.repeats, once, next: node.next.clone() });
    }
    let mut exits: Vec<u32> = fragment.returns.iter().chain(&fragment.throws).copied().collect();
    exits.sort_unstable();
    exits.dedup();
    Dag { nodes, entries: fragment.entries.clone(), exits }
}

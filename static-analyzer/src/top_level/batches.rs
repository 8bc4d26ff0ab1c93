//! Batches: what one turn of a service loop takes for several, and works off one by one.
//!
//! `queue.drainTo(batch)`, `batch.add(queue.take())`, `for (record : consumer.poll())`: each
//! element was handed over by another sender, so each is a request, and the turn around them
//! is none of these.

use super::loops::is_take;
use crate::identifiers::in_loop;
use crate::ir::{Body, Op, ValueId};

/// The elements that a body goes through one by one, of collections that it has filled with what
/// it takes: where each is got, and where it was taken, sorted.
pub(crate) fn elements(body: &Body) -> Vec<(ValueId, ValueId)> {
    let invokes = || {
        body.iter().filter_map(|(site, inst)| match &inst.op {
            Op::Invoke { method, args, .. } => Some((site, method, args)),
            _ => None,
        })
    };
    let filled = invokes().filter_map(|(site, method, args)| match (method.name.as_str(), &args[..]) {
        ("drainTo", &[_, into, ..]) => Some((body.uncast(into), site)),
        ("add", &[into, added]) => {
            let taken = body.uncast(added);
            is_take(body.op(taken)).then_some((body.uncast(into), taken))
        }
        _ => None,
    });
    let filled: Vec<(ValueId, ValueId)> = filled.collect();
    let is_poll = |of: ValueId| matches!(body.op(of), Op::Invoke { method, .. } if method.name == "poll");
    let mut found: Vec<(ValueId, ValueId)> = invokes()
        .filter(|(_, method, _)| method.name == "next")
        .flat_map(|(site, _, args)| {
            let of = args.first().and_then(|&iterator| iterated(body, iterator));
            let by_fill = filled.iter().filter(move |(into, _)| Some(*into) == of).map(|&(_, taken)| taken);
            by_fill.chain(of.filter(|&of| is_poll(of))).map(move |taken| (site, taken))
        })
        // What is taken once is what one request has collected.
        .filter(|&(_, taken)| in_loop(body, taken))
        .collect();
    found.sort_unstable();
    found
}

/// What an iterator goes over.
fn iterated(body: &Body, iterator: ValueId) -> Option<ValueId> {
    match body.op(body.uncast(iterator)) {
        Op::Invoke { method, args, .. } if method.name == "iterator" => Some(body.uncast(*args.first()?)),
        _ => None,
    }
}

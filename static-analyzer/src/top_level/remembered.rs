//! Remembered: what a dispatcher prints of its rounds is of none of them.
//!
//! Each round of a dispatcher is another request. But a dispatcher can keep something from
//! round to round, as a field of its own: the number that came last. Where it compares what
//! a round has brought with that, prints what it had kept if the two do not go together, and
//! then keeps the new one instead, it tells of how the rounds follow each other. That is its
//! own affair, as what it prints before and after them is.

use std::collections::BTreeSet;

use crate::ir::{Body, Op, ValueId};
use crate::path::LogPoint;
use crate::program::{FieldRef, MethodId, Program};

/// Values looked at to find out what a branch asks for, or what is kept.
const VALUES_MAX: usize = 64;

/// Of `points`, the log points with which the dispatcher `root` tells of its rounds.
pub(super) fn of(
    program: &Program,
    log_points: &[LogPoint],
    root: MethodId,
    points: &BTreeSet<u32>,
) -> BTreeSet<u32> {
    let class = program.classes[program.methods[root.index()].class.index()].name;
    let tells = |&point: &u32| {
        let point = &log_points[point as usize];
        let method = &program.methods[point.frame.index()];
        let Some(body) = method.body.as_ref().filter(|_| !method.is_static()) else { return false };
        !point.sites.is_empty()
            && point.sites.iter().all(|&site| {
                let kept = compared(body, site);
                kept.iter()
                    .any(|field| program.is_subtype(class, field.class) && is_kept_anew(body, site, field))
            })
    };
    points.iter().copied().filter(tells).collect()
}

/// The fields of `this` that are read where `site` is, and that the branch asks for which alone
/// leads there.
fn compared(body: &Body, site: ValueId) -> BTreeSet<FieldRef> {
    let block = body.block(body.inst(site).block);
    let [guard] = block.predecessors[..] else { return BTreeSet::new() };
    let guard = body.block(guard);
    let asked = match guard.insts.last().map(|&last| body.op(last)) {
        Some(&Op::If(_, value, other)) if guard.successors.len() > 1 => {
            own_fields(body, [Some(value), other])
        }
        _ => return BTreeSet::new(),
    };
    let read = block.insts.iter().filter_map(|&value| own_field(body, value)).collect();
    asked.intersection(&read).copied().collect()
}

/// Whether a field of `this` is written after `site`, to something that is not made of itself.
fn is_kept_anew(body: &Body, site: ValueId, field: &FieldRef) -> bool {
    let reachable = body.reachable(body.inst(site).block);
    body.iter().any(|(_, inst)| match inst.op {
        Op::PutField(written, Some(object), value) => {
            written == *field
                && is_this(body, object)
                && reachable[inst.block.index()]
                && inst.block != body.inst(site).block
                && !is_constant(body, value)
                && !own_fields(body, [Some(value), None]).contains(field)
        }
        _ => false,
    })
}

/// The fields of `this` that go into values.
fn own_fields(body: &Body, values: [Option<ValueId>; 2]) -> BTreeSet<FieldRef> {
    let mut todo: Vec<ValueId> = values.into_iter().flatten().collect();
    let (mut seen, mut found) = (BTreeSet::new(), BTreeSet::new());
    while let Some(value) = todo.pop().filter(|_| seen.len() < VALUES_MAX) {
        if seen.insert(value) {
            found.extend(own_field(body, value));
            match body.op(value) {
                Op::Binary(_, a, b) => todo.extend([*a, *b]),
                Op::Convert(_, of) | Op::Cast(_, of) | Op::Negate(of) => todo.push(*of),
                _ => {}
            }
        }
    }
    found
}

/// The field of `this` that an instruction reads.
fn own_field(body: &Body, value: ValueId) -> Option<FieldRef> {
    match body.op(value) {
        Op::GetField(field, Some(object)) if is_this(body, *object) => Some(*field),
        _ => None,
    }
}

fn is_this(body: &Body, object: ValueId) -> bool {
    matches!(body.op(object), Op::Param(0))
}

fn is_constant(body: &Body, value: ValueId) -> bool {
    matches!(body.op(value), Op::Const(_))
}

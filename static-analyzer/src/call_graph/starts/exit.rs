//! Tasks that wait for the end of the process: whoever registers one does not run
//! it, and what it prints is not of the request that registered it.

use crate::call_graph::apis;
use crate::ir::{Body, Op, ValueId};

/// How many joins and casts there are at most between a thread that is made and
/// its registration.
const STEPS_MAX: usize = 8;

/// Whether what is given away at `site` runs when the process ends: the call
/// registers it, or makes the thread that another call of the method registers.
pub(super) fn waits(body: &Body, site: ValueId) -> bool {
    let Op::Invoke { method, args, .. } = body.op(site) else { return false };
    if apis::REGISTERS_FOR_EXIT.contains(&method.name.as_str()) {
        return true;
    }
    let made = if method.name.as_str() == "<init>" { args[0] } else { site };
    body.iter().any(|(_, inst)| match &inst.op {
        Op::Invoke { method, args, .. } => {
            let registers = apis::REGISTERS_FOR_EXIT.contains(&method.name.as_str());
            registers && args.iter().any(|&given| can_be(body, given, made))
        }
        _ => false,
    })
}

/// Whether a value is another one, through joins and casts.
fn can_be(body: &Body, value: ValueId, other: ValueId) -> bool {
    let mut todo = vec![value];
    for _ in 0..STEPS_MAX {
        let Some(value) = todo.pop() else { return false };
        if value == other {
            return true;
        }
        match body.op(value) {
            Op::Phi(operands) => todo.extend(operands.iter().map(|(_, v)| *v)),
            Op::Cast(_, v) => todo.push(*v),
            _ => {}
        }
    }
    false
}

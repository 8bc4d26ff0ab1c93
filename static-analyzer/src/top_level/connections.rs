//! What is read from the other end of a connection: who is there asks for one thing after
//! the other, as others do through a queue.

use crate::call_graph::apis;
use crate::ir::{Body, Op, ValueId};
use crate::program::{FieldRef, Name, Program};

/// Readers around readers, and fields and choices between.
const DEPTH_MAX: usize = 8;

/// Whether the call at `site` reads a line from a connection.
pub(super) fn is_read(program: &Program, body: &Body, site: ValueId) -> bool {
    match body.op(site) {
        Op::Invoke { method, args, .. } if apis::reads_line(method) => {
            args.first().is_some_and(|&reader| is_of_connection(program, body, reader, DEPTH_MAX))
        }
        _ => false,
    }
}

fn is_of_connection(program: &Program, body: &Body, reader: ValueId, depth: usize) -> bool {
    if depth == 0 {
        return false;
    }
    let is_one = |value: ValueId| is_of_connection(program, body, value, depth - 1);
    let reader = body.uncast(reader);
    match body.op(reader) {
        Op::Invoke { method, .. } => {
            method.name == "getInputStream" && apis::CONNECTIONS.contains(&method.class.as_str())
        }
        Op::New(class) if program.class(*class).is_none() => {
            let made = |op: &Op| match op {
                Op::Invoke { method, args, .. } if method.name == "<init>" => {
                    args.first() == Some(&reader) && args[1..].iter().any(|&arg| is_one(arg))
                }
                _ => false,
            };
            body.iter().any(|(_, inst)| made(&inst.op))
        }
        Op::Phi(operands) => operands.iter().any(|&(_, of)| of != reader && is_one(of)),
        Op::GetField(field, _) => is_kept(program, *field, depth - 1),
        _ => false,
    }
}

/// Whether a field is given what reads from a connection, by its own class.
fn is_kept(program: &Program, field: FieldRef, depth: usize) -> bool {
    let Some(class) = program.class(Name::from(field.class.as_str())) else { return false };
    let methods = program.classes[class.index()].methods.clone();
    let mut bodies = methods.filter_map(|at| program.methods[at].body.as_ref());
    bodies.any(|body| {
        body.iter().any(|(_, inst)| match inst.op {
            Op::PutField(stored, _, value) if stored == field => {
                is_of_connection(program, body, value, depth)
            }
            _ => false,
        })
    })
}

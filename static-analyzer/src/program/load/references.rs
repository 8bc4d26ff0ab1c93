//! References to logging methods (`log::info`), as the lambda that says the same:
//! a method of the class that makes the call.
//!
//! A lambda's body is code of the program, a referred method of a library is
//! not; with this, what calls the function reaches the logging call as if it had
//! been written out. Other references stay as they are.

use crate::ir::{Block, BlockId, Body, BootstrapArg, Inst, InvokeKind, Op, ValueId};
use crate::log_points::apis;
use crate::program::{ClassId, Method, MethodRef, Name, access};
use crate::strings::types;

/// In the names of the methods that are added, where a compiler writes a number.
const MARK: &str = "$ref";

/// Whether the method was written as a reference.
pub(crate) fn is_reference(method: &Method) -> bool {
    method.name.starts_with("lambda$") && method.name.contains(MARK)
}

/// Writes out all references of a class to logging methods.
pub(super) fn write_out(class: Name, methods: &mut Vec<Method>) {
    let mut added = Vec::new();
    for method in methods.iter_mut() {
        let enclosing = match method.name.as_str() {
            "<init>" => "new",
            "<clinit>" => "static",
            name => name,
        };
        let name_of = |i: usize| Name::from(&format!("lambda${enclosing}{MARK}{i}"));
        for inst in method.body.iter_mut().flat_map(|b| &mut b.insts) {
            let line = inst.line;
            let Op::InvokeDynamic { bootstrap, descriptor, .. } = &mut inst.op else {
                continue;
            };
            if bootstrap.method.class != "java/lang/invoke/LambdaMetafactory" {
                continue;
            }
            let Some((kind, target, given)) = referred(class, &bootstrap.args, descriptor) else { continue };
            let (name, count) = (name_of(added.len()), given.len());
            let descriptor = Name::from(&format!("({})V", given.concat()));
            bootstrap.args[1] =
                BootstrapArg::Handle { kind: 6, target: MethodRef { class, name, descriptor } };
            added.push(written(name, descriptor, kind, target, count, line));
        }
    }
    methods.append(&mut added);
}

/// A logging method that is referred to: how it is called, and the types of what
/// it is given, captured values first.
fn referred<'a>(
    class: Name,
    args: &'a [BootstrapArg],
    shape: &'a str,
) -> Option<(InvokeKind, MethodRef, Vec<&'a str>)> {
    let [_, BootstrapArg::Handle { kind, target }, BootstrapArg::MethodType(called), ..] = args else {
        return None;
    };
    let kind = match kind {
        5 => InvokeKind::Virtual,
        6 => InvokeKind::Static,
        9 => InvokeKind::Interface,
        _ => return None,
    };
    let is_logging = target.class != class && apis::is_log_method(&target.name);
    if !is_logging || types::result(&target.descriptor) != "V" || types::result(called) != "V" {
        return None;
    }
    let mut given = types::parameters(shape);
    given.extend(types::parameters(called));
    let taken = types::parameters(&target.descriptor);
    let shift = usize::from(kind != InvokeKind::Static);
    // Boxed on the way: no plain call.
    let plain = given.len() == taken.len() + shift
        && taken.iter().zip(&given[shift..]).all(|(t, g)| types::is_primitive(t) == types::is_primitive(g));
    plain.then_some((kind, *target, given))
}

/// A static method that hands all it is given to `target`.
fn written(
    name: Name,
    descriptor: Name,
    kind: InvokeKind,
    target: MethodRef,
    count: usize,
    line: u32,
) -> Method {
    let args = (0..count).map(ValueId::new).collect();
    let mut ops: Vec<Op> = (0..count as u16).map(Op::Param).collect();
    ops.push(Op::Invoke { kind, method: target, args });
    ops.push(Op::Return(None));
    let block = BlockId::new(0);
    let insts: Vec<Inst> =
        ops.into_iter().enumerate().map(|(pc, op)| Inst { op, block, line, pc: pc as u32 }).collect();
    let body = Body {
        blocks: vec![Block { insts: (0..insts.len()).map(ValueId::new).collect(), ..Block::default() }],
        insts,
    };
    Method {
        class: ClassId::new(0),
        name,
        descriptor,
        signature: None,
        access: access::PRIVATE | access::STATIC | access::SYNTHETIC,
        exceptions: Vec::new(),
        annotations: Vec::new(),
        parameter_annotations: Vec::new(),
        parameter_names: vec![None; count],
        body: Some(body),
    }
}

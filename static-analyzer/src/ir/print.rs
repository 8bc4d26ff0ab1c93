//! Bodies as text, for tests and people. One line per instruction, grouped by
//! blocks; the format is not stable.

use std::fmt::Write;

use crate::ir::{Arithmetic, Body, BootstrapArg, Comparison, Const, InvokeKind, Op, ValueId};
use crate::program::{FieldRef, MethodId, MethodRef, Program};

/// The body of a method as text.
pub fn print_method(program: &Program, method: MethodId) -> String {
    let m = &program.methods[method.index()];
    let mut text = program.method_name(method);
    match &m.body {
        Some(body) => {
            text.push('\n');
            text.push_str(&print_body(body));
        }
        None => text.push_str(" has no body\n"),
    }
    text
}

/// A body as text.
pub fn print_body(body: &Body) -> String {
    let mut text = String::new();
    for (i, block) in body.blocks.iter().enumerate() {
        let list =
            |ids: &mut dyn Iterator<Item = usize>| ids.map(|b| format!("b{b}")).collect::<Vec<_>>().join(" ");
        _ = write!(text, "b{i}:");
        if !block.predecessors.is_empty() {
            _ = write!(text, " from {}", list(&mut block.predecessors.iter().map(|b| b.index())));
        }
        if block.in_handler {
            text.push_str(" in handler");
        }
        if let Some(header) = block.loop_header {
            _ = write!(text, " in loop b{}", header.index());
        }
        for handler in &block.handlers {
            let class = handler.class.map_or("any", |c| c.as_str());
            _ = write!(text, " catch {class} b{}", handler.block.index());
        }
        text.push('\n');
        let mut line = 0;
        for &value in &block.insts {
            let inst = body.inst(value);
            _ = write!(text, "  ");
            if defines(&inst.op) {
                _ = write!(text, "v{} = ", value.index());
            }
            _ = write!(text, "{}", operation(&inst.op));
            if inst.op.is_terminator() && !block.successors.is_empty() {
                _ = write!(text, " -> {}", list(&mut block.successors.iter().map(|b| b.index())));
            }
            if inst.line != line {
                _ = write!(text, " ; line {}", inst.line);
                line = inst.line;
            }
            text.push('\n');
        }
    }
    text
}

fn defines(op: &Op) -> bool {
    match op {
        Op::PutField(..) | Op::ArrayStore(..) | Op::Monitor(_) => false,
        Op::Invoke { method, .. } => !method.descriptor.ends_with(")V"),
        Op::InvokeDynamic { descriptor, .. } => !descriptor.ends_with(")V"),
        _ => !op.is_terminator(),
    }
}

fn value(v: ValueId) -> String {
    format!("v{}", v.index())
}

fn values(list: &[ValueId]) -> String {
    list.iter().map(|&v| value(v)).collect::<Vec<_>>().join(", ")
}

fn member(m: &MethodRef) -> String {
    format!("{}.{}{}", m.class, m.name, m.descriptor)
}

fn field(f: &FieldRef) -> String {
    format!("{}.{}:{}", f.class, f.name, f.descriptor)
}

fn constant(c: &Const) -> String {
    match c {
        Const::Null => "null".to_owned(),
        Const::Int(v) => v.to_string(),
        Const::Long(v) => format!("{v}L"),
        Const::Float(v) => format!("{v}f"),
        Const::Double(v) => format!("{v}d"),
        Const::Text(v) => format!("{:?}", v.as_str()),
        Const::Class(v) => format!("{v}.class"),
        Const::Other => "opaque".to_owned(),
    }
}

fn argument(a: &BootstrapArg) -> String {
    match a {
        BootstrapArg::Const(c) => constant(c),
        BootstrapArg::Handle { kind, target } => format!("handle {kind} {}", member(target)),
        BootstrapArg::MethodType(descriptor) => format!("type {descriptor}"),
    }
}

fn operation(op: &Op) -> String {
    match op {
        Op::Param(i) => format!("param {i}"),
        Op::Const(c) => format!("const {}", constant(c)),
        Op::Phi(operands) => {
            let list: Vec<_> =
                operands.iter().map(|(b, v)| format!("b{}: {}", b.index(), value(*v))).collect();
            format!("phi {}", list.join(", "))
        }
        Op::New(class) => format!("new {class}"),
        Op::NewArray(element, n) => format!("new array {element} {}", value(*n)),
        Op::Invoke { kind, method, args } => {
            let kind = match kind {
                InvokeKind::Static => "static",
                InvokeKind::Special => "special",
                InvokeKind::Virtual => "virtual",
                InvokeKind::Interface => "interface",
            };
            format!("invoke {kind} {} {}", member(method), values(args)).trim_end().to_owned()
        }
        Op::InvokeDynamic { bootstrap, name, descriptor, args } => {
            let list: Vec<_> = bootstrap.args.iter().map(argument).collect();
            let bootstrap = member(&bootstrap.method);
            let text = format!(
                "invoke dynamic {name}{descriptor} by {bootstrap} [{}] {}",
                list.join(", "),
                values(args)
            );
            text.trim_end().to_owned()
        }
        Op::GetField(f, None) => format!("get static {}", field(f)),
        Op::GetField(f, Some(o)) => format!("get {} of {}", field(f), value(*o)),
        Op::PutField(f, None, v) => format!("put static {} {}", field(f), value(*v)),
        Op::PutField(f, Some(o), v) => format!("put {} of {} {}", field(f), value(*o), value(*v)),
        Op::ArrayLoad(a, i) => format!("{}[{}]", value(*a), value(*i)),
        Op::ArrayStore(a, i, v) => format!("{}[{}] = {}", value(*a), value(*i), value(*v)),
        Op::ArrayLength(a) => format!("length of {}", value(*a)),
        Op::Cast(class, v) => format!("cast {class} {}", value(*v)),
        Op::InstanceOf(class, v) => format!("instanceof {class} {}", value(*v)),
        Op::Binary(kind, a, b) => {
            format!("{} {} {}", value(*a), sign(*kind), value(*b))
        }
        Op::Negate(v) => format!("-{}", value(*v)),
        Op::Convert(to, v) => format!("convert {to} {}", value(*v)),
        Op::Caught(classes) if classes.is_empty() => "caught any".to_owned(),
        Op::Caught(classes) => {
            format!("caught {}", classes.iter().map(|c| c.as_str()).collect::<Vec<_>>().join(" | "))
        }
        Op::Monitor(v) => format!("monitor {}", value(*v)),
        Op::If(comparison, a, b) => {
            format!("if {} {} {}", value(*a), relation(*comparison), b.map_or("0".to_owned(), value))
        }
        Op::Switch(v, keys) => {
            let keys: Vec<_> = keys.iter().map(i32::to_string).collect();
            format!("switch {} [{}]", value(*v), keys.join(" "))
        }
        Op::Goto => "goto".to_owned(),
        Op::Return(None) => "return".to_owned(),
        Op::Return(Some(v)) => format!("return {}", value(*v)),
        Op::Throw(v) => format!("throw {}", value(*v)),
    }
}

fn sign(kind: Arithmetic) -> &'static str {
    match kind {
        Arithmetic::Add => "+",
        Arithmetic::Sub => "-",
        Arithmetic::Mul => "*",
        Arithmetic::Div => "/",
        Arithmetic::Rem => "%",
        Arithmetic::And => "&",
        Arithmetic::Other => "?",
    }
}

fn relation(comparison: Comparison) -> &'static str {
    match comparison {
        Comparison::Eq => "==",
        Comparison::Ne => "!=",
        Comparison::Lt => "<",
        Comparison::Ge => ">=",
        Comparison::Gt => ">",
        Comparison::Le => "<=",
    }
}

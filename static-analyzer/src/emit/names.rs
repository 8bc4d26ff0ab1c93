//! Names for people: binary names with dots, paths as they would be written.

use crate::ir::{Op, ValueId};
use crate::path::{AccessPath, Root};
use crate::program::{MethodId, Program};

/// An internal name as a binary name.
pub(super) fn dotted(name: &str) -> String {
    name.replace('/', ".")
}

/// The class name without its package.
fn simple(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

/// A path in the frame of `method`, e.g. `this.block.poolId`.
pub(super) fn path_text(program: &Program, method: MethodId, path: &AccessPath) -> String {
    let root = match path.root {
        Root::Param(i) => parameter(program, method, i),
        Root::Static(field) => format!("{}.{}", simple(&field.class), field.name),
        Root::Local(value) => local(program, method, value),
    };
    path.steps.iter().fold(root, |name, step| step.after(name))
}

fn parameter(program: &Program, method: MethodId, i: u16) -> String {
    let method = &program.methods[method.index()];
    let i = usize::from(i);
    let own = usize::from(!method.is_static());
    if i < own {
        return "this".to_owned();
    }
    let name = method.parameter_names.get(i - own).copied().flatten();
    name.map_or_else(|| format!("arg{}", i - own), |n| n.to_string())
}

fn local(program: &Program, method: MethodId, value: ValueId) -> String {
    let body = program.methods[method.index()].body.as_ref();
    let Some(inst) = body.and_then(|b| b.insts.get(value.index())) else {
        return "local".to_owned();
    };
    match &inst.op {
        Op::Invoke { method, .. } => format!("{}.{}()", simple(&method.class), method.name),
        Op::InvokeDynamic { name, .. } => format!("{name}()"),
        Op::New(class) => format!("new {}()", simple(class)),
        Op::Caught(_) => "exception".to_owned(),
        Op::GetField(field, _) => format!("{}.{}", simple(&field.class), field.name),
        _ => format!("local@{}", inst.line),
    }
}

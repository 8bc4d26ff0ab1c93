//! Methods that are called by reflection, because of an annotation that somebody looks for:
//! handlers of buses, listeners of brokers, resources of web servers.

use rayon::prelude::*;
use rustc_hash::FxHashSet;

use crate::ir::{Body, Const, Op};
use crate::program::{Method, Name, Program};
use crate::services::handler_apis;

/// Calls that look for an annotation, which is among their arguments.
const LOOKS: &[&str] = &[
    "isAnnotationPresent",
    "getAnnotation",
    "getDeclaredAnnotation",
    "getAnnotationsByType",
    "findAnnotation",
];

/// The annotations that a program looks for itself.
pub(crate) struct Looked {
    classes: FxHashSet<Name>,
}

impl Looked {
    /// In all of its methods.
    pub(crate) fn new(program: &Program) -> Self {
        let looked = |method: &Method| {
            let Some(body) = &method.body else { return Vec::new() };
            let of = |op: &Op| match op {
                Op::Invoke { method, args, .. } if LOOKS.contains(&method.name.as_str()) => args
                    .iter()
                    .filter_map(|&arg| match body.op(arg) {
                        Op::Const(Const::Class(class)) => Some(*class),
                        _ => None,
                    })
                    .collect(),
                _ => Vec::new(),
            };
            Body::iter(body).flat_map(|(_, inst)| of(&inst.op)).collect()
        };
        let classes: Vec<Name> = program.methods.par_iter().flat_map_iter(looked).collect();
        Looked { classes: classes.into_iter().collect() }
    }

    /// The annotation for which a method is called.
    pub(crate) fn called_by(&self, method: &Method) -> Option<Name> {
        let is_it = |class: &Name| {
            let (package, simple) = class.split_at(class.rfind('/').map_or(0, |at| at + 1));
            self.classes.contains(class) || handler_apis::calls(package, simple)
        };
        method.annotations.iter().map(|annotation| annotation.class).find(is_it)
    }
}

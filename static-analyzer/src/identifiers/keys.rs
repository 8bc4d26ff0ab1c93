//! Keys: numbers that name things. A number is an identity if the program
//! itself tells objects apart by it: `equals`, `hashCode` or `compareTo` of some
//! class reads it, or it is looked up in a map or set. Sizes, positions and
//! times are printed just as often, but nothing is ever found by them. A name
//! that ends in `id` says as much.
//!
//! What the program adds to (`f += x`) sums up what was done so far, whatever it is compared
//! with: it goes from one request to the next. What is counted one by one numbers things.

use rayon::prelude::*;
use rustc_hash::FxHashSet;

use super::Bindings;
use crate::ir::{Op, ValueId};
use crate::path::Step;
use crate::program::{FieldRef, MethodId, Name, Program};

/// Fields and getters by which objects are told apart.
#[derive(Debug, Default)]
pub(crate) struct Keys {
    fields: FxHashSet<FieldRef>,
    getters: FxHashSet<Name>,
    /// Fields that sum something up.
    sums: FxHashSet<FieldRef>,
}

impl Keys {
    pub(crate) fn find(program: &Program, bindings: &Bindings<'_>) -> Self {
        let steps: Vec<Step> = (0..program.methods.len())
            .into_par_iter()
            .flat_map_iter(|i| steps_in(program, bindings, MethodId::new(i)))
            .collect();
        let sums =
            (0..program.methods.len()).into_par_iter().flat_map_iter(|i| sums_in(program, MethodId::new(i)));
        let mut keys = Self { sums: sums.collect(), ..Self::default() };
        for step in steps {
            match step {
                Step::Field(f) => {
                    keys.fields.insert(f);
                }
                Step::Call(m) => {
                    keys.getters.insert(m.name);
                }
                Step::Element => {}
            }
        }
        keys
    }

    /// Whether a number reached by this last step, and printed as `value_class`,
    /// names something.
    pub(crate) fn names(&self, last: Option<&Step>, value_class: &str) -> bool {
        if matches!(last, Some(Step::Field(f)) if self.sums.contains(f)) {
            return false;
        }
        let by_use = match last {
            Some(Step::Field(f)) => self.fields.contains(f),
            Some(Step::Call(m)) => self.getters.contains(&m.name),
            _ => false,
        };
        let name = value_class.split(':').next().unwrap_or_default();
        by_use || name.trim_end_matches(['(', ')', '_']).to_ascii_lowercase().ends_with("id")
    }
}

fn steps_in(program: &Program, bindings: &Bindings<'_>, method: MethodId) -> Vec<Step> {
    let m = &program.methods[method.index()];
    let Some(body) = &m.body else { return Vec::new() };
    let compares = matches!(m.name.as_str(), "equals" | "hashCode" | "compareTo" | "compare");
    let mut found = Vec::new();
    for (v, inst) in body.iter() {
        match &inst.op {
            Op::GetField(f, Some(_)) if compares => found.push(Step::Field(*f)),
            Op::Invoke { method: callee, args, .. } => {
                if compares && callee.name.starts_with("get") {
                    found.push(Step::Call(*callee));
                    found.extend(bindings.path(method, v).steps.last());
                }
                if args.len() >= 2 && is_lookup(callee.class.as_str(), callee.name.as_str()) {
                    found.extend(bindings.path(method, args[1]).steps.last());
                }
            }
            _ => {}
        }
    }
    found
}

/// Fields to which a method adds, or from which it takes, more than a constant.
fn sums_in(program: &Program, method: MethodId) -> Vec<FieldRef> {
    let Some(body) = &program.methods[method.index()].body else { return Vec::new() };
    let is_sum = |field: FieldRef, value: ValueId| {
        let is_it = |v: ValueId| matches!(body.op(body.uncast(v)), Op::GetField(f, _) if *f == field);
        let varies = |v: ValueId| !matches!(body.op(body.uncast(v)), Op::Const(_));
        matches!(body.op(body.uncast(value)), Op::Binary(_, a, b)
            if (is_it(*a) && varies(*b)) || (is_it(*b) && varies(*a)))
    };
    let written = body.iter().filter_map(|(_, inst)| match inst.op {
        Op::PutField(field, _, value) if is_sum(field, value) => Some(field),
        _ => None,
    });
    written.collect()
}

fn is_lookup(class: &str, name: &str) -> bool {
    let keyed = class.ends_with("Map") || class.ends_with("Set") || class.ends_with("Cache");
    keyed && matches!(name, "get" | "put" | "remove" | "containsKey" | "contains" | "add" | "putIfAbsent")
}

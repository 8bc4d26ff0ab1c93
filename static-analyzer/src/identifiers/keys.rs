//! Keys: numbers that name things. A number is an identity if the program
//! itself tells objects apart by it: `equals`, `hashCode` or `compareTo` of some
//! class reads it, or it is looked up in a map or set. Sizes, positions and
//! times are printed just as often, but nothing is ever found by them. A name
//! that ends in `id` says as much, be it what a method calls what
//! it is given, always from one field.
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
        let given = given_as_ids(program, bindings);
        let mut keys = Self { fields: given.into_iter().collect(), sums: sums.collect(), ..Self::default() };
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

    /// Whether what is reached by this last step sums something up.
    pub(crate) fn is_sum(&self, last: Option<&Step>) -> bool {
        matches!(last, Some(Step::Field(f)) if self.sums.contains(f))
    }

    /// Whether a number reached by this last step, and printed as `value_class`,
    /// names something.
    pub(crate) fn names(&self, last: Option<&Step>, value_class: &str) -> bool {
        if self.is_sum(last) {
            return false;
        }
        let by_use = match last {
            Some(Step::Field(f)) => self.fields.contains(f),
            Some(Step::Call(m)) => self.getters.contains(&m.name),
            _ => false,
        };
        by_use || is_name_of_id(value_class.split(':').next().unwrap_or_default())
    }
}

/// Whether what is called so is called an identifier.
fn is_name_of_id(name: &str) -> bool {
    name.trim_end_matches(['(', ')', '_']).to_ascii_lowercase().ends_with("id")
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

/// Fields whose values are all that a parameter is given which is called an identifier.
fn given_as_ids(program: &Program, bindings: &Bindings<'_>) -> Vec<FieldRef> {
    let methods = (0..program.methods.len()).into_par_iter();
    let mut given: Vec<(MethodId, usize, Option<FieldRef>)> =
        methods.flat_map_iter(|i| ids_given_by(program, bindings, MethodId::new(i))).collect();
    given.sort_unstable();
    given.dedup();
    let parameters = given.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1));
    parameters.filter_map(|given| if let [(.., field)] = given { *field } else { None }).collect()
}

/// What a method gives to parameters that are called identifiers: (callee, parameter, the
/// field that it comes from).
fn ids_given_by(
    program: &Program,
    bindings: &Bindings<'_>,
    method: MethodId,
) -> Vec<(MethodId, usize, Option<FieldRef>)> {
    let mut found = Vec::new();
    for call in bindings.graph.calls(method) {
        for &target in &call.targets {
            let callee = &program.methods[target.index()];
            let own = usize::from(!callee.is_static());
            for (i, name) in callee.parameter_names.iter().enumerate() {
                if name.is_some_and(|name| is_name_of_id(&name)) {
                    let value = call.args.get(i + own).copied().flatten();
                    let path = value.map(|value| bindings.path(method, value));
                    let field = path.and_then(|path| match path.steps.last() {
                        Some(Step::Field(field)) if is_number(&field.descriptor) => Some(*field),
                        _ => None,
                    });
                    found.push((target, i, field));
                }
            }
        }
    }
    found
}

fn is_number(descriptor: &str) -> bool {
    matches!(descriptor, "I" | "J")
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

//! Constructors called by reflection: `getConstructor(A.class, B.class)` with
//! `newInstance` in one method names the parameters, and thereby the few
//! constructors that can be meant.

use rustc_hash::FxHashMap;

use super::resolve::Resolver;
use super::{Call, CallKind};
use crate::ir::{Body, Const, Op, ValueId};
use crate::limits::DISPATCH_TARGETS_MAX;
use crate::program::{MethodId, access};

/// Constructors by the text of their parameters; those without parameters and
/// with too many namesakes are left out.
#[derive(Debug, Default)]
pub(crate) struct Constructors(FxHashMap<String, Vec<MethodId>>);

impl Constructors {
    pub(crate) fn find(resolver: &Resolver<'_>) -> Self {
        let mut found: FxHashMap<String, Vec<MethodId>> = FxHashMap::default();
        for (i, m) in resolver.program.methods.iter().enumerate() {
            let concrete = resolver.program.classes[m.class.index()].access & access::ABSTRACT == 0;
            if m.name.as_str() == "<init>" && concrete && m.body.is_some() {
                found.entry(m.descriptor.to_string()).or_default().push(MethodId::new(i));
            }
        }
        found.retain(|d, list| d != "()V" && list.len() <= DISPATCH_TARGETS_MAX);
        Self(found)
    }
}

/// Edges from `newInstance` to the constructors that the class constants of the
/// method name.
pub(crate) fn constructor_edges(constructors: &Constructors, body: &Body) -> Vec<Call> {
    let site = body.iter().find(|(_, inst)| is_reflective(&inst.op, "newInstance"));
    let Some((site, _)) = site else { return Vec::new() };
    let mut edges = Vec::new();
    for (_, inst) in body.iter() {
        let Op::Invoke { method, args, .. } = &inst.op else { continue };
        if !matches!(method.name.as_str(), "getConstructor" | "getDeclaredConstructor") {
            continue;
        }
        let Some(descriptor) = args.last().and_then(|&a| parameters(body, a)) else { continue };
        if let Some(targets) = constructors.0.get(&descriptor) {
            let targets = targets.clone();
            edges.push(Call { site, targets, kind: CallKind::Callback, args: Vec::new() });
        }
    }
    edges.dedup();
    edges
}

fn is_reflective(op: &Op, name: &str) -> bool {
    matches!(op, Op::Invoke { method, .. }
        if method.class.as_str() == "java/lang/reflect/Constructor" && method.name.as_str() == name)
}

/// The descriptor of a constructor whose parameter classes are stored in
/// `array`.
fn parameters(body: &Body, array: ValueId) -> Option<String> {
    let mut types: Vec<(i32, String)> = Vec::new();
    for (_, inst) in body.iter() {
        let Op::ArrayStore(a, index, value) = &inst.op else { continue };
        if *a != array {
            continue;
        }
        let Op::Const(Const::Int(index)) = body.op(*index) else { return None };
        types.push((*index, type_of(body, *value)?));
    }
    types.sort();
    let text: String = types.into_iter().map(|(_, t)| t).collect();
    Some(format!("({text})V"))
}

fn type_of(body: &Body, value: ValueId) -> Option<String> {
    match body.op(value) {
        Op::Const(Const::Class(name)) if name.starts_with('[') => Some(name.to_string()),
        Op::Const(Const::Class(name)) => Some(format!("L{name};")),
        // `int.class` is `Integer.TYPE`.
        Op::GetField(f, None) if f.name.as_str() == "TYPE" => Some(
            match f.class.as_str() {
                "java/lang/Integer" => "I",
                "java/lang/Long" => "J",
                "java/lang/Boolean" => "Z",
                "java/lang/Double" => "D",
                "java/lang/Float" => "F",
                "java/lang/Short" => "S",
                "java/lang/Byte" => "B",
                "java/lang/Character" => "C",
                _ => return None,
            }
            .to_owned(),
        ),
        _ => None,
    }
}

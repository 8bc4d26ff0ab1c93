//! What a builder was given: `b.setKey(k) ... b.build()` makes an object whose key is `k`.
//! Both are called alike, so that generated code, which keeps what it is given in ways of
//! its own, need not be followed.

use crate::identifiers::plain;
use crate::ir::{Body, InvokeKind, Op, ValueId};
use crate::path::Step;

/// Calls in a row on one builder.
const CHAIN_MAX: usize = 64;

/// Fronts of the names of methods that give a builder something.
const SETS: &[&str] = &["set", "with", "add", "put"];

/// The value that the `part` of what is built at `built` was given, if it is built there.
pub(super) fn given(body: &Body, built: ValueId, part: &Step) -> Option<ValueId> {
    let builder = builder(body, built)?;
    let wanted = called(part)?;
    let origin = origin(body, builder);
    let mut found = None;
    for (_, inst) in body.iter() {
        let Op::Invoke { kind, method, args } = &inst.op else { continue };
        let ([of, value], true) = (&args[..], *kind != InvokeKind::Static) else { continue };
        let name = method.name.as_str();
        let set = without(name, SETS);
        if plain(set) == wanted && self::origin(body, *of) == origin {
            // Two values: nobody knows which.
            if found.replace(*value).is_some() {
                return None;
            }
        }
    }
    found
}

/// The builder by which the object at `built` is made.
fn builder(body: &Body, built: ValueId) -> Option<ValueId> {
    match body.op(body.uncast(built)) {
        Op::Invoke { kind, method, args } if *kind != InvokeKind::Static && args.len() == 1 => {
            let is_builder = method.class.ends_with("Builder");
            (is_builder && matches!(method.name.as_str(), "build" | "buildPartial" | "create"))
                .then(|| args[0])
        }
        // A builder that is given away itself stands for what it builds.
        Op::Invoke { method, .. } if method.descriptor.ends_with("Builder;") => Some(built),
        _ => None,
    }
}

/// The value that a chain of calls on a builder begins with: each gives the builder back.
fn origin(body: &Body, builder: ValueId) -> ValueId {
    let mut at = body.uncast(builder);
    for _ in 0..CHAIN_MAX {
        match body.op(at) {
            Op::Invoke { kind, method, args }
                if *kind != InvokeKind::Static
                    && method.class.ends_with("Builder")
                    && method.descriptor.ends_with("Builder;") =>
            {
                at = body.uncast(args[0]);
            }
            _ => break,
        }
    }
    at
}

/// What a part is called, without what getters and generated fields add to that.
fn called(part: &Step) -> Option<String> {
    let name = match part {
        Step::Field(field) => field.name,
        Step::Call(method) => method.name,
        Step::Element => return None,
    };
    let name = name.as_str();
    Some(plain(without(name, &["get", "is"])))
}

/// A name without one of these words in front.
fn without<'n>(name: &'n str, fronts: &[&str]) -> &'n str {
    let rest = fronts.iter().find_map(|front| name.strip_prefix(front));
    rest.filter(|rest| rest.starts_with(char::is_uppercase)).unwrap_or(name)
}

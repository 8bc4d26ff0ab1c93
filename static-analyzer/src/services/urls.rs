//! What an address is made of: constants, and the values that are put in between.
//!
//! What is put together in the method that asks is read off its calls, so that each value that
//! is put in is known as a value of that method; what constants and other methods give is
//! asked of the string domain. Branches make several addresses.

use super::client_apis::{APPENDS, FILLS, PARAMETERS};
use super::template::{Part, SCHEMES};
use crate::call_graph::resolve::signature;
use crate::ir::{BootstrapArg, Const, InvokeKind, Op, ValueId};
use crate::pairs::texts::{self, Piece};
use crate::path::Root;
use crate::program::{FieldRef, MethodId, Name};
use crate::strings::facts::Facts;
use crate::strings::term::{Node, Term};
use crate::strings::{Evaluator, FrameId};

/// Addresses that one call can ask for.
const ADDRESSES_MAX: usize = 16;

/// Calls and branches on the way from where an address is used to where it is made.
const DEPTH_MAX: usize = 24;

/// The ways an address can look, each as its parts.
pub(super) type Addresses = Vec<Vec<Part>>;

/// Finds the addresses that values of one method are.
pub(super) struct Urls<'p> {
    facts: &'p Facts<'p>,
    method: MethodId,
    evaluator: Evaluator<'p>,
    /// Names of variables that are filled in by name.
    pub(super) filled: Vec<(String, ValueId)>,
}

impl<'p> Urls<'p> {
    /// For a method with a body.
    pub(super) fn new(facts: &'p Facts<'p>, method: MethodId) -> Self {
        Urls { facts, method, evaluator: Evaluator::new(facts, method), filled: Vec::new() }
    }

    /// What `value` can be, used by the instruction `at`.
    pub(super) fn addresses(&mut self, value: ValueId, at: ValueId) -> Addresses {
        let mut found = self.of(value, at, DEPTH_MAX);
        for parts in &mut found {
            merge(parts);
        }
        found.truncate(ADDRESSES_MAX);
        found
    }

    fn of(&mut self, value: ValueId, at: ValueId, depth: usize) -> Addresses {
        let unknown = vec![vec![Part::Value(Some(value))]];
        let Some(body) = &self.facts.program.methods[self.method.index()].body else { return unknown };
        let Some(depth) = depth.checked_sub(1) else { return unknown };
        let value = body.uncast(value);
        let pieces = texts::pieces(body, value);
        if pieces != [Piece::Value(value)] {
            let mut all: Addresses = vec![Vec::new()];
            for piece in pieces {
                let next = match piece {
                    Piece::Const(text) => vec![vec![Part::Text(text)]],
                    Piece::Value(inner) if inner != value => self.of(inner, at, depth),
                    Piece::Value(_) | Piece::Kept => vec![vec![Part::Value(None)]],
                };
                all = product(&all, &next);
            }
            return all;
        }
        match body.op(value) {
            Op::Phi(operands) => {
                let mut all: Addresses = Vec::new();
                let is_loop = body.block(body.inst(value).block).loop_header == Some(body.inst(value).block);
                for &(_, operand) in operands.iter().filter(|_| !is_loop) {
                    if matches!(body.op(operand), Op::Const(Const::Null)) {
                        continue;
                    }
                    let of = self.of(operand, at, depth);
                    all.extend(of.into_iter().filter(|parts| !all.contains(parts)).collect::<Vec<_>>());
                }
                if all.is_empty() || all.len() > ADDRESSES_MAX { unknown } else { all }
            }
            Op::GetField(field, Some(_)) => match self.set_from_outside(*field) {
                Some(text) => vec![vec![Part::Text(text)]],
                None => self.evaluated(value, at),
            },
            Op::New(class) if self.facts.program.class(*class).is_none() => {
                let given = self.first_text_of_init(value);
                given.map_or(unknown, |(given, init)| self.of(given, init, depth))
            }
            Op::Invoke { .. } => self.call(value, at, depth),
            Op::InvokeDynamic { bootstrap, .. } => {
                let made = self.closure(&bootstrap.args);
                if made.is_empty() { unknown } else { made }
            }
            _ => self.evaluated(value, at),
        }
    }

    /// What a call gives: an address that a library puts together, or what the string domain
    /// knows.
    fn call(&mut self, value: ValueId, at: ValueId, depth: usize) -> Addresses {
        let body = self.facts.program.methods[self.method.index()].body.as_ref().expect("it has the call");
        let Op::Invoke { kind, method, args } = body.op(value) else { return Vec::new() };
        let is_own = self.facts.program.class(method.class).is_some();
        let (params, result) = signature(method.descriptor.as_str());
        let is_plain = method.class.starts_with("java/lang/") || method.class.starts_with("java/util/");
        if is_own {
            let known = self.evaluated(value, at);
            let is_open = known == [vec![Part::Value(Some(value))]];
            return if is_open && is_made_of_address(result) { self.given_back(value, depth) } else { known };
        }
        if is_plain || result.len() == 1 || args.is_empty() {
            return self.evaluated(value, at);
        }
        let name = method.name.as_str();
        let own = usize::from(*kind != InvokeKind::Static);
        let text_at = (0..params.len()).find(|&i| is_address_type(params[i]));
        if own == 0 {
            // `create(text)`, `fromUriString(text)`
            return match text_at {
                Some(i) => self.of(args[i], value, depth),
                None => vec![vec![Part::Value(Some(value))]],
            };
        }
        let mut before = self.of(args[0], value, depth);
        if before.len() == 1 && before[0] == [Part::Value(Some(args[0]))] {
            before = vec![vec![Part::Value(None)]];
        }
        if FILLS.contains(&name) && args.len() == 3 {
            if let Op::Const(Const::Text(variable)) = body.op(body.uncast(args[1])) {
                self.filled.push((variable.as_str().to_owned(), args[2]));
            }
            return before;
        }
        if PARAMETERS.contains(&name) && args.len() >= 3 {
            let parameter = self.of(args[1], value, depth);
            let given = self.given(args[2]);
            let with = product(&parameter, &[vec![Part::Text("=".to_owned()), Part::Value(Some(given))]]);
            return before.iter().flat_map(|parts| with.iter().map(|with| query(parts, with))).collect();
        }
        let is_appended = APPENDS.contains(&name);
        let Some(i) = text_at.filter(|_| is_appended || is_unknown(&before)) else { return before };
        if !is_appended {
            // `client.target(text)`
            return self.of(args[own + i], value, depth);
        }
        let appended = match body.op(args[own + i]) {
            Op::NewArray(..) => self.elements(args[own + i], value, depth),
            _ => self.of(args[own + i], value, depth),
        };
        let joined = product(&[vec![Part::Text("/".to_owned())]], &appended);
        product(&before, &joined)
    }

    /// What a method of the program gives back, with what it is given here: many have one that
    /// puts the address together for all others.
    fn given_back(&mut self, call: ValueId, depth: usize) -> Addresses {
        let unknown = vec![vec![Part::Value(Some(call))]];
        let program = self.facts.program;
        let Some(body) = &program.methods[self.method.index()].body else { return unknown };
        let Op::Invoke { kind, method, args } = body.op(call) else { return unknown };
        let mut found = Addresses::new();
        for target in self.evaluator.targets(FrameId::ROOT, *kind, *method, args) {
            let Some(own) = program.methods[target.index()].body.as_ref().filter(|_| target != self.method)
            else {
                return unknown;
            };
            let returned = own.iter().filter_map(|(at, inst)| match inst.op {
                Op::Return(Some(value)) => Some((value, at)),
                _ => None,
            });
            for (value, at) in returned {
                for parts in Urls::new(self.facts, target).of(value, at, depth) {
                    found.extend(self.with_arguments(&parts, args, call, depth));
                }
            }
        }
        if found.is_empty() || found.len() > ADDRESSES_MAX { unknown } else { found }
    }

    /// An address of a method that is called with `args`, as one of the caller.
    fn with_arguments(&mut self, parts: &[Part], args: &[ValueId], at: ValueId, depth: usize) -> Addresses {
        let mut all: Addresses = vec![Vec::new()];
        for part in parts {
            let next = match part {
                Part::Text(_) => vec![vec![part.clone()]],
                Part::Value(value) => match value.and_then(|value| args.get(value.index())) {
                    Some(&given) => self.of(given, at, depth),
                    None => vec![vec![Part::Value(None)]],
                },
            };
            all = product(&all, &next);
        }
        all
    }

    /// The address that a field is set to by what the configuration in its jar says: by an
    /// annotation of the field, or of the parameter that it is written from.
    fn set_from_outside(&self, field: FieldRef) -> Option<String> {
        let program = self.facts.program;
        let own = self.facts.field(field)?.annotations.as_slice();
        let of_parameters = self.facts.writes(field).iter().filter_map(|&(method, put)| {
            let method = &program.methods[method.index()];
            let Op::PutField(_, _, value) = method.body.as_ref()?.op(put) else { return None };
            let Op::Param(i) = method.body.as_ref()?.op(*value) else { return None };
            let n = signature(method.descriptor.as_str()).0.len();
            let at = usize::from(*i).checked_sub(usize::from(!method.is_static()))?;
            let skipped = n.saturating_sub(method.parameter_annotations.len());
            method.parameter_annotations.get(at.checked_sub(skipped)?)
        });
        let all = own.iter().chain(of_parameters.flatten());
        let mut texts = all.flat_map(|annotation| annotation.texts(&["value"]).collect::<Vec<_>>());
        let is_address = |text: &Name| SCHEMES.iter().any(|scheme| text.starts_with(scheme));
        texts.find(|text| is_address(text) && !text.contains("${")).map(|text| text.as_str().to_owned())
    }

    /// The elements of an array, each as a segment.
    fn elements(&mut self, array: ValueId, at: ValueId, depth: usize) -> Addresses {
        let mut all: Addresses = vec![Vec::new()];
        for (n, element) in self.stored(array).into_iter().enumerate() {
            if n > 0 {
                all = product(&all, &[vec![Part::Text("/".to_owned())]]);
            }
            let next = self.of(element, at, depth);
            all = product(&all, &next);
        }
        all
    }

    /// What is stored in an array where it is made, in order.
    pub(super) fn stored(&self, array: ValueId) -> Vec<ValueId> {
        let Some(body) = &self.facts.program.methods[self.method.index()].body else { return Vec::new() };
        let array = body.uncast(array);
        let mut stored: Vec<(i32, ValueId)> = body
            .iter()
            .filter_map(|(_, inst)| match inst.op {
                Op::ArrayStore(of, index, value) if body.uncast(of) == array => match body.op(index) {
                    Op::Const(Const::Int(index)) => Some((*index, self.unboxed(value))),
                    _ => None,
                },
                _ => None,
            })
            .collect();
        stored.sort_unstable();
        stored.into_iter().map(|(_, value)| value).collect()
    }

    /// The only element of an array, or the value itself.
    fn given(&self, value: ValueId) -> ValueId {
        match self.stored(value)[..] {
            [one] => one,
            _ => self.unboxed(value),
        }
    }

    /// The number in a box.
    fn unboxed(&self, value: ValueId) -> ValueId {
        let Some(body) = &self.facts.program.methods[self.method.index()].body else { return value };
        match body.op(body.uncast(value)) {
            Op::Invoke { method, args, .. }
                if method.name == "valueOf" && args.len() == 1 && method.class.starts_with("java/lang/") =>
            {
                args[0]
            }
            _ => body.uncast(value),
        }
    }

    /// The first text or address that the constructor of an object is given.
    fn first_text_of_init(&self, object: ValueId) -> Option<(ValueId, ValueId)> {
        let body = self.facts.program.methods[self.method.index()].body.as_ref()?;
        body.iter().find_map(|(site, inst)| match &inst.op {
            Op::Invoke { kind: InvokeKind::Special, method, args }
                if method.name == "<init>" && args.first() == Some(&object) =>
            {
                let (params, _) = signature(method.descriptor.as_str());
                let at = params.iter().position(|param| is_address_type(param))?;
                Some((args[at + 1], site))
            }
            _ => None,
        })
    }

    /// What a closure gives back; its values are none of this method.
    fn closure(&self, bootstrap_args: &[BootstrapArg]) -> Addresses {
        let program = self.facts.program;
        let target = bootstrap_args.iter().find_map(|arg| match arg {
            BootstrapArg::Handle { target, .. } => {
                let class = program.class(target.class)?;
                program.declared_method(class, target.name, target.descriptor)
            }
            _ => None,
        });
        let Some(target) = target.filter(|&target| target != self.method) else { return Vec::new() };
        let Some(body) = &program.methods[target.index()].body else { return Vec::new() };
        let returned = body.iter().find_map(|(at, inst)| match inst.op {
            Op::Return(Some(value)) => Some((value, at)),
            _ => None,
        });
        let Some((value, at)) = returned else { return Vec::new() };
        let mut found = Urls::new(self.facts, target).addresses(value, at);
        for part in found.iter_mut().flatten() {
            if let Part::Value(value) = part {
                *value = None;
            }
        }
        found
    }

    /// What the string domain knows of a value.
    fn evaluated(&mut self, value: ValueId, at: ValueId) -> Addresses {
        let descriptor = self.evaluator.descriptor_of(FrameId::ROOT, value);
        self.evaluator.restart();
        let term = self.evaluator.text(FrameId::ROOT, value, descriptor, at);
        if matches!(self.evaluator.terms.node(term), Node::Leaf(_)) {
            return vec![vec![Part::Value(Some(value))]];
        }
        let found = self.parts_of(term);
        if found.is_empty() || found.len() > ADDRESSES_MAX {
            vec![vec![Part::Value(Some(value))]]
        } else {
            found
        }
    }

    fn parts_of(&self, term: Term) -> Addresses {
        match self.evaluator.terms.node(term) {
            Node::Text(text) => vec![vec![Part::Text(text.to_string())]],
            Node::Cat(parts) => {
                let mut all: Addresses = vec![Vec::new()];
                for &part in parts {
                    all = product(&all, &self.parts_of(part));
                }
                all
            }
            Node::Alt(choices) if choices.len() <= ADDRESSES_MAX => {
                choices.iter().flat_map(|&choice| self.parts_of(choice)).collect()
            }
            Node::Leaf(leaf) => {
                let value = leaf.path.as_ref().filter(|path| path.steps.is_empty());
                let value = value.and_then(|path| match path.root {
                    Root::Param(i) => Some(ValueId::new(usize::from(i))),
                    Root::Local(value) => Some(value),
                    Root::Static(_) => None,
                });
                vec![vec![Part::Value(value)]]
            }
            Node::Alt(_) | Node::Star(_) | Node::Open(_) => vec![vec![Part::Value(None)]],
        }
    }
}

/// Whether addresses are passed around as this type.
pub(super) fn is_address_type(descriptor: &str) -> bool {
    let class = descriptor.trim_start_matches('[');
    matches!(class, "Ljava/lang/String;" | "Ljava/lang/CharSequence;" | "Ljava/net/URI;" | "Ljava/net/URL;")
        || class.ends_with("HttpUrl;")
        || class.ends_with("UriComponents;")
        || class.ends_with("UriBuilder;")
        || class == "Ljava/util/function/Function;"
}

/// Whether objects of this type hold an address, or a part of it: texts, and what libraries put
/// addresses together with.
fn is_made_of_address(descriptor: &str) -> bool {
    let class = descriptor.rsplit(['/', '$']).next().unwrap_or(descriptor);
    is_address_type(descriptor) || class.contains("Uri") || class.contains("Url") || class == "WebTarget;"
}

/// Whether nothing is known of an address.
fn is_unknown(addresses: &[Vec<Part>]) -> bool {
    addresses.iter().flatten().all(|part| matches!(part, Part::Value(_)))
}

fn product(heads: &[Vec<Part>], tails: &[Vec<Part>]) -> Addresses {
    if heads.len() * tails.len() > ADDRESSES_MAX {
        // Which of them it is cannot be told any more.
        let unknown = vec![Part::Value(None)];
        return heads
            .iter()
            .take(ADDRESSES_MAX)
            .map(|head| [head.clone(), unknown.clone()].concat())
            .collect();
    }
    heads.iter().flat_map(|head| tails.iter().map(|tail| [head.clone(), tail.clone()].concat())).collect()
}

/// An address with one more parameter.
fn query(parts: &[Part], parameter: &[Part]) -> Vec<Part> {
    let has_some = parts.iter().any(|part| matches!(part, Part::Text(text) if text.contains('?')));
    let mark = Part::Text(if has_some { "&" } else { "?" }.to_owned());
    [parts, &[mark], parameter].concat()
}

/// Joins texts that stand side by side.
fn merge(parts: &mut Vec<Part>) {
    let mut merged: Vec<Part> = Vec::with_capacity(parts.len());
    for part in parts.drain(..) {
        match (merged.last_mut(), part) {
            (Some(Part::Text(before)), Part::Text(text)) => before.push_str(&text),
            (_, part) => merged.push(part),
        }
    }
    *parts = merged;
}

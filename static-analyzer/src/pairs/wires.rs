//! Wires: what goes over a connection to another process without a message of a class:
//! lines of text, and numbers and texts that are written and read one after the other.
//!
//! Both ends know the protocol, which is nowhere said but in the order in which they write
//! and read. So what is read first, by who reads the same types in the same order, is what
//! was written first. A line is told apart by nothing: what its text carries is cut out of
//! it, see [`super::texts`].

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::Context;
use super::apis::{self, Role, Wire};
use super::facts::{Channel, Fact};
use super::homes::{Home, Homes};
use crate::ir::{BlockId, Body, InvokeKind, Op, ValueId};
use crate::path::AccessPath;
use crate::program::{FieldRef, MethodId, Name};

/// Values looked at to find what a stream is made over.
const STREAM_STEPS_MAX: usize = 120;

/// What one method writes or reads one after the other on one connection.
const RECORD_MAX: usize = 32;

/// Numbers and texts that are written, or read, one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Record {
    method: MethodId,
    role: Role,
    /// The types, one letter each as in descriptors (`U`: text).
    types: String,
    /// Where each is written or read.
    sites: Vec<(ValueId, ValueId)>,
}

/// Finds what goes over wires.
pub(super) struct Wires<'h, 'a> {
    context: Context<'a>,
    homes: &'h Homes<'a>,
    /// Buffers that are written to connections or read from them.
    buffers: FxHashSet<Home>,
}

impl<'h, 'a> Wires<'h, 'a> {
    pub(super) fn new(context: Context<'a>, homes: &'h Homes<'a>) -> Self {
        let mut wires = Wires { context, homes, buffers: FxHashSet::default() };
        let moved = |index: usize| {
            let insts = context.program.methods[index].body.iter().flat_map(Body::iter);
            let buffers = insts.filter_map(|(_, inst)| match &inst.op {
                Op::Invoke { method, args, .. } if apis::moves_buffer(&method.class, &method.name) => {
                    Some(&args[1..])
                }
                _ => None,
            });
            let homes = buffers.flatten().flat_map(|&arg| wires.buffer(MethodId::new(index), arg));
            homes.collect::<Vec<Home>>()
        };
        let n = context.program.methods.len();
        wires.buffers = (0..n).into_par_iter().flat_map_iter(moved).collect::<Vec<_>>().into_iter().collect();
        wires
    }

    /// Lines that a method writes to connections or reads from them.
    pub(super) fn lines(&self, method: MethodId, body: &Body) -> Vec<Fact> {
        let mut facts = Vec::new();
        for (site, inst) in body.iter() {
            let Op::Invoke { method: called, args, .. } = &inst.op else { continue };
            let Some((role, part)) = apis::line_call(called) else { continue };
            if args.first().is_some_and(|&stream| self.is_wire(method, stream)) {
                let value = if part == 0 { Some(site) } else { args.get(part).copied() };
                facts.push(Fact::new(Channel::Line, role, site, value));
            }
        }
        facts
    }

    /// What a method writes or reads one after the other: on one way through it each.
    pub(super) fn records(&self, method: MethodId, body: &Body) -> Vec<Record> {
        let m = &self.context.program.methods[method.index()];
        if apis::serializer_call(&m.name, &m.descriptor).is_some() {
            return Vec::new();
        }
        let mut by_stream: BTreeMap<(Stream, Role), Vec<Field>> = BTreeMap::new();
        let mut known: FxHashMap<ValueId, Option<Stream>> = FxHashMap::default();
        let sites = body.blocks.iter().flat_map(|block| &block.insts);
        for &site in sites {
            let Op::Invoke { method: called, args, .. } = body.op(site) else { continue };
            let Some((wire, role, letter, part)) = apis::field_call(called) else { continue };
            let Some(&stream) = args.first() else { continue };
            let stream = known.entry(stream).or_insert_with(|| self.stream(method, body, wire, stream));
            let Some(stream) = stream.clone() else { continue };
            let value = if part == 0 { Some(site) } else { args.get(part).copied() };
            if let Some(value) = value {
                by_stream.entry((stream, role)).or_default().push((letter, site, value));
            }
        }
        let records = by_stream.into_iter().filter(|(_, fields)| fields.len() <= RECORD_MAX);
        records
            .flat_map(|((_, role), fields)| {
                ways(body, &fields).into_iter().map(move |way| Record {
                    method,
                    role,
                    types: way.iter().map(|field| field.0).collect(),
                    sites: way.iter().map(|&(_, site, value)| (site, value)).collect(),
                })
            })
            .collect()
    }

    /// What names the stream that `value` is, if it is over a connection.
    fn stream(&self, method: MethodId, body: &Body, wire: Wire, value: ValueId) -> Option<Stream> {
        match wire {
            Wire::Stream => {
                self.is_wire(method, value).then(|| Stream::Path(self.context.bindings.path(method, value)))
            }
            Wire::Buffer => {
                let mut base = body.uncast(value);
                // What is put into a buffer gives the buffer back.
                while let Op::Invoke { kind, method: called, args } = body.op(base) {
                    if *kind == InvokeKind::Static || !apis::is_buffer(&called.class) {
                        break;
                    }
                    let Some(&inner) = args.first() else { break };
                    base = body.uncast(inner);
                }
                let home = self.buffer(method, base).into_iter().find(|home| self.buffers.contains(home))?;
                Some(Stream::Buffer(home))
            }
        }
    }

    /// Whether a buffer is written to a connection, or read from one.
    pub(super) fn is_buffer_of_wire(&self, method: MethodId, buffer: ValueId) -> bool {
        self.buffer(method, buffer).iter().any(|home| self.buffers.contains(home))
    }

    /// What holds a buffer, or where it is made.
    fn buffer(&self, method: MethodId, value: ValueId) -> Vec<Home> {
        let Some(body) = &self.context.program.methods[method.index()].body else { return Vec::new() };
        let value = body.uncast(value);
        match body.op(value) {
            Op::Invoke { method: called, args, kind }
                if apis::is_buffer(&called.class) && *kind != InvokeKind::Static =>
            {
                args.first().map_or(Vec::new(), |&inner| self.buffer(method, inner))
            }
            Op::Invoke { .. } => {
                let calls = self.context.graph.calls(method).iter();
                let calls = calls.filter(|call| call.site == value && call.kind.is_local());
                let targets: Vec<MethodId> = calls.flat_map(|call| &call.targets).copied().collect();
                if targets.is_empty() {
                    return vec![Home::Made(method, value)];
                }
                let returned = |&target: &MethodId| {
                    let body = self.context.program.methods[target.index()].body.iter().flat_map(Body::iter);
                    let values = body.filter_map(|(_, inst)| match inst.op {
                        Op::Return(Some(value)) => Some(value),
                        _ => None,
                    });
                    values.map(move |value| (target, value)).collect::<Vec<_>>()
                };
                let returned = targets.iter().flat_map(returned);
                returned
                    .filter(|&(target, _)| target != method)
                    .flat_map(|(m, v)| self.made_buffer(m, v))
                    .collect()
            }
            Op::GetField(field, _) => vec![Home::Field(*field)],
            Op::Param(_) => self.homes.of(method, value).into_iter().map(|found| found.home).collect(),
            _ => Vec::new(),
        }
    }

    /// A buffer that a method gives back.
    fn made_buffer(&self, method: MethodId, value: ValueId) -> Vec<Home> {
        let Some(body) = &self.context.program.methods[method.index()].body else { return Vec::new() };
        let mut value = body.uncast(value);
        while let Op::Invoke { kind, method: called, args } = body.op(value) {
            if *kind == InvokeKind::Static || !apis::is_buffer(&called.class) || args.is_empty() {
                break;
            }
            value = body.uncast(args[0]);
        }
        match body.op(value) {
            Op::GetField(field, _) => vec![Home::Field(*field)],
            Op::Invoke { .. } => vec![Home::Made(method, value)],
            _ => Vec::new(),
        }
    }

    /// Whether a stream is made over a connection to another process.
    pub(super) fn is_wire(&self, method: MethodId, stream: ValueId) -> bool {
        let (mut todo, mut seen) = (vec![(method, stream)], FxHashSet::default());
        while let Some((method, value)) = todo.pop() {
            if seen.len() >= STREAM_STEPS_MAX {
                return false;
            }
            if seen.insert((method, value)) && self.step(method, value, &mut todo) {
                return true;
            }
        }
        false
    }

    fn step(&self, method: MethodId, value: ValueId, todo: &mut Vec<(MethodId, ValueId)>) -> bool {
        let m = &self.context.program.methods[method.index()];
        let Some(body) = &m.body else { return false };
        let of_type = |descriptor: &str| apis::is_connection(descriptor);
        match body.op(value) {
            Op::Cast(_, inner) => todo.push((method, *inner)),
            Op::Phi(operands) => todo.extend(operands.iter().map(|&(_, value)| (method, value))),
            Op::New(_) => todo.extend(constructed(body, value).into_iter().map(|value| (method, value))),
            Op::GetField(field, _) => {
                if of_type(&field.descriptor) {
                    return true;
                }
                todo.extend(self.homes.puts(*field).iter().copied());
            }
            Op::Param(i) => {
                let own = usize::from(!m.is_static());
                let parameters = crate::strings::types::parameters(&m.descriptor);
                let at = usize::from(*i).checked_sub(own);
                if at.and_then(|at| parameters.get(at).copied()).is_some_and(of_type) {
                    return true;
                }
                let callers = self.context.graph.callers[method.index()].iter();
                todo.extend(callers.filter_map(|&(caller, call)| {
                    let call = &self.context.graph.calls(caller)[call];
                    Some((caller, (*call.args.get(usize::from(*i))?)?))
                }));
            }
            Op::Invoke { method: called, args, .. } => {
                if apis::opens_wire(called) {
                    return true;
                }
                todo.extend(self.returned(method, value, args));
            }
            _ => {}
        }
        false
    }

    /// What a call gives back: what a method of the program returns, or what a library
    /// makes of what it is given.
    fn returned(&self, method: MethodId, site: ValueId, args: &[ValueId]) -> Vec<(MethodId, ValueId)> {
        let calls = self.context.graph.calls(method).iter();
        let calls = calls.filter(|call| call.site == site && call.kind.is_local());
        let targets: Vec<MethodId> = calls.flat_map(|call| &call.targets).copied().collect();
        if targets.is_empty() {
            return args.iter().map(|&arg| (method, arg)).collect();
        }
        let returns = |target: MethodId| {
            let body = self.context.program.methods[target.index()].body.iter().flat_map(Body::iter);
            let values = body.filter_map(|(_, inst)| match inst.op {
                Op::Return(Some(value)) => Some((target, value)),
                _ => None,
            });
            values.collect::<Vec<_>>()
        };
        targets.into_iter().flat_map(returns).collect()
    }
}

/// What tells streams of one method apart.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Stream {
    Path(AccessPath),
    Buffer(Home),
}

/// What the constructor of an object that is made here is given.
pub(super) fn constructed(body: &Body, made: ValueId) -> Vec<ValueId> {
    let given = body.iter().find_map(|(_, inst)| match &inst.op {
        Op::Invoke { kind: InvokeKind::Special, args, .. } if args.first() == Some(&made) => {
            Some(args[1..].to_vec())
        }
        _ => None,
    });
    given.unwrap_or_default()
}

/// Its type, where it is written or read, and the value.
type Field = (char, ValueId, ValueId);

/// The rows of `fields` that come one after the other whenever their last one does.
fn ways(body: &Body, fields: &[Field]) -> Vec<Vec<Field>> {
    let block = |field: &Field| body.inst(field.1).block;
    // For each: those that always come before it.
    let before: Vec<Vec<usize>> = (0..fields.len())
        .map(|at| {
            (0..at).filter(|&other| dominates(body, block(&fields[other]), block(&fields[at]))).collect()
        })
        .collect();
    let is_inner = |at: usize| before.iter().any(|before| before.contains(&at));
    let last = (0..fields.len()).filter(|&at| !is_inner(at));
    last.map(|at| before[at].iter().chain([&at]).map(|&at| fields[at]).collect()).collect()
}

/// Whether every way to one block leads through another one, which stands before it.
fn dominates(body: &Body, one: BlockId, other: BlockId) -> bool {
    if one == other {
        return true;
    }
    let mut seen = vec![false; body.blocks.len()];
    let entry = BlockId::new(0);
    let mut todo = vec![entry];
    seen[one.index()] = true;
    while let Some(at) = todo.pop() {
        if at == other {
            return false;
        }
        if at == one || (at == entry && one == entry) {
            continue;
        }
        let block = body.block(at);
        let next = block.successors.iter().copied().chain(block.handlers.iter().map(|h| h.block));
        todo.extend(next.filter(|to| !std::mem::replace(&mut seen[to.index()], true)));
    }
    true
}

/// The facts of records that are written and read in the same order: whoever reads takes
/// what was written in the same row, or, where nobody writes that, in the row that has most
/// in common with it.
pub(super) fn matched(records: Vec<Record>) -> Vec<(MethodId, Fact)> {
    let types = |role: Role| -> BTreeSet<&str> {
        records.iter().filter(|record| record.role == role).map(|record| &*record.types).collect()
    };
    let (written, read) = (types(Role::Send), types(Role::Receive));
    let mut pairs: BTreeSet<(&str, &str)> = BTreeSet::new();
    for &types in &written {
        pairs.extend(best(types, &read).into_iter().map(|read| (types, read)));
    }
    for &types in &read {
        pairs.extend(best(types, &written).into_iter().map(|written| (written, types)));
    }
    let mut facts = Vec::new();
    for record in &records {
        let own = |&&(written, read): &&(&str, &str)| match record.role {
            Role::Send => written == record.types,
            Role::Receive => read == record.types,
        };
        for &(written, read) in pairs.iter().filter(own) {
            let name = Name::from(&format!("{written} {read}"));
            let (offset, n) = overlap(written, read);
            let first = match record.role {
                Role::Send => offset.max(0),
                Role::Receive => (-offset).max(0),
            };
            let Some(&(site, _)) = record.sites.get(first as usize) else { continue };
            for at in 0..n {
                let Some(&(_, value)) = record.sites.get(first as usize + at) else { continue };
                let channel = Channel::Record(name, at as u16);
                facts.push((record.method, Fact::new(channel, record.role, site, Some(value))));
            }
        }
    }
    facts
}

/// Of rows of types, those that have most in common with one.
fn best<'t>(types: &str, others: &BTreeSet<&'t str>) -> Vec<&'t str> {
    if let Some(same) = others.get(types) {
        return vec![same];
    }
    let most = others.iter().map(|other| overlap(types, other).1).max().unwrap_or(0);
    let is_best = |other: &&&str| most > 0 && overlap(types, other).1 == most;
    others.iter().filter(is_best).copied().collect()
}

/// How two rows lie on each other if one begins or ends as the other one does: how many of
/// the first come before the second (negative: the other way around), and what they share.
fn overlap(one: &str, other: &str) -> (isize, usize) {
    if one.starts_with(other) || other.starts_with(one) {
        (0, one.len().min(other.len()))
    } else if one.ends_with(other) || other.ends_with(one) {
        (one.len() as isize - other.len() as isize, one.len().min(other.len()))
    } else {
        (0, 0)
    }
}

/// Fields that hold streams.
pub(super) fn holds_stream(field: &FieldRef) -> bool {
    let class = field.descriptor.strip_prefix('L').and_then(|class| class.strip_suffix(';'));
    class.is_some_and(apis::is_wire_class)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(role: Role, method: usize, types: &str) -> Record {
        let sites = (0..types.len()).map(|i| (ValueId::new(i), ValueId::new(i))).collect();
        Record { method: MethodId::new(method), role, types: types.to_owned(), sites }
    }

    /// (writer, its field, reader, its field)
    fn pairs(records: Vec<Record>) -> Vec<(usize, usize, usize, usize)> {
        let facts = matched(records);
        let field = |fact: &Fact| fact.value.expect("every field has one").index();
        let of = |role| facts.iter().filter(move |(_, fact)| fact.role == role);
        let mut pairs: Vec<_> = of(Role::Send)
            .flat_map(|(writer, sent)| {
                let reads = of(Role::Receive).filter(|(_, read)| read.channel == sent.channel);
                reads.map(|(reader, read)| (writer.index(), field(sent), reader.index(), field(read)))
            })
            .collect();
        pairs.sort_unstable();
        pairs
    }

    #[test]
    fn who_reads_the_same_row_takes_what_was_written() {
        let records = vec![
            record(Role::Send, 0, "IU"),
            record(Role::Send, 1, "JJ"),
            record(Role::Receive, 2, "IU"),
            record(Role::Receive, 3, "JJ"),
        ];
        assert_eq!(pairs(records), [(0, 0, 2, 0), (0, 1, 2, 1), (1, 0, 3, 0), (1, 1, 3, 1)]);
    }

    #[test]
    fn what_is_read_by_two_is_found_in_the_row_of_one() {
        // The kind of a request is read by who dispatches, the rest by the handler.
        let records =
            vec![record(Role::Send, 0, "BIU"), record(Role::Receive, 1, "B"), record(Role::Receive, 2, "IU")];
        assert_eq!(pairs(records), [(0, 0, 1, 0), (0, 1, 2, 0), (0, 2, 2, 1)]);
        assert!(pairs(vec![record(Role::Send, 0, "JU"), record(Role::Receive, 1, "IU")]).is_empty());
    }
}

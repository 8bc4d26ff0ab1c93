//! Service loops: loops whose rounds are requests, not steps of one.
//!
//! A loop serves if only flags end it: boolean fields, `isX()`, a test of what
//! it waited for against null or a sentinel. A loop that ends by what it computed (a counter, an
//! iterator, "that was the last packet") is a step of its method's request, but for a
//! thread that goes on when it has waited and nothing came: others give it its work; and but
//! for a loop each turn of which takes from a queue what others have put there, and hands
//! nothing on to the next turn. A
//! retry (`while (true) try { work(); break; }`) is no loop here: it goes round
//! through an exception handler only.

use rustc_hash::FxHashSet;

use super::{batches, connections};
use crate::call_graph::{Call, CallGraph, RootKind, apis};
use crate::ir::{BlockId, Body, Comparison, Op, ValueId};
use crate::order::components::components;
use crate::program::{MethodId, Program, access};

/// The service loops of one method.
#[derive(Clone, Debug, Default)]
pub(crate) struct ServiceLoops {
    /// Per block: whether it is in a service loop.
    blocks: Vec<bool>,
    /// Per block: whether it is in a loop inside of a service loop, or in a loop
    /// that does not serve.
    inner: Vec<bool>,
    /// The service loops: block in which a round begins, blocks.
    rounds: Vec<(u32, Vec<u32>)>,
    /// Service loops each turn of which takes several requests, which loops of `rounds` go over.
    around: Vec<(u32, Vec<u32>)>,
    /// There is a service loop.
    pub(crate) any: bool,
    /// Start-up runs it, and its rounds are requests for what they print.
    pub(super) is_of_start_up: bool,
    /// Start-up runs it, whatever ends it, and what identifies its turns is lost between them:
    /// each is one request, whatever its steps lose.
    pub(super) turns_are_requests: bool,
}

impl ServiceLoops {
    /// The service loops of `method`.
    pub(crate) fn of(program: &Program, graph: &CallGraph, method: MethodId) -> Self {
        let Some(body) = &program.methods[method.index()].body else { return Self::default() };
        let mut successors = successors(body);
        let n = body.blocks.len();
        let mut loops = Self {
            blocks: vec![false; n],
            inner: vec![false; n],
            rounds: Vec::new(),
            around: Vec::new(),
            any: false,
            is_of_start_up: false,
            turns_are_requests: false,
        };
        let frame = Frame { program, graph, method, body };
        let elements = batches::elements(body);
        let mut todo = cycles(&successors);
        while let Some(members) = todo.pop() {
            let serves = is_endless(&frame, &members, &successors)
                || is_idle(&frame, &members)
                || works_off(&frame, &members, &successors);
            let of_each =
                if serves { over_taken((body, &elements), &members, &successors) } else { Vec::new() };
            if !of_each.is_empty() {
                loops.around.push((members[0], members));
                for members in of_each {
                    members.iter().for_each(|&b| loops.blocks[b as usize] = true);
                    loops.rounds.push((members[0], members));
                }
            } else if serves && has_work(body, &members) {
                members.iter().for_each(|&b| loops.blocks[b as usize] = true);
                loops.rounds.push((members[0], members));
            } else {
                // What tries again, when a service has failed, stands around its loop.
                todo.extend(cycles(&one_turn(&members, &successors)));
            }
        }
        loops.rounds.sort_unstable();
        loops.any = !loops.rounds.is_empty();
        loops.find_inner(&mut successors);
        loops
    }

    /// Adds loops whose turns are requests for another reason than what ends them: `found`, the
    /// blocks of each, sorted.
    pub(super) fn add_rounds(&mut self, body: &Body, found: Vec<Vec<u32>>) {
        if found.is_empty() {
            return;
        }
        for members in found {
            members.iter().for_each(|&b| self.blocks[b as usize] = true);
            self.rounds.push((members[0], members));
        }
        self.rounds.sort_unstable();
        self.any = true;
        self.is_of_start_up = true;
        self.find_inner(&mut successors(body));
    }

    /// Whether start-up runs it, and its rounds are requests for what they print.
    pub(crate) fn is_of_start_up(&self) -> bool {
        self.is_of_start_up
    }

    /// Whether a block is in a service loop.
    pub(super) fn has_block(&self, block: u32) -> bool {
        self.blocks.get(block as usize).copied().unwrap_or(false)
    }

    /// Finds what goes round within a round, and outside of all.
    fn find_inner(&mut self, successors: &mut [Vec<u32>]) {
        // Without the edges back to its header a service loop is one round, and what stands
        // around it goes round without it.
        for (header, members) in self.rounds.iter().chain(&self.around) {
            for &b in members {
                successors[b as usize].retain(|s| s != header && members.binary_search(s).is_ok());
            }
        }
        self.inner.fill(false);
        for members in &components(successors).members {
            if is_loop(members, successors) {
                members.iter().for_each(|&b| self.inner[b as usize] = true);
            }
        }
    }

    /// Whether an instruction stands in a service loop.
    pub(crate) fn contains(&self, body: &Body, value: ValueId) -> bool {
        self.blocks.get(body.inst(value).block.index()).copied().unwrap_or(false)
    }

    /// Whether the step from block `from` to block `to` ends a round.
    pub(crate) fn ends_round(&self, from: BlockId, to: BlockId) -> bool {
        let is = |block: BlockId, at: u32| block.index() == at as usize;
        let ends = |(first, blocks): &(u32, Vec<u32>)| is(to, *first) && blocks.iter().any(|&b| is(from, b));
        self.rounds.iter().chain(&self.around).any(ends) || self.is_left(from, to)
    }

    /// Whether the step from block `from` to block `to` leads out of a loop over several requests,
    /// to what is of none of them.
    fn is_left(&self, from: BlockId, to: BlockId) -> bool {
        let has = |blocks: &[u32], block: BlockId| blocks.binary_search(&(block.index() as u32)).is_ok();
        let is_around = |block: BlockId| self.around.iter().any(|(_, blocks)| has(blocks, block));
        is_around(from) && self.rounds.iter().any(|(_, blocks)| has(blocks, from) && !has(blocks, to))
    }

    /// Whether the step from block `from` to block `to` leads from what is around several requests
    /// to the first of them: it goes on behind the last one.
    pub(crate) fn passes_by(&self, from: BlockId, to: BlockId) -> bool {
        let is_around = |block: BlockId| {
            self.around.iter().any(|(_, b)| b.binary_search(&(block.index() as u32)).is_ok())
        };
        is_around(from) && self.enters_round(from, to)
    }

    /// Whether the step from block `from` to block `to` leads into the first round, or into the
    /// next one after what went wrong in one was handled.
    pub(crate) fn enters_round(&self, from: BlockId, to: BlockId) -> bool {
        let is_outside = |blocks: &[u32]| blocks.binary_search(&(from.index() as u32)).is_err();
        self.rounds.iter().any(|(first, blocks)| to.index() == *first as usize && is_outside(blocks))
    }

    /// Per block: whether it is in a service loop, or handles an exception of a round and goes
    /// on with the next one.
    pub(crate) fn turning(&self, body: &Body) -> Vec<bool> {
        let n = body.blocks.len();
        let mut edges: Vec<Vec<u32>> = vec![Vec::new(); n];
        for (block, edges) in body.blocks.iter().zip(&mut edges) {
            let handlers = block.handlers.iter().map(|handler| handler.block);
            edges.extend(block.successors.iter().copied().chain(handlers).map(|to| to.index() as u32));
        }
        let mut turning = self.blocks.clone();
        turning.resize(n, false);
        for members in components(&edges).members {
            if members.iter().any(|&block| turning[block as usize]) {
                members.iter().for_each(|&block| turning[block as usize] = true);
            }
        }
        turning
    }

    /// Whether `block` begins a round.
    pub(crate) fn begins_round(&self, block: BlockId) -> bool {
        self.rounds.iter().any(|(first, _)| block.index() == *first as usize)
    }

    /// Whether an instruction can run several times in one round.
    pub(crate) fn repeats(&self, body: &Body, value: ValueId) -> bool {
        self.inner.get(body.inst(value).block.index()).copied().unwrap_or(true)
    }

    /// Whether `call` is given what a service loop has waited for: it is a round, not a step
    /// of something longer.
    pub(crate) fn gives_taken(&self, program: &Program, caller: MethodId, call: &Call) -> bool {
        let Some(body) = &program.methods[caller.index()].body else { return false };
        let is_taken = |v: &ValueId| is_blocking(body.op(body.uncast(*v)));
        self.contains(body, call.site) && call.args.iter().flatten().any(is_taken)
    }
}

/// The loops of a body that stand in no other loop: the blocks of each, sorted.
pub(super) fn outer_loops(body: &Body) -> Vec<Vec<u32>> {
    cycles(&successors(body))
}

/// Per block of a body: what follows, but for handlers of exceptions.
fn successors(body: &Body) -> Vec<Vec<u32>> {
    body.blocks.iter().map(|b| b.successors.iter().map(|s| s.index() as u32).collect()).collect()
}

/// The loops of a graph that stand in no other loop.
fn cycles(successors: &[Vec<u32>]) -> Vec<Vec<u32>> {
    let mut found = components(successors).members;
    found.retain(|members| is_loop(members, successors));
    found
}

/// What a loop goes through in one turn.
fn one_turn(members: &[u32], successors: &[Vec<u32>]) -> Vec<Vec<u32>> {
    let header = members[0];
    let mut turn = vec![Vec::new(); successors.len()];
    for &b in members {
        let within = successors[b as usize].iter().copied();
        turn[b as usize].extend(within.filter(|s| *s != header && members.binary_search(s).is_ok()));
    }
    turn
}

fn is_loop(members: &[u32], successors: &[Vec<u32>]) -> bool {
    members.len() > 1 || successors[members[0] as usize].contains(&members[0])
}

/// No branch that leaves the loop looks at anything but flags.
fn is_endless(frame: &Frame<'_>, members: &[u32], successors: &[Vec<u32>]) -> bool {
    let body = frame.body;
    members.iter().all(|&b| {
        // A branch to a throw ends nothing in the normal course.
        let leaves =
            successors[b as usize].iter().any(|s| members.binary_search(s).is_err() && !throws(body, *s));
        let Some(&last) = body.blocks[b as usize].insts.last() else { return true };
        match body.op(last) {
            Op::If(comparison, a, other) if leaves => is_flag_test(frame, members, *comparison, (*a, *other)),
            _ => true,
        }
    })
}

/// Whether a thread waits in its loop for what others put somewhere, and just goes on if
/// there was nothing: it serves, whatever makes it stop in the end.
fn is_idle(frame: &Frame<'_>, members: &[u32]) -> bool {
    let Frame { graph, method, body, .. } = *frame;
    let is_thread = graph.root(method).is_some_and(|root| root.kind == RootKind::Thread);
    let is_in = |block: BlockId| members.binary_search(&(block.index() as u32)).is_ok();
    is_thread
        && members.iter().any(|&b| {
            let block = &body.blocks[b as usize];
            let Some(&Op::If(Comparison::Eq | Comparison::Ne, value, None)) =
                block.insts.last().map(|&last| body.op(last))
            else {
                return false;
            };
            let taken = body.uncast(value);
            let is_object =
                matches!(body.op(taken), Op::Invoke { method, .. } if method.descriptor.ends_with(';'));
            is_object
                && is_in(body.inst(taken).block)
                && block.successors.iter().all(|&next| is_in(next))
                && waits_at(frame, taken)
        })
}

/// Whether each turn takes from a queue what others have put there, and hands nothing on to the
/// next one: the turns have to do with each other as little as those who asked for them,
/// whatever ends the loop but what was taken.
fn works_off(frame: &Frame<'_>, members: &[u32], successors: &[Vec<u32>]) -> bool {
    let body = frame.body;
    let is_in = |value: ValueId| members.binary_search(&(body.inst(value).block.index() as u32)).is_ok();
    let insts = || members.iter().flat_map(|&b| &body.blocks[b as usize].insts).copied();
    let takes = |value: ValueId| match body.op(value) {
        op @ Op::Invoke { method, args, .. } if is_take(op) && apis::is_shared_queue(method) => {
            args.first().is_some_and(|&queue| outlasts_rounds(body, members, queue))
        }
        _ => false,
    };
    let uses = |op: &Op, used: ValueId| {
        let mut is_used = false;
        op.for_each_operand(|of| is_used |= of == used);
        is_used
    };
    let carries = |value: ValueId| match body.op(value) {
        Op::Phi(operands) => {
            operands.iter().any(|&(_, of)| is_in(of))
                && operands.iter().any(|&(_, of)| !is_in(of))
                && insts().map(|at| body.op(at)).any(|op| !matches!(op, Op::Phi(_)) && uses(op, value))
        }
        _ => false,
    };
    insts().any(takes)
        && !insts().any(carries)
        && members.iter().all(|&b| {
            let leaves = successors[b as usize].iter().any(|s| members.binary_search(s).is_err());
            let last = body.blocks[b as usize].insts.last().map(|&last| body.op(last));
            match last {
                Some(Op::If(comparison, one, other)) if leaves => {
                    is_flag_test(frame, members, *comparison, (*one, *other))
                        || !depends_on(body, [Some(*one), *other], is_in, takes)
                }
                _ => true,
            }
        })
}

/// Whether one of `values` is made, within what `is_in`, of what `is_it`.
fn depends_on(
    body: &Body,
    values: [Option<ValueId>; 2],
    is_in: impl Fn(ValueId) -> bool,
    is_it: impl Fn(ValueId) -> bool,
) -> bool {
    let mut todo: Vec<ValueId> = values.into_iter().flatten().collect();
    let mut seen = FxHashSet::default();
    while let Some(value) = todo.pop() {
        if is_in(value) && seen.insert(value) {
            if is_it(value) {
                return true;
            }
            body.op(value).for_each_operand(|of| todo.push(of));
        }
    }
    false
}

/// The loops in a turn of `members` that go over what the turn has taken for several: each of
/// that is a request.
fn over_taken(
    (body, elements): (&Body, &[(ValueId, ValueId)]),
    members: &[u32],
    successors: &[Vec<u32>],
) -> Vec<Vec<u32>> {
    let has =
        |blocks: &[u32], at: ValueId| blocks.binary_search(&(body.inst(at).block.index() as u32)).is_ok();
    let own: Vec<ValueId> =
        elements.iter().filter(|(_, taken)| has(members, *taken)).map(|&(next, _)| next).collect();
    if own.is_empty() {
        return Vec::new();
    }
    let goes_over = |inner: &Vec<u32>| own.iter().any(|&next| has(inner, next));
    cycles(&one_turn(members, successors)).into_iter().filter(goes_over).collect()
}

fn throws(body: &Body, block: u32) -> bool {
    let last = body.blocks[block as usize].insts.last();
    last.is_some_and(|&v| matches!(body.op(v), Op::Throw(_)))
}

/// A test of a flag: a field against a constant, `isX()`, what was taken
/// against `null` or a sentinel.
fn is_flag_test(
    frame: &Frame<'_>,
    members: &[u32],
    comparison: Comparison,
    (a, other): (ValueId, Option<ValueId>),
) -> bool {
    let body = frame.body;
    let is_equality = matches!(comparison, Comparison::Eq | Comparison::Ne);
    let is_sentinel = |v: ValueId| matches!(body.op(v), Op::GetField(_, None) | Op::Const(_));
    if other.is_some_and(|o| !is_sentinel(o) && !is_sentinel(a)) {
        return false;
    }
    let tested = if is_sentinel(a) { other.unwrap_or(a) } else { a };
    let tested = body.uncast(tested);
    match body.op(tested) {
        Op::GetField(_, holder) => holder.is_none_or(|h| outlasts_rounds(body, members, h)),
        Op::Const(_) => true,
        Op::Invoke { method, args, .. } => {
            let descriptor = method.descriptor.as_str();
            if descriptor.ends_with(")Z") {
                let asks_time = descriptor == "(J)Z" && waits_in(frame, members);
                let holders = if asks_time { &args[..1.min(args.len())] } else { &args[..] };
                let is_flag = (descriptor == "()Z" || asks_time || is_accessor(frame, tested))
                    && !is_step(method.name.as_str())
                    && holders.iter().all(|&holder| outlasts_rounds(body, members, holder));
                is_flag || args.iter().skip(1).any(|&a| was_taken(frame, members, a, TAKEN_DEPTH_MAX))
            } else {
                // What others set: `while (next.get() == null)`; `while ((x = take()) != null)`.
                let is_set = method.class == "java/util/concurrent/atomic/AtomicReference"
                    && method.name == "get"
                    && args.iter().all(|&holder| outlasts_rounds(body, members, holder));
                is_equality && (is_set || descriptor.ends_with(';') && asks_for_more(frame, tested))
            }
        }
        // `for (x = take(); x != null; x = take())`
        Op::Phi(operands) => {
            let is_asked = |&(_, of): &(BlockId, ValueId)| {
                let of = body.uncast(of);
                matches!(body.op(of), Op::Invoke { method, .. } if method.descriptor.ends_with(';'))
                    && asks_for_more(frame, of)
            };
            is_equality && operands.iter().all(is_asked)
        }
        _ => false,
    }
}

/// Whether a call waits for what others give it to do: in a queue, or over a connection.
fn asks_for_more(frame: &Frame<'_>, site: ValueId) -> bool {
    waits_at(frame, site) || connections::is_read(frame.program, frame.body, site)
}

/// Instructions of a method that waits for others.
const HELPER_INSTS_MAX: usize = 200;

/// Phis and casts between a take and the work on what was taken.
const TAKEN_DEPTH_MAX: usize = 4;

/// Whether a value was taken from a queue in this round: a loop that waits there
/// for work, and asks the work whether to go on, serves. What a small method takes
/// and gives back was taken.
fn was_taken(frame: &Frame<'_>, members: &[u32], value: ValueId, depth: usize) -> bool {
    let body = frame.body;
    let in_loop = members.binary_search(&(body.inst(value).block.index() as u32)).is_ok();
    match body.op(value) {
        Op::Cast(_, of) => depth > 0 && was_taken(frame, members, *of, depth - 1),
        Op::Phi(operands) => {
            depth > 0
                && operands.iter().any(|&(_, of)| of != value && was_taken(frame, members, of, depth - 1))
        }
        op if in_loop && is_blocking(op) && is_take(op) => true,
        Op::Invoke { method, .. } if in_loop && method.descriptor.ends_with(';') => {
            let targets = frame.graph.local_edges(frame.method).filter(|(call, _)| call.site == value);
            targets.into_iter().any(|(_, target)| gives_taken(frame.program, target))
        }
        _ => false,
    }
}

/// Whether a small method gives back what it takes from a queue.
fn gives_taken(program: &Program, method: MethodId) -> bool {
    let Some(body) = &program.methods[method.index()].body else { return false };
    let takes = |value: ValueId| is_blocking(body.op(value)) && is_take(body.op(value));
    let is_given = |value: ValueId| {
        let mut todo = vec![(value, TAKEN_DEPTH_MAX)];
        while let Some((at, depth)) = todo.pop() {
            match body.op(at) {
                Op::Cast(_, of) if depth > 0 => todo.push((*of, depth - 1)),
                Op::Phi(operands) if depth > 0 => {
                    todo.extend(operands.iter().filter(|(_, of)| *of != at).map(|&(_, of)| (of, depth - 1)));
                }
                _ if takes(at) => return true,
                _ => {}
            }
        }
        false
    };
    body.insts.len() <= HELPER_INSTS_MAX
        && body.iter().any(|(_, inst)| matches!(inst.op, Op::Return(Some(value)) if is_given(value)))
}

/// Whether an instruction takes something from a collection.
pub(crate) fn is_take(op: &Op) -> bool {
    matches!(op, Op::Invoke { method, .. }
        if matches!(method.name.as_str(), "take" | "poll" | "remove" | "removeFirst"))
}

/// Whether a method of this name takes something, by what callers expect of it.
fn is_step(name: &str) -> bool {
    let steps = ["has", "next", "more", "advance", "read", "try", "add", "remove", "poll", "take", "recv"];
    steps.iter().any(|s| name.starts_with(s))
}

/// Whether an object is the same in all rounds. A flag of what a round took
/// ("this was the last one") is the end of something, not of the service.
fn outlasts_rounds(body: &Body, members: &[u32], object: ValueId) -> bool {
    let mut at = object;
    loop {
        let in_loop = members.binary_search(&(body.inst(at).block.index() as u32)).is_ok();
        match body.op(at) {
            Op::GetField(_, Some(holder)) | Op::Cast(_, holder) => at = *holder,
            Op::Invoke { method, args, .. } if in_loop => match args[..] {
                [] => return true,
                [holder] if !is_step(method.name.as_str()) => at = holder,
                _ => return false,
            },
            Op::Phi(_) | Op::New(_) | Op::ArrayLoad(..) | Op::InvokeDynamic { .. } => return !in_loop,
            _ => return true,
        }
    }
}

/// One method's code in its program.
struct Frame<'a> {
    program: &'a Program,
    graph: &'a CallGraph,
    method: MethodId,
    body: &'a Body,
}

/// Whether a call is one of an accessor that javac made for a private field of a
/// surrounding class: it reads the flag of its only argument.
fn is_accessor(frame: &Frame<'_>, site: ValueId) -> bool {
    let edges = frame.graph.local_edges(frame.method).filter(|(call, _)| call.site == site);
    let methods = edges.map(|(_, target)| &frame.program.methods[target.index()]);
    let wanted = access::STATIC | access::SYNTHETIC;
    let mut found = methods.map(|m| m.access & wanted == wanted && m.descriptor.as_str().starts_with("(L"));
    found.next() == Some(true) && matches!(frame.body.op(site), Op::Invoke { args, .. } if args.len() == 1)
}

fn waits_at(frame: &Frame<'_>, site: ValueId) -> bool {
    is_blocking(frame.body.op(site))
        || frame
            .graph
            .local_edges(frame.method)
            .any(|(c, t)| c.site == site && waits(frame.program, frame.graph, t, 2))
}

/// Whether a round waits for work: then a question that takes a time only
/// (`keepAlive(lastUsed)`) asks how long nothing came, as a worker of a pool does
/// that ends when it is idle.
fn waits_in(frame: &Frame<'_>, members: &[u32]) -> bool {
    let insts = members.iter().flat_map(|&b| &frame.body.blocks[b as usize].insts);
    insts.copied().any(|site| matches!(frame.body.op(site), Op::Invoke { .. }) && waits_at(frame, site))
}

/// Whether a method is one that waits for work: small, and it, or what it calls,
/// blocks.
pub(crate) fn waits(program: &Program, graph: &CallGraph, method: MethodId, depth: usize) -> bool {
    let Some(body) = &program.methods[method.index()].body else { return false };
    body.insts.len() <= HELPER_INSTS_MAX
        && (body.iter().any(|(_, inst)| is_blocking(&inst.op))
            || depth > 0 && graph.local_edges(method).any(|(_, t)| waits(program, graph, t, depth - 1)))
}

fn is_blocking(op: &Op) -> bool {
    matches!(op, Op::Invoke { method, .. } if apis::gives_work(method))
}

/// An endless loop of a few instructions without calls is a spin, not a server.
fn has_work(body: &Body, members: &[u32]) -> bool {
    let insts = members.iter().flat_map(|&b| &body.blocks[b as usize].insts);
    insts.filter(|&&v| matches!(body.op(v), Op::Invoke { .. })).count() >= 2
}

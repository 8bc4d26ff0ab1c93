//! Symbolic execution of each block: locals and stack slots hold values, not
//! places. Blocks come in reverse postorder, so that at least one predecessor
//! of each is done; where another is not (a loop), every slot gets a phi that
//! [`super::phis`] fills and mostly removes again.
//!
//! A `long` or `double` takes two slots, the second of which holds [`FILLER`];
//! thus `dup2` and the like need no types.

use super::graph::Graph;
use super::{Bootstraps, Budget, groovy, parameter_widths, result_width};
use crate::ir::{Arithmetic, BlockId, Bootstrap, Const, InvokeKind, Op, ValueId};
use crate::program::load::raw::{RawCode, RawOp, StackOp};
use crate::program::{FieldRef, MethodRef, Name};

/// No value: not assigned on all ways here.
pub(super) const UNDEFINED: u32 = u32::MAX;
/// Second slot of a `long` or `double`.
const FILLER: u32 = u32::MAX - 1;

/// An instruction; operands that are [`UNDEFINED`] or fillers do not occur but
/// in phis.
pub(super) struct Draft {
    pub(super) op: Op,
    pub(super) block: u32,
    pub(super) line: u32,
    pub(super) pc: u32,
}

/// Instructions of all blocks, not numbered for good yet.
pub(super) struct Drafts {
    pub(super) insts: Vec<Draft>,
    /// Phis of each block, then its other instructions.
    pub(super) phis: Vec<Vec<u32>>,
    pub(super) blocks: Vec<std::ops::Range<usize>>,
}

/// Slots at a block's start and end: locals, then the stack.
#[derive(Default)]
struct State {
    start: Vec<u32>,
    end: Vec<u32>,
    done: bool,
}

struct Translator<'a> {
    code: &'a RawCode,
    bootstraps: &'a Bootstraps,
    n_locals: usize,
    out: Drafts,
    slots: Vec<u32>,
    block: u32,
    pc: u32,
    line: u32,
    lines: Vec<(u32, u32)>,
}

/// Executes all blocks.
pub(super) fn translate(
    code: &RawCode,
    graph: &Graph,
    widths: &[bool],
    is_static: bool,
    bootstraps: &Bootstraps,
    budget: &mut Budget,
) -> Result<Drafts, String> {
    let mut lines = code.lines.clone();
    lines.sort_by_key(|&(pc, _)| pc);
    let n_blocks = graph.nodes.len();
    let mut t = Translator {
        code,
        bootstraps,
        n_locals: n_locals(code, widths, is_static)?,
        out: Drafts {
            insts: Vec::with_capacity(code.insts.len()),
            phis: vec![Vec::new(); n_blocks],
            blocks: Vec::new(),
        },
        slots: Vec::new(),
        block: 0,
        pc: 0,
        line: 0,
        lines,
    };
    let mut states: Vec<State> = Vec::new();
    states.resize_with(n_blocks, State::default);
    for id in 0..n_blocks {
        t.block = id as u32;
        t.at(graph.nodes[id].pc);
        t.enter(graph, &states, id, budget)?;
        let start = t.out.insts.len();
        if id == 0 {
            t.parameters(widths, is_static);
        }
        if !graph.nodes[id].handlers.is_empty() {
            states[id].start.clone_from(&t.slots);
        }
        t.run(graph, id)?;
        t.out.blocks.push(start..t.out.insts.len());
        states[id].end = std::mem::take(&mut t.slots);
        states[id].done = true;
    }
    t.close_loops(graph, &states, budget)?;
    Ok(t.out)
}

/// Locals that matter: parameters and those that instructions name.
fn n_locals(code: &RawCode, widths: &[bool], is_static: bool) -> Result<usize, String> {
    let parameters = usize::from(!is_static) + widths.iter().map(|&w| 1 + usize::from(w)).sum::<usize>();
    let mut n = parameters;
    for (_, op) in &code.insts {
        let end = match *op {
            RawOp::Load { local, wide } | RawOp::Store { local, wide } => {
                usize::from(local) + 1 + usize::from(wide)
            }
            RawOp::Increment { local, .. } | RawOp::Ret(local) => usize::from(local) + 1,
            _ => 0,
        };
        n = n.max(end);
    }
    if n > usize::from(code.max_locals) {
        return Err(format!("{n} locals used, {} declared", code.max_locals));
    }
    Ok(n)
}

impl Translator<'_> {
    fn at(&mut self, pc: u32) {
        self.pc = pc;
        let after = self.lines.partition_point(|&(start, _)| start <= pc);
        self.line = after.checked_sub(1).map_or(0, |i| self.lines[i].1);
    }

    /// Appends an instruction to the block.
    fn emit(&mut self, op: Op) -> u32 {
        let id = self.out.insts.len() as u32;
        self.out.insts.push(Draft { op, block: self.block, line: self.line, pc: self.pc });
        id
    }

    /// Sets the slots at the start of a block from its predecessors.
    fn enter(
        &mut self,
        graph: &Graph,
        states: &[State],
        id: usize,
        budget: &mut Budget,
    ) -> Result<(), String> {
        let node = &graph.nodes[id];
        let n_locals = self.n_locals;
        if id == 0 {
            self.slots = vec![UNDEFINED; n_locals];
            return Ok(());
        }
        let sources: Vec<(u32, Option<&[u32]>)> = node
            .predecessors
            .iter()
            .map(|&(p, exceptional)| {
                let state = &states[p as usize];
                let slots = match exceptional {
                    _ if !state.done => None,
                    true => Some(&state.start[..n_locals]),
                    false => Some(&state.end[..]),
                };
                (p, slots)
            })
            .collect();
        let done: Vec<(u32, &[u32])> = sources.iter().filter_map(|&(p, s)| Some((p, s?))).collect();
        let &(_, first) = done.first().ok_or("block without a way to it")?;
        if done.iter().any(|(_, slots)| slots.len() != first.len()) {
            return Err(format!("stack depths differ at offset {}", node.pc));
        }
        let is_loop = done.len() < sources.len();
        budget.spend(first.len() * sources.len())?;
        let mut slots = Vec::with_capacity(first.len() + 1);
        for (i, &value) in first.iter().enumerate() {
            let value = if !is_loop && done.iter().all(|(_, s)| s[i] == value) {
                value
            } else if done.iter().any(|(_, s)| s[i] == UNDEFINED) {
                UNDEFINED
            } else if done.iter().any(|(_, s)| s[i] == FILLER) {
                if done.iter().all(|(_, s)| s[i] == FILLER) { FILLER } else { UNDEFINED }
            } else {
                let operands =
                    done.iter().map(|&(p, s)| (BlockId::new(p as usize), ValueId::new(s[i] as usize)));
                let phi = self.emit_phi(id, operands.collect());
                if is_loop {
                    // The slot, for `close_loops`.
                    self.out.insts[phi as usize].line = i as u32;
                }
                phi
            };
            slots.push(value);
        }
        self.slots = slots;
        if let Some(classes) = &node.caught {
            // The operand stack of a handler holds the exception alone.
            let caught = self.emit_caught(classes.clone());
            self.push(caught, false)?;
        }
        Ok(())
    }

    fn emit_phi(&mut self, block: usize, operands: Vec<(BlockId, ValueId)>) -> u32 {
        let phi = self.emit(Op::Phi(operands));
        self.out.phis[block].push(phi);
        phi
    }

    fn emit_caught(&mut self, classes: Vec<Name>) -> u32 {
        let caught = self.emit(Op::Caught(classes));
        self.out.phis[self.block as usize].push(caught);
        caught
    }

    /// Adds the operands of loop phis that were not known at first.
    fn close_loops(&mut self, graph: &Graph, states: &[State], budget: &mut Budget) -> Result<(), String> {
        for (id, node) in graph.nodes.iter().enumerate() {
            if node.predecessors.iter().all(|&(p, _)| (p as usize) < id) {
                continue;
            }
            let late = node.predecessors.iter().filter(|&&(p, _)| p as usize >= id);
            for &(p, exceptional) in late {
                let state = &states[p as usize];
                let slots = if exceptional { &state.start[..self.n_locals] } else { &state.end[..] };
                budget.spend(self.out.phis[id].len())?;
                let entry_depth = self.depth_at(graph, states, id);
                if slots.len() != entry_depth {
                    return Err(format!("stack depths differ at offset {}", node.pc));
                }
                for i in 0..self.out.phis[id].len() {
                    let phi = &mut self.out.insts[self.out.phis[id][i] as usize];
                    let slot = phi.line as usize;
                    if let Op::Phi(operands) = &mut phi.op {
                        let value = if slots[slot] == FILLER { UNDEFINED } else { slots[slot] };
                        operands.push((BlockId::new(p as usize), ValueId::new(value as usize)));
                    }
                }
            }
        }
        Ok(())
    }

    /// Slots at the start of a block, without a caught exception.
    fn depth_at(&self, graph: &Graph, states: &[State], id: usize) -> usize {
        let node = &graph.nodes[id];
        if node.caught.is_some() {
            return self.n_locals;
        }
        let first = node.predecessors.first().map_or(0, |p| p.0 as usize);
        states[first].end.len()
    }

    fn parameters(&mut self, widths: &[bool], is_static: bool) {
        let this = (!is_static).then_some(false);
        let mut slot = 0;
        for (i, wide) in this.into_iter().chain(widths.iter().copied()).enumerate() {
            self.slots[slot] = self.emit(Op::Param(i as u16));
            slot += 1;
            if wide {
                self.slots[slot] = FILLER;
                slot += 1;
            }
        }
    }

    fn push(&mut self, value: u32, wide: bool) -> Result<(), String> {
        self.slots.push(value);
        if wide {
            self.slots.push(FILLER);
        }
        if self.slots.len() - self.n_locals > usize::from(self.code.max_stack) {
            return Err(format!("stack overflow at offset {}", self.pc));
        }
        Ok(())
    }

    fn pop_slot(&mut self) -> Result<u32, String> {
        if self.slots.len() <= self.n_locals {
            return Err(format!("stack underflow at offset {}", self.pc));
        }
        Ok(self.slots.pop().expect("more slots than locals"))
    }

    fn pop(&mut self, wide: bool) -> Result<ValueId, String> {
        if wide && self.pop_slot()? != FILLER {
            return Err(format!("no `long` or `double` on the stack at offset {}", self.pc));
        }
        match self.pop_slot()? {
            FILLER | UNDEFINED => Err(format!("no value on the stack at offset {}", self.pc)),
            value => Ok(ValueId::new(value as usize)),
        }
    }

    fn run(&mut self, graph: &Graph, id: usize) -> Result<(), String> {
        let node = &graph.nodes[id];
        let code = self.code;
        for (pc, op) in &code.insts[node.first..node.end] {
            self.at(*pc);
            self.step(op)?;
        }
        let ended = self.out.insts.last().is_some_and(|i| i.block == self.block && i.op.is_terminator());
        if !ended {
            self.emit(Op::Goto);
        }
        Ok(())
    }

    fn load(&self, local: u16) -> Result<u32, String> {
        match self.slots[usize::from(local)] {
            FILLER | UNDEFINED => Err(format!("local {local} is not assigned at offset {}", self.pc)),
            value => Ok(value),
        }
    }

    fn step(&mut self, op: &RawOp) -> Result<(), String> {
        match op {
            RawOp::Nop | RawOp::Goto(_) | RawOp::Ret(_) => {}
            RawOp::Jsr(_) => {
                // The return address: nothing can be done with it but `ret`.
                let address = self.emit(Op::Const(Const::Other));
                self.push(address, false)?;
            }
            RawOp::Const { value, wide } => {
                let value = self.emit(Op::Const(*value));
                self.push(value, *wide)?;
            }
            RawOp::Load { local, wide } => {
                let value = self.load(*local)?;
                self.push(value, *wide)?;
            }
            RawOp::Store { local, wide } => {
                let value = self.pop(*wide)?.index() as u32;
                let local = usize::from(*local);
                self.slots[local] = value;
                if *wide {
                    self.slots[local + 1] = FILLER;
                }
            }
            RawOp::Increment { local, by } => {
                let old = ValueId::new(self.load(*local)? as usize);
                let by = self.emit(Op::Const(Const::Int((*by).into())));
                let sum = Op::Binary(Arithmetic::Add, old, ValueId::new(by as usize));
                self.slots[usize::from(*local)] = self.emit(sum);
            }
            RawOp::Stack(op) => self.shuffle(*op)?,
            RawOp::If { comparison, operands, .. } => {
                let right = if *operands == 2 { Some(self.pop(false)?) } else { None };
                let left = self.pop(false)?;
                self.emit(Op::If(*comparison, left, right));
            }
            RawOp::Switch { cases, .. } => {
                let value = self.pop(false)?;
                self.emit(Op::Switch(value, cases.iter().map(|c| c.0).collect()));
            }
            RawOp::Return(wide) => {
                let value = wide.map(|wide| self.pop(wide)).transpose()?;
                self.emit(Op::Return(value));
            }
            RawOp::Throw => {
                let value = self.pop(false)?;
                self.emit(Op::Throw(value));
            }
            _ => self.compute(op)?,
        }
        Ok(())
    }

    /// Instructions that take values off the stack and put a result on it.
    fn compute(&mut self, op: &RawOp) -> Result<(), String> {
        let (made, wide) = match op {
            RawOp::ArrayLoad { wide } => {
                let (index, array) = (self.pop(false)?, self.pop(false)?);
                (Op::ArrayLoad(array, index), *wide)
            }
            RawOp::ArrayStore { wide } => {
                let (value, index, array) = (self.pop(*wide)?, self.pop(false)?, self.pop(false)?);
                self.emit(Op::ArrayStore(array, index, value));
                return Ok(());
            }
            RawOp::Binary { kind, left, right, wide, .. } => {
                let (b, a) = (self.pop(*right)?, self.pop(*left)?);
                (Op::Binary(*kind, a, b), *wide)
            }
            RawOp::Negate { wide } => (Op::Negate(self.pop(*wide)?), *wide),
            RawOp::Convert { from, to } => {
                let to_name = Name::from(to.encode_utf8(&mut [0; 4]));
                (Op::Convert(to_name, self.pop(*from)?), matches!(to, 'J' | 'D'))
            }
            RawOp::Field { is_static, put, field } => return self.field(*is_static, *put, field),
            RawOp::Invoke { kind, method } => return self.invoke(*kind, method),
            RawOp::InvokeDynamic { bootstrap, name, descriptor } => {
                return self.invoke_dynamic(*bootstrap, *name, *descriptor);
            }
            RawOp::New(class) => (Op::New(*class), false),
            RawOp::NewArray(element, dimensions) => {
                for _ in 1..*dimensions {
                    self.pop(false)?;
                }
                (Op::NewArray(*element, self.pop(false)?), false)
            }
            RawOp::ArrayLength => (Op::ArrayLength(self.pop(false)?), false),
            RawOp::Cast(class) => (Op::Cast(*class, self.pop(false)?), false),
            RawOp::InstanceOf(class) => (Op::InstanceOf(*class, self.pop(false)?), false),
            _ => {
                let object = self.pop(false)?;
                self.emit(Op::Monitor(object));
                return Ok(());
            }
        };
        let value = self.emit(made);
        self.push(value, wide)
    }

    fn field(&mut self, is_static: bool, put: bool, field: &MethodRef) -> Result<(), String> {
        let MethodRef { class, name, descriptor } = *field;
        let wide = matches!(descriptor.as_str(), "J" | "D");
        let field = FieldRef { class, name, descriptor };
        let value = if put { Some(self.pop(wide)?) } else { None };
        let object = if is_static { None } else { Some(self.pop(false)?) };
        match value {
            Some(value) => _ = self.emit(Op::PutField(field, object, value)),
            None => {
                let value = self.emit(Op::GetField(field, object));
                self.push(value, wide)?;
            }
        }
        Ok(())
    }

    /// Takes the arguments that a descriptor names off the stack.
    fn arguments(&mut self, descriptor: Name, receiver: bool) -> Result<Vec<ValueId>, String> {
        let widths = parameter_widths(&descriptor).ok_or_else(|| format!("bad descriptor `{descriptor}`"))?;
        let mut args = Vec::with_capacity(widths.len() + 1);
        for wide in widths.into_iter().rev() {
            args.push(self.pop(wide)?);
        }
        if receiver {
            args.push(self.pop(false)?);
        }
        args.reverse();
        Ok(args)
    }

    fn invoke(&mut self, kind: InvokeKind, method: &MethodRef) -> Result<(), String> {
        let args = self.arguments(method.descriptor, kind != InvokeKind::Static)?;
        let value = self.emit(Op::Invoke { kind, method: *method, args: args.into() });
        self.push_result(value, method.descriptor)
    }

    fn push_result(&mut self, value: u32, descriptor: Name) -> Result<(), String> {
        match result_width(&descriptor) {
            Some(wide) => self.push(value, wide),
            None => Ok(()),
        }
    }

    fn invoke_dynamic(&mut self, index: u16, name: Name, descriptor: Name) -> Result<(), String> {
        let args = self.arguments(descriptor, false)?;
        let found = self.bootstraps.get(usize::from(index));
        let (bootstrap, bootstrap_args) =
            found.cloned().ok_or_else(|| format!("no bootstrap method {index}"))?;
        let class_of = |value: ValueId| match self.out.insts[value.index()].op {
            Op::Const(Const::Class(class)) => Some(class),
            _ => None,
        };
        let written_out =
            groovy::written_out(&bootstrap, &bootstrap_args, (name, descriptor), &args, class_of);
        let dynamic = || Op::InvokeDynamic {
            bootstrap: Box::new(Bootstrap { method: bootstrap, args: bootstrap_args.into() }),
            name,
            descriptor,
            args: args.into(),
        };
        let value = self.emit(written_out.unwrap_or_else(dynamic));
        self.push_result(value, descriptor)
    }

    fn shuffle(&mut self, op: StackOp) -> Result<(), String> {
        // Slots taken off the stack, and those put back, by position from the top.
        let (n, back): (usize, &[usize]) = match op {
            StackOp::Pop => (1, &[]),
            StackOp::Pop2 => (2, &[]),
            StackOp::Dup => (1, &[0, 0]),
            StackOp::DupX1 => (2, &[0, 1, 0]),
            StackOp::DupX2 => (3, &[0, 2, 1, 0]),
            StackOp::Dup2 => (2, &[1, 0, 1, 0]),
            StackOp::Dup2X1 => (3, &[1, 0, 2, 1, 0]),
            StackOp::Dup2X2 => (4, &[1, 0, 3, 2, 1, 0]),
            StackOp::Swap => (2, &[0, 1]),
        };
        let mut taken = [UNDEFINED; 4];
        for slot in &mut taken[..n] {
            *slot = self.pop_slot()?;
        }
        for &i in back {
            self.push(taken[i], false)?;
        }
        Ok(())
    }
}

//! Method bodies in static single assignment form: the common ground of all
//! analyses.
//!
//! A [`Body`] is a control-flow graph of [`Block`]s over a flat vector of
//! [`Inst`]s; an instruction *is* the value it defines ([`ValueId`]). Locals and
//! operand-stack slots are gone: joins are [`Op::Phi`]. `jsr`/`ret` subroutines
//! are copied into their callers; unreachable code is dropped.
//!
//! Exceptional control flow: a block covered by exception handlers ends at every
//! store to a local, so that all its throwing instructions see the same locals.
//! An exception edge therefore leaves from anywhere inside a block; the operands
//! of a handler's phis are the locals at the *start* of the block.

use crate::program::{FieldRef, MethodRef, Name, index};

pub(crate) mod lift;
pub(crate) mod print;

pub use print::{print_body, print_method};

index! {
    /// Position in [`Body::insts`]; the value that the instruction defines.
    ValueId
}
index! {
    /// Position in [`Body::blocks`].
    BlockId
}

/// One method body. Block 0 is the entry and has no predecessors; it begins
/// with the [`Op::Param`]s, so that the value of parameter `n` is `ValueId(n)`.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Body {
    /// Blocks in reverse postorder (handlers included).
    pub blocks: Vec<Block>,
    /// All instructions of all blocks, those of the first block first.
    pub insts: Vec<Inst>,
}

/// Straight-line code.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Block {
    /// Phis first, then the rest in order, the terminator last.
    pub insts: Vec<ValueId>,
    /// Normal successors, in the order of the terminator's targets.
    pub successors: Vec<BlockId>,
    /// Exception handlers that cover the block, innermost first; none if no
    /// instruction of the block can throw.
    pub handlers: Vec<Handler>,
    /// Predecessors over normal and exception edges, sorted, without repeats.
    pub predecessors: Vec<BlockId>,
    /// Whether the block is reached only through exception handlers: no way
    /// leads to it from the entry over normal edges alone.
    pub in_handler: bool,
    /// The innermost loop's header block, if inside a loop; a header names
    /// itself. Only normal edges back to a dominating block make loops.
    pub loop_header: Option<BlockId>,
}

/// An exception edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handler {
    /// First block of the handler; it starts with an [`Op::Caught`].
    pub block: BlockId,
    /// Class caught; none: any (finally).
    pub class: Option<Name>,
}

/// One instruction.
#[derive(Clone, Debug, PartialEq)]
pub struct Inst {
    /// What it does.
    pub op: Op,
    /// The block it is in.
    pub block: BlockId,
    /// Source line, 0 if unknown.
    pub line: u32,
    /// Bytecode offset it came from (phis: of their block).
    pub pc: u32,
}

/// A constant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Const {
    /// `null`
    Null,
    /// `int`, also `boolean`, `byte`, `char`, `short`
    Int(i32),
    /// `long`
    Long(i64),
    /// `float`
    Float(f32),
    /// `double`
    Double(f64),
    /// String literal
    Text(Name),
    /// Class literal, internal name (arrays as descriptors)
    Class(Name),
    /// Method handle or method type or dynamic constant: not a plain value.
    Other,
}

/// How a method is invoked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum InvokeKind {
    /// `invokestatic`: no receiver.
    Static,
    /// `invokespecial`: constructors, `super.m()`, private methods.
    Special,
    /// `invokevirtual`
    Virtual,
    /// `invokeinterface`
    Interface,
}

/// Kind of computed arithmetic; the analyses need to know that a value was
/// computed and from what, rarely how.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Arithmetic {
    /// Addition
    Add,
    /// Subtraction
    Sub,
    /// Multiplication
    Mul,
    /// Division
    Div,
    /// Remainder
    Rem,
    /// Bitwise and
    And,
    /// Everything else: shifts, logic, comparison.
    Other,
}

/// An argument of a bootstrap method.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BootstrapArg {
    /// A loadable constant.
    Const(Const),
    /// A method handle; `kind` as in JVMS table 5.4.3.5-A (1..=9).
    Handle {
        /// Reference kind.
        kind: u8,
        /// Method (or field, with its descriptor) referred to.
        target: MethodRef,
    },
    /// A method type.
    MethodType(Name),
}

/// What makes the target of a call site that is linked at run time.
#[derive(Clone, Debug, PartialEq)]
pub struct Bootstrap {
    /// The method that links it.
    pub method: MethodRef,
    /// Its static arguments.
    pub args: Box<[BootstrapArg]>,
}

/// What an instruction does. Operands are values defined earlier (phis: anywhere).
#[derive(Clone, Debug, PartialEq)]
pub enum Op {
    /// Incoming argument; 0 is `this` of instance methods. One slot per
    /// argument (long and double count once).
    Param(u16),
    /// Constant.
    Const(Const),
    /// Join: one operand per predecessor that reaches it, with that predecessor.
    Phi(Vec<(BlockId, ValueId)>),
    /// `new C` (before its constructor ran)
    New(Name),
    /// New array; element descriptor and length of the outermost dimension.
    NewArray(Name, ValueId),
    /// Method call; `args` starts with the receiver unless static. Defines the
    /// result (nothing for void methods).
    Invoke {
        /// How.
        kind: InvokeKind,
        /// Which method the instruction names.
        method: MethodRef,
        /// Receiver (unless static) and arguments.
        args: Box<[ValueId]>,
    },
    /// `invokedynamic`
    InvokeDynamic {
        /// Bootstrap method and its static arguments.
        bootstrap: Box<Bootstrap>,
        /// Name at the call site.
        name: Name,
        /// Descriptor at the call site (captured values to result).
        descriptor: Name,
        /// Captured values.
        args: Box<[ValueId]>,
    },
    /// Field read; no object for static fields.
    GetField(FieldRef, Option<ValueId>),
    /// Field write: field, object (none: static), value.
    PutField(FieldRef, Option<ValueId>, ValueId),
    /// Array element read: array, index.
    ArrayLoad(ValueId, ValueId),
    /// Array element write: array, index, value.
    ArrayStore(ValueId, ValueId, ValueId),
    /// `arraylength`
    ArrayLength(ValueId),
    /// `checkcast` to an internal name or array descriptor.
    Cast(Name, ValueId),
    /// `instanceof`
    InstanceOf(Name, ValueId),
    /// Arithmetic, shifts, logic, comparisons (`lcmp` etc.).
    Binary(Arithmetic, ValueId, ValueId),
    /// Negation.
    Negate(ValueId),
    /// Primitive conversion; the target's descriptor (`I J F D B C S`).
    Convert(Name, ValueId),
    /// The exception at a handler's entry; classes caught (empty: any).
    Caught(Vec<Name>),
    /// `monitorenter`/`monitorexit`
    Monitor(ValueId),
    /// Terminator: conditional branch on the comparison of two values (second
    /// none: with zero or null); successors are \[taken, fall through\].
    If(Comparison, ValueId, Option<ValueId>),
    /// Terminator: switch; `keys[i]` leads to `successors[i]`, the last
    /// successor is the default.
    Switch(ValueId, Vec<i32>),
    /// Terminator: to the only successor.
    Goto,
    /// Terminator: return.
    Return(Option<ValueId>),
    /// Terminator: throw.
    Throw(ValueId),
}

// A large program has millions of instructions, and they stay in memory to the end.
const _: () = assert!(size_of::<Op>() <= 48 && size_of::<Inst>() <= 64);

/// Condition of a branch: taken if `a OP b`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// `==`, also references and `null`
    Eq,
    /// `!=`
    Ne,
    /// `<`
    Lt,
    /// `>=`
    Ge,
    /// `>`
    Gt,
    /// `<=`
    Le,
}

impl Body {
    /// The instruction that defines `value`.
    #[inline]
    pub fn inst(&self, value: ValueId) -> &Inst {
        &self.insts[value.index()]
    }

    /// What the instruction that defines `value` does.
    #[inline]
    pub fn op(&self, value: ValueId) -> &Op {
        &self.insts[value.index()].op
    }

    /// The block `block`.
    #[inline]
    pub fn block(&self, block: BlockId) -> &Block {
        &self.blocks[block.index()]
    }

    /// The value without the casts around it.
    #[inline]
    pub(crate) fn uncast(&self, mut value: ValueId) -> ValueId {
        while let Op::Cast(_, inner) = self.op(value) {
            value = *inner;
        }
        value
    }

    /// Blocks that can run after `from` (itself only if it is in a loop).
    pub(crate) fn reachable(&self, from: BlockId) -> Vec<bool> {
        let mut seen = vec![false; self.blocks.len()];
        let mut todo = vec![from];
        while let Some(block) = todo.pop() {
            for &next in &self.block(block).successors {
                if !std::mem::replace(&mut seen[next.index()], true) {
                    todo.push(next);
                }
            }
        }
        seen
    }

    /// All instructions in block order: the order in which they are numbered.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = (ValueId, &Inst)> {
        // PERF: dozens of passes look at every instruction of the program, block after block.
        self.insts.iter().enumerate().map(|(at, inst)| (ValueId::new(at), inst))
    }
}

impl Op {
    /// Calls `f` for every operand, in the order of the fields.
    pub fn for_each_operand(&self, mut f: impl FnMut(ValueId)) {
        match self {
            Op::Param(_) | Op::Const(_) | Op::New(_) | Op::Caught(_) | Op::Goto => {}
            Op::Phi(operands) => operands.iter().for_each(|&(_, v)| f(v)),
            Op::Invoke { args, .. } | Op::InvokeDynamic { args, .. } => args.iter().for_each(|&v| f(v)),
            Op::GetField(_, object) => object.iter().for_each(|&v| f(v)),
            Op::PutField(_, object, value) => {
                object.iter().for_each(|&v| f(v));
                f(*value);
            }
            Op::ArrayLoad(a, b) | Op::Binary(_, a, b) => {
                f(*a);
                f(*b);
            }
            Op::ArrayStore(a, b, c) => {
                f(*a);
                f(*b);
                f(*c);
            }
            Op::If(_, a, b) => {
                f(*a);
                b.iter().for_each(|&v| f(v));
            }
            Op::Return(value) => value.iter().for_each(|&v| f(v)),
            Op::NewArray(_, v)
            | Op::ArrayLength(v)
            | Op::Cast(_, v)
            | Op::InstanceOf(_, v)
            | Op::Negate(v)
            | Op::Convert(_, v)
            | Op::Monitor(v)
            | Op::Switch(v, _)
            | Op::Throw(v) => f(*v),
        }
    }

    /// Replaces every operand.
    pub(crate) fn map_operands(&mut self, mut f: impl FnMut(ValueId) -> ValueId) {
        let mut set = |v: &mut ValueId| *v = f(*v);
        match self {
            Op::Param(_) | Op::Const(_) | Op::New(_) | Op::Caught(_) | Op::Goto => {}
            Op::Phi(operands) => operands.iter_mut().for_each(|(_, v)| set(v)),
            Op::Invoke { args, .. } | Op::InvokeDynamic { args, .. } => args.iter_mut().for_each(set),
            Op::GetField(_, object) => object.iter_mut().for_each(set),
            Op::PutField(_, object, value) => {
                object.iter_mut().for_each(&mut set);
                set(value);
            }
            Op::ArrayLoad(a, b) | Op::Binary(_, a, b) => {
                set(a);
                set(b);
            }
            Op::ArrayStore(a, b, c) => {
                set(a);
                set(b);
                set(c);
            }
            Op::If(_, a, b) => {
                set(a);
                b.iter_mut().for_each(set);
            }
            Op::Return(value) => value.iter_mut().for_each(set),
            Op::NewArray(_, v)
            | Op::ArrayLength(v)
            | Op::Cast(_, v)
            | Op::InstanceOf(_, v)
            | Op::Negate(v)
            | Op::Convert(_, v)
            | Op::Monitor(v)
            | Op::Switch(v, _)
            | Op::Throw(v) => set(v),
        }
    }

    /// Whether it ends its block.
    pub fn is_terminator(&self) -> bool {
        matches!(self, Op::If(..) | Op::Switch(..) | Op::Goto | Op::Return(_) | Op::Throw(_))
    }
}

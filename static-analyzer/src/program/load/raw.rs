//! A class file as both parsers hand it over: names interned, instructions
//! decoded, nothing checked beyond that each instruction is whole.
//!
//! The bytes of a `Code` attribute are decoded here for both parsers; they
//! only look up the constant pool ([`Pool`]).

use crate::ir::{Arithmetic, BootstrapArg, Comparison, Const, InvokeKind};
use crate::program::{Annotation, Field, MethodRef, Name};

/// One class file.
#[derive(Debug)]
pub(crate) struct RawClass {
    pub(crate) name: Name,
    pub(crate) super_name: Option<Name>,
    pub(crate) interfaces: Vec<Name>,
    pub(crate) access: u16,
    pub(crate) signature: Option<Name>,
    pub(crate) source_file: Option<Name>,
    pub(crate) enclosing: Option<(Name, Option<(Name, Name)>)>,
    pub(crate) annotations: Vec<Annotation>,
    pub(crate) fields: Vec<Field>,
    pub(crate) methods: Vec<RawMethod>,
    pub(crate) bootstraps: Vec<(MethodRef, Vec<BootstrapArg>)>,
}

/// One method.
#[derive(Debug)]
pub(crate) struct RawMethod {
    pub(crate) name: Name,
    pub(crate) descriptor: Name,
    pub(crate) signature: Option<Name>,
    pub(crate) access: u16,
    pub(crate) exceptions: Vec<Name>,
    pub(crate) annotations: Vec<Annotation>,
    pub(crate) parameter_annotations: Vec<Vec<Annotation>>,
    /// From the `MethodParameters` attribute.
    pub(crate) parameters: Vec<Option<Name>>,
    /// An error: the code cannot be decoded.
    pub(crate) code: Option<Result<RawCode, String>>,
}

/// The `Code` attribute.
#[derive(Debug, Default)]
pub(crate) struct RawCode {
    pub(crate) max_stack: u16,
    pub(crate) max_locals: u16,
    /// Length in bytes.
    pub(crate) length: u32,
    /// (bytecode offset, instruction), ascending.
    pub(crate) insts: Vec<(u32, RawOp)>,
    pub(crate) handlers: Vec<RawHandler>,
    /// (bytecode offset, source line), as in the file.
    pub(crate) lines: Vec<(u32, u32)>,
    /// `LocalVariableTable` rows that start at offset 0: (local, name).
    pub(crate) names: Vec<(u16, Name)>,
}

/// A row of the exception table.
#[derive(Debug)]
pub(crate) struct RawHandler {
    pub(crate) start: u32,
    pub(crate) end: u32,
    pub(crate) handler: u32,
    pub(crate) class: Option<Name>,
}

/// Instructions that only move stack slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StackOp {
    Pop,
    Pop2,
    Dup,
    DupX1,
    DupX2,
    Dup2,
    Dup2X1,
    Dup2X2,
    Swap,
}

/// One instruction. `wide` means `long` or `double`: two slots. Jump targets
/// are absolute and may lie anywhere.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum RawOp {
    Nop,
    Const {
        value: Const,
        wide: bool,
    },
    Load {
        local: u16,
        wide: bool,
    },
    Store {
        local: u16,
        wide: bool,
    },
    Increment {
        local: u16,
        by: i16,
    },
    ArrayLoad {
        wide: bool,
    },
    ArrayStore {
        wide: bool,
    },
    Stack(StackOp),
    /// Widths of the left and right operand and the result.
    Binary {
        kind: Arithmetic,
        left: bool,
        right: bool,
        wide: bool,
        traps: bool,
    },
    Negate {
        wide: bool,
    },
    Convert {
        from: bool,
        to: char,
    },
    If {
        comparison: Comparison,
        operands: u8,
        target: i64,
    },
    Goto(i64),
    Jsr(i64),
    Ret(u16),
    Switch {
        default: i64,
        cases: Vec<(i32, i64)>,
    },
    /// None: void.
    Return(Option<bool>),
    Field {
        is_static: bool,
        put: bool,
        field: MethodRef,
    },
    Invoke {
        kind: InvokeKind,
        method: MethodRef,
    },
    InvokeDynamic {
        bootstrap: u16,
        name: Name,
        descriptor: Name,
    },
    New(Name),
    /// Element descriptor, dimensions given.
    NewArray(Name, u8),
    ArrayLength,
    Throw,
    Cast(Name),
    InstanceOf(Name),
    Monitor,
}

/// What an index into the constant pool stands for.
#[derive(Debug)]
pub(crate) enum Pooled {
    Const { value: Const, wide: bool },
    Class(Name),
    Member(MethodRef),
    Dynamic { bootstrap: u16, name: Name, descriptor: Name },
}

/// Constant pool as the instructions need it.
pub(crate) trait Pool {
    /// The constant that the instruction at `pc` names with `index`.
    fn get(&mut self, pc: usize, index: u16) -> Result<Pooled, String>;
}

/// Lengths of the instructions 0x00..=0xc9; 0: variable.
const LENGTHS: &[u8; 202] = &{
    let mut l = [1u8; 202];
    let two = [0x10, 0x12, 0x15, 0x16, 0x17, 0x18, 0x19, 0x36, 0x37, 0x38, 0x39, 0x3a, 0xa9, 0xbc];
    let mut i = 0;
    while i < two.len() {
        l[two[i]] = 2;
        i += 1;
    }
    l[0x11] = 3;
    l[0x13] = 3;
    l[0x14] = 3;
    l[0x84] = 3;
    i = 0x99;
    while i <= 0xa8 {
        l[i] = 3;
        i += 1;
    }
    l[0xaa] = 0;
    l[0xab] = 0;
    i = 0xb2;
    while i <= 0xb8 {
        l[i] = 3;
        i += 1;
    }
    l[0xb9] = 5;
    l[0xba] = 5;
    l[0xbb] = 3;
    l[0xbd] = 3;
    l[0xc0] = 3;
    l[0xc1] = 3;
    l[0xc4] = 0;
    l[0xc5] = 4;
    l[0xc6] = 3;
    l[0xc7] = 3;
    l[0xc8] = 5;
    l[0xc9] = 5;
    l
};

fn u16_at(code: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([code[at], code[at + 1]])
}

fn i32_at(code: &[u8], at: usize) -> Option<i32> {
    let bytes = code.get(at..at.checked_add(4)?)?;
    Some(i32::from_be_bytes(bytes.try_into().ok()?))
}

/// Length in bytes of the instruction at `pc`; none if it is unknown or not whole.
fn length(code: &[u8], pc: usize) -> Option<usize> {
    let opcode = usize::from(code[pc]);
    let length = match (*LENGTHS.get(opcode)?, opcode) {
        (0, 0xaa) => {
            let at = (pc + 4) & !3;
            let (low, high) = (i32_at(code, at + 4)?, i32_at(code, at + 8)?);
            let n = i64::from(high) - i64::from(low) + 1;
            let n = usize::try_from(n).ok().filter(|&n| n > 0)?;
            at - pc + 12 + n.checked_mul(4)?
        }
        (0, 0xab) => {
            let at = (pc + 4) & !3;
            let n = usize::try_from(i32_at(code, at + 4)?).ok()?;
            at - pc + 8 + n.checked_mul(8)?
        }
        (0, _) => match code.get(pc + 1)? {
            0x15..=0x19 | 0x36..=0x3a | 0xa9 => 4,
            0x84 => 6,
            _ => return None,
        },
        (n, _) => usize::from(n),
    };
    (length <= code.len() - pc).then_some(length)
}

/// Checks that `code` is a row of whole instructions, so that no parser can be
/// made to allocate by a count that the code does not hold.
pub(crate) fn scan(code: &[u8]) -> Result<(), String> {
    let mut pc = 0;
    while pc < code.len() {
        pc += length(code, pc).ok_or_else(|| bad_instruction(code, pc))?;
    }
    Ok(())
}

fn bad_instruction(code: &[u8], pc: usize) -> String {
    format!("bad instruction 0x{:02x} at offset {pc}", code[pc])
}

/// All instructions of `code`.
pub(crate) fn decode(code: &[u8], pool: &mut impl Pool) -> Result<Vec<(u32, RawOp)>, String> {
    if code.is_empty() || code.len() > 0xffff {
        return Err(format!("code of {} bytes", code.len()));
    }
    let mut insts = Vec::with_capacity(code.len() / 2);
    let mut pc = 0;
    while pc < code.len() {
        let length = length(code, pc).ok_or_else(|| bad_instruction(code, pc))?;
        insts.push((pc as u32, instruction(code, pc, pool)?));
        pc += length;
    }
    Ok(insts)
}

/// Whether the type of an instruction family (`i l f d a ...`) is wide.
fn is_wide(kind: u8) -> bool {
    kind == 1 || kind == 3
}

fn instruction(code: &[u8], pc: usize, pool: &mut impl Pool) -> Result<RawOp, String> {
    let op = code[pc];
    let int = |v: i32| RawOp::Const { value: Const::Int(v), wide: false };
    Ok(match op {
        0x00 => RawOp::Nop,
        0x01 => RawOp::Const { value: Const::Null, wide: false },
        0x02..=0x08 => int(i32::from(op) - 3),
        0x09 | 0x0a => RawOp::Const { value: Const::Long(i64::from(op) - 9), wide: true },
        0x0b..=0x0d => RawOp::Const { value: Const::Float(f32::from(op - 0x0b)), wide: false },
        0x0e | 0x0f => RawOp::Const { value: Const::Double(f64::from(op - 0x0e)), wide: true },
        0x10 => int(i32::from(code[pc + 1] as i8)),
        0x11 => int(i32::from(u16_at(code, pc + 1) as i16)),
        0x12 => constant(pool, pc, code[pc + 1].into())?,
        0x13 | 0x14 => constant(pool, pc, u16_at(code, pc + 1))?,
        0x15..=0x19 => RawOp::Load { local: code[pc + 1].into(), wide: is_wide(op - 0x15) },
        0x1a..=0x2d => {
            let n = op - 0x1a;
            RawOp::Load { local: u16::from(n % 4), wide: is_wide(n / 4) }
        }
        0x2e..=0x35 => RawOp::ArrayLoad { wide: is_wide(op - 0x2e) },
        0x36..=0x3a => RawOp::Store { local: code[pc + 1].into(), wide: is_wide(op - 0x36) },
        0x3b..=0x4e => {
            let n = op - 0x3b;
            RawOp::Store { local: u16::from(n % 4), wide: is_wide(n / 4) }
        }
        0x4f..=0x56 => RawOp::ArrayStore { wide: is_wide(op - 0x4f) },
        0x57..=0x5f => RawOp::Stack(stack_op(op)),
        0x84 => RawOp::Increment { local: code[pc + 1].into(), by: (code[pc + 2] as i8).into() },
        0x60..=0x98 => arithmetic(op),
        0x99..=0xa9 | 0xc6..=0xc9 => jump(code, pc),
        0xaa | 0xab => switch(code, pc),
        0xac..=0xb0 => RawOp::Return(Some(is_wide(op - 0xac))),
        0xb1 => RawOp::Return(None),
        0xc4 => wide(code, pc),
        _ => reference(code, pc, pool)?,
    })
}

fn stack_op(op: u8) -> StackOp {
    match op {
        0x57 => StackOp::Pop,
        0x58 => StackOp::Pop2,
        0x59 => StackOp::Dup,
        0x5a => StackOp::DupX1,
        0x5b => StackOp::DupX2,
        0x5c => StackOp::Dup2,
        0x5d => StackOp::Dup2X1,
        0x5e => StackOp::Dup2X2,
        _ => StackOp::Swap,
    }
}

/// The instructions 0x60..=0x98 but `iinc`.
fn arithmetic(op: u8) -> RawOp {
    let w = is_wide(op.wrapping_sub(0x60) % 4);
    let binary = |kind, left, right, wide, traps| RawOp::Binary { kind, left, right, wide, traps };
    let other = Arithmetic::Other;
    match op {
        0x60..=0x63 => binary(Arithmetic::Add, w, w, w, false),
        0x64..=0x67 => binary(Arithmetic::Sub, w, w, w, false),
        0x68..=0x6b => binary(Arithmetic::Mul, w, w, w, false),
        // Only integer division throws, not that of `float` and `double`.
        0x6c..=0x6f => binary(Arithmetic::Div, w, w, w, op % 4 < 2),
        0x70..=0x73 => binary(Arithmetic::Rem, w, w, w, op % 4 < 2),
        0x74..=0x77 => RawOp::Negate { wide: w },
        0x78..=0x7d => binary(other, op % 2 == 1, false, op % 2 == 1, false),
        0x7e | 0x7f => binary(Arithmetic::And, w, w, w, false),
        0x80..=0x83 => binary(other, op % 2 == 1, op % 2 == 1, op % 2 == 1, false),
        0x85..=0x93 => {
            let from = matches!(op, 0x88..=0x8a | 0x8e..=0x90);
            const TO: &[u8; 15] = b"JFDIFDIJDIJFBCS";
            RawOp::Convert { from, to: char::from(TO[usize::from(op - 0x85)]) }
        }
        0x94 | 0x97 | 0x98 => binary(other, true, true, false, false),
        _ => binary(other, false, false, false, false),
    }
}

fn jump(code: &[u8], pc: usize) -> RawOp {
    use Comparison::{Eq, Ge, Gt, Le, Lt, Ne};
    let op = code[pc];
    if op == 0xa9 {
        return RawOp::Ret(code[pc + 1].into());
    }
    let offset = match op {
        0xc8 | 0xc9 => i32_at(code, pc + 1).unwrap_or(0),
        _ => i32::from(u16_at(code, pc + 1) as i16),
    };
    let target = pc as i64 + i64::from(offset);
    const ORDER: [Comparison; 6] = [Eq, Ne, Lt, Ge, Gt, Le];
    match op {
        0x99..=0x9e => RawOp::If { comparison: ORDER[usize::from(op - 0x99)], operands: 1, target },
        0x9f..=0xa4 => RawOp::If { comparison: ORDER[usize::from(op - 0x9f)], operands: 2, target },
        0xa5 | 0xa6 => RawOp::If { comparison: ORDER[usize::from(op - 0xa5)], operands: 2, target },
        0xc6 | 0xc7 => RawOp::If { comparison: ORDER[usize::from(op - 0xc6)], operands: 1, target },
        0xa8 | 0xc9 => RawOp::Jsr(target),
        _ => RawOp::Goto(target),
    }
}

/// `length` has checked that the table is whole.
fn switch(code: &[u8], pc: usize) -> RawOp {
    let at = (pc + 4) & !3;
    let word = |n: usize| i32_at(code, at + 4 * n).unwrap_or(0);
    let target = |offset: i32| pc as i64 + i64::from(offset);
    let default = target(word(0));
    let cases = if code[pc] == 0xaa {
        (word(1)..=word(2)).enumerate().map(|(i, key)| (key, target(word(3 + i)))).collect()
    } else {
        (0..word(1) as usize).map(|i| (word(2 + 2 * i), target(word(3 + 2 * i)))).collect()
    };
    RawOp::Switch { default, cases }
}

fn wide(code: &[u8], pc: usize) -> RawOp {
    let local = u16_at(code, pc + 2);
    match code[pc + 1] {
        op @ 0x15..=0x19 => RawOp::Load { local, wide: is_wide(op - 0x15) },
        op @ 0x36..=0x3a => RawOp::Store { local, wide: is_wide(op - 0x36) },
        0xa9 => RawOp::Ret(local),
        _ => RawOp::Increment { local, by: u16_at(code, pc + 4) as i16 },
    }
}

fn constant(pool: &mut impl Pool, pc: usize, index: u16) -> Result<RawOp, String> {
    match pool.get(pc, index)? {
        Pooled::Const { value, wide } => Ok(RawOp::Const { value, wide }),
        Pooled::Class(name) => Ok(RawOp::Const { value: Const::Class(name), wide: false }),
        other => Err(unexpected(pc, &other)),
    }
}

fn unexpected(pc: usize, got: &Pooled) -> String {
    format!("unexpected constant {got:?} at offset {pc}")
}

/// Instructions that name a class or a member.
fn reference(code: &[u8], pc: usize, pool: &mut impl Pool) -> Result<RawOp, String> {
    let op = code[pc];
    if op == 0xbc {
        let element = match code[pc + 1] {
            n @ 4..=11 => &"ZCFDBSIJ"[usize::from(n - 4)..usize::from(n - 3)],
            n => return Err(format!("bad array type {n} at offset {pc}")),
        };
        return Ok(RawOp::NewArray(element.into(), 1));
    }
    match op {
        0xbe => return Ok(RawOp::ArrayLength),
        0xbf => return Ok(RawOp::Throw),
        0xc2 | 0xc3 => return Ok(RawOp::Monitor),
        _ => {}
    }
    Ok(match (op, pool.get(pc, u16_at(code, pc + 1))?) {
        (0xb2..=0xb5, Pooled::Member(field)) => {
            RawOp::Field { is_static: op < 0xb4, put: op % 2 == 1, field }
        }
        (0xb6, Pooled::Member(method)) => RawOp::Invoke { kind: InvokeKind::Virtual, method },
        (0xb7, Pooled::Member(method)) => RawOp::Invoke { kind: InvokeKind::Special, method },
        (0xb8, Pooled::Member(method)) => RawOp::Invoke { kind: InvokeKind::Static, method },
        (0xb9, Pooled::Member(method)) => RawOp::Invoke { kind: InvokeKind::Interface, method },
        (0xba, Pooled::Dynamic { bootstrap, name, descriptor }) => {
            RawOp::InvokeDynamic { bootstrap, name, descriptor }
        }
        (0xbb, Pooled::Class(name)) => RawOp::New(name),
        (0xbd, Pooled::Class(name)) => RawOp::NewArray(descriptor_of(name), 1),
        (0xc0, Pooled::Class(name)) => RawOp::Cast(name),
        (0xc1, Pooled::Class(name)) => RawOp::InstanceOf(name),
        (0xc5, Pooled::Class(name)) => match (name.strip_prefix('['), code[pc + 3]) {
            (Some(element), n @ 1..) => RawOp::NewArray(element.into(), n),
            _ => return Err(format!("bad `multianewarray` at offset {pc}")),
        },
        (_, other) => return Err(unexpected(pc, &other)),
    })
}

/// The descriptor of a class named as in the constant pool.
fn descriptor_of(name: Name) -> Name {
    if name.starts_with('[') { name } else { format!("L{name};").as_str().into() }
}

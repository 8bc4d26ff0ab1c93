//! Numbers and class literals that are the same on every path.

use super::apis::{self, Model};
use super::{Arg, Evaluator, FrameId, Place};
use crate::ir::{Arithmetic, Const, InvokeKind, Op, ValueId};
use crate::limits;
use crate::program::{FieldRef, MethodRef, Name, access};

/// A helper whose result is a constant is small.
const HELPER_INSTS_MAX: usize = 60;

impl Evaluator<'_> {
    /// The constant that a value always is.
    pub(crate) fn constant_of(&mut self, frame: FrameId, value: ValueId) -> Option<Const> {
        if self.depth >= limits::EVALUATION_DEPTH_MAX || self.steps >= limits::EVALUATION_STEPS_MAX {
            return None;
        }
        self.steps += 1;
        self.depth += 1;
        let found = self.find_constant(frame, value);
        self.depth -= 1;
        found
    }

    fn find_constant(&mut self, frame: FrameId, value: ValueId) -> Option<Const> {
        match self.op(frame, value) {
            Op::Const(constant) => Some(*constant),
            Op::Cast(_, inner) => self.constant_of(frame, *inner),
            Op::Param(i) if frame != FrameId::ROOT && self.frame(frame).extra.is_empty() => {
                match self.frame(frame).args.get(usize::from(*i)) {
                    Some(&Arg::At(f, v)) => self.constant_of(f, v),
                    _ => None,
                }
            }
            Op::Binary(kind, a, b) => {
                if matches!(kind, Arithmetic::And | Arithmetic::Other) {
                    return None;
                }
                let a = self.constant_of(frame, *a)?;
                let b = self.constant_of(frame, *b)?;
                fold(*kind, a, b)
            }
            Op::Negate(inner) => match self.constant_of(frame, *inner)? {
                Const::Int(i) => Some(Const::Int(i.wrapping_neg())),
                Const::Long(i) => Some(Const::Long(i.wrapping_neg())),
                Const::Float(x) => Some(Const::Float(-x)),
                Const::Double(x) => Some(Const::Double(-x)),
                _ => None,
            },
            Op::Convert(to, inner) => convert(&to.clone(), self.constant_of(frame, *inner)?),
            Op::GetField(field, object) => self.field_constant(frame, value, *field, object.is_some()),
            Op::Invoke { kind, method, args } => self.call_constant(frame, value, *kind, *method, args),
            Op::ArrayLength(array) => {
                let (f, array) = self.array_origin(frame, *array)?;
                let Op::NewArray(_, length) = self.op(f, array) else { return None };
                self.constant_of(f, *length)
            }
            Op::Phi(operands) => {
                // Only a phi of plain constants: others can hold themselves.
                let mut common: Option<Const> = None;
                for &(_, v) in operands {
                    let Op::Const(c) = self.op(frame, v) else { return None };
                    if common.is_some_and(|known| known != *c) {
                        return None;
                    }
                    common = Some(*c);
                }
                common
            }
            _ => None,
        }
    }

    fn field_constant(
        &mut self,
        frame: FrameId,
        value: ValueId,
        field: FieldRef,
        of_object: bool,
    ) -> Option<Const> {
        if of_object {
            let place = self.place(frame, value);
            if let Place::Value(f, v) = self.place_node(place)
                && (f, v) != (frame, value)
            {
                return self.constant_of(f, v);
            }
        }
        let declared = self.facts.field(field)?;
        if declared.access & access::FINAL == 0 {
            return None;
        }
        if declared.constant.is_some() || of_object {
            return declared.constant;
        }
        let [(method, put)] = *self.facts.writes(field) else { return None };
        let inner = self.make_frame(frame, None, method, Vec::new(), None)?;
        let Op::PutField(_, None, stored) = self.op(inner, put) else { return None };
        self.constant_of(inner, *stored)
    }

    fn call_constant(
        &mut self,
        frame: FrameId,
        call: ValueId,
        kind: InvokeKind,
        method: MethodRef,
        args: &[ValueId],
    ) -> Option<Const> {
        if apis::model(method.class, method.name) == Some(Model::Image) && !method.name.starts_with("to") {
            return self.constant_of(frame, *args.first()?);
        }
        if matches!(method.class.as_str(), "java/lang/Integer" | "java/lang/Long")
            && method.name.starts_with("parse")
            && method.descriptor.starts_with("(Ljava/lang/String;)")
        {
            let text = self.text(frame, *args.first()?, Name::from("Ljava/lang/String;"), call);
            let text = self.terms.as_text(text)?;
            return if method.class == "java/lang/Integer" {
                text.parse().ok().map(Const::Int)
            } else {
                text.parse().ok().map(Const::Long)
            };
        }
        let targets = self.targets(frame, kind, method, args);
        let [target] = targets[..] else { return None };
        if self.program().methods[target.index()].body.as_ref()?.insts.len() > HELPER_INSTS_MAX {
            return None;
        }
        let inner = self.enter(frame, call, target, args)?;
        let [(_, result)] = self.facts.info(target).returns[..] else { return None };
        self.constant_of(inner, result)
    }

    /// The same as an `int`.
    pub(crate) fn int_of(&mut self, frame: FrameId, value: ValueId) -> Option<i32> {
        match self.constant_of(frame, value)? {
            Const::Int(i) => Some(i),
            _ => None,
        }
    }
}

fn fold(kind: Arithmetic, a: Const, b: Const) -> Option<Const> {
    Some(match (a, b) {
        (Const::Int(a), Const::Int(b)) => Const::Int(match kind {
            Arithmetic::Add => a.wrapping_add(b),
            Arithmetic::Sub => a.wrapping_sub(b),
            Arithmetic::Mul => a.wrapping_mul(b),
            Arithmetic::Div if b != 0 => a.wrapping_div(b),
            Arithmetic::Rem if b != 0 => a.wrapping_rem(b),
            _ => return None,
        }),
        (Const::Long(a), Const::Long(b)) => Const::Long(match kind {
            Arithmetic::Add => a.wrapping_add(b),
            Arithmetic::Sub => a.wrapping_sub(b),
            Arithmetic::Mul => a.wrapping_mul(b),
            Arithmetic::Div if b != 0 => a.wrapping_div(b),
            Arithmetic::Rem if b != 0 => a.wrapping_rem(b),
            _ => return None,
        }),
        (Const::Float(a), Const::Float(b)) => Const::Float(match kind {
            Arithmetic::Add => a + b,
            Arithmetic::Sub => a - b,
            Arithmetic::Mul => a * b,
            Arithmetic::Div => a / b,
            Arithmetic::Rem => a % b,
            Arithmetic::And | Arithmetic::Other => return None,
        }),
        (Const::Double(a), Const::Double(b)) => Const::Double(match kind {
            Arithmetic::Add => a + b,
            Arithmetic::Sub => a - b,
            Arithmetic::Mul => a * b,
            Arithmetic::Div => a / b,
            Arithmetic::Rem => a % b,
            Arithmetic::And | Arithmetic::Other => return None,
        }),
        _ => return None,
    })
}

fn convert(to: &str, constant: Const) -> Option<Const> {
    let number = match constant {
        Const::Int(i) => i64::from(i),
        Const::Long(i) => i,
        Const::Float(x) => return convert_float(to, f64::from(x)),
        Const::Double(x) => return convert_float(to, x),
        _ => return None,
    };
    Some(match to {
        "I" => Const::Int(number as i32),
        "J" => Const::Long(number),
        "B" => Const::Int(i32::from(number as i8)),
        "S" => Const::Int(i32::from(number as i16)),
        "C" => Const::Int(i32::from(number as u16)),
        "F" => Const::Float(number as f32),
        "D" => Const::Double(number as f64),
        _ => return None,
    })
}

fn convert_float(to: &str, x: f64) -> Option<Const> {
    Some(match to {
        "I" => Const::Int(x as i32),
        "J" => Const::Long(x as i64),
        "F" => Const::Float(x as f32),
        "D" => Const::Double(x),
        _ => return None,
    })
}

//! Operators whose results are errors in PostgreSQL and something else in the engine: integers that are
//! too large, which it wraps, and fractions by zero, which it takes for infinite.

use std::sync::Arc;

use datafusion::arrow::array::{Array, AsArray as _, Datum};
use datafusion::arrow::compute::kernels::numeric::{add, div, mul, rem, sub};
use datafusion::arrow::datatypes::{DataType, FieldRef, Float64Type};
use datafusion::common::{Result, ScalarValue, exec_datafusion_err, exec_err};
use datafusion::logical_expr::{
    BinaryExpr, ColumnarValue, Expr, Operator, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl,
    Signature, Volatility,
};

/// The function that `of` is, if the operator of the engine does not fail where it should.
pub(super) fn checked(of: &BinaryExpr, left: &DataType, right: &DataType) -> Option<Expr> {
    let is_ours = match of.op {
        Operator::Plus | Operator::Minus | Operator::Multiply => left.is_integer() || left.is_floating(),
        Operator::Divide | Operator::Modulo => left.is_floating(),
        _ => false,
    };
    if !is_ours || left != right || cannot_fail(of) {
        return None;
    }
    let signature = Signature::any(2, Volatility::Immutable);
    let function = ScalarUDF::from(Checked { op: of.op, of: left.clone(), signature });
    Some(function.call(vec![(*of.left).clone(), (*of.right).clone()]))
}

/// Divided by a number that is written out and is not zero.
fn cannot_fail(of: &BinaryExpr) -> bool {
    let mut divisor = &*of.right;
    while let Expr::Cast(cast) = divisor {
        divisor = &cast.expr;
    }
    match divisor {
        Expr::Literal(ScalarValue::Float64(Some(value)), _) => *value != 0.0 && !is_whole(of.op),
        Expr::Literal(ScalarValue::Int64(Some(value)), _) => *value != 0 && !is_whole(of.op),
        _ => false,
    }
}

fn is_whole(op: Operator) -> bool {
    matches!(op, Operator::Plus | Operator::Minus | Operator::Multiply)
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Checked {
    op: Operator,
    of: DataType,
    signature: Signature,
}

impl ScalarUDFImpl for Checked {
    fn name(&self) -> &str {
        match self.op {
            Operator::Plus => "add",
            Operator::Minus => "subtract",
            Operator::Multiply => "multiply",
            Operator::Divide => "divide",
            _ => "modulo",
        }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(self.of.clone())
    }

    fn return_field_from_args(&self, arguments: ReturnFieldArgs) -> Result<FieldRef> {
        let is_nullable = arguments.arg_fields.iter().any(|field| field.is_nullable());
        Ok(Arc::new(arguments.arg_fields[0].as_ref().clone().with_nullable(is_nullable)))
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let [left, right] = &arguments.args[..] else { return exec_err!("an operator has two operands") };
        let run = match self.op {
            Operator::Plus => add,
            Operator::Minus => sub,
            Operator::Multiply => mul,
            Operator::Divide => div,
            _ => rem,
        };
        if !is_whole(self.op) {
            let divisor = right.to_array(if matches!(right, ColumnarValue::Scalar(_)) {
                1
            } else {
                arguments.number_rows
            })?;
            let of = datafusion::arrow::compute::cast(&divisor, &DataType::Float64)?;
            if of.as_primitive::<Float64Type>().iter().any(|value| value == Some(0.0)) {
                return exec_err!("division by zero");
            }
        }
        let of = |left: &dyn Datum, right: &dyn Datum| {
            let out = || exec_datafusion_err!("{} out of range", name(&self.of));
            let values = run(left, right).map_err(|_| out())?;
            let is_out = self.of == DataType::Float64
                && is_infinite(&values)
                && !is_infinite(left.get().0)
                && !is_infinite(right.get().0);
            if is_out { Err(out()) } else { Ok(values) }
        };
        Ok(match (left, right) {
            (ColumnarValue::Array(left), ColumnarValue::Array(right)) => {
                ColumnarValue::Array(of(left, right)?)
            }
            (ColumnarValue::Array(left), ColumnarValue::Scalar(right)) => {
                ColumnarValue::Array(of(left, &right.to_scalar()?)?)
            }
            (ColumnarValue::Scalar(left), ColumnarValue::Array(right)) => {
                ColumnarValue::Array(of(&left.to_scalar()?, right)?)
            }
            (ColumnarValue::Scalar(left), ColumnarValue::Scalar(right)) => {
                let value = of(&left.to_scalar()?, &right.to_scalar()?)?;
                debug_assert_eq!(value.len(), 1);
                ColumnarValue::Scalar(ScalarValue::try_from_array(&value, 0)?)
            }
        })
    }
}

fn is_infinite(values: &dyn Array) -> bool {
    values.as_primitive_opt::<Float64Type>().is_some_and(|of| of.iter().flatten().any(f64::is_infinite))
}

fn name(of: &DataType) -> &'static str {
    match of {
        DataType::Int16 => "smallint",
        DataType::Int32 => "integer",
        DataType::Float32 | DataType::Float64 => "double precision",
        _ => "bigint",
    }
}

//! Functions of numbers that round, divide or fail as PostgreSQL's do.
//!
//! Numbers with a fraction are double precision here, also those that PostgreSQL has as `numeric`. What
//! is rounded to digits, or away from zero, is as with `numeric` there.

use std::sync::Arc;

use datafusion::arrow::array::{Array as _, ArrayRef, AsArray as _, Float64Array, Int64Array};
use datafusion::arrow::datatypes::{DataType, Float64Type};
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, Result, exec_err};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{Expr, ExprSchemable as _, cast};

use super::function::{Call, Function, is_integer, no_such};
use super::origin::Origin;

/// `round` of double precision: halves to even, unless PostgreSQL has the number as `numeric`.
pub(super) fn rounded(
    of: ScalarFunction,
    schema: &DFSchema,
    origin: &Origin<'_>,
) -> Result<Transformed<Expr>> {
    let is_double = of.args.first().is_some_and(|of| of.get_type(schema).is_ok_and(|of| of.is_floating()));
    let is_even = of.args.len() == 1 && is_double && !origin.is_numeric(&of.args[0]);
    let has_digits = is_double && of.args.len() == 2;
    if !(is_even || has_digits) {
        return Ok(Transformed::no(Expr::ScalarFunction(of)));
    }
    let function = if is_even { ROUND_EVEN } else { ROUND_DIGITS };
    let arguments = of.args.into_iter().zip([DataType::Float64, DataType::Int64]);
    Ok(Transformed::yes(function.udf().call(arguments.map(|(of, to)| cast(of, to)).collect())))
}

const ROUND_EVEN: Function = Function {
    name: "round_even",
    takes: |of| doubles("round_even", 1, of),
    gives: double,
    run: |call| one(call, |x| Ok(x.round_ties_even())),
};
const ROUND_DIGITS: Function = Function {
    name: "round_digits",
    takes: |of| digits_types("round_digits", of),
    gives: double,
    run: round_digits,
};

/// The functions.
pub(super) const FUNCTIONS: [Function; 13] = [
    Function { name: "mod", takes: |of| whole_or_doubles("mod", of), gives: first, run: modulo },
    Function { name: "div", takes: |of| whole_or_doubles("div", of), gives: first, run: quotient },
    Function {
        name: "sqrt",
        takes: |of| doubles("sqrt", 1, of),
        gives: double,
        run: |call| one(call, square_root),
    },
    Function {
        name: "ln",
        takes: |of| doubles("ln", 1, of),
        gives: double,
        run: |call| one(call, |x| logarithm(x, f64::ln)),
    },
    Function {
        name: "log10",
        takes: |of| doubles("log10", 1, of),
        gives: double,
        run: |call| one(call, |x| logarithm(x, f64::log10)),
    },
    Function { name: "log", takes: log_types, gives: double, run: log },
    Function { name: "power", takes: |of| doubles("power", 2, of), gives: double, run: power },
    Function {
        name: "exp",
        takes: |of| doubles("exp", 1, of),
        gives: double,
        run: |call| one(call, exponential),
    },
    Function { name: "pow", takes: |of| doubles("pow", 2, of), gives: double, run: power },
    Function {
        name: "sign",
        takes: |of| doubles("sign", 1, of),
        gives: double,
        run: |call| one(call, |x| Ok(if x == 0.0 { 0.0 } else { x.signum() })),
    },
    Function {
        name: "ceiling",
        takes: |of| doubles("ceiling", 1, of),
        gives: double,
        run: |call| one(call, |x| Ok(x.ceil())),
    },
    Function { name: "width_bucket", takes: bucket_types, gives: |_| DataType::Int64, run: width_bucket },
    Function { name: "trunc", takes: |of| digits_types("trunc", of), gives: double, run: trunc },
];

fn first(types: &[DataType]) -> DataType {
    types[0].clone()
}

fn double(_: &[DataType]) -> DataType {
    DataType::Float64
}

fn is_number(of: &DataType) -> bool {
    of.is_numeric() || of.is_null()
}

fn doubles(name: &str, n: usize, types: &[DataType]) -> Result<Vec<DataType>> {
    match types.len() == n && types.iter().all(is_number) {
        true => Ok(vec![DataType::Float64; n]),
        false => no_such(name, types),
    }
}

fn whole_or_doubles(name: &str, types: &[DataType]) -> Result<Vec<DataType>> {
    match types.len() == 2 && types.iter().all(is_integer) {
        true => Ok(vec![DataType::Int64; 2]),
        false => doubles(name, 2, types),
    }
}

fn log_types(types: &[DataType]) -> Result<Vec<DataType>> {
    doubles("log", if types.len() == 2 { 2 } else { 1 }, types)
}

fn digits_types(name: &str, types: &[DataType]) -> Result<Vec<DataType>> {
    match types {
        [of] if is_number(of) => Ok(vec![DataType::Float64]),
        [of, digits] if is_number(of) && is_integer(digits) => Ok(vec![DataType::Float64, DataType::Int64]),
        _ => no_such(name, types),
    }
}

fn bucket_types(types: &[DataType]) -> Result<Vec<DataType>> {
    match types {
        [value, low, high, n] if [value, low, high].into_iter().all(is_number) && is_integer(n) => {
            Ok(vec![DataType::Float64, DataType::Float64, DataType::Float64, DataType::Int64])
        }
        _ => no_such("width_bucket", types),
    }
}

fn number(call: &Call, argument: usize, row: usize) -> Option<f64> {
    let column = call.arguments[argument].as_primitive::<Float64Type>();
    (!column.is_null(row)).then(|| column.value(row))
}

fn one(call: &Call, of: impl Fn(f64) -> Result<f64>) -> Result<ArrayRef> {
    let value = |row: usize| number(call, 0, row).map(&of).transpose();
    Ok(Arc::new((0..call.n_rows).map(value).collect::<Result<Float64Array>>()?))
}

fn two(call: &Call, of: impl Fn(f64, f64) -> Result<f64>) -> Result<ArrayRef> {
    let value = |row: usize| match (number(call, 0, row), number(call, 1, row)) {
        (Some(a), Some(b)) => of(a, b).map(Some),
        _ => Ok(None),
    };
    Ok(Arc::new((0..call.n_rows).map(value).collect::<Result<Float64Array>>()?))
}

fn whole(call: &Call, of: impl Fn(i64, i64) -> Option<i64>) -> Result<ArrayRef> {
    let value = |row: usize| match (call.integer(0, row), call.integer(1, row)) {
        (Some(_), Some(0)) => exec_err!("division by zero"),
        (Some(a), Some(b)) => match of(a, b) {
            Some(value) => Ok(Some(value)),
            None => exec_err!("bigint out of range"),
        },
        _ => Ok(None),
    };
    Ok(Arc::new((0..call.n_rows).map(value).collect::<Result<Int64Array>>()?))
}

fn divided(b: f64, value: f64) -> Result<f64> {
    if b == 0.0 { exec_err!("division by zero") } else { Ok(value) }
}

fn modulo(call: &Call) -> Result<ArrayRef> {
    match call.arguments[0].data_type() {
        DataType::Int64 => whole(call, |a, b| Some(a.wrapping_rem(b))),
        _ => two(call, |a, b| divided(b, a % b)),
    }
}

fn quotient(call: &Call) -> Result<ArrayRef> {
    match call.arguments[0].data_type() {
        DataType::Int64 => whole(call, i64::checked_div),
        _ => two(call, |a, b| divided(b, (a / b).trunc())),
    }
}

fn square_root(x: f64) -> Result<f64> {
    if x < 0.0 { exec_err!("cannot take square root of a negative number") } else { Ok(x.sqrt()) }
}

fn logarithm(x: f64, of: fn(f64) -> f64) -> Result<f64> {
    if x == 0.0 {
        exec_err!("cannot take logarithm of zero")
    } else if x < 0.0 {
        exec_err!("cannot take logarithm of a negative number")
    } else {
        Ok(of(x))
    }
}

fn exponential(x: f64) -> Result<f64> {
    match x.exp() {
        value if value.is_infinite() && x.is_finite() => exec_err!("value out of range: overflow"),
        value => Ok(value),
    }
}

fn log(call: &Call) -> Result<ArrayRef> {
    if call.n() == 1 {
        return one(call, |x| logarithm(x, f64::log10));
    }
    two(call, |base, x| {
        let base = logarithm(base, f64::ln)?;
        divided(base, logarithm(x, f64::ln)? / base)
    })
}

fn power(call: &Call) -> Result<ArrayRef> {
    two(call, |base, exponent| {
        if base == 0.0 && exponent < 0.0 {
            return exec_err!("zero raised to a negative power is undefined");
        }
        if base < 0.0 && exponent.fract() != 0.0 {
            return exec_err!("a negative number raised to a non-integer power yields a complex result");
        }
        let value = base.powf(exponent);
        if value.is_infinite() && base.is_finite() && exponent.is_finite() {
            return exec_err!("value out of range: overflow");
        }
        Ok(value)
    })
}

fn width_bucket(call: &Call) -> Result<ArrayRef> {
    let bucket = |row: usize| -> Result<Option<i64>> {
        let (Some(value), Some(low), Some(high), Some(n)) =
            (number(call, 0, row), number(call, 1, row), number(call, 2, row), call.integer(3, row))
        else {
            return Ok(None);
        };
        if n <= 0 {
            return exec_err!("count must be greater than zero");
        }
        if low == high || ![low, high].iter().all(|bound| bound.is_finite()) || value.is_nan() {
            return exec_err!("lower bound cannot equal upper bound, and bounds must be finite");
        }
        let share = (value - low) / (high - low);
        Ok(Some(match share {
            share if share < 0.0 => 0,
            share if share >= 1.0 => n + 1,
            share => (share * n as f64).floor() as i64 + 1,
        }))
    };
    Ok(Arc::new((0..call.n_rows).map(bucket).collect::<Result<Int64Array>>()?))
}

fn trunc(call: &Call) -> Result<ArrayRef> {
    let value = |row: usize| -> Option<f64> {
        let value = number(call, 0, row)?;
        let digits = if call.n() == 2 { call.integer(1, row)? } else { 0 };
        Some(cut(value, digits))
    };
    Ok(Arc::new((0..call.n_rows).map(value).collect::<Float64Array>()))
}

fn round_digits(call: &Call) -> Result<ArrayRef> {
    let value = |row: usize| -> Option<f64> {
        let (value, digits) = (number(call, 0, row)?, call.integer(1, row)?);
        if digits < 0 || !value.is_finite() {
            let unit = 10_f64.powi(i32::try_from(-digits).unwrap_or(0));
            return Some((value / unit).round() * unit);
        }
        // The next digit decides, of the shortest decimal.
        let below = cut(value, digits);
        let next = cut(value, digits.saturating_add(1));
        let step = 10_f64.powi(-i32::try_from(digits).unwrap_or(0));
        let is_up = ((next - below).abs() / step * 10.0).round() >= 5.0;
        let rounded = if is_up { below + step.copysign(value) } else { below };
        format!("{rounded:.*}", usize::try_from(digits).unwrap_or(0)).parse().ok()
    };
    Ok(Arc::new((0..call.n_rows).map(value).collect::<Float64Array>()))
}

/// A number without what is behind so many digits: of its shortest decimal, since it stands for that.
fn cut(value: f64, digits: i64) -> f64 {
    if digits <= 0 || !value.is_finite() {
        let unit = 10_f64.powi(i32::try_from(-digits).unwrap_or(0));
        return (value / unit).trunc() * unit;
    }
    let text = format!("{value}");
    let Some((whole, rest)) = text.split_once('.') else { return value };
    let kept: String = rest.chars().take(usize::try_from(digits).unwrap_or(0)).collect();
    format!("{whole}.{kept}").parse().unwrap_or(value)
}

//! Operators between types that the engine knows otherwise, or not at all.
//!
//! | operands | here | the engine's own |
//! |---|---|---|
//! | date ± interval | a time | a date, without the hours |
//! | interval compared | by how long it is, a month of 30 days | by its months first |
//! | interval times or by a number | parts of months are days, parts of days hours | none |
//! | numeric / number | double precision | a fixed number of digits |
//! | real and integer | double precision | real |
//! | array && array | whether they have something in common | none |
//! | array and text | the text is an array, `'{1,2}'` | none |

use std::sync::Arc;

use datafusion::arrow::array::{Array as _, ArrayRef, AsArray as _, Int64Array, IntervalMonthDayNanoArray};
use datafusion::arrow::datatypes::{DataType, Float64Type};
use datafusion::common::{DFSchema, Result, ScalarValue, exec_err, not_impl_err};
use datafusion::functions_aggregate::sum::sum_udaf;
use datafusion::functions_nested::expr_fn::array_has_any;
use datafusion::logical_expr::planner::{
    ExprPlanner, PlannerResult, RawAggregateExpr, RawBinaryExpr, RawWindowExpr,
};
use datafusion::logical_expr::{
    BinaryExpr, Expr, ExprSchemable as _, Operator, WindowFunctionDefinition, cast,
};
use datafusion::sql::sqlparser::ast::BinaryOperator;

use super::aggregates::is_of_literals;
use super::function::{Call, Function, INTERVAL, TIMESTAMP, no_such};
use super::interval::{DAY, Span};

/// What operators become.
pub(super) const FUNCTIONS: [Function; 2] = [
    Function {
        name: "interval_length",
        takes: |types| match types {
            [DataType::Interval(_)] => Ok(vec![INTERVAL]),
            _ => no_such("interval_length", types),
        },
        gives: |_| DataType::Int64,
        run: length,
    },
    Function {
        name: "interval_times",
        takes: |types| match types {
            [DataType::Interval(_), by] if by.is_numeric() => Ok(vec![INTERVAL, DataType::Float64]),
            _ => no_such("interval_times", types),
        },
        gives: |_| INTERVAL,
        run: times,
    },
];

/// Plans them.
#[derive(Debug)]
pub(super) struct Operators;

/// The same with a text as a list, `'{1,2}'`, where the other operand is one.
fn with_list(mut of: RawBinaryExpr, left: &DataType, right: &DataType) -> Result<RawBinaryExpr> {
    let list = |of: &Expr, to: &DataType| -> Result<Option<Expr>> {
        let (Expr::Literal(ScalarValue::Utf8(Some(text)), _), DataType::List(item)) = (of, to) else {
            return Ok(None);
        };
        let Some(within) = text.trim().strip_prefix('{').and_then(|text| text.strip_suffix('}')) else {
            return exec_err!("malformed array literal: \"{text}\"");
        };
        if within.contains(['"', '{', '\\']) {
            return not_impl_err!("array literals with quotes are not supported, take ARRAY[..]");
        }
        let items = within.split(',').map(str::trim).filter(|item| !item.is_empty());
        let items: Vec<ScalarValue> = items
            .map(|text| match text.eq_ignore_ascii_case("null") {
                true => ScalarValue::try_from(item.data_type()),
                false => ScalarValue::try_from_string(text.to_owned(), item.data_type()),
            })
            .collect::<Result<_>>()?;
        let list = ScalarValue::new_list_nullable(&items, item.data_type());
        Ok(Some(Expr::Literal(ScalarValue::List(list), None)))
    };
    if let Some(changed) = list(&of.left, right)? {
        of.left = changed;
    }
    if let Some(changed) = list(&of.right, left)? {
        of.right = changed;
    }
    Ok(of)
}

impl ExprPlanner for Operators {
    fn plan_binary_op(&self, of: RawBinaryExpr, schema: &DFSchema) -> Result<PlannerResult<RawBinaryExpr>> {
        let (Ok(left), Ok(right)) = (of.left.get_type(schema), of.right.get_type(schema)) else {
            return Ok(PlannerResult::Original(of));
        };
        let of = with_list(of, &left, &right)?;
        Ok(match planned(&of, &left, &right) {
            Some(planned) => PlannerResult::Planned(planned),
            None => PlannerResult::Original(of),
        })
    }

    fn plan_aggregate(&self, mut of: RawAggregateExpr) -> Result<PlannerResult<RawAggregateExpr>> {
        if of.func.name() == "sum" && is_of_literals(&of.args) {
            of.func = sum_udaf();
        }
        Ok(PlannerResult::Original(of))
    }

    fn plan_window(&self, mut of: RawWindowExpr) -> Result<PlannerResult<RawWindowExpr>> {
        if of.func_def.name() == "sum" && is_of_literals(&of.args) {
            of.func_def = WindowFunctionDefinition::AggregateUDF(sum_udaf());
        }
        Ok(PlannerResult::Original(of))
    }
}

fn is_interval(of: &DataType) -> bool {
    matches!(of, DataType::Interval(_))
}

fn is_decimal(of: &DataType) -> bool {
    matches!(of, DataType::Decimal128(..))
}

fn is_real(of: &DataType) -> bool {
    matches!(of, DataType::Float32)
}

fn planned(of: &RawBinaryExpr, left: &DataType, right: &DataType) -> Option<Expr> {
    let [length_of, times_of] = FUNCTIONS.map(Function::udf);
    let (a, b) = (&of.left, &of.right);
    let both = |left: Expr, op: Operator, right: Expr| {
        Some(Expr::BinaryExpr(BinaryExpr::new(Box::new(left), op, Box::new(right))))
    };
    if is_interval(left) && is_interval(right) {
        let op = match of.op {
            BinaryOperator::Eq => Operator::Eq,
            BinaryOperator::NotEq => Operator::NotEq,
            BinaryOperator::Lt => Operator::Lt,
            BinaryOperator::LtEq => Operator::LtEq,
            BinaryOperator::Gt => Operator::Gt,
            BinaryOperator::GtEq => Operator::GtEq,
            _ => return None,
        };
        return both(length_of.call(vec![a.clone()]), op, length_of.call(vec![b.clone()]));
    }
    match of.op {
        BinaryOperator::Plus if *left == DataType::Date32 && is_interval(right) => {
            both(cast(a.clone(), TIMESTAMP), Operator::Plus, b.clone())
        }
        BinaryOperator::Plus if is_interval(left) && *right == DataType::Date32 => {
            both(cast(b.clone(), TIMESTAMP), Operator::Plus, a.clone())
        }
        BinaryOperator::Minus if *left == DataType::Date32 && is_interval(right) => {
            both(cast(a.clone(), TIMESTAMP), Operator::Minus, b.clone())
        }
        BinaryOperator::Multiply if is_interval(left) && right.is_numeric() => {
            Some(times_of.call(vec![a.clone(), b.clone()]))
        }
        BinaryOperator::Multiply if left.is_numeric() && is_interval(right) => {
            Some(times_of.call(vec![b.clone(), a.clone()]))
        }
        BinaryOperator::Divide if is_interval(left) && right.is_numeric() => {
            let by =
                both(datafusion::prelude::lit(1.0), Operator::Divide, cast(b.clone(), DataType::Float64))?;
            Some(times_of.call(vec![a.clone(), by]))
        }
        // What is `numeric` there leaves a fraction.
        BinaryOperator::Divide
            if is_decimal(left) && right.is_numeric() || left.is_numeric() && is_decimal(right) =>
        {
            both(cast(a.clone(), DataType::Float64), Operator::Divide, cast(b.clone(), DataType::Float64))
        }
        BinaryOperator::Plus | BinaryOperator::Minus | BinaryOperator::Multiply | BinaryOperator::Divide
            if is_real(left) && right.is_integer() || left.is_integer() && is_real(right) =>
        {
            let op = match of.op {
                BinaryOperator::Plus => Operator::Plus,
                BinaryOperator::Minus => Operator::Minus,
                BinaryOperator::Multiply => Operator::Multiply,
                _ => Operator::Divide,
            };
            both(cast(a.clone(), DataType::Float64), op, cast(b.clone(), DataType::Float64))
        }
        BinaryOperator::PGOverlap if matches!((left, right), (DataType::List(_), DataType::List(_))) => {
            Some(array_has_any(a.clone(), b.clone()))
        }
        _ => None,
    }
}

fn length(call: &Call) -> Result<ArrayRef> {
    let length = |row: usize| -> Result<Option<i64>> {
        let Some(span) = Span::at(&call.arguments[0], row)? else { return Ok(None) };
        let days = i64::from(span.months) * 30 + i64::from(span.days);
        match days.checked_mul(DAY).and_then(|micros| micros.checked_add(span.micros)) {
            Some(micros) => Ok(Some(micros)),
            None => exec_err!("an interval is out of range"),
        }
    };
    Ok(Arc::new((0..call.n_rows).map(length).collect::<Result<Int64Array>>()?))
}

fn times(call: &Call) -> Result<ArrayRef> {
    let by = call.arguments[1].as_primitive::<Float64Type>();
    let product = |row: usize| -> Result<_> {
        let Some(span) = Span::at(&call.arguments[0], row)?.filter(|_| !by.is_null(row)) else {
            return Ok(None);
        };
        let by = by.value(row);
        let months = f64::from(span.months) * by;
        let days = f64::from(span.days) * by;
        let of_months = (months.fract() * 30.0 * 1e6).round() / 1e6;
        let rest = days.fract() + of_months.fract();
        let micros = (span.micros as f64 * by + rest * DAY as f64).round();
        let days = days.trunc() + of_months.trunc();
        let is_out = |value: f64| value.is_nan() || value.abs() >= f64::from(i32::MAX);
        if is_out(months) || is_out(days) || !(-9e18..9e18).contains(&micros) {
            return exec_err!("interval out of range");
        }
        Span { months: months as i32, days: days as i32, micros: micros as i64 }.value().map(Some)
    };
    Ok(Arc::new((0..call.n_rows).map(product).collect::<Result<IntervalMonthDayNanoArray>>()?))
}

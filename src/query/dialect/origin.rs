//! What a number comes from: whether PostgreSQL has it as `numeric` although it is held as double
//! precision, so that halves are rounded away from zero.

use datafusion::arrow::datatypes::DataType;
use datafusion::common::{Column, ScalarValue};
use datafusion::logical_expr::{Expr, ExprSchemable as _, LogicalPlan};

/// The plans that columns of an expression are of.
pub(super) struct Origin<'p>(pub(super) Vec<&'p LogicalPlan>);

impl Origin<'_> {
    /// Whether `of` is made of numbers that are written out, averages of integers, and integers.
    pub(super) fn is_numeric(&self, of: &Expr) -> bool {
        match of {
            Expr::Literal(ScalarValue::Float64(Some(_)), _) => true,
            Expr::Negative(of) => self.is_numeric(of),
            Expr::Alias(of) => self.is_numeric(&of.expr),
            Expr::Column(of) => self.is_numeric_column(of),
            Expr::BinaryExpr(of) => {
                let parts = [&*of.left, &*of.right];
                parts.iter().any(|of| self.is_numeric(of))
                    && parts.iter().all(|of| self.is_numeric(of) || self.is_whole(of))
            }
            Expr::ScalarFunction(of) => {
                let keeps = [
                    "round",
                    "round_digits",
                    "trunc",
                    "abs",
                    "ceil",
                    "floor",
                    "mod",
                    "add",
                    "subtract",
                    "multiply",
                    "divide",
                    "modulo",
                ];
                keeps.contains(&of.name())
                    && of.args.iter().any(|of| self.is_numeric(of))
                    && of.args.iter().all(|of| self.is_numeric(of) || self.is_whole(of))
            }
            Expr::AggregateFunction(of) => {
                of.func.name() == "avg"
                    && of.params.args.iter().all(|of| self.is_whole(of) || self.is_numeric(of))
                    || matches!(of.func.name(), "sum" | "min" | "max")
                        && of.params.args.iter().all(|of| self.is_numeric(of))
            }
            _ => false,
        }
    }

    /// Whether it is an integer, that has been made a fraction to fit with another one.
    fn is_whole(&self, of: &Expr) -> bool {
        let of = match of {
            Expr::Cast(cast) => &cast.expr,
            Expr::Alias(of) => &of.expr,
            other => other,
        };
        let is_integer = |of: DataType| of.is_integer() || matches!(of, DataType::Decimal128(..));
        self.0.iter().any(|plan| of.get_type(plan.schema()).is_ok_and(is_integer))
            || matches!(of, Expr::Literal(ScalarValue::Int64(_), _))
    }

    fn is_numeric_column(&self, column: &Column) -> bool {
        self.0.iter().any(|plan| {
            let Some(at) = plan.schema().maybe_index_of_column(column) else { return false };
            match plan {
                LogicalPlan::Projection(of) => Origin(vec![&of.input]).is_numeric(&of.expr[at]),
                LogicalPlan::Aggregate(of) => {
                    let at = at.checked_sub(of.group_expr.len()).and_then(|at| of.aggr_expr.get(at));
                    at.is_some_and(|aggregate| Origin(vec![&of.input]).is_numeric(aggregate))
                }
                LogicalPlan::Values(of) => of.values.iter().all(|row| {
                    let is_null = matches!(&row[at], Expr::Literal(value, _) if value.is_null());
                    is_null
                        || Origin(Vec::new()).is_numeric(&row[at])
                        || Origin(Vec::new()).is_whole(&row[at])
                }),
                LogicalPlan::SubqueryAlias(of) => {
                    let (qualifier, field) = of.input.schema().qualified_field(at);
                    Origin(vec![&of.input]).is_numeric_column(&Column::from((qualifier, field)))
                }
                LogicalPlan::Filter(_) | LogicalPlan::Sort(_) | LogicalPlan::Limit(_) => {
                    Origin(plan.inputs()).is_numeric_column(column)
                }
                _ => false,
            }
        })
    }
}

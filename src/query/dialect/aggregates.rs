//! `sum` of 64-bit integers, which is `numeric` in PostgreSQL: it cannot be too large, and what it is
//! divided by leaves a fraction.

use datafusion::arrow::datatypes::{DataType, FieldRef};
use datafusion::common::tree_node::{TreeNode as _, TreeNodeRecursion};
use datafusion::common::{Result, not_impl_err, plan_err};
use datafusion::functions_aggregate::sum::Sum as OfEngine;
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::utils::AggregateOrderSensitivity;
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, Expr, GroupsAccumulator, ReversedUDAF, Signature, Volatility,
};

/// What sums of integers are held in.
const NUMERIC: DataType = DataType::Decimal128(38, 0);

/// The aggregate.
pub(super) fn sum() -> AggregateUDF {
    AggregateUDF::from(Sum {
        inner: OfEngine::new(),
        signature: Signature::user_defined(Volatility::Immutable),
    })
}

/// Whether numbers of the query alone are summed, as in `sum(CASE WHEN a THEN 1 ELSE 0 END)`: PostgreSQL
/// has them as `integer`, and their sum as `bigint`.
pub(super) fn is_of_literals(arguments: &[Expr]) -> bool {
    let mut is_of_literals = true;
    let _ = arguments.iter().try_for_each(|argument| {
        argument
            .apply(|of| {
                Ok(match of {
                    Expr::Case(case) => {
                        let values = case.when_then_expr.iter().map(|(_, then)| &**then);
                        let values: Vec<Expr> = values.chain(case.else_expr.as_deref()).cloned().collect();
                        is_of_literals &= self::is_of_literals(&values);
                        TreeNodeRecursion::Jump
                    }
                    Expr::Literal(..) | Expr::Cast(_) | Expr::Negative(_) | Expr::BinaryExpr(_) => {
                        TreeNodeRecursion::Continue
                    }
                    _ => {
                        is_of_literals = false;
                        TreeNodeRecursion::Stop
                    }
                })
            })
            .map(|_| ())
    });
    is_of_literals
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Sum {
    inner: OfEngine,
    signature: Signature,
}

impl AggregateUDFImpl for Sum {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        let [of] = types else { return plan_err!("sum is of one value") };
        Ok(vec![match of {
            DataType::Int64 | DataType::Null => NUMERIC,
            of if of.is_unsigned_integer() => NUMERIC,
            // Its sum is `bigint` there.
            of if of.is_integer() => return not_impl_err!("sum of integer is not supported; cast to bigint"),
            of if of.is_floating() => DataType::Float64,
            DataType::Decimal128(..) | DataType::Duration(_) | DataType::Interval(_) => of.clone(),
            other => return plan_err!("Invalid function: sum({other}) does not exist"),
        }])
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        self.inner.return_type(types)
    }

    fn accumulator(&self, arguments: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        self.inner.accumulator(arguments)
    }

    fn state_fields(&self, arguments: StateFieldsArgs) -> Result<Vec<FieldRef>> {
        self.inner.state_fields(arguments)
    }

    fn groups_accumulator_supported(&self, arguments: AccumulatorArgs) -> bool {
        self.inner.groups_accumulator_supported(arguments)
    }

    fn create_groups_accumulator(&self, arguments: AccumulatorArgs) -> Result<Box<dyn GroupsAccumulator>> {
        self.inner.create_groups_accumulator(arguments)
    }

    fn create_sliding_accumulator(&self, arguments: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        self.inner.create_sliding_accumulator(arguments)
    }

    fn reverse_expr(&self) -> ReversedUDAF {
        ReversedUDAF::Identical
    }

    fn order_sensitivity(&self) -> AggregateOrderSensitivity {
        AggregateOrderSensitivity::Insensitive
    }
}

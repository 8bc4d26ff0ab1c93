//! Filters in time in the logical plan. A filter says something of one whole side of its
//! join, so nothing that is asked after the join, or beside the filter, may be asked before
//! it: such a join becomes a node of its own, below which the engine pushes no condition
//! and which it joins in no other order.

use std::cmp::Ordering;
use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use datafusion::arrow::datatypes::DataType;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult as _, TreeNode as _, TreeNodeRecursion};
use datafusion::common::{
    Column, DFSchemaRef, JoinType, NullEquality, Result, ScalarValue, internal_err, plan_err,
};
use datafusion::logical_expr::builder::build_join_schema;
use datafusion::logical_expr::utils::split_conjunction_owned;
use datafusion::logical_expr::{Expr, Extension, Join, LogicalPlan, UserDefinedLogicalNodeCore};
use datafusion::optimizer::AnalyzerRule;

use super::condition::Filter;
use super::functions::not_a_join;

mod planner;

pub(crate) use planner::FilterPlanner;

/// Makes a [`FilteredJoin`] of each join on a filter in time, and refuses filters that stand
/// elsewhere.
#[derive(Debug)]
pub(crate) struct FilteredJoins;

impl AnalyzerRule for FilteredJoins {
    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        plan.transform_up_with_subqueries(|plan| match (stray(&plan)?, plan) {
            (None, plan) => Ok(Transformed::no(plan)),
            (Some(_), LogicalPlan::Join(join)) => {
                let node = Arc::new(FilteredJoin::of(join)?);
                Ok(Transformed::yes(LogicalPlan::Extension(Extension { node })))
            }
            (Some(name), _) => plan_err!("{}", not_a_join(&name)),
        })
        .data()
    }

    fn name(&self) -> &'static str {
        "filters_in_time"
    }
}

/// The name of a filter in time that `plan` asks for itself.
fn stray(plan: &LogicalPlan) -> Result<Option<String>> {
    let mut found = None;
    plan.apply_expressions(|expr| {
        found = filter_in(expr)?.or(found.take());
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(found)
}

/// The name of a filter in time within `expr`.
fn filter_in(expr: &Expr) -> Result<Option<String>> {
    let mut found = None;
    expr.apply(|expr| {
        if let Expr::ScalarFunction(call) = expr
            && Filter::NAMES.contains(&call.name())
        {
            found = Some(call.name().to_owned());
        }
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(found)
}

/// A join of two sides one of which is filtered in time.
#[derive(Debug, PartialEq, Eq, Hash)]
struct FilteredJoin {
    left: LogicalPlan,
    right: LogicalPlan,
    join_type: JoinType,
    filter: Filter,
    /// Positions of the side that is filtered.
    source: Column,
    /// Positions of the other one, for which it is.
    target: Column,
    /// What else has to hold, of what the filter leaves.
    rest: Vec<Expr>,
    schema: DFSchemaRef,
}

impl FilteredJoin {
    /// The join that `join` asks for.
    fn of(join: Join) -> Result<Self> {
        if matches!(join.join_type, JoinType::LeftMark | JoinType::RightMark) || join.null_aware {
            return plan_err!("a filter in time cannot stand in this kind of join");
        }
        if !join.on.is_empty() && join.null_equality != NullEquality::NullEqualsNothing {
            return plan_err!("a filter in time cannot stand beside a comparison that nulls pass");
        }
        let mut rest: Vec<Expr> = join.on.into_iter().map(|(left, right)| left.eq(right)).collect();
        let mut found = None;
        for part in join.filter.map(split_conjunction_owned).unwrap_or_default() {
            match filter_in(&part)? {
                None => rest.push(part),
                Some(name) if found.is_some() => {
                    return plan_err!(
                        "`{name}` is the second filter in time of one join; join once more for it"
                    );
                }
                Some(name) => found = Some(parts_of(&part, &name)?),
            }
        }
        let Some((name, filter, source, target)) = found else {
            return internal_err!("a join without a filter in time");
        };
        let (left, right) = (Arc::unwrap_or_clone(join.left), Arc::unwrap_or_clone(join.right));
        let is_left = |column: &Column| left.schema().has_column(column);
        if is_left(&source) == is_left(&target) {
            return plan_err!("{}", not_a_join(&name));
        }
        Ok(Self { left, right, join_type: join.join_type, filter, source, target, rest, schema: join.schema })
    }

    /// Whether it is the right side that is filtered.
    fn is_swapped(&self) -> bool {
        self.right.schema().has_column(&self.source)
    }
}

/// What the filter in time `part` says: its name, what it is, and both of its positions.
fn parts_of(part: &Expr, name: &str) -> Result<(String, Filter, Column, Column)> {
    let Expr::ScalarFunction(call) = part else {
        return plan_err!("`{name}` has to hold as it stands: not within `OR`, `NOT` or anything else");
    };
    let n = match call.args.get(2) {
        None => Some(1),
        Some(Expr::Literal(value, _)) => whole(value),
        Some(_) => None,
    };
    let Some(n) = n else {
        return plan_err!("`{name}` takes a whole number of rows, at least 0, as its last argument");
    };
    match (Filter::named(name, n), &call.args[..2]) {
        (Some(filter), [Expr::Column(source), Expr::Column(target)]) => {
            Ok((name.to_owned(), filter, source.clone(), target.clone()))
        }
        _ => plan_err!("{}", not_a_join(name)),
    }
}

fn whole(value: &ScalarValue) -> Option<usize> {
    match value.cast_to(&DataType::Int64) {
        Ok(ScalarValue::Int64(Some(n))) => usize::try_from(n).ok(),
        _ => None,
    }
}

impl PartialOrd for FilteredJoin {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        let key = |join: &Self| (join.join_type, join.filter, join.source.clone(), join.target.clone());
        let order = key(self).partial_cmp(&key(other))?;
        let order = order.then(self.rest.partial_cmp(&other.rest)?);
        let order = order.then(self.left.partial_cmp(&other.left)?);
        Some(order.then(self.right.partial_cmp(&other.right)?))
    }
}

impl UserDefinedLogicalNodeCore for FilteredJoin {
    fn name(&self) -> &'static str {
        "FilteredJoin"
    }

    fn inputs(&self) -> Vec<&LogicalPlan> {
        vec![&self.left, &self.right]
    }

    fn schema(&self) -> &DFSchemaRef {
        &self.schema
    }

    fn expressions(&self) -> Vec<Expr> {
        let positions = [&self.source, &self.target].map(|column| Expr::Column(column.clone()));
        positions.into_iter().chain(self.rest.iter().cloned()).collect()
    }

    fn prevent_predicate_push_down_columns(&self) -> HashSet<String> {
        self.schema.fields().iter().map(|field| field.name().clone()).collect()
    }

    fn fmt_for_explain(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { join_type, source, target, .. } = self;
        write!(f, "FilteredJoin: {join_type}, on={}", self.filter.show(source, target))?;
        self.rest.iter().try_for_each(|expr| write!(f, ", {expr}"))
    }

    fn with_exprs_and_inputs(&self, exprs: Vec<Expr>, inputs: Vec<LogicalPlan>) -> Result<Self> {
        let Ok([left, right]) = <[LogicalPlan; 2]>::try_from(inputs) else {
            return internal_err!("a join has two sides");
        };
        let mut exprs = exprs.into_iter();
        let (Some(Expr::Column(source)), Some(Expr::Column(target))) = (exprs.next(), exprs.next()) else {
            return internal_err!("a filter in time is of two columns of positions");
        };
        let schema = Arc::new(build_join_schema(left.schema(), right.schema(), &self.join_type)?);
        let (join_type, filter, rest) = (self.join_type, self.filter, exprs.collect());
        Ok(Self { left, right, join_type, filter, source, target, rest, schema })
    }

    fn necessary_children_exprs(&self, output_columns: &[usize]) -> Option<Vec<Vec<usize>>> {
        let n_left = match self.join_type {
            JoinType::RightSemi | JoinType::RightAnti => 0,
            _ => self.left.schema().fields().len(),
        };
        let (left, right): (Vec<usize>, Vec<usize>) = output_columns.iter().partition(|&&at| at < n_left);
        Some(vec![left, right.into_iter().map(|at| at - n_left).collect()])
    }
}

//! The rule: a join on a relation becomes the operator that goes through the requests one
//! by one. It comes before all other rules of the physical plan, which then see to it that
//! both sides are divided and sorted by request.

use std::sync::Arc;

use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult as _, TreeNode as _};
use datafusion::common::{JoinSide, JoinType, NullEquality, Result};
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::{ScalarFunctionExpr, conjunction, split_conjunction};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::joins::utils::JoinFilter;
use datafusion::physical_plan::joins::{HashJoinExec, NestedLoopJoinExec};
use datafusion::physical_plan::{ExecutionPlan, PhysicalExpr};

use super::condition::{Condition, Relation};
use super::operator::{HappenedBeforeJoinExec, Join};

/// Makes joins on a relation go through the requests one by one.
#[derive(Debug)]
pub(crate) struct JoinByRequest;

impl PhysicalOptimizerRule for JoinByRequest {
    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        config: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let config = Arc::new(config.clone());
        plan.transform_up(|plan| match rewrite(&plan, &config)? {
            Some(join) => Ok(Transformed::yes(join)),
            None => Ok(Transformed::no(plan)),
        })
        .data()
    }

    fn name(&self) -> &'static str {
        "join_by_request"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// The engine's join that the operator can take the place of.
struct Replaced<'p> {
    left: &'p Arc<dyn ExecutionPlan>,
    right: &'p Arc<dyn ExecutionPlan>,
    on: Vec<(Arc<dyn PhysicalExpr>, Arc<dyn PhysicalExpr>)>,
    filter: &'p JoinFilter,
    join_type: JoinType,
    projection: Option<Vec<usize>>,
}

impl<'p> Replaced<'p> {
    /// The join that `plan` is; none: it is no join, or one that the operator does not do.
    fn of(plan: &'p Arc<dyn ExecutionPlan>) -> Option<Self> {
        let join = if let Some(join) = plan.downcast_ref::<NestedLoopJoinExec>() {
            let projection = join.projection().as_ref().map(|projection| projection.to_vec());
            let (left, right, filter, join_type) =
                (join.left(), join.right(), join.filter()?, *join.join_type());
            Self { left, right, on: Vec::new(), filter, join_type, projection }
        } else {
            let join = plan.downcast_ref::<HashJoinExec>()?;
            if join.null_equality != NullEquality::NullEqualsNothing || join.null_aware {
                return None;
            }
            let projection = join.projection.as_ref().map(|projection| projection.to_vec());
            let (left, right, filter, join_type) = (&join.left, &join.right, join.filter()?, join.join_type);
            Self { left, right, on: join.on.clone(), filter, join_type, projection }
        };
        (!matches!(join.join_type, JoinType::LeftMark | JoinType::RightMark)).then_some(join)
    }
}

/// A relation that a join asks for: between which columns of which sides.
struct Marker {
    relation: Relation,
    /// Of its first and its second argument: the column of its side.
    columns: (usize, usize),
    /// The first argument is of the right side.
    is_swapped: bool,
}

fn rewrite(
    plan: &Arc<dyn ExecutionPlan>,
    config: &Arc<ConfigOptions>,
) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    let Some(replaced) = Replaced::of(plan) else { return Ok(None) };
    let filter = replaced.filter;
    let parts = split_conjunction(filter.expression());
    let mut markers = parts.iter().enumerate();
    let Some((at, marker)) = markers.find_map(|(at, part)| Some((at, marker(part, filter)?))) else {
        return Ok(None);
    };
    let rest = parts.iter().enumerate().filter(|(i, _)| *i != at).map(|(_, part)| Arc::clone(part));
    let rest: Vec<Arc<dyn PhysicalExpr>> = rest.collect();
    let rest = (!rest.is_empty()).then(|| {
        let (indices, schema) = (filter.column_indices().to_vec(), Arc::clone(filter.schema()));
        JoinFilter::new(conjunction(rest), indices, schema)
    });
    let (first, second) = marker.columns;
    let (left_column, right_column) = if marker.is_swapped { (second, first) } else { (first, second) };
    let join = Join {
        condition: Condition::Relation(marker.relation),
        is_swapped: marker.is_swapped,
        left_column,
        right_column,
        on: replaced.on,
        filter: rest,
        join_type: replaced.join_type,
        schema: plan.schema(),
        projection: replaced.projection,
    };
    let (left, right) = (Arc::clone(replaced.left), Arc::clone(replaced.right));
    Ok(Some(Arc::new(HappenedBeforeJoinExec::new(left, right, join, config)?)))
}

/// The relation that `part` is, between both sides; none: it is another condition, which
/// is asked of each pair.
fn marker(part: &Arc<dyn PhysicalExpr>, filter: &JoinFilter) -> Option<Marker> {
    let call = part.downcast_ref::<ScalarFunctionExpr>()?;
    let relation = Relation::ALL.into_iter().find(|relation| relation.name() == call.name())?;
    let column = |at: usize| {
        let column = call.args().get(at)?.downcast_ref::<Column>()?;
        filter.column_indices().get(column.index())
    };
    let (a, b) = (column(0)?, column(1)?);
    let is_swapped = a.side == JoinSide::Right;
    (a.side != b.side).then_some(Marker { relation, columns: (a.index, b.index), is_swapped })
}

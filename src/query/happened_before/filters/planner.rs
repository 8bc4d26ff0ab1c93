//! From a join with a filter in time to the operator.

use std::sync::Arc;

use async_trait::async_trait;
use datafusion::arrow::datatypes::Schema;
use datafusion::catalog::Session;
use datafusion::common::{DFSchema, Result};
use datafusion::execution::context::QueryPlanner;
use datafusion::logical_expr::physical_planning_context::PhysicalPlanningContext;
use datafusion::logical_expr::utils::conjunction;
use datafusion::logical_expr::{LogicalPlan, UserDefinedLogicalNode};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::joins::utils::JoinFilter;
use datafusion::physical_planner::{DefaultPhysicalPlanner, ExtensionPlanner, PhysicalPlanner};

use super::super::condition::Condition;
use super::super::operator::{HappenedBeforeJoinExec, Join};
use super::FilteredJoin;

/// Plans queries as the engine does, and joins with a filter in time.
#[derive(Debug)]
pub(crate) struct FilterPlanner;

#[async_trait]
impl QueryPlanner for FilterPlanner {
    async fn create_physical_plan(
        &self,
        plan: &LogicalPlan,
        session: &dyn Session,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let planner = DefaultPhysicalPlanner::with_extension_planners(vec![Arc::new(JoinPlanner)]);
        planner.create_physical_plan(plan, session).await
    }
}

struct JoinPlanner;

#[async_trait]
impl ExtensionPlanner for JoinPlanner {
    async fn plan_extension(
        &self,
        planner: &dyn PhysicalPlanner,
        node: &dyn UserDefinedLogicalNode,
        _: &[&LogicalPlan],
        inputs: &[Arc<dyn ExecutionPlan>],
        session: &dyn Session,
        context: &PhysicalPlanningContext,
    ) -> Result<Option<Arc<dyn ExecutionPlan>>> {
        let (Some(node), [left, right]) = (node.as_any().downcast_ref::<FilteredJoin>(), inputs) else {
            return Ok(None);
        };
        let is_swapped = node.is_swapped();
        let (left_column, right_column) =
            if is_swapped { (&node.target, &node.source) } else { (&node.source, &node.target) };
        let join = Join {
            condition: Condition::Filter(node.filter),
            is_swapped,
            left_column: node.left.schema().index_of_column(left_column)?,
            right_column: node.right.schema().index_of_column(right_column)?,
            on: Vec::new(),
            filter: rest(node, planner, session, context)?,
            join_type: node.join_type,
            schema: Arc::new(node.schema.as_arrow().clone()),
            projection: None,
        };
        let config = Arc::new(session.config_options().clone());
        let exec = HappenedBeforeJoinExec::new(Arc::clone(left), Arc::clone(right), join, &config)?;
        Ok(Some(Arc::new(exec)))
    }
}

/// What has to hold beside the filter, of the columns that it speaks of.
fn rest(
    node: &FilteredJoin,
    planner: &dyn PhysicalPlanner,
    session: &dyn Session,
    context: &PhysicalPlanningContext,
) -> Result<Option<JoinFilter>> {
    let Some(expr) = conjunction(node.rest.iter().cloned()) else { return Ok(None) };
    let columns = expr.column_refs();
    let of = |schema: &DFSchema| {
        let mut indices: Vec<usize> =
            columns.iter().filter_map(|column| schema.maybe_index_of_column(column)).collect();
        indices.sort_unstable();
        let fields: Vec<_> = indices.iter().map(|&at| schema.qualified_field(at)).collect();
        let fields = fields.into_iter().map(|(table, field)| (table.cloned(), Arc::clone(field)));
        (indices, fields.collect::<Vec<_>>())
    };
    let (left, mut fields) = of(node.left.schema());
    let (right, right_fields) = of(node.right.schema());
    fields.extend(right_fields);
    let schema = DFSchema::new_with_metadata(fields, Default::default())?;
    let expression = planner.create_physical_expr(&expr, &schema, session, context)?;
    let indices = JoinFilter::build_column_indices(left, right);
    Ok(Some(JoinFilter::new(expression, indices, Arc::new(Schema::clone(schema.as_arrow())))))
}

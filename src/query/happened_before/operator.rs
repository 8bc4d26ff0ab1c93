//! The operator: joins two sides request by request. Both come divided and sorted by
//! request, which the engine sees to, and spills while it sorts; so of each side only the
//! rows of the requests at hand are held, as many as fill a batch or as the largest
//! request has.

use std::fmt;
use std::sync::Arc;

use datafusion::arrow::compute::SortOptions;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{JoinType, Result, internal_err};
use datafusion::execution::TaskContext;
use datafusion::execution::memory_pool::MemoryConsumer;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::{
    EquivalenceProperties, LexOrdering, OrderingRequirements, PhysicalSortExpr, ScalarFunctionExpr,
};
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType};
use datafusion::physical_plan::joins::utils::JoinFilter;
use datafusion::physical_plan::metrics::{BaselineMetrics, ExecutionPlanMetricsSet, MetricsSet};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    ChildrenPropertiesMode, DisplayAs, DisplayFormatType, Distribution, ExecutionPlan,
    ExecutionPlanProperties as _, InputDistributionRequirements, Partitioning, PhysicalExpr, PlanProperties,
    ReplaceChildrenOptions, SendableRecordBatchStream, apply_expression_roots,
};

use super::condition::Condition;
use super::functions::request_function;
use joining::Joining;
use side::Side;

mod joining;
mod requests;
mod side;

/// What a join gives out, and for which rows.
#[derive(Clone, Debug)]
pub(super) struct Join {
    pub(super) condition: Condition,
    /// The first row that the condition speaks of is of the right side.
    pub(super) is_swapped: bool,
    /// Columns of positions.
    pub(super) left_column: usize,
    pub(super) right_column: usize,
    /// Expressions of the left and of the right side that are equal.
    pub(super) on: Vec<(Arc<dyn PhysicalExpr>, Arc<dyn PhysicalExpr>)>,
    /// What else has to hold.
    pub(super) filter: Option<JoinFilter>,
    pub(super) join_type: JoinType,
    pub(super) schema: SchemaRef,
    /// Columns that it gives out, of those of the left and then the right side; none: all.
    pub(super) projection: Option<Vec<usize>>,
}

/// The operator.
#[derive(Debug, Clone)]
pub(super) struct HappenedBeforeJoinExec {
    left: Arc<dyn ExecutionPlan>,
    right: Arc<dyn ExecutionPlan>,
    join: Arc<Join>,
    /// What tells the requests of both sides apart.
    keys: [Arc<dyn PhysicalExpr>; 2],
    properties: Arc<PlanProperties>,
    metrics: ExecutionPlanMetricsSet,
}

impl HappenedBeforeJoinExec {
    /// Joins `left` and `right`.
    pub(super) fn new(
        left: Arc<dyn ExecutionPlan>,
        right: Arc<dyn ExecutionPlan>,
        join: Join,
        config: &Arc<ConfigOptions>,
    ) -> Result<Self> {
        let key = |side: &Arc<dyn ExecutionPlan>, column: usize| -> Result<Arc<dyn PhysicalExpr>> {
            let schema = side.schema();
            let column: Arc<dyn PhysicalExpr> = Arc::new(Column::new(schema.field(column).name(), column));
            let function = Arc::new(request_function());
            let call =
                ScalarFunctionExpr::try_new(function, vec![column], schema.as_ref(), Arc::clone(config))?;
            Ok(Arc::new(call))
        };
        let keys = [key(&left, join.left_column)?, key(&right, join.right_column)?];
        let properties = properties(&left, &join.schema);
        let (join, metrics) = (Arc::new(join), ExecutionPlanMetricsSet::new());
        Ok(Self { left, right, join, keys, properties, metrics })
    }
}

fn properties(left: &Arc<dyn ExecutionPlan>, schema: &SchemaRef) -> Arc<PlanProperties> {
    Arc::new(PlanProperties::new(
        EquivalenceProperties::new(Arc::clone(schema)),
        Partitioning::UnknownPartitioning(left.output_partitioning().partition_count()),
        EmissionType::Incremental,
        Boundedness::Bounded,
    ))
}

impl DisplayAs for HappenedBeforeJoinExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let left = format!("left.{}", self.left.schema().field(self.join.left_column).name());
        let right = format!("right.{}", self.right.schema().field(self.join.right_column).name());
        let (a, b) = if self.join.is_swapped { (right, left) } else { (left, right) };
        let condition = match self.join.condition {
            Condition::Relation(relation) => format!("{}({a}, {b})", relation.name()),
            Condition::Filter(filter) => filter.show(&a, &b),
        };
        write!(f, "HappenedBeforeJoinExec: join_type={:?}, on={condition}", self.join.join_type)?;
        for (left, right) in &self.join.on {
            write!(f, ", {left} = {right}")?;
        }
        if let Some(filter) = &self.join.filter {
            write!(f, ", filter={}", filter.expression())?;
        }
        Ok(())
    }
}

impl ExecutionPlan for HappenedBeforeJoinExec {
    fn name(&self) -> &'static str {
        "HappenedBeforeJoinExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn input_distribution_requirements(&self) -> InputDistributionRequirements {
        let by = |key: &Arc<dyn PhysicalExpr>| Distribution::KeyPartitioned(vec![Arc::clone(key)]);
        InputDistributionRequirements::co_partitioned(self.keys.iter().map(by).collect())
    }

    fn required_input_ordering(&self) -> Vec<Option<OrderingRequirements>> {
        let by = |key: &Arc<dyn PhysicalExpr>| {
            let order = PhysicalSortExpr::new(Arc::clone(key), SortOptions::default());
            LexOrdering::new([order]).map(OrderingRequirements::from)
        };
        self.keys.iter().map(by).collect()
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.left, &self.right]
    }

    fn apply_expressions(
        &self,
        f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        let on = self.join.on.iter().flat_map(|(left, right)| [left, right]);
        let filter = self.join.filter.iter().map(JoinFilter::expression);
        apply_expression_roots(self.keys.iter().chain(on).chain(filter), f)
    }

    fn replace_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
        options: ReplaceChildrenOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let Ok([left, right]) = <[_; 2]>::try_from(children) else {
            return internal_err!("a join has two sides");
        };
        let properties = match options.children_properties {
            ChildrenPropertiesMode::Keep => Arc::clone(&self.properties),
            ChildrenPropertiesMode::Recompute => properties(&left, &self.join.schema),
        };
        let metrics = ExecutionPlanMetricsSet::new();
        Ok(Arc::new(Self { left, right, properties, metrics, ..Self::clone(&self) }))
    }

    fn with_new_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        self.replace_children(children, ReplaceChildrenOptions::new(ChildrenPropertiesMode::Recompute))
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let [left_key, right_key] = &self.keys;
        let left = Side::new(self.left.execute(partition, Arc::clone(&context))?, Arc::clone(left_key));
        let right = Side::new(self.right.execute(partition, Arc::clone(&context))?, Arc::clone(right_key));
        let consumer = MemoryConsumer::new(format!("HappenedBeforeJoinExec[{partition}]"));
        let reservation = consumer.register(context.memory_pool());
        let n_rows = context.session_config().batch_size();
        let metrics = BaselineMetrics::new(&self.metrics, partition);
        let joining = Joining::new(Arc::clone(&self.join), left, right, reservation, n_rows, metrics);
        let stream = futures::stream::try_unfold(joining, |mut joining| async move {
            let batch = joining.next().await?;
            Ok(batch.map(|batch| (batch, joining)))
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(Arc::clone(&self.join.schema), stream)))
    }

    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.metrics.clone_inner())
    }
}

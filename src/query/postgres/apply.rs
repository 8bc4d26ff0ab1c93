//! Queries within a query, of the catalogs: each is asked anew for each different row that it depends on, as
//! PostgreSQL means it, where the engine cannot make a join of it. Catalogs are small, and all else is
//! left to the engine.

use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use datafusion::arrow::array::{Array as _, ArrayRef, RecordBatch};
use datafusion::arrow::compute::concat_batches;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::metadata::ScalarAndMetadata;
use datafusion::common::tree_node::{Transformed, TreeNode as _, TreeNodeRecursion};
use datafusion::common::{
    DFSchema, ParamValues, Result, ScalarValue, TableReference, exec_err, internal_err,
};
use datafusion::logical_expr::expr::Placeholder;
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{
    ColumnarValue, Expr, LogicalPlan, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, TypeSignature,
    Volatility,
};
use datafusion::prelude::SessionContext;
use rustc_hash::FxHashMap;

/// What begins the names of parameters that stand for a row.
const ROW: &str = "$row";

/// Whether a plan reads the catalogs only, and what it makes of them itself.
pub(super) fn is_of_catalogs(plan: &LogicalPlan) -> bool {
    let (mut scanned, mut made) = (Vec::new(), Vec::new());
    let _ = plan.apply_with_subqueries(|node| {
        match node {
            LogicalPlan::TableScan(scan) => scanned.push(scan.table_name.clone()),
            LogicalPlan::RecursiveQuery(of) => made.push(of.name.clone()),
            _ => {}
        }
        Ok(TreeNodeRecursion::Continue)
    });
    let is_of = |name: &TableReference| match name.schema() {
        Some(schema) => matches!(schema, "pg_catalog" | "information_schema"),
        None => name.table() == "pg_get_keywords" || made.iter().any(|made| made == name.table()),
    };
    !scanned.is_empty() && scanned.iter().all(is_of)
}

/// Whether there is a query within `plan`.
pub(super) fn has_queries(plan: &LogicalPlan) -> bool {
    let mut has = false;
    let _ = plan.apply_with_subqueries(|node| {
        node.apply_expressions(|of| {
            of.apply(|of| {
                has |= subquery(of).is_some();
                Ok(TreeNodeRecursion::Continue)
            })
        })
    });
    has
}

fn subquery(of: &Expr) -> Option<&datafusion::logical_expr::Subquery> {
    match of {
        Expr::ScalarSubquery(of) => Some(of),
        Expr::Exists(of) => Some(&of.subquery),
        Expr::InSubquery(of) => Some(&of.subquery),
        _ => None,
    }
}

/// `plan` with calls in the place of such queries.
///
/// # Errors
/// Expressions that have no type.
pub(super) fn applied(plan: LogicalPlan, context: &SessionContext) -> Result<LogicalPlan> {
    let changed = plan.transform_up(|node| {
        let schema = merge_schema(&node.inputs());
        let names = datafusion::logical_expr::expr_rewriter::NamePreserver::new(&node);
        node.map_expressions(|expression| {
            let name = names.save(&expression);
            let changed = expression.transform_up(|of| asked(of, &schema, context))?;
            Ok(changed.update_data(|of| name.restore(of)))
        })?
        .map_data(|node| node.recompute_schema())
    })?;
    Ok(changed.data)
}

/// A call in the place of a query.
fn asked(of: Expr, schema: &DFSchema, context: &SessionContext) -> Result<Transformed<Expr>> {
    let Some(query) = subquery(&of) else { return Ok(Transformed::no(of)) };
    let within = applied(query.subquery.as_ref().clone(), context)?;
    let (within, outer) = opened(within)?;
    let kind = match &of {
        Expr::ScalarSubquery(_) => Kind::Value,
        Expr::Exists(of) => Kind::Exists { is_negated: of.negated },
        Expr::InSubquery(of) => Kind::Among { is_negated: of.negated },
        _ => return internal_err!("no query"),
    };
    let gives = match kind {
        Kind::Value => within.schema().field(0).data_type().clone(),
        _ => DataType::Boolean,
    };
    let mut arguments = match of {
        Expr::InSubquery(of) => vec![*of.expr],
        _ => Vec::new(),
    };
    // Of this query, or of one around it.
    arguments.extend(outer.iter().map(|of| match of {
        Expr::OuterReferenceColumn(_, column) if schema.has_column(column) => Expr::Column(column.clone()),
        other => other.clone(),
    }));
    let call = Asked {
        plan: within,
        kind,
        gives,
        outer,
        context: context.clone(),
        signature: Signature::one_of(
            vec![TypeSignature::Nullary, TypeSignature::VariadicAny],
            Volatility::Volatile,
        ),
    };
    Ok(Transformed::yes(ScalarUDF::from(call).call(arguments)))
}

/// A plan with parameters of its own in the place of what it takes of a row around it, and of a client.
fn opened(plan: LogicalPlan) -> Result<(LogicalPlan, Vec<Expr>)> {
    let mut outer: Vec<Expr> = Vec::new();
    let plan = plan.transform_up_with_subqueries(|node| {
        node.map_expressions(|expression| {
            expression.transform_up(|of| {
                let field = match &of {
                    Expr::OuterReferenceColumn(field, _) => Some(Arc::clone(field)),
                    Expr::Placeholder(of) if !of.id.starts_with(ROW) => of.field.clone(),
                    _ => return Ok(Transformed::no(of)),
                };
                let at = outer.iter().position(|known| *known == of).unwrap_or_else(|| {
                    outer.push(of);
                    outer.len() - 1
                });
                let id = format!("{ROW}{at}");
                Ok(Transformed::yes(Expr::Placeholder(Placeholder::new_with_field(id, field))))
            })
        })?
        .map_data(|node| match node {
            // One of a table that depends on the row.
            LogicalPlan::Subquery(of) => Ok(Arc::unwrap_or_clone(of.subquery)),
            node => node.recompute_schema(),
        })
    })?;
    Ok((plan.data, outer))
}

/// What is asked of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Kind {
    Value,
    Exists { is_negated: bool },
    Among { is_negated: bool },
}

/// A query that is asked for each row.
struct Asked {
    plan: LogicalPlan,
    kind: Kind,
    gives: DataType,
    outer: Vec<Expr>,
    context: SessionContext,
    signature: Signature,
}

impl std::fmt::Debug for Asked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?} of {:?}", self.kind, self.plan)
    }
}

impl PartialEq for Asked {
    fn eq(&self, other: &Self) -> bool {
        (&self.plan, self.kind, &self.outer) == (&other.plan, other.kind, &other.outer)
    }
}

impl Eq for Asked {}

impl Hash for Asked {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.plan.hash(state);
        self.kind.hash(state);
    }
}

impl ScalarUDFImpl for Asked {
    fn name(&self) -> &str {
        "asked_for_each_row"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(self.gives.clone())
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let n_rows = arguments.number_rows;
        let columns: Vec<ArrayRef> =
            arguments.args.iter().map(|of| of.to_array(n_rows)).collect::<Result<_>>()?;
        let mut known = FxHashMap::<Vec<ScalarValue>, ScalarValue>::default();
        let mut values = Vec::with_capacity(n_rows);
        for row in 0..n_rows {
            let of: Vec<ScalarValue> =
                columns.iter().map(|of| ScalarValue::try_from_array(of, row)).collect::<Result<_>>()?;
            let value = match known.get(&of) {
                Some(value) => value.clone(),
                None => {
                    let value = self.value(&of)?;
                    known.insert(of, value.clone());
                    value
                }
            };
            values.push(value);
        }
        Ok(ColumnarValue::Array(match values.is_empty() {
            true => datafusion::arrow::array::new_empty_array(&self.gives),
            false => ScalarValue::iter_to_array(values)?,
        }))
    }
}

impl Asked {
    /// What the query gives for a row.
    fn value(&self, of: &[ScalarValue]) -> Result<ScalarValue> {
        let (sought, of) = match self.kind {
            Kind::Among { .. } => (of.first(), &of[1..]),
            _ => (None, of),
        };
        let parameters = of.iter().enumerate().map(|(at, value)| {
            (format!("{ROW}{at}").split_off(1), ScalarAndMetadata::new(value.clone(), None))
        });
        let parameters = ParamValues::Map(parameters.collect::<HashMap<_, _>>());
        let plan = self.plan.clone().replace_params_with_values(&parameters)?;
        let rows = self.rows(plan)?;
        Ok(match self.kind {
            Kind::Exists { is_negated } => ScalarValue::Boolean(Some((rows.num_rows() > 0) != is_negated)),
            Kind::Among { is_negated } => {
                let sought = sought.cloned().unwrap_or(ScalarValue::Null);
                ScalarValue::Boolean(among(&sought, rows.column(0))?.map(|is| is != is_negated))
            }
            Kind::Value => match rows.num_rows() {
                0 => ScalarValue::try_from(&self.gives)?,
                1 => ScalarValue::try_from_array(rows.column(0), 0)?.cast_to(&self.gives)?,
                _ => return exec_err!("more than one row returned by a subquery used as an expression"),
            },
        })
    }

    /// Runs it here and now, since functions do not wait.
    fn rows(&self, plan: LogicalPlan) -> Result<RecordBatch> {
        let context = self.context.clone();
        let run = async move {
            let frame = context.execute_logical_plan(plan).await?;
            let schema = Arc::new(frame.schema().as_arrow().clone());
            let batches = frame.collect().await?;
            let schema = batches.first().map_or(schema, RecordBatch::schema);
            Ok(concat_batches(&schema, &batches)?)
        };
        match tokio::runtime::Handle::try_current() {
            Ok(threads) => tokio::task::block_in_place(|| threads.block_on(run)),
            Err(_) => exec_err!("a query that depends on rows is answered by the server only"),
        }
    }
}

/// Whether a value is one of a column; none: it may be.
fn among(sought: &ScalarValue, column: &ArrayRef) -> Result<Option<bool>> {
    if column.is_empty() {
        return Ok(Some(false));
    }
    let sought = sought.cast_to(column.data_type())?;
    if sought.is_null() {
        return Ok(None);
    }
    let same = datafusion::arrow::compute::kernels::cmp::eq(&sought.to_scalar()?, column)?;
    Ok(match same.true_count() > 0 {
        true => Some(true),
        false if column.null_count() > 0 => None,
        false => Some(false),
    })
}

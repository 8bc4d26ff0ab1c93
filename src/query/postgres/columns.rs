//! Columns of a plan as clients have types for them: numbers of things as their names where they become
//! texts, what there is no type for as JSON, and times as they are sent.

use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, Field, IntervalUnit};
use datafusion::common::tree_node::{Transformed, TreeNode as _};
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{Expr, ExprSchemable as _, LogicalPlan, LogicalPlanBuilder, ScalarUDF, cast};
use datafusion_postgres::arrow_pg::datatypes::into_pg_type;

use super::catalog::{ALIAS, Names, TYPE};
use super::functions::{as_json, name_of, plain, sent_interval};

/// The same with names in the place of numbers that become texts.
pub(super) fn with_names(plan: LogicalPlan, names: &Arc<Names>) -> Result<LogicalPlan> {
    let changed = plan.transform_up_with_subqueries(|node| {
        let schema = merge_schema(&node.inputs());
        let kept = NamePreserver::new(&node);
        node.map_expressions(|expression| {
            let name = kept.save(&expression);
            let changed = expression.transform_up(|of| {
                if let Expr::ScalarFunction(called) = of {
                    return with_list(called, &schema);
                }
                let Expr::Cast(cast) = &of else { return Ok(Transformed::no(of)) };
                let Ok((_, field)) = cast.expr.to_field(&schema) else { return Ok(Transformed::no(of)) };
                let kind = field.metadata().get(ALIAS);
                let function = match (cast.field.data_type(), kind) {
                    (DataType::Utf8 | DataType::Utf8View, Some(kind)) => name_of(names, kind),
                    (DataType::Int32, Some(_)) => plain(names, "number_of"),
                    (DataType::Int64, Some(_)) => plain(names, "long_of"),
                    (DataType::Utf8 | DataType::Utf8View, None)
                        if *field.data_type() == DataType::Utf8 && field.metadata().contains_key(TYPE) =>
                    {
                        plain(names, "text_of")
                    }
                    _ => None,
                };
                Ok(match function {
                    Some(function) => Transformed::yes(function.call(vec![(*cast.expr).clone()])),
                    None => Transformed::no(of),
                })
            })?;
            Ok(changed.update_data(|of| name.restore(of)))
        })?
        .map_data(LogicalPlan::recompute_schema)
    })?;
    Ok(changed.data)
}

/// A parameter of which something is one, `x = ANY ($1)`, as a list of what `x` is.
fn with_list(mut of: ScalarFunction, schema: &DFSchema) -> Result<Transformed<Expr>> {
    if of.name() == "array_has"
        && let [Expr::Placeholder(list), value] = of.args.as_mut_slice()
        && list.field.is_none()
    {
        let item = value.get_type(schema)?;
        list.field = Some(Arc::new(Field::new("", DataType::new_list(item, true), true)));
        return Ok(Transformed::yes(Expr::ScalarFunction(of)));
    }
    Ok(Transformed::no(Expr::ScalarFunction(of)))
}

/// The same with columns that clients have no type for as JSON, and times as they are sent.
pub(super) fn with_known_types(plan: LogicalPlan) -> Result<LogicalPlan> {
    let is_known = |of: &Expr| -> Result<bool> { Ok(into_pg_type(&of.get_type(plan.schema())?).is_ok()) };
    let columns: Vec<Expr> = plan.schema().columns().into_iter().map(Expr::Column).collect();
    let known = columns.iter().map(is_known).collect::<Result<Vec<bool>, _>>()?;
    let sent: Vec<Option<DataType>> =
        plan.schema().fields().iter().map(|field| sent_as(field.data_type())).collect();
    let is_as_it_is = known.iter().all(|known| *known) && sent.iter().all(Option::is_none);
    if matches!(plan, LogicalPlan::Explain(_) | LogicalPlan::Analyze(_)) || is_as_it_is {
        return Ok(plan);
    }
    let (json, interval): (ScalarUDF, ScalarUDF) = (as_json(), sent_interval());
    let named = plan.schema().columns();
    let shown =
        columns.into_iter().zip(named).zip(known).zip(sent).map(|(((column, named), known), sent)| {
            let shown = match sent {
                Some(sent @ DataType::Interval(_)) => interval.call(vec![cast(column, sent)]),
                Some(sent) => cast(column, sent),
                None if known => return column,
                None => json.call(vec![column]),
            };
            shown.alias_qualified(named.relation, named.name)
        });
    LogicalPlanBuilder::from(plan).project(shown)?.build()
}

/// The type as which a time is sent, if it is another one: instants in UTC, from which their texts are
/// made, and what lies between two as an interval.
fn sent_as(of: &DataType) -> Option<DataType> {
    match of {
        DataType::Timestamp(unit, Some(zone)) if &**zone != "UTC" => {
            Some(DataType::Timestamp(*unit, Some("UTC".into())))
        }
        DataType::Duration(_) | DataType::Interval(_) => Some(DataType::Interval(IntervalUnit::MonthDayNano)),
        _ => None,
    }
}

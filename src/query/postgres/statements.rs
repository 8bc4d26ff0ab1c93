//! Statements as clients of PostgreSQL write them, in the forms that the engine knows.
//!
//! | written | becomes |
//! |---|---|
//! | `pg_class` | `pg_catalog.pg_class` |
//! | `x::regclass`, `regtype`, .. | a call of the function of that name |
//! | `x::name`, `"char"`, `cstring`, of `information_schema` | a text |
//! | `ARRAY(SELECT ..)` | all values of the query as one list, in its order |
//! | `json_agg(x)` | `array_agg(x)` as JSON |
//! | `(x).f` | the field of a value |
//! | `_pg_expandarray(a)`, `generate_subscripts(a, 1)` | a row for each |
//! | `ABORT` | `ROLLBACK` |
//! | `FETCH`, `MOVE` | one that says how far and whether rows are wanted |

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{
    AccessExpr, CastKind, DataType, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments,
    GroupByExpr, Ident, ObjectName, ObjectNamePart, OrderBy, OrderByExpr, OrderByKind, Query, SelectItem,
    SetExpr, Statement, TableAlias, TableFactor, Value, VisitMut as _, VisitorMut,
};
use datafusion::sql::sqlparser::dialect::PostgreSqlDialect;
use datafusion::sql::sqlparser::parser::{Parser, ParserError};
use datafusion_postgres::datafusion_pg_catalog::sql::rules::{
    CurrentUserVariableToSessionUserFunctionCall, FixArrayLiteral, RewriteArrayAnyAllOperation,
    RewritePgCatalogOperator, SqlStatementRewriteRule, StripCallableQualifier, StripCollate,
};

use super::catalog;
use super::{labels, moves};
use crate::query::dialect::call;

/// Types whose values are numbers that are shown as names.
pub(super) const NAMED: [&str; 6] =
    ["regclass", "regtype", "regproc", "regprocedure", "regnamespace", "regrole"];
/// Types that are texts here.
const TEXTS: [&str; 7] =
    ["name", "char", "cstring", "sql_identifier", "character_data", "yes_or_no", "pg_node_tree"];

/// Functions that give rows.
const ROWS: [&str; 7] = [
    "unnest",
    "generate_series",
    "range",
    "generate_subscripts",
    "_pg_expandarray",
    "pg_get_keywords",
    "json_table",
];

/// The statements of `text`.
///
/// # Errors
/// What is no SQL.
pub(super) fn statements(text: &str) -> Result<Vec<Statement>, ParserError> {
    if let Some(moved) = moves::moved(text) {
        return Ok(vec![moved?]);
    }
    let parsed = Parser::parse_sql(&PostgreSqlDialect {}, text)?;
    Ok(parsed.into_iter().map(understood).collect())
}

fn understood(mut statement: Statement) -> Statement {
    let rules: [&dyn SqlStatementRewriteRule; 6] = [
        &RewriteArrayAnyAllOperation,
        &StripCallableQualifier,
        &FixArrayLiteral,
        &CurrentUserVariableToSessionUserFunctionCall,
        &StripCollate,
        &RewritePgCatalogOperator,
    ];
    labels::label(&mut statement);
    if let Statement::Query(query) = &mut statement {
        counted(query);
    }
    for rule in rules {
        statement = rule.rewrite(statement);
    }
    let _ = statement.visit(&mut Forms);
    statement
}

/// Gives whole numbers that are columns of an answer the type that they have in PostgreSQL.
fn counted(query: &mut Query) {
    let SetExpr::Select(select) = &mut *query.body else { return };
    for item in &mut select.projection {
        if let SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } = item
            && let Expr::Value(value) = &*expr
            && let Value::Number(number, _) = &value.value
            && number.to_string().parse::<i32>().is_ok()
        {
            let (kind, value) = (CastKind::DoubleColon, Box::new(expr.clone()));
            let data_type = DataType::Integer(None);
            *expr = Expr::Cast { kind, expr: value, data_type, array: false, format: None };
        }
    }
}

struct Forms;

impl VisitorMut for Forms {
    type Break = ();

    fn pre_visit_table_factor(&mut self, table: &mut TableFactor) -> ControlFlow<()> {
        if let TableFactor::Table { name, args: None, .. } = table
            && let [ObjectNamePart::Identifier(only)] = name.0.as_slice()
            && catalog::is_of_catalog(&only.value.to_lowercase())
        {
            let schema = ObjectNamePart::Identifier(Ident::new("pg_catalog"));
            *name = ObjectName(vec![schema, name.0[0].clone()]);
        }
        if let Some(derived) = of_value(table) {
            *table = derived;
        } else if let TableFactor::Table { name, args: Some(arguments), alias, .. } = table
            && let Some(list) = list_of(&name.to_string(), &arguments.args)
        {
            *table = TableFactor::UNNEST {
                alias: alias.take(),
                array_exprs: vec![list],
                with_offset: false,
                with_offset_alias: None,
                with_ordinality: false,
            };
        }
        ControlFlow::Continue(())
    }

    fn post_visit_expr(&mut self, of: &mut Expr) -> ControlFlow<()> {
        match of {
            // One character: of a value that is one.
            Expr::Cast { expr, data_type: DataType::Char(None) | DataType::Character(None), .. }
                if matches!(**expr, Expr::Value(_)) =>
            {
                let one = Expr::Value(Value::Number("1".to_owned(), false).into());
                *of = call("left", vec![as_text((**expr).clone()), one]);
            }
            Expr::CompoundFieldAccess { root, access_chain } => {
                if let [AccessExpr::Dot(Expr::Identifier(field))] = access_chain.as_slice() {
                    let field = Expr::Value(Value::SingleQuotedString(field.value.clone()).into());
                    *of = call("get_field", vec![(**root).clone(), field]);
                }
            }
            Expr::Cast { expr, data_type, .. } => match type_name(data_type) {
                // Of a value that is written it is a cast, by which a parameter has its type.
                Some(name) if name == "oid" && !matches!(**expr, Expr::Value(_)) => {
                    *of = call("oid", vec![(**expr).clone()]);
                }
                Some(name) if NAMED.contains(&&*name) => *of = call(&name, vec![(**expr).clone()]),
                Some(name) if TEXTS.contains(&&*name) => *data_type = DataType::Text,
                Some(name) if name == "cardinal_number" => *data_type = DataType::Integer(None),
                _ => {}
            },
            Expr::Function(function) => {
                if let Some(changed) = of_function(function) {
                    *of = changed;
                }
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }
}

/// A function that gives one value, as a table of one row.
fn of_value(table: &TableFactor) -> Option<TableFactor> {
    let TableFactor::Table { name, args: Some(arguments), alias, .. } = table else { return None };
    let function = name.to_string().to_lowercase();
    if ROWS.contains(&&*function) {
        return None;
    }
    let label = alias.as_ref().map_or_else(|| Ident::new(&function), |alias| alias.name.clone());
    let parsed = Parser::parse_sql(&PostgreSqlDialect {}, "SELECT 1").ok()?.pop()?;
    let Statement::Query(mut subquery) = parsed else { return None };
    let SetExpr::Select(select) = &mut *subquery.body else { return None };
    let mut called = call(&function, Vec::new());
    if let Expr::Function(Function { args: FunctionArguments::List(list), .. }) = &mut called {
        list.args.clone_from(&arguments.args);
    }
    select.projection = vec![SelectItem::ExprWithAlias { expr: called, alias: label.clone() }];
    let alias = alias
        .clone()
        .or_else(|| Some(TableAlias { explicit: true, name: label, columns: Vec::new(), at: None }));
    Some(TableFactor::Derived { lateral: false, subquery, alias, sample: None })
}

/// The list whose items are the rows of a function, where that depends on more than constants.
fn list_of(name: &str, arguments: &[FunctionArg]) -> Option<Expr> {
    let mut of = Vec::new();
    for argument in arguments {
        let FunctionArg::Unnamed(FunctionArgExpr::Expr(argument)) = argument else { return None };
        of.push(argument.clone());
    }
    let is_constant = |of: &Expr| matches!(of, Expr::Value(_) | Expr::UnaryOp { .. } | Expr::Cast { .. });
    match (name, of.as_slice()) {
        ("unnest", [list]) => Some(list.clone()),
        ("generate_series", [_, _]) if !of.iter().all(is_constant) => Some(call("series_of", of)),
        ("generate_subscripts" | "_pg_expandarray", _) => Some(call(name, of)),
        _ => None,
    }
}

/// The name of a type that is none of the language, without its schema.
fn type_name(of: &DataType) -> Option<String> {
    match of {
        DataType::Regclass => Some("regclass".to_owned()),
        DataType::Custom(name, arguments) if arguments.is_empty() => {
            Some(name.0.last()?.as_ident()?.value.to_lowercase())
        }
        _ => None,
    }
}

fn of_function(function: &mut Function) -> Option<Expr> {
    let name = function.name.to_string().to_lowercase();
    if let Some(list) = ["json_agg", "jsonb_agg"].iter().position(|of| *of == name)
        && let FunctionArguments::List(arguments) = &function.args
    {
        let is_json = arguments.args.first().is_some_and(|of| of.to_string().starts_with("json"));
        let mut all = function.clone();
        all.name = ObjectName::from(vec![Ident::new("array_agg")]);
        let is_json = Expr::Value(Value::Boolean(is_json).into());
        return Some(call(["json_of_list", "jsonb_of_list"][list], vec![Expr::Function(all), is_json]));
    }
    match (&*name, &mut function.args) {
        ("array", FunctionArguments::Subquery(query)) => listed(query),
        ("_pg_expandarray" | "generate_subscripts", FunctionArguments::List(_)) => {
            Some(call("unnest", vec![Expr::Function(function.clone())]))
        }
        _ => None,
    }
}

/// The values of a query as a list, in its order; without any it is empty, not NULL.
fn listed(query: &mut Query) -> Option<Expr> {
    let SetExpr::Select(select) = &mut *query.body else { return None };
    let is_grouped = select.group_by != GroupByExpr::Expressions(Vec::new(), Vec::new());
    let is_plain = query.limit_clause.is_none() && query.fetch.is_none() && select.distinct.is_none();
    if is_grouped || !is_plain || select.having.is_some() {
        return None;
    }
    let order = query.order_by.take();
    let [SelectItem::UnnamedExpr(value) | SelectItem::ExprWithAlias { expr: value, .. }] =
        select.projection.as_mut_slice()
    else {
        return None;
    };
    let within = order.map(|order| ordered(order, value)).unwrap_or_default();
    let mut all = call("array_agg", vec![value.clone()]);
    if let Expr::Function(Function { args: FunctionArguments::List(list), .. }) = &mut all
        && !within.is_empty()
    {
        list.clauses.push(datafusion::sql::sqlparser::ast::FunctionArgumentClause::OrderBy(within));
    }
    select.projection = vec![SelectItem::UnnamedExpr(all)];
    Some(call("or_empty", vec![Expr::Subquery(Box::new(query.clone()))]))
}

/// `ORDER BY 1` is by the value.
fn ordered(order: OrderBy, value: &Expr) -> Vec<OrderByExpr> {
    let OrderByKind::Expressions(mut by) = order.kind else { return Vec::new() };
    for by in &mut by {
        if let Expr::Value(number) = &by.expr
            && matches!(number.value, Value::Number(..))
        {
            by.expr = value.clone();
        }
    }
    by
}

fn as_text(of: Expr) -> Expr {
    let (kind, expr) = (CastKind::DoubleColon, Box::new(of));
    Expr::Cast { kind, expr, data_type: DataType::Text, array: false, format: None }
}

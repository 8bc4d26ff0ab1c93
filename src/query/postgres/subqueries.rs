//! Queries in the place of a value, which the parser for clients of PostgreSQL replaces by NULL where
//! they depend on a row or on a parameter. They are put back, for all but questions to the catalogs, of
//! which clients know nothing better.

use std::collections::VecDeque;
use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{
    Expr, ObjectName, Query, SelectItem, SetExpr, Statement, Value, Visit as _, VisitMut as _, Visitor,
    VisitorMut,
};
use datafusion::sql::sqlparser::dialect::PostgreSqlDialect;
use datafusion::sql::sqlparser::parser::{Parser, ParserError};
use datafusion_postgres::datafusion_pg_catalog::sql::PostgresCompatibilityParser;

/// The statements of `text`, as clients of PostgreSQL write them.
///
/// # Errors
/// What is no SQL.
pub(super) fn statements(
    parser: &PostgresCompatibilityParser,
    text: &str,
) -> Result<Vec<Statement>, ParserError> {
    let mut statements = parser.parse(text)?;
    if let Ok(originals) = Parser::parse_sql(&PostgreSqlDialect {}, text)
        && originals.len() == statements.len()
    {
        for (original, statement) in originals.iter().zip(&mut statements) {
            put_back(parser, original, statement);
        }
    }
    Ok(statements)
}

/// Whether something was put back into `statement`, whose text is `original`.
fn put_back(parser: &PostgresCompatibilityParser, original: &Statement, statement: &mut Statement) {
    let mut values = Values::default();
    if original.visit(&mut values).is_break() || !values.0.iter().flatten().any(Option::is_some) {
        return;
    }
    let mut back = Back { values: values.0.into(), parser };
    let _ = statement.visit(&mut back);
}

/// The queries among the columns of each query, in the order in which they are visited.
#[derive(Default)]
struct Values(Vec<Vec<Option<Query>>>);

impl Visitor for Values {
    type Break = ();

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        let columns = match &*query.body {
            SetExpr::Select(select) => select.projection.iter().map(|item| value(item).cloned()).collect(),
            _ => Vec::new(),
        };
        self.0.push(columns);
        ControlFlow::Continue(())
    }

    fn pre_visit_relation(&mut self, relation: &ObjectName) -> ControlFlow<()> {
        let name = relation.to_string().to_lowercase();
        let is_of_catalog =
            name.starts_with("pg_") || name.contains(".pg_") || name.contains("information_schema");
        if is_of_catalog { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

fn value(item: &SelectItem) -> Option<&Query> {
    match item {
        SelectItem::UnnamedExpr(Expr::Subquery(query))
        | SelectItem::ExprWithAlias { expr: Expr::Subquery(query), .. } => Some(query),
        _ => None,
    }
}

struct Back<'p> {
    values: VecDeque<Vec<Option<Query>>>,
    parser: &'p PostgresCompatibilityParser,
}

impl VisitorMut for Back<'_> {
    type Break = ();

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
        let columns = self.values.pop_front().unwrap_or_default();
        let SetExpr::Select(select) = &mut *query.body else { return ControlFlow::Continue(()) };
        for (item, original) in select.projection.iter_mut().zip(columns) {
            let (SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. }) = item else {
                continue;
            };
            let is_removed = matches!(expr, Expr::Value(value) if value.value == Value::Null);
            if let Some(original) = original.filter(|_| is_removed)
                && let Statement::Query(again) = self.parser.rewrite(Statement::Query(Box::new(original)))
            {
                *expr = Expr::Subquery(again);
            }
        }
        ControlFlow::Continue(())
    }
}

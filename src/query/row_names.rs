//! Rows by name: `happened_before(a, b)` for `happened_before(a.position, b.position)`, where
//! `a` and `b` are tables of the query.

use std::collections::HashSet;
use std::ops::ControlFlow;

use datafusion::sql::parser::Statement;
use datafusion::sql::sqlparser::ast::{
    Expr, FunctionArg, FunctionArgExpr, FunctionArguments, Ident, Statement as SqlStatement, TableFactor,
    VisitMut as _, VisitorMut,
};

/// The column that says where a row is in its request.
const COLUMN: &str = "position";

/// Gives the rows that `functions` are asked of their column of positions.
pub(super) fn add_positions(statement: &mut Statement, functions: &HashSet<String>) {
    match statement {
        Statement::Statement(statement) => add_to(statement, functions),
        Statement::Explain(explain) => add_positions(&mut explain.statement, functions),
        _ => {}
    }
}

fn add_to(statement: &mut SqlStatement, functions: &HashSet<String>) {
    let mut tables = Tables(HashSet::new());
    let _ = statement.visit(&mut tables);
    let _ = statement.visit(&mut Calls { functions, tables: &tables.0 });
}

/// The names by which a query knows its tables.
struct Tables(HashSet<String>);

impl VisitorMut for Tables {
    type Break = ();

    fn pre_visit_table_factor(&mut self, table: &mut TableFactor) -> ControlFlow<()> {
        let (name, alias) = match table {
            TableFactor::Table { name, alias, .. } => (name.0.last().map(ToString::to_string), alias),
            TableFactor::Derived { alias, .. } => (None, alias),
            _ => return ControlFlow::Continue(()),
        };
        self.0.extend(alias.as_ref().map(|alias| alias.name.value.clone()).or(name));
        ControlFlow::Continue(())
    }
}

struct Calls<'a> {
    functions: &'a HashSet<String>,
    tables: &'a HashSet<String>,
}

impl VisitorMut for Calls<'_> {
    type Break = ();

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        let Expr::Function(call) = expr else { return ControlFlow::Continue(()) };
        let FunctionArguments::List(arguments) = &mut call.args else { return ControlFlow::Continue(()) };
        if !self.functions.contains(&call.name.to_string().to_lowercase()) {
            return ControlFlow::Continue(());
        }
        for argument in &mut arguments.args {
            if let FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) = argument
                && let Expr::Identifier(name) = expr
                && self.tables.contains(&name.value)
            {
                *expr = Expr::CompoundIdentifier(vec![name.clone(), Ident::new(COLUMN)]);
            }
        }
        ControlFlow::Continue(())
    }
}

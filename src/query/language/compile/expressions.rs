//! Expressions as SQL, and what each is.

use super::super::catalog::Kind;
use super::super::query::{Aggregate, Expr};
use super::super::source::{literal, quoted, sql_type};
use super::super::text::Fault;
use super::Compiler;
use super::combine::Combined;

impl Compiler<'_> {
    /// An expression as SQL, and what it is.
    pub(super) fn expr(&self, expr: &Expr, combined: Option<&Combined>) -> Result<(String, Kind), Fault> {
        Ok(match expr {
            Expr::Field { variable, field, at } => {
                let (scope, name, kind) = self.bind(variable, field.as_deref(), *at)?;
                (format!("{}.{}", quoted(&self.scopes[scope].variable), quoted(&name)), kind)
            }
            Expr::Number(number) => {
                let kind = if number.contains('.') { Kind::Number } else { Kind::Whole };
                (number.clone(), kind)
            }
            Expr::Span(us) => (us.to_string(), Kind::Whole),
            Expr::Text(text) => (literal(text), Kind::Text),
            Expr::Null => ("NULL".to_owned(), Kind::Text),
            Expr::Not(of) => (format!("NOT ({})", self.expr(of, combined)?.0), Kind::Truth),
            Expr::IsNull { of, is_not } => {
                let not = if *is_not { "NOT " } else { "" };
                (format!("({} IS {not}NULL)", self.expr(of, combined)?.0), Kind::Truth)
            }
            Expr::Binary { op: op @ ("AND" | "OR"), .. } => {
                let parts = expr.operands(op).into_iter().map(|part| Ok(self.expr(part, combined)?.0));
                let parts = parts.collect::<Result<Vec<_>, Fault>>()?;
                (format!("({})", parts.join(&format!(" {op} "))), Kind::Truth)
            }
            Expr::Binary { op, left, right, .. } => {
                let (left, right) = (self.expr(left, combined)?, self.expr(right, combined)?);
                binary(op, left, right)
            }
            Expr::Call { function, argument, .. } => {
                if let Some(found) =
                    combined.and_then(|combined| combined.call(*function, argument.as_deref()))
                {
                    let own = argument.as_deref().map(|of| self.expr(of, None)).transpose()?;
                    return Ok(found.sql(own));
                }
                let Some(argument) = argument else { return Ok(("COUNT(*)".to_owned(), Kind::Whole)) };
                aggregate(*function, self.expr(argument, combined)?)
            }
        })
    }
}

/// A value as a number, whatever it is printed as.
pub(super) fn number((sql, kind): (String, Kind)) -> (String, Kind) {
    match kind {
        Kind::Whole | Kind::Number => (sql, kind),
        Kind::Time => (format!("CAST({sql} AS BIGINT)"), Kind::Whole),
        Kind::Text | Kind::Truth => (format!("TRY_CAST({sql} AS {})", sql_type(Kind::Number)), Kind::Number),
    }
}

fn binary(op: &str, left: (String, Kind), right: (String, Kind)) -> (String, Kind) {
    match op {
        "LIKE" => (format!("({} {op} {})", left.0, right.0), Kind::Truth),
        "=" | "<>" | "<" | "<=" | ">" | ">=" => {
            let is_number = left.1.is_number() != right.1.is_number();
            let (left, right) = if is_number { (number(left), number(right)) } else { (left, right) };
            (format!("({} {op} {})", left.0, right.0), Kind::Truth)
        }
        _ => {
            let (left, right) = (number(left), number(right));
            // Of whole numbers too: a share is not cut off.
            let kind = if op == "/" { Kind::Number } else { left.1.common(right.1) };
            let left_sql = if op == "/" { format!("CAST({} AS DOUBLE)", left.0) } else { left.0 };
            (format!("({left_sql} {op} {})", right.0), kind)
        }
    }
}

fn aggregate(function: Aggregate, argument: (String, Kind)) -> (String, Kind) {
    match function {
        Aggregate::Count => (format!("COUNT({})", argument.0), Kind::Whole),
        Aggregate::Sum => {
            let (sql, kind) = number(argument);
            (format!("SUM({sql})"), kind)
        }
        Aggregate::Min => (format!("MIN({})", argument.0), argument.1),
        Aggregate::Max => (format!("MAX({})", argument.0), argument.1),
        Aggregate::Average => (format!("AVG(CAST({} AS DOUBLE))", number(argument).0), Kind::Number),
    }
}

//! Forms that PostgreSQL writes otherwise than the engine reads them, as calls of functions; and
//! those of which the engine would leave out a part, which are refused.
//!
//! | written | becomes |
//! |---|---|
//! | `t AT TIME ZONE z` | `timezone(z, t)` |
//! | `extract(f FROM t)` | `date_part('f', t)` |
//! | `a SIMILAR TO p ESCAPE e` | `a ~ similar_to_regex(p, e)` |
//! | `a ~ p` | `a ~ regex_of(p)` |
//! | `substring(a FROM b FOR c)` | `substring(a, b, c)` |
//! | `a ^ b`, `\|/ a`, `\|\|/ a`, `@ a`, `a ^@ b` | `power`, `sqrt`, `cbrt`, `abs`, `starts_with` |
//! | `a::varchar(n)` | `left(a::varchar, n)` |
//! | `generate_series(a, b)` as a value | a row for each, `unnest` |

use std::ops::ControlFlow;

use datafusion::common::{DataFusionError, Result, not_impl_err, plan_err};
use datafusion::sql::parser::Statement;
use datafusion::sql::sqlparser::ast::{
    BinaryOperator, CharacterLength, DataType, ExactNumberInfo, Expr, Function, FunctionArg, FunctionArgExpr,
    FunctionArgumentList, FunctionArguments, Ident, LimitClause, ObjectName, Query, TableAliasColumnDef,
    TableFactor, TimezoneInfo, UnaryOperator, Value, ValueWithSpan, VisitMut as _, VisitorMut,
};

use super::{interval, strings};

/// Changes what `statement` says to what the engine reads.
///
/// # Errors
/// What would be answered wrong.
pub(crate) fn understand(statement: &mut Statement) -> Result<()> {
    match statement {
        Statement::Statement(statement) => match statement.visit(&mut Forms) {
            ControlFlow::Break(error) => Err(error),
            ControlFlow::Continue(()) => Ok(()),
        },
        Statement::Explain(explain) => understand(&mut explain.statement),
        _ => Ok(()),
    }
}

struct Forms;

impl VisitorMut for Forms {
    type Break = DataFusionError;

    fn post_visit_expr(&mut self, of: &mut Expr) -> ControlFlow<DataFusionError> {
        let taken = std::mem::replace(of, null());
        match form(taken) {
            Ok(changed) => {
                *of = changed;
                ControlFlow::Continue(())
            }
            Err(error) => ControlFlow::Break(error),
        }
    }

    fn pre_visit_expr(&mut self, of: &mut Expr) -> ControlFlow<DataFusionError> {
        // A sign is of the base of a power, not of the power.
        if let Expr::UnaryOp { op: UnaryOperator::Minus, expr } = of
            && let Expr::BinaryOp { left, op: BinaryOperator::PGExp, .. } = &mut **expr
        {
            let base = std::mem::replace(&mut **left, null());
            **left = Expr::UnaryOp { op: UnaryOperator::Minus, expr: Box::new(base) };
            *of = std::mem::replace(&mut **expr, null());
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<DataFusionError> {
        let Some(fetch) = query.fetch.take() else { return ControlFlow::Continue(()) };
        if fetch.with_ties || fetch.percent {
            return refused("FETCH with ties");
        }
        let one = || Expr::Value(Value::Number("1".to_owned(), false).into());
        let limit = Some(fetch.quantity.unwrap_or_else(one));
        let offset = match query.limit_clause.take() {
            None => None,
            Some(LimitClause::LimitOffset { limit: None, offset, .. }) => offset,
            Some(_) => return refused("FETCH beside LIMIT"),
        };
        query.limit_clause = Some(LimitClause::LimitOffset { limit, offset, limit_by: Vec::new() });
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, table: &mut TableFactor) -> ControlFlow<DataFusionError> {
        match table {
            TableFactor::Table { sample: Some(_), .. } | TableFactor::Derived { sample: Some(_), .. } => {
                refused("TABLESAMPLE")
            }
            // The rows of a function have its alias as their column.
            TableFactor::Table { args: Some(_), alias: Some(alias), .. }
            | TableFactor::Function { alias: Some(alias), .. }
            | TableFactor::UNNEST { alias: Some(alias), .. }
                if alias.columns.is_empty() =>
            {
                let name = alias.name.clone();
                alias.columns.push(TableAliasColumnDef { name, data_type: None });
                ControlFlow::Continue(())
            }
            _ => ControlFlow::Continue(()),
        }
    }
}

fn refused(what: &str) -> ControlFlow<DataFusionError> {
    ControlFlow::Break(DataFusionError::NotImplemented(format!("{what} is not supported")))
}

fn null() -> Expr {
    Expr::Value(Value::Null.into())
}

/// A call of `name`.
pub(in crate::query) fn call(name: &str, arguments: Vec<Expr>) -> Expr {
    let arguments = arguments.into_iter().map(|of| FunctionArg::Unnamed(FunctionArgExpr::Expr(of)));
    Expr::Function(Function {
        name: ObjectName::from(vec![Ident::new(name)]),
        uses_odbc_syntax: false,
        parameters: FunctionArguments::None,
        args: FunctionArguments::List(FunctionArgumentList {
            duplicate_treatment: None,
            args: arguments.collect(),
            clauses: Vec::new(),
        }),
        filter: None,
        null_treatment: None,
        over: None,
        within_group: Vec::new(),
    })
}

fn text(of: &str) -> Expr {
    Expr::Value(Value::SingleQuotedString(of.to_owned()).into())
}

/// Whether an expression calls `name` already.
fn calls(of: &Expr, name: &str) -> bool {
    matches!(of, Expr::Function(function) if function.name.to_string() == name)
}

fn form(of: Expr) -> Result<Expr> {
    Ok(match of {
        Expr::AtTimeZone { timestamp, time_zone } => call("timezone", vec![*time_zone, *timestamp]),
        Expr::Extract { field, expr, .. } => {
            let field = field.to_string();
            call("date_part", vec![text(field.trim_matches('\'')), *expr])
        }
        Expr::SimilarTo { negated, expr, pattern, escape_char } => {
            let escape = match escape_char {
                None => text("\\"),
                Some(of) => Expr::Value(of),
            };
            let op = if negated { BinaryOperator::PGRegexNotMatch } else { BinaryOperator::PGRegexMatch };
            let pattern = call("similar_to_regex", vec![*pattern, escape]);
            Expr::BinaryOp { left: expr, op, right: Box::new(pattern) }
        }
        Expr::BinaryOp { left, op, right } => binary(left, op, right),
        Expr::UnaryOp { op, expr } => match op {
            UnaryOperator::PGSquareRoot => call("sqrt", vec![*expr]),
            UnaryOperator::PGCubeRoot => call("cbrt", vec![*expr]),
            UnaryOperator::PGAbs => call("abs", vec![*expr]),
            op => Expr::UnaryOp { op, expr },
        },
        Expr::Substring { expr, substring_from, substring_for, special, shorthand } => {
            let name = if shorthand { "substr" } else { "substring" };
            let one = || Box::new(Expr::Value(Value::Number("1".to_owned(), false).into()));
            let is_for_pattern = !special && matches!(&substring_for, Some(of) if is_text(of));
            if is_for_pattern {
                return not_impl_err!("substring with a pattern of SIMILAR TO is not supported");
            }
            let from = substring_from.unwrap_or_else(one);
            call(name, [Some(expr), Some(from), substring_for].into_iter().flatten().map(|of| *of).collect())
        }
        Expr::Cast { kind, expr, data_type, array, format } => {
            let (data_type, n) = type_of(data_type)?;
            let cast = Expr::Cast { kind, expr, data_type, array, format };
            match n {
                Some(n) => call("left", vec![cast, Expr::Value(Value::Number(n.to_string(), false).into())]),
                None => cast,
            }
        }
        Expr::TypedString(mut of) => {
            of.data_type = type_of(of.data_type)?.0;
            Expr::TypedString(of)
        }
        Expr::Function(function) => function_of(function)?,
        Expr::Interval(mut interval) => {
            if let Expr::Value(value) = &mut *interval.value
                && let Value::SingleQuotedString(of) = &mut value.value
            {
                *of = interval::with_units(of);
            }
            Expr::Interval(interval)
        }
        Expr::Like { negated, any, expr, pattern, escape_char: Some(escape) } => {
            let pattern = Box::new(like_pattern(*pattern, escape)?);
            Expr::Like { negated, any, expr, pattern, escape_char: None }
        }
        Expr::ILike { negated, any, expr, pattern, escape_char: Some(escape) } => {
            let pattern = Box::new(like_pattern(*pattern, escape)?);
            Expr::ILike { negated, any, expr, pattern, escape_char: None }
        }
        Expr::AllOp { right, .. } if matches!(*right, Expr::Subquery(_)) => {
            return not_impl_err!("ALL of a query is not supported");
        }
        other => other,
    })
}

/// Functions that have another name in the engine, or another meaning.
fn function_of(mut function: Function) -> Result<Expr> {
    let name = function.name.to_string().to_ascii_lowercase();
    let engine = match &*name {
        "generate_series" => return Ok(call("unnest", vec![Expr::Function(function)])),
        // Of an empty array it is NULL.
        "array_length" => {
            let zero = Expr::Value(Value::Number("0".to_owned(), false).into());
            return Ok(call("nullif", vec![Expr::Function(function), zero]));
        }
        "array_dims" | "to_date" | "regexp_instr" => return not_impl_err!("{name} is not supported"),
        "array_remove" => "array_remove_all",
        "array_replace" => "array_replace_all",
        "every" => "bool_and",
        "variance" => "var_samp",
        _ => return Ok(Expr::Function(function)),
    };
    function.name = ObjectName::from(vec![Ident::new(engine)]);
    Ok(Expr::Function(function))
}

/// A pattern with backslashes instead of another escape.
fn like_pattern(pattern: Expr, escape: ValueWithSpan) -> Result<Expr> {
    if let (Expr::Value(of), Value::SingleQuotedString(escape)) = (&pattern, &escape.value)
        && let Value::SingleQuotedString(of) = &of.value
    {
        return Ok(text(&strings::escaped(of, escape)?));
    }
    Ok(call("like_escape", vec![pattern, Expr::Value(escape)]))
}

fn is_text(of: &Expr) -> bool {
    matches!(of, Expr::Value(value) if matches!(value.value, Value::SingleQuotedString(_)))
}

fn binary(left: Box<Expr>, op: BinaryOperator, right: Box<Expr>) -> Expr {
    match op {
        BinaryOperator::PGExp => call("power", vec![*left, *right]),
        BinaryOperator::PGStartsWith => call("starts_with", vec![*left, *right]),
        BinaryOperator::PGRegexMatch
        | BinaryOperator::PGRegexIMatch
        | BinaryOperator::PGRegexNotMatch
        | BinaryOperator::PGRegexNotIMatch
            if !["regex_of", "similar_to_regex"].iter().any(|name| calls(&right, name)) =>
        {
            let right = Box::new(call("regex_of", vec![*right]));
            Expr::BinaryOp { left, op, right }
        }
        op => Expr::BinaryOp { left, op, right },
    }
}

/// A type that the engine has, and how many characters it holds where there is a bound.
fn type_of(of: DataType) -> Result<(DataType, Option<u64>)> {
    let length = |length: &Option<CharacterLength>| match length {
        Some(CharacterLength::IntegerLength { length, .. }) => Some(*length),
        _ => None,
    };
    Ok(match of {
        DataType::Varchar(n) | DataType::CharacterVarying(n) | DataType::CharVarying(n) => {
            (DataType::Varchar(None), length(&n))
        }
        DataType::Char(_) | DataType::Character(_) => {
            return not_impl_err!("the type character(n) is not supported, take varchar(n)");
        }
        DataType::Float(precision) => match precision {
            ExactNumberInfo::Precision(..=24) => (DataType::Real, None),
            _ => (DataType::DoublePrecision, None),
        },
        // As exact as those of PostgreSQL, and of years as far away.
        DataType::Timestamp(None, zone) => (DataType::Timestamp(Some(6), zone), None),
        DataType::Timestamp(Some(n), _) if n < 6 => {
            return plan_err!("the type timestamp({n}) is not supported, take date_trunc");
        }
        DataType::Custom(name, _) if name.to_string().eq_ignore_ascii_case("timestamptz") => {
            (DataType::Timestamp(Some(6), TimezoneInfo::Tz), None)
        }
        DataType::Time(Some(_), _) => return not_impl_err!("the type time(n) is not supported"),
        other => (other, None),
    })
}

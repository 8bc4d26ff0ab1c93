//! Labels: what columns without a name are called, as PostgreSQL calls them, and so that no two of a
//! query are the same to the engine. What tells them apart is taken off before they are sent.

use std::collections::HashSet;
use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{
    DataType, Expr, Ident, ObjectName, Query, Select, SelectItem, SetExpr, Statement, VisitMut as _,
    VisitorMut,
};

/// What begins the part of a label that is not sent.
const APART: char = '\u{1}';
/// What PostgreSQL calls a column that nothing else names.
const NOTHING: &str = "?column?";

/// The label as it is sent.
pub(super) fn sent(label: &str) -> &str {
    label.split(APART).next().unwrap_or_default()
}

/// Gives the columns of all queries in `statement` their labels.
pub(super) fn label(statement: &mut Statement) {
    if let Statement::Query(query) = statement {
        apart(query);
    }
    let _ = statement.visit(&mut Labels);
}

/// Tells columns of the same name apart in the query that is answered; within it they have tables.
fn apart(query: &mut Query) {
    let Some(select) = first(&mut query.body) else { return };
    let is_wild =
        |item: &SelectItem| matches!(item, SelectItem::Wildcard(_) | SelectItem::QualifiedWildcard(..));
    let has_wild = select.projection.iter().any(is_wild);
    let mut seen = HashSet::new();
    for (at, item) in select.projection.iter_mut().enumerate() {
        let SelectItem::UnnamedExpr(expr) = item else { continue };
        let Some(name) = column(expr) else { continue };
        if !seen.insert(name.clone()) || has_wild {
            let alias = Ident::with_quote('"', format!("{name}{APART}{at}"));
            *item = SelectItem::ExprWithAlias { expr: expr.clone(), alias };
        }
    }
}

fn first(body: &mut SetExpr) -> Option<&mut Select> {
    match body {
        SetExpr::Select(select) => Some(select),
        SetExpr::SetOperation { left, .. } => first(left),
        _ => None,
    }
}

/// The name of a column that an expression is.
fn column(of: &Expr) -> Option<String> {
    let last = match of {
        Expr::Identifier(name) => name,
        Expr::CompoundIdentifier(names) => names.last()?,
        Expr::Nested(of) => return column(of),
        _ => return None,
    };
    Some(if last.quote_style.is_some() { last.value.clone() } else { last.value.to_lowercase() })
}

struct Labels;

impl VisitorMut for Labels {
    type Break = ();

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
        of_body(&mut query.body);
        ControlFlow::Continue(())
    }
}

fn of_body(body: &mut SetExpr) {
    match body {
        SetExpr::Select(select) => of_select(select),
        SetExpr::SetOperation { left, right, .. } => {
            of_body(left);
            of_body(right);
        }
        _ => {}
    }
}

fn of_select(select: &mut Select) {
    let mut seen = HashSet::new();
    for (at, item) in select.projection.iter_mut().enumerate() {
        match item {
            SelectItem::UnnamedExpr(expr) if column(expr).is_none() => {
                let label = of(expr).unwrap_or_else(|| NOTHING.to_owned());
                let is_first = seen.insert(label.clone());
                let value = if is_first { label } else { format!("{label}{APART}{at}") };
                let alias = Ident::with_quote('"', value);
                *item = SelectItem::ExprWithAlias { expr: expr.clone(), alias };
            }
            SelectItem::UnnamedExpr(expr) => seen.extend(column(expr)),
            SelectItem::ExprWithAlias { alias, .. } if !seen.insert(alias.value.clone()) => {
                *alias = Ident::with_quote('"', format!("{}{APART}{at}", alias.value));
            }
            _ => {}
        }
    }
}

fn last(name: &ObjectName) -> Option<String> {
    name.0.last()?.as_ident().map(|name| name.value.to_lowercase())
}

/// What an expression is called.
fn of(expr: &Expr) -> Option<String> {
    let fixed = |name: &str| Some(name.to_owned());
    match expr {
        Expr::Function(function) => last(&function.name),
        Expr::Nested(of_nested) => of(of_nested),
        Expr::Identifier(_) | Expr::CompoundIdentifier(_) => column(expr),
        Expr::Cast { expr, data_type, .. } => of(expr).or_else(|| type_label(data_type)),
        Expr::TypedString(of) => type_label(&of.data_type),
        Expr::Collate { expr, .. } => of(expr),
        Expr::CompoundFieldAccess { root, .. } => of(root),
        Expr::Case { else_result, .. } => {
            let last = else_result.as_deref().and_then(|last| match last {
                Expr::Cast { .. } => None,
                other => of(other),
            });
            last.or_else(|| fixed("case"))
        }
        Expr::Extract { .. } => fixed("extract"),
        Expr::Exists { .. } => fixed("exists"),
        Expr::Array(_) => fixed("array"),
        Expr::Substring { .. } => fixed("substring"),
        Expr::Trim { .. } => fixed("btrim"),
        Expr::Position { .. } => fixed("position"),
        Expr::Interval(_) => fixed("interval"),
        Expr::Ceil { .. } => fixed("ceil"),
        Expr::Floor { .. } => fixed("floor"),
        Expr::Overlay { .. } => fixed("overlay"),
        Expr::AtTimeZone { .. } => fixed("timezone"),
        Expr::Value(value) if matches!(value.value, datafusion::sql::sqlparser::ast::Value::Boolean(_)) => {
            fixed("bool")
        }
        Expr::Subquery(query) => match &*query.body {
            SetExpr::Select(select) => match select.projection.first()? {
                SelectItem::UnnamedExpr(expr) => of(expr),
                SelectItem::ExprWithAlias { alias, .. } => Some(alias.value.clone()),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    }
}

/// What a value that is cast to a type is called.
fn type_label(of: &DataType) -> Option<String> {
    let name = match of {
        DataType::Int(_) | DataType::Integer(_) | DataType::Int4(_) => "int4",
        DataType::BigInt(_) | DataType::Int8(_) => "int8",
        DataType::SmallInt(_) | DataType::Int2(_) => "int2",
        DataType::Real | DataType::Float4 => "float4",
        DataType::Double(_) | DataType::DoublePrecision | DataType::Float8 | DataType::Float(_) => "float8",
        DataType::Boolean | DataType::Bool => "bool",
        DataType::Text => "text",
        DataType::Varchar(_) | DataType::CharacterVarying(_) => "varchar",
        DataType::Numeric(_) | DataType::Decimal(_) => "numeric",
        DataType::Date => "date",
        DataType::Time(..) => "time",
        DataType::Interval { .. } => "interval",
        DataType::Regclass => "regclass",
        DataType::Timestamp(_, zone) => match zone {
            datafusion::sql::sqlparser::ast::TimezoneInfo::None
            | datafusion::sql::sqlparser::ast::TimezoneInfo::WithoutTimeZone => "timestamp",
            _ => "timestamptz",
        },
        DataType::Custom(name, _) => return last(name),
        DataType::Array(_) => return None,
        other => return Some(other.to_string().to_lowercase()),
    };
    Some(name.to_owned())
}

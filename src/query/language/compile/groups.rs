//! What can be asked of groups.

use super::super::query::{Expr, Query};
use super::super::text::Fault;

/// What is grouped gives out keys and aggregates, and nothing of single events.
pub(super) fn check_groups(query: &Query) -> Result<(), Fault> {
    if query.having.is_some() && !query.is_grouped() {
        return Err(Fault::new(
            query.from.at,
            "`Having` is asked of groups: there is no `GroupBy`, and no aggregate",
        ));
    }
    if !query.is_grouped() {
        return Ok(());
    }
    let key = |expr: &Expr| format!("{:?}", without_place(expr));
    let keys: Vec<String> = query.group.iter().map(key).collect();
    for item in query.select.iter().filter(|item| !item.expr.has_aggregate()) {
        let has_field = !item.expr.variables().is_empty();
        let fields = fields_of(&item.expr);
        if has_field
            && !keys.contains(&key(&item.expr))
            && !fields.iter().all(|field| keys.contains(&key(field)))
        {
            let mut at = query.from.at;
            item.expr.walk(&mut |part| {
                if let Expr::Field { at: place, .. } = part {
                    at = *place;
                }
            });
            return Err(Fault::new(
                at,
                format!("`{}` differs within a group: add it to `GroupBy`, or aggregate it", item.name),
            ));
        }
    }
    Ok(())
}

fn fields_of(expr: &Expr) -> Vec<Expr> {
    let mut fields = Vec::new();
    expr.walk(&mut |part| {
        if matches!(part, Expr::Field { .. }) {
            fields.push(part.clone());
        }
    });
    fields
}

/// The expression as if it stood at the beginning of the text.
pub(super) fn without_place(expr: &Expr) -> Expr {
    let mut expr = expr.clone();
    expr.walk_mut(&mut |part| {
        if let Expr::Field { at, .. } | Expr::Call { at, .. } | Expr::Binary { at, .. } = part {
            *at = 0;
        }
    });
    expr
}

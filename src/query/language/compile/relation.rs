//! A query as one statement: its sources, joined as it says, and what it gives out.

use super::super::catalog::Kind;
use super::super::query::{Edge, Expr, InTime, Join, Query};
use super::super::source::quoted;
use super::super::text::{Fault, hint};
use super::combine::Combined;
use super::groups::check_groups;
use super::{Compiler, Relation, Scope, is_anti};

impl Compiler<'_> {
    /// What `query` gives out; `is_last`: it is shown, no other query uses it.
    pub(super) fn relation(
        self,
        query: &Query,
        is_last: bool,
        rules: &mut Vec<String>,
    ) -> Result<Relation, Fault> {
        check_groups(query)?;
        let (pushed, left_over) = self.conditions(query)?;
        self.note_rules(query, &pushed, rules);
        let combined = self.combined(query, &left_over, rules);
        let combined = combined.as_ref();
        let mut sql = format!("FROM {}", self.joined(query, &pushed, combined)?);
        if !left_over.is_empty() {
            sql.push_str(&format!(" WHERE {}", self.all_of(&left_over)?));
        }
        let keys = query.group.iter().map(|expr| Ok(self.expr(expr, None)?.0));
        let keys = keys.collect::<Result<Vec<_>, Fault>>()?;
        if !keys.is_empty() {
            sql.push_str(&format!(" GROUP BY {}", keys.join(", ")));
        }
        if let Some(having) = &query.having {
            sql.push_str(&format!(" HAVING {}", self.expr(having, combined)?.0));
        }
        let mut columns: Vec<(String, Kind)> = Vec::new();
        let mut select: Vec<String> = Vec::new();
        for item in &query.select {
            let (expr, kind) = self.expr(&item.expr, combined)?;
            let name = unique(&item.name, &columns);
            select.push(format!("{expr} AS {}", quoted(&name)));
            columns.push((name, kind));
        }
        let has_position = !query.is_grouped() && !query.is_distinct;
        if has_position && !is_last {
            select.push(format!("{}.position AS position", quoted(&query.from.variable)));
        }
        let distinct = if query.is_distinct { "DISTINCT " } else { "" };
        sql = format!("SELECT {distinct}{} {sql}", select.join(", "));
        sql.push_str(&self.order(query, is_last, &columns, combined)?);
        if let Some(limit) = &query.limit {
            sql.push_str(&format!(" LIMIT {limit}"));
        }
        Ok(Relation { sql, columns, has_position, is_joined: !query.joins.is_empty() })
    }

    /// What `Where` asks: of one variable alone before the join, by variable; and the rest.
    fn conditions(&self, query: &Query) -> Result<(Vec<Vec<Expr>>, Vec<Expr>), Fault> {
        let mut left_over: Vec<Expr> = Vec::new();
        let mut pushed: Vec<Vec<Expr>> = vec![Vec::new(); self.scopes.len()];
        for part in query.filter.clone().map(Expr::conjuncts).unwrap_or_default() {
            if let Some(at) = part.aggregate_at() {
                return Err(Fault::new(at, "aggregates are asked for in `Having`, not in `Where`"));
            }
            match self.one_scope(&part).filter(|_| self.optimized) {
                Some(scope) => pushed[scope].push(part),
                None => left_over.push(part),
            }
        }
        Ok((pushed, left_over))
    }

    /// All tables of a query, joined.
    fn joined(
        &self,
        query: &Query,
        pushed: &[Vec<Expr>],
        combined: Option<&Combined>,
    ) -> Result<String, Fault> {
        let mut sql = self.table(0, &pushed[0], combined)?;
        for (i, join) in query.joins.iter().enumerate() {
            let table = self.table(i + 1, &pushed[i + 1], combined)?;
            let kind = match (is_anti(join), join.is_left) {
                (true, _) => "LEFT ANTI JOIN",
                (_, true) => "LEFT JOIN",
                _ => "JOIN",
            };
            sql.push_str(&format!(" {kind} {table} ON {}", self.on(join, i + 1)?));
        }
        Ok(sql)
    }

    /// That all of `parts` hold.
    fn all_of(&self, parts: &[Expr]) -> Result<String, Fault> {
        let parts = parts.iter().map(|part| Ok(self.expr(part, None)?.0));
        Ok(parts.collect::<Result<Vec<_>, Fault>>()?.join(" AND "))
    }

    /// The order that was asked for; of what is shown at last, that of its columns then, so
    /// that the same query gives the same rows in the same order.
    fn order(
        &self,
        query: &Query,
        is_last: bool,
        columns: &[(String, Kind)],
        combined: Option<&Combined>,
    ) -> Result<String, Fault> {
        let (mut keys, mut asked): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
        for (expr, is_descending) in &query.order {
            let sql = self.expr(expr, combined)?.0;
            let is_it = |expr: &Expr| self.expr(expr, combined).is_ok_and(|found| found.0 == sql);
            let same = query.select.iter().position(|item| is_it(&item.expr));
            let key = same.map_or(sql, |at| quoted(&columns[at].0));
            keys.push(if *is_descending { format!("{key} DESC") } else { key.clone() });
            asked.push(key);
        }
        if is_last || query.limit.is_some() {
            let names = columns.iter().map(|(name, _)| quoted(name));
            keys.extend(names.filter(|name| !asked.contains(name)));
        }
        Ok(if keys.is_empty() { String::new() } else { format!(" ORDER BY {}", keys.join(", ")) })
    }

    /// The variable that a condition speaks of, if it can be asked before the join: it speaks
    /// of no other, no filter in time comes first, and the variable has a row.
    fn one_scope(&self, condition: &Expr) -> Option<usize> {
        let [variable] = condition.variables()[..] else { return None };
        let scope = self.scope(variable)?;
        let Scope { is_filtered, is_left, .. } = self.scopes[scope];
        (!is_filtered && !is_left).then_some(scope)
    }

    fn note_rules(&self, query: &Query, pushed: &[Vec<Expr>], rules: &mut Vec<String>) {
        if query.joins.is_empty() || !self.optimized {
            return;
        }
        for (scope, conditions) in self.scopes.iter().zip(pushed) {
            let fields: Vec<&str> = scope.fields.iter().map(|(name, _)| name.as_str()).collect();
            rules.push(format!("projection of {}: {}", scope.variable, fields.join(", ")));
            if !conditions.is_empty() {
                rules.push(format!("selection of {} before the join", scope.variable));
            }
        }
    }

    /// The rows of a variable, under its name.
    fn table(&self, at: usize, conditions: &[Expr], combined: Option<&Combined>) -> Result<String, Fault> {
        let scope = &self.scopes[at];
        let name = quoted(&scope.variable);
        let mut sql = scope.source.sql(&scope.fields, self.done);
        if !conditions.is_empty() {
            sql = format!("SELECT * FROM ({sql}) AS {name} WHERE {}", self.all_of(conditions)?);
        }
        if let Some(combined) = combined.filter(|combined| combined.scope == at) {
            sql = combined.table(&sql, &name, |expr| self.expr(expr, None))?;
        }
        Ok(format!("({sql}) AS {name}"))
    }

    /// How a variable stands to those before it.
    fn on(&self, join: &Join, at: usize) -> Result<String, Fault> {
        let own = &self.scopes[at].variable;
        let mut parts = Vec::new();
        let mut filter = join.filter;
        for edge in &join.edges {
            self.check_edge(join, edge, at)?;
            let is_filter = edge.relation == "happened_before" && edge.from == *own && !edge.is_not;
            match filter.take_if(|_| is_filter) {
                Some((InTime::First, n)) => parts.push(positions("firstn", edge, &format!(", {n}"))),
                Some((InTime::MostRecent, n)) => {
                    parts.push(positions("mostrecentn", edge, &format!(", {n}")))
                }
                None => parts.push(positions(edge.relation, edge, "")),
            }
            if let Some(us) = edge.within_us {
                // Both are of one request, from whose start they are told.
                let (to, from) = (quoted(&edge.to), quoted(&edge.from));
                let end = format!("({from}.position['since_us'] + {from}.position['lasts_us'])");
                let apart = format!("{to}.position['since_us'] - {end}");
                parts.push(format!("ABS({apart}) <= {us}"));
            }
        }
        if filter.is_some() {
            let message = match is_anti(join) {
                true => "`not` is of all events of a source: leave the filter in time out".to_owned(),
                false => format!("a filter in time is of what happened before: `On {own} -> ...`"),
            };
            return Err(Fault::new(join.range.at, message));
        }
        Ok(parts.join(" AND "))
    }

    fn check_edge(&self, join: &Join, edge: &Edge, at: usize) -> Result<(), Fault> {
        let own = &self.scopes[at].variable;
        for variable in [&edge.from, &edge.to] {
            let scope = self.scope(variable).filter(|&scope| scope <= at);
            if scope.is_none() {
                let hint = hint(variable, self.scopes[..=at].iter().map(|scope| scope.variable.as_str()));
                let message = format!("no event before this is called `{variable}`{hint}");
                return Err(Fault::new(edge.at, message));
            }
            if scope.is_some_and(|scope| scope != at && self.scopes[scope].is_anti) {
                let message = format!("`{variable}` is what must not be there: nothing stands to it");
                return Err(Fault::new(edge.at, message));
            }
        }
        if edge.from == edge.to || (edge.from != *own && edge.to != *own) {
            return Err(Fault::new(edge.at, format!("`On` says how `{own}` stands to another event")));
        }
        if edge.is_not && join.edges.len() > 1 {
            let message = "`not` stands alone: of what must not be there, in a join of its own";
            return Err(Fault::new(edge.at, message));
        }
        if edge.is_not && join.is_left {
            return Err(Fault::new(
                edge.at,
                "`Left` keeps rows without another, `not` only those: leave `Left` out",
            ));
        }
        Ok(())
    }
}

fn positions(function: &str, edge: &Edge, rest: &str) -> String {
    format!("{function}({}.position, {}.position{rest})", quoted(&edge.from), quoted(&edge.to))
}

/// A name that no column has yet.
fn unique(name: &str, columns: &[(String, Kind)]) -> String {
    let is_taken = |name: &str| name == "position" || columns.iter().any(|(known, _)| known == name);
    let names = std::iter::once(name.to_owned()).chain((2..).map(|n| format!("{name} {n}")));
    names.into_iter().find(|name| !is_taken(name)).unwrap_or_default()
}

//! From a query to SQL, with the rewrites of Table 3: what is asked of one event only, and
//! which of its exports, is asked where it is read; rows of a sub-query that stand at one
//! place are aggregated before the join, with how many they are, and combined after it.

use super::catalog::{Catalog, Kind};
use super::query::{Expr, Join, Query};
use super::source::{Source, resolve};
use super::text::{Fault, hint};

mod combine;
mod expressions;
mod groups;
mod relation;

/// Names of exports in one message.
const NAMES_SHOWN: usize = 30;

/// A query as SQL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Compiled {
    pub(crate) sql: String,
    /// The rewrites that were made, in the words of Table 3.
    pub(crate) rules: Vec<String>,
}

/// What a query gives out.
#[derive(Clone, Debug)]
pub(super) struct Relation {
    pub(super) sql: String,
    columns: Vec<(String, Kind)>,
    /// Its rows stand at a place in their request.
    has_position: bool,
    /// Several rows can stand at one place.
    is_joined: bool,
}

impl Relation {
    /// The column called `name`, also by the last part of its name.
    pub(super) fn column(&self, name: &str) -> Option<(String, Kind)> {
        let last = |column: &str| column.rsplit('.').next().unwrap_or_default().to_owned();
        let whole = self.columns.iter().find(|(column, _)| column.eq_ignore_ascii_case(name));
        let mut by_last = self.columns.iter().filter(|(column, _)| last(column).eq_ignore_ascii_case(name));
        whole.or_else(|| by_last.next().filter(|_| by_last.next().is_none())).cloned()
    }

    pub(super) fn names(&self) -> Vec<String> {
        self.columns.iter().map(|(name, _)| name.clone()).collect()
    }
}

/// Compiles the last query of `text`; `optimized`: with rewrites.
pub(crate) fn compile(text: &str, catalog: &Catalog, optimized: bool) -> Result<Compiled, Fault> {
    let text = super::parse::parse(text)?;
    let mut rules = Vec::new();
    let mut done: Vec<(Option<String>, Relation)> = Vec::new();
    let n_queries = text.queries.len();
    for (i, mut query) in text.queries.into_iter().enumerate() {
        query.resolve_names();
        let name = query.name.clone();
        let compiler = Compiler::new(&query, catalog, &done, optimized)?;
        let relation = compiler.relation(&query, i + 1 == n_queries, &mut rules)?;
        done.push((name, relation));
    }
    let sql = done.pop().map(|(_, relation)| relation.sql).unwrap_or_default();
    Ok(Compiled { sql, rules })
}

/// A variable of a query.
struct Scope<'c> {
    variable: String,
    source: Source<'c>,
    /// A filter in time leaves some of its rows only.
    is_filtered: bool,
    /// It may have no row.
    is_left: bool,
    /// Its rows are those that must not be there.
    is_anti: bool,
    /// Its exports that the query speaks of.
    fields: Vec<(String, Kind)>,
}

struct Compiler<'c> {
    done: &'c [(Option<String>, Relation)],
    optimized: bool,
    scopes: Vec<Scope<'c>>,
}

impl<'c> Compiler<'c> {
    fn new(
        query: &Query,
        catalog: &'c Catalog,
        done: &'c [(Option<String>, Relation)],
        optimized: bool,
    ) -> Result<Self, Fault> {
        if !catalog.has_positions {
            let message = "this table keeps no events in the order of their requests: \
                make it again with `--keep events`";
            return Err(Fault::new(query.from.at, message));
        }
        let mut compiler = Self { done, optimized, scopes: Vec::new() };
        let ranges =
            std::iter::once((&query.from, None)).chain(query.joins.iter().map(|j| (&j.range, Some(j))));
        for (range, join) in ranges {
            if compiler.scopes.iter().any(|scope| scope.variable == range.variable) {
                return Err(Fault::new(
                    range.at,
                    format!("`{}` already stands for something", range.variable),
                ));
            }
            let source = resolve(range, catalog, done)?;
            if let Some(&at) = source.queries.iter().find(|&&at| !done[at].1.has_position) {
                let name = done[at].0.as_deref().unwrap_or_default();
                let message = format!("the rows of `{name}` are groups of events and have no place in time");
                return Err(Fault::new(range.sources[0].at, message));
            }
            compiler.scopes.push(Scope {
                variable: range.variable.clone(),
                source,
                is_filtered: join.is_some_and(|join| join.filter.is_some()),
                is_left: join.is_some_and(|join| join.is_left),
                is_anti: join.is_some_and(is_anti),
                fields: Vec::new(),
            });
        }
        compiler.collect_fields(query)?;
        Ok(compiler)
    }

    /// Notes which exports of each variable the query speaks of.
    fn collect_fields(&mut self, query: &Query) -> Result<(), Fault> {
        let order = query.order.iter().map(|(expr, _)| expr);
        let all = query.filter.iter().chain(&query.group).chain(&query.having).chain(order);
        let mut fields = Vec::new();
        for expr in all.chain(query.select.iter().map(|item| &item.expr)) {
            expr.walk(&mut |part| {
                if let Expr::Field { variable, field, at } = part {
                    fields.push((variable.clone(), field.clone(), *at));
                }
            });
        }
        for (variable, field, at) in fields {
            let (scope, name, kind) = self.bind(&variable, field.as_deref(), at)?;
            let known = &mut self.scopes[scope].fields;
            if !known.iter().any(|(known, _)| *known == name) {
                known.push((name, kind));
            }
        }
        if self.optimized {
            return Ok(());
        }
        for scope in &mut self.scopes {
            for name in scope.source.names(self.done) {
                let is_known = scope.fields.iter().any(|(known, _)| known.eq_ignore_ascii_case(&name));
                if let (Some(kind), false) = (scope.source.kind(&name, self.done), is_known) {
                    scope.fields.push((name, kind));
                }
            }
        }
        Ok(())
    }

    fn scope(&self, variable: &str) -> Option<usize> {
        self.scopes.iter().position(|scope| scope.variable == variable)
    }

    /// What `variable.field` is: whose export, by which name, of which kind.
    fn bind(&self, variable: &str, field: Option<&str>, at: usize) -> Result<(usize, String, Kind), Fault> {
        let Some(scope) = self.scope(variable) else {
            let hint = hint(variable, self.scopes.iter().map(|scope| scope.variable.as_str()));
            return Err(Fault::new(at, format!("no event here is called `{variable}`{hint}")));
        };
        let Scope { source, is_anti, .. } = &self.scopes[scope];
        if *is_anti {
            return Err(Fault::new(
                at,
                format!("`{variable}` is what must not be there: it exports nothing"),
            ));
        }
        let name = match (field, source.queries.as_slice()) {
            (Some(field), _) => field.to_owned(),
            (None, &[only]) if self.done[only].1.columns.len() == 1 => self.done[only].1.columns[0].0.clone(),
            (None, _) => {
                let names = some_of(&source.names(self.done));
                return Err(Fault::new(at, format!("which export of `{variable}`? There are {names}")));
            }
        };
        match source.kind(&name, self.done) {
            Some(kind) => {
                // Names differ in case only: the first way it is written counts.
                let known =
                    self.scopes[scope].fields.iter().find(|(known, _)| known.eq_ignore_ascii_case(&name));
                Ok((scope, known.map_or(name, |(known, _)| known.clone()), kind))
            }
            None => {
                let names = source.names(self.done);
                let hint = hint(&name, names.iter().map(String::as_str));
                let hint = if hint.is_empty() { format!("; there are {}", some_of(&names)) } else { hint };
                Err(Fault::new(at, format!("`{variable}` exports no `{name}`{hint}")))
            }
        }
    }
}

fn is_anti(join: &Join) -> bool {
    join.edges.iter().any(|edge| edge.is_not)
}

/// The first names of many, for a message.
fn some_of(names: &[String]) -> String {
    let shown = names.iter().take(NAMES_SHOWN).cloned().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(NAMES_SHOWN) {
        0 => shown,
        n => format!("{shown} and {n} more"),
    }
}

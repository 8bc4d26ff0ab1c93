//! Aggregation before the join (Table 3): rows of one variable that stand at one place and
//! have the same keys become one, with how many they were and what they add up to; after
//! the join that is combined. Each row that is joined stands for as many as it says, so
//! that counts, sums and averages of the other variables count it as often.

use super::super::catalog::Kind;
use super::super::query::{Aggregate, Expr, Query};
use super::super::source::quoted;
use super::super::text::Fault;
use super::Compiler;
use super::expressions::number;
use super::groups::without_place;

/// A variable whose rows are aggregated before the join.
pub(super) struct Combined {
    /// Which one, by its place.
    pub(super) scope: usize,
    variable: String,
    /// Exports by which its rows stay apart.
    keys: Vec<String>,
    /// What is aggregated of it.
    arguments: Vec<Expr>,
}

/// How an aggregate is combined.
pub(super) struct Found<'c> {
    combined: &'c Combined,
    function: Aggregate,
    /// Place of its argument among those of the variable; none: it is of another one.
    own: Option<usize>,
}

impl Compiler<'_> {
    /// The variable whose rows are to be aggregated before the join; none: there is none of
    /// which several stand at one place.
    pub(super) fn combined(&self, query: &Query, rest: &[Expr], rules: &mut Vec<String>) -> Option<Combined> {
        if !self.optimized || !query.is_grouped() || query.joins.is_empty() {
            return None;
        }
        let has_several = |scope: &super::Scope<'_>| {
            let of_joined = scope.source.queries.iter().any(|&at| self.done[at].1.is_joined);
            of_joined && !scope.is_filtered && !scope.is_left && !scope.is_anti
        };
        let scope = self.scopes.iter().position(has_several)?;
        let variable = self.scopes[scope].variable.clone();
        let mut combined = Combined { scope, variable, keys: Vec::new(), arguments: Vec::new() };
        let order = query.order.iter().map(|(expr, _)| expr);
        let asked = query.select.iter().map(|item| &item.expr).chain(&query.having).chain(order);
        for expr in asked {
            combined.add(self, expr)?;
        }
        query.group.iter().chain(rest).try_for_each(|expr| combined.add(self, expr))?;
        rules.push(format!("aggregation of {} before the join, combined after it", combined.variable));
        Some(combined)
    }
}

impl Combined {
    /// Takes an expression into account; none: it aggregates values of several variables.
    fn add(&mut self, compiler: &Compiler<'_>, expr: &Expr) -> Option<()> {
        match expr {
            Expr::Call { argument: Some(argument), .. } => {
                let variables = argument.variables();
                if variables == [self.variable.as_str()] {
                    let argument = without_place(argument);
                    let is_known = self.arguments.iter().any(|known| same(known, &argument));
                    self.arguments.extend((!is_known).then_some(argument));
                } else if variables.contains(&self.variable.as_str()) {
                    return None;
                }
                Some(())
            }
            Expr::Field { variable, field, at } if *variable == self.variable => {
                let name = compiler.bind(variable, field.as_deref(), *at).ok()?.1;
                if !self.keys.contains(&name) {
                    self.keys.push(name);
                }
                Some(())
            }
            Expr::Binary { left, right, .. } => {
                self.add(compiler, left)?;
                self.add(compiler, right)
            }
            Expr::Not(of) | Expr::IsNull { of, .. } => self.add(compiler, of),
            _ => Some(()),
        }
    }

    /// The rows of the variable, aggregated.
    pub(super) fn table(
        &self,
        sql: &str,
        name: &str,
        compile: impl Fn(&Expr) -> Result<(String, Kind), Fault>,
    ) -> Result<String, Fault> {
        let keys = std::iter::once("position".to_owned()).chain(self.keys.iter().map(|key| quoted(key)));
        let keys: Vec<String> = keys.collect();
        let mut columns = keys.clone();
        columns.push("COUNT(*) AS \"#n\"".to_owned());
        for (i, argument) in self.arguments.iter().enumerate() {
            let argument = compile(argument)?;
            let sum = number(argument.clone()).0;
            columns.push(format!("COUNT({}) AS \"#count{i}\"", argument.0));
            columns.push(format!("SUM({sum}) AS \"#sum{i}\"",));
            columns.push(format!("COUNT({sum}) AS \"#numbers{i}\""));
            columns.push(format!("MIN({}) AS \"#min{i}\"", argument.0));
            columns.push(format!("MAX({}) AS \"#max{i}\"", argument.0));
        }
        Ok(format!("SELECT {} FROM ({sql}) AS {name} GROUP BY {}", columns.join(", "), keys.join(", ")))
    }

    /// How an aggregate is combined; none: as it is.
    pub(super) fn call(&self, function: Aggregate, argument: Option<&Expr>) -> Option<Found<'_>> {
        let own = argument.and_then(|argument| {
            let argument = without_place(argument);
            self.arguments.iter().position(|known| same(known, &argument))
        });
        let is_as_it_is = matches!(function, Aggregate::Min | Aggregate::Max) && own.is_none();
        (!is_as_it_is).then_some(Found { combined: self, function, own })
    }
}

impl Found<'_> {
    /// The aggregate as SQL; `argument` is what it is of.
    pub(super) fn sql(&self, argument: Option<(String, Kind)>) -> (String, Kind) {
        let name = quoted(&self.combined.variable);
        let n = format!("{name}.\"#n\"");
        let Some(argument) = argument else { return (format!("COALESCE(SUM({n}), 0)"), Kind::Whole) };
        let kind = argument.1;
        let (value, number_kind) = number(argument.clone());
        let column = |what: &str, i: usize| format!("{name}.\"#{what}{i}\"");
        let how_often = |value: &str| format!("CASE WHEN {value} IS NULL THEN 0 ELSE {n} END");
        let (count, sum, numbers) = match self.own {
            Some(i) => (column("count", i), column("sum", i), column("numbers", i)),
            None => (how_often(&argument.0), format!("({value} * {n})"), how_often(&value)),
        };
        match (self.function, self.own) {
            (Aggregate::Count, _) => (format!("COALESCE(SUM({count}), 0)"), Kind::Whole),
            (Aggregate::Sum, _) => (format!("SUM({sum})"), number_kind),
            (Aggregate::Average, _) => {
                (format!("(CAST(SUM({sum}) AS DOUBLE) / NULLIF(SUM({numbers}), 0))"), Kind::Number)
            }
            (Aggregate::Min, Some(i)) => (format!("MIN({})", column("min", i)), kind),
            (Aggregate::Max, Some(i)) => (format!("MAX({})", column("max", i)), kind),
            (Aggregate::Min, None) => (format!("MIN({})", argument.0), kind),
            (Aggregate::Max, None) => (format!("MAX({})", argument.0), kind),
        }
    }
}

fn same(a: &Expr, b: &Expr) -> bool {
    format!("{a:?}") == format!("{b:?}")
}

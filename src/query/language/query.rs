//! A query as it was read.

/// Queries of one text; the last one is asked, those before it have names.
#[derive(Clone, Debug, Default)]
pub(super) struct Text {
    pub(super) queries: Vec<Query>,
}

#[derive(Clone, Debug)]
pub(super) struct Query {
    pub(super) name: Option<String>,
    pub(super) from: Range,
    pub(super) joins: Vec<Join>,
    pub(super) filter: Option<Expr>,
    pub(super) group: Vec<Expr>,
    pub(super) having: Option<Expr>,
    pub(super) is_distinct: bool,
    pub(super) select: Vec<Item>,
    /// Expression, and whether the highest comes first.
    pub(super) order: Vec<(Expr, bool)>,
    pub(super) limit: Option<String>,
}

/// A variable and what it stands for, one after the other.
#[derive(Clone, Debug)]
pub(super) struct Range {
    pub(super) variable: String,
    pub(super) at: usize,
    pub(super) sources: Vec<SourceName>,
}

/// A source as it is named.
#[derive(Clone, Debug)]
pub(super) struct SourceName {
    pub(super) name: Named,
    pub(super) at: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Named {
    /// A query before, a class, a method or a log point.
    Name(String),
    /// A part of the text of a template, `*` for anything.
    Template(String),
    Anything,
}

#[derive(Clone, Debug)]
pub(super) struct Join {
    pub(super) range: Range,
    /// First or most recent, and how many.
    pub(super) filter: Option<(InTime, usize)>,
    /// Rows that find no other stay.
    pub(super) is_left: bool,
    pub(super) edges: Vec<Edge>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InTime {
    First,
    MostRecent,
}

/// A condition on the order of two events.
#[derive(Clone, Debug)]
pub(super) struct Edge {
    pub(super) from: String,
    pub(super) to: String,
    /// Name of the function.
    pub(super) relation: &'static str,
    pub(super) is_not: bool,
    /// Longest time between them, µs.
    pub(super) within_us: Option<i64>,
    pub(super) at: usize,
}

#[derive(Clone, Debug)]
pub(super) struct Item {
    pub(super) expr: Expr,
    pub(super) name: String,
}

#[derive(Clone, Debug)]
pub(super) enum Expr {
    /// A variable alone, or one of its exports.
    Field {
        variable: String,
        field: Option<String>,
        at: usize,
    },
    Number(String),
    Text(String),
    /// A time span, µs.
    Span(i64),
    Null,
    Call {
        function: Aggregate,
        argument: Option<Box<Expr>>,
        at: usize,
    },
    Binary {
        op: &'static str,
        left: Box<Expr>,
        right: Box<Expr>,
        at: usize,
    },
    Not(Box<Expr>),
    IsNull {
        of: Box<Expr>,
        is_not: bool,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Aggregate {
    Count,
    Sum,
    Min,
    Max,
    Average,
}

impl Aggregate {
    pub(super) const ALL: [(&'static str, Self); 6] = [
        ("COUNT", Self::Count),
        ("SUM", Self::Sum),
        ("MIN", Self::Min),
        ("MAX", Self::Max),
        ("AVERAGE", Self::Average),
        ("AVG", Self::Average),
    ];
}

impl Expr {
    /// Calls `f` for each part, the whole first.
    pub(super) fn walk<'e>(&'e self, f: &mut dyn FnMut(&'e Expr)) {
        f(self);
        match self {
            Expr::Call { argument: Some(of), .. } | Expr::Not(of) | Expr::IsNull { of, .. } => of.walk(f),
            Expr::Binary { left, right, .. } => {
                left.walk(f);
                right.walk(f);
            }
            _ => {}
        }
    }

    pub(super) fn has_aggregate(&self) -> bool {
        self.aggregate_at().is_some()
    }

    /// Where its first aggregate stands, if it has one.
    pub(super) fn aggregate_at(&self) -> Option<usize> {
        let mut found = None;
        self.walk(&mut |part| {
            if let Expr::Call { at, .. } = part {
                found = found.or(Some(*at));
            }
        });
        found
    }

    /// The variables it speaks of.
    pub(super) fn variables(&self) -> Vec<&str> {
        let mut found = Vec::new();
        self.walk(&mut |part| {
            if let Expr::Field { variable, .. } = part {
                found.push(variable.as_str());
            }
        });
        found.sort_unstable();
        found.dedup();
        found
    }

    /// What a row of `op` (`AND`, `OR`) without brackets is of, from left to right.
    pub(super) fn operands(&self, op: &str) -> Vec<&Expr> {
        let mut operands = Vec::new();
        let mut rest = self;
        while let Expr::Binary { op: found, left, right, .. } = rest
            && *found == op
        {
            operands.push(&**right);
            rest = left;
        }
        operands.push(rest);
        operands.reverse();
        operands
    }

    /// Its parts that all have to hold.
    pub(super) fn conjuncts(self) -> Vec<Expr> {
        self.operands("AND").into_iter().cloned().collect()
    }

    /// Calls `f` for each part, the parts of a part first.
    pub(super) fn walk_mut(&mut self, f: &mut dyn FnMut(&mut Expr)) {
        match self {
            Expr::Call { argument: Some(of), .. } | Expr::Not(of) | Expr::IsNull { of, .. } => of.walk_mut(f),
            Expr::Binary { left, right, .. } => {
                left.walk_mut(f);
                right.walk_mut(f);
            }
            _ => {}
        }
        f(self);
    }
}

impl Query {
    /// Puts what is selected in place of the name that it is given, where that is asked for.
    pub(super) fn resolve_names(&mut self) {
        let joined = self.joins.iter().map(|join| &join.range.variable);
        let variables: Vec<String> = joined.chain([&self.from.variable]).cloned().collect();
        let named: Vec<(String, Expr)> =
            self.select.iter().map(|item| (item.name.clone(), item.expr.clone())).collect();
        let mut replace = |part: &mut Expr| {
            if let Expr::Field { variable, field: None, .. } = part
                && !variables.contains(variable)
                && let Some((_, expr)) = named.iter().find(|(name, _)| name == variable)
            {
                *part = expr.clone();
            }
        };
        let order = self.order.iter_mut().map(|(expr, _)| expr);
        let all = self.filter.iter_mut().chain(&mut self.group).chain(&mut self.having).chain(order);
        all.for_each(|expr| expr.walk_mut(&mut replace));
    }

    /// Whether its rows are groups of events, which have no place in time.
    pub(super) fn is_grouped(&self) -> bool {
        !self.group.is_empty() || self.select.iter().any(|item| item.expr.has_aggregate())
    }
}

//! What a list of requests tells of each, as columns in memory: some 70 bytes a request, and 24 more
//! for each node that it was on. Conditions that people set are answered from them in one walk.

use std::fmt::Write as _;

use anyhow::{Result, bail};
use rustc_hash::FxHashMap;
use schema::tables::{Batches, RequestNodeTime, RequestTotals, Text};

use super::http::{Answer, Asked};
use crate::table::Table;
use crate::table::files::{InRequest as _, paths};

/// Columns of `requests` and `request_nodes`.
#[derive(Default)]
pub(super) struct Columns {
    /// Ids.
    pub(super) ids: Vec<u128>,
    /// Requests by id.
    by_id: Vec<u32>,
    /// µs since 1970.
    pub(super) starts_us: Vec<i64>,
    /// µs.
    pub(super) durations_us: Vec<i64>,
    /// Numbers of types.
    pub(super) types: Vec<u32>,
    /// Nodes, spans, events.
    pub(super) counts: Vec<[u32; 3]>,
    /// A bit for each of `flag_names`.
    pub(super) flags: Vec<u8>,
    /// Names of types.
    pub(super) type_names: Vec<Text>,
    /// Names of flags.
    pub(super) flag_names: Vec<Text>,
    /// Times on nodes.
    pub(super) on_nodes: Vec<OnNode>,
    /// Names of nodes.
    pub(super) node_names: Vec<Text>,
}

/// The time of a request on a node.
#[derive(Clone, Copy, Debug)]
pub(super) struct OnNode {
    /// The request, by its row.
    pub(super) request: u32,
    /// The node, by its number.
    pub(super) node: u32,
    /// µs since 1970.
    pub(super) start_us: i64,
    /// µs.
    pub(super) duration_us: i64,
}

/// What requests have to be.
#[derive(Clone, Debug, Default)]
pub(super) struct Conditions {
    /// Of this type.
    pub(super) request_type: Option<String>,
    /// On this node, among others.
    pub(super) node: Option<String>,
    /// With this flag.
    pub(super) flag: Option<String>,
    /// That start then or later, µs since 1970.
    pub(super) from: Option<i64>,
    /// That start before then.
    pub(super) to: Option<i64>,
    /// That take so long or longer, µs.
    pub(super) min: Option<i64>,
    /// That take no longer.
    pub(super) max: Option<i64>,
    /// For which a condition in SQL holds.
    pub(super) sql: Option<String>,
}

/// Names as numbers, in the order in which they come.
#[derive(Default)]
struct Names(FxHashMap<Text, u32>, Vec<Text>);

impl Names {
    fn number(&mut self, name: &Text) -> u32 {
        let next = self.1.len() as u32;
        *self.0.entry(name.clone()).or_insert_with(|| {
            self.1.push(name.clone());
            next
        })
    }
}

impl Columns {
    /// Those of `table`.
    pub(super) fn read(table: &Table) -> Result<Self> {
        let mut columns = Self::default();
        let (mut types, mut flags, mut nodes) = (Names::default(), Names::default(), Names::default());
        for paths in paths(table.manifest()) {
            let first = columns.ids.len();
            for rows in Batches::<RequestTotals>::open(&paths.requests)? {
                rows?.iter().for_each(|row| columns.add(row, &mut types, &mut flags));
            }
            if let Some(path) = &paths.nodes {
                columns.read_nodes(path, first, &mut nodes)?;
            }
        }
        if flags.1.len() > 8 {
            bail!("a request has at most eight different flags, not {}", flags.1.len());
        }
        (columns.type_names, columns.flag_names, columns.node_names) = (types.1, flags.1, nodes.1);
        let mut by_id: Vec<u32> = (0..columns.ids.len() as u32).collect();
        by_id.sort_unstable_by_key(|&row| columns.ids[row as usize]);
        columns.by_id = by_id;
        Ok(columns)
    }

    fn add(&mut self, row: &RequestTotals, types: &mut Names, flags: &mut Names) {
        let count = |n: i64| u32::try_from(n).unwrap_or(0);
        self.ids.push(u128::from_str_radix(&row.request_id, 16).unwrap_or_default());
        self.starts_us.push(row.start_ts.0);
        self.durations_us.push(row.duration_us);
        self.types.push(types.number(&row.request_type));
        self.counts.push([count(row.n_nodes), count(row.n_spans), count(row.n_events)]);
        let bits = row.flags.iter().map(|flag| 1_u8.checked_shl(flags.number(flag)).unwrap_or(0));
        self.flags.push(bits.fold(0, |all, bit| all | bit));
    }

    /// The rows of `request_nodes` that stand beside the requests from `first` on, in their order.
    fn read_nodes(&mut self, path: &std::path::Path, first: usize, nodes: &mut Names) -> Result<()> {
        let mut at = first;
        for rows in Batches::<RequestNodeTime>::open(path)? {
            for row in rows? {
                let id =
                    row.request_id().and_then(|id| u128::from_str_radix(id, 16).ok()).unwrap_or_default();
                while self.ids.get(at).is_some_and(|other| *other != id) {
                    at += 1;
                }
                if at == self.ids.len() {
                    bail!("`{}`: not in the order of the requests", path.display());
                }
                self.on_nodes.push(OnNode {
                    request: at as u32,
                    node: nodes.number(&row.node),
                    start_us: row.start_ts.0,
                    duration_us: row.end_ts.0 - row.start_ts.0,
                });
            }
        }
        Ok(())
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.ids.len()
    }

    /// The row of a request.
    #[cfg(any(feature = "sql", test))]
    pub(super) fn row(&self, id: u128) -> Option<u32> {
        let at = self.by_id.binary_search_by_key(&id, |&row| self.ids[row as usize]).ok()?;
        Some(self.by_id[at])
    }

    /// Which requests meet `conditions`, but for that in SQL.
    pub(super) fn chosen(&self, of: &Conditions) -> Vec<bool> {
        let number = |names: &[Text], name: &Option<String>| {
            name.as_ref().map(|name| names.iter().position(|other| **other == **name).unwrap_or(usize::MAX))
        };
        let request_type = number(&self.type_names, &of.request_type);
        let flag =
            number(&self.flag_names, &of.flag).map(|at| 1_u8.checked_shl(at.min(8) as u32).unwrap_or(0));
        let (from, to) = (of.from.unwrap_or(i64::MIN), of.to.unwrap_or(i64::MAX));
        let (min, max) = (of.min.unwrap_or(i64::MIN), of.max.unwrap_or(i64::MAX));
        let is_chosen = |row: usize| {
            request_type.is_none_or(|number| self.types[row] as usize == number)
                && (from..to).contains(&self.starts_us[row])
                && (min..=max).contains(&self.durations_us[row])
                && flag.is_none_or(|bit| self.flags[row] & bit != 0)
        };
        let mut chosen: Vec<bool> = (0..self.len()).map(is_chosen).collect();
        if let Some(node) = number(&self.node_names, &of.node) {
            let mut is_there = vec![false; self.len()];
            let there = self.on_nodes.iter().filter(|on| on.node as usize == node);
            there.for_each(|on| is_there[on.request as usize] = true);
            chosen.iter_mut().zip(is_there).for_each(|(chosen, is_there)| *chosen &= is_there);
        }
        chosen
    }
}

impl Conditions {
    /// Those that were asked for.
    pub(super) fn of(asked: &Asked) -> Result<Self, Answer> {
        let text = |name| asked.text(name).map(str::to_owned);
        Ok(Self {
            request_type: text("type"),
            node: text("node"),
            flag: text("flag"),
            from: asked.number("from")?,
            to: asked.number("to")?,
            min: asked.number("min")?,
            max: asked.number("max")?,
            sql: text("where"),
        })
    }

    /// The condition in SQL, on the columns of `requests`; none: all requests meet them.
    pub(super) fn to_sql(&self) -> Option<String> {
        let quoted = |text: &str| format!("'{}'", text.replace('\'', "''"));
        let mut parts = Vec::new();
        parts.extend(self.request_type.as_deref().map(|name| format!("request_type = {}", quoted(name))));
        parts.extend(self.node.as_deref().map(|node| {
            format!("request_id IN (SELECT request_id FROM request_nodes WHERE node = {})", quoted(node))
        }));
        parts.extend(self.flag.as_deref().map(|flag| format!("array_has(flags, {})", quoted(flag))));
        let mut time = |column: &str, compared: &str, us: Option<i64>| {
            parts.extend(us.map(|us| format!("{column} {compared} to_timestamp_micros({us})")));
        };
        time("start_ts", ">=", self.from);
        time("start_ts", "<", self.to);
        parts.extend(self.min.map(|us| format!("duration_us >= {us}")));
        parts.extend(self.max.map(|us| format!("duration_us <= {us}")));
        parts.extend(self.sql.as_deref().map(|sql| format!("({sql}\n)")));
        let mut out = String::new();
        for (number, part) in parts.iter().enumerate() {
            let _ = write!(out, "{}{part}", if number > 0 { " AND " } else { "" });
        }
        (!out.is_empty()).then_some(out)
    }
}

#[cfg(test)]
mod tests {
    use super::{Columns, Conditions, OnNode};

    fn columns() -> Columns {
        Columns {
            ids: vec![7, 3, 9],
            by_id: vec![1, 0, 2],
            starts_us: vec![10, 20, 30],
            durations_us: vec![5, 500, 50],
            types: vec![0, 1, 0],
            counts: vec![[1, 1, 1]; 3],
            flags: vec![0, 1, 3],
            type_names: vec!["A.a".into(), "B.b".into()],
            flag_names: vec!["truncated".into(), "clock_conflict".into()],
            on_nodes: vec![OnNode { request: 1, node: 0, start_us: 20, duration_us: 5 }],
            node_names: vec!["n".into()],
        }
    }

    #[track_caller]
    fn check(conditions: Conditions, expected: [bool; 3], sql: Option<&str>) {
        assert_eq!(columns().chosen(&conditions), expected);
        assert_eq!(conditions.to_sql().as_deref(), sql);
    }

    #[test]
    fn conditions_choose_and_are_sql() {
        let none = Conditions::default;
        check(none(), [true; 3], None);
        let of_type = Conditions { request_type: Some("A.a".into()), ..none() };
        check(of_type, [true, false, true], Some("request_type = 'A.a'"));
        let between = Conditions { from: Some(20), to: Some(30), max: Some(500), ..none() };
        let sql = "start_ts >= to_timestamp_micros(20) AND start_ts < to_timestamp_micros(30) AND duration_us <= 500";
        check(between, [false, true, false], Some(sql));
        let flagged = Conditions { flag: Some("clock_conflict".into()), ..none() };
        check(flagged, [false, false, true], Some("array_has(flags, 'clock_conflict')"));
        let on_node = Conditions { node: Some("n".into()), ..none() };
        let sql = "request_id IN (SELECT request_id FROM request_nodes WHERE node = 'n')";
        check(on_node, [false, true, false], Some(sql));
    }

    #[test]
    fn names_that_are_not_there_choose_nothing_and_stay_texts() {
        let hostile = Conditions { request_type: Some("x' OR 1=1 --".into()), ..Conditions::default() };
        check(hostile, [false; 3], Some("request_type = 'x'' OR 1=1 --'"));
        let flag = Conditions { flag: Some("no".into()), ..Conditions::default() };
        check(flag, [false; 3], Some("array_has(flags, 'no')"));
    }

    #[test]
    fn rows_by_id() {
        assert_eq!([3, 7, 9, 8].map(|id| columns().row(id)), [Some(1), Some(0), Some(2), None]);
    }
}

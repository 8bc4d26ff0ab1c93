//! Conditions that people set on requests.

use std::fmt::Write as _;

use super::http::{Answer, Asked};

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
    use super::Conditions;

    #[track_caller]
    fn check(conditions: Conditions, sql: Option<&str>) {
        assert_eq!(conditions.to_sql().as_deref(), sql);
    }

    #[test]
    fn conditions_are_sql() {
        let none = Conditions::default;
        check(none(), None);
        check(Conditions { request_type: Some("A.a".into()), ..none() }, Some("request_type = 'A.a'"));
        let between = Conditions { from: Some(20), to: Some(30), max: Some(500), ..none() };
        let sql = "start_ts >= to_timestamp_micros(20) AND start_ts < to_timestamp_micros(30) AND duration_us <= 500";
        check(between, Some(sql));
        let flagged = Conditions { flag: Some("clock_conflict".into()), ..none() };
        check(flagged, Some("array_has(flags, 'clock_conflict')"));
        let on_node = Conditions { node: Some("n".into()), ..none() };
        check(on_node, Some("request_id IN (SELECT request_id FROM request_nodes WHERE node = 'n')"));
        let hostile = Conditions { request_type: Some("x' OR 1=1 --".into()), ..none() };
        check(hostile, Some("request_type = 'x'' OR 1=1 --'"));
    }
}
